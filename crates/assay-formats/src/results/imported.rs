//! What results of other programs are for Assay, and what they lack.

use assay_model::Error;
use assay_model::measurement::{Interval, Measurement, NamedResult};
use assay_model::study::StudySetting;
use assay_model::verdict::NamedEstimate;
use assay_model::workload::Workload;
use serde::Serialize;
use std::fmt;

/// What an imported result does not say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// One number for the whole time: no number has an interval.
    Intervals,
    /// Between the quantiles that the program printed the times are interpolated.
    QuantileRanks,
    /// Quantiles of each job: those of all jobs together follow from no number of the program.
    JointQuantiles,
    /// Times are means only: there are no quantiles.
    Quantiles,
    /// Rates only: there are no times.
    Times,
    /// Times that are longer than the run.
    ImpossibleTimes,
    /// Times of 0, which are below the last digit of their column.
    RoundedTimes,
    /// Times that need more outstanding I/Os than the load had, by Little's law.
    ContradictoryTimes,
    /// Means of intervals, without how many I/Os each stands for.
    Weights,
    /// Times whose unit the form leaves open.
    TimeUnit,
    /// Percentiles are those of the total latency, means those of the completion latency.
    QuantilesOfTotal,
    /// Times begin when the kernel has taken the I/O: without the time in submission.
    Submission,
    /// Means of the total latency, which is mostly submission, in words.
    LongSubmission(String),
    /// Times that are in the file and not in the result, in words.
    TimesLeftOut(String),
    /// Reads and writes share their times.
    Operations,
    /// What the load was: sizes, addresses or depth.
    Load,
    /// Options that have no value.
    Flags,
    /// The host and the storage below.
    Environment,
    /// Which device had the I/O: the busiest had another rate.
    Device,
    /// Two reports of one interval, and the numbers in which they differ.
    ReportsDiffer(String),
    /// When it was measured.
    Date,
    /// The zone of its date.
    Zone,
    /// When the groups of jobs before the last one started.
    StartsOfGroups,
    /// Jobs that did no I/O.
    IdleJobs(u64),
    /// Counts since a start that is not known.
    Rates,
    /// How long it was measured.
    Duration,
    /// Columns or settings that no reader knows, by their names.
    NotUnderstood(Vec<String>),
    /// Options of the load that its description does not follow, by their names.
    OptionsLeftOut(Vec<String>),
    /// Operations that were done and are not in the numbers, by their names.
    OperationsLeftOut(Vec<String>),
    /// Rows or lines that were left out because they hold no number.
    RowsLeftOut(u64),
    /// A part of the run is in other files or was never written, in words.
    OnlyPart(String),
}

/// Names that are written out at most.
const NAMES_MAX: usize = 12;

