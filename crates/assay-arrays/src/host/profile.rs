//! A simulated run in the words of a workload report: rates, classes of I/O, the time model and
//! what it says.

use super::HostRun;
use assay_model::Histogram;
use assay_model::array::SessionLoad;
use assay_model::number::{rate, real, seconds};
use assay_model::profile::{
    FORMAT, Figure, IoClass, IoPurpose, LatencyBucket, LatencyCurve, Outlier, Profile,
    ProfileProduct, ProfileSource, RateKind, RedoFinding, RedoPath, RequestRate, TimeModel,
    TimeVerdict, WaitClassTime, Work,
};

/// Ends of the ranges that reports count waits in, ns: 1 ms to 32 ms by powers of two, and 1 s.
const ENDS_NS: [u64; 7] =
    [1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000, 32_000_000, 1_000_000_000];

/// Waits above this are shown by wall clock.
const SLOW_NS: u64 = 8_000_000;

/// The profile of a simulated run on the array `name`.
pub fn profile(run: &HostRun, load: &SessionLoad, name: &str) -> Profile {
    let elapsed_s = seconds(run.io.elapsed_ns);
    let time = time_model(run, load, elapsed_s);
    Profile {
        format: FORMAT,
        name: format!("{} sessions on {name}", load.sessions),
        source: ProfileSource {
            product: ProfileProduct::Simulated,
            kind: "sessions".to_owned(),
            complete: true,
            ..ProfileSource::default()
        },
        elapsed_s: counted(elapsed_s),
        work: work(run, load),
        sessions: counted(f64::from(load.sessions)),
        block_bytes: counted(real(load.block.0)),
        rates: vec![requests(run)],
        classes: classes(run, load),
        verdict: verdict(run, &time),
        redo: redo(run, &time),
        time,
        outliers: outliers(&run.io.read, elapsed_s),
        tiering: Vec::new(),
        report: None,
        server: None,
        checks: Vec::new(),
        doubts: Vec::new(),
        missing: vec!["tablespaces: the simulated data is one".to_owned()],
    }
}

#[allow(clippy::unnecessary_wraps, reason = "what a source may lack is optional in the profile")]
fn counted(value: f64) -> Option<Figure> {
    Some(Figure::new(value, "counted in the simulation"))
}

/// Statements, and those that changed data: each is a transaction of its own.
fn work(run: &HostRun, load: &SessionLoad) -> Work {
    let committed = load.update_share.0 > 0.0;
    let updates = || counted(run.per_s(run.updates));
    Work {
        executions_per_s: counted(run.executions_per_s()),
        commits_per_s: committed.then(updates).flatten(),
        physical_reads_per_s: counted(run.per_s(run.io.read.ios())),
        ..Work::default()
    }
}

fn requests(run: &HostRun) -> RequestRate {
    RequestRate {
        kind: RateKind::Database,
        read_per_s: counted(run.per_s(run.io.read.ios())),
        write_per_s: counted(run.per_s(run.io.write.ios())),
    }
}

fn classes(run: &HostRun, load: &SessionLoad) -> Vec<IoClass> {
    let block = real(load.block.0);
    let log_bytes = real(run.redo_bytes) / real(run.log_writes.ios().max(1));
    let mut all = run.io.read.clone();
    all.merge(&run.io.write);
    all.merge(&run.log_writes);
    let (data, ios) = (run.io.read.ios() + run.io.write.ios(), all.ios());
    let mean_bytes = (real(data) * block + real(run.redo_bytes)) / real(ios.max(1));
    let reads = real(run.io.read.ios()) / real(ios.max(1));
    vec![
        class(run, IoPurpose::All, &all, mean_bytes, reads),
        class(run, IoPurpose::SingleBlockRead, &run.io.read, block, 1.0),
        class(run, IoPurpose::DataFileWrite, &run.io.write, block, 0.0),
        class(run, IoPurpose::LogWrite, &run.log_writes, log_bytes, 0.0),
    ]
}

fn class(run: &HostRun, purpose: IoPurpose, times: &Histogram, bytes: f64, reads: f64) -> IoClass {
    IoClass {
        rate_iops: counted(run.per_s(times.ios())),
        block_size_bytes: counted(bytes),
        read_share: counted(reads),
        latency_s: counted(times.mean_ns() / 1e9),
        latency: Some(curve(times)),
        ..IoClass::new(purpose)
    }
    .complete()
}

