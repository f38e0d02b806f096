//! What watching the machine says to the criteria: the network of every run, and all of it where
//! only watching was done.

use assay_judge::statistics;
use assay_model::Estimate;
use assay_model::counters::{CpuCounters, DeviceCounters, TcpCounters};
use assay_model::environment::Environment;
use assay_model::number::{real, seconds};
use assay_model::verdict::NamedEstimate;
use assay_model::watch::Moment;
use assay_report::{WatchBuilder, WatchReport};

/// Samples as they are read from a run.
#[derive(Default)]
pub struct HostSamples {
    builder: WatchBuilder,
    /// The stretch that is judged: the last cell, or everything where there is none.
    cell: Option<String>,
    judged: u64,
    judged_ns: u64,
    cpu: CpuCounters,
    tcp: Option<TcpCounters>,
    devices: Vec<DeviceSeries>,
}

/// A device sample by sample.
struct DeviceSeries {
    name: String,
    counters: Vec<DeviceCounters>,
}

/// Names of the operations in criteria, with their times and counts.
type SampledOperation = (&'static str, fn(&DeviceCounters) -> (u64, u64));

const OPERATIONS: [SampledOperation; 3] = [
    ("read", |counters| (counters.read_time_ns, counters.read_ios)),
    ("write", |counters| (counters.write_time_ns, counters.write_ios)),
    ("sync", |counters| (counters.flush_time_ns, counters.flush_ios)),
];

impl HostSamples {
    /// Nothing yet; only samples of this cell will be judged, where there is one.
    pub fn new(cell: Option<&str>) -> Self {
        Self { cell: cell.map(str::to_owned), ..Self::default() }
    }

    /// Adds the next sample.
    pub fn add(&mut self, moment: &Moment) {
        self.builder.add(moment);
        if self.cell.is_some() && moment.cell != self.cell {
            return;
        }
        self.judged += 1;
        self.judged_ns += moment.counters.time_ns;
        self.cpu = self.cpu.plus(&moment.counters.cpu.unwrap_or_default());
        if let Some(tcp) = moment.tcp {
            self.tcp = Some(self.tcp.unwrap_or_default().plus(&tcp));
        }
        for device in &moment.counters.devices {
            let known = self.devices.iter_mut().find(|known| known.name == device.name);
            match known {
                Some(series) => series.counters.push(device.counters),
                None => self.devices.push(DeviceSeries {
                    name: device.name.clone(),
                    counters: vec![device.counters],
                }),
            }
        }
    }

    /// The network: a count of what happened, so without an interval; unknown where almost nothing
    /// was sent.
    pub fn network(&self) -> Vec<NamedEstimate> {
        // A limit of half a percent is five segments of these; of fewer, one that is lost by chance
        // would decide.
        const FEWEST_SEGMENTS: u64 = 1000;
        let counted = self.tcp.filter(|tcp| tcp.out_segments >= FEWEST_SEGMENTS);
        let known = counted.and_then(|tcp| Some((tcp.retransmit_share()?, tcp)));
        let estimate = known.map(|(share, tcp)| NamedEstimate {
            quantity: "host.tcp_retransmits".to_owned(),
            subject: None,
            estimate: Estimate::exact(share, tcp.out_segments),
        });
        estimate.into_iter().collect()
    }

    /// Everything that watching alone can show: processors, network, and the times of each volume
    /// by the kernel's count. The volumes are the topmost devices under the targets.
    pub fn everything(&self, environment: Option<&Environment>) -> Vec<NamedEstimate> {
        let mut given = self.network();
        if self.cpu.total_ns() > 0 {
            given.push(NamedEstimate {
                quantity: "host.cpu_busy".to_owned(),
                subject: None,
                estimate: Estimate::exact(self.cpu.busy_share(), self.judged),
            });
        }
        let volumes = volumes(environment);
        let meant = |series: &&DeviceSeries| volumes.is_empty() || volumes.contains(&series.name);
        for series in self.devices.iter().filter(meant) {
            let moment_s = seconds(self.judged_ns) / real(self.judged.max(1));
            given.extend(OPERATIONS.iter().filter_map(|one| series.time(one, moment_s)));
        }
        given
    }

    /// What a report shows of it.
    pub fn finish(self) -> Option<WatchReport> {
        self.builder.finish()
    }
}

impl DeviceSeries {
    /// Mean time of an operation with its interval; `None` where it barely happened.
    fn time(&self, (name, of): &SampledOperation, moment_s: f64) -> Option<NamedEstimate> {
        let counted = self.counters.iter().map(of);
        let (times, ios): (Vec<f64>, Vec<f64>) =
            counted.map(|(time_ns, ios)| (real(time_ns), real(ios))).unzip();
        Some(NamedEstimate {
            quantity: format!("target.{name}.service_time.mean"),
            subject: Some(self.name.clone()),
            estimate: statistics::ratio(&times, &ios, moment_s).ok()?,
        })
    }
}

/// The topmost device under each target.
fn volumes(environment: Option<&Environment>) -> Vec<String> {
    let storage = environment.map_or(&[][..], |environment| &environment.storage);
    let tops = storage.iter().filter_map(|storage| storage.stack.layers.first());
    tops.map(|layer| layer.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::counters::{Counters, NamedDevice};

    /// A second in which a device served that many reads of 4 ms each, and one segment of 200 was
    /// sent again.
    fn moment(read_ios: u64, cell: Option<&str>) -> Moment {
        Moment {
            cell: cell.map(str::to_owned),
            counters: Counters {
                time_ns: 1_000_000_000,
                devices: vec![NamedDevice {
                    name: "sda".to_owned(),
                    outstanding_ios: 0,
                    counters: DeviceCounters {
                        read_ios,
                        read_time_ns: 4_000_000 * read_ios,
                        ..DeviceCounters::default()
                    },
                }],
                cpu: Some(CpuCounters { user_ns: 3, idle_ns: 1, ..CpuCounters::default() }),
                ..Counters::default()
            },
            tcp: Some(TcpCounters {
                out_segments: 200,
                retransmitted_segments: 1,
                ..TcpCounters::default()
            }),
            ..Moment::default()
        }
    }

    #[test]
    fn watching_alone_tells_processors_network_and_volumes() {
        let mut watched = HostSamples::new(None);
        (1..=20).for_each(|second| watched.add(&moment(10 * second, None)));
        let given = watched.everything(None);
        let of = |quantity: &str| {
            let found = given.iter().find(|given| given.quantity == quantity);
            found.unwrap().estimate.value
        };
        assert!((of("host.cpu_busy") - 0.75).abs() < 1e-12);
        assert!((of("host.tcp_retransmits") - 0.005).abs() < 1e-12);
        assert!((of("target.read.service_time.mean") - 4e6).abs() < 1e-3);
        assert!(!given.iter().any(|given| given.quantity.contains("write")));
    }

    #[test]
    fn only_the_measured_cell_is_judged_and_all_is_shown() {
        let mut watched = HostSamples::new(Some("run"));
        (1..=5).for_each(|second| watched.add(&moment(second, None)));
        (1..=4).for_each(|second| watched.add(&moment(second, Some("run"))));
        assert!(watched.network().is_empty(), "800 segments are too few");
        watched.add(&moment(5, Some("run")));
        assert_eq!(watched.network()[0].estimate.n, 1000);
        assert_eq!(watched.finish().unwrap().summary.moments, 10);
        assert!(HostSamples::new(Some("run")).network().is_empty());
    }
}
