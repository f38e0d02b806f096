//! The faults of a run: counted once each, the two ends of a misdirected write joined, the first
//! hundred kept whole.

use crate::diagnosis::Diagnosis;
use crate::stamp::{SECTOR_BYTES, SectorAddress};
use assay_model::integrity::{
    Fault, FaultCount, FaultKind, FaultMap, FaultPlace, FaultVersions, FoundBy,
};
use assay_model::number::count_of;
use std::collections::HashMap;
use std::fmt::Write;

/// Faults that are kept with both versions.
pub const FAULTS_KEPT: usize = 100;
/// Of a block, this much is kept of each version.
const BYTES_KEPT: usize = 64 << 10;
/// Ends of misdirected writes that wait for their other end.
const ENDS_MAX: usize = 1 << 20;
/// Parts of a map at most.
const PARTS_MAX: u64 = 64;

/// A block of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FaultyBlock {
    /// Number of the target.
    pub target: usize,
    /// Block of its table.
    pub block: u64,
}

/// A block that is not what it should be.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// Which block.
    pub place: FaultyBlock,
    /// The version that was last written.
    pub newest: u32,
    /// What is wrong with it.
    pub diagnosis: Diagnosis,
    /// Which read found it.
    pub found_by: FoundBy,
    /// Whether a second read was right.
    pub transient: bool,
}

/// A target as faults are reported on it.
#[derive(Clone, Debug, Default)]
pub struct FaultArea {
    /// Its name.
    pub name: String,
    /// Where its first block begins.
    pub first_byte: u64,
    /// Its blocks.
    pub blocks: u64,
}

impl FaultArea {
    /// Blocks of a part of its map.
    fn part_blocks(&self) -> u64 {
        self.blocks.div_ceil(PARTS_MAX).max(1)
    }
}

/// All faults of a run.
#[derive(Debug, Default)]
pub struct Faults {
    areas: Vec<FaultArea>,
    block_bytes: u64,
    /// Faulty blocks by target and part of its map.
    parts: HashMap<(usize, u64), u64>,
    counts: HashMap<FaultKind, u64>,
    kept: Vec<(FaultyBlock, FaultVersions)>,
    /// Blocks that miss writes, with the version found, the one expected, and what the fault was
    /// counted as.
    missing: HashMap<FaultyBlock, (u32, u32, FaultKind)>,
    /// Where data that was found elsewhere belongs, with its version.
    astray: HashMap<FaultyBlock, u32>,
}

impl Faults {
    /// None yet on these targets.
    pub fn new(areas: Vec<FaultArea>, block_bytes: u64) -> Self {
        Self { areas, block_bytes, ..Self::default() }
    }

    /// Takes a fault in; whether it counts. One that is the other end of a known misdirected write
    /// does not.
    pub fn add(&mut self, sighting: &Sighting, expected: &[u8], found: &[u8]) -> bool {
        let kind = kind(sighting);
        if self.is_known_end(sighting, kind) {
            return false;
        }
        self.note_ends(sighting, kind);
        *self.counts.entry(kind).or_default() += 1;
        *self.parts.entry(self.part(sighting.place)).or_default() += 1;
        if self.kept.len() < FAULTS_KEPT {
            let versions = FaultVersions {
                fault: self.fault(sighting, kind),
                expected_hex: hex(expected),
                found_hex: hex(found),
            };
            self.kept.push((sighting.place, versions));
        }
        true
    }

    /// Whether the block misses a write that was found elsewhere.
    fn is_known_end(&self, sighting: &Sighting, kind: FaultKind) -> bool {
        let found = sighting.diagnosis.generation.unwrap_or(0);
        is_missing_write(kind)
            && self
                .astray
                .get(&sighting.place)
                .is_some_and(|astray| *astray > found && *astray <= sighting.newest)
    }

