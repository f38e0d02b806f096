//! Events that recur with a fixed period, as they are seen through windows: periodic flushes,
//! journals, collections.

use assay_model::number::{real, real_len};

/// Fewer events show no period.
const FEWEST: usize = 5;

/// A difference of neighbours is tried as up to this many periods: events between windows are not
/// seen.
const MOST_BETWEEN: u32 = 6;

/// A period is believed when events at random moments would fit one of all that were tried this
/// rarely.
const BY_CHANCE: f64 = 1e-4;

/// Of the events that a period promises within the windows this share must be there.
const PROMISED: f64 = 0.9;

/// When events recur, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recurrence {
    /// Time from one event to the next, s.
    pub period_s: f64,
    /// Standard error of the period, s.
    pub error_s: f64,
    /// The moment of the first event, s.
    pub first_s: f64,
}

/// The longest period that explains all `moments`, s, in rising order, and that promises no event
/// within the `windows` (begin and end, s) that was not seen. Moments may be off by `tolerance_s`.
///
/// Each difference of neighbours is tried as one period and as several; the line of moments over
/// their numbers is fitted by least squares while it grows. `n` moments at random lie within the
/// tolerance of a given period with a chance of (2 tolerance/period)^(n - 2), as two of them fit
/// always; that times the periods tried has to be below one in ten thousand. `None` for fewer than
/// five moments, and where no period fits.
pub fn recurrence(moments: &[f64], windows: &[(f64, f64)], tolerance_s: f64) -> Option<Recurrence> {
    if moments.len() < FEWEST {
        return None;
    }
    let differences = moments.windows(2).map(|pair| pair[1] - pair[0]);
    let tried: Vec<f64> = differences
        .flat_map(|difference| (1..=MOST_BETWEEN).map(move |times| difference / f64::from(times)))
        .filter(|period| *period > 2.0 * tolerance_s)
        .collect();
    let chance = |period_s: f64| {
        let each = (2.0 * tolerance_s / period_s).min(1.0);
        real_len(tried.len()) * each.powf(real_len(moments.len() - 2))
    };
    let fitted = tried.iter().filter_map(|period| fitted(moments, *period, tolerance_s));
    fitted
        .filter(|found| chance(found.period_s) < BY_CHANCE)
        .filter(|found| keeps_promise(found, moments, windows, tolerance_s))
        .max_by(|one, other| one.period_s.total_cmp(&other.period_s))
}

/// The least-squares line through moments over their numbers, beginning with a guess of the period;
/// `None` where a moment lies farther from it than the tolerance.
fn fitted(moments: &[f64], guess_s: f64, tolerance_s: f64) -> Option<Recurrence> {
    let origin_s = *moments.first()?;
    let mut line = MomentLine { first_s: origin_s, period_s: guess_s };
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(moments.len());
    for moment in moments {
        let number = ((moment - line.first_s) / line.period_s).round();
        points.push((number, *moment));
        if points.last().is_some_and(|(number, _)| *number > 0.0) {
            line = MomentLine::through(&points)?;
        }
        // Between two events no more than the guess is known; with each the next is foretold
        // better.
        if (line.at(number) - moment).abs() > tolerance_s {
            return None;
        }
    }
    let apart = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let near =
        points.iter().all(|(number, moment)| (line.at(*number) - moment).abs() <= tolerance_s);
    (apart && near).then(|| line.recurrence(&points))
}

/// Moments as a line over their numbers.
#[derive(Clone, Copy)]
struct MomentLine {
    first_s: f64,
    period_s: f64,
}

impl MomentLine {
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = real_len(points.len());
        let mean_number = points.iter().map(|point| point.0).sum::<f64>() / n;
        let mean_moment = points.iter().map(|point| point.1).sum::<f64>() / n;
        let squares = squares(points);
        let products: f64 =
            points.iter().map(|point| (point.0 - mean_number) * (point.1 - mean_moment)).sum();
        let period_s = products / squares;
        (squares > 0.0 && period_s > 0.0)
            .then_some(Self { first_s: mean_moment - period_s * mean_number, period_s })
    }

    fn at(self, number: f64) -> f64 {
        self.first_s + self.period_s * number
    }

    fn recurrence(self, points: &[(f64, f64)]) -> Recurrence {
        let residuals = points.iter().map(|point| (point.1 - self.at(point.0)).powi(2));
        let freedom = real_len(points.len()) - 2.0;
        let variance = residuals.sum::<f64>() / freedom;
        Recurrence {
            period_s: self.period_s,
            error_s: (variance / squares(points)).sqrt(),
            first_s: self.first_s,
        }
    }
}

