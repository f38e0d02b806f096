//! What other users, other hosts and files of others cannot do: choose what a name means, run code,
//! fill the memory, or learn a secret.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing, or says why it is skipped"
)]

mod support;

use assay_ledger::{LedgerHead, LedgerId, LedgerPlace, LedgerSubject, Token, WitnessAddress};
use rustix::fs::{CWD, FileType, Mode, Timespec, Timestamps, futimens, mknodat};
use rustix::process::Signal;
use std::cell::RefCell;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{MEMORY_MIB_MAX, Place, Ran, Started, bounded, bounded_with};

const DEVICE: &str = "sim:servers?count=8&service=200us";
const SECRET: &str = "S3cretOfMine99";
/// A study that would run a command.
const HOOKED: &str = r#"format = 1
name = "hooked"
[workload]
format = 1
name = "reads"
duration = "300ms"
interval = "50ms"
[[workload.stream]]
name = "reads"
block_size = "4KiB"
arrival = { closed = { queue_depth = 1 } }
[phases]
measure = "300ms"
[hooks]
before = "touch hook-ran"
[[factor]]
name = "block_size"
values = ["4KiB"]
"#;

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn endless(path: &Path) {
    symlink("/dev/zero", path).unwrap();
}

fn refused(ran: &Ran, code: i32, words: &str) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    assert!(ran.stderr.contains(words), "no '{words}': {ran:#?}");
}

#[test]
fn a_name_that_is_built_in_never_means_a_file_of_the_working_directory() {
    let place = Place::new();
    place.write("randread", "[evil]\nrw=write\nbs=4k\nfilename=x\n");
    place.write("orion-simple", HOOKED);
    place.write("oltp-default", "format = 1\nname = \"evil\"\n");
    let ran = place.run(&format!("run randread {DEVICE} --time 2s --criteria oltp-default"));
    assert!(ran.stderr.contains("note: randread is the built-in; write ./randread for the file"));
    assert!(!ran.stderr.contains("evil") && !ran.stdout.contains("evil"), "{ran:#?}");
    let ran = place.run(&format!("study orion-simple {DEVICE} --dry-run"));
    assert!(ran.stderr.contains("note: orion-simple is the built-in"), "{ran:#?}");
    assert!(ran.code == Some(0) && !ran.stdout.contains("hook-ran"), "{ran:#?}");
    // A path means the file.
    let ran = place.run(&format!("study ./orion-simple {DEVICE} --dry-run"));
    assert!(ran.stdout.contains("touch hook-ran"), "{ran:#?}");
}

