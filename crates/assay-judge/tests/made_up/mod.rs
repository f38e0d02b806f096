//! Documents with known numbers, a criteria language of one line each.

#![allow(dead_code, reason = "each test program uses a part of it")]

use assay_judge::{Facts, JudgedLoadFacts, JudgedRun, Series, SeriesBuilder};
use assay_model::calibration::{
    Calibration, Capacity, CapacityBound, CurvePoint, LatencyLimit, MixCalibration,
};
use assay_model::environment::{Environment, Host, Storage};
use assay_model::load::{DatabaseCounts, Load, LoadKind, Physical, Rung, ServerFacts, TimeSplit};
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, Operation,
    OperationResult, PerOperation, Window,
};
use assay_model::number::real;
use assay_model::spelling::LimitStatistic;
use assay_model::target::{ContentFacts, DirectIo, TargetFacts, TargetKind};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::verdict::{Criteria, Criterion, Doubt, NamedEstimate};
use assay_model::{Estimate, Precision, Stream, Workload};

/// One criterion a line: `[optional] quantity at_most|at_least limit [only name]`.
pub(crate) fn criteria(text: &str) -> Criteria {
    Criteria {
        format: 1,
        name: "made up".to_owned(),
        description: String::new(),
        criteria: text.lines().map(criterion).collect(),
    }
}

fn criterion(line: &str) -> Criterion {
    let mut words: Vec<&str> = line.split(' ').collect();
    let optional = words[0] == "optional";
    words.drain(..usize::from(optional));
    let bound = Some(assay_model::verdict::Bound(words[2].to_owned()));
    let (at_most, at_least) = if words[1] == "at_most" { (bound, None) } else { (None, bound) };
    let only = words.get(4).map(|name| (*name).to_owned());
    Criterion {
        quantity: words[0].to_owned(),
        only,
        at_most,
        at_least,
        optional,
        ..Criterion::default()
    }
}

/// A run with its series, and what else is known.
pub(crate) struct Story {
    pub(crate) measurement: Measurement,
    pub(crate) series: Series,
    pub(crate) run: bool,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) load: Option<Load>,
    pub(crate) load_series: Vec<Series>,
    pub(crate) environment: Option<Environment>,
    pub(crate) given: Vec<NamedEstimate>,
    pub(crate) doubts: Vec<Doubt>,
}

impl Story {
    pub(crate) fn facts(&self) -> Facts<'_> {
        let run = JudgedRun { measurement: &self.measurement, series: &self.series };
        Facts {
            dss: None,
            integrity: None,
            calibration: self.calibration.as_ref(),
            run: self.run.then_some(run),
            load: self
                .load
                .as_ref()
                .map(|load| JudgedLoadFacts { load, series: &self.load_series }),
            environment: self.environment.as_ref(),
            given: &self.given,
            doubts: &self.doubts,
        }
    }

    pub(crate) fn conduct(&mut self) -> &mut Conduct {
        &mut self.measurement.conduct
    }

    pub(crate) fn fail_ios(&mut self, ios: u64) {
        for stream in &mut self.measurement.streams {
            if let Some(read) = &mut stream.operations.read {
                read.errors = ios;
            }
        }
    }

    pub(crate) fn shorten(&mut self, intervals: u64) {
        self.series = series(intervals);
    }
}

fn result(ios: u64, time_ns: u64) -> OperationResult {
    let mut result = OperationResult::empty(Precision::Coarse, false);
    (result.ios, result.bytes) = (ios, ios * 8192);
    // Times spread over a tenth, so that what is beyond a quantile lies in every second.
    for part in 0..10 {
        let part_ios = ios * (part + 1) / 10 - ios * part / 10 - u64::from(part == 0 && ios > 100);
        result.service.record_many(time_ns + time_ns * part / 90, part_ios);
    }
    // One read of a hundred is slower: p99 rests on as many independent times as there are seconds.
    result.service.record_many(time_ns * 23 / 20, u64::from(ios > 100));
    result
}

/// Some 200 reads, 50 writes and 10 syncs per second; reads take about a millisecond, and more on
/// the second target.
fn operations(index: u64, slower: u64) -> PerOperation {
    let swing = 1 + index % 3;
    PerOperation {
        read: Some(result(100 + swing, 950_000 + slower + 10_000 * swing)),
        write: Some(result(50 + swing, 2_000_000 + 10_000 * swing)),
        sync: Some(result(10, 10_000_000 + 10_000 * swing)),
    }
}

