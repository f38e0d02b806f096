//! The clock that every stamp of the rig is read from.

use assay_model::number::narrow;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC`: comparable between processes of one machine since its boot.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u128::try_from(now.tv_sec).unwrap_or(0);
    let nanoseconds = u128::try_from(now.tv_nsec).unwrap_or(0);
    narrow(seconds * 1_000_000_000 + nanoseconds)
}
