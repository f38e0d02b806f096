//! Intervals of several hosts become those of all of them: counts are added exactly, and only where
//! all hosts have them.

use crate::protocol::MeasuredPart;
use assay_model::measurement::{Interval, Operation, OperationResult, PerOperation, Window};
use assay_model::number::{count_of, rate, real, seconds};
use assay_model::watch::Moment;
use std::collections::VecDeque;

/// Hosts whose edges are this near to each other's cut the same interval: a hundredth of it and a
/// millisecond.
const EDGE_PART: u64 = 100;
const EDGE_NS: u64 = 1_000_000;
/// The quantile by which hosts are compared.
const TAIL: f64 = 0.99;
/// I/Os that must lie behind such a quantile.
const TAIL_IOS_MIN: u64 = 200;

/// An interval of all hosts together.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// In numbers, with coarse histograms.
    pub interval: Interval,
    /// In full precision.
    pub joint: Window,
    /// What each host had of it, in their order.
    pub parts: Vec<MeasuredPart>,
}

/// What one host gave in the intervals that all of them have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSeries {
    /// Everything, with coarse histograms.
    pub operations: PerOperation,
    /// I/Os per second in each interval.
    pub iops: Vec<f64>,
    /// The 99% quantile of the service times of reads, or of writes where nothing is read, ns; of
    /// each interval with enough of them.
    pub tail_ns: Vec<f64>,
}

/// Waits for the slowest host, and adds up.
#[derive(Clone, Debug, Default)]
pub struct Merger {
    waiting: Vec<VecDeque<MeasuredPart>>,
    series: Vec<HostSeries>,
    intervals: u64,
    elapsed_ns: u64,
    left_out: u64,
}

impl Merger {
    /// For several hosts.
    pub fn new(hosts: usize) -> Self {
        Self {
            waiting: vec![VecDeque::new(); hosts],
            series: vec![HostSeries::default(); hosts],
            ..Self::default()
        }
    }

    /// Takes a host's next interval; gives that of all hosts where this was the last one missing.
    pub fn add(&mut self, host: usize, part: MeasuredPart) -> Option<Merged> {
        self.waiting[host].push_back(part);
        if self.waiting.iter().any(VecDeque::is_empty) {
            return None;
        }
        let parts: Vec<MeasuredPart> =
            self.waiting.iter_mut().filter_map(VecDeque::pop_front).collect();
        if !are_common(&parts) {
            self.left_out += count_of(parts.len());
            return None;
        }
        Some(self.merge(parts))
    }

    /// Length of an interval of all hosts, s; 0 of none.
    pub fn interval_s(&self) -> f64 {
        seconds(self.elapsed_ns) / real(self.intervals.max(1))
    }

    /// Intervals of a host that wait for those of others.
    pub fn waiting(&self, host: usize) -> usize {
        self.waiting[host].len()
    }

    /// What each host gave, in their order.
    pub fn series(&self) -> &[HostSeries] {
        &self.series
    }

    /// Intervals of all hosts together.
    pub const fn intervals(&self) -> u64 {
        self.intervals
    }

    /// Their length together, ns.
    pub const fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    /// Intervals of single hosts that are in no sum, those that still wait for others included.
    pub fn left_out(&self) -> u64 {
        self.left_out + self.waiting.iter().map(|waiting| count_of(waiting.len())).sum::<u64>()
    }

    /// What the same hosts gave at two times, one after the other.
    #[must_use]
    pub fn joined_with(mut self, later: &Self) -> Self {
        for (series, more) in self.series.iter_mut().zip(&later.series) {
            series.operations.merge(&more.operations);
            series.iops.extend(&more.iops);
            series.tail_ns.extend(&more.tail_ns);
        }
        self.left_out = self.left_out() + later.left_out();
        self.waiting.iter_mut().for_each(VecDeque::clear);
        self.intervals += later.intervals;
        self.elapsed_ns += later.elapsed_ns;
        self
    }

    fn merge(&mut self, parts: Vec<MeasuredPart>) -> Merged {
        let (start_ns, end_ns) = (parts[0].start_ns, parts[0].end_ns);
        let mut merged = Merged {
            interval: Interval { index: self.intervals, start_ns, end_ns, ..Interval::default() },
            joint: Window::default(),
            parts: Vec::new(),
        };
        for (series, part) in self.series.iter_mut().zip(&parts) {
            let operations = of_all_streams(&part.joint);
            series.add(&operations, end_ns - start_ns);
            merged.interval.operations.merge(&operations);
            merged.interval.queue_depth_mean += part.queue_depth_mean;
            merged.joint.merge(&part.joint);
        }
        (merged.joint.first_interval, merged.joint.intervals) = (self.intervals, 1);
        self.intervals += 1;
        self.elapsed_ns += end_ns - start_ns;
        Merged { parts, ..merged }
    }
}

impl Merged {
    /// The machine of each host meanwhile, in their order; none where they are not watched.
    pub fn moments(&self) -> Vec<Moment> {
        self.parts.iter().filter_map(|part| part.moment.as_deref().cloned()).collect()
    }
}

impl HostSeries {
    fn add(&mut self, operations: &PerOperation, elapsed_ns: u64) {
        self.iops.push(rate(operations.ios(), seconds(elapsed_ns)));
        let compared = operations.read.as_ref().or(operations.write.as_ref());
        let tail_ns = compared.filter(|result| result.service.ios() >= TAIL_IOS_MIN);
        self.tail_ns.extend(tail_ns.map(|result| real(result.service.quantile_ns(TAIL))));
        self.operations.merge(operations);
    }

    /// The results of one operation, if there were any.
    pub const fn of(&self, operation: Operation) -> Option<&OperationResult> {
        self.operations.get(operation)
    }
}

