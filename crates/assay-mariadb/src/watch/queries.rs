//! The statements of a watch, each with a mark that tells it apart from others in the server's own
//! statistics.

use super::own::OwnWork;
use crate::model::{AUTOCOMMITTED, ENDINGS, LOSSES};
use crate::views::SESSION_STATEMENTS;

/// Sessions that wait for their next statement, or serve the server itself.
const NO_STATEMENT: &str = "'Sleep', 'Daemon', 'Connect', 'Binlog Dump', 'Binlog Dump GTID', \
                            'Slave_IO', 'Slave_SQL', 'Slave_worker', 'Delayed insert', 'Killed'";

/// A sample must never become a load: none of our statements may run long, wait for a lock, or
/// write.
pub(super) const fn manners(is_mariadb: bool) -> &'static str {
    if is_mariadb {
        "SET SESSION max_statement_time = 10, lock_wait_timeout = 1, tx_read_only = 1"
    } else {
        "SET SESSION max_execution_time = 10000, lock_wait_timeout = 1, transaction_read_only = 1"
    }
}

pub(super) const IS_SCHEMA_ON: &str = "SELECT /* assay */ @@performance_schema";

pub(super) const MAY_READ_SCHEMA: &str =
    "SELECT /* assay */ COUNT(*) FROM performance_schema.threads";

pub(super) const DATA_DIRECTORY: &str = "SELECT /* assay */ @@datadir";

pub(super) const NOW: &str = "SELECT /* assay */ UNIX_TIMESTAMP(SYSDATE(6))";

pub(super) const SETTINGS: &str =
    "SELECT /* assay */ @@innodb_page_size, @@thread_handling, @@innodb_flush_method, @@read_only";

/// Counters of the status, without those that the model names.
const STATUS: &[&str] = &[
    "UPTIME",
    "QUESTIONS",
    "CONNECTIONS",
    "THREADS_CREATED",
    "COM_BEGIN",
    "CREATED_TMP_DISK_TABLES",
    "INNODB_BUFFER_POOL_READ_REQUESTS",
    "INNODB_BUFFER_POOL_WRITE_REQUESTS",
    "INNODB_BUFFER_POOL_WAIT_FREE",
    "INNODB_BUFFER_POOL_READ_AHEAD",
    "INNODB_BUFFER_POOL_READ_AHEAD_RND",
    "INNODB_PAGES_READ",
    "INNODB_PAGES_WRITTEN",
    "INNODB_DBLWR_PAGES_WRITTEN",
    "INNODB_DBLWR_WRITES",
    "INNODB_OS_LOG_WRITTEN",
    "INNODB_LOG_WRITES",
    "INNODB_LOG_WAITS",
    "INNODB_ROW_LOCK_TIME",
    "INNODB_ROW_LOCK_WAITS",
];

/// Counters of the status that a snapshot reads.
pub(super) fn status() -> Vec<&'static str> {
    let losses = LOSSES.iter().map(|(lost, _)| lost);
    STATUS.iter().chain(&ENDINGS).chain(&AUTOCOMMITTED).chain(losses).copied().collect()
}

/// What is asked of the status every second.
pub(super) const IO_STATUS: &[&str] = &[
    "INNODB_PAGES_READ",
    "INNODB_PAGES_WRITTEN",
    "INNODB_DBLWR_PAGES_WRITTEN",
    "INNODB_DBLWR_WRITES",
    "INNODB_OS_LOG_WRITTEN",
    "INNODB_LOG_WRITES",
    "COM_COMMIT",
    "COM_ROLLBACK",
];

/// Instruments of interest that are on and timed, and consumers that are on.
pub(super) const INSTRUMENTS: &str = "SELECT /* assay */ NAME FROM \
    performance_schema.setup_instruments WHERE ENABLED = 'YES' AND \
     TIMED = 'YES' AND (NAME = 'statement/sql/select' OR NAME LIKE 'wait/io/file/innodb/%' OR \
     NAME IN ('stage/sql/Commit', 'stage/sql/waiting for handler commit')) UNION ALL SELECT NAME \
     FROM performance_schema.setup_consumers WHERE ENABLED = 'YES'";

/// The stages in which a statement commits, of both products.
const COMMIT_STAGES: &str = "'stage/sql/Commit', 'stage/sql/Commit implicit', 'stage/sql/waiting \
                             for handler commit', 'stage/sql/Waiting for prior transaction to \
                             commit', 'stage/sql/Waiting for prior transaction to start commit'";

pub(super) const UNCOUNTED: &str = "SELECT /* assay */ COUNT(*) FROM performance_schema.threads \
                                    WHERE TYPE = 'FOREGROUND' AND INSTRUMENTED = 'NO'";

pub(super) fn number_of(session: u64) -> String {
    format!(
        "SELECT /* assay */ THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = \
         {session}"
    )
}

