//! The load profile, with amounts per second and per transaction, and the path of commits.

use super::delta::MariadbDelta;
use super::io::{levels, log_sync_s};
use assay_live::classes::COMMIT;
use assay_live::{HostContext, load_line, mean_s, share_of_classes};
use assay_model::number::{rate, real};
use assay_model::profile::{Figure, LoadLine, RedoPath, TimeModel};

/// Counters of the status that are reported as they are, with the names of the lines.
const COUNTS: [(&str, &str); 8] = [
    ("log, bytes", "INNODB_OS_LOG_WRITTEN"),
    ("changes of pages in the cache", "INNODB_BUFFER_POOL_WRITE_REQUESTS"),
    ("waits for a free page of the cache", "INNODB_BUFFER_POOL_WAIT_FREE"),
    ("waits for space in the log buffer", "INNODB_LOG_WAITS"),
    ("statements", "QUESTIONS"),
    ("rollbacks", "COM_ROLLBACK"),
    ("temporary tables on storage", "CREATED_TMP_DISK_TABLES"),
    ("connections begun", "CONNECTIONS"),
];

/// All lines of which something is known.
pub(super) fn load(
    delta: &MariadbDelta<'_>,
    host: &HostContext,
    time: &TimeModel,
) -> Vec<LoadLine> {
    let transactions = delta.transactions();
    let line = |name: &str, amount: f64| load_line(name, amount, delta.elapsed_s, transactions);
    let known = |name: &str, figure: &Option<Figure>| Some(line(name, figure.as_ref()?.value));
    let levels = levels(delta, host);
    let device = host.device.as_ref().map(|device| device.counters);
    let counted =
        COUNTS.iter().filter_map(|(name, status)| Some(line(name, real(delta.status(status)?))));
    let lines = [
        known("DB time, s", &time.db_time_s),
        known("DB CPU, s", &time.db_cpu_s),
        known("waiting for a CPU, s", &time.cpu_queue_s),
        Some(line("logical reads, blocks", levels.logical_per_s * delta.elapsed_s)),
        Some(line("reads of the database, blocks", levels.database_per_s * delta.elapsed_s)),
        device.map(|device| line("reads of the devices", real(device.read_ios))),
        device.map(|device| line("writes of the devices", real(device.write_ios))),
        Some(line("transactions", real(transactions))),
    ];
    lines.into_iter().flatten().chain(counted).collect()
}

/// The path of commits: what statements wait in their commit, and what a flush of the log takes, as
/// far as either is timed.
pub(super) fn redo(delta: &MariadbDelta<'_>, time: &TimeModel) -> RedoPath {
    let per_s = |name: &str, source: &str| {
        let count = delta.status(name)?;
        Some(Figure::new(rate(count, delta.elapsed_s), format!("{source} / elapsed")))
    };
    let commits = delta.commits().and_then(|commits| mean_s(commits.time_s, commits.count));
    RedoPath {
        sync_latency_s: commits
            .map(|mean| Figure::new(mean, "mean time of a statement in the stage of its commit")),
        write_latency_s: log_sync_s(delta).map(|mean| {
            Figure::new(mean, "file_summary_by_event_name: innodb_log_file, time of a flush")
        }),
        write_iops: per_s("INNODB_LOG_WRITES", "Innodb_log_writes"),
        redo_bytes_per_s: per_s("INNODB_OS_LOG_WRITTEN", "Innodb_os_log_written"),
        sync_share: share_of_classes(time, &[COMMIT]),
        ..RedoPath::default()
    }
    .concluded()
}
