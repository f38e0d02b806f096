//! The safety gate on regular files and on everything that is none: what is not ours keeps every
//! byte.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skipped"
)]

#[cfg(test)]
mod support;

use assay_host::gate::{
    AccessMode, AdmittedTarget, Created, DATA_START_BYTES, DataLossPermission, Marker, OwnerId,
    SafetyGate,
};
use assay_host::root::SysRoot;
use assay_model::target::{DirectIo, TargetKind};
use assay_model::{Blame, Result};
use proptest::prelude::*;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{FakeSystem, Scratch};

const SIZE: u64 = 2 << 20;

fn gate() -> SafetyGate {
    SafetyGate::new(SysRoot::live())
}

/// A directory with a file that Assay created, `ours`, and one of the user, `theirs`.
struct Files {
    scratch: Scratch,
    owner: OwnerId,
}

impl Files {
    fn new() -> Self {
        let scratch = Scratch::new("files");
        let admission = gate().create_file(&scratch.path().join("ours"), SIZE).unwrap();
        let data = (0..=255).cycle().take(2 << 20).collect::<Vec<u8>>();
        fs::write(scratch.path().join("theirs"), data).unwrap();
        Self { owner: admission.owner().unwrap(), scratch }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn write(&self, name: &str) -> Result<AdmittedTarget> {
        gate().admit_write(&self.path(name), DataLossPermission::default())
    }
}

/// Everything of a file that writing would change.
fn state(path: &Path) -> (Vec<u8>, u64, i64, i64) {
    let status = fs::metadata(path).unwrap();
    (fs::read(path).unwrap(), status.blocks(), status.mtime(), status.mtime_nsec())
}

/// Writing is refused with this message, and not a byte changes.
fn refused(files: &Files, name: &str, message: &str) {
    let path = files.path(name);
    let before = state(&path);
    let error = files.write(name).unwrap_err();
    let expected = format!("refusing to write to {}: {message}", path.display());
    assert_eq!(error.message(), expected);
    assert_eq!(error.blame(), Blame::Environment);
    assert!(!error.hint().is_empty());
    assert_eq!(state(&path), before);
}

#[test]
fn a_created_file_may_be_written_behind_its_header() {
    let files = Files::new();
    let admission = files.write("ours").unwrap();
    assert_eq!(admission.mode(), AccessMode::Write);
    assert_eq!(admission.kind(), TargetKind::File);
    assert_eq!(admission.range(), DATA_START_BYTES..SIZE);
    assert_eq!(admission.owner(), Some(files.owner));
    assert!(admission.contains(DATA_START_BYTES, 4096));
    assert!(!admission.contains(DATA_START_BYTES - 4096, 4096));
    assert!(!admission.contains(SIZE - 4096, 8192));
    assert!(!admission.contains(u64::MAX, 4096));
}

#[test]
fn a_file_of_the_user_is_never_written() {
    refused(&Files::new(), "theirs", "Assay did not create it");
}

#[test]
fn a_token_makes_no_difference_for_a_file() {
    let files = Files::new();
    let before = state(&files.path("theirs"));
    for token in ["4MiB", "4194304", "yes"] {
        assert!(
            gate().admit_write(&files.path("theirs"), DataLossPermission::device(token)).is_err()
        );
    }
    assert_eq!(state(&files.path("theirs")), before);
}

#[test]
fn an_empty_a_short_and_a_sparse_file_are_never_written() {
    let files = Files::new();
    for (name, size) in [("empty", 0), ("short", 100), ("sparse", 1 << 30)] {
        File::create(files.path(name)).unwrap().set_len(size).unwrap();
        refused_quietly(&files, name);
    }
}

fn refused_quietly(files: &Files, name: &str) {
    let blocks = fs::metadata(files.path(name)).unwrap().blocks();
    assert!(files.write(name).is_err(), "{name}");
    assert_eq!(fs::metadata(files.path(name)).unwrap().blocks(), blocks);
}

#[test]
fn a_damaged_header_is_refused() {
    for place in [20, 24, 40, 64, 100, 4095] {
        let files = Files::new();
        let file = File::options().write(true).read(true).open(files.path("ours")).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, place).unwrap();
        file.write_all_at(&[byte[0] ^ 1], place).unwrap();
        refused(&files, "ours", "it starts like a file of Assay, but its header is damaged");
    }
}

