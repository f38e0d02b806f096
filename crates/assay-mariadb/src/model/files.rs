//! What a file of a server is for, by its name.
//!
//! Sources: MariaDB documentation, "InnoDB Tablespaces" and "InnoDB Doublewrite Buffer"; MySQL
//! manual, "InnoDB On-Disk Structures".

use super::classes::{DATA_FILE, LOG_FILE};

/// Tables with their indexes.
pub(super) const TABLES: &str = "tables and indexes";
const DOUBLEWRITE: &str = "doublewrite buffer";
/// In MariaDB the doublewrite buffer lies in it.
const SYSTEM: &str = "system tablespace";

/// What a file is for.
pub(super) fn purpose(event: &str, file: &str) -> &'static str {
    let name = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    let (name, event) = (name.as_str(), event.to_lowercase());
    if event == LOG_FILE {
        return "redo log";
    }
    if event.ends_with("dblwr_file") {
        return DOUBLEWRITE;
    }
    if event.starts_with("wait/io/file/sql/binlog") {
        return "binary log";
    }
    if event != DATA_FILE {
        return if is_temporary(&event) { "temporary files" } else { "other files" };
    }
    let (_, ending) = name.rsplit_once('.').unwrap_or_default();
    if ending == "dblwr" {
        DOUBLEWRITE
    } else if name.starts_with("ibtmp") || ending == "ibt" || name.starts_with("#sql") {
        "temporary tables"
    } else if name.starts_with("undo") {
        "undo"
    } else if ending == "ibd" {
        TABLES
    } else {
        SYSTEM
    }
}

/// Whether sorts and temporary tables write such files.
pub(super) fn is_temporary(event: &str) -> bool {
    let event = event.to_lowercase();
    event.ends_with("/io_cache") || event.ends_with("temp_file") || event.ends_with("data_tmp")
}

/// The tablespace of a table by its file, for example `shop/items`; nothing for other files.
pub(super) fn tablespace(event: &str, file: &str) -> Option<String> {
    if purpose(event, file) != TABLES {
        return None;
    }
    let mut parts = file.strip_suffix(".ibd")?.rsplit('/');
    let table = parts.next()?;
    Some(parts.next().map_or_else(|| table.to_owned(), |schema| format!("{schema}/{table}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is_for() {
        for (event, file, what) in [
            (DATA_FILE, "/data/shop/items.ibd", TABLES),
            (DATA_FILE, "/data/ibdata1", SYSTEM),
            (DATA_FILE, "/data/#ib_16384_0.dblwr", "doublewrite buffer"),
            ("wait/io/file/innodb/innodb_dblwr_file", "/data/#ib_16384_1.dblwr", DOUBLEWRITE),
            (DATA_FILE, "/data/ibtmp1", "temporary tables"),
            (DATA_FILE, "/data/#innodb_temp/temp_1.ibt", "temporary tables"),
            (DATA_FILE, "/data/undo_001", "undo"),
            (LOG_FILE, "/data/#innodb_redo/#ib_redo7", "redo log"),
            ("wait/io/file/sql/binlog", "/data/binlog.000001", "binary log"),
            ("wait/io/file/sql/io_cache", "/tmp/MYx", "temporary files"),
            ("wait/io/file/sql/FRM", "/data/shop/items.frm", "other files"),
        ] {
            assert_eq!(purpose(event, file), what, "{file}");
        }
        let space = |file: &str| tablespace(DATA_FILE, file);
        assert_eq!(space("/data/shop/items#P#p0.ibd").as_deref(), Some("shop/items#P#p0"));
        assert_eq!((space("alone.ibd").as_deref(), space("/data/ibdata1")), (Some("alone"), None));
    }
}
