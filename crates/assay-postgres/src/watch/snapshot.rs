//! Takes a snapshot: every counter that the release has and the account may read; the rest is said
//! to be missing.

use super::columns::id;
use super::link::WatchLink;
use super::settings::settings;
use super::{PostgresWatcher, queries};
use crate::connection::Row;
use crate::model::{
    BackendSession, IoKey, IoRow, PostgresSnapshot, RelationCounters, StatementCounts,
    StatementKey, StatementStatistics,
};
use crate::views::{self, or_zero};
use assay_model::Result;
use std::collections::BTreeMap;

impl PostgresWatcher {
    /// Everything at this moment; refused where the server goes away, or refuses what every account
    /// may ask.
    pub(super) fn take_snapshot(&mut self) -> Result<PostgresSnapshot> {
        self.report_own();
        let settings = settings(&mut self.server)?;
        let mut missing = Vec::new();
        let io = self.io(&mut missing)?;
        let log = self.server.query(views::log(self.version))?;
        let background = self.server.query(views::background(self.version))?;
        let relations = self.database.query(queries::RELATIONS)?;
        let statements = self.statements(&mut missing);
        let sessions = self.sessions()?;
        // Last, because the time of statements that run is counted up to here.
        let databases = self.server.query(views::DATABASES)?;
        let at_s = sessions.1;
        Ok(PostgresSnapshot {
            version: self.version,
            settings,
            at_s,
            databases: databases.iter().map(views::database).collect(),
            sessions: sessions.0,
            io,
            log: log.first().map(views::log_row),
            background: background.first().map(views::background_row),
            relations: relations.iter().map(relation).collect(),
            statements,
            own_time_s: self.own_sums(|link| link.own_time_s),
            own_statements: self.own_sums(|link| link.own_statements),
            processors: None,
            missing,
        })
    }

    /// Sessions report what they read up to a second late: what ours read before a snapshot must
    /// not come after it.
    fn report_own(&mut self) {
        if self.version.major() >= 15 {
            for link in [&mut self.server, &mut self.database] {
                // Without the right, or the function, a few blocks of the catalogue more are
                // counted.
                drop(link.query("SELECT /* assay */ pg_stat_force_next_flush()"));
            }
        }
    }

    /// I/O by process, object and context, or that the release has none.
    fn io(&mut self, missing: &mut Vec<String>) -> Result<Option<BTreeMap<IoKey, IoRow>>> {
        let Some(query) = views::io(self.version) else {
            missing.push("I/O by process and context: pg_stat_io needs release 16".to_owned());
            return Ok(None);
        };
        Ok(Some(self.server.query(query)?.iter().map(views::io_row).collect()))
    }

    /// Client sessions, and the server's clock.
    fn sessions(&mut self) -> Result<(Vec<BackendSession>, f64)> {
        let rows = self.activity()?;
        let at_s = rows.first().and_then(|row| row.real(9)).unwrap_or_default();
        let clients = rows.iter().filter(|row| row.text(1) == "client backend");
        let session = |row: &Row| BackendSession {
            process_id: id(row, 0),
            database: row.text(5).to_owned(),
            is_active: matches!(row.text(2), "active" | "fastpath function call"),
            statement_began_s: row.real(6),
            state_changed_s: row.real(7),
        };
        Ok((clients.map(session).collect(), at_s))
    }

    /// Statements, or why they are not known.
    fn statements(&mut self, missing: &mut Vec<String>) -> Option<StatementStatistics> {
        let (minor, schema) = match &self.statements {
            Ok(known) => known.clone(),
            Err(reason) => {
                missing.push(format!("statements: {reason}"));
                return None;
            }
        };
        let rows = self.database.query(&queries::statements(minor, &schema));
        let thrown_out = self.database.query(&queries::thrown_out(&schema));
        match (rows, thrown_out) {
            (Ok(rows), Ok(thrown_out)) => Some(StatementStatistics {
                rows: rows.iter().filter_map(statement).collect(),
                thrown_out: thrown_out.first().map_or(0, |row| or_zero(row, 0)),
            }),
            (Err(error), _) | (_, Err(error)) => {
                missing.push(format!("statements: {}", error.message()));
                None
            }
        }
    }

    /// A sum over Assay's sessions by database.
    fn own_sums<T: Default + std::ops::AddAssign>(
        &self,
        of: impl Fn(&WatchLink) -> T,
    ) -> BTreeMap<String, T> {
        let mut sums = BTreeMap::new();
        for link in [&self.server, &self.database] {
            *sums.entry(link.database.clone()).or_default() += of(link);
        }
        sums
    }
}

fn relation(row: &Row) -> (u32, RelationCounters) {
    let word = |column| row.text(column).to_owned();
    let relation = RelationCounters {
        name: word(1),
        kind: word(2),
        tablespace: word(3),
        blocks_read: or_zero(row, 4),
        blocks_hit: or_zero(row, 5),
        size_bytes: row.count(6),
    };
    (id(row, 0), relation)
}

fn statement(row: &Row) -> Option<(StatementKey, StatementCounts)> {
    let key = StatementKey {
        user: id(row, 0),
        database: id(row, 1),
        query: row.text(2).parse().ok()?,
        is_top: row.is_true(3),
    };
    let statement = StatementCounts {
        text: shown(row.text(4)),
        calls: or_zero(row, 5),
        elapsed_s: row.real(6).unwrap_or_default(),
        blocks_read: or_zero(row, 7),
        blocks_hit: or_zero(row, 8),
        blocks_dirtied: or_zero(row, 9),
        temporary_blocks: or_zero(row, 10),
        io_time_s: row.real(11).unwrap_or_default(),
        wal_bytes: or_zero(row, 12),
        since_s: row.real(13),
    };
    Some((key, statement))
}

/// A statement as it may be shown: where the server does not replace values, as in `ALTER ROLE …
/// PASSWORD`, only its first word.
pub(super) fn shown(text: &str) -> String {
    const PLAIN: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    if PLAIN.iter().any(|plain| first.eq_ignore_ascii_case(plain)) {
        return words.join(" ");
    }
    format!("{} …", first.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn only_statements_whose_values_are_replaced_are_shown() {
        assert_eq!(shown("select  c\n from t where k = $1"), "select c from t where k = $1");
        assert_eq!(shown("ALTER ROLE a PASSWORD 'x'"), "ALTER …");
        assert_eq!(shown("copy t from 's3://key'"), "COPY …");
    }
}