fn named(index: u64) -> Vec<NamedResult> {
    let one = |name: &str, slower| NamedResult {
        name: name.to_owned(),
        operations: operations(index, slower),
    };
    vec![one("/data/a", 0), one("/data/b", 100_000)]
}

fn joint(index: u64) -> Window {
    let targets = named(index);
    let mut streams =
        vec![NamedResult { name: "oltp".to_owned(), operations: PerOperation::default() }];
    for target in &targets {
        streams[0].operations.merge(&target.operations);
    }
    Window { first_interval: index, intervals: 1, streams, targets }
}

fn series(intervals: u64) -> Series {
    let mut builder = SeriesBuilder::new();
    for index in 0..intervals {
        let joint = joint(index);
        builder.add(&Interval {
            index,
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            operations: joint.streams[0].operations.clone(),
            queue_depth_mean: 1.0,
        });
        builder.add_joint(&joint);
    }
    builder.finish()
}

/// A minute of reads, writes and syncs on two targets, without any flaw.
pub(crate) fn story() -> Story {
    let mut total = Window::default();
    (0..60).for_each(|index| total.merge(&joint(index)));
    let conduct = Conduct {
        backend: BackendKind::Uring,
        direct_io: Some(true),
        clock: ClockKind::Tsc,
        submission: assay_model::measurement::Submission::Asynchronous,
        worker_busy_share_max: 0.2,
        host_busy_share: Some(0.3),
        littles_law_ratio: 1.0,
        ..Conduct::default()
    };
    Story {
        measurement: Measurement {
            format: 1,
            workload: "oltp".to_owned(),
            started_unix_ns: 1_790_000_000_000_000_000,
            elapsed_ns: 60_000_000_000,
            finish: Finish::Complete,
            streams: total.streams,
            targets: total.targets,
            errors: Vec::new(),
            conduct,
        },
        series: series(60),
        run: true,
        calibration: None,
        load: None,
        load_series: Vec::new(),
        environment: None,
        given: Vec::new(),
        doubts: Vec::new(),
    }
}

fn about(value: f64) -> Estimate {
    Estimate { value, low: value * 0.99, high: value * 1.01, confidence: 0.95, n: 40 }
}

/// 40,000 reads per second, 32,000 of them within the limit, and 450 MB/s; ended by `bound`.
pub(crate) fn calibration(bound: CapacityBound) -> Calibration {
    let capacity = |value: f64, bound: CapacityBound| Capacity {
        rate: about(value),
        burst_rate: None,
        burst_s: None,
        queue_depth: 32,
        bound,
    };
    let mix = MixCalibration {
        name: Operation::Read.name().to_owned(),
        read_share: 1.0,
        block_size_bytes: 8192,
        large_block_size_bytes: 1 << 20,
        base_service_time_ns: about(180_000.0),
        iops_within_limit: Some(capacity(32_000.0, CapacityBound::LatencyLimit)),
        iops_max: capacity(40_000.0, bound),
        throughput_max_bytes_per_s: Some(capacity(450e6, bound)),
        single_stream_bytes_per_s: Some(about(250e6)),
        curve: Vec::new(),
        burst_curve: Vec::new(),
        large_curve: Vec::new(),
        knee: None,
        steps: Vec::new(),
        stalls: None,
        contradictions: Vec::new(),
    };
    Calibration {
        format: 1,
        target: "/data/a".to_owned(),
        limit: LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 },
        mixes: vec![mix],
        early_end: None,
        elapsed_s: 45.0,
        remarks: Vec::new(),
        log: None,
        direct_io: None,
    }
}

/// Random reads and writes without syncs.
pub(crate) fn workload() -> Workload {
    let stream = Stream::closed("oltp", Share(0.7), Bytes(8192), 16);
    Workload::of("oltp", Nanos(60_000_000_000), stream)
}

