//! A database of a ladder: its server, and what is special about the load on it.

use super::load_driver::LoadDriver;
use super::prepared_server::PreparedServer;
use crate::context::Context;
use crate::progress::ProgressSender;
use assay_dbload::load::{LoadTarget, Method, Product};
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_model::Result;
use assay_model::environment::Environment;
use assay_model::load::Filled;
use assay_model::measurement::Remark;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread;

/// A database that is loaded, with what is done around its steps.
pub struct LadderDatabase<M: Method<Link: Product>> {
    /// The target as it was understood.
    pub named: LoadTarget,
    /// What is special about the load on it.
    pub driver: LoadDriver<M>,
    /// Where it is.
    pub prepared: PreparedServer<M::Link>,
}

impl<M: Method<Link: Product>> LadderDatabase<M> {
    /// Makes or enters the servers of all targets at once, because they lie on one storage, and
    /// works with them. Each is made in a thread of its own, which stays as long as its server
    /// does: the kernel ends a managed server with the thread that started it.
    ///
    /// # Errors
    /// What the gate or a server say, those that were made are gone then; and what the work says.
    pub fn with_all<T>(
        targets: &[LoadTarget],
        driver: impl FnMut() -> LoadDriver<M>,
        prepare: impl Fn(&LoadTarget, &Context) -> Result<PreparedServer<M::Link>> + Sync,
        context: &Context,
        work: impl FnOnce(Vec<Self>) -> Result<T>,
    ) -> Result<T> {
        let prepare = &prepare;
        thread::scope(|scope| {
            let begin = |named| {
                let (made, is_made) = channel();
                let (held, is_released) = channel::<()>();
                scope.spawn(move || {
                    drop(made.send(prepare(named, context)));
                    let _ = is_released.recv();
                });
                (is_made, held)
            };
            let (coming, held): (Vec<_>, Vec<_>) = targets.iter().skip(1).map(begin).unzip();
            let first = targets.first().map(|named| prepare(named, context));
            let others = coming.iter().filter_map(|one| one.recv().ok());
            let made = first.into_iter().chain(others);
            let done = Self::all(targets.iter().cloned().zip(made), driver, context).and_then(work);
            drop(held);
            done
        })
    }

    /// All that were made; none where one was not.
    fn all(
        made: impl Iterator<Item = (LoadTarget, Result<PreparedServer<M::Link>>)>,
        mut driver: impl FnMut() -> LoadDriver<M>,
        context: &Context,
    ) -> Result<Vec<Self>> {
        let (mut databases, mut failed) = (Vec::new(), None);
        for (named, made) in made {
            match made {
                Ok(prepared) => databases.push(Self { named, driver: driver(), prepared }),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let Some(error) = failed else { return Ok(databases) };
        // The failure is what must be heard of.
        drop(Self::finish_all(databases, &context.progress));
        Err(error)
    }

    /// Removes what was made, on every server, and says which of them stay.
    ///
    /// # Errors
    /// What the first one says that does not go.
    pub fn finish_all(databases: Vec<Self>, progress: &ProgressSender) -> Result<()> {
        let mut finished = Ok(());
        for one in databases {
            if let Some(place) = one.prepared.kept_place() {
                progress.say(&format!(
                    "note: the server is kept in {}; specify that directory to use it again",
                    place.display()
                ));
            }
            finished = finished.and(one.prepared.finish());
        }
        finished
    }

    /// What sessions do, and where, each in the order of the databases.
    pub fn split(
        databases: &mut [Self],
    ) -> (Vec<&LoadDriver<M>>, Vec<&mut PreparedServer<M::Link>>) {
        let each = databases.iter_mut();
        each.map(|Self { driver, prepared, .. }| (&*driver, prepared)).unzip()
    }

    /// How the data of all of them came to be there; they were loaded at once.
    pub fn filled(databases: &[Self]) -> Option<Filled> {
        let each = databases.iter().filter_map(|one| one.prepared.filled);
        each.reduce(|all, one| Filled {
            rows: all.rows + one.rows,
            table_bytes: all.table_bytes + one.table_bytes,
            index_bytes: all.index_bytes + one.index_bytes,
            elapsed_s: all.elapsed_s.max(one.elapsed_s),
        })
    }

    /// What a reader must know of their servers, and that these are not the same.
    pub fn remarks(databases: &[Self]) -> Vec<Remark> {
        let mut remarks: Vec<Remark> = Vec::new();
        for remark in databases.iter().flat_map(|one| &one.prepared.database.remarks) {
            if !remarks.contains(remark) {
                remarks.push(remark.clone());
            }
        }
        let version = |one: &Self| one.prepared.database.facts.version.clone();
        let others = databases.iter().skip(1).map(version);
        let first = databases.first().map(version).unwrap_or_default();
        remarks.extend(others.filter(|other| *other != first).take(1).map(|other| Remark {
            what: format!("the databases are of the versions {first} and {other}"),
            why: "their versions may explain the difference".to_owned(),
            remedy: "specify servers of one version".to_owned(),
        }));
        remarks
    }
}

/// The host, and the storage under the data where that is known.
pub fn environment_of<M: Method<Link: Product>>(
    databases: &[LadderDatabase<M>],
) -> Option<Environment> {
    let places: Vec<PathBuf> =
        databases.iter().filter_map(|one| one.prepared.place(&one.named)).collect();
    let paths: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
    capture_environment(&SysRoot::live(), &paths, &[]).ok()
}
