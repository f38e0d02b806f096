//! The largest load whose limited quantile of service time is within its limit, and the rate that
//! it gives.

use super::best::{NEARLY, Rungs, best};
use super::candidates::Candidates;
use super::climb::{MOST_DOUBT, above};
use super::ladder::{Ladder, LadderStep};
use super::meter::RungMeter;
use super::pace::PRECISION;
use super::peak::unseen;
use super::reach::{judged, judged_together};
use super::rung::{CalibrationRung, Within, chosen_document};
use assay_model::calibration::{Capacity, CapacityBound, LatencyLimit};
use assay_model::measurement::Operation;
use assay_model::number::{count, index, real, real_len, share};
use assay_model::spelling::LimitStatistic;
use assay_model::{Estimate, Result};

/// Half the width of the answer's interval over its value at which the search rests.
const NARROW: f64 = 0.025;

/// Steps taken together at most.
const POOL_MAX: usize = 6;

/// What is known of a limit: the steps on both sides of it, and those that may be.
struct LimitBracket<'l> {
    /// The largest load within the limit, by the shares of I/Os beyond it.
    inside: Option<&'l CalibrationRung>,
    /// The next larger load.
    outside: Option<&'l CalibrationRung>,
    /// The largest load certainly within it, where no smaller one is certainly beyond.
    surely: Option<&'l CalibrationRung>,
    /// The smallest load certainly beyond it, where no larger one is certainly within.
    not: Option<&'l CalibrationRung>,
    /// The largest measured load below that.
    at_most: Option<&'l CalibrationRung>,
    /// Loads that may lie on either side.
    open: Vec<&'l CalibrationRung>,
}

impl<'l> LimitBracket<'l> {
    fn of(rungs: &'l Rungs, limit: &LatencyLimit) -> Self {
        let all: Vec<&CalibrationRung> = rungs.values().collect();
        let judged = judged(rungs, limit);
        let inside = inside(rungs, limit);
        let last_surely = judged.iter().rposition(|within| *within == Within::Surely);
        let first_not = judged.iter().position(|within| *within == Within::Not);
        let surely = last_surely.filter(|last| first_not.is_none_or(|first| *last < first));
        let not = first_not.filter(|first| last_surely.is_none_or(|last| last < *first));
        // What contradicts itself is open up to where it no longer does.
        let surely =
            surely.or_else(|| (0..first_not?).rfind(|index| judged[*index] == Within::Surely));
        let not = not.or_else(|| {
            let after = last_surely.map_or(0, |last| last + 1);
            (after..all.len()).find(|index| judged[*index] == Within::Not)
        });
        let surely = pooled_within(&all, surely, inside, limit).or(surely);
        let not = pooled_beyond(&all, not, inside, limit).or(not);
        let least_open = surely.map_or(0, |surely| surely + 1);
        let end_open = not.unwrap_or(all.len());
        Self {
            inside: inside.checked_sub(1).map(|last| all[last]),
            outside: all.get(inside).copied(),
            surely: surely.map(|index| all[index]),
            not: not.map(|index| all[index]),
            at_most: end_open.checked_sub(1).map(|index| all[index]),
            open: all[least_open.min(end_open)..end_open].to_vec(),
        }
    }

    /// How many steps a step is away from the limit, from 1: the nearest decide most.
    fn distance(&self, rung: &CalibrationRung, rungs: &Rungs) -> f64 {
        let load = rung.queue_depth;
        let inside = self.inside.map_or(0, |inside| inside.queue_depth);
        let steps = if load <= inside {
            rungs.range(load..=inside).count()
        } else {
            rungs.range(inside + 1..=load).count()
        };
        real_len(steps.max(1))
    }

    /// Loads between the two sides that were not measured.
    fn gap(&self) -> u32 {
        match (self.inside, self.outside) {
            (Some(inside), Some(outside)) => outside.queue_depth - inside.queue_depth - 1,
            _ => 0,
        }
    }

