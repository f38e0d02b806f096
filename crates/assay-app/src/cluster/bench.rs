//! Several hosts as a bench: a method that measures one slice after the other on one target
//! measures on all of them.

use super::course::MergedObserver;
use super::open_hosts::{HostsOrder, HostsOutcome, OpenHosts};
use assay_cluster::division::Outstanding;
use assay_cluster::findings::{HostRecord, StartFindings, common_start, known_rate, sharing};
use assay_cluster::merge::Merger;
use assay_cluster::slices::{SliceClock, SliceStarts};
use assay_engine::{Observer, monotonic_ns};
use assay_methods::Bench;
use assay_model::cluster::{Cluster, CommonStart, HostAlone};
use assay_model::measurement::{Finish, Measurement};
use assay_model::number::{count_of, real};
use assay_model::units::Nanos;
use assay_model::{Result, Workload};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Hosts that are measured alone at most: more of them say little more of what they share.
const ALONE_MAX: usize = 16;
/// At least these are measured alone, however long it takes: one of them says nothing of what it
/// shares.
const ALONE_MIN: usize = 2;
/// For hosts alone a method has this part of its own time.
const ALONE_PART: u64 = 4;
/// Measured time of a host alone, from and to, ns.
const ALONE_NS: (u64, u64) = (200_000_000, 1_000_000_000);
/// Intervals of that time.
const ALONE_INTERVALS: u64 = 20;

/// Hosts that carry out one workload after another together; outstanding I/Os of a workload are
/// those of each of them, so that no host ever gets none.
///
/// Its clock stands still while hosts get ready to begin, up to as long as it runs: a method
/// divides the time that is measured.
pub(crate) struct ClusterBench<'a> {
    hosts: &'a mut OpenHosts,
    stop: &'a AtomicBool,
    clock: SliceClock,
    starts: SliceStarts,
    must_repeat: bool,
    failure: Option<String>,
    /// What each load came to in all its slices.
    loads: BTreeMap<String, SlicedLoad>,
}

/// A load in all its slices: sums alone, so that memory does not grow with the precision of each.
struct SlicedLoad {
    workload: Workload,
    merger: Merger,
    /// What is known of the hosts in the last slice, and when it began.
    hosts: Vec<HostRecord>,
    start: StartFindings,
}

impl<'a> ClusterBench<'a> {
    /// All hosts.
    pub(crate) fn new(hosts: &'a mut OpenHosts, stop: &'a AtomicBool) -> Self {
        Self {
            hosts,
            stop,
            clock: SliceClock::new(monotonic_ns()),
            starts: SliceStarts::default(),
            must_repeat: false,
            failure: None,
            loads: BTreeMap::new(),
        }
    }

    /// Why the last measurement could not go on, if it could not.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What is said of the hosts at the load under which they gave the most together, each alone
    /// under the same load included as far as a part of this time is enough; nothing where
    /// nothing was measured.
    ///
    /// # Errors
    /// What a host says before it begins alone.
    pub(crate) fn conclude(mut self, time: Nanos) -> Result<Option<Cluster>> {
        let rate = |load: &SlicedLoad| {
            let ios: u64 = load.merger.series().iter().map(|host| host.operations.ios()).sum();
            assay_model::number::rate(ios, assay_model::number::seconds(load.merger.elapsed_ns()))
        };
        let loads = std::mem::take(&mut self.loads).into_values();
        let Some(load) = loads.max_by(|one, other| rate(one).total_cmp(&rate(other))) else {
            return Ok(self.hosts.document_before());
        };
        let found = self.hosts.document_of(&load.hosts, load.start, &load.merger);
        // One that was lost later was lost to all of it.
        let mut found = self.hosts.with_losses(found);
        found.start = std::mem::take(&mut self.starts).worst().or(found.start);
        found.load = Some(load.workload.name.clone());
        if self.failure.is_none() && !self.stopped() && self.hosts.count() > 1 {
            self.measure_alone(&load.workload, time, &mut found)?;
            found.sharing = sharing(&found.hosts, &load.merger);
        }
        Ok(Some(found))
    }

