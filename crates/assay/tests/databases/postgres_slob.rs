//! `assay bench slob` on the servers that this machine has: what it measures, how it fails, and
//! that nothing stays behind, also when it is killed. Without a server the tests say that they were
//! skipped.

use crate::server::{
    Place, address, given_server, has_server, json, kept, on_small, schemas, wait_for, words,
};
use assay_model::number::real_len;
use assay_postgres::connection::PostgresConnection;
use assay_rig::ending_signals;
use assay_stats::random::Random;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// A small load.
const SMALL: &str = "bench slob d --scale 8MiB --sessions 2 --time 1s --quiet";

#[test]
fn a_ladder_counts_what_server_and_sessions_count() {
    if !has_server() {
        return println!("skipped: no PostgreSQL server here");
    }
    let place = Place::on_disk("whole");
    let output = place.run(
        "bench slob d --scale 8MiB --sessions 1,3 --work 50 --work-unit 8 --update-pct 20 \
         --tables 2 --json --quiet",
    );
    let load = &json(&output)["load"];
    assert_eq!(load["filled"]["rows"], 2048);
    // A block a row; a table may end with some that are empty.
    let table_bytes = load["filled"]["table_bytes"].as_u64().unwrap();
    assert!((2048 * 8192..(2048 + 128) * 8192).contains(&table_bytes), "{table_bytes}");
    // A busy machine may end the ladder early, and says so; what was climbed must add up.
    let rungs = load["steps"].as_array().unwrap();
    assert!(!rungs.is_empty(), "{load}");
    for (rung, sessions) in rungs.iter().zip([1, 3]) {
        let streams = rung["measurement"]["streams"].as_array().unwrap();
        let ios: Vec<u64> = streams
            .iter()
            .flat_map(|stream| stream["operations"].as_object().unwrap().values())
            .map(|operation| operation["ios"].as_u64().unwrap())
            .collect();
        // Fifty steps each; of a hundred in a row exactly twenty change rows, so of fifty about
        // ten.
        assert_eq!(ios.iter().sum::<u64>(), 50 * sessions, "{streams:?}");
        assert!((8 * sessions..=12 * sessions).contains(&ios[1]), "{ios:?}");
        assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty());
        let asked = rung["database"]["logical_reads"].as_u64().unwrap();
        assert!(asked >= 8 * 50 * sessions, "{asked}");
        // The observer's own transactions are taken out, and its server process reports the last
        // second of them only as it ends, which may be after the last counters were read:
        // ten are as many as there are in a second.
        assert!(rung["database"]["commits"].as_u64().unwrap() + 10 >= 50 * sessions, "{rung}");
        assert!(rung["database"]["log_bytes"].as_u64().unwrap() > 0);
    }
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

/// Steps of a session lie at least the shortest think time apart, at the end of the measured time,
/// too.
#[test]
fn no_think_time_is_shortened() {
    const SESSIONS: f64 = 12.0;
    let Some(place) = Place::new("think") else {
        return;
    };
    let output = place
        .run("bench slob d --scale 8MiB --sessions 12 --think 1:2s:3s --time 9s --json --quiet");
    let rung = &json(&output)["load"]["steps"][0];
    let rates: Vec<f64> = rung["interval_rates_per_s"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rate| rate.as_f64().unwrap())
        .collect();
    let elapsed_s = rung["measurement"]["elapsed_ns"].as_f64().unwrap() / 1e9;
    let steps = rates.iter().sum::<f64>() / real_len(rates.len()) * elapsed_s;
    // One step every two seconds at most.
    let most = SESSIONS * (elapsed_s / 2.0).floor();
    assert!(steps <= most, "{steps} > {most}: {rates:?}");
    // In an interval of a second every session takes a step at most; the last interval is like the
    // others.
    let last = rates.last().unwrap();
    assert!(*last <= SESSIONS, "{rates:?}");
    let least = SESSIONS * (elapsed_s / 3.2).floor() / 2.0;
    assert!(steps >= least, "{steps} < {least}: {rates:?}");
}

