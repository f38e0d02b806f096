//! What a database would do on other storage.

mod learnt;
mod targets;
mod verify;

use crate::context::Context;
use crate::reports::read_profile;
use assay_model::load::{Load, Rung};
use assay_model::projection::Projection;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Profile, Result};
use assay_predict::{
    CacheChange, Demand, LoadFacts, ProjectionPlan, ReadProfile, StorageSource, demand_of,
    demand_of_load, project,
};
use assay_store::{Document, RunReader};
use std::path::Path;
use targets::TargetReader;

pub use targets::PredictionTarget;
pub use verify::{VerificationSummary, verify};

/// The plan of a prediction; its fields are the options of the verb.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionPlan {
    /// A report, a profile, or a rung of a load as RUN:SESSIONS.
    pub profile: String,
    /// Targets: calibrations by run or file, or simulated devices, each perhaps as NAME=TARGET.
    pub on: Vec<String>,
    /// The calibration of the storage that the profile was measured on.
    pub from: Option<String>,
    /// The calibration whose log is taken for all targets.
    pub log: Option<String>,
    /// Bytes of the buffer cache, where they are to change.
    pub cache: Option<Bytes>,
    /// Bytes of the buffer cache now, where no advice is printed.
    pub present_cache: Option<Bytes>,
    /// Virtual time that a simulated device is calibrated for, each mix; by default as long as its rate asks for.
    pub calibration_time: Option<Nanos>,
    /// Everything else that is asked.
    pub projection: ProjectionPlan,
}

impl PredictionPlan {
    /// Reads, calibrates what is simulated, and answers. Nothing is kept.
    pub fn run(&self, context: &Context) -> Result<Projection> {
        let source = read_source(&self.profile, context)?;
        let read = source.read();
        let projection = learnt::with_learnt(&self.with_cache(&source.profile)?, context)?;
        let reader = self.reader(&read.demand, context);
        let of = |name: &String| reader.read(name);
        let mut targets: Vec<PredictionTarget> = self.on.iter().map(of).collect::<Result<_>>()?;
        let mut from = self.from.as_ref().map(of).transpose()?;
        if let Some(log) = self.log.as_ref().map(of).transpose()? {
            let known = log.calibration.log.clone().ok_or_else(|| no_log(&log.name))?;
            targets.iter_mut().chain(&mut from).for_each(|target| {
                target.calibration.log = Some(known.clone());
            });
        }
        let projection = with_sessions(&projection, &source, &read);
        let sources: Vec<StorageSource<'_>> =
            targets.iter().map(PredictionTarget::source).collect();
        let from = from.as_ref().map(PredictionTarget::source);
        Ok(project(&read, from.as_ref(), &sources, &projection))
    }

    fn reader<'a>(&self, demand: &'a Demand, context: &'a Context) -> TargetReader<'a> {
        let (calibration_time, seed) = (self.calibration_time, self.projection.seed);
        TargetReader { demand, calibration_time, seed, context }
    }

    fn with_cache(&self, profile: &Profile) -> Result<ProjectionPlan> {
        let Some(cache) = self.cache else {
            return Ok(self.projection.clone());
        };
        let bytes = |size: Bytes| assay_model::number::real(size.0);
        let change = CacheChange::of(profile, bytes(cache), self.present_cache.map(bytes));
        let change = change.ok_or_else(|| {
            Error::usage(
                format!("nothing in {} says what a cache of {cache} would do", self.profile),
                "take a report with the section Buffer Pool Advisory and a size within it, or a live profile with relations and --present-cache",
            )
        })?;
        Ok(ProjectionPlan { read_ratio: Some(change.read_ratio), ..self.projection.clone() })
    }
}

fn no_log(name: &str) -> Error {
    Error::usage(
        format!("the calibration {name} has no log"),
        "calibrate it with the profile: assay calibrate DIR --database PROFILE",
    )
}

