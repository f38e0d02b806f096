//! What several hosts that measured together came to: how well they began together, what each gave,
//! which were lost.

use crate::environment::Environment;
use crate::estimate::Estimate;
use crate::measurement::Operation;
use serde::{Deserialize, Serialize};

/// How lines reach the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Pipes to processes on the driver's own machine.
    #[default]
    Local,
    /// Actors of a Ray cluster.
    Ray,
    /// Programs that `ssh`, or a command of its kind, started.
    Ssh,
}

/// Joint measurement of one workload on several hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Version of the document format: 1.
    pub format: u32,
    /// Transport between the driver and the hosts.
    pub transport: Transport,
    /// Hosts in command-line order.
    pub hosts: Vec<ClusterHost>,
    /// Synchronization of the start; absent if the measurement did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<CommonStart>,
    /// Measurement time common to all hosts.
    pub window: CommonWindow,
    /// Name of the measured load; absent unless several loads were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// Total rate relative to the hosts' single rates; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// Total I/Os per second of all hosts, from summed intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Total bytes per second of all hosts, from summed intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Estimate>,
    /// Jain's fairness index of the hosts' rates, 1/n..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness_coefficient: Option<f64>,
    /// Hosts that deviate significantly and substantially from the others.
    pub stragglers: Vec<Straggler>,
}

/// Results of one host of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterHost {
    /// Name of the host from the command line.
    pub name: String,
    /// Name that the host reports.
    pub host_name: String,
    /// Clock relative to the driver's clock.
    pub clock: HostClock,
    /// Delay from the common start to the first worker start, ns; negative if early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_error_ns: Option<i64>,
    /// I/Os in the common window.
    pub ios: u64,
    /// Bytes transferred in the common window.
    pub bytes: u64,
    /// Failed I/Os in the common window.
    pub errors: u64,
    /// I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Share of all I/Os, 0..=1.
    pub share: f64,
    /// Service times by operation.
    pub latencies: Vec<HostLatency>,
    /// CPU utilization of the host, 0..=1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// Maximum share of a worker's time that it was running, 0..=1; absent if the host did not
    /// finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_busy_share_max: Option<f64>,
    /// I/Os per second over the common window, in up to 120 equal parts of its intervals.
    pub rates_iops: Vec<f64>,
    /// Results with all other hosts idle; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<HostAlone>,
    /// Longest pause of the program during the measurement, ns, because its host was paused or had
    /// no free CPU; absent if shorter than 1 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood_still_ns: Option<u64>,
    /// Reason and time of the loss of the host; absent if it was not lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<HostLoss>,
}

/// Results of a host with all others idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostAlone {
    /// Mean service time at queue depth 1, ns.
    pub base_service_time_ns: f64,
    /// I/Os per second under the host's load of the joint measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
}

/// Factor that limits the total rate of several hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SharedLimit {
    /// Hosts: the total equals the sum of the single rates, and shared components may have spare
    /// capacity.
    Hosts,
    /// Shared components: the total is below the sum of the single rates.
    Shared,
    /// Undetermined: the interval allows both.
    Unclear,
}

/// Total rate of several hosts relative to the sum of their single rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// Ratio of the total I/Os per second to the sum of the single rates.
    pub ratio: Estimate,
    /// Number of hosts measured alone.
    pub hosts: u32,
    /// Limiting factor.
    pub limit: SharedLimit,
}

/// Monotonic clock of a host relative to the driver's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostClock {
    /// Clock offset at the start, ns; positive if ahead.
    pub offset_ns: i64,
    /// Uncertainty of the offset, ± ns.
    pub uncertainty_ns: u64,
    /// Clock drift relative to the driver's clock, parts per billion; absent if the run was too
    /// short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppb: Option<i64>,
    /// Minimum round-trip time, ns.
    pub round_trip_min_ns: u64,
    /// Number of answered pings.
    pub pings: u64,
    /// Clock jump, ns, for example after a suspend of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump_ns: Option<u64>,
}

/// Service times of one operation on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostLatency {
    /// Type of operation.
    pub operation: Operation,
    /// Number of I/Os.
    pub ios: u64,
    /// Median service time (p50), ns.
    pub p50_ns: u64,
    /// p99 service time, ns.
    pub p99_ns: u64,
    /// Maximum service time, ns.
    pub max_ns: u64,
}

