//! Hours or days of load: takes intervals as they come, in memory that does not grow, and says what
//! became of the level.

use assay_model::Estimate;
use assay_model::measurement::{Interval, Operation};
use assay_model::number::{index_of, real, real_len, seconds};
use assay_model::soak::{Alarm, Level, Rests, Soak, SoakCycles, SoakPoint, SoakSeries, SoakState};
use assay_model::verdict::{Outcome, Unit};
use assay_stats::batches::{book, mean_of_batches, noun};
use assay_stats::mean_interval;
use assay_stats::series::mean;
use assay_stats::steady::{SteadyRule, SteadyState, steadiness};
use assay_stats::watch::{LevelWatch, WatchRule};

mod batch;
mod rules;

use batch::{Batches, CycleBatch};
use rules::SteadyStateRules;

const CONFIDENCE: f64 = 0.95;
/// Fewer batches under load say nothing about a steady state.
const BATCHES_MIN: usize = 20;
/// Load in a batch of the watch, s.
const WATCHED_S: f64 = 5.0;
/// A hundred hours of such batches between false alarms.
const BETWEEN_ALARMS: f64 = 72_000.0;

/// What counts as steady and as lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoakRule {
    /// The rule for a steady state.
    pub steady: SteadyRule,
    /// Largest loss of rate that is acceptable, as a share.
    pub tolerance: f64,
}

impl Default for SoakRule {
    fn default() -> Self {
        Self { steady: SteadyRule::default(), tolerance: 0.05 }
    }
}

impl SoakRule {
    /// The rule for a steady state with its parameters, in words.
    fn words(&self) -> String {
        let steady = &self.steady;
        format!(
            "Assay: the last level lasts for at least {:.0}% of the load; its trend is known to \
             within {:.0}% of the level and is not significantly ({:.0}%) above {:.0}%",
            steady.share * 100.0,
            steady.doubt_share * 100.0,
            steady.confidence * 100.0,
            steady.tolerance * 100.0
        )
    }
}

/// Takes intervals one by one.
pub struct SoakRecorder {
    batches: Batches,
    rules: SteadyStateRules,
    watch: LevelWatch,
    watched: CycleBatch,
    /// When each of the last batches of the watch began: a change dates back.
    begins: Vec<f64>,
    noticed: Vec<Alarm>,
    worked_s: f64,
    ended_s: f64,
}

impl Default for SoakRecorder {
    fn default() -> Self {
        Self::new()
    }
}

impl SoakRecorder {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            batches: Batches::new(),
            rules: SteadyStateRules::new(),
            watch: LevelWatch::new(WatchRule {
                change_share: 0.05,
                between_alarms: BETWEEN_ALARMS,
            }),
            watched: CycleBatch::default(),
            begins: Vec::new(),
            noticed: Vec::new(),
            worked_s: 0.0,
            ended_s: 0.0,
        }
    }

    /// Adds an interval of the cycle that began at `cycle_s`; says when the level of the IOPS
    /// certainly changed.
    pub fn add(&mut self, cycle: u32, cycle_s: f64, interval: &Interval) -> Option<Alarm> {
        let batch = CycleBatch::of(cycle, cycle_s, interval);
        self.worked_s += batch.elapsed_s;
        self.ended_s = cycle_s + seconds(interval.end_ns);
        self.rules.add(batch.iops(), batch.elapsed_s);
        self.batches.add(&batch);
        self.watched.join(&batch);
        if self.watched.elapsed_s < WATCHED_S - 1e-6 {
            return None;
        }
        let watched = std::mem::take(&mut self.watched);
        self.look(&watched)
    }

    fn look(&mut self, watched: &CycleBatch) -> Option<Alarm> {
        // Longer ago than the watch learns, a begin is not asked for any more.
        if self.begins.len() == 4096 {
            self.begins.drain(..2048);
        }
        self.begins.push(watched.at_s);
        let change = self.watch.add(watched.iops())?;
        let back = index_of(change.noticed_at - change.at) + 1;
        let at_s = self.begins[self.begins.len().saturating_sub(back)];
        let noticed = Alarm {
            at_s,
            noticed_s: watched.at_s + watched.elapsed_s,
            before_iops: change.before,
            after_iops: change.after,
        };
        if self.noticed.len() < 1000 {
            self.noticed.push(noticed);
        }
        Some(noticed)
    }

    /// What came of it. `final_cycle` is the cycle after the final rest, which shows recovery and
    /// nothing else.
    pub fn finish(&self, workload: &str, plan: SoakCycles, rule: &SoakRule) -> Soak {
        let last = (plan.final_rest.0 > 0).then_some(plan.cycles);
        let all = self.batches.items();
        let (recovered, batches): (Vec<&CycleBatch>, Vec<&CycleBatch>) =
            all.iter().partition(|batch| Some(batch.cycle) == last);
        let courses: Vec<SoakSeries> = quantities(&batches)
            .into_iter()
            .filter_map(|quantity| course(&quantity, &batches, rule))
            .collect();
        let batch_s = self.worked_s / real_len(all.len().max(1));
        let state = state(&courses, batch_s, rule);
        let lost = courses.iter().any(|course| course.degraded);
        Soak {
            format: 1,
            workload: workload.to_owned(),
            plan,
            worked_s: self.worked_s,
            elapsed_s: self.ended_s,
            outcome: match state {
                SoakState::TooShort | SoakState::LongMemory { .. } => Outcome::Inconclusive,
                SoakState::Steady { .. } if !lost => Outcome::Pass,
                SoakState::Steady { .. } | SoakState::NeverSteady => Outcome::Fail,
            },
            state,
            rule: rule.words(),
            rules: self.rules.findings(),
            rests: rests(&courses, &batches, &recovered, self),
            courses,
            noticed: self.noticed.clone(),
            tolerance: rule.tolerance,
        }
    }
}

