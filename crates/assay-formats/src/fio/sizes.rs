//! The sizes of a job's I/Os: one size, a range, or a split, for reads and writes.

use super::number;
use crate::conversion::Refused;
use crate::reading::SectionReader;
use crate::reason::{Approximation, OptionReason};
use assay_model::number::{count_of, real};
use assay_model::units::{Bytes, Share};
use assay_model::workload::{BlockSizeMix, BlockSizePart};

/// Sizes of a split at most: fio has 64.
const PARTS_MAX: usize = 256;
/// Sizes that a range becomes at most.
const STEPS_MAX: u64 = 64;
/// The largest size of one I/O here, and the smallest.
const BYTES_MAX: u64 = 64 << 20;
const BYTES_MIN: u64 = 512;
const DEFAULT_BYTES: u64 = 4096;

/// Sizes with weights.
type SizeWeights = Vec<(u64, f64)>;

/// The sizes of a job of this share of reads.
pub fn block_size(
    reading: &mut SectionReader<'_>,
    kilo: u64,
    read_share: f64,
) -> Result<BlockSizeMix, Refused> {
    let (name, sides) = sides(reading, kilo)?;
    let [reads, writes] = sides;
    let mixed = read_share > 0.0 && read_share < 1.0;
    if mixed && reads != writes {
        reading.near(name, Approximation::JointSizes);
    }
    let mut joint = SizeWeights::new();
    for (side, share) in [(reads, read_share), (writes, 1.0 - read_share)] {
        for (size, weight) in side.into_iter().filter(|_| share > 0.0) {
            match joint.iter_mut().find(|(known, _)| *known == size) {
                Some((_, sum)) => *sum += weight * share,
                None => joint.push((size, weight * share)),
            }
        }
    }
    joint.retain(|(_, weight)| *weight > 0.0);
    joint.sort_by_key(|(size, _)| *size);
    let rounded = rounded(&mut joint);
    if rounded {
        reading.near(name, Approximation::RoundedSize);
    }
    let is_possible = joint.iter().all(|(size, _)| (BYTES_MIN..=BYTES_MAX).contains(size));
    if joint.is_empty() || !is_possible {
        let why = "block sizes are between 512B and 64MiB".to_owned();
        return Err(reading.refusal(name, OptionReason::Invalid(why)));
    }
    let total: f64 = joint.iter().map(|(_, weight)| weight).sum();
    let parts = joint
        .into_iter()
        .map(|(size, weight)| BlockSizePart { size: Bytes(size), share: Share(weight / total) });
    Ok(BlockSizeMix { parts: parts.collect() })
}

/// Makes sizes multiples of the smallest one; whether any was not.
fn rounded(sizes: &mut SizeWeights) -> bool {
    let Some(smallest) = sizes.first().map(|(size, _)| (*size).max(1)) else { return false };
    let before: Vec<u64> = sizes.iter().map(|(size, _)| *size).collect();
    for (size, _) in sizes.iter_mut() {
        *size = size.div_ceil(smallest).saturating_mul(smallest);
    }
    let is_rounded = sizes.iter().map(|(size, _)| *size).ne(before);
    sizes.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    is_rounded
}

/// Sizes of reads and of writes, by the option that says them.
fn sides(
    reading: &mut SectionReader<'_>,
    kilo: u64,
) -> Result<(&'static str, [SizeWeights; 2]), Refused> {
    let two = |text: &str, one: &dyn Fn(&str) -> Result<SizeWeights, OptionReason>| {
        let mut sides = text.split(',').map(|side| match side {
            "" => Ok(vec![(DEFAULT_BYTES, 1.0)]),
            side => one(side),
        });
        let reads = sides.next().unwrap_or(Err(OptionReason::NoValue))?;
        let writes = sides.next().unwrap_or_else(|| Ok(reads.clone()))?;
        Ok([reads, writes])
    };
    let split =
        reading.parsed("bssplit", "block_size", |text| two(text, &|side| split(side, kilo)))?;
    let range =
        reading.parsed("bsrange", "block_size", |text| two(text, &|side| range(side, kilo)))?;
    let single = |side: &str| Ok(vec![(number::bytes(side, kilo)?, 1.0)]);
    // fio takes a dash between sizes of bs as it takes a comma.
    let size = reading.parsed("bs", "block_size", |text| two(&text.replace('-', ","), &single))?;
    Ok(match (split, range, size) {
        (Some(sides), _, _) => ("bssplit", sides),
        (None, Some(sides), _) => {
            reading.near("bsrange", Approximation::RoundedSize);
            ("bsrange", sides)
        }
        (None, None, Some(sides)) => ("bs", sides),
        (None, None, None) => ("bs", [vec![(DEFAULT_BYTES, 1.0)], vec![(DEFAULT_BYTES, 1.0)]]),
    })
}

/// `4k/10:64k/50:32k/`: what has no share gets an even part of the rest.
fn split(text: &str, kilo: u64) -> Result<SizeWeights, OptionReason> {
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > PARTS_MAX {
        return Err(OptionReason::TooLarge);
    }
    let mut sizes = Vec::new();
    for part in parts {
        let (size, share) = part.split_once('/').unwrap_or((part, ""));
        let share = if share.is_empty() { None } else { Some(number::real(share)?) };
        if share.is_some_and(|share| !(0.0..=100.0).contains(&share)) {
            return Err(OptionReason::Value);
        }
        sizes.push((number::bytes(size, kilo)?, share));
    }
    let given: f64 = sizes.iter().filter_map(|(_, share)| *share).sum();
    let open = sizes.iter().filter(|(_, share)| share.is_none()).count();
    if given > 100.5 || (open == 0 && given < 99.5) {
        return Err(OptionReason::Value);
    }
    let rest = (100.0 - given).max(0.0) / real(count_of(open.max(1)));
    Ok(sizes.into_iter().map(|(size, share)| (size, share.unwrap_or(rest))).collect())
}

/// A range in steps of its smallest size, each as likely as the others.
fn range(text: &str, kilo: u64) -> Result<SizeWeights, OptionReason> {
    let (from, to) = text.split_once(['-', ':']).ok_or(OptionReason::Value)?;
    let (from, to) = (number::bytes(from, kilo)?, number::bytes(to, kilo)?);
    if from == 0 || to < from {
        return Err(OptionReason::Value);
    }
    let steps = to / from;
    let every = steps.div_ceil(STEPS_MAX).max(1);
    let sizes = (1..=steps)
        .filter(|step| step % every == 0 || *step == 1)
        .map(|step| (step.saturating_mul(from), 1.0));
    Ok(sizes.take(100).collect())
}