/// Loss of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostLoss {
    /// Time of detection, ns after the start; negative before the start.
    pub after_ns: i64,
    /// Observed symptom.
    pub reason: String,
}

/// Synchronization of the start of several hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommonStart {
    /// Time between the first and the last worker start of all hosts, ns.
    pub skew_ns: u64,
    /// Uncertainty of the skew, ns.
    pub uncertainty_ns: u64,
    /// Maximum of skew plus uncertainty for which intervals are simultaneous on all hosts, ns.
    pub limit_ns: u64,
    /// First host to start.
    pub first: String,
    /// Last host to start.
    pub last: String,
    /// Attempts until all hosts received the start time early enough.
    pub attempts: u32,
}

/// Measurement time common to all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommonWindow {
    /// Intervals completed by all hosts.
    pub intervals: u64,
    /// Total duration of those intervals, ns.
    pub elapsed_ns: u64,
    /// Intervals of single hosts excluded from all sums, because other hosts did not complete them.
    pub left_out: u64,
}

/// Type of deviation of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StragglerKind {
    /// Fewer I/Os per second than the other hosts.
    Rate,
    /// Higher p99 service time than the other hosts.
    Tail,
}

/// Host that deviates significantly from the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Straggler {
    /// Name of the host.
    pub host: String,
    /// Type of deviation.
    pub kind: StragglerKind,
    /// Ratio to the median of the other hosts at the same times.
    pub ratio: Estimate,
    /// Probable location of the cause.
    pub place: String,
}

/// Host information collected before any measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterSurvey {
    /// Version of the document format: 1.
    pub format: u32,
    /// Hosts in command-line order.
    pub hosts: Vec<HostSurvey>,
    /// Devices visible to several hosts.
    pub shared: Vec<SharedDevice>,
    /// Differences between hosts, with the value of each host.
    pub differences: Vec<String>,
}

/// Information about one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSurvey {
    /// Name of the host from the command line.
    pub name: String,
    /// Clock relative to the driver's clock.
    pub clock: HostClock,
    /// Host facts, storage stack of the targets, and findings.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::environment"))]
    pub environment: Environment,
}

/// Device visible to several hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SharedDevice {
    /// World-wide name or serial number.
    pub device: String,
    /// Hosts that have the device.
    pub hosts: Vec<String>,
}

impl CommonStart {
    /// Whether the hosts certainly began within the limit.
    pub const fn is_together(&self) -> bool {
        self.skew_ns + self.uncertainty_ns <= self.limit_ns
    }

    /// Whether the hosts certainly did not begin within the limit: not even where the clocks are
    /// off as far as they may be.
    pub const fn is_apart(&self) -> bool {
        self.skew_ns.saturating_sub(self.uncertainty_ns) > self.limit_ns
    }

    /// Of two starts the one that is farther from being a common one.
    pub fn worse(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let apart = |start: &Self| {
            let apart_ns = start.skew_ns + start.uncertainty_ns;
            (apart_ns.saturating_sub(start.limit_ns), apart_ns)
        };
        one.into_iter().chain(other).max_by_key(apart)
    }
}

impl Cluster {
    /// The hosts that were lost.
    pub fn lost(&self) -> impl Iterator<Item = (&ClusterHost, &HostLoss)> {
        self.hosts.iter().filter_map(|host| Some((host, host.lost.as_ref()?)))
    }

    /// What was measured last, with what was found of the same hosts before it: who limits them,
    /// and the start that was worse.
    #[must_use]
    pub fn with_earlier(self, earlier: Self) -> Self {
        let start = CommonStart::worse(earlier.start, self.start.clone());
        Self { sharing: self.sharing.or(earlier.sharing), start, ..self }
    }

    /// The same with the losses that were noticed when these hosts were to measure again, and
    /// nothing was measured any more.
    #[must_use]
    pub fn with_losses_of(mut self, later: &Self) -> Self {
        for host in &mut self.hosts {
            let found = later.hosts.iter().find(|one| one.name == host.name);
            if let Some(loss) = found.and_then(|one| one.lost.clone()) {
                host.lost.get_or_insert(loss);
            }
        }
        self
    }

