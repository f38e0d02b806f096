//! A power or a throughput run: streams that begin together, reported query by query, and
//! everybody's counters around them.

use super::query_settings::QuerySettings;
use super::stream::{EndedQuery, QueryRecord, QueryStream, StreamCommon, StreamWork};
use crate::load::{CounterSnapshot, LoadSchema, ProcessUsage, Product};
use assay_dbserver::{CpuUsage, Interrupter};
use assay_host::clock::unix_ns;
use assay_model::Result;
use assay_model::counters::CpuCounters;
use assay_model::dss::{DssKind, DssQuery, DssRun};
use assay_model::measurement::Finish;
use assay_model::number::{narrow, seconds};
use assay_model::row::Row;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DssRunPlan {
    /// Which of the two.
    pub kind: DssKind,
    /// Streams of queries at once; 1 in a power run.
    pub streams: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// The first refresh set; none to go without refresh functions.
    pub first_set: Option<u32>,
    /// What every stream is asked.
    pub asked: QuerySettings,
}

/// The hands of the caller on a run.
pub struct QueryHooks<'a> {
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
    /// Called with every query or refresh that has ended, and its answer.
    pub ended: &'a mut dyn FnMut(&DssQuery, &[Row]),
    /// Called now and then with the time that has passed.
    pub waiting: &'a mut dyn FnMut(Duration),
}

impl DssRunPlan {
    /// Refresh sets that it uses.
    pub const fn sets(&self) -> u32 {
        match (self.first_set, self.kind) {
            (None, _) => 0,
            (Some(_), DssKind::Power) => 1,
            (Some(_), DssKind::Throughput) => self.streams,
        }
    }

    fn work(&self) -> Vec<StreamWork> {
        match self.kind {
            DssKind::Power => vec![StreamWork::Power(self.first_set)],
            DssKind::Throughput => {
                let refreshes =
                    self.first_set.map(|first| StreamWork::Refresh(first, self.streams));
                (1..=self.streams).map(StreamWork::Queries).chain(refreshes).collect()
            }
        }
    }
}

/// Measures one run; `stop` ends it early and keeps what was measured.
///
/// # Errors
/// What the server says before the first query; later failures are in the result.
pub fn measure<L: Product>(
    database: &mut LoadSchema<L>,
    plan: &DssRunPlan,
    hooks: &mut QueryHooks<'_>,
) -> Result<DssRun> {
    let whole = |database: &LoadSchema<L>| database.first_process.and_then(L::whole_usage);
    let (before, used_before) = (CounterSnapshot::take(database, &[])?, whole(database));
    let streams: Result<Vec<QueryStream<L>>> =
        plan.work().into_iter().map(|work| QueryStream::open(database, work, plan.asked)).collect();
    let streams = streams?;
    let started_unix_ns = unix_ns();
    let (queries, elapsed, ended, is_stopped) = carry_out(streams, &mut database.admin, hooks);
    // A server that is gone reports nothing more; what the streams measured stands.
    let after = CounterSnapshot::take(database, &[]).unwrap_or_else(|_| before.clone());
    let used = used(&before, &after, used_before.zip(whole(database)), &ended);
    let delta = after.delta(&before, &used);
    Ok(DssRun {
        kind: plan.kind,
        streams: plan.streams,
        parallel: plan.asked.parallel,
        repeat: plan.repeat,
        started_unix_ns,
        elapsed_ns: narrow(elapsed.as_nanos()),
        finish: finish(&ended, is_stopped),
        queries,
        database: delta.database,
        time: delta.time,
        device: delta.device,
        client_cpu_s: delta.client_cpu_s,
        server_cpu_s: delta.server_cpu_s,
        host_busy_share: delta.host.cpu.as_ref().map(CpuCounters::busy_share),
        physical: delta.physical,
    })
}

