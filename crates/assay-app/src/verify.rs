//! Whether storage keeps what it acknowledged: times of flushes and a verified load, with a ledger
//! until the storage dies, and the judgement of what is left afterwards.

mod after;
mod target_identity;
mod workload;

use crate::context::Context;
use crate::dry_run::PlanSummary;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::plan::CommandPlan;
use crate::plan_document::PlanDocument;
use crate::recording::{
    OpenTarget, Recording, RunRequest, check_verifiable, keeps_no_acknowledged_data,
};
use crate::target_plan::TargetPlan;
use assay_engine::OpenFile;
use assay_host::clock::unix_ns;
use assay_host::declarations::{declarations, declared_units};
use assay_host::root::SysRoot;
use assay_ledger::{
    KeptAcknowledgements, LedgerHead, LedgerId, LedgerPlace, LedgerRecorder, LedgerSubject,
};
use assay_methods::durability::durability;
use assay_methods::flush_timing::time_flushes;
use assay_methods::page_protection::with_page_protection;
use assay_methods::target::{LedgerUse, TargetStorage, is_simulated};
use assay_model::durability::{Durability, FlushTiming, JudgedCut};
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Error, Result, Workload};
use assay_report::shell_word;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub use after::AfterPlan;
use target_identity::KnownDirectory;
pub(crate) use target_identity::{boot, check_apart, identity};

/// The cell of the load.
const CELL: &str = "verify";
/// Share of the time for the times of flushes; the load has the rest.
const TIMING_SHARE: f64 = 0.25;
/// Size of a test file where nobody says one: large enough for caches of devices, small enough to
/// be read again in seconds.
const FILE_BYTES: u64 = 1 << 30;
/// With a ledger a run lasts until the storage dies; this is as good as that.
const UNTIL_IT_DIES: Nanos = Nanos(30 * 86_400 * 1_000_000_000);
/// How long a run without a ledger lasts where nobody says it.
const USUAL: Nanos = Nanos(150_000_000_000);

/// The plan of a verification.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyPlan {
    /// Duration; by default 150s, or until the storage stops if there is a ledger
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// Criteria to judge by: a file
    #[arg(long, value_name = "FILE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<PathBuf>,
    /// What is verified, and how it is opened: one directory or device
    #[command(flatten)]
    pub target: TargetPlan,
    /// Where acknowledgements are kept, so that a cut can be judged
    #[arg(skip)]
    #[serde(skip)]
    pub ledger: Option<LedgerPlace>,
}

/// A ledger that is gone on with, and what was judged of it before.
struct KnownLedger {
    id: LedgerId,
    cuts: Vec<JudgedCut>,
}

impl CommandPlan for VerifyPlan {
    fn target(&self) -> TargetPlan {
        self.target.clone()
    }

    fn summary(&self) -> Result<PlanSummary> {
        let time = match (self.time, &self.ledger) {
            (Some(time), _) => time.to_string(),
            (None, Some(_)) => "until the storage dies or it is stopped".to_owned(),
            (None, None) => "150s".to_owned(),
        };
        let ledger = self.ledger.as_ref().map_or_else(
            || "times of flushes, then".to_owned(),
            |place| format!("with acknowledgements kept in {place},"),
        );
        Ok(PlanSummary {
            format: 1,
            title: "verify".to_owned(),
            load: format!("{ledger} random writes with flushes, all of them verified"),
            time: format!("{time}{}", self.target.filling()),
            targets: self.sized().summary(true, true, false)?,
            server: None,
        })
    }

    /// Verifies a target: with times of flushes and without a cut, or with a ledger until it dies.
    fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.check()?;
        let criteria = self.judged_by()?;
        let named = criteria.as_ref();
        match &self.ledger {
            None => self.without_ledger(named, context),
            Some(place) => {
                check_apart(place, self.only_target()?, context)?;
                place.check_new()?;
                let use_of = |id: &LedgerId| LedgerUse::New(id.digits());
                self.with_ledger(place, None, use_of, named, context)
            }
        }
    }
}

impl VerifyPlan {
    fn judged_by(&self) -> Result<Option<CriteriaSource>> {
        CriteriaSource::named(self.criteria.as_deref())
    }

