//! When the next I/O starts: at once or after thinking in a closed loop, or on an absolute schedule
//! in an open one.

use assay_model::number::{count, index, real, real_len};
use assay_model::workload::{Arrival, Process, Stream};
use assay_stats::random::Random;
use std::collections::VecDeque;

/// One worker's part of a stream's arrivals.
#[derive(Debug)]
pub enum StreamArrivals {
    /// A slot that is free starts again after thinking.
    Closed {
        /// Pause between a completion and the next start, ns.
        think_ns: u64,
        /// When thinking slots are ready, ascending.
        thinking: VecDeque<u64>,
    },
    /// A schedule that never waits for completions.
    Open(Schedule),
}

/// Nanoseconds of one step of a pattern.
const STEP_NS: f64 = 1e9;

/// A rate that changes from second to second.
#[derive(Debug)]
struct PatternPace {
    /// Rate over the mean rate, a second each; from the start again at the end. None is an even
    /// rate.
    weights: Vec<f64>,
}

impl PatternPace {
    fn new(pattern: &[f64]) -> Self {
        let mean = pattern.iter().sum::<f64>() / real_len(pattern.len());
        // Weights of mean 1 leave the rate of the stream as it is.
        Self { weights: pattern.iter().map(|weight| weight / mean).collect() }
    }

    fn weight(&self, step: f64) -> f64 {
        self.weights[index(step) % self.weights.len()]
    }

    /// How long after `elapsed_ns` as many arrivals have come as the mean rate brings in `gap_ns`:
    /// the inverse of the integrated rate, by which a process of an even rate becomes one of a
    /// rate that changes (Lewis and Shedler 1979).
    fn stretch_ns(&self, elapsed_ns: f64, gap_ns: f64) -> f64 {
        if self.weights.is_empty() {
            return gap_ns;
        }
        let mut at_ns = elapsed_ns;
        let mut left_ns = gap_ns;
        loop {
            let step = (at_ns.max(0.0) / STEP_NS).floor();
            let weight = self.weight(step);
            let end_ns = (step + 1.0) * STEP_NS;
            let room_ns = (end_ns - at_ns) * weight;
            // A second of weight 0 has no arrivals; without the second condition, nothing left in
            // it would give 0 / 0.
            if left_ns <= room_ns && weight > 0.0 {
                return at_ns + left_ns / weight - elapsed_ns;
            }
            at_ns = end_ns;
            left_ns -= room_ns;
        }
    }

    /// The time in which the mean rate brings what comes between two times: the integrated rate.
    fn mean_rate_ns(&self, from_ns: f64, to_ns: f64) -> f64 {
        if self.weights.is_empty() {
            return to_ns - from_ns;
        }
        let mut at_ns = from_ns;
        let mut sum_ns = 0.0;
        while at_ns < to_ns {
            let step = (at_ns / STEP_NS).floor();
            let end_ns = ((step + 1.0) * STEP_NS).min(to_ns);
            sum_ns += (end_ns - at_ns) * self.weight(step);
            at_ns = end_ns;
        }
        sum_ns
    }
}

/// Absolute arrival times: each is the previous intended time plus a gap, never "now" plus a gap.
#[derive(Debug)]
pub struct Schedule {
    pace: PatternPace,
    start_ns: u64,
    due_ns: u64,
    /// What rounding to whole nanoseconds left over. Clocks count from the start of the machine:
    /// after a year `f64` resolves 4 ns, and a sum of gaps would drift by parts of a thousand.
    rest_ns: f64,
    gap_ns: f64,
    process: Process,
    burst: u32,
    left_in_burst: u32,
    random: Random,
}

impl StreamArrivals {
    /// The arrivals of one of `workers` equal workers of a stream, beginning at `start_ns`.
    pub fn new(stream: &Stream, worker: u64, workers: u64, seed: u64, start_ns: u64) -> Self {
        match stream.arrival {
            Arrival::Closed { think_time, .. } => {
                Self::Closed { think_ns: think_time.0, thinking: VecDeque::new() }
            }
            Arrival::Open { rate, process, burst, .. } => {
                // Workers share the rate equally, and one gap precedes a whole burst.
                let gap_ns = 1e9 * f64::from(burst) * real(workers) / rate.0;
                let mut random = Random::part(seed ^ 0xa11_17a1, worker);
                // Constant schedules of several workers interleave; Poisson ones start with a gap
                // of their own.
                let first = match process {
                    Process::Constant => gap_ns * real(worker) / real(workers),
                    Process::Poisson => gap_ns * random.exponential(),
                };
                let mut schedule = Schedule {
                    pace: PatternPace::new(&stream.pattern),
                    start_ns,
                    due_ns: start_ns,
                    rest_ns: 0.0,
                    gap_ns,
                    process,
                    burst,
                    left_in_burst: burst,
                    random,
                };
                schedule.add(first);
                Self::Open(schedule)
            }
        }
    }

