//! The load that gives most between the doubled ones: a rate that falls on both sides of a step may
//! be higher near it.

use super::best::Rungs;
use super::climb::LEAST_GAIN;
use super::ladder::{Ladder, LadderStep};
use super::meter::RungMeter;
use super::pace::PaceGoal;
use super::rung::CalibrationRung;
use assay_model::Result;
use assay_model::number::index;

/// Loads that are tried between steps.
const TRIES: usize = 4;

/// Around the highest step rates are known within this share before the top is sought between them.
const PRECISION: f64 = 0.025;

/// Loads up to this factor from the highest one are near it.
const NEAR: f64 = 1.6;

/// Gaps between loads below this factor are not divided.
const NARROW: f64 = 1.25;

/// A load this near to the top of a curve gives as much.
const AT_TOP: f64 = 1.12;

impl RungMeter<'_> {
    /// Tries loads around the highest step where the rate falls on both sides, and lets the one
    /// nearest to the top of the curve through them stand for the highest rate: later visits
    /// measure it without the luck of the choice.
    pub(super) fn search_peak(&mut self, ladder: &mut Ladder) -> Result<LadderStep> {
        let goal = PaceGoal { precision: PRECISION, ..self.pace.first_look() };
        for _ in 0..TRIES {
            let Some(load) = untried(&ladder.rungs) else {
                break;
            };
            match self.settle(ladder, load, goal)? {
                LadderStep::Added => {}
                step => return Ok(step),
            }
        }
        let Some(load) = top(&ladder.rungs) else {
            return Ok(LadderStep::Added);
        };
        ladder.peak_load = Some(load);
        self.settle(ladder, load, goal)
    }
}

/// How far apart two loads are, as a factor.
fn factor(one: u32, other: u32) -> f64 {
    (f64::from(one) / f64::from(other)).ln().abs().exp()
}

/// The measured load nearest to the top of the curve, where the rate falls on both sides.
pub(super) fn nearest_to_top(rungs: &Rungs) -> Option<u32> {
    let top = top(rungs)?;
    rungs.keys().copied().min_by(|one, other| factor(*one, top).total_cmp(&factor(*other, top)))
}

/// A load that was not measured and may be nearer to the top of the curve, where the rate falls on
/// both sides.
pub(super) fn unseen(rungs: &Rungs) -> Option<u32> {
    let is_unseen = |top: &u32| rungs.keys().all(|load| factor(*load, *top) > AT_TOP);
    untried(rungs).or_else(|| top(rungs).filter(is_unseen))
}

/// The highest step where loads on both sides certainly give less, by more than the least gain.
fn peak(rungs: &Rungs) -> Option<u32> {
    let highest = rungs
        .values()
        .max_by(|one, other| one.estimates.iops.value.total_cmp(&other.estimates.iops.value))?;
    let at = highest.queue_depth;
    let lower = |rung: &CalibrationRung| {
        rung.estimates.iops.high < highest.estimates.iops.value * (1.0 - 2.0 * LEAST_GAIN)
    };
    let falls = rungs.range(..at).any(|(_, rung)| lower(rung))
        && rungs.range(at + 1..).any(|(_, rung)| lower(rung));
    falls.then_some(at)
}

/// The middle of the wider gap next to the highest step; `None` where both are narrow.
fn untried(rungs: &Rungs) -> Option<u32> {
    let at = peak(rungs)?;
    let below = *rungs.range(..at).next_back()?.0;
    let above = *rungs.range(at + 1..).next()?.0;
    let gap = |low: u32, high: u32| f64::from(high) / f64::from(low);
    let (low, high) = if gap(at, above) >= gap(below, at) { (at, above) } else { (below, at) };
    // Loads are compared by their factor, so the middle is the geometric mean.
    let middle = (f64::from(low) * f64::from(high)).sqrt().round();
    let load = u32::try_from(index(middle)).ok()?;
    (gap(low, high) > NARROW && !rungs.contains_key(&load)).then_some(load)
}

/// The load at the top of the parabola over the logarithm of the load through the steps near the
/// highest one.
fn top(rungs: &Rungs) -> Option<u32> {
    let at = f64::from(peak(rungs)?);
    let near = |load: &u32| (f64::from(*load) / at).ln().abs() <= NEAR.ln();
    let points: Vec<(f64, f64)> = rungs
        .iter()
        .filter(|(load, _)| near(load))
        .map(|(load, rung)| ((f64::from(*load) / at).ln(), rung.estimates.iops.value))
        .collect();
    let vertex = vertex(&points)?.clamp(-NEAR.ln(), NEAR.ln());
    u32::try_from(index((at * vertex.exp()).round())).ok().filter(|load| *load > 0)
}

/// Where the least-squares parabola through points is highest; `None` where it has no top.
fn vertex(points: &[(f64, f64)]) -> Option<f64> {
    let sum = |power: i32| points.iter().map(|(x, _)| x.powi(power)).sum::<f64>();
    let cross = |power: i32| points.iter().map(|(x, y)| x.powi(power) * y).sum::<f64>();
    let [n, x, xx, xxx, xxxx] = [0, 1, 2, 3, 4].map(sum);
    let determinant = |m: [[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let [y, xy, xxy] = [0, 1, 2].map(cross);
    // Cramer's rule. A singular system divides by 0, which the test of the top rejects.
    let whole = determinant([[n, x, xx], [x, xx, xxx], [xx, xxx, xxxx]]);
    let slope = determinant([[n, y, xx], [x, xy, xxx], [xx, xxy, xxxx]]) / whole;
    let bend = determinant([[n, x, y], [x, xx, xy], [xx, xxx, xxy]]) / whole;
    let top = -slope / (2.0 * bend);
    (points.len() >= 3 && bend < 0.0 && top.is_finite()).then_some(top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::rung::tests::with_slow;

    #[test]
    fn a_top_is_sought_between_loads_until_one_is_near() {
        let rungs = |of: &[(u32, u64)]| -> Rungs {
            of.iter().map(|(load, ios)| (*load, with_slow(*load, *ios, 1))).collect()
        };
        let doubled = rungs(&[(8, 1600), (16, 2000), (32, 1800), (64, 1500)]);
        assert_eq!((nearest_to_top(&doubled), unseen(&doubled)), (None, Some(23)));
        // The parabola through the three near ones is highest at 22.
        let near = rungs(&[(8, 1600), (16, 1900), (20, 2000), (25, 1990), (40, 1800)]);
        assert_eq!((nearest_to_top(&near), unseen(&near)), (Some(20), None));
        let flat = rungs(&[(8, 1600), (16, 2000), (32, 2000)]);
        assert_eq!((nearest_to_top(&flat), unseen(&flat)), (None, None));
    }

    #[test]
    fn the_top_of_a_parabola_is_found() {
        let point = |x: f64| (x, 7.0 - 3.0 * (x - 0.2) * (x - 0.2));
        let found = vertex(&[-0.4, -0.1, 0.0, 0.3, 0.5].map(point)).unwrap();
        assert!((found - 0.2).abs() < 1e-9, "{found}");
        assert_eq!(vertex(&[(0.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(vertex(&[(0.0, 1.0), (1.0, 0.0), (2.0, 1.0)]), None);
    }
}