/// A closed terminal ends a load like SIGTERM and a Ctrl-C: what was measured stays, servers and
/// directories go.
fn ends_with(signal: Signal) {
    let Some(place) = Place::new("interrupt") else {
        return;
    };
    let mut child = place
        .start("bench slob d --scale 8MiB --sessions 1,2 --time 2s --repeats 99 --json --quiet");
    wait_for(|| kept(&place.0, "sessions-0001-r1/measurement.json"));
    kill_process(Pid::from_child(&child), signal).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{signal:?}");
    assert_eq!((place.left().len(), place.processes()), (0, 0), "{signal:?}");
    assert!(kept(&place.0, "sessions-0001-r1/measurement.json"), "{signal:?}");
}

#[test]
fn an_interrupted_load_keeps_its_rungs_and_leaves_nothing() {
    std::thread::scope(|scope| {
        for signal in ending_signals() {
            scope.spawn(move || ends_with(signal));
        }
    });
}

/// The same of a load of transactions, and while its server is still being made.
#[test]
fn a_load_that_has_hardly_begun_leaves_nothing_either() {
    std::thread::scope(|scope| {
        for signal in ending_signals() {
            scope.spawn(move || {
                let Some(place) = Place::new("early") else {
                    return;
                };
                let mut child = place
                    .start("bench oltp d --warehouses 1 --sessions 1 --time 9s --json --quiet");
                wait_for(|| !place.left().is_empty());
                kill_process(Pid::from_child(&child), signal).unwrap();
                assert_eq!(child.wait().unwrap().code(), Some(130), "{signal:?}");
                assert_eq!((place.left().len(), place.processes()), (0, 0), "{signal:?}");
            });
        }
    });
}

/// Kills the program at random moments; whatever it was doing, the next start that is asked to
/// leaves nothing behind.
fn kill_at_random(times: u64, name: &str) {
    let Some(place) = Place::new(name) else {
        return;
    };
    let mut random = Random::new(7);
    for _ in 0..times {
        let mut child = place.start(SMALL);
        std::thread::sleep(Duration::from_millis(random.below(5000)));
        // It may have come to its end before.
        let _ = child.kill();
        child.wait().unwrap();
        // Servers end with the program that wanted them.
        let begun = Instant::now();
        while place.processes() > 0 && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(place.processes(), 0);
    }
    let output = place.run(&format!("{SMALL} --partial-data drop"));
    assert!(output.status.code().is_some_and(|code| code == 0 || code == 3), "{}", words(&output));
    assert_eq!((place.left(), place.processes()), (Vec::new(), 0));
}

#[test]
fn a_few_kills_leave_nothing_behind() {
    kill_at_random(3, "kill");
}

#[test]
#[ignore = "takes minutes"]
fn fifty_kills_leave_nothing_behind() {
    kill_at_random(50, "kills");
}

#[test]
fn two_at_once_do_not_touch_each_other() {
    let Some(place) = Place::new("two") else {
        return;
    };
    let mut first = place.start(SMALL);
    let second = place.run(SMALL);
    assert!(second.status.code().is_some_and(|code| code == 0 || code == 3), "{}", words(&second));
    assert!(first.wait().unwrap().code().is_some_and(|code| code == 0 || code == 3));
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

#[test]
fn a_server_that_is_killed_ends_the_load_and_what_was_measured_stands() {
    let Some(place) = Place::new("crash") else {
        return;
    };
    let mut child = place.start("bench slob d --scale 8MiB --sessions 2 --time 60s --json --quiet");
    wait_for(|| kept(&place.0, "sessions-0002-r1/intervals.jsonl"));
    std::thread::sleep(Duration::from_millis(1500));
    place.kill_server(Signal::QUIT);
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(kept(&place.0, "sessions-0002-r1/measurement.json"));
    assert_eq!((place.left().len(), place.processes()), (0, 0));
}

#[test]
fn what_cannot_be_meant_or_reached_is_told_and_leaves_no_run() {
    let Some(place) = Place::new("refused") else {
        return;
    };
    for (arguments, code, word) in [
        ("bench slob nowhere", 2, "neither a directory"),
        ("bench slob d --update-pct 101", 2, "--update-pct"),
        ("bench slob d --scale 1000KB", 2, "a multiple of the block size"),
        ("bench slob d --scale 1MiB", 2, "four times"),
        ("bench slob d --bindir nowhere", 2, "no postgres"),
        ("bench slob d --hot-spot 8MiB", 2, "three parts"),
        ("bench slob postgresql://127.0.0.1:1/x", 4, "connecting"),
        ("bench slob postgresql://h/x?sslmode=perhaps", 2, "sslmode"),
        ("bench slob d --scale 90000TiB", 4, "space"),
    ] {
        let output = place.run(arguments);
        let words = words(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {words}");
        assert!(words.contains(word) && words.contains("hint: "), "{arguments}: {words}");
        assert_eq!(place.left().len(), 0, "{arguments}");
    }
    let store = place.0.join("assay-runs");
    let runs = fs::read_dir(&store).map_or(0, Iterator::count);
    assert_eq!(runs, 0);
}

#[test]
fn a_given_server_is_left_as_it_was() {
    let Some(place) = Place::new("given") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let load = format!(
        "bench slob {} --scale 8MiB --sessions 2 --time 1s --quiet --json",
        address(&server, None)
    );
    let output = place.run(&load);
    let found = json(&output);
    assert_eq!(found["load"]["server"]["is_own"], false, "{}", words(&output));
    // Eight megabytes lie in the server's own cache, or in that of the kernel, and then that is
    // said.
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{}", words(&output));
    assert_eq!(schemas(&server), Vec::<String>::new());
    let secret = server.address("postgres").password.unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains(&secret));
    // Neither what is only called as a load's tables are, nor what was to be kept is dropped.
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    connection.run("CREATE SCHEMA assay_slob_1; CREATE SCHEMA assay_slob_mine").unwrap();
    place.run(&format!("{load} --keep"));
    let left = schemas(&server);
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left.iter().any(|name| name.starts_with("assay_kept_")), "{left:?}");
    let output = place.run(&format!("bench slob {}", address(&server, Some("wrong"))));
    assert_eq!(output.status.code(), Some(4));
    assert!(
        words(&output).contains("28P01") && words(&output).contains("password"),
        "{}",
        words(&output)
    );
}

