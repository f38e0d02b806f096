//! The judgement after a cut: every acknowledged write of the ledger against what the target holds
//! now.

mod lost_file;

use super::target_identity::{KnownDirectory, of_device, of_file};
use super::{KnownLedger, VerifyPlan, boot, weighed};
use crate::context::Context;
use crate::finish::{FinishedRun, finish_run};
use crate::recording::{OpenTarget, Recording, RunRequest};
use crate::target_plan::TargetPlan;
use assay_engine::{OpenFile, TargetAfterCut, judge_after_cut};
use assay_host::clock::unix_ns;
use assay_host::environment::read_storage;
use assay_host::root::{Survey, SysRoot};
use assay_integrity::AfterCut;
use assay_ledger::{Epoch, Ledger, LedgerPlace, LedgerSubject};
use assay_methods::target::{LedgerUse, is_device, ledger_files_in};
use assay_model::durability::{CutKind, JudgedCut, LostAge, TearCount};
use assay_model::integrity::{Integrity, VerificationCost, VerificationCoverage};
use assay_model::measurement::Finish;
use assay_model::number::seconds;
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// The plan of a judgement after a cut.
pub struct AfterPlan {
    /// What was verified, and how it goes on.
    pub verify: VerifyPlan,
    /// What was cut; found out where nobody says it: another start of the system, or the process
    /// alone.
    pub cut: Option<CutKind>,
}

/// The ledger of a target.
struct FoundLedger {
    ledger: Ledger,
    /// Whether the storage no longer has its test file.
    is_file_lost: bool,
}

/// What is to be judged.
pub(super) struct AfterCase<'a> {
    pub(super) epoch: &'a Epoch,
    pub(super) run: u32,
    pub(super) block_bytes: u64,
    pub(super) first_byte: u64,
    pub(super) length_bytes: u64,
    pub(super) earlier_runs: Vec<u32>,
}

impl AfterPlan {
    /// Judges every acknowledged write; changes nothing on the target.
    ///
    /// # Errors
    /// A usage error when ledger and target do not belong together, an environment error when one
    /// of them cannot be read.
    pub fn judge(&self, context: &Context) -> Result<FinishedRun> {
        let criteria = self.verify.judged_by()?;
        let place = self.place()?;
        context.progress.show("reading the ledger", 0.0, None);
        let FoundLedger { mut ledger, is_file_lost } = self.ledger(place)?;
        if let Some(gap) = ledger.gap() {
            context.progress.say(&format!("note: {gap}"));
        }
        if is_file_lost {
            return self.judge_lost_file(&mut ledger, criteria.as_ref(), context);
        }
        let target = TargetPlan {
            ledger: Some(LedgerUse::Again(ledger.id.digits())),
            size: None,
            ..self.verify.target.clone()
        };
        let request = RunRequest::reading(&target);
        let recording = Recording::begin(RunKind::Verify, &request, context)?;
        match self.judge_recorded(&recording, place, &mut ledger) {
            Ok(()) => finish_run(recording.end(), &Finish::Complete, criteria.as_ref()),
            Err(error) => Err(recording.abandon(error)),
        }
    }

    /// Goes on writing after a judgement, as another stretch of the same ledger.
    ///
    /// # Errors
    /// As for a run with a ledger.
    pub fn resume(&self, context: &Context) -> Result<FinishedRun> {
        let place = self.place()?;
        let ledger = self.ledger(place)?.ledger;
        let criteria = self.verify.judged_by()?;
        let known = KnownLedger { id: ledger.id, cuts: ledger.judgements() };
        self.verify.check()?;
        let again = LedgerUse::Again(ledger.id.digits());
        self.verify.with_ledger(place, Some(known), |_| again, criteria.as_ref(), context)
    }

    pub(super) fn place(&self) -> Result<&LedgerPlace> {
        self.verify.ledger.as_ref().ok_or_else(|| {
            Error::usage(
                "--after needs the ledger of acknowledged writes",
                "specify it with --ledger FILE or --witness HOST:PORT",
            )
        })
    }

    /// The ledger of the target, which must be its own.
    fn ledger(&self, place: &LedgerPlace) -> Result<FoundLedger> {
        let target = Path::new(self.verify.only_target()?);
        let known = known_by(target)?;
        let newest = known.identities.last().or(known.directory.as_ref());
        let identity = match (newest, place) {
            (Some(newest), _) => newest.as_str(),
            (None, LedgerPlace::File(_)) => "",
            (None, LedgerPlace::Witness(_)) => return Err(no_file(self.verify.only_target()?)),
        };
        self.of_target(place.read(identity, known.size_bytes)?, &known)
    }

