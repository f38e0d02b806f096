//! What is absurd, hostile or damaged ends with a clear word, soon and in bounded memory: options,
//! documents, and runs of others.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{LONGEST, Place, Ran, bounded, measurement, names};

const DEVICE: &str = "sim:servers?count=8&service=200us";
fn ends(place: &Place, words: &[&str]) -> Ran {
    let ran = bounded(place, words);
    assert!(ran.code.is_some_and(|code| code != 101), "{words:?}: {ran:#?}");
    ran
}

/// Options by the command that they belong to, the rest of its command, and the kind of their
/// values.
const NUMERIC: [(&str, &[&str]); 7] = [
    (
        "run oltp DEVICE --time 300ms --warm-up 0s --interval 50ms",
        &[
            "--time T",
            "--warm-up T",
            "--interval T",
            "--seed N",
            "--submit-batch N",
            "--compressible S",
            "--duplicate S",
            "--size B",
            "--fill-time T",
        ],
    ),
    (
        "locality DEVICE --smallest 1MiB --largest 16MiB --time 10ms",
        &["--block-size B", "--smallest B", "--largest B", "--time T", "--follow T"],
    ),
    (
        "calibrate DEVICE --time 100ms --read-share 100% --queue-depth-max 4",
        &[
            "--block-size B",
            "--large-block B",
            "--time T",
            "--queue-depth-max N",
            "--quantile S",
            "--max-latency T",
            "--seed N",
            "--read-share S",
            "--steps T:T:T",
        ],
    ),
    (
        "soak DEVICE --time 400ms --interval 50ms",
        &["--tolerance S", "--interval T", "--seed N", "--size B"],
    ),
    ("compare latest latest", &["--nodes N", "--tolerance S"]),
    (
        "bench slob d --bindir /nowhere",
        &[
            "--sessions N",
            "--quantile S",
            "--work N",
            "--repeats N",
            "--scale B",
            "--tables N",
            "--work-unit N",
            "--update-work-unit N",
            "--update-pct N",
            "--scan-share S",
            "--scan-size B",
            "--hot-table N",
            "--compressible S",
            "--time T",
            "--warm-up T",
            "--max-latency T",
            "--buffer-pool B",
        ],
    ),
    (
        "bench oltp d --bindir /nowhere",
        &[
            "--sessions N",
            "--warehouses N",
            "--partitions N",
            "--loaders N",
            "--rate N",
            "--repeats N",
            "--time T",
            "--ramp T",
            "--quantile S",
        ],
    ),
];

fn values(kind: &str) -> &'static [&'static str] {
    match kind {
        "T" => &["0s", "1ns", "-1s", "0.0000001ns", "1"],
        "B" => &["0B", "1B", "511B", "16777215TiB", "99999999999999999999TiB", "-1B"],
        "S" => &["0%", "100%", "1000%", "-5%", "0", "1", "nan", "inf"],
        "T:T:T" => &["0s:0s:0s", "1us:1us:0s", "1ns:1h:1ns", "2us:1us:1us", "::"],
        _ => &["0", "-1", "4294967295", "4294967296", "18446744073709551615", "1e9", "0,0", ""],
    }
}

#[test]
fn zero_and_huge_values_of_every_numeric_option_end_with_a_word() {
    let place = Place::new();
    ends(
        &place,
        &["run", "oltp", DEVICE, "--time", "300ms", "--warm-up", "0s", "--interval", "50ms"],
    );
    std::thread::scope(|scope| {
        for (line, options) in NUMERIC {
            for option in options {
                let place = &place;
                scope.spawn(move || every_value_is_answered(place, line, option));
            }
        }
    });
}