/// The state of the IOPS is the state of the soak; times follow them.
fn state(courses: &[SoakSeries], batch_s: f64, rule: &SoakRule) -> SoakState {
    let Some(iops) = courses.first().filter(|iops| iops.points.len() >= BATCHES_MIN) else {
        return SoakState::TooShort;
    };
    if let Some(since_s) = iops.steady_since_s {
        return SoakState::Steady { since_s };
    }
    let values: Vec<f64> = iops.points.iter().map(|point| point.value).collect();
    steadiness(&values, &rule.steady).long_memory_n.map_or(SoakState::NeverSteady, |batches| {
        SoakState::LongMemory { memory_s: batches * batch_s }
    })
}

/// A quantity of a batch.
struct SoakQuantity {
    name: String,
    unit: Unit,
    of: Box<dyn Fn(&CycleBatch) -> f64>,
}

/// The IOPS first, then mean and tail of every operation that every batch has.
fn quantities(batches: &[&CycleBatch]) -> Vec<SoakQuantity> {
    let mut found = vec![SoakQuantity {
        name: "iops".to_owned(),
        unit: Unit::IosPerS,
        of: Box::new(CycleBatch::iops),
    }];
    for operation in Operation::ALL {
        let times = move |batch: &CycleBatch| {
            let result = batch.operations.get(operation)?;
            (result.ios > 0).then(|| result.response().clone())
        };
        if !batches.iter().all(|batch| times(batch).is_some()) {
            continue;
        }
        let name = operation.name();
        found.push(SoakQuantity {
            name: format!("{name}.response_time.mean"),
            unit: Unit::Ns,
            of: Box::new(move |batch| times(batch).map_or(0.0, |times| times.mean_ns())),
        });
        found.push(SoakQuantity {
            name: format!("{name}.response_time.q0.99"),
            unit: Unit::Ns,
            of: Box::new(move |batch| {
                times(batch).map_or(0.0, |times| real(times.quantile_ns(0.99)))
            }),
        });
    }
    found
}

fn course(quantity: &SoakQuantity, batches: &[&CycleBatch], rule: &SoakRule) -> Option<SoakSeries> {
    let values: Vec<f64> = batches.iter().map(|batch| (quantity.of)(batch)).collect();
    if values.is_empty() {
        return None;
    }
    let found = steadiness(&values, &rule.steady);
    let levels = levels(&found, &values, batches);
    let last_of_first = levels
        .first()
        .zip(levels.last())
        .and_then(|(first, last)| book(&last.value).over(&book(&first.value)).map(noun));
    let higher = quantity.unit != Unit::Ns;
    let lost = |ratio: &Estimate| {
        if higher { ratio.high < 1.0 - rule.tolerance } else { ratio.low > 1.0 + rule.tolerance }
    };
    Some(SoakSeries {
        quantity: quantity.name.clone(),
        unit: quantity.unit,
        points: batches
            .iter()
            .zip(&values)
            .map(|(batch, value)| SoakPoint { at_s: batch.at_s, value: *value })
            .collect(),
        degraded: levels.len() > 1 && last_of_first.as_ref().is_some_and(lost),
        last_of_first,
        drift: found.drift.map(noun),
        steady_since_s: found.since.map(|since| batches[since].at_s),
        levels,
    })
}

/// The stretches with their means.
fn levels(found: &SteadyState, values: &[f64], batches: &[&CycleBatch]) -> Vec<Level> {
    let mut edges = vec![0];
    edges.extend(&found.changes);
    edges.push(values.len());
    let level = |pair: &[usize]| {
        let stretch = &values[pair[0]..pair[1]];
        let last = batches[pair[1] - 1];
        // What varies too much for an interval is a number alone.
        let value = mean_of_batches(stretch, last.elapsed_s)
            .unwrap_or_else(|_| Estimate::without_interval(mean(stretch), 1));
        Some(Level { from_s: batches[pair[0]].at_s, to_s: last.at_s + last.elapsed_s, value })
    };
    edges.windows(2).filter_map(level).collect()
}

/// What rests brought: within the cycles, and after the final one.
fn rests(
    courses: &[SoakSeries],
    batches: &[&CycleBatch],
    recovered: &[&CycleBatch],
    soak: &SoakRecorder,
) -> Option<Rests> {
    let ratios: Vec<f64> = batches
        .windows(2)
        .filter(|pair| pair[0].cycle != pair[1].cycle && pair[0].iops() > 0.0)
        .map(|pair| pair[1].iops() / pair[0].iops())
        .collect();
    if ratios.is_empty() && recovered.is_empty() {
        return None;
    }
    let after: Vec<f64> = recovered.iter().map(|batch| batch.iops()).collect();
    let best = courses.first()?.levels.iter().map(|level| &level.value);
    let best = best.max_by(|one, other| one.value.total_cmp(&other.value))?;
    let of_best = mean_interval(&after, CONFIDENCE).and_then(|after| after.over(&book(best)));
    Some(Rests {
        idle_share: 1.0 - soak.worked_s / soak.ended_s.max(soak.worked_s).max(f64::MIN_POSITIVE),
        after_of_before: mean_interval(&ratios, CONFIDENCE).map(noun),
        recovered_of_best: of_best.map(noun),
    })
}

#[cfg(test)]
mod tests;
