//! A database of a ladder: its server, and what is special about the load on it.

use super::load_driver::LoadDriver;
use super::prepared_server::PreparedServer;
use crate::context::Context;
use crate::progress::Progress;
use assay_dbload::load::{LoadTarget, Method, Product};
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_model::Result;
use assay_model::environment::Environment;
use assay_model::load::Filled;
use assay_model::measurement::Remark;
use std::path::{Path, PathBuf};

/// A database that is loaded, with what is done around its rungs.
pub struct LadderDatabase<M: Method<Link: Product>> {
    /// The target as it was understood.
    pub named: LoadTarget,
    /// What is special about the load on it.
    pub driver: LoadDriver<M>,
    /// Where it is.
    pub prepared: PreparedServer<M::Link>,
}

impl<M: Method<Link: Product>> LadderDatabase<M> {
    /// Makes or enters the server of each target, one after the other.
    ///
    /// # Errors
    /// What the gate or a server say; those that were made are gone then.
    pub fn prepared(
        targets: Vec<LoadTarget>,
        mut driver: impl FnMut() -> LoadDriver<M>,
        prepare: impl Fn(&LoadTarget, &Context) -> Result<PreparedServer<M::Link>>,
        context: &Context,
    ) -> Result<Vec<Self>> {
        let mut databases = Vec::new();
        for named in targets {
            match prepare(&named, context) {
                Ok(prepared) => databases.push(Self { named, driver: driver(), prepared }),
                Err(error) => {
                    // The failure is what must be heard of.
                    drop(Self::finish_all(databases, &context.progress));
                    return Err(error);
                }
            }
        }
        Ok(databases)
    }

    /// Removes what was made, on every server, and says which of them stay.
    ///
    /// # Errors
    /// What the first one says that does not go.
    pub fn finish_all(databases: Vec<Self>, progress: &Progress) -> Result<()> {
        let mut finished = Ok(());
        for one in databases {
            if let Some(place) = one.prepared.kept_place() {
                progress.say(&format!(
                    "note: the server is kept in {}; name that directory to use it again",
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

    /// How the data of all of them came to be there.
    pub fn filled(databases: &[Self]) -> Option<Filled> {
        let each = databases.iter().filter_map(|one| one.prepared.filled);
        each.reduce(|all, one| Filled {
            rows: all.rows + one.rows,
            table_bytes: all.table_bytes + one.table_bytes,
            index_bytes: all.index_bytes + one.index_bytes,
            elapsed_s: all.elapsed_s + one.elapsed_s,
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
            why: "what differs between them may be their version".to_owned(),
            remedy: "name servers of one version".to_owned(),
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
