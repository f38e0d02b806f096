//! The end of every command that measures: judge what was asked, keep verdict and page, print the answer, choose the exit
//! code.

use crate::dossier::Dossier;
use crate::exit::{Ended, ended, print, print_report};
use crate::options::OutputOptions;
use crate::session::close;
use assay_judge::{Rules, SHIPPED, shipped_criteria};
use assay_methods::files::read_document;
use assay_model::document::to_toml;
use assay_model::measurement::Finish;
use assay_model::run::RunKind;
use assay_model::verdict::parse_criteria;
use assay_model::{Criteria, Error, Outcome, Result, Workload};
use assay_report::Options;
use assay_store::{Document, RunReader, RunWriter};
use std::io::{self, IsTerminal};
use std::path::Path;

/// Criteria as text and as rules; checked before anything is measured.
pub struct Asked {
    text: String,
    /// The rules.
    pub rules: Rules,
}

impl Asked {
    /// What a person asks with `--criteria`, or else the workload; nothing where neither asks.
    ///
    /// # Errors
    /// A usage error when the file cannot be read or means nothing.
    pub fn of(named: Option<&Path>, workload: &Workload) -> Result<Option<Self>> {
        match (named, workload.criteria()) {
            (None, Some(criteria)) => Self::new(&criteria).map(Some),
            _ => Self::named(named),
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
        Ok(Self { rules: Rules::check(criteria)?, text: to_toml(criteria)? })
    }

    /// A file of criteria, or those that ship under this name.
    ///
    /// # Errors
    /// A usage error when it is neither, or means nothing.
    pub fn read(path: &Path) -> Result<Self> {
        let shipped = path.to_str().filter(|_| !path.is_file()).map(shipped_criteria);
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
        let rules = Rules::check(&parse_criteria(&text)?)?;
        Ok(Self { text, rules })
    }
}

/// A file that is not there may be meant as a name.
fn with_names(error: &Error) -> Error {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let hint = format!("name a readable criteria file, or one of {}", names.join(", "));
    Error::usage(error.message(), hint)
}

/// Judges what was measured where something was asked, keeps verdict and page, ends the run, prints and gives the exit.
///
/// # Errors
/// What the store says, or a closed standard output.
pub fn conclude(
    writer: RunWriter,
    finish: &Finish,
    asked: Option<&Asked>,
    output: &OutputOptions,
) -> Result<Ended> {
    let (ended, dossier, run) = keep(writer, finish, asked)?;
    show(&dossier, &run, output)?;
    complain(finish, &run);
    Ok(ended)
}

/// The same without printing anything: how it ended, what it tells, and where it is kept. Where nothing was asked there is
/// an answer and no verdict.
///
/// # Errors
/// What the store says.
pub fn keep(
    writer: RunWriter,
    finish: &Finish,
    asked: Option<&Asked>,
) -> Result<(Ended, Dossier, RunReader)> {
    if let Some(asked) = asked {
        writer.put(Document::Criteria, &asked.text)?;
    }
    let mut dossier = Dossier::read(&writer.reader()?)?;
    let verdict = asked.map(|asked| dossier.judge(&asked.rules));
    let judged = verdict.as_ref().map_or(Outcome::Pass, |verdict| verdict.outcome);
    if let Some(verdict) = &verdict {
        writer.put_json(Document::Verdict, verdict)?;
    }
    dossier.report.verdict = verdict;
    writer.put(Document::Report, &assay_report::html(&dossier.report, Options::default()))?;
    let run = close(writer, finish.clone())?;
    let outcome = if dossier.is_broken() { Outcome::Fail } else { judged };
    Ok((ended(finish, outcome), dossier, run))
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
    crate::terminal::say(&crate::options::without_passwords(&error.to_string()));
}

/// Prints a run as text or JSON, with where it is kept.
///
/// # Errors
/// A closed standard output.
pub fn show(dossier: &Dossier, run: &RunReader, output: &OutputOptions) -> Result<Ended> {
    if !output.quiet && !run.is_checked() {
        let id = &run.manifest().id;
        crate::terminal::say(&format!(
            "note: the run {id} is unchecked: it has no checksums, and what changed in it since is not noticed"
        ));
    }
    if output.json {
        return print(&assay_report::json(&dossier.report)?);
    }
    let text = assay_report::text(&dossier.report, Options::default(), colour());
    let page = run.path().join(Document::Report.file_name());
    print_report(&format!("{text}\nrun   {}\npage  {}\n", run.path().display(), page.display()))
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` asks for none.
pub fn colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
