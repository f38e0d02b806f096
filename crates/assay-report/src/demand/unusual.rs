//! What is unusual in one report compared with the others of its database.

/// Fewer reports of one database say nothing of what is usual.
const REPORTS_MIN: usize = 5;
/// Modified z-score from which a value is an outlier (Iglewicz and Hoaglin, How to Detect and
/// Handle Outliers, 1993).
const SCORE_MAX: f64 = 3.5;
/// Makes the median absolute deviation of normal values their standard deviation: 1/Φ⁻¹(3/4).
const NORMAL: f64 = 1.482_602_218_505_602;
/// A value closer to the median than this is not worth a word, however steady the others are.
const RATIO_MIN: f64 = 1.2;

/// For each value how many times the median it is, where that is unusual; `None` for what is usual
/// or not known.
pub(super) fn unusual(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let known: Vec<f64> = values.iter().flatten().copied().filter(|value| *value > 0.0).collect();
    let Some(median) = median(known.clone()).filter(|_| known.len() >= REPORTS_MIN) else {
        return vec![None; values.len()];
    };
    let deviations = known.iter().map(|value| (value - median).abs()).collect();
    let spread = self::median(deviations).unwrap_or(0.0) * NORMAL;
    let judged = |value: f64| {
        let ratio = value / median;
        let far = ratio >= RATIO_MIN || ratio <= 1.0 / RATIO_MIN;
        ((value - median).abs() > SCORE_MAX * spread && far).then_some(ratio)
    };
    values.iter().map(|value| value.filter(|value| *value > 0.0).and_then(judged)).collect()
}

/// The middle value, or the mean of both.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(values[middle - 1], upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().map(|value| Some(*value)).collect()
    }

    #[test]
    fn one_far_value_among_many_is_found_and_named_by_its_ratio() {
        let found = unusual(&some(&[10.0, 11.0, 9.0, 10.5, 9.5, 40.0]));
        let far: Vec<usize> = (0..6).filter(|at| found[*at].is_some()).collect();
        assert_eq!(far, [5]);
        // The median of six is the mean of the third and fourth: 10.25.
        assert!((found[5].unwrap() - 40.0 / 10.25).abs() < 1e-12);
    }

    #[test]
    fn a_small_deviation_from_very_steady_values_is_not_worth_a_word() {
        assert_eq!(unusual(&some(&[100.0, 100.0, 100.0, 100.0, 110.0])), vec![None; 5]);
    }

    #[test]
    fn few_reports_and_missing_values_say_nothing() {
        assert_eq!(unusual(&some(&[1.0, 1.0, 1.0, 90.0])), vec![None; 4]);
        let mut values = some(&[1.0, 1.1, 0.9, 1.0, 30.0]);
        values.push(None);
        assert_eq!(unusual(&values)[5], None);
        assert!(unusual(&values)[4].is_some());
    }
}
