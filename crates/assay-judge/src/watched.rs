//! The one-second rows by which a criterion can be decided before a load is over.

use crate::measurement::histogram;
use crate::quantity::{Amount, CriterionQuantity, CriterionTimeKind, Scope, TimeStatistic};
use crate::rules::{CriteriaRules, CriterionRule};
use assay_model::Histogram;
use assay_model::measurement::{
    EarlyDecision, EarlyNumber, Interval, Operation, PerOperation, Window,
};
use assay_model::number::real;
use assay_model::verdict::{Limit, Outcome, Unit, Verdict};
use assay_stats::sequential::{BeyondCount, DecisionLook, LimitSide, LookDecision};

/// The criteria of a load that one-second rows can decide.
#[derive(Debug)]
pub(crate) struct WatchedCriteria {
    pub(crate) criteria: Vec<WatchedCriterion>,
    /// Whether no required criterion needs more than these rows and the verdict so far.
    pub(crate) may_pass: bool,
}

/// What a row is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WatchedRow {
    Ios(Option<Operation>),
    Bytes(Option<Operation>),
    MeanTime { operation: Operation, kind: CriterionTimeKind },
    Beyond { operation: Operation, kind: CriterionTimeKind, share_max: f64 },
}

/// How a criterion is decided early.
enum EarlyForm {
    /// By rows.
    Rows(WatchedRow),
    /// By the verdict alone: counts of what happened, and the state of the host.
    Verdict,
    /// Not before the end.
    AtEnd,
}

/// Sums over a second.
#[derive(Clone, Copy, Debug, Default)]
struct OpenRow {
    amount: f64,
    weight: f64,
    beyond: BeyondCount,
}

/// One criterion for one subject, with its rows.
#[derive(Clone, Debug)]
pub(crate) struct WatchedCriterion {
    rule: CriterionRule,
    scope: Scope,
    subject: Option<String>,
    form: WatchedRow,
    open: OpenRow,
    values: Vec<f64>,
    beyond: Vec<BeyondCount>,
    ios: u64,
}

/// The criteria for the streams and targets of a load.
pub(crate) fn watched(rules: &CriteriaRules, joint: &Window) -> WatchedCriteria {
    let mut found = WatchedCriteria { criteria: Vec::new(), may_pass: true };
    for rule in rules.rules() {
        match form(rule) {
            EarlyForm::Rows(form) => found.criteria.extend(of_subjects(rule, form, joint)),
            EarlyForm::Verdict => {}
            EarlyForm::AtEnd => found.may_pass = false,
        }
    }
    found
}

fn form(rule: &CriterionRule) -> EarlyForm {
    let CriterionQuantity::Measured { amount, .. } = rule.quantity else {
        let is_of_host = rule.quantity.is_of_host();
        let is_answered = is_of_host || rule.criterion.optional;
        return if is_answered { EarlyForm::Verdict } else { EarlyForm::AtEnd };
    };
    match (amount, rule.limit) {
        (Amount::Errors(_), _) => EarlyForm::Verdict,
        (Amount::Iops(operation), _) => EarlyForm::Rows(WatchedRow::Ios(operation)),
        (Amount::Throughput(operation), _) => EarlyForm::Rows(WatchedRow::Bytes(operation)),
        (Amount::Time { operation, kind, statistic: TimeStatistic::Mean }, _) => {
            EarlyForm::Rows(WatchedRow::MeanTime { operation, kind })
        }
        (
            Amount::Time { operation, kind, statistic: TimeStatistic::Quantile(quantile) },
            Limit::AtMost(_),
        ) => EarlyForm::Rows(WatchedRow::Beyond { operation, kind, share_max: 1.0 - quantile }),
        // The longest time may still come.
        (Amount::Time { .. }, _) => EarlyForm::AtEnd,
    }
}

/// One criterion for each subject that it means.
fn of_subjects(
    rule: &CriterionRule,
    form: WatchedRow,
    joint: &Window,
) -> impl Iterator<Item = WatchedCriterion> {
    let scope = match rule.quantity {
        CriterionQuantity::Measured { scope: Scope::Target, .. } if joint.targets.is_empty() => {
            Scope::Whole
        }
        CriterionQuantity::Measured { scope, .. } => scope,
        _ => Scope::Whole,
    };
    let named = match scope {
        Scope::Whole => &[][..],
        Scope::Stream => &joint.streams,
        Scope::Target => &joint.targets,
    };
    let only = rule.criterion.only.as_ref();
    let meant = named.iter().map(|result| Some(result.name.clone()));
    let mut subjects: Vec<Option<String>> =
        meant.filter(|name| only.is_none_or(|only| name.as_ref() == Some(only))).collect();
    if scope == Scope::Whole {
        subjects.push(None);
    }
    let rule = rule.clone();
    subjects.into_iter().map(move |subject| WatchedCriterion {
        rule: rule.clone(),
        scope,
        subject,
        form,
        open: OpenRow::default(),
        values: Vec::new(),
        beyond: Vec::new(),
        ios: 0,
    })
}