/// All streams of a host, coarse: a thousand hosts in full precision would take gigabytes.
fn of_all_streams(joint: &Window) -> PerOperation {
    let mut all = PerOperation::default();
    joint.streams.iter().for_each(|stream| all.merge(&stream.operations.coarsened()));
    all
}

/// Whether all hosts cut the same interval.
fn are_common(parts: &[MeasuredPart]) -> bool {
    let nearly = |one: u64, other: u64, length_ns: u64| {
        one.abs_diff(other) <= length_ns / EDGE_PART + EDGE_NS
    };
    let Some((first, others)) = parts.split_first() else { return false };
    let length_ns = first.end_ns.saturating_sub(first.start_ns);
    length_ns > 0
        && others.iter().all(|part| {
            nearly(first.start_ns, part.start_ns, length_ns)
                && nearly(first.end_ns, part.end_ns, length_ns)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::NamedResult;
    use assay_model::{Histogram, Precision};
    use assay_stats::random::Random;
    use proptest::prelude::*;

    /// An interval in which reads took these times.
    fn part(index: u64, times_ns: &[u64]) -> MeasuredPart {
        let mut read = OperationResult::empty(Precision::Fine, false);
        for time_ns in times_ns {
            read.ios += 1;
            read.bytes += 8192;
            read.service.record(*time_ns);
        }
        let operations = PerOperation { read: Some(read), ..PerOperation::default() };
        let stream = NamedResult { name: "reads".to_owned(), operations };
        MeasuredPart {
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            queue_depth_mean: 2.0,
            joint: Window { streams: vec![stream], ..Window::default() },
            moment: None,
        }
    }

    fn read(merged: &Merged) -> &OperationResult {
        merged.joint.streams[0].operations.read.as_ref().unwrap()
    }

    #[test]
    fn an_interval_of_all_needs_all_and_comes_once() {
        let mut merger = Merger::new(3);
        assert_eq!(merger.add(2, part(0, &[10])), None);
        assert_eq!(merger.add(2, part(1, &[11])), None);
        assert_eq!(merger.add(0, part(0, &[20, 30])), None);
        let merged = merger.add(1, part(0, &[40])).unwrap();
        assert_eq!((merged.interval.index, merged.interval.operations.ios()), (0, 4));
        assert!((merged.interval.queue_depth_mean - 6.0).abs() < 1e-12);
        assert_eq!(
            (merger.intervals(), merger.elapsed_ns(), merger.left_out()),
            (1, 1_000_000_000, 1)
        );
        assert_eq!(merger.series()[0].iops, [2.0]);
    }

    #[test]
    fn what_others_did_not_complete_is_in_no_sum() {
        let mut merger = Merger::new(2);
        merger.add(0, part(0, &[1]));
        merger.add(1, part(0, &[2]));
        let mut short = part(1, &[3]);
        short.end_ns -= 400_000_000;
        merger.add(0, part(1, &[4]));
        assert_eq!(merger.add(1, short), None);
        assert_eq!((merger.intervals(), merger.left_out()), (1, 2));
        let ios: u64 = merger.series().iter().map(|host| host.operations.ios()).sum();
        assert_eq!(ios, 2);
    }

    #[test]
    fn slices_of_the_same_hosts_join() {
        let slice = |time_ns: u64| {
            let mut merger = Merger::new(2);
            merger.add(0, part(0, &[time_ns]));
            merger.add(1, part(0, &[time_ns, time_ns]));
            merger.add(1, part(1, &[time_ns]));
            merger
        };
        let joined = slice(10).joined_with(&slice(20));
        assert_eq!(
            (joined.intervals(), joined.elapsed_ns(), joined.left_out()),
            (2, 2_000_000_000, 2)
        );
        assert_eq!(joined.series()[1].iops, [2.0, 2.0]);
        assert_eq!(joined.series()[1].operations.ios(), 4);
        assert_eq!(joined.series()[1].operations.read.as_ref().unwrap().service.max_ns(), 20);
    }

    #[test]
    fn edges_that_differ_by_their_skew_are_the_same() {
        let mut merger = Merger::new(2);
        let mut late = part(0, &[1]);
        (late.start_ns, late.end_ns) = (9_000_000, 1_009_000_000);
        merger.add(0, part(0, &[1]));
        assert!(merger.add(1, late).is_some());
    }

    proptest! {
        /// Adding up hosts gives the histogram that one recorder of everything would have, bucket for bucket.
        #[test]
        fn hosts_add_up_to_what_one_recorder_saw(seed in any::<u64>(), hosts in 1usize..6, intervals in 1u64..5) {
            let mut random = Random::new(seed);
            let mut merger = Merger::new(hosts);
            let mut one = Histogram::new(Precision::Fine);
            let mut of_hosts = Histogram::new(Precision::Fine);
            let mut ios = 0;
            for index in 0..intervals {
                for host in 0..hosts {
                    let count = random.below(50);
                    let times: Vec<u64> = (0..count).map(|_| random.next_u64() >> random.below(60)).collect();
                    for time in &times {
                        one.record(*time);
                    }
                    if let Some(merged) = merger.add(host, part(index, &times)) {
                        of_hosts.merge(&read(&merged).service);
                        ios += merged.interval.operations.ios();
                    }
                }
            }
            prop_assert!(of_hosts == one);
            prop_assert_eq!((of_hosts.min_ns(), of_hosts.max_ns()), (one.min_ns(), one.max_ns()));
            let sum: u64 = merger.series().iter().map(|host| host.operations.ios()).sum();
            prop_assert_eq!(sum, ios);
            prop_assert_eq!(ios, one.ios());
        }
    }
}
