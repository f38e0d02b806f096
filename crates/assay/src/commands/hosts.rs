//! `assay hosts`: who is there, and how hosts become a cluster.

use crate::exit::{ExitStatus, exit_status, json, print};
use crate::finish::show;
use crate::options::{COMMON, OutputOptions, StoreOptions, context};
use assay_app::cluster::{HostNames, cluster_survey};
use assay_app::collect::collect;
use assay_app::finish::CriteriaSource;
use assay_app::{Context, Guards};
use assay_model::cluster::{ClusterSurvey, HostSurvey, SharedDevice};
use assay_model::measurement::Finish;
use assay_model::number::{real, seconds};
use assay_model::units::show_bytes;
use assay_model::{Error, Result};
use assay_store::Store;
use clap::{Args, Subcommand};
use std::fmt::Write;
use std::path::PathBuf;

/// Manage the hosts of a shared measurement
#[derive(Args)]
#[command(after_help = "Examples:
  assay hosts start-lines --hosts hA,hB,hC
  assay hosts nodes --hosts hA,hB,hC /mnt/data
  assay hosts collect latest")]
pub struct HostsOptions {
    #[command(subcommand)]
    command: HostsCommand,
}

/// What is shown.
#[derive(Subcommand)]
enum HostsCommand {
    /// Show clocks, devices, shared devices and differences
    #[command(after_help = "Examples:
  assay hosts nodes --hosts hA,hB /mnt/data
  assay hosts nodes --hosts local:2")]
    Nodes(NodesOptions),
    /// Print the commands that start a Ray cluster on hosts
    #[command(after_help = "Examples:
  assay hosts start-lines --hosts hA,hB,hC")]
    StartLines(StartLinesOptions),
    /// Complete a run whose driver died, from what its hosts kept
    #[command(after_help = "Examples:
  assay hosts collect latest")]
    Collect(CollectOptions),
}

/// Options of `nodes`.
#[derive(Args)]
struct NodesOptions {
    /// The hosts: local:N (processes here), ssh:A,B, or names in a Ray
    /// cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    hosts: HostNames,
    /// Directories, files or block devices whose storage is described
    #[arg(value_name = "STORAGE")]
    targets: Vec<String>,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
}

/// Options of `start-lines`.
#[derive(Args)]
struct StartLinesOptions {
    /// Names of the hosts joined by commas, the first of which is the head
    #[arg(long, value_name = "HOSTS")]
    hosts: HostNames,
    /// Port of the head
    #[arg(long, value_name = "PORT", default_value_t = 6379)]
    port: u16,
}

