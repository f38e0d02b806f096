//! What is invalid or not allowed: one line says what happened, one what to do next, and nothing is
//! touched.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_rig::{SmallFileSystem, or_skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use support::{Place, all_refused, refused};

/// Command lines, exit codes and the exact words.
const COMMAND_LINES: &[(&str, i32, &str)] = &[
    ("zzz", 2, "error: there is no command 'zzz'\nhint: see `assay --help`"),
    (
        "calibrat d",
        2,
        "error: there is no command 'calibrat'\nhint: did you mean 'calibrate'? see `assay --help`",
    ),
    (
        "run reads.toml d --sizes 16MiB",
        2,
        "error: there is no option or argument '--sizes'\nhint: did you mean '--size'? see `assay \
         run --help`",
    ),
    (
        "run",
        2,
        "error: <WORKLOAD> is missing\nhint: specify a file or a preset, for example `assay run \
         oltp DIR`; see `assay run --help`",
    ),
    (
        "run reads.toml",
        2,
        "error: no target is given\nhint: specify a directory, a file or a block device",
    ),
    (
        "run reads.toml d --size 16",
        2,
        "error: --size <SIZE>: '16' has no unit\nhint: write for example 8KiB; the units are TiB, \
         GiB, MiB, KiB, TB, GB, MB, kB, KB, B",
    ),
    (
        "run reads.toml d --size",
        2,
        "error: --size <SIZE> has no value\nhint: see `assay run --help`",
    ),
    (
        "run reads.toml d --time five",
        2,
        "error: --time <TIME>: 'five' is not a quantity\nhint: write for example 1ms; the units \
         are ns, us, µs, ms, min, s, h, d",
    ),
    (
        "calibrate d --max-latency 1parsec",
        2,
        "error: --max-latency <TIME>: 'parsec' in '1parsec' is not a unit\nhint: write for \
         example 1ms; the units are ns, us, µs, ms, min, s, h, d",
    ),
    (
        "calibrate d --read-share 150%",
        2,
        "error: --read-share <SHARES>: '150%' is not a share between 0% and 100%\nhint: write a \
         share as 70% or 0.7",
    ),
    (
        "calibrate d --steps 1ms",
        2,
        "error: --steps <FROM:TO:STEP>: '1ms' is not a series of limits\nhint: write \
         FROM:TO:STEP, for example 100us:2ms:100us",
    ),
    (
        "calibrate d --quantile 1.5",
        2,
        "error: --quantile <QUANTILE>: '1.5' is not a quantile\nhint: write 0.99, 99%, p99 or \
         mean",
    ),
    (
        "calibrate d --quantile high",
        2,
        "error: --quantile <QUANTILE>: 'high' is not a quantile\nhint: write 0.99, 99%, p99 or \
         mean",
    ),
    (
        "bench oltp d --sessions 4-8",
        2,
        "error: --sessions <N,N,…>: '4-8' is not a whole number\nhint: write a whole number, or \
         several with commas: 4,8",
    ),
    (
        "calibrate d --time 1s",
        2,
        "error: 1s is too short for a calibration\nhint: allow at least 5s per mix; 60s is typical",
    ),
    (
        "check d --max-latency 0s",
        2,
        "error: --max-latency: 0 ns is not a valid latency limit\nhint: use a limit above 0, for \
         example 1ms",
    ),
    (
        "run reads.toml d --backend iocp",
        2,
        "error: --backend <BACKEND>: 'iocp' is not known\nhint: write one of auto, uring, posix, \
         null",
    ),
    (
        "run reads.toml d --submit-batch 0",
        2,
        "error: --submit-batch <N>: 0 is not in 1..=4096\nhint: see `assay run --help`",
    ),
    (
        "report --csv histogram",
        2,
        "error: --csv <TABLE>: 'histogram' is not known\nhint: did you mean 'histograms'? write \
         one of curve, intervals, histograms, queries, ladder, transactions, cells, factors, \
         published, locality, levels, cuts, hosts, host-rates, watch",
    ),
    (
        "run reads.toml nothere",
        4,
        "error: cannot open nothere: it does not exist\nhint: specify a directory, a file, a block \
         device, or simulated storage: sim:…, array:NAME, catalog:NAME",
    ),
    (
        "run reads.toml d --criteria nothere.toml",
        2,
        "error: reading the criteria nothere.toml: No such file or directory (os error 2)\nhint: \
         specify a readable criteria file, or one of check, oltp-default, dell-2017",
    ),
    (
        "run reads.toml /dev/null",
        4,
        "error: cannot measure /dev/null: it is a character device\nhint: specify a regular file, \
         a block device, a directory, or an NVMe character device such as /dev/ng0n1",
    ),
    (
        "inspect nothere",
        4,
        "error: cannot inspect nothere: No such file or directory (os error 2)\nhint: check the \
         spelling of the path and the permissions of its directories",
    ),
];

