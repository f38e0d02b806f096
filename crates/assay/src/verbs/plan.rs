//! `assay plan`: from what a database asked of its storage to a workload that asks the same.

use crate::exit::{ExitStatus, print};
use crate::options::quantity;
use assay_app::new_file::write_new;
use assay_app::reports::read_profile;
use assay_methods::{PlanOptions, plan};
use assay_model::Result;
use assay_model::units::{Nanos, Share};
use clap::Args;
use std::path::PathBuf;

/// Makes a workload of a profile or a report: what a storage must carry to carry that database
#[derive(Args)]
pub struct Options {
    /// A profile (`*.profile.json`), or an AWR or Statspack report
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
    #[command(flatten)]
    demand: DemandOptions,
    /// Measured time of the workload
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "60s")]
    duration: Nanos,
    /// Write the workload to this new file instead of printing it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How the demand of a profile is put to storage.
#[derive(Args)]
pub struct DemandOptions {
    /// Keep the measured number of I/Os outstanding instead of arriving at the measured rate
    #[arg(long)]
    closed: bool,
    /// Multiply the rates: 1.5 is half as much again
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    growth: f64,
    /// Ask for so much on top
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "0%")]
    headroom: Share,
    /// How much lower a rate or higher a time may be and still be on a par
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "5%")]
    parity: Share,
    /// Limit on mean times of reads, instead of the profile's own
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>)]
    read_latency: Option<Nanos>,
}

impl DemandOptions {
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
    let profile = read_profile(&options.profile)?;
    let warm_up = PlanOptions::default().warm_up;
    let plan = plan(&profile, &options.demand.plan(options.duration, warm_up))?;
    let text = plan.to_toml()?;
    match &options.output {
        None => print(&text),
        Some(path) => {
            write_new(path, text.as_bytes())?;
            Ok(ExitStatus::Success)
        }
    }
}
