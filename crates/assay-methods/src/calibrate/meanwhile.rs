//! Whether small transfers give less after large ones used up what they share.

use super::best::best;
use super::confirm::LEAST_CONFIRMED;
use super::ladder::Ladder;
use super::meter::RungMeter;
use assay_model::Result;

impl RungMeter<'_> {
    /// Whether the load that gives most gives much less than it did, after other transfers have
    /// used up what they share; the ladder is then divided.
    pub(super) fn fell_meanwhile(&mut self, ladder: &mut Ladder) -> Result<bool> {
        const SLICES: f64 = 4.0;
        const TRIES: u8 = 2;
        let Some(before) = best(&ladder.rungs, ladder.peak_load).cloned() else {
            return Ok(false);
        };
        let (load, all_s) = (before.queue_depth, SLICES * self.pace.slice_s);
        let least = (1.0 - LEAST_CONFIRMED) * before.estimates.iops.low;
        // What came back of a reserve may lift the first slice, never lower it. Where little time
        // is left both are short.
        let each_s = all_s.min(self.left_s() / f64::from(TRIES + 1)).max(self.pace.slice_s);
        for first in (before.slices.len()..).take(usize::from(TRIES)) {
            if !self.add_slice(ladder, load, each_s)? {
                return Ok(false);
            }
            let rung = ladder.rungs.get(&load);
            if rung
                .and_then(|rung| rung.slices.get(first))
                .is_some_and(|slice| slice.iops() < least)
            {
                ladder.divide(load, before.series().len(), first);
                return Ok(true);
            }
        }
        Ok(false)
    }
}
