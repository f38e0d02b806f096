//! Where a load runs: a managed server in a directory, or a server that a person named.

use super::partial_data::PartialData;
use super::server_plan::{ServerPlan, ServerSizing};
use crate::command_line::typed;
use crate::context::Context;
use crate::progress::ProgressSender;
use assay_dbload::load::{
    LoadSchema, LoadTarget, OwnDatabase, OwnServer, OwnedKind, OwnedPlace, PreservedServer,
    Product, left_in, remove_left_in,
};
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_model::environment::Environment;
use assay_model::failure::Refusal;
use assay_model::load::Filled;
use assay_model::load::LoadKind;
use assay_model::measurement::Remark;
use assay_model::number::real;
use assay_model::units::show_bytes;
use assay_model::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a managed server that does not answer may take to end, or to answer again.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is asked.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A database that is loaded and ready to be measured.
pub struct PreparedServer<L: Product> {
    /// The way to it.
    pub database: LoadSchema<L>,
    /// How its data came to be there; none when it was there already.
    pub filled: Option<Filled>,
    /// Ours; ends with the prepared server.
    pub own: Option<OwnServer<L::Own>>,
    /// What becomes of our tables in a server that is not ours.
    pub after: Cleanup,
}

/// What becomes of our tables in a server that is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// They are removed.
    Remove,
    /// They get a name that no Assay program removes.
    GiveAway,
    /// They stay as they are.
    Leave,
    /// Their whole database, which is ours, is removed.
    RemoveDatabase,
}

/// Loads the tables of a load into a database; returns how they came there, or nothing when they
/// were there.
pub type ServerFill<'a, L> = &'a mut dyn FnMut(&mut LoadSchema<L>) -> Result<Option<Filled>>;

/// What a prepared server is made for.
pub struct ServerRequest<'a, L: Product> {
    /// Our schema.
    pub schema: String,
    /// The load.
    pub kind: LoadKind,
    /// Whether the schema has a name that no later run looks for.
    pub is_named_at_random: bool,
    /// What becomes of what earlier runs left behind: it is named, and dropped only where that is
    /// asked for.
    pub partial_data: Option<PartialData>,
    /// The database around the schema, where that is ours alone.
    pub own_database: Option<OwnDatabase>,
    /// What a managed server must carry.
    pub sizing: ServerSizing,
    /// The server.
    pub server: &'a ServerPlan,
    /// Loads the tables.
    pub fill: ServerFill<'a, L>,
}

impl<L: Product> PreparedServer<L> {
    /// Enters a given server with a database that is Assay's alone and can be copied.
    ///
    /// # Errors
    /// What the server says, or that the product has no such copies.
    pub fn with_copy(
        named: &LoadTarget,
        mut wanted: ServerRequest<'_, L>,
        context: &Context,
    ) -> Result<Self> {
        let Some(address) = L::address_in(named) else {
            return Self::prepare(named, wanted, context);
        };
        // What is copied as a whole must hold nothing of anybody else.
        let OwnedPlace { database, is_new, address: inside } =
            L::enter_database(address, &wanted.schema)?;
        wanted.own_database = Some(database.clone());
        let mut prepared = match Self::given(&inside, &mut wanted, context) {
            Ok(prepared) => prepared,
            Err(error) => {
                // The failure is what must be heard of; a database that stays is named by `runs
                // clean`.
                if is_new {
                    let _ = L::drop_database(address, &database);
                }
                return Err(error);
            }
        };
        if prepared.after == Cleanup::Remove {
            prepared.after = Cleanup::RemoveDatabase;
        }
        Ok(prepared)
    }

    /// Makes or enters the server and loads the tables.
    ///
    /// # Errors
    /// What the gate or the server say; then Assay leaves nothing behind.
    pub fn prepare(
        named: &LoadTarget,
        mut wanted: ServerRequest<'_, L>,
        context: &Context,
    ) -> Result<Self> {
        if let LoadTarget::Directory(path) = named {
            return Self::own(path, &mut wanted, context);
        }
        match L::address_in(named) {
            Some(address) => Self::given(address, &mut wanted, context),
            None => Err(Error::usage(
                format!("{}: this load does not support this server", named.shown()),
                format!(
                    "specify a directory, or a server of the kind {}",
                    L::DIALECT.facts().backend
                ),
            )),
        }
    }

