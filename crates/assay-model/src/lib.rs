//! The nouns of Assay: what flows between its rooms. No I/O, no clock, no unsafe code.
#![forbid(unsafe_code)]

pub mod array;
pub mod calendar;
pub mod calibration;
pub mod catalog;
pub mod cause;
pub mod cluster;
pub mod comparison;
pub mod contract;
pub mod counters;
pub mod device;
pub mod document;
pub mod dss;
pub mod durability;
pub mod encoding;
pub mod environment;
pub mod error;
pub mod estimate;
pub mod failure;
mod fault;
pub mod histogram;
pub mod integrity;
pub mod line_stamp;
pub mod load;
pub mod locality;
pub mod measurement;
pub mod mix;
pub mod number;
pub mod plausibility;
pub mod profile;
pub mod projection;
pub mod quantity_name;
mod refusal;
pub mod row;
pub mod run;
#[cfg(test)]
mod schema;
pub mod sizing;
pub mod soak;
pub mod spelling;
pub mod stack;
pub mod study;
pub mod target;
pub mod units;
pub mod usage;
pub mod verdict;
pub mod watch;
pub mod workload;

pub use error::{Blame, Error, ErrorKind, Result};
pub use estimate::Estimate;
pub use histogram::{Histogram, Precision};
pub use profile::Profile;
pub use verdict::{Criteria, Outcome, Verdict};
pub use workload::{Access, Arrival, Stream, Workload};
