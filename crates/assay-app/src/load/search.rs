//! Which numbers of sessions are measured, by the options of a ladder.

use assay_dbload::load::LadderSearch;
use assay_model::number::real;
use assay_model::spelling::LimitStatistic;
use assay_model::units::Nanos;

/// What the options of a ladder say.
pub struct LadderSearchPlan<'a> {
    /// Numbers of sessions, where nothing is searched.
    pub given: &'a [u32],
    /// Whether the knee is searched.
    pub find_knee: bool,
    /// The limit under which the most sessions are searched.
    pub max_latency: Option<Nanos>,
    /// What of the latencies the limit is on.
    pub quantile: LimitStatistic,
    /// Sessions at most when a search finds no end.
    pub most: u32,
}

impl LadderSearchPlan<'_> {
    /// Which steps are measured.
    pub fn climb(&self) -> LadderSearch {
        let Self { quantile, most, .. } = *self;
        match self.max_latency {
            Some(limit) => LadderSearch::Limit { quantile, limit_ns: real(limit.0), most },
            None if self.find_knee => LadderSearch::Knee { most },
            None => LadderSearch::Given(self.given.to_vec()),
        }
    }
}