    fn of_target(&self, ledger: Ledger, known: &KnownTarget) -> Result<FoundLedger> {
        let (head, identities) = (&ledger.last().head, &known.identities);
        if identities.contains(&head.identity) {
            return Ok(FoundLedger { ledger, is_file_lost: false });
        }
        if head.directory.is_some() && head.directory == known.directory {
            return Ok(FoundLedger { ledger, is_file_lost: true });
        }
        let target = self.verify.only_target()?;
        if head.target == target && Path::new(target).is_dir() {
            return Err(no_file(target));
        }
        // Directories are known by many files, a device by itself: one that shrank shows its size.
        let is = match identities.as_slice() {
            [device] if device.starts_with("device") => format!("and {target} is the {device}"),
            _ => format!("not to {target}"),
        };
        Err(Error::usage(
            format!("the ledger belongs to the {}, {is}", head.identity),
            format!("specify the target that was verified: {}", head.target),
        ))
    }

    fn judge_recorded(
        &self,
        recording: &Recording,
        place: &LedgerPlace,
        ledger: &mut Ledger,
    ) -> Result<()> {
        let OpenTarget::Storage(storage) = &recording.target else { return Ok(()) };
        let (promises, promised_ns) = ledger.take_promises();
        let (case, target) = (case(ledger)?, &storage.targets[0]);
        let clipped = within(target, &case)?;
        let after = case.promised(promises, promised_ns);
        let context = &recording.context;
        let mut show = |share: f64| context.progress.show("reading the kept data", share, None);
        let found = judge_after_cut(&clipped, &after, &context.stop, &mut show)?;
        context.progress.clear();
        if !found.sweep.complete {
            return Err(Error::environment("the judgement was interrupted", "start it again"));
        }
        let judged = self.judged(&case, &after, &found);
        let cuts = with_judgement(place, ledger, judged)?;
        let mut durability = weighed(recording, None, cuts);
        durability.acknowledgements = case.epoch.acknowledgements;
        let integrity = Integrity {
            durability: Some(durability),
            ..integrity(&case, &after, &found, clipped.length_bytes)
        };
        recording.writer.put_json(assay_store::StoredDocument::Integrity, &integrity)?;
        recording.keep_versions(&found.versions)
    }

    pub(super) fn judged(
        &self,
        case: &AfterCase<'_>,
        after: &AfterCut,
        found: &TargetAfterCut,
    ) -> JudgedCut {
        let is_same_boot = boot(&SysRoot::live()) == case.epoch.head.boot;
        let seen = if is_same_boot { CutKind::Process } else { CutKind::System };
        let tear = |(boundary_bytes, blocks): (&u64, &u64)| TearCount {
            boundary_bytes: *boundary_bytes,
            blocks: *blocks,
        };
        JudgedCut {
            judged_unix_ns: unix_ns(),
            acknowledgements: case.epoch.acknowledgements,
            acknowledged_s: seconds(case.epoch.elapsed_ns),
            promised_blocks: after.promised_blocks(),
            kept_blocks: found.kept_blocks,
            newer_blocks: found.newer_blocks,
            counts: found.counts.clone(),
            torn_blocks: found.torn_blocks,
            atomic_unit_bytes: (found.torn_blocks > 0).then_some(found.atomic_unit_bytes),
            tears: found.tears.iter().map(tear).collect(),
            lost_ages: lost_ages(case.epoch, after, &found.broken_blocks),
            ..JudgedCut::of(self.cut.unwrap_or(seen), case.run)
        }
    }
}

/// Keeps a judgement in the ledger; the cuts of the ledger with it.
pub(super) fn with_judgement(
    place: &LedgerPlace,
    ledger: &Ledger,
    judged: JudgedCut,
) -> Result<Vec<JudgedCut>> {
    if !ledger.is_damaged {
        place.judge(ledger.id, &judged)?;
    }
    let mut cuts = ledger.judgements();
    if !ledger.last().judgements.is_empty() {
        cuts.pop();
    }
    cuts.push(judged);
    Ok(cuts)
}

/// Greatest ages that lost promises are counted by, s: from one flush to minutes, in which some
/// drives still lose writes (Ahmadian et al. 2018: 0.7 s after completion).
const AGES_MAX_S: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 60.0];

/// Broken blocks by how long before the last acknowledgement their promise had been given; nothing
/// where none is broken.
fn lost_ages(epoch: &Epoch, after: &AfterCut, broken: &[u64]) -> Vec<LostAge> {
    if broken.is_empty() {
        return Vec::new();
    }
    let age_s = |block: &u64| {
        let promised_ns = after.promised_ns(*block).unwrap_or_default();
        seconds(epoch.elapsed_ns.saturating_sub(promised_ns))
    };
    let limits = AGES_MAX_S.map(Some).into_iter().chain([None]);
    let mut ages: Vec<LostAge> = limits.map(|age_max_s| LostAge { age_max_s, blocks: 0 }).collect();
    for block in broken {
        let age_s = age_s(block);
        let fits = |age: &&mut LostAge| age.age_max_s.is_none_or(|most_s| age_s <= most_s);
        if let Some(age) = ages.iter_mut().find(fits) {
            age.blocks += 1;
        }
    }
    ages
}

