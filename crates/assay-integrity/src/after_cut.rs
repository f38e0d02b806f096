//! What a block holds after a cut, against what was acknowledged before it: the newest version is
//! not known, but a stamp proves that its write was issued.

use crate::diagnosis::{BlockBefore, BlockState, Diagnosis, diagnose_over};
use crate::generations::Promise;
use crate::pattern::{BlockPattern, BlockStamp};
use crate::stamp::{SECTOR_BYTES, SectorAddress, WriteStamp, Writer};
use assay_model::number::{count_of, index_of};
use std::collections::{HashMap, HashSet};

/// What was written before a cut, and what of it was acknowledged.
#[derive(Debug)]
pub struct AfterCut {
    pattern: BlockPattern,
    block_bytes: u64,
    first_byte: u64,
    promises: HashMap<u64, u32>,
    /// When the promises were given, ns; empty where it is not known.
    promised_ns: HashMap<u64, u64>,
    earlier_runs: Vec<u32>,
}

/// What a block turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockAfterCut {
    /// Nothing of it was promised, and nothing is wrong with it.
    Unpromised,
    /// The promised version.
    Kept,
    /// A newer version, whose write had been issued and not been acknowledged.
    Newer,
    /// Sectors of several versions, all of them allowed: a write on its way was torn, at this byte;
    /// whether the block had been promised anything.
    Torn(u64, bool),
    /// Not what was promised; the newest version that the block may have had.
    Broken(Diagnosis, u32),
}

impl AfterCut {
    /// For blocks of a run that begin at `first_byte`, of which these versions are promised;
    /// `earlier_runs` wrote here before.
    pub fn new(
        run: u32,
        block_bytes: u64,
        first_byte: u64,
        promises: HashMap<u64, u32>,
        earlier_runs: Vec<u32>,
    ) -> Self {
        let promised_ns = HashMap::new();
        let pattern = BlockPattern::new(run, 0.0);
        Self { pattern, block_bytes, first_byte, promises, promised_ns, earlier_runs }
    }

    /// The same with the times at which the promises were given, ns.
    pub fn with_times(self, promised_ns: HashMap<u64, u64>) -> Self {
        Self { promised_ns, ..self }
    }

    /// When a block was promised last, ns.
    pub fn promised_ns(&self, block: u64) -> Option<u64> {
        self.promised_ns.get(&block).copied()
    }

    /// The last promise of all blocks but these, ns.
    pub fn last_kept_ns(&self, broken: &HashSet<u64>) -> Option<u64> {
        let kept = self.promised_ns.iter().filter(|(block, _)| !broken.contains(block));
        kept.map(|(_, time_ns)| *time_ns).max()
    }

    /// Bytes of a block.
    pub const fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Blocks of which something is promised.
    pub fn promised_blocks(&self) -> u64 {
        count_of(self.promises.len())
    }

    /// The promised version of a block; 0 where nothing is.
    pub fn promised(&self, block: u64) -> u32 {
        self.promises.get(&block).copied().unwrap_or_default()
    }

    fn address(&self, block: u64) -> SectorAddress {
        let sector = (self.first_byte + block * self.block_bytes) / count_of(SECTOR_BYTES);
        SectorAddress { target: 0, sector }
    }

    /// The newest version of a block that some sector proves to have been issued.
    fn issued(&self, first: SectorAddress, data: &[u8]) -> u32 {
        let mut address = first;
        let mut newest = 0;
        for sector in data.chunks_exact(SECTOR_BYTES) {
            let stamp = WriteStamp::read(sector)
                .filter(|stamp| stamp.run == self.pattern.run() && stamp.address == address);
            newest = newest.max(stamp.map_or(0, |stamp| stamp.generation));
            address = address.after(1);
        }
        newest
    }

    /// Judges a block.
    pub fn judge(&self, block: u64, data: &[u8]) -> BlockAfterCut {
        let (first, oldest) = (self.address(block), self.promised(block));
        if oldest > 0 && self.pattern.holds(data, first, oldest) {
            return BlockAfterCut::Kept;
        }
        let newest = oldest.max(self.issued(first, data));
        let promise = Promise { oldest, newest, seen: false, busy: false, reported: false };
        let before = BlockBefore::Unstamped(&self.earlier_runs);
        match diagnose_over(&self.pattern, data, first, &promise, before) {
            BlockState::Right(_) if oldest == 0 => BlockAfterCut::Unpromised,
            BlockState::Right(_) => BlockAfterCut::Newer,
            BlockState::Mixed(boundary_bytes) => BlockAfterCut::Torn(boundary_bytes, oldest > 0),
            BlockState::Wrong(diagnosis) => BlockAfterCut::Broken(diagnosis, newest),
        }
    }

