//! The question that a report answers, in one sentence.

use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::GivenReport;
use crate::phrases::within_limit;
use assay_model::comparison::Comparison;
use assay_model::durability::Durability;
use assay_model::number::seconds;
use assay_model::study::StudyResult;
use assay_model::verdict::{Limit, Unit, Verdict};

/// Limits that are named in the question; the table has all.
const LIMITS_MAX: usize = 3;

pub(super) fn asked(report: &GivenReport, format: &Formatter) -> String {
    let target = &report.target;
    if let Some(asked) = super::super::database_check::asked(report) {
        return asked;
    }
    if let Some(found) = &report.projection {
        let names: Vec<&str> = found.targets.iter().map(|target| target.name.as_str()).collect();
        return format!("How fast would {} be on {}?", found.profile, names.join(" and "));
    }
    if let Some(found) = &report.comparison {
        return of_comparison(found, format);
    }
    if report.dss.is_some() {
        return format!("How long do decision-support queries take on {target}?");
    }
    if let Some(soak) = &report.soak {
        return format!("Does {target} sustain its rate for {}?", show_length(soak.worked_s));
    }
    if report.locality.is_some() {
        return format!("Which caches and tiers does {target} have, and how fast are they?");
    }
    if let Some(study) = &report.study {
        return of_study(study, target);
    }
    if let Some(verdict) = &report.verdict {
        return of_verdict(verdict, target, format);
    }
    let is_asked = |found: &Durability| !found.cuts.is_empty() || found.timing.is_some();
    if report.durability().is_some_and(is_asked) {
        return format!("Does {target} keep acknowledged writes?");
    }
    of_measurement(report, format)
}

fn of_comparison(found: &Comparison, format: &Formatter) -> String {
    let names: Vec<&str> = found.sides.iter().skip(1).map(|side| side.name.as_str()).collect();
    let base = found.sides.first().map_or("the base", |side| side.name.as_str());
    let names_words = names.join(" and ");
    let Some(tolerance) = found.tolerance else {
        let verb = if names.len() == 1 { "does" } else { "do" };
        return format!("How {verb} {names_words} compare with {base}?");
    };
    let is = if names.len() == 1 { "Is" } else { "Are" };
    let tolerance = format.value(Unit::Share, tolerance);
    format!("{is} {names_words} no worse than {base} by more than {tolerance}?")
}

fn of_study(study: &StudyResult, target: &str) -> String {
    let mut factors: Vec<&str> = Vec::new();
    for curve in &study.curves {
        if !factors.contains(&curve.factor.as_str()) {
            factors.push(&curve.factor);
        }
    }
    if factors.is_empty() {
        return format!("What does the study “{}” find on {target}?", study.study);
    }
    let factors: Vec<String> =
        factors.into_iter().map(super::super::quantity_names::factor).collect();
    format!("How does {target} respond to {}?", factors.join(" and "))
}

fn of_verdict(verdict: &Verdict, target: &str, format: &Formatter) -> String {
    let limits = verdict.judgements.iter().map(|judgement| {
        let limit = format.chosen(judgement.unit, judgement.limit.value());
        let sign = match judgement.limit {
            Limit::AtMost(_) => "≤",
            Limit::AtLeast(_) => "≥",
        };
        format!("{} {sign} {limit}", judgement.label)
    });
    // The same limit may hold for several files.
    let mut limits = limits.fold(Vec::new(), |mut known, limit| {
        if !known.contains(&limit) {
            known.push(limit);
        }
        known
    });
    let more = limits.len().saturating_sub(LIMITS_MAX);
    limits.truncate(LIMITS_MAX);
    limits
        .extend((more > 0).then(|| {
            crate::ladder::several(u32::try_from(more).unwrap_or(u32::MAX), "more limit")
        }));
    if limits.is_empty() {
        return format!("Does {target} meet the criteria “{}”?", verdict.criteria);
    }
    format!("Is {target} fast enough? Required: {}.", limits.join(", "))
}

fn of_measurement(report: &GivenReport, format: &Formatter) -> String {
    let target = &report.target;
    if let Some(calibration) = &report.calibration {
        let limit = &calibration.limit;
        if !limit.is_asked() {
            return format!("How many I/Os per second does {target} deliver?");
        }
        let (limited, bound) = (limit.quantile, within_limit(limit, format));
        return format!("How many I/Os per second does {target} deliver with {limited} {bound}?");
    }
    if let Some(load) = &report.load {
        let most = load.rungs.iter().map(|rung| rung.sessions).max().unwrap_or(1);
        let who = crate::ladder::several(most, crate::ladder::who(load));
        return format!("How fast is a database on {target} with up to {who}?");
    }
    if let [run] = report.runs.as_slice() {
        return format!("How fast is {target} under the workload “{}”?", run.measurement.workload);
    }
    report.watch.as_ref().map_or_else(
        || format!("What does {target} deliver?"),
        |watch| {
            let length = show_length(seconds(watch.summary.total.counters.time_ns));
            format!("What did this host do for {length}?")
        },
    )
}
