//! The program as a user meets it: a place of its own to work in, what it printed, and how it
//! ended.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test fails by panicking, and each uses another part of this"
)]

use assay_rig::{Reaped, memory_directory};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// One host, then two of them, each time with the load on each.
pub const HOSTS_STUDY: &str = r#"format = 1
name = "hosts"
repeats = 2
[workload]
format = 1
name = "reads"
duration = "300ms"
interval = "50ms"
[[workload.stream]]
name = "reads"
block_size = "4KiB"
arrival = { closed = { queue_depth = 2 } }
[phases]
measure = "300ms"
[[factor]]
name = "hosts"
values = [1, 2]
"#;

/// Reads of 4 KiB, four outstanding.
pub const READS: &str = r#"format = 1
name = "reads"
duration = "300ms"
interval = "50ms"
[[stream]]
name = "reads"
block_size = "4KiB"
arrival = { closed = { queue_depth = 4 } }
"#;

/// Half reads and half writes of 4 KiB, four outstanding.
pub const MIXED: &str = r#"format = 1
name = "mixed"
duration = "300ms"
interval = "50ms"
[[stream]]
name = "mixed"
read_share = 0.5
block_size = "4KiB"
arrival = { closed = { queue_depth = 4 } }
"#;

/// What every measurement passes that has no error, however slow or busy the machine is.
pub const NO_ERRORS: &str = r#"format = 1
name = "no errors"
[[criterion]]
quantity = "errors"
at_most = 0
"#;

/// A directory with workloads, criteria and an empty directory `d` to measure in; gone when it is
/// dropped.
pub struct Place {
    directory: PathBuf,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub status: ExitStatus,
    pub stdout: String,
    /// Standard error as it was.
    pub stderr: String,
    /// The same without notes, and with the names that change from run to run replaced.
    pub complaint: String,
}

/// A command at work.
pub struct Started {
    child: Reaped,
    out: PathBuf,
    err: PathBuf,
    place: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = memory_directory().join(format!("place-{number}"));
        let place = Self { directory };
        fs::create_dir_all(place.path("d")).unwrap();
        place.write("reads.toml", READS);
        place.write("mixed.toml", MIXED);
        place.write("no-errors.toml", NO_ERRORS);
        place
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// A file that only its user reads, as one with a token must be.
    pub fn write_private(&self, name: &str, text: &str) {
        self.write(name, text);
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(self.path(name), private).unwrap();
    }

    /// A file of incompressible bytes that are on the disk.
    pub fn random_file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.path(name);
        let file = File::create_new(&path).unwrap();
        file.write_all_at(&random_bytes(bytes), 0).unwrap();
        file.sync_all().unwrap();
        path
    }

    /// `assay` with words that are divided by spaces, at work in this place.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        // A database has tests of its own; without programs `check` skips it at once.
        command.env("ASSAY_BINDIR", "/nowhere");
        // What nodes keep is this place's, too.
        command.env("XDG_STATE_HOME", self.path("state"));
        command
            .args(line.split_whitespace())
            .current_dir(&self.directory)
            .env_remove("ASSAY_STORE")
            .stdin(Stdio::null());
        command
    }

    pub fn start(&self, line: &str) -> Started {
        Started::of(self.command(line), &self.directory)
    }

    pub fn run(&self, line: &str) -> Ran {
        self.start(line).wait()
    }

    /// The whole result of a command that ends with `code` and prints JSON, and nothing else, on
    /// standard output.
    pub fn json(&self, line: &str, code: i32) -> Value {
        self.run(&format!("{line} --json")).json(code)
    }

    /// The test files that are left in a directory.
    pub fn test_files(&self, directory: &str) -> Vec<String> {
        names(&self.path(directory)).into_iter().filter(|name| name.starts_with("assay-")).collect()
    }

    /// The ids of all runs of the store.
    pub fn run_ids(&self) -> Vec<String> {
        let store = self.path("assay-runs");
        if store.is_dir() { names(&store) } else { Vec::new() }
    }
}

pub fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Bytes that no storage compresses (xorshift; Marsaglia 2003).
pub fn random_bytes(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..bytes.div_ceil(8)).flat_map(|_| next()).take(bytes).collect()
}

impl Started {
    pub fn of(command: Command, place: &Path) -> Self {
        Self::with(command, place, |command| Reaped::spawn(command).unwrap())
    }

