//! What a profile needs beyond the server's own words: a book of statistics, and what the host
//! says.

use assay_model::Estimate;
use assay_model::counters::NamedDevice;
use assay_model::number::{count, nanoseconds};
use assay_model::profile::{IoSample, ProcessIo, ProfileProduct, ProfileSource, ReadTimes};
use assay_model::run::Utc;

/// Intervals of what was sampled; neighbouring samples may resemble one another, and allowing for
/// that is the task of the implementation. `None` where there is too little to say.
pub trait IntervalEstimator {
    /// The mean of equally long observations.
    fn mean(&self, observations: &[f64]) -> Option<Estimate>;
    /// The sum of the numerators over the sum of the denominators.
    fn ratio(&self, numerators: &[f64], denominators: &[f64]) -> Option<Estimate>;
}

/// What the server does not know itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostContext {
    /// The name of the profile, for people.
    pub name: String,
    /// The host, where it is known.
    pub host: Option<String>,
    /// Times of reads that were seen from outside the server.
    pub read_times: Vec<ReadTimes>,
    /// Processors of the host, where it is this one.
    pub processors: Option<u64>,
    /// Busy share of them in the interval, of all that ran, 0..=1.
    pub busy_share: Option<f64>,
    /// What the devices under the data directory did in the interval, where they are this host's;
    /// of all programs.
    pub device: Option<NamedDevice>,
    /// What the server's processes moved from and to storage.
    pub process_io: Option<ProcessIo>,
    /// The server's own I/O, second after second.
    pub io_by_second: Vec<IoSample>,
    /// CPU time that this program took, seconds.
    pub own_cpu_s: f64,
    /// Whether the interval went to its end.
    pub complete: bool,
}

impl HostContext {
    /// Where a profile comes from whose snapshots were taken at these moments, seconds since 1970.
    pub fn source(
        &self,
        product: ProfileProduct,
        release: &str,
        begin_s: f64,
        end_s: f64,
    ) -> ProfileSource {
        let at = |moment_s: f64| Some(Utc::of(nanoseconds(moment_s)).to_string());
        ProfileSource {
            product,
            kind: "live".to_owned(),
            release: Some(release.to_owned()),
            database_id: None,
            instance_number: None,
            host: self.host.clone(),
            snapshots: None,
            begin: at(begin_s),
            begin_clock_s: i64::try_from(count(begin_s)).ok(),
            end: at(end_s),
            complete: self.complete,
        }
    }
}

/// What one of two snapshots could not tell, that of the later one first.
pub fn missing_in_either(before: &[String], after: &[String]) -> Vec<String> {
    let earlier = before.iter().filter(|one| !after.contains(one));
    after.iter().chain(earlier).cloned().collect()
}
