//! Writes and reads 10^8 sectors of a device in memory that keeps what it promises, while writes
//! complete in any order, fail, are cut short, and syncs fail and lose what they should have kept:
//! how many false alarms there are, and what stamping and checking cost.
//!
//! `cargo run --release -p assay-integrity --example clean_sectors [SECTORS]`
#![allow(clippy::print_stdout, reason = "an example prints")]

use assay_integrity::{
    BlockPattern, BlockStamp, BlockState, Generations, SECTOR_BYTES, SectorAddress, UnsyncedWrite,
    UnsyncedWrites, Writer, diagnose,
};
use assay_model::number::{count_of, index_of, real};
use assay_stats::random::Random;
use std::time::{Duration, Instant};

const BLOCK_BYTES: usize = 8192;
const BLOCKS: u64 = 8192;
const SECTORS: u64 = 16;
/// Writes that are on their way at once, and complete in any order.
const OUTSTANDING: usize = 64;
/// Chance that a round has a sync.
const SYNC_SHARE: f64 = 0.02;
/// Chance that a sync fails.
const FAILED_SYNC_SHARE: f64 = 0.05;

struct Device {
    pattern: BlockPattern,
    table: Generations,
    unsynced: UnsyncedWrites,
    blocks: Vec<u8>,
    /// What the medium holds; blocks that were written since the last sync.
    medium: Vec<u8>,
    touched: Vec<u64>,
    failed_syncs: u64,
    failed_writes: u64,
    /// What the device holds once writes on their way have arrived.
    arriving: Vec<(UnsyncedWrite, Vec<u8>)>,
    random: Random,
    stamping: Duration,
    checking: Duration,
}

const fn first(block: u64) -> SectorAddress {
    SectorAddress { target: 0, sector: 8 + block * SECTORS }
}

impl Device {
    fn new() -> Self {
        Self {
            pattern: BlockPattern::new(1, 0.0),
            table: Generations::new(BLOCKS),
            unsynced: UnsyncedWrites::default(),
            blocks: vec![0; index_of(BLOCKS) * BLOCK_BYTES],
            medium: vec![0; index_of(BLOCKS) * BLOCK_BYTES],
            touched: Vec::new(),
            failed_syncs: 0,
            failed_writes: 0,
            arriving: Vec::new(),
            random: Random::new(1),
            stamping: Duration::ZERO,
            checking: Duration::ZERO,
        }
    }

    fn write(&mut self, sequence: u64) {
        let block = self.random.below(BLOCKS);
        let Some(begun) = self.table.begin(block) else { return };
        let mut data = vec![0; BLOCK_BYTES];
        let writer = Writer { worker: 1, sequence, sectors: 16 };
        let began = Instant::now();
        let stamp = BlockStamp { first: first(block), generation: begun.generation, writer };
        self.pattern.fill(&mut data, &stamp);
        self.stamping += began.elapsed();
        let generation = begun.generation;
        let write = UnsyncedWrite { block, generation, oldest_before: begun.oldest_before };
        self.arriving.push((write, data));
    }

    /// One write in a hundred fails, and leaves the old data, the new, or some sectors of each.
    fn arrive(&mut self) {
        let chosen = index_of(self.random.below(count_of(self.arriving.len())));
        let (write, data) = self.arriving.swap_remove(chosen);
        let start = index_of(write.block) * BLOCK_BYTES;
        self.touched.push(write.block);
        if self.random.chance(0.99) {
            self.blocks[start..start + BLOCK_BYTES].copy_from_slice(&data);
            let oldest_before = self.table.complete(write.block, write.oldest_before);
            return self.unsynced.push(UnsyncedWrite { oldest_before, ..write });
        }
        self.failed_writes += 1;
        let kept = index_of(self.random.below(SECTORS + 1)) * SECTOR_BYTES;
        self.blocks[start..start + kept].copy_from_slice(&data[..kept]);
        self.table.fail(write.block, write.oldest_before);
    }

    /// A sync; one that fails may have kept a write or not, and says so once.
    fn sync(&mut self) {
        let fails = self.random.chance(FAILED_SYNC_SHARE);
        for block in std::mem::take(&mut self.touched) {
            let place = index_of(block) * BLOCK_BYTES..(index_of(block) + 1) * BLOCK_BYTES;
            if fails && self.random.chance(0.5) {
                self.blocks[place.clone()].copy_from_slice(&self.medium[place]);
            } else {
                self.medium[place.clone()].copy_from_slice(&self.blocks[place]);
            }
        }
        if fails {
            self.failed_syncs += 1;
            for write in self.unsynced.fail() {
                self.table.doubt(write.block, write.oldest_before);
            }
        } else {
            self.unsynced.cover(self.unsynced.mark(), |_| ());
        }
    }

    fn is_right(&mut self) -> bool {
        let block = self.random.below(BLOCKS);
        let start = index_of(block) * BLOCK_BYTES;
        let data = &self.blocks[start..start + BLOCK_BYTES];
        let promise = self.table.promise(block);
        let began = Instant::now();
        let right = promise.is_strict() && self.pattern.holds(data, first(block), promise.newest);
        self.checking += began.elapsed();
        right
            || !matches!(
                diagnose(&self.pattern, data, first(block), &promise),
                BlockState::Wrong(_)
            )
    }
}

fn main() {
    let wanted = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000_000);
    let mut device = Device::new();
    let (mut sectors, mut rounds, mut alarms) = (0, 0, 0);
    while sectors < wanted {
        rounds += 1;
        device.write(rounds);
        while device.arriving.len() > OUTSTANDING {
            device.arrive();
        }
        if device.random.chance(SYNC_SHARE) {
            device.sync();
        }
        alarms += u64::from(!device.is_right());
        sectors += SECTORS;
    }
    let (writes, syncs) = (device.failed_writes, device.failed_syncs);
    println!(
        "{sectors} sectors checked, {alarms} false alarms; {writes} writes and {syncs} syncs \
         failed"
    );
    let mean_ns = |time: Duration| time.as_secs_f64() * 1e9 / real(rounds);
    let (stamping_ns, checking_ns) = (mean_ns(device.stamping), mean_ns(device.checking));
    println!("8 KiB from memory: stamping {stamping_ns:.0} ns, checking {checking_ns:.0} ns");
    let (stamping_ns, checking_ns) = hot_ns(&device.pattern);
    println!("8 KiB from the cache: stamping {stamping_ns:.0} ns, checking {checking_ns:.0} ns");
}

/// The shortest mean over a thousand blocks of a buffer that stays in the cache: other programs can
/// only lengthen it.
fn hot_ns(pattern: &BlockPattern) -> (f64, f64) {
    let mut data = vec![0; BLOCK_BYTES];
    let (mut stamping, mut checking) = (Duration::MAX, Duration::MAX);
    for _ in 0..200 {
        let began = Instant::now();
        for generation in 1..=1000 {
            let writer = Writer { worker: 1, sequence: 1, sectors: 16 };
            pattern.fill(&mut data, &BlockStamp { first: first(9), generation, writer });
        }
        stamping = stamping.min(began.elapsed());
        let began = Instant::now();
        let right =
            (0..1000).filter(|_| pattern.holds(std::hint::black_box(&data), first(9), 1000));
        assert_eq!(right.count(), 1000);
        checking = checking.min(began.elapsed());
    }
    (stamping.as_secs_f64() * 1e6, checking.as_secs_f64() * 1e6)
}
