//! All runs of a load of decision support, one after the other; every query is kept before the next
//! one ends.

use super::answers;
use super::data::ServerTables;
use super::live_queries::LiveQueries;
use super::request::DssRequest;
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::load::prepared_server::processors;
use crate::plan_document::PlanDocument;
use crate::progress::ProgressSender;
use crate::recording::{give_up, tell_run};
use assay_dbload::dss::{DssRunPlan, QueryHooks, QuerySettings, measure, parallel_max};
use assay_dbload::load::{LoadTarget, Product};
use assay_host::clock::unix_ns;
use assay_loads::dss::NOTICE;
use assay_model::dss::{Dss, DssKind, DssQuery, DssRun};
use assay_model::measurement::{Finish, Remark};
use assay_model::row::Row;
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_store::{NewRun, RunWriter, StoredDocument};
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Runs that are being measured.
struct Measuring<'a, L: Product> {
    request: &'a DssRequest<'a>,
    tables: &'a mut ServerTables<L>,
    writer: &'a RunWriter,
    context: &'a Context,
    result: Dss,
}

/// Carries all runs out.
///
/// # Errors
/// What the store, the gate or the server say before anything was measured.
pub fn run_queries<L: Product>(
    request: &DssRequest<'_>,
    document: &PlanDocument,
    criteria: Option<&CriteriaSource>,
    context: &Context,
) -> Result<FinishedRun> {
    let named = LoadTarget::read(request.target)?;
    let writer = context.store.create(&NewRun {
        kind: RunKind::Bench,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: named.command(request.target, &context.command),
        targets: vec![named.shown()],
        created_unix_ns: unix_ns(),
    })?;
    document.keep(&writer)?;
    tell_run(&writer, context);
    let measured = ServerTables::<L>::prepare(request, &named, context).and_then(|mut tables| {
        if let Some(environment) = tables.prepared.environment(&named) {
            writer.put_json(StoredDocument::Environment, &environment)?;
        }
        tables.prepared.database.begin_to_measure();
        let result = first(request, &mut tables);
        let measured =
            Measuring { request, tables: &mut tables, writer: &writer, context, result }.all();
        // Our server goes before the answer is printed, whatever came of it.
        let finished = tables.finish();
        measured.and_then(|finish| finished.map(|()| finish))
    });
    context.progress.clear();
    match measured {
        Ok(finish) => finish_run(writer, &finish, criteria),
        Err(error) => {
            // A run without any query is of no use to anybody.
            let kept = writer
                .reader()
                .is_ok_and(|run| matches!(run.document(StoredDocument::Dss), Ok(Some(_))));
            if !kept {
                give_up(&context.store, writer);
            }
            Err(error)
        }
    }
}

/// The result before the first run.
fn first<L: Product>(request: &DssRequest<'_>, tables: &mut ServerTables<L>) -> Dss {
    let mut remarks = tables.prepared.database.remarks.clone();
    remarks.extend(few_workers(request, tables));
    Dss {
        format: 1,
        method: "dss-h".to_owned(),
        notice: NOTICE.to_owned(),
        server: tables.prepared.database.facts(),
        scale: request.scale.factor(),
        plan: request.plan.clone(),
        data: tables.data,
        runs: Vec::new(),
        processors: processors(),
        end: String::new(),
        remarks,
    }
}

/// Parallel processes that the server cannot give are not missed by anybody but the reader.
fn few_workers<L: Product>(
    request: &DssRequest<'_>,
    tables: &mut ServerTables<L>,
) -> Option<Remark> {
    let streams = request.streams.iter().copied().max().unwrap_or(1).max(1);
    let wanted = request.parallel.iter().copied().max()?.saturating_mul(streams);
    let most = parallel_max(&mut tables.prepared.database)?;
    (most < wanted).then(|| Remark {
        what: format!("the server has {most} parallel workers for all sessions"),
        why: format!("{streams} streams may need {wanted}, so some will run without them"),
        remedy: "raise max_parallel_workers and max_worker_processes".to_owned(),
    })
}

