//! What a report is made of: documents that the other rooms wrote, any of which may be missing.

use crate::timeline::RunTimeline;
use crate::watch::WatchReport;
use assay_model::Verdict;
use assay_model::calibration::Calibration;
use assay_model::cause::{Cause, CauseKind, RunDocuments, known_causes};
use assay_model::cluster::Cluster;
use assay_model::comparison::Comparison;
use assay_model::dss::Dss;
use assay_model::durability::Durability;
use assay_model::environment::Environment;
use assay_model::integrity::Integrity;
use assay_model::load::Load;
use assay_model::locality::Locality;
use assay_model::measurement::{Measurement, Remark};
use assay_model::plausibility;
use assay_model::projection::{ErrorSummary, Projection, Verification};
use assay_model::soak::Soak;
use assay_model::study::StudyResult;
use assay_model::verdict::{Doubt, LevelChange, NamedEstimate};
use serde::Serialize;

/// Everything that one page shows. Its JSON form holds the documents as they are; the timelines are
/// left out, because the intervals themselves are in the run's own file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct GivenReport {
    /// What was done, for example `check`, `calibrate`, `run oltp`.
    pub title: String,
    /// What it was done to: path of the directory, file or device.
    pub target: String,
    /// When it was begun, nanoseconds since 1970 UTC.
    pub created_unix_ns: u64,
    /// Name and version of the program.
    pub program: String,
    /// The command that does it again; empty when there is none.
    pub command: String,
    /// The id of the run, which commands on the page name; empty for a page without a run.
    #[serde(skip)]
    pub run_id: String,
    /// Whether the criteria are met.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Verdict>"))]
    pub verdict: Option<Verdict>,
    /// What the target can give.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Calibration>"))]
    pub calibration: Option<Calibration>,
    /// Which caches and tiers the target has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Locality>"))]
    pub locality: Option<Locality>,
    /// What hours of load showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Soak>"))]
    pub soak: Option<Soak>,
    /// Whether what was read is what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Integrity>"))]
    pub integrity: Option<Integrity>,
    /// What came of the cells of a study.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Results>"))]
    pub study: Option<StudyResult>,
    /// What runs or profiles are in comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Comparison>"))]
    pub comparison: Option<Comparison>,
    /// What a database would do on other storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Projection>"))]
    pub projection: Option<Projection>,
    /// Predictions compared with what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<VerificationHistory>,
    /// What a database got of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Load>"))]
    pub load: Option<Load>,
    /// What a load of decision support got of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Dss>"))]
    pub dss: Option<Dss>,
    /// What several hosts came to together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Cluster>"))]
    pub cluster: Option<Cluster>,
    /// What happened under workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub runs: Vec<RunReport>,
    /// The host, the storage under the targets, and what was found about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Environment>"))]
    pub environment: Option<Environment>,
    /// Host activity during the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::Summary>"))]
    pub watch: Option<WatchReport>,
    /// What a reader must know of what was watched, and of the clock of any run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default, with = "Vec<crate::schema::Remark>"))]
    pub watch_remarks: Vec<Remark>,
    /// The documents that it was done by: workloads, criteria.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub documents: Vec<InputDocument>,
}

impl GivenReport {
    /// Whether storage keeps what it acknowledged, where that was asked: of blocks, or of a
    /// database that was cut.
    pub(crate) fn durability(&self) -> Option<&Durability> {
        let of_blocks = self.integrity.as_ref().and_then(|found| found.durability.as_ref());
        let of_load = self.load.as_ref().and_then(|load| load.durability.as_ref());
        of_blocks.or_else(|| of_load.filter(|found| !found.cuts.is_empty()))
    }

    /// What shaped the numbers besides the storage, the gravest first.
    pub fn causes(&self) -> Vec<Cause> {
        known_causes(&RunDocuments {
            environment: self.environment.as_ref(),
            watch: self.watch.as_ref().filter(|_| self.has_own_host()).map(|watch| &watch.summary),
            calibration: self.calibration.as_ref(),
            measurements: self.runs.iter().map(|run| &run.measurement).collect(),
            rung: self.load.as_ref().and_then(Load::best),
        })
    }

    /// Whether what was watched is a measurement by this program alone: a database server that
    /// works next to it is not counted with it, and a host that is only watched has no storage
    /// to judge.
    fn has_own_host(&self) -> bool {
        let of_servers = |study: &StudyResult| study.cells.iter().any(|cell| !cell.run.is_empty());
        let has_server = self.load.is_some()
            || self.dss.is_some()
            || self.study.as_ref().is_some_and(of_servers);
        let is_measured = self.calibration.is_some()
            || self.locality.is_some()
            || self.soak.is_some()
            || self.study.is_some()
            || self.integrity.is_some()
            || !self.runs.is_empty();
        is_measured && !has_server
    }

