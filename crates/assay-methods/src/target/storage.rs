//! Opened storage: admitted by the safety gate, filled where it is ours, described, and removed
//! again at the end.

use super::AccessOptions;
use super::direct::set_direct;
use super::fill::FillProgress;
use super::handle::handle;
use super::test_file::{HeldFile, TestFiles};
use assay_engine::{NamespaceFacts, OpenFile, Passthrough};
use assay_host::content::read_target_facts;
use assay_host::environment::{capture_environment, read_storage};
use assay_host::gate::{AdmittedNamespace, AdmittedTarget, DataLossPermission, SafetyGate};
use assay_host::root::{Survey, SysRoot};
use assay_model::environment::Environment;
use assay_model::measurement::Remark;
use assay_model::stack::Mount;
use assay_model::target::TargetFacts;
use assay_model::{Error, Result};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Opened targets of one command.
pub struct TargetStorage {
    /// What the engine measures.
    pub targets: Arc<[OpenFile]>,
    /// Host, block stacks, findings and what is known of the targets.
    pub environment: Environment,
    /// How the targets came about, in sentences.
    pub notes: Vec<String>,
    /// What a reader of the result must know.
    pub remarks: Vec<Remark>,
    _held: Vec<HeldFile>,
}

/// What opening gathers on its way.
struct Opener<'a> {
    gate: SafetyGate,
    opening: &'a AccessOptions,
    /// Tokens of devices that were not yet met.
    destroy: std::slice::Iter<'a, String>,
    /// What is given up by name on these devices.
    wipe: std::slice::Iter<'a, String>,
    files: TestFiles<'a>,
    remarks: Vec<Remark>,
    held: Vec<HeldFile>,
    targets: Vec<OpenFile>,
    facts: Vec<TargetFacts>,
}

impl TargetStorage {
    /// Opens all paths; in a directory a test file is made and filled.
    ///
    /// # Errors
    /// What the safety gate says, or that filling failed; files made so far are removed.
    pub fn open(
        paths: &[PathBuf],
        opening: &AccessOptions,
        stop: &AtomicBool,
        progress: FillProgress<'_>,
    ) -> Result<Self> {
        let gate = SafetyGate::new(SysRoot::live());
        let mut opener = Opener {
            files: TestFiles::new(gate.clone(), opening, stop),
            gate,
            opening,
            destroy: opening.destroy.iter(),
            wipe: opening.wipe.iter(),
            remarks: Vec::new(),
            held: Vec::new(),
            targets: Vec::new(),
            facts: Vec::new(),
        };
        for path in paths {
            opener.open(path, progress)?;
        }
        opener.finish()
    }
}

impl Opener<'_> {
    fn open(&mut self, path: &Path, progress: FillProgress<'_>) -> Result<()> {
        let held = if path.is_dir() {
            self.files.file_in(path, progress)?
        } else if self.opening.write {
            let given_up = given_up(path, (&mut self.destroy, &mut self.wipe));
            HeldFile::from(self.gate.admit_write(path, given_up)?)
        } else {
            HeldFile::from(self.gate.admit_read(path)?)
        };
        let admission = &held.admission;
        self.check_new(path, admission)?;
        self.files.notes.extend(admission.seen().iter().cloned());
        self.remarks.extend(admission.unseen().iter().map(|what| unseen(path, what)));
        let mount = self.mount(path);
        let mut facts = read_target_facts(admission, mount.as_ref());
        if let Some(marker) = admission.marker() {
            // Only what was written through may be measured.
            facts.usable_end_bytes =
                facts.usable_end_bytes.min(facts.usable_start_bytes + marker.filled_bytes);
        }
        if let Some(size) = self.opening.file_size.filter(|_| path.is_dir()) {
            // A larger file of an earlier run answers as one of the size asked for would.
            facts.usable_end_bytes = facts.usable_end_bytes.min(size.0);
        }
        let target = self.target(path, admission, &facts)?;
        self.targets.push(target);
        self.facts.push(facts);
        self.held.push(held);
        Ok(())
    }

    /// Two targets on the same bytes would count each other's work.
    fn check_new(&self, path: &Path, admission: &AdmittedTarget) -> Result<()> {
        let is_same = |held: &HeldFile| held.admission.identity() == admission.identity();
        if !self.held.iter().any(is_same) {
            return Ok(());
        }
        Err(Error::usage(
            format!("{} is specified twice", path.display()),
            "specify every target once",
        ))
    }

    fn mount(&self, path: &Path) -> Option<Mount> {
        let survey = Survey::new(self.gate.root());
        read_storage(&survey, path).ok()?.stack.mount
    }

    /// The engine's view of an admitted target.
    fn target(
        &mut self,
        path: &Path,
        admission: &AdmittedTarget,
        facts: &TargetFacts,
    ) -> Result<OpenFile> {
        let namespace = admission.namespace();
        if namespace.is_some() && !self.opening.direct {
            return Err(buffered(path));
        }
        let direct = set_direct(admission, self.opening.direct);
        self.remarks.extend(direct.remark);
        let file = handle(admission.file(), &facts.path)?;
        let passthrough = namespace.map(|namespace| passthrough(namespace, facts)).transpose()?;
        Ok(OpenFile {
            name: self.name(path),
            file,
            passthrough,
            first_byte: facts.usable_start_bytes,
            length_bytes: facts.usable_bytes(),
            alignment_bytes: if direct.on { facts.logical_block_bytes } else { 1 },
            writable: self.opening.write,
            direct: direct.on,
        })
    }

    /// A target is called in results what the person called it, not by the passing name of a test
    /// file.
    fn name(&self, path: &Path) -> String {
        let shown = path.display().to_string();
        let is_taken = |name: &String| self.targets.iter().any(|target| target.name == *name);
        let numbered = (2..).map(|number| format!("{shown} ({number})"));
        let free = std::iter::once(shown.clone()).chain(numbered).find(|name| !is_taken(name));
        free.unwrap_or(shown)
    }

    fn finish(self) -> Result<TargetStorage> {
        let opened: Vec<PathBuf> =
            self.facts.iter().map(|facts| PathBuf::from(&facts.path)).collect();
        let shown: Vec<&Path> = opened.iter().map(PathBuf::as_path).collect();
        let environment = capture_environment(self.gate.root(), &shown, &self.facts)?;
        Ok(TargetStorage {
            targets: self.targets.into(),
            environment,
            notes: self.files.notes,
            remarks: [self.remarks, self.files.remarks].concat(),
            _held: self.held,
        })
    }
}

