//! Several hosts on one workload: they begin together and add up exactly, and whatever happens to
//! one of them is said.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing, or says why it is skipped"
)]

mod support;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use support::{HOSTS_STUDY, Place, Ran, Started, all_ios, all_refused, measurement, whole};

/// Far more than what is promised, and far less than what the runs were asked for.
const SLACK: Duration = Duration::from_secs(60);

/// The processes that another one started.
fn children(parent: u32) -> Vec<i32> {
    let is_child = |process: &i32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let behind = stat.rsplit_once(") ").map_or("", |(_, behind)| behind);
        behind.split(' ').nth(1) == Some(parent.to_string().as_str())
    };
    let names = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).filter(is_child).collect()
}

fn signal(process: i32, signal: Signal) {
    kill_process(Pid::from_raw(process).unwrap(), signal).unwrap();
}

fn is_there(process: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, behind)| behind.chars().next());
    !matches!(state, None | Some('Z'))
}

/// Waits until processes have gone.
fn await_end(processes: &[i32]) {
    let begin = Instant::now();
    while processes.iter().any(|process| is_there(*process)) {
        assert!(begin.elapsed() < SLACK, "{processes:?} are still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A run on two hosts that measures, and the processes of the hosts.
fn measuring(place: &Place) -> (Started, Vec<i32>) {
    let line = "run mixed.toml d --size 4MiB --time 10min --hosts local:2 --json";
    let mut run = place.start(line);
    run.wait_until(|| place.kept_intervals() >= 3);
    let hosts = children(run.id());
    assert_eq!(hosts.len(), 2, "{hosts:?}");
    (run, hosts)
}

/// Whether hosts certainly did not begin together, as on a busy machine, which decides nothing.
fn is_apart(cluster: &Value) -> bool {
    let start = &cluster["start"];
    let of = |name: &str| whole(&start[name]);
    start.is_object() && of("skew_ns").saturating_sub(of("uncertainty_ns")) > of("limit_ns")
}

/// What a run over hosts says: exit code 0, or 3 where they did not begin together.
fn decided(ran: &Ran) -> Value {
    let run: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:#?}"));
    let code = if is_apart(&run["cluster"]) { 3 } else { 0 };
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    run
}

/// A run over hosts that began together, as far as three tries are enough.
fn together(place: &Place, line: &str) -> Value {
    let line = format!("{line} --json");
    let runs = (0..3).map(|_| decided(&place.run(&line)));
    let mut last = Value::Null;
    for run in runs {
        last = run;
        if !is_apart(&last["cluster"]) {
            break;
        }
    }
    last
}

#[test]
fn hosts_begin_together_and_their_intervals_add_up_exactly() {
    let place = Place::new();
    let line =
        "run mixed.toml d --size 4MiB --time 500ms --hosts local:3 --criteria no-errors.toml";
    let run = together(&place, line);
    let (cluster, measured) = (&run["cluster"], measurement(&run));
    let hosts = cluster["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 3);
    assert_eq!(hosts.iter().map(|host| whole(&host["ios"])).sum::<u64>(), all_ios(measured));
    assert!(
        hosts.iter().all(|host| whole(&host["ios"]) > 0 && whole(&host["clock"]["pings"]) >= 10)
    );
    // One clock: what is said of two must hold the truth, which is 0.
    for host in hosts {
        let offset_ns = host["clock"]["offset_ns"].as_i64().unwrap();
        assert!(offset_ns.unsigned_abs() <= whole(&host["clock"]["uncertainty_ns"]), "{host}");
    }
    assert_eq!(whole(&cluster["window"]["intervals"]), 10);
    assert_eq!(whole(&cluster["window"]["left_out"]), 0);
    assert!(whole(&cluster["start"]["skew_ns"]) < 1_000_000_000);
    assert_eq!(whole(&measured["elapsed_ns"]), 500_000_000);
    assert!(place.test_files("d").is_empty());
    let kept = place.json("runs show", 0);
    assert_eq!(kept["cluster"], *cluster);
    let page = place.path("assay-runs").join(&place.run_ids()[0]).join("report.html");
    assert!(fs::read_to_string(page).unwrap().contains("The hosts together"));
    assert!(place.run("runs show").stdout.contains("local-3"));
    let code = if is_apart(cluster) { 3 } else { 0 };
    assert_eq!(place.run("report latest --criteria no-errors.toml").code, Some(code));
}

#[test]
fn a_calibration_of_hosts_has_the_same_load_on_each_and_says_who_limits() {
    let place = Place::new();
    let line =
        "calibrate d --size 4MiB --time 5s --read-share 100% --hosts local:2 --queue-depth-max 16";
    let run = together(&place, line);
    let (found, cluster) = (&run["calibration"]["mixes"][0], &run["cluster"]);
    let depths =
        found["curve"].as_array().unwrap().iter().map(|point| whole(&point["queue_depth"]));
    let depths: Vec<u64> = depths.collect();
    assert!(depths.iter().all(|depth| depth % 2 == 0 && *depth <= 16), "{depths:?}");
    assert_eq!(depths[0], 2);
    // How far it climbs in five seconds is a matter of the machine, that it climbs is not.
    assert!(depths.len() > 1, "{depths:?}");
    let hosts = cluster["hosts"].as_array().unwrap();
    assert!(hosts.iter().all(|host| whole(&host["ios"]) > 0), "{cluster}");
    assert!(cluster["load"].as_str().unwrap().starts_with("read "), "{cluster}");
    for host in hosts {
        assert!(host["alone"]["base_service_time_ns"].as_f64().unwrap() > 0.0, "{host}");
    }
    assert_eq!(cluster["sharing"]["hosts"], 2, "{cluster}");
    assert!(place.test_files("d").is_empty());
    assert!(place.run("runs show").stdout.contains("of the sum of each alone"));
}

#[test]
fn a_study_measures_on_as_many_hosts_as_a_cell_says() {
    let place = Place::new();
    fs::write(place.path("ladder.study.toml"), HOSTS_STUDY).unwrap();
    let study = place.json("study ladder.study.toml d --size 4MiB --hosts local:2", 0);
    let cells = study["study"]["cells"].as_array().unwrap();
    let hosts = cells.iter().map(|cell| whole(&cell["cell"]["settings"][0]["value"]));
    assert_eq!(hosts.collect::<Vec<_>>(), [1, 2, 1, 2], "{study}");
    assert!(cells.iter().all(|cell| cell["state"]["kind"] == "measured"), "{cells:?}");
    let scaling = &study["study"]["scaling"][0];
    assert_eq!(scaling["quantity"], "iops by hosts", "{study}");
    assert_eq!(scaling["points"].as_array().unwrap().len(), 2);
    assert_eq!(study["cluster"]["hosts"].as_array().unwrap().len(), 2);
    assert!(place.test_files("d").is_empty());
    all_refused(
        &place,
        &[
            (
                "study ladder.study.toml d --size 4MiB",
                2,
                "error: the factor 'hosts' needs hosts\nhint: specify them with --hosts, for \
                 example local:4, or measure array:NAME with [sessions]",
            ),
            (
                "study ladder.study.toml d --size 4MiB --hosts local:1",
                2,
                "error: the study needs 2 hosts, but --hosts lists 1\nhint: list more hosts, or \
                 use smaller values",
            ),
        ],
    );
}

#[test]
fn the_hosts_of_a_cluster_say_who_they_are_and_nothing_is_touched() {
    let place = Place::new();
    let shown = place.run("hosts nodes --hosts local:2 d");
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    let own = format!("assay {}", env!("CARGO_PKG_VERSION"));
    for word in ["local-1: ", "local-2: ", "clock ", own.as_str()] {
        assert!(shown.stdout.contains(word), "{}", shown.stdout);
    }
    assert!(!shown.stdout.contains("differs:"), "{}", shown.stdout);
    let refused = place.run("hosts nodes --hosts local:2 nowhere");
    assert!(refused.code.is_some_and(|code| code > 1), "{refused:#?}");
    assert!(refused.stderr.contains("local-1, local-2: "), "{}", refused.stderr);
    let lines = place.run("hosts start-lines --hosts hA,hB");
    assert_eq!(lines.stdout.matches("ray start ").count(), 2, "{}", lines.stdout);
    assert!(place.test_files("d").is_empty() && place.run_ids().is_empty());
}

#[test]
fn hosts_are_inspected_each_with_its_findings_and_what_they_share() {
    let place = Place::new();
    let shown = place.run("inspect d --hosts local:2");
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    assert!(shown.stdout.contains("host local-1\n") && shown.stdout.contains("host local-2\n"));
    let alone = place.json("inspect d", 0);
    let found = place.json("inspect d --hosts local:2", 0);
    for host in found["hosts"].as_array().unwrap() {
        let rules = |environment: &Value| -> Vec<Value> {
            let findings = environment["findings"].as_array().cloned().unwrap_or_default();
            findings.iter().map(|finding| finding["rule"].clone()).collect()
        };
        assert_eq!(rules(&host["environment"]), rules(&alone), "{host}");
        assert!(whole(&host["clock"]["pings"]) >= 10, "{host}");
    }
    // Both are this machine: whatever of its devices has a name of its own, both have.
    for device in found["shared"].as_array().unwrap() {
        assert_eq!(device["hosts"], json!(["local-1", "local-2"]));
    }
    assert_eq!(found["differences"], json!([]));
    assert_eq!(place.json("hosts nodes --hosts local:2 d", 0)["differences"], json!([]));
    let refused = place.run("inspect nowhere --hosts local:2");
    assert!(refused.stderr.contains("local-1, local-2: "), "{}", refused.stderr);
    assert!(place.run_ids().is_empty());
}

#[test]
fn hosts_are_watched_under_one_clock_with_their_devices_beside_each_other() {
    let place = Place::new();
    let run = together(&place, "watch --hosts local:2 --time 600ms --interval 200ms");
    let cluster = &run["cluster"];
    assert_eq!(cluster["hosts"].as_array().unwrap().len(), 2);
    assert_eq!(whole(&cluster["window"]["intervals"]), 3);
    assert_eq!(whole(&cluster["window"]["elapsed_ns"]), 600_000_000);
    assert_eq!(cluster["stragglers"], json!([]));
    assert!(cluster["hosts"][0]["host_busy_share"].as_f64().unwrap() >= 0.0, "{cluster}");
    let runs = place.run_ids();
    let kept = place.path("assay-runs").join(runs.last().unwrap()).join("watch.jsonl");
    let text = fs::read_to_string(kept).unwrap();
    let moments: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(moments.len(), 3);
    for moment in &moments {
        let devices = moment["counters"]["devices"].as_array().unwrap();
        let of = |host: &str| {
            let names = devices.iter().map(|device| device["name"].as_str().unwrap());
            names.filter(|name| name.starts_with(host)).count()
        };
        assert_eq!((of("local-1:") * 2, of("local-2:") * 2), (devices.len(), devices.len()));
        assert_eq!(whole(&moment["counters"]["time_ns"]), 200_000_000);
    }
    all_refused(
        &place,
        &[(
            "watch nowhere --hosts local:2 --time 1s",
            4,
            "error: local-1, local-2: cannot inspect nowhere: No such file or directory (os error \
             2)\nhint: check the spelling of the path and the permissions of its directories",
        )],
    );
    assert_eq!(place.run_ids(), runs);
}

#[test]
fn hosts_soak_together_and_each_cycle_begins_at_one_moment() {
    let place = Place::new();
    let line = "soak d --size 4MiB --workload mixed.toml --time 1s --rest 200ms --cycles 2 \
                --hosts local:2 --json";
    let ran = place.run(line);
    // Two cycles are too few for an answer.
    let run: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(run["cluster"]["hosts"].as_array().unwrap().len(), 2, "{ran:#?}");
    assert_eq!(run["soak"]["plan"]["cycles"], 2, "{run}");
    let cells = place.path("assay-runs").join(&place.run_ids()[0]).join("cells");
    let sum = |cell: &str| {
        let text = fs::read_to_string(cells.join(cell).join("measurement.json")).unwrap();
        all_ios(&serde_json::from_str(&text).unwrap())
    };
    assert!(sum("cycle-000001") > 0 && sum("cycle-000002") > 0);
    assert!(place.test_files("d").is_empty());
    assert_eq!(place.run("soak --resume latest").code, Some(2));
}

#[test]
fn a_check_of_hosts_is_one_answer_for_all_of_them() {
    let place = Place::new();
    let ran = place.run(
        "check d --size 4MiB --time 20s --hosts local:2 --min-iops 1/s --max-latency 10s --json",
    );
    let run: Value = serde_json::from_str(&ran.stdout).unwrap();
    let cluster = &run["cluster"];
    assert_eq!(cluster["hosts"].as_array().unwrap().len(), 2, "{ran:#?}");
    assert_eq!(cluster["sharing"]["hosts"], 2, "{cluster}");
    let of_hosts = cluster["hosts"].as_array().unwrap().iter();
    assert_eq!(of_hosts.map(|host| whole(&host["ios"])).sum::<u64>(), all_ios(measurement(&run)));
    assert!(run["verdict"].is_object() && run["load"].is_null(), "{run}");
    assert!(run["calibration"]["mixes"].as_array().unwrap().len() > 1);
    assert!(place.test_files("d").is_empty());
}

#[test]
fn a_host_that_is_killed_is_named_and_nothing_is_decided() {
    let place = Place::new();
    let (run, hosts) = measuring(&place);
    signal(hosts[1], Signal::KILL);
    let ran = run.wait();
    let run = ran.json(3);
    let lost = &run["cluster"]["hosts"][1]["lost"];
    assert_eq!(lost["reason"], "its program was ended by signal 9", "{run}");
    assert_eq!(run["cluster"]["hosts"][0]["lost"], Value::Null);
    let measured = measurement(&run);
    assert_eq!(measured["finish"]["outcome"], "failed");
    let of_hosts = run["cluster"]["hosts"].as_array().unwrap().iter();
    assert_eq!(of_hosts.map(|host| whole(&host["ios"])).sum::<u64>(), all_ios(measured));
    assert!(ran.stderr.contains("the host local-2 was lost: its program was ended by signal 9"));
    await_end(&hosts);
    let shown = place.run("runs show").stdout;
    // Lines are wrapped, and another cause may stand in front.
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("The host local-2 was lost: its program"), "{shown}");
    assert_eq!(place.run("report latest --criteria no-errors.toml").code, Some(3));
    assert_eq!(place.run("run --resume latest").code, Some(2));
}

/// A host that is killed while nothing is measured is named, too, and what was measured before it
/// stays.
#[test]
fn a_host_that_is_killed_in_a_rest_is_named_with_what_was_measured_before() {
    let place = Place::new();
    let begin = Instant::now();
    let line = "soak d --size 4MiB --workload reads.toml --time 1s --rest 10min --cycles 2 \
                --hosts local:2 --json";
    let mut run = place.start(line);
    run.wait_until(|| place.kept_intervals_of("cycle-000001") >= 1);
    std::thread::sleep(Duration::from_millis(500));
    signal(children(run.id())[1], Signal::KILL);
    let run = run.wait().json(3);
    // It does not wait for the end of the rest.
    assert!(begin.elapsed() < Duration::from_secs(300));
    let cluster = &run["cluster"];
    assert_eq!(cluster["hosts"][1]["lost"]["reason"], "its program was ended by signal 9", "{run}");
    assert!(whole(&cluster["window"]["intervals"]) >= 1, "{cluster}");
    assert!(whole(&cluster["hosts"][0]["ios"]) > 0, "{cluster}");
}

/// A calibration of which a host is killed a while after the test files are there.
fn calibration_with_loss(after: Duration) -> Ran {
    let place = Place::new();
    let run = place.start("calibrate d --size 8MiB --time 2min --hosts local:2 --json");
    let begin = Instant::now();
    while place.test_files("d").len() < 2 && begin.elapsed() < SLACK {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(after);
    signal(children(run.id())[0], Signal::KILL);
    run.wait()
}

#[test]
fn a_host_that_is_killed_under_a_calibration_is_named() {
    let said = "its program was ended by signal 9";
    // On a busy machine they may not have begun by then: that is refused, and names the host, too.
    let kills = [3, 10, 30].map(Duration::from_secs).into_iter().map(calibration_with_loss);
    for ran in kills {
        if ran.code == Some(4) {
            assert!(ran.complaint.contains("the host local-1 was lost: "), "{ran:#?}");
            continue;
        }
        let run = ran.json(3);
        assert_eq!(run["cluster"]["hosts"][0]["lost"]["reason"], said, "{run}");
        return;
    }
    panic!("the hosts never began");
}

#[test]
fn a_host_that_falls_silent_is_lost_after_three_periods() {
    let place = Place::new();
    let (run, hosts) = measuring(&place);
    let begin = Instant::now();
    signal(hosts[0], Signal::STOP);
    let run = run.wait().json(3);
    let reason = run["cluster"]["hosts"][0]["lost"]["reason"].as_str().unwrap();
    let silent = reason.strip_prefix("it sent nothing for ").expect(reason);
    let silent_s: f64 = silent.split(' ').next().unwrap().parse().unwrap();
    assert!(silent_s >= 3.0, "{reason}");
    assert!(begin.elapsed() >= Duration::from_secs(3) && begin.elapsed() < SLACK);
    await_end(&hosts);
}

#[test]
fn hosts_end_when_their_driver_is_killed_and_leave_no_test_file() {
    let place = Place::new();
    let (run, hosts) = measuring(&place);
    run.signal(Signal::KILL);
    drop(run.wait());
    await_end(&hosts);
    assert!(place.test_files("d").is_empty());
    assert!(place.run("runs").stdout.contains("unfinished"));
}

/// Lines that hosts keep, by their files.
fn kept_by_hosts(place: &Place) -> Vec<(String, Vec<Value>)> {
    let Ok(files) = fs::read_dir(place.path("state/assay/nodes")) else { return Vec::new() };
    let mut kept: Vec<(String, Vec<Value>)> = files
        .map(|file| file.unwrap().path())
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (path.file_name().unwrap().to_string_lossy().into_owned(), lines)
        })
        .collect();
    kept.sort_by(|one, other| one.0.cmp(&other.0));
    kept
}

/// An interval that a host kept: its begin and end, ns, and its I/Os.
type KeptInterval = (u64, u64, u64);

/// The intervals that a host kept, in their order.
fn intervals_of(lines: &[Value]) -> Vec<KeptInterval> {
    let intervals = lines.iter().filter_map(|line| line.get("interval"));
    let one = |interval: &Value| {
        let operations = &interval["joint"]["streams"][0]["operations"];
        let ios = ["read", "write"]
            .iter()
            .map(|name| operations[name]["ios"].as_u64().unwrap_or(0))
            .sum();
        (whole(&interval["start_ns"]), whole(&interval["end_ns"]), ios)
    };
    intervals.map(one).collect()
}

/// Those that two hosts have in common: the last one was cut off on each when it saw that its
/// driver had gone.
fn common(first: &[KeptInterval], second: &[KeptInterval]) -> Vec<(KeptInterval, KeptInterval)> {
    let is_same = |(one, other): &(KeptInterval, KeptInterval)| {
        one.1.abs_diff(other.1) <= (one.1 - one.0) / 100 + 1_000_000
    };
    first.iter().copied().zip(second.iter().copied()).filter(is_same).collect()
}

#[test]
fn a_run_whose_driver_was_killed_is_completed_from_what_its_hosts_kept() {
    let place = Place::new();
    let (run, hosts) = measuring(&place);
    run.signal(Signal::KILL);
    drop(run.wait());
    await_end(&hosts);
    let written = place.kept_intervals();
    let kept = kept_by_hosts(&place);
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(kept.iter().all(|(_, lines)| lines.last().unwrap().get("ended").is_some()));
    let common = common(&intervals_of(&kept[0].1), &intervals_of(&kept[1].1));
    let expected: [u64; 2] =
        common.iter().fold([0, 0], |[one, other], pair| [one + pair.0.2, other + pair.1.2]);
    assert!(common.len() >= written, "{common:?} {written}");

    let found = decided(&place.run("hosts collect latest --criteria no-errors.toml --json"));
    assert_eq!(all_ios(measurement(&found)), expected.iter().sum::<u64>(), "{found}");
    assert_eq!(whole(&measurement(&found)["elapsed_ns"]), common.last().unwrap().0.1);
    assert_eq!(measurement(&found)["finish"]["outcome"], "interrupted");
    let of_hosts: Vec<u64> = found["cluster"]["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|host| whole(&host["ios"]))
        .collect();
    assert_eq!(of_hosts, expected);
    // One clock: what is said of the start is what the hosts said of it.
    assert!(whole(&found["cluster"]["start"]["skew_ns"]) < 1_000_000_000, "{found}");
    assert!(whole(&found["cluster"]["hosts"][0]["clock"]["pings"]) >= 10);
    assert!(kept_by_hosts(&place).is_empty());
    assert_eq!(place.json("runs show", 0)["cluster"], found["cluster"]);
    let again = place.run("hosts collect latest");
    assert!(again.complaint.contains("has ended and is complete"), "{again:#?}");
}

#[test]
fn a_soak_whose_driver_was_killed_is_completed_to_where_it_was() {
    let place = Place::new();
    let line = "soak d --size 4MiB --workload mixed.toml --time 10min --rest 1s --cycles 2 \
                --hosts local:2 --json";
    let mut run = place.start(line);
    run.wait_until(|| place.kept_intervals_of("cycle-000001") >= 2);
    let hosts = children(run.id());
    run.signal(Signal::KILL);
    drop(run.wait());
    await_end(&hosts);
    let written = u64::try_from(place.kept_intervals_of("cycle-000001")).unwrap();
    // What was asked for is not there, so nothing is decided.
    let found = place.json("hosts collect latest", 3);
    assert!(whole(&found["cluster"]["window"]["intervals"]) >= written, "{found}");
    // The soak is of all that its hosts have in common.
    let worked_ns = found["soak"]["worked_s"].as_f64().unwrap() * 1e9;
    let common_ns = found["cluster"]["window"]["elapsed_ns"].as_f64().unwrap();
    assert!((worked_ns - common_ns).abs() < 1e6, "{worked_ns} {common_ns}");
    assert!(kept_by_hosts(&place).is_empty());
    assert!(place.run("hosts collect latest").complaint.contains("has ended"));
}

/// What hosts do not keep is named, with what there is.
#[test]
fn a_search_whose_driver_was_killed_is_not_collected() {
    let place = Place::new();
    let run = place.start("calibrate d --size 4MiB --time 2min --hosts local:2 --json");
    let begin = Instant::now();
    while place.test_files("d").len() < 2 && begin.elapsed() < SLACK {
        std::thread::sleep(Duration::from_millis(20));
    }
    let hosts = children(run.id());
    run.signal(Signal::KILL);
    drop(run.wait());
    await_end(&hosts);
    let refused = place.run("hosts collect latest");
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.complaint.contains("the driver ran the search"), "{refused:#?}");
    assert!(refused.complaint.contains("assay runs show"), "{refused:#?}");
}

#[test]
fn hosts_keep_nothing_of_what_their_driver_has() {
    let place = Place::new();
    together(&place, "run mixed.toml d --size 4MiB --time 200ms --hosts local:2");
    assert!(kept_by_hosts(&place).is_empty());
    let place = Place::new();
    let (run, hosts) = measuring(&place);
    signal(hosts[1], Signal::KILL);
    run.signal(Signal::KILL);
    drop(run.wait());
    await_end(&hosts);
    let found = place.json("hosts collect latest", 3);
    let lost = &found["cluster"]["hosts"][1]["lost"]["reason"];
    assert_eq!(lost, "it was killed before it finished", "{found}");
}

#[test]
fn ctrl_c_ends_all_hosts_and_keeps_what_they_measured() {
    let place = Place::new();
    let (run, hosts) = measuring(&place);
    run.signal(Signal::INT);
    let run = run.wait().json(130);
    assert_eq!(measurement(&run)["finish"]["outcome"], "interrupted");
    assert!(all_ios(measurement(&run)) > 0);
    await_end(&hosts);
    assert!(place.test_files("d").is_empty());
}

const SIMULATED: &str = "error: a simulated device exists in one process, but --hosts lists \
                         several\nhint: specify a directory, a file or a block device, or leave \
                         --hosts out";

#[test]
fn what_cannot_be_measured_together_is_refused_before_anything_is_touched() {
    let place = Place::new();
    let file = place.random_file("data", 4 << 20);
    let before = fs::read(&file).unwrap();
    all_refused(
        &place,
        &[
            (
                "run mixed.toml d --hosts local:0",
                2,
                "error: --hosts <HOSTS>: local:0 names no hosts\nhint: write local:N for N \
                 processes of this machine, N from 1 to 64, ssh:A,B for hosts that ssh reaches, \
                 'command:… {host} … A,B' for any other command, or names of hosts of a Ray \
                 cluster; A,B may be a range such as n[01-16] or @FILE",
            ),
            (
                "run reads.toml d --hosts hA,hB,hA",
                2,
                "error: --hosts <HOSTS>: the host hA is specified twice\nhint: specify every host \
                 once",
            ),
            ("run reads.toml sim:servers?count=8&service=100us --hosts local:2", 2, SIMULATED),
            (
                "run reads.toml nowhere --hosts local:2",
                4,
                "error: cannot open nowhere: it does not exist\nhint: specify a directory, a file, \
                 a block device, or simulated storage: sim:…, array:NAME, catalog:NAME",
            ),
            (
                "hosts start-lines --hosts hA;reboot,hB",
                2,
                "error: --hosts <HOSTS>: hA;reboot,hB names no hosts\nhint: write local:N for N \
                 processes of this machine, N from 1 to 64, ssh:A,B for hosts that ssh reaches, \
                 'command:… {host} … A,B' for any other command, or names of hosts of a Ray \
                 cluster; A,B may be a range such as n[01-16] or @FILE",
            ),
            (
                "hosts start-lines --hosts local:2",
                2,
                "error: only hosts of a Ray cluster have start lines\nhint: specify the \
                 hosts of the cluster, joined by commas",
            ),
            (
                "calibrate d --hosts local:4 --queue-depth-max 3",
                2,
                "error: 3 outstanding I/Os are too few for 4 hosts\nhint: give every host at \
                 least one with --queue-depth-max",
            ),
            ("calibrate sim:servers?count=8&service=100us --hosts local:2", 2, SIMULATED),
            (
                "run reads.toml d --hosts local:8 --total",
                2,
                "error: stream 'reads' has 4 outstanding I/Os for 8 hosts\nhint: use at least one \
                 per host, or omit --total",
            ),
        ],
    );
    let ran = place.run("run mixed.toml data --hosts local:2");
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(place.run_ids().is_empty() && place.test_files("d").is_empty());
}

#[test]
fn hosts_read_slices_of_a_file_that_they_share() {
    let place = Place::new();
    place.random_file("data", 4 << 20);
    let run = together(&place, "run reads.toml data --hosts local:2");
    assert!(all_ios(measurement(&run)) > 0);
}

/// Without Ray, whatever else is installed: the directories of packages are left out.
#[test]
fn other_hosts_need_ray_and_its_token() {
    if Command::new("python3").arg("-V").output().is_err() {
        println!("skipped: python3 is not installed");
        return;
    }
    let place = Place::new();
    let line = format!("run reads.toml {} --hosts hA,hB", place.path("d").display());
    let python = place.path("python");
    fs::write(&python, "#!/bin/sh\nexec python3 -S \"$@\"\n").unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&line);
    command.env("ASSAY_PYTHON", &python).env_remove("PYTHONPATH");
    let ran = Started::of(command, &place.path("")).wait();
    let complaint = "error: hA, hB: Ray is not installed\nhint: pip install 'assay[ray]' on every \
                     host, in the same version of Python";
    assert_eq!((ran.code, ran.complaint.trim_end()), (Some(4), complaint), "{ran:#?}");
    let mut command = place.command(&line);
    command.env("ASSAY_PYTHON", "/nowhere/python3");
    let ran = Started::of(command, &place.path("")).wait();
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.stderr.contains("pip install 'assay[ray]'"), "{}", ran.stderr);
    assert!(place.run_ids().is_empty());
}

