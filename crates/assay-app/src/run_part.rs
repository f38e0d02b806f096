//! A run, or a cell or step of it, as people name it: RUN, RUN:CELL or RUN:SESSIONS, as the tables
//! print them.

use crate::rung_cell::{is_rung, rung_sessions};
use assay_model::load::Load;
use assay_model::study::StudyResult;
use assay_model::{Error, Result};
use assay_store::{CellReader, RunReader, Store, StoredDocument};
use std::collections::BTreeSet;

/// A run, or one part of it.
pub struct RunPart {
    /// The run.
    pub reader: RunReader,
    /// The cell or step; none where the whole run is meant.
    pub part: Option<String>,
}

impl RunPart {
    /// Opens what a name means: a run whose own name has a colon comes before a part of another
    /// one.
    ///
    /// # Errors
    /// Those of [`Store::open`].
    pub fn open(name: &str, store: &Store) -> Result<Self> {
        let whole = match store.open(name) {
            Ok(reader) => return Ok(Self { reader, part: None }),
            Err(error) => error,
        };
        // The error repeats the whole name: a part of an address could be a part of its password.
        let split = name.rsplit_once(':').filter(|(_, part)| !part.is_empty());
        let found = split.and_then(|(run, part)| Some((store.open(run).ok()?, part.to_owned())));
        found.map(|(reader, part)| Self { reader, part: Some(part) }).ok_or(whole)
    }

    /// The id of the run, with the part as it is printed.
    pub fn place(&self) -> String {
        let id = &self.reader.manifest().id;
        self.part.as_ref().map_or_else(|| id.clone(), |part| format!("{id}:{}", plain(part)))
    }

    /// Whether a kept cell belongs to it.
    pub fn has(&self, cell: &CellReader) -> bool {
        let Some(part) = &self.part else { return true };
        match rung_sessions(cell.name()) {
            Some(sessions) => self.sessions() == Some(sessions),
            None => plain(cell.name()) == plain(part),
        }
    }

    /// The number of a cell of a study, or of a row of an imported result.
    pub fn number(&self) -> Option<u32> {
        self.part.as_ref()?.parse().ok()
    }

    /// The number of sessions of a step: `8` or `sessions-8`.
    pub fn sessions(&self) -> Option<u32> {
        self.part.as_ref()?.trim_start_matches("sessions-").parse().ok()
    }

    /// That the run has no such part, with those that it has.
    ///
    /// # Errors
    /// What the store says.
    pub fn unknown(&self) -> Result<Error> {
        let run = &self.reader;
        let id = &run.manifest().id;
        let (mut numbers, mut names) = (BTreeSet::new(), BTreeSet::new());
        for cell in run.cells()?.iter().filter(|cell| !is_rung(cell.name())) {
            let name = plain(cell.name());
            name.parse().map_or_else(|_| names.insert(name), |number: u32| numbers.insert(number));
        }
        if let Some(study) = run.json::<StudyResult>(StoredDocument::Results)? {
            numbers.extend(study.cells.iter().map(|row| row.cell.number));
        }
        if let Some(load) = run.json::<Load>(StoredDocument::Load)? {
            numbers.extend(load.rungs.iter().map(|rung| rung.sessions));
        }
        let parts: Vec<String> = numbers
            .iter()
            .map(u32::to_string)
            .chain(names)
            .map(|part| format!("{id}:{part}"))
            .collect();
        let part = self.part.as_deref().unwrap_or_default();
        let hint = match parts.len() {
            0 => format!("it has no parts: use {id}"),
            1..=8 => format!("it has {}", parts.join(", ")),
            more => format!("it has {more}, from {} to {}", parts[0], parts[more - 1]),
        };
        Ok(Error::usage(format!("the run {id} has no cell or step '{part}'"), hint))
    }
}

/// The number that the name of a cell begins with, without its zeros, or else the name.
pub(crate) fn plain(cell: &str) -> String {
    let number = cell.split('-').next().and_then(|digits| digits.parse::<u32>().ok());
    number.map_or_else(|| cell.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn cells_are_named_by_their_numbers() {
        let names = ["00003-sessions-1", "00003", "3", "sessions-0008-r1", "workload"];
        assert_eq!(names.map(plain), ["3", "3", "3", "sessions-0008-r1", "workload"]);
    }
}
