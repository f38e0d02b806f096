//! What a reader must know before relying on a sizing.

use crate::databases::SizedDatabase;
use crate::plan::{Peak, SizingPlan};
use crate::sample::has_no_total;
use assay_model::profile::{CheckOutcome, CrossCheck, IoPurpose, Profile, ProfileProduct};
use assay_model::sizing::{Configuration, FailingPart};
use assay_model::units::show_time_ns;

/// Fewer profiles have no quantile of their own.
const QUANTILE_PROFILES_MIN: usize = 20;
/// A longer interval hides its peaks in its mean.
const INTERVAL_MAX_S: f64 = 2.0 * 3600.0;

/// What the plan leaves open, and what its profiles hide.
pub(crate) fn doubts(
    profiles: &[(&str, &Profile)],
    databases: &[SizedDatabase],
    plan: &SizingPlan,
    found: &[Configuration],
) -> Vec<String> {
    let samples = databases.iter().map(|one| one.samples.len()).min().unwrap_or(0);
    let mut doubts: Vec<String> = of_plan(plan, samples);
    doubts.extend(of_databases(databases, plan));
    doubts.extend(profiles.iter().flat_map(|(name, profile)| of_profile(name, profile)));
    let unpriced = found.iter().filter(|one| one.cost.is_none()).count();
    if unpriced > 0 {
        doubts.push(format!(
            "{unpriced} configurations have no price and are listed last: add prices in your own \
             catalog"
        ));
    }
    doubts
}

/// How their demand came about.
fn of_databases(databases: &[SizedDatabase], plan: &SizingPlan) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    if databases.is_empty() {
        doubts.push("no I/O demand was given: sizes follow from the capacity alone".to_owned());
    }
    if databases.len() > 1 {
        let what = if plan.peak == Peak::Max { "peaks" } else { "values" };
        doubts.push(format!(
            "the {what} of {} databases are added up as if they coincided",
            databases.len()
        ));
    }
    doubts.extend(databases.iter().flat_map(|one| one.notes.clone()));
    doubts
}

fn of_plan(plan: &SizingPlan, samples: usize) -> Vec<String> {
    let mut doubts = Vec::new();
    let mut doubt = |holds: bool, text: String| {
        if holds {
            doubts.push(text);
        }
    };
    doubt(
        plan.read_latency.is_none(),
        "no read latency is required: IOPS count at any latency".to_owned(),
    );
    let parts = [FailingPart::Controller, FailingPart::Port, FailingPart::Device];
    let open: Vec<&str> =
        parts.iter().filter(|part| !plan.survives(**part)).map(|part| part.name()).collect();
    doubt(
        !open.is_empty(),
        format!("the failure of a {} is not covered (--survive)", open.join(" or a ")),
    );
    doubt(
        plan.capacity.is_none(),
        "no capacity was given: reports do not contain it (--capacity)".to_owned(),
    );
    doubt(
        plan.peak == Peak::Quantile95 && samples < QUANTILE_PROFILES_MIN,
        format!("the p95 of {samples} intervals is one of the two highest"),
    );
    doubts
}

fn of_profile(name: &str, profile: &Profile) -> Vec<String> {
    let mut doubts = Vec::new();
    let elapsed_s = profile.elapsed_s.as_ref().map_or(0.0, |elapsed| elapsed.value);
    if elapsed_s > INTERVAL_MAX_S {
        let shown = show_time_ns(elapsed_s * 1e9);
        doubts.push(format!(
            "{name}: a mean over {shown} hides the peaks in it; use reports of an hour"
        ));
    }
    if !profile.source.complete && profile.source.product == ProfileProduct::Oracle {
        doubts.push(format!("{name}: its end is missing, so its sums may be too small"));
    }
    if let Some(report) = &profile.report {
        doubts.extend(report.invalid.iter().map(|why| format!("{name}: {why}")));
    }
    let contradicts = |check: &&CrossCheck| check.outcome == CheckOutcome::Contradicts;
    doubts.extend(
        profile
            .checks
            .iter()
            .filter(contradicts)
            .map(|check| format!("{name}: its sections contradict each other in {}", check.what)),
    );
    if has_no_total(profile) {
        doubts.push(format!(
            "{name} has no count of I/O requests: those of its wait events are added up, which may \
             be too low"
        ));
    }
    let all = profile.class(IoPurpose::All);
    if all.is_some_and(|all| all.throughput_bytes_per_s.is_none()) {
        doubts.push(format!("{name}: it has no throughput; each I/O is assumed to be one block"));
    }
    doubts
}