    /// A load that was not measured, half way between one that is sure and the next one that is
    /// open, where that would narrow the answer.
    fn missing(&self) -> Option<u32> {
        let between = |low: &CalibrationRung, high: &CalibrationRung| {
            let differ =
                high.estimates.iops.value > low.estimates.iops.value * (1.0 + 2.0 * PRECISION);
            (differ && high.queue_depth > low.queue_depth + 1)
                .then(|| u32::midpoint(low.queue_depth, high.queue_depth))
        };
        let below = self.surely.zip(self.open.first());
        let above = self.open.last().zip(self.not);
        below
            .and_then(|(surely, open)| between(surely, open))
            .or_else(|| above.and_then(|(open, not)| between(open, not)))
    }

    /// Whether the rates on both sides differ, so that it matters where exactly the limit is met.
    fn matters(&self) -> bool {
        match (self.inside, self.outside) {
            (Some(inside), Some(outside)) => {
                outside.estimates.iops.value > inside.estimates.iops.value * (1.0 + PRECISION / 2.0)
            }
            _ => false,
        }
    }

    /// The load at which a straight line between both sides meets the limit, not too near to
    /// either.
    fn between(&self, limit_ns: f64) -> Option<u32> {
        let (inside, outside) = (self.inside?, self.outside?);
        let (low, high) = (inside.estimates.limited_ns.value, outside.estimates.limited_ns.value);
        let met =
            if high > low { ((limit_ns - low) / (high - low)).clamp(0.125, 0.875) } else { 0.5 };
        let gap = f64::from(outside.queue_depth - inside.queue_depth);
        let step = u32::try_from(index(met * gap)).ok()?.clamp(1, self.gap());
        Some(inside.queue_depth + step)
    }
}

/// The largest load that is certainly within the limit when the loads from it up to the last one
/// inside are taken together: the smallest of them breaks it least.
fn pooled_within(
    all: &[&CalibrationRung],
    surely: Option<usize>,
    inside: usize,
    limit: &LatencyLimit,
) -> Option<usize> {
    let least = surely.map_or(0, |surely| surely + 1).max(inside.saturating_sub(POOL_MAX));
    (least..inside.saturating_sub(1))
        .rev()
        .find(|index| judged_together(&all[*index..inside], limit) == Within::Surely)
}

/// The smallest load that is certainly beyond the limit when the loads up to it from the first one
/// outside are taken together: the largest of them breaks it most.
fn pooled_beyond(
    all: &[&CalibrationRung],
    not: Option<usize>,
    inside: usize,
    limit: &LatencyLimit,
) -> Option<usize> {
    let end = not.unwrap_or(all.len()).min(inside + POOL_MAX);
    (inside + 1..end).find(|index| judged_together(&all[inside..=*index], limit) == Within::Not)
}

/// How many of the smallest loads are within the limit: of reads and writes, whichever are fewer.
fn inside(rungs: &Rungs, limit: &LatencyLimit) -> usize {
    [Operation::Read, Operation::Write]
        .into_iter()
        .map(|operation| {
            let counts: Vec<(u64, u64)> =
                rungs.values().map(|rung| limited(rung, operation, limit)).collect();
            let shares = ascending_shares(&counts);
            let allowed = match limit.quantile {
                LimitStatistic::Mean => limit.service_time_ns,
                // 1 - 0.9 is slightly less than 0.1 in binary: exactly the permitted share must
                // pass.
                LimitStatistic::Quantile(quantile) => 1.0 - quantile + 1e-12,
            };
            shares.iter().take_while(|share| **share <= allowed).count()
        })
        .min()
        .unwrap_or(0)
}

/// How many I/Os of an operation took longer than the limit, or how many ns all of them took if
/// the mean is limited; and how many they are.
fn limited(rung: &CalibrationRung, operation: Operation, limit: &LatencyLimit) -> (u64, u64) {
    let Some(result) = rung.estimates.operations.get(operation) else { return (0, 0) };
    let times = &result.service;
    let part = match limit.quantile {
        LimitStatistic::Mean => count(times.mean_ns() * real(times.ios())),
        LimitStatistic::Quantile(_) => times.ios_above(count(limit.service_time_ns)),
    };
    (part, times.ios())
}

