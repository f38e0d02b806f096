//! One side against the base: common measures, significant differences, and whether the side is no
//! worse.

use super::equal_rate::{at_equal_rate, not_compared};
use super::primary::primary;
use super::ratio::{LogRatio, RunPower, Variation, counted, holm, log_ratio};
use super::rules::CompareRules;
use super::same_measure::{Both, better};
use super::sides::{SideFacts, SideFigure};
use super::work::{histograms, parity};
use crate::decide::decide;
use assay_model::comparison::{Direction, Measure, Pair, SideKind, SpreadSource};
use assay_model::number::count_of;
use assay_model::verdict::{Bias, Doubt, Evidence, Limit, Outcome, Reason};
use assay_model::{Error, Estimate, Result};

/// How often equal sides may be called different by their primary measure.
const PRIMARY_SHARE: f64 = 0.05;
/// And by any of the others together.
const OTHERS_SHARE: f64 = 0.01;

/// What was found of one measure.
struct FoundMeasure {
    measure: Measure,
    p_value: Option<f64>,
    power: Option<RunPower>,
}

/// Refuses sides without a common measure.
pub(super) fn check_common(base: &SideFacts, other: &SideFacts) -> Result<()> {
    if common(base, other).is_empty() { Err(nothing_common(base, other)) } else { Ok(()) }
}

fn common<'a>(base: &'a SideFacts, other: &'a SideFacts) -> Vec<Both<'a>> {
    let both = |mine: &'a SideFigure| Some(Both { base: mine, other: other.figure_like(mine)? });
    base.measures.iter().filter_map(both).collect()
}

/// One side against the base.
pub(super) fn compare_pair(
    place: usize,
    base: &SideFacts,
    other: &SideFacts,
    rules: &CompareRules,
) -> Pair {
    let common = common(base, other);
    let variation = SideVariation { base, other, rules };
    let chosen = primary(&common);
    let mut found: Vec<FoundMeasure> = common
        .iter()
        .enumerate()
        .map(|(number, both)| variation.measure(both, Some(number) == chosen))
        .collect();
    let at_equal_rate = at_equal_rate(base, other);
    found.extend(
        at_equal_rate.iter().map(|(base, other)| variation.measure(&Both { base, other }, false)),
    );
    call_differences(&mut found, rules);
    let measures: Vec<Measure> = found.into_iter().map(|found| found.measure).collect();
    let judged = measures.iter().filter(|measure| measure.judged);
    Pair {
        other: place,
        outcome: rules
            .tolerance
            .map(|_| Outcome::of_all(judged.filter_map(|measure| measure.outcome))),
        run_to_run: variation.source(&measures),
        histograms: histograms(base, other),
        parity: parity(base, other),
        measures,
    }
}

/// The primary measure is tested by itself, the others together by Holm's procedure.
fn call_differences(found: &mut [FoundMeasure], rules: &CompareRules) {
    let others: Vec<Option<f64>> =
        found.iter().map(|one| one.p_value.filter(|_| !one.measure.primary)).collect();
    let holds = holm(&others, OTHERS_SHARE);
    for (one, holds) in found.iter_mut().zip(holds) {
        let is_primary = one.measure.primary;
        let is_significant =
            if is_primary { one.p_value.is_some_and(|p| p <= PRIMARY_SHARE) } else { holds };
        let matters = |ratio: &Estimate| (ratio.value - 1.0).abs() > rules.least_share;
        let matters = one.measure.ratio.as_ref().is_some_and(matters);
        one.measure.different = is_significant && matters;
        // Further runs are useful only for a relevant difference that is undecided.
        let power = one.power.filter(|_| matters && !is_significant);
        one.measure.runs_needed = power.and_then(RunPower::runs_needed);
    }
}

/// What is known of how both sides vary from run to run.
struct SideVariation<'a> {
    base: &'a SideFacts,
    other: &'a SideFacts,
    rules: &'a CompareRules,
}

