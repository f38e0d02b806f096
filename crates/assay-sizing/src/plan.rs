//! What is asked of a sizing.

use assay_model::array::RaidLevel;
use assay_model::calendar::Day;
use assay_model::sizing::FailingPart;
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::{Error, Result};

/// More volumes than this are in no stripe.
const STRIPES_MAX: u32 = 256;

/// Which of several profiles counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// The highest of each quantity.
    Max,
    /// The value that 95 of 100 profiles do not exceed.
    Quantile95,
    /// A multiple of the mean.
    TimesMean(f64),
}

/// A demand that is given and not read from profiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GivenDemand {
    /// I/Os per second.
    pub rate: Rate,
    /// Share of reads in --iops.
    pub read_share: Share,
    /// Mean bytes of one.
    pub block_size: Bytes,
    /// Bytes a second, where they are not the product of both.
    pub throughput_per_s: Option<Bytes>,
}

/// Everything that is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct SizingPlan {
    /// The demand, where it is not that of profiles.
    pub given: Option<GivenDemand>,
    /// Whether several databases share the storage: their demands are added up.
    pub consolidates: bool,
    /// Which of several profiles counts.
    pub peak: Peak,
    /// How long a peak lasts: credits may carry it; without it everything is sustained.
    pub peak_time: Option<Nanos>,
    /// Growth a year.
    pub growth: f64,
    /// Years of it.
    pub years: u32,
    /// Share that is added to the peak.
    pub headroom: Share,
    /// Bytes of the database today.
    pub capacity: Option<Bytes>,
    /// Space for snapshots, as a share of the data.
    pub snapshots: Share,
    /// Space for log, temporary data and backups.
    pub other: Bytes,
    /// Maximum share of the capacity in use.
    pub fill: Share,
    /// Longest mean time of a read.
    pub read_latency: Option<Nanos>,
    /// How devices are put together.
    pub raid: Vec<RaidLevel>,
    /// Members of a group with parity.
    pub group_members: u32,
    /// Parts of which one may fail.
    pub survives: Vec<FailingPart>,
    /// Volumes in a stripe at most.
    pub stripes_max: u32,
    /// Virtual machine that volumes are attached to.
    pub instance: Option<String>,
    /// The kind of ports between host and array.
    pub port: Option<String>,
    /// Share of what one device or array can do that is planned for.
    pub used: Share,
    /// Years over which to spread purchase prices.
    pub lifetime_years: u32,
    /// Names of the entries that are considered; all where empty.
    pub only: Vec<String>,
    /// Prices older than two years count.
    pub accepts_old_prices: bool,
    /// The day on which prices are looked at.
    pub day: Day,
}

impl SizingPlan {
    /// What is asked where nothing else is said: the highest of the profiles and 30% on top.
    pub fn new(day: Day) -> Self {
        Self {
            given: None,
            consolidates: false,
            peak: Peak::Max,
            peak_time: None,
            growth: 0.0,
            years: 0,
            headroom: Share(0.3),
            capacity: None,
            snapshots: Share(0.0),
            other: Bytes(0),
            fill: Share(0.8),
            read_latency: None,
            raid: vec![RaidLevel::Raid10],
            group_members: 8,
            survives: Vec::new(),
            stripes_max: 8,
            instance: None,
            port: None,
            used: Share(1.0),
            lifetime_years: 3,
            only: Vec::new(),
            accepts_old_prices: false,
            day,
        }
    }

    /// Whether one of these parts may fail.
    pub fn survives(&self, part: FailingPart) -> bool {
        self.survives.contains(&part)
    }

    /// Longest mean time of a read, s; infinite where none was asked for.
    pub fn latency_limit_s(&self) -> f64 {
        self.read_latency.map_or(f64::INFINITY, Nanos::seconds)
    }

    /// Growth over all years.
    pub fn growth_factor(&self) -> f64 {
        (1.0 + self.growth).powi(i32::try_from(self.years).unwrap_or(i32::MAX))
    }

    /// Refuses what cannot be asked.
    ///
    /// # Errors
    /// A usage error that names the option.
    pub fn check(&self) -> Result<()> {
        let times = match self.peak {
            Peak::TimesMean(times) => times,
            Peak::Max | Peak::Quantile95 => 1.0,
        };
        let rate = self.given.map_or(1.0, |given| given.rate.0);
        let refusals = [
            (
                rate.is_finite() && rate > 0.0,
                "--iops: above 0; omit it to size by --capacity alone",
            ),
            (times.is_finite() && times > 0.0, "--peak: a multiple above 0, for example 2x"),
            (self.growth.is_finite() && self.growth > -1.0, "--growth: above -100%"),
            (self.years <= 50, "--years: at most 50"),
            (self.fill.0 > 0.0, "--fill: above 0%"),
            (self.used.0 > 0.0, "--use: above 0%"),
            ((1..=STRIPES_MAX).contains(&self.stripes_max), "--stripes: 1 to 256"),
            (self.lifetime_years > 0, "--lifetime: at least 1"),
            (!self.raid.is_empty(), "--raid: at least one level"),
            ((4..=64).contains(&self.group_members), "--raid-group: 4 to 64 members"),
            (self.read_latency.is_none_or(|limit| limit.0 > 0), "--read-latency: above 0s"),
        ];
        let wrong = refusals.into_iter().find(|(holds, _)| !holds);
        match wrong {
            None => Ok(()),
            Some((_, what)) => Err(Error::usage("these options cannot be used for sizing", what)),
        }
    }
}