/// The shares of the counts that fit best and never fall: a load cannot keep a limit that a smaller
/// one breaks, so neighbours that seem to say so are counted together (pool adjacent violators:
/// Ayer and others, Annals of Mathematical Statistics 26, 1955).
fn ascending_shares(counts: &[(u64, u64)]) -> Vec<f64> {
    let mut pools: Vec<(u64, u64, usize)> = Vec::new();
    for (part, whole) in counts {
        let mut pool = (*part, *whole, 1);
        while let Some(last) = pools.pop_if(|last| share(last.0, last.1) > share(pool.0, pool.1)) {
            pool = (pool.0 + last.0, pool.1 + last.1, pool.2 + last.2);
        }
        pools.push(pool);
    }
    pools
        .iter()
        .flat_map(|(part, whole, length)| std::iter::repeat_n(share(*part, *whole), *length))
        .collect()
}

/// The rate within the limit with the interval that also holds the doubt about the last load within
/// it; `None` when not even the smallest load is within.
///
/// Rates do not fall with the load up to their highest, so the last load within the limit gives at
/// least what the last one certainly within gives, and at most what the last one that may be within
/// gives.
pub(super) fn answer(
    rungs: &Rungs,
    peak_load: Option<u32>,
    limit: &LatencyLimit,
    ladder_end: CapacityBound,
) -> Option<Capacity> {
    let bracket = LimitBracket::of(rungs, limit);
    let inside = bracket.inside?;
    let best = best(rungs, peak_load)?;
    let reaches = inside.estimates.iops.value >= NEARLY * best.estimates.iops.value;
    // Beyond the load that gives most a rate may fall: who keeps the limit with more load keeps it
    // there, too.
    let is_within = best.queue_depth <= inside.queue_depth;
    let chosen = if is_within { best } else { inside };
    let bound = match bracket.outside {
        None => ladder_end,
        Some(_) if reaches || is_within => ladder_end,
        Some(_) if bracket.gap() > 0 => CapacityBound::TimeBudget,
        Some(_) => CapacityBound::LatencyLimit,
    };
    Some(Capacity {
        rate: rate(&bracket, chosen, best),
        burst_rate: None,
        burst_s: None,
        queue_depth: chosen.queue_depth,
        bound,
    })
}

fn rate(bracket: &LimitBracket<'_>, chosen: &CalibrationRung, best: &CalibrationRung) -> Estimate {
    // A larger load that gives less, but not beyond doubt, was measured too low or this one too
    // high: where both are one level the one that stands for the highest rate knows it better.
    let level = &best.estimates.iops;
    let too_high = best.queue_depth > chosen.queue_depth
        && chosen.estimates.iops.value > level.value
        && chosen.estimates.iops.low <= level.high;
    let own = chosen_document(if too_high { level } else { &chosen.estimates.iops });
    let low = match bracket.surely {
        Some(surely) if surely.queue_depth >= chosen.queue_depth => own.low,
        Some(surely) => own.low.min(surely.estimates.iops.low),
        None => 0.0,
    };
    let reaches = match (bracket.at_most, bracket.not) {
        (Some(at_most), Some(not)) if not.queue_depth > at_most.queue_depth + 1 => not,
        (Some(at_most), _) => at_most,
        _ => chosen,
    };
    // No load delivers more than the best one, whatever a noisy step shows.
    let high = own.high.max(reaches.estimates.iops.high.min(best.estimates.iops.high));
    Estimate { low, high, ..own }
}

impl RungMeter<'_> {
    /// Measures what the answer for a limit still lacks: loads between its two sides, then more of
    /// those that may lie on either.
    pub(super) fn search(
        &mut self,
        ladder: &mut Ladder,
        limit: &LatencyLimit,
    ) -> Result<LadderStep> {
        loop {
            let step = match lacking(&ladder.rungs, ladder.peak_load, limit) {
                None => return Ok(LadderStep::Added),
                Some(Lacking::Rung(load)) => self.settle(ladder, load, self.pace.first_look())?,
                Some(Lacking::Time(load)) => self.longer(ladder, load)?,
            };
            if step != LadderStep::Added {
                return Ok(step);
            }
        }
    }
}

