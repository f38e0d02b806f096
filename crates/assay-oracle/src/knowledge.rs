//! What Oracle's reference says of wait events: which are idle, of which class, and which I/O they
//! stand for.

use crate::report::stands_for;

/// Single blocks into the buffer cache.
pub(crate) const SINGLE_BLOCK: &[&str] = &[
    "db file sequential read",
    "cell single block physical read",
    "cell single block read request",
];
/// Several adjoining blocks into the buffer cache.
pub(crate) const MULTI_BLOCK: &[&str] =
    &["db file scattered read", "cell multiblock physical read", "cell multiblock read request"];
/// Many single blocks at once: a wait is not a request, and its time is that of the slowest.
pub(crate) const BLOCK_LISTS: &[&str] = &[
    "db file parallel read",
    "cell list of blocks physical read",
    "cell list of blocks read request",
];
/// Large reads past the buffer cache.
pub(crate) const DIRECT_READ: &[&str] = &[
    "direct path read",
    "cell smart table scan",
    "cell smart table scan request",
    "cell smart index scan",
    "cell smart index scan request",
];
/// Writes past the buffer cache.
pub(crate) const DIRECT_WRITE: &[&str] = &["direct path write"];
/// Sorts and hashes that do not fit into memory.
pub(crate) const TEMPORARY: &[&str] = &["direct path read temp", "direct path write temp"];
/// Writes of control files.
pub(crate) const CONTROL_FILE_WRITE: &[&str] = &["control file parallel write"];
/// Dirty blocks, in the background.
pub(crate) const DATA_FILE_WRITE: &[&str] = &["db file parallel write"];
/// The log writer's own wait.
pub(crate) const LOG_WRITE: &[&str] = &["log file parallel write"];
/// The wait of sessions for their commit.
pub(crate) const LOG_SYNC: &[&str] = &["log file sync"];
/// Sessions stopped because dirty blocks or redo could not be written fast enough.
pub(crate) const WRITE_BEHIND: &[&str] = &[
    "free buffer waits",
    "write complete waits",
    "log buffer space",
    "log file switch (checkpoint incomplete)",
    "log file switch (archiving needed)",
    "log file switch completion",
];

/// Events of sessions and processes that have nothing to do; old reports list newer ones as busy.
const IDLE: &[&str] = &[
    "AQPC idle",
    "ASM background timer",
    "Data Guard: Gap Manager",
    "Data Guard: Timer",
    "DIAG idle wait",
    "EMON slave idle wait",
    "GCR sleep",
    "HS message to agent",
    "LGWR worker group idle",
    "LNS ASYNC end of log",
    "OFS idle",
    "PING",
    "PX Deq: Execution Msg",
    "PX Deq: Execute Reply",
    "Null event",
    "PL/SQL lock timer",
    "PX Deq Credit: need buffer",
    "PX Deq Credit: send blkd",
    "PX Deq: Index Merge Reply",
    "PX Deq: Join ACK",
    "PX Deq: Msg Fragment",
    "PX Deq: Parse Reply",
    "PX Deq: Table Q Normal",
    "PX Deq: Table Q Sample",
    "PX Deq: Txn Recovery Reply",
    "PX Deque wait",
    "Queue Monitor Wait",
    "Queue Monitor Slave Wait",
    "Queue Monitor Shutdown Wait",
    "PX Idle Wait",
    "REPL Capture/Apply: RAC AQ qmn coordinator",
    "SQL*Net message from client",
    "SQL*Net message from dblink",
    "Space Manager: slave idle wait",
    "Streams AQ: deallocate messages from Streams Pool",
    "Streams AQ: qmn coordinator idle wait",
    "Streams AQ: qmn slave idle wait",
    "Streams AQ: waiting for messages in the queue",
    "Streams AQ: waiting for time management or cleanup tasks",
    "VKRM Idle",
    "VKTM Logical Idle Wait",
    "class slave wait",
    "gcs remote message",
    "ges remote message",
    "heartbeat redo informer",
    "i/o slave wait",
    "jobq slave wait",
    "lreg timer",
    "pipe get",
    "pmon timer",
    "rdbms ipc message",
    "recovery merger idle",
    "shared server idle wait",
    "single-task message",
    "smon timer",
    "dispatcher timer",
    "lock manager wait for remote message",
    "parallel query dequeue wait",
    "parallel query idle wait - Slaves",
    "virtual circuit next request",
    "virtual circuit status",
    "wait for unread message on broadcast channel",
    "wakeup time manager",
    "watchdog main loop",
];