/// A node that a test drives.
struct Node {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Node {
    fn start(place: &Place, token: &str) -> Self {
        let mut command: Command = place.command("node");
        command.env("ASSAY_NODE_TOKEN", token).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    fn say(&mut self, word: &Value) {
        // One that has ended says nothing more, which is heard.
        drop(writeln!(self.input.as_mut().unwrap(), "{word}"));
    }

    /// The next word of one of these kinds, others are passed over; nothing where it ended before.
    fn hear_one_of(&mut self, kinds: &[&str]) -> Option<(String, Value)> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let word: Value = serde_json::from_str(&line).unwrap();
            if let Some(kind) =
                kinds.iter().find(|kind| word == json!(kind) || !word[kind].is_null())
            {
                return Some(((*kind).to_owned(), word));
            }
        }
    }

    fn hear(&mut self, kind: &str) -> Value {
        let heard = self.hear_one_of(&[kind]);
        heard.unwrap_or_else(|| panic!("it ended before it said {kind}")).1
    }

    fn hello(&mut self, version: &str, token: &str, period_ns: u64) {
        self.say(&json!({ "hello": { "format": 1, "version": version, "token": token, "host": "h", "period_ns": period_ns } }));
    }

    fn ends(&mut self) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < SLACK, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_node_refuses_other_versions_and_tokens_and_orders_without_a_session() {
    let place = Place::new();
    let own = env!("CARGO_PKG_VERSION");
    for (version, token, said) in
        [("0.0.1", "secret", "assay 0.0.1"), (own, "other", "token"), (own, "", "token")]
    {
        let mut node = Node::start(&place, "secret");
        node.hello(version, token, 1_000_000_000);
        let refused = node.hear("refused");
        assert!(refused["refused"]["message"].as_str().unwrap().contains(said), "{refused}");
        node.ends();
    }
    let mut node = Node::start(&place, "secret");
    node.say(&json!("open"));
    assert!(node.hear("refused")["refused"]["message"].as_str().unwrap().contains("no session"));
    node.ends();
    let mut node = Node::start(&place, "secret");
    writeln!(node.input.as_mut().unwrap(), "no word at all").unwrap();
    node.ends();
}

/// A moment on the clock of nodes of this machine, ns.
fn in_ns(time_ns: u64) -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs() + time_ns
}

