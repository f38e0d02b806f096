//! `assay plan`: from what a database asked of its storage to a workload that asks the same.

use crate::exit::{ExitStatus, print};
use crate::options::{COMMON, OutputOptions, StoreOptions, context};
use assay_app::named_database::read_database;
use assay_app::new_file::write_new;
use assay_methods::{PlanOptions, plan};
use assay_model::Result;
use assay_model::units::{Nanos, Share};
use clap::Args;
use std::path::PathBuf;

/// How long a live server is watched.
const WATCH_TIME: Nanos = Nanos(60_000_000_000);

/// Turns a profile or a report into a workload: what storage must sustain to carry that database
#[derive(Args)]
#[command(after_help = "Examples:
  assay plan awr.html
  assay plan awr.html --growth 1.5 --output database.toml
  assay plan latest:8")]
pub struct Options {
    /// A report, a folder of reports, a profile, RUN, RUN:SESSIONS, or the address of a server
    #[arg(value_name = "DATABASE")]
    database: String,
    #[command(flatten)]
    demand: DemandOptions,
    /// Measured time of the workload
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "60s")]
    time: Nanos,
    /// Write the workload to this new file instead of printing it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
}

/// How the demand of a profile is put to storage.
#[derive(Args)]
pub struct DemandOptions {
    /// Keep the measured number of I/Os outstanding instead of issuing I/Os at the measured rate
    #[arg(long)]
    closed: bool,
    /// Multiply all rates by this factor; 1.5 adds half again
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    growth: f64,
    /// Add this share on top of the rates
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    headroom: Share,
    /// How much lower a rate, or higher a time, may be and still count as equal
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    parity: Share,
    /// Limit on the mean read latency, instead of the profile's own
    #[arg(long, value_name = "TIME")]
    read_latency: Option<Nanos>,
}

impl DemandOptions {
    /// How much slower still counts as equal, as a share.
    pub const fn parity(&self) -> f64 {
        self.parity.0
    }

    /// Whether limits of single classes are asked for.
    pub const fn has_limits(&self) -> bool {
        self.read_latency.is_some()
    }

    /// The method's form of the options.
    pub fn plan(&self, duration: Nanos, warm_up: Nanos) -> PlanOptions {
        PlanOptions {
            closed: self.closed,
            growth: self.growth,
            headroom: self.headroom,
            parity: self.parity,
            latency_limit: self.read_latency,
            duration,
            warm_up,
        }
    }
}

/// Carries the verb out.
///
/// # Errors
/// What the profile or the options say, or a file that cannot be written; an existing file is not overwritten.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let shown = OutputOptions { json: false, full: true, quiet: false };
    let context = context(&options.store, &shown)?;
    let profile = read_database(&options.database, WATCH_TIME, &context)?;
    let warm_up = PlanOptions::default().warm_up;
    let plan = plan(&profile, &options.demand.plan(options.time, warm_up))?;
    let text = plan.to_toml()?;
    match &options.output {
        None => print(&text),
        Some(path) => {
            write_new(path, text.as_bytes())?;
            Ok(ExitStatus::Success)
        }
    }
}
