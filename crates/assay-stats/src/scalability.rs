//! The Universal Scalability Law: how throughput grows with the number of nodes, and what holds it
//! back.

use crate::distribution::student_quantile;
use crate::estimate::IntervalEstimate;
use assay_model::number::real_len;

/// Steps of the damped descent at most; it ends long before in practice.
const STEPS_MAX: usize = 500;

/// A step that lowers the squares by less than this share ends the descent.
const SETTLED: f64 = 1e-14;

/// A fitted law, X(N) = λN / (1 + σ(N - 1) + κN(N - 1)).
///
/// (N. Gunther, "Guerrilla Capacity Planning", 2007, chapter 4.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// λ: throughput of one node, in the unit of the points.
    pub of_one: IntervalEstimate,
    /// σ: share of the work that only one node at a time can do, at least 0.
    pub contention: IntervalEstimate,
    /// κ: what each pair of nodes costs to stay coherent, at least 0.
    pub coherency: IntervalEstimate,
    /// Standard deviation of the points around the law.
    pub scatter: f64,
}

impl Scalability {
    /// The throughput of `nodes`.
    pub fn at(&self, nodes: f64) -> f64 {
        law([self.of_one.value, self.contention.value, self.coherency.value], nodes)
    }

    /// How many nodes give the most; `None` where more always give more.
    pub fn peak_nodes(&self) -> Option<f64> {
        let (contention, coherency) = (self.contention.value, self.coherency.value);
        (coherency > 0.0).then(|| ((1.0 - contention).max(0.0) / coherency).sqrt())
    }
}

/// The law through points of nodes and throughput by least squares, with Student intervals of the
/// linearized fit.
///
/// λ is above 0, σ and κ are not negative; a coefficient that rests on that border has no doubt of
/// its own and takes no degree of freedom. `None` of fewer than four points or fewer than three
/// different numbers of nodes, of nodes below 1, and of throughputs that are not above 0.
pub fn scalability(points: &[(f64, f64)], confidence: f64) -> Option<Scalability> {
    let mut nodes: Vec<f64> = points.iter().map(|(nodes, _)| *nodes).collect();
    nodes.sort_by(f64::total_cmp);
    nodes.dedup();
    let sound = |(nodes, throughput): &(f64, f64)| {
        *nodes >= 1.0 && throughput.is_finite() && *throughput > 0.0
    };
    if points.len() < 4 || nodes.len() < 3 || !points.iter().all(sound) {
        return None;
    }
    let fitted = FREE
        .iter()
        .filter_map(|free| descend(points, *free))
        .min_by(|one, other| one.squares.total_cmp(&other.squares))?;
    Some(fitted.law(points, confidence))
}

/// Which of σ and κ may leave 0: all faces of the allowed corner, of which one holds the best fit.
const FREE: [[bool; 3]; 4] =
    [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];

type ScalabilityParameters = [f64; 3];

fn law([of_one, contention, coherency]: ScalabilityParameters, nodes: f64) -> f64 {
    of_one * nodes / (1.0 + contention * (nodes - 1.0) + coherency * nodes * (nodes - 1.0))
}

/// The law's derivatives by its parameters.
fn gradient(parameters: ScalabilityParameters, nodes: f64) -> ScalabilityParameters {
    let value = law(parameters, nodes);
    let [of_one, contention, coherency] = parameters;
    let below = 1.0 + contention * (nodes - 1.0) + coherency * nodes * (nodes - 1.0);
    [value / of_one, -value * (nodes - 1.0) / below, -value * nodes * (nodes - 1.0) / below]
}

fn squares(points: &[(f64, f64)], parameters: ScalabilityParameters) -> f64 {
    points.iter().map(|(nodes, seen)| (seen - law(parameters, *nodes)).powi(2)).sum()
}

struct Fitted {
    parameters: ScalabilityParameters,
    free: [bool; 3],
    squares: f64,
}

/// Damped Gauss-Newton steps (Marquardt, J. SIAM 11, 1963) in the free parameters; `None` where
/// they leave the allowed corner.
fn descend(points: &[(f64, f64)], free: [bool; 3]) -> Option<Fitted> {
    let alone = points.iter().map(|(nodes, seen)| seen / nodes).fold(0.0, f64::max);
    let held = |which: usize, value: f64| if free[which] { value } else { 0.0 };
    let mut at = [alone, held(1, 0.01), held(2, 0.0001)];
    let (mut best, mut damping) = (squares(points, at), 1e-3);
    for _ in 0..STEPS_MAX {
        let step = step(points, at, free, damping)?;
        let next = [at[0] + step[0], at[1] + step[1], at[2] + step[2]];
        let reached = squares(points, next);
        if !reached.is_finite() || reached > best || next[0] <= 0.0 {
            damping *= 10.0;
            if damping > 1e15 {
                break;
            }
            continue;
        }
        let settled = best - reached <= SETTLED * best;
        (at, best, damping) = (next, reached, damping * 0.1);
        if settled {
            break;
        }
    }
    let allowed = at[0] > 0.0 && at[1] >= 0.0 && at[2] >= 0.0;
    allowed.then_some(Fitted { parameters: at, free, squares: best })
}

