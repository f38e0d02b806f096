//! What a mean or a mean square says of a quantile, whatever the law.

/// The value that a quantile (in 0..1) of what is never negative does not exceed, from the mean of
/// its `power` (1 or more): at most E\[X^k\]/x^k of X is above x (A. Markov, 1884; P. Chebyshev,
/// 1867, for k = 2). In the unit of X; infinite at a quantile of 1.
///
/// Needs no assumption about the law and no value near the bound. It is far above the quantile of
/// common laws: 21 times p99 of an exponential law by its mean, and 3 times by its mean square.
pub fn quantile_at_most(moment: f64, power: i32, quantile: f64) -> f64 {
    (moment / (1.0 - quantile)).powf(1.0 / f64::from(power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn an_exponential_law_lies_below_both_bounds() {
        let p99 = 100f64.ln();
        // Its moments of order 1 and 2 are 1 and 2.
        assert!((quantile_at_most(1.0, 1, 0.99) / p99 - 21.7).abs() < 0.1);
        assert!((quantile_at_most(2.0, 2, 0.99) / p99 - 3.07).abs() < 0.01);
    }

    #[test]
    fn the_worst_law_reaches_the_bounds() {
        // A hundredth of all is 50, the rest nothing: any quantile up to 0.99 is 0.
        assert!((quantile_at_most(0.01 * 50.0, 1, 0.99) - 50.0).abs() < 1e-9);
        assert!((quantile_at_most(0.01 * 2500.0, 2, 0.99) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn no_sample_exceeds_the_bounds_of_its_own_moments() {
        let mut random = Random::new(5);
        for spread in [0.1, 1.0, 2.5] {
            let mut values: Vec<f64> =
                (0..1000).map(|_| (spread * random.normal()).exp()).collect();
            values.sort_by(f64::total_cmp);
            let moment = |power| values.iter().map(|value| value.powi(power)).sum::<f64>() / 1e3;
            for (quantile, rank) in [(0.5, 499), (0.9, 899), (0.99, 989), (0.999, 998)] {
                for power in [1, 2] {
                    let most = quantile_at_most(moment(power), power, quantile);
                    assert!(values[rank] <= most, "{spread} {quantile} {power}");
                }
            }
        }
    }
}
