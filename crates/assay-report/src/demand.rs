//! What a database asked of its storage: one profile, or many side by side.

mod chart;
mod facts;
#[cfg(test)]
mod fixture;
mod histograms;
mod named_profile;
mod report;
mod response;
mod sections;
mod series;
mod server;
mod summary;
mod unusual;

use crate::input::TextOptions;
use crate::render;
pub use named_profile::NamedProfile;
pub(crate) use server::{LOAD_TABLE, tables as server_tables};

/// The page of profiles; `program` is the name and version of the program.
pub fn profiles_html(profiles: &[NamedProfile<'_>], program: &str) -> String {
    render::html::html(&sections::view(profiles, program))
}

/// The profile as text.
pub fn profile_text(named: NamedProfile<'_>, layout: impl Into<TextOptions>) -> String {
    render::text::text(&sections::view(&[named], ""), layout.into())
}