#[test]
fn a_forged_header_with_only_the_magic_is_refused() {
    let files = Files::new();
    let mut data = fs::read(files.path("theirs")).unwrap();
    data[..16].copy_from_slice(b"ASSAY TEST FILE\n");
    fs::write(files.path("theirs"), data).unwrap();
    refused(&files, "theirs", "it starts like a file of Assay, but its header is damaged");
}

const COPY: &str = "it is a copy or was restored from a backup: its header names another file";

#[test]
fn a_copy_is_refused() {
    let files = Files::new();
    fs::copy(files.path("ours"), files.path("copy")).unwrap();
    refused(&files, "copy", COPY);
}

#[test]
fn a_header_on_top_of_a_file_of_the_user_is_refused() {
    let files = Files::new();
    let header = fs::read(files.path("ours")).unwrap();
    let theirs = File::options().write(true).open(files.path("theirs")).unwrap();
    theirs.write_all_at(&header[..4096], 0).unwrap();
    refused(&files, "theirs", COPY);
}

#[test]
fn a_second_name_is_refused() {
    let files = Files::new();
    fs::hard_link(files.path("ours"), files.path("second")).unwrap();
    refused(&files, "ours", "the file has 2 hard links");
    refused(&files, "second", "the file has 2 hard links");
}

#[test]
fn a_symbolic_link_may_be_read_through_and_not_written_through() {
    let files = Files::new();
    symlink(files.path("ours"), files.path("link")).unwrap();
    refused(&files, "link", "it is a symbolic link to a file");
    assert!(gate().admit_read(&files.path("link")).is_ok());
}

#[test]
fn a_resized_file_is_refused() {
    for size in [SIZE - 4096, SIZE + 4096, 8192] {
        let files = Files::new();
        File::options().write(true).open(files.path("ours")).unwrap().set_len(size).unwrap();
        let message = format!("it was created with {SIZE} bytes and now has {size}");
        refused(&files, "ours", &message);
    }
}

#[test]
fn a_renamed_file_is_still_ours() {
    let files = Files::new();
    fs::rename(files.path("ours"), files.path("renamed")).unwrap();
    assert_eq!(files.write("renamed").unwrap().owner(), Some(files.owner));
}

#[test]
fn two_runs_never_write_to_one_file() {
    let files = Files::new();
    let first = files.write("ours").unwrap();
    refused(&files, "ours", "another process is measuring on it");
    drop(first);
    assert!(files.write("ours").is_ok());
}

#[test]
fn the_open_file_stays_the_one_that_was_checked() {
    let files = Files::new();
    let admission = files.write("ours").unwrap();
    let before = state(&files.path("theirs"));
    fs::rename(files.path("theirs"), files.path("ours")).unwrap();
    admission.file().write_all_at(&[7; 4096], DATA_START_BYTES).unwrap();
    assert_eq!(state(&files.path("ours")), before);
    assert!(files.write("ours").is_err());
}

#[test]
fn a_file_that_is_resized_in_mid_run_is_noticed() {
    let files = Files::new();
    let admission = files.write("ours").unwrap();
    admission.recheck().unwrap();
    File::options().write(true).open(files.path("ours")).unwrap().set_len(SIZE - 1).unwrap();
    let error = admission.recheck().unwrap_err();
    assert!(error.message().contains("its size changed from 2097152 to 2097151 bytes"), "{error}");
}