/// Options of `collect`.
#[derive(Args)]
struct CollectOptions {
    /// The run: its id, or `latest`
    #[arg(value_name = "RUN")]
    run: String,
    /// Criteria to judge by: a file, oltp-default or dell-2017; by default those of the workload,
    /// if it has any
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the command out.
pub fn run(options: &HostsOptions) -> Result<ExitStatus> {
    match &options.command {
        HostsCommand::Nodes(options) => nodes(options),
        HostsCommand::Collect(options) => collect_run(options),
        HostsCommand::StartLines(options) => match &options.hosts {
            HostNames::Named(hosts) => print(&start_lines(hosts, options.port)),
            HostNames::Local(_) | HostNames::Reached { .. } => Err(Error::usage(
                "only hosts of a Ray cluster have start lines",
                "specify the hosts of the cluster, joined by commas",
            )),
        },
    }
}

/// Asks hosts who they are; nothing is touched and nothing kept.
pub fn survey(hosts: &HostNames, targets: &[String]) -> Result<ClusterSurvey> {
    let context = Context {
        stop: crate::signals::stop_flag()?,
        guards: Guards::of_this_program(),
        ..Context::new(Store::at(std::env::temp_dir()))
    };
    cluster_survey(hosts, targets, &context)
}

fn nodes(options: &NodesOptions) -> Result<ExitStatus> {
    let found = survey(&options.hosts, &options.targets)?;
    if options.json {
        return print(&json(&found)?);
    }
    let each: String = found.hosts.iter().map(described).collect();
    print(&(each + &shared_and_different(&found)))
}

/// The answer of a run whose driver has died; that somebody killed it does not count against
/// collecting.
fn collect_run(options: &CollectOptions) -> Result<ExitStatus> {
    let asked = CriteriaSource::named(options.criteria.as_deref())?;
    let context = context(&options.store, &options.output)?;
    let run = context.store.open(&options.run)?;
    let finished = collect(&run, asked, &context)?;
    show(&finished.loaded, &finished.run, &options.output)?;
    Ok(match finished.finish {
        Finish::Failed { .. } => ExitStatus::Inconclusive,
        _ => exit_status(&Finish::Complete, finished.outcome),
    })
}

/// What several hosts have in common, and what not.
pub fn shared_and_different(found: &ClusterSurvey) -> String {
    let mut text = String::new();
    for SharedDevice { device, hosts } in &found.shared {
        let _ = writeln!(text, "shared: the device {device} is one on {}", hosts.join(", "));
    }
    for difference in &found.differences {
        let _ = writeln!(text, "differs: {difference}");
    }
    text
}

fn described(node: &HostSurvey) -> String {
    let host = &node.environment.host;
    let mut text = format!(
        "{}: {}, assay {}, Linux {}, {} CPUs, {} of memory\n",
        node.name,
        host.name,
        env!("CARGO_PKG_VERSION"),
        host.kernel,
        host.cpu.logical,
        show_bytes(real(host.memory.total_bytes))
    );
    let _ = writeln!(
        text,
        "  clock {:+.3} ms ± {:.3} ms against this machine's; minimum round trip {:.3} ms",
        real(node.clock.offset_ns.unsigned_abs()) / 1e6 * sign(node.clock.offset_ns),
        1e3 * seconds(node.clock.uncertainty_ns),
        1e3 * seconds(node.clock.round_trip_min_ns)
    );
    for storage in &node.environment.storage {
        for layer in &storage.stack.layers {
            let identity = layer.world_wide_name.as_ref().or(layer.serial.as_ref());
            let model = layer.model.as_deref().unwrap_or("no model");
            let identity = identity.map_or("no serial number", String::as_str);
            let size = show_bytes(real(layer.size_bytes));
            let _ = writeln!(text, "  {}: {model}, {identity}, {size}", layer.name);
        }
    }
    text
}

fn sign(number: i64) -> f64 {
    if number < 0 { -1.0 } else { 1.0 }
}

/// What keeps a node of Ray small: 80 MB for objects, which nobody uses, and nobody who reads its
/// programs' logs.
const LEAN: &str = "--object-store-memory=80000000 --include-log-monitor=false";

/// What is typed on each host, with what keeps Ray from disturbing a measurement.
fn start_lines(hosts: &[String], port: u16) -> String {
    let mut text = "# on every host, in the same versions of Ray and Python: pip install \
                    'assay[ray]'\nexport RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0 \
                    RAY_enable_worker_prestart=0 RAY_memory_monitor_refresh_ms=0\n"
        .to_owned();
    for (number, host) in hosts.iter().enumerate() {
        let (place, more) = if number == 0 {
            (format!("--head --port={port}"), " --include-dashboard=false --disable-usage-stats")
        } else {
            (format!("--address={}:{port}", hosts[0]), "")
        };
        let _ = writeln!(text, "# on {host}");
        if number == 0 {
            let _ = writeln!(
                text,
                "ray get-auth-token --generate   # then copy ~/.ray/auth_token to every other \
                 host, readable only by its user"
            );
        }
        let _ = writeln!(
            text,
            "ray start {place} --num-cpus=0 --labels assay.io/host={host} {LEAN}{more}"
        );
    }
    let _ = writeln!(text, "# on {}; at the end, run on every host: ray stop", hosts[0]);
    let _ = writeln!(text, "assay hosts nodes --hosts {}", hosts.join(","));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_host_is_the_head_and_every_host_has_its_label() {
        let hosts = ["hA".to_owned(), "hB".to_owned()];
        let text = start_lines(&hosts, 6380);
        assert_eq!(text.matches("ray start").count(), 2);
        assert!(
            text.contains("ray start --head --port=6380 --num-cpus=0 --labels assay.io/host=hA ")
        );
        assert!(
            text.contains("ray start --address=hA:6380 --num-cpus=0 --labels assay.io/host=hB ")
        );
        assert!(text.contains("RAY_AUTH_MODE=token") && text.contains("--disable-usage-stats"));
        assert!(text.ends_with("assay hosts nodes --hosts hA,hB\n"));
    }
}
