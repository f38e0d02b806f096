//! From the mean latency over working sets of growing size to the sizes and latencies of the places
//! that serve them.

use crate::distribution::student_quantile;
use crate::estimate::IntervalEstimate;
use crate::random::Random;
use assay_model::number::real_len;

/// Places at most.
pub const TIERS_MAX: usize = 5;
/// From this number of sizes on only every second working set is tried as a start.
const SPARSE_FROM: usize = 4;
/// Starts that are refined: the best one on the working sets need not be the best one between them.
const STARTS: usize = 6;
/// Sizes differ by at least this ratio: between closer ones no working set shows the latency of the
/// place.
const SIZE_STEP: f64 = 1.25;
/// A further place must reduce the misfit to this share: a place too many fits noise.
const WORTH: f64 = 0.5;
/// Below this relative misfit nothing is left to explain …
const EXPLAINED: f64 = 2e-3;
/// … nor below this many times what the errors of the means explain.
const BY_CHANCE: f64 = 1.5;
/// Neighbouring places differ in latency by at least this ratio.
const LATENCY_STEP: f64 = 1.15;
/// Rounds of refining the sizes, and the first factor that they are moved by.
const ROUNDS: (usize, f64) = (40, 1.3);
/// The same near where the sizes of a similar curve were found.
const ROUNDS_AGAIN: (usize, f64) = (16, 1.02);
/// The same from anywhere between the working sets around them.
const ROUNDS_APART: (usize, f64) = (24, 1.05);
/// Working sets between two neighbouring sizes that tell the latency of the place between them: its
/// mean read time times the working set is a line, and two points of it say nothing of their own
/// errors.
const BETWEEN_MIN: usize = 3;
/// Curves that are drawn for the intervals: they fix a standard deviation within 5%.
const DRAWS: usize = 200;
/// The same points always get the same intervals.
const SEED: u64 = 0x71e5;

/// Places that serve uniform random access, the fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedTiers {
    /// How much the places hold down to each, in the unit of the working sets; one fewer than
    /// latencies.
    pub sizes: Vec<f64>,
    /// Latency of each place, in the unit of the means.
    pub latencies: Vec<f64>,
    /// Root mean square of the relative misfit.
    pub misfit: f64,
}

impl FittedTiers {
    /// Working sets to measure besides those of the points, where neighbouring sizes are so close
    /// that too few lie between them: the sizes and the latency between are then not told apart.
    /// Ascending, four to a step of the points.
    pub fn working_sets_between(&self, points: &[(f64, f64)]) -> Vec<f64> {
        let mut more = Vec::new();
        for pair in self.sizes.windows(2) {
            let is_between = |point: &&(f64, f64)| point.0 > pair[0] && point.0 < pair[1];
            if points.iter().filter(is_between).count() >= BETWEEN_MIN {
                continue;
            }
            // What was found of sizes that are not told apart may lie a step off.
            let first = points.iter().rposition(|point| point.0 < pair[0]).unwrap_or(0);
            let last = points.iter().position(|point| point.0 > pair[1]);
            let last = last.unwrap_or(points.len() - 1);
            for step in points[first..=last].windows(2) {
                let (low, ratio) = (step[0].0, step[1].0 / step[0].0);
                more.extend([0.25, 0.5, 0.75].map(|part: f64| low * ratio.powf(part)));
            }
        }
        more.sort_by(f64::total_cmp);
        more.dedup();
        more
    }
}

/// The places behind points of working set and mean latency, ascending; `None` of fewer than four
/// points.
///
/// `noise` is the root mean square of the means' relative standard errors, 0 where they are not
/// known; `most` places are looked for, up to [`TIERS_MAX`].
///
/// When every place keeps what fits of a uniformly used working set W, the share min(1, C/W) is
/// served by the places down to the one that holds C, so the mean is linear in the latencies once
/// the sizes are known. Sizes are first sought among the working sets, all combinations, then
/// refined between them; a further place is only believed where chance does not explain the misfit
/// and it halves it.
pub fn tiers(points: &[(f64, f64)], noise: f64, most: usize) -> Option<FittedTiers> {
    if points.len() < 4 {
        return None;
    }
    let mut best = fit(points, &[])?;
    for places in 1..most.min(TIERS_MAX) {
        if best.misfit < EXPLAINED.max(BY_CHANCE * noise) {
            break;
        }
        let Some(found) = search(points, places) else {
            break;
        };
        // Two more may help where one more does not: three places look like no two.
        let more = real_len(found.sizes.len() - best.sizes.len());
        if found.misfit <= WORTH.powf(more) * best.misfit && distinct(&found) {
            best = found;
        }
    }
    Some(best)
}

