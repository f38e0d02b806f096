//! What a person reads: documents go in, a page, a text, tables or drawings come out.
//!
//! A report becomes a view once (`sections`, `demand`, of blocks from `view`), and `render` writes
//! views down.
#![forbid(unsafe_code)]

mod chart;
mod clock;
mod compact_histogram;
mod demand;
mod format;
mod input;
mod json;
mod ladder;
mod phrases;
mod redaction;
mod render;
#[cfg(test)]
mod schema;
mod sections;
mod sizing;
mod summary;
mod tables;
mod timeline;
mod view;
mod watch;

use assay_model::environment::Environment;
pub use demand::{NamedProfile, profile_text, profiles_html};
use format::Formatter;
pub use input::{
    GivenReport, InputDocument, ReportOptions, RunIncident, RunReport, TextOptions,
    VerificationHistory,
};
pub use json::json;
pub use render::csv::{csv, plain_csv};
pub use render::html::live::live_html;
pub use sections::durability_sentence;
pub use sizing::{sizing_html, sizing_text};
pub use summary::shell_word;
pub use tables::{
    INTERVALS_HEADER, WATCH_HEADER, cells_csv, comparison_csv, curve_csv, cuts_csv, factors_csv,
    histograms_csv, host_rates_csv, hosts_csv, intervals_csv, json_lines, ladder_csv, levels_csv,
    locality_csv, published_csv, queries_csv, transactions_csv, watch_csv,
};
pub use timeline::{RunTimeline, TimelineBuilder};
pub use watch::{WatchBuilder, WatchReport};

/// The report as a page: one file that needs nothing else.
pub fn html(report: &GivenReport, options: ReportOptions) -> String {
    render::html::html(&sections::view(report, Formatter::new(report, options)))
}

/// The report as text.
pub fn text(
    report: &GivenReport,
    options: ReportOptions,
    layout: impl Into<TextOptions>,
) -> String {
    let layout = layout.into();
    let formatter = Formatter::new(report, options);
    let short = sections::short_answer(report, &formatter).filter(|_| !formatter.is_relative());
    if let Some(answer) = short.filter(|_| layout.is_short) {
        return render::text::answer_text(&answer, layout);
    }
    render::text::text(&sections::view(report, formatter), layout)
}

/// The host, the storage under each target and all findings as text.
pub fn environment_text(environment: &Environment, layout: impl Into<TextOptions>) -> String {
    let layout = layout.into();
    let blocks = sections::environment(environment, layout.lines_max.is_some());
    render::text::blocks_text(&blocks, layout)
}

/// The charts of a report as SVG files, in the order of the page: the name of a file, for example
/// `load-curve-read.svg`, unique in its report, and its content.
pub fn svg(report: &GivenReport, options: ReportOptions) -> Vec<(String, String)> {
    render::drawing::drawings(&sections::view(report, Formatter::new(report, options)))
}