/// Where no run was made yet.
const WITHOUT_A_STORE: &[(&str, i32, &str)] = &[
    (
        "runs show 2026",
        2,
        "error: there is no run '2026': no store at ./assay-runs\nhint: choose the store with \
         --store DIR, or run a measurement first",
    ),
    (
        "run --resume latest",
        2,
        "error: there is no run 'latest': no store at ./assay-runs\nhint: choose the store with \
         --store DIR, or run a measurement first",
    ),
];

/// Options that contradict one another, or that mean nothing for the targets.
const CONTRADICTIONS: &[(&str, i32, &str)] = &[
    (
        "run reads.toml d --buffered --polled",
        2,
        "error: --buffered cannot be used with --polled\nhint: leave one of them out",
    ),
    (
        "run reads.toml d --backend posix --polled",
        2,
        "error: --polled needs io_uring, which --backend posix does not use\nhint: leave one of \
         them out",
    ),
    (
        "run reads.toml d --backend null --task-run deferred",
        2,
        "error: --task-run needs io_uring, which --backend null does not use\nhint: leave one of \
         them out",
    ),
    (
        "run reads.toml reads.toml --size 16MiB",
        2,
        "error: --size applies to test files, but no target is a directory\nhint: omit --size, or \
         specify a directory for a test file",
    ),
    (
        "run reads.toml sim:servers?count=1&service=1ms --keep",
        2,
        "error: --keep applies to test files, but no target is a directory\nhint: omit --keep, or \
         specify a directory for a test file",
    ),
    (
        "run mixed.toml d --destroy 16MiB",
        2,
        "error: --destroy is given 1 times for 0 block devices among the targets\nhint: give it \
         once for each device to overwrite",
    ),
    (
        "run reads.toml d --size 1MiB",
        2,
        "error: --size 1MiB: this test file is too small to measure\nhint: write at least 2MiB",
    ),
    (
        "run --resume latest --time 1h",
        2,
        "error: --resume <RUN> cannot be used with --time <TIME>\nhint: leave one of them out",
    ),
    (
        "soak --resume latest --polled",
        2,
        "error: --resume <RUN> cannot be used with --polled\nhint: leave one of them out",
    ),
    (
        "run reads.toml d --resume latest",
        2,
        "error: [WORKLOAD] cannot be used with --resume <RUN>\nhint: leave one of them out",
    ),
    (
        "report --csv curve --json",
        2,
        "error: --csv <TABLE> cannot be used with --json\nhint: leave one of them out",
    ),
    (
        "run reads.toml sim:servers?count=1&service=1ms d",
        2,
        "error: a simulated device cannot be combined with other targets\nhint: specify one sim:, \
         array: or catalog: device, or only paths",
    ),
    (
        "run buffered.toml d --polled",
        2,
        "error: --polled needs direct I/O, but the workload sets direct = false\nhint: leave one \
         of them out",
    ),
];

/// Nothing may be left of a command that was refused but an empty store.
#[track_caller]
fn untouched(place: &Place) {
    assert_eq!(place.test_files("d"), [""; 0]);
    assert_eq!(place.run_ids(), [""; 0]);
}

#[test]
fn every_mistake_on_the_command_line_is_answered_with_what_to_do() {
    let place = Place::new();
    all_refused(&place, WITHOUT_A_STORE);
    all_refused(&place, COMMAND_LINES);
    untouched(&place);
}