/// What the processes used. Where each session has its own, theirs and those that worked for them
/// are all but those in the background; where all is one process, sessions report their threads.
fn used(
    before: &CounterSnapshot,
    after: &CounterSnapshot,
    whole: Option<(CpuUsage, CpuUsage)>,
    ended: &[EndedQuery],
) -> ProcessUsage {
    let whole = whole.map(|(then, now)| now.since(&then));
    let usage = ended.iter().map(|one| one.usage).reduce(|sum, one| Some(sum?.plus(&one?)));
    let usage = usage.flatten();
    let sessions = match after.background_since(before) {
        Some(background) => whole.map(|whole| CpuUsage {
            cpu_ns: whole.cpu_ns.saturating_sub(background.cpu_ns),
            queue_ns: usage.map_or(0, |usage| usage.queue_ns),
            ..whole
        }),
        None => usage,
    };
    ProcessUsage {
        sessions,
        server_cpu_s: whole.map(|whole| seconds(whole.cpu_ns)),
        storage_read_bytes: whole.and_then(|whole| whole.storage_read_bytes),
    }
}

fn finish(ended: &[EndedQuery], is_stopped: bool) -> Finish {
    let lost = ended.iter().find_map(|one| one.lost.as_ref().filter(|words| !words.is_empty()));
    match lost {
        _ if is_stopped => Finish::Interrupted,
        Some(reason) => Finish::Failed { reason: format!("a stream was lost: {reason}") },
        None => Finish::Complete,
    }
}

/// How streams are ended in the middle of a query.
struct Ends {
    interrupters: Vec<Interrupter>,
    /// Where a server does not see by itself that nobody waits for an answer any more.
    statements: Vec<String>,
}

impl Ends {
    fn of<L: Product>(streams: &[QueryStream<L>]) -> Self {
        Self {
            interrupters: streams.iter().filter_map(QueryStream::interrupter).collect(),
            statements: streams.iter().filter_map(QueryStream::ending).collect(),
        }
    }

    fn end<L: Product>(&self, admin: &mut L) {
        self.interrupters.iter().for_each(Interrupter::interrupt);
        for statement in &self.statements {
            // A session that has ended by itself needs no end.
            let _ = admin.run(statement);
        }
    }
}

/// Lets the streams begin and listens until all have ended; says whether somebody stopped them.
fn carry_out<L: Product>(
    streams: Vec<QueryStream<L>>,
    admin: &mut L,
    hooks: &mut QueryHooks<'_>,
) -> (Vec<DssQuery>, Duration, Vec<EndedQuery>, bool) {
    let ends = Ends::of(&streams);
    let (sender, receiver) = channel();
    let done = AtomicBool::new(false);
    let started = Instant::now();
    thread::scope(|scope| {
        let threads: Vec<ScopedJoinHandle<'_, (EndedQuery, Duration)>> = streams
            .into_iter()
            .map(|stream| {
                let common = StreamCommon { started, done: &done, sender: sender.clone() };
                scope.spawn(move || {
                    let ended = stream.work(&common);
                    (ended, common.started.elapsed())
                })
            })
            .collect();
        drop(sender);
        let (queries, is_stopped) = listen(&receiver, started, &done, || ends.end(admin), hooks);
        let ended = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let (ended, times): (Vec<EndedQuery>, Vec<Duration>) = ended.unzip();
        (queries, times.into_iter().max().unwrap_or_default(), ended, is_stopped)
    })
}

/// Gathers what the streams report until none is left; a stream that is lost ends the others, too.
fn listen(
    receiver: &Receiver<QueryRecord>,
    started: Instant,
    done: &AtomicBool,
    end: impl FnOnce(),
    hooks: &mut QueryHooks<'_>,
) -> (Vec<DssQuery>, bool) {
    let (mut queries, mut end) = (Vec::new(), Some(end));
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok((query, rows)) => {
                (hooks.ended)(&query, &rows);
                queries.push(query);
            }
            Err(RecvTimeoutError::Timeout) => (hooks.waiting)(started.elapsed()),
            Err(RecvTimeoutError::Disconnected) => return (queries, end.is_none()),
        }
        if hooks.stop.load(Ordering::Relaxed)
            && let Some(end) = end.take()
        {
            done.store(true, Ordering::Relaxed);
            end();
        }
    }
}
