//! Storage that fails in mid-run: the program ends, says why, keeps what was measured, and counts
//! every failed I/O.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_model::units::Bytes;
use assay_rig::{
    Effect, Errno, Fault, Latency, Operation, Rig, Script, SmallFileSystem, or_skip,
    without_io_uring,
};
use std::fs;
use std::time::Duration;
use support::{Place, all_ios, measurement, refused, whole};

/// A size that a test file of `--size 4MiB` needs to be made, its header included.
const FILLED: u64 = 4 << 20;

/// A rig on which a run of a second has a few thousand I/Os.
fn slow() -> Script {
    let pace = Latency::fixed(Duration::from_micros(500));
    Script::new().latency(Operation::Read, pace).latency(Operation::Write, pace)
}

/// The measurement could not go on, for this reason.
#[track_caller]
fn failed(measured: &serde_json::Value, reason: &str) {
    let finish = &measured["finish"];
    let found = (finish["outcome"].as_str(), finish["reason"].as_str());
    assert_eq!(found, (Some("failed"), Some(reason)));
}

#[test]
fn a_disk_that_fills_in_mid_run_ends_it_and_keeps_what_was_measured() {
    let full = Fault::new(Effect::NoSpaceAfter(Bytes(FILLED + (1 << 20))));
    let rig = or_skip!(Rig::mount(&slow().fault(full)));
    let place = Place::new();
    let target = rig.directory().display();
    let ran = place.run(&format!("run mixed.toml {target} --size 4MiB --time 10min --json"));
    let run = ran.json(4);
    let measured = measurement(&run);
    assert!(all_ios(measured) > 50, "{measured:#}");
    failed(measured, &format!("write on {target}: No space left on device (os error 28)"));
    let error = &measured["errors"][0];
    assert_eq!(error["errno"], 28);
    assert_eq!(error["operation"], "write");
    assert_eq!(
        ran.complaint,
        "error: write on RIG: No space left on device (os error 28)\nhint: the data are kept in \
         ./assay-runs/RUN; remove the cause, then continue with `assay run --resume RUN`\n"
    );
    assert_eq!(support::names(rig.directory()), [""; 0]);
    place.run("runs show").ends_with(0);
}

#[test]
fn a_disk_that_is_full_before_the_file_is_filled_is_no_measurement() {
    let full = Fault::new(Effect::NoSpaceAfter(Bytes(1 << 20)));
    let rig = or_skip!(Rig::mount(&Script::new().fault(full)));
    let place = Place::new();
    let ran = place.run(&format!("run reads.toml {} --size 4MiB", rig.directory().display()));
    refused(
        &ran,
        4,
        "error: filling RIG/assay-ID.dat: write on RIG/assay-ID.dat: No space left on device (os \
         error 28)\nhint: free space on its file system, or give a smaller --size",
    );
    assert_eq!(support::names(rig.directory()), [""; 0]);
    assert_eq!(place.run_ids(), [""; 0]);
}

#[test]
fn a_write_that_fails_while_the_file_is_filled_is_no_gap_in_it() {
    let broken = Fault::error(Errno::EIO).on(&[Operation::Write]).range(2 << 20..3 << 20);
    let rig = or_skip!(Rig::mount(&Script::new().fault(broken)));
    let place = Place::new();
    let ran = place.run(&format!("run reads.toml {} --size 4MiB", rig.directory().display()));
    refused(
        &ran,
        4,
        "error: filling RIG/assay-ID.dat: write of 1MiB at byte 2097152: Input/output error (os \
         error 5)\nhint: check the device and the kernel log",
    );
    assert_eq!(support::names(rig.directory()), [""; 0]);
}

#[test]
fn a_device_that_vanishes_ends_the_run_and_keeps_what_was_measured() {
    for (errno, backend, reason) in [
        (Errno::ENODEV, "uring", "No such device (os error 19)"),
        (Errno::ENXIO, "posix", "No such device or address (os error 6)"),
        (Errno::EIO, "uring", "Input/output error (os error 5)"),
    ] {
        let rig = or_skip!(Rig::mount(&slow().file("data", 4 << 20)));
        let place = Place::new();
        let file = rig.path("data").display().to_string();
        let line = format!("run reads.toml {file} --time 10min --backend {backend} --json");
        let mut run = place.start(&line);
        run.wait_until(|| rig.statistics().read.ios > 2000);
        rig.vanish(errno);
        let ran = run.wait();
        let run = ran.json(4);
        let measured = measurement(&run);
        failed(measured, &format!("read on {file}: {reason}"));
        assert!(all_ios(measured) > 500, "{measured:#}");
        assert_eq!(measured["errors"][0]["errno"], errno.raw());
        assert_eq!(
            ran.complaint,
            format!(
                "error: read on RIG/data: {reason}\nhint: the data are kept in ./assay-runs/RUN; \
                 remove the cause, then continue with `assay run --resume RUN`\n"
            )
        );
        let kept = place.json("runs show latest", 0);
        assert_eq!(all_ios(measurement(&kept)), all_ios(measured));
    }
}

