//! What a driver of many hosts needs: it reads, checks and adds up the lines of simulated nodes,
//! and prints its processor time for a second of all of them and its memory. `thousand_hosts 1000
//! 600`: hosts, virtual seconds.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for people")]

use assay_cluster::findings::{HostRecord, StartFindings, cluster};
use assay_cluster::merge::Merger;
use assay_cluster::protocol::{MeasuredPart, NodeAnswer, line, next};
use assay_model::Precision;
use assay_model::cluster::Transport;
use assay_model::measurement::{NamedResult, OperationResult, PerOperation, Window};
use assay_model::number::{count, index_of};
use assay_stats::random::Random;
use std::time::Instant;

/// Lines that differ; hosts take them in turn, because what is measured is the reading.
const LINES: u64 = 64;
/// I/Os of a host in a second.
const IOS: u64 = 2_000;
const SECOND_NS: u64 = 1_000_000_000;

fn result(random: &mut Random, ios: u64) -> OperationResult {
    let mut result = OperationResult::empty(Precision::Fine, false);
    for _ in 0..ios {
        result.ios += 1;
        result.bytes += 8192;
        result.service.record(100_000 + count(400_000.0 * random.exponential()));
    }
    result
}

/// What a node says of a second with reads and writes.
fn said(random: &mut Random, second: u64) -> NodeAnswer {
    let operations = PerOperation {
        read: Some(result(random, IOS * 7 / 10)),
        write: Some(result(random, IOS * 3 / 10)),
        ..PerOperation::default()
    };
    let streams = vec![NamedResult { name: "mixed".to_owned(), operations }];
    NodeAnswer::Interval(Box::new(MeasuredPart {
        start_ns: second * SECOND_NS,
        end_ns: (second + 1) * SECOND_NS,
        queue_depth_mean: 8.0,
        joint: Window { streams, ..Window::default() },
        moment: None,
    }))
}

fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or("unknown").trim().to_owned()
}

fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>().unwrap());
    let (hosts, seconds) = (words.next().unwrap_or(1000), words.next().unwrap_or(600));
    let mut random = Random::new(1);
    let mut merger = Merger::new(index_of(hosts));
    let (mut spent_s, mut bytes, mut merged) = (0.0, 0, 0);
    for second in 0..seconds {
        let lines: Vec<Vec<u8>> =
            (0..LINES).map(|_| line(&said(&mut random, second)).unwrap()).collect();
        let begun = Instant::now();
        for host in 0..hosts {
            let line = &lines[index_of(host % LINES)];
            bytes += line.len();
            let Some(NodeAnswer::Interval(part)) = next(&mut &line[..]).unwrap() else { return };
            merged += u64::from(merger.add(index_of(host), *part).is_some());
        }
        spent_s += begun.elapsed().as_secs_f64();
    }
    let begun = Instant::now();
    let records = vec![HostRecord::default(); index_of(hosts)];
    let start = StartFindings { at_ns: 0, attempts: 1, interval_ns: SECOND_NS, warm_up_ns: 0 };
    let found = cluster(Transport::Local, &records, Some(start), &merger);
    let judged_s = begun.elapsed().as_secs_f64();
    let virtual_s = assay_model::number::real(seconds);
    println!("{hosts} hosts, {seconds} s, {bytes} bytes of lines");
    println!("reading and adding up: {:.3} of a core", spent_s / virtual_s);
    println!("intervals of all hosts: {merged} of {seconds}, left out {}", found.window.left_out);
    println!("the document at the end: {judged_s:.1} s; memory at most: {}", peak_memory());
}
