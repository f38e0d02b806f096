//! What stands against a prediction: the finding with its number, what it does to the answer, and
//! what would lift it.

use serde::{Deserialize, Serialize};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObjectionKind {
    /// DB time, its CPU part, or the work done is not known.
    NoTimeModel,
    /// Too much of DB time is in no event and on no CPU.
    Unaccounted,
    /// The model does not give what was measured where it was measured.
    Closure,
    /// Sessions wait for each other or for other instances.
    Contention,
    /// The processors would be the limit.
    CpuBound,
    /// Reads of the profile did not reach the storage.
    ProfileCached,
    /// Reads of the calibration did not reach the storage.
    CalibrationCached,
    /// The calibration moved blocks of another size.
    #[serde(alias = "transfer")]
    BlockSize,
    /// The calibration has another mix of reads and writes.
    Mix,
    /// The load would have more outstanding than was calibrated, and the storage may deliver more.
    Extrapolation,
    /// The calibration was limited by the host that measured.
    HostLimited,
    /// Commits matter and the log was not calibrated.
    NoLog,
    /// Sustained writes of the target are not known, and they matter.
    NoWrites,
    /// The target's writes would be the limit.
    WriteBound,
    /// Another host, without a word on how fast its processors are.
    OtherHost,
    /// Another product.
    OtherProduct,
    /// An instance of a cluster: others use the same storage.
    Cluster,
    /// Only the rate before the fall was measured, or it differs from the sustained one.
    Burst,
    /// A pluggable database: others use the same server and storage.
    PluggableDatabase,
    /// The load changed within the interval.
    Uneven,
    /// Parts of the profile contradict each other.
    Contradiction,
    /// A change of memory that no curve answers.
    NoCacheCurve,
    /// The target's figures are promises.
    DataSheet,
    /// No calibration of the present storage was given, so the model was not checked on it.
    NoClosure,
}

/// What a finding does to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is to be known.
    Doubt,
    /// The throughput may be higher than the answer.
    AtLeast,
    /// Bounds stand in place of an answer.
    Bounds,
    /// There is no answer.
    Refused,
}

impl Effect {
    /// Name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Doubt => "doubt",
            Self::AtLeast => "at least",
            Self::Bounds => "bounds only",
            Self::Refused => "refused",
        }
    }
}

/// A finding against a prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Objection {
    /// What was found.
    pub kind: ObjectionKind,
    /// What it does.
    pub effect: Effect,
    /// What was found, with its number, in a sentence.
    pub finding: String,
    /// What would lift it.
    pub remedy: String,
}
