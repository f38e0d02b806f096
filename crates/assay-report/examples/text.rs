//! Prints a made-up report as text: `cargo run -p assay-report --example text -- [colour]
//! [relative] [environment] [cuts]`.
#![allow(clippy::print_stdout, reason = "an example prints")]

mod made_up;

use assay_report::{ReportOptions, environment_text, text};

fn main() {
    let says = |wanted: &str| std::env::args().any(|word| word == wanted);
    let of_cuts = || made_up::cuts::report(60, true);
    let report = if says("cuts") { of_cuts() } else { made_up::report(120) };
    let colour = says("colour");
    let options = ReportOptions { relative: says("relative") };
    print!("{}", text(&report, options, colour));
    if let Some(environment) = report.environment.filter(|_| says("environment")) {
        print!("{}", environment_text(&environment, colour));
    }
}
