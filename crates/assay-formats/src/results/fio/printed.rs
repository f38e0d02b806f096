//! fio's output in any form as numbers that are known or unknown.

use super::quantiles::QuantileSummary;
use crate::results::check::contradicts_depth;
use crate::results::imported::Lack;
use assay_model::histogram::{Histogram, Precision, ReportedQuantile};
use assay_model::number::{count, nanoseconds, real};
use std::collections::BTreeMap;

/// Run times of the reads and writes of a job that differ by less are one: rates are shown with
/// three digits.
const SIDES_ROUNDING: f64 = 0.002;
/// The same of the jobs of a group, which end one by one.
const JOBS_ROUNDING: f64 = 0.005;

/// Everything that one output holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PrintedOutput {
    /// fio's own words for its version, such as `fio-3.33`.
    pub version: String,
    /// When it was printed.
    pub ended_unix_ns: Option<u64>,
    /// Whether Assay wrote it: then completion latencies are service times, and total ones
    /// response times.
    pub is_of_assay: bool,
    /// Jobs, or groups of them where fio joined their numbers.
    pub jobs: Vec<PrintedJob>,
    /// What the form lacks.
    pub lacks: Vec<Lack>,
}

/// One job, or one group of jobs that were reported as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PrintedJob {
    /// Its name.
    pub name: String,
    /// The host that ran it, where several did.
    pub host: Option<String>,
    /// Jobs of one number ran at the same time.
    pub group: u32,
    /// fio's error number; 0 where there was none.
    pub error: i64,
    /// Its options as text, those of the whole file included.
    pub options: BTreeMap<String, String>,
    /// Reads.
    pub read: Option<PrintedSide>,
    /// Writes.
    pub write: Option<PrintedSide>,
    /// Trims.
    pub trim: Option<PrintedSide>,
    /// All of them in one, where fio was given to join them.
    pub mixed: Option<PrintedSide>,
    /// Flushes.
    pub sync: Option<PrintedSide>,
    /// When it started, where it says so itself.
    pub started_unix_ns: Option<u64>,
    /// Processor time of all its threads.
    pub processor: Option<ProcessorTime>,
    /// I/Os that all its threads had outstanding at most.
    pub queue_depth_max: Option<f64>,
}

/// Processor time, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorTime {
    /// In the program.
    pub user_s: f64,
    /// In the kernel.
    pub system_s: f64,
}

/// One operation of a job that happened at least once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PrintedSide {
    /// I/Os.
    pub ios: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// I/Os that failed, and are not among them.
    pub errors: u64,
    /// How long they were issued, s.
    pub runtime_s: Option<f64>,
    /// From submission to completion.
    pub completion: PrintedTimes,
    /// From before submission to completion.
    pub total: PrintedTimes,
}

/// Times of an operation, ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PrintedTimes {
    /// The shortest.
    pub min_ns: Option<f64>,
    /// The longest.
    pub max_ns: Option<f64>,
    /// Their mean.
    pub mean_ns: Option<f64>,
    /// Shares below 1 with their times, ascending in both.
    pub quantiles: Vec<(f64, f64)>,
    /// Times with how many I/Os took them.
    pub bins: Vec<(u64, u64)>,
}

/// The best that is known of the times of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KnownTimes {
    /// All of them.
    Distribution(Histogram),
    /// A mean, and the longest where it was printed.
    Mean {
        /// ns.
        mean_ns: f64,
        /// ns.
        max_ns: Option<f64>,
    },
    /// Nothing: fio's clocks were switched off.
    Nothing,
}

impl PrintedTimes {
    /// Whether nothing was measured: fio prints zeros then.
    pub fn is_empty(&self) -> bool {
        let is_zero = |number: Option<f64>| number.is_none_or(|number| number <= 0.0);
        is_zero(self.mean_ns) && is_zero(self.max_ns) && self.bins.is_empty()
    }

    fn has_distribution(&self) -> bool {
        let has_any = !self.quantiles.is_empty() || !self.bins.is_empty();
        has_any && !self.is_empty()
    }

    /// The distribution of that many I/Os, with the percentiles and the mean as they were printed;
    /// nothing where there are neither bins nor percentiles.
    fn histogram(&self, ios: u64) -> Option<Histogram> {
        let quantile = |known: &(f64, f64)| ReportedQuantile::new(known.0, known.1);
        let quantiles: Vec<ReportedQuantile> = self.quantiles.iter().map(quantile).collect();
        let counted = self.counted(ios)?;
        Some(counted.with_reported(self.mean_ns, &quantiles))
    }

