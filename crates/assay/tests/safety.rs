//! Nothing of the user's is lost: files, pages and directories that are not ours stay as they are,
//! and what is ours goes when it is no longer needed.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_rig::kill_at_random;
use rustix::fs::{FlockOperation, flock};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;
use support::{Place, Started, all_ios, measurement, names, refused};

const NOT_OURS: &str = "Assay did not create it\nhint: Assay only reads your files; specify a \
                        directory, in which it creates a new file";

#[test]
fn a_file_of_the_user_is_never_written() {
    let place = Place::new();
    let file = place.random_file("precious", 4 << 20);
    let before = fs::read(&file).unwrap();
    symlink(&file, place.path("link")).unwrap();
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    for line in [
        "run mixed.toml precious",
        "run mixed.toml precious --backend null",
        "calibrate precious --read-share 100%,0%",
    ] {
        let complaint = format!("error: refusing to write to precious: {NOT_OURS}");
        refused(&place.run(line), 4, &complaint);
    }
    refused(
        &place.run("run mixed.toml link"),
        4,
        "error: refusing to write to link: it is a symbolic link to a file\nhint: specify the path \
         of the file itself",
    );
    place.json("run reads.toml precious --criteria no-errors.toml", 0);
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
}

#[test]
fn a_copy_of_a_test_file_is_the_users_again() {
    let place = Place::new();
    place.json("run mixed.toml d --size 4MiB --keep --criteria no-errors.toml", 0);
    let [name] = &place.test_files("d")[..] else {
        panic!("{:?}", place.test_files("d"));
    };
    let copy = place.path("d").join("copy.dat");
    fs::copy(place.path("d").join(name), &copy).unwrap();
    let ran = place.run("run mixed.toml d/copy.dat");
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.complaint.starts_with("error: refusing to write to d/copy.dat: "));
    // The original may be named and written, and stays.
    let line = format!("run mixed.toml d/{name} --criteria no-errors.toml");
    place.json(&line, 0);
    assert_eq!(names(&place.path("d")).len(), 2);
}

#[test]
fn test_files_go_at_the_end_and_stay_when_they_are_kept() {
    let place = Place::new();
    place.json("run mixed.toml d --size 4MiB --criteria no-errors.toml", 0);
    assert_eq!(place.test_files("d"), [""; 0]);
    place.json("run mixed.toml d --size 4MiB --keep --criteria no-errors.toml", 0);
    let kept = place.test_files("d");
    assert_eq!(kept.len(), 1);
    // It is used again, with the same size and by rule, and stays although nobody asks for it this
    // time.
    for line in ["run mixed.toml d --size 4MiB", "run reads.toml d"] {
        let ran = place.run(&format!("{line} --criteria no-errors.toml"));
        ran.ends_with(0);
        let note = format!("note: using the test file d/{} (3.00 MiB) of an earlier run", kept[0]);
        assert!(ran.stderr.contains(&note), "{}", ran.stderr);
        assert_eq!(place.test_files("d"), kept);
    }
    // Another size or another content is another file, which goes.
    for line in ["--size 8MiB", "--size 4MiB --compressible 50%"] {
        let ran = place.run(&format!("run reads.toml d {line} --criteria no-errors.toml"));
        ran.ends_with(0);
        assert!(!ran.stderr.contains("using the test file"), "{}", ran.stderr);
        assert_eq!(place.test_files("d"), kept);
    }
}

#[test]
fn a_larger_file_that_was_kept_answers_as_one_of_the_size_asked_for() {
    let place = Place::new();
    place.json("run reads.toml d --size 8MiB --keep --criteria no-errors.toml", 0);
    let run = place.json("run reads.toml d --size 4MiB --criteria no-errors.toml", 0);
    let facts = &run["environment"]["storage"][0]["target"];
    assert_eq!(facts["size_bytes"], 8 << 20);
    assert_eq!(facts["usable_end_bytes"], 4 << 20);
}

/// A place with the test file of a run that was killed, and its name.
fn abandoned() -> (Place, String) {
    let place = Place::new();
    let mut run = place.start("run mixed.toml d --size 4MiB --time 10min");
    run.wait_until(|| place.kept_intervals() > 0);
    run.signal(rustix::process::Signal::KILL);
    assert_eq!(run.wait().code, None);
    wait_for_locks(&place);
    let left = place.test_files("d");
    assert_eq!(left.len(), 1);
    (place, left[0].clone())
}

