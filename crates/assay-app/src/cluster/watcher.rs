//! A node that looks on: it reads the machine at moments that all hosts have in common.

use assay_cluster::protocol::{Began, MeasuredPart, NodeAnswer, WatchOrder};
use assay_engine::monotonic_ns;
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_host::watch::{HostWatch, busy_disks, device_names};
use assay_model::Result;
use assay_model::counters::CpuCounters;
use assay_model::measurement::{
    Conduct, Finish, Measurement, NamedResult, Operation, OperationResult, PerOperation, Window,
};
use assay_model::watch::Moment;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a wait may last before it looks whether it is to end.
const NAP: Duration = Duration::from_millis(20);
/// Name of the stream that the devices of a host are.
const DEVICES: &str = "devices";

/// What is read, and when.
pub(super) struct HostsWatcher {
    devices: Vec<String>,
    interval_ns: u64,
    length_ns: u64,
}

impl HostsWatcher {
    /// Finds the devices.
    ///
    /// # Errors
    /// That a target is not there.
    pub(super) fn new(order: &WatchOrder) -> Result<Self> {
        let root = SysRoot::live();
        let paths: Vec<&Path> = order.targets.iter().map(Path::new).collect();
        let devices = if paths.is_empty() {
            busy_disks(&root)
        } else {
            let found = capture_environment(&root, &paths, &[])?;
            device_names(found.storage.iter().map(|storage| &storage.stack))
        };
        let length_ns = order.length_ns.unwrap_or(u64::MAX / 4);
        Ok(Self { devices, interval_ns: order.interval_ns.max(1), length_ns })
    }

    /// Reads the machine from a moment on, until the time is over or somebody stops it.
    pub(super) fn watch(
        self,
        at_ns: u64,
        stop: &AtomicBool,
        say: &mut dyn FnMut(MeasuredPart),
    ) -> NodeAnswer {
        wait_until(at_ns, stop);
        let mut sampler = HostWatch::new(SysRoot::live(), self.devices);
        let began_ns = monotonic_ns();
        let (mut end_ns, mut cpu) = (0, CpuCounters::default());
        while end_ns < self.length_ns {
            let start_ns = end_ns;
            end_ns = (start_ns + self.interval_ns).min(self.length_ns);
            if !wait_until(at_ns + end_ns, stop) {
                end_ns = start_ns;
                break;
            }
            let moment = sampler.sample(monotonic_ns().saturating_sub(at_ns + end_ns));
            cpu = cpu.plus(&moment.counters.cpu.unwrap_or_default());
            say(part(start_ns, end_ns, moment));
        }
        let finish = if end_ns < self.length_ns { Finish::Interrupted } else { Finish::Complete };
        let host_busy_share = (cpu.total_ns() > 0).then(|| cpu.busy_share());
        let conduct = Conduct { host_busy_share, ..Conduct::default() };
        let measurement = Measurement {
            format: 1,
            workload: DEVICES.to_owned(),
            started_unix_ns: 0,
            elapsed_ns: end_ns,
            finish,
            streams: Vec::new(),
            targets: Vec::new(),
            errors: Vec::new(),
            conduct,
        };
        let began = Some(Began { first_ns: began_ns, last_ns: began_ns });
        NodeAnswer::Finished { measurement: Box::new(measurement), began, rung: None }
    }
}

/// Waits for a moment; false where somebody stopped it before.
fn wait_until(at_ns: u64, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        match at_ns.saturating_sub(monotonic_ns()) {
            0 => return true,
            left_ns => std::thread::sleep(NAP.min(Duration::from_nanos(left_ns))),
        }
    }
}

/// What the devices did up to a moment; the kernel keeps no histograms.
fn part(start_ns: u64, end_ns: u64, moment: Moment) -> MeasuredPart {
    let mut operations = PerOperation::default();
    let mut add = |operation, ios, bytes| {
        let result = OperationResult { ios, bytes, ..OperationResult::default() };
        operations.slot(operation).get_or_insert_default().merge(&result);
    };
    for device in &moment.counters.devices {
        add(Operation::Read, device.counters.read_ios, device.counters.read_bytes);
        add(Operation::Write, device.counters.write_ios, device.counters.write_bytes);
    }
    let time_ns = moment.counters.time_ns;
    let queue_depth = moment.counters.devices.iter().map(|one| one.rates(time_ns).queue_depth_mean);
    let stream = NamedResult { name: DEVICES.to_owned(), operations };
    MeasuredPart {
        start_ns,
        end_ns,
        queue_depth_mean: queue_depth.sum(),
        joint: Window { streams: vec![stream], ..Window::default() },
        moment: Some(Box::new(moment)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_read_as_often_as_asked_and_not_after_a_stop() {
        let order = |length_ns| WatchOrder {
            targets: Vec::new(),
            interval_ns: 20_000_000,
            length_ns: Some(length_ns),
        };
        let mut parts = Vec::new();
        let watcher = HostsWatcher::new(&order(50_000_000)).unwrap();
        let end =
            watcher.watch(monotonic_ns(), &AtomicBool::new(false), &mut |part| parts.push(part));
        let spans: Vec<(u64, u64)> =
            parts.iter().map(|part| (part.start_ns / 1_000_000, part.end_ns / 1_000_000)).collect();
        assert_eq!(spans, [(0, 20), (20, 40), (40, 50)]);
        assert!(parts.iter().all(|part| part.moment.is_some()));
        let NodeAnswer::Finished { measurement, .. } = end else { panic!("{end:?}") };
        assert_eq!((measurement.finish, measurement.elapsed_ns), (Finish::Complete, 50_000_000));
        let watcher = HostsWatcher::new(&order(50_000_000)).unwrap();
        let end =
            watcher.watch(monotonic_ns(), &AtomicBool::new(true), &mut |part| panic!("{part:?}"));
        let NodeAnswer::Finished { measurement, .. } = end else { panic!("{end:?}") };
        assert_eq!(measurement.finish, Finish::Interrupted);
    }
}
