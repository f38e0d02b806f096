//! Wait classes: where a reader of Oracle's reports would look for an event or a state of MariaDB
//! and MySQL.
//!
//! Sources: MariaDB documentation, "Performance Schema Instruments" and "Thread States"; MySQL
//! manual, "Performance Schema Instrument Naming Conventions" and "General Thread States".

use assay_live::SessionState;
use assay_live::classes::{
    APPLICATION, COMMIT, CONCURRENCY, CPU, IDLE, NETWORK, OTHER, SYSTEM_IO, USER_IO,
};

/// Statements that run, of which it is not known whether they wait.
pub(super) const EXECUTING: &str = "Executing";
/// The engine's data files.
pub(super) const DATA_FILE: &str = "wait/io/file/innodb/innodb_data_file";
/// The engine's log of changes.
pub(super) const LOG_FILE: &str = "wait/io/file/innodb/innodb_log_file";
/// Locks on the definition of tables.
pub(super) const METADATA_LOCK: &str = "wait/lock/metadata/sql/mdl";
/// How sessions wait for these: it lies in the time of the lock.
const METADATA_WAIT: &str = "wait/synch/cond/sql/mdl_context";
/// How statements sleep that ask for it.
pub(super) const SLEEP_WAIT: &str = "wait/synch/cond/sql/item_func_sleep";
/// The kinds of what a sample sees.
const WAIT: &str = "wait";
const STATE: &str = "state";

/// Openings of events in lower case, and their class; the first that fits decides. An empty class
/// is left out: it is not a wait inside of a statement, or holds others that are reported
/// themselves.
const EVENTS: &[(&str, &str)] = &[
    (LOG_FILE, COMMIT),
    ("wait/io/file/sql/binlog", COMMIT),
    ("wait/io/file/sql/tclog", COMMIT),
    ("wait/io/file/innodb/", USER_IO),
    ("wait/io/file/myisam/", USER_IO),
    ("wait/io/file/aria/", USER_IO),
    ("wait/io/file/csv/", USER_IO),
    ("wait/io/file/archive/", USER_IO),
    ("wait/io/file/sql/io_cache", USER_IO),
    ("wait/io/file/sql/load", USER_IO),
    ("wait/io/file/", SYSTEM_IO),
    (SLEEP_WAIT, IDLE),
    (METADATA_WAIT, APPLICATION),
    ("wait/synch/", CONCURRENCY),
    ("wait/lock/", APPLICATION),
    ("wait/", ""),
    ("idle", ""),
];

/// Openings of states in lower case, and their class; the first that fits decides, and any other
/// one is a statement that runs.
const STATES: &[(&str, &str)] = &[
    ("commit", COMMIT),
    ("waiting for handler commit", COMMIT),
    ("waiting for prior transaction", COMMIT),
    ("waiting for semi-sync", COMMIT),
    ("user sleep", IDLE),
    ("user lock", APPLICATION),
    ("waiting for query cache lock", CONCURRENCY),
    ("waiting for", APPLICATION),
    ("writing to net", NETWORK),
    ("sending to client", NETWORK),
    ("reading from net", NETWORK),
    ("receiving from client", NETWORK),
];

/// What samples do not show of row locks.
pub(super) const ROW_LOCK_DOUBT: &str = "the engine counts row locks, but samples do not show \
                                         them: over time, their sessions appear as CPU or Executing";
/// What else lies in the time of commits.
pub(super) const COMMIT_DOUBT: &str = "the time of a commit includes its CPU time, which DB CPU \
                                       also includes, and all its waits: for the log, for the \
                                       binary log, for others";

fn of(known: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    known.iter().find(|(opening, _)| name.starts_with(opening)).map(|(_, class)| *class)
}

/// What a session was seen doing, by the event that it waits for and its state. `tells_waits` says
/// whether the server reports what sessions wait for now; else a session in no state that is a wait
/// is only known to execute something.
pub fn seen(event: &str, state: &str, tells_waits: bool) -> SessionState {
    let (event, state) = (event.to_lowercase(), state.to_lowercase());
    if class_of_event(&event).is_some() {
        return SessionState::new(WAIT, &event);
    }
    match of(STATES, &state) {
        Some(_) => SessionState::new(STATE, &state),
        None if tells_waits => SessionState::default(),
        None => SessionState::new(STATE, "executing"),
    }
}

/// The class of an event; nothing where it is left out.
pub(super) fn class_of_event(event: &str) -> Option<&'static str> {
    of(EVENTS, &event.to_lowercase()).filter(|class| !class.is_empty())
}

/// The class of what was seen.
pub(super) fn class_of(seen: &SessionState) -> &'static str {
    match seen.kind.as_str() {
        "" => CPU,
        WAIT => class_of_event(&seen.event).unwrap_or(OTHER),
        _ => of(STATES, &seen.event).unwrap_or(EXECUTING),
    }
}

/// Whether it is a state, which nobody adds up.
pub(super) fn is_state(seen: &SessionState) -> bool {
    seen.kind == STATE && class_of(seen) != EXECUTING
}

/// Whether it is the way in which sessions wait for a metadata lock, whose time is in the lock's.
pub(super) fn is_inside_of_lock(event: &str) -> bool {
    event.to_lowercase().starts_with(METADATA_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_states_have_a_class() {
        let class = |event: &str, state: &str| class_of(&seen(event, state, true));
        assert_eq!(class(DATA_FILE, "Sending data"), USER_IO);
        assert_eq!(class("wait/io/file/sql/binlog", "Commit"), COMMIT);
        assert_eq!(class("wait/io/file/sql/FRM", ""), SYSTEM_IO);
        assert_eq!(class("wait/synch/mutex/innodb/buf_pool_mutex", ""), CONCURRENCY);
        assert_eq!(class("wait/synch/cond/sql/Item_func_sleep::cond", "User sleep"), IDLE);
        // The table's wait holds that of its file, and is not a wait by itself.
        assert_eq!(class("wait/io/table/sql/handler", "Updating"), CPU);
        assert_eq!(class("", "Commit"), COMMIT);
        assert_eq!(class("", "waiting for handler commit"), COMMIT);
        assert_eq!(class("", "Waiting for table metadata lock"), APPLICATION);
        assert_eq!(class("", "Sending to client"), NETWORK);
        assert_eq!(class("", "Sending data"), CPU);
        assert_eq!(class_of(&seen("", "Sending data", false)), EXECUTING);
        assert!(!is_state(&seen("", "Sending data", false)) && is_state(&seen("", "Commit", true)));
    }
}
