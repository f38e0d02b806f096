//! Where the load runs: a server of our own in a directory, or a server that a person named.

use super::{BLOCK_BYTES, IoMethod, ServerOptions};
use crate::options::typed;
use crate::progress::Progress;
use crate::verbs::load::guard;
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_loads::slob::Rules;
use assay_methods::slob::{Database, Fill, OwnPlan, OwnServer, clean_up, fill, schema_name};
use assay_model::environment::Environment;
use assay_model::load::Filled;
use assay_model::measurement::Remark;
use assay_model::number::{real, share};
use assay_model::units::show_bytes;
use assay_model::{Error, Result};
use assay_postgres::address::{Address, is_address};
use assay_postgres::binaries::Places;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A target that was understood.
pub enum Named {
    /// A directory on the storage.
    Directory(PathBuf),
    /// A server.
    Server(Box<Address>),
}

/// A database that is loaded and ready to be measured.
pub struct Ground {
    /// The way to it.
    pub database: Database,
    /// How its data came to be there.
    pub filled: Filled,
    /// Ours; ends when the ground does.
    own: Option<OwnServer>,
    keep: bool,
}

impl Named {
    /// Reads a target.
    ///
    /// # Errors
    /// A usage error when it is neither.
    pub fn read(target: &str) -> Result<Self> {
        if is_address(target) {
            let address = Address::parse(target, |name| std::env::var(name).ok())?;
            return Ok(Self::Server(Box::new(address)));
        }
        let path = PathBuf::from(target);
        if path.is_dir() {
            return Ok(Self::Directory(path));
        }
        Err(Error::usage(
            format!("{target} is neither a directory nor the address of a server"),
            "name a directory on the storage, or postgresql://USER@HOST/DATABASE",
        ))
    }

    /// The target without secrets.
    pub fn shown(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Server(address) => address.to_string(),
        }
    }

    /// The command line without secrets.
    pub fn command(&self, target: &str) -> Vec<String> {
        let shown = self.shown();
        std::env::args().map(|word| if word == target { shown.clone() } else { word }).collect()
    }
}

/// What a ground is made for.
pub struct Wanted<'a> {
    /// The knobs.
    pub rules: &'a Rules,
    /// Sessions at most.
    pub sessions_max: u32,
    /// The server.
    pub server: &'a ServerOptions,
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
}

impl Ground {
    /// Makes or enters the server and loads the tables.
    ///
    /// # Errors
    /// What the gate or the server say; then nothing of ours is left behind.
    pub fn prepare(named: &Named, wanted: &Wanted<'_>, progress: &mut Progress) -> Result<Self> {
        match named {
            Named::Directory(path) => Self::own(path, wanted, progress),
            Named::Server(address) => Self::given(address, wanted, progress),
        }
    }

    fn own(path: &Path, wanted: &Wanted<'_>, progress: &mut Progress) -> Result<Self> {
        for left in clean_up(path)? {
            progress
                .say(&format!("note: removed {}, left behind by an earlier run", left.display()));
        }
        let mut own = OwnServer::make(own_plan(path, wanted)?, wanted.stop)?;
        let mut database = Database::on_own(&own, &schema_name())?;
        let filled = load(&mut database, wanted, progress)?;
        drop(database);
        own.turn_to_measuring(wanted.stop)?;
        let mut database = Database::on_own(&own, &schema_name())?;
        if !own.is_direct() && !wanted.server.buffered && database.knowledge.major >= 16 {
            database.remarks.push(no_direct(path));
        }
        Ok(Self { database, filled, own: Some(own), keep: wanted.server.keep })
    }

    fn given(address: &Address, wanted: &Wanted<'_>, progress: &mut Progress) -> Result<Self> {
        let mut database = Database::at(address, &schema_name())?;
        database.remove_left()?;
        let filled = match load(&mut database, wanted, progress) {
            Ok(filled) => filled,
            Err(error) => {
                // The failure is what must be heard of; what remains is removed by the next start.
                let _ = database.remove_schema();
                return Err(error);
            }
        };
        database.settle();
        Ok(Self { database, filled, own: None, keep: wanted.server.keep })
    }

    /// The host, and the storage under the data where it is known.
    pub fn environment(&self, named: &Named) -> Option<Environment> {
        let place = match named {
            Named::Directory(path) => Some(path.clone()),
            Named::Server(_) => self.database.data.clone(),
        };
        let paths: Vec<&Path> = place.iter().map(PathBuf::as_path).collect();
        capture_environment(&SysRoot::live(), &paths, &[]).ok()
    }

    /// Removes what was made: the tables of a server that is not ours, or our server with its directory.
    ///
    /// # Errors
    /// What does not go.
    pub fn finish(mut self) -> Result<()> {
        match self.own.take() {
            Some(own) => {
                drop(self.database);
                own.finish()
            }
            None if self.keep => self.database.give_away_schema(),
            None => self.database.remove_schema(),
        }
    }
}

fn own_plan(path: &Path, wanted: &Wanted<'_>) -> Result<OwnPlan> {
    let (rules, server) = (wanted.rules, wanted.server);
    let blocks = rules.scale_blocks.saturating_mul(u64::from(rules.tables));
    Ok(OwnPlan {
        binaries: Places::of_this_program(server.bindir.clone()).find()?,
        target: path.to_owned(),
        guard: guard::words(),
        data_bytes: assay_methods::slob::data_bytes(blocks, BLOCK_BYTES),
        shared_buffers_bytes: server.shared_buffers.0,
        sessions_max: wanted.sessions_max,
        direct: !server.buffered,
        io_method: server.io_method.map(|method| match method {
            IoMethod::Sync => assay_postgres::server::IoMethod::Sync,
            IoMethod::Worker => assay_postgres::server::IoMethod::Worker,
            IoMethod::IoUring => assay_postgres::server::IoMethod::IoUring,
        }),
        keep: server.keep,
    })
}

fn load(database: &mut Database, wanted: &Wanted<'_>, progress: &mut Progress) -> Result<Filled> {
    let mut show = |rows: u64, total: u64| {
        let what = format!("loading tables: {}", show_bytes(real(rows * BLOCK_BYTES)));
        progress.show(&what, share(rows, total), None);
    };
    let filled = fill(database, wanted.rules, &mut Fill { stop: wanted.stop, progress: &mut show });
    progress.clear();
    filled
}

fn no_direct(path: &Path) -> Remark {
    Remark {
        what: format!("the file system of {} takes no direct I/O", typed(&[path.display()])),
        why: "the server reads through the page cache".to_owned(),
        remedy: "name a directory on another file system".to_owned(),
    }
}
