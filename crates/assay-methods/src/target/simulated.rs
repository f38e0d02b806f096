//! Devices in virtual time by name: laws in a row (`sim:…`), the model of an array (`array:…`), or
//! a volume by its limits (`catalog:…`).

use super::Speedup;
use super::volume::volume_device;
use crate::files::read_document;
use assay_arrays::{ArraySpec, Failures, find};
use assay_catalog::{CatalogIndex, VolumeTarget};
use assay_engine::Simulation;
use assay_engine::device::DeviceSpec;
use assay_model::Result;
use assay_model::array::{ArrayModel, parse_array};
use assay_model::catalog::parse_catalog;
use assay_model::measurement::Remark;

/// How the name of a model file ends.
const MODEL_FILE: &str = ".array.toml";
/// How the name of a catalog ends.
const CATALOG_FILE: &str = ".catalog.toml";

/// A described device, built for each simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulatedDevice {
    /// `sim:…`: laws with exactly known answers.
    Laws(DeviceSpec),
    /// `array:…`: an array made of parts.
    Array(ArraySpec),
    /// `catalog:…`: a volume of a cloud by its promised limits.
    Volume(VolumeTarget),
}

impl SimulatedDevice {
    /// Reads a target; `None` when it is none of these.
    ///
    /// # Errors
    /// A usage error when the device is not described right, or there is no such array.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        if let Some(device) = text.strip_prefix("sim:") {
            return Ok(Some(Self::Laws(DeviceSpec::parse(device)?)));
        }
        if let Some(volume) = text.strip_prefix("catalog:") {
            return Ok(Some(Self::Volume(volume_of(volume)?)));
        }
        match text.strip_prefix("array:") {
            Some(array) => Ok(Some(Self::Array(array_of(array)?))),
            None => Ok(None),
        }
    }

    /// Bytes that can be addressed.
    pub const fn length_bytes(&self) -> u64 {
        match self {
            Self::Laws(device) => device.length_bytes,
            Self::Array(array) => array.capacity_bytes,
            Self::Volume(volume) => volume.order.size.0,
        }
    }

    /// How many seconds a simulated one stands for.
    pub const fn hasten(&self) -> Speedup {
        match self {
            Self::Laws(_) | Self::Volume(_) => Speedup(1),
            Self::Array(array) => Speedup(array.hasten_times),
        }
    }

    /// Whether virtual time is to go as the clock on the wall does.
    pub const fn keeps_real_pace(&self) -> bool {
        match self {
            Self::Laws(_) | Self::Volume(_) => false,
            Self::Array(array) => array.real_pace,
        }
    }

    /// Whether it is an array: it begins filled as its model says.
    pub const fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// For a model without a limit on its bandwidth: its throughput is not that of the product.
    pub fn missing_bandwidth(&self) -> Option<Remark> {
        let Self::Array(array) = self else { return None };
        (!array.model.limits_bandwidth()).then(|| Remark {
            what: format!("the model of {} has no bandwidth limit", array.model.name),
            why: "none is published: the throughput in large I/Os is that of the model, and not \
                  that of the product"
                .to_owned(),
            remedy: "use only the IOPS of small I/Os".to_owned(),
        })
    }

    /// The device fresh, its clock at 0.
    pub fn simulation(&self) -> Simulation {
        self.simulation_at(0)
    }

    /// The device fresh on a clock that stands at `now_ns`.
    pub fn simulation_at(&self, now_ns: u64) -> Simulation {
        let device = match self {
            Self::Laws(device) => device.build(),
            Self::Array(array) => array.build_at(now_ns),
            Self::Volume(volume) => volume_device(volume),
        };
        let mut simulation = Simulation::new(device, self.length_bytes());
        simulation.rest(now_ns);
        simulation
    }

    /// Whether something of it fails while it is used.
    pub fn fails(&self) -> bool {
        matches!(self, Self::Array(array) if array.failures != Failures::default())
    }
}

/// `NAME?capacity=2TB&seed=1`.
fn array_of(text: &str) -> Result<ArraySpec> {
    let (name, query) = text.split_once('?').unwrap_or((text, ""));
    ArraySpec::new(array_model(name)?).with_query(query)
}

/// `NAME?iops=20000` of the program's own catalogs, or `FILE.catalog.toml/NAME?iops=20000`, which
/// overlays them.
fn volume_of(text: &str) -> Result<VolumeTarget> {
    let mut index = CatalogIndex::built_in()?;
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let Some((file, name)) = path.rsplit_once('/').filter(|(file, _)| file.ends_with(CATALOG_FILE))
    else {
        return VolumeTarget::parse(text, &index);
    };
    let own = read_document(std::path::Path::new(file), "catalog")?;
    index.overlay(parse_catalog(&own).map_err(|error| error.context(file))?, file);
    VolumeTarget::parse(&format!("{name}?{query}"), &index)
}

/// The model that the program carries under a name; a name that ends as model files do is read from
/// the file.
///
/// # Errors
/// A usage error when there is no such array or file, or when its document cannot be.
pub fn array_model(name: &str) -> Result<ArrayModel> {
    if !name.ends_with(MODEL_FILE) {
        return find(name);
    }
    let text = read_document(std::path::Path::new(name), "array model")?;
    parse_array(&text).map_err(|error| error.context(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_are_named_and_paths_are_not() {
        let laws = SimulatedDevice::parse("sim:servers?count=8&service=200us").unwrap();
        assert!(matches!(laws, Some(SimulatedDevice::Laws(_))));
        let array = SimulatedDevice::parse("array:ramsan-300?capacity=1GiB").unwrap();
        assert_eq!(array.map(|array| array.length_bytes()), Some(1 << 30));
        assert_eq!(SimulatedDevice::parse("/dev/sda").unwrap(), None);
        let volume = SimulatedDevice::parse("catalog:gp3?size=8GiB&latency=1ms").unwrap();
        assert_eq!(volume.map(|volume| volume.length_bytes()), Some(8 << 30));
        let missing = SimulatedDevice::parse("catalog:none.catalog.toml/gp3").unwrap_err();
        assert!(missing.to_string().contains("none.catalog.toml"));
        let unlimited = |name| SimulatedDevice::parse(name).unwrap().unwrap().missing_bandwidth();
        assert!(unlimited("array:ramsan-300").is_some());
        assert_eq!((unlimited("array:xtremio-1"), unlimited("array:raid0-8")), (None, None));
        assert_eq!(unlimited("sim:servers?count=8&service=200us"), None);
        let missing = SimulatedDevice::parse("array:none.array.toml").unwrap_err();
        assert!(missing.to_string().contains("none.array.toml"));
    }
}
