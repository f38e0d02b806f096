//! What `assay runs clean` takes for left behind in a directory that others may write into, and
//! that nothing else is removed or ended, whatever is exchanged by name meanwhile.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing, and says so"
)]

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Of which host and boot a directory says that it is.
#[derive(Clone, Copy)]
enum Origin {
    Here,
    AnotherHost,
}

/// A scratch directory with `d`, which is looked at, and what must stay next to it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-left-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("d")).unwrap();
        Self(path)
    }

    fn directory(&self) -> PathBuf {
        self.0.join("d")
    }

    /// A directory as a run of this user leaves it that was killed, with a file in it.
    fn leave(&self, number: u64, origin: Origin) -> PathBuf {
        let owner = format!("{number:012x}{:020x}", 7);
        let path = self.directory().join(format!("assay-directory-{number:012x}"));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let status = fs::metadata(&path).unwrap();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let (host, boot) = match origin {
            Origin::Here => ("anything", boot.trim()),
            Origin::AnotherHost => ("123 elsewhere", "another"),
        };
        let text = format!(
            "ASSAY DIRECTORY 2\nowner {owner}\ninode {}\nuser {}\nhost {host}\nboot \
             {boot}\nprocess 0\nbegan 1\n",
            status.ino(),
            status.uid()
        );
        fs::write(path.join("assay-marker"), text).unwrap();
        fs::write(path.join("file"), vec![1; 100_000]).unwrap();
        path
    }

    fn clean(&self, more: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(["runs", "clean", "d"]).args(more.split_whitespace());
        command.current_dir(&self.0).stdin(Stdio::null()).output().unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

#[test]
fn what_was_left_is_shown_with_its_size_and_goes_only_when_that_is_said() {
    let scratch = Scratch::new("shown");
    let left = scratch.leave(1, Origin::Here);
    let output = scratch.clean("");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("assay-directory-000000000001 (1"), "{}", said(&output));
    assert!(said(&output).contains("--yes") && left.join("file").exists());
    let output = scratch.clean("--yes");
    assert!(output.status.success() && said(&output).contains("removed 1"), "{}", said(&output));
    assert_eq!(scratch.names(), Vec::<String>::new());
    assert!(said(&scratch.clean("--yes")).contains("there is nothing to remove"));
}

/// D17, D18, D19, E02, E03: a name is not a mark, and a mark is a plain file of this user that says
/// of which directory it is.
#[test]
fn what_only_looks_like_ours_stays() {
    let scratch = Scratch::new("looks");
    let d = scratch.directory();
    let made = |name: &str| {
        let path = d.join(format!("assay-directory-{name}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("thesis"), "three years of work").unwrap();
        path.join("assay-marker")
    };
    fs::create_dir(d.join("assay-directory-empty")).unwrap();
    made("unmarked");
    fs::write(made("marked"), "").unwrap();
    fs::write(made("old"), "ASSAY DIRECTORY 1\ninode 1\n").unwrap();
    let real = scratch.leave(5, Origin::Here);
    let text = fs::read_to_string(real.join("assay-marker")).unwrap();
    // The mark of another directory, in a copy and by links.
    fs::write(made("000000000005x"), &text).unwrap();
    symlink(real.join("assay-marker"), made("linked")).unwrap();
    fs::hard_link(real.join("assay-marker"), made("hard")).unwrap();
    symlink("/etc/passwd", made("system")).unwrap();
    assert!(Command::new("mkfifo").arg(made("pipe")).status().unwrap().success());
    symlink(&real, d.join("assay-directory-link")).unwrap();
    let before = scratch.names();
    let begun = Instant::now();
    let output = scratch.clean("--yes");
    assert!(begun.elapsed() < Duration::from_secs(60), "a pipe is not waited for");
    // That its mark has a second name makes the real one doubtful, too.
    assert!(said(&output).contains("there is nothing to remove"), "{}", said(&output));
    assert_eq!(scratch.names(), before);
    fs::remove_file(d.join("assay-directory-hard/assay-marker")).unwrap();
    assert!(said(&scratch.clean("--yes")).contains("removed 1"));
    assert_eq!(scratch.names().len(), before.len() - 1);
    assert!(d.join("assay-directory-marked/thesis").exists());
}

/// V17: two hosts on one share, and a file system that has no locks.
#[test]
fn what_another_host_made_or_no_lock_tells_of_is_never_left() {
    let scratch = Scratch::new("hosts");
    let there = scratch.leave(1, Origin::AnotherHost);
    let output = scratch.clean("--yes");
    assert!(said(&output).contains("the host elsewhere created it"), "{}", said(&output));
    assert!(there.join("file").exists());
    let here = scratch.leave(2, Origin::Here);
    let held = fs::File::open(here.join("assay-marker")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    assert!(said(&scratch.clean("--yes")).contains("there is nothing to remove"));
    drop(held);
    let traced = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=flock",
            "-e",
            "inject=flock:error=ENOLCK",
        ])
        .args([env!("CARGO_BIN_EXE_assay"), "runs", "clean", "d", "--yes"])
        .current_dir(&scratch.0)
        .output();
    match traced {
        Ok(output) => {
            assert!(said(&output).contains("does not support the locks"), "{}", said(&output));
        }
        Err(_) => println!("skipped: no strace here, by which locks can be made to fail"),
    }
    assert!(here.join("file").exists());
}

/// E01: whoever may read a directory may lock it.
#[test]
fn a_lock_on_the_directory_of_others_is_not_waited_for() {
    let scratch = Scratch::new("locked");
    scratch.leave(1, Origin::Here);
    let held = fs::File::open(scratch.directory()).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    assert!(said(&scratch.clean("--yes")).contains("removed 1"));
}

#[test]
fn what_another_user_made_is_his_however_it_is_marked() {
    let scratch = Scratch::new("users");
    if !rustix::process::geteuid().is_root() {
        return println!("skipped: only root can make what belongs to another user");
    }
    for (number, given) in [(1, ""), (2, "assay-marker"), (3, "file")] {
        let path = scratch.leave(number, Origin::Here);
        std::os::unix::fs::chown(path.join(given), Some(65_534), None).unwrap();
    }
    // A file in it may be of the server's account; the directory and its mark may not.
    assert!(said(&scratch.clean("--yes")).contains("removed 1"));
    assert_eq!(scratch.names().len(), 2);
    fs::set_permissions(scratch.leave(4, Origin::Here), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(said(&scratch.clean("--yes")).contains("there is nothing to remove"));
}

/// Exchanges two names as fast as it can until it is to end; counts.
fn exchange(one: &Path, other: &Path, stop: &AtomicBool, count: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        } else {
            std::thread::yield_now();
        }
    }
}