#[test]
fn a_full_storage_ends_the_loading_with_its_reason() {
    let Some(place) = Place::new("full") else {
        return;
    };
    on_small(&place, 120, || {
        let server = given_server(&place.0.join("d"));
        let output = place.run(&format!("bench slob {} --scale 256MiB", address(&server, None)));
        assert_eq!(output.status.code(), Some(4), "{}", words(&output));
        assert!(
            words(&output).contains("53100") && words(&output).contains("space"),
            "{}",
            words(&output)
        );
        assert_eq!(schemas(&server), Vec::<String>::new());
        drop(server);
        // Too little space for a managed server is seen before anything is made.
        fs::remove_dir_all(place.0.join("d/data")).unwrap();
        let output = place.run("bench slob d --scale 256MiB");
        assert!(words(&output).contains("space"), "{}", words(&output));
    });
}

#[test]
fn the_secret_of_an_address_is_not_kept() {
    let Some(place) = Place::new("secret") else {
        return;
    };
    let output = place.run("bench slob postgresql://me:geheim@127.0.0.1:1/x");
    assert!(!words(&output).contains("geheim"));
}

#[test]
fn a_kept_server_is_used_again() {
    let Some(place) = Place::new("kept") else {
        return;
    };
    let first = place.run(&format!("{SMALL} --json --keep"));
    assert_eq!(json(&first)["load"]["filled"]["rows"], 1024, "{}", words(&first));
    let left = place.left();
    assert_eq!((left.len(), place.processes()), (1, 0), "{left:?}");
    let kept = place.0.join("d").join(&left[0]).join("assay-kept");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let again = SMALL.replace("slob d", &format!("slob d/{}", left[0]));
    let second = place.run(&format!("{again} --json"));
    let load = &json(&second)["load"];
    assert!(load["filled"].is_null() && load["server"]["is_own"] == true, "{}", words(&second));
    assert_eq!(load["steps"].as_array().unwrap().len(), 1);
    // Killed while it is in use, it recovers.
    let mut child = place.start(&again.replace("1s", "60s"));
    wait_for(|| place.processes() > 8);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(|| place.processes() == 0);
    let third = place.run(&format!("{again} --json"));
    assert!(json(&third)["load"]["filled"].is_null(), "{}", words(&third));
    let other = place.run(&again.replace("8MiB", "16MiB"));
    assert!(
        other.status.code() == Some(2) && words(&other).contains("contains other tables"),
        "{}",
        words(&other)
    );
    // A load that runs at the same time leaves it where it is.
    place.run(SMALL);
    assert_eq!((place.left(), place.processes()), (left, 0));
}