impl<L: Product> Measuring<'_, L> {
    /// Measures run after run and keeps the result after each; says how it ended.
    fn all(mut self) -> Result<Finish> {
        for plan in self.plans() {
            let finish = self.run(plan)?;
            if finish != Finish::Complete {
                return Ok(finish);
            }
        }
        Ok(Finish::Complete)
    }

    /// All runs in their order: for every number of parallel processes the power run, then rising
    /// numbers of streams.
    fn plans(&self) -> Vec<DssRunPlan> {
        let request = self.request;
        let mut plans = Vec::new();
        for repeat in 1..=request.repeats {
            for parallel in &request.parallel {
                let plan = |kind, streams| DssRunPlan {
                    kind,
                    streams,
                    repeat,
                    first_set: request.refreshes.then_some(0),
                    asked: QuerySettings {
                        scale: request.scale,
                        choice: request.choice,
                        limit: Some(request.limit),
                        parallel: *parallel,
                        memory: request.memory,
                    },
                };
                let power = request.has_power.then(|| plan(DssKind::Power, 1));
                plans.extend(power);
                let streams = request.streams.iter();
                plans.extend(streams.map(|streams| plan(DssKind::Throughput, *streams)));
            }
        }
        plans
    }

    /// One run; how it ended.
    fn run(&mut self, plan: DssRunPlan) -> Result<Finish> {
        let first_set = plan.first_set.map(|_| self.tables.next_set);
        let plan = DssRunPlan { first_set, ..plan };
        self.tables.next_set += plan.sets();
        let answers = self.request.answers.filter(|_| self.result.runs.is_empty());
        let (begun, refused) = (RefCell::new(Vec::new()), RefCell::new(None));
        let (writer, progress) = (self.writer, &self.context.progress);
        let wanted = if plan.kind == DssKind::Power { 22 } else { 22 * plan.streams };
        let result = &self.result;
        let live = RefCell::new(LiveQueries::new(plan.streams));
        let mut ended = |query: &DssQuery, rows: &[Row]| {
            live.borrow_mut().take(query);
            begun.borrow_mut().push(query.clone());
            let kept = keep(writer, result, &plan, &begun.borrow());
            let written = answers.map_or(Ok(()), |path| answers::write(path, &query.name, rows));
            if let Err(error) = kept.and(written) {
                refused.borrow_mut().get_or_insert(error);
            }
        };
        let mut waiting = |passed: Duration| {
            show(progress, &plan, begun.borrow().len(), wanted, passed);
            live.borrow_mut().interval(passed).iter().for_each(|ended| progress.interval(ended));
        };
        let mut hooks =
            QueryHooks { stop: &self.context.stop, ended: &mut ended, waiting: &mut waiting };
        let run = measure(&mut self.tables.prepared.database, &plan, &mut hooks);
        self.context.progress.clear();
        let run = match run {
            Ok(run) => run,
            // What was measured before stands.
            Err(error) if !self.result.runs.is_empty() => return self.broken(&error),
            Err(error) => return Err(error),
        };
        refused.into_inner().map_or(Ok(()), Err)?;
        self.push(run)
    }

    /// Keeps a run that was measured.
    fn push(&mut self, run: DssRun) -> Result<Finish> {
        let finish = run.finish.clone();
        self.result.runs.push(run);
        self.result.server = self.tables.prepared.database.facts();
        self.result.end = match &finish {
            Finish::Complete => String::new(),
            Finish::Failed { reason } => reason.clone(),
            Finish::Interrupted | Finish::Unfinished => "it was stopped".to_owned(),
        };
        self.writer.put_json(StoredDocument::Dss, &self.result)?;
        if self.context.stop.load(Ordering::Relaxed) {
            return Ok(Finish::Interrupted);
        }
        Ok(finish)
    }

    fn broken(&mut self, error: &Error) -> Result<Finish> {
        let reason = error.message().to_owned();
        self.result.end.clone_from(&reason);
        self.writer.put_json(StoredDocument::Dss, &self.result)?;
        Ok(Finish::Failed { reason })
    }
}

/// Keeps what has ended of a run that goes on: a program that is killed loses no more than the
/// query at hand.
fn keep(writer: &RunWriter, result: &Dss, plan: &DssRunPlan, ended: &[DssQuery]) -> Result<()> {
    let last = ended.iter().map(|query| query.started_ns + query.elapsed_ns).max();
    let run = DssRun::begun(plan.kind, plan.streams, plan.asked.parallel, plan.repeat);
    let run = DssRun { queries: ended.to_vec(), elapsed_ns: last.unwrap_or(0), ..run };
    let mut so_far = result.clone();
    so_far.runs.push(run);
    writer.put_json(StoredDocument::Dss, &so_far)
}

fn show(progress: &ProgressSender, plan: &DssRunPlan, done: usize, wanted: u32, passed: Duration) {
    let name = match plan.kind {
        DssKind::Power => "power run".to_owned(),
        DssKind::Throughput => format!("throughput run, {} streams", plan.streams),
    };
    let share = assay_model::number::real_len(done) / f64::from(wanted.max(1));
    let what = format!("{name}: {done} done, {:.0} s", passed.as_secs_f64());
    progress.show(&what, share.min(1.0), None);
}
