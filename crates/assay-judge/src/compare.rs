//! Two or more runs or profiles side by side: which measures differ, and whether the other side is good enough.

use crate::statistics;
use assay_model::comparison::{
    Bucket, Buckets, Comparison, Difference, Direction, Parity, Scaling, Share,
};
use assay_model::number::{real, seconds};
use assay_model::verdict::Outcome;
use assay_model::{Error, Estimate, Result};
use pair::better;

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
mod scaling;
mod sides;

pub use of_calibration::facts_of_calibration;
pub use of_dss::{facts_of_dss, with_intervals};
pub use of_load::facts_of_load;
pub use of_profile::facts_of_profile;
pub use of_row::facts_of_row;
pub use of_run::{RunFacts, facts_of_run};
pub use of_study::{StudyCells, facts_of_study};
pub use parts::of_parts;
pub use pooled::mean_of_repeats;
pub use repeats::joined;
pub use scaling::scaling;
pub use sides::{
    BucketCount, LoadCurve, LoadCurvePoint, SideCurve, SideFacts, SideFigure, WorkRatio,
};

/// What a comparison is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareRules {
    /// Change for the worse that does not matter, as a share; without it no side is judged.
    pub tolerance: Option<f64>,
    /// A difference below this share is none, however certain.
    pub least_share: f64,
    /// By what share one and the same storage differs from run to run (standard deviation), where somebody knows it.
    pub run_to_run_share: Option<f64>,
}

impl Default for CompareRules {
    fn default() -> Self {
        Self { tolerance: None, least_share: 0.01, run_to_run_share: None }
    }
}

/// Compares sides with the first one.
///
/// # Errors
/// A usage error when there are fewer than two sides, when they were made differently in a key that `allowed` does not
/// begin, or when two sides have no measure in common: it names what differs.
pub fn compare(
    sides: &[SideFacts],
    allowed: &[String],
    rules: &CompareRules,
) -> Result<Comparison> {
    let Some((base, others)) = sides.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(Error::usage(
            "there is only one run to compare",
            "name two or more runs or profiles; the first one is the base",
        ));
    };
    let mut differences = Vec::new();
    let mut pairs = Vec::new();
    for (other, facts) in (1..).zip(others) {
        let found = differing(base, facts);
        refuse(base, facts, &found, allowed)?;
        for difference in found {
            if !differences.contains(&difference) {
                differences.push(difference);
            }
        }
        pairs.push(pair::compare_pair(other, base, facts, rules)?);
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
    let Some(first) = found.iter().find(is_allowed) else {
        return Ok(());
    };
    Err(Error::usage(
        format!(
            "{} and {} cannot be compared: {}",
            base.side.name,
            other.side.name,
            refused.join(", ")
        ),
        format!(
            "compare runs of the same workload, or say that the difference is meant: --varied {}",
            first.key
        ),
    ))
}

/// Distributions that both sides have, range by range.
fn histograms(base: &SideFacts, other: &SideFacts) -> Vec<Buckets> {
    let both = base.histograms.iter().filter_map(|(what, mine)| {
        let (_, theirs) = other.histograms.iter().find(|(same, _)| same == what)?;
        Some((what, mine, theirs))
    });
    both.map(|(what, mine, theirs)| Buckets {
        what: what.clone(),
        rows: rows(mine, base.side.elapsed_s, theirs, other.side.elapsed_s),
    })
    .collect()
}

fn rows(mine: &[BucketCount], mine_s: f64, theirs: &[BucketCount], theirs_s: f64) -> Vec<Bucket> {
    let total = |side: &[BucketCount]| side.iter().map(|(.., ios)| ios).sum::<f64>();
    let mut ranges: Vec<(u64, Option<u64>)> =
        mine.iter().chain(theirs).map(|(low, high, _)| (*low, *high)).collect();
    ranges.sort_by_key(|(low, high)| (*low, high.unwrap_or(u64::MAX)));
    ranges.dedup();
    let share = |side: &[BucketCount], elapsed_s: f64, range: (u64, Option<u64>)| {
        let found = side.iter().find(|(low, high, _)| (*low, *high) == range);
        let ios = found.map_or(0.0, |(.., ios)| *ios);
        let iops = if elapsed_s > 0.0 { ios / elapsed_s } else { 0.0 };
        Share {
            iops,
            share: ios / total(side).max(f64::MIN_POSITIVE),
            outstanding: iops * middle_s(range),
        }
    };
    ranges
        .into_iter()
        .map(|range| Bucket {
            low_ns: range.0,
            high_ns: range.1,
            base: share(mine, mine_s, range),
            other: share(theirs, theirs_s, range),
        })
        .collect()
}

/// The middle of a range, s; an open one counts from its beginning.
fn middle_s((low_ns, high_ns): (u64, Option<u64>)) -> f64 {
    high_ns.map_or(seconds(low_ns), |high_ns| f64::midpoint(real(low_ns), real(high_ns)) / 1e9)
}

/// Whether both sides did the same work.
fn parity(base: &SideFacts, other: &SideFacts) -> Vec<Parity> {
    let both = base.work.iter().filter_map(|mine| {
        let theirs = other.work.iter().find(|theirs| theirs.what == mine.what)?;
        let apart = (theirs.value / mine.value - 1.0).abs();
        // Limits of the papers are whole percents, by which they are rounded.
        let within = (apart * 100.0).round() <= mine.limit * 100.0 + 1e-9;
        Some(Parity {
            what: mine.what.to_owned(),
            base: mine.value,
            other: theirs.value,
            limit: mine.limit,
            outcome: if within { Outcome::Pass } else { Outcome::Fail },
        })
    });
    both.collect()
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
