//! Targets of a prediction: a run's calibration, a document, or a simulated device that is
//! calibrated in virtual time.

use crate::context::Context;
use crate::database_calibration::{append_of, block_size, log_plan, mixes};
use assay_methods::files::read_document;
use assay_methods::target::{SimulatedDevice, is_simulated};
use assay_methods::{CalibrationPlan, CalibrationUpdate, SimulatedBench, calibrate, calibrate_log};
use assay_model::calibration::{Calibration, CapacityBound};
use assay_model::document::parse_json;
use assay_model::projection::TargetOrigin;
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_predict::{PredictedDemand, StorageSource};
use assay_store::StoredDocument;
use std::path::Path;

/// A target with its calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionTarget {
    /// As it was named.
    pub name: String,
    /// What it gives.
    pub calibration: Calibration,
    /// Where that comes from.
    pub origin: TargetOrigin,
}

impl PredictionTarget {
    /// As the model takes it, with the calibration of the log's device where that is another one.
    pub fn source<'a>(&'a self, log: Option<&'a Calibration>) -> StorageSource<'a> {
        StorageSource {
            name: self.name.clone(),
            calibration: &self.calibration,
            origin: self.origin,
            log,
        }
    }
}

/// Virtual time in which a fast device gives enough I/Os, and what a slow one takes for as many.
const SHORT_TIME: Nanos = Nanos(5_000_000_000);
const LONG_TIME: Nanos = Nanos(30_000_000_000);
/// Below this a device is slow.
const SLOW_IOPS: f64 = 20_000.0;

/// Whether a mix gave few I/Os, or did not come to its end.
fn is_slow(calibration: &Calibration) -> bool {
    calibration.mixes.iter().any(|mix| {
        let most = &mix.iops_max;
        most.rate.value < SLOW_IOPS || !matches!(most.bound, CapacityBound::Saturated)
    })
}

/// What a target is read for.
pub(crate) struct TargetReader<'a> {
    /// The database that is to move.
    pub(crate) demand: &'a PredictedDemand,
    /// Virtual time that a simulated device is calibrated for, each mix; by default as long as its
    /// rate asks for.
    pub(crate) calibration_time: Option<Nanos>,
    /// Of a simulated device.
    pub(crate) seed: u64,
    /// Where the runs are.
    pub(crate) context: &'a Context,
}

impl TargetReader<'_> {
    /// Reads `TARGET` or `NAME=TARGET`.
    ///
    /// # Errors
    /// When there is no such run, document or device, or the run has no calibration.
    pub(crate) fn read(&self, named: &str) -> Result<PredictionTarget> {
        let (name, target) = split(named);
        let (calibration, origin) = if is_simulated(target) {
            self.simulated(name, target)?
        } else if is_document(target) {
            let text = read_document(Path::new(target), "calibration")?;
            (parse_json(&text, "calibration")?, TargetOrigin::Measured)
        } else {
            self.kept(target)?
        };
        Ok(PredictionTarget { name: name.to_owned(), calibration, origin })
    }

    /// The calibration of a run.
    fn kept(&self, target: &str) -> Result<(Calibration, TargetOrigin)> {
        let run = self.context.store.open(target)?;
        let calibration = run.json::<Calibration>(StoredDocument::Calibration)?.ok_or_else(|| {
            Error::usage(
                format!("the run {} has no calibration", run.manifest().id),
                "specify a run of assay calibrate or assay check, or a simulated device such as \
                 array:xtremio-1",
            )
        })?;
        let is_simulated = run.manifest().targets.iter().any(|target| is_simulated(target));
        let origin = if is_simulated { TargetOrigin::Simulated } else { TargetOrigin::Measured };
        Ok((calibration, origin))
    }

    /// Reads, writes and the database's own mix, with its transfer, in virtual time; then the log.
    fn simulated(&self, name: &str, target: &str) -> Result<(Calibration, TargetOrigin)> {
        let device = SimulatedDevice::parse(target)?.ok_or_else(|| {
            Error::usage(format!("{target} is not a simulated device"), "see assay list arrays")
        })?;
        let (demand, stop) = (self.demand, &self.context.stop);
        let mut calibration = if let Some(time) = self.calibration_time {
            self.curves(name, &device, time)?
        } else {
            let short = self.curves(name, &device, SHORT_TIME)?;
            if is_slow(&short) { self.curves(name, &device, LONG_TIME)? } else { short }
        };
        if demand.commits_mean > 0.0 {
            let share = demand.read_share();
            let (append, block_size) = (append_of(demand), block_size(demand));
            let log = log_plan(
                append,
                block_size,
                share,
                &calibration,
                self.seed,
                self.calibration_time.unwrap_or(SHORT_TIME),
            );
            let mut bench = SimulatedBench::of(&device).with_stop(stop);
            calibration.log = calibrate_log(&mut bench, &log)?;
        }
        self.context.progress.clear();
        let is_catalog = target.starts_with("catalog:");
        let origin = if is_catalog { TargetOrigin::DataSheet } else { TargetOrigin::Simulated };
        Ok((calibration, origin))
    }

    /// The curves of the database's mixes.
    fn curves(&self, name: &str, device: &SimulatedDevice, time: Nanos) -> Result<Calibration> {
        let method = CalibrationPlan {
            mixes: mixes(self.demand),
            block_size: block_size(self.demand),
            time_budget: time,
            seed: self.seed,
            ..CalibrationPlan::default()
        };
        let mut bench = SimulatedBench::of(device).with_stop(&self.context.stop);
        calibrate(&mut bench, &method, &mut |update| self.show(name, update))
    }

    fn show(&self, name: &str, update: CalibrationUpdate<'_>) {
        let CalibrationUpdate::Slice(now) = update else {
            return;
        };
        let words = format!("{name}: {} in virtual time", now.mix);
        self.context.progress.show(&words, now.elapsed_s / now.budget_s, None);
    }
}

fn is_document(target: &str) -> bool {
    let path = Path::new(target);
    path.extension().is_some_and(|end| end == "json") && path.exists()
}

/// `NAME=TARGET`; the equals sign of a device's query comes after a question mark.
fn split(named: &str) -> (&str, &str) {
    match named.split_once('=') {
        Some((name, target)) if !name.contains(['?', ':', '/']) && !name.is_empty() => {
            (name, target)
        }
        _ => (named, named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_may_have_a_name_and_a_query() {
        assert_eq!(split("fast=array:xtremio-1"), ("fast", "array:xtremio-1"));
        let query = "sim:servers?count=8&service=1ms";
        assert_eq!(split(query), (query, query));
        assert_eq!(split("latest"), ("latest", "latest"));
        assert_eq!(split("a=sim:servers?count=8"), ("a", "sim:servers?count=8"));
    }
}
