//! Listings of SQL*Plus about the I/O of a database: files, times, histograms, calibrations, and the table of `rac_stats.sh`.

mod calibration;
mod files;
mod rac_stats;
mod spool;

use assay_model::Estimate;
use assay_model::study::{FactorValue, Setting};
use assay_model::verdict::NamedEstimate;
use spool::SpoolTable;

/// What a listing holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// What printed it.
    pub source: &'static str,
    /// Its rows, each with what it is of and its numbers.
    pub rows: Vec<ListingRow>,
    /// Whether its numbers are of an interval or a test; else they count since the instance started.
    pub has_rates: bool,
}

/// A row of a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingRow {
    /// What it is of.
    pub settings: Vec<Setting>,
    /// Its numbers, by the names of the measures that they are.
    pub measures: Vec<NamedEstimate>,
}

impl ListingRow {
    fn of(factor: &str, value: FactorValue) -> Self {
        let mut row = Self::default();
        row.set(factor, value);
        row
    }

    fn set(&mut self, factor: &str, value: FactorValue) {
        self.settings.push(Setting { factor: factor.to_owned(), value });
    }

    /// Adds a number; one that is absent is left out.
    fn measure(&mut self, quantity: &str, value: Option<f64>) {
        self.measures.extend(value.map(|value| NamedEstimate {
            quantity: quantity.to_owned(),
            subject: None,
            estimate: Estimate::without_interval(value, 1),
        }));
    }
}

/// Larger texts are no listing.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Reads the listing that a text holds; `None` where it holds none that is known, or none with a row.
pub fn read_listing(text: &[u8]) -> Option<Listing> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let text = crate::decode::plain(text);
    if let Some(listing) = rac_stats::read(&text) {
        return Some(listing);
    }
    let tables = spool::tables(&text);
    let readers: [fn(&[SpoolTable]) -> Option<Listing>; 4] =
        [calibration::read, files::counts, files::times, files::histogram];
    readers.into_iter().find_map(|read| read(&tables)).filter(|listing| !listing.rows.is_empty())
}

#[cfg(test)]
mod tests;