/// The step that the normal equations ask for, with a damped diagonal.
fn step(
    points: &[(f64, f64)],
    at: ScalabilityParameters,
    free: [bool; 3],
    damping: f64,
) -> Option<ScalabilityParameters> {
    let (mut normal, mut pull) = ([[0.0; 3]; 3], [0.0; 3]);
    for (nodes, seen) in points {
        let (slopes, miss) = (gradient(at, *nodes), seen - law(at, *nodes));
        for row in 0..3 {
            pull[row] += slopes[row] * miss;
            for column in 0..3 {
                normal[row][column] += slopes[row] * slopes[column];
            }
        }
    }
    for (which, row) in normal.iter_mut().enumerate() {
        row[which] *= 1.0 + damping;
    }
    let inverse = inverse(normal, free)?;
    let entry = |row: usize| (0..3).map(|column| inverse[row][column] * pull[column]).sum();
    Some([entry(0), entry(1), entry(2)])
}

type NormalMatrix = [[f64; 3]; 3];

/// The inverse of the part of a symmetric matrix that is free, 0 elsewhere, scaled so that its
/// diagonal is 1 meanwhile.
fn inverse(mut matrix: NormalMatrix, free: [bool; 3]) -> Option<NormalMatrix> {
    let kept = |row: usize, column: usize| free[row] && free[column];
    let scale: Vec<f64> = (0..3).map(|at| matrix[at][at].sqrt().recip()).collect();
    for (row, entries) in matrix.iter_mut().enumerate() {
        for (column, entry) in entries.iter_mut().enumerate() {
            *entry = match (kept(row, column), row == column) {
                (true, _) => *entry * scale[row] * scale[column],
                (false, diagonal) => f64::from(u8::from(diagonal)),
            };
        }
    }
    let mut inverse = eliminated(matrix)?;
    for (row, entries) in inverse.iter_mut().enumerate() {
        for (column, entry) in entries.iter_mut().enumerate() {
            let factor = scale[row] * scale[column];
            *entry *= if kept(row, column) { factor } else { 0.0 };
        }
    }
    Some(inverse)
}

/// The inverse by Gauss and Jordan; `None` of a matrix that has none.
fn eliminated(mut matrix: NormalMatrix) -> Option<NormalMatrix> {
    let mut inverse = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for pivot in 0..3 {
        let head = matrix[pivot][pivot];
        if !head.is_finite() || head.abs() < 1e-14 {
            return None;
        }
        for side in [&mut matrix, &mut inverse] {
            side[pivot] = side[pivot].map(|entry| entry / head);
        }
        let (line, other) = (matrix[pivot], inverse[pivot]);
        for row in (0..3).filter(|row| *row != pivot) {
            let share = matrix[row][pivot];
            for column in 0..3 {
                matrix[row][column] -= share * line[column];
                inverse[row][column] -= share * other[column];
            }
        }
    }
    Some(inverse)
}

impl Fitted {
    fn law(&self, points: &[(f64, f64)], confidence: f64) -> Scalability {
        let taken = self.free.iter().filter(|free| **free).count();
        let freedom = real_len(points.len()) - real_len(taken);
        let scatter = (self.squares / freedom.max(1.0)).sqrt();
        let reach = student_quantile(0.5 + 0.5 * confidence, freedom.max(1.0)) * scatter;
        let doubt = self.variances(points);
        let estimate = |which: usize, least: f64| {
            let (value, half) = (self.parameters[which], reach * doubt[which].sqrt());
            IntervalEstimate {
                value,
                low: (value - half).max(least),
                high: value + half,
                confidence,
                n: points.len(),
                effective_n: real_len(points.len()),
            }
        };
        Scalability {
            of_one: estimate(0, 0.0),
            contention: estimate(1, 0.0),
            coherency: estimate(2, 0.0),
            scatter,
        }
    }

    /// The diagonal of the inverted normal matrix.
    fn variances(&self, points: &[(f64, f64)]) -> ScalabilityParameters {
        let mut normal = [[0.0; 3]; 3];
        for (nodes, _) in points {
            let slopes = gradient(self.parameters, *nodes);
            for row in 0..3 {
                for column in 0..3 {
                    normal[row][column] += slopes[row] * slopes[column];
                }
            }
        }
        let inverse = inverse(normal, self.free).unwrap_or([[f64::INFINITY; 3]; 3]);
        [inverse[0][0], inverse[1][1], inverse[2][2]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_law_give_it_back() {
        let truth = [1000.0, 0.03, 0.0004];
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
            .iter()
            .map(|nodes| (*nodes, law(truth, *nodes)))
            .collect();
        let found = scalability(&points, 0.95).unwrap();
        assert!((found.of_one.value - 1000.0).abs() < 1e-4);
        assert!((found.contention.value - 0.03).abs() < 1e-7);
        assert!((found.coherency.value - 0.0004).abs() < 1e-9);
        // sqrt(0.97 / 0.0004)
        assert!((found.peak_nodes().unwrap() - 49.244_3).abs() < 1e-2);
        assert!((found.at(32.0) - points[5].1).abs() < 1e-3);
    }

    #[test]
    fn linear_growth_rests_on_the_border() {
        let points = [(1.0, 10.0), (2.0, 20.0), (4.0, 40.1), (8.0, 80.2)];
        let found = scalability(&points, 0.95).unwrap();
        assert!(found.contention.value.abs() < 1e-9 && found.coherency.value.abs() < 1e-9);
        assert_eq!(found.peak_nodes(), None);
    }

    #[test]
    fn too_few_or_impossible_points_have_no_law() {
        assert_eq!(scalability(&[(1.0, 1.0), (2.0, 2.0), (3.0, 2.5)], 0.95), None);
        let same = [(1.0, 1.0), (1.0, 1.1), (2.0, 1.9), (2.0, 2.0)];
        assert_eq!(scalability(&same, 0.95), None);
        let below = [(0.5, 1.0), (1.0, 1.1), (2.0, 1.9), (4.0, 3.0)];
        assert_eq!(scalability(&below, 0.95), None);
    }
}