impl WatchedCriterion {
    /// Adds what an interval has of it.
    pub(crate) fn add(&mut self, interval: &Interval, joint: &Window) {
        let operations = self.operations(joint);
        self.open.weight += match self.form {
            WatchedRow::Ios(operation) => {
                let ios = crate::measurement::ios(operation, &operations);
                self.ios += ios;
                self.open.amount += real(ios);
                interval.elapsed_s()
            }
            WatchedRow::Bytes(operation) => {
                self.ios += crate::measurement::ios(operation, &operations);
                self.open.amount += real(crate::measurement::bytes(operation, &operations));
                interval.elapsed_s()
            }
            WatchedRow::MeanTime { operation, kind }
            | WatchedRow::Beyond { operation, kind, .. } => match operations.get(operation) {
                Some(result) => self.add_times(histogram(kind, result)),
                None => 0.0,
            },
        };
    }

    /// The number of I/Os.
    fn add_times(&mut self, times: &Histogram) -> f64 {
        let ios = real(times.ios());
        self.ios += times.ios();
        self.open.amount += times.mean_ns() * ios;
        let beyond = beyond(times, self.rule.limit.value());
        self.open.beyond.least_ios += beyond.least_ios;
        self.open.beyond.most_ios += beyond.most_ios;
        self.open.beyond.ios += beyond.ios;
        ios
    }

    /// The second is complete.
    pub(crate) fn close_row(&mut self) {
        let row = std::mem::take(&mut self.open);
        self.values.push(row.amount / row.weight);
        self.beyond.push(row.beyond);
    }

    /// What a look says; `criteria` is the number of which any may fail.
    pub(crate) fn decide(&self, look: &DecisionLook, criteria: usize) -> Option<LookDecision> {
        let limit = self.rule.limit;
        let good = match limit {
            Limit::AtLeast(_) => LimitSide::AtLeast,
            Limit::AtMost(_) => LimitSide::AtMost,
        };
        match self.form {
            WatchedRow::Beyond { share_max, .. } => {
                look.decide_share(&self.beyond, share_max, criteria)
            }
            _ => look.decide_mean(&self.values, limit.value(), good, criteria),
        }
    }

    /// An optional criterion for which nothing happened.
    pub(crate) const fn is_left_out(&self) -> bool {
        self.rule.criterion.optional && self.ios == 0
    }

    /// Whether the verdict has the same failure. The only stream or target is the whole.
    pub(crate) fn has_failed(&self, verdict: &Verdict) -> bool {
        verdict.judgements.iter().any(|judgement| {
            judgement.quantity == self.rule.criterion.quantity
                && judgement.outcome == Outcome::Fail
                && (self.subject.is_none() || judgement.subject == self.subject)
        })
    }

    /// For the document.
    pub(crate) fn decision(&self, said: &LookDecision) -> EarlyDecision {
        let LookDecision { value, low, high, .. } = *said;
        EarlyDecision {
            quantity: self.rule.criterion.quantity.clone(),
            subject: self.subject.clone(),
            limit: self.rule.limit,
            number: match self.form {
                WatchedRow::Beyond { .. } => EarlyNumber::ShareBeyond,
                _ => EarlyNumber::Mean,
            },
            value,
            low,
            high: Some(high),
        }
    }

    /// The number so far, in a few words; nothing while nothing happened.
    pub(crate) fn provisional(&self) -> Option<String> {
        let (label, unit) = (self.rule.quantity.label(), self.rule.quantity.unit());
        let limit = unit.show(self.rule.limit.value());
        if self.ios == 0 {
            return None;
        }
        if let WatchedRow::Beyond { operation, share_max, .. } = self.form {
            let beyond: f64 = self.beyond.iter().map(|row| row.most_ios).sum();
            let share = Unit::Share.show(beyond / real(self.ios));
            let (name, most) = (operation.name(), Unit::Share.show(share_max));
            return Some(format!("{share} of {name}s took longer than {limit} (limit {most})"));
        }
        let value = assay_stats::series::mean(&self.values);
        value.is_finite().then(|| format!("{label} {} (limit {limit})", unit.show(value)))
    }

    fn operations(&self, joint: &Window) -> PerOperation {
        let named = match self.scope {
            Scope::Target => &joint.targets,
            Scope::Whole | Scope::Stream => &joint.streams,
        };
        let mut all = PerOperation::default();
        let meant = named
            .iter()
            .filter(|one| self.subject.as_ref().is_none_or(|subject| *subject == one.name));
        meant.for_each(|one| all.merge(&one.operations));
        all
    }
}

/// I/Os beyond a limit, ns: at the least and at the most, where the limit divides a bucket.
fn beyond(times: &Histogram, limit_ns: f64) -> BeyondCount {
    let mut count = BeyondCount { ios: real(times.ios()), ..BeyondCount::default() };
    for (lowest_ns, width_ns, ios) in times.buckets() {
        if real(lowest_ns) > limit_ns {
            count.least_ios += real(ios);
        }
        if real(lowest_ns + width_ns - 1) > limit_ns {
            count.most_ios += real(ios);
        }
    }
    count
}