/// Waits counted in the ranges of a report.
fn curve(times: &Histogram) -> LatencyCurve {
    let below = |end_ns: u64| times.ios() - times.ios_above(end_ns - 1);
    let mut low_ns = 0;
    let bucket = |end_ns: u64| {
        let ios = real(below(end_ns) - if low_ns == 0 { 0 } else { below(low_ns) });
        LatencyBucket { low_ns: std::mem::replace(&mut low_ns, end_ns), high_ns: Some(end_ns), ios }
    };
    let mut buckets: Vec<LatencyBucket> = ENDS_NS.into_iter().map(bucket).collect();
    buckets.push(LatencyBucket { low_ns, high_ns: None, ios: real(times.ios_above(low_ns - 1)) });
    LatencyCurve { buckets, events: Vec::new(), source: "counted in the simulation".to_owned() }
}

fn outliers(reads: &Histogram, elapsed_s: f64) -> Vec<Outlier> {
    let slow = curve(reads).buckets.into_iter();
    slow.filter(|bucket| bucket.low_ns >= SLOW_NS && bucket.ios > 0.0)
        .map(|bucket| Outlier {
            event: "db file sequential read".to_owned(),
            low_ns: bucket.low_ns,
            high_ns: bucket.high_ns,
            rate_per_s: bucket.ios / elapsed_s,
        })
        .collect()
}

/// Sum of the times in a histogram, seconds.
fn total_s(times: &Histogram) -> f64 {
    times.mean_ns() * real(times.ios()) / 1e9
}

fn time_model(run: &HostRun, load: &SessionLoad, elapsed_s: f64) -> TimeModel {
    // Without think time every session is in a call all the time.
    let db_time_s = f64::from(load.sessions) * elapsed_s;
    let cpu_s = seconds(run.cpu_ns);
    let waits = [
        ("User I/O", total_s(&run.io.read)),
        ("Cluster", seconds(run.cluster_ns)),
        ("Configuration", seconds(run.free_buffer_ns)),
        ("Commit", total_s(&run.log_syncs)),
    ];
    let waited_s: f64 = waits.iter().map(|(_, time_s)| time_s).sum();
    let cpus = f64::from(load.cpus * load.hosts);
    let wait = |(class, time_s): (&str, f64)| WaitClassTime {
        class: class.to_owned(),
        time_s: Figure::new(time_s, "counted in the simulation"),
    };
    TimeModel {
        db_time_s: counted(db_time_s),
        db_cpu_s: counted(cpu_s),
        background_cpu_s: None,
        cpu_queue_s: None,
        average_active_sessions: counted(f64::from(load.sessions)),
        cpus: counted(cpus),
        cpu_utilization: counted(cpu_s / elapsed_s / cpus),
        host_busy_share: counted(cpu_s / elapsed_s / cpus),
        waits: waits.into_iter().filter(|(_, time_s)| *time_s > 0.0).map(wait).collect(),
        unaccounted_s: counted(db_time_s - cpu_s - waited_s),
    }
}

/// Share of database time that a wait class took.
fn share(time: &TimeModel, class: &str) -> f64 {
    let all = time.db_time_s.as_ref().map_or(0.0, |figure| figure.value);
    let found = time.waits.iter().find(|wait| wait.class == class);
    found.map_or(0.0, |wait| wait.time_s.value) / all.max(1e-9)
}

fn verdict(run: &HostRun, time: &TimeModel) -> TimeVerdict {
    let db_time_s = time.db_time_s.as_ref().map_or(1.0, |figure| figure.value);
    TimeVerdict {
        user_io_share: Some(share(time, "User I/O")),
        write_behind_share: Some(share(time, "Configuration")),
        commit_share: Some(share(time, "Commit")),
        cpu_share: Some(seconds(run.cpu_ns) / db_time_s),
        ..TimeVerdict::default()
    }
    .concluded()
}

fn redo(run: &HostRun, time: &TimeModel) -> RedoPath {
    let sync_share = share(time, "Commit");
    let waited = !run.log_syncs.is_empty();
    let finding = match (waited, sync_share > 0.01) {
        (false, _) | (true, false) => RedoFinding::NotWaitedFor,
        (true, true) if run.log_writes.mean_ns() > 0.5 * run.log_syncs.mean_ns() => {
            RedoFinding::Device
        }
        (true, true) => RedoFinding::BesideTheDevice,
    };
    RedoPath {
        sync_latency_s: waited.then(|| counted(run.log_syncs.mean_ns() / 1e9)).flatten(),
        syncs_per_s: waited.then(|| counted(run.per_s(run.log_syncs.ios()))).flatten(),
        write_latency_s: counted(run.log_writes.mean_ns() / 1e9),
        writer_busy_share: None,
        write_iops: counted(run.per_s(run.log_writes.ios())),
        redo_bytes_per_s: counted(rate(run.redo_bytes, seconds(run.io.elapsed_ns))),
        sync_share: waited.then_some(sync_share),
        finding,
    }
}
