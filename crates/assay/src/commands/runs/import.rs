//! `assay runs import`: results of other programs as runs.

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
  assay runs import fio.json
  assay runs import output/flatfile.html
  assay runs import pgbench_log.4711 pgbench_log.4711.1
  assay runs import orion_20260101_1200_summary.txt")]
pub struct ImportOptions {
    /// Result files, folders of them, or the folder of a SLOB run with its AWR reports; Assay
    /// detects their type from the content
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Name of the runs, for use with `runs`, `compare` and `report`
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Import even if already imported
    #[arg(long)]
    again: bool,
    #[command(flatten, next_help_heading = COMMON)]
    output: OutputOptions,
}

/// Imports each group of files that belong together.
pub fn run(options: &ImportOptions, store: &StoreOptions) -> Result<ExitStatus> {
    let mut context = context(store, &options.output)?;
    context.store = context.store.labelled(options.name.as_deref())?;
    for group in read_groups(&options.files)? {
        for finished in import_group(&group, options.again, &context)? {
            conclude(&finished, &options.output, None)?;
        }
    }
    Ok(ExitStatus::Success)
}
