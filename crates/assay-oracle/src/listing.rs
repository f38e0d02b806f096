//! Listings of SQL*Plus about the I/O of a database: files, times, histograms, calibrations, and
//! the table of `rac_stats.sh`.

mod calibration;
mod files;
mod rac_stats;
mod row;
mod spool;

use spool::SpoolTable;

pub use row::{ListingRow, OracleListing};

/// Reads the listing that tables are; nothing where they are of another kind.
type TableReader = fn(&[SpoolTable]) -> Option<OracleListing>;

/// Larger texts are not listings.
const TEXT_BYTES_MAX: usize = 4 << 20;

/// Reads the listing that a text holds; `None` where it holds none that is known, or none with a
/// row.
pub fn read_listing(text: &[u8]) -> Option<OracleListing> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let text = crate::decode::plain(text);
    if let Some(listing) = rac_stats::read(&text) {
        return Some(listing);
    }
    let tables = spool::tables(&text);
    let readers: [TableReader; 4] =
        [calibration::read, files::counts, files::times, files::histogram];
    readers.into_iter().find_map(|read| read(&tables)).filter(|listing| !listing.rows.is_empty())
}

#[cfg(test)]
mod tests;
