//! Whether small transfers give less after large ones used up what they share.

use super::best::best;
use super::confirm::LEAST_CONFIRMED;
use super::ladder::Ladder;
use super::meter::Meter;
use super::rung::Slice;
use assay_model::Result;

impl Meter<'_> {
    /// Whether the load that gives most gives much less than it did, after other transfers have used up what they share;
    /// the ladder is then divided.
    pub(super) fn fell_meanwhile(&mut self, ladder: &mut Ladder) -> Result<bool> {
        const SLICES: f64 = 4.0;
        let Some(before) = best(&ladder.rungs, ladder.favourite).cloned() else {
            return Ok(false);
        };
        let load = before.outstanding;
        for _ in 0..2 {
            if !self.add_slice(ladder, load, SLICES * self.pace.slice_s)? {
                return Ok(false);
            }
        }
        let first = before.slices.len() + 1;
        let fresh = ladder.rungs.get(&load).and_then(|rung| rung.slices.get(first..));
        let fell = fresh
            .and_then(<[Slice]>::last)
            .is_some_and(|slice| slice.iops() < (1.0 - LEAST_CONFIRMED) * before.told.iops.low);
        if fell {
            ladder.divide(load, before.series().len(), first);
        }
        Ok(fell)
    }
}
