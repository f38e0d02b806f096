//! Test files in directories: found again or made, filled, made larger, kept or removed.

use super::direct::set_direct;
use super::fill::{FillProgress, TargetFilling, fill};
use super::growth::{Sign, look, next_bytes};
use super::handle::handle;
use super::{AccessOptions, LedgerUse};
use assay_engine::OpenFile;
use assay_host::counters::monotonic_ns;
use assay_host::environment::{read_host, read_storage};
use assay_host::gate::{
    AdmittedTarget, Created, Marker, SafetyGate, SizeInputs, SizePlan, plan_file_size,
};
use assay_host::root::{Survey, SysRoot};
use assay_model::measurement::Remark;
use assay_model::number::{real, seconds};
use assay_model::units::{Bytes, Nanos, show_bytes};
use assay_model::workload::Content;
use assay_model::{Error, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The word that marks a file that a person wants to keep; one that a killed run left behind lacks
/// it.
const KEPT: &str = "kept";
/// How long the file of a killed process is waited for, ns.
const RELEASE_NS: u64 = 10_000_000_000;
/// The word before the name of a ledger that a file belongs to.
const OF_LEDGER: &str = "ledger";

/// A held target. A test file that nobody wants to keep goes with it: under the lock that came with
/// its admission, so that an I/O which has not come back cannot keep it.
pub(super) struct HeldFile {
    pub(super) admission: AdmittedTarget,
    goes: bool,
}

impl From<AdmittedTarget> for HeldFile {
    fn from(admission: AdmittedTarget) -> Self {
        let goes = false;
        Self { admission, goes }
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        if self.goes {
            // What cannot be removed stays recognisable as ours: the next run takes it over or
            // removes it.
            drop(SafetyGate::new(SysRoot::live()).remove(&self.admission));
        }
    }
}

/// The test files of one command.
pub(super) struct TestFiles<'a> {
    gate: SafetyGate,
    opening: &'a AccessOptions,
    stop: &'a AtomicBool,
    /// How they came about, in sentences.
    pub(super) notes: Vec<String>,
    /// What a reader of the result must know of them.
    pub(super) remarks: Vec<Remark>,
}

/// Finds out why a larger file would tell more, if it would.
type FileLook<'a> = &'a mut dyn FnMut(&OpenFile) -> Result<Option<Sign>>;

/// How much is wanted.
struct WantedFile {
    /// Size of the file at first, bytes.
    size_bytes: u64,
    /// Size to which it may grow, bytes.
    most_bytes: u64,
    /// The size in words, and why when nobody asked for it.
    note: String,
}

impl<'a> TestFiles<'a> {
    /// None yet.
    pub(super) fn new(gate: SafetyGate, opening: &'a AccessOptions, stop: &'a AtomicBool) -> Self {
        Self { gate, opening, stop, notes: Vec::new(), remarks: Vec::new() }
    }

    /// A filled test file in a directory: one that is there already, or a new one.
    ///
    /// # Errors
    /// What the safety gate says, or that filling failed; then nothing is left behind.
    pub(super) fn file_in(
        &mut self,
        directory: &Path,
        progress: FillProgress<'_>,
    ) -> Result<HeldFile> {
        if let Some(LedgerUse::Again(ledger)) = &self.opening.ledger {
            return self.of_ledger(directory, ledger);
        }
        let wanted = self.wanted(directory)?;
        if self.opening.ledger.is_none()
            && let Some(admission) = self.found(directory, &wanted)?
        {
            return self.taken_over(admission);
        }
        // Said now and not with the other notes: whoever does not want it can still stop it.
        progress(TargetFilling::Begins(&wanted.note));
        let admission = self.gate.create_file(directory, wanted.size_bytes)?;
        let mut held = HeldFile { admission, goes: true };
        let started_ns = monotonic_ns();
        self.fill(&mut held.admission, self.opening.fill_time, progress)?;
        let (opening, stop) = (self.opening, self.stop);
        let mut show = |file: &OpenFile| Ok(look(file, opening.backend, stop)?.sign());
        self.grow(&mut held.admission, &wanted, started_ns, progress, &mut show)?;
        held.goes = !self.opening.keep;
        Ok(held)
    }

