//! Targets of a prediction: a run's calibration, a document, or a simulated device that is calibrated in virtual time.

use super::PredictPlan;
use crate::calibrate::{append_of, log_plan};
use crate::context::Context;
use assay_methods::files::read_document;
use assay_methods::target::{SimulatedDevice, is_simulated};
use assay_methods::{CalibrationPlan, Mix, Progress, SimulatedBench, calibrate, calibrate_log};
use assay_model::calibration::Calibration;
use assay_model::document::parse_json;
use assay_model::number::count;
use assay_model::projection::TargetOrigin;
use assay_model::units::Bytes;
use assay_model::{Error, Result};
use assay_predict::{Demand, StorageSource};
use assay_store::Document;
use std::path::Path;

/// A target with its calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedTarget {
    /// As it was named.
    pub name: String,
    /// What it gives.
    pub calibration: Calibration,
    /// Where that comes from.
    pub origin: TargetOrigin,
}

impl CalibratedTarget {
    /// Reads `TARGET` or `NAME=TARGET`.
    ///
    /// # Errors
    /// When there is no such run, document or device, or the run has no calibration.
    pub fn read(
        named: &str,
        plan: &PredictPlan,
        demand: &Demand,
        context: &Context,
    ) -> Result<Self> {
        let (name, target) = split(named);
        if is_simulated(target) {
            return Self::simulated(name, target, plan, demand, context);
        }
        let path = Path::new(target);
        if path.extension().is_some_and(|end| end == "json") && path.exists() {
            let text = read_document(path, "calibration")?;
            let calibration = parse_json(&text, "calibration")?;
            let (name, origin) = (name.to_owned(), TargetOrigin::Measured);
            return Ok(Self { name, calibration, origin });
        }
        let run = context.store.open(target)?;
        let calibration = run.json::<Calibration>(Document::Calibration)?.ok_or_else(|| {
            Error::usage(
                format!("the run {} has no calibration", run.manifest().id),
                "name a run of assay calibrate or assay check, or a simulated device such as array:xtremio-1",
            )
        })?;
        let is_simulated = run.manifest().targets.iter().any(|target| is_simulated(target));
        let origin = if is_simulated { TargetOrigin::Simulated } else { TargetOrigin::Measured };
        Ok(Self { name: name.to_owned(), calibration, origin })
    }

    /// As the model takes it.
    pub fn source(&self) -> StorageSource<'_> {
        StorageSource {
            name: self.name.clone(),
            calibration: &self.calibration,
            origin: self.origin,
        }
    }

    /// Reads, writes and the database's own mix, with its transfer, in virtual time; then the log.
    fn simulated(
        name: &str,
        target: &str,
        plan: &PredictPlan,
        demand: &Demand,
        context: &Context,
    ) -> Result<Self> {
        let device = SimulatedDevice::parse(target)?.ok_or_else(|| {
            Error::usage(format!("{target} is no simulated device"), "see assay arrays")
        })?;
        let method = CalibrationPlan {
            mixes: mixes(demand),
            transfer: transfer(demand),
            time_budget: plan.calibration_time,
            seed: plan.projection.seed,
            ..CalibrationPlan::default()
        };
        let mut bench = SimulatedBench::of(&device).with_stop(&context.stop);
        let mut show = |now: &Progress| {
            context.progress.show(
                &format!("{name}: {} in virtual time", now.mix),
                now.elapsed_s / now.budget_s,
                None,
            );
        };
        let mut calibration = calibrate(&mut bench, &method, &mut show)?;
        if demand.commits_mean > 0.0 {
            let log = log_plan(
                append_of(demand),
                transfer(demand),
                demand.read_share(),
                &calibration,
                plan.projection.seed,
            );
            calibration.log =
                calibrate_log(&mut SimulatedBench::of(&device).with_stop(&context.stop), &log)?;
        }
        context.progress.clear();
        let origin = if target.starts_with("catalog:") {
            TargetOrigin::DataSheet
        } else {
            TargetOrigin::Simulated
        };
        Ok(Self { name: name.to_owned(), calibration, origin })
    }
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

/// Reads, writes where the database writes, and its own mix.
pub(crate) fn mixes(demand: &Demand) -> Vec<Mix> {
    let share = (100.0 * demand.read_share()).round() / 100.0;
    let mut mixes = vec![Mix::of(1.0)];
    if demand.all_writes() > 0.0 {
        mixes.push(Mix::of(0.0));
        mixes.extend((share > 0.0 && share < 1.0).then(|| Mix::of(share)));
    }
    mixes
}

/// The database's block, as whole sectors.
pub(crate) fn transfer(demand: &Demand) -> Bytes {
    let sectors = count(demand.read_bytes / 512.0).max(1);
    Bytes(if demand.read_bytes > 0.0 { 512 * sectors } else { 8192 })
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

    #[test]
    fn a_database_that_only_reads_needs_no_writes() {
        let reading = Demand { reads_mean: 3.0, read_bytes: 16384.0, ..Demand::default() };
        assert_eq!(mixes(&reading), [Mix::of(1.0)]);
        assert_eq!(transfer(&reading), Bytes(16384));
        let writing = Demand { writes_mean: 1.0, ..reading };
        assert_eq!(mixes(&writing), [Mix::of(1.0), Mix::of(0.0), Mix::of(0.75)]);
    }
}