    fn own(path: &Path, wanted: &mut ServerRequest<'_, L>, context: &Context) -> Result<Self> {
        if let Some(kept) = PreservedServer::read(path)? {
            return Self::kept(path, &kept, wanted, context);
        }
        see_to_left_in(path, wanted.partial_data, &context.progress)?;
        let plan = wanted.server.own::<L::Own>(path, wanted.sizing, &context.guards.server)?;
        context.progress.show("creating a server", 0.0, None);
        let mut own = OwnServer::make(plan, &context.stop)?;
        let mut database = LoadSchema::on_own(&own, &wanted.schema)?;
        let filled = (wanted.fill)(&mut database)?;
        drop(database);
        context.progress.show("restarting the server for the measurement", 0.0, None);
        own.turn_to_measuring(&context.stop)?;
        let mut database = LoadSchema::on_own(&own, &wanted.schema)?;
        if own.is_refused_direct() {
            database.remarks.push(no_direct(path));
        }
        Ok(Self { database, filled, own: Some(own), after: Cleanup::Remove })
    }

    /// A server that an earlier run left; its tables are used again when they are those that are
    /// wanted.
    fn kept(
        path: &Path,
        kept: &PreservedServer,
        wanted: &mut ServerRequest<'_, L>,
        context: &Context,
    ) -> Result<Self> {
        let plan = wanted.server.own::<L::Own>(path, wanted.sizing, &context.guards.server)?;
        context.progress.show("starting the kept server", 0.0, None);
        let own = OwnServer::adopt(plan, kept, &context.stop)?;
        let mut database = LoadSchema::on_own(&own, &kept.schema)?;
        let filled = (wanted.fill)(&mut database)?;
        if own.is_refused_direct() {
            database.remarks.push(no_direct(path));
        }
        Ok(Self { database, filled, own: Some(own), after: Cleanup::Remove })
    }

    /// Where a managed server will stay, when it is kept.
    pub fn kept_place(&self) -> Option<&Path> {
        self.own.as_ref().and_then(|own| own.kept_place())
    }

    fn given(
        address: &L::Address,
        wanted: &mut ServerRequest<'_, L>,
        context: &Context,
    ) -> Result<Self> {
        context.progress.show("connecting to the server", 0.0, None);
        let mut database = LoadSchema::at(address, &wanted.schema)?;
        database.own_database = wanted.own_database.take();
        database.hold()?;
        see_to_left(&mut database, wanted, &context.progress)?;
        let filled = match (wanted.fill)(&mut database) {
            Ok(filled) => filled,
            Err(error) => {
                // What an account may not load, or a load never continues, is of no use.
                let is_denied = error.kind() == ErrorKind::Server(Some(Refusal::Denied));
                if is_denied || wanted.kind == LoadKind::Slob {
                    database.undo_claim();
                }
                return Err(error);
            }
        };
        database.write_out();
        let after = match (wanted.server.keep, wanted.is_named_at_random) {
            (true, true) => Cleanup::GiveAway,
            (false, _) if filled.is_some() => Cleanup::Remove,
            _ => Cleanup::Leave,
        };
        Ok(Self { database, filled, own: None, after })
    }

    /// Starts a managed server again when it has died, and opens the way to the server again.
    pub fn come_back(&mut self, stop: &AtomicBool) -> Result<()> {
        let begun = Instant::now();
        // One that does not start is not tried again.
        while self.revive(stop)? || !self.database.is_reachable() {
            let Err(error) = self.database.come_back() else { break };
            let is_over = stop.load(Ordering::Relaxed) || begun.elapsed() > PATIENCE;
            if self.own.is_none() || is_over {
                return Err(error);
            }
            // Sessions see the end of a server before whoever started it does, and a server that
            // lost one of its processes recovers before it takes sessions again.
            std::thread::sleep(ASK_EVERY);
        }
        if let Some(own) = &self.own {
            self.database.first_process = own.process_id();
        }
        Ok(())
    }

