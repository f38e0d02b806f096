//! Wait classes: where a reader of Oracle's reports would look for an event of PostgreSQL.

use assay_live::SessionState;
use assay_live::classes::{
    APPLICATION, COMMIT, CONCURRENCY, CONFIGURATION, CPU, IDLE, NETWORK, OTHER, SYSTEM_IO, USER_IO,
};

/// Openings of events, kind and event in lower case, and their class; the first that fits decides.
const CLASSES: &[(&str, &str, &str)] = &[
    ("io", "walsync", COMMIT),
    ("io", "walwrite", COMMIT),
    ("io", "wal", SYSTEM_IO),
    ("io", "controlfile", SYSTEM_IO),
    ("io", "slru", SYSTEM_IO),
    ("io", "twophase", SYSTEM_IO),
    ("io", "", USER_IO),
    ("ipc", "syncrep", COMMIT),
    ("lwlock", "walwrite", COMMIT),
    ("lwlock", "", CONCURRENCY),
    ("bufferpin", "", CONCURRENCY),
    ("buffer", "", CONCURRENCY),
    ("lock", "extend", CONFIGURATION),
    ("lock", "", APPLICATION),
    ("client", "", NETWORK),
    ("timeout", "", IDLE),
    ("activity", "", IDLE),
];

/// The class of an event, or that a session waited for nothing the server knows.
pub(super) fn class_of(seen: &SessionState) -> &'static str {
    if seen.is_no_wait() {
        return CPU;
    }
    let kind = seen.kind.to_lowercase();
    let found = CLASSES
        .iter()
        .find(|(known, opening, _)| kind == *known && seen.event.starts_with(opening));
    found.map_or(OTHER, |(_, _, class)| class)
}

/// Whether `pg_stat_io` times what this event waits for, so that it must not be counted twice.
pub(super) fn is_data_io(seen: &SessionState) -> bool {
    let timed = [
        "datafileread",
        "datafilewrite",
        "datafileextend",
        "datafilesync",
        "datafileimmediatesync",
        "datafileflush",
        "datafileprefetch",
        "aioiocompletion",
        "aioiouring",
    ];
    seen.kind.eq_ignore_ascii_case("io") && timed.iter().any(|event| seen.event.starts_with(event))
}

/// Whether the timers of the log time what this event waits for.
pub(super) fn is_log_io(seen: &SessionState) -> bool {
    let timed = ["walsync", "walwrite"];
    seen.kind.eq_ignore_ascii_case("io") && timed.contains(&seen.event.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_event_has_the_same_class() {
        for event in ["WALSync", "WalSync", "walsync"] {
            assert_eq!(class_of(&SessionState::new("IO", event)), COMMIT);
            assert!(is_log_io(&SessionState::new("IO", event)));
        }
        assert_eq!(class_of(&SessionState::new("LWLock", "WALWrite")), COMMIT);
        assert_eq!(class_of(&SessionState::new("LWLock", "WALInsert")), "Concurrency");
        assert_eq!(class_of(&SessionState::new("IO", "DataFileRead")), USER_IO);
        assert_eq!(class_of(&SessionState::new("IPC", "SyncRep")), COMMIT);
        assert_eq!(class_of(&SessionState::new("Lock", "transactionid")), "Application");
        assert_eq!(class_of(&SessionState::new("Lock", "extend")), "Configuration");
        assert_eq!(class_of(&SessionState::new("Client", "ClientWrite")), "Network");
        assert_eq!(class_of(&SessionState::new("Timeout", "VacuumDelay")), IDLE);
        assert_eq!(class_of(&SessionState::new("Whatever", "Next")), "Other");
        assert!(!is_data_io(&SessionState::new("IO", "BufFileRead")));
        assert!(is_data_io(&SessionState::new("IO", "AioIoCompletion")));
    }
}