#[test]
fn contradictions_are_refused_before_anything_is_touched() {
    let place = Place::new();
    let buffered = support::READS.replacen("interval", "direct = false\ninterval", 1);
    place.write("buffered.toml", &buffered);
    all_refused(&place, CONTRADICTIONS);
    untouched(&place);
}

/// What is wrong in a workload file, and how it is said.
const WORKLOADS: &[(&str, &str, &str)] = &[
    (
        "durration = \"1s\"\n",
        "",
        "error: w.toml: workload, line 1: unknown name 'durration'\nhint: did you mean \
         'duration'? known here: format, name, description, seed, duration, warm_up, interval, \
         capacity, layout, direct, stream, criterion",
    ),
    (
        "",
        "duration = 30",
        "error: w.toml: workload, line 3: '30' has no unit\nhint: write for example 1ms; the \
         units are ns, us, µs, ms, min, s, h, d",
    ),
    (
        "",
        "duration = \"0s\"",
        "error: w.toml: a duration of 0ns with an interval of 50ms cannot be measured\nhint: write \
         a duration above 0s and an interval of at least 10ms",
    ),
];

#[test]
fn mistakes_in_documents_name_the_line_and_the_nearest_word() {
    let place = Place::new();
    for (before, duration, complaint) in WORKLOADS {
        let text = support::READS.replacen("duration = \"300ms\"", duration, 1);
        let text = if duration.is_empty() { support::READS.to_owned() } else { text };
        place.write("w.toml", &format!("{before}{text}"));
        refused(&place.run("run w.toml d"), 2, complaint);
    }
    place.write("c.toml", &support::NO_ERRORS.replace("\"errors\"", "\"erors\""));
    refused(
        &place.run("run reads.toml d --criteria c.toml"),
        2,
        "error: c.toml: 'erors' is not a known quantity\nhint: did you mean 'errors'?",
    );
    place.write("c.toml", &support::NO_ERRORS.replace("at_most", "atmost"));
    refused(
        &place.run("run reads.toml d --criteria c.toml"),
        2,
        "error: c.toml: criteria, line 5: unknown name 'atmost'\nhint: did you mean 'at_most'? \
         known here: quantity, only, at_most, at_least, optional, why, source",
    );
    untouched(&place);
}

#[test]
fn pipes_sockets_and_small_files_are_no_targets() {
    let place = Place::new();
    let pipe = std::process::Command::new("mkfifo").arg(place.path("pipe")).status();
    assert!(pipe.unwrap().success());
    let _socket = UnixListener::bind(place.path("socket")).unwrap();
    place.random_file("small", 1 << 19);
    let cases: [(&str, i32, &str); 3] = [
        (
            "run reads.toml pipe",
            4,
            "error: cannot measure pipe: it is a named pipe\nhint: specify a regular file, a block \
             device or a directory",
        ),
        (
            "calibrate socket",
            4,
            "error: cannot measure socket: it is a socket\nhint: specify a regular file, a block \
             device or a directory",
        ),
        (
            "check small",
            4,
            "error: cannot measure small: it has only 524288 bytes\nhint: specify a target of at \
             least 1MiB",
        ),
    ];
    all_refused(&place, &cases);
    untouched(&place);
}

#[test]
fn a_workload_that_does_not_fit_its_target_is_refused_and_leaves_nothing() {
    let place = Place::new();
    place.write("large.toml", &support::READS.replace("\"4KiB\"", "\"16MiB\""));
    refused(
        &place.run("run large.toml d --size 4MiB"),
        2,
        "error: stream 'reads': the target is too small: 0 bytes are too few for an I/O of \
         16777216 in the span\nhint: use a larger target, a wider span or a smaller block size",
    );
    let stripes = support::READS.replacen(
        "interval",
        "layout = { stripe = { unit = \"6KiB\" } }\ninterval",
        1,
    );
    place.write("stripes.toml", &stripes);
    refused(
        &place.run("run stripes.toml d d --size 4MiB"),
        2,
        "error: stream 'reads': a stripe of 6KiB is not a multiple of the block size 4KiB\nhint: \
         choose a stripe unit that is a multiple of the largest block size",
    );
    place.write("third.toml", &support::READS.replacen("arrival", "targets = [2]\narrival", 1));
    refused(
        &place.run("run third.toml d d --size 4MiB"),
        2,
        "error: stream 'reads': there is no target 2, only 2\nhint: targets are counted from 0 in \
         the order of the command line",
    );
    untouched(&place);
}

