//! The time of a method that measures slice after slice on several hosts: how much of it counts,
//! and which slices count.

use assay_model::cluster::CommonStart;

/// Tries of a slice whose hosts certainly did not begin together.
const TRIES: u32 = 3;

/// The clock of the method. It stands still while hosts get ready to begin, but never for longer
/// than it ran: whatever hosts do, a method takes at most twice its time.
#[derive(Clone, Debug)]
pub struct SliceClock {
    began_ns: u64,
    idle_ns: u64,
}

impl SliceClock {
    /// Begins now.
    pub const fn new(now_ns: u64) -> Self {
        Self { began_ns: now_ns, idle_ns: 0 }
    }

    /// A slice was asked for, begun on all hosts, and has ended now.
    pub fn add_slice(&mut self, asked_ns: u64, at_ns: u64, now_ns: u64) {
        let idle_ns = self.idle_ns + at_ns.min(now_ns).saturating_sub(asked_ns);
        // What was given before is not taken back, else the clock would jump.
        self.idle_ns = self.idle_ns.max(idle_ns.min(now_ns.saturating_sub(self.began_ns) / 2));
    }

    /// Time that the method has used, ns.
    pub const fn now_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.began_ns + self.idle_ns)
    }
}

/// Which slices count: those whose hosts began together, and the last of some tries where they
/// never do.
#[derive(Clone, Debug, Default)]
pub struct SliceStarts {
    tries: u32,
    worst: Option<CommonStart>,
}

impl SliceStarts {
    /// Looks at the start of a slice; whether the slice is to be measured again.
    pub fn must_repeat(&mut self, start: Option<CommonStart>) -> bool {
        self.tries += 1;
        if start.as_ref().is_some_and(CommonStart::is_apart) && self.tries < TRIES {
            return true;
        }
        self.tries = 0;
        self.worst = CommonStart::worse(self.worst.take(), start);
        false
    }

    /// The start that was farthest from being a common one, of the slices that count.
    pub fn worst(self) -> Option<CommonStart> {
        self.worst
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(skew_ns: u64) -> CommonStart {
        CommonStart { skew_ns, uncertainty_ns: 50, limit_ns: 1000, ..CommonStart::default() }
    }

    #[test]
    fn the_clock_stands_still_while_hosts_get_ready() {
        let mut clock = SliceClock::new(1000);
        clock.add_slice(1000, 1100, 1400);
        assert_eq!([clock.now_ns(1400), clock.now_ns(1500)], [300, 400]);
        // A start that came to nothing gives no time.
        clock.add_slice(1500, 9999, 1600);
        assert_eq!(clock.now_ns(1600), 400);
    }

    #[test]
    fn the_clock_runs_for_half_of_the_time_at_least_and_never_back() {
        let (mut clock, mut now_ns, mut last_ns) = (SliceClock::new(0), 0, 0);
        for number in 0..1000_u64 {
            let (ready_ns, slice_ns) = (number * 7919 % 1000, 1 + number * 104_729 % 500);
            let asked_ns = now_ns;
            now_ns += ready_ns + slice_ns;
            clock.add_slice(asked_ns, asked_ns + ready_ns, now_ns);
            assert!(clock.now_ns(now_ns) >= last_ns && clock.now_ns(now_ns) >= now_ns / 2);
            last_ns = clock.now_ns(now_ns);
        }
        assert!(last_ns < now_ns);
    }

    #[test]
    fn a_slice_of_hosts_that_began_apart_is_tried_three_times() {
        let mut starts = SliceStarts::default();
        let asked = [900, 2000, 2000, 3000, 2000, 1040]
            .map(|skew_ns| starts.must_repeat(Some(start(skew_ns))));
        assert_eq!(asked, [false, true, true, false, true, false]);
        assert_eq!(starts.worst(), Some(start(3000)));
    }

    #[test]
    fn a_start_that_is_in_doubt_alone_is_not_tried_again() {
        let mut starts = SliceStarts::default();
        assert!(!starts.must_repeat(Some(start(1040))) && !starts.must_repeat(None));
        assert_eq!(starts.worst(), Some(start(1040)));
    }
}