/// A profile with what else is known of where it was taken.
#[derive(Clone, Debug)]
pub struct ProfileSource {
    /// The profile.
    pub profile: Profile,
    /// What the sessions of a load know.
    pub load: Option<LoadFacts>,
}

impl ProfileSource {
    /// As the model takes it.
    pub(crate) fn read(&self) -> ReadProfile {
        self.load.as_ref().map_or_else(
            || demand_of(&self.profile, None),
            |facts| demand_of_load(&self.profile, facts),
        )
    }
}

/// A file, else a run of the store with the rung that is meant.
fn read_source(named: &str, context: &Context) -> Result<ProfileSource> {
    if Path::new(named).exists() {
        let profile = read_profile(Path::new(named))?;
        return Ok(ProfileSource { profile, load: None });
    }
    let Some((run, rung)) = named.rsplit_once(':') else {
        let run = context.store.open(named).ok();
        if let Some(profile) = run.and_then(|run| run.json(Document::Profile).transpose()) {
            return Ok(ProfileSource { profile: profile?, load: None });
        }
        return Err(Error::usage(
            format!("there is no file {named}"),
            "name a report, a profile (*.profile.json), or a rung of a load as RUN:SESSIONS",
        ));
    };
    let sessions = rung.trim_start_matches("sessions-").parse::<u32>().map_err(|_| {
        Error::usage(
            format!("'{rung}' is not a number of sessions"),
            "name a rung as RUN:SESSIONS, for example latest:8",
        )
    })?;
    let load = load_of(&context.store.open(run)?)?;
    rung_source(&load, sessions)
}

/// The load of a run.
pub(crate) fn load_of(run: &RunReader) -> Result<Load> {
    run.json::<Load>(Document::Load)?.ok_or_else(|| {
        Error::usage(
            format!("the run {} has no load on a database", run.manifest().id),
            "name a run of assay load",
        )
    })
}

/// The profile of the middle repeat of a number of sessions.
pub(crate) fn rung_source(load: &Load, sessions: u32) -> Result<ProfileSource> {
    let rung = middle(load, sessions).ok_or_else(|| {
        let known: Vec<String> = load.rungs.iter().map(|rung| rung.sessions.to_string()).collect();
        Error::usage(
            format!("the load has no rung of {sessions} sessions"),
            format!("name one of these: {}", known.join(", ")),
        )
    })?;
    let profile = rung.profile.as_deref().cloned().ok_or_else(|| {
        Error::usage(
            format!("the rung of {sessions} sessions has no profile"),
            "measure it again; the server gave no session for one",
        )
    })?;
    Ok(ProfileSource { profile: with_host(profile, rung), load: Some(LoadFacts::of(load, rung)) })
}

/// Of repeats the one with the middle rate.
pub(crate) fn middle(load: &Load, sessions: u32) -> Option<&Rung> {
    let mut repeats: Vec<&Rung> = load.repeats_of(sessions).collect();
    let rate = |rung: &&Rung| rung.statements_per_s();
    repeats.sort_by(|left, right| rate(left).total_cmp(&rate(right)));
    repeats.get(repeats.len().checked_sub(1)? / 2).copied()
}

/// The rung knows how busy its host was.
fn with_host(mut profile: Profile, rung: &Rung) -> Profile {
    let busy = rung.host_busy_share.map(|share| {
        assay_model::profile::Figure::new(share, "/proc/stat of this host during the rung")
    });
    profile.time.host_busy_share = profile.time.host_busy_share.or(busy);
    profile
}

/// A measured load has as many sessions as it had.
fn with_sessions(
    plan: &ProjectionPlan,
    source: &ProfileSource,
    read: &ReadProfile,
) -> ProjectionPlan {
    let own = source.load.map(|facts| facts.sessions).filter(|sessions| {
        // Sessions that are active less than this think meanwhile.
        read.demand.average_active_sessions() > 0.9 * sessions
    });
    ProjectionPlan { sessions: plan.sessions.or(own), ..plan.clone() }
}