    /// The intended start of the next I/O, if one may start now and `free` slots are there for it.
    #[inline]
    pub fn take(&mut self, now_ns: u64, free: usize) -> Option<u64> {
        match self {
            _ if free == 0 => None,
            Self::Closed { thinking, .. } if free > thinking.len() => Some(now_ns),
            Self::Closed { thinking, .. } => {
                let ready = thinking.front().is_some_and(|ready_ns| *ready_ns <= now_ns);
                ready.then(|| thinking.pop_front()).flatten()
            }
            Self::Open(schedule) => schedule.take(now_ns),
        }
    }

    /// Notes that an I/O completed: its slot thinks before it starts again.
    #[inline]
    pub fn completed(&mut self, done_ns: u64) {
        // Without a pause the slot is free at once and needs no queue.
        if let Self::Closed { think_ns: think_ns @ 1.., thinking } = self {
            thinking.push_back(done_ns + *think_ns);
        }
    }

    /// When an I/O may start next while `free` slots wait for it; `None` when only a completion can
    /// bring that about.
    pub fn next_ns(&self, free: usize) -> Option<u64> {
        match self {
            _ if free == 0 => None,
            Self::Closed { thinking, .. } if free > thinking.len() => Some(0),
            Self::Closed { thinking, .. } => thinking.front().copied(),
            Self::Open(schedule) => Some(schedule.due_ns),
        }
    }

    /// Arrivals due until `end_ns` that were not taken, and now never will be.
    pub fn missed(&mut self, end_ns: u64) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Open(schedule) => schedule.missed(end_ns),
        }
    }

    /// Whether latency counts from an intended start.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

