//! Keeping the highest load for longer than a visit: a queue that collapses when it has stood for a while shows only then.

use super::best::best;
use super::ladder::{Ladder, Step};
use super::meter::Meter;
use super::rung::Slice;
use assay_model::Result;
use assay_model::measurement::Interval;
use assay_model::number::index;
use assay_stats::series::{batch_means, mean, variance};

/// Slices for which the load is kept.
const SLICES: f64 = 10.0;

/// Loads that are kept, each when the one before collapsed.
const TRIES: usize = 3;

/// A rate that is lower by less than this share has not collapsed.
const LEAST: f64 = 0.1;

/// It lies this many standard deviations of a slice below what short visits gave.
const APART: f64 = 5.0;

impl Meter<'_> {
    /// Keeps the load that gives most, and where the rate collapses meanwhile climbs again with longer warm-ups; whether
    /// anything collapsed.
    pub(super) fn keep(&mut self, ladder: &mut Ladder, largest: u32) -> Result<bool> {
        let mut collapsed = false;
        for _ in 0..TRIES {
            let Some(load) = best(&ladder.rungs, ladder.favourite).map(|rung| rung.outstanding)
            else {
                break;
            };
            let known: Vec<Slice> =
                ladder.rungs.get(&load).map_or(Vec::new(), |rung| rung.slices.clone());
            if self.extend(ladder, load, SLICES * self.pace.slice_s)? != Step::Added {
                break;
            }
            let rung = ladder.rungs.get(&load);
            let Some(kept) = rung.and_then(|rung| rung.slices.last()).cloned() else {
                break;
            };
            if !has_collapsed(&known, &kept, self.pace.slice_s) {
                break;
            }
            collapsed = true;
            ladder.build_up(load, &kept, 0.5 * SLICES * self.pace.slice_s);
            self.climb(ladder, largest)?;
            self.search_peak(ladder)?;
        }
        Ok(collapsed)
    }
}

/// Whether the second half of a long slice lies below short ones beyond its own noise.
fn has_collapsed(known: &[Slice], kept: &Slice, slice_s: f64) -> bool {
    let before: Vec<f64> = known.iter().map(Slice::iops).collect();
    let half = kept.second_half();
    let rates: Vec<f64> = half.intervals.iter().map(Interval::iops).collect();
    let Some(first) = half.intervals.first().filter(|_| !before.is_empty()) else {
        return false;
    };
    let size = index((slice_s / first.elapsed_s()).round()).clamp(1, (rates.len() / 2).max(1));
    let spread = variance(&batch_means(&rates, size)).max(variance(&before)).sqrt();
    let fall = mean(&before) - mean(&rates);
    fall > LEAST * mean(&before) && fall > APART * spread
}
