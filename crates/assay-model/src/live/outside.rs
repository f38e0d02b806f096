//! What a profile needs beyond the server's own words: a book of statistics, and what the host tells.

use crate::Estimate;
use crate::counters::NamedDevice;
use crate::profile::ReadTimes;

/// Intervals of what was sampled; neighbouring looks may resemble one another, and allowing for that is the task of
/// whoever implements this. `None` where there is too little to say.
pub trait Bars {
    /// The mean of equally long observations.
    fn mean(&self, observations: &[f64]) -> Option<Estimate>;
    /// The sum of the numerators over the sum of the denominators.
    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate>;
}

/// What the server does not know itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outside {
    /// The name of the profile, for people.
    pub name: String,
    /// The host, where it is known.
    pub host: Option<String>,
    /// Times of reads that were seen beside the server.
    pub read_times: Vec<ReadTimes>,
    /// Processors of the host, where it is this one.
    pub processors: Option<u64>,
    /// What the devices under the data directory did in the interval, where they are this host's.
    pub device: Option<NamedDevice>,
    /// CPU time that this program took, seconds.
    pub own_cpu_s: f64,
    /// Whether the interval went to its end.
    pub complete: bool,
}
