//! How visits of one device vary together under slow noise whose correlation falls exponentially
//! with time, in time proportional to their number.

use super::visit::Visit;

/// A small share that keeps a visit without noise of its own from standing still.
const LEAST_VARIANCE: f64 = 1e-10;

/// One visit as the others see it.
#[derive(Clone, Copy, Debug)]
struct VisitLink {
    /// What is left of the correlation from the end of the visit before to the start of this one.
    gap: f64,
    /// The same from its start to its end.
    length: f64,
    /// Standard deviation of the slow noise times what a mean over the visit keeps of it, seen
    /// from either end.
    slow: f64,
    /// Variance of the visit's mean.
    variance: f64,
}

/// The covariance of visits, relative to their levels, in order of time.
///
/// Two visits are correlated by the factors of each of them and by what is left over the time
/// between, so that the matrix has a diagonal and one product below it. Its triangle L and diagonal
/// D follow from one visit to the next (D. Foreman-Mackey and others, Astronomical Journal 154,
/// 2017, §4).
pub(super) struct Covariance {
    links: Vec<VisitLink>,
    diagonal: Vec<f64>,
    weights: Vec<f64>,
}

impl Covariance {
    /// Of visits in order of time that do not overlap; `short_wider` widens the part that visits
    /// show of themselves.
    pub(super) fn of(visits: &[Visit], spread: f64, memory_s: f64, short_wider: f64) -> Self {
        let links = links(visits, spread, memory_s, short_wider);
        let (mut diagonal, mut weights) = (Vec::new(), Vec::new());
        let mut known = 0.0;
        for link in &links {
            let at_start = link.gap * link.gap * known;
            let left = (link.variance - link.slow * link.slow * at_start).max(f64::MIN_POSITIVE);
            let weight = (link.slow - link.length * at_start * link.slow) / left;
            known = link.length * link.length * at_start + left * weight * weight;
            diagonal.push(left);
            weights.push(weight);
        }
        Self { links, diagonal, weights }
    }

    /// The logarithm of the determinant.
    pub(super) fn log_determinant(&self) -> f64 {
        self.diagonal.iter().map(|left| left.ln()).sum()
    }

    /// Values freed of what the ones before say of them, each over its standard deviation.
    pub(super) fn whitened(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut said = 0.0;
        let parts = self.links.iter().zip(&self.diagonal).zip(&self.weights);
        parts
            .zip(values)
            .map(|(((link, left), weight), value)| {
                let at_start = link.gap * said;
                let own = value - link.slow * at_start;
                said = link.length * at_start + weight * own;
                own / left.sqrt()
            })
            .collect()
    }

    /// The variance of a sum of the visits, each with a factor.
    pub(super) fn variance_of_sum(&self, factors: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut before) = (0.0, 0.0);
        for (link, factor) in self.links.iter().zip(factors) {
            let at_start = link.gap * before;
            sum += factor * factor * link.variance + 2.0 * factor * link.slow * at_start;
            before = link.length * at_start + factor * link.slow;
        }
        sum
    }
}