#[test]
fn a_study_that_others_can_have_written_runs_no_command() {
    let place = Place::new();
    place.write("h.study.toml", HOOKED);
    fs::set_permissions(place.path("h.study.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    let ran = place.run(&format!("study h.study.toml {DEVICE}"));
    refused(&ran, 2, "another user can write to it");
    assert!(!place.path("hook-ran").exists() && place.run_ids().is_empty());
    fs::set_permissions(place.path("h.study.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a file to another user");
        return;
    }
    std::os::unix::fs::chown(place.path("h.study.toml"), Some(65534), None).unwrap();
    refused(&place.run(&format!("study h.study.toml {DEVICE}")), 2, "another user can write to it");
}

/// The relay is started for `--hosts` with names; whether Ray is installed does not matter.
#[test]
fn modules_in_the_working_directory_are_not_run() {
    if Command::new("python3").arg("-V").output().is_err() {
        println!("skipped: python3 is not installed");
        return;
    }
    let place = Place::new();
    let modules = [
        "json",
        "argparse",
        "re",
        "socket",
        "subprocess",
        "threading",
        "ray",
        "sitecustomize",
        "site",
        "stat",
        "os",
    ];
    for module in modules {
        let ran = place.path(format!("{module}-ran"));
        place.write(&format!("{module}.py"), &format!("open({:?}, 'w')\n", ran.to_str().unwrap()));
    }
    let target = place.path("d");
    for line in [
        format!("run oltp {} --hosts hA,hB --time 1s", target.display()),
        "hosts nodes --hosts hA,hB".to_owned(),
    ] {
        let mut command = place.command(&line);
        command.env("PYTHONPATH", ".").env_remove("RAY_ADDRESS").env_remove("RAY_AUTH_MODE");
        let ran = Started::of(command, &place.path("")).wait();
        assert_eq!(ran.code, Some(4), "{ran:#?}");
    }
    for module in modules {
        assert!(!place.path(format!("{module}-ran")).exists(), "{module} was run");
    }
}

#[test]
fn a_job_file_does_not_multiply_what_it_holds() {
    let place = Place::new();
    let long = "d".repeat(3_800_000);
    let sections = (0..4000).map(|number| format!("[{number}]\n")).collect::<Vec<_>>().concat();
    place.write("globals.fio", &format!("[global]\ndescription={long}\n{sections}"));
    refused(&bounded(&place, &["run", "globals.fio", "--print"]), 2, "the file is too large");
    let line = format!("description={}\n", "${X}".repeat(40));
    place.write("variables.fio", &format!("[a]\nrw=read\n{}", line.repeat(300)));
    let value = format!("X={}", "x".repeat(100_000));
    let ran = bounded(&place, &["run", "variables.fio", "--print", "--set", &value]);
    refused(&ran, 2, "the file is too large");
    let storages = format!(
        "sd=s,lun=/dev/{},count=(1,4096)\nwd=w,sd=s*\nrd=r,wd=w,elapsed=1\n",
        &long[..1_000_000]
    );
    place.write("count.vdb", &storages);
    refused(&bounded(&place, &["run", "count.vdb", "--print"]), 2, "the file is too large");
    let many = (0..8000).map(|number| format!("wd=w{number},sd=s*\n")).collect::<Vec<_>>().concat();
    place.write(
        "stars.vdb",
        &format!("sd=s,lun=/dev/x,count=(1,4096)\n{many}rd=r,wd=*,elapsed=1\n"),
    );
    refused(&bounded(&place, &["run", "stars.vdb", "--print"]), 2, "jobs");
    let loops = "wd=*,iorate=(1,2,3,4,5,6,7,8,9),elapsed=1,forxfersize=(1k,2k,4k,8k)";
    let workloads: Vec<String> =
        (0..250).map(|number| format!("wd=w{number},sd=s,rdpct=70,threads=4\n")).collect();
    let workloads = workloads.concat();
    for (workloads, runs) in [("wd=w,sd=s\n", 16_000), (workloads.as_str(), 1_000)] {
        let runs: Vec<String> = (0..runs).map(|number| format!("rd=r{number},{loops}\n")).collect();
        let runs = runs.concat();
        place.write("runs.vdb", &format!("sd=s,lun=/dev/x\n{workloads}{runs}"));
        refused(&bounded(&place, &["run", "runs.vdb", "--print"]), 2, "the file is too large");
    }
}

#[test]
fn variables_that_hold_secrets_reach_no_job_file() {
    let place = Place::new();
    place
        .write("secret.vdb", "sd=s,lun=/dev/x,size=1m\nwd=w,sd=s\nrd=$PGPASSWORD,wd=w,elapsed=1\n");
    for option in ["filename", "directory", "ioengine", "exec_prerun", "size"] {
        place.write(&format!("{option}.fio"), &format!("[a]\nrw=read\n{option}=${{API_TOKEN}}\n"));
    }
    let variables = [("PGPASSWORD", SECRET), ("API_TOKEN", SECRET)];
    let files = [
        "secret.vdb",
        "filename.fio",
        "directory.fio",
        "ioengine.fio",
        "exec_prerun.fio",
        "size.fio",
    ];
    for file in files {
        for words in [vec!["run", file, "--print"], vec!["run", file, DEVICE]] {
            let ran = bounded_with(&place, &words, &variables);
            refused(&ran, 2, "has no value");
            assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(SECRET), "{ran:#?}");
        }
    }
    assert!(place.run_ids().is_empty());
}

#[test]
fn a_run_says_which_variables_its_job_file_took() {
    let place = Place::new();
    place.write(
        "a.fio",
        "[a]\nrw=read\nfilename=x\nsize=${SIZE}\nbs=${BS}\ntime_based\nruntime=1\n",
    );
    let words = ["run", "a.fio", DEVICE, "--time", "2s", "--set", "BS=8k"];
    let ran = bounded_with(&place, &words, &[("SIZE", "1m")]);
    let said = "variables of the job file: BS from --set, SIZE from the environment";
    assert!(ran.code == Some(0) && ran.stderr.contains(&format!("note: {said}")), "{ran:#?}");
    let run = place.path("assay-runs").join(&place.run_ids()[0]);
    assert!(fs::read_to_string(run.join("workload.toml")).unwrap().contains(said));
}

#[test]
fn includes_stay_below_the_job_file_and_are_not_repeated() {
    let place = Place::new();
    fs::create_dir(place.path("jobs")).unwrap();
    place.write("secret", &format!("{SECRET}\n"));
    place.write("jobs/near", &format!("{SECRET} = {SECRET}\n"));
    symlink(place.path("secret"), place.path("jobs/link")).unwrap();
    let absolute = place.path("secret").display().to_string();
    for (number, included) in
        [absolute.as_str(), "../secret", "/proc/self/environ", "link", "near"].iter().enumerate()
    {
        let (fio, vdbench) = (format!("jobs/{number}.fio"), format!("jobs/{number}.vdb"));
        place.write(&fio, &format!("[a]\ninclude {included}\nrw=read\nfilename=x\n"));
        place.write(&vdbench, &format!("include={included}\nsd=sd1,lun=/dev/a\n"));
        for file in [fio, vdbench] {
            let ran = bounded(&place, &["run", &file, "--print"]);
            assert_eq!(ran.code, Some(2), "{ran:#?}");
            assert!(!ran.stderr.contains(SECRET), "{ran:#?}");
        }
    }
    place.write("jobs/good.fio", "[a]\ninclude below\n");
    place.write("jobs/below", "rw=read\nfilename=x\nsize=1m\n");
    assert_eq!(bounded(&place, &["run", "jobs/good.fio", "--print"]).code, Some(0));
}

#[test]
fn pipes_and_endless_files_hold_nobody() {
    let place = Place::new();
    pipe(&place.path("pipe"));
    fs::create_dir_all(place.path("config/assay")).unwrap();
    let config = place.path("config");
    let config = [("XDG_CONFIG_HOME", config.to_str().unwrap())];
    for make in [pipe as fn(&Path), endless as fn(&Path)] {
        make(&place.path("config/assay/store"));
        assert_eq!(bounded_with(&place, &["runs"], &config).code, Some(0));
        fs::remove_file(place.path("config/assay/store")).unwrap();
    }
    symlink("/dev/zero", place.path("zero")).unwrap();
    for token in ["pipe", "zero", "/dev/zero"] {
        let words = ["verify", "witness", "--listen", "127.0.0.1:0", "--token-file", token];
        refused(&bounded(&place, &words), 4, "reading the token");
    }
    place.write("large.prom", "# TYPE assay_run info\n");
    fs::File::options()
        .write(true)
        .open(place.path("large.prom"))
        .unwrap()
        .set_len(4 << 30)
        .unwrap();
    let words = ["run", "randread", DEVICE, "--time", "2s", "--openmetrics", "large.prom"];
    assert_eq!(bounded(&place, &words).code, Some(0));
    let words = ["verify", "d", "--after", "--ledger", "pipe", "--cut", "power"];
    assert_eq!(bounded(&place, &words).code, Some(4));
}

/// The first Ctrl-C ends the wait for a pipe, and no second one is needed.
#[test]
fn ctrl_c_ends_the_wait_for_a_pipe() {
    let place = Place::new();
    pipe(&place.path("pipe"));
    // Somebody who may write, and does not.
    let _writer = fs::File::options().read(true).write(true).open(place.path("pipe")).unwrap();
    let mut waiting = place.start("runs import pipe");
    let holds_pipe = |id: u32| {
        let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| fs::read_link(file.path()).ok()).any(|path| path.ends_with("pipe"))
    };
    let id = waiting.id();
    waiting.wait_until(|| holds_pipe(id));
    waiting.signal(Signal::INT);
    let ran = waiting.wait();
    assert_eq!(ran.code.unwrap_or(130), 130, "{ran:#?}");
}

