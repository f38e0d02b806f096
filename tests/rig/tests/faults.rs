//! Every scripted fault, by real direct I/O through the kernel, held against the rig's own log.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_model::units::{Bytes, Nanos};
use assay_rig::direct::{self, Buffer};
use assay_rig::{Effect, Entry, Errno, Fault, Log, Operation, Rig, Script, checksum, or_skip};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const SIZE: u64 = 1 << 20;
const BLOCK: usize = 4096;

fn script(fault: Fault) -> Script {
    Script::new().seed(11).file("data", SIZE).fault(fault)
}

fn open(rig: &Rig) -> File {
    direct::open(&rig.path("data")).unwrap()
}

fn read(file: &File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut buffer = Buffer::new(length, 0);
    let got = file.read_at(&mut buffer, offset)?;
    Ok(buffer[..got].to_vec())
}

fn write(file: &File, offset: u64, value: u8, length: usize) -> io::Result<usize> {
    file.write_at(&Buffer::new(length, value), offset)
}

fn errno(result: &io::Result<impl Sized>) -> Option<i32> {
    result.as_ref().err().and_then(io::Error::raw_os_error)
}

/// The operations that the log says a fault happened to.
fn faulty(log: &Log) -> Vec<&Entry> {
    log.faulty().collect()
}

#[test]
fn a_healthy_rig_returns_its_content_and_what_was_written() {
    let rig = or_skip!(Rig::mount(&Script::new().file("data", SIZE)));
    let file = open(&rig);
    assert_eq!(file.metadata().unwrap().len(), SIZE);
    assert_eq!(read(&file, 8192, BLOCK).unwrap(), rig.stored("data", 8192, 4096));
    assert_eq!(write(&file, 8192, 5, BLOCK).unwrap(), BLOCK);
    file.sync_data().unwrap();
    assert_eq!(read(&file, 8192, BLOCK).unwrap(), [5; BLOCK]);
    let log = rig.log();
    let what: Vec<Operation> = log.entries.iter().map(|entry| entry.operation).collect();
    assert_eq!(what, [Operation::Read, Operation::Write, Operation::Sync, Operation::Read]);
    assert_eq!(log.entries[1].checksum, Some(checksum(&[5; BLOCK])));
    assert_eq!(log.entries[1].checksum, log.entries[3].checksum);
    assert_eq!(log.writes().count(), 2);
    assert!(log.entries.iter().all(|entry| entry.arrival_ns <= entry.completion_ns));
    assert_eq!(rig.statistics().write.bytes, 4096);
}

#[test]
fn eio_strikes_exactly_the_range() {
    let fault = Fault::error(Errno::EIO).on(&[Operation::Read]).range(16_384..32_768);
    let rig = or_skip!(Rig::mount(&script(fault)));
    let file = open(&rig);
    for block in 0..16u64 {
        let inside = (4..8).contains(&block);
        let result = read(&file, block * 4096, BLOCK);
        assert_eq!(errno(&result), inside.then_some(Errno::EIO.raw()), "block {block}");
    }
    assert_eq!(write(&file, 16_384, 1, BLOCK).unwrap(), BLOCK);
    let log = rig.log();
    let offsets: Vec<u64> = faulty(&log).iter().map(|entry| entry.offset).collect();
    assert_eq!(offsets, [16_384, 20_480, 24_576, 28_672]);
    assert!(faulty(&log).iter().all(|entry| entry.errno == Some(Errno::EIO)));
    assert_eq!(rig.statistics().read.errors, 4);
}

#[test]
fn any_error_number_reaches_the_caller_of_a_write_and_of_a_sync() {
    let script = script(Fault::error(Errno::EREMOTEIO).on(&[Operation::Write]).nth(1))
        .fault(Fault::error(Errno::EIO).on(&[Operation::Sync]).nth(1));
    let rig = or_skip!(Rig::mount(&script));
    let file = open(&rig);
    let before = rig.stored("data", 0, 4096);
    assert_eq!(errno(&write(&file, 0, 1, BLOCK)), Some(Errno::EREMOTEIO.raw()));
    assert_eq!(rig.stored("data", 0, 4096), before);
    assert_eq!(errno(&file.sync_data()), Some(Errno::EIO.raw()));
    file.sync_data().unwrap();
}

#[test]
fn space_runs_out_after_the_scripted_bytes() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::NoSpaceAfter(Bytes(10_000))))));
    let file = open(&rig);
    assert_eq!(write(&file, 0, 1, BLOCK).unwrap(), BLOCK);
    assert_eq!(write(&file, 4096, 1, BLOCK).unwrap(), BLOCK);
    assert_eq!(errno(&write(&file, 8192, 1, BLOCK)), Some(Errno::ENOSPC.raw()));
    assert_eq!(rig.statistics().write.bytes, 8192);
}

#[test]
fn a_torn_write_is_acknowledged_whole_and_stored_in_part() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::Torn(Bytes(1536))).nth(2))));
    let file = open(&rig);
    let before = read(&file, 8192, 2 * BLOCK).unwrap();
    write(&file, 0, 1, BLOCK).unwrap();
    assert_eq!(write(&file, 8192, 2, 2 * BLOCK).unwrap(), 2 * BLOCK);
    let after = read(&file, 8192, 2 * BLOCK).unwrap();
    assert_eq!(after[..1536], [2; 1536]);
    assert_eq!(after[1536..], before[1536..]);
    let log = rig.log();
    assert_eq!(faulty(&log).len(), 1);
    assert_eq!(faulty(&log)[0].errno, None);
    assert_eq!(faulty(&log)[0].checksum, Some(checksum(&[2; 2 * BLOCK])));
}

