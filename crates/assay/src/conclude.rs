//! The end of every command that measures: judge, keep verdict and page, print the answer, choose the exit code.

use crate::dossier::Dossier;
use crate::exit::{Ended, ended, print};
use crate::options::OutputOptions;
use crate::session::close;
use assay_judge::{Rules, default_criteria};
use assay_model::document::to_toml;
use assay_model::dss::Dss;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::verdict::parse_criteria;
use assay_model::{Error, Outcome, Result, Workload};
use assay_report::Options;
use assay_store::{Document, RunReader, RunWriter};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Criteria as text and as rules; checked before anything is measured.
pub struct Asked {
    text: String,
    /// The rules.
    pub rules: Rules,
}

impl Asked {
    /// Reads a file of criteria, or takes those that the workload asks, or those that ship.
    ///
    /// # Errors
    /// A usage error when the file cannot be read or means nothing.
    pub fn of(path: Option<&Path>, workload: &Workload) -> Result<Self> {
        match (path, workload.criteria()) {
            (None, Some(criteria)) => {
                Ok(Self { rules: Rules::check(&criteria)?, text: to_toml(&criteria)? })
            }
            _ => Self::read(path),
        }
    }

    /// Reads a file of criteria, or takes those that ship.
    ///
    /// # Errors
    /// A usage error when the file cannot be read or means nothing.
    pub fn read(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            let rules = Rules::check(&default_criteria()?)?;
            return Ok(Self { text: assay_judge::DEFAULT_CRITERIA.to_owned(), rules });
        };
        let text = read_text(path, "criteria")?;
        let criteria = parse_criteria(&text).map_err(|error| error.context(path.display()))?;
        let rules = Rules::check(&criteria).map_err(|error| error.context(path.display()))?;
        Ok(Self { text, rules })
    }
}

/// Reads a document that a person named.
///
/// # Errors
/// A usage error when it is not there or not text.
pub fn read_text(path: &Path, kind: &str) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        Error::usage(
            format!("reading the {kind} {}: {error}", path.display()),
            format!("name a readable {kind} file"),
        )
    })
}

/// Judges what was measured, keeps verdict and page, ends the run, prints and gives the exit.
///
/// # Errors
/// What the store says, or a closed standard output.
pub fn conclude(
    writer: RunWriter,
    finish: &Finish,
    asked: &Asked,
    output: &OutputOptions,
) -> Result<Ended> {
    let (ended, dossier, run) = keep(writer, finish, asked)?;
    show(&dossier, &run, output)?;
    complain(finish, &run);
    Ok(ended)
}

/// The same without printing anything: how it ended, what it tells, and where it is kept.
///
/// # Errors
/// What the store says.
pub fn keep(
    writer: RunWriter,
    finish: &Finish,
    asked: &Asked,
) -> Result<(Ended, Dossier, RunReader)> {
    writer.put(Document::Criteria, &asked.text)?;
    let mut dossier = Dossier::read(&writer.reader()?)?;
    let verdict = dossier.judge(&asked.rules);
    let outcome = verdict.outcome;
    writer.put_json(Document::Verdict, &verdict)?;
    dossier.report.verdict = Some(verdict);
    writer.put(Document::Report, &assay_report::html(&dossier.report, Options::default()))?;
    let run = close(writer, finish.clone())?;
    Ok((ended(finish, outcome), dossier, run))
}

/// Keeps the page of a load, ends the run, prints and gives the exit: a load whose reads came from the page cache tells
/// nothing about the storage, and one that damaged its data or lost transactions fails.
///
/// # Errors
/// What the store says, or a closed standard output.
pub fn conclude_load(writer: RunWriter, finish: &Finish, output: &OutputOptions) -> Result<Ended> {
    let dossier = Dossier::read(&writer.reader()?)?;
    let page = assay_report::html(&dossier.report, Options::default());
    writer.put(Document::Report, &page)?;
    let load = dossier.report.load.as_ref();
    // Only where reads of the storage are the question, reads of memory are no answer.
    let cached = load.is_some_and(|load| load.is_cached() && load.method == "slob");
    let damaged = load.is_some_and(assay_model::load::Load::is_damaged);
    let run = close(writer, finish.clone())?;
    show(&dossier, &run, output)?;
    complain(finish, &run);
    let outcome = match (damaged, cached) {
        (true, _) => Outcome::Fail,
        (false, true) => Outcome::Inconclusive,
        (false, false) => Outcome::Pass,
    };
    Ok(ended(finish, outcome))
}

/// Keeps the page of a load of decision support, ends the run, prints and gives the exit: a query that was refused or
/// took longer than its limit is a failure, and reads of the page cache tell nothing about the storage.
///
/// # Errors
/// What the store says, or a closed standard output.
pub fn conclude_dss(writer: RunWriter, finish: &Finish, output: &OutputOptions) -> Result<Ended> {
    let dossier = Dossier::read(&writer.reader()?)?;
    let page = assay_report::html(&dossier.report, Options::default());
    writer.put(Document::Report, &page)?;
    let outcome = dossier.report.dss.as_ref().map_or(Outcome::Inconclusive, Dss::outcome);
    let run = close(writer, finish.clone())?;
    show(&dossier, &run, output)?;
    complain(finish, &run);
    Ok(ended(finish, outcome))
}

/// Keeps the page of a run whose own documents say what came of it, and ends the run.
///
/// # Errors
/// What the store says.
pub fn close_with_page(writer: RunWriter, finish: Finish) -> Result<RunReader> {
    let dossier = Dossier::read(&writer.reader()?)?;
    let page = assay_report::html(&dossier.report, Options::default());
    writer.put(Document::Report, &page)?;
    close(writer, finish)
}

/// A measurement that could not go on says so also where errors are looked for.
fn complain(finish: &Finish, run: &RunReader) {
    let Finish::Failed { reason } = finish else {
        return;
    };
    let manifest = run.manifest();
    let next = match manifest.kind {
        RunKind::Run => format!("go on with `assay run --resume {}`", manifest.id),
        RunKind::Study => format!("go on with `assay study --resume {}`", manifest.id),
        RunKind::Calibrate
        | RunKind::Check
        | RunKind::Locality
        | RunKind::Soak
        | RunKind::Watch
        | RunKind::Load => "start again".to_owned(),
    };
    let kept = run.path().display();
    let error = Error::environment(
        reason,
        format!("what was measured is kept in {kept}; remove the cause, then {next}"),
    );
    // Nobody is left to tell when standard error is closed.
    drop(writeln!(io::stderr(), "{}", crate::options::without_passwords(&error.to_string())));
}

/// Prints a run as text or JSON, with where it is kept.
///
/// # Errors
/// A closed standard output.
pub fn show(dossier: &Dossier, run: &RunReader, output: &OutputOptions) -> Result<Ended> {
    if output.json {
        return print(&assay_report::json(&dossier.report)?);
    }
    let text = assay_report::text(&dossier.report, Options::default(), colour());
    let page = run.path().join(Document::Report.file_name());
    print(&format!("{text}\nrun   {}\npage  {}\n", run.path().display(), page.display()))
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` asks for none.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
