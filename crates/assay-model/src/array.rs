//! What an array is made of, where its numbers come from, and what was published of it: the
//! document `*.array.toml`.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

mod check;
mod experiment;
mod parts;

pub use check::parse_array;
pub use experiment::{ClosedLoad, Experiment, Figure, Load, Measure, Role, SessionLoad};
pub use parts::{
    Cache, CollectionPolicy, Controller, EvictionPolicy, Flash, Hdd, Part, Path, Raid, RaidLevel,
    Ram, Spread, Tier,
};

/// A simulated array: its parts from the host down to the media, and the figures it is held
/// against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArrayModel {
    /// Version of the document's form: 1.
    pub format: u32,
    /// Name on the command line.
    pub name: String,
    /// The system, as its maker calls it.
    pub title: String,
    /// Where its description and figures were published.
    pub source: String,
    /// Bytes in use unless the target says otherwise: what can be addressed.
    pub capacity: Bytes,
    /// Parameters that were fitted to figures marked so; all others are from data sheets, or
    /// assumed where noted.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// What is assumed, simplified or not known, in sentences.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Parts in the order an I/O meets them; the last one stores.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// Loads under which figures were published.
    #[serde(default, rename = "experiment", skip_serializing_if = "Vec::is_empty")]
    pub experiments: Vec<Experiment>,
    /// Published figures.
    #[serde(default, rename = "figure", skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

impl ArrayModel {
    /// The experiment of a name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }
}
