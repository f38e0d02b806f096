//! The profile: the same document that a report gives.

use super::classes::{COMMIT_DOUBT, ROW_LOCK_DOUBT, class_of};
use super::delta::MariadbDelta;
use super::snapshot::MariadbSnapshot;
use super::{events, io, load};
use assay_live::classes::{APPLICATION, COMMIT};
use assay_live::{
    EventSampler, HostContext, IntervalEstimator, ProcessTerms, SessionSamples, active_sessions,
    over_time, sampling,
};
use assay_model::load::DatabaseProduct;
use assay_model::number::{rate, real, real_len};
use assay_model::plausibility::judged;
use assay_model::profile::{
    self, Figure, Profile, ProfileProduct, ProfileSource, ServerActivity, TimeModel, TimeVerdict,
    Work,
};
use assay_model::{Estimate, Result};

const DB_TIME: &str = "events_statements_summary_by_user_by_event_name, sums of statement/sql and \
                       statement/com, statements that ran at both ends added, own sessions left \
                       out";
const DB_TIME_OF_LOOKS: &str =
    "estimated: active sessions by samples x elapsed, because the server does not time statements";
/// What is a smaller share of DB time needs no explanation.
const MUCH_SHARE: f64 = 0.05;
/// What the scheduler knows of a server.
const SERVER: ProcessTerms = ProcessTerms {
    clients: "the threads that serve client sessions",
    background: "all other threads of the server",
};

/// What the database did.
fn work(delta: &MariadbDelta<'_>) -> Work {
    let per_s = |count: u64, what: &str| {
        Some(Figure::new(rate(count, delta.elapsed_s), format!("{what} / elapsed")))
    };
    let (transactions, source) = delta.counted_work();
    Work {
        transactions_per_s: per_s(transactions, source),
        executions_per_s: delta.status("QUESTIONS").and_then(|all| per_s(all, "Questions")),
        commits_per_s: delta
            .commits()
            .and_then(|commits| per_s(commits.count, "statements in the stage of their commit")),
        ..Work::default()
    }
}

/// The profile of an interval.
///
/// # Errors
/// When the server was restarted in between.
pub fn profile(
    before: &MariadbSnapshot,
    after: &MariadbSnapshot,
    samples: &SessionSamples,
    host: &HostContext,
    bars: &dyn IntervalEstimator,
) -> Result<Profile> {
    let delta = MariadbDelta::of(before, after, samples.elapsed_s)?;
    let db_time = db_time(&delta, samples);
    let sampler =
        EventSampler { samples, bars, db_time_s: db_time.as_ref().map_or(0.0, |time| time.value) };
    let events = events::events(&delta, sampler);
    let time = assay_live::model(samples, host, &events, db_time, SERVER);
    let relations = io::relations(&delta);
    let active = bars.mean(&samples.active());
    Ok(judged(Profile {
        format: profile::FORMAT,
        name: host.name.clone(),
        source: source(&delta, host),
        elapsed_s: Some(Figure::new(samples.elapsed_s, "monotonic clock of this program")),
        work: work(&delta),
        sessions: samples.connected(),
        block_bytes: Some(Figure::new(real(after.settings.page_bytes), "innodb_page_size")),
        rates: io::rates(&delta),
        classes: io::classes(&delta, host),
        verdict: verdict(&delta, samples, &time),
        redo: load::redo(&delta, &time),
        outliers: Vec::new(),
        tiering: io::tiering(&delta, &relations),
        checks: check(&delta, &time, active.as_ref()),
        doubts: doubts(&delta, samples, &time),
        missing: missing(&delta, samples),
        report: None,
        server: Some(ServerActivity {
            load: load::load(&delta, host, &time),
            events,
            functions: io::functions(&delta),
            over_time: over_time(samples, &class_of),
            relations: assay_live::first(relations),
            reads: Some(io::levels(&delta, host)),
            process_io: host.process_io.clone(),
            device: assay_live::device(io::own(&delta), host, samples.elapsed_s),
            io_by_second: host.io_by_second.clone(),
            read_times: host.read_times.clone(),
            sampling: Some(sampling(samples, host, active, after.own_time_s - before.own_time_s)),
            ..ServerActivity::default()
        }),
        time,
    }))
}