/// An environment whose only target holds this.
pub(crate) fn environment(content: ContentFacts) -> Environment {
    let target = TargetFacts {
        path: "/data/a".to_owned(),
        kind: TargetKind::File,
        size_bytes: 1 << 30,
        usable_start_bytes: 0,
        usable_end_bytes: 1 << 30,
        logical_block_bytes: 512,
        physical_block_bytes: None,
        transfer_bytes_max: None,
        direct_io: DirectIo::Unknown,
        created_by_assay: false,
        content,
    };
    Environment {
        format: 1,
        captured_unix_ns: 0,
        host: Host::default(),
        storage: vec![Storage { target: Some(target), ..Storage::default() }],
        findings: Vec::new(),
        unreadable: Vec::new(),
    }
}

/// The same with a step of one I/O at a time, whose p99 has this interval, on a host that was so
/// busy.
pub(crate) fn with_one_at_a_time(
    mut calibration: Calibration,
    (low_ns, value_ns, high_ns): (f64, f64, f64),
    host_busy_share: Option<f64>,
) -> Calibration {
    let point = CurvePoint {
        queue_depth: 1,
        block_size_bytes: 8192,
        iops: about(5000.0),
        throughput_bytes_per_s: about(4e7),
        service_time_ns: about(180_000.0),
        limited_quantile_ns: Estimate {
            value: value_ns,
            low: low_ns,
            high: high_ns,
            confidence: 0.95,
            n: 4000,
        },
        operations: PerOperation::default(),
        elapsed_s: 5.0,
        worker_busy_share: 0.1,
        host_busy_share,
    };
    calibration.mixes[0].curve.push(point);
    calibration
}

/// Half a minute of new orders and payments at these rates, of 2 and 4 ms, and 1,000 reads of the
/// database a second, of which the page cache gave a share; none where nobody can tell.
pub(crate) fn rung(
    sessions: u32,
    repeat: u32,
    per_s: u64,
    cached_share: Option<f64>,
) -> (Rung, Series) {
    let named = |name: &str, ios: u64, time_ns: u64| NamedResult {
        name: name.to_owned(),
        operations: PerOperation { write: Some(result(ios, time_ns)), ..PerOperation::default() },
    };
    let (mut builder, mut total) = (SeriesBuilder::new(), Window::default());
    for index in 0..30 {
        let swing = index % 3;
        let joint = Window {
            first_interval: index,
            intervals: 1,
            streams: vec![
                named("new order", per_s + swing, 2_000_000 + 10_000 * swing),
                named("payment", per_s + swing, 4_000_000 + 10_000 * swing),
            ],
            targets: Vec::new(),
        };
        let mut operations = joint.streams[0].operations.clone();
        operations.merge(&joint.streams[1].operations);
        builder.add(&Interval {
            index,
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            operations,
            queue_depth_mean: 1.0,
        });
        builder.add_joint(&joint);
        total.merge(&joint);
    }
    let (bytes, measurement) = (30_000 * 8192, story().measurement);
    let given = cached_share.map(|share| assay_model::number::count(real(bytes) * (1.0 - share)));
    let rung = Rung {
        sessions,
        repeat,
        measurement: Measurement {
            elapsed_ns: 30_000_000_000,
            streams: total.streams,
            targets: Vec::new(),
            ..measurement
        },
        statements: Some(about(real(2 * per_s))),
        is_widened: false,
        interval_rates_per_s: Vec::new(),
        retries: Vec::new(),
        backlog: None,
        database: DatabaseCounts { reads: 30_000, read_bytes: bytes, ..DatabaseCounts::default() },
        time: TimeSplit::default(),
        device: None,
        client_cpu_s: 1.0,
        server_cpu_s: None,
        host_busy_share: Some(0.5),
        commit_parity: None,
        databases: Vec::new(),
        physical: Physical::of(bytes, given, None),
        profile: None,
    };
    (rung, builder.finish())
}

/// A load of order entry with these steps.
pub(crate) fn loaded(rungs: Vec<(Rung, Series)>) -> Story {
    let (rungs, load_series): (Vec<Rung>, Vec<Series>) = rungs.into_iter().unzip();
    let load = Load {
        format: Load::FORMAT,
        kind: LoadKind::Oltp,
        server: ServerFacts::default(),
        plan: Vec::new(),
        filled: None,
        access: String::new(),
        rungs,
        processors: 2,
        end: String::new(),
        knee_sessions: None,
        goal: None,
        checks: Vec::new(),
        commits: Vec::new(),
        durability: None,
        remarks: Vec::new(),
    };
    Story { run: false, load: Some(load), load_series, ..story() }
}