    /// Remembers an end of what may be a misdirected write, and takes back the other end where it
    /// was counted.
    fn note_ends(&mut self, sighting: &Sighting, kind: FaultKind) {
        let found = sighting.diagnosis.generation.unwrap_or(0);
        if is_missing_write(kind) && self.missing.len() < ENDS_MAX {
            self.missing.insert(sighting.place, (found, sighting.newest, kind));
        }
        let Some(home) = self.home(sighting).filter(|_| kind == FaultKind::MisdirectedWrite) else {
            return;
        };
        if self.astray.len() < ENDS_MAX {
            self.astray.insert(home, found);
        }
        let counted = self.missing.get(&home).copied();
        if let Some((older, newest, kind)) = counted
            && found > older
            && found <= newest
        {
            self.missing.remove(&home);
            self.kept.retain(|(place, _)| *place != home);
            self.counts.entry(kind).and_modify(|blocks| *blocks = blocks.saturating_sub(1));
            let part = self.part(home);
            self.parts.entry(part).and_modify(|blocks| *blocks = blocks.saturating_sub(1));
        }
    }

    /// The part of a map that a block lies in.
    fn part(&self, place: FaultyBlock) -> (usize, u64) {
        let part_blocks = self.areas.get(place.target).map_or(1, FaultArea::part_blocks);
        (place.target, place.block / part_blocks)
    }

    /// The block that the data found belongs to.
    fn home(&self, sighting: &Sighting) -> Option<FaultyBlock> {
        let SectorAddress { target, sector } = sighting.diagnosis.belongs_to?;
        let target = usize::from(target);
        let offset_bytes = sector * count_of(SECTOR_BYTES);
        let within = offset_bytes.checked_sub(self.areas.get(target)?.first_byte)?;
        Some(FaultyBlock { target, block: within / self.block_bytes.max(1) })
    }

    fn fault(&self, sighting: &Sighting, kind: FaultKind) -> Fault {
        let Diagnosis { generation, missing_writes, boundary_bytes, other_run, .. } =
            sighting.diagnosis;
        let wrong = sighting.diagnosis.wrong_bytes;
        let belongs_to = sighting.diagnosis.belongs_to.map(|address| FaultPlace {
            target: self.name(usize::from(address.target)),
            offset_bytes: address.sector * count_of(SECTOR_BYTES),
        });
        Fault {
            kind,
            place: self.place(sighting.place),
            found_by: sighting.found_by,
            transient: sighting.transient,
            expected_generation: sighting.newest,
            found_generation: generation,
            missing_writes,
            boundary_bytes,
            belongs_to,
            other_run,
            bits: sighting.diagnosis.bits.clone(),
            first_wrong_bytes: wrong.map(|(first, _)| first),
            last_wrong_bytes: wrong.map(|(_, last)| last),
        }
    }

    fn name(&self, target: usize) -> String {
        self.areas.get(target).map_or_else(|| format!("target {target}"), |one| one.name.clone())
    }

    fn place(&self, place: FaultyBlock) -> FaultPlace {
        let first_byte = self.areas.get(place.target).map_or(0, |area| area.first_byte);
        let offset_bytes = first_byte + place.block * self.block_bytes;
        FaultPlace { target: self.name(place.target), offset_bytes }
    }

    /// Calls what is lost unserializable where it was promised before something that was kept:
    /// nothing that is stored in the order of its acknowledgements looks like this.
    pub fn find_broken_order(&mut self, is_before_kept: impl Fn(FaultyBlock) -> bool) {
        let is_lost = |kind: FaultKind| kind == FaultKind::Lost;
        let mut renamed = 0;
        for (place, (_, _, kind)) in &mut self.missing {
            if is_lost(*kind) && is_before_kept(*place) {
                *kind = FaultKind::Unserializable;
                renamed += 1;
            }
        }
        if renamed == 0 {
            return;
        }
        self.counts
            .entry(FaultKind::Lost)
            .and_modify(|blocks| *blocks = blocks.saturating_sub(renamed));
        *self.counts.entry(FaultKind::Unserializable).or_default() += renamed;
        for (place, versions) in &mut self.kept {
            if is_lost(versions.fault.kind) && is_before_kept(*place) {
                versions.fault.kind = FaultKind::Unserializable;
            }
        }
    }

    /// Faults by kind, in the order of the kinds.
    pub fn counts(&self) -> Vec<FaultCount> {
        let count = |kind: FaultKind| {
            let blocks = self.counts.get(&kind).copied().unwrap_or_default();
            (blocks > 0).then_some(FaultCount { kind, blocks })
        };
        FaultKind::ALL.into_iter().filter_map(count).collect()
    }

