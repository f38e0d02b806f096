//! A step on several databases: all of them added up, and each by itself.

use super::elsewhere::Elsewhere;
use super::rung::RungResult;
use super::served::ServedSessions;
use super::watch::statements;
use assay_model::load::{
    CommitParity, DatabaseCounts, DatabaseRung, DeviceCounts, Physical, Rung, StreamTimes,
    TimeSplit,
};
use assay_model::measurement::NamedResult;
use assay_model::number::rate;

/// A database of a step on several.
pub struct DatabaseResult {
    /// The directory of its server, or its address.
    pub target: String,
    /// The hosts that had its sessions.
    pub hosts: Vec<String>,
    /// Its sessions.
    pub sessions: u32,
    /// What they came to.
    pub result: RungResult,
}

/// The step of all databases, whose sessions came to this together.
pub fn together(all: Elsewhere, sessions: u32, each: &[DatabaseResult]) -> RungResult {
    let rungs: Vec<&Rung> = each.iter().map(|one| &one.result.rung).collect();
    let mut measurement = all.measurement;
    if let Some(first) = rungs.first() {
        // This program's machine, whatever is asked.
        measurement.conduct.host_busy_share = first.host_busy_share;
        measurement.conduct.kernel.clone_from(&first.measurement.conduct.kernel);
    }
    let device = only_device(&rungs);
    let ios = measurement.operations().ios();
    let statements = statements(ios, measurement.elapsed_ns, &all.rates_per_s);
    let rung = Rung {
        sessions,
        repeat: rungs.first().map_or(1, |rung| rung.repeat),
        statements: statements.map(|found| found.estimate),
        is_widened: statements.is_some_and(|found| found.is_widened),
        interval_rates_per_s: all.rates_per_s,
        retries: all.retries,
        backlog: all.backlog,
        database: counts(&rungs),
        time: times(&rungs),
        physical: Physical::of(
            rungs.iter().map(|rung| rung.physical.database_bytes).sum(),
            rungs.iter().map(|rung| rung.physical.process_bytes).sum(),
            device.as_ref().map(|device| device.counters.read_bytes),
        ),
        device,
        client_cpu_s: all.client_cpu_s,
        server_cpu_s: rungs.iter().map(|rung| rung.server_cpu_s).sum(),
        host_busy_share: measurement.conduct.host_busy_share,
        commit_parity: parity(&rungs),
        databases: each.iter().map(of_database).collect(),
        profile: None,
        measurement,
    };
    let served = each.iter().map(|one| one.result.served.clone());
    let served = served.reduce(|all, one| all.plus(&one));
    RungResult {
        rung,
        tally: all.tally,
        served: served.unwrap_or_else(ServedSessions::default),
        began: None,
    }
}

fn of_database(one: &DatabaseResult) -> DatabaseRung {
    let rung = &one.result.rung;
    let ios = rung.measurement.operations().ios();
    DatabaseRung {
        target: one.target.clone(),
        hosts: one.hosts.clone(),
        sessions: one.sessions,
        ios,
        statements_per_s: rate(ios, rung.elapsed_s()),
        statements: rung.statements,
        streams: rung.measurement.streams.iter().filter_map(times_of).collect(),
        database: rung.database,
        time: rung.time,
        server_cpu_s: rung.server_cpu_s,
        commit_parity: rung.commit_parity,
        profile: rung.profile.clone(),
    }
}

/// A stream has one operation.
fn times_of(stream: &NamedResult) -> Option<StreamTimes> {
    let mut results = stream.operations.iter().map(|(_, result)| result);
    let result = results.find(|result| result.ios > 0)?;
    let times = result.response();
    Some(StreamTimes {
        name: stream.name.clone(),
        ios: result.ios,
        p50_ns: times.quantile_ns(0.5),
        p99_ns: times.quantile_ns(0.99),
        max_ns: times.max_ns(),
    })
}

/// What all servers counted; what one of them does not know is not known.
fn counts(rungs: &[&Rung]) -> DatabaseCounts {
    let all = |of: fn(&DatabaseCounts) -> u64| rungs.iter().map(|rung| of(&rung.database)).sum();
    let known = |of: fn(&DatabaseCounts) -> Option<u64>| {
        rungs.iter().map(|rung| of(&rung.database)).sum::<Option<u64>>()
    };
    DatabaseCounts {
        logical_reads: all(|counts| counts.logical_reads),
        reads: all(|counts| counts.reads),
        read_bytes: all(|counts| counts.read_bytes),
        read_wait_ns: known(|counts| counts.read_wait_ns),
        writes: all(|counts| counts.writes),
        write_bytes: all(|counts| counts.write_bytes),
        write_wait_ns: known(|counts| counts.write_wait_ns),
        log_bytes: all(|counts| counts.log_bytes),
        log_syncs: known(|counts| counts.log_syncs),
        log_sync_wait_ns: known(|counts| counts.log_sync_wait_ns),
        commits: all(|counts| counts.commits),
    }
}

