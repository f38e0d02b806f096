//! Prints the page of a made-up report: `cargo run -p assay-report --example page -- [seconds]
//! [relative] > page.html`; with `hosts` that of as many hosts that measured together, and with
//! `cuts` or `lost` that of a campaign of power cuts.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod made_up;

use assay_report::{ReportOptions, html};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let intervals = words.first().and_then(|word| word.parse().ok()).unwrap_or(120);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let report = match (has("hosts"), has("cuts"), has("lost")) {
        (true, _, loses_one) => made_up::hosts(intervals, loses_one),
        (false, true, _) => made_up::cuts::report(60, false),
        (false, false, true) => made_up::cuts::report(60, true),
        (false, false, false) => made_up::report(intervals),
    };
    print!("{}", html(&report, ReportOptions { relative: has("relative") }));
}