    /// Each host with all others idle: one I/O for what an I/O takes, then the load.
    fn measure_alone(
        &mut self,
        workload: &Workload,
        time: Nanos,
        found: &mut Cluster,
    ) -> Result<()> {
        let (asked_ns, most_ns) = (monotonic_ns(), time.0 / ALONE_PART);
        let hosts = self.hosts.count().min(ALONE_MAX);
        let short = alone(workload, most_ns, hosts);
        let single = with_one_outstanding(&short);
        for host in 0..hosts {
            if host >= ALONE_MIN && monotonic_ns() - asked_ns > most_ns {
                break;
            }
            let mut on = |workload: &Workload| {
                self.with(&[host], workload, &mut |_| ControlFlow::Continue(()))
            };
            let (one, full) = (on(&single)?, on(&short)?);
            if self.stopped() {
                break;
            }
            let series = &full.measured.merger.series()[0];
            found.hosts[host].alone = Some(HostAlone {
                base_service_time_ns: service_time_ns(&one.measurement),
                iops: known_rate(&series.iops, full.measured.merger.interval_s()),
            });
        }
        Ok(())
    }

    fn with(
        &mut self,
        members: &[usize],
        workload: &Workload,
        observer: MergedObserver<'_>,
    ) -> Result<HostsOutcome> {
        let queue_depth = Outstanding::PerHost;
        let order = HostsOrder { workload, members, queue_depth, is_slice: true };
        self.hosts.measure(&order, observer)
    }

    fn keep(&mut self, workload: &Workload, outcome: HostsOutcome) {
        let name = workload.name.clone();
        let (merger, start) = (outcome.measured.merger, outcome.measured.start);
        let merger = match self.loads.remove(&name) {
            Some(known) => known.merger.joined_with(&merger),
            None => merger,
        };
        let load = SlicedLoad { workload: workload.clone(), merger, hosts: outcome.hosts, start };
        self.loads.insert(name, load);
    }
}

impl Bench for ClusterBench<'_> {
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let members: Vec<usize> = (0..self.hosts.count()).collect();
        let asked_ns = monotonic_ns();
        // Without the parts of each host, of which there may be a thousand.
        let mut intervals = Vec::new();
        let outcome = self.with(&members, workload, &mut |all| {
            intervals.push((all.interval.clone(), all.joint.clone()));
            ControlFlow::Continue(())
        })?;
        self.clock.add_slice(asked_ns, outcome.measured.start.at_ns, monotonic_ns());
        let is_whole = outcome.measurement.finish == Finish::Complete;
        self.must_repeat = is_whole && self.starts.must_repeat(start_of(&outcome, workload));
        if self.must_repeat {
            return Ok(outcome.measurement);
        }
        for (interval, joint) in &intervals {
            if observer.interval(interval, joint).is_break() {
                break;
            }
        }
        let measurement = outcome.measurement.clone();
        match &measurement.finish {
            Finish::Failed { reason } => self.failure = Some(reason.clone()),
            Finish::Complete => self.keep(workload, outcome),
            Finish::Interrupted | Finish::Unfinished => {}
        }
        Ok(measurement)
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns(monotonic_ns())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn target(&self) -> String {
        self.hosts.target()
    }

    fn must_repeat(&self) -> bool {
        self.must_repeat
    }
}

/// How its hosts began. A slice counts as a whole: its length is what a skew is held against.
fn start_of(slice: &HostsOutcome, workload: &Workload) -> Option<CommonStart> {
    let (interval_ns, warm_up_ns) = (workload.duration.0, workload.warm_up.0);
    let start = StartFindings { interval_ns, warm_up_ns, ..slice.measured.start };
    common_start(&slice.hosts, start)
}

/// A workload for each of these hosts alone, twice, within this time.
fn alone(workload: &Workload, most_ns: u64, hosts: usize) -> Workload {
    let each_ns = most_ns / (2 * count_of(hosts).max(1));
    let interval_ns = each_ns.clamp(ALONE_NS.0, ALONE_NS.1) / ALONE_INTERVALS;
    let duration = Nanos(interval_ns * ALONE_INTERVALS);
    Workload { duration, interval: Nanos(interval_ns), ..workload.clone() }
}

/// The mean service time of reads and writes, ns.
fn service_time_ns(measurement: &Measurement) -> f64 {
    let operations = measurement.operations();
    let transfers = [&operations.read, &operations.write].into_iter().flatten();
    let sum: f64 = transfers.map(|result| result.service.mean_ns() * real(result.ios)).sum();
    sum / real(operations.ios().max(1))
}

