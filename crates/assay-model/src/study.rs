//! An experiment: factors and their values, repeats and order, what happens around each cell, and
//! what came of it.

use crate::array::{FigureCheck, SessionLoad};
use crate::comparison::Scaling;
use crate::estimate::Estimate;
use crate::measurement::SessionFigures;
use crate::soak::Soak;
use crate::units::{Bytes, Nanos, Share};
use crate::verdict::{NamedEstimate, Unit};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

mod check;
mod figures;
mod matrix;
mod plan;

pub use check::parse_study;
pub use figures::{load_figure_unit, load_figures, measure_unit};
pub use matrix::{DepthMatrix, MatrixQuantity};
pub use plan::Scale;

/// An experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Version of the document format: 1.
    pub format: u32,
    /// Short name, printed everywhere.
    pub name: String,
    /// Purpose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The paper that published the experiment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paper: String,
    /// Figures, tables and sections of that paper.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Preset or file of the workload that factors change; or the workload itself, below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Size of the data; by default the target's size, or the default size of a test file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Number of repeats of every combination.
    #[serde(default = "once")]
    pub repeats: u32,
    /// In what order.
    #[serde(default)]
    pub order: Order,
    /// Seed of the order and of the workloads.
    #[serde(default = "one")]
    pub seed: u64,
    /// Fill and precondition again before every Nth cell; by default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore_every: Option<u32>,
    /// Share of the reads of a cell that are verified; by default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<Share>,
    /// The phases of a cell.
    pub phases: Phases,
    /// When to leave out cells.
    #[serde(default)]
    pub stop: StopRules,
    /// Limit on the mean latency of reads and of writes: the fastest step of the last factor
    /// within it is the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_latency_max: Option<Nanos>,
    /// Commands around a cell.
    #[serde(default)]
    pub hooks: Hooks,
    /// The varied settings; without any, the workload is measured as it is.
    #[serde(default, rename = "factor")]
    pub factors: Vec<Factor>,
    /// Only combinations with one active stream: where queue depths of several streams are
    /// factors, a depth of 0 turns a stream off.
    #[serde(default, skip_serializing_if = "is_false")]
    pub streams_alone: bool,
    /// The workload that factors change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// Sessions of a database and its host. On a simulated array, they run instead of the
    /// workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionLoad>,
    /// A load of `assay bench`, which runs on a database, or on a directory if there is no
    /// workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<StudyLoad>,
}

impl Default for Study {
    /// Every optional choice at its default, and neither name nor workload yet.
    fn default() -> Self {
        Self {
            format: 1,
            name: String::new(),
            description: String::new(),
            paper: String::new(),
            place: String::new(),
            preset: None,
            capacity: None,
            repeats: once(),
            order: Order::Listed,
            seed: one(),
            restore_every: None,
            verify: None,
            phases: Phases::default(),
            stop: StopRules::default(),
            mean_latency_max: None,
            hooks: Hooks::default(),
            factors: Vec::new(),
            streams_alone: false,
            workload: None,
            sessions: None,
            load: None,
        }
    }
}

/// A load on a real database: the options of `assay bench KIND`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StudyLoad {
    /// The kind of load: `slob`.
    pub kind: String,
    /// Its options by their long names: `update_pct = 25`. Factors with the same names vary them.
    #[serde(default)]
    pub options: BTreeMap<String, FactorValue>,
}

/// The order of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// In the order of the factors, one round per repeat.
    #[default]
    Listed,
    /// Every round in a new random order, by the seed.
    Random,
    /// Every second round in reverse, A B B A, so that linear drift affects all equally.
    Interleaved,
}

/// The phases of a cell, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Share of the data written once from its beginning, before the first cell and at every
    /// restore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Share>,
    /// Preconditioning independent of the workload: number of times that all data are written in
    /// large blocks, after the fill.
    #[serde(default)]
    pub precondition_passes: u32,
    /// Preconditioning by the cell's own workload, which is not kept.
    #[serde(default)]
    pub settle: Nanos,
    /// Warm-up before measuring.
    #[serde(default)]
    pub warm_up: Nanos,
    /// Measured time.
    pub measure: Nanos,
    /// Rest after a cell.
    #[serde(default)]
    pub rest: Nanos,
    /// Rest before the last cell, which shows its effect.
    #[serde(default)]
    pub final_rest: Nanos,
}

