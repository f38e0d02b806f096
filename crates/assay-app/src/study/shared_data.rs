//! The data of a study's loads in a directory: loaded once, used by every cell that wants the same,
//! and brought back as they were loaded before every n-th.

use crate::load::LoadPlan;
use crate::load::load_options::LoadOptions;
use assay_dbload::load::{LoadTarget, PreservedServer};
use assay_host::gate::{OwnedDirectory, SafetyGate};
use assay_host::root::SysRoot;
use assay_model::study::{Cell, FactorValue, Study};
use assay_model::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of the study, with the server that its cells share.
pub struct Data {
    gate: SafetyGate,
    directory: OwnedDirectory,
    /// What shaped the data of the server that is kept there.
    shape: Vec<(&'static str, String)>,
    kept: Option<PathBuf>,
}

impl Data {
    /// Assay's directory in the target; nothing where the target is a server or the study says what
    /// becomes of it.
    pub fn open(study: &Study, target: &LoadTarget) -> Result<Option<Self>> {
        let keeps = study.load.as_ref().is_some_and(|load| load.options.contains_key("keep"));
        let LoadTarget::Directory(path) = target else {
            return Ok(None);
        };
        if keeps || PreservedServer::read(path)?.is_some() {
            return Ok(None);
        }
        let gate = SafetyGate::new(SysRoot::live());
        // Every load looks after the space that it needs itself.
        let directory = gate.create_directory(path, 0)?;
        // The account of a managed server must find its way through.
        let passed = directory.held().let_pass(None);
        passed.map_err(|error| refused(directory.path(), &error.into()))?;
        Ok(Some(Self { gate, directory, shape: Vec::new(), kept: None }))
    }

    /// Puts the load of a cell at the server that has its data, or where that is to be made.
    ///
    /// # Errors
    /// When data that are no longer wanted cannot be removed.
    pub fn arrange(&mut self, study: &Study, cell: &Cell, load: &mut LoadOptions) -> Result<()> {
        let shape = shape(&mut load.plan()?);
        let restores = load.name_of("restore-every").is_some();
        let is_there = self.kept.is_some() && self.shape == shape;
        let is_used = is_there && (restores || !cell.restored);
        if !is_used {
            self.forget()?;
            load.set("keep", &FactorValue::Flag(true))?;
        }
        let is_restored = if is_used { cell.restored } else { study.restore_every.is_some() };
        if restores && is_restored {
            load.set("restore-every", &FactorValue::Whole(1))?;
        }
        self.shape = shape;
        let place = self.kept.as_deref().unwrap_or_else(|| self.directory.path());
        load.target = place.display().to_string();
        Ok(())
    }

    /// Looks for the server that a load has left.
    pub fn look(&mut self) -> Result<()> {
        let place = self.directory.path();
        let entries = fs::read_dir(place).map_err(|error| refused(place, &error))?;
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let is_kept =
            |path: &PathBuf| path.is_dir() && matches!(PreservedServer::read(path), Ok(Some(_)));
        self.kept = paths.into_iter().find(is_kept);
        Ok(())
    }

    /// Removes what is there of data that are no longer wanted; all of it is ours.
    fn forget(&mut self) -> Result<()> {
        match self.kept.take() {
            Some(kept) => {
                let name = kept.file_name().unwrap_or_default();
                let removed = self.directory.held().remove_directory(name);
                removed.map_err(|error| refused(&kept, &error.into()))
            }
            None => Ok(()),
        }
    }

    /// Removes the directory with everything in it.
    pub fn close(self) -> Result<()> {
        self.gate.remove_directory(&self.directory)
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(
        format!("the data of the study in {}: {error}", path.display()),
        "check space and permissions there; the next start lists the leftovers",
    )
}

/// The load, the product of its server, and the values that shape its data.
fn shape(plan: &mut LoadPlan) -> Vec<(&'static str, String)> {
    let product = plan.load_mut().parts().server.product;
    let server = product.map_or_else(String::new, |product| format!("{product:?}"));
    let load = plan.load();
    let mut shape = vec![("load", load.kind().name().to_owned()), ("server", server)];
    shape.extend(load.shape());
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_shaped_by_their_size_and_not_by_the_load() {
        let of = |kind: &str, options: &[(&str, &str)]| {
            let mut load = LoadOptions::new(kind, "/tmp").unwrap();
            for (name, value) in options {
                load.set(name, &FactorValue::Text((*value).to_owned())).unwrap();
            }
            shape(&mut load.plan().unwrap())
        };
        let one = of("oltp", &[("warehouses", "2"), ("sessions", "4"), ("buffer_pool", "1GiB")]);
        assert_eq!(one, of("oltp", &[("users", "8"), ("warehouses", "2")]));
        assert_ne!(one, of("oltp", &[("warehouses", "3")]));
        assert_ne!(one, of("brokerage", &[]));
        assert_ne!(one, of("oltp", &[("warehouses", "2"), ("server", "mariadb")]));
        let small = of("brokerage", &[("customers", "1000"), ("mix", "write-heavy")]);
        assert_eq!(small, of("brokerage", &[]));
        for (name, value) in [("customers", "2000"), ("trade_days", "6"), ("security_skew", "0")] {
            assert_ne!(small, of("brokerage", &[(name, value)]), "{name}");
        }
        assert_eq!(of("dss", &[("seed", "2")]), of("dss", &[]));
    }
}
