//! `assay inspect`: what lies under a path, and what about it costs speed, distorts results or endangers data.

use crate::exit::{ExitStatus, json, print};
use crate::options::COMMON;
use crate::terminal::layout;
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_model::Result;
use clap::Args;
use std::path::{Path, PathBuf};

/// Shows the block stack from a path down to the hardware, with findings and remedies
#[derive(Args)]
#[command(after_help = "Examples:
  assay inspect /mnt/data
  assay inspect /dev/nvme0n1 --json")]
pub struct Options {
    /// Directories, files or block devices
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
}

/// Carries the verb out.
///
/// # Errors
/// When a path does not exist or may not be looked at.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let paths: Vec<&Path> = options.paths.iter().map(PathBuf::as_path).collect();
    let environment = capture_environment(&SysRoot::live(), &paths, &[])?;
    if options.json {
        return print(&json(&environment)?);
    }
    print(&assay_report::environment_text(&environment, layout(true)))
}
