//! A made-up report with everything in it: a disk array's calibration, a run with a stall, a
//! verdict, an environment.

pub(crate) mod cuts;
mod environment;
#[allow(dead_code, reason = "each program that is built of this shows other reports")]
mod hosts;
mod storage;
mod verdict;

use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, ErrorCount, Finish, Interval, Measurement, NamedResult,
    Operation, OperationResult, PerOperation, Remark, Submission, merge_named,
};
use assay_model::number::{count, real};
use assay_model::verdict::NamedEstimate;
use assay_model::{Estimate, Precision};
use assay_report::{GivenReport, InputDocument, RunIncident, RunReport, TimelineBuilder};
#[allow(unused_imports, reason = "each program that is built of this shows other reports")]
pub(crate) use hosts::hosts;

/// Numbers that look random and are the same every time (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in 0..1.
    pub(crate) fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        real((mixed ^ (mixed >> 31)) >> 11) / real(1 << 53)
    }

    /// About normal with mean 0 and deviation 1.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.roll()).sum::<f64>() - 6.0
    }
}

/// An estimate with half a width of `doubt` times its value.
pub(crate) fn about(value: f64, doubt: f64) -> Estimate {
    Estimate {
        value,
        low: value * (1.0 - doubt),
        high: value * (1.0 + doubt),
        confidence: 0.95,
        n: 42,
    }
}

/// The standard normal quantiles of 40 equally likely slices.
const SLICES: [f64; 40] = {
    let mut slices = [0.0; 40];
    let upper = [
        0.0313, 0.0941, 0.157, 0.2206, 0.2849, 0.3502, 0.417, 0.4856, 0.5563, 0.6297, 0.7063,
        0.787, 0.8724, 0.9639, 1.063, 1.1717, 1.2935, 1.4395, 1.6449, 2.2414,
    ];
    let mut place = 0;
    while place < 20 {
        slices[20 + place] = upper[place];
        slices[19 - place] = -upper[place];
        place += 1;
    }
    slices
};

/// I/Os with lognormal times about a median, and a few slow ones.
fn result(dice: &mut Dice, ios: u64, median_ns: f64, precision: Precision) -> OperationResult {
    let mut result = OperationResult::empty(precision, false);
    (result.ios, result.bytes) = (ios, ios * 8192);
    let mut left = ios;
    for (place, slice) in SLICES.iter().enumerate() {
        let share = if place == 39 { left } else { (ios / 40).min(left) };
        left -= share;
        let time = median_ns * (0.28 * slice + 0.05 * dice.normal()).exp();
        result.service.record_many(count(time), share - share / 4);
        result.service.record_many(count(time * 1.03), share / 4);
        if share / 400 > 0 {
            result.service.record_many(count(time * (2.0 + 3.0 * dice.roll())), share / 400);
            result.ios += share / 400;
        }
    }
    result
}

/// How fast and how slow the storage is at a moment: a garbage collection after a third, a stall at
/// two thirds.
fn mood(index: u64, intervals: u64) -> (f64, f64) {
    let at = real(index) / real(intervals);
    match at {
        slow if (0.33..0.45).contains(&slow) => (0.72, 1.4),
        stall if (0.66..0.68).contains(&stall) => (0.18, 5.5),
        _ => (1.0, 1.0),
    }
}

/// One interval of a second of a 70/30 workload with a log writer.
pub(crate) fn interval(index: u64, intervals: u64, dice: &mut Dice) -> Interval {
    let (rate, slowness) = mood(index, intervals);
    let ios = |dice: &mut Dice, mean: f64| count(mean * rate * (1.0 + 0.03 * dice.normal()));
    let (reads, writes, syncs) = (ios(dice, 21_000.0), ios(dice, 9_000.0), ios(dice, 420.0));
    let precision = Precision::Coarse;
    let mut sync = result(dice, syncs, 1_150_000.0 * slowness, precision);
    sync.bytes = 0;
    Interval {
        index,
        start_ns: index * 1_000_000_000,
        end_ns: (index + 1) * 1_000_000_000,
        operations: PerOperation {
            read: Some(result(dice, reads, 410_000.0 * slowness, precision)),
            write: Some(result(dice, writes, 690_000.0 * slowness, precision)),
            sync: Some(sync),
        },
        queue_depth_mean: 16.0,
    }
}

fn split(operations: &PerOperation, dice: &mut Dice) -> Vec<NamedResult> {
    let half = |name: &str, dice: &mut Dice, slower: f64| {
        let of = |result: &OperationResult, dice: &mut Dice| {
            let time = real(result.service.quantile_ns(0.5)) * slower;
            let mut half = self::result(dice, result.ios / 2, time, Precision::Coarse);
            half.bytes = result.bytes / 2;
            half
        };
        let mut halves = PerOperation::default();
        for (operation, result) in operations.iter() {
            *halves.slot(operation) = Some(of(result, dice));
        }
        NamedResult { name: name.to_owned(), operations: halves }
    };
    vec![half("/oradata/data01.dbf", dice, 0.93), half("/oradata/data02.dbf", dice, 1.08)]
}

