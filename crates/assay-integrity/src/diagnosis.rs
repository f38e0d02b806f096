//! What is wrong with a block that was read: a truth table over what its sectors hold and which
//! versions were allowed.

use crate::generations::Promise;
use crate::pattern::{BlockPattern, BlockStamp};
use crate::sector::{SectorContent, difference, is_mixture, look};
use crate::stamp::{SECTOR_BYTES, SectorAddress, WriteStamp, Writer};
use assay_model::integrity::FaultKind;
use assay_model::number::count_of;

/// What a block turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// One allowed version, whole.
    Right(u32),
    /// Sectors of several versions, each of them allowed; the byte at which the version first
    /// changes. A read that raced with a write may also have several versions within a sector:
    /// then the byte at which the first such sector begins.
    Mixed(u64),
    /// Wrong.
    Wrong(Diagnosis),
}

/// What is wrong with a block, and what its bytes show of how that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// What it is called.
    pub kind: FaultKind,
    /// The version that was found, 0 for what was there before the run.
    pub generation: Option<u32>,
    /// Writes that are missing.
    pub missing_writes: Option<u32>,
    /// The byte at which one version ends and another begins.
    pub boundary_bytes: Option<u64>,
    /// Where the first sector belongs that has no business here.
    pub belongs_to: Option<SectorAddress>,
    /// Number of the other run.
    pub other_run: Option<u32>,
    /// Inverted bits of the block.
    pub bits: Vec<u64>,
    /// First and last byte that is not that of the expected version.
    pub wrong_bytes: Option<(u64, u64)>,
}

impl Diagnosis {
    /// The read failed.
    pub const fn unreadable() -> Self {
        Self::of(FaultKind::Unreadable)
    }

    const fn of(kind: FaultKind) -> Self {
        Self {
            kind,
            generation: None,
            missing_writes: None,
            boundary_bytes: None,
            belongs_to: None,
            other_run: None,
            bits: Vec::new(),
            wrong_bytes: None,
        }
    }
}

/// What a block held before this run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockBefore<'a> {
    /// Anything: a sector without a stamp may be damaged as well as old.
    Anything,
    /// No stamp of this run: a sector without one, or with that of one of these runs, is version 0.
    Unstamped(&'a [u32]),
}

/// Says what a block is that begins at sector `first` and may hold what `promise` allows. A block
/// that this run never wrote is right, unless it holds data of this run that belongs elsewhere.
pub fn diagnose(
    pattern: &BlockPattern,
    block: &[u8],
    first: SectorAddress,
    promise: &Promise,
) -> BlockState {
    diagnose_over(pattern, block, first, promise, BlockBefore::Anything)
}

/// The same over what the block held before.
pub(crate) fn diagnose_over(
    pattern: &BlockPattern,
    block: &[u8],
    first: SectorAddress,
    promise: &Promise,
    before: BlockBefore<'_>,
) -> BlockState {
    if promise.newest == 0 {
        return never_written(pattern, block, first);
    }
    let sectors: Vec<SectorContent> = (0..)
        .zip(block.chunks_exact(SECTOR_BYTES))
        .map(|(index, sector)| look(pattern, sector, first.after(index), promise.newest))
        .collect();
    let versions: Option<Vec<u32>> =
        sectors.iter().map(|sector| version(sector, first, promise, before)).collect();
    let state = match versions {
        Some(versions) => of_versions(&versions, promise),
        None => of_race(pattern, block, first, promise, &sectors)
            .map_or_else(|| BlockState::Wrong(of_contents(&sectors)), BlockState::Mixed),
    };
    match state {
        BlockState::Wrong(found) => {
            let mut expected = vec![0; block.len()];
            let (generation, writer) = (promise.newest, Writer::default());
            pattern.fill(&mut expected, &BlockStamp { first, generation, writer });
            BlockState::Wrong(Diagnosis { wrong_bytes: difference(block, &expected), ..found })
        }
        fine => fine,
    }
}

/// Foreign content is none of our business; a sector of this run that belongs elsewhere is.
fn never_written(pattern: &BlockPattern, block: &[u8], first: SectorAddress) -> BlockState {
    let stamps = (0..).zip(block.chunks_exact(SECTOR_BYTES).map(WriteStamp::read));
    let mut strangers = stamps.filter_map(|(index, stamp)| {
        let stamp = stamp.filter(|stamp| stamp.run == pattern.run())?;
        (stamp.address != first.after(index)).then_some(stamp)
    });
    strangers.next().map_or(BlockState::Right(0), |stamp| {
        BlockState::Wrong(astray(stamp.address, stamp.generation))
    })
}

/// The version that a sector is of. What was there before the run is version 0, where that is
/// allowed or where the first write of the block may be the one that is missing.
fn version(
    sector: &SectorContent,
    first: SectorAddress,
    promise: &Promise,
    before: BlockBefore<'_>,
) -> Option<u32> {
    let may_be_old = promise.oldest == 0 || (promise.newest == 1 && !promise.seen);
    let (is_unstamped, earlier) = match before {
        BlockBefore::Anything => (false, &[][..]),
        BlockBefore::Unstamped(earlier) => (true, earlier),
    };
    match sector {
        SectorContent::Version(generation) => Some(*generation),
        SectorContent::Unstamped if may_be_old || is_unstamped => Some(0),
        SectorContent::Filled if promise.oldest == 0 => Some(0),
        SectorContent::OtherRun(run, address)
            if (may_be_old || earlier.contains(run)) && address.target == first.target =>
        {
            Some(0)
        }
        _ => None,
    }
}