#[test]
fn a_target_named_twice_is_refused_whatever_its_paths() {
    let place = Place::new();
    let file = place.random_file("file", 2 << 20);
    fs::hard_link(&file, place.path("other-name")).unwrap();
    for line in ["run reads.toml file ./file", "run reads.toml file other-name"] {
        let ran = place.run(line);
        let name = line.split(' ').next_back().unwrap();
        refused(
            &ran,
            2,
            &format!("error: {name} is specified twice\nhint: specify every target once"),
        );
    }
    untouched(&place);
}

#[test]
fn what_fails_late_takes_test_files_made_before_with_it() {
    let place = Place::new();
    refused(
        &place.run("run mixed.toml d nothere --size 4MiB"),
        4,
        "error: cannot open nothere: it does not exist\nhint: specify a directory, a file, a block \
         device, or simulated storage: sim:…, array:NAME, catalog:NAME",
    );
    untouched(&place);
}

#[test]
fn a_file_without_rights_is_only_refused_where_rights_matter() {
    let place = Place::new();
    let file = place.random_file("file", 2 << 20);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    place.run("run reads.toml file --criteria no-errors.toml").ends_with(0);
    refused(
        &place.run("run mixed.toml file"),
        4,
        "error: refusing to write to file: Assay did not create it\nhint: Assay only reads your \
         files; specify a directory, in which it creates a new file",
    );
}

#[test]
fn a_file_system_that_is_read_only_says_so() {
    let small = or_skip!(SmallFileSystem::ext4(16 << 20));
    let place = Place::new();
    fs::write(small.path().join("file"), support::random_bytes(2 << 20)).unwrap();
    small.remount_read_only().unwrap();
    let directory = small.path().display();
    let ran = place.run(&format!("run reads.toml {directory} --size 4MiB"));
    refused(
        &ran,
        4,
        "error: cannot create RIG/mount/assay-ID.dat: creating it: Read-only file system (os error \
         30)\nhint: check the permissions of the directory and the state of its file system",
    );
    let ran = place.run(&format!("run reads.toml {directory}/file --criteria no-errors.toml"));
    ran.ends_with(0);
    let ran = place.run(&format!("run reads.toml d --size 4MiB --store {directory}/runs"));
    refused(
        &ran,
        4,
        "error: creating the store RIG/mount/runs: read-only file system\nhint: choose a directory \
         that you can write to with --store DIR, or change its permissions",
    );
    assert_eq!(place.test_files("d"), [""; 0]);
}

#[test]
fn a_disk_that_is_too_small_for_the_test_file_is_not_filled() {
    let small = or_skip!(SmallFileSystem::tmpfs(8 << 20));
    let place = Place::new();
    let directory = small.path().display();
    let ran = place.run(&format!("run reads.toml {directory} --size 16MiB"));
    refused(
        &ran,
        4,
        "error: cannot create RIG/mount/assay-ID.dat: it needs 16MiB, but only 8MiB are free and \
         419430B must stay free\nhint: choose a smaller --size (a study: --scale 1/100) or a file \
         system with more free space",
    );
    assert_eq!(support::names(small.path()), [""; 0]);
    untouched(&place);
}

#[test]
fn a_store_that_cannot_be_written_is_named() {
    let place = Place::new();
    place.write("file", "");
    refused(
        &place.run("run reads.toml d --size 4MiB --store file"),
        4,
        "error: creating the store file: file exists\nhint: check the file system of the store, or \
         choose another with --store DIR",
    );
    refused(
        &place.run("run reads.toml d --size 4MiB --store file/runs"),
        4,
        "error: creating the store file/runs: not a directory\nhint: a part of the path is a file; \
         choose a directory with --store DIR",
    );
    untouched(&place);
}
