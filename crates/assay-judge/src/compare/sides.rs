//! A side of a comparison: its measures, distributions and curves.

use assay_model::Estimate;
use assay_model::comparison::{OverlayAxis, OverlayPoint, Side};
use assay_model::quantity_name::{NamedTime, QuantityName};
use assay_model::target::is_simulated;
use assay_model::verdict::{Doubt, Unit};

/// One measure of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideFigure {
    /// The name that criteria use.
    pub quantity: String,
    /// The stream or target, where there are several.
    pub subject: Option<String>,
    /// Unit of the value.
    pub unit: Unit,
    /// The value with its interval, of all runs of the side together.
    pub estimate: Estimate,
    /// The same of each run.
    pub runs: Vec<Estimate>,
    /// Whether it is a parameter that the model of an array assumes.
    pub is_assumed: bool,
    /// Whether it counts for the outcome of the pair.
    pub judged: bool,
    /// What a conclusion from it has to allow for.
    pub doubts: Vec<Doubt>,
}

impl SideFigure {
    /// A measure of a whole side, or of one of its streams or targets, without doubts. What users
    /// feel is judged: all rates, and the means and p99 of times, of the whole; what is left is
    /// shown.
    pub fn new(
        quantity: impl Into<String>,
        subject: Option<String>,
        unit: Unit,
        estimate: Estimate,
    ) -> Self {
        let quantity = quantity.into();
        let name = QuantityName::of(&quantity);
        let time = name.is_mean() || name.is_q99();
        let judged = subject.is_none() && (time || unit != Unit::Ns);
        let runs = vec![estimate];
        Self {
            quantity,
            subject,
            unit,
            estimate,
            runs,
            is_assumed: false,
            judged,
            doubts: Vec::new(),
        }
    }
}

/// One range of times on one side: from, to (open where absent), and I/Os in it.
pub type BucketCount = (u64, Option<u64>, f64);

/// A ratio that says what work was done for a request, and how far two sides may lie apart.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkRatio {
    /// What it is.
    pub what: &'static str,
    /// Its value.
    pub value: f64,
    /// How far apart, as a share.
    pub limit: f64,
}

/// Everything about one side.
#[derive(Clone, Debug, PartialEq)]
pub struct SideFacts {
    /// What it is.
    pub side: Side,
    /// Its measures.
    pub measures: Vec<SideFigure>,
    /// Its distributions in common ranges.
    pub histograms: Vec<(String, Vec<BucketCount>)>,
    /// What work it did.
    pub work: Vec<WorkRatio>,
    /// How it was made, key by key; sides that were made differently are not compared.
    pub made: Vec<(String, String)>,
    /// What can be drawn over the same axis for every side.
    pub curves: Vec<SideCurve>,
    /// Time over rate, for times at equal rates.
    pub load_curves: Vec<LoadCurve>,
    /// Outstanding I/Os or sessions of a closed load; absent where arrivals are open, or there is
    /// no load of its own.
    pub closed_depth: Option<u32>,
    /// The same measures of earlier runs of the same workload on the same storage.
    pub history: Vec<SideFacts>,
}

/// Mean times of one mix over the rates at which they were measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCurve {
    /// The mix, as quantities name it: `calibration.read`.
    pub mix: String,
    /// Whether its times are parameters that the model of an array assumes.
    pub is_assumed: bool,
    /// Rate and mean service time of each load.
    pub points: Vec<LoadCurvePoint>,
}

/// One load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadCurvePoint {
    /// I/Os per second.
    pub iops: Estimate,
    /// Mean service time, ns.
    pub service_time_ns: Estimate,
}

impl SideFacts {
    /// A side of which nothing is known yet.
    pub const fn new(side: Side) -> Self {
        Self {
            side,
            measures: Vec::new(),
            histograms: Vec::new(),
            work: Vec::new(),
            made: Vec::new(),
            curves: Vec::new(),
            load_curves: Vec::new(),
            closed_depth: None,
            history: Vec::new(),
        }
    }

    /// Whether all of it is simulated.
    pub fn is_simulated(&self) -> bool {
        let mut targets = self.side.target.split(", ").peekable();
        targets.peek().is_some_and(|first| !first.is_empty()) && targets.all(is_simulated)
    }

    /// Whether its measures are times of queries.
    pub fn is_of_queries(&self) -> bool {
        let of_query = |measure: &SideFigure| {
            QuantityName::of(&measure.quantity).time == Some(NamedTime::Query)
        };
        self.measures.iter().any(of_query)
    }
}

/// One quantity of one side over an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct SideCurve {
    /// What it is; curves of sides belong together when they say the same, over the same axis and
    /// in the same unit.
    pub what: String,
    /// What it is drawn over.
    pub over: OverlayAxis,
    /// Unit of the values.
    pub unit: Unit,
    /// The points, ascending by place.
    pub points: Vec<OverlayPoint>,
}

impl SideCurve {
    /// Whether two curves are drawn over each other.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        self.what == other.what && self.over == other.over && self.unit == other.unit
    }
}