fn times(rungs: &[&Rung]) -> TimeSplit {
    let known = |of: fn(&TimeSplit) -> Option<u64>| {
        rungs.iter().map(|rung| of(&rung.time)).sum::<Option<u64>>()
    };
    TimeSplit {
        database_ns: rungs.iter().map(|rung| rung.time.database_ns).sum(),
        cpu_ns: known(|time| time.cpu_ns),
        cpu_queue_ns: known(|time| time.cpu_queue_ns),
        read_ns: known(|time| time.read_ns),
        write_ns: known(|time| time.write_ns),
        commit_ns: known(|time| time.commit_ns),
    }
}

/// The device under all databases, where it is one: it counted for all of them.
fn only_device(rungs: &[&Rung]) -> Option<DeviceCounts> {
    let mut devices = rungs.iter().map(|rung| rung.device.as_ref());
    let first = devices.next()??;
    devices
        .all(|device| device.is_some_and(|device| device.name == first.name))
        .then(|| first.clone())
}

fn parity(rungs: &[&Rung]) -> Option<CommitParity> {
    let all = |of: fn(&CommitParity) -> u64| {
        rungs.iter().map(|rung| rung.commit_parity.as_ref().map(of)).sum::<Option<u64>>()
    };
    Some(CommitParity {
        clients: all(|parity| parity.clients)?,
        server: all(|parity| parity.server)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::{Conduct, Finish, Measurement};

    fn rung(device: Option<&str>, log_syncs: Option<u64>, commits: u64) -> Rung {
        let device =
            device.map(|name| DeviceCounts { name: name.to_owned(), ..DeviceCounts::default() });
        Rung {
            device,
            database: DatabaseCounts { log_syncs, commits, ..DatabaseCounts::default() },
            commit_parity: log_syncs
                .map(|_| CommitParity { clients: commits, server: commits + 1 }),
            ..made_up()
        }
    }

    fn made_up() -> Rung {
        Rung {
            sessions: 1,
            repeat: 1,
            measurement: Measurement {
                format: 1,
                workload: String::new(),
                started_unix_ns: 0,
                elapsed_ns: 0,
                finish: Finish::Complete,
                streams: Vec::new(),
                targets: Vec::new(),
                errors: Vec::new(),
                conduct: Conduct::default(),
            },
            statements: None,
            is_widened: false,
            interval_rates_per_s: Vec::new(),
            retries: Vec::new(),
            backlog: None,
            database: DatabaseCounts::default(),
            time: TimeSplit::default(),
            device: None,
            client_cpu_s: 0.0,
            server_cpu_s: None,
            host_busy_share: None,
            commit_parity: None,
            databases: Vec::new(),
            physical: Physical::default(),
            profile: None,
        }
    }

    #[test]
    fn counts_of_all_servers_add_up_where_all_know_them() {
        let (one, other) = (rung(None, Some(3), 5), rung(None, Some(4), 6));
        let unknown = rung(None, None, 7);
        assert_eq!(
            (counts(&[&one, &other]).log_syncs, counts(&[&one, &other]).commits),
            (Some(7), 11)
        );
        assert_eq!(
            (counts(&[&one, &unknown]).log_syncs, counts(&[&one, &unknown]).commits),
            (None, 12)
        );
        assert_eq!(parity(&[&one, &other]), Some(CommitParity { clients: 11, server: 13 }));
        assert_eq!(parity(&[&one, &unknown]), None);
    }

    #[test]
    fn a_device_counts_once_for_all_databases_on_it() {
        let named = |rungs: [&Rung; 2]| only_device(&rungs).map(|device| device.name);
        let (sda, sdb, away) =
            (rung(Some("sda"), None, 0), rung(Some("sdb"), None, 0), rung(None, None, 0));
        assert_eq!(named([&sda, &sda]).as_deref(), Some("sda"));
        assert_eq!(named([&sda, &sdb]), None);
        assert_eq!(named([&sda, &away]), None);
    }
}
