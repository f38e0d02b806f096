//! What a load of decision support came to: every query of every stream with its time, and what the
//! server, the host and the device counted meanwhile.

use crate::load::{
    DatabaseCounts, DeviceCounts, Physical, PhysicalVerdict, ServerFacts, Setting, TimeSplit,
};
use crate::measurement::{Finish, Remark};
use crate::number::{real, real_len, seconds};
use crate::verdict::Outcome;
use serde::{Deserialize, Serialize};

/// Queries of one stream.
pub const QUERIES_OF_A_STREAM: usize = 22;
/// No time counts as less than this share of the longest of its run (TPC-H, clause 5.4.1.4): one
/// query that takes no time must not make the mean nothing.
const SHORTEST_OF_LONGEST: f64 = 1.0 / 1000.0;

/// The result of a load of decision support: the document `dss.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dss {
    /// Version of the document format: 1.
    pub format: u32,
    /// The name of the load: `dss-h`.
    pub method: String,
    /// Its relation to the benchmark that it follows.
    pub notice: String,
    /// The server.
    pub server: ServerFacts,
    /// How large the tables are; 1 makes about 1 GB of rows.
    pub scale: f64,
    /// What was asked, by names and values in the order of the command line.
    pub plan: Vec<Setting>,
    /// The tables, and how they came to be there.
    pub data: DssData,
    /// One a power or throughput run, in the order in which they were measured.
    pub runs: Vec<DssRun>,
    /// Processors of the machine that measured.
    pub processors: u32,
    /// Why it ended early, in a sentence; empty where it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub end: String,
    /// Remarks on the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
}

/// The tables, and how they came to be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DssData {
    /// Bytes of the tables on storage, without indexes.
    pub table_bytes: u64,
    /// Bytes of the indexes.
    pub index_bytes: u64,
    /// Rows when they were loaded.
    pub rows: u64,
    /// How long loading took; none where the tables were there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loading: Option<DssLoading>,
}

/// How long loading took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DssLoading {
    /// Sessions that loaded at once.
    pub loaders: u32,
    /// From the first statement until rows, indexes and statistics were there, s.
    pub elapsed_s: f64,
}

/// Which of the two a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DssKind {
    /// One stream, with the refresh functions before and behind it.
    Power,
    /// Several streams at once, and the refresh functions in a stream of their own.
    Throughput,
}

/// One power or throughput run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DssRun {
    /// Which of the two it is.
    pub kind: DssKind,
    /// Streams of queries at once.
    pub streams: u32,
    /// Processes that the server may use for one step of a query in addition to the session's own.
    pub parallel: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// When it began, ns since 1970 UTC.
    pub started_unix_ns: u64,
    /// Its length, ns.
    pub elapsed_ns: u64,
    /// How it ended.
    pub finish: Finish,
    /// Every query and refresh function that was begun, in the order of their ends.
    pub queries: Vec<DssQuery>,
    /// Server counters.
    pub database: DatabaseCounts,
    /// Where the time of the sessions went; that of parallel processes is in the parts and not in
    /// the time of the database.
    pub time: TimeSplit,
    /// What the kernel counted for the device under the data; none where it is not on this
    /// machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceCounts>,
    /// CPU time of this program, s.
    pub client_cpu_s: f64,
    /// CPU time of the server's processes, s; none where they are not on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// Share of all processors' time that was busy, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// Whether the reads reached the device.
    pub physical: Physical,
}

/// One query or refresh function of one stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DssQuery {
    /// The stream, from 0 in a power run and from 1 in a throughput run; refresh functions that
    /// run during streams have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
    /// `Q1` to `Q22`, `RF1`, `RF2`.
    pub name: String,
    /// When it was sent, ns after the run began.
    pub started_ns: u64,
    /// Until the last row was received or the server refused, ns.
    pub elapsed_ns: u64,
    /// Rows of the answer, or rows that were changed.
    pub rows: u64,
    /// What became of it.
    pub outcome: DssOutcome,
}

/// What became of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DssOutcome {
    /// It came to its end.
    Complete,
    /// It was cancelled at the limit, which counts as its time.
    OverLimit,
    /// The server refused it.
    Failed {
        /// Its words.
        reason: String,
    },
}

impl DssQuery {
    /// Its time, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.elapsed_ns)
    }

    /// Whether it is one of the 22, and no refresh function.
    pub fn is_query(&self) -> bool {
        self.name.starts_with('Q')
    }

    /// Whether it came to its end: only then is its time one of the query.
    pub fn is_complete(&self) -> bool {
        self.outcome == DssOutcome::Complete
    }
}

