//! `assay inspect`: what lies under a path, and what about it costs speed, distorts results or
//! endangers data.

use crate::commands::hosts::{shared_and_different, survey};
use crate::exit::{ExitStatus, json, print, print_report};
use crate::options::COMMON;
use crate::terminal::layout;
use assay_app::cluster::HostNames;
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_model::Result;
use clap::Args;
use std::path::{Path, PathBuf};

/// Show what lies between a path and the hardware
#[derive(Args)]
#[command(after_help = "Examples:
  assay inspect /mnt/data
  assay inspect /dev/nvme0n1 --json
  assay inspect /mnt/data --hosts hA,hB")]
pub struct InspectOptions {
    /// Directories, files or block devices
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Hosts to inspect, each with its findings, and the devices that they share: local:N
    /// (processes here), ssh:A,B, or names in a Ray cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<HostNames>,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
    /// Print the full text on a terminal, not only the first screen
    #[arg(long, help_heading = COMMON)]
    full: bool,
}

/// Carries the command out.
///
/// # Errors
/// When a path does not exist or may not be looked at.
pub fn run(options: &InspectOptions) -> Result<ExitStatus> {
    if let Some(hosts) = &options.hosts {
        return inspect_hosts(hosts, options);
    }
    let paths: Vec<&Path> = options.paths.iter().map(PathBuf::as_path).collect();
    let environment = capture_environment(&SysRoot::live(), &paths, &[])?;
    if options.json {
        return print(&json(&environment)?);
    }
    print_report(&assay_report::environment_text(&environment, layout(options.full)))
}

/// Each host with its findings, then what they share and what differs.
fn inspect_hosts(hosts: &HostNames, options: &InspectOptions) -> Result<ExitStatus> {
    let paths: Vec<String> = options.paths.iter().map(|path| path.display().to_string()).collect();
    let found = survey(hosts, &paths)?;
    if options.json {
        return print(&json(&found)?);
    }
    let each = found.hosts.iter().map(|host| {
        let text = assay_report::environment_text(&host.environment, layout(options.full));
        format!("host {}\n\n{text}\n", host.name)
    });
    print_report(&(each.collect::<String>() + &shared_and_different(&found)))
}
