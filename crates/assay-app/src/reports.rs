//! Report files in, packed or not: many at once, in parallel, in bounded memory, each with its own
//! error.

use crate::other_file::other_file;
use assay_archives::packed::{gunzip, is_gzip, is_zip, zip_members};
use assay_files::read_bounded;
use assay_model::encoding::text_of;
use assay_model::plausibility::judged;
use assay_model::profile::{Profile, StorageMedium, parse_profile};
use assay_model::{Error, Result};
use assay_oracle::{
    OracleReport, TableCell, profile, profile_on, rac_stats_line, read_reports, table_row,
};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Larger files are not reports.
const FILE_BYTES_MAX: u64 = 128 << 20;
/// The most that a packed file may grow to.
const UNPACKED_BYTES_MAX: usize = 128 << 20;
/// The most that parts of files unpack to that are read at the same time.
const UNPACKED_TOGETHER_MAX: usize = 24 << 20;
/// Bytes of files in memory at once; one that is larger is read alone.
const BYTES_AT_ONCE: u64 = 48 << 20;
/// What the files of an archive may unpack to, all together: bodies of it may overlap.
const ARCHIVE_BYTES_MAX: usize = 1 << 30;

/// One report of a file.
pub struct ReadReport {
    /// The file, and which report of it where it holds several: `awr.txt#2`.
    pub file: String,
    /// One cell for each of the columns of the table.
    pub row: Vec<TableCell>,
    /// Its line in the table of `rac_stats.sh`.
    pub rac_stats: String,
    /// What the database asked; dropped where only rows are wanted.
    pub profile: Option<Profile>,
}

/// What came of one file: its reports, and what was wrong with the others.
#[derive(Default)]
pub struct ReportFile {
    /// In their order.
    pub reports: Vec<ReadReport>,
    /// An error for each part that could not be read, or for the file.
    pub errors: Vec<Error>,
}

/// What is wanted of each report.
#[derive(Clone, Copy)]
pub struct ReportRequest {
    /// Profiles, and not only rows.
    pub profiles: bool,
    /// What its storage is made of, where somebody says so.
    pub medium: Option<StorageMedium>,
}

/// Reads all files, in parallel, those of folders by their names; the order is kept.
pub fn read_files(named_paths: &[PathBuf], wanted: ReportRequest) -> Vec<ReportFile> {
    let named: Vec<Vec<PathBuf>> = named_paths.iter().map(|path| expanded(path)).collect();
    let counts: Vec<usize> = named.iter().map(Vec::len).collect();
    let paths: Vec<PathBuf> = named.into_iter().flatten().collect();
    let (next, budget) = (AtomicUsize::new(0), Budget::default());
    let work = || {
        let places = std::iter::from_fn(|| {
            let place = next.fetch_add(1, Ordering::Relaxed);
            paths.get(place).map(|path| (place, path))
        });
        let read = places.map(|(place, path)| (place, read_file(path, wanted, &budget)));
        read.collect::<Vec<_>>()
    };
    let mut files = on_all_processors(paths.len(), work);
    files.sort_by_key(|(place, _)| *place);
    let mut files = files.into_iter().map(|(_, file)| file);
    let mut of_all = Vec::new();
    for (path, count) in named_paths.iter().zip(counts) {
        let read = files.by_ref().take(count).collect();
        of_all.extend(if path.is_dir() { of_folder(path, read) } else { read });
    }
    of_all
}

/// What came of a folder; one error in place of many where it has no report at all.
fn of_folder(folder: &Path, files: Vec<ReportFile>) -> Vec<ReportFile> {
    let errors: Vec<&Error> = files.iter().flat_map(|file| &file.errors).collect();
    let [first, others @ ..] = errors.as_slice() else { return files };
    if others.is_empty() || files.iter().any(|file| !file.reports.is_empty()) {
        return files;
    }
    let what = format!(
        "{} does not contain reports: {}, and {} other files",
        folder.display(),
        first.message(),
        others.len()
    );
    let hint = format!(
        "specify a folder with AWR or Statspack reports, or read results of other programs with \
         `assay runs import {}`",
        folder.display()
    );
    vec![ReportFile { reports: Vec::new(), errors: vec![Error::usage(what, hint)] }]
}

/// What all threads brought; a panic of one of them goes on here.
fn on_all_processors<T: Send>(tasks: usize, work: impl Fn() -> Vec<T> + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(tasks)).map(|_| scope.spawn(&work)).collect();
        let mut brought = work();
        for other in others {
            let more = other.join();
            brought.extend(more.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        brought
    })
}

