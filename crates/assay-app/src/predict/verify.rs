//! A prediction from the run before a move, compared with the run after it and kept there.

use super::learnt::{kept, model_deviation};
use super::{PredictionPlan, PredictionTarget, separate_log};
use crate::context::Context;
use crate::database_source::{DatabaseSource, load_of, middle, steps};
use assay_model::load::{Load, Rung};
use assay_model::number::seconds;
use assay_model::projection::{
    Effect, ErrorSummary, FORMAT, Objection, Projection, UnansweredStep, Verification,
    VerificationCase, Verifications,
};
use assay_model::{Error, Result};
use assay_predict::verify::{RungMeasurement, case};
use assay_predict::{PredictedDemand, PredictedStorage, ProjectionPlan, project};
use assay_store::StoredDocument;

/// A verification, and the errors of all that the store holds, this one among them.
#[derive(Clone, Debug, PartialEq)]
pub struct VerificationSummary {
    /// This one.
    pub verification: Verification,
    /// Those that taught the model's error; `None` where nothing was answered.
    pub learnt_from: Option<ErrorSummary>,
    /// Those that test it.
    pub held_out: Option<ErrorSummary>,
    /// Those of a host that others kept busy, whichever of both: they are not counted elsewhere.
    pub noisy: Option<ErrorSummary>,
}

/// Predicts every number of sessions of the load `after` from the load `before`, keeps the result
/// in the run after, and sums the errors of all verifications of the store.
///
/// # Errors
/// When a run is not a load, or they have nothing in common.
pub fn verify(
    plan: &PredictionPlan,
    before: &str,
    after: &str,
    held_out: bool,
    context: &Context,
) -> Result<VerificationSummary> {
    let runs = (context.store.open(before)?, context.store.open(after)?);
    let loads = (load_of(&runs.0)?, load_of(&runs.1)?);
    check_product(&loads.0, &loads.1)?;
    let Some(on) = plan.on.first() else {
        return Err(Error::usage(
            "no calibration was specified",
            "specify the calibration of the new storage with --on",
        ));
    };
    let ids = (runs.0.manifest().id.clone(), runs.1.manifest().id.clone());
    let is_other = |known: &Verification| known.before != ids.0 || known.after != ids.1;
    let known: Vec<Verification> = kept(context)?.into_iter().filter(is_other).collect();
    let model_deviation = model_deviation(&known, plan.projection.model_deviation);
    let projection = ProjectionPlan { model_deviation, ..plan.projection.clone() };
    let plan = &PredictionPlan { projection, ..plan.clone() };
    let Compared { cases, unanswered } = compared(plan, on, &loads.0, &loads.1, context)?;
    if cases.is_empty() {
        return Err(nothing_answered(before, after, &unanswered));
    }
    let verification = Verification {
        before: ids.0,
        after: ids.1,
        calibration: on.clone(),
        product: loads.1.server.product.to_string(),
        held_out,
        model_deviation,
        cases,
        unanswered,
    };
    let mut pairs: Vec<Verification> =
        known.iter().filter(|one| one.after == verification.after).cloned().collect();
    pairs.push(verification.clone());
    let document = Verifications { format: FORMAT, pairs };
    context.store.reopen(after)?.put_json(StoredDocument::Verification, &document)?;
    Ok(VerificationSummary::of(verification, &known))
}

impl VerificationSummary {
    fn of(verification: Verification, others: &[Verification]) -> Self {
        let all: Vec<&Verification> = others.iter().chain([&verification]).collect();
        let quiet = |held_out: bool| {
            let of = all.iter().filter(move |one| one.held_out == held_out);
            ErrorSummary::of(of.flat_map(|one| &one.cases).filter(|case| !case.is_noisy()))
        };
        let noisy = all.iter().flat_map(|one| &one.cases).filter(|case| case.is_noisy());
        let noisy = ErrorSummary::of(noisy);
        Self { learnt_from: quiet(false), held_out: quiet(true), noisy, verification }
    }
}

fn check_product(before: &Load, after: &Load) -> Result<()> {
    if before.server.product == after.server.product && before.kind == after.kind {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "a load on {} cannot predict a load on {}",
            before.server.product, after.server.product
        ),
        "specify two runs of the same load on the same product",
    ))
}

/// What came of all steps of the run after.
#[derive(Default)]
struct Compared {
    cases: Vec<VerificationCase>,
    unanswered: Vec<UnansweredStep>,
}

fn nothing_answered(before: &str, after: &str, unanswered: &[UnansweredStep]) -> Error {
    let reasons: Vec<String> = unanswered
        .iter()
        .map(|step| format!("{} sessions: {}", step.sessions, step.reasons.join("; ")))
        .collect();
    Error::usage(
        format!("no step of {after} can be predicted from {before}: {}", reasons.join(". ")),
        "measure both with the same load and the same numbers of sessions",
    )
}

