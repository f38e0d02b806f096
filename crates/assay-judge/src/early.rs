//! Whether a load may end before its time: the looks of `assay-stats`, and the verdict itself.

use crate::facts::{Facts, JudgedRun};
use crate::rules::CriteriaRules;
use crate::series::SeriesBuilder;
use crate::watched::{WatchedCriterion, watched};
use assay_model::environment::Environment;
use assay_model::measurement::{
    ClockKind, Conduct, EarlyEnd, Finish, Interval, Measurement, NamedResult, PerOperation, Window,
};
use assay_model::number::{real, seconds};
use assay_model::verdict::{Outcome, Verdict};
use assay_model::workload::Workload;
use assay_stats::sequential::{DecisionLook, LOOKS, LookDecision, LookOutcome};

/// A row is closed when this much of its second was measured: intervals of a second vary by less.
const SECOND_S: f64 = 0.95;
/// Longer intervals have no one-second rows.
const INTERVAL_MAX_S: f64 = 1.05;
/// Ending earlier by less saves nothing, s.
const SAVED_LEAST_S: f64 = 5.0;
/// A provisional number is reported after this time, s.
const PROVISIONAL_S: usize = 5;

/// Watches a load for the look at which its criteria are certain.
///
/// A load ends where the sequential rule *and* the verdict on what was measured so far agree, so
/// an early answer has passed every check of a full one that its data allow.
#[derive(Clone, Debug)]
pub struct EarlyWatch {
    rules: CriteriaRules,
    environment: Option<Environment>,
    workload: String,
    planned_s: f64,
    /// None before the first interval, which names the streams and targets.
    criteria: Option<Vec<WatchedCriterion>>,
    may_pass: bool,
    measured: MeasuredSoFar,
    decided: Option<EarlyEnd>,
}

/// What was measured so far, as a verdict needs it.
#[derive(Clone, Debug)]
struct MeasuredSoFar {
    total: Window,
    series: SeriesBuilder,
    elapsed_ns: u64,
    outstanding_ns: f64,
    clock: ClockKind,
    row_s: f64,
    rows: usize,
}

impl EarlyWatch {
    /// Watches a workload; `None` where its load changes by itself, lasts too short a time or has
    /// intervals too long for any look.
    pub fn new(
        rules: &CriteriaRules,
        workload: &Workload,
        environment: Option<&Environment>,
        clock: ClockKind,
    ) -> Option<Self> {
        let planned_s = workload.duration.seconds();
        let is_short = planned_s < real_s(LOOKS[0].time_s) + SAVED_LEAST_S;
        if is_short || workload.has_pattern() || workload.interval.seconds() > INTERVAL_MAX_S {
            return None;
        }
        Some(Self {
            rules: rules.clone(),
            environment: environment.cloned(),
            workload: workload.name.clone(),
            planned_s,
            criteria: None,
            may_pass: false,
            measured: MeasuredSoFar::new(clock),
            decided: None,
        })
    }

    /// Takes the interval that follows; says something after 5 s. Intervals after a decision are
    /// left out.
    pub fn add(&mut self, interval: &Interval, joint: &Window) -> Option<String> {
        if self.decided.is_some() {
            return None;
        }
        if self.criteria.is_none() {
            let watched = watched(&self.rules, joint);
            (self.criteria, self.may_pass) = (Some(watched.criteria), watched.may_pass);
        }
        let criteria = self.criteria.as_mut()?;
        for criterion in criteria.iter_mut() {
            criterion.add(interval, joint);
        }
        if !self.measured.add(interval, joint) {
            return None;
        }
        criteria.iter_mut().for_each(WatchedCriterion::close_row);
        let rows = self.measured.rows;
        let look = LOOKS.iter().find(|look| look.time_s == rows);
        self.decided = look.and_then(|look| self.look(look));
        (rows == PROVISIONAL_S).then(|| self.provisional()).flatten()
    }

    /// Why the load may end now; nothing while it may not.
    pub const fn decided(&self) -> Option<&EarlyEnd> {
        self.decided.as_ref()
    }

    /// What stands on the terminal before any look.
    fn provisional(&self) -> Option<String> {
        let words: Vec<String> =
            self.criteria.iter().flatten().filter_map(WatchedCriterion::provisional).collect();
        let is_any = !words.is_empty();
        is_any.then(|| format!("note: provisional after 5 s: {}", words.join("; ")))
    }