#[test]
fn a_token_that_others_may_read_or_that_is_a_link_is_refused() {
    let place = Place::new();
    place.write_private("token", "a token of 24 characters\n");
    symlink("token", place.path("link")).unwrap();
    let words = |token| ["verify", "witness", "--listen", "127.0.0.1:0", "--token-file", token];
    refused(&bounded(&place, &words("link")), 4, "it is a symbolic link");
    fs::set_permissions(place.path("token"), fs::Permissions::from_mode(0o644)).unwrap();
    refused(&bounded(&place, &words("token")), 4, "chmod 600");
}

fn head(id: LedgerId) -> LedgerHead {
    LedgerHead {
        format: 1,
        ledger: id.digits(),
        target: "t".to_owned(),
        identity: "file 1".to_owned(),
        directory: None,
        boot: "b".to_owned(),
        began_unix_ns: 1,
        subject: LedgerSubject::Commits { run: 1, schema: "s".to_owned(), control: None },
    }
}

/// What a program that goes on says behind some words: where it listens.
fn address_behind(program: &mut Started, words: &str) -> String {
    let said = program.stderr_path();
    let address = || {
        let said = fs::read_to_string(&said).unwrap();
        let line = said.lines().find_map(|line| line.strip_prefix(words).map(str::to_owned));
        line.filter(|line| line.contains(':'))
    };
    program.wait_until(|| address().is_some());
    address().unwrap()
}

