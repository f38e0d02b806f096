//! When hosts begin together, how well they did, and when silence means loss.

use crate::clock::Clock;
use crate::protocol::Began;

/// Tries to begin together before the cluster is given up.
pub const ATTEMPTS: u32 = 3;
/// Time before the first start of a session at least, ns.
const LEAD_NS_MIN: u64 = 200_000_000;
/// Before a later one: the lines and the clocks are known by then, and a search starts hundreds of
/// times.
const LEAD_AGAIN_NS_MIN: u64 = 40_000_000;
/// Time for telling one host, ns.
const LEAD_NS_A_HOST: u64 = 1_500_000;
/// Time in which a node can still meet the start, ns.
pub const NOTICE_NS: u64 = 2_000_000;
/// Time between beats at least, ns.
const PERIOD_NS_MIN: u64 = 1_000_000_000;
/// Beats of all hosts a second at most.
const BEATS_A_SECOND: u64 = 100;
/// Periods of silence after which a host is lost.
const PERIODS_OF_SILENCE: u64 = 3;
/// Periods after which a node that hears nothing ends by itself: later than the driver gives it up,
/// so that what it still measures is never added up.
const PERIODS_OF_LEASE: u64 = 5;
/// Hosts that begin within this time have begun together whatever the interval, ns.
const SKEW_NS: u64 = 5_000_000;
/// Beyond it they have where they begin within this part of an interval.
const SKEW_PART: u64 = 100;

/// Time between two beats, ns: a second, and longer for hundreds of hosts so that the driver is not
/// drowned in answers.
pub fn period_ns(hosts: u64) -> u64 {
    PERIOD_NS_MIN.max(hosts * 1_000_000_000 / BEATS_A_SECOND)
}

/// Silence of a host that is its loss, ns.
pub const fn silence_ns(period_ns: u64) -> u64 {
    PERIODS_OF_SILENCE * period_ns
}

/// How long a node goes on without a beat, ns.
pub const fn lease_ns(period_ns: u64) -> u64 {
    PERIODS_OF_LEASE * period_ns
}

/// Time between the decision to start and the start, ns; doubled with each attempt from 0 on that
/// came too late for a host. After a start that all hosts met it is shorter.
pub fn lead_ns(clocks: &[Clock], attempt: u32, has_started: bool) -> u64 {
    let trip = if has_started { Clock::round_trip_usual_ns } else { Clock::round_trip_max_ns };
    let slowest_ns = clocks.iter().filter_map(trip).max().unwrap_or(0);
    let hosts = assay_model::number::count_of(clocks.len());
    let least_ns = if has_started { LEAD_AGAIN_NS_MIN } else { LEAD_NS_MIN };
    let lead_ns = least_ns.max(3 * slowest_ns).max(LEAD_NS_A_HOST * hosts);
    lead_ns.saturating_mul(1 << attempt.min(10))
}

/// How far apart hosts may begin for an interval of this length to mean the same time on all of
/// them, ns.
pub fn skew_limit_ns(interval_ns: u64) -> u64 {
    SKEW_NS.max(interval_ns / SKEW_PART)
}

/// When a host's workers began, on the driver's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostStart {
    /// The first of them, ns.
    pub first_ns: u64,
    /// The last of them, ns.
    pub last_ns: u64,
    /// What both may be off by, ns.
    pub uncertainty_ns: u64,
}

/// How far apart the hosts began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// From the first worker of all hosts to the last, ns.
    pub skew_ns: u64,
    /// What it may be off by, ns.
    pub uncertainty_ns: u64,
    /// The host that began first.
    pub first: usize,
    /// The host that began last.
    pub last: usize,
}

impl HostStart {
    /// What a node said, on the driver's clock.
    pub fn of(began: Began, clock: &Clock) -> Option<Self> {
        let (first_ns, uncertainty_ns) = clock.to_driver_ns(began.first_ns)?;
        let last_ns = first_ns + began.last_ns.saturating_sub(began.first_ns);
        Some(Self { first_ns, last_ns, uncertainty_ns })
    }
}

impl Skew {
    /// From when each host began; nothing of none.
    pub fn of(begins: &[HostStart]) -> Option<Self> {
        let (first, earliest) =
            begins.iter().enumerate().min_by_key(|(_, begin)| begin.first_ns)?;
        let (last, latest) = begins.iter().enumerate().max_by_key(|(_, begin)| begin.last_ns)?;
        // Both ends on one clock have the same error, which the difference does not have.
        let uncertainty_ns =
            if first == last { 0 } else { earliest.uncertainty_ns + latest.uncertainty_ns };
        Some(Self { skew_ns: latest.last_ns - earliest.first_ns, uncertainty_ns, first, last })
    }

    /// Whether the hosts certainly began within a limit.
    pub const fn is_within(&self, limit_ns: u64) -> bool {
        self.skew_ns + self.uncertainty_ns <= limit_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Ping;

    #[test]
    fn a_period_grows_with_hundreds_of_hosts_and_silence_is_shorter_than_the_lease() {
        assert_eq!([1, 100, 1000].map(period_ns), [1_000_000_000, 1_000_000_000, 10_000_000_000]);
        assert!(silence_ns(period_ns(8)) < lease_ns(period_ns(8)));
        assert_eq!(silence_ns(period_ns(8)), 3_000_000_000);
    }

    #[test]
    fn the_lead_covers_slow_ways_and_many_hosts_and_doubles() {
        let mut slow = Clock::default();
        slow.add(Ping { sent_ns: 0, read_ns: 0, received_ns: 500_000_000 });
        assert_eq!(lead_ns(&[Clock::default()], 0, false), 200_000_000);
        assert_eq!(lead_ns(&[Clock::default()], 1, true), 80_000_000);
        assert_eq!(lead_ns(&[Clock::default(), slow], 0, true), 1_500_000_000);
        assert_eq!(lead_ns(&vec![Clock::default(); 1000], 1, false), 3_000_000_000);
    }

    #[test]
    fn skew_is_from_the_first_worker_to_the_last_with_both_doubts() {
        let begin = |first_ns, last_ns| HostStart { first_ns, last_ns, uncertainty_ns: 40 };
        let skew = Skew::of(&[begin(100, 300), begin(50, 60), begin(90, 95)]).unwrap();
        assert_eq!((skew.skew_ns, skew.uncertainty_ns, skew.first, skew.last), (250, 80, 1, 0));
        assert!(skew.is_within(330) && !skew.is_within(329));
        let alone = Skew::of(&[begin(10, 30)]).unwrap();
        assert_eq!((alone.skew_ns, alone.uncertainty_ns), (20, 0));
        assert_eq!(Skew::of(&[]), None);
        assert_eq!([1_000_000_000, 10_000_000].map(skew_limit_ns), [10_000_000, 5_000_000]);
    }

    #[test]
    fn a_begin_is_read_on_the_drivers_clock() {
        let mut clock = Clock::default();
        clock.add(Ping { sent_ns: 1_000, read_ns: 501_050, received_ns: 1_100 });
        let began = Began { first_ns: 501_050, last_ns: 501_090 };
        let begin = HostStart::of(began, &clock).unwrap();
        assert_eq!((begin.first_ns, begin.last_ns, begin.uncertainty_ns), (1_050, 1_090, 50));
    }
}