/// Tries all values of an option, in place of what the command says of it else.
fn every_value_is_answered(place: &Place, line: &str, option: &str) {
    let (option, kind) = option.split_once(' ').unwrap();
    let mut words: Vec<&str> =
        line.split(' ').map(|word| if word == "DEVICE" { DEVICE } else { word }).collect();
    if let Some(at) = words.iter().position(|word| *word == option) {
        words.drain(at..at + 2);
    }
    for value in values(kind) {
        let asked = format!("{option}={value}");
        let words = [&words[..], &[&asked]].concat();
        let ran = ends(place, &words);
        let is_answered = ran.code == Some(0) || !ran.stderr.is_empty() || !ran.stdout.is_empty();
        assert!(is_answered, "{words:?}: {ran:#?}");
    }
}

#[test]
fn a_simulated_device_whose_time_stands_still_is_refused_or_ended() {
    let place = Place::new();
    for (device, said) in [
        ("sim:servers?count=8&service=0s", "is not allowed"),
        ("sim:servers?count=100000&service=1ns", "its time barely advances"),
    ] {
        let ran = ends(&place, &["run", "reads.toml", device, "--time", "1s", "--warm-up", "0s"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{device}: {ran:#?}");
    }
}

#[test]
fn the_first_interrupt_ends_a_simulation_between_two_intervals() {
    let place = Place::new();
    // One interval of it takes minutes.
    let mut started = place.start(
        "run reads.toml sim:servers?count=8&service=1us --time 100h --interval 100h --warm-up 0s",
    );
    let store = place.path("assay-runs");
    started.wait_until(|| {
        let run = || names(&store).into_iter().next().map(|run| store.join(run));
        store.is_dir() && run().is_some_and(|run| run.join("cells/run/intervals.jsonl").exists())
    });
    std::thread::sleep(Duration::from_millis(50));
    started.signal(Signal::INT);
    let begun = Instant::now();
    while started.is_running() {
        assert!(begun.elapsed() < LONGEST, "the first Ctrl-C did not reach it");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(started.wait().code, Some(130));
}

#[test]
fn counts_without_measure_are_refused_by_name() {
    let place = Place::new();
    let stream = |index: u32| {
        format!(
            "[[stream]]\nname = \"s{index}\"\nblock_size = \"8KiB\"\narrival = {{ closed = {{ \
             queue_depth = 1 }} }}\n"
        )
    };
    let head = "format = 1\nname = \"many\"\nduration = \"1s\"\n";
    place.write("many.toml", &(head.to_owned() + &(0..5000).map(stream).collect::<String>()));
    place.write(
        "wide.toml",
        &(head.to_owned() + &stream(0) + "access = { sequential = { streams = 218419612 } }\n"),
    );
    place.write(
        "long.criteria.toml",
        &format!(
            "format = 1\nname = \"long\"\n[[criterion]]\nquantity = \"{}\"\nat_most = 1\n",
            "A".repeat(200_000)
        ),
    );
    let sides = vec!["latest"; 5000];
    let compare: Vec<&str> = ["compare"].into_iter().chain(sides).collect();
    for (words, said) in [
        (vec!["run", "many.toml", DEVICE], "5000 streams are too many"),
        (vec!["run", "wide.toml", DEVICE], "218419612 sequential runs are too many"),
        (compare, "5000 runs are too many to compare at once"),
    ] {
        let ran = ends(&place, &words);
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{ran:#?}");
    }
    ends(
        &place,
        &["run", "oltp", DEVICE, "--time", "300ms", "--warm-up", "0s", "--interval", "50ms"],
    );
    let ran = ends(&place, &["report", "latest", "--criteria", "long.criteria.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
}

#[test]
fn files_without_end_are_refused_in_bounded_memory() {
    let place = Place::new();
    ends(
        &place,
        &["run", "oltp", DEVICE, "--time", "300ms", "--warm-up", "0s", "--interval", "50ms"],
    );
    fs::create_dir_all(place.path("osw/oswvmstat")).unwrap();
    let sparse = fs::File::create(place.path("osw/oswvmstat/h_vmstat_26.11.22.2200.dat")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    for (words, said) in [
        (vec!["profile", "/dev/zero"], "larger than any report"),
        (vec!["report", "latest", "--criteria", "/dev/zero"], "longer than 32 MiB"),
        (vec!["run", "/dev/zero", DEVICE], ""),
        (vec!["study", "/dev/zero", DEVICE], "longer than 32 MiB"),
        (vec!["watch", "--from", "osw"], ""),
    ] {
        let ran = ends(&place, &words);
        let is_refused = ran.code.is_some_and(|code| [2, 4].contains(&code));
        assert!(is_refused && ran.stderr.contains(said), "{words:?}: {ran:#?}");
    }
}

/// A short run, its directory.
fn kept_run(place: &Place) -> PathBuf {
    ends(
        place,
        &["run", "oltp", DEVICE, "--time", "300ms", "--warm-up", "0s", "--interval", "50ms"],
    );
    let id = place.run_ids().pop().unwrap();
    place.path("assay-runs").join(id)
}

fn has_control(text: &str) -> bool {
    text.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t')
}

#[test]
fn control_characters_of_a_received_run_never_reach_the_terminal() {
    let place = Place::new();
    let run = kept_run(&place);
    let evil = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u202e";
    let manifest = fs::read_to_string(run.join("run.json")).unwrap();
    let manifest = manifest.replace(DEVICE, &format!("{DEVICE}{evil}"));
    assert!(manifest.contains("owned"));
    fs::write(run.join("run.json"), manifest).unwrap();
    // Who sends a run computes its checksums, too.
    fs::remove_file(run.join("checksums.jsonl")).unwrap();
    let id = run.file_name().unwrap().to_str().unwrap();
    for line in [
        "runs",
        "runs list",
        "report ID",
        "runs show ID",
        "compare ID ID",
        "runs --json",
        "report ID --json",
        "run --resume ID",
        "report ID --csv intervals",
    ] {
        let ran = place.run(&line.replace("ID", id));
        assert!(!has_control(&ran.stdout) && !has_control(&ran.stderr), "{line}: {ran:#?}");
    }
    for name in ["\u{1b}[2Jx", "\u{9b}31m", "a\rb"] {
        let ran = ends(&place, &["runs", "remove", "--", name]);
        assert!(ran.code == Some(2) && !has_control(&ran.stderr), "{ran:#?}");
    }
}

#[test]
fn an_empty_name_removes_nothing() {
    let place = Place::new();
    kept_run(&place);
    for words in [["runs", "remove", ""], ["runs", "show", ""], ["report", "", "--json"]] {
        let ran = ends(&place, &words);
        assert!(
            ran.code == Some(2) && ran.stderr.contains("the name of the run is empty"),
            "{ran:#?}"
        );
    }
    assert_eq!(place.run_ids().len(), 1);
}

#[test]
fn a_changed_digit_is_said_by_every_verb_with_file_and_line() {
    let place = Place::new();
    let run = kept_run(&place);
    let id = run.file_name().unwrap().to_str().unwrap().to_owned();
    kept_run(&place);
    let other = place.run_ids().into_iter().find(|other| *other != id).unwrap();
    for (name, commands) in [
        (
            "cells/run/measurement.json",
            vec!["report ID", "report ID --json", "compare ID OTHER", "runs show ID"],
        ),
        ("run.json", vec!["report ID", "runs", "runs remove ID", "compare ID OTHER"]),
        (
            "cells/run/intervals.jsonl",
            vec!["report ID", "report ID --csv intervals", "compare ID OTHER"],
        ),
        ("events.jsonl", vec![]),
        ("checksums.jsonl", vec!["report ID"]),
        ("cells/run/workload.toml", vec!["compare ID OTHER"]),
    ] {
        let file = run.join(name);
        let bytes = fs::read(&file).unwrap();
        let digits = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
        let Some(at) = digits.map(|(at, _)| at).nth(20) else { continue };
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&file, changed).unwrap();
        for command in commands {
            let ran = place.run(&command.replace("ID", &id).replace("OTHER", &other));
            let is_named = ran.stderr.contains(name) || ran.stdout.contains(name);
            assert!(ran.code == Some(4) && is_named, "{command}, {name}: {ran:#?}");
            let has_line = !name.ends_with("jsonl") || ran.stderr.contains(" is damaged: line ");
            assert!(has_line, "{command}, {name}: {ran:#?}");
        }
        fs::write(&file, bytes).unwrap();
        assert_eq!(place.run(&format!("report {id}")).code, Some(0));
    }
    let whole = place.json(&format!("report {id}"), 0);
    assert!(measurement(&whole)["elapsed_ns"].is_u64());
    fs::remove_file(run.join("checksums.jsonl")).unwrap();
    let unchecked = place.run(&format!("report {id}"));
    assert!(
        unchecked.code == Some(0) && unchecked.stderr.contains(" has no checksums: "),
        "{unchecked:#?}"
    );
}

#[test]
fn a_run_received_with_links_is_refused_by_every_verb_and_nothing_outside_changes() {
    const MINE: &str = "my notes\n";
    let place = Place::new();
    place.write("notes", MINE);
    for name in [
        "lock",
        "run.json",
        "events.jsonl",
        "cells/run/measurement.json",
        "cells/run/intervals.jsonl",
    ] {
        let run = kept_run(&place);
        let id = run.file_name().unwrap().to_str().unwrap().to_owned();
        fs::remove_file(run.join(name)).unwrap();
        symlink(place.path("notes"), run.join(name)).unwrap();
        for command in ["runs", "report ID", "compare ID ID", "run --resume ID", "runs remove ID"] {
            let line = command.replace("ID", &id);
            let words: Vec<&str> = line.split(' ').collect();
            let ran = ends(&place, &words);
            assert_eq!(fs::read_to_string(place.path("notes")).unwrap(), MINE, "{command}, {name}");
            assert!(!ran.stdout.contains("my notes"), "{command}, {name}: {ran:#?}");
        }
        assert!(run.is_dir(), "{name}");
        fs::remove_dir_all(&run).unwrap();
    }
}

#[test]
fn a_study_that_was_killed_while_its_file_was_filled_goes_on_or_says_why_not() {
    let place = Place::new();
    place.write(
        "s.study.toml",
        "format = 1\nname = \"s\"\npreset = \"oltp\"\n[phases]\nmeasure = \
         \"300ms\"\n[[factor]]\nname = \"queue_depth\"\nvalues = [1, 2]\n",
    );
    let ran = place.run(&format!("study s.study.toml {DEVICE}"));
    let ran = if ran.code == Some(0) { ran } else { panic!("{ran:#?}") };
    drop(ran);
    let run = place.path("assay-runs").join(place.run_ids().pop().unwrap());
    let manifest = fs::read_to_string(run.join("run.json")).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    for key in ["finish", "finished_unix_ns"] {
        manifest.as_object_mut().unwrap().remove(key);
    }
    fs::write(run.join("run.json"), manifest.to_string()).unwrap();
    fs::remove_file(run.join("checksums.jsonl")).unwrap();
    fs::remove_file(run.join("study.json")).unwrap();
    fs::remove_dir_all(run.join("cells")).unwrap();
    // The study was kept before anything was filled, and goes on.
    let resumed = place.run("study --resume latest");
    assert_eq!(resumed.code, Some(0), "{resumed:#?}");
    fs::write(run.join("run.json"), manifest.to_string()).unwrap();
    // Ended before anything was kept.
    for name in ["checksums.jsonl", "study.json", "study.toml", "plan.json"] {
        fs::remove_file(run.join(name)).unwrap();
    }
    let resumed = place.run("study --resume latest");
    assert!(resumed.stderr.contains("ended before its plan.json"), "{resumed:#?}");
    assert!(Path::new(&run).is_dir());
}

#[test]
fn strange_names_of_runs_remove_nothing() {
    let place = Place::new();
    kept_run(&place);
    fs::create_dir(place.path("victim")).unwrap();
    fs::write(place.path("victim/file"), "mine").unwrap();
    let absolute = place.path("victim").to_str().unwrap().to_owned();
    let long = "x".repeat(300);
    for name in [
        "../victim",
        &absolute,
        "..",
        ".",
        "latest/..",
        "%2e%2e",
        "../d",
        "\n",
        "a b",
        "*",
        "--",
        "$(touch pwn)",
        "`touch pwn`",
        ";touch pwn",
        &long,
        "\u{1f600}",
        "/",
        "//",
        "./",
        "assay-runs",
        "./assay-runs",
    ] {
        let ran = ends(&place, &["runs", "remove", "--", name]);
        assert!(ran.code.is_some_and(|code| [2, 4].contains(&code)), "{name}: {ran:#?}");
    }
    assert_eq!(place.run_ids().len(), 1);
    assert_eq!(fs::read_to_string(place.path("victim/file")).unwrap(), "mine");
    assert!(!place.path("pwn").exists());
}

#[test]
fn places_that_cannot_hold_a_store_are_refused_with_a_word() {
    let place = Place::new();
    place.write("file", "mine");
    let long = "n".repeat(300);
    for store in ["file", "file/below", "/proc", "/dev/null", "/dev/full", "", &long] {
        let ran = ends(
            &place,
            &["run", "reads.toml", DEVICE, "--time", "300ms", "--warm-up", "0s", "--store", store],
        );
        let is_refused = ran.code.is_some_and(|code| [2, 4].contains(&code));
        assert!(is_refused && ran.stderr.contains("hint: "), "{store}: {ran:#?}");
    }
    assert_eq!(fs::read_to_string(place.path("file")).unwrap(), "mine");
    let ran = ends(
        &place,
        &[
            "run",
            "reads.toml",
            DEVICE,
            "--time",
            "300ms",
            "--warm-up",
            "0s",
            "--interval",
            "50ms",
            "--store",
            "a\n\u{1b}[2J",
        ],
    );
    assert!(!has_control(&ran.stdout) && !has_control(&ran.stderr), "{ran:#?}");
}

#[test]
fn names_without_end_are_answered_at_once() {
    let place = Place::new();
    let name = "A".repeat(100_000);
    place.write("key.toml", &format!("format = 1\nname = \"x\"\nduration = \"1s\"\n{name} = 1\n"));
    let array = format!("array:{name}");
    for words in [
        vec!["run", "key.toml", DEVICE],
        vec!["run", &name, DEVICE],
        vec!["run", "oltp", &array],
        vec![&name],
        vec!["study", &name, DEVICE],
    ] {
        let ran = ends(&place, &words);
        assert!(ran.code.is_some_and(|code| [2, 4].contains(&code)), "{:?}", ran.code);
    }
}

/// Readers of TOML: the file, and the command that reads it.
const TOML_READERS: [(&str, &str); 4] = [
    ("x.workload.toml", "run x.workload.toml sim:servers?count=8&service=200us"),
    ("x.criteria.toml", "report latest --criteria x.criteria.toml"),
    ("x.study.toml", "study x.study.toml sim:servers?count=8&service=200us"),
    ("x.array.toml", "run oltp array:x.array.toml"),
];

#[test]
fn documents_that_nest_or_never_end_are_refused() {
    let place = Place::new();
    kept_run(&place);
    let head = "format = 1\nname = \"x\"\n";
    let tomls = [
        format!("{head}a = {}", "[".repeat(100_000)),
        format!("{head}a = {}", "{ a = ".repeat(50_000)),
        format!("{head}[{}a]\n", "a.".repeat(100_000)),
        format!("{head}{}a = 1\n", "a.".repeat(100_000)),
        format!("{head}{}", "[[x]]\n".repeat(200_000)),
        format!("{head}description = \"{}\"\n", "t".repeat(20_000_000)),
    ];
    for text in &tomls {
        for (name, line) in TOML_READERS {
            place.write(name, text);
            let words: Vec<&str> = line.split(' ').collect();
            let ran = ends(&place, &words);
            assert!(ran.code == Some(2), "{line}: {:?} {:.300}", ran.code, ran.stderr);
        }
    }
    for text in [
        "[".repeat(1_000_000),
        "{\"a\":".repeat(300_000),
        format!("{{\"format\":1,\"name\":\"{}\"}}", "t".repeat(30_000_000)),
        format!("{{\"format\":{}}}", "9".repeat(1_000_000)),
    ] {
        place.write("x.profile.json", &text);
        let ran = ends(&place, &["compare", "x.profile.json", "x.profile.json"]);
        assert!(
            ran.code.is_some_and(|code| [2, 4].contains(&code)),
            "{:?} {:.300}",
            ran.code,
            ran.stderr
        );
    }
}

#[test]
fn plans_and_devices_beyond_measure_are_refused() {
    let place = Place::new();
    let study = |more: &str| {
        format!(
            "format = 1\nname = \"s\"\npreset = \"oltp\"\n{more}\n[phases]\nmeasure = \
             \"300ms\"\n[[factor]]\nname = \"queue_depth\"\nvalues = [1, 2]\n"
        )
    };
    place.write("repeats.study.toml", &study("repeats = 4000000000"));
    let ran = ends(&place, &["study", "repeats.study.toml", DEVICE, "--dry-run"]);
    assert!(ran.code == Some(2) || ran.stdout.len() < 1 << 20, "{:?}", ran.code);
    for device in
        ["sim:servers?count=1000000000000&service=200us", "array:ramsan-300?capacity=16777215TiB"]
    {
        let ran = ends(
            &place,
            &["run", "oltp", device, "--time", "300ms", "--warm-up", "0s", "--interval", "50ms"],
        );
        assert!(ran.code.is_some(), "{device}: {ran:#?}");
    }
}

/// As long as a document may be, and of the shapes that take most memory.
#[test]
fn documents_of_any_shape_are_read_in_bounded_memory() {
    const LONGEST_BYTES: usize = (512 << 10) - 100;
    let place = Place::new();
    kept_run(&place);
    let head = "format = 1\nname = \"x\"\n";
    let criterion = "[[criterion]]\nquantity = \"errors\"\nat_most = 0\n";
    let filled = |unit: &str, bytes: usize| unit.repeat(bytes / unit.len());
    let shapes = |bytes| {
        [
            format!("{head}a = [{}]\n", filled("1,", bytes)),
            format!("{head}a = [{}]\n", filled("{a=1},", bytes)),
            format!("{head}{}", filled("[[x]]\n", bytes)),
            format!("{head}{}", filled("#\n", bytes)),
            format!("{head}{}", filled(criterion, bytes)),
        ]
    };
    for text in shapes(LONGEST_BYTES) {
        for (name, line) in TOML_READERS {
            place.write(name, &text);
            let words: Vec<&str> = line.split(' ').collect();
            let ran = ends(&place, &words);
            assert!(
                ran.code.is_some_and(|code| code <= 2),
                "{line}: {:?} {:.300}",
                ran.code,
                ran.stderr
            );
        }
    }
    for text in shapes((512 << 10) + 100) {
        for (name, line) in TOML_READERS {
            place.write(name, &text);
            let ran = ends(&place, &line.split(' ').collect::<Vec<_>>());
            let is_refused = ran.code == Some(2) && ran.stderr.contains("longer than 512 KiB");
            assert!(is_refused, "{line}: {:?} {:.300}", ran.code, ran.stderr);
        }
    }
}