    fn check(&self) -> Result<()> {
        let target = self.only_target()?;
        let workload = self.workload();
        if is_simulated(target) {
            return Err(keeps_no_acknowledged_data());
        }
        check_verifiable(&workload, Share(1.0))?;
        if self.ledger.is_some() && Path::new(target).is_file() {
            return Err(Error::usage(
                format!("{target} is a file, and a ledger needs a test file made by Assay"),
                "specify a directory or a block device",
            ));
        }
        Ok(())
    }

    /// The name of the one target.
    fn only_target(&self) -> Result<&str> {
        match &self.target.targets[..] {
            [one] => Ok(one),
            others => Err(Error::usage(
                format!(
                    "{} targets are specified, but only one can be verified at a time",
                    others.len()
                ),
                "specify one directory or block device",
            )),
        }
    }

    fn workload(&self) -> Workload {
        let time = match (self.time, &self.ledger) {
            (Some(time), Some(_)) => time,
            (Some(time), None) => Nanos(time.0 - share_of(time, TIMING_SHARE).0),
            (None, Some(_)) => UNTIL_IT_DIES,
            (None, None) => USUAL,
        };
        workload::workload(time)
    }

    pub(crate) fn sized(&self) -> TargetPlan {
        let mut target = self.target.clone();
        if Path::new(target.targets.first().map_or("", String::as_str)).is_dir() {
            target.size = target.size.or(Some(Bytes(FILE_BYTES)));
        }
        target
    }

    fn without_ledger(
        &self,
        named: Option<&CriteriaSource>,
        context: &Context,
    ) -> Result<FinishedRun> {
        let (workload, target) = (self.workload(), self.sized());
        let document = PlanDocument::new(self)?;
        let request = RunRequest::of(&workload, &target, Some(&document));
        let mut recording = Recording::begin(RunKind::Verify, &request, context)?;
        let timed = self.time_flushes(&recording, context);
        let measured = timed.and_then(|timing| {
            recording.verify(&workload, Share(1.0))?;
            let measurement = recording.measure(CELL, &workload)?;
            let durability = weighed(&recording, Some(timing), Vec::new());
            recording.end_verification(&measurement.finish, Some(durability))?;
            Ok(measurement.finish)
        });
        match measured {
            Ok(finish) => finish_run(recording.end(), &finish, named),
            Err(error) => Err(recording.abandon(error)),
        }
    }

    fn time_flushes(&self, recording: &Recording, context: &Context) -> Result<FlushTiming> {
        let storage = storage_of(recording)?;
        let stack = storage.environment.storage.first().map(|storage| &storage.stack);
        let time = share_of(self.time.unwrap_or(USUAL), TIMING_SHARE);
        let progress = context.progress.clone();
        let mut show = |share: f64| progress.show("timing flushes", share, None);
        let timing = time_flushes(&storage.targets[0], stack, time, &context.stop, &mut show);
        context.progress.clear();
        timing
    }

    /// Writes with a ledger until the storage dies, the time is over, or somebody asks for the end.
    fn with_ledger(
        &self,
        place: &LedgerPlace,
        known: Option<KnownLedger>,
        use_of: impl FnOnce(&LedgerId) -> LedgerUse,
        named: Option<&CriteriaSource>,
        context: &Context,
    ) -> Result<FinishedRun> {
        let KnownLedger { id, cuts } = match known {
            Some(known) => known,
            None => KnownLedger { id: LedgerId::random()?, cuts: Vec::new() },
        };
        let use_of = use_of(&id);
        let goes_on = matches!(use_of, LedgerUse::Again(_));
        let target = TargetPlan { ledger: Some(use_of), ..self.sized() };
        let workload = self.workload();
        let document = PlanDocument::new(self)?;
        let request = RunRequest::of(&workload, &target, Some(&document));
        let mut recording = Recording::begin(RunKind::Verify, &request, context)?;
        let measured = self.measure_with_ledger(&mut recording, place, id, goes_on, &workload);
        match measured {
            Ok((finish, kept)) => {
                let cuts = weighed(&recording, None, cuts);
                end_with_ledger(recording, &finish, cuts, &kept, named)
            }
            Err(error) => Err(recording.abandon(error)),
        }
    }

