//! The load profile: amounts per second and per transaction.

use super::delta::PostgresDelta;
use super::io::levels;
use super::statements::Executed;
use assay_live::{HostContext, load_line};
use assay_model::number::real;
use assay_model::profile::{Checkpoints, Figure, LoadLine, TimeModel, WalActivity};

/// All lines of which something is known.
pub(super) fn load(
    delta: &PostgresDelta<'_>,
    host: &HostContext,
    time: &TimeModel,
    executed: Option<&Executed>,
) -> Vec<LoadLine> {
    let line =
        |name: &str, amount: f64| load_line(name, amount, delta.elapsed_s, delta.transactions());
    let known = |name: &str, figure: &Option<Figure>| {
        figure.as_ref().map(|figure| line(name, figure.value))
    };
    let count = |name: &str, count: u64| Some(line(name, real(count)));
    let levels = levels(delta, host);
    let log = delta.log();
    let top = |of: &dyn Fn(&super::StatementCounts) -> u64| {
        let rows = executed?.rows.iter().filter(|(key, _)| key.is_top);
        Some(rows.map(|(_, row)| of(row)).sum::<u64>())
    };
    let device = host.device.as_ref().map(|device| device.counters);
    let lines = [
        known("DB time, s", &time.db_time_s),
        known("DB CPU, s", &time.db_cpu_s),
        known("waiting for a CPU, s", &time.cpu_queue_s),
        log.as_ref().map(|log| line("WAL, bytes", real(log.bytes))),
        Some(line("logical reads, blocks", levels.logical_per_s * delta.elapsed_s)),
        top(&|row| row.blocks_dirtied).and_then(|blocks| count("block changes, blocks", blocks)),
        count("rows changed", delta.sum(|database| database.rows_changed)),
        Some(line("reads of the database, blocks", levels.database_per_s * delta.elapsed_s)),
        device.and_then(|device| count("reads of the devices", device.read_ios)),
        device.and_then(|device| count("writes of the devices", device.write_ios)),
        top(&|row| row.calls).and_then(|calls| count("executions", calls)),
        count("transactions", delta.transactions()),
        count("rollbacks", delta.sum(|database| database.rollbacks)),
        count("temporary files", delta.sum(|database| database.temporary_files)),
        count("temporary files, bytes", delta.sum(|database| database.temporary_bytes)),
        count("connections begun", delta.sum(|database| database.sessions)),
    ];
    lines.into_iter().flatten().collect()
}

/// Checkpoints in the interval.
pub(super) fn checkpoints(delta: &PostgresDelta<'_>) -> Option<Checkpoints> {
    let (before, after) = (delta.before.background.as_ref()?, delta.after.background.as_ref()?);
    Some(Checkpoints {
        timed: after.timed.saturating_sub(before.timed),
        requested: after.requested.saturating_sub(before.requested),
        written_blocks: after.checkpoint_blocks.saturating_sub(before.checkpoint_blocks),
        write_time_s: (after.checkpoint_write_s - before.checkpoint_write_s).max(0.0),
        sync_time_s: (after.checkpoint_sync_s - before.checkpoint_sync_s).max(0.0),
    })
}

/// The log in the interval.
pub(super) fn wal(delta: &PostgresDelta<'_>) -> Option<WalActivity> {
    let log = delta.log()?;
    Some(WalActivity {
        records: log.records,
        full_pages: log.full_pages,
        bytes: log.bytes,
        full_buffers: log.full_buffers,
    })
}
