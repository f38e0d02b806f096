//! A file system on a device whose power is cut: what was synced is there, and what was not may be
//! gone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_rig::{CutFileSystem, Lie, Script, or_skip};
use std::fs::{self, File};
use std::io::Write;

const MIB: u64 = 1 << 20;

fn filled(path: &std::path::Path, byte: u8) -> File {
    let mut file = File::create(path).unwrap();
    file.write_all(&vec![byte; 4 << 20]).unwrap();
    file
}

#[test]
fn what_was_synced_outlives_a_cut_and_what_the_kernel_held_does_not() {
    let script = Script::new().cache(4096, Lie::None);
    let mut scratch = or_skip!(CutFileSystem::make(64 * MIB, script));
    for seed in 0..3 {
        let [synced, unsynced] = ["synced", "unsynced"].map(|name| scratch.path().join(name));
        filled(&synced, 7).sync_all().unwrap();
        File::open(scratch.path()).unwrap().sync_all().unwrap();
        drop(filled(&unsynced, 9));
        scratch.cut_power(seed);
        scratch.restore_power().unwrap();
        assert_eq!(fs::read(&synced).unwrap(), vec![7; 4 << 20]);
        assert_ne!(fs::read(&unsynced).unwrap_or_default(), vec![9; 4 << 20]);
        fs::remove_file(&synced).unwrap();
    }
}

#[test]
fn a_device_that_lies_loses_what_was_synced() {
    let script = Script::new().cache(4096, Lie::IgnoresFlush(assay_model::units::Bytes(64 << 20)));
    let mut scratch = or_skip!(CutFileSystem::make(64 * MIB, script));
    filled(&scratch.path().join("synced"), 7).sync_all().unwrap();
    // Whether the file system can be mounted at all after that is up to chance.
    scratch.cut_power(3);
    let is_whole = scratch.restore_power().is_ok()
        && fs::read(scratch.path().join("synced")).is_ok_and(|bytes| bytes == vec![7; 4 << 20]);
    assert!(!is_whole);
}
