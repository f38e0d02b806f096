//! From what a person names to what can be measured: files, directories, devices, simulated
//! devices.

use assay_engine::BackendChoice;
use assay_model::units::{Bytes, Nanos};
use assay_model::workload::Content;
use assay_model::{Error, Result};
use std::path::PathBuf;

mod direct;
mod fill;
mod growth;
mod handle;
mod hasten;
mod simulated;
mod storage;
mod test_file;
mod volume;

pub use assay_model::target::is_simulated;
pub use fill::TargetFilling;
pub use hasten::{Speedup, SpeedupObserver};
pub use simulated::{SimulatedDevice, array_model};
pub use storage::{TargetStorage, admitted, foreseen, is_device};
pub use test_file::{TargetLedgerFile, ledger_files_in, left_files_in};

/// What a person named.
#[derive(Clone, Debug, PartialEq)]
pub enum NamedStorage {
    /// `sim:…`, `array:…` or `catalog:…`: a simulated device in virtual time.
    Simulated(Box<SimulatedDevice>),
    /// A file, a block device, or a directory in which a test file is made.
    Path(PathBuf),
}

/// What may be done with a target, and how.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own, independent of the others"
)]
pub struct AccessOptions {
    /// Whether the workload writes.
    pub write: bool,
    /// Past the page cache.
    pub direct: bool,
    /// Serial numbers or sizes of the devices whose content may be destroyed, in the order of the
    /// devices.
    pub destroy: Vec<String>,
    /// The known data on these devices that may go, in the same order.
    pub wipe: Vec<String>,
    /// Size of a test file; by rule when not given.
    pub file_size: Option<Bytes>,
    /// Whether a test file begins small and grows while its reads look cached; else all that is
    /// wanted is written at once.
    pub grows: bool,
    /// How long filling a test file may take.
    pub fill_time: Nanos,
    /// Whether a test file stays for later runs.
    pub keep: bool,
    /// The ledger that a test file belongs to: it is then for this ledger alone.
    pub ledger: Option<LedgerUse>,
    /// What a test file is filled with.
    pub content: Content,
    /// Who carries out the I/Os of filling.
    pub backend: BackendChoice,
}

/// How a test file belongs to a ledger, which is named by its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerUse {
    /// A new file is made for it.
    New(String),
    /// The file that was made for it is opened again, and none is made.
    Again(String),
}

/// Reads one target of the command line.
///
/// # Errors
/// A usage error when a simulated device is not described right.
pub fn parse_target(text: &str) -> Result<NamedStorage> {
    match SimulatedDevice::parse(text)? {
        Some(device) => Ok(NamedStorage::Simulated(Box::new(device))),
        None => Ok(NamedStorage::Path(PathBuf::from(text))),
    }
}

/// Reads all targets of the command line: one simulated device, or any number of paths.
///
/// # Errors
/// A usage error when there is none, or when a simulated device is not alone.
pub fn parse_targets(texts: &[String]) -> Result<Targets> {
    let named = texts.iter().map(|text| parse_target(text)).collect::<Result<Vec<_>>>()?;
    let mut paths = Vec::new();
    for target in named {
        match target {
            NamedStorage::Simulated(device) if texts.len() == 1 => {
                return Ok(Targets::Simulated(device));
            }
            NamedStorage::Simulated(_) => {
                return Err(Error::usage(
                    "a simulated device cannot be combined with other targets",
                    "specify one sim:, array: or catalog: device, or only paths",
                ));
            }
            NamedStorage::Path(path) => paths.push(path),
        }
    }
    if paths.is_empty() {
        return Err(Error::usage(
            "no target is given",
            "specify a directory, a file or a block device",
        ));
    }
    Ok(Targets::Paths(paths))
}

/// All targets of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// One simulated device.
    Simulated(Box<SimulatedDevice>),
    /// Paths, at least one.
    Paths(Vec<PathBuf>),
}
