//! The database that `check --for` names: an address, a report, a folder of reports, a profile, or a run.

use crate::context::Context;
use crate::database_source::{DatabaseSource, load_of};
use crate::live_profile::{ServerWatch, profile};
use crate::reports::{ReadReport, ReportRequest, read_files, read_profile};
use assay_model::load::Dialect;
use assay_model::units::{Nanos, show_count};
use assay_model::{Error, Profile, Result};
use assay_store::{Document, RunReader};
use std::collections::BTreeSet;
use std::path::Path;

/// Whether a word is the address of a server.
pub fn is_address(named: &str) -> bool {
    Dialect::of_address(named).is_some()
}

/// The profile of the database that a word names; a live server is watched for that long.
///
/// # Errors
/// What the server says or a file holds, and a usage error for a word that names no database or several.
pub fn read_database(named: &str, time: Nanos, context: &Context) -> Result<Profile> {
    if is_address(named) {
        let wanted =
            ServerWatch { address: named, length: time, canary: false, named: &|_| Ok(()) };
        return profile(&wanted, &context.stop, &context.progress);
    }
    let path = Path::new(named);
    if path.is_dir() && !path.join("run.json").is_file() {
        return busiest(path, context);
    }
    if path.is_file() {
        return read_profile(path);
    }
    of_run(named, context)
}

/// Of the reports of one database in a folder the one with the most I/O.
fn busiest(folder: &Path, context: &Context) -> Result<Profile> {
    let wanted = ReportRequest { profiles: true, medium: None };
    let mut reports: Vec<ReadReport> = Vec::new();
    for file in read_files(&[folder.to_owned()], wanted) {
        if let Some(error) = file.errors.into_iter().next() {
            context.progress.say(&format!("note: left out: {}", error.message()));
        }
        reports.extend(file.reports);
    }
    let of = |report: &ReadReport| report.profile.as_ref().and_then(Profile::iops).unwrap_or(0.0);
    let names: BTreeSet<&str> = reports
        .iter()
        .filter_map(|report| Some(database(&report.profile.as_ref()?.name)))
        .collect();
    if names.len() > 1 {
        let names: Vec<&str> = names.into_iter().collect();
        return Err(Error::usage(
            format!(
                "{} holds reports of {} databases: {}",
                folder.display(),
                names.len(),
                names.join(", ")
            ),
            "name one report, or a folder with reports of one database",
        ));
    }
    let count = reports.len();
    let most = reports.into_iter().max_by(|one, other| of(one).total_cmp(&of(other)));
    let most = most.ok_or_else(|| {
        Error::usage(
            format!("{} is a directory without reports", folder.display()),
            "name a report, a profile, a folder with reports, a run, or the address of a server",
        )
    })?;
    if count > 1 {
        context.progress.say(&format!(
            "note: {} has the most I/O of {count} reports: {} I/Os per second",
            most.file,
            show_count(of(&most))
        ));
    }
    most.profile.ok_or_else(|| Error::usage("the report has no profile", "name another report"))
}

/// The database of a name that may have an instance behind it: `SALES/sales1`.
fn database(name: &str) -> &str {
    name.split_once('/').map_or(name, |(database, _)| database)
}

/// The profile that a run keeps: of a check for a database, or of a step of a benchmark, the best where none is named.
fn of_run(named: &str, context: &Context) -> Result<Profile> {
    let opened = context.store.open(named);
    let (run, step) = match (opened, named.rsplit_once(':')) {
        (Ok(run), _) => (run, None),
        (Err(_), Some((run, step))) if context.store.open(run).is_ok() => {
            (context.store.open(run)?, Some(step))
        }
        (Err(error), _) => return Err(no_database(named, &error)),
    };
    match step {
        None => of_whole_run(&run),
        Some(step) => Ok(DatabaseSource::of_named_step(&run, step)?.profile),
    }
}

fn no_database(named: &str, error: &Error) -> Error {
    Error::usage(
        format!("cannot find the database {named}: {}", error.message()),
        "name a report, a folder with reports, a profile, a run (RUN or RUN:SESSIONS), or an address such as postgresql://user@host/database",
    )
}

fn of_whole_run(run: &RunReader) -> Result<Profile> {
    if let Some(profile) = run.json::<Profile>(Document::Profile)? {
        return Ok(profile);
    }
    let load = load_of(run)?;
    let best = load.best().ok_or_else(|| {
        Error::usage("no step of the run did any work", "name another run, or a report")
    })?;
    Ok(DatabaseSource::of_step(&load, best.sessions)?.profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_store::Store;

    #[test]
    fn addresses_are_told_from_files_and_what_names_nothing_is_refused() {
        assert!(is_address("postgresql://u@h/shop") && is_address("mysql://u@h/shop"));
        assert!(!is_address("awr.html") && !is_address("latest:8"));
        let root = std::env::temp_dir().join(format!("assay-database-{}", std::process::id()));
        std::fs::create_dir_all(root.join("empty")).unwrap();
        let context = Context::new(Store::at(root.join("runs")));
        let refused = |named: &Path| {
            read_database(&named.display().to_string(), Nanos(0), &context).unwrap_err()
        };
        assert!(refused(&root.join("none")).hint().contains("postgresql://"));
        assert!(refused(&root.join("empty")).message().contains("without reports"));
        assert_eq!((database("SALES/sales1"), database("SALES")), ("SALES", "SALES"));
        std::fs::remove_dir_all(root).unwrap();
    }
}
