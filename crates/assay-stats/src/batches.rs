//! The one rule for intervals of means and ratios of what was observed in equal stretches of time,
//! as documents carry them.

use crate::mean::{LinearRatio, MeanError, positive_ratio, ratio_at_most, ratio_interval};
use crate::series::{batch_means, mean};
use crate::short_run::{SHORT_RUN_ROWS, short_run_error};
use crate::slow_part::slow_error;
use crate::{IntervalEstimate as BookEstimate, mean_interval};
use assay_model::Estimate;
use assay_model::number::{count, count_of, index, index_of, real, real_len};

/// The share of intervals that hold the truth.
pub const CONFIDENCE: f64 = 0.95;
/// A row is one second, or one batch where batches are longer: the rule knows how seconds resemble
/// their neighbours.
const ROW_S: f64 = 1.0;
/// Fewer rows say nothing about how much their mean varies.
pub const ROWS_MIN: usize = 8;
/// Half the width on the log scale beyond which a rate has no interval: its ends would be farther
/// than a factor of 1.49.
const HALF_WIDTH_MAX: f64 = 0.4;
/// The half-width that the advised time aims at.
pub const HALF_WIDTH_GOAL: f64 = 0.2;
/// The advised time is a multiple of this, and at least twice as long, s.
const ADVICE_STEP_S: f64 = 10.0;
/// Fewer rows, or seconds, say nothing of the level.
const BOUNDED_ROWS_MIN: usize = 3;
/// The level of a short series lies within this factor of its rows.
const BOUNDS_FACTOR: f64 = 2.0;

/// Why a series has no interval: what its rows ranged over, and how long a run would have to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortSeries {
    /// Length of the series, s.
    pub elapsed_s: f64,
    /// Length of a row, s.
    pub row_s: f64,
    /// The lowest row.
    pub lowest_value: f64,
    /// The highest row.
    pub highest_value: f64,
    /// How many rows there are.
    pub rows: usize,
    /// About how long it takes to know the mean within [`HALF_WIDTH_GOAL`], s.
    pub needed_s: f64,
}

impl ShortSeries {
    /// Whether longer rows make it short: however long it lasted, it has too few of them.
    pub fn is_coarse(&self) -> bool {
        self.rows < ROWS_MIN && self.elapsed_s > real_len(ROWS_MIN) * ROW_S
    }

    /// Ends that the level in the long run almost never leaves, far apart as they are: half the
    /// lowest row and twice the highest.
    ///
    /// How often the level lies above or below, in percent of 6,000 series of 3, 5 and 7 seconds:
    ///
    /// | noise of a second | 3 s | 5 s | 7 s |
    /// | --- | --- | --- | --- |
    /// | 40%, white | 0.0, 0.0 | 0.0, 0.0 | 0.0, 0.0 |
    /// | 20%, φ 0.6, 0.9 or 0.99 | 0.0, 0.0 | 0.0, 0.0 | 0.0, 0.0 |
    /// | 30%, φ 0.99 | 1.3, 0.4 | 0.8, 0.6 | 0.8, 0.3 |
    /// | levels 1 : 0.6 of 2, 8 or 30 s | 0.0, 0.0 | 0.0, 0.0 | 0.0, 0.0 |
    /// | stalls of 0.2 to 1.5 s every 5 s | 0.3, 0.0 | 0.0, 0.0 | 0.0, 0.0 |
    /// | levels 1 : 0.3 of 8 s | 30, 0.0 | 21, 0.0 | 14, 0.0 |
    ///
    /// Of 800 windows of 3 to 7 s in seconds recorded on a real disk none leaves out the mean of
    /// its series, and of 1,360 none that of a repeat. Nothing shows a level that outlasts the run:
    /// the last row, a cold start, a cache.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let is_enough = self.rows >= BOUNDED_ROWS_MIN
            && self.elapsed_s >= real_len(BOUNDED_ROWS_MIN) - 0.5 * ROW_S;
        is_enough.then(|| (self.lowest_value / BOUNDS_FACTOR, self.highest_value * BOUNDS_FACTOR))
    }
}

/// The mean of equally long batches with its interval.
///
/// What is never negative, such as a rate, has its interval on the log scale, so that no end
/// reaches 0.
///
/// # Errors
/// [`ShortSeries`] of fewer than [`ROWS_MIN`] rows, or where the interval would reach beyond a
/// factor of 1.49.
pub fn mean_of_batches(observations: &[f64], batch_s: f64) -> Result<Estimate, ShortSeries> {
    let rows = SecondRows::new(observations, batch_s);
    let value = mean(observations);
    let too_short = |error| rows.too_short(&rows.values, value, error);
    if rows.values.len() < ROWS_MIN {
        return Err(too_short(short_run_error(&rows.values)));
    }
    if observations.iter().any(|value| *value < 0.0) {
        let found = mean_interval(observations, CONFIDENCE);
        return found.map(noun).ok_or_else(|| too_short(None));
    }
    let error = rows_error(&rows.values).ok_or_else(|| too_short(None))?;
    let half = relative_half_width(&error, value);
    if half > HALF_WIDTH_MAX {
        return Err(too_short(Some(error)));
    }
    Ok(noun(BookEstimate {
        value,
        low: value * (-half).exp(),
        high: value * half.exp(),
        confidence: CONFIDENCE,
        n: rows.values.len(),
        effective_n: error.effective_n,
    }))
}