impl Lack {
    /// What it means for the result.
    pub const fn meaning(&self) -> &'static str {
        match self {
            Self::Intervals => "how much repeats would vary is unknown",
            Self::QuantileRanks => "quantiles other than those of the file are interpolated",
            Self::JointQuantiles => "those of all jobs together are estimates",
            Self::Quantiles => "there are no quantiles, and means cannot provide them",
            Self::Times => "its latency is unknown",
            Self::ImpossibleTimes | Self::ContradictoryTimes | Self::IdleJobs(_) => {
                "they are left out"
            }
            Self::RoundedTimes => "they are below the last digit of the file, and are left out",
            Self::Weights => "all intervals have the same weight",
            Self::TimeUnit => "nanoseconds are assumed, as in fio 3; fio 2 wrote microseconds",
            Self::QuantilesOfTotal => "the quantiles include submission latency, the means do not",
            Self::Submission => "times are shorter than service times by the time in submission",
            Self::LongSubmission(_) => "most of it is submission, which the other times leave out",
            Self::TimesLeftOut(_) => "quantiles are unknown",
            Self::Operations => "times of reads and writes are not separate",
            Self::Load => "it cannot be checked whether two results are of the same load",
            Self::Flags => {
                "with norandommap addresses are drawn independently; without it, each is used once \
                 per pass"
            }
            Self::Environment => "findings about the host are missing",
            Self::Device => "its numbers are left out",
            Self::ReportsDiffer(_) => "the numbers of the first are used",
            Self::Date => "the date is that of the import",
            Self::Zone => "it is shown as if it were UTC",
            Self::StartsOfGroups => "fio prints only the end of the last group",
            Self::Rates => "rates need the difference of two listings, or an AWR report",
            Self::Duration => "the length of the measurement is unknown",
            Self::NotUnderstood(_) => "results that differ in it may not be comparable",
            Self::OptionsLeftOut(_) => "the description of the load does not contain them",
            Self::OperationsLeftOut(_) => "they also used time and storage",
            Self::RowsLeftOut(_) => "the means cover the other lines",
            Self::OnlyPart(_) => "rates and counts may cover only a part of the run",
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::NotUnderstood(names) => {
                return write!(formatter, "unknown parts of the result: {}", listed(names));
            }
            Self::OptionsLeftOut(names) => {
                return write!(formatter, "options left out: {}", listed(names));
            }
            Self::OperationsLeftOut(names) => {
                return write!(formatter, "left out of the result: {}", listed(names));
            }
            Self::LongSubmission(words) => {
                return write!(formatter, "the total latency is {words}");
            }
            Self::TimesLeftOut(words) => {
                return write!(formatter, "left out of the result: {words}");
            }
            Self::IdleJobs(1) => "one job of the result did no I/O",
            Self::IdleJobs(jobs) => {
                return write!(formatter, "{jobs} jobs of the result did no I/O");
            }
            Self::RowsLeftOut(1) => "one line of the result has no number",
            Self::RowsLeftOut(rows) => {
                return write!(formatter, "{rows} lines of the result have no number");
            }
            Self::OnlyPart(words) => words,
            Self::Duration => "the result has no duration",
            Self::Intervals => "the result has no confidence intervals",
            Self::QuantileRanks => "the result has a few quantiles instead of a histogram",
            Self::JointQuantiles => "the result has quantiles of each job",
            Self::Quantiles => "the result has means of times only",
            Self::Times => "the result has no times",
            Self::ImpossibleTimes => "the result has times that are longer than its run",
            Self::RoundedTimes => "the result has times that are rounded to 0",
            Self::ContradictoryTimes => "the result has times that contradict its rate and depth",
            Self::Weights => "the result has means of intervals",
            Self::TimeUnit => "the log does not state its time unit",
            Self::QuantilesOfTotal => "the percentiles are of total latency",
            Self::Submission => "the result has completion latencies",
            Self::Operations => "the result combines reads and writes",
            Self::Load => "the result does not fully describe its load",
            Self::Flags => "the result leaves out options without a value",
            Self::Environment => "the result does not describe its host",
            Self::Device => "the busiest device of iostat.out has another rate than the report",
            Self::ReportsDiffer(words) => {
                return write!(formatter, "reports of one interval differ: {words}");
            }
            Self::Date => "the result has no date",
            Self::Zone => "the date of the result has no time zone",
            Self::StartsOfGroups => "the result does not say when its earlier groups started",
            Self::Rates => "the result has counts since instance start",
        };
        formatter.write_str(words)
    }
}

/// The names, as many as a line holds.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMES_MAX);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// A measurement of another program.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedRun {
    /// What it did, as far as the result says.
    pub workload: Workload,
    /// What came of it.
    pub measurement: Measurement,
    /// Its intervals with the results of their streams; one over the whole time where there are
    /// none.
    pub intervals: Vec<(Interval, Vec<NamedResult>)>,
}

/// A row of numbers of another program: one load and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedRow {
    /// What was varied, and how.
    pub settings: Vec<StudySetting>,
    /// When it began, ns since 1970, where the result says it.
    pub started_unix_ns: Option<u64>,
    /// Measured time, s, where the result says it.
    pub elapsed_s: Option<f64>,
    /// Outstanding I/Os at most, where the result says it.
    pub queue_depth_max: Option<f64>,
    /// Its numbers.
    pub measures: Vec<NamedEstimate>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportedContent {
    /// Measurements with histograms, in their order.
    Runs(Vec<ImportedRun>),
    /// Rows without.
    Rows(Vec<ImportedRow>),
}

/// A file to be read, with its name, which some programs put something into.
#[derive(Clone, Copy, Debug)]
pub struct NamedText<'a> {
    /// The name, without folders.
    pub name: &'a str,
    /// What it holds.
    pub text: &'a str,
}

/// A result of another program.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedResult {
    /// The program, with its version where the file says it.
    pub program: String,
    /// Name of what was measured.
    pub name: String,
    /// What it holds.
    pub content: ImportedContent,
    /// What it lacks.
    pub lacks: Vec<Lack>,
}

/// A number of the whole time, of which no interval is known.
pub fn total(quantity: &str, value: f64) -> NamedEstimate {
    NamedEstimate {
        quantity: quantity.to_owned(),
        subject: None,
        estimate: assay_model::Estimate::without_interval(value, 1),
    }
}

/// The refusal of a file that ends too early or holds something else.
pub fn broken(program: &str, what: &str) -> Error {
    refused(program, what, "specify the complete, unmodified file")
}

/// The refusal of a result for a reason that has its own remedy.
pub fn refused(program: &str, what: &str, hint: &str) -> Error {
    Error::usage(format!("the result of {program} cannot be read: {what}"), hint)
}