fn links(visits: &[Visit], spread: f64, memory_s: f64, short_wider: f64) -> Vec<VisitLink> {
    let mut end_s = f64::NEG_INFINITY;
    let of_visit = |visit: &Visit| {
        let length = visit.length_s / memory_s;
        let mean = -(-length).exp_m1() / length;
        let start_s = visit.middle_s - 0.5 * visit.length_s;
        let gap = (-(start_s - end_s).max(0.0) / memory_s).exp();
        end_s = start_s + visit.length_s;
        // Twice the integral of what is left over all pairs of moments within the visit.
        let within = if length > 1e-6 { 2.0 / length * (1.0 - mean) } else { 1.0 };
        let own = visit.short_variance * short_wider * short_wider + LEAST_VARIANCE;
        let variance = own + spread * spread * within;
        VisitLink { gap, length: (-length).exp(), slow: spread * mean, variance }
    };
    visits.iter().map(of_visit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::real_len;

    fn visits() -> Vec<Visit> {
        (0..12)
            .map(|at| {
                let length_s = [0.125, 0.5, 5.0][at % 3];
                let (middle_s, short_variance) = (7.0 * real_len(at), 1e-4 * real_len(at + 1));
                Visit { level: at % 4, middle_s, length_s, value: 1.0, short_variance }
            })
            .collect()
    }

    /// The covariance of two visits by the midpoint rule over all pairs of their moments.
    fn dense(visits: &[Visit], spread: f64, memory_s: f64) -> Vec<Vec<f64>> {
        const PARTS: usize = 300;
        let moment = |visit: &Visit, at: usize| {
            visit.middle_s + visit.length_s * ((real_len(at) + 0.5) / real_len(PARTS) - 0.5)
        };
        let slow = |one: &Visit, other: &Visit| {
            let pairs = (0..PARTS).flat_map(|a| (0..PARTS).map(move |b| (a, b)));
            let left =
                pairs.map(|(a, b)| (-(moment(one, a) - moment(other, b)).abs() / memory_s).exp());
            spread * spread * left.sum::<f64>() / real_len(PARTS * PARTS)
        };
        let row = |at: usize| {
            let own = visits[at].short_variance;
            let cell = |other: usize| {
                slow(&visits[at], &visits[other]) + if at == other { own } else { 0.0 }
            };
            (0..visits.len()).map(cell).collect()
        };
        (0..visits.len()).map(row).collect()
    }

    /// Gauss's elimination: the logarithm of the determinant and the quadratic form of a vector
    /// with the inverse.
    fn eliminated(mut matrix: Vec<Vec<f64>>, vector: &[f64]) -> (f64, f64) {
        let n = vector.len();
        let (mut right, mut log_determinant) = (vector.to_vec(), 0.0);
        for pivot in 0..n {
            log_determinant += matrix[pivot][pivot].ln();
            for row in pivot + 1..n {
                let factor = matrix[row][pivot] / matrix[pivot][pivot];
                let above = matrix[pivot].clone();
                for (cell, known) in matrix[row].iter_mut().zip(&above).skip(pivot) {
                    *cell -= factor * known;
                }
                right[row] -= factor * right[pivot];
            }
        }
        for row in (0..n).rev() {
            let rest: f64 = (row + 1..n).map(|column| matrix[row][column] * right[column]).sum();
            right[row] = (right[row] - rest) / matrix[row][row];
        }
        (log_determinant, vector.iter().zip(&right).map(|(a, b)| a * b).sum())
    }

    #[test]
    fn steps_from_visit_to_visit_give_what_the_whole_matrix_gives() {
        let visits = visits();
        let values: Vec<f64> = (0..visits.len()).map(|at| 0.01 * (real_len(at) - 4.3)).collect();
        for (spread, memory_s) in [(0.05, 0.4), (0.05, 20.0), (0.3, 3.0)] {
            let matrix = dense(&visits, spread, memory_s);
            let found = Covariance::of(&visits, spread, memory_s, 1.0);
            let variance: f64 = (0..visits.len())
                .flat_map(|a| (0..visits.len()).map(move |b| (a, b)))
                .map(|(a, b)| values[a] * values[b] * matrix[a][b])
                .sum();
            let sum = found.variance_of_sum(values.iter().copied());
            assert!((sum / variance - 1.0).abs() < 1e-3, "{sum} {variance}");
            let (log_determinant, form) = eliminated(matrix, &values);
            assert!((found.log_determinant() - log_determinant).abs() < 0.02);
            let white = found.whitened(values.iter().copied());
            let squares: f64 = white.iter().map(|value| value * value).sum();
            assert!((squares / form - 1.0).abs() < 3e-3, "{squares} {form}");
        }
    }
}
