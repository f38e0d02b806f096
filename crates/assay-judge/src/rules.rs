//! Criteria whose meaning was checked, ready to judge by.

use crate::decide::{decide_known, decide_short, is_broken};
use crate::doubts;
use crate::evidence::find;
use crate::facts::Facts;
use crate::found::{FoundNumber, Missing};
use crate::near_limit::{self, is_near_limit};
use crate::quantity::{Amount, CriterionQuantity, QuantityMix, Scope};
use assay_model::measurement::Operation;
use assay_model::verdict::{
    Criterion, Doubt, Evidence, Judgement, Limit, OmittedCriterion, Outcome, Reason, Unit, Verdict,
};
use assay_model::workload::{Stream, SyncPolicy};
use assay_model::{Criteria, Error, Result, Workload};

/// Criteria that are known to mean something.
#[derive(Clone, Debug, PartialEq)]
pub struct CriteriaRules {
    name: String,
    rules: Vec<CriterionRule>,
}

/// One criterion with its quantity and limit understood.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionRule {
    /// As it was written.
    pub criterion: Criterion,
    /// What it is about.
    pub quantity: CriterionQuantity,
    /// The limit in the base unit of the quantity.
    pub limit: Limit,
}

impl CriteriaRules {
    /// Checks criteria for meaning; to be done before anything is measured.
    ///
    /// # Errors
    /// A usage error that names the criterion: an unknown quantity with the nearest known name, a
    /// limit whose unit is not that of the quantity, or `only` where there is nothing to choose
    /// from.
    pub fn check(criteria: &Criteria) -> Result<Self> {
        criteria.check()?;
        let rules: Result<Vec<CriterionRule>> =
            criteria.criteria.iter().map(CriterionRule::check).collect();
        Ok(Self { name: criteria.name.clone(), rules: rules? })
    }

    /// The rules, in the order of the criteria.
    pub fn rules(&self) -> &[CriterionRule] {
        &self.rules
    }

    /// The name of the criteria.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether any rule needs a calibration.
    pub fn need_calibration(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.quantity, CriterionQuantity::Calibrated { .. }))
    }

    /// The required criteria that a run of this workload can never answer, each with the reason; to
    /// be said before the run instead of after it.
    pub fn unanswered_by(&self, workload: &Workload) -> Vec<String> {
        let required = self.rules.iter().filter(|rule| !rule.criterion.optional);
        required.filter_map(|rule| rule.unanswered_by(workload)).collect()
    }

    /// The verdict.
    pub fn judge(&self, facts: &Facts<'_>) -> Verdict {
        let (mut judgements, mut left_out) = (Vec::new(), Vec::new());
        let mut outer = self.doubts_of_host(facts);
        outer.extend_from_slice(facts.doubts);
        for rule in &self.rules {
            let mut doubts = outer.clone();
            add_new(&mut doubts, &facts.content_doubts(rule.is_of_reads()));
            for found in rule.find(facts) {
                match (&found.known, rule.criterion.optional) {
                    (Err(Missing::Absent(missing)), true) => left_out.push(rule.leave_out(missing)),
                    _ => judgements.push(rule.judge(found, &doubts)),
                }
            }
        }
        Verdict {
            format: 1,
            criteria: self.name.clone(),
            outcome: Outcome::of_all(judgements.iter().map(|judgement| judgement.outcome)),
            judgements,
            left_out,
        }
    }

    /// What the criteria ask of the host and did not get. A host is never the storage's failure: it
    /// is a doubt of everything that failed on it.
    fn doubts_of_host(&self, facts: &Facts<'_>) -> Vec<Doubt> {
        let of_host = self.rules.iter().filter(|rule| rule.quantity.is_of_host());
        let doubt = |rule: &CriterionRule, found: FoundNumber| {
            let value = found.known.ok()?.estimate.value;
            let limit = rule.limit.value();
            is_broken(rule.limit, value).then(|| doubts::of_host(&rule.quantity, value, limit))
        };
        of_host
            .flat_map(|rule| {
                rule.find(facts).into_iter().filter_map(move |found| doubt(rule, found))
            })
            .collect()
    }
}

