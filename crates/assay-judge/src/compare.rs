//! Two or more runs or profiles side by side: which measures differ, and whether the other side is good enough.

use crate::decide::decide;
use crate::statistics;
use assay_model::comparison::{
    Bucket, Buckets, Comparison, Difference, Direction, Measure, Pair, Parity, Scaling, Share,
    SideKind,
};
use assay_model::number::{real, real_len, seconds};
use assay_model::verdict::{Bias, Doubt, Evidence, Limit, Outcome, Reason, Unit};
use assay_model::{Error, Estimate, Result};

mod of_calibration;
mod of_dss;
mod of_load;
mod of_profile;
mod of_row;
mod of_run;
mod overlays;
mod parts;
mod pooled;
mod repeats;
mod scaling;
mod sides;

pub use of_calibration::facts_of_calibration;
pub use of_dss::{facts_of_dss, with_intervals};
pub use of_load::facts_of_load;
pub use of_profile::facts_of_profile;
pub use of_row::facts_of_row;
pub use of_run::{RunFacts, facts_of_run};
pub use parts::of_parts;
pub use pooled::mean_of_repeats;
pub use repeats::joined;
pub use scaling::scaling;
pub use sides::{BucketCount, SideCurve, SideFacts, SideFigure, WorkRatio};

/// How strict a comparison is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareRules {
    /// Change for the worse that does not matter, as a share.
    pub tolerance: f64,
    /// A difference below this share is none, however sure.
    pub least_share: f64,
    /// By what share one and the same storage is taken to differ from run to run (standard deviation) where a side is a
    /// single run, which cannot show it.
    pub run_to_run_share: f64,
}

