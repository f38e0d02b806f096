//! A prediction from the run before a move, compared with the run after it and kept there.

use super::learnt::{kept, model_deviation};
use super::{PredictionPlan, PredictionTarget, load_of, middle, rung_source};
use crate::context::Context;
use assay_model::load::{Load, Rung};
use assay_model::number::seconds;
use assay_model::projection::{
    ErrorSummary, FORMAT, Verification, VerificationCase, Verifications,
};
use assay_model::{Error, Result};
use assay_predict::verify::{RungMeasurement, case};
use assay_predict::{Demand, ProjectionPlan, Storage, project};
use assay_store::Document;

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

/// Predicts every number of sessions of the load `after` from the load `before`, keeps the result in the run after, and
/// sums the errors of all verifications of the store.
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
            "no calibration was named",
            "name that of the new storage with --on",
        ));
    };
    let ids = (runs.0.manifest().id.clone(), runs.1.manifest().id.clone());
    let is_other = |known: &Verification| known.before != ids.0 || known.after != ids.1;
    let known: Vec<Verification> = kept(context)?.into_iter().filter(is_other).collect();
    let model_deviation = model_deviation(&known, plan.projection.model_deviation);
    let projection = ProjectionPlan { model_deviation, ..plan.projection.clone() };
    let plan = &PredictionPlan { projection, ..plan.clone() };
    let cases = cases(plan, on, (&loads.0, &loads.1), context)?;
    if cases.is_empty() {
        return Err(Error::usage(
            format!(
                "{before} and {after} have no rung with a profile in common, or no prediction was answered"
            ),
            "measure both with the same load and the same numbers of sessions, and see what `assay predict RUN:SESSIONS` says of the first",
        ));
    }
    let verification = Verification {
        before: ids.0,
        after: ids.1,
        calibration: on.clone(),
        product: loads.1.server.product.to_string(),
        held_out,
        model_deviation,
        cases,
    };
    let mut pairs: Vec<Verification> =
        known.iter().filter(|one| one.after == verification.after).cloned().collect();
    pairs.push(verification.clone());
    let document = Verifications { format: FORMAT, pairs };
    context.store.reopen(after)?.put_json(Document::Verification, &document)?;
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
            "a load on {} says nothing of another on {}",
            before.server.product, after.server.product
        ),
        "name two runs of the same load on the same product",
    ))
}

/// Numbers of sessions of a load, ascending.
fn sessions_of(load: &Load) -> Vec<u32> {
    let mut sessions: Vec<u32> = load.rungs.iter().map(|rung| rung.sessions).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

fn cases(
    plan: &PredictionPlan,
    on: &str,
    (before, after): (&Load, &Load),
    context: &Context,
) -> Result<Vec<VerificationCase>> {
    let profiled = |load: &Load, sessions: u32| {
        middle(load, sessions).is_some_and(|rung| rung.profile.is_some())
    };
    let known: Vec<u32> =
        sessions_of(before).into_iter().filter(|sessions| profiled(before, *sessions)).collect();
    let mut cases = Vec::new();
    for sessions in sessions_of(after).into_iter().filter(|sessions| profiled(after, *sessions)) {
        let nearest = known.iter().min_by_key(|known| known.abs_diff(sessions));
        let Some(nearest) = nearest else { break };
        cases.extend(case_of(plan, on, (before, *nearest), (after, sessions), context)?);
    }
    Ok(cases)
}

/// One number of sessions after the move, from the profile of the nearest one before it.
fn case_of(
    plan: &PredictionPlan,
    on: &str,
    (before, known): (&Load, u32),
    (after, sessions): (&Load, u32),
    context: &Context,
) -> Result<Option<VerificationCase>> {
    let source = rung_source(before, known)?;
    let read = source.read();
    let reader = plan.reader(&read.demand, context);
    let target = reader.read(on)?;
    let from = plan.from.as_ref();
    let from = from.map(|name| reader.read(name));
    let from = from.transpose()?;
    let asked = ProjectionPlan {
        sessions: Some(f64::from(sessions)),
        only_closed: true,
        ..plan.projection.clone()
    };
    let found = project(
        &read,
        from.as_ref().map(PredictionTarget::source).as_ref(),
        &[target.source()],
        &asked,
    );
    let measured = rung_source(after, sessions)?;
    let measured = measured.read().demand;
    if measured.unit != found.unit {
        return Ok(None);
    }
    let others_busy_share =
        middle(after, sessions).and_then(|rung| others_busy_share(rung, after.processors));
    let storage = Storage::of(&target.source(), &read.demand);
    let measured = RungMeasurement {
        sessions,
        throughput_per_s: measured.throughput_per_s,
        read_share: read_share(&measured),
        others_busy_share,
        cpu_queue_share: middle(after, sessions).and_then(cpu_queue_share),
    };
    Ok(case(&read.demand, storage.as_ref(), &found.targets[0], measured))
}

fn read_share(demand: &Demand) -> f64 {
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
