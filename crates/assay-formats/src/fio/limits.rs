//! How long a job runs that does not say it, and how much one file may ask for.

use assay_model::units::Nanos;

/// How long a job runs that ends by its data.
pub const DEFAULT_TIME: Nanos = Nanos(60_000_000_000);
/// Outstanding I/Os of a stream at most.
pub const QUEUE_DEPTH_MAX: u64 = 32_768;
/// Jobs of a file at most.
pub const JOBS_MAX: u64 = 4096;
