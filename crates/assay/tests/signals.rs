//! Ctrl-C, SIGTERM and SIGHUP: the program ends soon, says 130, keeps what was measured and leaves
//! no test file.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails where what it needs is missing, and times are for people to read"
)]

mod support;

use assay_rig::{Latency, Mode, Operation, Rig, Script, ending_signals, or_skip};
use rustix::process::Signal;
use std::time::{Duration, Instant};
use support::{Place, Ran, Started, all_ios, measurement, refused};

/// What the program promises, and what a busy machine may make of it: less than the stalls of these
/// tests, and far less than what the runs were asked for.
const STOP: Duration = Duration::from_millis(200);
const SLACK: Duration = Duration::from_secs(4);

/// Sends a signal and waits for the end; returns how long that took.
fn stopped(run: Started, signal: Signal, what: &str) -> (Ran, Duration) {
    let begin = Instant::now();
    run.signal(signal);
    let ran = run.wait();
    let took = begin.elapsed();
    eprintln!("{what}: ended {took:.0?} after {signal:?} (promised: {STOP:?})");
    (ran, took)
}

#[test]
fn a_stopped_run_ends_at_once_and_keeps_what_was_measured() {
    for signal in ending_signals() {
        let place = Place::new();
        let mut run = place.start("run mixed.toml d --size 4MiB --time 10min --json");
        run.wait_until(|| place.kept_intervals() >= 3);
        let (ran, took) = stopped(run, signal, "a run");
        let run = ran.json(130);
        assert!(took < SLACK, "{took:?}");
        let measured = measurement(&run);
        assert_eq!(measured["finish"]["outcome"], "interrupted");
        assert!(all_ios(measured) > 0);
        assert_eq!(place.test_files("d"), [""; 0]);
        let kept = place.json("runs show", 0);
        assert_eq!(measurement(&kept), measured);
        assert!(place.run("runs").stdout.contains("interrupted"));
    }
}

/// Every command that measures a directory, in its midst; a closed terminal ends it like SIGTERM,
/// and a Ctrl-C.
#[test]
fn every_verb_ends_with_every_signal_and_leaves_no_test_file() {
    let study = "format = 1\nname = \"long\"\npreset = \"oltp\"\n[phases]\nmeasure = \
                 \"10min\"\n[[factor]]\nname = \"queue_depth\"\nvalues = [1, 2]\n";
    let commands = [
        "run mixed.toml d --size 4MiB --time 10min",
        "soak d --size 4MiB --time 10min --interval 100ms",
        "calibrate d --size 4MiB --time 10min --read-share 100%",
        "study long.study.toml d --size 4MiB",
        "locality d --size 64MiB --smallest 1MiB --largest 32MiB --time 10min",
        "watch d --time 10min --interval 200ms",
    ];
    std::thread::scope(|scope| {
        for command in commands {
            for signal in ending_signals() {
                scope.spawn(move || {
                    let place = Place::new();
                    place.write("long.study.toml", study);
                    let mut run = place.start(&format!("{command} --quiet"));
                    let writes = !command.starts_with("watch");
                    run.wait_until(|| {
                        let begun = place.run_ids().first().is_some_and(|id| {
                            place.path("assay-runs").join(id).join("run.json").exists()
                        });
                        begun && writes != place.test_files("d").is_empty()
                    });
                    // Some of them are filling their file now, some measure.
                    std::thread::sleep(Duration::from_millis(500));
                    let (ran, took) = stopped(run, signal, command);
                    assert_eq!(ran.code, Some(130), "{command}, {signal:?}: {ran:#?}");
                    assert!(took < SLACK, "{command}, {signal:?}: {took:?}");
                    assert_eq!(place.test_files("d"), [""; 0], "{command}, {signal:?}");
                });
            }
        }
    });
}

#[test]
fn a_run_in_virtual_time_can_be_stopped_too() {
    for command in ["run reads.toml", "calibrate --time 10h"] {
        let place = Place::new();
        let mut run = place.start(&format!(
            "{command} sim:servers?count=8&service=100us --json {}",
            if command.starts_with("run") { "--time 365d" } else { "" }
        ));
        if command.starts_with("run") {
            run.wait_until(|| place.kept_intervals() >= 3);
        } else {
            run.wait_until(|| !place.run_ids().is_empty());
            std::thread::sleep(Duration::from_millis(300));
        }
        let (ran, _) = stopped(run, Signal::INT, command);
        assert_eq!(ran.code, Some(130), "{ran:#?}");
    }
}