/// Openings of events and their class, for reports that do not print it (Statspack).
const CLASSES: &[(&str, &str)] = &[
    ("db file async I/O submit", "System I/O"),
    ("db file parallel write", "System I/O"),
    ("db file", "User I/O"),
    ("direct path", "User I/O"),
    ("cell ", "User I/O"),
    ("read by other session", "User I/O"),
    ("local write wait", "User I/O"),
    ("Disk file operations", "User I/O"),
    ("log file sync", "Commit"),
    ("log file switch", "Configuration"),
    ("log buffer space", "Configuration"),
    ("free buffer waits", "Configuration"),
    ("write complete waits", "Configuration"),
    ("undo segment extension", "Configuration"),
    ("enq: HW", "Configuration"),
    ("enq: ST", "Configuration"),
    ("log file", "System I/O"),
    ("control file", "System I/O"),
    ("RMAN backup", "System I/O"),
    ("Log archive I/O", "System I/O"),
    ("enq: TX - index", "Concurrency"),
    ("enq: TX", "Application"),
    ("enq: TM", "Application"),
    ("enq: KO", "Application"),
    ("latch", "Concurrency"),
    ("library cache", "Concurrency"),
    ("cursor:", "Concurrency"),
    ("buffer busy waits", "Concurrency"),
    ("row cache", "Concurrency"),
    ("gc ", "Cluster"),
    ("SQL*Net", "Network"),
    ("resmgr:", "Scheduler"),
    ("ASM IO", "User I/O"),
    ("Data file init write", "User I/O"),
    ("job scheduler coordinator slave wait", "Other"),
];

/// Waits that storage has no part in and that say themselves what they come from (Oracle Database
/// Reference, appendix C).
const OWN_CAUSES: &[(&str, &str)] = &[
    (
        "Failed Logon Delay",
        "failed logons, which the database delays; the audit trail names the account",
    ),
    ("resmgr:", "the resource manager throttles sessions"),
    ("acknowledge over PGA limit", "PGA_AGGREGATE_LIMIT stops sessions"),
    ("External Procedure", "programs outside the database"),
    ("SQL*Net break/reset to client", "statements that end in errors"),
    ("SQL*Net more data from client", "clients that send much data, and the network"),
    ("SQL*Net more data to client", "clients that fetch much data, and the network"),
    ("SQL*Net message from dblink", "another database"),
    ("SQL*Net more data from dblink", "another database"),
    ("SYNC Remote Write", "commits that wait for the standby database"),
    ("LNS wait on", "commits that wait for the standby database"),
    ("enq: TM", "table locks, often of foreign keys without an index"),
    ("enq: SQ", "sequences with a cache that is too small"),
    ("kksfbc child completion", "repeated parsing of statements"),
    ("cursor: pin S wait on X", "repeated parsing of statements"),
    ("PL/SQL lock timer", "DBMS_LOCK.SLEEP"),
    (
        "log file switch (archiving needed)",
        "the archiver does not keep up, or its destination is full",
    ),
    (
        "log file switch (checkpoint incomplete)",
        "log files too small or too few for the rate of redo",
    ),
];

/// What a wait comes from, where its name says so.
pub(crate) fn own_cause(printed: &str) -> Option<&'static str> {
    let known = |opening: &&str| printed.starts_with(*opening) || stands_for(printed, opening);
    OWN_CAUSES.iter().find(|(opening, _)| known(opening)).map(|(_, cause)| *cause)
}

/// Classes in which sessions wait for each other.
pub(crate) const CONTENTION: &[&str] = &["Concurrency", "Application", "Cluster", "Configuration"];

/// Whether a printed, perhaps cut, name stands for one of these events. Exadata says behind a colon
/// what answered (`cell single block physical read: flash cache`).
pub(crate) fn is_any(printed: &str, events: &[&str]) -> bool {
    let bare = printed.split_once(": ").filter(|_| printed.starts_with("cell "));
    let printed = bare.map_or(printed, |(bare, _)| bare);
    events.iter().any(|event| stands_for(printed, event))
}

/// Whether an event is a wait for a lock or a latch by its name: for something that another session
/// holds.
pub(crate) fn is_lock(printed: &str) -> bool {
    ["enq:", "latch"].iter().any(|opening| printed.starts_with(opening))
}

/// Whether an event is I/O by its name: never idle.
pub(crate) fn is_io(printed: &str) -> bool {
    [
        "db file",
        "direct path",
        "log file",
        "control file",
        "cell single",
        "cell smart",
        "cell multi",
    ]
    .iter()
    .any(|opening| printed.starts_with(opening))
}

pub(crate) fn is_idle(printed: &str) -> bool {
    is_any(printed, IDLE)
}

/// The class of an event by its opening; `Other` where none is known.
pub(crate) fn class_of(printed: &str) -> &'static str {
    let known = CLASSES.iter().find(|(opening, _)| printed.starts_with(opening));
    known.map_or("Other", |(_, class)| class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_names_are_known_and_short_ones_are_not_guessed() {
        assert!(is_idle("Space Manager: slave idle wa"));
        assert!(is_idle("SQL*Net message from clien"));
        assert!(!is_idle("SQL*Net message to client"));
        assert!(!is_any("direct path read temp", DIRECT_READ));
        assert!(!is_any("db file", SINGLE_BLOCK));
    }

    #[test]
    fn the_first_opening_decides_the_class() {
        assert_eq!(class_of("log file sync"), "Commit");
        assert_eq!(class_of("log file parallel write"), "System I/O");
        assert_eq!(class_of("db file parallel write"), "System I/O");
        assert_eq!(class_of("db file sequential read"), "User I/O");
        assert_eq!(class_of("kksfbc child completion"), "Other");
    }
}
