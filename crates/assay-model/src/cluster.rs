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

/// Several hosts that measured one workload together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Version of the document's form: 1.
    pub format: u32,
    /// How lines reached the nodes.
    pub transport: Transport,
    /// The hosts, in the order in which they were named.
    pub hosts: Vec<ClusterHost>,
    /// How well they began together; nothing where they did not begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<CommonStart>,
    /// The time that all of them measured.
    pub window: CommonWindow,
    /// The load that all of this is of, where several were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// What all hosts give together against each of them alone, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Sharing>,
    /// I/Os per second of all hosts together, from intervals of their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Bytes a second of all hosts together, from intervals of their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bytes_per_s: Option<Estimate>,
    /// Jain's index over the hosts' rates, 1/n..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness_coefficient: Option<f64>,
    /// Hosts that differ from the others by more than chance, the remarkable ones alone.
    pub stragglers: Vec<Straggler>,
}

/// One host of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterHost {
    /// As it was named.
    pub name: String,
    /// What it calls itself.
    pub host_name: String,
    /// Its clock against the driver's.
    pub clock: HostClock,
    /// From the common start to the first of its workers, ns; negative where it began early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_error_ns: Option<i64>,
    /// I/Os in the common window.
    pub ios: u64,
    /// Bytes moved in the common window.
    pub bytes: u64,
    /// I/Os that failed in the common window.
    pub errors: u64,
    /// Its I/Os per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Its part of all I/Os, 0..=1.
    pub share: f64,
    /// Its service times by operation.
    pub latencies: Vec<HostLatency>,
    /// Share of its processors' time that was busy, 0..=1, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_busy_share: Option<f64>,
    /// Largest share of a worker's time that it was running, 0..=1, where the host came to its
    /// end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_busy_share_max: Option<f64>,
    /// I/Os per second over the common window, in at most 120 equal parts of its intervals.
    pub rates_iops: Vec<f64>,
    /// What it does with all other hosts idle, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<HostAlone>,
    /// Longest time for which its program did not run at all while it measured, ns, where that was
    /// a second or more: its machine was paused, or had no processor for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood_still_ns: Option<u64>,
    /// Why and when it was lost, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<HostLoss>,
}

/// A host with all others idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostAlone {
    /// Mean service time of one I/O at a time, ns.
    pub base_service_time_ns: f64,
    /// Its I/Os per second under the load that it has when all hosts measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
}

/// Who limits what hosts give together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SharedLimit {
    /// The hosts themselves: together they give what each gives alone, and what they share may have
    /// more.
    Hosts,
    /// What they share: together they give less.
    Shared,
    /// The interval allows both.
    Unclear,
}

/// What hosts give together against each of them alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// I/Os per second of those hosts together over the sum of each of them alone.
    pub ratio: Estimate,
    /// The hosts that were measured alone.
    pub hosts: u32,
    /// Who limits them.
    pub limit: SharedLimit,
}

/// A host's monotonic clock against the driver's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostClock {
    /// How far it is ahead, ns, at the start.
    pub offset_ns: i64,
    /// What the offset may be off by, ns, either way.
    pub uncertainty_ns: u64,
    /// How fast it leaves the driver's clock, parts per billion, where the run was long enough to
    /// say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppb: Option<i64>,
    /// Shortest way there and back, ns.
    pub round_trip_min_ns: u64,
    /// Questions that it answered.
    pub pings: u64,
    /// By how much it jumped, ns, as the clock of a machine does that was suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump_ns: Option<u64>,
}

/// Service times of one operation on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostLatency {
    /// The operation.
    pub operation: Operation,
    /// I/Os behind it.
    pub ios: u64,
    /// Half of them were faster, ns.
    pub p50_ns: u64,
    /// 99 of 100 were faster, ns.
    pub p99_ns: u64,
    /// The slowest, ns.
    pub max_ns: u64,
}

/// The loss of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostLoss {
    /// When it was noticed, ns after the start; negative before it.
    pub after_ns: i64,
    /// What was seen of it.
    pub reason: String,
}

/// How well several hosts began together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommonStart {
    /// From the first worker of all hosts to the last, ns.
    pub skew_ns: u64,
    /// What the skew may be off by, ns.
    pub uncertainty_ns: u64,
    /// What skew and uncertainty together may be for the intervals to mean the same time
    /// everywhere, ns.
    pub limit_ns: u64,
    /// The host that began first.
    pub first: String,
    /// The host that began last.
    pub last: String,
    /// Tries until all hosts knew the start in time.
    pub attempts: u32,
}

/// The time that all hosts measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommonWindow {
    /// Intervals that all of them completed.
    pub intervals: u64,
    /// Their length together, ns.
    pub elapsed_ns: u64,
    /// Intervals of single hosts that are in no sum, because others did not complete them.
    pub left_out: u64,
}

/// What is remarkable about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StragglerKind {
    /// It does fewer I/Os per second than the others.
    Rate,
    /// The slowest hundredth of its I/Os takes longer than that of the others.
    Tail,
}

/// A host that differs from the others by more than chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Straggler {
    /// Its name.
    pub host: String,
    /// What differs.
    pub kind: StragglerKind,
    /// Its value over the median of the others at the same times.
    pub ratio: Estimate,
    /// Where the cause likely is.
    pub place: String,
}

/// What several hosts say of themselves before anything is measured on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterSurvey {
    /// Version of the document's form: 1.
    pub format: u32,
    /// The hosts, in the order in which they were named.
    pub hosts: Vec<HostSurvey>,
    /// Devices that several of them have.
    pub shared: Vec<SharedDevice>,
    /// What is not the same on all of them, each with who has what.
    pub differences: Vec<String>,
}

/// What a host says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostSurvey {
    /// As it was named.
    pub name: String,
    /// Its clock against the driver's.
    pub clock: HostClock,
    /// The host, what is below the targets on it, and its findings.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::environment"))]
    pub environment: Environment,
}

/// A device that several hosts have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SharedDevice {
    /// Its world-wide name or serial number.
    pub device: String,
    /// The hosts that have it.
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
