//! Whether a suspected fall is one: the load is kept, and the rate neither comes back up nor varies
//! as much as it fell.

use super::ladder::{Ladder, LadderStep};
use super::level::LEAST_FALL;
use super::meter::RungMeter;
use super::pace::CONFIRMED_AFTER;
use super::rung::{CalibrationRung, Slice};
use assay_model::Result;
use assay_model::number::{index, real_len};
use assay_stats::series::{batch_means, mean, variance};

/// A smaller share between two levels is never called a fall: noise of seconds is as large.
pub(super) const LEAST_CONFIRMED: f64 = 0.15;

/// The level before a fall lies this many standard deviations of single slices above the one after:
/// a level that only wanders barely does that.
const APART: f64 = 12.0;

/// The first slices of a load that is kept may still be lifted by what smaller loads refilled.
const REFILLED: usize = 2;

impl RungMeter<'_> {
    /// A suspected fall is one when the load is kept for a while and no slice comes back up, and
    /// when the level before lies above all noise: a device that only wanders comes back.
    pub(super) fn confirm(
        &mut self,
        ladder: &mut Ladder,
        queue_depth: u32,
        interval: usize,
    ) -> Result<LadderStep> {
        let known = ladder.rungs.get(&queue_depth);
        let Some((before, from)) = known
            .and_then(|rung| Some((rung.before(interval, ladder.statistic())?, rung.slices.len())))
        else {
            return Ok(LadderStep::Over);
        };
        let kept_s = CONFIRMED_AFTER * self.pace.budget_s;
        let from = from + REFILLED;
        let least_s = self.pace.slice_s * real_len(REFILLED) + 0.5 * kept_s;
        let mut waited_s = 0.0;
        let mut stays = true;
        while stays && waited_s < kept_s {
            if !self.add_slice(ladder, queue_depth, self.pace.slice_s)? {
                break;
            }
            waited_s += self.pace.slice_s;
            let fresh = ladder.rungs.get(&queue_depth).and_then(|rung| rung.slices.get(from..));
            let high = (1.0 - LEAST_FALL) * before.estimates.iops.value;
            stays = fresh.is_none_or(|fresh| {
                let hopeless = is_hopeless(&before, fresh, self.pace.slice_s);
                fresh.last().is_none_or(|slice| slice.iops() < high) && !hopeless
            });
        }
        let fell = stays && waited_s >= least_s && {
            let fresh = ladder.rungs.get(&queue_depth).and_then(|rung| rung.slices.get(from..));
            fresh.is_some_and(|fresh| has_fallen(&before, fresh, self.pace.slice_s))
        };
        if fell {
            ladder.divide(queue_depth, interval, from);
            return Ok(LadderStep::Fell);
        }
        ladder.calm(queue_depth);
        Ok(LadderStep::Added)
    }
}

/// Whether fresh slices lie below an earlier level beyond all noise that either shows.
fn has_fallen(before: &CalibrationRung, fresh: &[Slice], slice_s: f64) -> bool {
    let rates: Vec<f64> = fresh.iter().map(Slice::iops).collect();
    let level = before.estimates.iops.value;
    level - mean(&rates) > LEAST_CONFIRMED * level && apart(before, fresh, slice_s) > APART
}

/// Whether noise is so large that a fall to the level of these slices could not be confirmed.
fn is_hopeless(before: &CalibrationRung, fresh: &[Slice], slice_s: f64) -> bool {
    const FEWEST: usize = 4;
    let few = fresh.len() < FEWEST;
    let seen = if few { &fresh[fresh.len().saturating_sub(1)..] } else { fresh };
    !seen.is_empty() && apart(before, seen, slice_s) < 0.5 * APART
}

/// How many standard deviations of slices fresh ones lie below an earlier level. The last of the
/// earlier ones may have seen the fall, and belongs to neither side.
fn apart(before: &CalibrationRung, fresh: &[Slice], slice_s: f64) -> f64 {
    let after: Vec<f64> = fresh.iter().map(Slice::iops).collect();
    let series = before.series();
    let interval_s = before.estimates.elapsed_s / real_len(series.len());
    let size = index((slice_s / interval_s).round()).clamp(1, (series.len() / 2).max(1));
    let earlier = &series[..(series.len() - size).max(1)];
    let batches = batch_means(earlier, size);
    // Only its intervals show how noisy a single batch is.
    let noise =
        if batches.len() > 1 { variance(&batches) } else { variance(earlier) / real_len(size) };
    let spread = variance(&after).max(noise).sqrt();
    (mean(earlier) - mean(&after)) / spread.max(f64::MIN_POSITIVE)
}