/// The run of that many seconds.
pub(crate) fn run(intervals: u64) -> RunReport {
    let mut dice = Dice::new(7);
    let mut timeline = TimelineBuilder::new();
    let (mut whole, mut targets) = (PerOperation::default(), Vec::new());
    for index in 0..intervals {
        let interval = interval(index, intervals, &mut dice);
        if index % 10 == 0 {
            merge_named(&mut targets, &split(&interval.operations, &mut dice));
        }
        whole.merge(&interval.operations);
        timeline.add(&interval);
    }
    let streams = vec![NamedResult { name: "sessions".to_owned(), operations: whole }];
    let measurement = measurement(intervals, streams, targets);
    RunReport {
        estimates: estimates(&measurement),
        no_interval: None,
        level_change: None,
        timeline: timeline.finish(),
        events: events(intervals),
        measurement,
    }
}

fn events(intervals: u64) -> Vec<RunIncident> {
    let event = |share: f64, what: &str| RunIncident {
        at_ns: count(share * real(intervals) * 1e9),
        what: what.to_owned(),
    };
    vec![
        event(0.33, "change point: 28% fewer I/Os per second"),
        event(0.45, "change point: back to the level before"),
        event(0.66, "first of 3 reads that failed with EIO on /oradata/data02.dbf"),
    ]
}

fn measurement(
    intervals: u64,
    streams: Vec<NamedResult>,
    targets: Vec<NamedResult>,
) -> Measurement {
    Measurement {
        format: 1,
        workload: "oltp".to_owned(),
        started_unix_ns: 1_795_252_000_000_000_000,
        elapsed_ns: intervals * 1_000_000_000,
        finish: Finish::Complete,
        streams,
        targets,
        errors: vec![ErrorCount {
            operation: Operation::Read,
            target: "/oradata/data02.dbf".to_owned(),
            errno: 5,
            meaning: "EIO: input/output error".to_owned(),
            ios: 3,
            first_offset_bytes: 734_003_200,
        }],
        conduct: conduct(intervals),
    }
}

fn conduct(intervals: u64) -> Conduct {
    let mut start_error = assay_model::Histogram::new(Precision::Fine);
    start_error.record_many(1800, 9000);
    start_error.record_many(4200, 900);
    Conduct {
        backend: BackendKind::Uring,
        direct_io: Some(true),
        clock: ClockKind::Tsc,
        submission: Submission::Asynchronous,
        features: vec!["registered files".to_owned(), "registered buffers".to_owned()],
        enters: 91_000 * intervals,
        cpu_user_s: 0.0031 * real(intervals),
        cpu_system_s: 0.0392 * real(intervals),
        worker_busy_share_max: 0.214,
        host_busy_share: Some(0.161),
        queue_depth_mean: 15.98,
        littles_law_ratio: 0.998,
        start_error: Some(start_error),
        remarks: vec![Remark {
            what: "IOPS fell by 28% for 14 s and recovered".to_owned(),
            why: "a mean over the run hides it; a database would have waited".to_owned(),
            remedy: "run for an hour or longer to see how often it happens".to_owned(),
        }],
        ..Conduct::default()
    }
}

fn estimates(measurement: &Measurement) -> Vec<NamedEstimate> {
    let mut estimates = Vec::new();
    let operations = measurement.operations();
    for (operation, result) in operations.iter() {
        let mut add = |what: &str, value: f64, doubt: f64| {
            let quantity = format!("{}.{what}", operation.name());
            estimates.push(NamedEstimate {
                quantity,
                subject: None,
                estimate: about(value, doubt),
            });
        };
        let elapsed_s = measurement.elapsed_s();
        add("iops", real(result.ios) / elapsed_s, 0.021);
        add("throughput", real(result.bytes) / elapsed_s, 0.021);
        add("service_time.mean", result.service.mean_ns(), 0.026);
        for (quantile, doubt) in [(0.5, 0.012), (0.9, 0.024), (0.99, 0.051), (0.999, 0.13)] {
            add(
                &format!("service_time.q{quantile}"),
                real(result.service.quantile_ns(quantile)),
                doubt,
            );
        }
    }
    estimates
}

/// Everything, with a run of that many seconds.
pub(crate) fn report(intervals: u64) -> GivenReport {
    GivenReport {
        load: None,
        watch: None,
        title: "check".to_owned(),
        target: "/oradata".to_owned(),
        created_unix_ns: 1_795_251_900_000_000_000,
        program: "assay 0.1.0".to_owned(),
        command: "assay check /oradata --max-latency 1ms --quantile 0.99 --criteria \
                  orders.criteria.toml"
            .to_owned(),
        run_id: "20261121-090500-check-k3f9".to_owned(),
        verdict: Some(verdict::verdict()),
        calibration: Some(storage::calibration()),
        runs: vec![run(intervals)],
        environment: Some(environment::environment()),
        documents: vec![InputDocument {
            name: "oltp.workload.toml".to_owned(),
            text: "format = 1\nname = \"oltp\"\nduration = \"120s\"\n\n[[stream]]\nname = \
                   \"sessions\"\nread_share = 0.7\nblock_size = \"8KiB\"\naccess = \
                   \"uniform\"\narrival = { closed = { queue_depth = 16 } }\nsync = { fdatasync = \
                   { every = 21 } }\n"
                .to_owned(),
        }],
        ..GivenReport::default()
    }
}