/// The sum of the numerators over the sum of the denominators of equally long batches with its
/// interval; of what is never negative, such as times, without an upper end where that would be
/// beyond twice the value.
///
/// # Errors
/// [`ShortSeries`] of fewer than [`ROWS_MIN`] rows, or where nothing was counted.
///
/// # Panics
/// If the slices differ in length.
pub fn ratio_of_batches(
    numerators: &[f64],
    denominators: &[f64],
    batch_s: f64,
) -> Result<Estimate, ShortSeries> {
    let (above, below) =
        (SecondRows::new(numerators, batch_s), SecondRows::new(denominators, batch_s));
    let value = mean(numerators) / mean(denominators);
    let counted = above.values.iter().zip(&below.values).filter(|(_, below)| **below > 0.0);
    let ratios: Vec<f64> = counted.map(|(above, below)| above / below).collect();
    let too_short = |error| above.too_short(&ratios, value, error);
    if above.values.len() < ROWS_MIN {
        return Err(too_short(short_run_error(&ratios)));
    }
    if numerators.iter().any(|value| *value < 0.0) {
        let found = ratio_interval(numerators, denominators, CONFIDENCE);
        return found.map(noun).ok_or_else(|| too_short(None));
    }
    let linear = LinearRatio::of(&above.values, &below.values).ok_or_else(|| too_short(None))?;
    let error = rows_error(&linear.residuals).ok_or_else(|| too_short(None))?;
    Ok(noun(positive_ratio(value, &error, &linear.rows(), CONFIDENCE)))
}

/// The upper end of [`ratio_of_batches`], of what is never negative, also where it is beyond twice
/// the value: a bound and not an interval. `None` of too few rows, or where nothing was counted.
///
/// # Panics
/// If the slices differ in length.
pub fn ratio_of_batches_at_most(
    numerators: &[f64],
    denominators: &[f64],
    batch_s: f64,
) -> Option<f64> {
    let (above, below) =
        (SecondRows::new(numerators, batch_s), SecondRows::new(denominators, batch_s));
    if above.values.len() < ROWS_MIN {
        return None;
    }
    let linear = LinearRatio::of(&above.values, &below.values)?;
    let error = rows_error(&linear.residuals)?;
    Some(ratio_at_most(linear.value, &error, &linear.rows(), CONFIDENCE))
}

/// The error of the mean of rows: few of them do not show their memory.
fn rows_error(rows: &[f64]) -> Option<MeanError> {
    if rows.len() < SHORT_RUN_ROWS { short_run_error(rows) } else { slow_error(rows) }
}

/// Half the width on the log scale of the interval of what has this standard error.
fn relative_half_width(error: &MeanError, value: f64) -> f64 {
    let half = error.half_width(CONFIDENCE);
    if half > 0.0 { half / value } else { 0.0 }
}

/// Batches as rows of a second.
struct SecondRows {
    values: Vec<f64>,
    row_s: f64,
    elapsed_s: f64,
}

impl SecondRows {
    fn new(observations: &[f64], batch_s: f64) -> Self {
        let size = index((ROW_S / batch_s.max(f64::MIN_POSITIVE)).round().clamp(1.0, 1e6));
        Self {
            values: batch_means(observations, size),
            row_s: batch_s * real_len(size),
            elapsed_s: batch_s * real_len(observations.len()),
        }
    }

    /// Widths shrink with the root of the time.
    fn too_short(&self, rows: &[f64], value: f64, error: Option<MeanError>) -> ShortSeries {
        let half = error.map_or(0.0, |error| relative_half_width(&error, value));
        let needed_s = self.elapsed_s * (half / HALF_WIDTH_GOAL).powi(2);
        let steps = (needed_s / ADVICE_STEP_S).ceil().max(2.0);
        ShortSeries {
            elapsed_s: self.elapsed_s,
            row_s: self.row_s,
            lowest_value: rows.iter().copied().fold(f64::INFINITY, f64::min),
            highest_value: rows.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            rows: rows.len(),
            needed_s: steps * ADVICE_STEP_S,
        }
    }
}

/// The same interval as a noun of the documents; it holds no more observations than are worth one
/// each.
pub fn noun(estimate: BookEstimate) -> Estimate {
    Estimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: count(estimate.effective_n).clamp(1, count_of(estimate.n.max(1))),
    }
}

/// A noun of the documents as the book reads it; its observations are worth one each.
pub fn book(estimate: &Estimate) -> BookEstimate {
    BookEstimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: index_of(estimate.n),
        effective_n: real(estimate.n),
    }
}

#[cfg(test)]
mod tests;
