//! The database that a word names, for every command that takes one: an address, a report, a
//! folder, a profile, or a run.

use crate::context::Context;
use crate::live_profile::{ServerWatch, profile};
use crate::reports::{ReadReport, ReportRequest, read_files, read_profile};
use crate::run_part::RunPart;
use assay_model::load::{Dialect, Load, Rung};
use assay_model::profile::Figure;
use assay_model::units::{Nanos, show_count};
use assay_model::{Error, Profile, Result};
use assay_predict::{PredictedDemand, ReadProfile, StepFacts, demand_of, demand_of_load};
use assay_store::{RunReader, StoredDocument};
use std::collections::BTreeSet;
use std::path::Path;

/// How long a live server is watched where nobody says.
pub const WATCH_TIME: Nanos = Nanos(60_000_000_000);

/// Whether a word is the address of a server.
pub fn is_address(named: &str) -> bool {
    Dialect::of_address(named).is_some()
}

/// A profile with what else is known of where it was taken.
#[derive(Clone, Debug)]
pub struct DatabaseSource {
    /// The profile.
    pub profile: Profile,
    /// What the sessions of a benchmark know.
    pub load: Option<StepFacts>,
}

impl DatabaseSource {
    /// Reads what is named: the address of a server, which is watched for that long; a report, a
    /// folder with reports of one database, a profile; or a run that keeps a profile, or of a
    /// benchmark with its step, the best where none is named.
    ///
    /// # Errors
    /// What the server says or a file holds, and a usage error for a word that names no database or
    /// several.
    pub fn open(named: &str, watch: Nanos, context: &Context) -> Result<Self> {
        if is_address(named) {
            let wanted =
                ServerWatch { address: named, length: watch, canary: false, named: &|_| Ok(()) };
            return profile(&wanted, &context.stop, &context.progress).map(Self::of_profile);
        }
        let path = Path::new(named);
        if path.is_dir() && !path.join("run.json").is_file() {
            return busiest(path, context).map(Self::of_profile);
        }
        if path.is_file() {
            return read_profile(path).map(Self::of_profile);
        }
        of_run(named, context)
    }

    const fn of_profile(profile: Profile) -> Self {
        Self { profile, load: None }
    }

    /// The step of a benchmark that a word names: `8` or `sessions-8`.
    pub(crate) fn of_named_step(run: &RunPart) -> Result<Self> {
        let sessions = run.sessions().ok_or_else(|| {
            Error::usage(
                format!(
                    "'{}' is not a number of sessions",
                    run.part.as_deref().unwrap_or_default()
                ),
                "specify a step of a benchmark as RUN:SESSIONS, for example latest:8",
            )
        })?;
        Self::of_step(&load_of(&run.reader)?, sessions)
    }

    /// The profile of the middle repeat of a number of sessions.
    ///
    /// # Errors
    /// When the benchmark has no such step, or the step has no profile.
    pub(crate) fn of_step(load: &Load, sessions: u32) -> Result<Self> {
        let rung = middle(load, sessions).ok_or_else(|| {
            Error::usage(
                format!("the benchmark has no step of {sessions} sessions"),
                format!("specify one of these: {}", joined(&steps(load))),
            )
        })?;
        let profile = rung.profile.as_deref().cloned().ok_or_else(|| {
            Error::usage(
                format!("the step of {sessions} sessions has no profile"),
                "measure it again; the server refused the session that profiles it",
            )
        })?;
        let load = Some(StepFacts::of(load, rung));
        Ok(Self { profile: with_host(profile, rung), load })
    }

    /// As the model takes it.
    pub(crate) fn read(&self) -> ReadProfile {
        self.load.as_ref().map_or_else(
            || demand_of(&self.profile, None),
            |facts| demand_of_load(&self.profile, facts),
        )
    }

