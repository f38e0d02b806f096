//! Up the ladder by doubling the load until more of it is shown to give no more, and then staying
//! there.

use super::best::best;
use super::ladder::{Ladder, LadderStep};
use super::meter::RungMeter;
use super::rung::CalibrationRung;
use assay_model::Result;
use assay_model::calibration::CapacityBound;

/// Less than this gained by twice the load does not count as a gain.
pub(super) const LEAST_GAIN: f64 = 0.02;

/// A gain that may still be larger than this is not yet known to be none.
pub(super) const MOST_DOUBT: f64 = 0.06;

/// A rate that is lower than that of half the load by this share makes one look at the half again.
const RETREAT: f64 = 0.05;

/// What twice the load gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gain {
    None,
    Some,
    Unclear,
}

/// What to do next on the way up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextClimb {
    /// Measure a step that is not there.
    Measure(u32),
    /// Measure a step longer, up to its share of time.
    Longer(u32),
    /// Add a slice to a step, to see whether it still gives what it gave.
    Again(u32),
    /// The end, and why.
    End(CapacityBound),
}

/// The loads of a ladder: doubled up to the largest.
fn loads(lowest: u32, largest: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(1u32), |load| load.checked_mul(2));
    let below = doubled.take_while(|load| *load < largest);
    let mut loads: Vec<u32> = below.skip_while(|load| *load < lowest).collect();
    // The largest load need not be a power of two, and is measured all the same.
    loads.push(largest);
    loads
}

fn gain(from: &CalibrationRung, to: &CalibrationRung) -> Gain {
    let Some(ratio) = to.estimates.iops.over(&from.estimates.iops) else {
        return Gain::Some;
    };
    if ratio.value >= 1.0 + LEAST_GAIN && ratio.low > 1.0 {
        Gain::Some
    } else if ratio.value < 1.0 + LEAST_GAIN && ratio.high < 1.0 + MOST_DOUBT {
        Gain::None
    } else {
        Gain::Unclear
    }
}

/// The gain, decided by its value alone.
fn guessed(from: &CalibrationRung, to: &CalibrationRung) -> Gain {
    if to.estimates.iops.value >= (1.0 + LEAST_GAIN) * from.estimates.iops.value {
        Gain::Some
    } else {
        Gain::None
    }
}

/// Whether the rate at the top is far enough below that at half its load for time, not load, to
/// have lowered it.
fn retreats(half: &CalibrationRung, top: &CalibrationRung) -> bool {
    let (before, after) = (&half.estimates.iops, &top.estimates.iops);
    after.value < before.value * (1.0 - RETREAT)
        && after.minus(before).high < 0.0
        // A half measured later than the top excludes time as the cause; without this condition the
        // half would be measured again forever.
        && half.last_begin_ns() < top.last_begin_ns()
}

/// The next thing to do, from what is known.
fn next(ladder: &Ladder, loads: &[u32], rung_s: f64) -> NextClimb {
    let known = |index: usize| ladder.rungs.get(&loads[index]);
    let Some(top) = (0..loads.len()).rev().find(|index| known(*index).is_some()) else {
        return NextClimb::Measure(loads[0]);
    };
    // After a fall steps are missing; from the top down the reserve stays used up for longest.
    if let Some(missing) = (0..top).rev().find(|index| known(*index).is_none()) {
        return NextClimb::Measure(loads[missing]);
    }
    let all: Vec<&CalibrationRung> = (0..=top).filter_map(known).collect();
    match all.as_slice() {
        [.., third, second, first] => judge(&all, &[third, second, first], loads, rung_s),
        _ => higher(all.last().copied(), loads),
    }
}

/// From the three highest steps: saturation is two doublings in a row without gain.
fn judge(
    all: &[&CalibrationRung],
    highest: &[&CalibrationRung; 3],
    loads: &[u32],
    rung_s: f64,
) -> NextClimb {
    let [third, second, first] = *highest;
    if retreats(second, first) {
        return NextClimb::Again(second.queue_depth);
    }
    let used_up = [second, first].iter().all(|rung| rung.host_was_limit());
    if used_up && gain(second, first) != Gain::Some {
        return NextClimb::End(CapacityBound::Host);
    }
    let last = match decide(all, second, first, rung_s) {
        Ok(gain) => gain,
        Err(longer) => return longer,
    };
    if last == Gain::None && first.host_was_limit() {
        return NextClimb::End(CapacityBound::Host);
    }
    if last == Gain::Some {
        return higher(Some(first), loads);
    }
    match decide(all, third, second, rung_s) {
        Err(longer) => longer,
        Ok(Gain::None) if highest.iter().any(|rung| rung.host_was_limit()) => {
            NextClimb::End(CapacityBound::Host)
        }
        Ok(Gain::None) => NextClimb::End(CapacityBound::Saturated),
        // At the largest load of all only the last step can show it, and it gained nothing.
        Ok(_) => match higher(Some(first), loads) {
            NextClimb::End(_) => NextClimb::End(CapacityBound::Saturated),
            next => next,
        },
    }
}

/// Whether there was a gain, or which of both steps to measure longer; what stays unclear is
/// decided by its value. A rate that a smaller load gave already is none: noise of seconds lifts
/// and lowers whole visits.
fn decide(
    all: &[&CalibrationRung],
    from: &CalibrationRung,
    to: &CalibrationRung,
    rung_s: f64,
) -> std::result::Result<Gain, NextClimb> {
    let smaller = all.iter().filter(|rung| rung.queue_depth < to.queue_depth);
    let gains = smaller.into_iter().all(|rung| guessed(rung, to) == Gain::Some);
    let gain = gain(from, to);
    if gain != Gain::Unclear {
        return Ok(if gains { gain } else { Gain::None });
    }
    let wider = if from.imprecision() > to.imprecision() { from } else { to };
    // What time can do: an interval shrinks with its root.
    let at_best = wider.imprecision() * (wider.estimates.elapsed_s / rung_s).sqrt();
    if wider.estimates.elapsed_s < rung_s && at_best < MOST_DOUBT {
        return Err(NextClimb::Longer(wider.queue_depth));
    }
    Ok(if gains { Gain::Some } else { Gain::None })
}

