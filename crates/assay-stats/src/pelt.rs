//! Where a series changes its level, any number of times: the exact least-squares segmentation with
//! a price for each change.

use assay_model::number::{index, real_len};

/// What a change costs, in variances of the noise and logarithms of the length: three is the strict
/// form of the criterion of Schwarz for a change of level and its place (Killick and Eckley, J. of
/// Statistical Software 58(3), 2014).
const PRICE: f64 = 3.0;

/// The median of absolute second differences in standard deviations of one value: the normal
/// quantile at 3/4, times √6 because a second difference adds the variances 1, 4 and 1.
const MEDIAN_OF_DIFFERENCES: f64 = 0.674_489_750_196_081_7 * 2.449_489_742_783_178;

/// The first indices of the stretches after the first one, for the segmentation that minimizes the
/// squared deviations from the stretches' means plus `penalty` for each change; no stretch is
/// shorter than `shortest`.
///
/// Pruned exact linear time (Killick, Fearnhead and Eckley, J. of the American Statistical
/// Association 107, 2012). A start is dropped only `shortest` values after it was beaten, because
/// until then what beat it is not yet allowed. Empty of fewer than twice `shortest` values or any
/// that is not finite.
pub fn pelt(series: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
    let (n, shortest) = (series.len(), shortest.max(1));
    if n < 2 * shortest || !series.iter().all(|value| value.is_finite()) {
        return Vec::new();
    }
    let sums = SegmentSums::of(series);
    let mut best: Vec<(f64, usize)> = vec![(f64::INFINITY, 0); n + 1];
    // Every stretch adds a penalty below, but the first one does not begin with a change.
    best[0].0 = -penalty;
    let mut starts: Vec<(usize, Option<usize>)> = Vec::new();
    for end in shortest..=n {
        let newest = end - shortest;
        // No segmentation ends within the first `shortest` values, so no stretch starts there.
        if best[newest].0.is_finite() {
            starts.push((newest, None));
        }
        let total = |start: usize| best[start].0 + sums.cost(start, end) + penalty;
        let found = starts.iter().map(|(start, _)| (total(*start), *start));
        let reached = found.min_by(|one, other| one.0.total_cmp(&other.0));
        let Some(reached) = reached else { continue };
        for (start, beaten) in &mut starts {
            // Even a change that costs nothing does not make this start better than one at `end`.
            if beaten.is_none() && total(*start) - penalty > reached.0 {
                *beaten = Some(end + shortest);
            }
        }
        best[end] = reached;
        starts.retain(|(_, beaten)| beaten.is_none_or(|from| end < from));
    }
    walk_back(&best)
}

/// The changes on the way from the end to the beginning, in order.
fn walk_back(best: &[(f64, usize)]) -> Vec<usize> {
    let mut changes = Vec::new();
    let mut at = best.len() - 1;
    while let Some((_, start)) = best.get(at).filter(|(_, start)| *start > 0) {
        changes.push(*start);
        at = *start;
    }
    changes.reverse();
    changes
}

/// Where the level of `series` changes, the noise taken from how much neighbours differ.
///
/// Give it means of batches that are longer than the memory of the noise: what varies more slowly
/// than from one value to the next counts as change. Stretches hold at least `shortest` values.
///
/// ```
/// let mut noise = assay_stats::random::Random::new(1);
/// let series: Vec<f64> = (0..60).map(|at| noise.normal() + if at < 25 { 0.0 } else { 8.0 }).collect();
/// assert_eq!(assay_stats::pelt::changes(&series, 3), [25]);
/// ```
pub fn changes(series: &[f64], shortest: usize) -> Vec<usize> {
    let noise = noise_of_neighbours(series);
    let penalty = PRICE * noise * noise * real_len(series.len().max(2)).ln();
    if noise > 0.0 { pelt(series, penalty, shortest) } else { exact_changes(series, shortest) }
}

