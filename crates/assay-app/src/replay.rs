//! A recorded write log, cut everywhere: which lies of a device its workload would have shown, and
//! images of single states.

use assay_integrity::{
    CacheBehaviour, CacheOrder, CrashDevice, CrashModel, CutResults, StampedLog, WriteLog,
};
use assay_model::integrity::FaultCount;
use assay_model::number::{count, count_of, share};
use assay_model::units::Bytes;
use assay_model::{Error, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A log is read as a whole.
const LOG_BYTES_MAX: u64 = 8 << 30;
/// How sure a campaign of cuts is to be.
const CONFIDENCE: f64 = 0.95;

/// The plan of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ReplayPlan {
    /// Write log in the format of dm-log-writes, also from qemu's blklogwrites
    pub log: PathBuf,
    /// Seed of all random choices
    #[arg(long, default_value = "1")]
    pub seed: u64,
    /// Unit of atomic writes of the device
    #[arg(long, value_name = "SIZE", default_value = "512B")]
    pub unit: Bytes,
    /// Neighbouring blocks within this size are lost together, as in an erase block
    #[arg(long, value_name = "SIZE", default_value = "0B")]
    pub region: Bytes,
    /// Order in which the cache is written back
    #[arg(long, value_name = "ORDER", default_value = "any", value_parser = order())]
    pub order: CacheOrder,
}

fn order() -> impl TypedValueParser<Value = CacheOrder> {
    let names = [
        PossibleValue::new("any").help("In any order"),
        PossibleValue::new("fifo").help("In the order of the writes"),
    ];
    let of = |name: String| if name == "fifo" { CacheOrder::Fifo } else { CacheOrder::Any };
    PossibleValuesParser::new(names).map(of)
}

/// What all kinds of devices came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ReplayDocument<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// One a kind of device; the first keeps its promises.
    devices: &'a [ReplayedDevice],
}

impl<'a> ReplayDocument<'a> {
    /// Of these devices.
    pub const fn of(devices: &'a [ReplayedDevice]) -> Self {
        Self { format: 1, devices }
    }
}

/// What one kind of device came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ReplayedDevice {
    /// What it does with flushes and FUA.
    pub device: &'static str,
    /// States that were looked at.
    pub states: u64,
    /// Of these, states in which a promise was broken.
    pub broken_states: u64,
    /// Cuts after which such a device is found out with a confidence of 95%; absent where no state
    /// shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuts_needed: Option<u64>,
    /// Broken promises by kind.
    #[cfg_attr(test, schemars(schema_with = "crate::contract::fault_counts"))]
    pub faults: Vec<FaultCount>,
    /// Blocks without a promise that were partly written, which is allowed.
    pub torn_blocks: u64,
    /// What the places have in common at which they change, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomic_unit_bytes: Option<u64>,
    /// The first state with a broken promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<BrokenState>,
}

/// A state with a broken promise, to be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct BrokenState {
    /// Entries of the log that had completed.
    pub entries: u64,
    /// The seed of the state.
    pub seed: u64,
    /// Block that is wrong, counted in blocks of the log.
    pub block: u64,
}

/// One state, to be written as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePlan {
    /// Entries of the log that have completed.
    pub entries: u64,
    /// What lay on the device before; zeros where it is absent.
    pub base: Option<PathBuf>,
    /// The new file.
    pub image: PathBuf,
}

impl ReplayPlan {
    fn model(&self, behaviour: CacheBehaviour) -> Result<CrashModel> {
        if self.unit.0 == 0
            || !self.unit.0.is_multiple_of(512)
            || !self.region.0.is_multiple_of(self.unit.0)
        {
            return Err(Error::usage(
                format!(
                    "a unit of {} in regions of {} is not possible for a device",
                    self.unit, self.region
                ),
                "write a unit that is a multiple of 512 B, and a region that is a multiple of the \
                 unit",
            ));
        }
        let (unit_bytes, region_bytes) = (self.unit.0, self.region.0);
        Ok(CrashModel {
            behaviour,
            order: self.order,
            unit_bytes,
            region_bytes,
            ..CrashModel::default()
        })
    }

