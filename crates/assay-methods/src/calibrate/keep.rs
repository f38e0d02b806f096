//! Keeping the highest load for longer than a visit: a queue that collapses when it has stood for a
//! while shows only then.

use super::best::best;
use super::ladder::{Ladder, LadderStep};
use super::meter::RungMeter;
use super::pace::HELD;
use super::rung::Slice;
use assay_model::Result;
use assay_model::measurement::Interval;
use assay_model::number::index;
use assay_stats::series::{batch_means, mean, variance};

/// Slices for which the load is kept at once.
const SLICES: f64 = 10.0;

/// Slices whose rates vary by less than this share are quiet.
const QUIET: f64 = 0.05;

/// Loads that are kept, each when the one before collapsed.
const TRIES: usize = 3;

/// A rate that is lower by less than this share has not collapsed.
const LEAST: f64 = 0.1;

/// It lies this many standard deviations of a slice below what short visits gave.
const APART: f64 = 5.0;

impl RungMeter<'_> {
    /// Keeps the load that gives most, and where the rate collapses meanwhile climbs again with
    /// longer warm-ups; whether anything collapsed.
    pub(super) fn keep(&mut self, ladder: &mut Ladder, largest: u32) -> Result<bool> {
        let mut collapsed = false;
        for _ in 0..TRIES {
            let Some(load) = best(&ladder.rungs, ladder.peak_load).map(|rung| rung.queue_depth)
            else {
                break;
            };
            let known: Vec<Slice> =
                ladder.rungs.get(&load).map_or(Vec::new(), |rung| rung.slices.clone());
            if self.extend(ladder, load, SLICES * self.pace.slice_s)? != LadderStep::Added {
                break;
            }
            let rung = ladder.rungs.get(&load);
            let Some(kept) = rung.and_then(|rung| rung.slices.last()).cloned() else {
                break;
            };
            if !has_collapsed(&known, &kept, self.pace.slice_s) {
                self.hold(ladder, load)?;
                break;
            }
            collapsed = true;
            ladder.build_up(load, &kept, 0.5 * SLICES * self.pace.slice_s);
            self.climb(ladder, largest)?;
            self.search_peak(ladder)?;
        }
        Ok(collapsed)
    }

    /// Keeps a load on whose rate is so quiet that only the end of a reserve may still change it:
    /// as all other answers are then known soon, the time for it is there.
    fn hold(&mut self, ladder: &mut Ladder, load: u32) -> Result<()> {
        let (piece_s, begin_s) = (SLICES * self.pace.slice_s, self.elapsed_s());
        let most_s = HELD * self.pace.budget_s;
        let slice_s = self.pace.slice_s;
        let quiet = |ladder: &Ladder| {
            let kept = ladder.rungs.get(&load).and_then(|rung| rung.slices.last());
            kept.is_some_and(|kept| is_quiet(kept, slice_s))
        };
        while quiet(ladder) && self.elapsed_s() - begin_s < most_s - 0.5 * piece_s {
            if self.at_least(1.2 * piece_s, |meter| meter.extend(ladder, load, piece_s))?
                != LadderStep::Added
            {
                break;
            }
        }
        self.held(self.elapsed_s() - begin_s);
        Ok(())
    }
}

/// The rates of a long slice in parts as long as a short one.
fn batched(intervals: &[Interval], slice_s: f64) -> Vec<f64> {
    let rates: Vec<f64> = intervals.iter().map(Interval::iops).collect();
    let interval_s = intervals.first().map_or(slice_s, Interval::elapsed_s);
    let size = index((slice_s / interval_s).round()).clamp(1, (rates.len() / 2).max(1));
    batch_means(&rates, size)
}

/// Whether the parts of a long slice barely vary: noise of seconds does, and under it no end of a
/// reserve could be confirmed.
fn is_quiet(kept: &Slice, slice_s: f64) -> bool {
    let batches = batched(&kept.intervals, slice_s);
    variance(&batches).sqrt() < QUIET * mean(&batches)
}

/// Whether the second half of a long slice lies below short ones beyond its own noise.
fn has_collapsed(known: &[Slice], kept: &Slice, slice_s: f64) -> bool {
    let before: Vec<f64> = known.iter().map(Slice::iops).collect();
    let half = kept.second_half();
    let rates: Vec<f64> = half.intervals.iter().map(Interval::iops).collect();
    if before.is_empty() || rates.is_empty() {
        return false;
    }
    let spread = variance(&batched(&half.intervals, slice_s)).max(variance(&before)).sqrt();
    let fall = mean(&before) - mean(&rates);
    fall > LEAST * mean(&before) && fall > APART * spread
}
