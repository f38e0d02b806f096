//! What a simulated device holds: the last stamp of each block, from which its bytes follow, and
//! what failures did to it.

use crate::pattern::{BlockPattern, BlockStamp};
use crate::stamp::{SECTOR_BYTES, SectorAddress, WriteStamp, Writer};
use assay_model::device::{DataLoss, DeviceIo, Extent};
use assay_model::integrity::SimulatedLoss;
use assay_model::number::{count_of, index_of};
use assay_stats::random::mix;
use std::collections::{HashMap, HashSet};

/// Older versions kept of a block. A write cache holds fewer writes of one block: it works them off
/// in their order.
const OLDER_MAX: usize = 1024;

/// One write of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockVersion {
    /// The number of the I/O.
    number: u32,
    generation: u32,
    writer: Writer,
}

/// A block that does not hold what was written last.
#[derive(Clone, Copy, Debug)]
struct WrongBlock {
    /// Reads with a larger number return it.
    since: u32,
    seen: bool,
}

/// The content of a simulated device of blocks of one size.
#[derive(Debug)]
pub struct SimulatedContent {
    pattern: BlockPattern,
    block_bytes: u64,
    newest: HashMap<u64, BlockVersion>,
    /// Before the newest one, oldest first; kept while something may yet be lost.
    older: HashMap<u64, Vec<BlockVersion>>,
    keeps_older: bool,
    /// Numbers of lost writes that have not completed.
    lost: HashSet<u32>,
    /// Numbers of writes that one member missed.
    missed: HashSet<u32>,
    /// Reads under way that a member with old data answers, in parts.
    outdated_reads: HashMap<u32, Vec<Extent>>,
    lost_blocks: HashMap<u64, WrongBlock>,
    stale_blocks: HashMap<u64, WrongBlock>,
    last_number: u32,
    tally: SimulatedLoss,
}

impl SimulatedContent {
    /// An empty device; `may_lose` says that it can fail, for which older versions are kept.
    pub fn new(pattern: BlockPattern, block_bytes: u64, may_lose: bool) -> Self {
        Self {
            pattern,
            block_bytes,
            newest: HashMap::new(),
            older: HashMap::new(),
            keeps_older: may_lose,
            lost: HashSet::new(),
            missed: HashSet::new(),
            outdated_reads: HashMap::new(),
            lost_blocks: HashMap::new(),
            stale_blocks: HashMap::new(),
            last_number: 0,
            tally: SimulatedLoss::default(),
        }
    }

    /// The number of the next I/O.
    pub const fn next_number(&mut self) -> u32 {
        self.last_number = self.last_number.wrapping_add(1);
        self.last_number
    }

    /// What the device did to its data so far.
    pub const fn tally(&self) -> SimulatedLoss {
        self.tally
    }

    /// A write has completed; `stamps` are those of its blocks.
    pub fn write(&mut self, io: &DeviceIo, stamps: &[WriteStamp]) {
        let was_lost = self.lost.remove(&io.number);
        for (block, stamp) in self.blocks(extent(io)).zip(stamps) {
            if was_lost {
                self.lose(block);
                continue;
            }
            if let Some(wrong) = self.lost_blocks.remove(&block) {
                self.tally.rewritten_blocks += u64::from(!wrong.seen);
            }
            let WriteStamp { generation, writer, .. } = *stamp;
            let version = BlockVersion { number: io.number, generation, writer };
            if let Some(before) = self.newest.insert(block, version) {
                self.keep(block, before);
            }
        }
    }

    fn keep(&mut self, block: u64, before: BlockVersion) {
        if !self.keeps_older {
            return;
        }
        let older = self.older.entry(block).or_default();
        if older.len() == OLDER_MAX {
            older.remove(0);
        }
        older.push(before);
    }

    /// The bytes that a read returns.
    pub fn read(&mut self, io: &DeviceIo, buffer: &mut [u8]) {
        let outdated = self.outdated_reads.remove(&io.number).unwrap_or_default();
        let bytes = index_of(self.block_bytes);
        for (block, data) in self.blocks(extent(io)).zip(buffer.chunks_exact_mut(bytes)) {
            self.fill(block, self.newest.get(&block), data);
            see(&mut self.lost_blocks, block, io.number);
            let is_outdated = outdated.iter().any(|part| overlaps(*part, self.place(block)));
            if is_outdated && self.fill_outdated(block, &outdated, data) {
                see(&mut self.stale_blocks, block, io.number);
            }
        }
    }

