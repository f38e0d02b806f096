//! Workload definitions of one run as streams.

use super::file::is_named;
use super::number;
use super::storage::{OpenFlags, StorageDefinition, open_flags, range};
use crate::conversion::{Note, OptionOrigin, Refused};
use crate::reading::{ReadSection, SectionReader};
use crate::reason::{Approximation, OptionReason};
use assay_model::number::real;
use assay_model::units::{Bytes, Share};
use assay_model::workload::{Access, BlockSizeMix, BlockSizePart};

/// A workload definition on the storage that it uses.
pub struct WorkloadDefinition {
    /// Its name.
    pub name: String,
    /// Indices of its storage.
    pub storages: Vec<usize>,
    /// Share of reads.
    pub read_share: f64,
    /// Sizes.
    pub block_size: BlockSizeMix,
    /// Where I/Os go.
    pub access: Access,
    /// Share of the whole rate, where it is said.
    pub skew: Option<f64>,
    /// I/Os outstanding, where they are its own.
    pub threads: Option<u64>,
    /// A rate of its own.
    pub rate_iops: Option<f64>,
    /// How its storage is opened.
    pub flags: OpenFlags,
    /// The part of its storage in use.
    pub range: (f64, f64),
    /// What became of its parameters.
    pub notes: Vec<Note>,
    /// Where the lines of a document come from.
    pub sources: Vec<(&'static str, OptionOrigin)>,
}

/// Reads a workload definition; `named` is which storage the run names itself.
pub fn workload(
    section: &ReadSection,
    named: Option<&str>,
    all: &[StorageDefinition],
) -> Result<WorkloadDefinition, Refused> {
    let mut reading = SectionReader::new(section, super::names::rule);
    let pattern = reading.text("sd", "targets")?.map(str::to_owned);
    let pattern = named.map(str::to_owned).or(pattern).unwrap_or_else(|| "*".to_owned());
    let used = all.iter().enumerate().filter(|(_, one)| is_named(&pattern, &one.name));
    let storages: Vec<usize> = used.map(|(index, _)| index).collect();
    if storages.is_empty() {
        return Err(reading.refusal("sd", OptionReason::Missing(pattern)));
    }
    let size = storages.iter().filter_map(|index| all[*index].size).min();
    let percent = |text: &str| match number::real(text) {
        Ok(percent) if percent <= 100.0 => Ok(percent / 100.0),
        _ => Err(OptionReason::Value),
    };
    let block_size = block_size(&mut reading)?;
    let read_share = reading.parsed("rdpct", "read_share", percent)?.unwrap_or(1.0);
    let access = access(&mut reading, &block_size, storages.len())?;
    let access = hits(&mut reading, access, size, all[storages[0]].hit_bytes)?;
    let skew = reading.parsed("skew", "arrival", percent)?.filter(|share| *share > 0.0);
    let threads = reading.parsed("threads", "arrival", number::count)?;
    let rate_iops = reading.parsed("iorate", "arrival", number::real)?.filter(|rate| *rate > 0.0);
    let flags = open_flags(&mut reading)?;
    let range = band(&mut reading, size)?;
    for name in ["host", "hd"] {
        reading.near(name, Approximation::OneHost);
    }
    let (notes, sources) = reading.finish();
    let name = section.name.clone();
    Ok(WorkloadDefinition {
        name,
        storages,
        read_share,
        block_size,
        access,
        skew,
        threads,
        rate_iops,
        flags,
        range,
        notes,
        sources,
    })
}

/// One size, sizes with their percentages, or `(min,max,align)`.
fn block_size(reading: &mut SectionReader<'_>) -> Result<BlockSizeMix, Refused> {
    let Some(text) = reading.text("xfersize", "block_size")? else {
        return Ok(BlockSizeMix::single(Bytes(4096)));
    };
    let parts = number::parts(text);
    let mix = match parts.as_slice() {
        [one] => number::bytes(one).map(|size| vec![(size, 1.0)]),
        [from, to, align] => {
            reading.near("xfersize", Approximation::RoundedSize);
            number::bytes(from)
                .and_then(|from| even(from, number::bytes(to)?, number::bytes(align)?))
        }
        pairs if pairs.len() % 2 == 0 => pairs
            .chunks(2)
            .map(|pair| Ok((number::bytes(pair[0])?, number::real(pair[1])? / 100.0)))
            .collect(),
        _ => Err(OptionReason::Value),
    };
    let mut mix = mix.map_err(|reason| reading.refusal("xfersize", reason))?;
    mix.sort_by_key(|(size, _)| *size);
    let smallest = mix.first().map_or(1, |(size, _)| (*size).max(1));
    if mix.iter().any(|(size, _)| !size.is_multiple_of(smallest)) {
        reading.near("xfersize", Approximation::RoundedSize);
    }
    let total: f64 = mix.iter().map(|(_, share)| share).sum();
    if !(0.98..=1.02).contains(&total) {
        return Err(reading.refusal("xfersize", OptionReason::Value));
    }
    let part = |(size, share): (u64, f64)| BlockSizePart {
        size: Bytes(size.div_ceil(smallest).saturating_mul(smallest)),
        share: Share(share / total),
    };
    Ok(BlockSizeMix { parts: mix.into_iter().map(part).collect() })
}

/// Sizes in equal steps, each as likely as the others.
fn even(from: u64, to: u64, align: u64) -> Result<Vec<(u64, f64)>, OptionReason> {
    let step = align.max((to.saturating_sub(from) / 32).max(1));
    let step = step.div_ceil(align.max(1)).saturating_mul(align.max(1));
    if from == 0 || to < from || step == 0 {
        return Err(OptionReason::Value);
    }
    let next = |size: &u64| size.checked_add(step);
    let sizes: Vec<u64> =
        std::iter::successors(Some(from), next).take_while(|size| *size <= to).take(64).collect();
    let share = 1.0 / real(assay_model::number::count_of(sizes.len()));
    Ok(sizes.into_iter().map(|size| (size, share)).collect())
}

fn access(
    reading: &mut SectionReader<'_>,
    block_size: &BlockSizeMix,
    storages: usize,
) -> Result<Access, Refused> {
    let runs = u32::try_from(storages).unwrap_or(u32::MAX);
    let seek = reading.text("seekpct", "access")?.unwrap_or("100").to_ascii_lowercase();
    if let Some(count) = reading.parsed("streams", "access", |text| {
        number::count(number::parts(text).first().unwrap_or(&""))
    })? {
        return Ok(Access::Sequential { streams: u32::try_from(count.max(1)).unwrap_or(u32::MAX) });
    }
    if let Some(text) = reading.text("stride", "access")? {
        let ends: Result<Vec<u64>, OptionReason> =
            number::parts(text).into_iter().map(number::bytes).collect();
        let Ok([from, to]) = ends.as_deref() else {
            return Err(reading.refusal("stride", OptionReason::Value));
        };
        reading.near("stride", Approximation::MeanDistance);
        let unit = block_size.min_bytes().max(1);
        let mean = from.midpoint(*to).div_ceil(unit).saturating_mul(unit).max(unit);
        return Ok(Access::Stride { step: Bytes(mean) });
    }
    match seek.as_str() {
        "random" | "rand" | "100" => Ok(Access::Uniform),
        "seq" | "sequential" | "eof" | "seqnz" | "0" | "-1" => {
            Ok(Access::Sequential { streams: runs })
        }
        text => match number::real(text) {
            Ok(percent) if percent <= 100.0 => {
                reading.near("seekpct", Approximation::Majority);
                Ok(if percent >= 50.0 {
                    Access::Uniform
                } else {
                    Access::Sequential { streams: runs }
                })
            }
            _ => Err(reading.refusal("seekpct", OptionReason::Value)),
        },
    }
}

/// Cache hits: a share of the reads goes to a small area.
fn hits(
    reading: &mut SectionReader<'_>,
    access: Access,
    size: Option<u64>,
    hit_bytes: u64,
) -> Result<Access, Refused> {
    let own = reading.parsed("hitarea", "access", number::bytes)?;
    let hit_bytes = own.unwrap_or(hit_bytes);
    let mut share = 0.0_f64;
    for name in ["rhpct", "whpct"] {
        let percent = reading.parsed(name, "access", number::real)?.unwrap_or(0.0);
        if percent > 0.0 {
            share = share.max(percent / 100.0);
            match size {
                Some(_) => reading.near(name, Approximation::HitArea),
                None => reading.leave_out(name, OptionReason::NoWord),
            }
        }
    }
    match size.filter(|size| share > 0.0 && share <= 1.0 && *size > hit_bytes) {
        Some(size) => Ok(Access::HotBand {
            share: Share(share),
            band: Share(real(hit_bytes) / real(size)),
            start: Share(0.0),
        }),
        None => Ok(access),
    }
}

/// The range in use: the workload's own, or its hot band.
fn band(reading: &mut SectionReader<'_>, size: Option<u64>) -> Result<(f64, f64), Refused> {
    let Some(text) = reading.text("hotband", "span")? else { return range(reading, size) };
    let ends: Result<Vec<f64>, OptionReason> =
        number::parts(text).into_iter().map(number::real).collect();
    match ends.as_deref() {
        Ok([from, to]) if from < to && *to <= 100.0 => {
            reading.near("hotband", Approximation::HotBand);
            Ok((from / 100.0, to / 100.0))
        }
        Ok([_, _]) => {
            reading.leave_out("hotband", OptionReason::NoWord);
            Ok((0.0, 1.0))
        }
        _ => Err(reading.refusal("hotband", OptionReason::Value)),
    }
}