fn distinct(tiers: &FittedTiers) -> bool {
    tiers.latencies.windows(2).all(|pair| pair[1] > LATENCY_STEP * pair[0])
        && tiers.sizes.windows(2).all(|pair| pair[1] > SIZE_STEP * pair[0])
}

/// The best sizes among the working sets, refined.
fn search(points: &[(f64, f64)], places: usize) -> Option<FittedTiers> {
    let step = if places < SPARSE_FROM { 1 } else { 2 };
    let candidates: Vec<f64> = points.iter().step_by(step).map(|point| point.0).collect();
    let mut starts: Vec<FittedTiers> = Vec::new();
    let mut chosen: Vec<usize> = (0..places).collect();
    loop {
        let sizes: Vec<f64> = chosen.iter().map(|index| candidates[*index]).collect();
        if let Some(found) = fit(points, &sizes) {
            starts.push(found);
            starts.sort_by(|one, other| one.misfit.total_cmp(&other.misfit));
            starts.truncate(STARTS);
        }
        if !advance(&mut chosen, candidates.len()) {
            break;
        }
    }
    let refined = starts.into_iter().map(|start| refined(points, start, ROUNDS));
    refined.min_by(|one, other| one.misfit.total_cmp(&other.misfit))
}

/// The next combination in order.
fn advance(chosen: &mut [usize], of: usize) -> bool {
    let places = chosen.len();
    for at in (0..places).rev() {
        if chosen[at] + places - at < of {
            chosen[at] += 1;
            for later in at + 1..places {
                chosen[later] = chosen[later - 1] + 1;
            }
            return true;
        }
    }
    false
}

/// Moves one size after the other by shrinking steps while that helps.
fn refined(
    points: &[(f64, f64)],
    mut best: FittedTiers,
    (rounds, mut step): (usize, f64),
) -> FittedTiers {
    for _ in 0..rounds {
        let mut moved = false;
        for at in 0..best.sizes.len() {
            for factor in [step, step.recip()] {
                let mut sizes = best.sizes.clone();
                sizes[at] *= factor;
                let ascending = sizes.is_sorted_by(|one, next| one < next);
                let found = fit(points, &sizes).filter(|_| ascending);
                if let Some(found) = found.filter(|found| found.misfit < best.misfit) {
                    (best, moved) = (found, true);
                }
            }
        }
        if !moved {
            step = step.sqrt();
        }
    }
    best
}

/// The latencies for given sizes by least squares of the relative misfit; `None` where they are not
/// determined.
fn fit(points: &[(f64, f64)], sizes: &[f64]) -> Option<FittedTiers> {
    let places = sizes.len() + 1;
    let mut normal = vec![vec![0.0; places + 1]; places];
    for (working_set, mean) in points {
        let shares = shares(*working_set, sizes);
        for row in 0..places {
            for column in 0..places {
                normal[row][column] += shares[row] * shares[column] / (mean * mean);
            }
            normal[row][places] += shares[row] / mean;
        }
    }
    let latencies = solved(normal)?;
    let relative = |(working_set, mean): &(f64, f64)| {
        let shares = shares(*working_set, sizes);
        let said: f64 = shares.iter().zip(&latencies).map(|(share, latency)| share * latency).sum();
        (said / mean - 1.0).powi(2)
    };
    let squares: f64 = points.iter().map(relative).sum();
    latencies.iter().all(|latency| *latency > 0.0).then(|| FittedTiers {
        sizes: sizes.to_vec(),
        misfit: (squares / real_len(points.len())).sqrt(),
        latencies,
    })
}