    fn fill(&self, block: u64, version: Option<&BlockVersion>, data: &mut [u8]) {
        let Some(BlockVersion { generation, writer, .. }) = version.copied() else {
            return fill_unwritten(self.place(block).offset, data);
        };
        let first = self.first_sector(block);
        self.pattern.fill(data, &BlockStamp { first, generation, writer });
    }

    /// The sectors that the member with old data answers hold the last version that it did not
    /// miss; whether that is an old one.
    fn fill_outdated(&self, block: u64, parts: &[Extent], data: &mut [u8]) -> bool {
        let older = self.older.get(&block).map_or(&[][..], Vec::as_slice);
        let held = self.newest.get(&block).into_iter().chain(older.iter().rev());
        let held = held.into_iter().find(|version| !self.missed.contains(&version.number));
        if held == self.newest.get(&block) {
            return false;
        }
        let mut old = vec![0; data.len()];
        self.fill(block, held, &mut old);
        let mut at = self.place(block).offset;
        for (sector, old) in data.chunks_mut(SECTOR_BYTES).zip(old.chunks(SECTOR_BYTES)) {
            let bytes = count_of(SECTOR_BYTES);
            if parts.iter().any(|part| overlaps(*part, Extent { offset: at, bytes })) {
                sector.copy_from_slice(old);
            }
            at += bytes;
        }
        true
    }

    /// Takes what happened to data.
    pub fn take(&mut self, losses: &mut Vec<DataLoss>) {
        for loss in losses.drain(..) {
            match loss {
                DataLoss::Write(io) => self.lose_write(&io),
                DataLoss::Missed(io) => drop(self.missed.insert(io.number)),
                DataLoss::Outdated(part) => self.outdate(part),
                DataLoss::Renewed(part) => self.renew(part),
                DataLoss::OutdatedRead { number, extent } => {
                    self.outdated_reads.entry(number).or_default().push(extent);
                }
                DataLoss::Over => self.forget_older(),
            }
        }
    }

    fn lose_write(&mut self, io: &DeviceIo) {
        self.tally.lost_writes += 1;
        for block in self.blocks(extent(io)) {
            if self.newest.get(&block).is_some_and(|version| version.number == io.number) {
                match self.older.get_mut(&block).and_then(Vec::pop) {
                    Some(before) => drop(self.newest.insert(block, before)),
                    None => drop(self.newest.remove(&block)),
                }
                self.lose(block);
            } else if let Some(older) = self.older.get_mut(&block)
                && let Some(at) = older.iter().position(|version| version.number == io.number)
            {
                older.remove(at);
            } else {
                self.lost.insert(io.number);
            }
        }
    }

    fn lose(&mut self, block: u64) {
        let wrong = WrongBlock { since: self.last_number, seen: false };
        if self.lost_blocks.insert(block, wrong).is_none() {
            self.tally.lost_blocks += 1;
        }
    }

    fn outdate(&mut self, part: Extent) {
        for block in self.blocks(part) {
            let wrong = WrongBlock { since: self.last_number, seen: false };
            if self.stale_blocks.insert(block, wrong).is_none() {
                self.tally.stale_blocks += 1;
            }
        }
    }

    fn renew(&mut self, part: Extent) {
        for block in self.blocks(part) {
            if let Some(wrong) = self.stale_blocks.remove(&block) {
                self.tally.rewritten_blocks += u64::from(!wrong.seen);
            }
        }
    }

    /// What was overwritten is needed where a member answers with it, and nowhere else.
    fn forget_older(&mut self) {
        self.keeps_older = false;
        let stale_blocks = &self.stale_blocks;
        self.older.retain(|block, _| stale_blocks.contains_key(block));
    }

    fn blocks(&self, part: Extent) -> std::ops::Range<u64> {
        part.offset / self.block_bytes..(part.offset + part.bytes).div_ceil(self.block_bytes)
    }

    const fn place(&self, block: u64) -> Extent {
        Extent { offset: block * self.block_bytes, bytes: self.block_bytes }
    }

    fn first_sector(&self, block: u64) -> SectorAddress {
        SectorAddress { target: 0, sector: block * self.block_bytes / count_of(SECTOR_BYTES) }
    }
}

fn extent(io: &DeviceIo) -> Extent {
    Extent { offset: io.offset, bytes: u64::from(io.bytes) }
}

/// What was there before: neither zeros, which storage may make of what it lost, nor a stamp.
fn fill_unwritten(offset: u64, data: &mut [u8]) {
    for (word, bytes) in (offset / 8..).zip(data.chunks_mut(8)) {
        bytes.copy_from_slice(&mix(word).to_le_bytes()[..bytes.len()]);
    }
}

