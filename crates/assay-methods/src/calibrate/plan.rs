//! What a calibration is asked: mixes, limits and time, and what cannot be asked.

use assay_model::calibration::LatencyLimit;
use assay_model::spelling::LimitStatistic;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};

/// What to calibrate, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationPlan {
    /// The limit on a quantile of the service time or its mean, reads and writes each for
    /// themselves.
    pub limit: LatencyLimit,
    /// At least one mix.
    pub mixes: Vec<CalibrationMix>,
    /// Bytes of one small random I/O.
    pub block_size: Bytes,
    /// Bytes of one large I/O.
    pub large_block_size: Bytes,
    /// Time for each mix, warm-ups included.
    pub time_budget: Nanos,
    /// Time for each mix beyond that, for the precision of the whole curve of small transfers; 0
    /// is none.
    pub curve_time: Nanos,
    /// Outstanding I/Os of a host at most, of small and of large transfers.
    pub queue_depth_max: u32,
    /// Worker threads at most; more than one are used when one is crowded.
    pub workers_max: u32,
    /// Further limits on the same quantile or mean, each answered with the most IOPS within it.
    pub steps: Vec<Nanos>,
    /// Seed of all addresses.
    pub seed: u64,
    /// Hosts that issue together: a load is the same on each, and results count what is
    /// outstanding on all of them.
    pub hosts: u32,
}

/// A mix of reads and writes.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationMix {
    /// How it is called in results.
    pub name: String,
    /// Share of reads, 0..=1.
    pub read_share: f64,
}

impl CalibrationMix {
    /// `read`, `write`, or for example `mix 70/30`.
    pub fn of(read_share: f64) -> Self {
        let name = if read_share >= 1.0 {
            "read".to_owned()
        } else if read_share <= 0.0 {
            "write".to_owned()
        } else {
            format!("mix {:.0}/{:.0}", read_share * 100.0, (1.0 - read_share) * 100.0)
        };
        Self { name, read_share }
    }
}

impl Default for CalibrationPlan {
    /// Reads of 8 KiB and 1 MiB for 60 s, the 0.99 quantile within 1 ms.
    fn default() -> Self {
        Self {
            limit: LatencyLimit { quantile: LimitStatistic::Quantile(0.99), service_time_ns: 1e6 },
            mixes: vec![CalibrationMix::of(1.0)],
            block_size: Bytes(8192),
            large_block_size: Bytes(1 << 20),
            time_budget: Nanos(60_000_000_000),
            curve_time: Nanos(0),
            queue_depth_max: 1024,
            workers_max: 1,
            steps: Vec::new(),
            seed: 1,
            hosts: 1,
        }
    }
}

impl CalibrationPlan {
    /// All the time that a mix may take, ns: no prediction rests on the curve of writes alone.
    pub(super) fn time_ns(&self, mix: &CalibrationMix) -> u128 {
        let curve_ns = if mix.read_share > 0.0 { self.curve_time.0 } else { 0 };
        u128::from(self.time_budget.0) + u128::from(curve_ns)
    }

    /// Refuses a plan that is invalid or contradictory.
    ///
    /// # Errors
    /// A usage error that names it.
    pub fn check(&self) -> Result<()> {
        let LatencyLimit { quantile, service_time_ns } = self.limit;
        if let LimitStatistic::Quantile(quantile) = quantile
            && !(quantile > 0.0 && quantile < 1.0)
        {
            return Err(Error::usage(
                format!("{quantile} is not a valid quantile"),
                "use a quantile between 0 and 1, for example 0.99",
            ));
        }
        if !(service_time_ns > 0.0 && service_time_ns.is_finite()) {
            return Err(Error::usage(
                format!("{service_time_ns} ns is not a valid latency limit"),
                "use a limit above 0, for example 1ms",
            ));
        }
        if self.mixes.is_empty() {
            return Err(Error::usage("there is nothing to calibrate", "specify at least one mix"));
        }
        if self.time_budget.seconds() < 5.0 {
            return Err(Error::usage(
                format!("{} is too short for a calibration", self.time_budget),
                "allow at least 5s per mix; 60s is typical",
            ));
        }
        if self.queue_depth_max == 0 || self.workers_max == 0 || self.hosts == 0 {
            return Err(Error::usage(
                "at least one I/O, one worker and one host are required",
                "use at least 1 for each",
            ));
        }
        Ok(())
    }
}
