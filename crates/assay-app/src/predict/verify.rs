//! A prediction from the run before a move, compared with the run after it and kept there.

use super::{PredictionPlan, PredictionTarget, load_of, middle, rung_source};
use crate::context::Context;
use assay_model::load::{Load, Rung};
use assay_model::projection::{ErrorSummary, Verification, VerificationCase};
use assay_model::{Error, Result};
use assay_predict::verify::{RungMeasurement, case};
use assay_predict::{Demand, ProjectionPlan, Storage, demand_of, project};
use assay_store::{Document, RunReader};

/// A verification, and the errors of all that the store holds, this one among them.
#[derive(Clone, Debug, PartialEq)]
pub struct VerificationSummary {
    /// This one.
    pub verification: Verification,
    /// All of them; `None` where nothing was answered.
    pub all: Option<ErrorSummary>,
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
    let cases = cases(plan, on, (&loads.0, &loads.1), context)?;
    if cases.is_empty() {
        return Err(Error::usage(
            format!("{before} and {after} have no rung with a profile in common"),
            "measure both with the same load and the same numbers of sessions",
        ));
    }
    let verification = Verification {
        format: assay_model::projection::FORMAT,
        before: runs.0.manifest().id.clone(),
        after: runs.1.manifest().id.clone(),
        calibration: on.clone(),
        product: loads.1.server.product.to_string(),
        cases,
    };
    context.store.reopen(after)?.put_json(Document::Verification, &verification)?;
    let all = kept(context)?;
    let all = ErrorSummary::of(all.iter().flat_map(|one| &one.cases));
    Ok(VerificationSummary { verification, all })
}

/// Every verification of the store.
fn kept(context: &Context) -> Result<Vec<Verification>> {
    let runs = context.store.runs()?.runs;
    let read = |path: &std::path::Path| -> Result<Option<Verification>> {
        RunReader::open(path)?.json::<Verification>(Document::Verification)
    };
    let found: Result<Vec<Option<Verification>>> = runs.iter().map(|run| read(&run.path)).collect();
    Ok(found?.into_iter().flatten().collect())
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
    let read = demand_of(&source.profile, source.cached_share);
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
    let measured = demand_of(&measured.profile, measured.cached_share).demand;
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
    };
    Ok(case(&read.demand, storage.as_ref(), &found.targets[0], measured))
}

fn read_share(demand: &Demand) -> f64 {
    demand.share(demand.reads_s() + demand.large_reads_s)
}

/// What was neither the server nor this program.
fn others_busy_share(rung: &Rung, processors: u32) -> Option<f64> {
    let all_s = rung.elapsed_s() * f64::from(processors);
    let own = (rung.server_cpu_s? + rung.client_cpu_s) / all_s;
    Some((rung.host_busy_share? - own).max(0.0))
}
