//! Where a job's I/Os go: sequential, every block once, or by a law.

use super::direction::FioDirection;
use super::number;
use crate::conversion::Refused;
use crate::reading::SectionReader;
use crate::reason::{Approximation, OptionReason};
use assay_model::units::Share;
use assay_model::workload::{Access, BlockSizeMix};

/// The access of a job.
pub fn access(
    reading: &mut SectionReader<'_>,
    direction: FioDirection,
    block_size: &BlockSizeMix,
    jobs: u64,
    is_shared: bool,
) -> Result<Access, Refused> {
    if !direction.is_random {
        if jobs > 1 && is_shared {
            reading.near("numjobs", Approximation::SpacedStarts);
        }
        return Ok(Access::Sequential { streams: 1 });
    }
    let percent = reading.parsed("percentage_random", "access", |text| {
        number::real(text.split(',').next().unwrap_or_default())
    })?;
    if percent.is_some_and(|percent| percent < 100.0) {
        reading.near("percentage_random", Approximation::Majority);
    }
    if percent.is_some_and(|percent| percent < 50.0) {
        return Ok(Access::Sequential { streams: 1 });
    }
    let law = reading.text("random_distribution", "access")?.unwrap_or("random");
    let repeats = reading.flag("norandommap", "access")?.unwrap_or(false);
    match law.split(':').next() {
        Some("random") => {
            if !repeats && block_size.parts.len() > 1 {
                reading.near("bssplit", Approximation::MixedRounds);
            }
            Ok(if repeats { Access::Uniform } else { Access::Permutation })
        }
        _ => by_law(reading, law),
    }
}

fn by_law(reading: &mut SectionReader<'_>, law: &str) -> Result<Access, Refused> {
    let wrong =
        |reading: &SectionReader<'_>| reading.refusal("random_distribution", OptionReason::Value);
    let (name, rest) = law.split_once(':').unwrap_or((law, ""));
    let first = rest.split([':', ',', '/']).next().unwrap_or_default();
    let number = number::real(first).unwrap_or(match name {
        "zipf" => 1.1,
        _ => 0.2,
    });
    match name {
        "zipf" if number > 0.0 && number <= 10.0 => Ok(Access::Zipf { theta: number }),
        // Pareto's rule with power h: a share 1 - h of the I/Os goes to a share h of the blocks.
        "pareto" if number > 0.0 && number < 1.0 => {
            reading.near("random_distribution", Approximation::HotBand);
            Ok(band(1.0 - number, number))
        }
        // Two standard deviations hold 95% of a normal law.
        "normal" | "gauss" if number > 0.0 && number <= 100.0 => {
            reading.near("random_distribution", Approximation::HotBand);
            Ok(band(0.95, (4.0 * number / 100.0).clamp(0.001, 1.0)))
        }
        "zoned" => zones(reading, rest),
        "zoned_abs" => {
            reading.leave_out("random_distribution", OptionReason::NoWord);
            Ok(Access::Uniform)
        }
        "zipf" | "pareto" | "normal" | "gauss" => Err(wrong(reading)),
        _ => Err(reading.refusal("random_distribution", OptionReason::UnknownDistribution)),
    }
}

const fn band(share: f64, band: f64) -> Access {
    Access::HotBand { share: Share(share), band: Share(band), start: Share(0.0) }
}

/// `50/5:30/15:20/80`: the first zone is the band.
fn zones(reading: &mut SectionReader<'_>, text: &str) -> Result<Access, Refused> {
    let side = text.split(',').next().unwrap_or_default();
    let zones = side.split(':').take(256).map(Zone::parse).collect::<Result<Vec<_>, _>>();
    let zones = zones.map_err(|reason| reading.refusal("random_distribution", reason))?;
    if zones.len() > 2 || text.contains(',') {
        reading.near("random_distribution", Approximation::ZonesJoined);
    }
    let Some(first) = zones.first() else { return Ok(band(0.0, 1.0)) };
    // Zones without a size share what the others leave.
    let open = zones.iter().filter(|zone| zone.size.is_none()).count();
    let taken: f64 = zones.iter().filter_map(|zone| zone.size).sum();
    let rest = (1.0 - taken).max(0.0) / assay_model::number::real_len(open.max(1));
    match first.size.unwrap_or(rest) {
        size if size > 0.0 => Ok(band(first.share, size)),
        _ => Err(reading.refusal("random_distribution", OptionReason::Value)),
    }
}

/// A zone, `50/5`, or `50/` where it is the rest: shares of the I/Os and of the space.
struct Zone {
    share: f64,
    size: Option<f64>,
}

impl Zone {
    fn parse(text: &str) -> Result<Self, OptionReason> {
        let (share, size) = text.split_once('/').ok_or(OptionReason::Value)?;
        let size = if size.is_empty() { None } else { Some(number::real(size)?) };
        let share = number::real(share)?;
        let fits = size.is_none_or(|size| size > 0.0 && size <= 100.0);
        if !fits || !(0.0..=100.0).contains(&share) {
            return Err(OptionReason::Value);
        }
        Ok(Self { share: share / 100.0, size: size.map(|size| size / 100.0) })
    }
}
