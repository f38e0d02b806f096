//! The database named by a report, a profile document, or a benchmark step (RUN:SESSIONS).

use crate::reports::read_profile;
use assay_model::load::{Load, Rung};
use assay_model::profile::Figure;
use assay_model::{Error, Profile, Result};
use assay_predict::{Demand, LoadFacts, ReadProfile, demand_of, demand_of_load};
use assay_store::{Document, RunReader, Store};
use std::path::Path;

/// A profile with what else is known of where it was taken.
#[derive(Clone, Debug)]
pub struct DatabaseSource {
    /// The profile.
    pub profile: Profile,
    /// What the sessions of a benchmark know.
    pub load: Option<LoadFacts>,
}

impl DatabaseSource {
    /// Reads what is named: a file, else a run of the store with one of its steps.
    ///
    /// # Errors
    /// When there is no such file, run or step, or it has no profile.
    pub fn open(named: &str, store: &Store) -> Result<Self> {
        if Path::new(named).exists() {
            return Ok(Self { profile: read_profile(Path::new(named))?, load: None });
        }
        let Some((run, step)) = named.rsplit_once(':') else {
            return of_whole_run(named, store);
        };
        Self::of_named_step(&store.open(run)?, step)
    }

    /// The step of a benchmark that a word names: `8` or `sessions-8`.
    pub(crate) fn of_named_step(run: &RunReader, step: &str) -> Result<Self> {
        let sessions = step.trim_start_matches("sessions-").parse::<u32>().map_err(|_| {
            Error::usage(
                format!("'{step}' is not a number of sessions"),
                "name a step of a benchmark as RUN:SESSIONS, for example latest:8",
            )
        })?;
        Self::of_step(&load_of(run)?, sessions)
    }

    /// The profile of the middle repeat of a number of sessions.
    ///
    /// # Errors
    /// When the benchmark has no such step, or the step has no profile.
    pub(crate) fn of_step(load: &Load, sessions: u32) -> Result<Self> {
        let rung = middle(load, sessions).ok_or_else(|| {
            Error::usage(
                format!("the benchmark has no step of {sessions} sessions"),
                format!("name one of these: {}", joined(&steps(load))),
            )
        })?;
        let profile = rung.profile.as_deref().cloned().ok_or_else(|| {
            Error::usage(
                format!("the step of {sessions} sessions has no profile"),
                "measure it again; the server refused the session that takes it",
            )
        })?;
        let load = Some(LoadFacts::of(load, rung));
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
    pub fn demand(&self) -> Demand {
        self.read().demand
    }
}

/// A run that keeps the profile of its database, as a check for one does.
fn of_whole_run(named: &str, store: &Store) -> Result<DatabaseSource> {
    let run = store.open(named).ok();
    match run.and_then(|run| run.json::<Profile>(Document::Profile).transpose()) {
        Some(profile) => Ok(DatabaseSource { profile: profile?, load: None }),
        None => Err(no_file(named, store)),
    }
}

/// Neither a file nor RUN:STEP; a run that is named without its step has the steps in the hint.
fn no_file(named: &str, store: &Store) -> Error {
    let run = store.open(named).and_then(|run| load_of(&run));
    match run {
        Ok(load) => {
            let known: Vec<String> =
                steps(&load).iter().map(|sessions| format!("{named}:{sessions}")).collect();
            Error::usage(
                format!("{named} is a benchmark with {} steps", known.len()),
                format!("name one of them: {}", known.join(", ")),
            )
        }
        Err(_) => Error::usage(
            format!("there is no file {named}"),
            "name a report, a profile (*.profile.json), or a step of a benchmark as RUN:SESSIONS",
        ),
    }
}

/// The load of a run.
pub(crate) fn load_of(run: &RunReader) -> Result<Load> {
    run.json::<Load>(Document::Load)?.ok_or_else(|| {
        Error::usage(
            format!("the run {} did not load a database", run.manifest().id),
            "name a run of assay bench",
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