    /// Whether the numbers are not the storage's alone.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.causes().iter().any(|cause| cause.bias.is_some())
    }

    /// Whether the target lies in memory.
    pub fn is_in_memory(&self) -> bool {
        self.causes().iter().any(|cause| cause.kind == CauseKind::Memory)
    }

    /// Numbers of the documents that cannot all be right.
    pub fn contradictions(&self) -> Vec<Doubt> {
        let measurements: Vec<&Measurement> =
            self.runs.iter().map(|run| &run.measurement).collect();
        let rung = self.load.as_ref().and_then(Load::best);
        let mut doubts = plausibility::of_run(self.calibration.as_ref(), &measurements, rung);
        let quantiles = self.runs.iter().map(|run| plausibility::of_estimates(&run.estimates));
        let of_cells = self.study.iter().flat_map(|study| &study.cells);
        let of_cells = of_cells.map(|cell| plausibility::of_estimates(&cell.measures));
        doubts.extend(quantiles.chain(of_cells).flatten());
        doubts
    }

    /// Doubts that hold for every number of the run. Whether the host was busy is known of each by
    /// itself.
    pub fn doubts(&self) -> Vec<Doubt> {
        let causes = self.causes().into_iter().filter(|cause| cause.kind != CauseKind::BusyHost);
        causes.filter_map(|cause| cause.doubt()).chain(self.contradictions()).collect()
    }

    /// What the reader must know of everything that was measured.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &Remark> {
        let of_calibration = self.calibration.iter().flat_map(|calibration| &calibration.remarks);
        let of_load = self.load.iter().flat_map(|load| &load.remarks);
        let of_dss = self.dss.iter().flat_map(|dss| &dss.remarks);
        let of_runs = self.runs.iter().flat_map(|run| &run.measurement.conduct.remarks);
        of_calibration.chain(of_load).chain(of_dss).chain(of_runs).chain(&self.watch_remarks)
    }
}

/// A verification with the errors of all that are kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerificationHistory {
    /// This one.
    #[cfg_attr(test, schemars(with = "crate::schema::Verification"))]
    pub verification: Verification,
    /// All kept ones that taught the model's error; `None` where nothing was answered.
    #[cfg_attr(test, schemars(with = "Option<crate::schema::ErrorSummary>"))]
    pub learnt_from: Option<ErrorSummary>,
    /// All kept ones that test it.
    #[cfg_attr(test, schemars(with = "Option<crate::schema::ErrorSummary>"))]
    pub held_out: Option<ErrorSummary>,
    /// Those of hosts that others kept busy, whichever of both.
    #[cfg_attr(test, schemars(with = "Option<crate::schema::ErrorSummary>"))]
    pub noisy: Option<ErrorSummary>,
}

/// One run of one workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct RunReport {
    /// Totals, and how the tool behaved.
    #[cfg_attr(test, schemars(with = "crate::schema::Measurement"))]
    pub measurement: Measurement,
    /// Intervals of its numbers, by the names that criteria use.
    #[cfg_attr(test, schemars(with = "Vec<crate::schema::NamedEstimate>"))]
    pub estimates: Vec<NamedEstimate>,
    /// Why its rate has no interval: the range of its seconds, and how long a run would have to
    /// be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<String>,
    /// The level that it left; where the one after it settled, the intervals are of that one
    /// alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::schema::LevelChange>"))]
    pub level_change: Option<LevelChange>,
    /// How it went over time.
    #[serde(skip)]
    pub timeline: RunTimeline,
    /// Events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub events: Vec<RunIncident>,
}

/// Something that happened during a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct RunIncident {
    /// When, ns after the measured time began.
    pub at_ns: u64,
    /// What, in a few words.
    pub what: String,
}

/// A document as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct InputDocument {
    /// Its file name, for example `oltp.workload.toml`.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// How a report is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// Shows rates and times as ratios to the best only, and hides everything from which absolute
    /// figures could be worked out: limits, counts, documents, commands.
    pub relative: bool,
}

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Whether ANSI sequences are wanted; to be off where `NO_COLOR` is set or nobody looks.
    pub colour: bool,
    /// Columns at most.
    pub columns: usize,
    /// Lines at most; sections for which there is no room are named at the end. All of it where
    /// there is no limit.
    pub lines_max: Option<usize>,
    /// Whether the answer alone is wanted where a report has one that fits a screen.
    pub is_short: bool,
}

/// All of it in a hundred columns, with colours or without.
impl From<bool> for TextOptions {
    fn from(colour: bool) -> Self {
        Self { colour, ..Self::default() }
    }
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { colour: false, columns: 100, lines_max: None, is_short: false }
    }
}

impl RunReport {
    /// A run without intervals, timeline and events.
    pub fn of(measurement: Measurement) -> Self {
        Self {
            measurement,
            estimates: Vec::new(),
            no_interval: None,
            level_change: None,
            timeline: RunTimeline::default(),
            events: Vec::new(),
        }
    }

    /// The interval of a number, where it is known.
    pub(crate) fn estimate(
        &self,
        quantity: &str,
        subject: Option<&str>,
    ) -> Option<&assay_model::Estimate> {
        let meant = |named: &&NamedEstimate| {
            named.quantity == quantity && named.subject.as_deref() == subject
        };
        self.estimates.iter().find(meant).map(|named| &named.estimate)
    }

    /// The last level, where the ones before were left for good and it is reported alone.
    pub(crate) fn settled(&self) -> Option<&LevelChange> {
        self.level_change.as_ref().filter(|change| change.settled)
    }

    /// A number as it is reported: of the last level where that is reported alone, else `total`.
    pub(crate) fn reported(&self, quantity: &str, subject: Option<&str>, total: f64) -> f64 {
        let of_level = self.settled().and_then(|_| self.estimate(quantity, subject));
        of_level.map_or(total, |estimate| estimate.value)
    }
}
