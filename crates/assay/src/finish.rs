//! The end of every command that measures: print the answer, choose the exit code.

use crate::exit::{ExitStatus, exit_status, print, print_report};
use crate::options::OutputOptions;
use crate::terminal::layout;
use assay_app::finish::FinishedRun;
use assay_app::loaded_run::LoadedRun;
use assay_app::new_file::write_new;
use assay_model::measurement::{BackendKind, Finish};
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_report::{ReportOptions, RunReport};
use assay_store::{RunReader, StoredDocument};
use std::path::Path;

/// Prints what came of a run, writes its page where that is asked, and gives the exit.
///
/// # Errors
/// A closed standard output, or a page that cannot be written.
pub fn conclude(
    finished: &FinishedRun,
    output: &OutputOptions,
    page: Option<&Path>,
) -> Result<ExitStatus> {
    if let Some(path) = page {
        write_new(
            path,
            assay_report::html(&finished.loaded.report, ReportOptions::default()).as_bytes(),
        )?;
    }
    show(&finished.loaded, &finished.run, output)?;
    complain(finished);
    if finished.loaded.has_lost_host() {
        return Ok(ExitStatus::Inconclusive);
    }
    Ok(exit_status(&finished.finish, finished.outcome))
}

/// A measurement that could not go on says so also where errors are looked for.
fn complain(finished: &FinishedRun) {
    let Finish::Failed { reason } = &finished.finish else {
        return;
    };
    let manifest = finished.run.manifest();
    let (kind, is_of_hosts) = (manifest.kind, finished.loaded.report.cluster.is_some());
    let is_imported = |run: &RunReport| run.measurement.conduct.backend == BackendKind::Fio;
    let next = match kind {
        _ if finished.loaded.report.runs.iter().any(is_imported) => {
            "run it again with the program that measured it, and import that result".to_owned()
        }
        RunKind::Verify => {
            "check it with `assay verify --after` if a ledger was written".to_owned()
        }
        // What several hosts measure later is another start.
        _ if kind.can_go_on() && !is_of_hosts => {
            format!("continue with `assay {} --resume {}`", kind.name(), manifest.id)
        }
        _ => "start again".to_owned(),
    };
    let kept = finished.run.path().display();
    let error = Error::environment(
        reason,
        format!("the data are kept in {kept}; remove the cause, then {next}"),
    );
    crate::terminal::say(&crate::options::without_passwords(&error.to_string()));
}

/// Prints a run as text or JSON, with where it is kept.
///
/// # Errors
/// A closed standard output.
pub fn show(loaded: &LoadedRun, run: &RunReader, output: &OutputOptions) -> Result<ExitStatus> {
    if !output.quiet && !run.is_checked() {
        let id = &run.manifest().id;
        crate::terminal::say(&format!(
            "note: the run {id} has no checksums: changes to it cannot be detected"
        ));
    }
    if output.json {
        return print(&assay_report::json(&loaded.report)?);
    }
    let text = assay_report::text(&loaded.report, ReportOptions::default(), layout(output.full));
    let page = run.path().join(StoredDocument::Report.file_name());
    print_report(&format!("{text}\nrun   {}\npage  {}\n", run.path().display(), page.display()))
}
