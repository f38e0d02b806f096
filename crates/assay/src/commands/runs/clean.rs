//! `assay runs clean`: what runs that were killed left in directories and on servers is shown and,
//! when a person says so, removed.

use crate::exit::{ExitStatus, print};
use crate::terminal::agreed;
use assay_app::cluster::kept_logs;
use assay_dbload::load::{LoadSchema, LoadTarget, Product, ServerLink, left_in, remove_left_in};
use assay_dbload::with_link;
use assay_methods::target::{ledger_files_in, left_files_in};
use assay_model::number::real;
use assay_model::units::show_bytes;
use assay_model::{Error, Result};
use assay_store::Store;
use clap::Args;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is to be looked at, and who is asked.
#[derive(Args)]
pub struct CleanOptions {
    /// Directories or addresses of servers; by default the directories that the stored runs used
    #[arg(value_name = "STORAGE|DB")]
    targets: Vec<String>,
    /// Also the test files that `assay verify` made for its ledgers: what was acknowledged on them
    /// cannot be judged afterwards
    #[arg(long)]
    ledger_files: bool,
    /// Remove without asking
    #[arg(long)]
    yes: bool,
}

/// Something that was left behind.
struct Left {
    /// What it is, and how large.
    words: String,
    /// Takes it away.
    remove: Box<dyn FnOnce() -> Result<()>>,
}

impl Left {
    fn new(what: &str, bytes: u64, remove: impl FnOnce() -> Result<()> + 'static) -> Self {
        Self { words: format!("{what} ({})", show_bytes(real(bytes))), remove: Box::new(remove) }
    }
}

/// What was found on all targets.
#[derive(Default)]
struct FoundLeftovers {
    left: Vec<Left>,
    /// What stays, and why.
    stays: Vec<String>,
}

/// Carries the command out.
pub fn run(options: &CleanOptions, store: &Store) -> Result<ExitStatus> {
    let targets = if options.targets.is_empty() { known(store)? } else { options.targets.clone() };
    let mut found = FoundLeftovers::default();
    for target in &targets {
        found.look(target)?;
        if options.ledger_files && Path::new(target).is_dir() {
            found.look_for_ledger_files(Path::new(target))?;
        }
    }
    if options.targets.is_empty() {
        found.look_for_kept_logs()?;
    }
    let stays = found.stays.iter().map(|words| format!("stays: {words}\n"));
    let left = found.left.iter().map(|left| format!("left behind: {}\n", left.words));
    let shown = stays.chain(left).collect::<String>();
    if found.left.is_empty() {
        return print(&(shown + "there is nothing to remove\n"));
    }
    print(&shown)?;
    if !options.yes && !is_wanted()? {
        return print("nothing was removed\n");
    }
    let count = found.left.len();
    for left in found.left {
        (left.remove)()?;
    }
    print(&format!("removed {count}\n"))
}

/// Directories that runs of the store were on and that are there.
fn known(store: &Store) -> Result<Vec<String>> {
    let runs = store.runs()?.runs;
    let targets: BTreeSet<String> = runs.into_iter().flat_map(|run| run.targets).collect();
    Ok(targets.into_iter().filter(|target| Path::new(target).is_dir()).collect())
}

/// What a file takes on the disk.
fn disk_bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.blocks() * 512)
}

/// Asks on a terminal; nobody is there to answer where there is none.
fn is_wanted() -> Result<bool> {
    agreed("Remove these leftovers?").ok_or_else(|| {
        Error::usage(
            "nothing was removed: there is no terminal to confirm on",
            "add --yes to remove the listed items",
        )
    })
}

impl FoundLeftovers {
    fn look(&mut self, target: &str) -> Result<()> {
        let named = LoadTarget::read(target)?;
        match &named {
            LoadTarget::Directory(path) => self.look_into(path),
            LoadTarget::Server(server) => with_link!(server.dialect(), L => {
                L::address_in(&named).map_or(Ok(()), |address| self.look_at::<L>(address))
            }),
        }
    }

    fn look_into(&mut self, path: &Path) -> Result<()> {
        let found = left_in(path)?;
        self.left.extend(found.directories.into_iter().map(|left| {
            let (what, bytes) = (left.path().display().to_string(), left.held().disk_bytes());
            Left::new(&what, bytes, move || remove_left_in(&left))
        }));
        let files = left_files_in(path)?;
        self.left.extend(files.left.into_iter().map(|file| {
            let bytes = disk_bytes(file.path());
            let what = format!("the test file {}", file.path().display());
            Left::new(&what, bytes, move || file.remove())
        }));
        let stay = found.unknown.iter().chain(&files.stay);
        self.stays.extend(stay.map(|(path, why)| format!("{}: {why}", path.display())));
        Ok(())
    }

    /// What this host kept of runs of several hosts whose driver did not end them.
    fn look_for_kept_logs(&mut self) -> Result<()> {
        self.left.extend(kept_logs()?.into_iter().map(|log| {
            let what = format!("this host's records of {}", log.name());
            let bytes = log.bytes();
            Left::new(&what, bytes, move || log.remove())
        }));
        Ok(())
    }

    fn look_for_ledger_files(&mut self, path: &Path) -> Result<()> {
        self.left.extend(ledger_files_in(path)?.into_iter().map(|file| {
            let bytes = disk_bytes(file.path());
            let what = format!("{}, of the ledger {}", file.path().display(), file.ledger());
            Left::new(&what, bytes, move || file.remove())
        }));
        Ok(())
    }

    fn look_at<L: Product>(&mut self, address: &L::Address) -> Result<()>
    where
        L::Address: 'static,
    {
        self.look_at_databases::<L>(address)?;
        // No run has this name.
        let mut database = LoadSchema::<L>::at(address, "")?;
        let (left, others) = database.left()?;
        self.left.extend(left.into_iter().map(|left| {
            let what = format!("the schema {} of load {}", left.name, left.owner.kind.name());
            let (address, bytes) = (address.clone(), left.bytes);
            Left::new(&what, bytes, move || LoadSchema::<L>::at(&address, "")?.remove_left(&left))
        }));
        self.stays
            .extend(others.into_iter().map(|(name, why)| format!("the schema {name}: {why}")));
        Ok(())
    }

    fn look_at_databases<L: Product>(&mut self, address: &L::Address) -> Result<()>
    where
        L::Address: 'static,
    {
        let failed = |failure: assay_model::failure::Failure| {
            failure.of(format!("looking for databases on {address}"))
        };
        for (own, name, bytes) in L::left_databases(address).map_err(failed)? {
            let address = address.clone();
            let what = format!("the database {name}");
            self.left
                .push(Left::new(&what, bytes, move || L::remove_left_database(&address, &own)));
        }
        Ok(())
    }
}
