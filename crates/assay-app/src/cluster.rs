//! Many hosts at once: a driver that has the method, and nodes that have the storage.

mod bench;
mod conduct;
mod course;
mod driver;
mod hosts;
mod links;
mod load_hosts;
mod node;
mod nodes;
mod open_hosts;
mod relay;
mod watchdog;
mod wire;

pub(crate) use bench::ClusterBench;
pub use hosts::{HostNames, HostsPlan};
pub use load_hosts::LoadHosts;
pub use node::serve;
pub use nodes::{ClusterNode, cluster_nodes, differences, shared_devices};
pub use open_hosts::OpenHosts;
pub(crate) use open_hosts::{HostsRequest, Order, of_each};
pub use wire::TOKEN;
