//! Settings that decide what the counters of a server mean, and the extension that counts
//! statements.

use super::columns::text;
use super::link::WatchLink;
use super::queries;
use crate::model::PostgresSettings;
use crate::views::or_zero;
use assay_model::Result;

/// The oldest version of the extension that says which statements clients sent.
const STATEMENTS_MINOR_MIN: u32 = 9;

/// Settings that decide what the counters mean.
pub(super) fn settings(link: &mut WatchLink) -> Result<PostgresSettings> {
    let rows = link.query(queries::SETTINGS)?;
    Ok(rows
        .first()
        .map(|row| PostgresSettings {
            track_io_timing: row.is_true(0),
            track_wal_io_timing: row.is_true(1),
            track_counts: row.is_true(2),
            track_activities: row.is_true(3),
            block_bytes: or_zero(row, 4),
            log_block_bytes: or_zero(row, 5),
            in_recovery: row.is_true(6),
            sees_all: row.is_true(7),
            io_method: text(row, 8),
            started_s: row.real(9).unwrap_or_default(),
        })
        .unwrap_or_default())
}

/// The extension that counts statements: the second number of its version, and its schema.
pub(super) fn statements_of(link: &mut WatchLink) -> std::result::Result<(u32, String), String> {
    let rows = link.query(queries::STATEMENTS_OF).map_err(|error| error.message().to_owned())?;
    let Some(row) = rows.first() else {
        return Err(format!(
            "the extension pg_stat_statements is not in the database '{}'",
            link.database
        ));
    };
    let version = row.text(0);
    let minor = version.split_once('.').and_then(|(_, minor)| minor.parse().ok()).unwrap_or(0);
    if minor < STATEMENTS_MINOR_MIN {
        return Err(format!(
            "pg_stat_statements is of version {version}; ALTER EXTENSION pg_stat_statements \
             UPDATE brings a newer one"
        ));
    }
    Ok((minor, text(row, 1).unwrap_or_else(|| "public".to_owned())))
}
