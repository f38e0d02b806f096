//! Many hosts at once: a driver that has the method, and nodes that have the storage.

mod bench;
mod conduct;
mod course;
mod driver;
mod hosts;
mod links;
mod node;
mod open_hosts;
mod relay;
mod watchdog;
mod wire;

pub(crate) use bench::ClusterBench;
pub use hosts::{HostNames, HostsPlan};
pub use node::serve;
pub use open_hosts::OpenHosts;
pub(crate) use open_hosts::{HostsRequest, Order, of_each};
pub use wire::TOKEN;
