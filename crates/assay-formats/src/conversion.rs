//! What becomes of a job file: documents of Assay, where every line of them comes from, and what
//! each option turned into.

use crate::reason::{Approximation, OptionReason};
use crate::shown::shown;
use assay_model::study::Study;
use assay_model::units::{Bytes, Share};
use assay_model::workload::Workload;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The name of a file that is not a file: the words of a command line, counted as lines.
pub const COMMAND_LINE: &str = "";

/// Where an option stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OptionOrigin {
    /// Name of the file, as it was given.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The option's own name.
    pub key: String,
}

/// What became of an option.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// The document says the same.
    Exact,
    /// It changes nothing of the load: how results are shown or kept, or what Assay always does.
    NoEffect,
    /// The document says something near.
    Approximated(Approximation),
    /// It is not in the document.
    Refused(OptionReason),
}

/// One option of the file and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Note {
    /// Where it stands.
    pub origin: OptionOrigin,
    /// Its value as it was written.
    pub value: String,
    /// What became of it.
    pub treatment: Treatment,
}

/// A file of which nothing can be made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refused {
    /// Where it fails.
    pub origin: OptionOrigin,
    /// The value there.
    pub value: String,
    /// Why.
    pub reason: OptionReason,
}

/// The program whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceProgram {
    /// fio, a job file.
    Fio,
    /// Vdbench, a parameter file.
    Vdbench,
    /// `IOMeter`, a configuration.
    Iometer,
}

/// A file or device that the job file names; it is never opened for that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedTarget {
    /// The name.
    pub name: String,
    /// How much of it is used, where the file says so.
    pub size: Option<Bytes>,
}

/// A document of Assay.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "the values are few, and each is moved once")]
pub enum ConvertedDocument {
    /// One workload.
    Workload(Workload),
    /// A workload whose parameters are varied.
    Study(Study),
}

/// A line of a document: a key of the document itself, or of one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentLine {
    /// The stream, from 0; none for the document itself.
    pub stream: Option<usize>,
    /// The key.
    pub key: &'static str,
}

/// A document with where its lines come from; documents of one conversion follow one another.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionPart {
    /// The document.
    pub document: ConvertedDocument,
    /// The targets that its streams count from 0, as indices into those of the conversion.
    pub targets: Vec<usize>,
    /// Where its lines come from; what is missing is a default of the program.
    pub sources: BTreeMap<DocumentLine, Vec<OptionOrigin>>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// The program whose file it is.
    pub program: SourceProgram,
    /// The documents in the order in which they are to be run, at least one.
    pub parts: Vec<ConversionPart>,
    /// The files and devices that were named.
    pub targets: Vec<NamedTarget>,
    /// Every option, in the order of the file.
    pub notes: Vec<Note>,
    /// Names of the hosts that were to run it; none where it was one.
    pub hosts: Vec<String>,
}

impl fmt::Display for OptionOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == COMMAND_LINE {
            return write!(formatter, "--{}", self.key.trim_start_matches('-'));
        }
        write!(formatter, "{}:{}", self.file, self.line)?;
        if self.key.is_empty() { Ok(()) } else { write!(formatter, " {}", self.key) }
    }
}

impl Treatment {
    /// How far it is from what was written; of several notes on an option the farthest counts.
    pub const fn distance(&self) -> u32 {
        match self {
            Self::NoEffect => 0,
            Self::Exact => 1,
            Self::Approximated(_) => 2,
            Self::Refused(_) => 3,
        }
    }
}

/// One note an option, the one that is farthest from what was written, in the order of the file.
pub fn farthest(notes: impl IntoIterator<Item = Note>) -> Vec<Note> {
    let mut found: BTreeMap<OptionOrigin, Note> = BTreeMap::new();
    for note in notes {
        match found.get(&note.origin) {
            Some(known) if known.treatment.distance() >= note.treatment.distance() => {}
            _ => drop(found.insert(note.origin.clone(), note)),
        }
    }
    found.into_values().collect()
}