fn list<T: ToString>(values: impl Iterator<Item = T>) -> String {
    let all: Vec<String> = values.map(|value| value.to_string()).collect();
    // No thread has the number 0, and an empty list is invalid.
    if all.is_empty() { "0".to_owned() } else { all.join(", ") }
}

fn numbers(own: &[OwnWork]) -> String {
    list(own.iter().filter_map(|own| own.number))
}

fn sessions(own: &[OwnWork]) -> String {
    list(own.iter().map(|own| own.session))
}

/// Sums of client sessions by event, and those of Assay's sessions; threads of the background have
/// no user.
fn by_event(kind: &str, condition: &str, own: &[OwnWork]) -> String {
    let numbers = numbers(own);
    format!(
        "SELECT /* assay */ 0, EVENT_NAME, SUM(COUNT_STAR), SUM(SUM_TIMER_WAIT) FROM \
         performance_schema.events_{kind}_summary_by_user_by_event_name WHERE USER IS NOT NULL \
         AND COUNT_STAR > 0 AND {condition} GROUP BY EVENT_NAME UNION ALL SELECT 1, EVENT_NAME, \
         COUNT_STAR, SUM_TIMER_WAIT FROM \
         performance_schema.events_{kind}_summary_by_thread_by_event_name WHERE THREAD_ID IN \
         ({numbers}) AND COUNT_STAR > 0 AND {condition}"
    )
}

pub(super) fn waits(own: &[OwnWork]) -> String {
    by_event("waits", "EVENT_NAME <> 'idle'", own)
}

pub(super) fn stages(own: &[OwnWork]) -> String {
    by_event("stages", &format!("EVENT_NAME IN ({COMMIT_STAGES})"), own)
}

/// Those that sessions worked on.
pub(super) fn statements(own: &[OwnWork]) -> String {
    by_event("statements", SESSION_STATEMENTS, own)
}

/// Time of statements that run, in picoseconds, without our own.
pub(super) fn running(is_mariadb: bool, own: &[OwnWork]) -> String {
    let own = sessions(own);
    if is_mariadb {
        return format!(
            "SELECT /* assay */ COALESCE(SUM(TIME_MS), 0) * 1e9 FROM \
             information_schema.PROCESSLIST WHERE COMMAND NOT IN ({NO_STATEMENT}) AND USER <> \
             'system user' AND ID NOT IN ({own})"
        );
    }
    format!(
        "SELECT /* assay */ COALESCE(SUM(s.TIMER_WAIT), 0) FROM \
         performance_schema.events_statements_current s JOIN performance_schema.threads t ON \
         t.THREAD_ID = s.THREAD_ID WHERE s.END_EVENT_ID IS NULL AND s.NESTING_EVENT_LEVEL = 0 AND \
         t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID NOT IN ({own}) AND t.PROCESSLIST_COMMAND NOT \
         IN ({NO_STATEMENT})"
    )
}

/// Bytes of the engine's files by tablespace.
pub(super) const fn sizes(is_mariadb: bool) -> &'static str {
    if is_mariadb {
        "SELECT /* assay */ NAME, FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES"
    } else {
        "SELECT /* assay */ NAME, FILE_SIZE FROM information_schema.INNODB_TABLESPACES"
    }
}

/// What every session does, without ours: its number, its thread, whether it works on a statement,
/// its state, and what it waits for where that is reported.
pub(super) fn activity(schema: bool, waits: bool, is_mariadb: bool, own: &[OwnWork]) -> String {
    let own = sessions(own);
    let at = "UNIX_TIMESTAMP(SYSDATE(6))";
    if !schema {
        let thread = if is_mariadb { "TID" } else { "0" };
        return format!(
            "SELECT /* assay */ ID, {thread}, COMMAND NOT IN ({NO_STATEMENT}), COALESCE(STATE, \
             ''), '', {at} FROM information_schema.PROCESSLIST WHERE USER NOT IN ('system user', \
             'event_scheduler') AND ID NOT IN ({own})"
        );
    }
    let (event, join) = if waits {
        (
            "COALESCE(w.EVENT_NAME, '')",
            "LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID AND \
             w.END_EVENT_ID IS NULL AND w.EVENT_NAME NOT LIKE 'wait/io/table/%'",
        )
    } else {
        ("''", "")
    };
    format!(
        "SELECT /* assay */ t.PROCESSLIST_ID, COALESCE(t.THREAD_OS_ID, 0), \
         COALESCE(t.PROCESSLIST_COMMAND NOT IN ({NO_STATEMENT}), 0), \
         COALESCE(t.PROCESSLIST_STATE, ''), {event}, {at} FROM performance_schema.threads t \
         {join} WHERE t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID > 0 AND t.PROCESSLIST_ID NOT IN \
         ({own})"
    )
}