/// A program with a limit on open files.
fn with_descriptors(place: &Place, most: u32, line: &str) -> Started {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -n {most}; exec \"$0\" {line}")])
        .arg(env!("CARGO_BIN_EXE_assay"))
        .current_dir(place.path("."))
        .stdin(Stdio::null());
    Started::of(command, &place.path("."))
}

/// `accept` fails while all descriptors are taken; the port stays open, and it is said once.
#[test]
fn a_witness_without_descriptors_listens_again_when_there_are_some() {
    let place = Place::new();
    place.write_private("token", "a token of 24 characters\n");
    let listen = "verify witness --listen 127.0.0.1:0 --token-file token --store ledgers";
    let mut witness = with_descriptors(&place, 24, listen);
    let address = address_behind(&mut witness, "listening at ");
    let said = witness.stderr_path();
    let read = || fs::read_to_string(&said).unwrap();
    let crowd: Vec<TcpStream> = (0..60).map(|_| TcpStream::connect(&address).unwrap()).collect();
    witness.wait_until(|| read().contains("accepting connections: "));
    drop(crowd);
    let token = Token::read(&place.path("token")).unwrap();
    let ledgers = LedgerPlace::Witness(WitnessAddress { address, token });
    let id = LedgerId::random().unwrap();
    witness.wait_until(|| {
        ledgers.create(id, &head(id)).is_ok() || ledgers.read("file 1", u64::MAX).is_ok()
    });
    assert_eq!(read().matches("accepting connections: ").count(), 1, "{}", read());
    witness.signal(Signal::INT);
    drop(witness.wait());
}