impl DssRun {
    /// A run of which nothing has ended yet.
    pub fn begun(kind: DssKind, streams: u32, parallel: u32, repeat: u32) -> Self {
        Self {
            kind,
            streams,
            parallel,
            repeat,
            started_unix_ns: 0,
            elapsed_ns: 0,
            finish: Finish::Unfinished,
            queries: Vec::new(),
            database: DatabaseCounts::default(),
            time: TimeSplit::default(),
            device: None,
            client_cpu_s: 0.0,
            server_cpu_s: None,
            host_busy_share: None,
            physical: Physical::default(),
        }
    }

    /// Its length, s.
    pub fn elapsed_s(&self) -> f64 {
        seconds(self.elapsed_ns)
    }

    /// The runs that it is a repeat of: `power.parallel2`, `streams4.parallel2`.
    pub fn group(&self) -> String {
        match self.kind {
            DssKind::Power => format!("power.parallel{}", self.parallel),
            DssKind::Throughput => format!("streams{}.parallel{}", self.streams, self.parallel),
        }
    }

    /// The mean time of a query over the streams in which it came to its end, ns; none where it did
    /// in none.
    pub fn mean_time_ns(&self, name: &str) -> Option<f64> {
        let of_name = |query: &&DssQuery| query.name == name && query.is_complete();
        let times = self.queries.iter().filter(of_name);
        let times: Vec<u64> = times.map(|query| query.elapsed_ns).collect();
        (!times.is_empty()).then(|| real(times.iter().sum()) / real_len(times.len()))
    }

    /// Queries that were cancelled at the limit.
    pub fn over_limit(&self) -> usize {
        self.with(|outcome| *outcome == DssOutcome::OverLimit)
    }

    /// Queries and refresh functions that the server refused.
    pub fn failed(&self) -> usize {
        self.with(|outcome| matches!(outcome, DssOutcome::Failed { .. }))
    }

    fn with(&self, is: impl Fn(&DssOutcome) -> bool) -> usize {
        self.queries.iter().filter(|query| is(&query.outcome)).count()
    }

    /// Whether every query of every stream and every refresh function came to its end.
    pub fn is_whole(&self) -> bool {
        let asked = self.queries.iter().filter(|query| query.is_query());
        let streams = usize::try_from(self.streams).unwrap_or(usize::MAX);
        asked.count() == QUERIES_OF_A_STREAM.saturating_mul(streams)
            && self.queries.iter().all(DssQuery::is_complete)
    }

    /// The geometric mean of the times of all queries, s; none where one of them did not come to
    /// its end.
    pub fn geometric_mean_s(&self) -> Option<f64> {
        let queries = self.queries.iter().filter(|query| query.is_query());
        self.is_whole()
            .then(|| geometric_mean(&queries.map(DssQuery::elapsed_s).collect::<Vec<_>>()))?
    }

    /// Queries an hour of a stream alone, times the scale: 3,600 s over the geometric mean of
    /// queries and refresh functions together. Source: TPC-H, clause 5.4.1, whose name is not
    /// used for it.
    pub fn power_per_h(&self, scale: f64) -> Option<f64> {
        let is_wanted = self.kind == DssKind::Power && self.is_whole();
        let times: Vec<f64> = self.queries.iter().map(DssQuery::elapsed_s).collect();
        is_wanted.then(|| Some(3600.0 * scale / geometric_mean(&times)?))?
    }

    /// Queries an hour of all streams, times the scale. Source: TPC-H, clause 5.4.2, whose name is
    /// not used for it.
    pub fn throughput_per_h(&self, scale: f64) -> Option<f64> {
        let is_wanted = self.kind == DssKind::Throughput && self.is_whole() && self.elapsed_ns > 0;
        let queries = f64::from(self.streams) * real_len(QUERIES_OF_A_STREAM);
        is_wanted.then(|| queries * 3600.0 * scale / self.elapsed_s())
    }
}

impl Dss {
    /// Whether in any run more than the tolerated share of the reads never reached the device.
    pub fn is_cached(&self) -> bool {
        self.runs.iter().any(|run| run.physical.verdict == PhysicalVerdict::Cached)
    }

    /// What it came to: a failure where a query was refused or cancelled at its limit, nothing
    /// certain where the page cache gave what the storage was asked for.
    pub fn outcome(&self) -> Outcome {
        if self.runs.iter().any(|run| run.failed() + run.over_limit() > 0) {
            return Outcome::Fail;
        }
        if self.is_cached() { Outcome::Inconclusive } else { Outcome::Pass }
    }
}

/// The geometric mean of times, short ones lifted; none of no times.
fn geometric_mean(times: &[f64]) -> Option<f64> {
    let longest = times.iter().copied().fold(0.0, f64::max);
    let lifted = times.iter().map(|time| time.max(longest * SHORTEST_OF_LONGEST).ln());
    let mean = lifted.sum::<f64>() / real_len(times.len());
    (longest > 0.0).then(|| mean.exp())
}

