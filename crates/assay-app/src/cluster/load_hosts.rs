//! Several hosts that have sessions on a database, or on several: a step goes in, what all of them
//! came to comes out.

use super::conduct::Whole;
use super::course::Measured;
use super::driver::{Driver, Round};
use super::hosts::HostNames;
use super::open_hosts::started_unix_ns;
use crate::context::Context;
use assay_cluster::findings::{HostRecord, cluster};
use assay_cluster::merge::Merged;
use assay_cluster::protocol::{DatabaseOpening, NodeOrder, RungPart, RungRecord};
use assay_dbload::load::{Elsewhere, ServedSessions, SlotTally};
use assay_model::Result;
use assay_model::cluster::{Cluster, Transport};
use assay_model::load::{Length, LoadStep, Retries, StepArrival};
use assay_model::measurement::{Interval, Window, merge_errors};
use assay_model::number::{index_of, rate, seconds};
use assay_model::units::Rate;
use assay_stats::random::mix;
use assay_store::{RunWriter, StoredDocument};
use std::ops::ControlFlow;

/// Called right before sessions and right before the measured time begin, and with every interval
/// of all hosts.
type HostsHooks<'a> =
    (&'a mut dyn FnMut(bool), &'a mut dyn FnMut(&Interval, &Window) -> ControlFlow<()>);

/// Hosts with sessions on databases.
pub struct LoadHosts {
    driver: Driver,
    transport: Transport,
    /// How many databases there are; hosts have them in turn.
    databases: usize,
    /// What was kept last, with the most I/Os per second of what was kept.
    kept: Option<(Cluster, f64)>,
}

impl LoadHosts {
    /// Starts the nodes and has each enter its database.
    ///
    /// # Errors
    /// What any host says; nothing has been asked of the databases by then.
    pub(crate) fn open(
        names: &HostNames,
        openings: &[DatabaseOpening],
        context: &Context,
    ) -> Result<Self> {
        let mut driver = Driver::open(names, context)?;
        driver.connect(openings)?;
        driver.ask_clocks()?;
        let (transport, databases) = (names.transport(), openings.len().max(1));
        Ok(Self { driver, transport, databases, kept: None })
    }

    /// Names of the hosts of a database.
    pub(crate) fn hosts_of(&self, database: usize) -> Vec<String> {
        let hosts = self.driver.hosts.iter().skip(database).step_by(self.databases);
        hosts.map(|host| host.name.clone()).collect()
    }

    /// Sessions of a database in a step of that many.
    pub(crate) fn sessions_of(&self, sessions: u32, database: usize) -> u32 {
        let whole = |all: usize| u32::try_from(all).unwrap_or(u32::MAX);
        dealt(sessions, whole(self.databases), whole(database))
    }

    /// Measures a step whose sessions are dealt to all databases, and those of each to its hosts in
    /// the order of their numbers; where a database has fewer sessions than hosts, its last
    /// hosts rest. If there is a run, it keeps the findings about the hosts of the step with the
    /// highest rate.
    ///
    /// # Errors
    /// What a host says before the start, or that they cannot begin together, and what the store
    /// says.
    pub(crate) fn measure(
        &mut self,
        step: &LoadStep,
        seed: u64,
        (begins, observe): HostsHooks<'_>,
        writer: Option<&RunWriter>,
    ) -> Result<AllSessions> {
        let orders: Vec<Option<NodeOrder>> =
            parts(step, self.driver.hosts.len(), self.databases, seed)
                .into_iter()
                .map(order)
                .collect();
        let length_ns = match step.length {
            Length::Time(time) => time.0,
            Length::Steps(_) => u64::MAX / 4,
        };
        let mut round = Round {
            orders: &orders,
            length_ns,
            unmeasured_ns: 0,
            interval_ns: step.interval.0,
            warms_up: step.ramp.0 + step.warm_up.0 > 0,
            begins,
        };
        let asked: Vec<usize> = (0..orders.len()).filter(|host| orders[*host].is_some()).collect();
        let mut sums = LoadSums::new(asked.iter().map(|host| host % self.databases).collect());
        let mut keep = |merged: &Merged| {
            sums.add(merged);
            observe(&merged.interval, &merged.joint)
        };
        let measured = self.driver.measure(&mut round, &mut keep)?;
        let hosts: Vec<HostRecord> =
            asked.iter().map(|host| self.driver.hosts[*host].clone()).collect();
        let title = step.kind.title(step.sessions);
        let mut found = cluster(self.transport, &hosts, Some(measured.start), &measured.merger);
        found.load = Some(title.clone());
        self.keep(found, writer)?;
        let whole = |(total, rates_per_s): (Window, Vec<f64>), members: &[usize]| {
            let whole = Whole {
                workload: &title,
                total,
                targets: &[],
                hosts: &hosts,
                transport: self.transport,
                started_unix_ns: started_unix_ns(measured.start.at_ns),
            };
            together(whole, &measured, rates_per_s, members)
        };
        let members_of = |database: usize| -> Vec<usize> {
            (0..asked.len()).filter(|member| sums.databases[*member] == database).collect()
        };
        let each: Vec<Elsewhere> = (0..self.databases)
            .map(|database| whole(sums.of(database), &members_of(database)))
            .collect();
        let all: Vec<usize> = (0..asked.len()).collect();
        Ok(AllSessions { all: whole(sums.whole, &all), each })
    }

