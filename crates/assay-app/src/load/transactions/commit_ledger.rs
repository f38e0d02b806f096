//! The ledger of acknowledged transactions that a load writes: begun before the first step, gone on
//! with after a cut.

use crate::context::Context;
use crate::load::prepared_server::{Cleanup, PreparedServer};
use crate::verify::{boot, check_apart, complaint};
use assay_dbload::load::{
    CommitLog, LoadSchema, LoadTarget, PreservedServer, Product, SharedCommitLog,
};
use assay_host::clock::unix_ns;
use assay_host::root::SysRoot;
use assay_ledger::{
    Ledger, LedgerHead, LedgerId, LedgerPlace, LedgerRecorder, LedgerSubject, LedgerWriter,
};
use assay_methods::durability::durability;
use assay_model::durability::{Control, CutKind, Durability, JudgedCut};
use assay_model::{Error, Result};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What is done with a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitStep {
    /// A new one is begun.
    Begin,
    /// What the database holds is judged by it.
    Judge,
    /// Another stretch of it is begun.
    GoOn,
}

/// A ledger of acknowledged transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitPlan {
    /// Where it lies.
    pub place: LedgerPlace,
    /// What is done with it.
    pub step: CommitStep,
    /// What was cut before the judgement; found out where nobody says it.
    pub cut: Option<CutKind>,
    /// What the managed server is started without on purpose, while it writes.
    pub control: Option<Control>,
}

/// A ledger that a run writes.
pub struct CommitRun {
    plan: CommitPlan,
    target: String,
    context: Context,
    /// The ledger that is gone on with, and what was judged of it before.
    known: Option<(LedgerId, Vec<JudgedCut>)>,
}

impl CommitRun {
    /// Before anything is made.
    ///
    /// # Errors
    /// Where a ledger that is gone on with cannot be read or is about something else, or a new one
    /// cannot be made.
    pub fn new(plan: &CommitPlan, target: &str, context: &Context) -> Result<Self> {
        let known = match plan.step {
            CommitStep::GoOn => {
                let ledger = read_own(&plan.place, target)?;
                Some((ledger.id, ledger.judgements()))
            }
            CommitStep::Begin => {
                plan.place.check_new()?;
                None
            }
            CommitStep::Judge => None,
        };
        Ok(Self { plan: plan.clone(), target: target.to_owned(), context: context.clone(), known })
    }

    /// Keeps the data from now on, leaves the first row of the run, and opens the ledger for the
    /// sessions.
    ///
    /// # Errors
    /// What the server, the file system or the witness say; nothing was acknowledged then.
    pub fn begin<L: Product>(
        &mut self,
        prepared: &mut PreparedServer<L>,
        log: &SharedCommitLog,
        stop: &AtomicBool,
    ) -> Result<()> {
        if let Some(data) = data_of(prepared) {
            check_apart(&self.plan.place, &data, &self.context)?;
        }
        let run = run_number()?;
        prepared.keep_from_now(stop)?;
        let database = &mut prepared.database;
        database.begin_commits(run)?;
        let schema = database.schema.clone();
        let directory = prepared.own.as_ref().map(|own| own.directory().to_owned());
        let writer =
            self.open(identity(&self.target, directory.as_deref(), &schema)?, run, schema)?;
        let opened =
            log.set(CommitLog::new(run, LedgerRecorder::begin(writer, complaint(&self.context))?));
        debug_assert!(opened.is_ok(), "a run has one ledger");
        let shown = directory.map_or_else(|| self.shown(), |path| path.display().to_string());
        self.context.progress.say(&format!(
            "note: acknowledgements go to {}; after a cut: the same load on {shown} with --after",
            self.plan.place
        ));
        Ok(())
    }

    fn open(&mut self, identity: String, run: u32, schema: String) -> Result<LedgerWriter> {
        let (id, goes_on) = match &self.known {
            Some((id, _)) => (*id, true),
            None => (LedgerId::random()?, false),
        };
        let head = LedgerHead {
            format: 1,
            ledger: id.digits(),
            target: self.shown(),
            identity,
            directory: None,
            boot: boot(&SysRoot::live()),
            began_unix_ns: unix_ns(),
            subject: LedgerSubject::Commits { run, schema, control: self.plan.control },
        };
        let place = &self.plan.place;
        if goes_on { place.go_on(id, &head) } else { place.create(id, &head) }
    }

