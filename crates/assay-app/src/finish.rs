//! The end of every run: judge what was asked, keep verdict and page.

use crate::loaded_run::LoadedRun;
use crate::recording::close;
use assay_judge::{CriteriaRules, SHIPPED, shipped_criteria};
use assay_methods::files::read_document;
use assay_model::document::to_toml;
use assay_model::measurement::Finish;
use assay_model::verdict::parse_criteria;
use assay_model::{Criteria, Error, Outcome, Result, Workload};
use assay_report::ReportOptions;
use assay_store::{RunReader, RunWriter, StoredDocument};
use std::path::Path;

/// Criteria as text and as rules; checked before anything is measured.
pub struct CriteriaSource {
    text: String,
    /// The rules.
    pub rules: CriteriaRules,
}

impl CriteriaSource {
    /// What a person asks, or else the workload; nothing where neither asks.
    ///
    /// # Errors
    /// A usage error when the workload's criteria mean nothing.
    pub fn of(named: Option<Self>, workload: &Workload) -> Result<Option<Self>> {
        match (named, workload.criteria()) {
            (None, Some(criteria)) => Self::new(&criteria).map(Some),
            (named, _) => Ok(named),
        }
    }

    /// What a person asks with `--criteria`; nothing without it.
    ///
    /// # Errors
    /// A usage error when the file cannot be read or means nothing.
    pub fn named(named: Option<&Path>) -> Result<Option<Self>> {
        named.map(Self::read).transpose()
    }

    /// Criteria made by the program.
    ///
    /// # Errors
    /// A usage error when they mean nothing.
    pub fn new(criteria: &Criteria) -> Result<Self> {
        Ok(Self { rules: CriteriaRules::check(criteria)?, text: to_toml(criteria)? })
    }

    /// A file of criteria, or those that ship under this name.
    ///
    /// # Errors
    /// A usage error when it is neither, or means nothing.
    pub fn read(path: &Path) -> Result<Self> {
        let shipped = path.to_str().filter(|name| !name.contains('/')).map(shipped_criteria);
        if let Some(criteria) = shipped.transpose()?.flatten() {
            return Self::new(&criteria);
        }
        let text = read_document(path, "criteria").map_err(|error| with_names(&error))?;
        Self::parse(text).map_err(|error| error.context(path.display()))
    }

    /// The text of criteria.
    ///
    /// # Errors
    /// A usage error when it means nothing.
    pub fn parse(text: String) -> Result<Self> {
        let rules = CriteriaRules::check(&parse_criteria(&text)?)?;
        Ok(Self { text, rules })
    }
}

/// A missing file may have been intended as a name.
fn with_names(error: &Error) -> Error {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let hint = format!("specify a readable criteria file, or one of {}", names.join(", "));
    Error::usage(error.message(), hint)
}

/// A run that has ended.
pub struct FinishedRun {
    /// How it ended.
    pub finish: Finish,
    /// What came of it: the verdict where something was asked, else PASS, and FAIL where data was
    /// damaged.
    pub outcome: Outcome,
    /// What it holds.
    pub loaded: LoadedRun,
    /// Where it is kept.
    pub run: RunReader,
}

/// Judges what was measured where something was asked, keeps verdict and page, and ends the run.
/// Where nothing was asked there is an answer and no verdict.
pub fn finish_run(
    writer: RunWriter,
    finish: &Finish,
    criteria: Option<&CriteriaSource>,
) -> Result<FinishedRun> {
    if let Some(criteria) = criteria {
        writer.put(StoredDocument::Criteria, &criteria.text)?;
    }
    let mut loaded = LoadedRun::read(&writer.reader()?)?;
    let verdict = criteria.map(|criteria| loaded.judge(&criteria.rules));
    let judged = verdict.as_ref().map_or(Outcome::Pass, |verdict| verdict.outcome);
    if let Some(verdict) = &verdict {
        writer.put_json(StoredDocument::Verdict, verdict)?;
    }
    loaded.report.verdict = verdict;
    writer.put(
        StoredDocument::Report,
        &assay_report::html(&loaded.report, ReportOptions::default()),
    )?;
    let run = close(writer, finish.clone())?;
    let outcome = if loaded.is_broken() { Outcome::Fail } else { loaded.verified(judged) };
    Ok(FinishedRun { finish: finish.clone(), outcome, loaded, run })
}

/// Keeps the page of a run whose own documents say what came of it, and ends the run.
pub fn finish_with_page(
    writer: RunWriter,
    finish: &Finish,
    outcome: Outcome,
) -> Result<FinishedRun> {
    let loaded = LoadedRun::read(&writer.reader()?)?;
    let page = assay_report::html(&loaded.report, ReportOptions::default());
    writer.put(StoredDocument::Report, &page)?;
    let run = close(writer, finish.clone())?;
    let loaded = LoadedRun::read(&run)?;
    let outcome = loaded.verified(outcome);
    Ok(FinishedRun { finish: finish.clone(), outcome, loaded, run })
}