/// Reads the one profile that a file holds: a profile document, or one report.
///
/// # Errors
/// When the file cannot be read, or holds no report or several.
pub fn read_profile(path: &Path) -> Result<Profile> {
    let bytes = read_bytes(path)?;
    if bytes.trim_ascii_start().starts_with(b"{") {
        let text = String::from_utf8_lossy(&bytes);
        return parse_profile(&text).map(judged).map_err(|error| {
            if is_foreign(&text) { not_a_profile(path) } else { error.context(path.display()) }
        });
    }
    let mut reports = read_reports(
        &plain(&bytes, UNPACKED_BYTES_MAX).map_err(|error| error.context(path.display()))?,
    );
    match (reports.len(), reports.pop()) {
        (1, Some(report)) => {
            report.map(|report| profile(&report)).map_err(|error| error.context(path.display()))
        }
        (several, _) => Err(Error::usage(
            format!("{}: {several} reports in one file", path.display()),
            "make profiles of them with `assay profile --output DIR`, and specify one",
        )),
    }
}

/// A JSON document that no version of Assay wrote.
fn is_foreign(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|found| found["format"].is_null())
}

fn not_a_profile(path: &Path) -> Error {
    let path = path.display();
    Error::usage(
        format!("{path} is not a profile"),
        format!("import results of other load generators first: assay runs import {path}"),
    )
}

/// Reads a file; one of which something unpacks to much is read when no other one is.
fn read_file(path: &Path, wanted: ReportRequest, budget: &Budget) -> ReportFile {
    static ALONE: Mutex<()> = Mutex::new(());
    let size = std::fs::metadata(path).map_or(0, |facts| facts.len());
    let _held = budget.take(size);
    let mut reading = ReportsReading::new(wanted, UNPACKED_TOGETHER_MAX);
    reading.read(path);
    if !reading.exceeds {
        return reading.file;
    }
    drop(reading);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut reading = ReportsReading::new(wanted, UNPACKED_BYTES_MAX);
    reading.read(path);
    reading.file
}

/// A file that is being read.
struct ReportsReading {
    file: ReportFile,
    wanted: ReportRequest,
    /// The most that a part of it may unpack to.
    unpacked_max: usize,
    /// Whether a part of it unpacks to more, or is damaged.
    exceeds: bool,
}

impl ReportsReading {
    fn new(wanted: ReportRequest, unpacked_max: usize) -> Self {
        Self { file: ReportFile::default(), wanted, unpacked_max, exceeds: false }
    }

    fn read(&mut self, path: &Path) {
        let name = path.display().to_string();
        match read_bytes(path) {
            Ok(bytes) if is_zip(&bytes) => self.read_archive(&name, &bytes),
            Ok(bytes) => self.take(&name, &bytes),
            Err(error) => self.file.errors.push(error),
        }
    }

    /// The reports of an archive, one file after the other, so that one at a time is in memory.
    fn read_archive(&mut self, name: &str, bytes: &[u8]) {
        let damaged = |reason: String, name: &str| {
            Error::usage(format!("{name}: {reason}"), "unpack it, and specify the reports in it")
        };
        let members = match zip_members(bytes) {
            Ok(members) => members,
            Err(reason) => return self.file.errors.push(damaged(reason, name)),
        };
        let mut left_bytes = ARCHIVE_BYTES_MAX;
        for member in members.iter().filter(|member| may_be_report(Path::new(member.name))) {
            let member_name = format!("{name}/{}", member.name);
            match member.unpacked(self.unpacked_max.min(left_bytes)) {
                Ok(bytes) => {
                    left_bytes -= bytes.len();
                    self.take(&member_name, &bytes);
                }
                Err(_) if self.unpacked_max < UNPACKED_BYTES_MAX => self.exceeds = true,
                Err(_) if left_bytes < UNPACKED_BYTES_MAX => {
                    let reason = format!("it unpacks to more than {} GiB", ARCHIVE_BYTES_MAX >> 30);
                    return self.file.errors.push(damaged(reason, name));
                }
                Err(reason) => self.file.errors.push(damaged(reason, &member_name)),
            }
            if self.exceeds {
                return;
            }
        }
        if self.file.reports.is_empty() && self.file.errors.is_empty() {
            self.file.errors.push(damaged("no report in this archive".to_owned(), name));
        }
    }

    /// Takes all reports of a file in, one behind the other.
    fn take(&mut self, name: &str, bytes: &[u8]) {
        let reports = match plain(bytes, self.unpacked_max) {
            Ok(plain) => {
                let reports = read_reports(&plain);
                let is_other = reports.iter().all(Result::is_err);
                let text = || text_of(plain.to_vec());
                if let Some(other) =
                    is_other.then(text).flatten().and_then(|text| other_file(&text, name))
                {
                    return self.file.errors.push(other);
                }
                reports
            }
            Err(_) if self.unpacked_max < UNPACKED_BYTES_MAX => {
                self.exceeds = true;
                return;
            }
            Err(error) => return self.file.errors.push(error.context(name)),
        };
        let several = reports.len() > 1;
        for (number, report) in (1..).zip(reports) {
            let name = if several { format!("{name}#{number}") } else { name.to_owned() };
            match report {
                Ok(report) => self.file.reports.push(derived(name, &report, self.wanted)),
                Err(error) => self.file.errors.push(error.context(name)),
            }
        }
    }
}

