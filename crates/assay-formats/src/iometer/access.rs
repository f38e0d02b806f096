//! An access specification as block sizes, read share, access pattern and think time of a stream.

use super::file::{AccessDefinition, IometerValue};
use crate::conversion::{Note, Refused, Treatment};
use crate::reason::{Approximation, OptionReason};
use assay_model::number::real;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, BlockSizeMix, BlockSizePart};
use std::collections::BTreeMap;

/// What a specification means.
pub struct AccessPattern {
    /// Sizes with their shares.
    pub block_size: BlockSizeMix,
    /// Share of reads.
    pub read_share: f64,
    /// Random places, or ascending ones.
    pub access: Access,
    /// Pause behind each I/O.
    pub think_time: Nanos,
    /// What became of its lines.
    pub notes: Vec<Note>,
}

/// One line, read.
struct AccessLine {
    bytes: u64,
    share: f64,
    reads: f64,
    random: f64,
    delay_ms: u64,
    burst: u64,
    align: u64,
}

/// Reads a specification.
///
/// # Errors
/// The line that cannot be read, or is of a load on a network.
pub fn meaning(specification: &AccessDefinition) -> Result<AccessPattern, Refused> {
    let lines: Vec<AccessLine> = specification.lines.iter().map(line).collect::<Result<_, _>>()?;
    let Some(first) = specification.lines.first() else {
        let missing = IometerValue { text: specification.name.clone(), ..IometerValue::default() };
        return Err(missing.refused(OptionReason::Missing(specification.name.clone())));
    };
    let all: f64 = lines.iter().map(|line| line.share).sum();
    if all <= 0.0 {
        return Err(first.refused(OptionReason::Value));
    }
    let mean = |of: fn(&AccessLine) -> f64| {
        lines.iter().map(|line| of(line) * line.share).sum::<f64>() / all
    };
    let random = mean(|line| line.random);
    let near = nearest(&lines, random);
    let treatment = near.map_or(Treatment::Exact, Treatment::Approximated);
    Ok(AccessPattern {
        block_size: block_size(&lines, all),
        read_share: mean(|line| line.reads),
        access: if random >= 0.5 { Access::Uniform } else { Access::Sequential { streams: 1 } },
        think_time: Nanos(assay_model::number::count(mean(|line| {
            real(line.delay_ms) * 1e6 / real(line.burst.max(1))
        }))),
        notes: specification.lines.iter().map(|line| line.note(treatment.clone())).collect(),
    })
}

/// `4096,100,67,100,0,1,4096,0`; a reply is of a load on a network.
fn line(value: &IometerValue) -> Result<AccessLine, Refused> {
    let percent = |place: usize| match value.number(place)? {
        percent @ 0..=100 => Ok(real(percent) / 100.0),
        _ => Err(value.refused(OptionReason::Value)),
    };
    let or_none =
        |place: usize| if value.parts().len() > place { value.number(place) } else { Ok(0) };
    if or_none(7)? > 0 {
        return Err(value.refused(OptionReason::Engine));
    }
    Ok(AccessLine {
        bytes: value.number(0)?,
        share: percent(1)?,
        reads: percent(2)?,
        random: percent(3)?,
        delay_ms: or_none(4)?,
        burst: or_none(5)?,
        align: or_none(6)?,
    })
}

/// How far the stream is from the lines: the farthest first.
fn nearest(lines: &[AccessLine], random: f64) -> Option<Approximation> {
    let smallest = lines.iter().map(|line| line.bytes).min().unwrap_or(0).max(1);
    let first = lines.first()?;
    let differs =
        |of: fn(&AccessLine) -> f64| lines.iter().any(|line| (of(line) - of(first)).abs() > 1e-9);
    if random > 0.0 && random < 1.0 {
        return Some(Approximation::Majority);
    }
    if differs(|line| line.reads) {
        return Some(Approximation::JointSizes);
    }
    if lines.iter().any(|line| line.delay_ms > 0) {
        return Some(Approximation::PausePerIo);
    }
    if lines.iter().any(|line| !line.bytes.is_multiple_of(smallest)) {
        return Some(Approximation::RoundedSize);
    }
    // Random places are multiples of a sector where nothing else is said.
    let is_elsewhere = |line: &AccessLine| line.align != smallest && random > 0.0;
    lines.iter().any(is_elsewhere).then_some(Approximation::Alignment)
}

/// Sizes by their shares, rounded up to multiples of the smallest.
fn block_size(lines: &[AccessLine], all: f64) -> BlockSizeMix {
    let smallest = lines.iter().map(|line| line.bytes).min().unwrap_or(0).max(1);
    let mut shares: BTreeMap<u64, f64> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.share > 0.0) {
        let size = line.bytes.div_ceil(smallest).saturating_mul(smallest);
        *shares.entry(size).or_default() += line.share / all;
    }
    let part = |(size, share)| BlockSizePart { size: Bytes(size), share: Share(share) };
    BlockSizeMix { parts: shares.into_iter().map(part).collect() }
}