/// When to leave out cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct StopRules {
    /// p99 of any operation above which higher values of the last factor are skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Nanos>,
    /// CPU utilization of the host above which higher values of the last factor are skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Share>,
    /// Time after which no further cell starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
}

/// Commands before and after a cell, for example to fetch an array's own statistics; their output
/// is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Hooks {
    /// Run by `sh -c` before the warm-up of every cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Run by `sh -c` after every cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Timeout of a command, after which the cell counts as failed.
    #[serde(default = "half_a_minute")]
    pub time_limit: Nanos,
}

impl Default for Hooks {
    fn default() -> Self {
        Self { before: None, after: None, time_limit: half_a_minute() }
    }
}

/// One varied setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Factor {
    /// What: one of [`FACTORS`].
    pub name: String,
    /// Its values, at least one.
    pub values: Vec<FactorValue>,
    /// Name of the stream; by default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

/// What can be varied, and what a value means.
pub const FACTORS: &[(&str, &str)] = &[
    ("sessions", "outstanding I/Os of a closed stream: 1, 8, 64; 0 turns a named stream off"),
    ("queue_depth", "the same"),
    ("rate", "I/Os per second of an open stream: \"1000/s\""),
    ("block_size", "bytes of an I/O: \"8KiB\""),
    ("read_share", "share of reads: \"70%\""),
    ("locality", "share of the data that all I/Os go to: \"20%\""),
    ("hot_band", "share of the data that 90% of the I/Os go to: \"10%\""),
    ("theta", "skew of a Zipf law: 0.9"),
    ("workers", "threads of a stream: 1, 2, 4"),
    ("parallelism", "the same"),
    ("volumes", "targets in use, the first ones, or the volumes of a simulated array: 2, 4, 8"),
    ("nodes", "controllers of a simulated array: 1, 2, 4"),
    ("cache_lost", "when a simulated array loses its write cache: \"no\", \"20s\""),
    ("controller_lost", "when one of its controllers fails: \"no\", \"20s\""),
    ("stale_member", "when a member leaves and returns with old data: \"no\", \"20s-40s\""),
    ("capacity", "data in use: \"1TB\", \"2TB\""),
    ("layout", "\"concat\", or \"stripe\" in units of 1 MiB"),
    ("fill", "share of the data that is filled before the cell: \"80%\""),
    ("compressible", "share of the content that compresses away: \"50%\""),
    ("update_share", "share of the statements of simulated sessions that change data: \"25%\""),
    ("cache_hits", "share of their block look-ups that the buffer cache holds: \"50%\""),
    ("cpus", "CPUs of a simulated host: 8, 16"),
    ("hosts", "simulated hosts: 1, 2"),
    ("memory", "buffer cache of a database under a load: \"256MiB\""),
    ("cache_ratio", "the same by the size of its data, cache to data: \"2:1\", \"1:3\""),
    ("memory_share", "the same as a share of the host's memory: \"40%\""),
];

/// A value of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FactorValue {
    /// Whether something is done.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// A quantity with its unit, or a word.
    Text(String),
}

impl FactorValue {
    /// The value as a number on an axis: shares as shares, sizes in bytes, rates a second; `None`
    /// of a word.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Flag(_) => None,
            Self::Whole(whole) => Some(crate::number::real(*whole)),
            Self::Real(real) => Some(*real),
            Self::Text(text) => quantity(text),
        }
    }
}

fn quantity(text: &str) -> Option<f64> {
    let share = text.parse::<Share>().map(|share| share.0).ok();
    let size = || text.parse::<Bytes>().map(|size| crate::number::real(size.0)).ok();
    let rate = || text.parse::<crate::units::Rate>().map(|rate| rate.0).ok();
    share.or_else(size).or_else(rate).or_else(|| ratio(text))
}

/// `1:3` as a third.
fn ratio(text: &str) -> Option<f64> {
    let (above, below) = text.split_once(':')?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number > 0.0);
    Some(number(above)? / number(below)?)
}

impl fmt::Display for FactorValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "{flag}"),
            Self::Whole(whole) => write!(formatter, "{whole}"),
            Self::Real(real) => write!(formatter, "{real}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// One value of one factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StudySetting {
    /// The factor.
    pub factor: String,
    /// Its value.
    pub value: FactorValue,
}

