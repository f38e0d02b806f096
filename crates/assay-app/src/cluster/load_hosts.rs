//! Several hosts that have sessions on one database: a rung goes in, what all of them came to comes out.

use super::conduct::Whole;
use super::course::Measured;
use super::driver::{Driver, Round};
use super::hosts::HostNames;
use super::open_hosts::{started_unix_ns, token};
use crate::context::Context;
use assay_cluster::findings::{HostRecord, cluster};
use assay_cluster::merge::Merged;
use assay_cluster::protocol::{DatabaseOpening, NodeOrder, RungPart, RungRecord};
use assay_dbload::load::{Elsewhere, ServedSessions, Tally};
use assay_model::Result;
use assay_model::cluster::{Cluster, Transport};
use assay_model::load::{Length, LoadStep, Retries, StepArrival};
use assay_model::measurement::{Interval, Window, merge_errors};
use assay_model::units::Rate;
use assay_stats::random::mix;
use assay_store::{Document, RunWriter};
use std::ops::ControlFlow;

/// Called right before sessions and right before the measured time begin, and with every interval of all hosts.
type Hooks<'a> =
    (&'a mut dyn FnMut(bool), &'a mut dyn FnMut(&Interval, &Window) -> ControlFlow<()>);

/// Hosts with sessions on a database.
pub struct LoadHosts {
    driver: Driver,
    transport: Transport,
    /// The most I/Os a second of the rungs that were kept.
    most_iops: f64,
}

impl LoadHosts {
    /// Starts the nodes and has each enter the database.
    ///
    /// # Errors
    /// What any host says; nothing has been asked of the database by then.
    pub(crate) fn open(
        names: &HostNames,
        opening: &DatabaseOpening,
        context: &Context,
    ) -> Result<Self> {
        let token = token()?;
        let program = (context.guards.node.as_slice(), token.as_str());
        let mut driver = Driver::open(names, program, &context.stop, &context.progress)?;
        driver.connect(opening)?;
        driver.ask_clocks()?;
        Ok(Self { driver, transport: names.transport(), most_iops: 0.0 })
    }

    /// Measures a rung whose sessions are dealt to all hosts in the order of their numbers; where there are fewer sessions than
    /// hosts, the last hosts rest. What is said of the hosts is kept where there is a run, of the rung that gave the most.
    ///
    /// # Errors
    /// What a host says before the start, or that they cannot begin together, and what the store says.
    pub(crate) fn measure(
        &mut self,
        step: &LoadStep,
        seed: u64,
        (begins, observe): Hooks<'_>,
        writer: Option<&RunWriter>,
    ) -> Result<Elsewhere> {
        let orders: Vec<Option<NodeOrder>> =
            parts(step, self.driver.hosts.len(), seed).into_iter().map(order).collect();
        let length_ns = match step.length {
            Length::Time(time) => time.0,
            Length::Steps(_) => u64::MAX / 4,
        };
        let mut round = Round {
            orders: &orders,
            length_ns,
            interval_ns: step.interval.0,
            warms_up: step.ramp.0 + step.warm_up.0 > 0,
            begins,
        };
        let (mut total, mut rates_per_s) = (Window::default(), Vec::new());
        let mut keep = |merged: &Merged| {
            total.merge(&merged.joint);
            rates_per_s.push(merged.interval.iops());
            observe(&merged.interval, &merged.joint)
        };
        let measured = self.driver.measure(&mut round, &mut keep)?;
        let asked = self.driver.hosts.iter().zip(&orders).filter(|(_, order)| order.is_some());
        let hosts: Vec<HostRecord> = asked.map(|(host, _)| host.clone()).collect();
        let title = step.kind.title(step.sessions);
        let mut found = cluster(self.transport, &hosts, Some(measured.start), &measured.merger);
        found.load = Some(title.clone());
        self.keep(&found, writer)?;
        let whole = Whole {
            workload: &title,
            total,
            targets: &[],
            hosts: &hosts,
            transport: self.transport,
            started_unix_ns: started_unix_ns(measured.start.at_ns),
        };
        Ok(together(whole, &measured, rates_per_s))
    }

    fn keep(&mut self, found: &Cluster, writer: Option<&RunWriter>) -> Result<()> {
        let ios: u64 = found.hosts.iter().map(|host| host.ios).sum();
        let elapsed_s = assay_model::number::seconds(found.window.elapsed_ns);
        let iops = assay_model::number::rate(ios, elapsed_s);
        let is_worth_keeping = iops >= self.most_iops || found.doubt().is_some();
        match writer.filter(|_| is_worth_keeping) {
            Some(writer) => {
                self.most_iops = self.most_iops.max(iops);
                writer.put_json(Document::Cluster, found)
            }
            None => Ok(()),
        }
    }
}

