//! A rung whose sessions other programs have: what they measured, and what the server counted meanwhile, seen from here alone.

use super::counters::{CounterDelta, CounterSnapshot};
use super::database::Database;
use super::method::Method;
use super::observer::ServerObserver;
use super::plan::RungPlan;
use super::rung::{RungResult, add_statements};
use super::served::ServedSessions;
use super::slot::Tally;
use super::watch::statements;
use assay_model::Result;
use assay_model::counters::CpuCounters;
use assay_model::load::{CommitParity, Retries, Rung};
use assay_model::measurement::{Finish, Measurement};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// What sessions of other programs came to.
pub struct Elsewhere {
    /// What all of them measured together.
    pub measurement: Measurement,
    /// Steps a second of every interval.
    pub rates_per_s: Vec<f64>,
    /// What was refused and tried again.
    pub retries: Vec<Retries>,
    /// What was due at the end and had not begun.
    pub backlog: Option<u64>,
    /// All steps from the first of the warm-up on.
    pub tally: Tally,
    /// Processor time of their programs, s.
    pub client_cpu_s: f64,
    /// What the server's processes used for them.
    pub served: ServedSessions,
}

/// Called right before sessions begin, and right before the measured time does; says which it is.
pub type StartHook<'a> = &'a mut dyn FnMut(bool);

/// Measures one rung whose sessions others have; `run` lets them begin, and says so right before
/// sessions do and right before the measured time does.
///
/// # Errors
/// What the server says before the first statement, and what `run` says.
pub fn measure_elsewhere<M: Method>(
    database: &mut Database<M::Link>,
    method: &M,
    plan: &RungPlan,
    run: &mut dyn FnMut(StartHook<'_>) -> Result<Elsewhere>,
) -> Result<RungResult> {
    method.check(database)?;
    let mut before = CounterSnapshot::take(database, &[])?;
    // When the sessions are open and have done nothing: opening them commits, too.
    let mut opened = None;
    let mut observer = ServerObserver::ready(database);
    let unwatched = AtomicBool::new(false);
    let (ran, observed) = thread::scope(|scope| {
        let mut looking = None;
        // Who looks begins with the measured time: what he asks himself is taken out of what is counted in it.
        let mut begins = |is_measured: bool| {
            if let Ok(snapshot) = CounterSnapshot::take(database, &[]) {
                opened.get_or_insert_with(|| snapshot.clone());
                before = snapshot;
            }
            if !is_measured {
                return;
            }
            if let Some(observer) = observer.take() {
                looking = Some(scope.spawn(|| observer.watch(&unwatched)));
            }
        };
        let ran = run(&mut begins);
        unwatched.store(true, Ordering::Relaxed);
        (ran, looking.and_then(|looking| looking.join().ok()).flatten())
    });
    let elsewhere = ran?;
    let after = CounterSnapshot::take(database, &elsewhere.served.processes);
    let mut delta = match &after {
        Ok(after) => after.since(&before, &elsewhere.served),
        // A server that is gone reports nothing more; what the sessions measured stands.
        Err(_) => before.since(&before, &elsewhere.served),
    };
    if let Some(observed) = &observed {
        observed.take_out(&mut delta);
    }
    let counted = after.as_ref().ok().zip(opened.as_ref()).map(|(after, opened)| {
        let mut all = after.since(opened, &elsewhere.served);
        if let Some(observed) = &observed {
            observed.take_out(&mut all);
        }
        all.database.commits
    });
    let parity = counted.and_then(|server| {
        Some(CommitParity { clients: committed(method, &elsewhere.tally)?, server })
    });
    let is_complete = elsewhere.measurement.finish == Finish::Complete;
    let profile =
        observed.as_ref().and_then(|observed| observed.profile(&delta, plan.sessions, is_complete));
    let (tally, served) = (elsewhere.tally.clone(), elsewhere.served.clone());
    let mut rung = rung(elsewhere, plan, delta);
    rung.profile = profile.map(Box::new);
    rung.commit_parity = parity;
    if let Some(stream) = method.single_block_stream() {
        add_statements(&mut rung, stream);
    }
    Ok(RungResult { rung, tally, served, began: None })
}

/// Commits that were acknowledged; nothing where steps are not transactions.
fn committed<M: Method>(method: &M, tally: &Tally) -> Option<u64> {
    let each = tally.acknowledged.iter().enumerate();
    each.map(|(kind, steps)| Some(if method.commits(kind)? { *steps } else { 0 })).sum()
}

fn rung(elsewhere: Elsewhere, plan: &RungPlan, delta: CounterDelta) -> Rung {
    let mut measurement = elsewhere.measurement;
    let host_busy_share = delta.host.cpu.as_ref().map(CpuCounters::busy_share);
    measurement.conduct.host_busy_share = host_busy_share;
    measurement.conduct.kernel = Some(delta.host);
    let all = measurement.operations().ios();
    Rung {
        sessions: plan.sessions,
        repeat: plan.repeat,
        statements: statements(all, measurement.elapsed_ns, &elsewhere.rates_per_s),
        measurement,
        interval_rates_per_s: elsewhere.rates_per_s,
        retries: elsewhere.retries,
        backlog: elsewhere.backlog,
        database: delta.database,
        time: delta.time,
        device: delta.device,
        client_cpu_s: elsewhere.client_cpu_s,
        server_cpu_s: delta.server_cpu_s,
        host_busy_share,
        commit_parity: None,
        physical: delta.physical,
        profile: None,
    }
}
