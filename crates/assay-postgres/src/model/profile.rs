//! The profile: the same document that a report gives.

use super::classes::class_of;
use super::delta::PostgresDelta;
use super::snapshot::PostgresSnapshot;
use super::{events, io, load, redo, statements, time};
use assay_live::{
    EventSampler, HostContext, IntervalEstimator, ProcessTerms, SessionSamples, active_sessions,
    over_time, sampling,
};
use assay_model::Result;
use assay_model::number::{rate, real};
use assay_model::plausibility::judged;
use assay_model::profile::{
    self, Figure, Profile, ProfileProduct, ProfileSource, ServerActivity, TimeModel, Work,
};

/// What the scheduler knows of a server.
const SERVER: ProcessTerms = ProcessTerms {
    clients: "client sessions",
    background: "background processes and parallel workers",
};

/// The profile of an interval.
///
/// # Errors
/// When the server was restarted in between.
pub fn profile(
    before: &PostgresSnapshot,
    after: &PostgresSnapshot,
    samples: &SessionSamples,
    host: &HostContext,
    bars: &dyn IntervalEstimator,
) -> Result<Profile> {
    let delta = PostgresDelta::of(before, after, samples.elapsed_s)?;
    let executed = statements::executed(&delta);
    let db_time = time::db_time(&delta, samples);
    let sampler = EventSampler { samples, bars, db_time_s: db_time.value };
    let events = events::events(&delta, sampler);
    let time = assay_live::model(samples, host, &events, Some(db_time), SERVER);
    let relations = io::relations(&delta);
    let active = bars.mean(&samples.active());
    let mut doubts = doubts_of_interval(&delta, samples, &time);
    doubts.extend(executed.iter().flat_map(|executed| executed.doubts.iter().cloned()));
    doubts.extend(doubts_of_samples(samples));
    doubts.extend(doubts_of_version(&delta));
    Ok(judged(Profile {
        format: profile::FORMAT,
        name: host.name.clone(),
        source: source(&delta, host),
        elapsed_s: Some(Figure::new(samples.elapsed_s, "monotonic clock of this program")),
        work: work(&delta),
        sessions: samples.connected(),
        block_bytes: Some(Figure::new(real(after.settings.block_bytes), "block_size")),
        rates: io::rates(&delta),
        classes: io::classes(&delta, host),
        verdict: time::verdict(&delta, samples, &time),
        redo: redo::redo(&delta, &time),
        outliers: Vec::new(),
        tiering: assay_live::tiering(&relations, samples.elapsed_s),
        checks: vec![active_sessions(&time, active.as_ref())],
        report: None,
        server: Some(ServerActivity {
            load: load::load(&delta, host, &time, executed.as_ref()),
            events,
            functions: io::functions(&delta),
            tablespaces: assay_live::tablespaces(&relations),
            over_time: over_time(samples, &class_of),
            relations: assay_live::first(relations),
            statements: executed
                .as_ref()
                .map_or_else(Vec::new, |executed| statements::top(&delta, executed)),
            checkpoints: load::checkpoints(&delta),
            wal: load::wal(&delta),
            reads: Some(io::levels(&delta, host)),
            process_io: host.process_io.clone(),
            device: assay_live::device(io::own(&delta), host, samples.elapsed_s),
            io_by_second: host.io_by_second.clone(),
            read_times: host.read_times.clone(),
            sampling: Some(sampling(samples, host, active, delta.own_time_s())),
        }),
        time,
        doubts,
        missing: missing(before, after),
    }))
}

/// What the database did. A transaction that only reads ends as one that writes does: how many
/// waited for the log follows from the waits for it.
fn work(delta: &PostgresDelta<'_>) -> Work {
    let per_s = |count: u64, what: &str| {
        Some(Figure::new(rate(count, delta.elapsed_s), format!("{what} / elapsed")))
    };
    let own_writes = delta.io().map(|io| {
        let rows = io.iter().filter(|(key, _)| key.process == events::CLIENT);
        rows.filter(|(key, _)| key.object != "wal").map(|(_, row)| row.writes).sum()
    });
    Work {
        transactions_per_s: per_s(
            delta.transactions(),
            "pg_stat_database: xact_commit + xact_rollback, own sessions left out",
        ),
        commits_per_s: per_s(
            delta.transactions().saturating_sub(delta.sum(|database| database.rollbacks)),
            "pg_stat_database: xact_commit, own sessions left out",
        ),
        foreground_writes_per_s: own_writes
            .and_then(|writes| per_s(writes, "pg_stat_io: writes of client backends")),
        ..Work::default()
    }
}

fn source(delta: &PostgresDelta<'_>, host: &HostContext) -> ProfileSource {
    let release = delta.after.version.to_string();
    host.source(ProfileProduct::Postgresql, &release, delta.before.at_s, delta.after.at_s)
}

/// What is doubted of the counters, and of the times that follow from them and the samples.
fn doubts_of_interval(
    delta: &PostgresDelta<'_>,
    samples: &SessionSamples,
    time: &TimeModel,
) -> Vec<String> {
    let mut doubts = delta.doubts();
    doubts.extend(time::doubts(delta, time));
    doubts.extend(assay_live::cpu_in_waits(time, samples));
    doubts
}

fn doubts_of_samples(samples: &SessionSamples) -> Vec<String> {
    let mut doubts = assay_live::doubts_of_samples(samples);
    if samples.tasks.is_none() {
        doubts.push(
            "the server is on another host, or its processes cannot be seen: CPU time is \
             estimated, and its queue is unknown"
                .to_owned(),
        );
    }
    doubts
}

/// What the counters of this release do not mean, although it looks as if they did.
fn doubts_of_version(delta: &PostgresDelta<'_>) -> Vec<String> {
    let version = delta.after.version;
    let mut doubts = Vec::new();
    if version.major() == 17 {
        doubts.push(
            "release 17 counts a combined read of several blocks as several reads: the time of \
             one is a share of it"
                .to_owned(),
        );
    }
    if version.counts_requests() {
        doubts.push(
            "times of I/O are what sessions waited: with asynchronous I/O several are in flight, \
             so they are not the latency of a device"
                .to_owned(),
        );
    }
    if !version.has_io() {
        doubts.push(
            "before release 16 I/O is not counted by process: times include those of background \
             processes"
                .to_owned(),
        );
    }
    if !version.has_log_io() && delta.is_log_timed() {
        doubts.push(
            "up to release 17 the log is timed for all processes together: class Commit may hold \
             time of the log writer"
                .to_owned(),
        );
    }
    if delta.is_io_timed() {
        doubts.push("times of reads include those that the page cache served".to_owned());
    }
    doubts
}

fn missing(before: &PostgresSnapshot, after: &PostgresSnapshot) -> Vec<String> {
    let mut missing = assay_live::missing_in_either(&before.missing, &after.missing);
    missing.push("histogram of its reads: the server keeps none".to_owned());
    missing
}
