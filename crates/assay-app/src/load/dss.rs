//! A load of decision support: its tables, its runs, its answers.

mod answers;
mod course;
mod data;
mod session;

pub use course::DssRequest;
pub use session::run_queries;
