//! A step whose sessions other programs have: what they measured, and what the server counted
//! meanwhile, seen from here alone.

use super::counters::{CounterDelta, CounterSnapshot};
use super::database::LoadSchema;
use super::method::Method;
use super::observer::{ObservedRung, ServerObserver};
use super::plan::RungPlan;
use super::product::Product;
use super::rung::{RungResult, add_statements};
use super::served::ServedSessions;
use super::slot::SlotTally;
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
    pub tally: SlotTally,
    /// Processor time of their programs, s.
    pub client_cpu_s: f64,
    /// What the server's processes used for them.
    pub served: ServedSessions,
}

/// Called right before sessions begin, and right before the measured time does; says which it is.
pub type StartHook<'a> = &'a mut dyn FnMut(bool);

/// A database whose sessions others have.
pub struct ObservedDatabase<'a, M: Method> {
    /// The way to it.
    pub database: &'a mut LoadSchema<M::Link>,
    /// What its sessions do.
    pub method: &'a M,
}

/// The server of such a database, looked at from here alone.
struct ElsewhereObservation<'a, M: Method> {
    subject: ObservedDatabase<'a, M>,
    before: CounterSnapshot,
    /// When the sessions are open and have done nothing: opening them commits, too.
    opened: Option<CounterSnapshot>,
    observer: Option<ObserverOf<M>>,
}

type WatcherOf<M> = <<M as Method>::Link as Product>::Watcher;
type ObserverOf<M> = ServerObserver<WatcherOf<M>>;
type ObservedOf<M> = ObservedRung<WatcherOf<M>>;

/// Measures one step whose sessions, on any number of databases, others have; `run` lets them
/// begin, says so right before sessions do and right before the measured time does, and gives what
/// those of each database came to.
///
/// # Errors
/// What a server says before the first statement, and what `run` says.
pub fn measure_elsewhere<'a, M: Method + 'a>(
    subjects: impl Iterator<Item = ObservedDatabase<'a, M>>,
    plan: &RungPlan,
    run: &mut dyn FnMut(StartHook<'_>) -> Result<Vec<Elsewhere>>,
) -> Result<Vec<RungResult>> {
    let mut observations: Vec<ElsewhereObservation<'_, M>> =
        subjects.map(ElsewhereObservation::ready).collect::<Result<_>>()?;
    let unwatched = AtomicBool::new(false);
    let (ran, observed) = thread::scope(|scope| {
        let mut looking = Vec::new();
        // Who looks begins with the measured time: what he asks himself is taken out of what is
        // counted in it.
        let mut begins = |is_measured: bool| {
            observations.iter_mut().for_each(ElsewhereObservation::begin);
            if is_measured && looking.is_empty() {
                let observers = observations.iter_mut().map(|one| one.observer.take());
                looking = observers
                    .map(|observer| Some(scope.spawn(|| observer?.watch(&unwatched))))
                    .collect();
            }
        };
        let ran = run(&mut begins);
        unwatched.store(true, Ordering::Relaxed);
        let observed: Vec<Option<ObservedOf<M>>> =
            looking.into_iter().map(|looking| looking?.join().ok().flatten()).collect();
        (ran, observed)
    });
    let observed = observed.into_iter().chain(std::iter::repeat_with(|| None));
    let each = observations.into_iter().zip(ran?).zip(observed);
    Ok(each
        .map(|((one, elsewhere), observed)| one.conclude(plan, elsewhere, observed.as_ref()))
        .collect())
}

impl<'a, M: Method> ElsewhereObservation<'a, M> {
    fn ready(subject: ObservedDatabase<'a, M>) -> Result<Self> {
        let ObservedDatabase { database, method } = subject;
        method.check(database)?;
        let before = CounterSnapshot::take(database, &[])?;
        let observer = ServerObserver::ready(database);
        let subject = ObservedDatabase { database, method };
        Ok(Self { subject, before, opened: None, observer })
    }

    /// Sessions, or their measured time, are about to begin.
    fn begin(&mut self) {
        if let Ok(snapshot) = CounterSnapshot::take(self.subject.database, &[]) {
            self.opened.get_or_insert_with(|| snapshot.clone());
            self.before = snapshot;
        }
    }

    fn conclude(
        self,
        plan: &RungPlan,
        elsewhere: Elsewhere,
        observed: Option<&ObservedOf<M>>,
    ) -> RungResult {
        let ObservedDatabase { database, method } = self.subject;
        let after = CounterSnapshot::take(database, &elsewhere.served.processes).ok();
        let since = |earlier: &CounterSnapshot| {
            // A server that is gone reports nothing more; what the sessions measured stands.
            let after = after.as_ref().unwrap_or(earlier);
            let mut delta = after.since(earlier, &elsewhere.served);
            if let Some(observed) = observed {
                observed.take_out(&mut delta);
            }
            delta
        };
        let delta = since(&self.before);
        let counted = after.as_ref().and(self.opened.as_ref()).map(since);
        let parity = counted.and_then(|counted| {
            let clients = committed(method, &elsewhere.tally)?;
            Some(CommitParity { clients, server: counted.database.commits })
        });
        let is_complete = elsewhere.measurement.finish == Finish::Complete;
        let profile =
            observed.and_then(|observed| observed.profile(&delta, plan.sessions, is_complete));
        let (tally, served) = (elsewhere.tally.clone(), elsewhere.served.clone());
        let mut rung = rung(elsewhere, plan, delta);
        rung.profile = profile.map(Box::new);
        rung.commit_parity = parity;
        if let Some(stream) = method.single_block_stream() {
            add_statements(&mut rung, stream);
        }
        RungResult { rung, tally, served, began: None }
    }
}

/// Commits that were acknowledged; nothing where steps are not transactions.
fn committed<M: Method>(method: &M, tally: &SlotTally) -> Option<u64> {
    let each = tally.acknowledged.iter().enumerate();
    each.map(|(kind, steps)| Some(if method.commits(kind)? { *steps } else { 0 })).sum()
}

fn rung(elsewhere: Elsewhere, plan: &RungPlan, delta: CounterDelta) -> Rung {
    let mut measurement = elsewhere.measurement;
    let host_busy_share = delta.host.cpu.as_ref().map(CpuCounters::busy_share);
    measurement.conduct.host_busy_share = host_busy_share;
    measurement.conduct.kernel = Some(delta.host);
    let all = measurement.operations().ios();
    let statements = statements(all, measurement.elapsed_ns, &elsewhere.rates_per_s);
    Rung {
        sessions: plan.sessions,
        repeat: plan.repeat,
        statements: statements.map(|found| found.estimate),
        is_widened: statements.is_some_and(|found| found.is_widened),
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
        databases: Vec::new(),
        physical: delta.physical,
        profile: None,
    }
}
