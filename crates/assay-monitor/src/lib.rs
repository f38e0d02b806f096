//! What is shown of a measurement while it lasts: a page over HTTP, counters as `OpenMetrics`, a
//! full screen.
#![forbid(unsafe_code)]
#![allow(
    clippy::missing_errors_doc,
    reason = "a section stands where it says more than that an address or a file is refused"
)]

mod address;
mod cost;
mod events;
mod exposition;
mod http;
mod listener;
mod live_server;
mod metrics_file;
mod metrics_server;
mod monitor;
mod point;
mod screen;
mod state;

pub use address::{live_address, metrics_address};
pub use exposition::{METRICS, MetricKind, MetricName, exposition};
pub use live_server::{LivePages, LiveServer};
pub use metrics_file::MetricsFile;
pub use metrics_server::MetricsServer;
pub use monitor::Monitor;
pub use point::{HostPoint, MonitorPoint, OperationPoint};
pub use screen::{ScreenSize, screen};
pub use state::MonitorState;
