//! What is judged alike of every live database server: looks at its sessions, time by event, and
//! what both say of storage.
//!
//! Nothing here knows a product: the names of events, their classes and the counters come from the
//! product's own room.

#![forbid(unsafe_code)]

mod checks;
pub mod classes;
mod demand;
mod events;
mod host_context;
mod intervals;
mod over_time;
mod relations;
mod samples;
mod time;
pub mod watch;

pub use checks::{active_sessions, doubts_of_samples, sampling};
pub use demand::{OwnIo, device, page_cache_share, whole};
pub use events::{EventSampler, counted, mean_s, on_cpu, ordered};
pub use host_context::{HostContext, IntervalEstimator, missing_in_either};
pub use intervals::SampleIntervals;
pub use over_time::{ClassOf, over_time};
pub use relations::{first, load_line, tablespaces, tiering};
pub use samples::{SessionSample, SessionSamples, SessionState, Tasks};
pub use time::{
    ProcessTerms, cpu_in_waits, doubts, model, share_of_classes, verdict, without_user_io,
    without_waits,
};
