//! When the next I/O starts: at once or after thinking in a closed loop, or on an absolute schedule in an open one.

use assay_model::number::{count, index, real, real_len};
use assay_model::workload::{Arrival, Process, Stream};
use assay_stats::random::Random;
use std::collections::VecDeque;

/// One worker's part of a stream's arrivals.
#[derive(Debug)]
pub enum Arrivals {
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
struct Pace {
    start_ns: f64,
    /// Rate over the mean rate, a second each; from the start again at the end. None is an even rate.
    weights: Vec<f64>,
}

impl Pace {
    fn new(pattern: &[f64], start_ns: f64) -> Self {
        let mean = pattern.iter().sum::<f64>() / real_len(pattern.len());
        Self { start_ns, weights: pattern.iter().map(|weight| weight / mean).collect() }
    }

    /// The moment at which as many arrivals have come after `from_ns` as the mean rate brings in `gap_ns`: the inverse of the
    /// integrated rate, by which a process of an even rate becomes one of a rate that changes (Lewis and Shedler 1979).
    fn after(&self, from_ns: f64, gap_ns: f64) -> f64 {
        if self.weights.is_empty() {
            return from_ns + gap_ns;
        }
        let (mut at_ns, mut left_ns) = (from_ns, gap_ns);
        loop {
            let step = ((at_ns - self.start_ns).max(0.0) / STEP_NS).floor();
            let weight = self.weights[index(step) % self.weights.len()];
            let end_ns = self.start_ns + (step + 1.0) * STEP_NS;
            let room_ns = (end_ns - at_ns) * weight;
            if left_ns <= room_ns && weight > 0.0 {
                return at_ns + left_ns / weight;
            }
            (at_ns, left_ns) = (end_ns, left_ns - room_ns);
        }
    }
}

/// Absolute arrival times: each is the previous intended time plus a gap, never "now" plus a gap.
#[derive(Debug)]
pub struct Schedule {
    pace: Pace,
    due_ns: f64,
    gap_ns: f64,
    process: Process,
    burst: u32,
    left_in_burst: u32,
    random: Random,
}

impl Arrivals {
    /// The arrivals of one of `workers` equal workers of a stream, beginning at `start_ns`.
    pub fn new(stream: &Stream, worker: u64, workers: u64, seed: u64, start_ns: u64) -> Self {
        match stream.arrival {
            Arrival::Closed { think_time, .. } => {
                Self::Closed { think_ns: think_time.0, thinking: VecDeque::new() }
            }
            Arrival::Open { rate, process, burst, .. } => {
                let gap_ns = 1e9 * f64::from(burst) * real(workers) / rate.0;
                let mut random = Random::part(seed ^ 0xa11_17a1, worker);
                // Constant schedules of several workers interleave; Poisson ones start with a gap of their own.
                let first = match process {
                    Process::Constant => gap_ns * real(worker) / real(workers),
                    Process::Poisson => gap_ns * random.exponential(),
                };
                let pace = Pace::new(&stream.pattern, real(start_ns));
                let due_ns = pace.after(real(start_ns), first);
                Self::Open(Schedule {
                    pace,
                    due_ns,
                    gap_ns,
                    process,
                    burst,
                    left_in_burst: burst,
                    random,
                })
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
        if let Self::Closed { think_ns: think_ns @ 1.., thinking } = self {
            thinking.push_back(done_ns + *think_ns);
        }
    }

    /// When an I/O may start next while `free` slots wait for it; `None` when only a completion can bring that about.
    pub fn next_ns(&self, free: usize) -> Option<u64> {
        match self {
            _ if free == 0 => None,
            Self::Closed { thinking, .. } if free > thinking.len() => Some(0),
            Self::Closed { thinking, .. } => thinking.front().copied(),
            Self::Open(schedule) => Some(schedule.due_ns()),
        }
    }

    /// Arrivals due until `end_ns` that were not taken, for ever lost.
    pub fn missed(&mut self, end_ns: u64) -> u64 {
        match self {
            Self::Closed { .. } => 0,
            Self::Open(schedule) => std::iter::from_fn(|| schedule.take(end_ns)).map(|_| 1).sum(),
        }
    }

    /// Whether latency counts from an intended start.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }
}

impl Schedule {
    /// When the next arrival is due, ns.
    pub fn due_ns(&self) -> u64 {
        count(self.due_ns)
    }

    /// Takes the next arrival if it is due: its intended start.
    pub fn take(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.due_ns();
        if due_ns > now_ns {
            return None;
        }
        self.left_in_burst -= 1;
        if self.left_in_burst == 0 {
            self.left_in_burst = self.burst;
            let gap_ns = match self.process {
                Process::Constant => self.gap_ns,
                Process::Poisson => self.gap_ns * self.random.exponential(),
            };
            self.due_ns = self.pace.after(self.due_ns, gap_ns);
        }
        Some(due_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::{Bytes, Rate, Share};

    fn open(rate: f64, process: Process, burst: u32) -> Stream {
        let rate = Rate(rate);
        let arrival =
            Arrival::Open { rate, process, burst, outstanding_max: 64, group_commit: None };
        Stream { arrival, ..Stream::closed("s", Share(1.0), Bytes(8192), 1) }
    }

    fn starts(stream: &Stream, worker: u64, workers: u64, until_ns: u64) -> Vec<u64> {
        let Arrivals::Open(mut schedule) = Arrivals::new(stream, worker, workers, 3, 0) else {
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
            times.iter().for_each(|at_ns| {
                if let Some(second) =
                    seconds.get_mut(usize::try_from(at_ns / 1_000_000_000).unwrap())
                {
                    *second += 1.0;
                }
            });
            // Mean weight 1: 60,000 and 20,000 a second; five standard deviations of a Poisson count.
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
}