impl AfterCase<'_> {
    /// What was acknowledged before the cut: versions by block, and when, ns.
    fn promised(&self, promises: HashMap<u64, u32>, promised_ns: HashMap<u64, u64>) -> AfterCut {
        let earlier_runs = self.earlier_runs.clone();
        AfterCut::new(self.run, self.block_bytes, self.first_byte, promises, earlier_runs)
            .with_times(promised_ns)
    }
}

/// The last stretch of a ledger, with the numbers of those before it.
///
/// # Errors
/// A usage error when it is about a database.
pub(super) fn case(ledger: &Ledger) -> Result<AfterCase<'_>> {
    let epoch = ledger.last();
    let run_of = |epoch: &Epoch| match epoch.head.subject {
        LedgerSubject::Blocks { run, .. } | LedgerSubject::Commits { run, .. } => run,
    };
    let LedgerSubject::Blocks { run, block_bytes, first_byte, length_bytes } = epoch.head.subject
    else {
        return Err(Error::usage(
            "the ledger records transactions of a database",
            "judge them with the load that wrote it: `assay bench … --after`",
        ));
    };
    let earlier_runs = ledger.epochs.iter().map(run_of).filter(|earlier| *earlier != run).collect();
    Ok(AfterCase { epoch, run, block_bytes, first_byte, length_bytes, earlier_runs })
}

/// The part of a target that was written to; one that has shrunk has lost what was behind its end.
fn within(target: &OpenFile, case: &AfterCase<'_>) -> Result<OpenFile> {
    let end_byte = target.first_byte + target.length_bytes;
    if case.first_byte < target.first_byte || case.first_byte + case.length_bytes > end_byte {
        return Err(Error::environment(
            format!(
                "{} ends at byte {end_byte}, but writes up to byte {} were acknowledged",
                target.name,
                case.first_byte + case.length_bytes
            ),
            "the target has shrunk or is a different one; all data beyond its end are lost",
        ));
    }
    let file = target.file.try_clone().map_err(|error| {
        Error::environment(
            format!("opening {} again: {error}", target.name),
            "allow more open files",
        )
    })?;
    Ok(OpenFile {
        name: target.name.clone(),
        file,
        first_byte: case.first_byte,
        length_bytes: case.length_bytes,
        // A sweep reads through the block device.
        passthrough: None,
        ..*target
    })
}

pub(super) fn integrity(
    case: &AfterCase<'_>,
    after: &AfterCut,
    found: &TargetAfterCut,
    length_bytes: u64,
) -> Integrity {
    Integrity {
        format: 1,
        run: case.run,
        block_bytes: case.block_bytes,
        checked_share: 1.0,
        coverage: VerificationCoverage {
            blocks: length_bytes / case.block_bytes,
            written_blocks: after.promised_blocks(),
            verified_blocks: found.kept_blocks,
            checked_reads: found.sweep.blocks,
            ..VerificationCoverage::default()
        },
        sweep: found.sweep,
        cost: VerificationCost::default(),
        counts: found.counts.clone(),
        faults: found.versions.iter().map(|versions| versions.fault.clone()).collect(),
        fault_maps: found.fault_maps.clone(),
        simulated_loss: None,
        durability: None,
    }
}

/// All that a target may be known by, and its size.
struct KnownTarget {
    /// The ledgers of its test files, or the device itself.
    identities: Vec<String>,
    /// A directory whose test file may be gone.
    directory: Option<String>,
    size_bytes: u64,
}

fn known_by(target: &Path) -> Result<KnownTarget> {
    if is_device(target) {
        let root = SysRoot::live();
        let storage = read_storage(&Survey::new(&root), target)?;
        let size_bytes = storage.stack.layers.first().map_or(0, |layer| layer.size_bytes);
        let identities = vec![of_device(&storage)];
        return Ok(KnownTarget { identities, directory: None, size_bytes });
    }
    if target.exists() && !target.is_dir() {
        return Err(Error::usage(
            format!("{} is neither a directory nor a block device", target.display()),
            "specify the target that was verified",
        ));
    }
    let files = if target.exists() { ledger_files_in(target)? } else { Vec::new() };
    let sizes = files.iter().filter_map(|file| Some(file.path().metadata().ok()?.len()));
    let directory = KnownDirectory::of(target);
    let file_system_bytes = directory.as_ref().map(|known| known.size_bytes);
    let size_bytes = sizes.max().or(file_system_bytes).unwrap_or(0);
    let identities = files.iter().map(|file| of_file(file.ledger())).collect();
    let directory = directory.map(|known| known.identity);
    Ok(KnownTarget { identities, directory, size_bytes })
}

/// Nothing can be judged: the storage may be away as well as lost.
pub(super) fn no_file(target: &str) -> Error {
    Error::usage(
        format!("{target} does not contain the test file of the ledger"),
        "specify the target that was verified, mounted; if it is, and nobody removed the file, \
         then the storage lost it with every acknowledged write",
    )
}
