//! Hosts that are not as they should be: each has storage of its own here, and one of them is
//! unsafe, full, paused, not there, or has a clock that lies.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing, or says why it is skipped"
)]

mod support;

use assay_rig::Reaped;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;
use support::{HOSTS_STUDY, Place, Ran, Started, whole};

/// What each host sees as its own: the same path is another place on every host, and none for the
/// driver.
const OWN: &str = "/proc/self/cwd/own";

/// Hosts that are processes of this machine, each in a directory of its own.
struct Hosts {
    place: Place,
    names: Vec<String>,
}

impl Hosts {
    /// That many. What is to be done on `odd`, the last one, are lines of a shell, of which the
    /// last one runs the node: `exec "$@"`.
    fn new(count: usize, odd: &str) -> Self {
        let place = Place::new();
        let names: Vec<String> = (1..=count).map(|number| format!("h{number:03}")).collect();
        for name in &names {
            fs::create_dir_all(place.path(name).join("own")).unwrap();
        }
        let (last, root) = (names.last().unwrap(), place.path(""));
        let script = format!(
            "#!/bin/sh\nname=$1; shift\ncd {}/$name || exit 255\nif [ $name = {last} ]; \
             then\n{odd}\nfi\nexec \"$@\"\n",
            root.display()
        );
        let path = place.path("reach");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { place, names }
    }

    fn start(&self, line: &str) -> Started {
        let line = format!("{line} --hosts ssh:{}", self.names.join(","));
        let mut command: Command = self.place.command(&line);
        command
            .env("ASSAY_SSH", self.place.path("reach"))
            .env("ASSAY_NODE_PROGRAM", env!("CARGO_BIN_EXE_assay"));
        Started::of(command, &self.place.path(""))
    }

    fn run(&self, line: &str) -> Ran {
        self.start(line).wait()
    }

    /// Everything that lies in the directories to measure in, of all hosts.
    fn left(&self) -> Vec<String> {
        let of = |name: &String| fs::read_dir(self.place.path(name).join("own")).unwrap();
        let all = self.names.iter().flat_map(of);
        all.map(|entry| entry.unwrap().path().display().to_string()).collect()
    }

    /// The processes of a host.
    fn processes(&self, host: &str) -> Vec<i32> {
        let own = self.place.path(host).canonicalize().unwrap();
        let all = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let is_own = |process: &i32| {
            fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|cwd| cwd == own)
        };
        all.filter_map(|name| name.parse().ok()).filter(is_own).collect()
    }

    fn signal(&self, host: &str, signal: Signal) {
        for process in self.processes(host) {
            kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
        }
    }

    /// A run that measures.
    fn measuring(&self, time: &str) -> Started {
        let line = format!("run mixed.toml {OWN} --size 4MiB --time {time} --json");
        let mut run = self.start(&line);
        run.wait_until(|| self.place.kept_intervals() >= 3);
        run
    }
}

/// As `kubectl exec` and `srun` reach hosts; a host without the program is named with what to do.
#[test]
fn any_command_reaches_hosts_that_a_range_or_a_file_names() {
    let hosts = Hosts::new(3, ":");
    hosts.place.write("hosts.txt", "h001\nh002 # rack 1\nh003\n");
    let run = |list: &str, program: &str| {
        let mut command = hosts.place.command(&format!("run mixed.toml {OWN} --size 4MiB --json"));
        command.arg("--time=1s").arg(format!("--hosts=command:./reach {{host}} {list}"));
        command.env("ASSAY_NODE_PROGRAM", program);
        Started::of(command, &hosts.place.path("")).wait()
    };
    for list in ["h[001-003]", "@hosts.txt"] {
        let ran = run(list, env!("CARGO_BIN_EXE_assay"));
        let found: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:#?}"));
        let names = found["cluster"]["hosts"].as_array().unwrap().iter();
        let names: Vec<&str> = names.filter_map(|host| host["name"].as_str()).collect();
        assert_eq!(names, ["h001", "h002", "h003"], "{list}");
    }
    let ran = run("h001,h002", "assay-is-not-here");
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.stderr.contains("no `assay` on its path (exit code 127)"), "{}", ran.stderr);
}