    /// The end, where the look and the verdict agree.
    fn look(&self, look: &DecisionLook) -> Option<EarlyEnd> {
        if self.planned_s - real_s(look.time_s) < SAVED_LEAST_S {
            return None;
        }
        let criteria = self.criteria.as_ref()?;
        let count = criteria.len();
        let said: Vec<(&WatchedCriterion, Option<LookDecision>)> =
            criteria.iter().map(|one| (one, one.decide(look, count))).collect();
        let of = |outcome: LookOutcome| {
            let decided = said.iter().filter_map(|(one, said)| Some((*one, (*said)?)));
            decided.filter(move |(_, said)| said.outcome == outcome)
        };
        let passes = |one: &WatchedCriterion, said: Option<LookDecision>| {
            one.is_left_out() || said.is_some_and(|said| said.outcome == LookOutcome::Pass)
        };
        let all_pass = self.may_pass && said.iter().all(|(one, said)| passes(one, *said));
        let is_decidable = of(LookOutcome::Fail).next().is_some()
            || all_pass && of(LookOutcome::Pass).next().is_some();
        let verdict = is_decidable.then(|| self.verdict())?;
        let failed = of(LookOutcome::Fail).find(|(one, _)| one.has_failed(&verdict));
        let (outcome, decisions) = match failed {
            Some((one, said)) => (Outcome::Fail, vec![one.decision(&said)]),
            None if all_pass && verdict.outcome == Outcome::Pass => {
                let passed = of(LookOutcome::Pass);
                (Outcome::Pass, passed.map(|(one, said)| one.decision(&said)).collect())
            }
            None => return None,
        };
        let all = self.measured.operations();
        let (ios, bytes) = (all.ios(), all.bytes());
        let (look_s, planned_s) = (real_s(look.time_s), self.planned_s);
        Some(EarlyEnd { outcome, look_s, planned_s, ios, bytes, decisions })
    }

    /// The verdict on what was measured so far.
    fn verdict(&self) -> Verdict {
        let measurement = self.measured.measurement(&self.workload);
        let series = self.measured.series.clone().finish();
        self.rules.judge(&Facts {
            calibration: None,
            run: Some(JudgedRun { measurement: &measurement, series: &series }),
            load: None,
            dss: None,
            integrity: None,
            given: &[],
            environment: self.environment.as_ref(),
            doubts: &[],
        })
    }
}

impl MeasuredSoFar {
    fn new(clock: ClockKind) -> Self {
        Self {
            total: Window::default(),
            series: SeriesBuilder::new(),
            elapsed_ns: 0,
            outstanding_ns: 0.0,
            clock,
            row_s: 0.0,
            rows: 0,
        }
    }

    /// Whether a one-second row is complete.
    fn add(&mut self, interval: &Interval, joint: &Window) -> bool {
        self.total.merge(joint);
        self.series.add(interval);
        self.series.add_joint(joint);
        let span_ns = interval.end_ns.saturating_sub(interval.start_ns);
        self.elapsed_ns += span_ns;
        self.outstanding_ns += interval.queue_depth_mean * real(span_ns);
        self.row_s += seconds(span_ns);
        let is_full = self.row_s >= SECOND_S;
        if is_full {
            (self.row_s, self.rows) = (0.0, self.rows + 1);
        }
        is_full
    }

    fn operations(&self) -> PerOperation {
        let mut all = PerOperation::default();
        self.total.streams.iter().for_each(|stream| all.merge(&stream.operations));
        all
    }

    /// The health of the tool is known only at the end; the final verdict includes it.
    fn measurement(&self, workload: &str) -> Measurement {
        let queue_depth_mean = self.outstanding_ns / real(self.elapsed_ns.max(1));
        let whole = || NamedResult { name: workload.to_owned(), operations: self.operations() };
        let targets = match self.total.targets.as_slice() {
            [] => vec![whole()],
            several => several.to_vec(),
        };
        Measurement {
            format: 1,
            workload: workload.to_owned(),
            started_unix_ns: 0,
            elapsed_ns: self.elapsed_ns,
            finish: Finish::Complete,
            streams: self.total.streams.clone(),
            targets,
            errors: Vec::new(),
            conduct: Conduct { clock: self.clock, queue_depth_mean, ..Conduct::default() },
        }
    }
}

/// Whole seconds as a number.
fn real_s(time_s: usize) -> f64 {
    assay_model::number::real_len(time_s)
}

#[cfg(test)]
mod tests;