const fn overlaps(one: Extent, other: Extent) -> bool {
    one.offset < other.offset + other.bytes && other.offset < one.offset + one.bytes
}

fn see(wrong: &mut HashMap<u64, WrongBlock>, block: u64, number: u32) {
    if let Some(wrong) = wrong.get_mut(&block).filter(|wrong| number > wrong.since) {
        wrong.seen = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u32 = 8192;

    fn content() -> SimulatedContent {
        SimulatedContent::new(BlockPattern::new(7, 0.0), u64::from(BLOCK), true)
    }

    fn write(content: &mut SimulatedContent, block: u64, generation: u32) -> DeviceIo {
        let number = content.next_number();
        let io = DeviceIo { number, ..DeviceIo::write(block * u64::from(BLOCK), BLOCK) };
        let address = content.first_sector(block);
        content
            .write(&io, &[WriteStamp { run: 7, address, generation, writer: Writer::default() }]);
        io
    }

    /// The versions of all sectors of a block, 0 where nothing was written.
    fn read(content: &mut SimulatedContent, block: u64, outdated: Option<Extent>) -> Vec<u32> {
        let number = content.next_number();
        if let Some(extent) = outdated {
            content.take(&mut vec![DataLoss::OutdatedRead { number, extent }]);
        }
        let mut buffer = vec![1; BLOCK as usize];
        let io = DeviceIo { number, ..DeviceIo::read(block * u64::from(BLOCK), BLOCK) };
        content.read(&io, &mut buffer);
        let sectors = buffer.chunks(SECTOR_BYTES);
        sectors.map(|sector| WriteStamp::read(sector).map_or(0, |stamp| stamp.generation)).collect()
    }

    #[test]
    fn a_block_holds_its_newest_version_and_loses_it() {
        let mut content = content();
        assert_eq!(read(&mut content, 5, None), [0; 16]);
        write(&mut content, 5, 1);
        let [second, third] = [2, 3].map(|generation| write(&mut content, 5, generation));
        assert_eq!(read(&mut content, 5, None), [3; 16]);
        content.take(&mut vec![DataLoss::Write(second), DataLoss::Write(third), DataLoss::Over]);
        let expected = SimulatedLoss { lost_writes: 2, lost_blocks: 1, ..Default::default() };
        assert_eq!(content.tally(), expected);
        assert_eq!(read(&mut content, 5, None), [1; 16]);
        // It was read, so that writing it hides nothing.
        write(&mut content, 5, 4);
        assert_eq!((content.tally().rewritten_blocks, content.tally().to_be_found()), (0, 1));
    }

    #[test]
    fn what_is_written_again_unread_is_counted_as_hidden() {
        let mut content = content();
        let only = write(&mut content, 0, 1);
        content.take(&mut vec![DataLoss::Write(only)]);
        write(&mut content, 0, 2);
        assert_eq!((content.tally().lost_blocks, content.tally().to_be_found()), (1, 0));
        assert_eq!(read(&mut content, 0, None), [2; 16]);
    }

    #[test]
    fn a_write_that_is_lost_before_it_completes_is_lost() {
        let mut content = content();
        write(&mut content, 0, 1);
        let number = content.next_number();
        let io = DeviceIo { number, ..DeviceIo::write(0, BLOCK) };
        content.take(&mut vec![DataLoss::Write(io)]);
        let address = content.first_sector(0);
        content.write(
            &io,
            &[WriteStamp { run: 7, address, generation: 2, writer: Writer::default() }],
        );
        assert_eq!(read(&mut content, 0, None), [1; 16]);
        assert_eq!(content.tally().lost_blocks, 1);
    }

    #[test]
    fn a_member_answers_what_it_did_not_miss_in_its_part() {
        let mut content = content();
        write(&mut content, 1, 1);
        let missed = write(&mut content, 1, 2);
        let part = Extent { offset: 8192 + 4096, bytes: 4096 };
        content.take(&mut vec![DataLoss::Missed(missed), DataLoss::Outdated(part), DataLoss::Over]);
        assert_eq!(read(&mut content, 1, None), [2; 16]);
        assert_eq!(read(&mut content, 1, Some(part)), [[2; 8], [1; 8]].concat());
        assert_eq!((content.tally().stale_blocks, content.tally().to_be_found()), (1, 1));
        content.take(&mut vec![DataLoss::Renewed(part)]);
        assert_eq!(content.tally().rewritten_blocks, 0);
    }
}
