//! The judgement after a cut: the server recovers, every acknowledged transaction must be there,
//! the conditions must hold, and its own programs look at its pages.

use super::commit_ledger::{CommitPlan, kept_server, read_own};
use super::driver::TransactionLoad;
use super::table_setup::TableSetup;
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun, finish_run};
use crate::load::ladder_run::unmeasured;
use crate::load::server_plan::ServerSizing;
use crate::plan_document::PlanDocument;
use crate::recording::{give_up, tell_run};
use crate::verify::boot;
use assay_dbload::load::{
    LoadSchema, LoadTables, LoadTarget, Method, OwnServer, Product, ServerLink,
};
use assay_dbserver::ServerProgram;
use assay_host::clock::unix_ns;
use assay_host::declarations::{declarations, declared_units};
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_ledger::{Epoch, Ledger, LedgerSubject, judge_commits};
use assay_methods::durability::durability;
use assay_methods::page_protection::with_page_protection;
use assay_model::durability::{CutKind, Durability, JudgedCommits, JudgedCut, PageCheck};
use assay_model::environment::Environment;
use assay_model::load::{Checks, Load, Setting};
use assay_model::measurement::Finish;
use assay_model::number::{count_of, seconds};
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_store::{NewRun, RunWriter, StoredDocument};
use std::fs::{self, File};
use std::path::Path;

/// Bytes of a page of a managed server, whatever its product.
const PAGE_BYTES: u64 = 8192;

/// A load whose database is judged.
pub(super) struct JudgedLoad<'a, T, M: Method> {
    pub(super) target: &'a str,
    pub(super) ledger: &'a CommitPlan,
    pub(super) setup: &'a TableSetup<'a, T>,
    pub(super) load: &'a TransactionLoad<M>,
    pub(super) settings: &'a [Setting],
}

/// The server of a load, if it came back.
struct ReachedServer<L: Product> {
    database: LoadSchema<L>,
    own: Option<OwnServer<L::Own>>,
}

/// What was found.
#[derive(Default)]
struct FoundCommits {
    commits: JudgedCommits,
    checks: Option<Checks>,
}

/// The last stretch of a ledger.
struct CommitCase<'a> {
    epoch: &'a Epoch,
    run: u32,
    schema: &'a str,
}

impl<T: LoadTables, M: Method<Link: Product>> JudgedLoad<'_, T, M> {
    /// Judges, as a run of its own; changes nothing in the tables of the load.
    ///
    /// # Errors
    /// A usage error when ledger and server do not belong together, an environment error when the
    /// server does not start for another reason than what it found on storage.
    pub(super) fn run(
        &self,
        document: &PlanDocument,
        criteria: Option<&CriteriaSource>,
        context: &Context,
    ) -> Result<FinishedRun> {
        let ledger = read_own(&self.ledger.place, self.target)?;
        if let Some(gap) = ledger.gap() {
            context.progress.say(&format!("note: {gap}"));
        }
        let named = LoadTarget::read(self.target)?;
        let writer = context.store.create(&NewRun {
            kind: RunKind::Bench,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            command: named.command(self.target, &context.command),
            targets: vec![named.shown()],
            created_unix_ns: unix_ns(),
        })?;
        document.keep(&writer)?;
        tell_run(&writer, context);
        let judged = self.judge(&named, &ledger, &writer, context);
        context.progress.clear();
        match judged {
            Ok(()) => finish_run(writer, &Finish::Complete, criteria),
            Err(error) => {
                give_up(&context.store, writer);
                Err(error)
            }
        }
    }

    fn judge(
        &self,
        named: &LoadTarget,
        ledger: &Ledger,
        writer: &RunWriter,
        context: &Context,
    ) -> Result<()> {
        let case = case(ledger)?;
        let mut load = unmeasured(self.load.method.kind(), "the database was judged after a cut");
        load.plan = self.settings.to_vec();
        let found = self.look(named, &case, &mut load, context)?;
        load.checks.extend(found.checks);
        let judged = self.judged(&case, found.commits);
        if !ledger.is_damaged {
            self.ledger.place.judge(ledger.id, &judged)?;
        }
        let mut cuts = ledger.judgements();
        if !case.epoch.judgements.is_empty() {
            cuts.pop();
        }
        cuts.push(judged);
        let environment = environment(named);
        let storage = environment.as_ref().and_then(|found| found.storage.first());
        let stack = storage.map(|storage| &storage.stack);
        let declared = stack.map(declarations).unwrap_or_default();
        let mut weighed = durability(declared, None, cuts);
        if let Some(stack) = stack {
            let page_bytes = page_bytes(&load);
            let units = declared_units(stack, data_file(named));
            weighed = with_page_protection(weighed, page_bytes, units);
        }
        let acknowledgements = case.epoch.acknowledgements;
        load.durability = Some(Durability { acknowledgements, ..weighed });
        if let Some(environment) = environment {
            writer.put_json(StoredDocument::Environment, &environment)?;
        }
        writer.put_json(StoredDocument::Load, &load)
    }

    /// Lets the server recover and looks at what it holds.
    fn look(
        &self,
        named: &LoadTarget,
        case: &CommitCase<'_>,
        load: &mut Load,
        context: &Context,
    ) -> Result<FoundCommits> {
        context.progress.show("waiting for the recovery of the server", 0.0, None);
        let reached = self.reach(named, case.schema, context);
        let mut reached = match reached {
            Ok(reached) => reached,
            Err(error) if is_damage::<M::Link>(&error) => return Ok(refused(case, &error)),
            Err(error) => return Err(error),
        };
        load.server = reached.database.facts();
        context.progress.show("looking for every acknowledged transaction", 0.0, None);
        let mut found = Self::count(&mut reached.database, case)?;
        context.progress.show("checking the conditions of the data", 0.0, None);
        match (self.load.verify)(&mut reached.database, "after the cut") {
            Ok(checks) => {
                let broken = checks.checks.iter().filter(|check| check.violations > 0).count();
                found.commits.broken_conditions = Some(count_of(broken));
                found.checks = Some(checks);
            }
            Err(error) => note_refusal(&mut found.commits, &error),
        }
        context.progress.show("checking the pages", 0.0, None);
        found.commits.pages = match reached.own {
            Some(mut own) => {
                drop(reached.database);
                own.check_pages(case.schema)
            }
            None => vec![not_ours()],
        };
        Ok(found)
    }

    fn reach(
        &self,
        named: &LoadTarget,
        schema: &str,
        context: &Context,
    ) -> Result<ReachedServer<M::Link>> {
        if let LoadTarget::Directory(path) = named {
            let kept = kept_server(path)?;
            let server = &self.setup.server;
            let plan = server.own::<<M::Link as Product>::Own>(
                path,
                self.sizing(),
                &context.guards.server,
            )?;
            let own = OwnServer::adopt(plan, &kept, &context.stop)?;
            let database = LoadSchema::on_own(&own, schema)?;
            return Ok(ReachedServer { database, own: Some(own) });
        }
        let address = M::Link::address_in(named).ok_or_else(|| {
            Error::usage(
                format!("{}: this load does not support this server", named.shown()),
                "specify the server that was loaded",
            )
        })?;
        let mut database = LoadSchema::at(address, schema)?;
        database.hold()?;
        Ok(ReachedServer { database, own: None })
    }

    fn sizing(&self) -> ServerSizing {
        let TableSetup { data_bytes, cache_bytes, sessions_max, .. } = *self.setup;
        ServerSizing { data_bytes, cache_bytes, sessions_max }
    }

    /// Compares what sessions left with what the ledger promises.
    fn count(database: &mut LoadSchema<M::Link>, case: &CommitCase<'_>) -> Result<FoundCommits> {
        let commits = match database.commits_of(case.run) {
            Ok((ranges, doubled)) => judge_commits(&case.epoch.promises, &ranges, doubled),
            // Who may not look knows nothing; whatever else is in the way of reading them is in the
            // way of everybody.
            Err(failure) if failure.meaning() == Some(assay_model::failure::Refusal::Denied) => {
                return Err(failure.of("looking for acknowledged transactions"));
            }
            Err(failure) => {
                let error = failure.of("looking for acknowledged transactions");
                return Ok(refused(case, &error));
            }
        };
        Ok(FoundCommits { commits, checks: None })
    }

    fn judged(&self, case: &CommitCase<'_>, commits: JudgedCommits) -> JudgedCut {
        let head = &case.epoch.head;
        let is_same_boot = boot(&SysRoot::live()) == head.boot;
        let seen = if is_same_boot { CutKind::Process } else { CutKind::System };
        let control = match head.subject {
            LedgerSubject::Commits { control, .. } => control,
            LedgerSubject::Blocks { .. } => None,
        };
        JudgedCut {
            judged_unix_ns: unix_ns(),
            acknowledgements: case.epoch.acknowledgements,
            acknowledged_s: seconds(case.epoch.elapsed_ns),
            commits: Some(JudgedCommits { control, ..commits }),
            ..JudgedCut::of(self.ledger.cut.unwrap_or(seen), case.run)
        }
    }
}

