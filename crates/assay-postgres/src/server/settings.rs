//! Settings of a server whose storage is to be measured, by what its version has.

use assay_dbserver::IoMethod;
use assay_model::durability::Control;

/// Pages are written often and handed to the device at once, so that a cut finds some of them on
/// their way.
const PAGES_ON_THEIR_WAY: [(&str, &str); 7] = [
    ("checkpoint_timeout", "30s"),
    ("checkpoint_flush_after", "1"),
    ("backend_flush_after", "1"),
    ("bgwriter_flush_after", "1"),
    ("bgwriter_delay", "10ms"),
    ("bgwriter_lru_maxpages", "1000"),
    ("bgwriter_lru_multiplier", "10"),
];

/// What is chosen for one start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresStart {
    /// Whether data files are read and written past the page cache, where the version can.
    pub direct: bool,
    /// Cache of the server, bytes.
    pub shared_buffers_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Who reads ahead; the version's own choice where it is `None`.
    pub io_method: Option<IoMethod>,
    /// What it is started without on purpose.
    pub without: Option<Control>,
}

/// What a version lacks of what is wanted here, in a sentence each.
pub fn missing_in(major: u32) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if major < 16 {
        missing.push("it cannot bypass the page cache (debug_io_direct needs version 16)");
        missing.push("it does not count I/O by type of process (pg_stat_io needs version 16)");
    }
    missing
}

impl PostgresStart {
    /// Names and values for a major version.
    pub(super) fn of(&self, major: u32) -> Vec<(&'static str, String)> {
        let mut all: Vec<(&str, String)> = [
            // Reached over a socket in its own data directory, and by nobody else.
            ("listen_addresses", ""),
            ("unix_socket_directories", "."),
            ("unix_socket_permissions", "0700"),
            ("port", "5432"),
            // What is measured is timed.
            ("track_io_timing", "on"),
            ("track_wal_io_timing", "on"),
            // One process a session, one block a read, nothing in the background that reads for
            // itself.
            ("autovacuum", "off"),
            ("jit", "off"),
            ("max_parallel_workers_per_gather", "0"),
            ("max_parallel_maintenance_workers", "2"),
            // A load into a new table need not be logged; it is synced when it is committed.
            ("wal_level", "minimal"),
            ("max_wal_senders", "0"),
            ("max_wal_size", "4GB"),
            ("checkpoint_timeout", "15min"),
            ("maintenance_work_mem", "256MB"),
            ("huge_pages", "off"),
            ("log_min_messages", "warning"),
            ("logging_collector", "off"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec();
        all.push(("shared_buffers", format!("{}kB", self.shared_buffers_bytes >> 10)));
        all.push(("max_connections", (self.sessions_max + 16).to_string()));
        if self.direct && major >= 16 {
            all.push(("debug_io_direct", "data".to_owned()));
        }
        match self.without {
            Some(Control::Commits) => all.push(("fsync", "off".to_owned())),
            Some(Control::Pages) => {
                all.push(("full_page_writes", "off".to_owned()));
                all.extend(PAGES_ON_THEIR_WAY.map(|(name, value)| (name, value.to_owned())));
            }
            None => (),
        }
        if let Some(method) = self.io_method.filter(|_| major >= 18) {
            all.push(("io_method", method.to_string()));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_gets_only_what_it_has() {
        let settings = PostgresStart {
            direct: true,
            shared_buffers_bytes: 128 << 20,
            sessions_max: 32,
            io_method: Some(IoMethod::Sync),
            without: Some(Control::Commits),
        };
        let has = |major, wanted: &str| settings.of(major).iter().any(|(name, _)| *name == wanted);
        assert!(!has(15, "debug_io_direct") && has(16, "debug_io_direct"));
        assert!(!has(17, "io_method") && has(18, "io_method"));
        assert!(settings.of(18).contains(&("shared_buffers", "131072kB".to_owned())));
        assert!(settings.of(18).contains(&("max_connections", "48".to_owned())));
        assert!(settings.of(18).contains(&("fsync", "off".to_owned())));
        let safe = PostgresStart { without: None, ..settings };
        assert!(!safe.of(18).iter().any(|(name, _)| *name == "fsync"));
        assert!(missing_in(15).len() == 2 && missing_in(16).is_empty());
    }
}
