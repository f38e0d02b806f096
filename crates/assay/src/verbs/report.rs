//! `assay report`: a kept run as page, text, JSON, CSV or pictures.

use crate::exit::{ExitStatus, print, print_report};
use crate::finish::show;
use crate::options::{COMMON, OutputOptions, StoreOptions};
use crate::terminal::colour;
use assay_app::loaded_run::LoadedRun;
use assay_app::new_file::write_new;
use assay_model::Result;
use assay_report::Options as Shown;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Writes the page of a stored run, or prints it as text, JSON or CSV
#[derive(Args)]
#[command(after_help = "Examples:
  assay report
  assay report latest --html report.html
  assay report latest --csv curve")]
pub struct Options {
    /// Id of a run or its beginning, `latest`, or a run's directory
    #[arg(default_value = "latest")]
    run: String,
    /// Write the page to this new file instead of printing text
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the charts as PNG files into this directory
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
    /// Print one table as CSV
    #[arg(long, value_enum, value_name = "TABLE", conflicts_with = "json")]
    csv: Option<Table>,
    /// Show ratios only, for licences that forbid publishing figures
    #[arg(long, conflicts_with_all = ["csv", "json"])]
    relative: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Tables that can be printed as CSV.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// IOPS and latency by outstanding I/Os
    Curve,
    /// Every interval
    Intervals,
    /// Every bucket of every histogram
    Histograms,
    /// Every query of `load dss`
    Queries,
}

/// Carries the verb out.
///
/// # Errors
/// What the store says, or a file that cannot be written; an existing file is not overwritten.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let run = options.store.open().open(&options.run)?;
    let loaded = LoadedRun::read(&run)?;
    let shown = Shown { relative: options.relative };
    if let Some(path) = &options.html {
        write_new(path, assay_report::html(&loaded.report, shown).as_bytes())?;
    }
    if let Some(directory) = &options.png {
        for (name, bytes) in assay_report::png(&loaded.report, shown)? {
            write_new(&directory.join(name), &bytes)?;
        }
    }
    match options.csv {
        Some(Table::Curve) => print(&assay_report::curve_csv(&loaded.report)),
        Some(Table::Intervals) => print(&intervals(&run)?),
        Some(Table::Histograms) => print(&assay_report::histograms_csv(&loaded.report)),
        Some(Table::Queries) => print(&assay_report::queries_csv(&loaded.report)),
        None if options.html.is_some() || options.png.is_some() => Ok(ExitStatus::Success),
        None if options.relative => {
            print_report(&assay_report::text(&loaded.report, shown, colour()))
        }
        None => show(&loaded, &run, &options.output),
    }
}

/// Every interval of every cell.
fn intervals(run: &assay_store::RunReader) -> Result<String> {
    let mut text = assay_report::INTERVALS_HEADER.to_owned();
    for cell in run.cells()? {
        for summary in cell.summaries()? {
            text.push_str(&assay_report::intervals_csv(cell.name(), &[summary?]));
        }
    }
    Ok(text)
}
