//! Several hosts as a bench: a method that measures one slice after the other on one target measures on all of them.

use super::open_hosts::{OpenHosts, Order, Outcome};
use assay_cluster::division::Outstanding;
use assay_cluster::findings::{Start, common_start, sharing};
use assay_cluster::merge::{Merged, Merger};
use assay_engine::{Observer, monotonic_ns};
use assay_methods::Bench;
use assay_model::cluster::{Cluster, CommonStart, HostAlone};
use assay_model::measurement::{Finish, Measurement};
use assay_model::number::real;
use assay_model::units::Nanos;
use assay_model::{Result, Workload};
use assay_stats::batches::mean_of_batches;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tries of a slice whose hosts did not surely begin together.
const TRIES: u32 = 3;
/// Hosts that are measured alone at most: more of them say little more of what they share.
const ALONE_MAX: usize = 16;
/// Measured time of a host alone.
const ALONE: Nanos = Nanos(1_000_000_000);

/// Hosts that carry out one workload after another together; outstanding I/Os of a workload are those of each of them, so
/// that no host ever gets none.
///
/// Its clock stands still while hosts get ready to begin: a method divides the time that is measured.
pub(crate) struct ClusterBench<'a> {
    hosts: &'a mut OpenHosts,
    stop: &'a AtomicBool,
    began_ns: u64,
    /// Time between slices, ns.
    idle_ns: u64,
    failure: Option<String>,
    /// What each load came to in all its slices.
    loads: BTreeMap<String, Load>,
    /// The start that was farthest from being a common one.
    worst: Option<CommonStart>,
}

/// A load in all its slices.
struct Load {
    workload: Workload,
    merger: Merger,
    last: Outcome,
}

impl<'a> ClusterBench<'a> {
    /// All hosts.
    pub(crate) fn new(hosts: &'a mut OpenHosts, stop: &'a AtomicBool) -> Self {
        Self {
            hosts,
            stop,
            began_ns: monotonic_ns(),
            idle_ns: 0,
            failure: None,
            loads: BTreeMap::new(),
            worst: None,
        }
    }

    /// Why the last measurement could not go on, if it could not.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What is said of the hosts at the load under which they gave the most together, each alone under the same load
    /// included; nothing where nothing was measured.
    ///
    /// # Errors
    /// What a host says before it begins alone.
    pub(crate) fn conclude(mut self) -> Result<Option<Cluster>> {
        let rate = |load: &Load| {
            let ios: u64 = load.merger.series().iter().map(|host| host.operations.ios()).sum();
            assay_model::number::rate(ios, assay_model::number::seconds(load.merger.elapsed_ns()))
        };
        let loads = std::mem::take(&mut self.loads).into_values();
        let Some(load) = loads.max_by(|one, other| rate(one).total_cmp(&rate(other))) else {
            return Ok(self.hosts.document_before());
        };
        let found = self.hosts.document_of(&load.last, &load.merger);
        // One that was lost later was lost to all of it.
        let mut found = self.hosts.with_losses(found);
        found.start = self.worst.take().or(found.start);
        found.load = Some(load.workload.name.clone());
        if self.failure.is_none() && !self.stopped() && self.hosts.count() > 1 {
            self.measure_alone(&load.workload, &mut found)?;
            found.sharing = sharing(&found.hosts, &load.merger);
        }
        Ok(Some(found))
    }

    /// Each host with all others idle: one I/O for what an I/O takes, then the load.
    fn measure_alone(&mut self, workload: &Workload, found: &mut Cluster) -> Result<()> {
        let short = Workload { duration: ALONE, ..workload.clone() };
        let single = with_one_outstanding(&short);
        for host in 0..self.hosts.count().min(ALONE_MAX) {
            let (one, full) = (self.with(&[host], &single)?.0, self.with(&[host], &short)?.0);
            if self.stopped() {
                break;
            }
            let series = &full.measured.merger.series()[0];
            found.hosts[host].alone = Some(HostAlone {
                base_service_time_ns: service_time_ns(&one.measurement),
                iops: mean_of_batches(&series.iops),
            });
        }
        Ok(())
    }

    fn with(&mut self, members: &[usize], workload: &Workload) -> Result<(Outcome, Vec<Merged>)> {
        let outstanding = Outstanding::PerHost;
        let order = Order { workload, members, outstanding, is_slice: true };
        let mut merged = Vec::new();
        let mut keep = |all: &Merged| {
            merged.push(all.clone());
            ControlFlow::Continue(())
        };
        let outcome = self.hosts.measure(&order, &mut keep)?;
        Ok((outcome, merged))
    }

    /// A slice on all hosts, again where they did not surely begin together; what the observer is to see comes with it.
    fn slice(&mut self, workload: &Workload) -> Result<(Outcome, Vec<Merged>)> {
        let members: Vec<usize> = (0..self.hosts.count()).collect();
        let mut tries = 1;
        loop {
            let asked_ns = monotonic_ns();
            let (outcome, merged) = self.with(&members, workload)?;
            // A slice counts as a whole: its length is what a skew is held against.
            let start = Start { interval_ns: workload.duration.0, ..outcome.measured.start };
            let began = common_start(&outcome.hosts, start);
            let is_together = began.as_ref().is_none_or(CommonStart::is_together);
            if is_together || tries == TRIES || self.stopped() {
                self.idle_ns += start.at_ns.saturating_sub(asked_ns);
                self.worst = CommonStart::worse(self.worst.take(), began);
                return Ok((outcome, merged));
            }
            self.idle_ns += monotonic_ns() - asked_ns;
            tries += 1;
        }
    }

    fn keep(&mut self, workload: &Workload, outcome: Outcome) {
        let name = workload.name.clone();
        let merger = match self.loads.remove(&name) {
            Some(known) => known.merger.joined_with(&outcome.measured.merger),
            None => outcome.measured.merger.clone(),
        };
        self.loads.insert(name, Load { workload: workload.clone(), merger, last: outcome });
    }
}

impl Bench for ClusterBench<'_> {
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let (outcome, merged) = self.slice(workload)?;
        for all in &merged {
            if observer.interval(&all.interval, &all.joint).is_break() {
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
        monotonic_ns().saturating_sub(self.began_ns + self.idle_ns)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn target(&self) -> String {
        self.hosts.target()
    }
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
        if let assay_model::Arrival::Closed { outstanding, .. } = &mut stream.arrival {
            *outstanding = 1;
        }
    }
    single
}