impl SideVariation<'_> {
    /// Numbers of reports are counted; queries are repeated within a run.
    fn is_counted(&self) -> bool {
        [self.base, self.other].iter().any(|facts| facts.side.kind == SideKind::Profile)
    }

    fn is_simulated(&self) -> bool {
        self.base.is_simulated() && self.other.is_simulated()
    }

    /// What is known besides the runs themselves, for one measure.
    fn known(&self, both: &Both<'_>) -> Option<Variation> {
        let is_repeated = both.base.runs.len() > 1 && both.other.runs.len() > 1;
        if let Some(share) = self.rules.run_to_run_share.filter(|_| !is_repeated) {
            return Some(Variation::known(share));
        }
        if self.is_simulated() && !is_repeated {
            return Some(Variation::known(0.0));
        }
        let earlier = |facts: &SideFacts| -> Vec<f64> {
            let found = facts.history.iter().filter_map(|run| run.figure_like(both.base));
            found.map(|figure| figure.estimate.value).collect()
        };
        let known = Variation::of_groups(&[earlier(self.base), earlier(self.other)]);
        Some(known).filter(Variation::is_enough)
    }

    /// Where the variation of the primary measure is known from.
    fn source(&self, measures: &[Measure]) -> SpreadSource {
        if self.is_counted() {
            return SpreadSource::Counted;
        }
        let primary = measures.iter().find(|measure| measure.primary);
        let both = primary.and_then(|measure| {
            let of = |facts: &SideFacts| {
                facts.measures.iter().position(|one| {
                    one.quantity == measure.quantity && one.subject == measure.subject
                })
            };
            Some((of(self.base)?, of(self.other)?))
        });
        let Some((base, other)) = both else {
            return SpreadSource::Unknown;
        };
        let both = Both { base: &self.base.measures[base], other: &self.other.measures[other] };
        let is_repeated = both.base.runs.len() > 1 && both.other.runs.len() > 1;
        match self.known(&both) {
            None if is_repeated => SpreadSource::Repeats,
            None => SpreadSource::Unknown,
            Some(_) if self.rules.run_to_run_share.is_some() && !is_repeated => {
                SpreadSource::Stated
            }
            Some(_) if self.is_simulated() && !is_repeated => SpreadSource::Simulated,
            Some(_) => {
                let runs = count_of(self.base.history.len() + self.other.history.len());
                SpreadSource::History { runs: u32::try_from(runs).unwrap_or(u32::MAX) }
            }
        }
    }

    fn measure(&self, both: &Both<'_>, is_primary: bool) -> FoundMeasure {
        let (base, other) = (both.base, both.other);
        let not_compared = not_compared(self.base, self.other, both);
        let found = self.ratio(both).filter(|_| not_compared.is_none());
        let judged = base.judged && other.judged && not_compared.is_none();
        let judgement = self.rules.tolerance.map(|tolerance| self.judge(both, found, tolerance));
        let (outcome, reason) = judgement.unzip();
        let measure = Measure {
            quantity: base.quantity.clone(),
            subject: base.subject.clone(),
            unit: base.unit,
            better: better(base.unit),
            base: base.estimate,
            other: other.estimate,
            ratio: found.map(|found| found.ratio),
            not_compared,
            primary: is_primary,
            different: false,
            runs_needed: None,
            judged,
            outcome,
            reason,
            doubts: self.doubts(both),
        };
        FoundMeasure {
            measure,
            p_value: found.and_then(|found| found.p_value),
            power: found.and_then(|found| found.power),
        }
    }

    /// Other over base. A rate that is known to be 0, because not even one I/O at a time meets the
    /// limit, has a ratio, too; nothing can be said over a base of 0.
    fn ratio(&self, both: &Both<'_>) -> Option<LogRatio> {
        let (base, other) = (&both.base.estimate, &both.other.estimate);
        if other.value <= 0.0 && other.high <= 0.0 && base.low > 0.0 {
            let ratio = Estimate::exact(0.0, other.n);
            return Some(LogRatio::certain(ratio, self.known(both).map(|_| 0.0)));
        }
        if self.is_counted() {
            // The figures of two reports differ by what was counted.
            let ratio = counted(base, other)?;
            return Some(LogRatio::certain(ratio, Some(0.0)));
        }
        log_ratio(&both.base.runs, &both.other.runs, self.known(both))
    }

    /// Whether the other side is no worse than the base by more than the tolerance.
    fn judge(&self, both: &Both<'_>, found: Option<LogRatio>, tolerance: f64) -> (Outcome, Reason) {
        let missing =
            |what: &str| (Outcome::Inconclusive, Reason::NoEvidence { missing: what.to_owned() });
        let is_none = both.base.estimate.high <= 0.0 && better(both.base.unit) == Direction::Higher;
        if is_none {
            return (Outcome::Pass, Reason::Clear);
        }
        let Some(found) = found else {
            return missing("a longer measurement, because an interval includes 0");
        };
        let is_open = found.ratio.is_at_least() || found.ratio.low <= 0.0 && found.ratio.high > 0.0;
        if found.p_value.is_none() && !is_open {
            return missing("the run-to-run variation: measure each side three times");
        }
        let limit = match better(both.base.unit) {
            Direction::Higher => Limit::AtLeast(1.0 - tolerance),
            Direction::Lower => Limit::AtMost(1.0 + tolerance),
        };
        // What differs from run to run does not shrink with time, so no time would be enough.
        let elapsed_s = if self.is_simulated() {
            self.base.side.elapsed_s.min(self.other.side.elapsed_s)
        } else {
            0.0
        };
        let doubts = self.doubts(both);
        let evidence =
            Evidence { estimate: Some(found.ratio), elapsed_s, doubts, ..Evidence::default() };
        decide(limit, &found.ratio, &evidence)
    }

    /// What is doubted of either side and of which, as it bears on the ratio: what makes the base
    /// look worse makes the other look better.
    fn doubts(&self, both: &Both<'_>) -> Vec<Doubt> {
        let turned = |bias| match bias {
            Bias::Flattering => Bias::Unflattering,
            Bias::Unflattering => Bias::Flattering,
            Bias::Unknown => Bias::Unknown,
        };
        let of = |facts: &SideFacts, doubt: &Doubt, bias| Doubt {
            what: format!("{}: {}", facts.side.name, doubt.what),
            bias,
            ..doubt.clone()
        };
        let base = both.base.doubts.iter().map(|doubt| of(self.base, doubt, turned(doubt.bias)));
        let other = both.other.doubts.iter().map(|doubt| of(self.other, doubt, doubt.bias));
        base.chain(other).collect()
    }
}

fn nothing_common(base: &SideFacts, other: &SideFacts) -> Error {
    let has = |facts: &SideFacts| {
        let side = format!("{} is a {}", facts.side.name, facts.side.kind.name());
        match facts.measures.first() {
            Some(SideFigure { quantity, subject: Some(subject), .. }) => {
                format!("{side} with {quantity} ({subject}) …")
            }
            Some(first) => format!("{side} with {} …", first.quantity),
            None => format!("{side} without a measure"),
        }
    };
    Error::usage(
        format!("no measure in common: {}, {}", has(base), has(other)),
        "compare results of the same kind of load with the same settings",
    )
}

impl SideFacts {
    /// The same measure of this side.
    pub(super) fn figure_like(&self, wanted: &SideFigure) -> Option<&SideFigure> {
        self.measures.iter().find(|one| {
            one.quantity == wanted.quantity
                && one.subject == wanted.subject
                && one.unit == wanted.unit
        })
    }
}