/// The next load, or the end of the ladder: the last step is never taken for saturation.
fn higher(top: Option<&CalibrationRung>, loads: &[u32]) -> NextClimb {
    let top = top.map_or(0, |rung| rung.queue_depth);
    loads
        .iter()
        .find(|load| **load > top)
        .map_or(NextClimb::End(CapacityBound::StillRising), |load| NextClimb::Measure(*load))
}

/// The next higher load, where the highest one measured gives more than half of it, as far as is
/// known.
pub(super) fn above(ladder: &Ladder, largest: u32) -> Option<u32> {
    let top = ladder.rungs.values().next_back()?;
    let half = ladder.rungs.range(..=top.queue_depth / 2).next_back()?.1;
    let higher = loads(ladder.lowest, largest).into_iter().find(|load| *load > top.queue_depth)?;
    (guessed(half, top) == Gain::Some).then_some(higher)
}

impl RungMeter<'_> {
    /// Climbs until the end of the ladder is known, the rate falls for the first time, or time is
    /// up.
    pub(super) fn climb(&mut self, ladder: &mut Ladder, largest: u32) -> Result<CapacityBound> {
        let fallen = ladder.fallen;
        let loads = loads(ladder.lowest, largest);
        loop {
            let rung_s = self.pace.rung_s();
            let step = match next(ladder, &loads, rung_s) {
                NextClimb::End(bound) => {
                    ladder.peak_load = peak_load(ladder, &loads, bound);
                    return Ok(bound);
                }
                NextClimb::Again(load) => self.extend(ladder, load, self.pace.slice_s)?,
                NextClimb::Measure(load) => self.settle(ladder, load, self.pace.first_look())?,
                NextClimb::Longer(load) => self.longer(ladder, load)?,
            };
            if step == LadderStep::Over || step == LadderStep::Fell && fallen.is_none() {
                return Ok(CapacityBound::TimeBudget);
            }
        }
    }

    /// Measures the load of one as well as wanted: its service time is an answer of its own, and
    /// later on this load would refill a reserve that was used up.
    pub(super) fn base(&mut self, ladder: &mut Ladder) -> Result<LadderStep> {
        self.settle(ladder, 1, self.pace.goal(self.pace.base_s()))
    }

    /// Adds half as much again to a step.
    pub(super) fn longer(&mut self, ladder: &mut Ladder, load: u32) -> Result<LadderStep> {
        let rung = ladder.rungs.get(&load);
        let elapsed_s = rung.map_or(0.0, |rung| rung.estimates.elapsed_s);
        self.extend(ladder, load, (elapsed_s / 2.0).max(self.pace.slice_s))
    }

    /// Stays at the load that gives most for so long, or until the rate falls.
    pub(super) fn watch(&mut self, ladder: &mut Ladder, watch_s: f64) -> Result<LadderStep> {
        let until_s = self.left_s() - watch_s;
        let mut step = LadderStep::Added;
        while step == LadderStep::Added && self.left_s() > until_s.max(0.0) {
            let Some(load) = best(&ladder.rungs, ladder.peak_load).map(|rung| rung.queue_depth)
            else {
                return Ok(LadderStep::Over);
            };
            step = self.extend(ladder, load, 4.0 * self.pace.slice_s)?;
        }
        Ok(step)
    }

    /// Measures the steps as well as wanted, the least known first, as far as time allows; after a
    /// fall only those that do not refill the reserve.
    pub(super) fn polish(&mut self, ladder: &mut Ladder) -> Result<LadderStep> {
        let mut loads: Vec<(f64, u32)> = ladder
            .rungs
            .values()
            .filter(|rung| !ladder.refills(rung))
            .map(|rung| (rung.imprecision(), rung.queue_depth))
            .collect();
        loads.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (_, load) in loads {
            match self.settle(ladder, load, self.pace.goal(self.pace.rung_s()))? {
                LadderStep::Added => {}
                step => return Ok(step),
            }
        }
        Ok(LadderStep::Added)
    }

    /// Measures once more the steps that were only seen before the rate fell, from the top down.
    pub(super) fn recheck(&mut self, ladder: &mut Ladder) -> Result<LadderStep> {
        let stale: Vec<u32> = ladder
            .rungs
            .values()
            .rev()
            .filter(|rung| !ladder.is_fresh(rung))
            .map(|rung| rung.queue_depth)
            .collect();
        for load in stale {
            match self.extend(ladder, load, self.pace.slice_s)? {
                LadderStep::Added => {}
                step => return Ok(step),
            }
        }
        Ok(LadderStep::Added)
    }
}

/// The middle of the three steps that showed saturation, or the highest step where nothing was
/// shown.
fn peak_load(ladder: &Ladder, loads: &[u32], bound: CapacityBound) -> Option<u32> {
    let known = loads.iter().rev().filter(|load| ladder.rungs.contains_key(load));
    let skipped = usize::from(bound == CapacityBound::Saturated);
    known.copied().nth(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_double_up_to_the_largest() {
        assert_eq!(loads(1, 1), [1]);
        assert_eq!(loads(1, 8), [1, 2, 4, 8]);
        assert_eq!(loads(1, 20), [1, 2, 4, 8, 16, 20]);
    }
}
