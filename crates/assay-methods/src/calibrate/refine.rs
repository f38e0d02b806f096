//! The curve below its highest rate, known well at every step: a prediction rests on the steps
//! where a database lives.

use super::best::{NEARLY, best};
use super::climbed::Climbed;
use super::ladder::{Ladder, LadderStep};
use super::meter::RungMeter;
use super::pace::{PRECISION, PaceGoal};
use super::progress::CalibrationPhase;
use assay_model::Result;
use assay_model::number::real_len;

impl RungMeter<'_> {
    /// Measures the steps up to the highest rate until each is known as well as wanted, for as long
    /// as the plan gives the curve beyond the budget of a mix. Where the rate falls the curve
    /// stays as it was.
    pub(super) fn refine_curve(&mut self, small: &mut Climbed) -> Result<()> {
        let time_s = self.plan.curve_time.seconds();
        let rungs = below_peak(&small.ladder);
        if time_s <= 0.0 || rungs.is_empty() {
            return Ok(());
        }
        self.begin_beyond(CalibrationPhase::Curve, time_s);
        let share_s = time_s / real_len(rungs.len());
        for queue_depth in rungs {
            let known_s =
                small.ladder.rungs.get(&queue_depth).map_or(0.0, |rung| rung.estimates.elapsed_s);
            let goal = PaceGoal { precision: PRECISION, least_s: 0.0, most_s: known_s + share_s };
            if self.settle(&mut small.ladder, queue_depth, goal)? == LadderStep::Over {
                break;
            }
        }
        Ok(())
    }
}

/// The steps from queue depth 1 to the first that gives nearly the highest rate.
fn below_peak(ladder: &Ladder) -> Vec<u32> {
    let Some(best) = best(&ladder.rungs, ladder.peak_load) else {
        return Vec::new();
    };
    let nearly = NEARLY * best.estimates.iops.value;
    let last = ladder.rungs.values().find(|rung| rung.estimates.iops.value >= nearly);
    let last = last.map_or(best.queue_depth, |rung| rung.queue_depth);
    ladder.rungs.range(..=last).map(|(queue_depth, _)| *queue_depth).collect()
}

#[cfg(test)]
mod tests {
    use crate::bench::SimulatedBench;
    use crate::calibrate::{CalibrationPlan, calibrate};
    use assay_engine::device::DeviceSpec;
    use assay_model::calibration::CurvePoint;
    use assay_model::units::Nanos;

    /// The curve of eight servers of 2 ms, random in length, measured in 10 s and this much beyond.
    fn curve(curve_time: Nanos) -> (Vec<CurvePoint>, f64) {
        let spec = DeviceSpec::parse("servers?count=8&service=2ms").unwrap();
        let plan = CalibrationPlan {
            time_budget: Nanos(10_000_000_000),
            curve_time,
            queue_depth_max: 64,
            ..CalibrationPlan::default()
        };
        let mut bench = SimulatedBench::new(&spec);
        let found = calibrate(&mut bench, &plan, &mut |_| ()).unwrap();
        (found.mixes[0].curve.clone(), found.elapsed_s)
    }

    #[test]
    fn rungs_below_the_peak_are_known_better_and_others_as_before() {
        let (before, before_s) = curve(Nanos(0));
        let (after, after_s) = curve(Nanos(10_000_000_000));
        let width = |points: &[CurvePoint], queue_depth: u32| {
            let point = points.iter().find(|point| point.queue_depth == queue_depth).unwrap();
            point.iops.relative_half_width()
        };
        for queue_depth in [2, 4] {
            let (wide, narrow) = (width(&before, queue_depth), width(&after, queue_depth));
            assert!(narrow < 0.6 * wide, "{queue_depth}: {wide} {narrow}");
        }
        assert!((after_s - before_s) <= 10.5, "{before_s} {after_s}");
        let of_four = after.iter().find(|point| point.queue_depth == 4).unwrap();
        assert!((of_four.iops.value / 2000.0 - 1.0).abs() < 0.05, "{of_four:?}");
    }
}