/// DB time: counted, or by samples where statements are not timed and somebody looked.
fn db_time(delta: &MariadbDelta<'_>, samples: &SessionSamples) -> Option<Figure> {
    if let Some(counted_s) = delta.db_time_s() {
        return Some(Figure::new(counted_s, DB_TIME));
    }
    let active = samples.active();
    let mean = active.iter().sum::<f64>() / real_len(active.len()).max(1.0);
    (!active.is_empty()).then(|| Figure::new(mean * delta.elapsed_s, DB_TIME_OF_LOOKS))
}

/// Whether faster storage would help. Where I/O is not timed nothing is said of it.
fn verdict(delta: &MariadbDelta<'_>, samples: &SessionSamples, time: &TimeModel) -> TimeVerdict {
    let verdict = assay_live::verdict(time, samples);
    if delta.instruments().files || verdict.user_io_share.is_none() {
        return verdict;
    }
    assay_live::without_user_io(verdict, "the performance schema does not time reads of files")
}

/// Samples and counters are two only where DB time is not of samples itself.
fn check(
    delta: &MariadbDelta<'_>,
    time: &TimeModel,
    active: Option<&Estimate>,
) -> Vec<profile::CrossCheck> {
    let counted = delta.db_time_s().map(|_| active_sessions(time, active));
    counted.into_iter().collect()
}

fn source(delta: &MariadbDelta<'_>, host: &HostContext) -> ProfileSource {
    let settings = &delta.after.settings;
    let product = match settings.product {
        DatabaseProduct::MySql => ProfileProduct::Mysql,
        _ => ProfileProduct::Mariadb,
    };
    host.source(product, &settings.version, delta.before.at_s, delta.after.at_s)
}

fn doubts(delta: &MariadbDelta<'_>, samples: &SessionSamples, time: &TimeModel) -> Vec<String> {
    let mut doubts = delta.doubts();
    doubts.extend(assay_live::doubts(time));
    doubts.extend(assay_live::cpu_in_waits(time, samples));
    doubts.extend(assay_live::doubts_of_samples(samples));
    let settings = &delta.after.settings;
    if delta.instruments().files && !settings.is_direct {
        doubts.push("times of reads include those that the page cache served".to_owned());
    }
    let is_much = |class: &str| assay_live::share_of_classes(time, &[class]) > Some(MUCH_SHARE);
    let waits_for_rows = delta.status("INNODB_ROW_LOCK_WAITS").is_some_and(|waits| waits > 0);
    if waits_for_rows && is_much(APPLICATION) {
        doubts.push(ROW_LOCK_DOUBT.to_owned());
    }
    if delta.instruments().commits && is_much(COMMIT) {
        doubts.push(COMMIT_DOUBT.to_owned());
    }
    doubts
}

/// What is not reported, with the way to get it.
fn missing(delta: &MariadbDelta<'_>, samples: &SessionSamples) -> Vec<String> {
    let mut missing = assay_live::missing_in_either(&delta.before.missing, &delta.after.missing);
    if samples.tasks.is_none() {
        missing.push(
            "CPU time: the server is on another host, or its threads cannot be seen or serve \
             several sessions each"
                .to_owned(),
        );
    }
    missing.push(
        "autocommitted statements: they count as transactions only if no transaction was begun, \
         committed or rolled back"
            .to_owned(),
    );
    missing.push(
        "waits for writes of data files: background threads write them, and only the request is \
         timed"
            .to_owned(),
    );
    missing.push(
        "waits for a free page of the cache and for space in the log: counted, not timed"
            .to_owned(),
    );
    missing.push(
        "statements by their reads: the digests of the performance schema do not contain reads"
            .to_owned(),
    );
    missing
}