impl Refused {
    /// Without the text of a file that the named one includes: the included file may hold anything,
    /// and errors are passed on.
    #[must_use]
    pub fn without_included_text(mut self, name: &str) -> Self {
        if self.origin.file != name && self.reason != OptionReason::MissingInclude {
            self.value.clear();
            if let OptionReason::UnknownOption { nearest } = &mut self.reason {
                *nearest = None;
                self.origin.key.clear();
            }
        }
        self
    }

    /// The error that ends a command.
    pub fn into_error(self) -> assay_model::Error {
        let value = if self.value.is_empty() {
            String::new()
        } else {
            format!(" = {}", shown(&self.value))
        };
        assay_model::Error::usage(
            format!("{}{value}: {}", self.origin, self.reason),
            self.reason.remedy(),
        )
    }
}

impl ConvertedDocument {
    /// The workload, of a study the one that is varied.
    pub const fn workload(&self) -> Option<&Workload> {
        match self {
            Self::Workload(workload) => Some(workload),
            Self::Study(study) => study.workload.as_ref(),
        }
    }

    /// The same, to be changed.
    pub const fn workload_mut(&mut self) -> Option<&mut Workload> {
        match self {
            Self::Workload(workload) => Some(workload),
            Self::Study(study) => study.workload.as_mut(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Workload(workload) => &workload.name,
            Self::Study(study) => &study.name,
        }
    }
}

/// Where lines come from, each origin once.
pub(crate) fn sources<'a>(
    lines: impl Iterator<Item = (DocumentLine, &'a OptionOrigin)>,
) -> BTreeMap<DocumentLine, Vec<OptionOrigin>> {
    let mut known = BTreeSet::new();
    let mut sources: BTreeMap<DocumentLine, Vec<OptionOrigin>> = BTreeMap::new();
    for (line, origin) in lines {
        if known.insert((line, origin)) {
            sources.entry(line).or_default().push(origin.clone());
        }
    }
    sources
}

impl ConversionPart {
    /// Streams of the document.
    pub(crate) fn streams(&self) -> usize {
        self.document.workload().map_or(0, |workload| workload.streams.len())
    }

    /// The document on one target that stands for all of its targets: each becomes an equal part of
    /// its space.
    pub fn on_one_target(&self) -> ConvertedDocument {
        let mut document = self.document.clone();
        let count = self.targets.len();
        if count < 2 {
            return document;
        }
        for stream in document.workload_mut().into_iter().flat_map(|one| one.streams.iter_mut()) {
            let used = std::mem::take(&mut stream.targets);
            // A stream on neighbouring targets has their joint space; on others, that of the first.
            let first = used.first().copied().unwrap_or(0);
            let joint = used.windows(2).take_while(|two| two[1] == two[0] + 1).count() + 1;
            let many = if used.is_empty() { count } else { joint };
            let place = |share: f64| (real(first) + share * real(many)) / real(count);
            stream.span.from = Share(place(stream.span.from.0));
            stream.span.to = Share(place(stream.span.to.0));
        }
        document
    }
}

const fn real(count: usize) -> f64 {
    assay_model::number::real_len(count)
}

impl Conversion {
    /// The approximations, each option once.
    pub fn approximated(&self) -> impl Iterator<Item = (&Note, &Approximation)> {
        self.notes.iter().filter_map(|note| match &note.treatment {
            Treatment::Approximated(how) => Some((note, how)),
            _ => None,
        })
    }

    /// The refusals, each option once.
    pub fn refused(&self) -> impl Iterator<Item = (&Note, &OptionReason)> {
        self.notes.iter().filter_map(|note| match &note.treatment {
            Treatment::Refused(reason) => Some((note, reason)),
            _ => None,
        })
    }

    /// Names of the options that change nothing of the load, each once, in the order of the file.
    pub fn without_effect(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for note in self.notes.iter().filter(|note| note.treatment == Treatment::NoEffect) {
            let name = note.origin.key.trim_start_matches('-');
            let is_title = ["", "name", "description"].contains(&name);
            if !is_title && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Whether a part of the load is missing, so that running the rest would be another load.
    pub fn is_incomplete(&self) -> bool {
        self.refused().any(|(_, reason)| reason.leaves_out_load())
    }
}