    /// Started by a caller of its own, for example without `io_uring`.
    pub fn with(
        mut command: Command,
        place: &Path,
        spawn: impl FnOnce(&mut Command) -> Reaped,
    ) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Not in the place itself, so that its listings stay clean.
        let base = std::env::temp_dir().join(format!("assay-out.{}.{number}", std::process::id()));
        let named = |end: &str| PathBuf::from(format!("{}.{end}", base.display()));
        let (out, err) = (named("out"), named("err"));
        command.stdout(File::create(&out).unwrap());
        command.stderr(File::create(&err).unwrap());
        Self { child: spawn(&mut command), out, err, place: place.to_owned() }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The most memory that it has had so far (`VmHWM`, `proc_pid_status(5)`), bytes; 0 where it
    /// has ended.
    pub fn peak_memory_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.map_or(0, |kib| kib << 10)
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits until `what` holds; a program that ends before, or never gets there, fails the test.
    pub fn wait_until(&mut self, what: impl Fn() -> bool) {
        let begin = Instant::now();
        while !what() {
            let err = fs::read_to_string(&self.err).unwrap();
            assert!(self.is_running(), "it ended too early:\n{err}");
            assert!(begin.elapsed() < Duration::from_secs(60), "it never came: {err}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Where its standard error goes.
    pub fn stderr_path(&self) -> PathBuf {
        self.err.clone()
    }

    /// What it has written to standard error so far.
    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.err).unwrap()
    }

    pub fn wait(mut self) -> Ran {
        let status = self.child.wait().unwrap();
        let read = |path: &Path| String::from_utf8(fs::read(path).unwrap()).unwrap();
        let (stdout, stderr) = (read(&self.out), read(&self.err));
        Ran { code: status.code(), status, complaint: plain(&stderr, &self.place), stdout, stderr }
    }
}

/// Also of a program that nobody waits for.
impl Drop for Started {
    fn drop(&mut self) {
        for path in [&self.out, &self.err] {
            let _ = fs::remove_file(path);
        }
    }
}

impl Ran {
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self:#?}");
        serde_json::from_str(&self.stdout).expect(&self.stdout)
    }

    pub fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }
}

/// A refusal: nothing on standard output, exactly this on standard error, and this exit code.
#[track_caller]
pub fn refused(ran: &Ran, code: i32, complaint: &str) {
    let what = (ran.code, ran.stdout.as_str(), ran.complaint.trim_end());
    assert_eq!(what, (Some(code), "", complaint.trim()), "{}", ran.stderr);
}

