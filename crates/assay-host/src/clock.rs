//! The time of day, which people set and which may jump: it dates what was measured, and measures
//! nothing.

use assay_model::number::narrow;
use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970 UTC by the host's clock.
pub fn unix_ns() -> u64 {
    narrow(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
}