impl Default for CompareRules {
    fn default() -> Self {
        Self { tolerance: 0.02, least_share: 0.01, run_to_run_share: 0.03 }
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
        pairs.push(pair(other, base, facts, rules)?);
    }
    Ok(Comparison {
        format: 1,
        sides: sides.iter().map(|facts| facts.side.clone()).collect(),
        differences,
        outcome: Outcome::of_all(pairs.iter().map(|pair| pair.outcome)),
        pairs,
        scaling: scalings(sides),
        overlays: overlays::of(sides),
        tolerance: rules.tolerance,
        run_to_run_share: sides
            .iter()
            .any(is_single)
            .then_some(rules.run_to_run_share)
            .filter(|share| *share > 0.0),
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

/// One side against the base.
fn pair(other: usize, base: &SideFacts, facts: &SideFacts, rules: &CompareRules) -> Result<Pair> {
    let common: Vec<(&SideFigure, &SideFigure)> = base
        .measures
        .iter()
        .filter_map(|mine| {
            let same = |other: &&SideFigure| {
                other.quantity == mine.quantity
                    && other.subject == mine.subject
                    && other.unit == mine.unit
            };
            Some((mine, facts.measures.iter().find(same)?))
        })
        .collect();
    if common.is_empty() {
        return Err(nothing_common(base, facts));
    }
    let strictness = strictness(common.len());
    let elapsed_s = base.side.elapsed_s.min(facts.side.elapsed_s);
    let singles = [base, facts].into_iter().filter(|side| is_single(side)).count();
    let day = statistics::normal_reach(0.95) * rules.run_to_run_share * real_len(singles).sqrt();
    let measure = |(one, two): &(&SideFigure, &SideFigure)| {
        measure(one, two, (rules, strictness, elapsed_s, day))
    };
    let measures: Vec<Measure> = common.iter().map(measure).collect();
    let judged = measures.iter().filter(|measure| measure.judged);
    Ok(Pair {
        other,
        outcome: Outcome::of_all(judged.map(|measure| measure.outcome)),
        histograms: histograms(base, facts),
        parity: parity(base, facts),
        measures,
    })
}

fn nothing_common(base: &SideFacts, other: &SideFacts) -> Error {
    let has = |facts: &SideFacts| match facts.measures.first() {
        Some(first) => format!("{} has {} …", facts.side.name, first.quantity),
        None => format!("{} has no measure with an interval", facts.side.name),
    };
    Error::usage(
        format!(
            "{} and {} have no measure in common: {}, {}",
            base.side.name,
            other.side.name,
            has(base),
            has(other)
        ),
        "measure at least ten intervals on each side, with the same operations",
    )
}

/// How many half widths of a single interval a difference must lie from 1, so that of all measures of a pair together
/// one in twenty is called different by chance at most (Bonferroni).
fn strictness(measures: usize) -> f64 {
    let one = statistics::reach(0.95);
    let all = statistics::reach(1.0 - 0.05 / real_len(measures.max(1)));
    all / one
}

/// Rates and their opposite.
const fn better(unit: Unit) -> Direction {
    match unit {
        Unit::IosPerS | Unit::PerMinute | Unit::PerHour | Unit::BytesPerS | Unit::Bytes => {
            Direction::Higher
        }
        Unit::Ns | Unit::Share | Unit::Count => Direction::Lower,
    }
}

fn measure(
    base: &SideFigure,
    other: &SideFigure,
    (rules, strictness, elapsed_s, day): (&CompareRules, f64, f64, f64),
) -> Measure {
    let better = better(base.unit);
    let ratio = ratio(&other.estimate, &base.estimate);
    let ratio = ratio.map(|ratio| widened(&ratio, day));
    let limit = match better {
        Direction::Higher => Limit::AtLeast(1.0 - rules.tolerance),
        Direction::Lower => Limit::AtMost(1.0 + rules.tolerance),
    };
    // What differs from run to run does not shrink with time, so no time would be enough.
    let elapsed_s = if day > 0.0 { 0.0 } else { elapsed_s };
    let doubts = doubts(base, other);
    let evidence =
        Evidence { estimate: ratio, elapsed_s, doubts: doubts.clone(), ..Evidence::default() };
    let unknown =
        || Reason::NoEvidence { missing: "a longer measurement: an interval reaches 0".to_owned() };
    let (outcome, reason) = ratio.as_ref().map_or_else(
        || (Outcome::Inconclusive, unknown()),
        |ratio| decide(limit, ratio, &evidence),
    );
    Measure {
        quantity: base.quantity.clone(),
        subject: base.subject.clone(),
        unit: base.unit,
        better,
        base: base.estimate,
        other: other.estimate,
        different: ratio.is_some_and(|ratio| differs(&ratio, strictness, rules.least_share)),
        judged: base.judged && other.judged,
        ratio,
        outcome,
        reason,
        doubts,
    }
}

/// Other over base. A rate that is known to be 0, because not even one I/O at a time keeps the limit, has a ratio, too;
/// nothing can be said over a base of 0.
fn ratio(other: &Estimate, base: &Estimate) -> Option<Estimate> {
    let none = other.value <= 0.0 && other.high <= 0.0;
    if none && base.low > 0.0 {
        return Some(Estimate::exact(0.0, other.n));
    }
    statistics::quotient(other, base)
}

/// What is doubted of either side, as it bears on the ratio: what makes the base look worse makes the other look better.
fn doubts(base: &SideFigure, other: &SideFigure) -> Vec<Doubt> {
    let turned = |doubt: &Doubt| {
        let bias = match doubt.bias {
            Bias::Flattering => Bias::Unflattering,
            Bias::Unflattering => Bias::Flattering,
            Bias::Unknown => Bias::Unknown,
        };
        Doubt { bias, ..doubt.clone() }
    };
    base.doubts.iter().map(turned).chain(other.doubts.iter().cloned()).collect()
}

/// Whether a side is one run of a workload: what would differ in another run of it is not to be seen.
fn is_single(facts: &SideFacts) -> bool {
    facts.side.kind != SideKind::Profile && facts.side.repeats == 1 && !facts.is_of_queries()
}

/// A ratio whose interval also holds what differs from run to run: independent, so that squares add up, and on the
/// logarithmic scale on which the interval was made.
fn widened(ratio: &Estimate, day: f64) -> Estimate {
    if ratio.value <= 0.0 {
        return *ratio;
    }
    let reach = |end: f64| (end / ratio.value).ln().hypot(day).exp();
    Estimate {
        low: ratio.value / reach(ratio.low),
        high: ratio.value * reach(ratio.high),
        ..*ratio
    }
}

/// Whether a ratio is surely not 1: far enough in its own widths, on the logarithmic scale on which it was made.
fn differs(ratio: &Estimate, strictness: f64, least: f64) -> bool {
    if ratio.value <= 0.0 {
        return true;
    }
    let distance = ratio.value.ln();
    let reach = if distance > 0.0 { distance - ratio.low.ln() } else { ratio.high.ln() - distance };
    (ratio.value - 1.0).abs() > least && distance.abs() > strictness * reach
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
