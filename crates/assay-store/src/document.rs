//! The documents that lie next to the measurements of a run, and the reading of their form's
//! version.

use crate::checksum;
use crate::directory::{DOCUMENT_BYTES_MAX, Directory};
use crate::failure::{damaged, refused};
use assay_model::document::parse_json;
use assay_model::load::Load;
use assay_model::{Error, Result};
use serde::de::DeserializeOwned;
use std::path::Path;

/// The newest form that this version reads of documents that have had one form only.
const FORMAT: u32 = 1;

/// A document of a run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredDocument {
    /// What was wanted: everything that the run was begun with.
    Plan,
    /// The workload as it was given.
    Workload,
    /// The criteria as they were given.
    Criteria,
    /// The host and the block stack below the target.
    Environment,
    /// What the target can give.
    Calibration,
    /// What a database got of the target under load.
    Load,
    /// What a load of decision support came to.
    Dss,
    /// The judgement.
    Verdict,
    /// Which caches and tiers a target has.
    Locality,
    /// What a soak came to.
    Soak,
    /// Whether what was read is what was written.
    Integrity,
    /// The study as it was given, scaled.
    Study,
    /// What a study came to so far.
    Results,
    /// Predictions compared with what the run measured.
    Verification,
    /// What a database would do on the storage that the run measured.
    Projection,
    /// The database that the storage was checked for.
    Profile,
    /// The page.
    Report,
    /// What several hosts came to together.
    Cluster,
    /// What people call the run.
    Label,
}

impl StoredDocument {
    /// All documents.
    pub const ALL: [Self; 19] = [
        Self::Plan,
        Self::Workload,
        Self::Criteria,
        Self::Environment,
        Self::Calibration,
        Self::Load,
        Self::Dss,
        Self::Verdict,
        Self::Locality,
        Self::Soak,
        Self::Integrity,
        Self::Study,
        Self::Results,
        Self::Verification,
        Self::Projection,
        Self::Profile,
        Self::Report,
        Self::Cluster,
        Self::Label,
    ];

    /// Its file in the run's directory.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Plan => "plan.json",
            Self::Workload => "workload.toml",
            Self::Criteria => "criteria.toml",
            Self::Environment => "environment.json",
            Self::Calibration => "calibration.json",
            Self::Load => "load.json",
            Self::Dss => "dss.json",
            Self::Verdict => "verdict.json",
            Self::Locality => "locality.json",
            Self::Soak => "soak.json",
            Self::Integrity => "integrity.json",
            Self::Study => "study.toml",
            Self::Results => "study.json",
            Self::Verification => "verification.json",
            Self::Projection => "projection.json",
            Self::Profile => "profile.json",
            Self::Report => "report.html",
            Self::Cluster => "cluster.json",
            Self::Label => "label.txt",
        }
    }
}

impl StoredDocument {
    /// The newest form of it that this version reads; older ones are read, too.
    pub(crate) const fn newest_format(self) -> u32 {
        match self {
            Self::Load => Load::FORMAT,
            _ => FORMAT,
        }
    }
}

/// The text of a document that is what was written, or nothing when there is none of that name.
pub(crate) fn read_text(directory: &Directory, name: &str) -> Result<Option<String>> {
    let path = directory.path().join(name);
    let read = directory.read(name, DOCUMENT_BYTES_MAX);
    let Some(bytes) = read.map_err(|error| refused("reading", &path, &error))? else {
        return Ok(None);
    };
    checksum::check(directory, name, &bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| damaged(&path, "it is not text"))?;
    Ok(Some(text))
}

/// Parses a versioned JSON document of the only form that there has been.
pub(crate) fn parse_versioned<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    parse_up_to(FORMAT, text, path)
}

/// Parses a versioned JSON document; a newer version is said before any unknown key of it.
pub(crate) fn parse_up_to<T: DeserializeOwned>(newest: u32, text: &str, path: &Path) -> Result<T> {
    let name = path.display().to_string();
    let format = serde_json::from_str::<Versioned>(text).map_or(newest, |found| found.format);
    check_up_to(newest, format, &name)?;
    parse_json(text, &name)
}

/// Refuses a form that this version does not know.
pub(crate) fn check_format(format: u32, name: &str) -> Result<()> {
    check_up_to(FORMAT, format, name)
}

fn check_up_to(newest: u32, format: u32, name: &str) -> Result<()> {
    if (1..=newest).contains(&format) {
        return Ok(());
    }
    Err(Error::usage(
        format!("{name} has format = {format}; this version reads format = {newest}"),
        "open it with the version of assay that wrote it, or a newer one",
    )
    .of_kind(assay_model::ErrorKind::Unsupported))
}

#[derive(serde::Deserialize)]
struct Versioned {
    format: u32,
}