    fn measure_with_ledger(
        &self,
        recording: &mut Recording,
        place: &LedgerPlace,
        id: LedgerId,
        goes_on: bool,
        workload: &Workload,
    ) -> Result<(Finish, KeptAcknowledgements)> {
        let (target, context) = (self.only_target()?.to_owned(), recording.context.clone());
        let identity = identity(storage_of(recording)?, id);
        recording.verify_with_ledger(workload, |opened, run, block_bytes| {
            let head = head(id, &target, identity, opened, run, block_bytes);
            let writer = if goes_on { place.go_on(id, &head)? } else { place.create(id, &head)? };
            LedgerRecorder::begin(writer, complaint(&context))
        })?;
        let hint = format!(
            "note: acknowledgements go to {place}; cut the power at any time, then `assay verify \
             {} --after {}`",
            shell_word(&target),
            option(place)
        );
        context.progress.say(&hint);
        let measurement = recording.measure(CELL, workload)?;
        Ok((measurement.finish, recording.end_ledger().unwrap_or_default()))
    }
}

/// Sweeps and judges a run with a ledger that was not cut.
fn end_with_ledger(
    mut recording: Recording,
    finish: &Finish,
    durability: Durability,
    kept: &KeptAcknowledgements,
    named: Option<&CriteriaSource>,
) -> Result<FinishedRun> {
    if let Some(reason) = &kept.reason {
        let unkept = kept.unkept;
        recording.context.progress.say(&format!(
            "note: {unkept} acknowledgements are not in the ledger and will not be judged: \
             {reason}"
        ));
    }
    let durability = Durability {
        acknowledgements: kept.kept,
        unkept_acknowledgements: kept.unkept,
        ..durability
    };
    match recording.end_verification(finish, Some(durability)) {
        Ok(_) => finish_run(recording.end(), finish, named),
        Err(error) => Err(recording.abandon(error)),
    }
}

/// Says that a ledger no longer takes acknowledgements, while that can still be mended.
pub(crate) fn complaint(context: &Context) -> impl FnOnce(&str) + Send + 'static {
    let progress = context.progress.clone();
    move |reason| {
        progress.say(&format!(
            "note: acknowledgements are not being recorded, so a cut now would prove less: \
             {reason}"
        ));
    }
}

/// How the ledger is named on the command line.
fn option(place: &LedgerPlace) -> String {
    match place {
        LedgerPlace::File(path) => format!("--ledger {}", shell_word(&path.to_string_lossy())),
        LedgerPlace::Witness(address) => format!("--witness {address} --token-file FILE"),
    }
}

/// What a directory is known by if its test file is gone.
fn directory(target: &str) -> Option<String> {
    let path = Path::new(target);
    path.is_dir().then(|| KnownDirectory::of(path)).flatten().map(|known| known.identity)
}

/// What a stretch of a ledger begins with.
fn head(
    id: LedgerId,
    named: &str,
    identity: String,
    target: &OpenFile,
    run: u32,
    block_bytes: u64,
) -> LedgerHead {
    LedgerHead {
        format: 1,
        ledger: id.digits(),
        target: named.to_owned(),
        identity,
        directory: directory(named),
        boot: boot(&SysRoot::live()),
        began_unix_ns: unix_ns(),
        subject: LedgerSubject::Blocks {
            run,
            block_bytes,
            first_byte: target.first_byte,
            length_bytes: target.length_bytes,
        },
    }
}

/// All that is known of a target that is open.
fn weighed(recording: &Recording, timing: Option<FlushTiming>, cuts: Vec<JudgedCut>) -> Durability {
    let OpenTarget::Storage(storage) = &recording.target else {
        return durability(Vec::new(), timing, cuts);
    };
    let Some(facts) = storage.environment.storage.first() else {
        return durability(Vec::new(), timing, cuts);
    };
    let file = storage.targets.first().map(|target| &target.file);
    let found = durability(declarations(&facts.stack), timing, cuts);
    with_page_protection(found, workload::PAGE.0, declared_units(&facts.stack, file))
}

fn storage_of(recording: &Recording) -> Result<&TargetStorage> {
    match &recording.target {
        OpenTarget::Storage(storage) => Ok(storage),
        OpenTarget::Simulated(..) | OpenTarget::Hosts(_) => Err(keeps_no_acknowledged_data()),
    }
}

/// A part of a time.
fn share_of(time: Nanos, share: f64) -> Nanos {
    Nanos(assay_model::number::count(assay_model::number::real(time.0) * share))
}