/// A file as it is, or unpacked.
fn plain(bytes: &[u8], unpacked_max: usize) -> Result<Cow<'_, [u8]>> {
    if !is_gzip(bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    gunzip(bytes, unpacked_max)
        .map(Cow::Owned)
        .map_err(|reason| Error::usage(reason, "unpack it with gunzip, and specify the report"))
}

/// The files of a folder that may be reports, by name; a file is itself.
fn expanded(path: &Path) -> Vec<PathBuf> {
    let mut paths = entries(path);
    paths.retain(|path| path.is_file() && may_be_report(path));
    if paths.is_empty() { vec![path.to_owned()] } else { paths }
}

/// What a folder holds, by name; nothing of a file.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

/// Entries of folders that are not read, because of their names or because they are folders.
pub fn skipped(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut skipped: Vec<PathBuf> = paths.iter().flat_map(|path| entries(path)).collect();
    skipped.retain(|path| !path.is_file() || !may_be_report(path));
    skipped
}

/// Endings of names under which reports are kept; what is named on the command line is read
/// whatever its name.
fn may_be_report(path: &Path) -> bool {
    const ENDINGS: &[&str] = &["html", "htm", "txt", "lst", "log", "out", "gz", "zip"];
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    // Series are numbered by their sessions: `awr_rac.txt.192`.
    let is_number = |ending: &str| ending.bytes().all(|byte| byte.is_ascii_digit());
    ending.is_none_or(|ending| ENDINGS.contains(&ending.as_str()) || is_number(&ending))
}

fn derived(file: String, report: &OracleReport, wanted: ReportRequest) -> ReadReport {
    let profile = profile_on(report, wanted.medium);
    ReadReport {
        row: table_row(&file, report, &profile),
        rac_stats: rac_stats_line(&file, report),
        profile: wanted.profiles.then_some(profile),
        file,
    }
}

/// All of a file, if it can be a report.
fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    if path.is_dir() {
        return Err(directory(path));
    }
    read_bounded(path, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => too_large(path),
        _ => refused(path, &error),
    })
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    let message = format!("reading {}: {error}", path.display());
    Error::environment(message, "specify a file that you can read")
}

fn directory(path: &Path) -> Error {
    let hint = format!(
        "specify a report or a folder with reports; to test storage, use `assay check {}`",
        path.display()
    );
    Error::usage(format!("{} is a directory without reports", path.display()), hint)
}

fn too_large(path: &Path) -> Error {
    let message = format!("{} is larger than any report", path.display());
    Error::usage(message, "specify an AWR or Statspack report, as text or HTML")
}

/// Bytes of files that are in memory.
#[derive(Default)]
struct Budget {
    taken: Mutex<u64>,
    freed: Condvar,
}

/// A part of the budget, given back at its end.
struct HeldReports<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    /// Waits until there is room; a file that alone is too large waits until nothing else is there.
    fn take(&self, bytes: u64) -> HeldReports<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(taken, |taken| is_full(*taken, bytes));
        *waited.unwrap_or_else(PoisonError::into_inner) += bytes;
        let budget = self;
        HeldReports { budget, bytes }
    }
}

/// Whether that many more bytes have to wait.
const fn is_full(taken: u64, bytes: u64) -> bool {
    taken > 0 && taken + bytes > BYTES_AT_ONCE
}

impl Drop for HeldReports<'_> {
    fn drop(&mut self) {
        let budget = self.budget;
        let taken = budget.taken.lock();
        *taken.unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_reports_has_one_error() {
        let folder = std::env::temp_dir().join(format!("assay-reports-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let errors = || {
            let wanted = ReportRequest { profiles: false, medium: None };
            let files = read_files(std::slice::from_ref(&folder), wanted);
            files.into_iter().flat_map(|file| file.errors).collect::<Vec<_>>()
        };
        std::fs::write(folder.join("a.txt"), "System achieved 600 NOPM from 1200 MySQL TPM\n")
            .unwrap();
        let one = errors();
        assert!(one[0].message().ends_with("a.txt is a result of HammerDB"), "{one:?}");
        std::fs::write(folder.join("b.txt"), "hello\n").unwrap();
        std::fs::write(folder.join("c.txt"), "hello\n").unwrap();
        let several = errors();
        let [error] = several.as_slice() else { panic!("{several:?}") };
        let begin = format!("{} does not contain reports: ", folder.display());
        assert!(error.message().starts_with(&begin), "{error}");
        assert!(error.message().ends_with("and 2 other files"), "{error}");
        assert!(error.hint().contains("assay runs import"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
