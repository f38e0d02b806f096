//! Many hosts at once: a driver that has the method, and nodes that have the storage.

mod bench;
mod conduct;
mod copied_program;
mod course;
mod driver;
mod host_list;
mod hosts;
mod inlet;
mod keeper;
mod kept_hosts;
mod links;
mod load_hosts;
mod node;
mod nodes;
mod open_hosts;
mod relay;
mod remote_command;
mod watch_hosts;
mod watchdog;
mod watcher;
mod wire;

pub(crate) use bench::ClusterBench;
pub use hosts::{HostNames, HostsPlan};
pub use keeper::kept_logs;
pub(crate) use kept_hosts::{KeptHosts, KeptRun};
pub use load_hosts::LoadHosts;
pub use node::serve;
pub use nodes::cluster_survey;
pub use open_hosts::OpenHosts;
pub(crate) use open_hosts::{HostsOrder, HostsRequest, of_each};
pub use watch_hosts::{HostsMoment, WatchHosts};
pub use wire::TOKEN;