    /// What a block would hold of the promised version.
    pub fn expected(&self, block: u64) -> Vec<u8> {
        let mut data = vec![0; index_of(self.block_bytes)];
        let (first, generation) = (self.address(block), self.promised(block));
        self.pattern.fill(&mut data, &BlockStamp { first, generation, writer: Writer::default() });
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::integrity::FaultKind;

    const RUN: u32 = 9;
    const EARLIER: u32 = 8;

    fn after(promises: &[(u64, u32)]) -> AfterCut {
        AfterCut::new(RUN, 8192, 1 << 20, promises.iter().copied().collect(), vec![EARLIER])
    }

    fn data(run: u32, block: u64, generation: u32) -> Vec<u8> {
        AfterCut::new(run, 8192, 1 << 20, [(block, generation)].into(), Vec::new()).expected(block)
    }

    fn kind(found: BlockAfterCut) -> FaultKind {
        match found {
            BlockAfterCut::Broken(diagnosis, _) => diagnosis.kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_promised_version_and_newer_ones_are_kept() {
        let after = after(&[(3, 2)]);
        assert_eq!(after.judge(3, &data(RUN, 3, 2)), BlockAfterCut::Kept);
        assert_eq!(after.judge(3, &data(RUN, 3, 7)), BlockAfterCut::Newer);
        assert_eq!(after.judge(4, &data(RUN, 4, 1)), BlockAfterCut::Unpromised);
        assert_eq!(after.judge(4, &[0x55; 8192]), BlockAfterCut::Unpromised);
        assert_eq!(after.promised_blocks(), 1);
    }

    #[test]
    fn an_older_version_is_lost_whatever_had_been_there() {
        let after = after(&[(3, 2)]);
        assert_eq!(kind(after.judge(3, &data(RUN, 3, 1))), FaultKind::Lost);
        assert_eq!(kind(after.judge(3, &data(EARLIER, 3, 40))), FaultKind::Lost);
        let filled: Vec<u8> = (0..8192u32).map(|at| (at % 251).to_le_bytes()[0]).collect();
        assert_eq!(kind(after.judge(3, &filled)), FaultKind::Lost);
        assert_eq!(kind(after.judge(3, &[0; 8192])), FaultKind::Zeroed);
        assert_eq!(kind(after.judge(3, &data(7, 3, 1))), FaultKind::OtherRun);
        assert_eq!(kind(after.judge(3, &data(RUN, 4, 2))), FaultKind::MisdirectedWrite);
    }

    #[test]
    fn torn_is_allowed_above_the_promise_and_a_fault_below_it() {
        let after = after(&[(3, 2)]);
        let mix = |one: Vec<u8>, other: Vec<u8>| [&one[..4096], &other[4096..]].concat();
        let newer = mix(data(RUN, 3, 3), data(RUN, 3, 2));
        assert_eq!(after.judge(3, &newer), BlockAfterCut::Torn(4096, true));
        let unpromised = mix(data(RUN, 4, 1), data(EARLIER, 4, 6));
        assert_eq!(after.judge(4, &unpromised), BlockAfterCut::Torn(4096, false));
        for old in [data(RUN, 3, 1), data(EARLIER, 3, 9)] {
            assert_eq!(kind(after.judge(3, &mix(data(RUN, 3, 2), old))), FaultKind::Torn);
        }
    }

    #[test]
    fn the_last_promise_that_was_kept_is_known() {
        let after = after(&[(3, 2), (4, 1), (5, 1)]).with_times([(3, 10), (4, 30), (5, 20)].into());
        assert_eq!(after.last_kept_ns(&HashSet::new()), Some(30));
        assert_eq!(after.last_kept_ns(&[4].into()), Some(20));
        assert_eq!(after.last_kept_ns(&[3, 4, 5].into()), None);
        assert_eq!((after.promised_ns(5), after.promised_ns(6)), (Some(20), None));
    }
}
