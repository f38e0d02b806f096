//! The program: serves a script to other processes, always unmounts, prints what happened.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_rig::{Log, Operation, Reaped, Rig, Scratch, Script, Skip, or_skip};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const RIG: &str = env!("CARGO_BIN_EXE_assay-rig");

const SCRIPT: &str = r#"
[[file]]
name = "data"
size = "64KiB"
[[fault]]
effect = { error = "EIO" }
operations = ["read"]
from = "8KiB"
to = "12KiB"
"#;

fn is_mounted(path: &Path) -> bool {
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    table.contains(&format!(" {} ", path.display()))
}

/// The program, serving [`SCRIPT`] on `directory`.
fn start(directory: &Path, more: &[&str]) -> Reaped {
    let script = directory.with_extension("toml");
    fs::write(&script, SCRIPT).unwrap();
    let mut command = Command::new(RIG);
    command.arg("mount").arg(directory).arg("--script").arg(script).args(more);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut rig = Reaped::spawn(&mut command).unwrap();
    let mut line = String::new();
    BufReader::new(rig.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), format!("mounted {}", directory.display()));
    rig
}

/// A directory to mount on, if this machine can mount at all.
fn mount_point() -> Result<(Scratch, std::path::PathBuf), Skip> {
    drop(Rig::mount(&Script::new())?);
    let scratch = Scratch::new().unwrap();
    let directory = scratch.join("mount");
    fs::create_dir(&directory).unwrap();
    Ok((scratch, directory))
}

fn finish(mut rig: Reaped) -> String {
    let mut log = String::new();
    rig.stdout.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(rig.wait().unwrap().success());
    log
}

#[test]
fn serves_until_its_input_ends_and_prints_the_log() {
    let (_scratch, directory) = or_skip!(mount_point());
    let mut rig = start(&directory, &[]);
    let file = assay_rig::direct::open(&directory.join("data")).unwrap();
    let mut buffer = assay_rig::direct::Buffer::new(4096, 0);
    file.read_at(&mut buffer, 0).unwrap();
    assert!(file.read_at(&mut buffer, 8192).is_err());
    drop(file);
    rig.stdin.take();
    let text = finish(rig);
    assert!(!is_mounted(&directory));
    let log = Log::parse_jsonl(&text);
    let results: Vec<bool> = log.of(Operation::Read).map(|entry| entry.errno.is_none()).collect();
    assert_eq!(results, [true, false]);
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["statistics"]["read"]["errors"], 1);
}

#[test]
fn a_signal_ends_it_and_the_log_goes_to_a_file() {
    let (scratch, directory) = or_skip!(mount_point());
    let path = scratch.join("log.jsonl");
    for signal in ["TERM", "INT"] {
        let mut rig = start(&directory, &["--no-stdin", "--log", path.to_str().unwrap()]);
        rig.stdin.take();
        fs::read(directory.join("data")).unwrap_err();
        let kill = Command::new("kill").args(["-s", signal, &rig.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(finish(rig), "");
        assert!(!is_mounted(&directory));
        let log = Log::parse_jsonl(&fs::read_to_string(&path).unwrap());
        // The page cache reads ahead, and again in smaller pieces what failed.
        assert!(log.faulty().count() >= 1);
    }
}

#[test]
fn what_a_killed_rig_leaves_is_swept_away() {
    or_skip!(mount_point());
    // It lives until all is mounted: whoever sweeps takes away what is nobody's at once.
    let mut owner = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let abandoned = std::env::temp_dir().join(format!("assay-rig.{}.0", owner.id()));
    let directory = abandoned.join("mount");
    fs::create_dir_all(&directory).unwrap();
    drop(start(&directory, &[]));
    assert!(is_mounted(&directory));
    drop(owner.stdin.take());
    owner.wait().unwrap();
    let begun = Instant::now();
    while is_mounted(&directory) || abandoned.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it stays");
        // Others may sweep at the same time, and get into its way.
        Scratch::sweep();
    }
}

#[test]
fn mistakes_are_told_with_a_way_out() {
    let scratch = Scratch::new().unwrap();
    let script = scratch.join("script.toml");
    fs::write(&script, "sed = 1").unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(RIG).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = run(&["mount", "/tmp", "--script", script.to_str().unwrap()]);
    assert_eq!(code, Some(2));
    assert!(text.contains("unknown field `sed`") && text.contains("hint:"), "{text}");
    assert_eq!(run(&["mount"]).0, Some(2));
    assert_eq!(run(&["deny-io-uring", "--"]).0, Some(2));
    assert_eq!(run(&["mount", "/nowhere/at/all"]).0, Some(4));
    assert_eq!(run(&["deny-io-uring", "--", "/nowhere/at/all"]).0, Some(4));
}

/// One read by fio through `io_uring`, if fio is there.
fn fio(mut command: Command, path: &Path) -> Result<Output, Skip> {
    command.args(["--name=probe", "--ioengine=io_uring", "--rw=read", "--bs=4k", "--size=4k"]);
    let output = command.arg(format!("--filename={}", path.display())).output();
    output.map_err(|error| Skip::new(format!("fio: {error}")))
}

#[test]
fn a_command_runs_without_io_uring() {
    let scratch = Scratch::new().unwrap();
    let path = scratch.join("file");
    fs::write(&path, [1; 4096]).unwrap();
    let free = or_skip!(fio(Command::new("fio"), &path));
    if !free.status.success() {
        Skip::new("io_uring does not work here at all").announce();
        return;
    }
    let mut command = Command::new(RIG);
    command.args(["deny-io-uring", "--", "fio"]);
    let denied = or_skip!(fio(command, &path));
    let printed = String::from_utf8_lossy(&denied.stderr) + String::from_utf8_lossy(&denied.stdout);
    assert!(!denied.status.success() && printed.contains("Operation not permitted"), "{printed}");
    let inside = or_skip!(assay_rig::without_io_uring(|| fio(Command::new("fio"), &path)));
    assert!(!or_skip!(inside).status.success());
}

#[test]
fn a_rig_that_nobody_stops_dies_with_its_guard() {
    let (_scratch, directory) = or_skip!(mount_point());
    let rig = start(&directory, &[]);
    let id = rig.id();
    drop(rig);
    assert!(!Path::new(&format!("/proc/{id}")).exists());
    // The mount of a killed rig is dead: using it fails instead of hanging.
    let begin = Instant::now();
    while fs::read(directory.join("data")).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    let unmounted = Command::new("umount").arg("-l").arg(&directory).status().unwrap();
    assert!(unmounted.success());
}