/// Reading an archive of others takes as long as it is large.
#[test]
fn an_archive_is_left_at_the_first_interrupt() {
    let place = Place::new();
    let directory = place.path("archive/oswvmstat");
    std::fs::create_dir_all(&directory).unwrap();
    let name = |hour: u32| directory.join(format!("h_vmstat_26.11.22.{hour:02}00.dat"));
    let lines = "zzz ***Sun Nov 22 22:00:00 UTC 2026\n".repeat(800_000);
    std::fs::write(name(0), lines).unwrap();
    for hour in 1..24 {
        std::fs::hard_link(name(0), name(hour)).unwrap();
    }
    let mut reading = place.start("watch --from archive");
    let id = reading.id();
    let has_begun = || {
        let files = std::fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        let mut open = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        open.any(|path| path.starts_with(&directory))
    };
    reading.wait_until(has_begun);
    let (ran, took) = stopped(reading, Signal::INT, "an archive");
    assert!(ran.code.unwrap_or(130) == 130 && took < SLACK, "{took:?} {ran:?}");
}

#[test]
fn a_stopped_filling_leaves_neither_file_nor_run() {
    let slow = Script::new().latency(Operation::Write, Latency::fixed(Duration::from_millis(20)));
    let rig = or_skip!(Rig::mount(&slow));
    for backend in ["uring", "posix"] {
        let place = Place::new();
        let before = rig.statistics().write.ios;
        let mut run = place.start(&format!(
            "run mixed.toml {} --size 1GiB --backend {backend}",
            rig.directory().display()
        ));
        run.wait_until(|| rig.statistics().write.ios > before + 20);
        let (ran, took) = stopped(run, Signal::INT, "filling");
        refused(&ran, 130, "error: filling RIG/assay-ID.dat was interrupted\nhint: start again");
        assert!(took < SLACK, "{took:?}");
        assert_eq!(support::names(rig.directory()), [""; 0]);
        assert_eq!(place.run_ids(), [""; 0]);
    }
}

/// A run on a device that stops answering for some seconds in its midst; then a signal.
fn stalled(mode: Mode, backend: &str, stall_s: u64, what: &str) -> Option<(Place, Ran, Duration)> {
    let pace = Latency::fixed(Duration::from_micros(500));
    let script =
        Script::new().mode(mode).latency(Operation::Read, pace).latency(Operation::Write, pace);
    let rig = match Rig::mount(&script) {
        Ok(rig) => rig,
        Err(skip) => {
            skip.announce();
            return None;
        }
    };
    let place = Place::new();
    let mut run = place.start(&format!(
        "run mixed.toml {} --size 4MiB --time 10min --json --backend {backend}",
        rig.directory().display()
    ));
    run.wait_until(|| place.kept_intervals() >= 3);
    let stall = Latency::fixed(Duration::from_secs(stall_s));
    rig.set_latency(Operation::Read, stall);
    rig.set_latency(Operation::Write, stall);
    let kept = place.kept_intervals();
    // The stall has lasted for several intervals when the signal comes.
    std::thread::sleep(Duration::from_millis(300));
    let (ran, took) = stopped(run, Signal::INT, what);
    let run = ran.json(130);
    let measured = measurement(&run);
    assert_eq!(measured["finish"]["outcome"], "interrupted");
    assert!(all_ios(measured) > 0);
    assert!(place.kept_intervals() >= kept);
    assert_eq!(support::names(rig.directory()), [""; 0]);
    Some((place, ran, took))
}

#[test]
fn a_stalled_device_cannot_keep_a_run_from_ending() {
    let Some((_, ran, took)) = stalled(Mode::Asynchronous, "uring", 5, "a stalled run") else {
        return;
    };
    assert!(took < SLACK, "{took:?}");
    let run = ran.json(130);
    let conduct = &measurement(&run)["conduct"];
    assert_eq!(conduct["abandoned_ios"], 4, "{conduct:#}");
    let remarks = conduct["remarks"].to_string();
    assert!(remarks.contains("an I/O had not completed after"), "{remarks}");
}

