//! Two or more runs or profiles side by side: which measures differ, and whether the other side is
//! good enough.

use assay_model::comparison::{Comparison, Difference, Direction, Scaling};
use assay_model::verdict::Outcome;
use assay_model::{Error, Estimate, Result};
use same_measure::better;

mod equal_rate;
mod of_calibration;
mod of_dss;
mod of_load;
mod of_profile;
mod of_row;
mod of_run;
mod of_study;
mod overlays;
mod pair;
mod parts;
mod pooled;
mod primary;
mod ratio;
mod repeats;
mod rules;
mod same_measure;
mod scaling;
mod sides;
mod work;

pub use of_calibration::facts_of_calibration;
pub use of_dss::{facts_of_dss, with_intervals};
pub use of_load::facts_of_load;
pub use of_profile::facts_of_profile;
pub use of_row::facts_of_row;
pub use of_run::{RunFacts, facts_of_run};
pub use of_study::{ComparedCells, facts_of_study};
pub use parts::of_parts;
pub use pooled::mean_of_repeats;
pub use repeats::joined;
pub use rules::CompareRules;
pub use scaling::scaling;
pub use sides::{
    BucketCount, LoadCurve, LoadCurvePoint, SideCurve, SideFacts, SideFigure, WorkRatio,
};

/// Compares sides with the first one.
///
/// # Errors
/// A usage error when there are fewer than two sides, when they were made differently in a key that
/// `allowed` does not begin, or when two sides have no measure in common: it names what differs.
pub fn compare(
    sides: &[SideFacts],
    allowed: &[String],
    rules: &CompareRules,
) -> Result<Comparison> {
    let Some((base, others)) = sides.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(Error::usage(
            "there is only one run to compare",
            "specify two or more runs or profiles; the first one is the base",
        ));
    };
    let mut differences = Vec::new();
    let mut pairs = Vec::new();
    for (other, facts) in (1..).zip(others) {
        pair::check_common(base, facts)?;
        let found = differing(base, facts);
        refuse(base, facts, &found, allowed)?;
        for difference in found {
            if !differences.contains(&difference) {
                differences.push(difference);
            }
        }
        pairs.push(pair::compare_pair(other, base, facts, rules));
    }
    Ok(Comparison {
        format: 1,
        sides: sides.iter().map(|facts| facts.side.clone()).collect(),
        differences,
        outcome: rules.tolerance.map(|_| {
            let outcomes = pairs.iter().filter_map(|pair| pair.outcome);
            Outcome::of_all(outcomes)
        }),
        pairs,
        scaling: scalings(sides),
        overlays: overlays::of(sides),
        tolerance: rules.tolerance,
    })
}

/// Keys that do not have the same value on both sides.
fn differing(base: &SideFacts, other: &SideFacts) -> Vec<Difference> {
    let value = |facts: &SideFacts, key: &str| {
        let found = facts.made.iter().find(|(known, _)| known == key);
        found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    let mut keys: Vec<&String> = base.made.iter().chain(&other.made).map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    // A profile says nothing of how a load was made.
    if base.made.is_empty() || other.made.is_empty() {
        keys.clear();
    }
    let difference = |key: &String| Difference {
        key: key.clone(),
        base: value(base, key),
        other: value(other, key),
    };
    let all = keys.into_iter().map(difference);
    all.filter(|found| found.base != found.other).collect()
}

fn refuse(
    base: &SideFacts,
    other: &SideFacts,
    found: &[Difference],
    allowed: &[String],
) -> Result<()> {
    let is_allowed = |found: &&Difference| !allowed.iter().any(|key| found.key.starts_with(key));
    let refused: Vec<String> = found
        .iter()
        .filter(is_allowed)
        .map(|found| format!("{} is {} and {}", found.key, found.base, found.other))
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    let keys = found.iter().filter(is_allowed).map(|found| format!("--varied {}", found.key));
    let keys: Vec<String> = keys.collect();
    Err(Error::usage(
        format!(
            "{} and {} cannot be compared: {}",
            base.side.name,
            other.side.name,
            refused.join(", ")
        ),
        format!("compare runs of the same workload, or allow the difference: {}", keys.join(" ")),
    ))
}

/// How the rates grow with nodes, where every side says how many it has.
fn scalings(sides: &[SideFacts]) -> Vec<Scaling> {
    let Some(first) =
        sides.first().filter(|_| sides.iter().all(|facts| facts.side.nodes.is_some()))
    else {
        return Vec::new();
    };
    let rates = first.measures.iter().filter(|measured| {
        better(measured.unit) == Direction::Higher && measured.subject.is_none()
    });
    rates
        .filter_map(|rate| {
            let points: Option<Vec<(f64, Estimate)>> = sides
                .iter()
                .map(|facts| {
                    let same = |other: &&SideFigure| {
                        other.quantity == rate.quantity && other.subject == rate.subject
                    };
                    let found = facts.measures.iter().find(same)?;
                    Some((facts.side.nodes?, found.estimate))
                })
                .collect();
            scaling(&rate.quantity, rate.unit, &points?)
        })
        .collect()
}

#[cfg(test)]
mod tests;