impl CriterionRule {
    /// Understands one criterion.
    fn check(criterion: &Criterion) -> Result<Self> {
        let place = |error: Error| error.context(format!("criterion '{}'", criterion.quantity));
        let quantity: CriterionQuantity = criterion.quantity.parse()?;
        if criterion.only.is_some() && !quantity.has_subjects() {
            return Err(place(Error::usage(
                "'only' does not apply",
                format!("remove it, or write stream.{quantity} or target.{quantity}"),
            )));
        }
        let read =
            |bound: &assay_model::verdict::Bound| quantity.unit().parse(&bound.0).map_err(place);
        let limit = match (&criterion.at_most, &criterion.at_least) {
            (Some(bound), _) => Limit::AtMost(read(bound)?),
            (None, Some(bound)) => Limit::AtLeast(read(bound)?),
            (None, None) => {
                return Err(place(Error::usage("has no limit", "write at_most or at_least")));
            }
        };
        Ok(Self { criterion: criterion.clone(), quantity, limit })
    }

    /// What is known for each subject that is meant.
    fn find(&self, facts: &Facts<'_>) -> Vec<FoundNumber> {
        let found = find(&self.quantity, facts);
        let Some(only) = &self.criterion.only else {
            return found;
        };
        let meant =
            |found: &FoundNumber| found.subject.as_deref().is_none_or(|subject| subject == only);
        let picked: Vec<FoundNumber> = found.into_iter().filter(meant).collect();
        if picked.is_empty() {
            return vec![FoundNumber::absent(format!("nothing named '{only}' was measured"))];
        }
        picked
    }

    /// The judgement of one subject, with doubts that hold for every rate and every time.
    fn judge(&self, found: FoundNumber, outer: &[Doubt]) -> Judgement {
        let outer = if self.is_rate_or_time() { outer } else { &[] };
        let (evidence, at, (outcome, reason)) = match found.known {
            Ok(mut known) => {
                add_new(&mut known.evidence.doubts, outer);
                let elapsed_s = known.evidence.elapsed_s;
                if self.is_of_a_run()
                    && is_near_limit(self.limit.value(), &known.estimate, elapsed_s)
                {
                    known.evidence.doubts.push(near_limit::doubt(elapsed_s));
                }
                let decided = decide_known(self.limit, &mut known);
                (known.evidence, known.at, decided)
            }
            Err(missing) => self.without_interval(missing, outer),
        };
        Judgement {
            quantity: self.criterion.quantity.clone(),
            subject: found.subject,
            label: self.quantity.label(),
            at,
            unit: self.quantity.unit(),
            limit: self.limit,
            evidence,
            outcome,
            reason,
            why: self.criterion.why.clone(),
            source: self.criterion.source.clone(),
        }
    }

    /// A short run decides where the limit is far away; nothing else does without an interval.
    fn without_interval(
        &self,
        missing: Missing,
        outer: &[Doubt],
    ) -> (Evidence, String, (Outcome, Reason)) {
        let words = missing.words().to_owned();
        if let Missing::TooShort { seen: Some(mut seen), .. } = missing {
            add_new(&mut seen.known.evidence.doubts, outer);
            if let Some(decided) = decide_short(self.limit, &seen) {
                return (seen.known.evidence, seen.known.at, decided);
            }
        }
        let decided = (Outcome::Inconclusive, Reason::NoEvidence { missing: words });
        (Evidence { doubts: outer.to_vec(), ..Evidence::default() }, String::new(), decided)
    }

