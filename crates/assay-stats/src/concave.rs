//! Heights of a curve of saturation that noise has shaken: never falling, never bending up, and
//! none at the origin.

/// Sweeps at most, and the change of a height, as a share of the highest, that ends them.
const SWEEPS: usize = 20_000;
const TOLERANCE: f64 = 1e-10;

/// The heights at the points `(x, height, standard deviation)` of the concave, never falling curve
/// through the origin that is nearest to them by weighted least squares.
///
/// Every such curve with corners at the points is a sum of min(x, corner) with weights of at least
/// 0, so it is found by non-negative least squares (Lawson and Hanson, Solving Least Squares
/// Problems, ch. 23), here by coordinate descent.
pub fn fit(points: &[(f64, f64, f64)]) -> Vec<f64> {
    let reach = points.iter().map(|(x, ..)| *x).fold(0.0, f64::max);
    let most = points.iter().map(|(_, height, _)| *height).fold(0.0, f64::max);
    if reach <= 0.0 || most <= 0.0 {
        return points.iter().map(|(_, height, _)| *height).collect();
    }
    let ramp = |point: usize, corner: usize| points[point].0.min(points[corner].0) / reach;
    let all = 0..points.len();
    let weighted = |of: &dyn Fn(usize) -> f64| -> f64 {
        all.clone().map(|point| of(point) * (most / points[point].2.max(1e-9 * most)).powi(2)).sum()
    };
    let gram: Vec<Vec<f64>> = all
        .clone()
        .map(|one| {
            let row =
                all.clone().map(|other| weighted(&|point| ramp(point, one) * ramp(point, other)));
            row.collect()
        })
        .collect();
    let aims: Vec<f64> = all
        .clone()
        .map(|one| weighted(&|point| ramp(point, one) * points[point].1 / most))
        .collect();
    let weights = descend(&gram, &aims);
    let height = |point| {
        weights.iter().enumerate().map(|(corner, weight)| weight * ramp(point, corner)).sum::<f64>()
    };
    all.map(|point| most * height(point)).collect()
}

/// The weights of at least 0 at which the quadratic form is least.
fn descend(gram: &[Vec<f64>], aims: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0_f64; aims.len()];
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for (place, row) in gram.iter().enumerate().filter(|(place, row)| row[*place] > 0.0) {
            let sum: f64 = row.iter().zip(&weights).map(|(part, weight)| part * weight).sum();
            let next = (weights[place] + (aims[place] - sum) / row[place]).max(0.0);
            moved = moved.max((next - weights[place]).abs());
            weights[place] = next;
        }
        if moved < TOLERANCE {
            break;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Two points: the best is known by hand.
    #[test]
    fn of_two_points_that_bend_up_the_line_between_is_best() {
        // Heights 1 at 1 and 4 at 2 bend up; the line a·x nearest to both has a = (1·1 + 2·4) / (1
        // + 4).
        let found = fit(&[(1.0, 1.0, 0.1), (2.0, 4.0, 0.1)]);
        assert!((found[0] - 1.8).abs() < 1e-6 && (found[1] - 3.6).abs() < 1e-6, "{found:?}");
        // A fall is levelled at the mean by weight: 3 with a fourth of the variance of 2.
        let found = fit(&[(1.0, 3.0, 0.1), (2.0, 2.0, 0.2)]);
        assert!((found[0] - 2.8).abs() < 1e-6 && (found[1] - 2.8).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn what_is_concave_stays_and_noise_shrinks() {
        let loads = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 16.0, 32.0];
        let exact = loads.map(|load: f64| 100.0 * load.min(4.0) + load);
        let points: Vec<(f64, f64, f64)> =
            loads.iter().zip(exact).map(|(load, height)| (*load, height, 0.01 * height)).collect();
        for (found, exact) in fit(&points).iter().zip(exact) {
            assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
        }
        let mut random = Random::part(5, 0);
        let (mut before, mut after) = (0.0, 0.0);
        for _ in 0..50 {
            let shaken: Vec<(f64, f64, f64)> = points
                .iter()
                .map(|(load, height, _)| {
                    (*load, height * (0.1 * random.normal()).exp(), 0.1 * height)
                })
                .collect();
            let found = fit(&shaken);
            for (((_, raw, _), found), exact) in shaken.iter().zip(found).zip(exact) {
                before += (raw / exact - 1.0).powi(2);
                after += (found / exact - 1.0).powi(2);
            }
        }
        assert!(after < 0.5 * before, "{after} {before}");
    }

    #[test]
    fn nothing_and_idle_points_are_left_alone() {
        assert!(fit(&[]).is_empty());
        assert_eq!(fit(&[(1.0, 0.0, 1.0)]), [0.0]);
    }
}