#[test]
fn what_a_killed_run_leaves_behind_is_used_or_removed_by_the_next() {
    let (place, left) = abandoned();
    let ran = place.run("run mixed.toml d --size 4MiB --criteria no-errors.toml");
    let note = format!("note: using the test file d/{left} (3.00 MiB) of an earlier run\n");
    let stderr = &ran.ends_with(0).stderr;
    let notes: Vec<&str> = stderr.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes, [note.trim_end()]);
    assert_eq!(place.test_files("d"), [""; 0]);
    let (place, left) = abandoned();
    let ran = place.run("run mixed.toml d --size 16MiB --criteria no-errors.toml");
    let note = format!("note: removed the test file d/{left} that an earlier run left behind\n");
    assert!(ran.ends_with(0).stderr.contains(&note), "{}", ran.stderr);
    assert_eq!(place.test_files("d"), [""; 0]);
    // One that somebody wants to keep from now on is no leftover any more.
    let (place, left) = abandoned();
    place.json("run mixed.toml d --size 4MiB --keep --criteria no-errors.toml", 0);
    place.json("run mixed.toml d --size 16MiB --criteria no-errors.toml", 0);
    assert_eq!(place.test_files("d"), [left]);
}

#[test]
fn a_named_pipe_in_the_directory_is_left_alone() {
    let place = Place::new();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    for name in ["pipe", "assay-0123456789ab.dat"] {
        rustix::fs::mkfifoat(rustix::fs::CWD, place.path("d").join(name), mode).unwrap();
    }
    // Opening one of them would wait for ever.
    place.json("run mixed.toml d --size 4MiB --criteria no-errors.toml", 0);
    place.run("calibrate d --size 4MiB --time 5s --read-share 100%");
    assert_eq!(names(&place.path("d")), ["assay-0123456789ab.dat", "pipe"]);
}

/// A command line whose locks fail but for the store's, as on a file system without locks; none
/// without strace.
fn without_locks(place: &Place, line: &str) -> Option<std::process::Command> {
    let plain = place.command(line);
    let mut command = std::process::Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=flock"]);
    command.args(["-e", "inject=flock:error=ENOLCK:when=2+"]);
    command.arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().unwrap());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let works = std::process::Command::new("strace").args(["-qq", "true"]).output();
    works.is_ok_and(|works| works.status.success()).then_some(command)
}

#[test]
fn where_locks_do_not_work_nothing_counts_as_left_behind() {
    let (place, left) = abandoned();
    for size in ["4MiB", "16MiB"] {
        let line = format!("run reads.toml d --size {size} --criteria no-errors.toml");
        let Some(mut command) = without_locks(&place, &line) else {
            assay_rig::Skip::new("strace cannot be used here").announce();
            return;
        };
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!said.contains("of an earlier run") && !said.contains("left behind"), "{said}");
        assert!(place.test_files("d").contains(&left), "{said}");
    }
}