fn compared(
    plan: &PredictionPlan,
    on: &str,
    before: &Load,
    after: &Load,
    context: &Context,
) -> Result<Compared> {
    let has_profile = |load: &Load, sessions: u32| {
        middle(load, sessions).is_some_and(|rung| rung.profile.is_some())
    };
    let known: Vec<u32> =
        steps(before).into_iter().filter(|sessions| has_profile(before, *sessions)).collect();
    let mut compared = Compared::default();
    for sessions in steps(after) {
        let nearest = known.iter().min_by_key(|known| known.abs_diff(sessions));
        let StepOutcome { case, reasons } = match nearest {
            None => StepOutcome::without("the earlier run has no step with a profile"),
            Some(_) if !has_profile(after, sessions) => {
                StepOutcome::without("the step has no profile in the later run")
            }
            Some(nearest) => case_of(plan, on, before, *nearest, after, sessions, context)?,
        };
        compared.cases.extend(case);
        if !reasons.is_empty() {
            compared.unanswered.push(UnansweredStep { sessions, reasons });
        }
    }
    Ok(compared)
}

/// The outcome of one step: its case, and the reasons if there is no full answer.
struct StepOutcome {
    case: Option<VerificationCase>,
    reasons: Vec<String>,
}

impl StepOutcome {
    fn without(reason: &str) -> Self {
        Self { case: None, reasons: vec![reason.to_owned()] }
    }
}

/// One number of sessions after the move, from the profile of the nearest one before it.
fn case_of(
    plan: &PredictionPlan,
    on: &str,
    before: &Load,
    known: u32,
    after: &Load,
    sessions: u32,
    context: &Context,
) -> Result<StepOutcome> {
    let read = DatabaseSource::of_step(before, known)?.read();
    let reader = plan.reader(&read.demand, context);
    let of = |name: &String| reader.read(name);
    let target = reader.read(on)?;
    let from = plan.from.as_ref().map(of).transpose()?;
    let log = plan.log.as_ref().map(of).transpose()?;
    let log =
        log.as_ref().map(|log| separate_log(log, std::slice::from_ref(&target))).transpose()?;
    let asked = ProjectionPlan {
        sessions: Some(f64::from(sessions)),
        only_closed: true,
        ..plan.projection.clone()
    };
    let from = from.as_ref().map(|from: &PredictionTarget| from.source(log));
    let found = project(&read, from.as_ref(), &[target.source(log)], &asked);
    let measured = DatabaseSource::of_step(after, sessions)?.demand();
    if measured.unit != found.unit {
        return Ok(StepOutcome::without("its unit of work differs from that of the earlier run"));
    }
    let storage = PredictedStorage::of(&target.source(log), &read.demand);
    let measured = measurement(&measured, after, sessions);
    let case = case(&read.demand, storage.as_ref(), &found.targets[0], measured);
    let is_answered = case.as_ref().is_some_and(VerificationCase::is_answered);
    let reasons = if is_answered { Vec::new() } else { reasons(&found, before, known) };
    Ok(StepOutcome { case, reasons })
}

fn measurement(measured: &PredictedDemand, after: &Load, sessions: u32) -> RungMeasurement {
    let rung = middle(after, sessions);
    RungMeasurement {
        sessions,
        throughput_per_s: measured.throughput_per_s,
        read_share: read_share(measured),
        others_busy_share: rung.and_then(|rung| others_busy_share(rung, after.processors)),
        cpu_queue_share: rung.and_then(cpu_queue_share),
    }
}

/// Why a prediction was refused or left bounds only, and what disturbed the measurement that it is
/// made from.
fn reasons(found: &Projection, before: &Load, known: u32) -> Vec<String> {
    let of_target = found.targets.iter().flat_map(|target| &target.objections);
    let against = found.objections.iter().chain(of_target);
    let decisive = against.filter(|one| matches!(one.effect, Effect::Refused | Effect::Bounds));
    let words = |one: &Objection| format!("{} ({})", one.finding, one.remedy);
    let mut reasons: Vec<String> = decisive.map(words).collect();
    let busy = middle(before, known).and_then(|rung| others_busy_share(rung, before.processors));
    reasons.extend(busy.filter(|busy| *busy > OTHERS_BUSY).map(|busy| {
        format!("other programs used {:.0}% of the CPUs during the earlier run", 100.0 * busy)
    }));
    if reasons.is_empty() {
        reasons.push("the storage cannot do this work".to_owned());
    }
    reasons
}

/// From this share of the processors on, others are named among the reasons.
const OTHERS_BUSY: f64 = 0.05;

fn read_share(demand: &PredictedDemand) -> f64 {
    demand.share(demand.reads_s() + demand.large_reads_s)
}

/// How much of their time the server's sessions waited for a processor.
fn cpu_queue_share(rung: &Rung) -> Option<f64> {
    let sessions_s = rung.elapsed_s() * f64::from(rung.sessions);
    Some(seconds(rung.time.cpu_queue_ns?) / sessions_s)
}

/// What was neither the server nor this program.
fn others_busy_share(rung: &Rung, processors: u32) -> Option<f64> {
    let all_s = rung.elapsed_s() * f64::from(processors);
    let own = (rung.server_cpu_s? + rung.client_cpu_s) / all_s;
    Some((rung.host_busy_share? - own).max(0.0))
}
