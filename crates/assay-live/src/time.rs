//! DB time, CPU and waits by class; what is left is shown, never hidden. And whether faster storage
//! would help.

use crate::classes::{COMMIT, CONTENTION, CPU, IDLE, USER_IO};
use crate::host_context::HostContext;
use crate::samples::SessionSamples;
use assay_model::number::{real, real_len, seconds};
use assay_model::profile::{
    Bottleneck, Figure, TimeModel, TimeSource, TimeVerdict, TimedEvent, WaitClassTime,
};

/// Fewer sessions active on average say nothing: a hundredth is half a second in a minute.
const IDLE_SESSIONS: f64 = 0.01;

/// Words of a product for what the scheduler counts.
#[derive(Clone, Copy, Debug)]
pub struct ProcessTerms {
    /// What its sessions are to the scheduler, for example `client sessions`.
    pub clients: &'static str,
    /// What else of it runs, for example `background processes and parallel workers`.
    pub background: &'static str,
}

/// The time model of the events. Without a DB time nothing follows from it.
pub fn model(
    samples: &SessionSamples,
    host: &HostContext,
    events: &[TimedEvent],
    db_time: Option<Figure>,
    server: ProcessTerms,
) -> TimeModel {
    let (tasks, clients) = (samples.tasks, server.clients);
    let cpus = host.processors.map(|cpus| Figure::new(real(cpus), "/proc/stat of this host"));
    let idle = tasks.map(|_| Figure::new(0.0, format!("schedstat of {clients}")));
    let db_cpu = db_cpu(events, clients).or(idle);
    let utilization = db_cpu.as_ref().zip(cpus.as_ref()).map(|(cpu, cpus)| {
        let whole_s = tasks.map_or(cpu.value, |tasks| seconds(tasks.clients.on_cpu_ns));
        let share = whole_s / samples.elapsed_s / cpus.value.max(1.0);
        Figure::new(share, "DB CPU / elapsed / CPUs")
    });
    let of_db_time = |of: &dyn Fn(f64) -> Figure| db_time.as_ref().map(|time| of(time.value));
    TimeModel {
        average_active_sessions: of_db_time(&|time_s| {
            Figure::new(time_s / samples.elapsed_s, "DB time / elapsed")
        }),
        background_cpu_s: tasks.map(|tasks| {
            let on_cpu_ns = tasks.background.on_cpu_ns + tasks.parallel.on_cpu_ns;
            Figure::new(seconds(on_cpu_ns), format!("schedstat of {}", server.background))
        }),
        cpu_queue_s: tasks.map(|tasks| {
            let source = format!(
                "schedstat of {clients}; most of it is the end of a wait or precedes a statement, \
                 so it is not part of the sum"
            );
            Figure::new(seconds(tasks.clients.queued_ns), source)
        }),
        unaccounted_s: of_db_time(&|time_s| unaccounted(time_s, events)),
        cpu_utilization: utilization,
        host_busy_share: host.busy_share.map(|share| Figure::new(share, "/proc/stat of this host")),
        waits: waits(events),
        db_cpu_s: db_cpu,
        cpus,
        db_time_s: db_time,
    }
}

/// CPU time: counted by the scheduler, or estimated from sessions without a wait, which is said.
fn db_cpu(events: &[TimedEvent], clients: &str) -> Option<Figure> {
    let event = events.iter().find(|event| event.class == CPU)?;
    let source = match event.known {
        TimeSource::Counted => format!("schedstat of {clients}"),
        TimeSource::Sampled => format!(
            "estimated from session samples without a wait, {:.1} to {:.1} s; includes waiting for \
             a CPU",
            event.time_s.low, event.time_s.high
        ),
    };
    Some(Figure::new(event.time_s.value, source))
}