    /// Where they lie, for each target that has any.
    pub fn maps(&self) -> Vec<FaultMap> {
        let map = |(number, area): (usize, &FaultArea)| {
            let part_blocks = area.part_blocks();
            let parts = 0..area.blocks.div_ceil(part_blocks);
            let blocks = parts.map(|part| self.parts.get(&(number, part)).copied().unwrap_or(0));
            let map = FaultMap {
                target: area.name.clone(),
                first_byte: area.first_byte,
                part_bytes: part_blocks * self.block_bytes,
                blocks: blocks.collect(),
            };
            map.blocks.iter().any(|blocks| *blocks > 0).then_some(map)
        };
        self.areas.iter().enumerate().filter_map(map).collect()
    }

    /// The first faults, with both versions of their blocks.
    pub fn kept(&self) -> impl Iterator<Item = &FaultVersions> {
        self.kept.iter().map(|(_, versions)| versions)
    }
}

/// A misdirected read shows itself by a second read that is right.
fn kind(sighting: &Sighting) -> FaultKind {
    match sighting.diagnosis.kind {
        FaultKind::MisdirectedWrite if sighting.transient => FaultKind::MisdirectedRead,
        kind => kind,
    }
}

/// Whether a fault is that a write is not where it should be.
const fn is_missing_write(kind: FaultKind) -> bool {
    matches!(kind, FaultKind::Lost | FaultKind::Stale | FaultKind::Torn)
}

fn hex(bytes: &[u8]) -> String {
    let kept = &bytes[..bytes.len().min(BYTES_KEPT)];
    kept.iter().fold(String::with_capacity(kept.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::BlockState;
    use crate::generations::Promise;
    use crate::pattern::{BlockPattern, BlockStamp};
    use crate::stamp::Writer;

    /// A block of version 1 where version 2 is promised.
    fn lost(block: u64) -> Sighting {
        let (pattern, mut data) = (BlockPattern::new(1, 0.0), vec![0; 8192]);
        let first = SectorAddress { target: 0, sector: block * 16 };
        pattern.fill(&mut data, &BlockStamp { first, generation: 1, writer: Writer::default() });
        let promise = Promise { oldest: 2, newest: 2, seen: false, busy: false, reported: false };
        let BlockState::Wrong(diagnosis) = crate::diagnose(&pattern, &data, first, &promise) else {
            panic!("an older version is wrong")
        };
        let place = FaultyBlock { target: 0, block };
        Sighting { place, newest: 2, diagnosis, found_by: FoundBy::Sweep, transient: false }
    }

    fn faults(blocks: &[u64]) -> Faults {
        let area = FaultArea { name: "d".to_owned(), first_byte: 0, blocks: 1000 };
        let mut faults = Faults::new(vec![area], 8192);
        for block in blocks {
            assert!(faults.add(&lost(*block), &[], &[]));
        }
        faults
    }

    #[test]
    fn what_was_promised_before_something_that_was_kept_is_out_of_order() {
        let mut found = faults(&[3, 700, 999]);
        found.find_broken_order(|place| place.block == 700);
        let count = |kind, blocks| FaultCount { kind, blocks };
        assert_eq!(
            found.counts(),
            [count(FaultKind::Lost, 2), count(FaultKind::Unserializable, 1)]
        );
        let kinds: Vec<FaultKind> = found.kept().map(|versions| versions.fault.kind).collect();
        assert_eq!(kinds, [FaultKind::Lost, FaultKind::Unserializable, FaultKind::Lost]);
        let mut in_order = faults(&[3]);
        in_order.find_broken_order(|_| false);
        assert_eq!(in_order.counts(), [count(FaultKind::Lost, 1)]);
    }

    #[test]
    fn a_map_has_every_fault_in_its_part() {
        let maps = faults(&[0, 1, 15, 16, 999]).maps();
        assert_eq!((maps.len(), maps[0].part_bytes, maps[0].blocks.len()), (1, 16 * 8192, 63));
        assert_eq!((maps[0].blocks[0], maps[0].blocks[1], maps[0].blocks[62]), (3, 1, 1));
        assert_eq!(maps[0].blocks.iter().sum::<u64>(), 5);
        assert!(faults(&[]).maps().is_empty());
    }
}
