//! Statements by the time that they waited for I/O.

use super::delta::PostgresDelta;
use super::snapshot::{PostgresSnapshot, StatementCounts, StatementKey, StatementStatistics};
use assay_model::profile::StatementIo;
use std::collections::BTreeMap;

/// Statements that are listed.
const STATEMENTS_MAX: usize = 20;

/// What all statements did in the interval, and what makes that doubtful.
pub(super) struct Executed {
    /// Every statement that was executed.
    pub(super) rows: BTreeMap<StatementKey, StatementCounts>,
    pub(super) doubts: Vec<String>,
}

/// Differences of `pg_stat_statements`; `None` where it is not there.
pub(super) fn executed(delta: &PostgresDelta<'_>) -> Option<Executed> {
    let (before, after) = (delta.before.statements.as_ref()?, delta.after.statements.as_ref()?);
    let thrown_out = after.thrown_out.saturating_sub(before.thrown_out);
    let mut doubts =
        vec!["statements count when they end: one that still runs is not in the list".to_owned()];
    if thrown_out > 0 {
        doubts.push(format!(
            "pg_stat_statements evicted statements {thrown_out} times in the interval: sums by \
             statement are incomplete (raise pg_stat_statements.max)"
        ));
    }
    let rows = after.rows.iter().filter_map(|(key, row)| {
        let base = base(before, delta.before, key, row);
        let row = row.since(base);
        (row.calls > 0).then_some((*key, row))
    });
    Some(Executed { rows: rows.collect(), doubts })
}

/// Where a row counts from: the snapshot before, or nothing where it began to be counted after
/// that.
fn base<'a>(
    before: &'a StatementStatistics,
    snapshot: &PostgresSnapshot,
    key: &StatementKey,
    row: &StatementCounts,
) -> Option<&'a StatementCounts> {
    let is_new = row.since_s.is_some_and(|since_s| since_s > snapshot.at_s);
    before.rows.get(key).filter(|base| !is_new && base.calls <= row.calls)
}

impl StatementCounts {
    fn since(&self, earlier: Option<&Self>) -> Self {
        let none = Self::default();
        let earlier = earlier.unwrap_or(&none);
        Self {
            text: self.text.clone(),
            calls: self.calls.saturating_sub(earlier.calls),
            elapsed_s: (self.elapsed_s - earlier.elapsed_s).max(0.0),
            blocks_read: self.blocks_read.saturating_sub(earlier.blocks_read),
            blocks_hit: self.blocks_hit.saturating_sub(earlier.blocks_hit),
            blocks_dirtied: self.blocks_dirtied.saturating_sub(earlier.blocks_dirtied),
            temporary_blocks: self.temporary_blocks.saturating_sub(earlier.temporary_blocks),
            io_time_s: (self.io_time_s - earlier.io_time_s).max(0.0),
            wal_bytes: self.wal_bytes.saturating_sub(earlier.wal_bytes),
            since_s: self.since_s,
        }
    }
}

/// The statements that waited longest for I/O; where I/O is not timed, those that read most blocks.
pub(super) fn top(delta: &PostgresDelta<'_>, executed: &Executed) -> Vec<StatementIo> {
    let timed = delta.is_io_timed();
    let mut rows: Vec<(&StatementKey, &StatementCounts)> = executed.rows.iter().collect();
    rows.sort_by(|left, right| {
        let time = right.1.io_time_s.total_cmp(&left.1.io_time_s);
        let blocks = right.1.blocks_read.cmp(&left.1.blocks_read);
        let elapsed = right.1.elapsed_s.total_cmp(&left.1.elapsed_s);
        time.then(blocks).then(elapsed)
    });
    let one = |(key, row): &(&StatementKey, &StatementCounts)| StatementIo {
        id: key.query.to_string(),
        text: row.text.clone(),
        calls: row.calls,
        elapsed_s: row.elapsed_s,
        io_time_s: timed.then_some(row.io_time_s),
        read_blocks: row.blocks_read,
        hit_blocks: row.blocks_hit,
        dirtied_blocks: row.blocks_dirtied,
        temporary_blocks: row.temporary_blocks,
        wal_bytes: row.wal_bytes,
    };
    rows.iter().take(STATEMENTS_MAX).map(one).collect()
}
