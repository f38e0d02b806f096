//! What a program or a shell reads: documents and nothing else, no panic when nobody listens, and
//! help that is whole.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use serde_json::Value;
use std::fs::File;
use std::process::{Command, Stdio};
use support::{Place, Ran, Started};

const VERBS: [&str; 7] = ["check", "inspect", "calibrate", "run", "report", "runs", "completion"];

/// A place with one run.
fn place() -> Place {
    let place = Place::new();
    place.json(
        "run reads.toml sim:servers?count=4&service=1ms --time 10s --criteria no-errors.toml",
        0,
    );
    place
}

#[test]
fn json_is_all_that_is_on_standard_output() {
    let place = place();
    for line in [
        "inspect d /dev/null",
        "run reads.toml d --size 4MiB --criteria no-errors.toml",
        "check sim:servers?count=2&service=10ms --time 20s",
        "calibrate sim:servers?count=2&service=10ms --time 5s",
        "report --criteria no-errors.toml",
        "report",
        "runs show",
        "runs list",
        "runs",
    ] {
        let ran = place.run(&format!("{line} --json"));
        let parsed: Result<Value, _> = serde_json::from_str(&ran.stdout);
        assert!(parsed.is_ok(), "{line}: {ran:#?}");
        assert!(matches!(ran.code, Some(0 | 1 | 3)), "{line}: {ran:#?}");
        assert!(ran.stderr.lines().all(|line| line.starts_with("note: ")), "{}", ran.stderr);
    }
}

#[test]
fn an_interrupted_and_a_failed_run_are_json_too() {
    let place = Place::new();
    let mut run = place.start("run reads.toml d --size 4MiB --time 10min --json");
    run.wait_until(|| place.kept_intervals() > 0);
    run.signal(rustix::process::Signal::INT);
    assert!(run.wait().json(130).is_object());
}

#[test]
fn the_list_of_runs_tells_how_each_ended() {
    let place = place();
    let list = place.json("runs list", 0);
    let runs = list["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["id"], place.run_ids()[0].as_str());
    assert_eq!(runs[0]["state"], "complete");
    assert_eq!(runs[0]["kind"], "run");
    assert_eq!(runs[0]["targets"][0], "sim:servers?count=4&service=1ms");
}

/// The words of a shell, with its exit codes behind them.
fn shell(place: &Place, script: &str) -> Ran {
    let mut command = Command::new("bash");
    command
        .args(["-c", script])
        .current_dir(place.path(""))
        .env("ASSAY", env!("CARGO_BIN_EXE_assay"))
        .stdin(Stdio::null());
    Started::of(command, &place.path("")).wait()
}

#[test]
fn a_reader_that_leaves_early_is_no_mistake() {
    let place = place();
    for line in [
        "--help",
        "run --help",
        "completion bash",
        "report",
        "report --json",
        "runs",
        "inspect d --json",
        "report --criteria no-errors.toml",
    ] {
        let script = format!("\"$ASSAY\" {line} | true; echo ${{PIPESTATUS[0]}}");
        let ran = shell(&place, &script);
        assert_eq!((ran.stdout.trim(), ran.stderr.as_str()), ("0", ""), "{line}");
    }
    let ran = shell(&place, "\"$ASSAY\" nothere 2>&1 >&- | true; echo ${PIPESTATUS[0]}");
    assert_eq!(ran.stdout.trim(), "2");
}

#[test]
fn a_result_that_cannot_be_written_is_said() {
    let place = place();
    let mut command = place.command("report --json");
    command.stdout(File::options().write(true).open("/dev/full").unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: writing the result: No space left on device (os error 28)\nhint: check the \
         destination of standard output\n"
    );
}

/// Sequences that colour: those that end in `m`.
fn is_coloured(text: &str) -> bool {
    text.split("\u{1b}[").skip(1).any(|part| {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic());
        end.is_some_and(|end| part[end..].starts_with('m'))
    })
}

#[test]
fn no_colour_where_it_is_not_wanted_or_not_seen() {
    let place = place();
    for line in ["report", "report --criteria no-errors.toml", "inspect d", "--help", "zzz"] {
        let ran = place.run(line);
        assert!(!is_coloured(&ran.stdout) && !is_coloured(&ran.stderr), "{line}");
        // On a terminal of its own.
        let typescript = format!("NO_COLOR=1 script -qec '\"$ASSAY\" {line}' /dev/null");
        let ran = shell(&place, &typescript);
        assert!(!is_coloured(&ran.stdout), "{line}: {}", ran.stdout);
        assert!(!ran.stdout.is_empty(), "{line}: {}", ran.stderr);
    }
}

#[test]
fn quiet_says_nothing_but_the_result() {
    let place = place();
    let script = "script -qec '\"$ASSAY\" run reads.toml d --size 4MiB --quiet --criteria \
                  no-errors.toml > out 2> err' /dev/null; cat err";
    assert_eq!(shell(&place, script).stdout, "");
}

#[test]
fn the_help_of_every_verb_lists_every_option() {
    let place = place();
    let manual = place.run("manual").stdout;
    for command in VERBS {
        let heading = format!("# assay {command}\n");
        let (_, chapter) = manual.split_once(&heading).unwrap();
        let chapter = chapter.split("\n# assay ").next().unwrap();
        // Commands below have chapters of their own.
        let chapter = chapter.split("\n## assay ").next().unwrap();
        let help = place.run(&format!("{command} --help")).stdout;
        let rows = chapter.lines().filter(|line| line.starts_with("| `"));
        let mut options = 0;
        for row in rows {
            let name = row.trim_start_matches("| `").split('`').next().unwrap();
            let name = &name.split(", ").last().unwrap().replace("\\|", "|");
            assert!(help.contains(name), "{command} {name}: {help}");
            options += 1;
        }
        assert!(options > 0, "{command}");
        assert!(help.contains("Usage: assay"), "{help}");
    }
}

#[test]
fn shells_get_their_completion() {
    let place = place();
    for shell_name in ["bash", "zsh", "fish"] {
        let script = place.run(&format!("completion {shell_name}"));
        script.ends_with(0);
        for word in ["calibrate", "max-latency", "inspect", "resume"] {
            assert!(script.stdout.contains(word), "{shell_name}: {word}");
        }
    }
    let checked = shell(&place, "\"$ASSAY\" completion bash | bash -n && echo fine");
    assert_eq!(checked.stdout, "fine\n", "{}", checked.stderr);
}
