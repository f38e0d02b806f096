//! A listing as rows of settings and measures.

use assay_model::Estimate;
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::NamedEstimate;

/// What a listing holds.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleListing {
    /// What printed it.
    pub source: &'static str,
    /// Its rows, each with what it is of and its numbers.
    pub rows: Vec<ListingRow>,
    /// Whether its numbers are of an interval or a test; else they count since the instance
    /// started.
    pub has_rates: bool,
}

/// A row of a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingRow {
    /// What it is of.
    pub settings: Vec<StudySetting>,
    /// Its numbers, by the names of the measures that they are.
    pub measures: Vec<NamedEstimate>,
}

impl ListingRow {
    pub(super) fn of(factor: &str, value: FactorValue) -> Self {
        let mut row = Self::default();
        row.set(factor, value);
        row
    }

    pub(super) fn set(&mut self, factor: &str, value: FactorValue) {
        self.settings.push(StudySetting { factor: factor.to_owned(), value });
    }

    /// Adds a number; one that is absent is left out.
    pub(super) fn measure(&mut self, quantity: &str, value: Option<f64>) {
        self.measures.extend(value.map(|value| NamedEstimate {
            quantity: quantity.to_owned(),
            subject: None,
            estimate: Estimate::without_interval(value, 1),
        }));
    }
}