/// Loads whose visits say more about a limit: the last one within it, and where that matters the
/// one beyond and the one that the answer lacks most.
pub(super) fn visited_for_limit(ladder: &Ladder, limit: &LatencyLimit) -> Candidates {
    let bracket = LimitBracket::of(&ladder.rungs, limit);
    let mut candidates = Candidates::default();
    let reaches = |inside: &&CalibrationRung| {
        let best = best(&ladder.rungs, ladder.peak_load);
        best.is_some_and(|best| best.queue_depth <= inside.queue_depth)
    };
    match bracket.inside {
        // The answer is then the highest rate, which is visited anyway.
        Some(inside) if reaches(&inside) => candidates.in_turn.push(inside.queue_depth),
        Some(inside) => candidates.always.push(inside.queue_depth),
        None => {}
    }
    if bracket.matters() {
        candidates.in_turn.extend(bracket.outside.map(|rung| rung.queue_depth));
    }
    match lacking(&ladder.rungs, ladder.peak_load, limit) {
        Some(Lacking::Rung(load) | Lacking::Time(load)) => candidates.in_turn.push(load),
        None => {}
    }
    candidates
}

/// Loads whose visits say more about the highest rate: the one that stands for it, one that seems
/// to give more, and where that is not known well the highest ones, which show that more load gives
/// no more.
pub(super) fn visited_for_most(ladder: &Ladder, largest: u32) -> Candidates {
    let Some(best) = best(&ladder.rungs, ladder.peak_load) else {
        return Candidates::default();
    };
    let mut candidates = Candidates { always: vec![best.queue_depth], in_turn: Vec::new() };
    candidates.in_turn.extend(contender(ladder));
    candidates.in_turn.extend(unseen(&ladder.rungs));
    if best.imprecision() > MOST_DOUBT {
        let highest = ladder.rungs.keys().rev().take(2);
        candidates.in_turn.extend(highest.filter(|load| **load > best.queue_depth / 2));
        candidates.in_turn.extend(above(ladder, largest));
    }
    candidates
}

/// The step of the highest value, where it is higher than the one that stands for the highest rate
/// by more than chance mostly allows.
fn contender(ladder: &Ladder) -> Option<u32> {
    let best = best(&ladder.rungs, ladder.peak_load)?;
    let value = |rung: &CalibrationRung| rung.estimates.iops.value;
    let highest = ladder.rungs.values().max_by(|one, other| value(one).total_cmp(&value(other)))?;
    (value(highest) * NEARLY > value(best)).then_some(highest.queue_depth)
}

/// What an answer lacks.
enum Lacking {
    /// A load that was not measured.
    Rung(u32),
    /// More time at a load.
    Time(u32),
}

/// What the answer lacks; `None` when it is good enough.
fn lacking(rungs: &Rungs, peak_load: Option<u32>, limit: &LatencyLimit) -> Option<Lacking> {
    let bracket = LimitBracket::of(rungs, limit);
    if bracket.matters() && bracket.gap() > 0 {
        return bracket.between(limit.service_time_ns).map(Lacking::Rung);
    }
    // Only the rate of this answer is used, on which the bound has no effect.
    let known = answer(rungs, peak_load, limit, CapacityBound::Saturated);
    if known.is_some_and(|capacity| capacity.rate.relative_half_width() <= NARROW) {
        return None;
    }
    if let Some(load) = bracket.missing() {
        return Some(Lacking::Rung(load));
    }
    let imprecise = bracket.inside.filter(|rung| rung.imprecision() > PRECISION);
    let candidates =
        // Steps get time in inverse proportion to their distance from the limit.
        |rung: &&CalibrationRung| rung.estimates.elapsed_s * bracket.distance(rung, rungs);
    let next = bracket
        .open
        .iter()
        .copied()
        .chain(imprecise)
        .min_by(|one, other| candidates(one).total_cmp(&candidates(other)))?;
    Some(Lacking::Time(next.queue_depth))
}

#[cfg(test)]
mod tests;