#[test]
fn a_lost_write_is_acknowledged_and_leaves_the_old_bytes() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::Lost).nth(2))));
    let file = open(&rig);
    write(&file, 0, 1, BLOCK).unwrap();
    assert_eq!(write(&file, 0, 2, BLOCK).unwrap(), BLOCK);
    file.sync_all().unwrap();
    assert_eq!(read(&file, 0, BLOCK).unwrap(), [1; BLOCK]);
    assert_eq!(faulty(&rig.log())[0].fault.unwrap().effect, Effect::Lost);
}

#[test]
fn a_stale_read_goes_one_version_back_once() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::StaleRead).nth(1))));
    let file = open(&rig);
    write(&file, 4096, 1, BLOCK).unwrap();
    write(&file, 4096, 2, BLOCK).unwrap();
    assert_eq!(read(&file, 4096, BLOCK).unwrap(), [1; BLOCK]);
    assert_eq!(read(&file, 4096, BLOCK).unwrap(), [2; BLOCK]);
    assert_eq!(rig.log().entries[2].checksum, Some(checksum(&[1; BLOCK])));
}

#[test]
fn a_stale_write_shows_until_the_next_sync_drops_it() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::StaleWrite).nth(2))));
    let file = open(&rig);
    write(&file, 4096, 1, BLOCK).unwrap();
    write(&file, 4096, 2, BLOCK).unwrap();
    assert_eq!(read(&file, 4096, BLOCK).unwrap(), [2; BLOCK]);
    file.sync_data().unwrap();
    assert_eq!(read(&file, 4096, BLOCK).unwrap(), [1; BLOCK]);
}

#[test]
fn a_misdirected_write_lands_elsewhere_only() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::Misdirected(Bytes(65_536))).nth(1))));
    let file = open(&rig);
    let before = read(&file, 4096, BLOCK).unwrap();
    assert_eq!(write(&file, 4096, 3, BLOCK).unwrap(), BLOCK);
    assert_eq!(read(&file, 4096, BLOCK).unwrap(), before);
    assert_eq!(read(&file, 4096 + 65_536, BLOCK).unwrap(), [3; BLOCK]);
}

#[test]
fn a_flipped_bit_passes_on_a_read_and_stays_after_a_write() {
    let bit = 8 * 777;
    let script = script(Fault::new(Effect::BitFlip(bit)).on(&[Operation::Read]).nth(1))
        .fault(Fault::new(Effect::BitFlip(bit)).on(&[Operation::Write]).nth(1));
    let rig = or_skip!(Rig::mount(&script));
    let file = open(&rig);
    let flipped = read(&file, 0, BLOCK).unwrap();
    let sound = read(&file, 0, BLOCK).unwrap();
    let differing: Vec<usize> = (0..BLOCK).filter(|i| flipped[*i] != sound[*i]).collect();
    assert_eq!(differing, [777]);
    assert_eq!(flipped[777] ^ sound[777], 1);
    write(&file, 0, 0, BLOCK).unwrap();
    let stored = read(&file, 0, BLOCK).unwrap();
    assert_eq!((stored[777], stored.iter().filter(|byte| **byte != 0).count()), (1, 1));
}

#[test]
fn chances_repeat_with_the_seed_and_are_all_in_the_log() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let fault = Fault::error(Errno::EIO).on(&[Operation::Read]).probability(0.3);
        let rig = or_skip!(Rig::mount(&script(fault)));
        let file = open(&rig);
        let failed: Vec<bool> = (0..100).map(|_| read(&file, 0, BLOCK).is_err()).collect();
        let logged: Vec<bool> = rig.log().entries.iter().map(|e| e.fault.is_some()).collect();
        assert_eq!(failed, logged);
        runs.push(failed);
    }
    assert_eq!(runs[0], runs[1]);
    let count = runs[0].iter().filter(|failed| **failed).count();
    assert!((10..55).contains(&count), "{count} of 100 at a probability of 0.3");
}

#[test]
fn a_delay_falls_on_the_selected_operation_only() {
    let rig = or_skip!(Rig::mount(&script(Fault::new(Effect::Delay(Nanos(20_000_000))).nth(2))));
    let file = open(&rig);
    (0..3).for_each(|_| assert!(read(&file, 0, BLOCK).is_ok()));
    let log = rig.log();
    let planned: Vec<u64> = log.entries.iter().map(|e| e.due_ns - e.arrival_ns).collect();
    assert_eq!(planned, [0, 20_000_000, 0]);
    assert!(log.entries[1].service_time_ns() >= 20_000_000);
}

#[test]
fn faults_come_and_go_on_a_running_rig() {
    let rig = or_skip!(Rig::mount(&Script::new().file("data", SIZE)));
    let file = open(&rig);
    assert!(read(&file, 0, BLOCK).is_ok());
    rig.add_fault(Fault::error(Errno::EIO));
    assert_eq!(errno(&read(&file, 0, BLOCK)), Some(Errno::EIO.raw()));
    rig.clear_faults();
    assert!(read(&file, 0, BLOCK).is_ok());
    assert_eq!(rig.take_log().entries.len(), 3);
    assert!(rig.log().entries.is_empty());
}