#[test]
fn a_live_page_without_descriptors_answers_again_when_there_are_some() {
    let place = Place::new();
    let line = "run randread 'array:ramsan-300?pace=real' --time 60s --interval 1s --live";
    let mut run = with_descriptors(&place, 40, line);
    let url = address_behind(&mut run, "live: http://");
    let (host, path) = url.split_once('/').unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let answers = || {
        let Ok(mut stream) = TcpStream::connect(host) else { return false };
        let mut answer = String::new();
        let asked = stream.write_all(request.as_bytes());
        asked.and_then(|()| stream.read_to_string(&mut answer)).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    };
    run.wait_until(answers);
    let crowd: Vec<TcpStream> = (0..80).map(|_| TcpStream::connect(host).unwrap()).collect();
    std::thread::sleep(Duration::from_millis(300));
    drop(crowd);
    run.wait_until(answers);
    run.signal(Signal::INT);
    assert_eq!(run.wait().code, Some(130));
}

/// The first Ctrl-C ends the wait for a witness that says nothing.
#[test]
fn ctrl_c_ends_the_wait_for_a_silent_witness() {
    let place = Place::new();
    place.write_private("token", "a token of 24 characters\n");
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = silent.local_addr().unwrap();
    let line = format!("verify d --size 4MiB --witness {address} --token-file token");
    let mut waiting = place.start(&line);
    silent.set_nonblocking(true).unwrap();
    let taken = RefCell::new(Vec::new());
    waiting.wait_until(|| {
        taken.borrow_mut().extend(silent.accept().ok());
        !taken.borrow().is_empty()
    });
    let asked = Instant::now();
    waiting.signal(Signal::INT);
    let ran = waiting.wait();
    // It would wait ten seconds.
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert!(ran.stderr.contains("it was stopped"), "{ran:#?}");
}