/// One measurement of a study: a combination of values in one of its repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Place in the order, from 1.
    pub number: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// One setting a factor, in the study's order.
    pub settings: Vec<StudySetting>,
    /// Whether the data are filled and preconditioned before it.
    pub restored: bool,
}

/// What became of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum CellState {
    /// It was measured.
    Measured,
    /// It could not be measured; the rest went on.
    Failed {
        /// Reason.
        reason: String,
    },
    /// A stop rule left it out.
    LeftOut {
        /// Which.
        reason: String,
    },
}

/// A cell and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CellResult {
    /// The cell.
    pub cell: Cell,
    /// What became of it.
    pub state: CellState,
    /// Its directory in the run, where it was measured.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// The run in the same store that measured it, where it was a load.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// When another program began to measure it, ns since 1970, where its result says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ns: Option<u64>,
    /// Measured time, s; 0 if unknown.
    #[serde(default)]
    pub elapsed_s: f64,
    /// CPU utilization of the host, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// Sessions of a simulated database, if they were the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionFigures>,
    /// Measured values with confidence intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<NamedEstimate>,
    /// Behaviour over time; absent if the cell was too short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Soak>,
    /// Caveat, in a sentence, that makes the values inconclusive because hosts were not
    /// synchronized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Output of the hooks, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
}

impl CellResult {
    /// A cell without numbers.
    pub const fn new(cell: Cell, state: CellState) -> Self {
        Self {
            cell,
            state,
            directory: String::new(),
            run: String::new(),
            started_unix_ns: None,
            elapsed_s: 0.0,
            host_busy_share: None,
            sessions: None,
            measures: Vec::new(),
            course: None,
            doubt: None,
            hooks: Vec::new(),
        }
    }

    /// The value of a quantity, of a stream or of all.
    pub fn value(&self, quantity: &str, subject: Option<&str>) -> Option<f64> {
        let is_it = |named: &&NamedEstimate| {
            named.quantity == quantity && named.subject.as_deref() == subject
        };
        self.measures.iter().find(is_it).map(|named| named.estimate.value)
    }

    /// Whether mean reads and mean writes keep a limit, those that there are.
    pub fn is_within(&self, limit: Nanos) -> bool {
        let means = ["read.service_time.mean", "write.service_time.mean"];
        let mut means_ns = means.into_iter().filter_map(|mean| self.value(mean, None)).peekable();
        means_ns.peek().is_some() && means_ns.all(|mean_ns| mean_ns <= crate::number::real(limit.0))
    }

    /// Whether another program measured it, so that there are its numbers and nothing behind them.
    pub fn is_imported(&self) -> bool {
        self.state == CellState::Measured && self.directory.is_empty() && self.run.is_empty()
    }
}

/// Quantity as a function of one factor with the others constant; repeats are merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactorCurve {
    /// Name of the factor.
    pub factor: String,
    /// Quantity name.
    pub quantity: String,
    /// Unit of the quantity.
    pub unit: Unit,
    /// Values of the constant factors in words.
    pub at: String,
    /// Points in ascending order; text values are in the order of the study.
    pub points: Vec<StudyPoint>,
}

/// One point of a factor's curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StudyPoint {
    /// Value of the factor.
    pub value: FactorValue,
    /// Value of the quantity.
    pub estimate: Estimate,
    /// Number of repeats.
    pub repeats: u32,
}

/// Results of a study so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StudyResult {
    /// Version of the document format: 1.
    pub format: u32,
    /// Name of the study.
    pub study: String,
    /// Purpose of the study.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Planned number of cells.
    pub planned: u32,
    /// Notes that apply to all cells: times and data sizes larger than the scale requires.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Completed cells, in order.
    pub cells: Vec<CellResult>,
    /// Quantities as functions of the factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<FactorCurve>,
    /// Scaling of rates with sessions, workers or volumes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// How all cells together went over time, where nothing is varied and they are many: cycles of
    /// load and rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Soak>,
    /// Comparison with published values of the experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<FigureCheck>,
    /// Limit on the mean latency of reads and of writes, for the fastest step within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_latency_max: Option<Nanos>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

const fn once() -> u32 {
    1
}

const fn one() -> u64 {
    1
}

const fn half_a_minute() -> Nanos {
    Nanos(30_000_000_000)
}