    /// The file that was made for a ledger.
    fn of_ledger(&self, directory: &Path, ledger: &str) -> Result<HeldFile> {
        let created = self.gate.find_created(directory)?;
        let mine = |created: &&Created| ledger_of(created.marker()) == Some(ledger);
        let Some(found) = created.iter().find(mine) else {
            return Err(Error::usage(
                format!("{} has no test file of the ledger {ledger}", directory.display()),
                "specify the directory that was verified, and its ledger",
            ));
        };
        let begun_ns = monotonic_ns();
        loop {
            match self.gate.admit_created(found) {
                // The kernel may hold the file of a process that was killed until its last I/O has
                // come back.
                Err(_) if monotonic_ns() - begun_ns < RELEASE_NS => {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
                admitted => return admitted.map(HeldFile::from),
            }
        }
    }

    /// What [`file_in`](Self::file_in) would do in a directory, in a few words; nothing is touched.
    pub(super) fn foreseen(&self, directory: &Path) -> Result<String> {
        let wanted = self.wanted(directory)?;
        let created = self.gate.find_created(directory)?;
        let found = created.iter().find(|created| self.fits(created.marker(), &wanted));
        let end = if self.opening.keep { "it stays" } else { "it is removed at the end" };
        Ok(match found {
            Some(found) => {
                format!("the test file {} of an earlier run is used", found.path().display())
            }
            None => format!("{}; {end}", wanted.note),
        })
    }

    /// A file of an earlier run: what a person wanted to keep stays, what was left behind goes
    /// unless it is wanted now.
    fn taken_over(&self, mut admission: AdmittedTarget) -> Result<HeldFile> {
        let Some(marker) = admission.marker().filter(|marker| !is_kept(marker)) else {
            return Ok(HeldFile::from(admission));
        };
        if self.opening.keep {
            let (filled_bytes, content) = (marker.filled_bytes, self.content());
            admission.record_content(filled_bytes, &content)?;
        }
        Ok(HeldFile { admission, goes: !self.opening.keep })
    }

    /// What the header says of the content.
    fn content(&self) -> String {
        if let Some(LedgerUse::New(ledger) | LedgerUse::Again(ledger)) = &self.opening.ledger {
            return format!("{KEPT} {OF_LEDGER} {ledger}");
        }
        let kept = if self.opening.keep { KEPT } else { "" };
        format!("{kept} {}", describe(&self.opening.content))
    }

    /// Makes the file larger while its reads look cached, as far as its size and the time of
    /// filling allow.
    fn grow(
        &mut self,
        admission: &mut AdmittedTarget,
        wanted: &WantedFile,
        started_ns: u64,
        progress: FillProgress<'_>,
        look: FileLook<'_>,
    ) -> Result<()> {
        if wanted.most_bytes <= wanted.size_bytes {
            return Ok(());
        }
        let mut sign;
        loop {
            sign = look(&self.filled(admission)?)?;
            let spent = Nanos(monotonic_ns() - started_ns);
            let left = Nanos(self.opening.fill_time.0.saturating_sub(spent.0));
            let size_bytes = admission.size_bytes();
            let next = next_bytes(size_bytes, wanted.most_bytes, sign).filter(|_| left.0 > 0);
            let (Some(next_bytes), Some(sign)) = (next, sign) else { break };
            let size = show_bytes(real(next_bytes));
            let note = format!("extending the test file to {size}: {}", sign.words());
            progress(TargetFilling::Begins(&note));
            self.notes.push(note);
            self.gate.extend_file(admission, next_bytes)?;
            self.fill(admission, left, progress)?;
        }
        self.remarks.extend(sign.map(|sign: Sign| sign.remark(admission.size_bytes())));
        Ok(())
    }

    /// Fills what of the file is not filled yet, and notes it in its header.
    fn fill(
        &mut self,
        admission: &mut AdmittedTarget,
        time: Nanos,
        progress: FillProgress<'_>,
    ) -> Result<()> {
        let started_ns = monotonic_ns();
        let before_bytes = admission.marker().map_or(0, |marker| marker.filled_bytes);
        let opening = AccessOptions { fill_time: time, ..self.opening.clone() };
        let blank = self.part(admission, before_bytes..admission.data_bytes())?;
        let filled_bytes = fill(blank, &opening, self.stop, progress)?;
        admission.file().sync_all().map_err(|error| {
            Error::environment(
                format!("syncing {}: {error}", admission.path().display()),
                "check the kernel log",
            )
        })?;
        admission.record_content(before_bytes + filled_bytes, &self.content())?;
        self.notes.push(format!(
            "{} filled with {} data in {:.1} s",
            show_bytes(real(filled_bytes)),
            describe(&opening.content),
            seconds(monotonic_ns() - started_ns),
        ));
        Ok(())
    }

    /// The engine's view of what of a file is filled.
    fn filled(&self, admission: &AdmittedTarget) -> Result<OpenFile> {
        self.part(admission, 0..admission.marker().map_or(0, |marker| marker.filled_bytes))
    }

    /// The engine's view of a part of the data, bytes from its start.
    fn part(&self, admission: &AdmittedTarget, part: Range<u64>) -> Result<OpenFile> {
        let direct = set_direct(admission, self.opening.direct).on;
        let name = admission.path().display().to_string();
        Ok(OpenFile {
            file: handle(admission.file(), &name)?,
            name,
            first_byte: admission.range().start + part.start,
            length_bytes: part.end - part.start,
            alignment_bytes: if direct { admission.logical_block_bytes() } else { 1 },
            writable: true,
            direct,
            passthrough: None,
        })
    }

    /// A file that an earlier run kept or left behind, when it was filled with what is wanted now.
    /// What was left behind and is of no use goes; so does a second one of use, which nobody
    /// would come back for.
    fn found(&mut self, directory: &Path, wanted: &WantedFile) -> Result<Option<AdmittedTarget>> {
        let mut taken = None;
        for created in self.gate.find_created(directory)? {
            if taken.is_some() || !self.fits(created.marker(), wanted) {
                self.clear_away(&created);
                continue;
            }
            // A file in use by another run is locked: then a new one is made.
            let Ok(admission) = self.gate.admit_created(&created) else {
                self.clear_away(&created);
                continue;
            };
            self.notes.push(format!(
                "using the test file {} ({}) of an earlier run",
                created.path().display(),
                show_bytes(real(created.marker().filled_bytes))
            ));
            taken = Some(admission);
        }
        Ok(taken)
    }

    fn fits(&self, marker: &Marker, wanted: &WantedFile) -> bool {
        let nearly = |bytes: u64| bytes >= wanted.size_bytes / 10 * 9;
        let large_enough = match (self.opening.file_size, is_kept(marker)) {
            (Some(_), _) => nearly(marker.filled_bytes + assay_host::gate::DATA_START_BYTES),
            (None, true) => true,
            (None, false) => nearly(marker.size_bytes),
        };
        let content = marker.content.split_once(' ').map(|(_, content)| content);
        marker.filled_bytes > 0
            && large_enough
            && content == Some(describe(&self.opening.content).as_str())
    }

    /// Removes what a killed run left behind; a file that is in use stays, its lock says so.
    fn clear_away(&mut self, created: &Created) {
        if !is_kept(created.marker()) && self.gate.remove_created(created).is_ok() {
            self.notes.push(format!(
                "removed the test file {} that an earlier run left behind",
                created.path().display()
            ));
        }
    }

    fn wanted(&self, directory: &Path) -> Result<WantedFile> {
        if let Some(Bytes(size_bytes)) = self.opening.file_size {
            let note =
                format!("writing a test file of {} as requested", show_bytes(real(size_bytes)));
            return Ok(WantedFile { size_bytes, most_bytes: size_bytes, note });
        }
        let survey = Survey::new(self.gate.root());
        let space = read_storage(&survey, directory)?.space.unwrap_or_default();
        let plan = plan_file_size(&SizeInputs {
            capacity_bytes: space.capacity_bytes,
            free_bytes: space.free_bytes,
            memory_bytes: read_host(&survey).memory.total_bytes,
            direct_io: self.opening.direct,
            fill_rate_bytes_per_s: None,
            fill_time_s: self.opening.fill_time.seconds(),
            grows: self.opening.grows,
        })?;
        Ok(WantedFile {
            size_bytes: plan.first_bytes,
            most_bytes: plan.size_bytes,
            note: note(&plan),
        })
    }
}

/// What is going to be written, and why.
fn note(plan: &SizePlan) -> String {
    let [first, most] = [plan.first_bytes, plan.size_bytes].map(|bytes| show_bytes(real(bytes)));
    let (share, reasons) = (plan.capacity_share * 100.0, plan.reasons.join("; "));
    if plan.first_bytes < plan.size_bytes {
        return format!(
            "writing a test file of {first}, {share:.1}% of the capacity; it grows up to {most} \
             while its reads appear cached ({reasons})"
        );
    }
    format!("writing a test file of up to {first}, {share:.1}% of the capacity: {reasons}")
}

/// The test files in a directory that no ledger needs.
#[derive(Debug, Default)]
pub struct LeftoverFiles {
    /// Those that killed runs left behind.
    pub left: Vec<LeftoverFile>,
    /// Those that stay, and why.
    pub stay: Vec<(PathBuf, String)>,
}

/// A test file that a killed run left behind.
#[derive(Debug)]
pub struct LeftoverFile(Created);

impl LeftoverFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Removes it.
    ///
    /// # Errors
    /// An environment error when somebody uses it, or its name leads to something else by now; then
    /// it stays.
    pub fn remove(&self) -> Result<()> {
        SafetyGate::new(SysRoot::live()).remove_created(&self.0)
    }
}

