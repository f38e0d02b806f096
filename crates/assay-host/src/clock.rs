//! The time of day, which people set and which may jump: it dates what was measured, and measures
//! nothing.

use crate::counters::monotonic_ns;
use assay_model::number::narrow;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Smaller changes are those of a clock that is kept by a time server, ns.
const STEP_LEAST_NS: u64 = 1_000_000_000;

/// A time of day that goes on by the clock that never jumps, so that what one program dates is in
/// order whatever is done to the clock of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteadyClock {
    /// When both clocks were read, ns since 1970 UTC.
    pub unix_ns: u64,
    /// The same moment on the clock that never jumps, ns.
    pub monotonic_ns: u64,
}

/// By how much the clock of the host was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// It was set forward, or the host was suspended; ns.
    Forward(u64),
    /// It was set back; ns.
    Back(u64),
}

impl SteadyClock {
    /// The time of day at a moment on the clock that never jumps, ns since 1970 UTC.
    pub const fn unix_ns_at(self, monotonic_ns: u64) -> u64 {
        if monotonic_ns >= self.monotonic_ns {
            self.unix_ns.saturating_add(monotonic_ns - self.monotonic_ns)
        } else {
            self.unix_ns.saturating_sub(self.monotonic_ns - monotonic_ns)
        }
    }

    /// How far the clock of the host, which now shows `unix_ns`, was changed since; `None` below a
    /// second.
    pub const fn step(self, unix_ns: u64, monotonic_ns: u64) -> Option<ClockStep> {
        let expected_ns = self.unix_ns_at(monotonic_ns);
        if unix_ns.abs_diff(expected_ns) < STEP_LEAST_NS {
            None
        } else if unix_ns > expected_ns {
            Some(ClockStep::Forward(unix_ns - expected_ns))
        } else {
            Some(ClockStep::Back(expected_ns - unix_ns))
        }
    }
}

/// Nanoseconds since 1970 UTC, in order within this process.
pub fn unix_ns() -> u64 {
    clock().unix_ns_at(monotonic_ns())
}

/// The time of day at a moment on the clock that never jumps, ns since 1970 UTC.
pub fn unix_ns_at(monotonic_ns: u64) -> u64 {
    clock().unix_ns_at(monotonic_ns)
}

/// How far the clock of the host was changed since this process first read it.
pub fn clock_step() -> Option<ClockStep> {
    let clock = clock();
    clock.step(host_unix_ns(), monotonic_ns())
}

fn clock() -> SteadyClock {
    static CLOCK: OnceLock<SteadyClock> = OnceLock::new();
    *CLOCK.get_or_init(|| SteadyClock { unix_ns: host_unix_ns(), monotonic_ns: monotonic_ns() })
}

fn host_unix_ns() -> u64 {
    narrow(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const CLOCK: SteadyClock =
        SteadyClock { unix_ns: 1_790_000_000 * SECOND_NS, monotonic_ns: 500 * SECOND_NS };

    #[test]
    fn stamps_follow_the_clock_that_never_jumps() {
        let after_s = |monotonic_s: u64| {
            CLOCK.unix_ns_at(monotonic_s * SECOND_NS) / SECOND_NS - 1_790_000_000
        };
        assert_eq!([500, 501, 620].map(after_s), [0, 1, 120]);
        assert_eq!(CLOCK.unix_ns_at(490 * SECOND_NS) / SECOND_NS, 1_789_999_990);
    }

    #[test]
    fn a_clock_that_is_set_is_told_from_one_that_is_kept() {
        let after_10_s = |unix_s: u64| CLOCK.step(unix_s * SECOND_NS, 510 * SECOND_NS);
        assert_eq!(after_10_s(1_790_000_010), None);
        assert_eq!(after_10_s(1_790_000_110), Some(ClockStep::Forward(100 * SECOND_NS)));
        assert_eq!(after_10_s(1_789_999_910), Some(ClockStep::Back(100 * SECOND_NS)));
        let kept_ns = 1_790_000_010 * SECOND_NS + SECOND_NS - 1;
        assert_eq!(CLOCK.step(kept_ns, 510 * SECOND_NS), None);
    }

    #[test]
    fn stamps_of_one_process_never_decrease() {
        let stamps: Vec<u64> = (0..1000).map(|_| unix_ns()).collect();
        assert!(stamps.is_sorted() && stamps[0] > 1_600_000_000 * SECOND_NS);
    }
}