    fn counted(&self, ios: u64) -> Option<Histogram> {
        let mut histogram = Histogram::new(Precision::Fine);
        if !self.bins.is_empty() {
            self.record_bins(&mut histogram);
            return Some(histogram);
        }
        let (first, last) = (self.quantiles.first()?.1, self.quantiles.last()?.1);
        let summary = QuantileSummary {
            ios,
            min_ns: self.min_ns.unwrap_or(first).min(first),
            max_ns: self.max_ns.unwrap_or(last),
            mean_ns: self.mean_ns?,
            quantiles: self.quantiles.clone(),
        };
        Some(summary.histogram().known_at(self.quantiles.iter().map(|(share, _)| *share)))
    }
}

impl PrintedTimes {
    /// Records the bins; of the outermost one I/O each took the shortest and the longest time,
    /// which are known exactly.
    fn record_bins(&self, histogram: &mut Histogram) {
        let mut bins: Vec<(u64, u64)> =
            self.bins.iter().copied().filter(|(_, ios)| *ios > 0).collect();
        bins.sort_unstable();
        let ends = [self.min_ns, self.max_ns].map(|time_ns| time_ns.map(count));
        if let [Some(min_ns), Some(max_ns)] = ends {
            let is_within = min_ns <= max_ns
                && bins.first().is_some_and(|bin| min_ns <= bin.0 + bin.0 / 64)
                && bins.last().is_some_and(|bin| max_ns >= bin.0 - bin.0 / 64);
            let ios: u64 = bins.iter().map(|(_, ios)| ios).sum();
            if is_within && ios > 1 {
                for bin in &mut bins {
                    bin.0 = bin.0.clamp(min_ns, max_ns);
                }
                // The shortest and the longest are known exactly: each leaves its bin.
                bins[0].1 -= 1;
                if let Some(last) = bins.iter_mut().rev().find(|bin| bin.1 > 0) {
                    last.1 -= 1;
                }
                histogram.record(min_ns);
                histogram.record(max_ns);
            }
        }
        let rest = bins.into_iter().filter(|(_, ios)| *ios > 0);
        rest.for_each(|(time_ns, ios)| histogram.record_many(time_ns, ios));
    }
}

impl PrintedSide {
    /// Response times, in a result of Assay of open arrivals.
    pub fn response(&self) -> Option<Histogram> {
        self.total.histogram(self.ios).filter(|_| self.total.has_distribution())
    }

    /// Whether the percentiles are of total latency, while its mean is that of the completion
    /// latency.
    pub fn has_quantiles_of_total(&self) -> bool {
        !self.completion.has_distribution() && self.total.has_distribution()
    }

    /// Whether the times leave out the time in submission.
    pub fn is_of_completion(&self) -> bool {
        !self.completion.is_empty()
    }

    /// Whether every rank of the distribution is known, and not only those of the percentiles.
    pub fn has_bins(&self) -> bool {
        !(self.completion.bins.is_empty() && self.total.bins.is_empty())
    }

    /// Its times: the distribution of completion latencies, or that of the total ones around the
    /// known mean.
    pub fn times(&self) -> KnownTimes {
        let joined = PrintedTimes {
            mean_ns: self
                .completion
                .mean_ns
                .filter(|_| self.is_of_completion())
                .or(self.total.mean_ns),
            ..self.total.clone()
        };
        let known = if self.completion.has_distribution() { &self.completion } else { &joined };
        if let Some(histogram) = known.histogram(self.ios).filter(|_| known.has_distribution()) {
            return KnownTimes::Distribution(histogram);
        }
        let known = if self.is_of_completion() { &self.completion } else { &self.total };
        match known.mean_ns.filter(|_| !known.is_empty()) {
            Some(mean_ns) => KnownTimes::Mean { mean_ns, max_ns: known.max_ns },
            None => KnownTimes::Nothing,
        }
    }

    fn longest_ns(&self) -> Option<f64> {
        self.completion.max_ns.or(self.total.max_ns)
    }

    /// I/Os per second, over its own time.
    pub fn elapsed_s(&self) -> Option<f64> {
        self.runtime_s.filter(|time_s| *time_s > 0.0)
    }
}