/// Sum of the squared deviations of the numbers from their mean.
fn squares(points: &[(f64, f64)]) -> f64 {
    let mean = points.iter().map(|point| point.0).sum::<f64>() / real_len(points.len());
    points.iter().map(|point| (point.0 - mean).powi(2)).sum()
}

/// Whether nearly all events that have to lie within the windows were seen.
fn keeps_promise(
    found: &Recurrence,
    moments: &[f64],
    windows: &[(f64, f64)],
    tolerance_s: f64,
) -> bool {
    let promised: usize = windows
        .iter()
        .map(|(begin_s, end_s)| promised(found, begin_s + tolerance_s, end_s - tolerance_s))
        .sum();
    real_len(moments.len()) >= PROMISED * real_len(promised)
}

/// Events from one moment to another.
fn promised(found: &Recurrence, begin_s: f64, end_s: f64) -> usize {
    let number = |at_s: f64| (at_s - found.first_s) / found.period_s;
    let (first, last) = (number(begin_s).ceil(), number(end_s).floor());
    if last < first { 0 } else { assay_model::number::index(last - first + real(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Windows of a second with a fifth of a second between them.
    fn windows() -> Vec<(f64, f64)> {
        (0..50).map(|at| (1.2 * f64::from(at), 1.2 * f64::from(at) + 1.0)).collect()
    }

    fn within(moments: impl Iterator<Item = f64>) -> Vec<f64> {
        let seen =
            |moment: &f64| windows().iter().any(|window| window.0 <= *moment && *moment < window.1);
        moments.filter(seen).collect()
    }

    #[test]
    fn a_period_is_found_through_windows_and_blur() {
        for (seed, period_s) in [(1, 3.7), (2, 2.3), (3, 6.1), (4, 0.9), (5, 9.3), (6, 4.0)] {
            let mut random = Random::new(seed);
            let first_s = random.unit() * period_s;
            let moments = (0..100).map(|number| first_s + period_s * f64::from(number));
            let moments = within(moments.take_while(|moment| *moment < 60.0));
            let blurred: Vec<f64> =
                moments.iter().map(|moment| moment + 0.02 * (random.unit() - 0.5)).collect();
            let found = recurrence(&blurred, &windows(), 0.03);
            let found = found.unwrap_or_else(|| panic!("{period_s}: {blurred:?}"));
            assert!((found.period_s - period_s).abs() < 5.0 * found.error_s + 1e-9, "{found:?}");
            assert!((found.period_s / period_s - 1.0).abs() < 0.003, "{found:?}");
        }
    }

    #[test]
    fn events_at_random_moments_have_none() {
        let found = (0..2000).filter(|seed| {
            let mut random = Random::new(*seed);
            let mean_s = 1.0 + 7.0 * random.unit();
            let mut at_s = 0.0;
            let moments: Vec<f64> = std::iter::from_fn(|| {
                at_s += mean_s * random.exponential();
                (at_s < 60.0).then_some(at_s)
            })
            .collect();
            recurrence(&within(moments.into_iter()), &windows(), 0.04).is_some()
        });
        assert_eq!(found.count(), 0);
    }

    #[test]
    fn events_that_are_promised_and_missing_refute_a_period() {
        let moments: Vec<f64> = (0..6).map(|number| 0.5 + 3.0 * f64::from(number)).collect();
        assert!(recurrence(&moments, &[(0.0, 17.0)], 0.05).is_some());
        assert_eq!(recurrence(&moments, &[(0.0, 30.0)], 0.05), None);
    }

    #[test]
    fn few_events_show_no_period() {
        assert_eq!(recurrence(&[1.0, 2.0, 3.0, 4.0], &[(0.0, 5.0)], 0.05), None);
        assert_eq!(recurrence(&[], &[], 0.05), None);
    }
}
