//! How a workload is made of a profile: growth, headroom, times.

use assay_model::units::{Nanos, Share};
use assay_model::{Error, Result};

/// How a workload is made of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanOptions {
    /// Keeps the measured number of I/Os outstanding instead of arriving at the measured rate.
    pub closed: bool,
    /// The rates are multiplied by it: the database of tomorrow.
    pub growth: f64,
    /// What is asked on top of that, as a share.
    pub headroom: Share,
    /// How much lower a rate or higher a time may be and still be on a par.
    pub parity: Share,
    /// Limit on mean times of reads, instead of the profile's own.
    pub latency_limit: Option<Nanos>,
    /// Measured time.
    pub duration: Nanos,
    /// Warm-up before measuring.
    pub warm_up: Nanos,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            closed: false,
            growth: 1.0,
            headroom: Share(0.0),
            parity: Share(0.05),
            latency_limit: None,
            duration: Nanos(60_000_000_000),
            warm_up: Nanos(5_000_000_000),
        }
    }
}

impl PlanOptions {
    /// What every rate is multiplied by.
    pub fn factor(&self) -> f64 {
        self.growth * (1.0 + self.headroom.0)
    }

    /// Refuses a growth that makes no load.
    ///
    /// # Errors
    /// A usage error that names the option.
    pub fn check(&self) -> Result<()> {
        if self.growth > 0.0 && self.growth <= 1000.0 {
            return Ok(());
        }
        Err(Error::usage(
            format!("a growth of {} leaves no load", self.growth),
            "use a factor above 0 and up to 1000: 1.5 means 50% more",
        ))
    }
}
