//! Whether what was measured is good enough: criteria are checked for meaning before a run, and
//! judged after it.
//!
//! A [`Criteria`] document becomes [`CriteriaRules`] when every quantity is known and every limit
//! has the unit of its quantity. Rules and [`Facts`] make a [`Verdict`]: PASS when the whole
//! interval lies on the good side of the limit, FAIL when it lies on the bad side, INCONCLUSIVE
//! when the limit lies inside it, when the evidence is missing, or when something about the
//! measurement could have carried it to the side where it is.
#![forbid(unsafe_code)]

mod calibration;
mod certain_failure;
pub mod compare;
mod decide;
mod doubts;
mod early;
mod estimates;
mod evidence;
mod factors;
mod facts;
mod found;
mod last_change;
mod levels;
mod loaded;
mod measurement;
mod names;
mod near_limit;
mod quantity;
mod queries;
mod rules;
mod series;
pub mod statistics;
mod tail_bound;
mod watched;

pub use certain_failure::certain_failure;
pub use early::EarlyWatch;
pub use estimates::{estimates_of_run, no_interval_of_run, stream_totals, totals};
pub use factors::{factor_curves, factor_scaling, imported_curves};
pub use facts::{Facts, JudgedLoadFacts, JudgedRun};
pub use last_change::LastChange;
pub use levels::last_change;
pub use measurement::{StreamShare, weighted_response};
pub use near_limit::is_near_limit;
pub use quantity::{
    Amount, CapacityOf, CriterionQuantity, CriterionTimeKind, LoadAmount, QuantityMix, QueryAmount,
    Scope, TimeStatistic,
};
pub use rules::{CriteriaRules, CriterionRule};
pub use series::{Series, SeriesBatch, SeriesBuilder};
pub use statistics::QuantileTail;

use assay_model::units::{Nanos, Rate};
use assay_model::verdict::{Bound, parse_criteria};
use assay_model::{Criteria, Result};

/// Name and text of the criteria that ship, each with the source of every limit.
pub const SHIPPED: [(&str, &str); 3] = [
    ("check", include_str!("../criteria/check.toml")),
    ("oltp-default", include_str!("../criteria/oltp-default.toml")),
    ("dell-2017", include_str!("../criteria/dell-2017.toml")),
];

/// The criteria of this name that ship; none where there is no such name.
///
/// # Errors
/// Never for the texts that ship; a test holds it.
pub fn shipped_criteria(name: &str) -> Result<Option<Criteria>> {
    let found = SHIPPED.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| parse_criteria(text)).transpose()
}

/// What a check asks: p99 within a time, one I/O at a time and at no less than a rate.
///
/// # Errors
/// Never for the text that ships; a test holds it.
pub fn check_criteria(latency_max: Nanos, iops_min: Rate) -> Result<Criteria> {
    let mut criteria = parse_criteria(SHIPPED[0].1)?;
    for criterion in &mut criteria.criteria {
        if criterion.at_least.is_some() {
            criterion.at_least = Some(Bound(iops_min.to_string()));
        } else if criterion.quantity != "errors" {
            criterion.at_most = Some(Bound(latency_max.to_string()));
        }
    }
    Ok(criteria)
}

#[cfg(doc)]
use assay_model::Verdict;