impl PrintedJob {
    /// Its operations with the name that their quantities have; those that were joined have none.
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, &PrintedSide)> {
        let sides = [("read", &self.read), ("write", &self.write), ("", &self.mixed)];
        sides.into_iter().filter_map(|(name, side)| Some((name, side.as_ref()?)))
    }

    /// How long it ran, s, where any of its operations says it.
    pub fn runtime_s(&self) -> Option<f64> {
        let times = self.sides().filter_map(|(_, side)| side.runtime_s);
        times.reduce(f64::max).filter(|time_s| *time_s > 0.0)
    }

    /// Whether its reads and writes were issued for the same time, up to this share of it.
    pub fn sides_ran_together(&self, rounding: f64) -> bool {
        let least_s = self.runtime_s().unwrap_or(0.0) * (1.0 - rounding);
        self.sides().filter_map(|(_, side)| side.runtime_s).all(|time_s| time_s >= least_s)
    }

    /// Drops the times of operations of which one took ten times as long as the job, and says whether
    /// there were any: fio 3.33 prints such flushes.
    pub fn drop_impossible_times(&mut self) -> bool {
        let Some(limit_ns) = self.runtime_s().map(|time_s| time_s * 1e10) else { return false };
        let is_impossible = |side: &PrintedSide| {
            let ends = [side.completion.max_ns, side.total.max_ns];
            ends.into_iter().flatten().any(|max_ns| max_ns > limit_ns)
        };
        let sides = [&mut self.read, &mut self.write, &mut self.mixed, &mut self.sync];
        let mut wrong = sides.into_iter().flatten().filter(|side| is_impossible(side)).peekable();
        let is_any = wrong.peek().is_some();
        wrong.for_each(|side| (side.completion, side.total) = Default::default());
        is_any
    }

    /// Drops its times where they are too long for its rate and its depth by Little's law, and says
    /// whether they were.
    pub fn drop_contradictory_times(&mut self) -> bool {
        let longest_ns = self.sides().filter_map(|(_, side)| side.longest_ns()).fold(0.0, f64::max);
        // What was outstanding when the measurement began counts with its whole time.
        let elapsed_s = self.runtime_s().unwrap_or(0.0) + longest_ns / 1e9;
        let queue_depth = queue_depth_mean(&[&*self], nanoseconds(elapsed_s));
        let is_contradictory = contradicts_depth(queue_depth, self.queue_depth_max);
        if is_contradictory {
            for side in [&mut self.read, &mut self.write, &mut self.mixed].into_iter().flatten() {
                (side.completion, side.total) = Default::default();
            }
        }
        is_contradictory
    }

    /// Its name, with its host where there are several.
    pub fn full_name(&self) -> String {
        match &self.host {
            Some(host) => format!("{}@{host}", self.name),
            None => self.name.clone(),
        }
    }

    /// Joined numbers become those of the one operation that its options name, or stand back where
    /// both are there, too.
    pub fn told_apart(mut self) -> Self {
        if self.read.is_some() || self.write.is_some() {
            self.mixed = None;
        }
        let direction = self.options.get("rw").or_else(|| self.options.get("readwrite"));
        match direction.map(String::as_str) {
            Some("read" | "randread") if self.mixed.is_some() => self.read = self.mixed.take(),
            Some("write" | "randwrite") if self.mixed.is_some() => self.write = self.mixed.take(),
            _ => {}
        }
        self
    }
}

/// Maximum queue depth of a thread, from the shares of its I/Os by depth, of which `4` covers 4 to
/// 7. Depths of 64 and more are known only from the option.
pub fn depth_max(shares: impl Iterator<Item = (u32, f64)>, option: Option<u32>) -> Option<u32> {
    let deepest = shares.filter(|(_, share)| *share > 0.0).map(|(depth, _)| depth).max()?;
    if deepest >= 64 {
        option.filter(|depth| *depth >= 64)
    } else {
        Some((2 * deepest).saturating_sub(1))
    }
}

/// I/Os of a rate over a time, where only these were printed.
pub fn ios_of_rate(per_s: f64, time_ms: f64) -> u64 {
    count((per_s * time_ms / 1e3).round())
}

/// Bytes of a rate over a time.
pub fn bytes_of_rate(bytes_per_s: f64, time_ms: f64) -> u64 {
    count((bytes_per_s * time_ms / 1e3).round())
}

/// Percentiles by rank; those of no rank or of all are left out, and none is known where they fall.
pub fn ascending(mut quantiles: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    quantiles.retain(|(share, _)| *share > 0.0 && *share < 1.0);
    quantiles.sort_by(|left, right| left.0.total_cmp(&right.0));
    quantiles.dedup_by(|next, kept| next.0.to_bits() == kept.0.to_bits());
    let rises = quantiles.windows(2).all(|two| two[0].1 <= two[1].1);
    if rises { quantiles } else { Vec::new() }
}