/// The kernel works off a killed ring in its own time, and its files are locked for as long.
fn wait_for_locks(place: &Place) {
    let begin = std::time::Instant::now();
    let is_free = |name: &String| {
        let file = fs::File::open(place.path("d").join(name)).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    };
    while !place.test_files("d").iter().all(is_free) {
        assert!(begin.elapsed() < Duration::from_secs(60), "the files stay locked");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_file_that_was_being_filled_when_the_program_was_killed_is_no_rubbish_for_ever() {
    let place = Place::new();
    let mut random = assay_rig::Random::new(5);
    let soon = Duration::from_millis(20)..Duration::from_millis(120);
    for _ in 0..8 {
        let mut command = place.command("run reads.toml d --size 256MiB");
        command.stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null());
        kill_at_random(&mut command, &mut random, &soon).unwrap();
    }
    wait_for_locks(&place);
    place.json("run reads.toml d --size 4MiB --criteria no-errors.toml", 0);
    let left: Vec<String> = place.test_files("d");
    let empty = |name: &String| fs::metadata(place.path("d").join(name)).unwrap().len() == 0;
    // Killed between the name and the header it is nobody's, and takes no space.
    assert!(left.iter().all(empty), "{left:?}");
}

#[test]
fn two_runs_at_once_use_two_files() {
    let place = Place::new();
    let line = "run mixed.toml d --size 4MiB --time 2s --criteria no-errors.toml --json";
    let runs: Vec<Started> = (0..2).map(|_| place.start(line)).collect();
    let results: Vec<_> = runs.into_iter().map(|run| run.wait().json(0)).collect();
    let file = |run: &serde_json::Value| run["environment"]["storage"][0]["target"]["path"].clone();
    assert_ne!(file(&results[0]), file(&results[1]));
    assert!(results.iter().all(|run| all_ios(measurement(run)) > 0));
    assert_eq!(place.test_files("d"), [""; 0]);
    assert_eq!(place.run_ids().len(), 2);
}

#[test]
fn the_store_may_lie_in_the_directory_under_test() {
    let place = Place::new();
    let line = "run mixed.toml d --size 4MiB --store d/runs --criteria no-errors.toml";
    place.json(line, 0);
    place.json(line, 0);
    assert_eq!(names(&place.path("d")), ["runs"]);
    assert_eq!(names(&place.path("d/runs")).len(), 2);
}

#[test]
fn a_report_never_overwrites_a_file() {
    let place = Place::new();
    place.json("run reads.toml sim:servers?count=4&service=1ms --criteria no-errors.toml", 0);
    place.write("page.html", "mine");
    refused(
        &place.run("report --html page.html"),
        4,
        "error: writing page.html: File exists (os error 17)\nhint: specify a new file in a \
         directory that you can write to",
    );
    assert_eq!(fs::read_to_string(place.path("page.html")).unwrap(), "mine");
    place.run("report --html new/page.html").ends_with(0);
    let page = fs::read_to_string(place.path("new/page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    symlink(place.path("nowhere"), place.path("dangling")).unwrap();
    assert_eq!(place.run("report --html dangling").code, Some(4));
    assert!(!place.path("nowhere").exists());
}

#[test]
fn only_runs_are_removed_and_only_whole_ones() {
    let place = Place::new();
    let line = "run reads.toml sim:servers?count=4&service=1ms --criteria no-errors.toml";
    place.json(line, 0);
    place.json(line, 0);
    let ids = place.run_ids();
    let [first, second] = &ids[..] else {
        panic!("{ids:?}");
    };
    let notes = place.path("assay-runs").join(first).join("notes.txt");
    fs::write(&notes, "mine").unwrap();
    refused(
        &place.run(&format!("runs remove {first}")),
        4,
        "error: ./assay-runs/RUN contains files that are not part of a run: notes.txt; nothing was \
         removed\nhint: move it away if you need it, or remove the directory yourself",
    );
    refused(
        &place.run("runs remove ./d"),
        2,
        "error: ./d is not a run: it has no run.json\nhint: specify a run by its id, by the first \
         characters of it, by its directory, or 'latest'",
    );
    refused(
        &place.run("runs remove 2"),
        2,
        "error: '2' is the beginning of 2 run ids\nhint: use one of them: RUN, RUN",
    );
    symlink(place.path("d"), place.path("assay-runs").join("20200101-000000-run-aaaa")).unwrap();
    let ran = place.run("runs remove 20200101-000000-run-aaaa");
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let ran = place.run(&format!("runs remove {second}"));
    assert!(ran.ends_with(0).stdout.starts_with(&format!("removed {second} (")));
    assert!(!place.path("assay-runs").join(second).exists());
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine");
}

#[test]
fn a_run_that_is_being_written_is_not_removed() {
    let place = Place::new();
    let mut run = place.start("run reads.toml d --size 4MiB --time 10min");
    run.wait_until(|| place.kept_intervals() > 0);
    let ran = place.run("runs remove latest");
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.complaint.contains("error: ") && ran.complaint.contains("hint: "));
    assert!(place.run("runs").stdout.contains("running"));
    // What is kept so far can be looked at meanwhile, and the run goes on.
    let now = place.json("runs show", 0);
    assert_eq!(measurement(&now)["finish"]["outcome"], "unfinished");
    assert!(run.is_running());
}
