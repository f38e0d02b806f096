//! What another host's clock says, from questions and answers: an offset with an interval that
//! holds it for certain.
//!
//! A question leaves at `sent`, the node reads its clock, the answer is here at `received`: the
//! node's clock was read somewhere between, so that its offset lies in [read - received, read -
//! sent] however unlike the two ways are (F. Cristian, Distributed Computing 3, 1989). No clock is
//! set, and none but the monotonic ones is used.

/// Pings that are kept; beyond, of each two neighbours the better one stays.
const PINGS_MAX: usize = 256;
/// A way there and back that is short enough for an offset, ns.
const PRECISE_NS: u64 = 300_000;
/// What two clocks drift apart at most while nothing better is known, parts per billion: quartz is
/// within 50 ppm, and what a time service slews is mostly below.
const DRIFT_MAX_PPB: i128 = 50_000;
/// What no clock drifts, parts per billion: the kernel slews by 500 ppm at most.
const JUMP_PPB: i128 = 600_000;

/// A question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// When the question left, ns on the driver's clock.
    pub sent_ns: u64,
    /// What the node's clock said, ns.
    pub read_ns: u64,
    /// When the answer was here, ns on the driver's clock.
    pub received_ns: u64,
}

/// How far a node's clock is ahead of the driver's at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// The best guess, ns; negative where it is behind.
    pub offset_ns: i64,
    /// What it may be off by, ns, either way.
    pub uncertainty_ns: u64,
}

/// What is known of a node's clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// In the order in which they were made.
    pings: Vec<Ping>,
    asked: u64,
    /// Whether it is the driver's own: processes of one machine read the same one.
    is_same: bool,
}

/// How fast a clock leaves the driver's, parts per billion, and by how much that may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDrift {
    /// The best guess; positive where the node's clock is faster.
    pub ppb: i64,
    /// What it may be off by, either way.
    pub uncertainty_ppb: u64,
}

impl Ping {
    /// From question to answer, ns.
    pub const fn round_trip_ns(&self) -> u64 {
        self.received_ns.saturating_sub(self.sent_ns)
    }

    /// In the middle between question and answer, ns on the driver's clock.
    const fn middle_ns(&self) -> u64 {
        self.sent_ns + self.round_trip_ns() / 2
    }

    fn offset_ns(&self) -> i128 {
        i128::from(self.read_ns) - i128::from(self.middle_ns())
    }

    fn uncertainty_ns(&self) -> i128 {
        i128::from(self.round_trip_ns().div_ceil(2))
    }
}

impl Clock {
    /// That of a process on the driver's own machine; answers say how busy it is and whether it was
    /// suspended, and nothing of an offset.
    pub fn of_this_machine() -> Self {
        Self { is_same: true, ..Self::default() }
    }

    /// Takes a question that was answered.
    pub fn add(&mut self, ping: Ping) {
        self.asked += 1;
        self.pings.push(ping);
        if self.pings.len() < PINGS_MAX {
            return;
        }
        let better = |pair: &[Ping]| pair.iter().min_by_key(|ping| ping.round_trip_ns()).copied();
        self.pings = self.pings.chunks(2).filter_map(better).collect();
    }

    /// Questions that were answered.
    pub const fn asked(&self) -> u64 {
        self.asked
    }

    /// The shortest way there and back, ns; nothing before the first answer.
    pub fn round_trip_min_ns(&self) -> Option<u64> {
        self.pings.iter().map(Ping::round_trip_ns).min()
    }

    /// Whether its offset is known as well as the start of several hosts needs; a busy machine or a
    /// slow line makes every answer of a short time late.
    pub fn is_precise(&self) -> bool {
        self.is_same || self.round_trip_min_ns().is_some_and(|trip_ns| trip_ns <= PRECISE_NS)
    }

    /// The longest way there and back of those that are kept, ns.
    pub fn round_trip_max_ns(&self) -> Option<u64> {
        self.pings.iter().map(Ping::round_trip_ns).max()
    }

    /// The way there and back that 90 of 100 of those that are kept do not exceed, ns: one that a
    /// busy machine made long says nothing of the next.
    pub fn round_trip_usual_ns(&self) -> Option<u64> {
        let mut trips: Vec<u64> = self.pings.iter().map(Ping::round_trip_ns).collect();
        trips.sort_unstable();
        trips.get((trips.len() * 9 / 10).min(trips.len().saturating_sub(1))).copied()
    }

