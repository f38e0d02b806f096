//! What a database would do on other storage.

mod learnt;
mod targets;
mod verify;

use crate::context::Context;
use crate::database_source::{DatabaseSource, WATCH_TIME};
use assay_model::calibration::Calibration;
use assay_model::projection::Projection;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Profile, Result};
use assay_predict::{
    CacheChange, PredictedDemand, ProjectionPlan, ReadProfile, StorageSource, project,
};
use targets::TargetReader;

pub use targets::PredictionTarget;
pub use verify::{VerificationSummary, verify};

/// The plan of a prediction; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionPlan {
    /// A report, a profile, or a step of a load as RUN:SESSIONS.
    pub profile: String,
    /// Targets: calibrations by run or file, or simulated devices, each perhaps as NAME=TARGET.
    pub on: Vec<String>,
    /// The calibration of the storage that the profile was measured on.
    pub from: Option<String>,
    /// The calibration of the device that the log has for itself, whatever the target.
    pub log: Option<String>,
    /// Bytes of the buffer cache, where they are to change.
    pub cache: Option<Bytes>,
    /// Bytes of the buffer cache now, where no advice is printed.
    pub present_cache: Option<Bytes>,
    /// Virtual time that a simulated device is calibrated for, each mix; by default as long as its
    /// rate asks for.
    pub calibration_time: Option<Nanos>,
    /// Everything else that is asked.
    pub projection: ProjectionPlan,
}

impl PredictionPlan {
    /// Reads, calibrates what is simulated, and answers. Nothing is kept.
    pub fn run(&self, context: &Context) -> Result<Projection> {
        let source = DatabaseSource::open(&self.profile, WATCH_TIME, context)?;
        let read = source.read();
        let projection = learnt::with_learnt(&self.with_cache(&source.profile)?, context)?;
        let reader = self.reader(&read.demand, context);
        let of = |name: &String| reader.read(name);
        let targets: Vec<PredictionTarget> = self.on.iter().map(of).collect::<Result<_>>()?;
        let from = self.from.as_ref().map(of).transpose()?;
        let log = self.log.as_ref().map(of).transpose()?;
        let log = log.as_ref().map(|log| separate_log(log, &targets)).transpose()?;
        let projection = with_sessions(&projection, &source, &read);
        let sources: Vec<StorageSource<'_>> =
            targets.iter().map(|target| target.source(log)).collect();
        let from = from.as_ref().map(|from| from.source(log));
        Ok(project(&read, from.as_ref(), &sources, &projection))
    }

    fn reader<'a>(&self, demand: &'a PredictedDemand, context: &'a Context) -> TargetReader<'a> {
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
                format!("{} has no data on a cache of {cache}", self.profile),
                "take a report with the section Buffer Pool Advisory and a size within it, or a \
                 live profile with relations and --present-cache",
            )
        })?;
        Ok(ProjectionPlan { read_ratio: Some(change.read_ratio), ..self.projection.clone() })
    }
}

/// The calibration of the log's own device, which is none of the targets.
fn separate_log<'a>(
    log: &'a PredictionTarget,
    targets: &[PredictionTarget],
) -> Result<&'a Calibration> {
    if log.calibration.log.is_none() {
        return Err(no_log(&log.name));
    }
    if targets.iter().any(|target| target.calibration == log.calibration) {
        return Err(Error::usage(
            format!("--log {}: the data are on the same storage", log.name),
            "omit --log if log and data share a device",
        ));
    }
    Ok(&log.calibration)
}

fn no_log(name: &str) -> Error {
    Error::usage(
        format!("the calibration {name} has no log"),
        "calibrate it with the profile: assay calibrate DIR --for PROFILE",
    )
}

/// A measured load has as many sessions as it had.
fn with_sessions(
    plan: &ProjectionPlan,
    source: &DatabaseSource,
    read: &ReadProfile,
) -> ProjectionPlan {
    let own = source.load.map(|facts| facts.sessions).filter(|sessions| {
        // Sessions that are active less than this think meanwhile.
        read.demand.average_active_sessions() > 0.9 * sessions
    });
    ProjectionPlan { sessions: plan.sessions.or(own), ..plan.clone() }
}