/// Waits by class, without CPU, most first.
fn waits(events: &[TimedEvent]) -> Vec<WaitClassTime> {
    let mut waits: Vec<WaitClassTime> = Vec::new();
    for event in events.iter().filter(|event| event.class != CPU) {
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

/// What of the split a reader has to know.
pub fn doubts(model: &TimeModel) -> Vec<String> {
    let db_time_s = model.db_time_s.as_ref().map_or(0.0, |time| time.value);
    let left_s = model.unaccounted_s.as_ref().map_or(0.0, |left| left.value);
    let mut doubts = Vec::new();
    if db_time_s > 0.0 && left_s.abs() > 0.1 * db_time_s {
        doubts.push(format!(
            "{:.1}% of DB time is unaccounted: {}",
            100.0 * left_s / db_time_s,
            if left_s > 0.0 {
                "sessions were active, but samples show neither a wait nor a CPU"
            } else {
                "some of it was counted twice, or counters of statements before the interval were \
                 late"
            }
        ));
    }
    let slept = model.waits.iter().find(|wait| wait.class == IDLE);
    if let Some(slept) = slept.filter(|slept| slept.time_s.value > 0.05 * db_time_s) {
        doubts.push(format!(
            "{:.1}% of DB time is sleeping statements: class {IDLE}, which Oracle excludes from DB \
             time",
            100.0 * slept.time_s.value / db_time_s
        ));
    }
    doubts
}

/// CPU time that the scheduler counted besides what the model shows as CPU; a sentence for the
/// reader, where there is any.
pub fn cpu_in_waits(model: &TimeModel, samples: &SessionSamples) -> Option<String> {
    const SOME: f64 = 0.01;
    let counted_s = seconds(samples.tasks?.clients.on_cpu_ns);
    let (shown_s, db_time_s) = (model.db_cpu_s.as_ref()?.value, model.db_time_s.as_ref()?.value);
    let inside_s = counted_s - shown_s;
    (inside_s > SOME * db_time_s).then(|| {
        format!(
            "sessions used {counted_s:.1} s of CPU time, of which {inside_s:.1} s were kernel work \
             during I/O waits, or between statements: only the other {shown_s:.1} s are shown as \
             CPU, to avoid counting time twice"
        )
    })
}

/// The same verdict where reads are not timed and almost no sample saw one: user I/O is then not
/// known, which is not 0.
pub fn without_user_io(verdict: TimeVerdict, why: &str) -> TimeVerdict {
    if verdict.bottleneck == Bottleneck::Idle {
        return verdict;
    }
    let mut verdict = TimeVerdict { user_io_share: None, ..verdict }.concluded();
    verdict.reason = format!("{why}, so user I/O was not measured; {}", verdict.reason);
    verdict
}

/// The same verdict where the account does not see what sessions wait for: their shares are then
/// not known, which is not 0.
pub fn without_waits(verdict: TimeVerdict, why: &str) -> TimeVerdict {
    if verdict.bottleneck == Bottleneck::Idle {
        return verdict;
    }
    let unknown =
        TimeVerdict { commit_share: None, cpu_share: None, contention_share: None, ..verdict };
    let mut verdict = unknown.concluded();
    verdict.reason = format!("{why}, so their waits are unknown; {}", verdict.reason);
    verdict
}

/// Share of DB time in some classes; `None` without any DB time.
pub fn share_of_classes(time: &TimeModel, classes: &[&str]) -> Option<f64> {
    let db_time_s =
        time.db_time_s.as_ref().map(|time| time.value).filter(|time_s| *time_s > 0.0)?;
    let waits = time.waits.iter().filter(|wait| classes.contains(&wait.class.as_str()));
    // Of nothing this is 0, where a sum would be -0.
    Some(waits.map(|wait| wait.time_s.value).fold(0.0, |sum, time_s| sum + time_s) / db_time_s)
}

/// Whether faster storage would help. Sessions that write dirty blocks themselves are in User I/O:
/// servers do not tell why they had to.
pub fn verdict(time: &TimeModel, samples: &SessionSamples) -> TimeVerdict {
    let db_time_s = time.db_time_s.as_ref().map(|time| time.value);
    let Some(db_time_s) = db_time_s else {
        return TimeVerdict { reason: "DB time is unknown".to_owned(), ..TimeVerdict::default() };
    };
    let active = time.average_active_sessions.as_ref().map_or(db_time_s, |active| active.value);
    let seen = real(samples.seen()) / real_len(samples.taken.len()).max(1.0);
    // Counters that were reset do not mean an idle server.
    if active < IDLE_SESSIONS && seen < IDLE_SESSIONS {
        return TimeVerdict {
            bottleneck: Bottleneck::Idle,
            reason: format!("{active:.3} sessions were active on average"),
            ..TimeVerdict::default()
        };
    }
    if db_time_s <= 0.0 {
        let reason = "samples show active sessions, but no DB time was counted".to_owned();
        return TimeVerdict { reason, ..TimeVerdict::default() };
    }
    TimeVerdict {
        user_io_share: share_of_classes(time, &[USER_IO]),
        commit_share: share_of_classes(time, &[COMMIT]),
        cpu_share: time.db_cpu_s.as_ref().map(|cpu| cpu.value / db_time_s),
        contention_share: share_of_classes(time, CONTENTION),
        ..TimeVerdict::default()
    }
    .concluded()
}
