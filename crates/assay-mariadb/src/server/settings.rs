//! Settings of a server whose storage is to be measured.

use assay_model::durability::Control;

/// Bytes of a page of a managed server: as large as a block of other products, so that their
/// results can be compared.
pub const PAGE_BYTES: u64 = 8192;
/// The smallest cache that the engine takes, bytes.
const CACHE_BYTES_MIN: u64 = 5 << 20;

/// What is chosen for one start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MariadbStart {
    /// Whether data files are read and written past the page cache.
    pub direct: bool,
    /// Cache of the server, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// What it is started without on purpose.
    pub without: Option<Control>,
}

/// Pages are written as soon as they are changed, so that a cut finds some of them on their way.
const PAGES_ON_THEIR_WAY: [(&str, &str); 4] = [
    ("innodb-max-dirty-pages-pct", "0"),
    ("innodb-io-capacity", "2000"),
    ("innodb-io-capacity-max", "4000"),
    ("innodb-flush-neighbors", "0"),
];

impl MariadbStart {
    /// Names and values.
    pub(super) fn all(&self) -> Vec<(&'static str, String)> {
        let mut all: Vec<(&str, String)> = [
            // Reached over a socket in its own data directory, and by nobody else.
            ("skip-networking", "ON"),
            ("skip-name-resolve", "ON"),
            ("pid-file", "assay.pid"),
            ("skip-log-bin", "1"),
            // What is measured is timed, and what a session waits for can be seen. Times of
            // commits and current waits cost some two percent of its processors at
            // most (benchmarks/README.md).
            ("performance-schema", "ON"),
            ("performance-schema-instrument", "wait/io/file/%=ON"),
            ("performance-schema-instrument", "stage/sql/Commit=ON"),
            ("performance-schema-consumer-events-waits-current", "ON"),
            ("innodb-monitor-enable", "trx_%commits"),
            // One page a read: nothing reads ahead, and the cache is empty after each start.
            ("innodb-read-ahead-threshold", "0"),
            ("innodb-random-read-ahead", "OFF"),
            ("innodb-buffer-pool-dump-at-shutdown", "OFF"),
            ("innodb-buffer-pool-load-at-startup", "OFF"),
            ("innodb-stats-auto-recalc", "OFF"),
            // Storage, and not a setting that was made for one disk, bounds how fast changed pages
            // are written.
            ("innodb-io-capacity", "2000"),
            ("innodb-io-capacity-max", "20000"),
            ("innodb-log-file-size", "512M"),
            // Each commit waits until its log is on storage.
            ("innodb-flush-log-at-trx-commit", "1"),
            ("innodb-lock-wait-timeout", "20"),
            ("thread-handling", "one-thread-per-connection"),
            ("thread-cache-size", "0"),
            ("local-infile", "ON"),
            ("max-allowed-packet", "64M"),
            ("character-set-server", "utf8mb4"),
            // Each session of a load prepares dozens.
            ("max-prepared-stmt-count", "1048576"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec();
        let flush = if self.direct { "O_DIRECT" } else { "fsync" };
        all.push(("innodb-flush-method", flush.to_owned()));
        all.push(("innodb-page-size", PAGE_BYTES.to_string()));
        let cache_bytes = self.cache_bytes.max(CACHE_BYTES_MIN);
        all.push(("innodb-buffer-pool-size", cache_bytes.to_string()));
        all.push(("max-connections", (self.sessions_max + 16).to_string()));
        match self.without {
            Some(Control::Commits) => {
                all.retain(|(name, _)| *name != "innodb-flush-log-at-trx-commit");
                all.push(("innodb-flush-log-at-trx-commit", "0".to_owned()));
            }
            Some(Control::Pages) => {
                all.push(("innodb-doublewrite", "OFF".to_owned()));
                all.extend(PAGES_ON_THEIR_WAY.map(|(name, value)| (name, value.to_owned())));
            }
            None => (),
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_become_settings() {
        let settings =
            MariadbStart { direct: true, cache_bytes: 1 << 20, sessions_max: 32, without: None };
        let has = |settings: &MariadbStart, name: &str, value: &str| {
            settings.all().contains(&(name_of(name), value.to_owned()))
        };
        assert!(has(&settings, "innodb-flush-method", "O_DIRECT"));
        assert!(has(&settings, "innodb-buffer-pool-size", "5242880"));
        assert!(has(&settings, "max-connections", "48"));
        let buffered = MariadbStart { direct: false, cache_bytes: 64 << 20, ..settings };
        assert!(has(&buffered, "innodb-flush-method", "fsync"));
        assert!(has(&buffered, "innodb-buffer-pool-size", "67108864"));
        let lost = MariadbStart { without: Some(Control::Commits), ..buffered.clone() };
        assert!(has(&lost, "innodb-flush-log-at-trx-commit", "0"));
        assert!(!has(&lost, "innodb-flush-log-at-trx-commit", "1"));
    }

    fn name_of(name: &str) -> &'static str {
        let settings =
            MariadbStart { direct: true, cache_bytes: 0, sessions_max: 0, without: None };
        settings.all().into_iter().map(|(known, _)| known).find(|known| *known == name).unwrap()
    }
}
