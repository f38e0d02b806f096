//! A made-up database and made-up storage: sound in every respect, for tests that spoil one thing
//! at a time.

use assay_model::Estimate;
use assay_model::calibration::{
    Calibration, Capacity, CapacityBound, CurvePoint, LatencyLimit, LogCalibration, LogPoint,
    LogReads, MixCalibration,
};
use assay_model::measurement::{OperationResult, PerOperation};
use assay_model::number::{count, real};
use assay_model::profile::{
    FORMAT, Figure, IoClass, IoPurpose, Profile, ProfileProduct, ProfileSource, RateKind, RedoPath,
    ReportActivity, RequestRate, TimeModel, TimeVerdict, WaitClassTime, Work,
};
use assay_model::spelling::LimitStatistic;
use assay_model::{Histogram, Precision};

#[expect(clippy::unnecessary_wraps, reason = "as the fields of a profile are")]
fn figure(value: f64) -> Option<Figure> {
    Some(Figure::new(value, "made up"))
}

fn class(purpose: IoPurpose, iops: f64, latency_s: f64) -> IoClass {
    IoClass {
        rate_iops: figure(iops),
        block_size_bytes: figure(8192.0),
        latency_s: figure(latency_s),
        ..IoClass::new(purpose)
    }
    .complete()
}

/// 1,000 transactions per second of 10 ms on 16 processors: 4 ms CPU, 4 reads of 1 ms, a commit of
/// 1.2 ms, 0.8 ms of others.
pub fn profile() -> Profile {
    let wait = |class: &str, time_s: f64| WaitClassTime {
        class: class.to_owned(),
        time_s: Figure::new(time_s, "made up"),
    };
    Profile {
        format: FORMAT,
        name: "made up".to_owned(),
        source: ProfileSource { product: ProfileProduct::Oracle, ..ProfileSource::default() },
        elapsed_s: figure(100.0),
        sessions: figure(40.0),
        block_bytes: figure(8192.0),
        rates: vec![RequestRate {
            kind: RateKind::Database,
            read_per_s: figure(4000.0),
            write_per_s: figure(500.0),
        }],
        classes: vec![
            class(IoPurpose::SingleBlockRead, 4000.0, 0.001),
            class(IoPurpose::LogWrite, 700.0, 0.0007),
        ],
        work: Work {
            transactions_per_s: figure(1000.0),
            commits_per_s: figure(1000.0),
            executions_per_s: figure(9000.0),
            ..Work::default()
        },
        time: TimeModel {
            db_time_s: figure(1000.0),
            db_cpu_s: figure(400.0),
            average_active_sessions: figure(10.0),
            cpus: figure(16.0),
            host_busy_share: figure(0.25),
            waits: vec![wait("User I/O", 400.0), wait("Commit", 120.0), wait("Network", 80.0)],
            ..TimeModel::default()
        },
        verdict: TimeVerdict {
            user_io_share: Some(0.4),
            commit_share: Some(0.12),
            cpu_share: Some(0.4),
            write_behind_share: Some(0.0),
            contention_share: Some(0.0),
            other_share: Some(0.08),
            unaccounted_share: Some(0.0),
            ..TimeVerdict::default()
        },
        redo: RedoPath {
            sync_latency_s: figure(0.0012),
            syncs_per_s: figure(1000.0),
            write_latency_s: figure(0.0007),
            redo_bytes_per_s: figure(2e6),
            ..RedoPath::default()
        },
        outliers: Vec::new(),
        tiering: Vec::new(),
        report: Some(ReportActivity::default()),
        server: None,
        checks: Vec::new(),
        doubts: Vec::new(),
        missing: Vec::new(),
    }
}

fn estimate(value: f64) -> Estimate {
    Estimate { value, low: 0.98 * value, high: 1.02 * value, confidence: 0.95, n: 20 }
}

/// Servers that take the same for a read as for a write.
fn mix(read_share: f64, service_ns: f64, servers: f64, bound: CapacityBound) -> MixCalibration {
    let rung = |queue_depth: u32| {
        let busy = f64::from(queue_depth).min(servers);
        let iops = 1e9 * busy / service_ns;
        let latency_ns = 1e9 * f64::from(queue_depth) / iops;
        let of = |share: f64| {
            let mut service = Histogram::new(Precision::Fine);
            let ios = count(iops * share);
            service.record_many(count(latency_ns), ios);
            (ios > 0).then(|| OperationResult { ios, service, ..OperationResult::default() })
        };
        CurvePoint {
            queue_depth,
            block_size_bytes: 8192,
            iops: estimate(iops),
            throughput_bytes_per_s: estimate(8192.0 * iops),
            service_time_ns: estimate(latency_ns),
            limited_quantile_ns: estimate(2.0 * latency_ns),
            operations: PerOperation {
                read: of(read_share),
                write: of(1.0 - read_share),
                sync: None,
            },
            elapsed_s: 1.0,
            worker_busy_share: 0.1,
            host_busy_share: None,
        }
    };
    let most = 1e9 * servers / service_ns;
    let capacity = |rate: f64| Capacity {
        rate: estimate(rate),
        burst_rate: None,
        burst_s: None,
        queue_depth: 64,
        bound,
    };
    MixCalibration {
        name: format!("mix {read_share}"),
        read_share,
        block_size_bytes: 8192,
        large_block_size_bytes: 1 << 20,
        base_service_time_ns: estimate(service_ns),
        iops_within_limit: None,
        iops_max: capacity(most),
        throughput_max_bytes_per_s: Some(capacity(20.0 * 8192.0 * most)),
        single_stream_bytes_per_s: Some(estimate(2e8)),
        curve: [1, 2, 4, 8, 16, 32, 64].map(rung).to_vec(),
        burst_curve: Vec::new(),
        large_curve: Vec::new(),
        knee: None,
        steps: Vec::new(),
        stalls: None,
        contradictions: Vec::new(),
    }
}

/// Storage of `servers` that take `service_ns`, its log included.
pub fn calibration(service_ns: f64, servers: f64) -> Calibration {
    let saturated = CapacityBound::Saturated;
    Calibration {
        format: 1,
        target: "made up".to_owned(),
        limit: LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 },
        mixes: vec![
            mix(1.0, service_ns, servers, saturated),
            mix(0.0, service_ns, servers, saturated),
            mix(0.9, service_ns, servers, saturated),
        ],
        direct_io: Some(true),
        log: Some(LogCalibration {
            block_size_bytes: 2048,
            points: vec![log_point(0, service_ns, 0.0), log_point(1, service_ns, service_ns)],
        }),
        early_end: None,
        elapsed_s: real(10),
        remarks: Vec::new(),
    }
}

/// A log that is always busy during `queue_depth` reads of `read_ns`.
pub fn log_point(queue_depth: u32, service_ns: f64, read_ns: f64) -> LogPoint {
    let appends = 1000;
    LogPoint {
        queue_depth,
        service_time_ns: estimate(0.7 * service_ns),
        appends,
        elapsed_s: 0.7 * service_ns * real(appends) / 1e9,
        reads: (queue_depth > 0).then(|| LogReads {
            service_time_ns: estimate(read_ns),
            iops: f64::from(queue_depth) * 1e9 / read_ns,
        }),
    }
}
