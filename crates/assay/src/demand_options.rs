//! How the demand of a database becomes a workload: the options of the commands that take a
//! database.

use assay_methods::PlanOptions;
use assay_model::spelling::latency;
use assay_model::units::{Nanos, Share};
use clap::Args;

/// How the demand of a profile is put to storage.
#[derive(Args)]
pub struct DemandOptions {
    /// Keep the measured queue depth instead of issuing I/Os at the measured rate
    #[arg(long)]
    closed: bool,
    /// Add this share to all rates; below 0% if the load shrinks
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = growth,
        default_value = "0%",
        allow_hyphen_values = true
    )]
    growth: f64,
    /// Headroom to add to all rates
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    headroom: Share,
    /// Tolerance within which a lower rate or a longer time counts as equal
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    parity: Share,
    /// Limit on the mean read latency; by default the profile's own
    #[arg(long, value_name = "TIME", value_parser = latency)]
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
            growth: 1.0 + self.growth,
            headroom: self.headroom,
            parity: self.parity,
            latency_limit: self.read_latency,
            duration,
            warm_up,
        }
    }
}

/// Growth as a share above or below nothing: `30%`, `-10%`. A bare number could stand for a factor,
/// and is refused.
///
/// # Errors
/// What is wrong and what to write instead, separated by a semicolon.
pub fn growth(typed: &str) -> Result<f64, String> {
    let share = typed.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = share.filter(|share| share.is_finite());
    let share =
        share.ok_or_else(|| format!("'{typed}' is not a share; write, for example, 30%"))?;
    if share > -100.0 { Ok(share / 100.0) } else { Err("use a growth above -100%".to_owned()) }
}