    /// Cuts the power of devices of every kind at `states` places each.
    ///
    /// # Errors
    /// When the log cannot be read, or carries no stamps.
    pub fn cut_everywhere(&self, states: u64) -> Result<Vec<ReplayedDevice>> {
        self.model(CacheBehaviour::Conforming)?;
        let log = read_log(&self.log)?;
        let stamped = StampedLog::new(&log)?;
        let cut = |behaviour: CacheBehaviour| {
            let results = stamped.cut(self.model(behaviour)?, states, self.seed);
            Ok(ReplayedDevice::of(behaviour, &results))
        };
        CacheBehaviour::ALL.into_iter().map(cut).collect()
    }

    /// Writes what a conforming device holds after one cut to a new file.
    ///
    /// # Errors
    /// When the log or the base cannot be read, the log is shorter, or the file is there already.
    pub fn write_image(&self, plan: &ImagePlan) -> Result<()> {
        let model = self.model(CacheBehaviour::Conforming)?;
        let log = read_log(&self.log)?;
        let entries = count_of(log.entries().len());
        if plan.entries > entries {
            return Err(Error::usage(
                format!("the log has {entries} entries, fewer than {}", plan.entries),
                "specify a smaller number",
            ));
        }
        let mut device = CrashDevice::new(&log, model);
        while count_of(device.completed()) < plan.entries && device.step() {}
        let image = create(plan)?;
        let written =
            device.cut(self.seed).write_image(|start, sector| image.write_all_at(sector, start));
        written
            .and_then(|()| image.sync_all())
            .map_err(|error| refused("writing", &plan.image, &error))
    }
}

impl ReplayedDevice {
    fn of(behaviour: CacheBehaviour, results: &CutResults) -> Self {
        let faults = results.faults.iter();
        let first =
            results.first.map(|(entries, seed, block)| BrokenState { entries, seed, block });
        Self {
            device: behaviour.name(),
            states: results.states,
            broken_states: results.refuted_states,
            cuts_needed: cuts_needed(share(results.refuted_states, results.states)),
            faults: faults
                .map(|(kind, blocks)| FaultCount { kind: *kind, blocks: *blocks })
                .collect(),
            torn_blocks: results.torn_blocks,
            atomic_unit_bytes: (results.torn_blocks > 0).then_some(results.atomic_unit_bytes),
            first,
        }
    }
}

/// Cuts among which at least one shows a broken promise: ln(1 - confidence) / ln(1 - share).
fn cuts_needed(broken_share: f64) -> Option<u64> {
    if broken_share <= 0.0 {
        return None;
    }
    if broken_share >= 1.0 {
        return Some(1);
    }
    Some(count(((1.0 - CONFIDENCE).ln() / (1.0 - broken_share).ln()).ceil()).max(1))
}

fn refused(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::environment(
        format!("{what} {}: {error}", path.display()),
        "specify a readable log, and an image that does not exist yet where there is room for it",
    )
}

fn read_log(path: &Path) -> Result<WriteLog> {
    let fail = |error: io::Error| refused("reading", path, &error);
    let length = std::fs::metadata(path).map_err(fail)?.len();
    if length > LOG_BYTES_MAX {
        return Err(Error::usage(
            format!(
                "{} has {}, too much for a log that is read into memory",
                path.display(),
                Bytes(length)
            ),
            "record a shorter period, up to 8 GiB",
        ));
    }
    WriteLog::parse(std::fs::read(path).map_err(fail)?)
        .map_err(|error| error.context(path.display()))
}

/// The new image, with what lay on the device before.
fn create(plan: &ImagePlan) -> Result<File> {
    let fail = |error: io::Error| refused("creating", &plan.image, &error);
    let mut image = File::create_new(&plan.image).map_err(fail)?;
    if let Some(base) = &plan.base {
        let mut before = File::open(base).map_err(|error| refused("reading", base, &error))?;
        io::copy(&mut before, &mut image).map_err(fail)?;
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_that_are_needed_follow_from_the_share() {
        assert_eq!(cuts_needed(0.0), None);
        assert_eq!(cuts_needed(1.0), Some(1));
        // 1 - 0.55^5 = 0.9497 < 0.95 <= 1 - 0.55^6.
        assert_eq!(cuts_needed(0.45), Some(6));
        assert_eq!(cuts_needed(0.5), Some(5));
    }
}
