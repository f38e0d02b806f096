//! The library behind the commands: a typed plan in, a run of the store out. It prints nothing,
//! reads no command line and catches no signal; the caller gives a [`Context`].
#![forbid(unsafe_code)]
#![allow(
    clippy::missing_errors_doc,
    reason = "a section stands where it says more than that the store, the target or the server \
              may refuse"
)]

pub mod calibrate;
pub mod capacity;
pub mod check;
pub mod cluster;
pub mod collect;
pub mod command_line;
pub mod compare;
pub mod context;
#[cfg(test)]
mod contract;
mod database_calibration;
pub mod database_source;
pub mod dry_run;
pub mod finish;
pub mod host_sampler;
mod host_samples;
pub mod import;
pub mod job_file;
pub mod job_variables;
pub mod live_profile;
pub mod load;
pub mod loaded_run;
pub mod locality;
pub mod machine_trace;
pub mod new_file;
mod other_file;
pub mod plan;
pub mod plan_document;
pub mod predict;
pub mod progress;
pub mod read_verification;
pub mod recording;
pub mod replay;
pub mod reports;
pub mod resume;
pub mod run;
pub mod run_part;
mod rung_cell;
pub mod sizing;
mod slob_folder;
pub mod soak;
pub mod study;
pub mod target_plan;
pub mod verify;
pub mod witness;
mod working_set;

pub use context::{Context, Guards};
pub use plan::{CommandPlan, ResumablePlan};
pub use progress::{ProgressSender, ProgressUpdate};