fn order(part: Option<RungPart>) -> Option<NodeOrder> {
    part.map(|part| NodeOrder::Climb(Box::new(part)))
}

/// The part of each host: its sessions with the numbers that they have of all, and as much of a rate.
fn parts(step: &LoadStep, hosts: usize, seed: u64) -> Vec<Option<RungPart>> {
    let count = u32::try_from(hosts).unwrap_or(u32::MAX).max(1);
    let mut first_session = 0;
    let mut part = |host: u32| {
        let sessions = step.sessions / count + u32::from(host < step.sessions % count);
        let mut own = LoadStep { sessions, ..step.clone() };
        if let StepArrival::Open { rate, .. } = &mut own.arrival {
            *rate = Rate(rate.0 * f64::from(sessions) / f64::from(step.sessions.max(1)));
        }
        let part =
            RungPart { step: own, first_session, seed: mix(seed ^ mix(u64::from(host) + 1)) };
        first_session += sessions;
        (sessions > 0).then_some(part)
    };
    (0..count).map(&mut part).collect()
}

/// What all sessions came to.
fn together(whole: Whole<'_>, measured: &Measured, rates_per_s: Vec<f64>) -> Elsewhere {
    let mut measurement = whole.measurement(measured);
    // One server refuses the same to all hosts.
    let mut errors = Vec::new();
    let each = measured.measurements.iter().flatten();
    each.for_each(|one| merge_errors(&mut errors, one.errors.clone()));
    measurement.errors = errors;
    let records: Vec<&RungRecord> = measured.rungs.iter().flatten().collect();
    let mut tally = Tally::default();
    let mut retries: Vec<Retries> = Vec::new();
    for record in &records {
        let RungRecord { acknowledged, unknown, .. } = (*record).clone();
        tally.add(&Tally { acknowledged, unknown });
        record.retries.iter().for_each(|more| add_retries(&mut retries, more));
    }
    Elsewhere {
        measurement,
        rates_per_s,
        retries,
        backlog: records.iter().filter_map(|record| record.backlog).reduce(|sum, one| sum + one),
        tally,
        client_cpu_s: records.iter().map(|record| record.client_cpu_s).sum(),
        served: records
            .iter()
            .map(|record| served(record))
            .reduce(|all, one| all.plus(&one))
            .unwrap_or_default(),
    }
}

fn add_retries(all: &mut Vec<Retries>, more: &Retries) {
    match all.iter_mut().find(|one| one.stream == more.stream && one.meaning == more.meaning) {
        Some(one) => one.times += more.times,
        None => all.push(more.clone()),
    }
}

fn served(record: &RungRecord) -> ServedSessions {
    ServedSessions::seen(record.served_ns, record.storage_read_bytes, record.processes.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::load::{LoadKind, OnLoss, Spacing};
    use assay_model::units::Nanos;

    fn step(sessions: u32) -> LoadStep {
        LoadStep {
            format: 1,
            kind: LoadKind::Oltp,
            sessions,
            repeat: 1,
            ramp: Nanos(0),
            warm_up: Nanos(0),
            interval: Nanos(1_000_000_000),
            on_loss: OnLoss::End,
            length: Length::Time(Nanos(1_000_000_000)),
            arrival: StepArrival::Open { rate: Rate(100.0), spacing: Spacing::Poisson },
            settings: Vec::new(),
        }
    }

    #[test]
    fn sessions_are_dealt_once_each_with_their_part_of_the_rate() {
        for (sessions, hosts) in [(1, 3), (7, 3), (8, 2), (64, 5)] {
            let dealt: Vec<RungPart> =
                parts(&step(sessions), hosts, 1).into_iter().flatten().collect();
            let numbers: Vec<u32> = dealt
                .iter()
                .flat_map(|part| part.first_session..part.first_session + part.step.sessions)
                .collect();
            assert_eq!(numbers, (0..sessions).collect::<Vec<_>>());
            let rate = |part: &RungPart| match part.step.arrival {
                StepArrival::Open { rate, .. } => rate.0,
                StepArrival::Closed => 0.0,
            };
            assert!((dealt.iter().map(rate).sum::<f64>() - 100.0).abs() < 1e-9);
            let mut seeds: Vec<u64> = dealt.iter().map(|part| part.seed).collect();
            seeds.dedup();
            assert_eq!(seeds.len(), dealt.len());
        }
    }

    #[test]
    fn what_several_hosts_retried_is_added_up_by_its_words() {
        let retried = |meaning: &str, times| Retries {
            stream: "payment".to_owned(),
            class: None,
            meaning: meaning.to_owned(),
            times,
        };
        let mut all = Vec::new();
        for one in [retried("deadlock", 2), retried("timeout", 1), retried("deadlock", 3)] {
            add_retries(&mut all, &one);
        }
        assert_eq!(all, [retried("deadlock", 5), retried("timeout", 1)]);
    }
}
