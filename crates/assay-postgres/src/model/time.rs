//! DB time, CPU and waits by class; what is left is shown, never hidden.

use super::classes::IDLE;
use super::delta::Delta;
use super::looks::Looks;
use super::profile::Outside;
use assay_model::number::{real, real_len, seconds};
use assay_model::profile::{Figure, TimeModel, TimeSource, TimedEvent, WaitClassTime};

const DB_TIME: &str = "pg_stat_database.active_time of all databases, statements that ran at both ends added, own sessions left out";
const DB_TIME_OF_LOOKS: &str =
    "estimated: active sessions by looks x elapsed, because the server's clock was set meanwhile";

/// DB time. The server takes times of statements by its clock, so where that was set they say nothing; looks do not
/// need it.
pub(super) fn db_time(delta: &Delta<'_>, looks: &Looks) -> Figure {
    if delta.clock_step_s().is_none() {
        return Figure::new(delta.db_time_s(), DB_TIME);
    }
    let active = looks.active();
    let mean = active.iter().sum::<f64>() / real_len(active.len()).max(1.0);
    Figure::new(mean * delta.elapsed_s, DB_TIME_OF_LOOKS)
}

/// The time model of the events.
pub(super) fn model(
    delta: &Delta<'_>,
    looks: &Looks,
    outside: &Outside,
    events: &[TimedEvent],
    db_time: Figure,
) -> TimeModel {
    let db_time_s = db_time.value;
    let tasks = looks.tasks;
    let cpus = outside.processors.map(|cpus| Figure::new(real(cpus), "/proc/stat of this host"));
    let idle = tasks.map(|_| Figure::new(0.0, "schedstat of client sessions"));
    let db_cpu = db_cpu(events).or(idle);
    let utilization = db_cpu.as_ref().zip(cpus.as_ref()).map(|(cpu, cpus)| {
        let share = cpu.value / delta.elapsed_s / cpus.value.max(1.0);
        Figure::new(share, "DB CPU / elapsed / CPUs")
    });
    TimeModel {
        average_active_sessions: Some(Figure::new(db_time_s / delta.elapsed_s, "DB time / elapsed")),
        background_cpu_s: tasks.map(|tasks| {
            let on_cpu_ns = tasks.background.on_cpu_ns + tasks.parallel.on_cpu_ns;
            Figure::new(seconds(on_cpu_ns), "schedstat of background processes and parallel workers")
        }),
        cpu_queue_s: tasks.map(|tasks| {
            let source = "schedstat of client sessions; most of it is the end of a wait or comes before a statement, so it is no part of the sum";
            Figure::new(seconds(tasks.clients.queued_ns), source)
        }),
        unaccounted_s: Some(unaccounted(db_time_s, events)),
        db_time_s: Some(db_time),
        cpu_utilization: utilization,
        waits: waits(events),
        db_cpu_s: db_cpu,
        cpus,
    }
}

/// CPU time: counted by the scheduler, or estimated from sessions without a wait, which is said.
fn db_cpu(events: &[TimedEvent]) -> Option<Figure> {
    let event = events.iter().find(|event| event.class == "CPU")?;
    let source = match event.known {
        TimeSource::Counted => "schedstat of client sessions".to_owned(),
        TimeSource::Sampled => format!(
            "estimated from sessions seen without a wait, {:.1} to {:.1} s; time ready for a CPU is in it",
            event.time_s.low, event.time_s.high
        ),
    };
    Some(Figure::new(event.time_s.value, source))
}

/// Waits by class, without CPU, most first.
fn waits(events: &[TimedEvent]) -> Vec<WaitClassTime> {
    let mut waits: Vec<WaitClassTime> = Vec::new();
    for event in events.iter().filter(|event| event.class != "CPU") {
        let word = match event.known {
            TimeSource::Counted => "counted",
            TimeSource::Sampled => "sampled",
        };
        match waits.iter_mut().find(|wait| wait.class == event.class) {
            Some(wait) => {
                wait.time_s.value += event.time_s.value;
                if !wait.time_s.source.contains(word) {
                    wait.time_s.source.replace_range(.., "counted and sampled events");
                }
            }
            None => waits.push(WaitClassTime {
                class: event.class.clone(),
                time_s: Figure::new(event.time_s.value, format!("{word} events")),
            }),
        }
    }
    waits.sort_by(|left, right| right.time_s.value.total_cmp(&left.time_s.value));
    waits
}

fn unaccounted(db_time_s: f64, events: &[TimedEvent]) -> Figure {
    let known_s: f64 = events.iter().map(|event| event.time_s.value).sum();
    Figure::new(db_time_s - known_s, "DB time - CPU - waits of sessions")
}

/// A busy session tells its counters once a second at most (`PGSTAT_MIN_INTERVAL` of the server's source).
const LAG_S: f64 = 1.0;

/// What busy sessions had not told at both ends matters where the interval is short.
fn lag(delta: &Delta<'_>, db_time_s: f64) -> Option<String> {
    let busy = |snapshot: &super::Snapshot| {
        real_len(snapshot.sessions.iter().filter(|session| session.is_active).count())
    };
    let lag_s = LAG_S * busy(delta.before).max(busy(delta.after));
    (lag_s > 0.1 * db_time_s).then(|| {
        format!(
            "busy sessions tell their counters up to a second late: DB time and times of I/O are certain to {lag_s:.0} s only (a longer interval is better)"
        )
    })
}

/// What of the split a reader has to know.
pub(super) fn doubts(delta: &Delta<'_>, model: &TimeModel) -> Vec<String> {
    let db_time_s = model.db_time_s.as_ref().map_or(0.0, |time| time.value);
    let left_s = model.unaccounted_s.as_ref().map_or(0.0, |left| left.value);
    let mut doubts: Vec<String> = lag(delta, db_time_s).into_iter().collect();
    if db_time_s > 0.0 && left_s.abs() > 0.1 * db_time_s {
        doubts.push(format!(
            "{:.1} % of DB time is unaccounted: {}",
            100.0 * left_s / db_time_s,
            if left_s > 0.0 {
                "sessions were active and neither seen waiting nor on a CPU"
            } else {
                "some of it was counted twice, or counters of statements before the interval came late"
            }
        ));
    }
    let slept = model.waits.iter().find(|wait| wait.class == IDLE);
    if let Some(slept) = slept.filter(|slept| slept.time_s.value > 0.05 * db_time_s) {
        doubts.push(format!(
            "{:.1} % of DB time is statements that sleep: class {IDLE}, which Oracle leaves out of DB time",
            100.0 * slept.time_s.value / db_time_s
        ));
    }
    doubts
}
