//! `assay profile mysql://…`: the time model of a MariaDB server that somebody else runs, what
//! rights and settings take from it, and the profile of a step. Without a server the tests say that
//! they were skipped.

use crate::mariadb::{address, given, own_address, place};
use crate::server::{Place, json, words};
use assay_mariadb::binaries::MariadbSearchPath;
use assay_mariadb::connection::MariadbConnection;
use assay_mariadb::server::{MariadbServer, ServerStop, account};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn has_text(list: &Value, word: &str) -> bool {
    list.as_array().is_some_and(|all| all.iter().any(|one| one.to_string().contains(word)))
}

fn classes(profile: &Value) -> Vec<&str> {
    let classes = profile["server"]["over_time"]["classes"].as_array().unwrap();
    classes.iter().map(|class| class["class"].as_str().unwrap()).collect()
}

/// Looks again until it is so.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it never came to be");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Sessions that the server has, by what they do.
fn sessions(connection: &mut MariadbConnection, condition: &str) -> u64 {
    let sql = format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE {condition}");
    connection.one(&sql).unwrap().count(0).unwrap()
}

/// Lets a session sleep while something else is done.
fn while_one_sleeps<T>(server: &MariadbServer, work: impl FnOnce() -> T) -> T {
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    let mut sleeper = MariadbConnection::open(&server.address()).unwrap();
    let session = sleeper.facts().session;
    thread::scope(|scope| {
        // It is killed before it is over.
        let sleeping = scope.spawn(move || sleeper.run("SELECT SLEEP(3600)"));
        wait_until(|| sessions(&mut connection, "STATE = 'User sleep'") == 1);
        let done = work();
        connection.run(&format!("KILL {session}")).unwrap();
        assert!(sleeping.join().unwrap().is_err());
        done
    })
}

/// A statement that runs from before the start until after the end has the whole interval, although
/// the server has added nothing of it up.
#[test]
fn a_server_that_works_has_a_profile_of_its_time() {
    let Some(place) = place("profile") else { return };
    let server = given(&place.0.join("d"));
    let target = own_address(&server);
    let output = while_one_sleeps(&server, || {
        place.run(&format!(
            "profile {target} --time 2s --canary --quiet --json --html page.html -o ."
        ))
    });
    let profile = json(&output);
    assert_eq!(profile["source"]["product"], "mariadb", "{}", words(&output));
    assert_eq!(profile["source"]["complete"], true, "{profile}");
    // The sleeper and who watches him; one of before may not be gone yet.
    assert!(profile["sessions"]["value"].as_f64().unwrap() >= 2.0, "{profile}");
    let of = |name: &str| profile["time"][name]["value"].as_f64();
    let elapsed_s = profile["elapsed_s"]["value"].as_f64().unwrap();
    assert!(of("db_time_s").unwrap() >= 0.99 * elapsed_s && elapsed_s >= 2.0, "{profile}");
    // Its thread is one of this machine.
    assert!(of("db_cpu_s").is_some() && of("background_cpu_s").is_some());
    assert!(classes(&profile).contains(&"Idle"), "{:?}", classes(&profile));
    assert!(has_text(&profile["missing"], "waits for writes of data files"));
    assert!(has_text(&profile["missing"], "PostgreSQL only"), "{}", profile["missing"]);
    let whole = output.stdout.iter().chain(&output.stderr).copied().collect::<Vec<u8>>();
    assert!(!String::from_utf8_lossy(&whole).contains(server.daemon.password()));
    let page = std::fs::read_to_string(place.0.join("page.html")).unwrap();
    assert!(page.contains("Idle") && !page.contains(server.daemon.password()));
    rights(&place, &server);
    interruption(&place, &server, &target);
}

/// What an account may not read is said with the right that gives it.
fn rights(place: &Place, server: &MariadbServer) {
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    for (user, grant) in [
        ("nobody", "USAGE ON *.*"),
        ("half", "SELECT ON performance_schema.*"),
        ("other", "PROCESS ON *.*"),
    ] {
        connection.run(&format!("CREATE USER {user}@localhost IDENTIFIED BY 'x'")).unwrap();
        connection.run(&format!("GRANT {grant} TO {user}@localhost")).unwrap();
    }
    let profile = |user: &str| {
        place.run(&format!("profile {} --time 2s --quiet --json", address(server, user, "x")))
    };
    let refused = profile("nobody");
    assert_eq!(refused.status.code(), Some(4), "{}", words(&refused));
    assert!(words(&refused).contains("hint: GRANT PROCESS"), "{}", words(&refused));
    let half = json(&profile("half"));
    assert!(has_text(&half["missing"], "GRANT PROCESS"), "{}", half["missing"]);
    assert!(has_text(&half["doubts"], "PROCESS") && half["time"]["db_time_s"].is_object());
    let other = json(&while_one_sleeps(server, || profile("other")));
    assert!(
        has_text(&other["missing"], "GRANT SELECT ON performance_schema"),
        "{}",
        other["missing"]
    );
    assert!(other["time"]["db_time_s"]["source"].as_str().unwrap().contains("estimated"));
    assert_eq!(other["verdict"]["bottleneck"], "unknown");
}