    /// Whether a rate or a time is judged; errors and lost blocks are counted, which no host
    /// explains.
    fn is_rate_or_time(&self) -> bool {
        self.quantity.unit() != Unit::Count
            && matches!(
                self.quantity,
                CriterionQuantity::Measured { .. }
                    | CriterionQuantity::Calibrated { .. }
                    | CriterionQuantity::Loaded { .. }
                    | CriterionQuantity::Queried { .. }
                    | CriterionQuantity::HostCpuBusy
                    | CriterionQuantity::HostTcpRetransmits
            )
    }

    /// Whether a series of seconds is behind it.
    fn is_of_a_run(&self) -> bool {
        matches!(self.quantity, CriterionQuantity::Measured { .. }) && self.is_rate_or_time()
    }

    /// Whether reads are part of what is judged, which the content of a target bears on.
    fn is_of_reads(&self) -> bool {
        match self.quantity {
            CriterionQuantity::Measured { amount, .. } => {
                amount.operation().is_none_or(|operation| operation == Operation::Read)
            }
            CriterionQuantity::Calibrated { mix, .. } => mix != QuantityMix::Write,
            _ => false,
        }
    }

    /// The note that there was nothing to judge.
    fn leave_out(&self, missing: &str) -> OmittedCriterion {
        OmittedCriterion {
            quantity: self.criterion.quantity.clone(),
            label: self.quantity.label(),
            missing: missing.to_owned(),
        }
    }

    /// Why a run of the workload cannot answer; `None` when it can.
    fn unanswered_by(&self, workload: &Workload) -> Option<String> {
        let name = &self.criterion.quantity;
        match self.quantity {
            CriterionQuantity::Measured { scope, amount } => {
                let why = self.unanswered_amount(scope, amount, workload)?;
                Some(format!("'{name}': {why}"))
            }
            CriterionQuantity::Calibrated { .. } => Some(format!("'{name}' needs a calibration")),
            CriterionQuantity::Loaded { .. } | CriterionQuantity::Queried { .. } => {
                Some(format!("'{name}' needs a load on a database"))
            }
            CriterionQuantity::Transactions | CriterionQuantity::TransactionTime(_) => {
                Some(format!("'{name}' needs a result of another load generator"))
            }
            CriterionQuantity::IntegrityFindings
            | CriterionQuantity::DurabilityLost
            | CriterionQuantity::DurabilityLossPerCut
            | CriterionQuantity::AtomicUnit
            | CriterionQuantity::DatabaseResponse
            | CriterionQuantity::HostCpuBusy
            | CriterionQuantity::HostTcpRetransmits => None,
        }
    }

    /// The same for what is measured.
    fn unanswered_amount(
        &self,
        scope: Scope,
        amount: Amount,
        workload: &Workload,
    ) -> Option<String> {
        let only = self.criterion.only.as_deref().filter(|_| scope == Scope::Stream);
        let meant = |stream: &&Stream| only.is_none_or(|only| only == stream.name);
        let streams: Vec<&Stream> = workload.streams.iter().filter(meant).collect();
        if streams.is_empty() {
            let only = only.unwrap_or_default();
            return Some(format!("the workload has no stream '{only}'"));
        }
        let operation = amount.operation()?;
        let never = !streams.into_iter().any(|stream| issues(stream, operation));
        never.then(|| format!("the workload issues no {}s", operation.name()))
    }
}

impl Amount {
    /// The one operation that is meant, if it is one.
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Time { operation, .. } => Some(operation),
            Self::Iops(operation) | Self::Throughput(operation) | Self::Errors(operation) => {
                operation
            }
        }
    }
}

/// Adds the doubts that are not there yet.
fn add_new(doubts: &mut Vec<Doubt>, others: &[Doubt]) {
    for other in others {
        if !doubts.contains(other) {
            doubts.push(other.clone());
        }
    }
}

/// Whether a stream issues an operation at all.
fn issues(stream: &Stream, operation: Operation) -> bool {
    match operation {
        Operation::Read => stream.read_share.0 > 0.0,
        Operation::Write => stream.writes(),
        Operation::Sync => stream.writes() && matches!(stream.sync, SyncPolicy::Fdatasync { .. }),
    }
}
