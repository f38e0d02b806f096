//! Many hosts at once: a driver that has the method, and nodes that have the storage.

mod conduct;
mod course;
mod driver;
mod hosts;
mod links;
mod node;
mod relay;
mod run;
mod watchdog;
mod wire;

pub use hosts::{HostNames, HostsPlan};
pub use node::serve;
pub(crate) use run::{TogetherPlan, run_together};
pub use wire::TOKEN;