    /// How fast it leaves the driver's clock: the slope between the best ping of the first third
    /// and that of the last. Nothing where the pings are too near to each other to say it
    /// better than what quartz promises.
    pub fn drift(&self) -> Option<ClockDrift> {
        let third = self.pings.len() / 3;
        let best = |pings: &[Ping]| pings.iter().min_by_key(|ping| ping.round_trip_ns()).copied();
        let first = best(&self.pings[..third])?;
        let last = best(&self.pings[self.pings.len() - third..])?;
        let apart_ns = i128::from(last.middle_ns()) - i128::from(first.middle_ns());
        if apart_ns <= 0 {
            return None;
        }
        let per_billion = |ns: i128| ns * 1_000_000_000 / apart_ns;
        let uncertainty = per_billion(first.uncertainty_ns() + last.uncertainty_ns()) + 1;
        let ppb = per_billion(last.offset_ns() - first.offset_ns());
        (uncertainty < DRIFT_MAX_PPB).then(|| ClockDrift {
            ppb: i64::try_from(ppb).unwrap_or(i64::MAX),
            uncertainty_ppb: u64::try_from(uncertainty).unwrap_or(u64::MAX),
        })
    }

    /// The offset at a moment of the driver's clock, from the ping that says it best; nothing
    /// before the first answer.
    pub fn offset_at(&self, at_ns: u64) -> Option<Offset> {
        if self.is_same {
            return self.pings.first().map(|_| Offset::default());
        }
        let drift = self.drift();
        let slope = drift.map_or(0, |drift| i128::from(drift.ppb));
        let doubt = drift.map_or(DRIFT_MAX_PPB, |drift| i128::from(drift.uncertainty_ppb));
        let since = |ping: &Ping| i128::from(at_ns) - i128::from(ping.middle_ns());
        let away = |ping: &Ping, ppb: i128| (since(ping) * ppb) / 1_000_000_000;
        let uncertainty = |ping: &Ping| ping.uncertainty_ns() + away(ping, doubt).abs();
        let best = self.pings.iter().min_by_key(|ping| uncertainty(ping))?;
        Some(Offset {
            offset_ns: i64::try_from(best.offset_ns() + away(best, slope)).unwrap_or(i64::MAX),
            uncertainty_ns: u64::try_from(uncertainty(best)).unwrap_or(u64::MAX),
        })
    }

    /// A moment of the driver's clock on the node's.
    pub fn to_node_ns(&self, at_ns: u64) -> Option<u64> {
        self.offset_at(at_ns).map(|offset| at_ns.saturating_add_signed(offset.offset_ns))
    }

    /// A moment of the node's clock on the driver's, and what it may be off by.
    pub fn to_driver_ns(&self, node_ns: u64) -> Option<(u64, u64)> {
        let last = self.pings.last()?;
        let nearly = i128::from(node_ns) - if self.is_same { 0 } else { last.offset_ns() };
        let offset = self.offset_at(u64::try_from(nearly).unwrap_or(0))?;
        let at_ns = i128::from(node_ns) - i128::from(offset.offset_ns);
        Some((u64::try_from(at_ns).unwrap_or(0), offset.uncertainty_ns))
    }

