//! The work of both sides: their distributions by range, and whether they are the same.

use super::sides::{BucketCount, SideFacts};
use assay_model::comparison::{Bucket, Buckets, ComparedShare, Parity};
use assay_model::number::{real, seconds};
use assay_model::verdict::Outcome;

/// Distributions that both sides have, range by range.
pub(super) fn histograms(base: &SideFacts, other: &SideFacts) -> Vec<Buckets> {
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
        ComparedShare {
            iops,
            share: ios / total(side).max(f64::MIN_POSITIVE),
            queue_depth: iops * middle_s(range.0, range.1),
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
fn middle_s(low_ns: u64, high_ns: Option<u64>) -> f64 {
    high_ns.map_or(seconds(low_ns), |high_ns| f64::midpoint(real(low_ns), real(high_ns)) / 1e9)
}

/// Parity.
pub(super) fn parity(base: &SideFacts, other: &SideFacts) -> Vec<Parity> {
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
