//! What a person reads: documents go in, a page, a text, tables or pictures come out.
#![forbid(unsafe_code)]

mod answer;
mod chart;
mod clock;
mod compact_histogram;
mod contradictions;
mod demand;
mod facts;
mod format;
mod input;
mod json;
mod ladder;
mod levels;
mod markup;
mod page;
mod panel;
mod phrases;
mod picture;
mod tables;
mod text;
mod timeline;
mod watch;

pub use demand::{NamedProfile, profile_text, profiles_html};
pub use input::{Document, Event, Options, Report, RunReport};
pub use json::json;
pub use page::html;
pub use picture::png;
pub use tables::{
    INTERVALS_HEADER, WATCH_HEADER, curve_csv, histograms_csv, intervals_csv, queries_csv,
    watch_csv,
};
pub use text::{environment_text, text, verdict_text};
pub use timeline::{Timeline, TimelineBuilder};
pub use watch::{Watch, WatchBuilder};
