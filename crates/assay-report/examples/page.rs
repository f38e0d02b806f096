//! Prints the page of a made-up report: `cargo run -p assay-report --example page -- [seconds] [relative] > page.html`.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod made_up;

use assay_report::{Options, html};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let intervals = words.first().and_then(|word| word.parse().ok()).unwrap_or(120);
    let relative = words.iter().any(|word| word == "relative");
    print!("{}", html(&made_up::report(intervals), Options { relative }));
}