/// What the safety gate says of each path before anything of it is touched: whether it may be
/// opened as wanted, and there is room for a test file. Gives what two processes of one machine
/// share where they open the same: nothing for a directory, in which each makes a file of its own.
///
/// # Errors
/// What opening would say first.
pub fn admitted(paths: &[PathBuf], opening: &AccessOptions) -> Result<Vec<Option<String>>> {
    let stop = AtomicBool::new(false);
    let gate = SafetyGate::new(SysRoot::live());
    let files = TestFiles::new(gate.clone(), opening, &stop);
    let [mut destroy, mut wipe] = [opening.destroy.iter(), opening.wipe.iter()];
    let mut admit = |path: &PathBuf| {
        if path.is_dir() {
            return files.foreseen(path).map(|_| None);
        }
        let admission = if opening.write {
            gate.admit_write(path, given_up(path, (&mut destroy, &mut wipe)))?
        } else {
            gate.admit_read(path)?
        };
        let (device, inode) = admission.identity();
        Ok(Some(format!("{device}/{inode}")))
    };
    paths.iter().map(&mut admit).collect()
}

/// What opening would do to each path, in a few words; nothing is touched.
///
/// # Errors
/// A usage error when a path is not there; an environment error when there is no room for a test
/// file.
pub fn foreseen(paths: &[PathBuf], opening: &AccessOptions) -> Result<Vec<String>> {
    let stop = AtomicBool::new(false);
    let files = TestFiles::new(SafetyGate::new(SysRoot::live()), opening, &stop);
    let mut destroyed = opening.destroy.iter();
    let mut foresee = |path: &PathBuf| {
        std::fs::metadata(path).map_err(|error| {
            Error::usage(
                format!("{}: {error}", path.display()),
                "specify an existing directory, file or block device",
            )
        })?;
        if path.is_dir() {
            return files.foreseen(path);
        }
        let token = destroyed.next().filter(|_| is_device(path));
        Ok(match (opening.write, token) {
            (false, _) => "only read".to_owned(),
            (true, Some(token)) => format!("overwritten if its serial number or size is {token}"),
            (true, None) => "refused: Assay writes only to test files and to devices given with \
                             --destroy"
                .to_owned(),
        })
    };
    paths.iter().map(&mut foresee).collect()
}

/// Tokens of devices that were not yet met, and what is given up by name on them.
type GivenUp<'a, 'b> = (&'b mut std::slice::Iter<'a, String>, &'b mut std::slice::Iter<'a, String>);

/// What is given up of a device: each token, with what is named with it, is for one device, in the
/// order of the command line.
fn given_up<'a>(path: &Path, (destroy, wipe): GivenUp<'a, '_>) -> DataLossPermission<'a> {
    if !is_device(path) {
        return DataLossPermission::default();
    }
    let [token, wipe] = [destroy.next(), wipe.next()];
    DataLossPermission { token: token.map(String::as_str), wipe: wipe.map(String::as_str) }
}

/// Whether a path leads to a device: a block device, or the character device of an NVMe namespace.
pub fn is_device(path: &Path) -> bool {
    let kind = std::fs::metadata(path).map(|found| found.file_type());
    kind.is_ok_and(|kind| kind.is_block_device() || kind.is_char_device())
}

/// The engine's way to a namespace past the block layer.
fn passthrough(namespace: &AdmittedNamespace, facts: &TargetFacts) -> Result<Passthrough> {
    let said = NamespaceFacts {
        id: namespace.id(),
        size_bytes: facts.size_bytes,
        block_bytes: facts.logical_block_bytes,
        transfer_bytes_max: namespace.transfer_bytes_max(),
        polls: namespace.polls(),
    };
    Passthrough::new(&facts.path, handle(namespace.file(), &facts.path)?, said)
}

/// Nobody caches commands.
fn buffered(path: &Path) -> Error {
    Error::usage(
        format!("{} has no page cache, and direct I/O is turned off", path.display()),
        "leave --buffered or direct = false out, or specify the block device of the namespace",
    )
}

/// A user of a device that could not be looked for.
fn unseen(path: &Path, what: &str) -> Remark {
    Remark {
        what: format!("{}: {what}", path.display()),
        why: "one of them may be using the device, which the measurement has overwritten"
            .to_owned(),
        remedy: "run as root, outside containers, to see every process".to_owned(),
    }
}
