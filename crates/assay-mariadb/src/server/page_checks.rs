//! What the server itself and its programs say of its pages: `CHECK TABLE` while it runs,
//! `innochecksum` while it rests.

use super::MariadbServer;
use super::settings::PAGE_BYTES;
use crate::connection::MariadbConnection;
use assay_model::durability::PageCheck;
use assay_model::failure::{Answer, words};
use assay_model::number::count_of;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const CHECK_TABLE: &str = "CHECK TABLE … EXTENDED";
const INNOCHECKSUM: &str = "innochecksum";
/// The file of the system, which holds the doublewrite buffer, too.
const SYSTEM: &str = "ibdata1";
/// Bytes of an extent of pages of up to 16 KiB.
const EXTENT_BYTES: u64 = 1 << 20;
/// Where distributions put what is not next to the server.
const PLACES: [&str; 2] = ["/usr/bin", "/usr/local/mysql/bin"];

impl MariadbServer {
    /// Compares the tables of a schema with their indexes.
    pub(super) fn check_tables(&self, schema: &str) -> PageCheck {
        match self.table_findings(schema) {
            Ok(found) => counted(CHECK_TABLE, &found),
            Err(failure) => PageCheck::not_run(CHECK_TABLE, failure),
        }
    }

    fn table_findings(&self, schema: &str) -> Answer<Vec<String>> {
        let mut connection = MariadbConnection::open(&self.address())?;
        let tables = connection.query(&format!("SHOW TABLES IN {schema}"))?;
        let names: Vec<String> =
            tables.iter().map(|row| format!("{schema}.{}", row.text(0))).collect();
        let checked = connection.query(&format!("CHECK TABLE {} EXTENDED", names.join(", ")))?;
        connection.close();
        // Table, operation, kind of message, message.
        let wrong = checked.iter().filter(|row| row.text(2) == "error" || is_bad(row.text(3)));
        Ok(wrong.map(|row| format!("{}: {}", row.text(0), row.text(3))).collect())
    }

    /// Computes the checksums of all pages of all files of tables.
    pub(super) fn innochecksum(&self) -> PageCheck {
        let own = self.binaries.server.parent().map(Path::to_owned);
        let mut places = own.into_iter().chain(PLACES.map(PathBuf::from));
        let found = places
            .find_map(|place| Some(place.join(INNOCHECKSUM)).filter(|program| program.is_file()));
        let Some(program) = found else {
            return PageCheck::not_run(INNOCHECKSUM, "it is not installed");
        };
        match self.files_with_bad_pages(&program) {
            Ok(found) => counted(INNOCHECKSUM, &found),
            Err(error) => PageCheck::not_run(INNOCHECKSUM, error),
        }
    }

    fn files_with_bad_pages(&self, program: &Path) -> io::Result<Vec<String>> {
        let mut bad = Vec::new();
        let data = self.daemon.data();
        for range in around_doublewrite() {
            bad.extend(self.bad_pages(program, &data.join(SYSTEM), &range)?);
        }
        for file in table_files(&data)? {
            bad.extend(self.bad_pages(program, &file, &[])?);
        }
        Ok(bad)
    }

    /// What is wrong with the first bad page of a file, or of some of its pages.
    fn bad_pages(
        &self,
        program: &Path,
        file: &Path,
        range: &[String],
    ) -> io::Result<Option<String>> {
        let output = self.daemon.home.command(program).args(range).arg(file).output()?;
        if output.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let first = text.lines().next().unwrap_or("it ended without a message");
        Ok(Some(format!("{}: {}", file.display(), words(first.as_bytes()))))
    }
}

/// The pages of the system's file but for those of the doublewrite buffer, two extents behind the
/// first one: a copy of a page that a cut met on its way is not whole there, and is not needed.
fn around_doublewrite() -> [[String; 1]; 2] {
    let extent = EXTENT_BYTES / PAGE_BYTES;
    [[format!("--end-page={}", extent - 1)], [format!("--start-page={}", 3 * extent)]]
}

fn is_bad(message: &str) -> bool {
    message == "Corrupt" || message == "Operation failed"
}

/// The files of tables, in the data directory and those of its schemas.
fn table_files(data: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![data.to_owned()];
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            directories.push(entry.path());
        }
    }
    for directory in directories {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "ibd") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

fn counted(checker: &str, found: &[String]) -> PageCheck {
    PageCheck {
        checker: checker.to_owned(),
        damaged: Some(count_of(found.len())),
        what: found.first().cloned().unwrap_or_default(),
    }
}