/// The test files in a directory, by what is to become of them.
///
/// # Errors
/// When the directory cannot be read.
pub fn left_files_in(directory: &Path) -> Result<LeftoverFiles> {
    let gate = SafetyGate::new(SysRoot::live());
    let mut found = LeftoverFiles::default();
    for created in gate.find_created(directory)? {
        let path = created.path().to_owned();
        if ledger_of(created.marker()).is_some() {
            let why = "the test file of a ledger; --ledger-files removes it".to_owned();
            found.stay.push((path, why));
        } else if is_kept(created.marker()) {
            let why = "a test file kept with --keep for the next run".to_owned();
            found.stay.push((path, why));
        } else {
            match gate.admit_created(&created) {
                Ok(_) => found.left.push(LeftoverFile(created)),
                Err(error) => found.stay.push((path, error.message().to_owned())),
            }
        }
    }
    Ok(found)
}

/// A test file that belongs to a ledger: no run uses it for anything else, and none removes it.
#[derive(Debug)]
pub struct TargetLedgerFile(Created);

impl TargetLedgerFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The name of its ledger.
    pub fn ledger(&self) -> &str {
        ledger_of(self.0.marker()).unwrap_or_default()
    }

    /// Removes it; what its ledger promises cannot be judged any more.
    ///
    /// # Errors
    /// An environment error when somebody uses it, or its name leads to something else by now; then
    /// it stays.
    pub fn remove(&self) -> Result<()> {
        SafetyGate::new(SysRoot::live()).remove_created(&self.0)
    }
}