/// Which share of a uniformly used working set each place serves.
fn shares(working_set: f64, sizes: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    let mut shares: Vec<f64> = sizes
        .iter()
        .map(|size| {
            let reached = (size / working_set).min(1.0);
            let share = reached - below;
            below = reached;
            share
        })
        .collect();
    shares.push(1.0 - below);
    shares
}

/// Gauss with row exchange on an extended matrix.
fn solved(mut matrix: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let places = matrix.len();
    let scale = matrix.iter().enumerate().map(|(at, row)| row[at]).fold(0.0, f64::max);
    for pivot in 0..places {
        let largest = (pivot..places).max_by(|one, other| {
            matrix[*one][pivot].abs().total_cmp(&matrix[*other][pivot].abs())
        })?;
        matrix.swap(pivot, largest);
        if matrix[pivot][pivot].abs() < 1e-12 * scale {
            return None;
        }
        for row in pivot + 1..places {
            let share = matrix[row][pivot] / matrix[pivot][pivot];
            let (above, below) = matrix.split_at_mut(row);
            let cells = below[0].iter_mut().zip(&above[pivot]).skip(pivot);
            cells.for_each(|(cell, one)| *cell -= share * one);
        }
    }
    let mut found = vec![0.0; places];
    for row in (0..places).rev() {
        let known: f64 = (row + 1..places).map(|at| matrix[row][at] * found[at]).sum();
        found[row] = (matrix[row][places] - known) / matrix[row][row];
    }
    Some(found)
}

/// Intervals of the sizes and latencies of places, in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct TierIntervals {
    /// Of the sizes.
    pub sizes: Vec<IntervalEstimate>,
    /// Of the latencies.
    pub latencies: Vec<IntervalEstimate>,
}

/// How far the places found may be off, where the mean of each point has a standard error, in its
/// unit.
///
/// A parametric bootstrap (Davison and Hinkley, "Bootstrap Methods and their Application", 1997,
/// §6.3): means are drawn around those that the places say, with their standard errors and with
/// what the places do not explain, and the places fitted to them from where they were found. Where
/// close sizes and the latency between them are not told apart, they are fitted from anywhere
/// between the working sets around them: each then ends elsewhere, and the intervals are as wide as
/// that.
///
/// # Panics
/// If there is not one standard error for each point.
pub fn tier_intervals(
    points: &[(f64, f64)],
    standard_errors: &[f64],
    found: &FittedTiers,
    confidence: f64,
) -> TierIntervals {
    assert_eq!(points.len(), standard_errors.len(), "one standard error for each point");
    let parameters = real_len(found.sizes.len() + found.latencies.len());
    let n = real_len(points.len());
    let unexplained = found.misfit * (n / (n - parameters).max(1.0)).sqrt();
    let mut random = Random::new(SEED);
    let is_told_apart = found.working_sets_between(points).is_empty();
    let rounds = if is_told_apart { ROUNDS_AGAIN } else { ROUNDS_APART };
    let mut drawn: Vec<FittedTiers> = Vec::new();
    for _ in 0..DRAWS {
        let draw = |((working_set, mean), error): (&(f64, f64), &f64)| {
            let shares = shares(*working_set, &found.sizes);
            let said: f64 =
                shares.iter().zip(&found.latencies).map(|(share, one)| share * one).sum();
            // What is seen of a misfit holds the errors of the means already: the larger of both
            // counts.
            let deviation = error.max(unexplained * mean);
            (*working_set, (said + deviation * random.normal()).max(0.01 * said))
        };
        let again: Vec<(f64, f64)> = points.iter().zip(standard_errors).map(draw).collect();
        let elsewhere = (!is_told_apart).then(|| moved(points, &found.sizes, &mut random));
        let start = elsewhere.and_then(|sizes| fit(&again, &sizes));
        let start = start.or_else(|| fit(&again, &found.sizes));
        drawn.extend(start.map(|start| refined(&again, start, rounds)));
    }
    let interval = |value: f64, of: &dyn Fn(&FittedTiers) -> f64| {
        let squares: f64 = drawn.iter().map(|tiers| (of(tiers) - value).powi(2)).sum();
        let deviation = (squares / real_len(drawn.len().max(1))).sqrt();
        let freedom = (n - parameters).max(1.0);
        let half = student_quantile(0.5 + 0.5 * confidence, freedom) * deviation;
        let low = (value - half).max(0.0);
        IntervalEstimate {
            value,
            low,
            high: value + half,
            confidence,
            n: points.len(),
            effective_n: n,
        }
    };
    let sizes = found.sizes.iter().enumerate();
    let latencies = found.latencies.iter().enumerate();
    TierIntervals {
        sizes: sizes.map(|(at, value)| interval(*value, &|tiers| tiers.sizes[at])).collect(),
        latencies: latencies
            .map(|(at, value)| interval(*value, &|tiers| tiers.latencies[at]))
            .collect(),
    }
}

