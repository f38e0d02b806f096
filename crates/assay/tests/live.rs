//! A measurement that others look at while it lasts: in a browser, by a scraper, on a whole
//! terminal.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use rustix::process::Signal;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use support::Place;

/// A run in virtual time that keeps the pace of the clock.
const PACED: &str = "array:ramsan-300?pace=real";

/// A GET and its answer.
fn get(host: &str, path: &str, named: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {named}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    drop(stream.read_to_string(&mut answer));
    answer
}

/// Host and path of the first address that a program says behind a word.
fn address(said: &mut impl BufRead, word: &str) -> (String, String) {
    let mut line = String::new();
    while said.read_line(&mut line).unwrap() > 0 {
        if let Some(url) = line.strip_prefix(word) {
            let rest = url.trim().strip_prefix("http://").unwrap();
            let (host, path) = rest.split_once('/').unwrap();
            return (host.to_owned(), format!("/{path}"));
        }
        line.clear();
    }
    panic!("no {word}");
}

#[test]
fn the_page_grows_is_for_its_owner_and_is_the_file_in_the_end() {
    let place = Place::new();
    let mut command = place.command(&format!(
        "run randread {PACED} --time 3s --interval 100ms --live --openmetrics 0"
    ));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let (scraped, metrics) = address(&mut said, "metrics: ");
    let (host, path) = address(&mut said, "live: ");
    assert!(host.starts_with("127.0.0.1:"));
    assert!(get(&host, &path, &host).contains("<title>Assay live</title>"));
    assert!(get(&host, &path, "evil.example").starts_with("HTTP/1.1 403"));
    assert!(get(&host, "/", &host).starts_with("HTTP/1.1 404"));
    assert!(get(&host, "/events", &host).starts_with("HTTP/1.1 404"));
    let text = get(&scraped, &metrics, &scraped);
    assert!(text.contains("assay_run_info{") && text.ends_with("# EOF\n"), "{text}");
    // Events come until the run ends, and the page last: byte by byte the file that is kept.
    let events = get(&host, &format!("{path}events"), &host);
    let (before, last) = events.rsplit_once("event: page\ndata: ").unwrap();
    let points: usize = before.matches("\"at_s\"").count();
    assert!(points >= 25, "{points}");
    let page: String = serde_json::from_str(last.trim_end()).unwrap();
    assert!(child.wait().unwrap().success());
    let id = place.run_ids().remove(0);
    let kept = fs::read_to_string(place.path(format!("assay-runs/{id}/report.html"))).unwrap();
    assert_eq!(page, kept);
    assert!(TcpStream::connect(&host).is_err(), "the server ends with the run");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("note: the live view used"), "{rest}");
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_begins() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap();
    for (options, code, words) in [
        (format!("--live={taken}"), 4, "another port after --live"),
        (format!("--openmetrics {taken}"), 4, "another port after --openmetrics"),
        ("--live=0.0.0.0:80".to_owned(), 2, "ssh -L"),
        ("--live=nonsense".to_owned(), 2, "write --live"),
        ("--openmetrics host:port".to_owned(), 2, "not an address"),
        ("--openmetrics reads.toml".to_owned(), 2, "is not a metrics file"),
        ("--screen".to_owned(), 2, "not a terminal"),
    ] {
        let ran = place
            .run(&format!("run randread sim:servers?count=8&service=200us --time 1s {options}"));
        assert_eq!(ran.code, Some(code), "{options}: {ran:?}");
        assert!(ran.stderr.contains(words), "{options}: {ran:?}");
        assert!(place.run_ids().is_empty(), "{options}");
    }
    assert!(fs::read_to_string(place.path("reads.toml")).unwrap().contains("name = \"reads\""));
}

#[test]
fn metrics_in_a_file_are_those_of_the_run() {
    let place = Place::new();
    let ran = place.json(
        "run randread sim:servers?count=8&service=200us --time 2s --openmetrics assay.prom",
        0,
    );
    let ios =
        ran["runs"][0]["measurement"]["streams"][0]["operations"]["read"]["ios"].as_u64().unwrap();
    let text = fs::read_to_string(place.path("assay.prom")).unwrap();
    assert!(text.contains(&format!("assay_ios_total{{operation=\"read\"}} {ios}\n")), "{text}");
    assert!(
        text.contains(&format!("assay_service_time_seconds_count{{operation=\"read\"}} {ios}\n"))
    );
    assert!(text.ends_with("# EOF\n"));
    // The next run may take its place.
    assert_eq!(
        place
            .run("calibrate sim:servers?count=8&service=200us --time 5s --openmetrics assay.prom")
            .code,
        Some(0)
    );
}

#[test]
fn a_run_that_is_stopped_ends_its_server_and_keeps_its_page() {
    let place = Place::new();
    let mut command = place.command(&format!("soak {PACED} --time 1h --live"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let (host, path) = address(&mut said, "live: ");
    let mut stream = TcpStream::connect(&host).unwrap();
    let request = format!("GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    let mut line = String::new();
    while !line.contains("\"at_s\"") {
        line.clear();
        assert!(events.read_line(&mut line).unwrap() > 0);
    }
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, Signal::INT).unwrap();
    let mut rest = String::new();
    events.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("event: page\ndata: \"<!DOCTYPE html>"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