/// What a run with a doubt says of its hosts.
fn doubtful(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(3), "{ran:#?}");
    let run: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:#?}"));
    run["cluster"].clone()
}

/// A program that is called like a server, at whose process the files of one host point.
#[test]
fn storage_of_a_running_database_on_one_of_eight_hosts_is_refused_on_all() {
    let hosts = Hosts::new(8, ":");
    let server = hosts.place.path("postgres");
    fs::copy("/bin/sleep", &server).unwrap();
    let running = Reaped::spawn(Command::new(&server).arg("600")).unwrap();
    let data = hosts.place.path("h008/own");
    fs::write(data.join("PG_VERSION"), "15\n").unwrap();
    fs::write(data.join("postmaster.pid"), format!("{}\n", running.id())).unwrap();
    let ran = hosts.run(&format!("run mixed.toml {OWN} --size 4MiB"));
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    let said = format!(
        "error: h008: PostgreSQL is running on {} (process {})",
        data.display(),
        running.id()
    );
    assert!(ran.stderr.starts_with(&said), "{ran:#?}");
    assert_eq!(hosts.left().len(), 2, "{:?}", hosts.left());
    assert!(hosts.place.run_ids().is_empty());
}

#[test]
fn a_target_that_is_missing_on_one_of_eight_hosts_is_refused_on_all() {
    let hosts = Hosts::new(8, "rmdir own");
    let ran = hosts.run(&format!("run mixed.toml {OWN}"));
    let said = "error: h008: cannot open /proc/self/cwd/own: it does not exist";
    assert!(ran.code == Some(4) && ran.complaint.starts_with(said), "{ran:#?}");
    fs::create_dir(hosts.place.path("h008/own")).unwrap();
    assert_eq!(hosts.left(), Vec::<String>::new());
}

/// Whoever does not say that hosts have the same file is heard all the same: its number says so.
#[test]
fn hosts_that_would_write_to_one_file_are_refused() {
    let hosts = Hosts::new(3, ":");
    hosts.place.run("run reads.toml d --size 4MiB --keep");
    let made = hosts.place.path("d").join(hosts.place.test_files("d").pop().unwrap());
    let before = fs::read(&made).unwrap();
    let ran = hosts.run(&format!("run mixed.toml {}", made.display()));
    let said = "error: the workload writes, so hosts that share a device or a file would overwrite \
                each other's data";
    assert!(ran.code == Some(2) && ran.complaint.starts_with(said), "{ran:#?}");
    assert!(fs::read(&made).unwrap() == before);
}

#[test]
fn a_file_system_that_is_full_on_one_host_leaves_no_test_file_on_any() {
    let mount =
        "exec unshare -r -m sh -c 'mount -t tmpfs -o size=2m none own && exec \"$@\"' sh \"$@\"";
    if !Command::new("unshare").args(["-r", "-m", "true"]).status().is_ok_and(|done| done.success())
    {
        println!("skipped: user namespaces are not allowed here");
        return;
    }
    let hosts = Hosts::new(3, mount);
    let ran = hosts.run(&format!("run reads.toml {OWN} --size 8MiB"));
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.complaint.starts_with("error: h003: "), "{ran:#?}");
    assert_eq!(hosts.left(), Vec::<String>::new());
}

#[test]
fn one_host_of_a_hundred_that_is_not_there_is_named() {
    let hosts = Hosts::new(100, "echo no route to host >&2; exit 255");
    let ran = hosts.run(&format!("run reads.toml {OWN} --size 2MiB"));
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(
        ran.complaint.contains("the host h100 was lost: its program ended with exit code 255"),
        "{ran:#?}"
    );
    assert_eq!(hosts.left(), Vec::<String>::new());
}

