//! The mount as a file system, and its end: by drop, by a vanished device, by force, under load.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_rig::direct::{self, Buffer};
use assay_rig::{
    Content, Effect, Errno, Fault, Latency, Mode, Operation, Reaped, Rig, Scratch, Script, or_skip,
};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SIZE: u64 = 1 << 20;

fn script() -> Script {
    Script::new().file("data", SIZE)
}

fn slow() -> Script {
    script().latency(Operation::Read, Latency::fixed(Duration::from_secs(3600)))
}

fn is_mounted(path: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    // Between spaces: the start of a path may be another one.
    table.contains(&format!(" {} ", path.display()))
}

fn read(file: &File) -> io::Result<usize> {
    file.read_at(&mut Buffer::new(4096, 0), 0)
}

fn until(what: impl Fn() -> bool) {
    let begin = Instant::now();
    while !what() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn code<T>(result: io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn dropping_the_rig_unmounts_and_clears_away() {
    let rig = or_skip!(Rig::mount(&script()));
    let directory = rig.directory().to_owned();
    assert!(is_mounted(&directory));
    drop(rig);
    assert!(!is_mounted(&directory));
    assert!(!directory.exists());
}

#[test]
fn dropping_the_rig_frees_readers_that_are_under_way() {
    let rig = or_skip!(Rig::mount(&slow()));
    let directory = rig.directory().to_owned();
    let file = direct::open(&rig.path("data")).unwrap();
    let reader = std::thread::spawn(move || (read(&file).map(|_| ()), file));
    until(|| rig.statistics().queue_depth == 1);
    drop(rig);
    let (result, file) = reader.join().unwrap();
    assert_eq!(code(result), Some(Errno::EIO.raw()));
    assert!(!is_mounted(&directory));
    assert!(read(&file).is_err());
}

#[test]
fn a_vanished_device_fails_everything_from_then_on() {
    let rig = or_skip!(Rig::mount(&slow()));
    let file = direct::open(&rig.path("data")).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| code(read(&file)));
        until(|| rig.statistics().queue_depth == 1);
        rig.vanish(Errno::ENODEV);
        assert_eq!(reader.join().unwrap(), Some(Errno::ENODEV.raw()));
    });
    assert_eq!(code(file.write_at(&Buffer::new(4096, 1), 0)), Some(Errno::ENODEV.raw()));
    assert_eq!(code(file.sync_all()), Some(Errno::ENODEV.raw()));
    assert_eq!(code(direct::open(&rig.path("data"))), Some(Errno::ENODEV.raw()));
    assert_eq!(code(fs::read_dir(rig.directory())), Some(Errno::ENODEV.raw()));
}

#[test]
fn a_device_can_vanish_by_script() {
    let fault = Fault::new(Effect::Vanish(Errno::EIO)).on(&[Operation::Read]).nth(3);
    let rig = or_skip!(Rig::mount(&script().fault(fault)));
    let file = direct::open(&rig.path("data")).unwrap();
    let results: Vec<bool> = (0..5).map(|_| read(&file).is_ok()).collect();
    assert_eq!(results, [true, true, false, false, false]);
}

#[test]
fn a_mount_can_be_torn_away_under_load() {
    let rig = or_skip!(Rig::mount(&script()));
    let directory = rig.directory().to_owned();
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let file = direct::open(&rig.path("data")).unwrap();
            let done = &done;
            scope.spawn(move || {
                while read(&file).is_ok() {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        until(|| done.load(Ordering::Relaxed) > 100);
        rig.tear_away().unwrap();
    });
    assert!(!is_mounted(&directory));
}

#[test]
fn the_blocking_mode_serves_the_same_bytes_and_faults() {
    let fault = Fault::error(Errno::EIO).on(&[Operation::Read]).range(4096..8192);
    let rig = or_skip!(Rig::mount(&script().mode(Mode::Blocking).fault(fault)));
    let file = direct::open(&rig.path("data")).unwrap();
    file.write_at(&Buffer::new(8192, 6), 0).unwrap();
    let mut buffer = Buffer::new(4096, 0);
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 4096);
    assert_eq!(*buffer, [6; 4096]);
    assert_eq!(code(file.read_at(&mut buffer, 4096)), Some(Errno::EIO.raw()));
    file.sync_data().unwrap();
    assert_eq!(rig.statistics().sync.ios, 1);
}

#[test]
fn large_transfers_arrive_in_one_piece() {
    let rig = or_skip!(Rig::mount(&script()));
    let file = direct::open(&rig.path("data")).unwrap();
    file.write_at(&Buffer::new(1 << 20, 1), 0).unwrap();
    file.read_at(&mut Buffer::new(1 << 20, 0), 0).unwrap();
    let lengths: Vec<u64> = rig.log().entries.iter().map(|entry| entry.length).collect();
    assert_eq!(lengths, [1 << 20, 1 << 20]);
}