    /// By how much it jumped, ns, where two answers contradict each other whatever the drift: a
    /// virtual machine that was suspended or moved, and not a clock that was set, which this
    /// one cannot be.
    pub fn jump_ns(&self) -> Option<u64> {
        let jump = |pair: &[Ping]| {
            let [one, next] = pair else { return None };
            let moved = (next.offset_ns() - one.offset_ns()).abs();
            let apart = i128::from(next.middle_ns()) - i128::from(one.middle_ns());
            let slack = one.uncertainty_ns() + next.uncertainty_ns();
            let drifted = apart.abs() * JUMP_PPB / 1_000_000_000;
            (moved > slack + drifted).then(|| u64::try_from(moved).unwrap_or(u64::MAX))
        };
        self.pings.windows(2).find_map(jump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::{count, real};
    use assay_stats::random::Random;

    /// A clock ahead by `offset_ns` at 0 that runs `ppb` fast, asked every `every_ns` over ways of
    /// 20 µs and more.
    struct Truth {
        offset_ns: i128,
        ppb: i128,
        random: Random,
    }

    impl Truth {
        fn read(&self, at_ns: u64) -> u64 {
            let drifted = i128::from(at_ns) * self.ppb / 1_000_000_000;
            u64::try_from(i128::from(at_ns) + self.offset_ns + drifted).unwrap()
        }

        /// Two ways that are unlike each other and now and then far longer.
        fn ping(&mut self, sent_ns: u64) -> Ping {
            let mut way = |mean_ns: f64| {
                let tail = if self.random.chance(0.05) { 20.0 } else { 1.0 };
                20_000 + count(mean_ns * tail * self.random.exponential())
            };
            let (there, back) = (way(30_000.0), way(90_000.0));
            let read_ns = self.read(sent_ns + there);
            Ping { sent_ns, read_ns, received_ns: sent_ns + there + back }
        }
    }

    fn truth(offset_ns: i128, ppb: i128, seed: u64) -> Truth {
        Truth { offset_ns, ppb, random: Random::new(seed) }
    }

    #[test]
    fn the_interval_holds_the_true_offset_every_time() {
        for (seed, offset_ns) in (1..=100).zip([0, 50_000_000_000_000, 1_000].iter().cycle()) {
            let mut truth = truth(*offset_ns, 20_000, seed);
            let mut clock = Clock::default();
            (0..40).for_each(|round| clock.add(truth.ping(5_000_000_000 + round * 1_000_000)));
            for at_ns in [5_000_000_000_u64, 5_500_000_000] {
                let found = clock.offset_at(at_ns).unwrap();
                let real_ns = i128::from(truth.read(at_ns)) - i128::from(at_ns);
                let error = (i128::from(found.offset_ns) - real_ns).unsigned_abs();
                assert!(error <= u128::from(found.uncertainty_ns), "{seed}: {found:?} {real_ns}");
                assert!(found.uncertainty_ns < 100_000, "{found:?}");
            }
        }
    }

    #[test]
    fn a_drift_of_50_ppm_is_found_within_5_ppm_in_a_minute() {
        for seed in 0..50 {
            let mut truth = truth(1_000_000, 50_000, seed);
            let mut clock = Clock::default();
            (0..60).for_each(|second| clock.add(truth.ping(1_000_000_000 * second)));
            let drift = clock.drift().unwrap();
            assert!(drift.ppb.abs_diff(50_000) <= drift.uncertainty_ppb, "{drift:?}");
            assert!(drift.ppb.abs_diff(50_000) < 5_000, "{drift:?}");
            assert_eq!(clock.jump_ns(), None);
        }
    }

    #[test]
    fn one_fast_answer_of_many_slow_ones_makes_a_clock_precise() {
        let mut clock = Clock::default();
        assert!(!clock.is_precise());
        let after = |trip_ns| Ping { sent_ns: 0, read_ns: 5, received_ns: trip_ns };
        (0..40).for_each(|late| clock.add(after(700_000 + late)));
        assert!(!clock.is_precise());
        clock.add(after(90_000));
        assert!(clock.is_precise() && Clock::of_this_machine().is_precise());
    }

    #[test]
    fn moments_go_there_and_back() {
        let mut truth = truth(7_000_000_000, 0, 1);
        let mut clock = Clock::default();
        (0..40).for_each(|round| clock.add(truth.ping(round * 1_000_000)));
        let node_ns = clock.to_node_ns(60_000_000).unwrap();
        let (back_ns, uncertainty_ns) = clock.to_driver_ns(node_ns).unwrap();
        assert!(back_ns.abs_diff(60_000_000) <= 1 && uncertainty_ns < 60_000);
        assert_eq!(Clock::default().to_node_ns(1), None);
    }

    #[test]
    fn a_process_of_the_same_machine_has_the_same_clock_however_slowly_it_answers() {
        let mut clock = Clock::of_this_machine();
        assert_eq!(clock.offset_at(5), None);
        clock.add(Ping { sent_ns: 0, read_ns: 900, received_ns: 1_000 });
        assert_eq!(clock.offset_at(5_000_000), Some(Offset::default()));
        assert_eq!((clock.to_node_ns(7), clock.to_driver_ns(7)), (Some(7), Some((7, 0))));
    }

    #[test]
    fn many_pings_take_flat_memory_and_keep_the_best() {
        let mut truth = truth(0, 0, 9);
        let mut clock = Clock::default();
        let mut least = u64::MAX;
        for second in 0..10_000 {
            let ping = truth.ping(1_000_000_000 * second);
            least = least.min(ping.round_trip_ns());
            clock.add(ping);
        }
        assert!(clock.pings.len() < PINGS_MAX && clock.asked() == 10_000);
        assert_eq!(clock.round_trip_min_ns(), Some(least));
        assert!(clock.round_trip_max_ns() >= clock.round_trip_usual_ns());
        assert!(clock.round_trip_usual_ns() > clock.round_trip_min_ns());
    }

    #[test]
    fn a_suspended_machine_is_seen() {
        let mut truth = truth(0, 30_000, 4);
        let mut clock = Clock::default();
        (0..20).for_each(|second| clock.add(truth.ping(1_000_000_000 * second)));
        assert_eq!(clock.jump_ns(), None);
        truth.offset_ns -= 2_000_000_000;
        // Its clock stood still for two seconds.
        clock.add(truth.ping(25_000_000_000));
        let jump_ns = clock.jump_ns().unwrap();
        assert!((real(jump_ns) / 2e9 - 1.0).abs() < 0.01, "{jump_ns}");
    }
}