fn with_one_outstanding(workload: &Workload) -> Workload {
    let mut single = workload.clone();
    for stream in &mut single.streams {
        stream.workers = 1;
        if let assay_model::Arrival::Closed { queue_depth, .. } = &mut stream.arrival {
            *queue_depth = 1;
        }
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_engine::device::DeviceSpec;
    use assay_methods::{CalibrationPlan, SimulatedBench, calibrate};
    use assay_model::units::{Bytes, Share};
    use assay_model::workload::Stream;

    /// Hosts on one simulated device, slow to get ready, of which one begins late in some of ten
    /// slices.
    struct SlowHosts {
        storage: SimulatedBench<'static>,
        ready_ns: u64,
        late_of_ten: u64,
        slices: u64,
        waited_ns: u64,
        clock: SliceClock,
        starts: SliceStarts,
        must_repeat: bool,
    }

    impl SlowHosts {
        fn new(ready_ns: u64, late_of_ten: u64) -> Self {
            let device = DeviceSpec::parse("servers?count=8&service=500us").unwrap();
            Self {
                storage: SimulatedBench::new(&device),
                ready_ns,
                late_of_ten,
                slices: 0,
                waited_ns: 0,
                clock: SliceClock::new(0),
                starts: SliceStarts::default(),
                must_repeat: false,
            }
        }

        fn passed_ns(&self) -> u64 {
            self.storage.now_ns() + self.waited_ns
        }

        fn start(&self) -> CommonStart {
            let is_late = self.slices * 3 % 10 < self.late_of_ten;
            let skew_ns = if is_late { 50_000_000 } else { 100_000 };
            CommonStart { skew_ns, limit_ns: 5_000_000, ..CommonStart::default() }
        }
    }

    impl Bench for SlowHosts {
        fn measure(
            &mut self,
            workload: &Workload,
            observer: &mut dyn Observer,
        ) -> Result<Measurement> {
            let asked_ns = self.passed_ns();
            self.waited_ns += self.ready_ns;
            let measurement = self.storage.measure(workload, observer)?;
            self.clock.add_slice(asked_ns, asked_ns + self.ready_ns, self.passed_ns());
            self.must_repeat = self.starts.must_repeat(Some(self.start()));
            self.slices += 1;
            Ok(measurement)
        }

        fn now_ns(&self) -> u64 {
            self.clock.now_ns(self.passed_ns())
        }

        fn stopped(&self) -> bool {
            false
        }

        fn target(&self) -> String {
            self.storage.target()
        }

        fn must_repeat(&self) -> bool {
            self.must_repeat
        }
    }

    #[test]
    fn hosts_that_are_slow_or_begin_apart_leave_an_answer_within_twice_its_time() {
        const BUDGET_NS: u64 = 20_000_000_000;
        const IOPS: f64 = 16_000.0;
        let plan = CalibrationPlan { time_budget: Nanos(BUDGET_NS), ..CalibrationPlan::default() };
        for (ready_ns, late_of_ten) in
            [(0, 0), (80_000_000, 0), (2_000_000_000, 0), (80_000_000, 3), (300_000_000, 10)]
        {
            let mut bench = SlowHosts::new(ready_ns, late_of_ten);
            let found = calibrate(&mut bench, &plan, &mut |_| {}).unwrap();
            let (iops_max, passed_ns) = (found.mixes[0].iops_max.rate, bench.passed_ns());
            let case = format!("{ready_ns} ns, {late_of_ten} of 10: {passed_ns} {iops_max:?}");
            // The last slice may be got ready when time is up.
            assert!(passed_ns <= 2 * (BUDGET_NS + ready_ns), "{case}");
            assert!(iops_max.low <= 1.02 * IOPS && iops_max.high >= 0.98 * IOPS, "{case}");
            // Where getting ready takes ten times a slice, there are too few slices to come to the
            // end.
            let is_hopeless = ready_ns > 1_000_000_000;
            assert!(is_hopeless || (iops_max.value / IOPS - 1.0).abs() < 0.05, "{case}");
            let is_apart = bench.starts.worst().unwrap().is_apart();
            assert_eq!(is_apart, late_of_ten == 10, "{case}");
        }
    }

    #[test]
    fn hosts_alone_have_a_part_of_the_time() {
        let stream = Stream::closed("reads", Share(1.0), Bytes(8192), 4);
        let workload = Workload::of("reads", Nanos(1), stream);
        let duration = |most_ns, hosts| alone(&workload, most_ns, hosts).duration.0;
        assert_eq!(duration(5_000_000_000, 2), 1_000_000_000);
        assert_eq!(duration(1_250_000_000, 2), 312_500_000 / 20 * 20);
        assert_eq!(duration(1_250_000_000, 16), 200_000_000);
    }
}