#[test]
fn files_and_directories_are_made_renamed_and_removed() {
    let rig = or_skip!(Rig::mount(&script()));
    let runs = rig.path("runs");
    fs::create_dir(&runs).unwrap();
    fs::write(runs.join("a"), "first").unwrap();
    fs::rename(runs.join("a"), runs.join("b")).unwrap();
    assert_eq!(fs::read_to_string(runs.join("b")).unwrap(), "first");
    let truncated = File::create(runs.join("b")).unwrap();
    assert_eq!(truncated.metadata().unwrap().len(), 0);
    assert!(fs::remove_dir(&runs).is_err());
    fs::remove_file(runs.join("b")).unwrap();
    fs::remove_dir(&runs).unwrap();
    let names: Vec<_> = fs::read_dir(rig.directory()).unwrap().flatten().collect();
    assert_eq!(names.len(), 1);
    let log = rig.log();
    assert_eq!(&*log.of(Operation::Write).next().unwrap().file, "runs/a");
}

#[test]
fn a_scripted_file_counts_as_allocated_and_a_new_one_as_written() {
    let rig = or_skip!(Rig::mount(&script().file_of("zeros", SIZE, Content::Zeros)));
    assert_eq!(fs::metadata(rig.path("zeros")).unwrap().blocks(), SIZE / 512);
    let new = File::create(rig.path("new")).unwrap();
    new.set_len(SIZE).unwrap();
    assert_eq!(fs::metadata(rig.path("new")).unwrap().blocks(), 0);
    new.write_at(&[1; 4096], 8192).unwrap();
    new.sync_all().unwrap();
    assert_eq!(rig.stored("new", 8191, 3), [0, 1, 1]);
}

#[test]
fn a_capacity_is_a_full_disk() {
    let rig = or_skip!(Rig::mount(&script().capacity(SIZE + 16_384)));
    let file = direct::open(&rig.path("data")).unwrap();
    let room = rustix::fs::statvfs(rig.directory()).unwrap();
    assert_eq!(room.f_bavail * room.f_frsize, 16_384);
    file.write_at(&Buffer::new(16_384, 1), SIZE).unwrap();
    let beyond = file.write_at(&Buffer::new(4096, 1), SIZE + 16_384);
    assert_eq!(code(beyond), Some(Errno::ENOSPC.raw()));
    file.write_at(&Buffer::new(4096, 1), 0).unwrap();
}

#[test]
fn direct_io_and_writing_can_be_refused() {
    let rig = or_skip!(Rig::mount(&script().refuse_direct()));
    assert_eq!(code(direct::open(&rig.path("data"))), Some(Errno::EINVAL.raw()));
    assert_eq!(fs::read(rig.path("data")).unwrap().len(), 1 << 20);
    let rig = or_skip!(Rig::mount(&script().read_only()));
    assert_eq!(code(File::create(rig.path("new"))), Some(Errno::EROFS.raw()));
    assert_eq!(code(direct::open(&rig.path("data"))), Some(Errno::EROFS.raw()));
    assert!(direct::open_to_read(&rig.path("data")).is_ok());
}

const VICTIM: &str = "ASSAY_RIG_VICTIM";

/// Reads from a rig of this very process, for ever.
fn be_the_victim() {
    let rig = or_skip!(Rig::mount(&slow()));
    let file = direct::open(&rig.path("data")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| read(&file));
        until(|| rig.statistics().queue_depth == 1);
        fs::write(std::env::var(VICTIM).unwrap(), rig.directory().to_str().unwrap()).unwrap();
    });
}

#[test]
fn a_process_killed_in_the_middle_of_its_own_mount_dies_and_leaves_nothing() {
    if std::env::var_os(VICTIM).is_some() {
        return be_the_victim();
    }
    drop(or_skip!(Rig::mount(&script())));
    let scratch = Scratch::new().unwrap();
    let path_file = scratch.join("directory");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "a_process_killed_in_the_middle_of_its_own_mount_dies_and_leaves_nothing",
    ]);
    let mut victim = Reaped::spawn(command.env(VICTIM, &path_file)).unwrap();
    until(|| fs::read_to_string(&path_file).is_ok_and(|text| !text.is_empty()));
    let directory = fs::read_to_string(&path_file).unwrap();
    victim.kill().unwrap();
    assert!(!victim.wait().unwrap().success());
    until(|| !is_mounted(Path::new(&directory)));
}