/// Where the first sector begins that mixes allowed versions, if the read raced with a write and
/// nothing else is wrong: the page cache copies without a lock against writes, so that a racing
/// read may be torn at any byte.
fn of_race(
    pattern: &BlockPattern,
    block: &[u8],
    first: SectorAddress,
    promise: &Promise,
    sectors: &[SectorContent],
) -> Option<u64> {
    let mut mixed = None;
    for (index, (content, sector)) in
        (0..).zip(sectors.iter().zip(block.chunks_exact(SECTOR_BYTES)))
    {
        if version(content, first, promise, BlockBefore::Anything)
            .is_some_and(|version| promise.allows(version))
        {
            continue;
        }
        if !promise.busy || !may_be_mixed(pattern, content, sector, first.after(index), promise) {
            return None;
        }
        mixed = mixed.or(Some(index * count_of(SECTOR_BYTES)));
    }
    mixed
}

/// Whether a sector may hold bytes of several allowed versions. Those of before the run are not
/// known: until the first write has ended, any bytes may be some of them, but a whole stamp is
/// none.
fn may_be_mixed(
    pattern: &BlockPattern,
    content: &SectorContent,
    sector: &[u8],
    address: SectorAddress,
    promise: &Promise,
) -> bool {
    match content {
        SectorContent::Elsewhere(..) | SectorContent::OtherRun(..) => false,
        _ => promise.oldest == 0 || is_mixture(pattern, sector, address, promise.versions()),
    }
}

fn of_versions(versions: &[u32], promise: &Promise) -> BlockState {
    let first = versions.first().copied().unwrap_or_default();
    let boundary = versions.iter().position(|version| *version != first);
    let boundary_bytes = boundary.map(|sector| count_of(sector * SECTOR_BYTES));
    let allowed = versions.iter().all(|version| promise.allows(*version));
    match (allowed, boundary_bytes) {
        (true, None) => BlockState::Right(first),
        (true, Some(boundary_bytes)) => BlockState::Mixed(boundary_bytes),
        (false, None) => BlockState::Wrong(of_one_version(first, promise)),
        (false, Some(_)) => BlockState::Wrong(Diagnosis {
            generation: versions.iter().copied().max_by_key(|version| promise.age(*version)),
            boundary_bytes,
            ..Diagnosis::of(FaultKind::Torn)
        }),
    }
}

/// The whole block is of one version that is not allowed.
fn of_one_version(version: u32, promise: &Promise) -> Diagnosis {
    let kind = match (promise.age(version), promise.seen) {
        // Nobody in this run has written it.
        (None, _) => FaultKind::OtherRun,
        (Some(_), true) => FaultKind::Stale,
        (Some(_), false) => FaultKind::Lost,
    };
    Diagnosis {
        generation: Some(version),
        missing_writes: promise.age(version),
        ..Diagnosis::of(kind)
    }
}

/// The block has sectors that are of no version of it. What says most of how it came is named.
fn of_contents(sectors: &[SectorContent]) -> Diagnosis {
    misdirected(sectors)
        .or_else(|| sectors.iter().find_map(other_run))
        .or_else(|| in_place(sectors, shorn))
        .or_else(|| in_place(sectors, flipped))
        .or_else(|| {
            sectors.contains(&SectorContent::Filled).then(|| Diagnosis::of(FaultKind::Zeroed))
        })
        .unwrap_or_else(|| Diagnosis::of(FaultKind::Damaged))
}

fn misdirected(sectors: &[SectorContent]) -> Option<Diagnosis> {
    sectors.iter().find_map(|sector| match sector {
        SectorContent::Elsewhere(address, generation) => Some(astray(*address, *generation)),
        _ => None,
    })
}

/// Data of this run that belongs to another place.
fn astray(address: SectorAddress, generation: u32) -> Diagnosis {
    Diagnosis {
        generation: Some(generation),
        belongs_to: Some(address),
        ..Diagnosis::of(FaultKind::MisdirectedWrite)
    }
}

fn other_run(sector: &SectorContent) -> Option<Diagnosis> {
    match sector {
        SectorContent::OtherRun(run, _) => {
            Some(Diagnosis { other_run: Some(*run), ..Diagnosis::of(FaultKind::OtherRun) })
        }
        _ => None,
    }
}

fn in_place(
    sectors: &[SectorContent],
    find: impl Fn(&SectorContent, u64) -> Option<Diagnosis>,
) -> Option<Diagnosis> {
    let starts = (0u64..).step_by(SECTOR_BYTES);
    sectors.iter().zip(starts).find_map(|(sector, start_bytes)| find(sector, start_bytes))
}

fn shorn(sector: &SectorContent, start_bytes: u64) -> Option<Diagnosis> {
    match sector {
        SectorContent::Shorn { generation, byte } => Some(Diagnosis {
            generation: Some(*generation),
            boundary_bytes: Some(start_bytes + count_of(*byte)),
            ..Diagnosis::of(FaultKind::Shorn)
        }),
        _ => None,
    }
}

fn flipped(sector: &SectorContent, start_bytes: u64) -> Option<Diagnosis> {
    match sector {
        SectorContent::Flipped { generation, bits } => Some(Diagnosis {
            generation: Some(*generation),
            bits: bits.iter().map(|bit| start_bytes * 8 + count_of(*bit)).collect(),
            ..Diagnosis::of(FaultKind::BitFlip)
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