/// The test files of ledgers in a directory, the newest last.
///
/// # Errors
/// When the directory cannot be read.
pub fn ledger_files_in(directory: &Path) -> Result<Vec<TargetLedgerFile>> {
    let mut created = SafetyGate::new(SysRoot::live()).find_created(directory)?;
    created.sort_by_key(|created| created.marker().created_unix_ns);
    created.retain(|created| ledger_of(created.marker()).is_some());
    Ok(created.into_iter().map(TargetLedgerFile).collect())
}

/// The ledger that a file belongs to.
fn ledger_of(marker: &Marker) -> Option<&str> {
    marker.content.strip_prefix(KEPT)?.trim_start().strip_prefix(OF_LEDGER)?.strip_prefix(' ')
}

fn is_kept(marker: &Marker) -> bool {
    marker.content.split(' ').next() == Some(KEPT)
}

/// The content of a test file in words; equal words mean equal content.
fn describe(content: &Content) -> String {
    match (content.compressible.0, content.duplicate.0) {
        (compressible, duplicate) if compressible <= 0.0 && duplicate <= 0.0 => {
            "incompressible".to_owned()
        }
        (compressible, duplicate) => {
            format!(
                "{:.0}% compressible, {:.0}% duplicate",
                compressible * 100.0,
                duplicate * 100.0
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_engine::{BackendChoice, UringOptions};
    use std::fs;
    use std::path::PathBuf;

    const MIB: u64 = 1 << 20;

    fn opening() -> AccessOptions {
        AccessOptions {
            write: true,
            direct: true,
            destroy: Vec::new(),
            wipe: Vec::new(),
            file_size: None,
            grows: true,
            fill_time: Nanos(60_000_000_000),
            keep: false,
            ledger: None,
            content: Content::default(),
            backend: BackendChoice::Auto(UringOptions::default()),
        }
    }

    /// An empty directory of this test.
    fn directory(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("assay-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_file_grows_while_its_reads_look_cached_and_is_filled_without_a_gap() {
        let (path, opening, stop) = (directory("growth"), opening(), AtomicBool::new(false));
        let mut files = TestFiles::new(SafetyGate::new(SysRoot::live()), &opening, &stop);
        let wanted = WantedFile { size_bytes: 3 * MIB, most_bytes: 64 * MIB, note: String::new() };
        let mut admission = files.gate.create_file(&path, wanted.size_bytes).unwrap();
        let mut progress = |_: TargetFilling<'_>| ();
        files.fill(&mut admission, opening.fill_time, &mut progress).unwrap();
        let mut seen = Vec::new();
        let mut look = |file: &OpenFile| {
            seen.push(file.length_bytes / MIB);
            Ok((file.length_bytes < 10 * MIB).then_some(Sign::Recent(0.5)))
        };
        files.grow(&mut admission, &wanted, monotonic_ns(), &mut progress, &mut look).unwrap();
        assert_eq!((seen, admission.size_bytes() / MIB), (vec![2, 5, 11], 12));
        assert!(files.remarks.is_empty());
        let content = fs::read(admission.path()).unwrap();
        let zeros =
            content[1 << 20..].chunks(4096).filter(|block| block.iter().all(|byte| *byte == 0));
        assert_eq!(zeros.count(), 0);
        // As large as it may become, and still cached: the reader hears of it.
        let wanted = WantedFile { most_bytes: 16 * MIB, ..wanted };
        let mut look = |_: &OpenFile| Ok(Some(Sign::Recent(0.5)));
        files.grow(&mut admission, &wanted, monotonic_ns(), &mut progress, &mut look).unwrap();
        assert_eq!((admission.size_bytes() / MIB, files.remarks.len()), (16, 1));
        assert_eq!(admission.marker().unwrap().filled_bytes, admission.data_bytes());
        files.gate.remove(&admission).unwrap();
        fs::remove_dir(&path).unwrap();
    }

    #[test]
    fn what_is_going_to_be_written_is_said_before() {
        let path = directory("foreseen");
        let (opening, stop) = (opening(), AtomicBool::new(false));
        let files = TestFiles::new(SafetyGate::new(SysRoot::live()), &opening, &stop);
        let said = files.foreseen(&path).unwrap();
        assert!(
            said.starts_with("writing a test file of ") && said.contains("it is removed"),
            "{said}"
        );
        let plan = |first_bytes, size_bytes| {
            note(&SizePlan { first_bytes, size_bytes, capacity_share: 0.01, reasons: Vec::new() })
        };
        assert!(
            plan(2 << 30, 32 << 30)
                .contains("of 2.00 GiB, 1.0% of the capacity; it grows up to 32.0 GiB")
        );
        assert!(plan(2 << 30, 2 << 30).contains("of up to 2.00 GiB"));
        fs::remove_dir(&path).unwrap();
    }
}