/// E04 and E05: names are exchanged all the time between what was left and a link to what must
/// stay, in which a process works that is called like a server.
#[test]
fn names_that_are_exchanged_lead_nowhere() {
    const SWAPS: u64 = 10_000;
    let scratch = Scratch::new("race");
    let precious = scratch.0.join("precious");
    fs::create_dir_all(precious.join("deep")).unwrap();
    let files: Vec<PathBuf> =
        (0..40).map(|number| precious.join(format!("deep/{number}"))).collect();
    for file in &files {
        fs::write(file, "of root").unwrap();
    }
    let text =
        |path: &Path| fs::write(precious.join("assay-marker"), fs::read(path).unwrap()).unwrap();
    let program = scratch.0.join("postgres");
    // A process is called by the name it was started by; a copy might still be open for writing in
    // a fork of another test.
    symlink("/bin/sleep", &program).unwrap();
    let mut server = Command::new(&program).arg("600").current_dir(&precious).spawn().unwrap();
    let link = scratch.directory().join("link");
    let (swaps, begun, mut rounds) = (AtomicU64::new(0), Instant::now(), 0);
    while swaps.load(Ordering::Relaxed) < SWAPS && begun.elapsed() < Duration::from_secs(60) {
        rounds += 1;
        let left = scratch.leave(rounds, Origin::Here);
        for number in 0..50 {
            fs::create_dir(left.join(format!("room{number}"))).unwrap();
        }
        // Even with the right words in it.
        text(&left.join("assay-marker"));
        let _ = fs::remove_file(&link);
        symlink(&precious, &link).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| exchange(&left, &link, &stop, &swaps));
            for _ in 0..4 {
                scratch.clean("--yes");
            }
            stop.store(true, Ordering::Relaxed);
        });
        // What is left of it has one name or the other.
        for path in [&left, &link] {
            let is_directory = fs::symlink_metadata(path).is_ok_and(|status| status.is_dir());
            let removed =
                if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            drop(removed);
        }
    }
    assert!(files.iter().all(|file| fs::read(file).is_ok_and(|text| text == b"of root")));
    let is_alive = server.try_wait().unwrap().is_none();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(is_alive, "the process of others was ended");
    let swaps = swaps.load(Ordering::Relaxed);
    assert!(swaps >= 2000, "{swaps} exchanges in {rounds} rounds are too few to tell");
}