/// Sizes moved at random by up to half of a step between working sets, in ascending order.
fn moved(points: &[(f64, f64)], sizes: &[f64], random: &mut Random) -> Vec<f64> {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let step = (last / first).powf(real_len(points.len() - 1).recip());
    let mut moved: Vec<f64> =
        sizes.iter().map(|size| size * step.powf(random.unit() - 0.5)).collect();
    moved.sort_by(f64::total_cmp);
    moved
}

/// The time after a jump at which half of what the jump cost is over, and at which 90% are.
///
/// `latencies` are means of equal stretches of `step_s` since the jump; the cost counts from the
/// mean of the last tenth of them up to the mean of the first stretch. `None` where the jump cost
/// less than a tenth.
pub fn follow_times_s(latencies: &[f64], step_s: f64) -> Option<(f64, f64)> {
    let tail = (latencies.len() / 10).max(1);
    let settled = crate::series::mean(latencies.get(latencies.len().checked_sub(tail)?..)?);
    let peak = *latencies.first()?;
    if peak < 1.1 * settled {
        return None;
    }
    let until = |share: f64| {
        let limit = settled + (1.0 - share) * (peak - settled);
        real_len(crossing(latencies, limit)) * step_s
    };
    Some((until(0.5), until(0.9)))
}

/// How many values at the beginning are best said to lie above a limit and all later ones below it:
/// the number with the fewest exceptions, so that one late or early value moves it little.
fn crossing(values: &[f64], limit: f64) -> usize {
    let (mut best, mut most, mut score) = (0, 0_i64, 0_i64);
    for (at, value) in values.iter().enumerate() {
        score += if *value > limit { 1 } else { -1 };
        if score > most {
            (best, most) = (at + 1, score);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(sizes: &[f64], latencies: &[f64], noise: f64) -> Vec<(f64, f64)> {
        let mut random = Random::new(3);
        (0..28)
            .map(|step| {
                let working_set = 4.0 * std::f64::consts::SQRT_2.powi(step);
                let shares = shares(working_set, sizes);
                let mean: f64 = shares.iter().zip(latencies).map(|(share, one)| share * one).sum();
                (working_set, mean * (1.0 + noise * random.normal()))
            })
            .collect()
    }

    #[track_caller]
    fn assert_found(sizes: &[f64], latencies: &[f64], noise: f64) {
        let found = tiers(&curve(sizes, latencies, noise), noise, TIERS_MAX).unwrap();
        assert_eq!(found.sizes.len(), sizes.len(), "{found:?}");
        for (seen, truth) in found.sizes.iter().zip(sizes) {
            assert!((seen / truth - 1.0).abs() < 0.10, "{found:?}");
        }
        for (seen, truth) in found.latencies.iter().zip(latencies) {
            assert!((seen / truth - 1.0).abs() < 0.05, "{found:?}");
        }
    }

    #[test]
    fn places_come_out_of_their_curve() {
        for noise in [0.0, 0.005] {
            assert_found(&[], &[700.0], noise);
            assert_found(&[300.0], &[100.0, 5000.0], noise);
            assert_found(&[64.0, 3000.0], &[50.0, 200.0, 6000.0], noise);
        }
        assert_found(&[30.0, 200.0, 1500.0, 9000.0], &[50.0, 120.0, 400.0, 1500.0, 7000.0], 0.0);
        assert_eq!(tiers(&[(1.0, 1.0); 3], 0.0, TIERS_MAX), None);
    }

    #[test]
    fn intervals_hold_sizes_and_latencies_as_often_as_they_say() {
        let (sizes, latencies) = ([64.0, 3000.0], [50.0, 200.0, 6000.0]);
        let (mut held, mut all) = (0, 0);
        for seed in 1..=16 {
            let mut random = Random::new(seed);
            let clean = curve(&sizes, &latencies, 0.0);
            let noisy: Vec<(f64, f64)> = clean
                .iter()
                .map(|(at, mean)| (*at, mean * (1.0 + 0.005 * random.normal())))
                .collect();
            let errors: Vec<f64> = noisy.iter().map(|(_, mean)| 0.005 * mean).collect();
            let found = tiers(&noisy, 0.005, TIERS_MAX).unwrap();
            assert_eq!(found.sizes.len(), 2);
            let intervals = tier_intervals(&noisy, &errors, &found, 0.95);
            let truths = sizes.iter().chain(&latencies);
            for (interval, truth) in intervals.sizes.iter().chain(&intervals.latencies).zip(truths)
            {
                held += u32::from(interval.covers(*truth));
                all += 1;
                assert!(interval.relative_half_width() < 0.05, "{interval:?}");
            }
        }
        // With a chance of 0.95 fewer than 69 of 80 hold the truth once in 300 times.
        assert!(held >= 69, "{held} of {all}");
    }

    /// One working set lies between the sizes: they and the latency between them make a family that
    /// fits.
    #[test]
    fn close_sizes_are_told_apart_by_more_working_sets() {
        let (sizes, latencies) = ([9.0, 12.0], [100.0, 350.0, 2000.0]);
        let mean = |set: f64| {
            shares(set, &sizes).iter().zip(&latencies).map(|(share, one)| share * one).sum::<f64>()
        };
        let mut random = Random::new(5);
        let mut point = |set: f64| (set, mean(set) * (1.0 + 0.002 * random.normal()));
        let mut points: Vec<(f64, f64)> =
            (0..25).map(|step| point(2.0_f64.powf(f64::from(step) / 3.0))).collect();
        let errors = |points: &[(f64, f64)]| -> Vec<f64> {
            points.iter().map(|(_, mean)| 0.002 * mean).collect()
        };
        let few = tiers(&points, 0.002, TIERS_MAX).unwrap();
        assert_eq!(few.sizes.len(), 2, "{few:?}");
        let wide = tier_intervals(&points, &errors(&points), &few, 0.95);
        assert!(wide.sizes[0].covers(9.0) && wide.sizes[1].covers(12.0), "{wide:?}");
        assert!(wide.latencies[1].covers(350.0), "{wide:?}");

        let more = few.working_sets_between(&points);
        assert!((6..=12).contains(&more.len()), "{more:?}");
        points.extend(more.into_iter().map(&mut point));
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let found = tiers(&points, 0.002, TIERS_MAX).unwrap();
        assert!(found.working_sets_between(&points).is_empty(), "{found:?}");
        let near = tier_intervals(&points, &errors(&points), &found, 0.95);
        let truths = sizes.iter().chain(&latencies);
        for (interval, truth) in near.sizes.iter().chain(&near.latencies).zip(truths) {
            assert!(interval.covers(*truth), "{truth}: {interval:?}");
            assert!((interval.value / truth - 1.0).abs() < 0.05, "{truth}: {interval:?}");
        }
    }

    #[test]
    fn following_is_timed_from_the_jump() {
        let latencies: Vec<f64> = (0..100).map(|at| if at < 30 { 5.0 } else { 1.0 }).collect();
        let (half_s, most_s) = follow_times_s(&latencies, 0.5).unwrap();
        assert!((half_s - 15.0).abs() < 1e-9 && (most_s - 15.0).abs() < 1e-9);
        assert_eq!(follow_times_s(&[1.0; 50], 1.0), None);
        // One value that is late does not make all late.
        let late: Vec<f64> = latencies
            .iter()
            .enumerate()
            .map(|(at, one)| if at == 60 { 4.0 } else { *one })
            .collect();
        assert_eq!(follow_times_s(&late, 0.5), follow_times_s(&latencies, 0.5));
    }
}
