//! What was found damaged since the program began, so that every command can say it at its end,
//! whatever it asked.

use crate::failure::damaged;
use assay_model::Error;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// More tell no more.
const KEPT_MAX: usize = 100;

/// A place where a run is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; none where the whole file is meant.
    pub line: Option<u64>,
    /// What is wrong.
    pub what: String,
}

static FOUND: Mutex<BTreeSet<Damage>> = Mutex::new(BTreeSet::new());

impl Damage {
    /// As a refusal of the environment.
    pub fn error(&self) -> Error {
        match self.line {
            Some(line) => damaged(&self.path, &format!("line {line}: {}", self.what)),
            None => damaged(&self.path, &self.what),
        }
    }
}

/// What was found damaged since this was asked last, each place once.
pub fn take_damage() -> BTreeSet<Damage> {
    std::mem::take(&mut FOUND.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Remembers a damage.
pub(crate) fn note(path: &Path, line: Option<u64>, what: &str) -> Damage {
    let damage = Damage { path: path.to_owned(), line, what: what.to_owned() };
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.len() < KEPT_MAX {
        found.insert(damage.clone());
    }
    damage
}

/// Remembers a damage after which nothing can be read.
pub(crate) fn error(path: &Path, line: Option<u64>, what: &str) -> Error {
    note(path, line, what).error()
}
