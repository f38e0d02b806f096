//! DB time, and how far it is certain.

use super::classes::is_data_io;
use super::delta::PostgresDelta;
use assay_live::SessionSamples;
use assay_model::number::real_len;
use assay_model::profile::{Figure, TimeModel, TimeVerdict};

const DB_TIME: &str = "pg_stat_database.active_time of all databases, statements that ran at both \
                       ends added, own sessions left out";
const DB_TIME_OF_LOOKS: &str = "estimated: active sessions by samples x elapsed, because the \
                                server's clock was changed during the interval";

/// DB time. The server takes times of statements by its clock, so where that was set they say
/// nothing; samples do not need it.
pub(super) fn db_time(delta: &PostgresDelta<'_>, samples: &SessionSamples) -> Figure {
    if delta.clock_step_s().is_none() {
        return Figure::new(delta.db_time_s(), DB_TIME);
    }
    let active = samples.active();
    let mean = active.iter().sum::<f64>() / real_len(active.len()).max(1.0);
    Figure::new(mean * delta.elapsed_s, DB_TIME_OF_LOOKS)
}

/// Reads that are not timed are estimated from samples; that takes as many as an event needs that
/// stands alone.
const SEEN_MIN: f64 = 10.0;

/// Whether faster storage would help.
pub(super) fn verdict(
    delta: &PostgresDelta<'_>,
    samples: &SessionSamples,
    model: &TimeModel,
) -> TimeVerdict {
    let verdict = assay_live::verdict(model, samples);
    if !delta.after.settings.sees_all {
        let why = "this account does not see the sessions of others (grant it pg_read_all_stats)";
        return assay_live::without_waits(verdict, why);
    }
    let seen: f64 = samples.series(is_data_io).iter().sum();
    if delta.is_io_timed() || seen >= SEEN_MIN {
        return verdict;
    }
    assay_live::without_user_io(verdict, "reads are not timed (track_io_timing is off)")
}

/// A busy session reports its counters once a second at most (`PGSTAT_MIN_INTERVAL` of the server's
/// source).
const LAG_S: f64 = 1.0;

/// What busy sessions had not reported yet at both ends matters where the interval is short.
fn lag(delta: &PostgresDelta<'_>, db_time_s: f64) -> Option<String> {
    let busy = |snapshot: &super::PostgresSnapshot| {
        real_len(snapshot.sessions.iter().filter(|session| session.is_active).count())
    };
    let lag_s = LAG_S * busy(delta.before).max(busy(delta.after));
    (lag_s > 0.1 * db_time_s).then(|| {
        format!(
            "busy sessions report their counters up to 1 s late: DB time and I/O times are \
             accurate to {lag_s:.0} s only (a longer interval is better)"
        )
    })
}

/// What of the split a reader has to know.
pub(super) fn doubts(delta: &PostgresDelta<'_>, model: &TimeModel) -> Vec<String> {
    let db_time_s = model.db_time_s.as_ref().map_or(0.0, |time| time.value);
    lag(delta, db_time_s).into_iter().chain(assay_live::doubts(model)).collect()
}
