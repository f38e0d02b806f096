//! Campaigns of cuts on devices whose truth is known.

use super::*;
use crate::crash::{CacheBehaviour, CacheOrder};
use crate::pattern::BlockStamp;
use crate::stamp::Writer;

const BLOCK: u64 = 8192;
const BLOCKS: u64 = 256;

/// A log of stamped writes of 8 KiB to random blocks, a tenth of them flushed behind it and a tenth
/// with FUA.
fn recorded(seed: u64, writes: u64) -> WriteLog {
    recorded_with(seed, writes, BLOCKS, 0.1)
}

/// The same with another number of blocks and another share of FUA writes.
fn recorded_with(seed: u64, writes: u64, blocks: u64, fua_share: f64) -> WriteLog {
    let (mut log, mut random) = (WriteLog::new(), Random::new(seed));
    let (pattern, mut versions) = (BlockPattern::new(9, 0.0), vec![0; index_of(blocks)]);
    let mut data = vec![0; index_of(BLOCK)];
    for sequence in 0..writes {
        let block = random.below(blocks);
        let generation = &mut versions[index_of(block)];
        *generation += 1;
        let first = SectorAddress { target: 0, sector: block * 16 };
        let writer = Writer { worker: 0, sequence, sectors: 16 };
        pattern.fill(&mut data, &BlockStamp { first, generation: *generation, writer });
        log.push_write(block * BLOCK, &data, random.chance(fua_share));
        if random.chance(0.1) {
            log.push_flush();
        }
    }
    log
}

fn model(behaviour: CacheBehaviour) -> CrashModel {
    CrashModel { behaviour, ..CrashModel::default() }
}

#[test]
fn a_conforming_device_is_never_refuted() {
    for log in [recorded(1, 2000), recorded_with(2, 2000, 32, 0.5)] {
        let stamped = StampedLog::new(&log).unwrap();
        assert_eq!(stamped.writes(), 2000);
        is_never_refuted(&stamped);
    }
}

fn is_never_refuted(stamped: &StampedLog<'_>) {
    for order in [CacheOrder::Any, CacheOrder::Fifo] {
        for unit_bytes in [512, 4096, 16_384] {
            for region_bytes in [0, 65_536] {
                let model = CrashModel { order, unit_bytes, region_bytes, ..CrashModel::default() };
                let results = stamped.cut(model, 200, 3);
                assert_eq!(
                    (results.states, results.refuted_states),
                    (200, 0),
                    "{model:?} {results:?}"
                );
                assert!(results.blocks > 200);
            }
        }
    }
}

#[test]
fn every_lying_device_is_refuted_within_five_cuts() {
    for behaviour in
        CacheBehaviour::ALL.into_iter().filter(|one| *one != CacheBehaviour::Conforming)
    {
        let refuted = (0..100).filter(|seed| {
            // A lie shows only where something was promised: half of the writes are durable by
            // themselves, and most blocks were written before.
            let log = recorded_with(*seed, 200, 32, 0.5);
            StampedLog::new(&log).unwrap().cut(model(behaviour), 5, *seed).is_refuted()
        });
        let refuted = refuted.count();
        assert!(refuted >= 99, "{behaviour:?}: {refuted} of 100 campaigns");
    }
}

#[test]
fn the_atomic_unit_is_named() {
    for unit_bytes in [512, 1024, 4096] {
        let right = (0..100).filter(|seed| {
            let log = recorded(*seed, 400);
            let model = CrashModel { unit_bytes, ..CrashModel::default() };
            let results = StampedLog::new(&log).unwrap().cut(model, 40, *seed);
            results.atomic_unit_bytes == unit_bytes
        });
        let right = right.count();
        assert!(right >= 95, "{unit_bytes}: {right} of 100");
    }
    let model = CrashModel { unit_bytes: BLOCK, ..CrashModel::default() };
    let results = StampedLog::new(&recorded(1, 400)).unwrap().cut(model, 400, 1);
    assert_eq!((results.torn_blocks, results.atomic_unit_bytes), (0, 0));
}

#[test]
fn ten_thousand_states_are_repeatable() {
    let log = recorded(5, 3000);
    let stamped = StampedLog::new(&log).unwrap();
    let results = stamped.cut(CrashModel::default(), 10_000, 7);
    assert_eq!((results.states, results.refuted_states), (10_000, 0));
    let repeated = || stamped.cut(CrashModel::default(), 100, 7);
    assert_eq!(repeated(), repeated());
}

#[test]
fn kinds_of_damage_are_named() {
    let log = recorded(6, 400);
    let stamped = StampedLog::new(&log).unwrap();
    let kinds = |behaviour| -> Vec<FaultKind> {
        stamped.cut(model(behaviour), 200, 1).faults.into_keys().collect()
    };
    assert_eq!(kinds(CacheBehaviour::Zeroes), [FaultKind::Zeroed]);
    assert_eq!(kinds(CacheBehaviour::Garbles), [FaultKind::Damaged]);
    assert!(kinds(CacheBehaviour::IgnoresFlush(1 << 20)).contains(&FaultKind::Torn));
}

#[test]
fn an_image_holds_what_a_state_holds() {
    let log = recorded(8, 300);
    let mut device = CrashDevice::new(&log, CrashModel::default());
    while device.completed() < 200 && device.step() {}
    let state = device.cut(4);
    let mut image = vec![0; index_of(BLOCKS * BLOCK)];
    state
        .write_image(|start, sector| {
            let start = index_of(start);
            image[start..start + sector.len()].copy_from_slice(sector);
            Ok::<(), ()>(())
        })
        .unwrap();
    let mut read = vec![0; image.len()];
    state.read(0, &mut read);
    assert!(image == read && image.iter().any(|byte| *byte != 0));
}

#[test]
fn stamps_of_another_place_are_refused() {
    let (mut log, mut data) = (WriteLog::new(), vec![0; 512]);
    let first = SectorAddress { target: 0, sector: 9 };
    let stamp = BlockStamp { first, generation: 1, writer: Writer::default() };
    BlockPattern::new(1, 0.0).fill(&mut data, &stamp);
    log.push_write(4096, &data, false);
    let error = StampedLog::new(&log).unwrap_err().to_string();
    assert!(error.contains("another address"), "{error}");
}

#[test]
fn a_log_without_stamps_is_refused() {
    let mut log = WriteLog::new();
    log.push_write(0, &[1; 4096], false);
    let error = StampedLog::new(&log).unwrap_err().to_string();
    assert!(error.contains("have no stamps"), "{error}");
}
