//! Where the time of a step's sessions went, from one place: the server's profile where there is
//! one, else the counters of the ladder. No part holds time of another, and what no part explains
//! is shown.

use assay_live::classes::{
    APPLICATION, COMMIT, CONCURRENCY, CONFIGURATION, CPU, IDLE, SCHEDULER, USER_IO,
};
use assay_model::load::{DatabaseRung, Rung, TimeSplit};
use assay_model::number::{real, seconds};
use assay_model::profile::{Profile, TimedEvent};

/// Sessions that were on average in each state: time by the length of the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionSplit {
    /// Working on statements.
    pub(crate) database: f64,
    /// On a processor, outside of waits.
    pub(crate) cpu: Option<f64>,
    /// Reading and writing data files; none where the server does not time it.
    pub(crate) data_io: Option<f64>,
    /// Waiting for the log.
    pub(crate) commit: Option<f64>,
    /// Waiting for locks and latches of other sessions.
    pub(crate) locks: Option<f64>,
    /// In any other wait.
    pub(crate) other: Option<f64>,
    /// What no part explains.
    pub(crate) rest: Option<f64>,
    /// The wait that took most time.
    pub(crate) top_wait: Option<String>,
}

impl SessionSplit {
    /// The split of a step.
    pub(crate) fn of(rung: &Rung) -> Self {
        let of_profile = rung.profile.as_ref().and_then(|profile| Self::of_profile(profile));
        of_profile.unwrap_or_else(|| Self::of_counters(&rung.time, rung.elapsed_s().max(1e-9)))
    }

    /// The split of one of several databases in a step of this length.
    pub(crate) fn of_database(one: &DatabaseRung, elapsed_s: f64) -> Self {
        let of_profile = one.profile.as_ref().and_then(|profile| Self::of_profile(profile));
        of_profile.unwrap_or_else(|| Self::of_counters(&one.time, elapsed_s.max(1e-9)))
    }

    fn of_profile(profile: &Profile) -> Option<Self> {
        let time = &profile.time;
        let elapsed_s = profile.elapsed_s.as_ref()?.value.max(1e-9);
        let class = |classes: &[&str]| {
            let meant = time.waits.iter().filter(|wait| classes.contains(&wait.class.as_str()));
            meant.map(|wait| wait.time_s.value).sum::<f64>() / elapsed_s
        };
        let named = [USER_IO, COMMIT, APPLICATION, CONCURRENCY, CONFIGURATION];
        let all: f64 = time.waits.iter().map(|wait| wait.time_s.value).sum();
        Some(Self {
            database: time.db_time_s.as_ref()?.value / elapsed_s,
            cpu: time.db_cpu_s.as_ref().map(|cpu| cpu.value / elapsed_s),
            data_io: profile.verdict.user_io_share.map(|_| class(&[USER_IO])),
            commit: Some(class(&[COMMIT])),
            locks: Some(class(&[APPLICATION, CONCURRENCY, CONFIGURATION])),
            other: Some((all / elapsed_s - class(&named)).max(0.0)),
            rest: time.unaccounted_s.as_ref().map(|rest| rest.value / elapsed_s),
            top_wait: profile.server.as_ref().and_then(|server| top_wait(&server.events)),
        })
    }

    /// The kernel's work for a read is in the time of the read and in the CPU time: it is taken
    /// from the CPU time as far as both exceed the whole.
    fn of_counters(time: &TimeSplit, elapsed_s: f64) -> Self {
        let each = |time_ns: Option<u64>| time_ns.map(|time_ns| seconds(time_ns) / elapsed_s);
        let database = real(time.database_ns) / 1e9 / elapsed_s;
        let data_io = each(time.read_ns).map(|read| read + each(time.write_ns).unwrap_or(0.0));
        let commit = each(time.commit_ns);
        let waits = data_io.unwrap_or(0.0) + commit.unwrap_or(0.0);
        let twice = |cpu: f64| (cpu + waits - database).clamp(0.0, data_io.unwrap_or(0.0));
        let cpu = each(time.cpu_ns).map(|cpu| (cpu - twice(cpu)).clamp(0.0, database));
        Self {
            database,
            cpu,
            data_io,
            commit,
            locks: None,
            other: None,
            rest: cpu.zip(data_io).map(|(cpu, _)| database - cpu - waits),
            top_wait: time.top_wait().map(|(name, _)| name.to_owned()),
        }
    }
}

/// The event that took most time and is a wait; the queue for a processor is none.
fn top_wait(events: &[TimedEvent]) -> Option<String> {
    let is_wait = |event: &&TimedEvent| ![CPU, SCHEDULER, IDLE].contains(&event.class.as_str());
    let longest = events
        .iter()
        .filter(is_wait)
        .max_by(|one, other| one.time_s.value.total_cmp(&other.time_s.value))?;
    // Where it was counted stands in the table of events.
    longest.event.split(" (").next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;
    use assay_model::profile::TimeSource;

    #[test]
    fn the_parts_are_the_whole_and_the_kernels_work_is_counted_once() {
        let time = TimeSplit {
            database_ns: 2_000_000_000,
            cpu_ns: Some(500_000_000),
            cpu_queue_ns: Some(9_000_000_000),
            read_ns: Some(1_800_000_000),
            write_ns: Some(0),
            commit_ns: None,
        };
        let split = SessionSplit::of_counters(&time, 1.0);
        let sum = split.cpu.unwrap() + split.data_io.unwrap() + split.rest.unwrap();
        assert!((sum - split.database).abs() < 1e-9 && split.rest.unwrap().abs() < 1e-9);
        assert!((split.cpu.unwrap() - 0.2).abs() < 1e-9, "{split:?}");
        assert_eq!(split.top_wait.as_deref(), Some("read"));
        let untimed = SessionSplit::of_counters(&TimeSplit { read_ns: None, ..time }, 1.0);
        assert_eq!((untimed.data_io, untimed.rest), (None, None));
    }

    #[test]
    fn a_queue_for_the_processor_leads_nothing() {
        let event = |class: &str, name: &str, time_s| TimedEvent {
            event: name.to_owned(),
            class: class.to_owned(),
            known: TimeSource::Sampled,
            time_s: Estimate::exact(time_s, 1),
            db_time_share: None,
            waits: None,
            seen: None,
        };
        let events = [
            event(SCHEDULER, "ready, waiting for a CPU", 5.0),
            event(CPU, "CPU", 4.0),
            event(APPLICATION, "Lock:transactionid", 3.0),
        ];
        assert_eq!(top_wait(&events).as_deref(), Some("Lock:transactionid"));
    }
}