    /// What one unit of its work demands.
    pub fn demand(&self) -> PredictedDemand {
        self.read().demand
    }
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
                "{} contains reports of {} databases: {}",
                folder.display(),
                names.len(),
                names.join(", ")
            ),
            "specify one report, or a folder with reports of one database",
        ));
    }
    let count = reports.len();
    let most = reports.into_iter().max_by(|one, other| of(one).total_cmp(&of(other)));
    let most = most.ok_or_else(|| {
        Error::usage(
            format!("{} is a directory without reports", folder.display()),
            "specify a report, a profile, a folder with reports, a run, or the address of a server",
        )
    })?;
    if count > 1 {
        context.progress.say(&format!(
            "note: of {count} reports, {} has the highest I/O rate: {} I/Os per second",
            most.file,
            show_count(of(&most))
        ));
    }
    most.profile.ok_or_else(|| Error::usage("the report has no profile", "specify another report"))
}

/// The database of a name that may have an instance behind it: `SALES/sales1`.
fn database(name: &str) -> &str {
    name.split_once('/').map_or(name, |(database, _)| database)
}

/// The profile of a run, or of a step of a benchmark.
fn of_run(named: &str, context: &Context) -> Result<DatabaseSource> {
    let run = RunPart::open(named, &context.store).map_err(|error| no_database(named, &error))?;
    match run.part {
        None => of_whole_run(&run.reader, context),
        Some(_) => DatabaseSource::of_named_step(&run),
    }
}

fn no_database(named: &str, error: &Error) -> Error {
    let hint = match named.split_once(['/', ':']) {
        Some((host, _)) if host.contains('.') || host == "localhost" => {
            format!("an address begins with postgresql:// or mysql://: postgresql://{named}")
        }
        _ => FORMS.to_owned(),
    };
    Error::usage(format!("cannot find the database {named}: {}", error.message()), hint)
}

/// What names a database.
const FORMS: &str = "specify a report, a folder with reports, a profile, a run (RUN or \
                     RUN:SESSIONS), or an address such as postgresql://user@host/database";

fn of_whole_run(run: &RunReader, context: &Context) -> Result<DatabaseSource> {
    if let Some(profile) = run.json::<Profile>(StoredDocument::Profile)? {
        return Ok(DatabaseSource::of_profile(profile));
    }
    let load = load_of(run)?;
    let best = load.best().ok_or_else(|| {
        Error::usage("no step of the run did any work", "specify another run, or a report")
    })?;
    let count = steps(&load).len();
    if count > 1 {
        context.progress.say(&format!(
            "note: of {count} steps, the one with the highest throughput is used: {}:{}",
            run.manifest().id,
            best.sessions
        ));
    }
    DatabaseSource::of_step(&load, best.sessions)
}

/// The load of a run.
pub(crate) fn load_of(run: &RunReader) -> Result<Load> {
    run.json::<Load>(StoredDocument::Load)?.ok_or_else(|| {
        Error::usage(
            format!("the run {} did not load a database", run.manifest().id),
            "specify a run of assay bench",
        )
    })
}

/// Numbers of sessions of a benchmark, ascending.
pub(crate) fn steps(load: &Load) -> Vec<u32> {
    let mut sessions: Vec<u32> = load.rungs.iter().map(|rung| rung.sessions).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

fn joined(sessions: &[u32]) -> String {
    sessions.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Of repeats the one with the middle rate.
pub(crate) fn middle(load: &Load, sessions: u32) -> Option<&Rung> {
    let mut repeats: Vec<&Rung> = load.repeats_of(sessions).collect();
    let rate = |rung: &&Rung| rung.statements_per_s();
    repeats.sort_by(|left, right| rate(left).total_cmp(&rate(right)));
    repeats.get(repeats.len().checked_sub(1)? / 2).copied()
}

/// The step knows how busy its host was.
fn with_host(mut profile: Profile, rung: &Rung) -> Profile {
    let busy = rung
        .host_busy_share
        .map(|share| Figure::new(share, "/proc/stat of this host during the step"));
    profile.time.host_busy_share = profile.time.host_busy_share.or(busy);
    profile
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
            DatabaseSource::open(&named.display().to_string(), WATCH_TIME, &context).unwrap_err()
        };
        assert!(refused(&root.join("none")).hint().contains("postgresql://"));
        assert!(refused(&root.join("empty")).message().contains("without reports"));
        assert_eq!((database("SALES/sales1"), database("SALES")), ("SALES", "SALES"));
        std::fs::remove_dir_all(root).unwrap();
    }
}