#[test]
fn a_device_that_vanishes_under_a_calibration_ends_it_with_what_is_known() {
    let rig = or_skip!(Rig::mount(&slow().file("data", 4 << 20)));
    let place = Place::new();
    let mut run =
        place.start(&format!("calibrate {} --time 60s --json", rig.path("data").display()));
    run.wait_until(|| rig.statistics().read.ios > 10_000);
    rig.vanish(Errno::ENODEV);
    let ran = run.wait();
    let run = ran.json(4);
    assert!(!run["calibration"]["mixes"].as_array().unwrap().is_empty());
    assert_eq!(
        ran.complaint,
        "error: read on RIG/data: No such device (os error 19)\nhint: the data are kept \
         in ./assay-runs/RUN; remove the cause, then start again\n"
    );
}

#[test]
fn failed_ios_are_counted_by_what_went_wrong_and_where_it_began() {
    let broken = Fault::error(Errno::EIO).on(&[Operation::Read]).range(1 << 20..2 << 20);
    let torn =
        Fault::error(Errno::EREMOTEIO).on(&[Operation::Read]).range(3 << 20..(3 << 20) + 65_536);
    let rig = or_skip!(Rig::mount(&slow().file("data", 4 << 20).fault(broken).fault(torn)));
    let place = Place::new();
    let run = place.json(
        &format!(
            "run reads.toml {} --time 1s --criteria no-errors.toml",
            rig.path("data").display()
        ),
        1,
    );
    assert_eq!(run["verdict"]["outcome"], "FAIL");
    let measured = measurement(&run);
    assert_eq!(measured["finish"]["outcome"], "complete");
    let errors = measured["errors"].as_array().unwrap();
    let of = |errno: i32| {
        let found = errors.iter().find(|error| error["errno"] == errno);
        found.unwrap_or_else(|| panic!("{errors:#?}"))
    };
    let (broken, torn) = (of(Errno::EIO.raw()), of(Errno::EREMOTEIO.raw()));
    assert!((1 << 20..2 << 20).contains(&whole(&broken["first_offset_bytes"])));
    assert!(((3 << 20)..(3 << 20) + 65_536).contains(&whole(&torn["first_offset_bytes"])));
    let counted = whole(&broken["ios"]) + whole(&torn["ios"]);
    let read = &measured["streams"][0]["operations"]["read"];
    assert_eq!(whole(&read["errors"]), counted);
    // A failed read has no time in the histogram.
    assert_eq!(whole(&read["service"]["ios"]), whole(&read["ios"]));
    assert_eq!(broken["operation"], "read");
    assert_eq!(broken["target"], rig.path("data").display().to_string());
}

#[test]
fn a_sync_that_fails_is_an_error_of_syncs() {
    let place = Place::new();
    let commits = support::MIXED
        .replace("read_share = 0.5", "read_share = 0\nsync = { fdatasync = { every = 4 } }");
    place.write("commits.toml", &commits);
    let rig = or_skip!(Rig::mount(&slow()));
    let broken = Fault::error(Errno::EIO).on(&[Operation::Sync]);
    let mut run = place.start(&format!(
        "run commits.toml {} --size 4MiB --time 6s --criteria no-errors.toml --json",
        rig.directory().display()
    ));
    // Filling ends with a sync, and so does opening the file.
    run.wait_until(|| rig.statistics().sync.ios > 20);
    rig.add_fault(broken);
    let run = run.wait().json(1);
    let errors = measurement(&run)["errors"].as_array().unwrap().clone();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0]["operation"], "sync");
    assert_eq!(errors[0]["errno"], Errno::EIO.raw());
}