impl Schedule {
    /// Takes the next arrival if it is due: its intended start.
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.due_ns;
        if due_ns > now_ns {
            return None;
        }
        self.left_in_burst -= 1;
        if self.left_in_burst == 0 {
            self.left_in_burst = self.burst;
            let gaps = match self.process {
                Process::Constant => 1.0,
                Process::Poisson => self.random.exponential(),
            };
            self.add(self.gap_ns * gaps);
        }
        Some(due_ns)
    }

    /// Since the start, exactly.
    fn elapsed_ns(&self) -> f64 {
        real(self.due_ns - self.start_ns) + self.rest_ns
    }

    /// Moves the next arrival by a gap of the mean rate, without losing fractions of a nanosecond.
    #[inline]
    fn add(&mut self, gap_ns: f64) {
        let exact_ns = self.rest_ns + self.pace.stretch_ns(self.elapsed_ns(), gap_ns);
        let whole_ns = count(exact_ns);
        self.due_ns = self.due_ns.saturating_add(whole_ns);
        self.rest_ns = exact_ns - real(whole_ns);
    }

    /// How many arrivals are due until `end_ns`, in one step: after a day of overload they are
    /// billions. Of a Poisson process the number of bursts is drawn from its own distribution,
    /// whose normal approximation is within 1% of its deviation beyond `EXACT_BURSTS_MAX`.
    fn missed(&mut self, end_ns: u64) -> u64 {
        const EXACT_BURSTS_MAX: f64 = 10_000.0;
        if self.due_ns > end_ns {
            return 0;
        }
        let until_ns = real(end_ns - self.start_ns) + 0.5;
        let gaps = self.pace.mean_rate_ns(self.elapsed_ns(), until_ns) / self.gap_ns;
        if gaps <= EXACT_BURSTS_MAX {
            return std::iter::from_fn(|| self.take(end_ns)).map(|_| 1).sum();
        }
        let later_bursts = match self.process {
            Process::Constant => gaps.ceil() - 1.0,
            Process::Poisson => gaps + gaps.sqrt() * self.random.normal(),
        };
        let missed = u64::from(self.left_in_burst) + u64::from(self.burst) * count(later_bursts);
        self.due_ns = end_ns.saturating_add(1);
        self.rest_ns = 0.0;
        self.left_in_burst = self.burst;
        missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::count_of;
    use assay_model::units::{Bytes, Rate, Share};

    fn open(rate: f64, process: Process, burst: u32) -> Stream {
        let rate = Rate(rate);
        let arrival =
            Arrival::Open { rate, process, burst, queue_depth_max: 64, group_commit: None };
        Stream { arrival, ..Stream::closed("s", Share(1.0), Bytes(8192), 1) }
    }

    fn starts(stream: &Stream, worker: u64, workers: u64, until_ns: u64) -> Vec<u64> {
        let StreamArrivals::Open(mut schedule) = StreamArrivals::new(stream, worker, workers, 3, 0)
        else {
            panic!("open")
        };
        std::iter::from_fn(|| schedule.take(until_ns)).collect()
    }

    #[test]
    fn constant_workers_interleave_evenly() {
        let arrival = open(1000.0, Process::Constant, 1);
        assert_eq!(starts(&arrival, 0, 2, 4_500_000), [0, 2_000_000, 4_000_000]);
        assert_eq!(starts(&arrival, 1, 2, 4_500_000), [1_000_000, 3_000_000]);
    }

    #[test]
    fn poisson_gaps_are_exponential_and_the_rate_holds() {
        let times = starts(&open(20_000.0, Process::Poisson, 1), 0, 1, 10_000_000_000);
        // 200,000 expected; one standard deviation is 447.
        assert!((198_000..202_000).contains(&times.len()), "{}", times.len());
        let mut gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        // The median of an exponential of mean 50 us is 50 us * ln 2 = 34.66 us.
        assert!((34_000..35_300).contains(&gaps[gaps.len() / 2]));
    }

    #[test]
    fn a_pattern_gives_each_second_its_share_and_keeps_the_mean() {
        for process in [Process::Constant, Process::Poisson] {
            let stream = Stream { pattern: vec![0.0, 3.0, 1.0, 0.0], ..open(20_000.0, process, 1) };
            let times = starts(&stream, 0, 1, 8_000_000_000);
            let mut seconds = [0.0; 8];
            for at_ns in &times {
                let second = usize::try_from(at_ns / 1_000_000_000).unwrap();
                if let Some(count) = seconds.get_mut(second) {
                    *count += 1.0;
                }
            }
            // Mean weight 1: 60,000 and 20,000 a second; five standard deviations of a Poisson
            // count.
            for (second, right) in
                [0.0, 60_000.0, 20_000.0, 0.0].into_iter().cycle().take(8).enumerate()
            {
                let off: f64 = seconds[second] - right;
                assert!(off.abs() <= 5.0 * f64::sqrt(right) + 1.0, "{second}: {}", seconds[second]);
            }
        }
    }

    #[test]
    fn bursts_start_together_and_keep_the_rate() {
        let times = starts(&open(1000.0, Process::Constant, 10), 0, 1, 99_000_000);
        assert_eq!(times.len(), 100);
        assert!(times.chunks(10).all(|burst| burst.iter().all(|time| *time == burst[0])));
    }

    #[test]
    fn a_rate_holds_after_years_of_uptime() {
        let (rate, start_ns) = (650_000.0, 500 * 86_400 * 1_000_000_000);
        let arrival = open(rate, Process::Constant, 1);
        let StreamArrivals::Open(mut schedule) = StreamArrivals::new(&arrival, 0, 1, 3, start_ns)
        else {
            panic!("open")
        };
        let end_ns = start_ns + 1_000_000_000;
        let taken = std::iter::from_fn(|| schedule.take(end_ns - 1)).count();
        assert_eq!(taken, 650_000);
    }

    #[test]
    fn missed_arrivals_are_counted_at_once_as_they_would_be_one_by_one() {
        for (rate, burst) in [(100_000.0, 1), (99_999.7, 1), (130_000.0, 7)] {
            let arrival = open(rate, Process::Constant, burst);
            let one_by_one = starts(&arrival, 0, 1, 999_999_999).len();
            let at_once = StreamArrivals::new(&arrival, 0, 1, 3, 0).missed(999_999_999);
            assert_eq!(at_once, count_of(one_by_one), "{rate} {burst}");
        }
        // A day at 10 million a second, 8.64e11 arrivals, within five deviations.
        let poisson = open(1e7, Process::Poisson, 1);
        let missed = StreamArrivals::new(&poisson, 0, 1, 3, 0).missed(86_400 * 1_000_000_000);
        assert!((real(missed) - 8.64e11).abs() < 5.0 * 8.64e11_f64.sqrt(), "{missed}");
    }
}
