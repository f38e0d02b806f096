//! Prints the page of a made-up report: `cargo run -p assay-report --example page -- [seconds] [relative] > page.html`;
//! with `hosts`, that of as many hosts that measured together.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod made_up;

use assay_report::{Options, html};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let intervals = words.first().and_then(|word| word.parse().ok()).unwrap_or(120);
    let relative = words.iter().any(|word| word == "relative");
    let report = if words.iter().any(|word| word == "hosts") {
        made_up::hosts(intervals, words.iter().any(|word| word == "lost"))
    } else {
        made_up::report(intervals)
    };
    print!("{}", html(&report, Options { relative }));
}