/// Series whose neighbours mostly agree exactly: any change of level is one, however small.
fn exact_changes(series: &[f64], shortest: usize) -> Vec<usize> {
    let scale = series.iter().map(|value| value.abs()).fold(f64::MIN_POSITIVE, f64::max);
    // With a penalty of 0, rounding errors of the sums would count as changes.
    pelt(series, (1e-9 * scale).powi(2), shortest)
}

/// The standard deviation of the noise, from the median second difference of neighbours: neither
/// changes of level nor slopes reach it.
pub fn noise_of_neighbours(series: &[f64]) -> f64 {
    // A standard deviation would include the steps that are sought; the median ignores a few.
    let second = |three: &[f64]| (three[0] - 2.0 * three[1] + three[2]).abs();
    let mut differences: Vec<f64> = series.windows(3).map(second).collect();
    if differences.is_empty() {
        return 0.0;
    }
    differences.sort_by(f64::total_cmp);
    let middle = real_len(differences.len() - 1) / 2.0;
    let (below, above) = (index(middle), index(middle.ceil()));
    f64::midpoint(differences[below], differences[above]) / MEDIAN_OF_DIFFERENCES
}

/// Sums over the beginning of the series, from which any stretch costs one subtraction.
struct SegmentSums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl SegmentSums {
    /// About the mean, so that large levels leave digits for small differences.
    fn of(series: &[f64]) -> Self {
        let centre = crate::series::mean(series);
        let (mut values, mut squares) = (vec![0.0], vec![0.0]);
        let (mut value_sum, mut square_sum) = (0.0, 0.0);
        for value in series {
            value_sum += value - centre;
            square_sum += (value - centre).powi(2);
            values.push(value_sum);
            squares.push(square_sum);
        }
        Self { values, squares }
    }

    /// Squared deviations of a stretch from its own mean.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let sum = self.values[end] - self.values[start];
        let squares = self.squares[end] - self.squares[start];
        // Rounding makes the difference slightly negative for a stretch of equal values.
        (squares - sum * sum / real_len(end - start)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_constant_has_no_change_and_an_exact_step_has_one() {
        assert!(changes(&[3.0; 40], 2).is_empty());
        let step: Vec<f64> = (0..40).map(|at| if at < 11 { 3.0 } else { 3.1 }).collect();
        assert_eq!(changes(&step, 2), [11]);
        assert!(changes(&[1.0, 9.0], 2).is_empty() && changes(&[f64::NAN; 9], 2).is_empty());
    }

    #[test]
    fn the_noise_of_neighbours_does_not_see_levels() {
        let mut random = crate::random::Random::new(3);
        let series: Vec<f64> =
            (0..4000).map(|at| random.normal() + if at < 2000 { 0.0 } else { 50.0 }).collect();
        assert!((noise_of_neighbours(&series) - 1.0).abs() < 0.05);
        assert!(noise_of_neighbours(&[1.0]).abs() < 1e-15);
    }

    /// Cost of every segmentation, by trying all of them.
    fn cheapest(series: &[f64], penalty: f64, shortest: usize) -> f64 {
        let sums = SegmentSums::of(series);
        let mut best = vec![f64::INFINITY; series.len() + 1];
        best[0] = -penalty;
        for end in shortest..=series.len() {
            best[end] = (0..=end - shortest)
                .map(|start| best[start] + sums.cost(start, end) + penalty)
                .fold(f64::INFINITY, f64::min);
        }
        best[series.len()]
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(
            series in prop::collection::vec(-3.0..3.0, 8..50), penalty in 0.1..9.0, shortest in 1usize..5,
        ) {
            let found = pelt(&series, penalty, shortest);
            let mut edges = vec![0];
            edges.extend(&found);
            edges.push(series.len());
            let sums = SegmentSums::of(&series);
            let cost: f64 = edges.windows(2).map(|pair| sums.cost(pair[0], pair[1])).sum();
            let total = cost + penalty * real_len(found.len());
            prop_assert!((total - cheapest(&series, penalty, shortest)).abs() < 1e-9);
            prop_assert!(edges.windows(2).all(|pair| pair[1] - pair[0] >= shortest));
        }
    }
}