/// The last stretch of a ledger of transactions.
fn case(ledger: &Ledger) -> Result<CommitCase<'_>> {
    let epoch = ledger.last();
    match &epoch.head.subject {
        LedgerSubject::Commits { run, schema, .. } => Ok(CommitCase { epoch, run: *run, schema }),
        LedgerSubject::Blocks { .. } => Err(Error::usage(
            "the ledger records blocks, not transactions",
            "check it with `assay verify --after`",
        )),
    }
}

/// Whether a server says that what it found on storage is the reason.
fn is_damage<L: Product>(error: &Error) -> bool {
    let words = error.message().to_lowercase();
    <L::Own as ServerProgram>::DAMAGE.iter().any(|damage| words.contains(damage))
}

/// The server does not give back anything.
fn refused(case: &CommitCase<'_>, error: &Error) -> FoundCommits {
    let commits = judge_commits(&case.epoch.promises, &[], 0);
    let mut found = FoundCommits { commits, checks: None };
    found.commits.holes.clear();
    note_refusal(&mut found.commits, error);
    found
}

fn note_refusal(commits: &mut JudgedCommits, error: &Error) {
    commits.refusal.get_or_insert_with(|| error.message().to_owned());
}

/// Programs of the server are run on servers that Assay manages alone.
fn not_ours() -> PageCheck {
    let why = "it is not a server of Assay; run pg_amcheck, pg_checksums or innochecksum there";
    PageCheck::not_run("pages", why)
}

fn environment(named: &LoadTarget) -> Option<Environment> {
    let LoadTarget::Directory(path) = named else { return None };
    capture_environment(&SysRoot::live(), &[Path::new(path)], &[]).ok()
}

/// Bytes of a page; a server that did not come back cannot be asked.
fn page_bytes(load: &Load) -> u64 {
    match load.server.block_bytes {
        0 => PAGE_BYTES,
        bytes => bytes,
    }
}

/// A file of a managed server, which its file system is asked about.
fn data_file(named: &LoadTarget) -> Option<File> {
    let LoadTarget::Directory(path) = named else { return None };
    let entries = fs::read_dir(path.join("data")).ok()?;
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let found = entries.filter_map(std::result::Result::ok).find(is_file)?;
    File::open(found.path()).ok()
}
