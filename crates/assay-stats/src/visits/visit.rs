//! A stretch of time in which one level was measured.

/// One stretch of time at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// What was measured: visits of one level have one mean. Any number.
    pub level: usize,
    /// Middle of the visit, s.
    pub middle_s: f64,
    /// Its length, s, above 0.
    pub length_s: f64,
    /// Mean of the visit, in any unit, above 0.
    pub value: f64,
    /// Variance of that mean as far as the visit itself shows it, relative to the squared level.
    pub short_variance: f64,
}
