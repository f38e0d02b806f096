//! Oracle's manuals: reads AWR and Statspack reports and derives what the database asked of its
//! storage.
//!
//! [`read_reports`] takes the bytes of a file, text or HTML, and gives one [`OracleReport`] for
//! each report in it: AWR from 10.2 on, of one instance, of a pluggable database or of a whole
//! cluster, and Statspack from 9.2 on. Every number is a [`report::OracleQuantity`] in a base unit
//! that knows its section, its line and its rounding. What is not in a report is `None`; what is
//! there and cannot be read with certainty is `None` too and listed in [`OracleReport::unread`];
//! what contradicts itself is listed in [`OracleReport::flags`].
//!
//! [`profile`] derives the demand on storage and the time model, [`table_row`] one line of a table
//! of reports.
//!
//! ```
//! let reports = assay_oracle::read_reports(b"no report at all");
//! assert!(reports[0].is_err());
//! ```

#![forbid(unsafe_code)]

mod check;
mod columns;
mod decode;
mod derive;
mod html;
mod knowledge;
mod letters;
mod lines;
mod listing;
mod markdown;
mod number;
mod quantity;
mod reading;
pub mod report;
mod row;
mod section;
mod split;
mod table;
mod text;
mod time;

use assay_model::{Error, Result};
pub use derive::{profile, profile_on};
pub use listing::{ListingRow, OracleListing, read_listing};
pub use report::OracleReport;
pub use row::{COLUMNS, RAC_STATS_HEADER, TableCell, TableColumn, rac_stats_line, table_row};

/// Reads all reports of a file, one behind the other.
///
/// # Errors
/// A usage error in the list for a file without any report (empty, binary, an excerpt without a
/// header, a report of another kind), and one in place of each report that compares two periods,
/// which cannot be read as one, or whose header is unreadable.
pub fn read_reports(bytes: &[u8]) -> Vec<Result<OracleReport>> {
    let bytes = decode::plain(bytes);
    let parts = split::parts(&bytes).into_iter();
    parts.map(|part| reading::read(&part?)).collect()
}

/// Why a report of Oracle's of another kind, such as ASH, is not read; nothing for any other text.
#[must_use]
pub fn other_report(bytes: &[u8]) -> Option<Error> {
    split::other_kind(&decode::plain(bytes))
}