/// From the first measured second on the clock of a host is 50 ms ahead of what it was: in the
/// answers to beats, which is where a driver sees it.
#[test]
fn a_clock_that_jumps_decides_nothing() {
    let jump = r#""$@" | while IFS= read -r line; do
    case $line in
    '{"interval":'*) ahead_ns=50000000 ;;
    '{"beat":['*)
        read_ns=${line##*,}; read_ns=${read_ns%%]*}
        line="${line%,*},$((read_ns + ${ahead_ns:-0}))]}" ;;
    esac
    printf '%s\n' "$line"
done
exit"#;
    let hosts = Hosts::new(2, jump);
    let ran = hosts.run(&format!("run mixed.toml {OWN} --size 4MiB --time 2500ms --json"));
    let cluster = doubtful(&ran);
    let jumped = whole(&cluster["hosts"][1]["clock"]["jump_ns"]);
    assert!((40_000_000..=60_000_000).contains(&jumped), "{cluster}");
    assert!(cluster["hosts"][0]["clock"]["jump_ns"].is_null(), "{cluster}");
}

#[test]
fn a_host_that_is_paused_for_a_while_decides_nothing_and_is_named() {
    let hosts = Hosts::new(2, ":");
    let run = hosts.measuring("3s");
    hosts.signal("h002", Signal::STOP);
    std::thread::sleep(Duration::from_millis(1500));
    hosts.signal("h002", Signal::CONT);
    let cluster = doubtful(&run.wait());
    assert!(whole(&cluster["hosts"][1]["stood_still_ns"]) >= 1_400_000_000, "{cluster}");
    assert!(cluster["hosts"][1]["lost"].is_null(), "{cluster}");
    assert_eq!(hosts.left(), Vec::<String>::new());
}

#[test]
fn a_host_that_stays_paused_is_lost_and_ended_with_its_driver() {
    let hosts = Hosts::new(2, ":");
    let run = hosts.measuring("10min");
    hosts.signal("h002", Signal::STOP);
    let cluster = doubtful(&run.wait());
    let lost = cluster["hosts"][1]["lost"]["reason"].as_str().unwrap();
    assert!(lost.starts_with("it sent nothing for 3."), "{lost}");
    assert!(hosts.processes("h002").is_empty(), "it is ended with its driver");
}

/// The last host says that its workers began 50 ms later than they did.
#[test]
fn a_study_whose_hosts_begin_apart_is_undecided_and_names_the_cell() {
    let late = r#""$@" | while IFS= read -r line; do
    case $line in *'"first_ns":'*)
        head=${line%%'"first_ns":'*}; tail=${line#*'"last_ns":'}
        first_ns=${line#*'"first_ns":'}; first_ns=${first_ns%%,*}
        last_ns=${tail%%\}*}
        line="$head\"first_ns\":$((first_ns + 50000000)),\"last_ns\":$((last_ns + 50000000))}${tail#*\}}"
    esac
    printf '%s\n' "$line"
done
exit"#;
    let hosts = Hosts::new(2, late);
    hosts.place.write("ladder.study.toml", HOSTS_STUDY);
    let ran = hosts.run(&format!("study ladder.study.toml {OWN} --size 4MiB --json"));
    let cluster = doubtful(&ran);
    assert!(whole(&cluster["start"]["skew_ns"]) > 40_000_000, "{cluster}");
    let study: Value = serde_json::from_str(&ran.stdout).unwrap();
    for cell in study["study"]["cells"].as_array().unwrap() {
        let doubt = cell["doubt"].as_str().unwrap_or_default();
        let is_of_two = cell["cell"]["settings"][0]["value"] == 2;
        assert_eq!(doubt.starts_with("the hosts did not start together"), is_of_two, "{cell}");
        assert_eq!(cell["state"]["kind"], "measured", "{cell}");
    }
    let shown = hosts.place.run("runs show latest").stdout;
    assert!(shown.contains("In cell 2 the hosts did not start together"), "{shown}");
}
