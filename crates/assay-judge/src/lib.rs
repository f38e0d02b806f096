//! Whether what was measured is good enough: criteria are checked for meaning before a run, and judged after it.
//!
//! A [`Criteria`] document becomes [`Rules`] when every quantity is known and every limit has the unit of its
//! quantity. Rules and [`Facts`] make a [`Verdict`]: PASS when the whole interval lies on the good side of the
//! limit, FAIL when it lies on the bad side, INCONCLUSIVE when the limit lies inside it, when the evidence is
//! missing, or when something about the measurement could have carried it to the side where it is.
#![forbid(unsafe_code)]

mod calibration;
pub mod compare;
mod decide;
mod doubts;
mod estimates;
mod evidence;
mod factors;
mod facts;
mod found;
mod levels;
mod measurement;
mod names;
mod quantity;
mod rules;
mod series;
mod statistics;

pub use estimates::{estimates_of_run, totals};
pub use factors::{factor_curves, factor_scaling};
pub use facts::{Facts, Run};
pub use levels::Left;
pub use quantity::{Amount, CapacityOf, Mix, Quantity, Scope, TimeKind, TimeStatistic};
pub use rules::{Rule, Rules};
pub use series::{Batch, Series, SeriesBuilder};
pub use statistics::{Statistics, Tail};

use assay_model::verdict::parse_criteria;
use assay_model::{Criteria, Result};

/// The criteria that are used when a person gives none, as TOML with the source of every limit.
pub const DEFAULT_CRITERIA: &str = include_str!("defaults.toml");

/// The criteria that are used when a person gives none.
///
/// # Errors
/// Never for the text that ships; a test holds it.
pub fn default_criteria() -> Result<Criteria> {
    parse_criteria(DEFAULT_CRITERIA)
}

#[cfg(doc)]
use assay_model::Verdict;
