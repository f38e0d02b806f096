//! `assay import`: results of other programs as runs.

use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{COMMON, OutputOptions, StoreOptions, context};
use assay_app::import::{import_group, read_groups};
use assay_model::Result;
use clap::Args;
use std::path::PathBuf;

/// Import results of other load generators as runs
#[derive(Args)]
#[command(after_help = "Examples:
  assay import fio.json
  assay import output/flatfile.html
  assay import pgbench_log.4711 pgbench_log.4711.1
  assay import orion_20260101_1200_summary.txt")]
pub struct Options {
    /// Files of results, folders of them, or the folder of a SLOB run with its AWR reports; their content shows whose they are
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Import also what was imported before
    #[arg(long)]
    again: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let context = context(&options.store, &options.output)?;
    for group in read_groups(&options.files)? {
        for finished in import_group(&group, options.again, &context)? {
            conclude(&finished, &options.output)?;
        }
    }
    Ok(ExitStatus::Success)
}
