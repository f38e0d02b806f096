//! Where the time of sessions went: what the performance schema and the engine count, and the
//! states that nobody counts.

use super::classes::{
    METADATA_LOCK, SLEEP_WAIT, class_of, class_of_event, is_inside_of_lock, is_state,
};
use super::delta::MariadbDelta;
use assay_live::classes::{APPLICATION, COMMIT, IDLE};
use assay_live::{EventSampler, SessionState, counted, on_cpu, ordered};
use assay_model::Estimate;
use assay_model::number::real;
use assay_model::profile::TimedEvent;

/// All events of client sessions, most time first; shares are of DB time.
pub(super) fn events(delta: &MariadbDelta<'_>, sampler: EventSampler<'_>) -> Vec<TimedEvent> {
    let mut events: Vec<TimedEvent> = on_cpu(sampler.samples).into_iter().collect();
    events.extend(waits(delta));
    events.extend(commits(delta));
    events.extend(row_locks(delta));
    events.extend(sampler.events(&|seen| is_left(delta, seen), &|seen| {
        (format!("state: {}", seen.event), class_of(seen))
    }));
    ordered(events, sampler.db_time_s)
}

/// Waits that the server added up. Files that are written by a commit lie in the time of its stage,
/// where that is counted.
fn waits(delta: &MariadbDelta<'_>) -> Vec<TimedEvent> {
    let counts_commits = delta.instruments().commits;
    let waits = delta.waits();
    let counts_locks = waits.contains_key(METADATA_LOCK);
    let events = waits.iter().filter_map(|(event, wait)| {
        let class = class_of_event(event)?;
        let is_inside =
            (counts_commits && class == COMMIT) || (counts_locks && is_inside_of_lock(event));
        counted(*event, class, wait.time_s, Some(wait.count))
            .filter(|_| wait.count > 0 && !is_inside)
    });
    events.collect()
}

/// Statements in their commit.
fn commits(delta: &MariadbDelta<'_>) -> Option<TimedEvent> {
    let commits = delta.commits()?;
    counted("stage: commit", COMMIT, commits.time_s, Some(commits.count))
}

/// Waits for row locks, which the engine adds up in milliseconds; a release that cuts each wait to
/// whole ones may lack up to one each.
fn row_locks(delta: &MariadbDelta<'_>) -> Option<TimedEvent> {
    let waits = delta.status("INNODB_ROW_LOCK_WAITS").filter(|waits| *waits > 0)?;
    let counted_s = real(delta.status("INNODB_ROW_LOCK_TIME")?) / 1000.0;
    let cut_s = if delta.after.settings.cuts_lock_times { real(waits) / 1000.0 } else { 0.0 };
    let event = counted("row locks of InnoDB", APPLICATION, counted_s, Some(waits))?;
    let time_s = Estimate { low: counted_s, high: counted_s + cut_s, ..event.time_s };
    Some(TimedEvent { time_s, ..event })
}

/// Whether only looks show it.
fn is_left(delta: &MariadbDelta<'_>, seen: &SessionState) -> bool {
    if !is_state(seen) {
        return false;
    }
    let is_counted = |opening: &str| {
        delta.after.waits.keys().any(|event| event.to_lowercase().starts_with(opening))
    };
    match class_of(seen) {
        COMMIT => !delta.instruments().commits,
        IDLE => !is_counted(SLEEP_WAIT),
        APPLICATION => !(seen.event.contains("metadata lock") && is_counted(METADATA_LOCK)),
        _ => true,
    }
}