/// The times of one query over several runs, s: the middle one, and the least and the greatest.
pub fn middle_and_range(mut times: Vec<f64>) -> Option<(f64, f64, f64)> {
    times.sort_by(f64::total_cmp);
    let (first, last) = (*times.first()?, *times.last()?);
    let (low, high) = (times[(times.len() - 1) / 2], times[times.len() / 2]);
    Some((f64::midpoint(low, high), first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(name: &str, elapsed_s: f64, outcome: DssOutcome) -> DssQuery {
        DssQuery {
            stream: Some(0),
            name: name.to_owned(),
            started_ns: 0,
            elapsed_ns: crate::number::nanoseconds(elapsed_s),
            rows: 1,
            outcome,
        }
    }

    /// A run whose odd queries take a second and whose even ones take four.
    fn run(kind: DssKind, streams: u32) -> DssRun {
        let one = |number: u32| {
            let elapsed_s = if number % 2 == 1 { 1.0 } else { 4.0 };
            query(&format!("Q{number}"), elapsed_s, DssOutcome::Complete)
        };
        let queries = (0..streams).flat_map(|_| (1..=22).map(one)).collect();
        DssRun { queries, elapsed_ns: 88_000_000_000, ..DssRun::begun(kind, streams, 0, 1) }
    }

    fn near(one: Option<f64>, other: f64) {
        assert!(one.is_some_and(|one| (one / other - 1.0).abs() < 1e-12), "{one:?} {other}");
    }

    #[test]
    fn means_and_rates_follow_their_definitions() {
        // The root of 1 x 4 is 2; refresh functions of two seconds leave it there.
        let mut power = run(DssKind::Power, 1);
        power.queries.push(query("RF1", 2.0, DssOutcome::Complete));
        power.queries.push(query("RF2", 2.0, DssOutcome::Complete));
        near(power.geometric_mean_s(), 2.0);
        near(power.power_per_h(3.0), 3600.0 * 3.0 / 2.0);
        assert_eq!(power.throughput_per_h(3.0), None);
        let throughput = run(DssKind::Throughput, 2);
        near(throughput.geometric_mean_s(), 2.0);
        near(throughput.throughput_per_h(0.5), 44.0 * 3600.0 * 0.5 / 88.0);
        assert_eq!(throughput.power_per_h(0.5), None);
    }

    #[test]
    fn a_run_that_is_not_whole_has_no_mean() {
        let mut over = run(DssKind::Power, 1);
        over.queries[0].outcome = DssOutcome::OverLimit;
        assert_eq!((over.geometric_mean_s(), over.power_per_h(1.0)), (None, None));
        assert_eq!((over.over_limit(), over.failed()), (1, 0));
        let mut failed = run(DssKind::Throughput, 2);
        failed.queries[1].outcome = DssOutcome::Failed { reason: String::new() };
        assert_eq!((failed.geometric_mean_s(), failed.throughput_per_h(1.0)), (None, None));
        assert_eq!(failed.failed(), 1);
        let mut short = run(DssKind::Power, 1);
        short.queries.pop();
        assert_eq!(short.geometric_mean_s(), None);
    }

    #[test]
    fn what_did_not_come_to_its_end_is_no_part_of_a_mean() {
        let mut streams = run(DssKind::Throughput, 3);
        let mut third = streams.queries.iter_mut().filter(|query| query.name == "Q2");
        let mut next = || third.next().unwrap();
        next().outcome = DssOutcome::OverLimit;
        let failed = next();
        failed.outcome = DssOutcome::Failed { reason: String::new() };
        failed.elapsed_ns = 5;
        near(streams.mean_time_ns("Q2"), 4e9);
        streams.queries.iter_mut().for_each(|query| query.outcome = DssOutcome::OverLimit);
        assert_eq!(streams.mean_time_ns("Q2"), None);
    }

    #[test]
    fn a_query_of_no_time_does_not_make_the_mean_nothing() {
        let times: Vec<f64> = [0.0].into_iter().chain([1000.0; 21]).collect();
        near(geometric_mean(&times), 1000.0_f64.powf(21.0 / 22.0));
        assert_eq!(geometric_mean(&[0.0, 0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn the_middle_lies_between_the_ends() {
        assert_eq!(middle_and_range(vec![3.0, 1.0, 2.0]), Some((2.0, 1.0, 3.0)));
        assert_eq!(middle_and_range(vec![4.0, 1.0]), Some((2.5, 1.0, 4.0)));
        assert_eq!(middle_and_range(Vec::new()), None);
    }
}