    fn shown(&self) -> String {
        LoadTarget::read(&self.target).map_or_else(|_| String::new(), |named| named.shown())
    }

    /// Closes the ledger, and says what is known with the cuts before.
    pub fn end(&self, log: &SharedCommitLog) -> Durability {
        let kept = log.get().map(CommitLog::finish).unwrap_or_default();
        if let Some(reason) = &kept.reason {
            self.context.progress.say(&format!(
                "note: {} acknowledgements are not in the ledger and will not be judged: {reason}",
                kept.unkept
            ));
        }
        let cuts = self.known.as_ref().map_or_else(Vec::new, |(_, cuts)| cuts.clone());
        Durability {
            acknowledgements: kept.kept,
            unkept_acknowledgements: kept.unkept,
            ..durability(Vec::new(), None, cuts)
        }
    }
}

impl<L: Product> PreparedServer<L> {
    /// Keeps the data whatever happens from now on: a managed server with all that it has written,
    /// or our tables.
    fn keep_from_now(&mut self, stop: &AtomicBool) -> Result<()> {
        let Some(own) = &mut self.own else {
            self.after = Cleanup::Leave;
            return self.database.keep_schema();
        };
        own.keep_from_now(&self.database.schema, stop)?;
        self.come_back(stop)
    }
}

/// Where the data lie, if that is known.
fn data_of<L: Product>(prepared: &PreparedServer<L>) -> Option<String> {
    let database: &LoadSchema<L> = &prepared.database;
    database.data.as_ref().map(|path| path.display().to_string())
}

/// A number for the rows of a run, by chance.
fn run_number() -> Result<u32> {
    let LedgerId([first, second, third, fourth, ..]) = LedgerId::random()?;
    Ok(u32::from_be_bytes([first, second, third, fourth]))
}

/// What a database is known by when it is found again: the directory of a managed server, or the
/// address; and the schema.
fn identity(target: &str, directory: Option<&Path>, schema: &str) -> Result<String> {
    let name = directory.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    Ok(match name {
        Some(name) => format!("schema {schema} of the server in {name}"),
        None => format!("schema {schema} at {}", LoadTarget::read(target)?.shown()),
    })
}

/// The ledger of a kept server, or of a schema on a given one.
///
/// # Errors
/// A usage error when it is about something else, an environment error when it cannot be read.
pub(super) fn read_own(place: &LedgerPlace, target: &str) -> Result<Ledger> {
    let kept = match LoadTarget::read(target)? {
        LoadTarget::Directory(path) => Some(kept_server(&path)?),
        LoadTarget::Server(_) => None,
    };
    let directory = kept.as_ref().map(PreservedServer::path);
    let schema = kept.as_ref().map(|kept| kept.schema.clone());
    // A witness has the newest ledger of this; a file says itself what it is about.
    let wanted = |schema: &str| identity(target, directory, schema);
    // It promises transactions, and nothing of blocks.
    let ledger = place.read(&wanted(schema.as_deref().unwrap_or_default())?, 0)?;
    let LedgerSubject::Commits { schema: named, .. } = &ledger.last().head.subject else {
        return Err(Error::usage(
            "the ledger records blocks, not transactions",
            "check it with `assay verify --after`",
        ));
    };
    let identity = wanted(schema.as_deref().unwrap_or(named))?;
    if ledger.last().head.identity == identity {
        return Ok(ledger);
    }
    let head = &ledger.last().head;
    Err(Error::usage(
        format!("the ledger belongs to the {}, not to the {identity}", head.identity),
        format!("specify the server that was loaded: {}", head.target),
    ))
}

/// The server that was kept in a directory.
///
/// # Errors
/// A usage error where there is none.
pub(super) fn kept_server(path: &Path) -> Result<PreservedServer> {
    PreservedServer::read(path)?.ok_or_else(|| {
        Error::usage(
            format!("{} is not the directory of a server that a load kept", path.display()),
            "specify the directory that the load printed when it started its ledger",
        )
    })
}
