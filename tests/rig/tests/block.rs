//! Loop devices, small file systems and block-layer limits: real I/O, and nothing left behind.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_rig::direct::{self, Buffer};
use assay_rig::{
    Effect, Errno, Fault, Limits, LoopDevice, Operation, Rig, Scratch, Script, SmallFileSystem,
    Throttle, or_skip,
};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

fn code<T>(result: io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

fn backing_file(device: &Path) -> Option<String> {
    let name = device.file_name().unwrap().to_str().unwrap();
    fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()
}

#[test]
fn a_loop_device_writes_to_its_image_and_goes_with_its_guard() {
    let scratch = Scratch::new().unwrap();
    let image = scratch.join("image");
    File::create(&image).unwrap().set_len(MIB).unwrap();
    let device = or_skip!(LoopDevice::attach(&image));
    let path = device.path().to_owned();
    let file = direct::open(&path).unwrap();
    file.write_at(&Buffer::new(4096, 9), 8192).unwrap();
    file.sync_all().unwrap();
    drop(file);
    assert_eq!(backing_file(&path).unwrap().trim(), image.to_str().unwrap());
    drop(device);
    assert_ne!(backing_file(&path).as_deref().map(str::trim), image.to_str());
    assert_eq!(fs::read(&image).unwrap()[8192..12_288], [9; 4096]);
}

#[test]
fn a_read_only_loop_device_refuses_writes() {
    let scratch = Scratch::new().unwrap();
    let image = scratch.join("image");
    fs::write(&image, vec![3; 65_536]).unwrap();
    let device = or_skip!(LoopDevice::attach_read_only(&image));
    let mut buffer = Buffer::new(4096, 0);
    let file = direct::open_to_read(device.path()).unwrap();
    file.read_at(&mut buffer, 0).unwrap();
    assert_eq!(*buffer, [3; 4096]);
    let written = direct::open(device.path()).and_then(|file| file.write_at(&buffer, 0));
    assert!(matches!(code(written), Some(1 | 13 | 30)), "EPERM, EACCES or EROFS");
    assert_eq!(fs::read(&image).unwrap(), vec![3; 65_536]);
}

#[test]
fn a_loop_device_over_the_rig_is_a_faulty_block_device() {
    let fault = Fault::error(Errno::EIO).on(&[Operation::Read]).range(MIB..2 * MIB);
    let lost = Fault::new(Effect::Lost).range(0..4096);
    let rig = or_skip!(Rig::mount(&Script::new().file("disk", 4 * MIB).fault(fault).fault(lost)));
    let device = or_skip!(LoopDevice::attach(&rig.path("disk")));
    let file = direct::open(device.path()).unwrap();
    let mut buffer = Buffer::new(4096, 0);
    assert_eq!(code(file.read_at(&mut buffer, MIB + 8192)), Some(Errno::EIO.raw()));
    file.read_at(&mut buffer, 2 * MIB).unwrap();
    assert_eq!(buffer.to_vec(), rig.stored("disk", 2 * MIB, 4096));
    let before = rig.stored("disk", 0, 4096);
    file.write_at(&Buffer::new(4096, 1), 0).unwrap();
    file.sync_all().unwrap();
    assert_eq!(rig.stored("disk", 0, 4096), before);
    assert!(rig.log().of(Operation::Write).any(|entry| entry.fault.is_some()));
}

/// Writes until it is refused; how many bytes were taken, and the refusal.
fn fill(directory: &Path) -> (u64, Option<i32>) {
    let mut file = File::create(directory.join("file")).unwrap();
    let mut taken = 0;
    loop {
        match file.write_all(&vec![1; 65_536]).and_then(|()| file.sync_data()) {
            Ok(()) => taken += 65_536,
            Err(error) => return (taken, error.raw_os_error()),
        }
    }
}

#[test]
fn small_file_systems_fill_up() {
    let ext4 = or_skip!(SmallFileSystem::ext4(16 * MIB));
    let tmpfs = or_skip!(SmallFileSystem::tmpfs(4 * MIB));
    for (directory, room) in [(ext4.path(), 16 * MIB), (tmpfs.path(), 4 * MIB)] {
        let (taken, refusal) = fill(directory);
        assert_eq!(refusal, Some(Errno::ENOSPC.raw()));
        assert!(taken > room / 4 && taken <= room, "{taken} of {room}");
    }
    let directories = [ext4.path().to_owned(), tmpfs.path().to_owned()];
    let device = ext4.device().unwrap().path().to_owned();
    let image = ext4.device().unwrap().image().to_owned();
    drop((ext4, tmpfs));
    assert!(directories.iter().all(|directory| !directory.exists()));
    assert_ne!(backing_file(&device).as_deref().map(str::trim), image.to_str());
}

#[test]
fn a_small_file_system_can_turn_read_only() {
    let small = or_skip!(SmallFileSystem::ext4(16 * MIB));
    fs::write(small.path().join("file"), "x").unwrap();
    small.remount_read_only().unwrap();
    assert_eq!(code(File::create(small.path().join("new"))), Some(Errno::EROFS.raw()));
    assert_eq!(fs::read(small.path().join("file")).unwrap(), b"x");
}

#[test]
fn a_throttle_holds_its_work_back_and_nothing_else() {
    let device = or_skip!(LoopDevice::of_size(4 * MIB));
    let limits = Limits { reads_per_s: Some(200), ..Limits::default() };
    let throttle = or_skip!(Throttle::new(device.path(), limits));
    let file = direct::open_to_read(device.path()).unwrap();
    let read_all = || {
        let begin = Instant::now();
        for block in 0..300 {
            file.read_at(&mut Buffer::new(4096, 0), block * 4096).unwrap();
        }
        begin.elapsed()
    };
    // 300 reads at 200/s take 1.5 s, less what the kernel gives for the time before the first: on a
    // busy machine much.
    assert!(throttle.run(read_all).unwrap() >= Duration::from_millis(300));
    throttle.set(Limits::default()).unwrap();
    throttle.run(read_all).unwrap();
}

#[test]
fn a_throttle_limits_a_child_and_lets_it_go_when_dropped() {
    let device = or_skip!(LoopDevice::of_size(MIB));
    let limits = Limits { write_bytes_per_s: Some(MIB), ..Limits::default() };
    let throttle = or_skip!(Throttle::new(device.path(), limits));
    let mut command = Command::new("sleep");
    let mut child = throttle.spawn(command.arg("600")).unwrap();
    let group = |id: u32| fs::read_to_string(format!("/proc/{id}/cgroup")).unwrap();
    assert!(group(child.id()).contains("assay-rig."));
    assert!(!group(std::process::id()).contains("assay-rig."));
    drop(throttle);
    assert!(!group(child.id()).contains("assay-rig."));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn nothing_under_a_disk_cannot_be_throttled() {
    let skip = Throttle::new(Path::new("/proc"), Limits::default()).unwrap_err();
    assert!(!skip.reason().is_empty());
}
