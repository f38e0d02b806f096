//! From a description to a device: parts put over each other, members multiplied, capacities
//! divided.

use crate::cache::CacheDevice;
use crate::controller::Processors;
use crate::failure::Failures;
use crate::flash::FlashDevice;
use crate::hdd::HddDevice;
use crate::path::path;
use crate::raid::{RaidDevice, data_members};
use crate::ram::RamDevice;
use crate::stage::ArrayStage;
use crate::tier::{TierDevice, shares};
use assay_model::array::{ArrayModel, Part, Path, Raid};
use assay_model::device::Device;
use assay_stats::random::mix;

/// What is built of: how much is used, how fast slow processes run, and the seed.
#[derive(Clone, Copy, Debug)]
struct ModelScale {
    capacity_bytes: u64,
    hasten: f64,
    seed: u64,
    /// What of these parts fails.
    failures: Failures,
}

/// A model with what a target says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// The model.
    pub model: ArrayModel,
    /// Bytes in use.
    pub capacity_bytes: u64,
    /// Factor by which slow processes (filling, collecting, moving pages) are sped up; 1 is real
    /// time.
    pub hasten_times: u64,
    /// Whether virtual time is to go as the clock on the wall does; else it goes as fast as it
    /// can.
    pub real_pace: bool,
    /// Seed of all random choices.
    pub seed: u64,
    /// What fails, and when.
    pub failures: Failures,
}

impl ArraySpec {
    /// A model as it stands.
    pub const fn new(model: ArrayModel) -> Self {
        let capacity_bytes = model.capacity.0;
        let failures = Failures { cache_lost: None, controller_lost: None, stale_member: None };
        Self { capacity_bytes, model, hasten_times: 1, real_pace: false, seed: 1, failures }
    }

    /// With this number of controllers, where the model has any.
    pub fn with_nodes(mut self, nodes: u32) -> Self {
        for part in &mut self.model.parts {
            if let Part::Controller(controller) = part {
                controller.nodes = nodes;
            }
        }
        self
    }

    /// With the space divided into this number of volumes.
    pub fn with_volumes(mut self, volumes: u32) -> Self {
        for part in &mut self.model.parts {
            if let Part::Path(path) = part {
                path.volumes = Some(volumes);
            }
        }
        self
    }

    /// The device, fresh.
    pub fn build(&self) -> Box<dyn Device> {
        self.build_at(0)
    }

    /// The device, fresh on a clock that stands at `now_ns`.
    ///
    /// # Panics
    /// When the model was not checked: its parts have to end with what stores.
    pub fn build_at(&self, now_ns: u64) -> Box<dyn Device> {
        let scale = ModelScale {
            capacity_bytes: self.capacity_bytes,
            hasten: assay_model::number::real(self.hasten_times),
            seed: self.seed,
            failures: self.failures.since(now_ns, self.hasten_times),
        };
        chain(&self.model.parts, scale)
    }
}

fn chain(parts: &[Part], scale: ModelScale) -> Box<dyn Device> {
    let Some((part, rest)) = parts.split_first() else {
        panic!("a checked model ends with what stores")
    };
    let lower = |scale: ModelScale| chain(rest, scale.deeper());
    match part {
        Part::Path(described) if is_way_alone(described) => way(described, rest, scale),
        Part::Path(described) => path(described, scale.capacity_bytes, lower(scale)),
        Part::Controller(controller) => {
            let law =
                Processors::new(controller, scale.seed).failing(scale.failures.controller_lost);
            Box::new(ArrayStage::new(law, lower(scale)))
        }
        Part::Cache(cache) => Box::new(
            CacheDevice::new(cache, scale.seed, lower(scale)).failing(scale.failures.of_cache()),
        ),
        Part::Raid(raid) => {
            let members = |member| chain(rest, scale.of_member(raid, member));
            Box::new(RaidDevice::new(raid, members).missing(scale.failures.of_member()))
        }
        Part::Tier(tier) => {
            let (fast, slow) = shares(tier, scale.capacity_bytes);
            let fast = chain(&tier.fast, scale.holding(fast));
            let slow = chain(&tier.slow, scale.holding(slow).deeper());
            let ModelScale { capacity_bytes, seed, hasten, .. } = scale;
            Box::new(TierDevice::new(tier, capacity_bytes, seed, hasten, fast, slow))
        }
        Part::Hdd(hdd) => Box::new(HddDevice::new(hdd)),
        Part::Flash(flash) => {
            Box::new(FlashDevice::new(flash, scale.capacity_bytes, scale.hasten, scale.seed))
        }
        Part::Ram(ram) => Box::new(RamDevice::new(ram, scale.seed)),
    }
}

/// Whether a path is a constant delay and nothing else.
const fn is_way_alone(path: &Path) -> bool {
    path.bandwidth_per_s.is_none() && path.volume_depth.is_none()
}

/// A constant delay: the stage behind it, where there is one, knows when an I/O arrives without an
/// event for it.
fn way(described: &Path, rest: &[Part], scale: ModelScale) -> Box<dyn Device> {
    let Some((Part::Controller(controller), lower)) = rest.split_first() else {
        return path(described, scale.capacity_bytes, chain(rest, scale.deeper()));
    };
    let scale = scale.deeper();
    let law = Processors::new(controller, scale.seed).failing(scale.failures.controller_lost);
    let stage = ArrayStage::new(law, chain(lower, scale.deeper()));
    Box::new(stage.behind(described.latency.0))
}

impl ModelScale {
    /// The part below draws numbers of its own.
    const fn deeper(mut self) -> Self {
        self.seed = mix(self.seed);
        self
    }

    /// A part whose places are not those of the host: nothing of it fails.
    const fn holding(mut self, capacity_bytes: u64) -> Self {
        self.capacity_bytes = capacity_bytes;
        self.failures = Failures { cache_lost: None, controller_lost: None, stale_member: None };
        self.deeper()
    }

    fn of_member(self, raid: &Raid, member: u32) -> Self {
        let data = data_members(raid.level, u64::from(raid.members));
        let mut scale = self.holding(self.capacity_bytes.div_ceil(data) + raid.stripe.0);
        scale.seed = mix(scale.seed ^ mix(u64::from(member)));
        scale
    }
}
