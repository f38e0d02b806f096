//! Hosts whose driver has died: what each of them kept of its run, as one measurement.

use super::conduct::Whole;
use super::course::Measured;
use super::driver::Driver;
use super::hosts::HostNames;
use crate::context::Context;
use assay_cluster::findings::{HostRecord, StartFindings, cluster};
use assay_cluster::kept::{common_begin_ns, parts_from};
use assay_cluster::merge::{Merged, Merger};
use assay_cluster::protocol::KeptRecord;
use assay_cluster::schedule::HostStart;
use assay_model::cluster::{Cluster, ClusterHost, HostLoss, Transport};
use assay_model::measurement::{Finish, Measurement, Window};
use assay_model::{Error, Result, Workload};

/// The common start on a clock of its own: nobody knows any more what the driver's said.
const START_NS: u64 = 1_000_000_000_000;

/// What hosts kept of a run.
pub(crate) struct KeptHosts {
    driver: Driver,
    run: String,
    transport: Transport,
    records: Vec<KeptRecord>,
}

/// The same added up.
pub(crate) struct KeptRun {
    /// Intervals of all hosts together, in their order.
    pub(crate) merged: Vec<Merged>,
    /// What is said of the hosts.
    pub(crate) cluster: Cluster,
    /// How it ended.
    pub(crate) finish: Finish,
    measured: Measured,
    hosts: Vec<HostRecord>,
    transport: Transport,
}

impl KeptHosts {
    /// Asks every host for what it kept.
    ///
    /// # Errors
    /// What any host says, for example that it kept nothing of this run.
    pub(crate) fn open(names: &HostNames, run: &str, context: &Context) -> Result<Self> {
        let mut driver = Driver::open(names, context)?;
        let records = driver.collect(run)?;
        Ok(Self { driver, run: run.to_owned(), transport: names.transport(), records })
    }

    /// Adds up; what the dead driver knew of clocks is in the document that it kept before the
    /// start.
    ///
    /// # Errors
    /// An environment error where no interval is one of all hosts.
    pub(crate) fn added_up(&self, workload: &Workload, known: Option<&Cluster>) -> Result<KeptRun> {
        let from_ns = common_begin_ns(&self.records).ok_or_else(|| {
            Error::environment(
                "one host has no interval, so the hosts have none in common",
                "start the run again",
            )
        })?;
        let (mut merger, mut merged) = (Merger::new(self.records.len()), Vec::new());
        for (host, record) in self.records.iter().enumerate() {
            let parts = parts_from(record, from_ns).cloned();
            merged.extend(parts.filter_map(|part| merger.add(host, part)));
        }
        let known = |host: usize| known.and_then(|known| known.hosts.get(host));
        let hosts: Vec<HostRecord> =
            (0..self.records.len()).map(|host| self.host(host, known(host))).collect();
        let interval_ns = workload.interval.0;
        let start = StartFindings { at_ns: START_NS, attempts: 1, interval_ns, warm_up_ns: 0 };
        let mut found = cluster(self.transport, &hosts, Some(start), &merger);
        for (number, host) in found.hosts.iter_mut().enumerate() {
            host.clock = known(number).map(|known| known.clock).unwrap_or_default();
        }
        let measurements: Vec<Option<Measurement>> =
            self.records.iter().map(|record| record.measurement.as_deref().cloned()).collect();
        let finish = finish(&hosts, &measurements);
        let rungs = vec![None; hosts.len()];
        let measured = Measured { merger, start, finish: finish.clone(), measurements, rungs };
        let transport = self.transport;
        Ok(KeptRun { merged, cluster: found, finish, measured, hosts, transport })
    }

    fn host(&self, number: usize, known: Option<&ClusterHost>) -> HostRecord {
        let record = &self.records[number];
        let begin = record.began.zip(record.start_ns).map(|(began, start_ns)| {
            let on_common = |at_ns: u64| (START_NS + at_ns).saturating_sub(start_ns);
            HostStart {
                first_ns: on_common(began.first_ns),
                last_ns: on_common(began.last_ns),
                uncertainty_ns: known.map_or(0, |known| known.clock.uncertainty_ns),
            }
        });
        let end_ns = record.parts.last().map_or(0, |part| part.end_ns);
        let lost = record.measurement.is_none().then(|| HostLoss {
            after_ns: end_ns.cast_signed(),
            reason: "it was killed before it finished".to_owned(),
        });
        HostRecord {
            conduct: record.measurement.as_ref().map(|measured| measured.conduct.clone()),
            begin,
            lost,
            ..self.driver.hosts[number].clone()
        }
    }

    /// Has every host remove what it kept.
    ///
    /// # Errors
    /// What any host says.
    pub(crate) fn forget(&mut self) -> Result<()> {
        self.driver.forget(&self.run)
    }
}

impl KeptRun {
    /// The measurement of some of its intervals, which are added up in `total`.
    pub(crate) fn measurement(
        &self,
        workload: &Workload,
        targets: &[String],
        total: Window,
        elapsed_ns: u64,
    ) -> Measurement {
        let whole = Whole {
            workload: &workload.name,
            total,
            targets,
            hosts: &self.hosts,
            transport: self.transport,
            started_unix_ns: 0,
        };
        Measurement { elapsed_ns, ..whole.measurement(&self.measured) }
    }
}

/// How the whole ended: as its worst part.
fn finish(hosts: &[HostRecord], measurements: &[Option<Measurement>]) -> Finish {
    for (host, measured) in hosts.iter().zip(measurements) {
        match measured.as_ref().map(|measured| &measured.finish) {
            None => {
                let reason = format!("the host {} was killed before it finished", host.name);
                return Finish::Failed { reason };
            }
            Some(Finish::Failed { reason }) => {
                return Finish::Failed { reason: format!("{}: {reason}", host.name) };
            }
            Some(_) => {}
        }
    }
    let is_complete =
        |one: &Option<Measurement>| one.as_ref().is_some_and(|one| one.finish == Finish::Complete);
    if measurements.iter().all(is_complete) { Finish::Complete } else { Finish::Interrupted }
}
