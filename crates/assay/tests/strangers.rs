//! What strangers type in their first hour: it does what was meant, or says in one error and one
//! hint how.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};
use support::{NO_ERRORS, Place, Ran, names};

/// The commands, what they end with and what they say; the file explains its form.
const TYPED: &str = include_str!("strangers.txt");

/// One line of the file.
struct Expected {
    typed: &'static str,
    code: i32,
    /// Whether an error may take another form than one error and one hint.
    is_free: bool,
    words: Vec<&'static str>,
}

impl Expected {
    fn of(line: &'static str) -> Self {
        let (typed, rest) = line.split_once("=>").unwrap();
        let (code, words) = rest.split_once('|').unwrap();
        let (code, is_free) = match code.trim().strip_suffix('!') {
            Some(code) => (code, true),
            None => (code.trim(), false),
        };
        let words = words.split(" ; ").map(str::trim).filter(|word| !word.is_empty());
        Self { typed: typed.trim(), code: code.parse().unwrap(), is_free, words: words.collect() }
    }

    /// What is not as it should be.
    fn misses(&self, ran: &Ran) -> Vec<String> {
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let missing = self.words.iter().filter(|word| !said.contains(**word));
        let mut misses: Vec<String> = missing.map(|word| format!("no '{word}'")).collect();
        if ran.code != Some(self.code) {
            misses.push(format!("exit code {:?} instead of {}", ran.code, self.code));
        }
        let lines = |start: &str| ran.stderr.lines().filter(|line| line.starts_with(start)).count();
        if self.code != 0 && !self.is_free && (lines("error: "), lines("hint: ")) != (1, 1) {
            misses.push("not one error and one hint".to_owned());
        }
        misses
    }
}

#[test]
fn a_first_hour_goes_as_meant() {
    let place = Place::new();
    place.write("criteria.toml", NO_ERRORS);
    let lines = TYPED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let expected: Vec<Expected> = lines.map(Expected::of).collect();
    assert!(expected.len() >= 200, "{} lines", expected.len());
    let mut wrong = String::new();
    for one in &expected {
        let ran = place.run(one.typed);
        let misses = one.misses(&ran);
        if !misses.is_empty() {
            let said = format!("{}{}", ran.stderr, ran.stdout);
            let said: Vec<&str> = said.lines().take(6).collect();
            let (missed, said) = (misses.join(", "), said.join("\n  "));
            let _ = writeln!(wrong, "assay {}: {missed}\n  {said}", one.typed);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(place.test_files("d").is_empty());
}

/// What `--dry-run` says is said of storage that nobody touches, and of a store that is not made.
#[test]
fn a_dry_run_touches_nothing() {
    let place = Place::new();
    let before = names(&place.path("."));
    for command in ["check", "calibrate", "run oltp", "soak", "locality", "bench oltp", "bench dss"]
    {
        let ran = place.run(&format!("{command} d --dry-run"));
        assert!(ran.ends_with(0).stdout.ends_with("nothing was touched\n"), "{ran:#?}");
    }
    assert_eq!(names(&place.path(".")), before);
    assert_eq!(names(&place.path("d")), [""; 0]);
}

/// A server that runs on the target is recognised by its own files; a process of its name stands
/// for it.
#[test]
fn a_running_database_on_the_target_is_asked_for() {
    let place = Place::new();
    fs::create_dir_all(place.path("d/15/main")).unwrap();
    place.write("d/15/main/PG_VERSION", "15\n");
    std::os::unix::fs::symlink("/bin/sleep", place.path("postgres")).unwrap();
    let mut server = Command::new(place.path("postgres")).arg("60").spawn().unwrap();
    place.write("d/15/main/postmaster.pid", &format!("{}\n/data\n", server.id()));
    for line in
        ["run reads.toml d --size 16MiB", "check d", "bench oltp d", "soak d", "study emc-slob d"]
    {
        let ran = place.run(line);
        assert!(ran.stderr.contains("PostgreSQL is running on"), "{line}: {ran:#?}");
        assert!(ran.ends_with(2).stderr.contains("--yes"), "{ran:#?}");
    }
    place.run("check d --dry-run").ends_with(0);
    let ran = place.run("run reads.toml d --size 16MiB --yes");
    assert!(ran.ends_with(0).stderr.contains("saturates the disk"), "{ran:#?}");
    server.kill().unwrap();
    server.wait().unwrap();
    // One that was killed leaves its files behind.
    place.run("run reads.toml d --size 16MiB").ends_with(0);
}

/// A preset that is printed, and a workload of the command line, are files that `run` accepts and
/// prints again.
#[test]
fn a_printed_workload_is_one_that_runs() {
    let place = Place::new();
    for line in ["run oltp --print", "run randread --bs 4k --depth 2 --rate 100 --time 1s --print"]
    {
        let printed = place.run(line).stdout;
        place.write("printed.toml", &printed);
        let again = place.run("run printed.toml --print").stdout;
        place.write("again.toml", &again);
        assert_eq!(place.run("run again.toml --print").stdout, again);
        place.run("run printed.toml sim:constant?count=8&service=1ms --time 1s").ends_with(0);
    }
}

/// A command that measures says something at once, also where nobody looks at a terminal.
#[test]
fn the_first_word_comes_before_the_first_number() {
    let place = Place::new();
    for line in [
        "run reads.toml d --size 16MiB --time 1s",
        "calibrate sim:servers?count=4&service=1ms --time 2s",
        "soak sim:servers?count=4&service=1ms --time 10s",
        "locality sim:device?size=64MiB+servers?count=4&service=1ms --time 1s",
    ] {
        let begun = Instant::now();
        let ran = place.run(line);
        let first = ran.stderr.lines().next().unwrap_or_default();
        assert!(!first.is_empty(), "{line} said nothing in {:?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