/// The same for several commands of one place; all that differ are shown.
#[track_caller]
pub fn all_refused(place: &Place, commands: &[(&str, i32, &str)]) {
    let mut wrong = String::new();
    for (line, code, complaint) in commands {
        let ran = place.run(line);
        let found = (ran.code, ran.stdout.as_str(), ran.complaint.trim_end());
        if found != (Some(*code), "", complaint.trim()) {
            let (code, out, complaint) = (ran.code, &ran.stdout, &ran.complaint);
            wrong = format!("{wrong}\n`assay {line}`: {code:?}\n{out}{complaint}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Without notes and progress; places, test files, runs and loop devices under one name each.
fn plain(stderr: &str, place: &Path) -> String {
    let shown = stderr.replace(place.to_str().unwrap(), "PLACE");
    let lines = shown.lines().filter(|line| !line.starts_with("note: ") && !is_progress(line));
    let mut text = String::new();
    for line in lines {
        let line = replaced(line, "assay-", ".dat", |id| id.len() == 12, "assay-ID.dat");
        let line = replaced_rigs(&line);
        let line = replaced_runs(&line);
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// A line of progress in a file: ` 42%  what is being done`.
fn is_progress(line: &str) -> bool {
    let share = line.split_once("%  ").map(|(share, _)| share.trim_start());
    share.is_some_and(|share| share.parse::<u32>().is_ok())
}

/// Replaces what lies between two words, both included.
fn replaced(
    text: &str,
    before: &str,
    after: &str,
    fits: impl Fn(&str) -> bool,
    by: &str,
) -> String {
    let (mut rest, mut done) = (text, String::new());
    while let Some((head, tail)) = rest.split_once(before) {
        done.push_str(head);
        let fitting = tail.split_once(after).filter(|(middle, _)| fits(middle));
        let (word, behind) = fitting.map_or((before, tail), |(_, behind)| (by, behind));
        done.push_str(word);
        rest = behind;
    }
    done + rest
}

/// Directories of rigs look like `/tmp/assay-rig.123.4`.
fn replaced_rigs(line: &str) -> String {
    let mut parts = line.split("/tmp/assay-rig.");
    let head = parts.next().unwrap_or_default().to_owned();
    parts.fold(head, |done, part| {
        let number = |letter: char| letter.is_ascii_digit() || letter == '.';
        done + "RIG" + part.trim_start_matches(number)
    })
}

/// Ids of runs look like `20261121-083955-run-k3f9`.
fn replaced_runs(line: &str) -> String {
    let mut done = line.to_owned();
    for kind in ["-run-", "-calibrate-", "-check-"] {
        while let Some(at) = done.find(kind) {
            let (from, to) = (at.saturating_sub(15), at + kind.len() + 4);
            if !done.as_bytes()[from].is_ascii_digit() || to > done.len() {
                break;
            }
            done.replace_range(from..to, "RUN");
        }
    }
    done
}

/// The only cell's measurement in a run's JSON.
pub fn measurement(run: &Value) -> &Value {
    let runs = run["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    &runs[0]["measurement"]
}

/// A whole number of a document.
#[track_caller]
pub fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no whole number: {value}"))
}

/// Reads and writes of a named result, failed ones left out.
pub fn ios(result: &Value) -> u64 {
    let of = |operation: &str| result["operations"][operation]["ios"].as_u64().unwrap_or(0);
    of("read") + of("write")
}

/// I/Os of all streams of a measurement.
pub fn all_ios(measurement: &Value) -> u64 {
    measurement["streams"].as_array().unwrap().iter().map(ios).sum()
}

impl Place {
    /// Whether the only run has begun to measure.
    pub fn has_cell(&self) -> bool {
        self.only_cell().is_some_and(|cell| cell.exists())
    }

    /// The directory of the only run's cell.
    fn only_cell(&self) -> Option<PathBuf> {
        let ids = self.run_ids();
        assert!(ids.len() < 2, "which of {ids:?}?");
        let id = ids.first()?;
        Some(self.path("assay-runs").join(id).join("cells/run"))
    }

    /// Intervals that the only run has kept so far.
    pub fn kept_intervals(&self) -> usize {
        self.kept_intervals_of("run")
    }

    /// The same of one of its cells.
    pub fn kept_intervals_of(&self, cell: &str) -> usize {
        let lines =
            self.only_cell().unwrap_or_default().with_file_name(cell).join("intervals.jsonl");
        let text = fs::read_to_string(lines).unwrap_or_default();
        text.lines().filter(|line| line.contains("\"interval\"")).count()
    }
}

/// Address space that a hostile input may not even reserve.
const ADDRESSES_KIB_MAX: u64 = 1 << 20;
/// Memory that it may not have at any moment.
pub const MEMORY_MIB_MAX: u64 = 200;
/// Nothing hostile takes more than a moment; a machine that is busy gets more.
pub const LONGEST: Duration = Duration::from_secs(120);

/// Runs a command within bounds of memory and time; one that does not end fails the test.
pub fn bounded(place: &Place, words: &[&str]) -> Ran {
    bounded_with(place, words, &[])
}

/// The same with variables of the environment.
pub fn bounded_with(place: &Place, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {ADDRESSES_KIB_MAX}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_assay"))
        .args(words)
        .current_dir(place.path("."))
        .env("ASSAY_BINDIR", "/nowhere")
        .env_remove("ASSAY_STORE")
        .env("XDG_STATE_HOME", place.path("state"))
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    let mut started = Started::of(command, &place.path("."));
    let (begun, mut peak_bytes) = (Instant::now(), 0);
    while started.is_running() {
        peak_bytes = peak_bytes.max(started.peak_memory_bytes());
        if begun.elapsed() > LONGEST {
            started.signal(Signal::KILL);
            panic!("it did not end: {words:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let peak_mib = peak_bytes >> 20;
    let begin: String = words.join(" ").chars().take(200).collect();
    assert!(peak_mib <= MEMORY_MIB_MAX, "{peak_mib} MiB: {begin}");
    started.wait()
}
