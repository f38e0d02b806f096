//! `assay compare`: runs and profiles side by side.

use crate::exit::{ExitStatus, json, print, print_report};
use crate::options::{COMMON, OutputOptions, StoreOptions};
use crate::terminal::layout;
use assay_app::compare::{ComparePlan, compare_sides};
use assay_app::new_file::write_new;
use assay_judge::compare::CompareRules;
use assay_model::units::Share;
use assay_model::{Error, Outcome, Result};
use assay_report::{GivenReport, ReportOptions as Shown};
use clap::Args;
use std::path::PathBuf;

/// Show what changed, and whether it is significant
#[derive(Args)]
#[command(after_help = "Examples:
  assay compare RUN latest
  assay compare A1,A2,A3 B1,B2,B3 --html comparison.html
  assay compare before.profile.json after.profile.json")]
pub struct CompareOptions {
    /// Runs (id or its first characters, name, `latest`, directory; a cell as RUN:1) or profiles
    /// (`*.profile.json`); join repeats of one side with commas: A1,A2,A3 B1,B2,B3
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    sides: Vec<String>,
    /// Test whether any other is worse than the first by more than this; exit 1 if so
    #[arg(long, value_name = "SHARE")]
    tolerance: Option<Share>,
    /// Run-to-run variation (standard deviation) to assume for a side with a single run
    #[arg(long, value_name = "SHARE")]
    run_to_run: Option<Share>,
    /// Nodes, bricks or sessions behind each side, for scaling: 1,2,4,8
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    nodes: Vec<f64>,
    /// Workload setting that you changed on purpose, as the error message names it; repeat it for
    /// others
    #[arg(long, value_name = "KEY")]
    varied: Vec<String>,
    /// Write the page to this new file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the measures as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the command out.
///
/// # Errors
/// What the store says, sides that cannot be compared, or a page that cannot be written.
pub fn run(options: &CompareOptions) -> Result<ExitStatus> {
    let plan = ComparePlan {
        sides: options.sides.clone(),
        nodes: options.nodes.clone(),
        varied: options.varied.clone(),
        rules: CompareRules {
            tolerance: options.tolerance.map(|share| share.0),
            run_to_run_share: options.run_to_run.map(|share| share.0),
            ..CompareRules::default()
        },
    };
    let found = compare_sides(&plan, &options.store.open())?;
    let outcome = found.outcome;
    let report = GivenReport {
        title: "compare".to_owned(),
        target: options.sides.join(" with "),
        created_unix_ns: assay_host::clock::unix_ns(),
        program: format!("assay {}", env!("CARGO_PKG_VERSION")),
        command: assay_app::command_line::typed(&crate::options::command_line()),
        comparison: Some(found),
        ..GivenReport::default()
    };
    if let Some(path) = &options.html {
        write_new(path, assay_report::html(&report, Shown::default()).as_bytes())?;
    }
    if options.csv {
        let table = report.comparison.as_ref().and_then(assay_report::comparison_csv);
        print(&table.ok_or_else(nothing_in_common)?)?;
    } else if options.output.json {
        print(&json(&report.comparison)?)?;
    } else {
        print_report(&assay_report::text(&report, Shown::default(), layout(options.output.full)))?;
    }
    Ok(outcome.unwrap_or(Outcome::Pass).into())
}

fn nothing_in_common() -> Error {
    Error::usage("the sides have no measure in common", "compare runs of the same kind")
}