#[test]
fn a_node_takes_no_more_paths_than_hosts_have() {
    let place = Place::new();
    let version = env!("CARGO_PKG_VERSION");
    let hello = format!(
        r#"{{"hello":{{"format":1,"version":"{version}","token":"t","host":"h","period_ns":1000000000}}}}"#
    );
    let survey = format!(r#"{{"survey":[{}]}}"#, vec![r#""/""#; 200_000].join(","));
    place.write("orders", &format!("{hello}\n{survey}\n"));
    let mut command = place.command("node");
    command.env("ASSAY_NODE_TOKEN", "t").stdin(fs::File::open(place.path("orders")).unwrap());
    let begun = Instant::now();
    let said = command.output().unwrap().stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("refused") && said.contains("specify 1024 at most"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn what_killed_runs_left_is_removed_and_what_stays_is_said() {
    let place = Place::new();
    let mut run = place.start("run mixed.toml d --size 4MiB --time 60s");
    run.wait_until(|| place.kept_intervals() >= 2);
    run.signal(Signal::KILL);
    drop(run.wait());
    assert_eq!(place.test_files("d").len(), 1);
    let kept = place.path("state/assay/nodes");
    fs::create_dir_all(&kept).unwrap();
    let log = kept.join("20261127-041713-run-0td1.hA.jsonl");
    fs::write(&log, "{}\n").unwrap();
    let old = Timespec { tv_sec: 1, tv_nsec: 0 };
    let times = Timestamps { last_access: old, last_modification: old };
    futimens(fs::File::options().write(true).open(&log).unwrap(), &times).unwrap();
    let ran = place.run("runs clean --yes");
    assert!(ran.code == Some(0) && ran.stdout.contains("left behind: the test file "), "{ran:#?}");
    assert!(ran.stdout.contains("this host's records of 20261127-041713-run-0td1.hA"), "{ran:#?}");
    assert!(place.test_files("d").is_empty() && !log.exists());
    drop(place.run("run mixed.toml d --size 4MiB --keep"));
    let ran = place.run("runs clean d --yes");
    assert!(ran.stdout.contains("stays: ") && ran.stdout.contains("kept with --keep"), "{ran:#?}");
    assert_eq!(place.test_files("d").len(), 1);
}

#[test]
fn a_run_that_was_killed_at_once_is_listed_and_can_be_removed() {
    let place = Place::new();
    let id = "20261127-041713-run-0td1";
    let directory = place.path("assay-runs").join(id);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("lock"), "").unwrap();
    let ran = place.run("runs");
    assert!(ran.code == Some(0) && ran.stdout.contains(id), "{ran:#?}");
    assert_eq!(place.run(&format!("runs remove {id}")).code, Some(0));
    assert!(!directory.exists());
}

#[test]
fn a_run_is_called_neither_as_another_one_nor_as_a_directory() {
    let place = Place::new();
    for _ in 0..2 {
        assert_eq!(place.run(&format!("run randread {DEVICE} --time 2s")).code, Some(0));
    }
    let ids = place.run_ids();
    let begin: String = ids[0].chars().take(6).collect();
    for name in [ids[0].as_str(), ".", "..", "20261127-", &begin] {
        let ran = place.run(&format!("runs rename {} {name}", ids[1]));
        assert_eq!(ran.code, Some(2), "{name}: {ran:#?}");
    }
    assert_eq!(place.run(&format!("runs rename {} baseline", ids[1])).code, Some(0));
}

#[test]
fn a_limit_on_file_sizes_and_endless_names_end_with_words() {
    let place = Place::new();
    let mut command = Command::new("sh");
    let line = format!("ulimit -f 0; exec \"$0\" run randread '{DEVICE}' --time 2s");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_assay")]).current_dir(place.path("."));
    // What it says must not go to a file, which could not grow either.
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(4) && said.contains("error: "), "{:?} {said}", ran.status);
    let long = format!("ssh:{}", "a".repeat(100_000));
    for hosts in
        [long, (0..20_000).map(|number| format!("h{number}")).collect::<Vec<_>>().join(",")]
    {
        let ran = bounded(&place, &["run", "randread", "/tmp", "--hosts", &hosts]);
        assert!(
            ran.code.is_some_and(|code| code != 0) && ran.stderr.len() < 5000,
            "{}",
            ran.stderr.len()
        );
    }
}

/// Hosts that are shells of this machine; what each says are lines of a shell.
fn lost_with(says: &str) -> Ran {
    let place = Place::new();
    let reach = place.path("reach");
    fs::write(&reach, format!("#!/bin/sh\n{says}\n")).unwrap();
    fs::set_permissions(&reach, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command("run mixed.toml /proc/self/cwd --size 4MiB --hosts ssh:hA,hB");
    command.env("ASSAY_SSH", &reach);
    let mut run = Started::of(command, &place.path(""));
    let mut peak_bytes = 0;
    while run.is_running() {
        peak_bytes = peak_bytes.max(run.peak_memory_bytes());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(peak_bytes >> 20 <= MEMORY_MIB_MAX, "{} MiB: {says}", peak_bytes >> 20);
    let ran = run.wait();
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    ran
}

#[test]
fn a_host_that_never_stops_talking_is_lost_and_fills_nothing() {
    for word in [r#"{"note":"n"}"#, r#"{"beat":[1,1]}"#, r#"{"stood_still":1}"#, r#""ready""#] {
        let ran = lost_with(&format!("exec yes '{word}'"));
        assert!(ran.stderr.contains("sent too many messages"), "{word}: {ran:#?}");
    }
    let endless = lost_with("exec cat /dev/zero");
    assert!(endless.stderr.contains("unreadable message"), "{endless:#?}");
    let streams =
        "printf '{\"note\":\"'; head -c 5000000 /dev/zero | tr '\\0' n; echo '\"}'; sleep 60";
    assert!(lost_with(streams).stderr.contains("message that is too long"));
    let beat = "while read line; do echo '{\"beat\":[1,18446744073709551615]}'; done";
    assert!(lost_with(beat).stderr.contains("clock is out of range"));
}

#[test]
fn what_a_host_refuses_with_is_cut() {
    let refusal = "printf '{\"refused\":{\"message\":\"'; head -c 100000 /dev/zero | tr '\\0' m; \
                   echo '\",\"hint\":\"h\",\"usage\":false}}'; sleep 60";
    let ran = lost_with(refusal);
    assert!(ran.stderr.contains("mmm…") && ran.stderr.len() < 2000, "{}", ran.stderr.len());
}