    /// Why the sum over the hosts decides nothing, in a sentence; nothing where it may be relied
    /// on.
    pub fn doubt(&self) -> Option<String> {
        if let Some((host, loss)) = self.lost().next() {
            return Some(format!("the host {} was lost: {}", host.name, loss.reason));
        }
        let jumped = self.hosts.iter().find(|host| host.clock.jump_ns.is_some());
        if let Some(host) = jumped {
            return Some(format!("the clock of the host {} jumped", host.name));
        }
        let still = self.hosts.iter().find_map(|host| Some((host, host.stood_still_ns?)));
        if let Some((host, still_ns)) = still {
            let still_s = crate::number::seconds(still_ns);
            return Some(format!("the host {} did not run for {still_s:.1} s", host.name));
        }
        if self.window.intervals == 0 && self.window.left_out > 0 {
            return Some("the hosts have no interval in common: nothing was measured".to_owned());
        }
        let start = self.start.as_ref().filter(|start| start.is_apart())?;
        Some(format!(
            "the hosts did not start together: {} ms apart, ± {} ms; limit: {} ms",
            milliseconds(start.skew_ns),
            milliseconds(start.uncertainty_ns),
            milliseconds(start.limit_ns)
        ))
    }
}

/// A time in milliseconds with two digits behind the point.
fn milliseconds(time_ns: u64) -> String {
    format!("{:.2}", crate::number::seconds(time_ns) * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> Cluster {
        let host = |name: &str| ClusterHost { name: name.to_owned(), ..ClusterHost::default() };
        let start = CommonStart {
            skew_ns: 900_000,
            uncertainty_ns: 700_000,
            limit_ns: 5_000_000,
            ..CommonStart::default()
        };
        Cluster {
            format: 1,
            hosts: vec![host("hA"), host("hB")],
            start: Some(start),
            ..Cluster::default()
        }
    }

    #[test]
    fn a_lost_host_a_jump_a_pause_and_a_late_one_leave_the_sum_in_doubt() {
        assert_eq!(cluster().doubt(), None);
        let mut lost = cluster();
        lost.hosts[1].lost = Some(HostLoss { after_ns: 1, reason: "silent for 3 s".to_owned() });
        assert_eq!(lost.doubt().unwrap(), "the host hB was lost: silent for 3 s");
        assert_eq!(lost.lost().count(), 1);
        let mut jumped = cluster();
        jumped.hosts[0].clock.jump_ns = Some(2_000_000_000);
        assert!(jumped.doubt().unwrap().contains("hA"));
        let mut still = cluster();
        still.hosts[1].stood_still_ns = Some(2_040_000_000);
        assert_eq!(still.doubt().unwrap(), "the host hB did not run for 2.0 s");
        let mut late = cluster();
        // It may have been too late, which nobody knows: what is not sure is said, and decides
        // nothing.
        late.start.as_mut().unwrap().uncertainty_ns = 4_100_001;
        assert!(!late.start.as_ref().unwrap().is_together() && late.doubt().is_none());
        late.start.as_mut().unwrap().skew_ns = 9_200_000;
        assert!(late.doubt().unwrap().contains("9.20 ms apart, ± 4.10 ms"));
    }

    #[test]
    fn a_loss_that_is_noticed_later_is_that_of_what_was_measured_before() {
        let mut later = cluster();
        later.hosts[1].lost = Some(HostLoss { after_ns: 5, reason: "killed".to_owned() });
        let measured = Cluster { load: Some("reads".to_owned()), ..cluster() };
        let found = measured.with_losses_of(&later);
        assert_eq!(found.doubt().unwrap(), "the host hB was lost: killed");
        let apart = CommonWindow { left_out: 4, ..CommonWindow::default() };
        let nothing = Cluster { window: apart, ..cluster() };
        assert!(nothing.doubt().unwrap().contains("no interval in common"));
        assert_eq!((found.load.as_deref(), found.hosts[0].lost.is_none()), (Some("reads"), true));
    }

    #[test]
    fn what_was_found_before_stays_and_the_worse_start_counts() {
        let ratio = Estimate::exact(0.7, 3);
        let sharing = Sharing { ratio, hosts: 2, limit: SharedLimit::Shared };
        let mut earlier = Cluster { sharing: Some(sharing), ..cluster() };
        earlier.start.as_mut().unwrap().skew_ns = 9_000_000;
        let all = cluster().with_earlier(earlier);
        assert_eq!((all.start.unwrap().skew_ns, all.sharing), (9_000_000, Some(sharing)));
        assert_eq!(CommonStart::worse(None, None), None);
    }

    #[test]
    fn it_survives_its_document() {
        let text = serde_json::to_string(&cluster()).unwrap();
        assert_eq!(serde_json::from_str::<Cluster>(&text).unwrap(), cluster());
    }
}
