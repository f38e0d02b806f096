//! The data of a study's loads in a directory: loaded once, used by every cell that wants the same, and brought back as
//! they were loaded before every n-th.

use assay_dbload::load::Kept;
use assay_host::gate::{Gate, OwnedDirectory};
use assay_host::root::SysRoot;
use assay_model::study::{Cell, Study};
use assay_model::{Error, Result};
use assay_postgres::address::is_address;
use std::fs;
use std::path::{Path, PathBuf};

/// Options that shape the data: with another value they are loaded again.
const SHAPING: [&str; 8] =
    ["warehouses", "partitions", "schema", "scale", "tables", "compressible", "scan-size", "seed"];
/// Kinds of load that keep a copy of their data and go back to it.
const COPYING: [&str; 1] = ["oltp"];
/// Where the target stands among the words of a load.
const TARGET: usize = 2;

/// A directory of the study, with the server that its cells share.
pub struct Data {
    gate: Gate,
    directory: OwnedDirectory,
    /// What shaped the data of the server that is kept there.
    shape: Vec<String>,
    kept: Option<PathBuf>,
}

impl Data {
    /// A directory of ours in the target; nothing where the target is a server or the study says what becomes of it.
    ///
    /// # Errors
    /// What the safety gate says.
    pub fn open(study: &Study, target: &str) -> Result<Option<Self>> {
        let keeps = study.load.as_ref().is_some_and(|load| load.options.contains_key("keep"));
        let path = Path::new(target);
        if keeps || is_address(target) || Kept::read(path)?.is_some() {
            return Ok(None);
        }
        let gate = Gate::new(SysRoot::live());
        // Every load looks after the space that it needs itself.
        let directory = gate.create_directory(path, 0)?;
        // The account of a server of ours must find its way through.
        let passed = directory.held().let_pass(None);
        passed.map_err(|error| refused(directory.path(), &error.into()))?;
        Ok(Some(Self { gate, directory, shape: Vec::new(), kept: None }))
    }

    /// The words of a cell's load, at the server that has its data or where that is to be made.
    ///
    /// # Errors
    /// When data that are no longer wanted cannot be removed.
    pub fn arranged(
        &mut self,
        study: &Study,
        cell: &Cell,
        words: &[String],
    ) -> Result<Vec<String>> {
        let shape = shape(words);
        let copies = words.get(1).is_some_and(|kind| COPYING.contains(&kind.as_str()));
        let is_there = self.kept.is_some() && self.shape == shape;
        let mut words = words.to_vec();
        if is_there && (copies || !cell.restored) {
            if copies && cell.restored {
                words.push("--restore-every=1".to_owned());
            }
        } else {
            self.forget()?;
            words.push("--keep".to_owned());
            if copies && study.restore_every.is_some() {
                words.push("--restore-every=1".to_owned());
            }
        }
        self.shape = shape;
        let place = self.kept.as_deref().unwrap_or_else(|| self.directory.path());
        words[TARGET] = place.display().to_string();
        Ok(words)
    }

    /// Looks for the server that a load has left.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn look(&mut self) -> Result<()> {
        let place = self.directory.path();
        let entries = fs::read_dir(place).map_err(|error| refused(place, &error))?;
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let is_kept = |path: &PathBuf| path.is_dir() && matches!(Kept::read(path), Ok(Some(_)));
        self.kept = paths.into_iter().find(is_kept);
        Ok(())
    }

    /// Whether a target of a run lies here.
    pub fn holds(&self, target: &str) -> bool {
        Path::new(target).starts_with(self.directory.path())
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
    ///
    /// # Errors
    /// What does not go.
    pub fn close(self) -> Result<()> {
        self.gate.remove_directory(&self.directory)
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Error {
    Error::environment(
        format!("the data of the study in {}: {error}", path.display()),
        "check space and rights there; what is left is named by the next start",
    )
}

/// The words that shape the data.
fn shape(words: &[String]) -> Vec<String> {
    let shapes = |word: &&String| {
        let name = word.strip_prefix("--").and_then(|word| word.split('=').next());
        name.is_some_and(|name| SHAPING.contains(&name))
    };
    words.iter().take(2).chain(words.iter().filter(shapes)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_shaped_by_their_size_and_not_by_the_load() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let one = shape(&words("load oltp /d --warehouses=2 --users=4 --shared-buffers=1GiB"));
        let same = shape(&words("load oltp /kept --users=8 --warehouses=2"));
        assert_eq!(one, same);
        assert_ne!(one, shape(&words("load oltp /d --warehouses=3")));
        assert_ne!(one, shape(&words("load slob /d --warehouses=2")));
    }
}