    fn keep(&mut self, found: Cluster, writer: Option<&RunWriter>) -> Result<()> {
        let Some(writer) = writer else { return Ok(()) };
        let ios: u64 = found.hosts.iter().map(|host| host.ios).sum();
        let iops = rate(ios, seconds(found.window.elapsed_ns));
        let (found, most_iops) = match self.kept.take() {
            // Nothing came any more, because a host was lost.
            Some((kept, most_iops)) if found.window.intervals == 0 => {
                (kept.with_losses_of(&found), most_iops)
            }
            Some((kept, most_iops)) if iops < most_iops && found.doubt().is_none() => {
                self.kept = Some((kept, most_iops));
                return Ok(());
            }
            Some((_, most_iops)) => (found, most_iops.max(iops)),
            None => (found, iops),
        };
        writer.put_json(StoredDocument::Cluster, &found)?;
        self.kept = Some((found, most_iops));
        Ok(())
    }
}

/// Sessions of all hosts.
pub(crate) struct AllSessions {
    /// What they came to together.
    pub(crate) all: Elsewhere,
    /// The same of those of each database.
    pub(crate) each: Vec<Elsewhere>,
}

/// Intervals added up over all hosts, and over those of each database.
struct LoadSums {
    /// The database of each host that takes part.
    databases: Vec<usize>,
    whole: (Window, Vec<f64>),
    each: Vec<(Window, Vec<f64>)>,
}

impl LoadSums {
    fn new(databases: Vec<usize>) -> Self {
        let count = databases.iter().max().map_or(0, |last| last + 1);
        let each = vec![(Window::default(), Vec::new()); count];
        Self { databases, whole: (Window::default(), Vec::new()), each }
    }

    fn add(&mut self, merged: &Merged) {
        let Interval { start_ns, end_ns, .. } = merged.interval;
        self.whole.0.merge(&merged.joint);
        self.whole.1.push(merged.interval.iops());
        self.each.iter_mut().for_each(|(_, rates_per_s)| rates_per_s.push(0.0));
        for (database, part) in self.databases.iter().zip(&merged.parts) {
            let (total, rates_per_s) = &mut self.each[*database];
            let streams = part.joint.streams.iter();
            let ios = streams.map(|stream| stream.operations.ios()).sum();
            total.merge(&part.joint);
            if let Some(last) = rates_per_s.last_mut() {
                *last += rate(ios, seconds(end_ns - start_ns));
            }
        }
    }

    fn of(&self, database: usize) -> (Window, Vec<f64>) {
        self.each.get(database).cloned().unwrap_or_default()
    }
}

fn order(part: Option<RungPart>) -> Option<NodeOrder> {
    part.map(|part| NodeOrder::Climb(Box::new(part)))
}

/// The part of each host: its sessions with the numbers that they have of all of its database, and
/// as much of a rate.
fn parts(step: &LoadStep, hosts: usize, databases: usize, seed: u64) -> Vec<Option<RungPart>> {
    let count = |all: usize| u32::try_from(all).unwrap_or(u32::MAX).max(1);
    let (hosts, databases) = (count(hosts), count(databases));
    let mut first_sessions = vec![0; index_of(u64::from(databases))];
    let mut part = |host: u32| {
        let database = host % databases;
        let of_database = dealt(step.sessions, databases, database);
        let hosts_of = hosts / databases + u32::from(database < hosts % databases);
        let sessions = dealt(of_database, hosts_of, host / databases);
        let first_session = &mut first_sessions[index_of(u64::from(database))];
        let mut own = LoadStep { sessions, ..step.clone() };
        if let StepArrival::Open { rate, .. } = &mut own.arrival {
            *rate = Rate(rate.0 * f64::from(sessions) / f64::from(step.sessions.max(1)));
        }
        let part = RungPart {
            step: own,
            first_session: *first_session,
            seed: mix(seed ^ mix(u64::from(host) + 1)),
        };
        *first_session += sessions;
        (sessions > 0).then_some(part)
    };
    (0..hosts).map(&mut part).collect()
}

/// What the one of several with this number gets of a number of sessions: the first ones have what
/// is left over.
const fn dealt(sessions: u32, among: u32, number: u32) -> u32 {
    sessions / among + if number < sessions % among { 1 } else { 0 }
}

/// What the sessions of some of the hosts that took part came to.
fn together(
    whole: Whole<'_>,
    measured: &Measured,
    rates_per_s: Vec<f64>,
    members: &[usize],
) -> Elsewhere {
    let mut measurement = whole.measurement(measured);
    // One server refuses the same to all hosts.
    let mut errors = Vec::new();
    let each = members.iter().filter_map(|member| measured.measurements[*member].as_ref());
    each.for_each(|one| merge_errors(&mut errors, one.errors.clone()));
    measurement.errors = errors;
    let records: Vec<&RungRecord> =
        members.iter().filter_map(|member| measured.rungs[*member].as_ref()).collect();
    let mut tally = SlotTally::default();
    let mut retries: Vec<Retries> = Vec::new();
    for record in &records {
        let RungRecord { acknowledged, unknown, .. } = (*record).clone();
        tally.add(&SlotTally { acknowledged, unknown });
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
                parts(&step(sessions), hosts, 1, 1).into_iter().flatten().collect();
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
    fn databases_have_sessions_of_their_own_dealt_to_their_own_hosts() {
        let dealt = parts(&step(7), 5, 2, 1);
        let each = dealt.iter().flatten();
        let numbers: Vec<(u32, u32)> =
            each.map(|part| (part.first_session, part.step.sessions)).collect();
        // The first database has 4 sessions on the hosts 0, 2 and 4, the second one 3 on the hosts
        // 1 and 3.
        assert_eq!(numbers, [(0, 2), (0, 2), (2, 1), (2, 1), (3, 1)]);
        let resting = parts(&step(2), 4, 2, 1);
        assert_eq!(
            resting.iter().map(Option::is_some).collect::<Vec<_>>(),
            [true, true, false, false]
        );
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