/// A call that blocks cannot be taken back: the process ends when the kernel lets go of it.
#[test]
fn blocking_calls_end_with_the_stall_and_lose_nothing() {
    stalled(Mode::Asynchronous, "posix", 1, "a stalled run of blocking calls");
}

#[test]
fn a_worker_that_the_kernel_keeps_is_said_in_the_result() {
    let what = "a run stalled in its submission";
    let Some((_, ran, _)) = stalled(Mode::Blocking, "uring", 3, what) else {
        return;
    };
    let run = ran.json(130);
    let remarks = measurement(&run)["conduct"]["remarks"].to_string();
    assert!(remarks.contains("1 of 1 workers were still in the kernel"), "{remarks}");
}

#[test]
fn a_device_that_never_answers_can_be_left_before_the_first_interval() {
    let rig = or_skip!(Rig::mount(&Script::new().file("data", 4 << 20)));
    let place = Place::new();
    let mut run =
        place.start(&format!("run reads.toml {} --time 10min --json", rig.path("data").display()));
    // The content has been looked at by then; the probe or the first I/Os are on their way.
    run.wait_until(|| place.has_cell());
    rig.set_latency(Operation::Read, Latency::fixed(Duration::from_secs(5)));
    std::thread::sleep(Duration::from_millis(300));
    let (ran, took) = stopped(run, Signal::INT, "a run that had just begun");
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    assert!(took < SLACK, "{took:?}");
}

#[test]
fn a_stopped_calibration_keeps_its_rungs() {
    for command in ["calibrate --read-share 100%", "check"] {
        let place = Place::new();
        let mut run = place.start(&format!("{command} d --size 4MiB --json"));
        run.wait_until(|| !place.test_files("d").is_empty());
        std::thread::sleep(Duration::from_secs(3));
        assert!(run.is_running());
        let (ran, took) = stopped(run, Signal::TERM, command);
        assert!(took < SLACK, "{took:?}");
        assert_eq!(place.test_files("d"), [""; 0]);
        assert_eq!(ran.code, Some(130), "{ran:#?}");
        let run = ran.json(130);
        let calibration = run["calibration"].to_string();
        // How far it had come by then depends on the machine.
        assert!(calibration.contains("stopped while "), "{calibration}");
        assert_eq!(place.json("report", 0)["calibration"], run["calibration"]);
    }
}

/// Begins a study whose hook has started a program in the background and does not end; gives that
/// program's number.
fn hooked(place: &Place) -> (Started, rustix::process::Pid) {
    let study = r#"format = 1
name = "hooked"
capacity = "64MiB"
[phases]
measure = "1s"
[hooks]
before = "sleep 600 & echo $! > begun; mv begun number; sleep 600"
time_limit = "10min"
[[factor]]
name = "sessions"
values = [1]
[workload]
format = 1
name = "blocks"
duration = "1s"
[[workload.stream]]
name = "blocks"
block_size = "8KiB"
arrival = { closed = { queue_depth = 1 } }
"#;
    place.write("hooked.toml", study);
    let mut run = place.start("study hooked.toml sim:servers?count=4&service=1ms+device?size=1GiB");
    run.wait_until(|| place.path("number").exists());
    let number = std::fs::read_to_string(place.path("number")).unwrap();
    let number = number.trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    (run, number)
}

/// Waits for a process to end; one that nobody has reaped has ended.
fn ends(number: rustix::process::Pid) -> bool {
    let stat = format!("/proc/{}/stat", number.as_raw_nonzero());
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        let text = std::fs::read_to_string(&stat).unwrap_or_default();
        let state = text.rsplit_once(") ").map(|(_, rest)| rest.starts_with('Z'));
        if state.unwrap_or(true) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn a_hook_ends_with_the_program_however_it_ends() {
    for signal in [vec![Signal::KILL], ending_signals()].concat() {
        let place = Place::new();
        let (run, number) = hooked(&place);
        let (ran, _) = stopped(run, signal, "a study in its hook");
        assert_eq!(ran.code, (signal != Signal::KILL).then_some(130), "{ran:#?}");
        assert!(ends(number), "the hook outlived {signal:?}");
    }
}