/// Whether all reads and writes of the jobs of each group were issued for the same time.
pub fn have_one_runtime(jobs: &[PrintedJob]) -> bool {
    let mut longest_s: BTreeMap<u32, f64> = BTreeMap::new();
    let times = || jobs.iter().filter_map(|job| Some((job.group, job.runtime_s()?)));
    for (group, time_s) in times() {
        let longest_s = longest_s.entry(group).or_default();
        *longest_s = longest_s.max(time_s);
    }
    jobs.iter().all(|job| job.sides_ran_together(SIDES_ROUNDING))
        && times().all(|(group, time_s)| time_s >= longest_s[&group] * (1.0 - JOBS_ROUNDING))
}

/// The mean of the outstanding I/Os by Little's law, where all times are known: time in I/Os over
/// time.
pub fn queue_depth_mean(jobs: &[&PrintedJob], elapsed_ns: u64) -> f64 {
    let busy_ns = |side: &PrintedSide| match side.times() {
        KnownTimes::Distribution(histogram) => histogram.mean_ns() * real(side.ios),
        KnownTimes::Mean { mean_ns, .. } => mean_ns * real(side.ios),
        KnownTimes::Nothing => 0.0,
    };
    let sides = jobs.iter().flat_map(|job| job.sides().map(|(_, side)| busy_ns(side)));
    sides.sum::<f64>() / real(elapsed_ns.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(mean_ns: f64, quantiles: &[(f64, f64)]) -> PrintedTimes {
        PrintedTimes {
            min_ns: Some(1e3),
            max_ns: Some(9e5),
            mean_ns: Some(mean_ns),
            quantiles: quantiles.to_vec(),
            bins: Vec::new(),
        }
    }

    #[test]
    fn a_mean_is_never_spread_over_the_quantiles() {
        let only_mean = PrintedSide { ios: 9, completion: times(5e3, &[]), ..Default::default() };
        assert_eq!(only_mean.times(), KnownTimes::Mean { mean_ns: 5e3, max_ns: Some(9e5) });
        assert_eq!(PrintedSide { ios: 9, ..Default::default() }.times(), KnownTimes::Nothing);
        // Zeros are what fio prints with its clocks switched off.
        let zeros = PrintedTimes {
            mean_ns: Some(0.0),
            max_ns: Some(0.0),
            quantiles: vec![(0.5, 0.0)],
            ..Default::default()
        };
        let off = PrintedSide { ios: 9, completion: zeros, ..Default::default() };
        assert_eq!(off.times(), KnownTimes::Nothing);
    }

    #[test]
    fn quantiles_of_the_total_latency_surround_the_mean_of_completion() {
        let side = PrintedSide {
            ios: 10_000,
            completion: times(4e5, &[]),
            total: times(5e5, &[(0.5, 3.8e5), (0.99, 8e5)]),
            ..Default::default()
        };
        let KnownTimes::Distribution(histogram) = side.times() else { panic!() };
        assert!(side.has_quantiles_of_total() && !side.has_bins());
        assert!((histogram.mean_ns() / 4e5 - 1.0).abs() < 0.01, "{}", histogram.mean_ns());
        assert!((real(histogram.quantile_ns(0.99)) / 8e5 - 1.0).abs() < 0.01);
    }

    #[test]
    fn joined_numbers_are_of_the_operation_that_the_options_name() {
        let side = || Some(PrintedSide { ios: 1, ..Default::default() });
        let job = |rw: &str| PrintedJob {
            options: [("rw".to_owned(), rw.to_owned())].into(),
            mixed: side(),
            ..Default::default()
        };
        let names =
            |job: PrintedJob| job.told_apart().sides().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!((names(job("randread")), names(job("write"))), (vec!["read"], vec!["write"]));
        assert_eq!(names(job("randrw")), [""]);
        assert_eq!(names(PrintedJob { read: side(), ..job("randrw") }), ["read"]);
    }

    #[test]
    fn quantiles_that_fall_are_none() {
        assert_eq!(
            ascending(vec![(0.99, 5.0), (0.0, 0.0), (0.5, 2.0), (1.0, 9.0)]),
            [(0.5, 2.0), (0.99, 5.0)]
        );
        assert_eq!(ascending(vec![(0.5, 5.0), (0.99, 2.0)]), []);
    }
}