/// A node that heard of a start, the moment of it, and hears nothing more; nothing where its lease
/// ended before it measured, as a short one does on a busy machine.
fn left_alone(place: &Place, period_ns: u64) -> Option<(Node, u64)> {
    let mut node = Node::start(place, "secret");
    node.hello(env!("CARGO_PKG_VERSION"), "secret", period_ns);
    node.hear_one_of(&["hello"])?;
    let target = json!({ "targets": [place.path("d")], "size": "4MiB" });
    node.say(&json!({ "admit": {
        "target": target, "destroy": [], "wipe": [], "in_use": true, "write": true, "direct": true, "grows": false
    } }));
    node.hear_one_of(&["admitted"])?;
    assert!(place.test_files("d").is_empty());
    node.say(&json!("open"));
    node.hear_one_of(&["opened"])?;
    let stream = json!({ "name": "reads", "block_size": "4KiB", "arrival": { "closed": { "queue_depth": 4 } } });
    node.say(&json!({ "measure": {
        "format": 1, "name": "long", "duration": "10min", "interval": "50ms", "stream": [stream]
    } }));
    node.hear_one_of(&["ready"])?;
    // Too late: nothing begins, and another moment may be said.
    node.say(&json!({ "start": 1 }));
    assert!(whole(&node.hear_one_of(&["late"])?.1["late"]) > 0);
    for lead_ns in [100_000_000, 400_000_000, 1_600_000_000] {
        let soon_ns = in_ns(lead_ns);
        node.say(&json!({ "start": soon_ns }));
        let (kind, word) = node.hear_one_of(&["late", "interval", "finished"])?;
        match kind.as_str() {
            "late" => {}
            "interval" => {
                assert_eq!(whole(&word["interval"]["start_ns"]), 0);
                return Some((node, soon_ns));
            }
            _ => return None,
        }
    }
    None
}

#[test]
fn a_node_that_hears_nothing_ends_its_load_when_the_lease_ends() {
    let place = Place::new();
    let periods_ns = [100_000_000, 1_000_000_000, 10_000_000_000];
    let alone = periods_ns.iter().find_map(|period_ns| left_alone(&place, *period_ns));
    let (mut node, start_ns) = alone.expect("it measures before the longest lease ends");
    let finished = node.hear("finished");
    assert_eq!(finished["finished"]["measurement"]["finish"]["outcome"], "interrupted");
    let began_ns = whole(&finished["finished"]["began"]["first_ns"]);
    assert!(began_ns >= start_ns, "{began_ns} {start_ns}");
    node.ends();
    assert!(place.test_files("d").is_empty());
    // Its pipes were open all the time.
    drop(node.input.take());
}
