//! Which numbers of sessions are measured, by the options of a ladder.

use assay_dbload::load::LadderSearch;
use assay_model::number::real;
use assay_model::units::Nanos;
use assay_model::{Error, Result};

/// What the options of a ladder say.
pub struct Search<'a> {
    /// Numbers of sessions, where nothing is searched.
    pub given: &'a [u32],
    /// Whether the knee is searched.
    pub find_knee: bool,
    /// The limit under which the most sessions are searched.
    pub max_latency: Option<Nanos>,
    /// The quantile that the limit is on.
    pub quantile: f64,
    /// The quantile of who says nothing.
    pub usual_quantile: f64,
    /// Sessions at most when a search finds no end.
    pub most: u32,
}

impl Search<'_> {
    /// Which steps are measured.
    ///
    /// # Errors
    /// A usage error when the quantile is none.
    pub fn climb(&self) -> Result<LadderSearch> {
        let Self { quantile, most, .. } = *self;
        if !(quantile > 0.0 && quantile < 1.0) {
            return Err(Error::usage(
                format!("--quantile {quantile} is out of range"),
                format!("write a number between 0 and 1, for example {}", self.usual_quantile),
            ));
        }
        Ok(match self.max_latency {
            Some(limit) => LadderSearch::Limit { quantile, limit_ns: real(limit.0), most },
            None if self.find_knee => LadderSearch::Knee { most },
            None => LadderSearch::Given(self.given.to_vec()),
        })
    }
}