fn start(place: &Place, target: &str) -> Child {
    let mut command = place.command(&format!("profile {target} --time 1h --quiet --json"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whoever is stopped keeps what was seen.
fn interruption(place: &Place, server: &MariadbServer, target: &str) {
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    // Sessions of what was done before may take a while to end.
    wait_until(|| sessions(&mut connection, "USER = 'assay'") == 1);
    let child = start(place, target);
    wait_until(|| sessions(&mut connection, "USER = 'assay'") == 2);
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    let profile = json(&child.wait_with_output().unwrap());
    assert_eq!(profile["source"]["complete"], false);
}

#[test]
fn a_server_that_ends_meanwhile_ends_the_profile() {
    let Some(place) = place("profile-ends") else { return };
    let mut server = given(&place.0.join("d"));
    let mut connection = MariadbConnection::open(&server.address()).unwrap();
    let child = start(&place, &own_address(&server));
    wait_until(|| sessions(&mut connection, "USER = 'assay'") == 2);
    server.daemon.stop(ServerStop::AtOnce);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert!(words(&output).contains("hint: "), "{}", words(&output));
}

/// A server on the files of another one, ended with its value.
struct Plain(Child);

impl Plain {
    fn start(server: &MariadbServer, settings: &[&str]) -> Self {
        let mut command =
            Command::new(MariadbSearchPath::of_this_program(None).find().unwrap().server);
        command.arg("--no-defaults").arg(format!("--datadir={}", server.daemon.data().display()));
        command.args(["--socket=assay.sock", "--skip-networking", "--innodb-page-size=8192"]);
        command.args(settings).current_dir(server.daemon.data()).process_group(0);
        if let Some(account) = account() {
            command.uid(account.user).gid(account.group);
        }
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let plain = Self(quiet.spawn().unwrap());
        wait_until(|| MariadbConnection::open(&server.address()).is_ok());
        plain
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sessions are looked at and pages counted; that nothing is timed is said with the setting that
/// times it.
#[test]
fn a_server_without_the_performance_schema_has_what_it_counts() {
    let Some(place) = place("profile-plain") else { return };
    let mut server = given(&place.0.join("d"));
    server.daemon.stop(ServerStop::Clean);
    let _plain = Plain::start(&server, &["--performance-schema=OFF"]);
    let target = own_address(&server);
    let profile = json(&while_one_sleeps(&server, || {
        place.run(&format!("profile {target} --time 2s --quiet --json"))
    }));
    assert!(has_text(&profile["missing"], "performance_schema = ON"), "{}", profile["missing"]);
    assert!(profile["time"]["db_time_s"]["source"].as_str().unwrap().contains("estimated"));
    assert_eq!(profile["verdict"]["bottleneck"], "unknown");
    assert!(profile["verdict"]["speedup_limit"].is_null());
    assert!(classes(&profile).contains(&"Idle"), "{:?}", classes(&profile));
    assert!(profile["server"]["reads"]["logical_per_s"].is_number());
}

#[test]
fn a_rung_has_the_profile_of_its_server() {
    let Some(place) = place("profile-rung") else { return };
    let output = place.run(
        "bench slob d --server mariadb --scale 8MiB --sessions 2 --time 2s --update-pct 20 --json \
         --quiet",
    );
    let rung = &json(&output)["load"]["steps"][0];
    let profile = &rung["profile"];
    assert_eq!(profile["source"]["product"], "mariadb", "{}", words(&output));
    assert!(!profile["time"]["db_time_s"]["source"].as_str().unwrap().contains("samples"));
    assert!(!profile["server"]["events"].as_array().unwrap().is_empty(), "{profile}");
    // A managed server times commits, and shows waits of sessions.
    assert!(!has_text(&profile["missing"], "times of commits"), "{}", profile["missing"]);
    assert!(!has_text(&profile["missing"], "waits of sessions"), "{}", profile["missing"]);
    // What sessions are met at is a matter of chance.
    assert!(!classes(profile).is_empty(), "{profile}");
    // What looking cost is known, and no part of the load.
    assert!(profile["server"]["sampling"]["own_time_s"].is_number());
    assert!(profile["server"]["sampling"]["samples"].as_u64().unwrap() > 0);
}
