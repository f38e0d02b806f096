//! What an array is made of, where its numbers come from, and what was published of it: the
//! document `*.array.toml`.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

mod check;
mod experiment;
mod figure_check;
mod parts;

pub use check::parse_array;
pub use experiment::{
    ClosedLoad, Experiment, ExperimentFigure, ExperimentLoad, ExperimentMeasure, Role, SessionLoad,
    StudyCells,
};
pub use figure_check::FigureCheck;
pub use parts::{
    Cache, CollectionPolicy, Controller, EvictionPolicy, Flash, Hdd, Part, Path, Raid, RaidLevel,
    Ram, Spread, Tier,
};

/// A simulated array: its parts from the host down to the media, and the published figures for
/// comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArrayModel {
    /// Version of the document format: 1.
    pub format: u32,
    /// Name on the command line.
    pub name: String,
    /// The product name.
    pub title: String,
    /// Source of its description and figures.
    pub source: String,
    /// Bytes in use (the address space), unless the target sets another value.
    pub capacity: Bytes,
    /// Parameters fitted to figures marked `fitted`; all others are from data sheets, or assumed
    /// if noted.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// Assumptions, simplifications and unknowns, in sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Parts in the order in which an I/O passes them; the last one stores the data.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// Loads under which figures were published.
    #[serde(default, rename = "experiment", skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<Experiment>,
    /// Published figures.
    #[serde(default, rename = "figure", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<ExperimentFigure>,
}

impl ArrayModel {
    /// Whether any part limits the bytes per second; memory alone does not.
    pub fn limits_bandwidth(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Path(path) => path.bandwidth_per_s.is_some(),
            Part::Controller(controller) => controller.per_mib.0 > 0,
            Part::Cache(_) | Part::Raid(_) | Part::Ram(_) => false,
            Part::Tier(_) | Part::Hdd(_) | Part::Flash(_) => true,
        })
    }

    /// The experiment of a name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }
}