    fn revive(&mut self, stop: &AtomicBool) -> Result<bool> {
        self.own.as_mut().map_or(Ok(false), |own| own.revive(stop))
    }

    /// Where its data lie, where that is known.
    pub fn place(&self, named: &LoadTarget) -> Option<PathBuf> {
        match named {
            LoadTarget::Directory(path) => Some(path.clone()),
            LoadTarget::Server(_) => self.database.data.clone(),
        }
    }

    /// The host, and the storage under the data where it is known.
    pub fn environment(&self, named: &LoadTarget) -> Option<Environment> {
        let place = self.place(named);
        let paths: Vec<&Path> = place.iter().map(PathBuf::as_path).collect();
        capture_environment(&SysRoot::live(), &paths, &[]).ok()
    }

    /// Removes what was made: the tables of a server that is not ours, or our server with its
    /// directory.
    pub fn finish(mut self) -> Result<()> {
        match self.own.take() {
            Some(mut own) => {
                own.note_schema(&self.database.schema);
                drop(self.database);
                own.finish()
            }
            None => match self.after {
                Cleanup::Remove => self.database.remove_schema(),
                Cleanup::GiveAway => self.database.give_away_schema(),
                Cleanup::Leave => self.database.keep_schema(),
                Cleanup::RemoveDatabase => self.database.remove_all(),
            },
        }
    }
}

/// Names what earlier runs left in a directory, and removes it where that is asked for.
///
/// # Errors
/// An environment error when the directory cannot be read or something does not go.
pub fn see_to_left_in(
    path: &Path,
    partial_data: Option<PartialData>,
    progress: &ProgressSender,
) -> Result<()> {
    let found = left_in(path)?;
    for directory in &found.directories {
        let (size, shown) =
            (show_bytes(real(directory.held().disk_bytes())), directory.path().display());
        if partial_data == Some(PartialData::Drop) {
            remove_left_in(directory)?;
            progress.say(&format!("note: removed {shown} ({size}), left behind by an earlier run"));
        } else {
            progress.say(&format!(
                "note: an earlier run left {shown} ({size}): --partial-data drop or `assay runs \
                 clean` removes it"
            ));
        }
    }
    for (path, why) in &found.unknown {
        progress.say(&format!("note: {} stays: {why}", path.display()));
    }
    Ok(())
}

/// Names what earlier runs left on a given server, and drops what is of this load where that is
/// asked for.
fn see_to_left<L: Product>(
    database: &mut LoadSchema<L>,
    wanted: &ServerRequest<'_, L>,
    progress: &ProgressSender,
) -> Result<()> {
    let (left, others) = database.left()?;
    for left in left.iter().filter(|left| left.owner.kind == OwnedKind::Load(wanted.kind)) {
        let size = show_bytes(real(left.bytes));
        if wanted.partial_data == Some(PartialData::Drop) {
            database.remove_left(left)?;
            progress.say(&format!(
                "note: dropped {} ({size}), left behind by an earlier run",
                left.name
            ));
        } else {
            progress.say(&format!(
                "note: an earlier run left the schema {} ({size}): --partial-data drop or `assay \
                 runs clean` drops it",
                left.name
            ));
        }
    }
    let begin = format!("assay_{}_", wanted.kind.name());
    for (name, why) in others.iter().filter(|(name, _)| name.starts_with(&begin)) {
        progress.say(&format!("note: the schema {name} is left unchanged: {why}"));
    }
    Ok(())
}

fn no_direct(path: &Path) -> Remark {
    Remark {
        what: format!(
            "the file system of {} does not support direct I/O",
            typed(&[path.display()])
        ),
        why: "the server reads through the page cache".to_owned(),
        remedy: "specify a directory on another file system".to_owned(),
    }
}

/// Processors of this machine.
pub fn processors() -> u32 {
    let all = std::thread::available_parallelism();
    all.map_or(1, |all| u32::try_from(all.get()).unwrap_or(u32::MAX))
}