#[test]
fn a_file_under_a_loop_device_or_the_swapper_is_refused() {
    let files = Files::new();
    let path = files.path("ours");
    let looped = FakeSystem::new("looped").disk("loop3", "7:3", 100).attribute(
        "loop3",
        "loop/backing_file",
        path.to_str().unwrap(),
    );
    let swapped = FakeSystem::new("swapped").swap(path.to_str().unwrap());
    for (system, user) in [(looped, "loop device /dev/loop3"), (swapped, "the swapper")] {
        let gate = SafetyGate::new(SysRoot::under(system.path()));
        let error = gate.admit_write(&path, DataLossPermission::default()).unwrap_err();
        assert!(error.message().ends_with(&format!("{user} uses it")), "{error}");
    }
}

fn wrong_kind(path: &Path, kind: &str) {
    let message = format!("cannot measure {}: it is a {kind}", path.display());
    assert_eq!(gate().admit_read(path).unwrap_err().message(), message);
    assert_eq!(
        gate().admit_write(path, DataLossPermission::default()).unwrap_err().message(),
        message
    );
    assert_eq!(
        gate().admit_write(path, DataLossPermission::device("1MiB")).unwrap_err().message(),
        message
    );
}

#[test]
fn what_cannot_be_measured_is_told_by_its_kind() {
    let files = Files::new();
    wrong_kind(files.scratch.path(), "directory");
    wrong_kind(Path::new("/dev/null"), "character device");
    let socket = files.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    wrong_kind(&socket, "socket");
    let pipe = files.path("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    wrong_kind(&pipe, "named pipe");
    symlink("/dev/zero", files.path("zero")).unwrap();
    wrong_kind(&files.path("zero"), "character device");
}

#[test]
fn what_is_missing_is_told_and_not_made() {
    let files = Files::new();
    symlink(files.path("nowhere"), files.path("dangling")).unwrap();
    for name in ["nothing", "dangling", "theirs/below", ""] {
        let path = if name.is_empty() { PathBuf::new() } else { files.path(name) };
        let message = format!("cannot open {}: it does not exist", path.display());
        assert_eq!(gate().admit_read(&path).unwrap_err().message(), message);
        assert_eq!(
            gate().admit_write(&path, DataLossPermission::default()).unwrap_err().message(),
            message
        );
    }
    assert!(!files.path("nowhere").exists());
}

#[test]
fn reading_leaves_no_trace_and_gives_no_right_to_write() {
    let files = Files::new();
    let before = state(&files.path("theirs"));
    let admission = gate().admit_read(&files.path("theirs")).unwrap();
    assert_eq!(admission.mode(), AccessMode::Read);
    assert_eq!(admission.range(), 0..SIZE);
    assert!(admission.file().write_all_at(&[0], 0).is_err());
    assert_eq!(state(&files.path("theirs")), before);
    assert!(admission.marker().is_none());
}

#[test]
fn a_target_that_is_too_small_or_odd_is_handled() {
    let files = Files::new();
    fs::write(files.path("small"), vec![1; 1000]).unwrap();
    let error = gate().admit_read(&files.path("small")).unwrap_err();
    assert!(error.message().ends_with("it has only 1000 bytes"), "{error}");
    assert_eq!(error.hint(), "specify a target of at least 1MiB");
    fs::write(files.path("odd"), vec![1; (1 << 20) + 5000]).unwrap();
    let odd = gate().admit_read(&files.path("odd")).unwrap();
    assert_eq!(odd.range(), 0..(1 << 20) + 4096);
}

#[test]
fn transfers_must_be_aligned_and_fit() {
    let files = Files::new();
    let admission = gate().admit_read(&files.path("theirs")).unwrap();
    let block = admission.logical_block_bytes();
    assert!(admission.check_transfer(block).is_ok());
    for size in [0, block + 1, block / 2] {
        let error = admission.check_transfer(size).unwrap_err();
        assert_eq!(error.blame(), Blame::Usage);
        assert_eq!(error.hint(), format!("use a multiple of {block} bytes"));
    }
    assert!(admission.check_transfer(8 << 20).unwrap_err().message().contains("does not fit"));
}

#[test]
fn the_header_remembers_what_was_filled() {
    let files = Files::new();
    let mut admission = files.write("ours").unwrap();
    let direct = admission.set_direct(true);
    admission.record_content(1 << 20, "seed 7").unwrap();
    drop(admission);
    let again = files.write("ours").unwrap();
    let marker = again.marker().unwrap();
    assert_eq!((marker.filled_bytes, marker.content.as_str()), (1 << 20, "seed 7"));
    assert!(!matches!(direct, DirectIo::Unknown));
}

#[test]
fn a_file_of_ours_is_made_larger_in_place() {
    let files = Files::new();
    let mut admission = gate().create_file(&files.path("grows"), SIZE).unwrap();
    admission.record_content(SIZE / 2, "seed 7").unwrap();
    let before = fs::read(files.path("grows")).unwrap();
    let error = gate().extend_file(&mut admission, 1 << 60).unwrap_err();
    assert!(error.message().contains("must stay free"), "{error}");
    assert_eq!(admission.size_bytes(), SIZE);
    gate().extend_file(&mut admission, 4 * SIZE).unwrap();
    admission.recheck().unwrap();
    assert_eq!(admission.range(), DATA_START_BYTES..4 * SIZE);
    drop(admission);
    let after = fs::read(files.path("grows")).unwrap();
    let data = usize::try_from(DATA_START_BYTES).unwrap();
    assert_eq!(after[data..before.len()], before[data..]);
    let again = files.write("grows").unwrap();
    let marker = again.marker().unwrap();
    assert_eq!((marker.size_bytes, marker.filled_bytes), (4 * SIZE, SIZE / 2));
}

#[test]
fn what_was_left_behind_while_it_was_made_larger_is_removed() {
    let files = Files::new();
    drop(gate().create_file(&files.path("grows"), SIZE).unwrap());
    let mut admission = {
        let created = found(&files, "grows").unwrap();
        gate().admit_created(&created).unwrap()
    };
    gate().extend_file(&mut admission, 2 * SIZE).unwrap();
    drop(admission);
    // Killed between the header and the space.
    File::options().write(true).open(files.path("grows")).unwrap().set_len(SIZE).unwrap();
    let created = found(&files, "grows").unwrap();
    assert!(gate().admit_created(&created).is_err());
    gate().remove_created(&created).unwrap();
    assert!(!files.path("grows").exists());
}

#[test]
fn an_existing_thing_is_never_overwritten_by_creating() {
    let files = Files::new();
    symlink(files.path("nowhere"), files.path("dangling")).unwrap();
    let before = state(&files.path("theirs"));
    for name in ["theirs", "ours", "dangling"] {
        let path = files.path(name);
        let error = gate().create_file(&path, SIZE).unwrap_err();
        assert_eq!(error.message(), format!("cannot create {}: it exists", path.display()));
    }
    assert_eq!(state(&files.path("theirs")), before);
    assert!(!files.path("nowhere").exists());
}

#[test]
fn a_name_is_made_up_in_a_directory() {
    let files = Files::new();
    let admission = gate().create_file(files.scratch.path(), SIZE).unwrap();
    let owner = admission.owner().unwrap().to_string();
    let name = admission.path().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(name, format!("assay-{}.dat", &owner[..12]));
    assert_eq!(fs::metadata(admission.path()).unwrap().len(), SIZE);
    assert_eq!(fs::metadata(admission.path()).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn what_does_not_fit_is_not_created() {
    let files = Files::new();
    let path = files.path("huge");
    let error = gate().create_file(&path, 1 << 60).unwrap_err();
    assert!(error.message().contains("must stay free"), "{error}");
    assert!(
        gate().create_file(&path, 4096).unwrap_err().message().contains("it has only 4096 bytes")
    );
    assert!(gate().create_file(&files.path("no/such/place"), SIZE).is_err());
    assert!(!path.exists());
}

/// The file of this name, if it is found as an Assay file.
fn found(files: &Files, name: &str) -> Option<Created> {
    let found = gate().find_created(files.scratch.path()).unwrap();
    found.into_iter().find(|created| created.path() == files.path(name))
}

/// Writes another header into our file, with everything else in it as it is.
fn change_header(files: &Files, change: impl FnOnce(&mut Marker)) {
    let mut admission = files.write("ours").unwrap();
    admission.record_content(0, "").unwrap();
    let mut marker = admission.marker().unwrap().clone();
    change(&mut marker);
    admission.file().write_all_at(&marker.to_bytes(), 0).unwrap();
}

#[test]
fn a_file_whose_header_changed_since_it_was_found_stays() {
    let files = Files::new();
    let created = found(&files, "ours").unwrap();
    assert_eq!(created.marker().owner, files.owner);
    change_header(&files, |marker| marker.owner = OwnerId([0; 16]));
    let error = gate().remove_created(&created).unwrap_err();
    assert!(error.message().ends_with("it belongs to another store of runs"), "{error}");
    assert!(files.path("ours").exists());
    gate().remove_created(&found(&files, "ours").unwrap()).unwrap();
    assert!(!files.path("ours").exists());
}

#[test]
fn an_admitted_file_is_closed_and_removed() {
    let files = Files::new();
    let created = found(&files, "ours").unwrap();
    let admission = files.write("ours").unwrap();
    assert!(gate().remove_created(&created).is_err());
    gate().remove(&admission).unwrap();
    assert!(!files.path("ours").exists());
    let theirs = gate().admit_read(&files.path("theirs")).unwrap();
    assert!(gate().remove(&theirs).is_err());
    assert!(files.path("theirs").exists());
}

#[test]
fn a_file_that_was_cut_short_may_still_be_removed() {
    let files = Files::new();
    let path = files.path("ours");
    File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    gate().remove_created(&found(&files, "ours").unwrap()).unwrap();
    assert!(!path.exists());
}

#[test]
fn removing_never_takes_anything_else() {
    let files = Files::new();
    let created = found(&files, "ours").unwrap();
    symlink(files.path("ours"), files.path("link")).unwrap();
    fs::copy(files.path("ours"), files.path("copy")).unwrap();
    fs::create_dir(files.path("directory")).unwrap();
    for name in ["theirs", "link", "copy", "directory", "nothing"] {
        assert!(found(&files, name).is_none(), "{name}");
    }
    // The name leads to a file of the user by now: neither of the two goes.
    fs::rename(files.path("ours"), files.path("moved")).unwrap();
    fs::rename(files.path("theirs"), files.path("ours")).unwrap();
    let before = state(&files.path("ours"));
    assert!(gate().remove_created(&created).is_err());
    assert_eq!(state(&files.path("ours")), before);
    assert!(files.path("moved").exists());
}

#[test]
fn what_is_taken_over_is_what_was_found_whatever_its_name_leads_to() {
    let files = Files::new();
    let created = found(&files, "ours").unwrap();
    fs::rename(files.path("ours"), files.path("moved")).unwrap();
    fs::rename(files.path("theirs"), files.path("ours")).unwrap();
    let before = state(&files.path("ours"));
    let admission = gate().admit_created(&created).unwrap();
    admission.file().write_all_at(&[7; 4096], DATA_START_BYTES).unwrap();
    assert!(gate().remove(&admission).is_err());
    assert_eq!(state(&files.path("ours")), before);
}

#[test]
fn files_of_ours_are_found_among_others() {
    let files = Files::new();
    fs::copy(files.path("ours"), files.path("copy")).unwrap();
    symlink(files.path("ours"), files.path("link")).unwrap();
    let found = gate().find_created(files.scratch.path()).unwrap();
    let names: Vec<_> = found.iter().map(|created| created.path().to_owned()).collect();
    assert_eq!(names, [files.path("ours")]);
    assert!(gate().find_created(&files.path("nowhere")).is_err());
}

#[test]
fn pipes_and_other_special_files_are_not_opened() {
    let files = Files::new();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    for name in ["assay-0123456789ab.dat", "pipe"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, files.path(name), mode).unwrap();
    }
    let _listener = std::os::unix::net::UnixListener::bind(files.path("socket")).unwrap();
    symlink("/dev/zero", files.path("zero")).unwrap();
    symlink(files.path("pipe"), files.path("loop")).unwrap();
    symlink("itself", files.path("itself")).unwrap();
    // Opening the pipe would wait for ever.
    let found = gate().find_created(files.scratch.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert!(files.write("pipe").is_err() && files.write("loop").is_err());
}

#[test]
fn a_file_of_another_user_is_his_for_root_too() {
    let files = Files::new();
    let path = files.path("ours");
    let created = found(&files, "ours").unwrap();
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_err() {
        println!("skipped: only root can give a file away");
        return;
    }
    refused(&files, "ours", "it belongs to the user with id 65534");
    assert!(gate().remove_created(&created).is_err());
    assert!(found(&files, "ours").is_none());
    assert!(path.exists());
}

#[test]
fn a_file_of_another_host_is_never_left_behind() {
    let files = Files::new();
    let elsewhere = |marker: &mut Marker| {
        let maker = marker.maker.as_mut().unwrap();
        (maker.host, maker.boot) = ([1; 16], [2; 16]);
    };
    change_header(&files, elsewhere);
    refused(&files, "ours", "it was created on another host, which may be using it");
    let created = found(&files, "ours").unwrap();
    assert!(gate().admit_created(&created).is_err());
    assert!(gate().remove_created(&created).is_err());
    assert!(files.path("ours").exists());
}

#[test]
fn a_file_of_an_older_version_still_opens() {
    let files = Files::new();
    change_header(&files, |marker| marker.maker = None);
    assert!(files.write("ours").is_ok());
    gate().remove_created(&found(&files, "ours").unwrap()).unwrap();
}

#[test]
fn a_file_that_others_protected_is_refused() {
    let files = Files::new();
    let path = files.path("ours");
    let set = Command::new("chattr").arg("+i").arg(&path).status();
    if !set.is_ok_and(|status| status.success()) {
        println!("skipped: this file system or user cannot make files immutable");
        return;
    }
    let error = files.write("ours");
    Command::new("chattr").arg("-i").arg(&path).status().unwrap();
    assert!(error.unwrap_err().message().contains("cannot be opened for writing"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn arbitrary_files_are_never_granted(head in proptest::collection::vec(any::<u8>(), 0..6000), ours: bool, size in 0u64..2 << 20, token in "\\PC{0,12}") {
        let scratch = Scratch::new("arbitrary");
        let path = scratch.path().join("file");
        let mut head = head;
        if ours {
            head.splice(..16.min(head.len()), *b"ASSAY TEST FILE\n");
        }
        fs::write(&path, &head).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(size.max(1)).unwrap();
        let before = state(&path);
        prop_assert!(gate().admit_write(&path, DataLossPermission::default()).is_err());
        prop_assert!(gate().admit_write(&path, DataLossPermission::device(&token)).is_err());
        prop_assert_eq!(state(&path), before);
    }

    #[test]
    fn arbitrary_paths_are_never_granted(text in "\\PC{0,40}", deep in "[./a-z]{0,20}") {
        let scratch = Scratch::new("paths");
        for name in [text, deep] {
            let path = scratch.path().join(name.trim_start_matches('/'));
            prop_assert!(gate().admit_write(&path, DataLossPermission::device("1MiB")).is_err());
        }
        prop_assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
