//! Results of fio: its JSON and its logs.

mod json;
mod line;
mod log;
mod quantiles;
mod rates;

pub use json::read as read_json;
pub use line::is_log;
pub use log::read as read_log;