#[test]
fn without_io_uring_blocking_calls_take_over_and_the_result_says_so() {
    let place = Place::new();
    let file = place.random_file("file", 4 << 20);
    let spawn = |line: &str| without_io_uring(|| place.start(line));
    let line = format!("run reads.toml {} --criteria no-errors.toml --json", file.display());
    let run = or_skip!(spawn(&line)).wait().json(0);
    let conduct = &measurement(&run)["conduct"];
    assert_eq!(conduct["backend"], "posix");
    assert_eq!(
        conduct["backend_reason"],
        "io_uring is denied (seccomp filter or sysctl kernel.io_uring_disabled)"
    );
    assert_eq!(run["environment"]["host"]["permissions"]["seccomp_filter"], true);
    let ran = or_skip!(spawn(&format!("run reads.toml {} --backend uring", file.display()))).wait();
    refused(
        &ran,
        4,
        "error: io_uring is denied (seccomp filter or sysctl kernel.io_uring_disabled)\nhint: use \
         --backend posix",
    );
}

#[test]
fn a_file_system_that_refuses_direct_io_is_never_measured_in_silence() {
    let script = slow().file("data", 4 << 20).refuse_direct();
    let rig = or_skip!(Rig::mount(&script));
    let place = Place::new();
    place.write(
        "limit.toml",
        "format = 1\nname = \"limit\"\n[[criterion]]\nquantity = \
         \"read.service_time.mean\"\nat_most = \"10s\"\n",
    );
    for target in [
        rig.path("data").display().to_string(),
        format!("{} --size 4MiB", rig.directory().display()),
    ] {
        let run = place.json(&format!("run reads.toml {target} --criteria limit.toml"), 3);
        assert_eq!(run["verdict"]["outcome"], "INCONCLUSIVE");
        let conduct = &measurement(&run)["conduct"];
        assert_eq!(conduct["direct_io"], false);
        let remarks = conduct["remarks"].as_array().unwrap();
        let refusals = remarks.iter().filter(|remark| {
            let what = remark["what"].as_str().unwrap();
            what.starts_with("direct I/O on ")
                && what.ends_with(" was refused: Invalid argument (os error 22)")
        });
        assert_eq!(refusals.count(), 1, "{remarks:#?}");
        let doubts = &run["verdict"]["judgements"][0]["evidence"]["doubts"];
        assert!(doubts.to_string().contains("the page cache was not bypassed"), "{doubts:#}");
        let findings = run["environment"]["findings"].as_array().unwrap();
        assert!(findings.iter().any(|finding| finding["rule"] == "no_direct_io"), "{findings:#?}");
    }
}

#[test]
fn a_directory_in_memory_is_said_first_and_decides_nothing() {
    let memory = or_skip!(SmallFileSystem::tmpfs(64 << 20));
    let (place, target) = (Place::new(), memory.path().display());
    let first = |text: &str| text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let ran = place.run(&format!("run reads.toml {target} --size 4MiB"));
    assert!(first(&ran.stdout).contains("is in memory (tmpfs)"), "{ran:#?}");
    let verified = place.run(&format!("verify {target} --size 4MiB --time 1s"));
    let said = first(&verified.stdout);
    assert!(verified.code == Some(3) && said.starts_with("INCONCLUSIVE"), "{verified:#?}");
    assert!(said.contains("nothing") && !said.contains("are plausible"), "{said}");
}

#[test]
fn a_store_on_a_full_disk_ends_the_run_without_leaving_a_test_file() {
    let small = or_skip!(SmallFileSystem::tmpfs(512 << 10));
    let place = Place::new();
    let store = small.path().join("runs");
    let ran = place.run(&format!(
        "run reads.toml d --size 4MiB --interval 10ms --time 10min --store {}",
        store.display()
    ));
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.complaint.contains("error: "), "{}", ran.complaint);
    assert!(ran.complaint.contains("no space"), "{}", ran.complaint);
    assert!(ran.complaint.contains("\nhint: "), "{}", ran.complaint);
    assert_eq!(place.test_files("d"), [""; 0]);
    let kept = place.json(&format!("runs show latest --store {}", store.display()), 0);
    assert!(all_ios(measurement(&kept)) > 0);
    // Nothing fits any more; that is said, and the target stays untouched.
    let again = place.run(&format!("run reads.toml d --size 4MiB --store {}", store.display()));
    assert_eq!(again.code, Some(4), "{again:#?}");
    assert_eq!(place.test_files("d"), [""; 0]);
    assert!(fs::metadata(&store).unwrap().is_dir());
}
