//! Large transfers: the ladder that shows the throughput, and the single stream.

use super::best::best;
use super::climbed::Climbed;
use super::ladder::{Ladder, LadderStep};
use super::meter::RungMeter;
use super::pace::{LARGE_QUEUE_DEPTH_MAX, ROUNDS_MAX};
use super::pace::{end, late};
use super::plan::CalibrationMix;
use super::progress::CalibrationPhase;
use super::rounds::RoundParts;
use assay_model::Result;
use assay_model::calibration::CapacityBound;
use assay_model::number::real;
use assay_model::workload::Access;

impl RungMeter<'_> {
    /// The ladder of large transfers, or what is missing of it after its rate fell; kept at its top
    /// and measured well at once only after a fall. Where it falls for the first time it ends:
    /// small transfers may have fallen, too.
    pub(super) fn large(
        &mut self,
        mix: &CalibrationMix,
        small: &Ladder,
        known: Option<Climbed>,
    ) -> Result<Climbed> {
        let new = || self.load(mix, "large", self.plan.large_block_size.0, Access::Uniform);
        let mut ladder = known.map_or_else(new, |known| known.ladder);
        ladder.sustain_below(small);
        let largest = self.plan.queue_depth_max.min(LARGE_QUEUE_DEPTH_MAX);
        let mut bound = CapacityBound::TimeBudget;
        for _ in 0..ROUNDS_MAX {
            let fallen = small.fallen.or(ladder.fallen);
            self.begin_explore(CalibrationPhase::Large, fallen, end::LARGE, late::LARGE);
            bound = self.climb(&mut ladder, largest)?;
            let fell = ladder.fallen.is_some() && fallen.is_none()
                || self.search_peak(&mut ladder)? == LadderStep::Fell;
            if fell && fallen.is_some() {
                continue;
            }
            if fallen.is_none() {
                break;
            }
            let watch_s = self.pace.watch_s() / 2.0;
            if bound != CapacityBound::TimeBudget
                && self.watch(&mut ladder, watch_s)? == LadderStep::Fell
            {
                continue;
            }
            if self.polish(&mut ladder)? != LadderStep::Fell {
                break;
            }
        }
        Ok(Climbed { ladder, bound })
    }

    fn stream(&self, mix: &CalibrationMix) -> Ladder {
        let access = Access::Sequential { streams: 1 };
        self.load(mix, "stream", self.plan.large_block_size.0, access)
    }

    pub(super) fn single_stream(&mut self, mix: &CalibrationMix) -> Result<Ladder> {
        let mut ladder = self.stream(mix);
        self.begin(CalibrationPhase::SingleStream, end::SINGLE_STREAM);
        let (goal, look_s) = (self.pace.first_look(), 4.0 * self.pace.slice_s);
        while self.at_least(look_s, |meter| meter.settle(&mut ladder, 1, goal))? == LadderStep::Fell
        {
        }
        Ok(ladder)
    }

    /// The single stream after a fall; what was measured of it before stands where it is far below
    /// what lasts.
    pub(super) fn single_stream_late(
        &mut self,
        mix: &CalibrationMix,
        parts: &mut RoundParts,
    ) -> Result<Ladder> {
        let fallen = parts.ladders().iter().find_map(|ladder| ladder.fallen);
        self.begin_explore(
            CalibrationPhase::SingleStream,
            fallen,
            end::SINGLE_STREAM,
            late::SINGLE_STREAM,
        );
        let small = &parts.small.ladder;
        let stands = parts.stream.take().filter(|stream| {
            let rate = stream.rungs.get(&1).map(|rung| rung.estimates.iops.value);
            let most = best(&small.rungs, small.peak_load).map(|rung| rung.estimates.iops.value);
            let larger = real(self.plan.large_block_size.0) / real(self.plan.block_size.0);
            rate.zip(most).is_some_and(|(rate, most)| rate * larger.max(1.0) < 0.5 * most)
        });
        let mut ladder = stands.unwrap_or_else(|| self.stream(mix));
        let goal = self.pace.goal(self.pace.base_s());
        while self.settle(&mut ladder, 1, goal)? == LadderStep::Fell {}
        Ok(ladder)
    }
}
