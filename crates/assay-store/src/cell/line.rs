//! The lines of `intervals.jsonl` and `tail.jsonl`.

use assay_model::measurement::{Conduct, ErrorCount, Window};
use assay_model::run::IntervalSummary;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// The measured time began, or was taken up again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BeginLine {
    /// Version of the lines' form: 1.
    pub(super) format: u32,
    /// When, nanoseconds since 1970 UTC.
    pub(super) started_unix_ns: u64,
    /// The tool's behaviour, as far as it was known by then.
    pub(super) conduct: Conduct,
    /// What had failed before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) errors: Vec<ErrorCount>,
}

/// A line with everything that is in it; in `tail.jsonl` the joint is that of the interval alone,
/// or stands without one for all intervals before.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CellLine {
    pub(super) begin: Option<BeginLine>,
    pub(super) interval: Option<IntervalSummary>,
    pub(super) joint: Option<Window>,
}

/// A line to be written.
#[derive(Debug, Default, Serialize)]
pub(super) struct LineRef<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) begin: Option<&'a BeginLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<&'a IntervalSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) joint: Option<&'a Window>,
}

/// A line whose histograms are passed over: tens of times faster to read than a [`CellLine`] with a
/// joint.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Outline {
    pub(super) begin: Option<BeginLine>,
    pub(super) interval: Option<IntervalSummary>,
    pub(super) joint: Option<JointExtent>,
}

/// What a joint covers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointExtent {
    pub(super) first_interval: u64,
    pub(super) intervals: u64,
    #[serde(default, rename = "streams")]
    _streams: IgnoredAny,
    #[serde(default, rename = "targets")]
    _targets: IgnoredAny,
}
