//! What a database asked of its storage, as text and as page: one profile, or many side by side.

mod chart;
mod facts;
#[cfg(test)]
mod fixture;
mod histograms;
mod page;
mod report;
mod response;
mod series;
mod server;
mod text;
mod unusual;

use assay_model::profile::Profile;
pub use page::profiles_html;
pub(crate) use server::{LOAD_TABLE, read_times, tables as server_tables};
pub use text::profile_text;

/// A profile with the name of what it was read from.
#[derive(Clone, Copy, Debug)]
pub struct NamedProfile<'a> {
    /// The file.
    pub file: &'a str,
    /// What was read.
    pub profile: &'a Profile,
}
