//! Where a method measures: real storage in real time, or a simulated device in virtual time.

use crate::target::SimulatedDevice;
use assay_engine::device::DeviceSpec;
use assay_engine::{BackendChoice, EngineJob, Observer, OpenFile, Simulation, run};
use assay_model::Result;
use assay_model::measurement::{Finish, Measurement};
use assay_model::number::narrow;
use assay_model::units::Bytes;
use assay_model::workload::Workload;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Carries out one workload after another on the same target.
pub trait Bench {
    /// Runs a workload to its end. The conduct's busy shares say how near the host was to its own
    /// limit.
    ///
    /// # Errors
    /// Those of the engine: a workload that does not fit, a backend that cannot be set up.
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement>;

    /// The bench's clock, ns; what passes between two readings was spent on measuring and all
    /// around it.
    fn now_ns(&self) -> u64;

    /// Whether a person wants to stop.
    fn stopped(&self) -> bool;

    /// Name of the target.
    fn target(&self) -> String;

    /// The most that one I/O may move, where something below cannot split it.
    fn transfer_max(&self) -> Option<Bytes> {
        None
    }

    /// Whether the last measurement is of no use and is to be made again, as far as time is left.
    fn must_repeat(&self) -> bool {
        false
    }
}

/// A simulated device in virtual time.
pub struct SimulatedBench<'a> {
    simulation: Simulation,
    name: String,
    stop: Option<&'a AtomicBool>,
}

impl<'a> SimulatedBench<'a> {
    /// A fresh device as described.
    pub fn new(spec: &DeviceSpec) -> Self {
        Self {
            simulation: Simulation::new(spec.build(), spec.length_bytes),
            name: "simulated".to_owned(),
            stop: None,
        }
    }

    /// A fresh device of a target.
    pub fn of(device: &SimulatedDevice) -> Self {
        Self { simulation: device.simulation(), name: "simulated".to_owned(), stop: None }
    }

    /// With a flag that ends the method.
    pub fn with_stop(mut self, stop: &'a Arc<AtomicBool>) -> Self {
        self.simulation.stop_on(Arc::clone(stop));
        self.stop = Some(stop);
        self
    }
}

impl Bench for SimulatedBench<'_> {
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let mut measurement = self.simulation.run(workload, observer)?;
        // CPU time spent on simulating says nothing about a host that would drive this device.
        measurement.conduct.worker_busy_share_max = 0.0;
        measurement.conduct.host_busy_share = None;
        Ok(measurement)
    }

    fn now_ns(&self) -> u64 {
        self.simulation.now_ns()
    }

    fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn target(&self) -> String {
        self.name.clone()
    }
}

/// Opened files or devices in real time.
pub struct StorageBench<'a> {
    targets: Arc<[OpenFile]>,
    backend: BackendChoice,
    stop: &'a AtomicBool,
    host_busy: Option<Box<dyn FnMut() -> Option<f64> + 'a>>,
    began: Instant,
    failure: Option<String>,
}

impl<'a> StorageBench<'a> {
    /// Targets that the safety gate admitted; `stop` ends the running measurement and the method.
    pub fn new(targets: Arc<[OpenFile]>, backend: BackendChoice, stop: &'a AtomicBool) -> Self {
        Self { targets, backend, stop, host_busy: None, began: Instant::now(), failure: None }
    }

    /// Why the last measurement could not go on, if it could not.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// With a reader of the host's busy share (0..=1) since it was last called; asked around each
    /// measurement.
    pub fn with_host_busy(mut self, host_busy: impl FnMut() -> Option<f64> + 'a) -> Self {
        self.host_busy = Some(Box::new(host_busy));
        self
    }
}

impl Bench for StorageBench<'_> {
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let job = EngineJob {
            workload,
            targets: Arc::clone(&self.targets),
            backend: self.backend,
            passes: None,
        };
        self.host_busy.as_mut().and_then(|busy| busy());
        let mut measurement = run(&job, self.stop, observer)?;
        if let Finish::Failed { reason } = &measurement.finish {
            self.failure = Some(reason.clone());
        }
        measurement.conduct.host_busy_share = self.host_busy.as_mut().and_then(|busy| busy());
        Ok(measurement)
    }

    fn now_ns(&self) -> u64 {
        narrow(self.began.elapsed().as_nanos())
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn target(&self) -> String {
        let names: Vec<&str> = self.targets.iter().map(|target| target.name.as_str()).collect();
        names.join(", ")
    }

    fn transfer_max(&self) -> Option<Bytes> {
        transfer_max(&self.targets).map(|(_, most)| most)
    }
}

/// The most that one I/O may move and the target that says so, where commands go past the block
/// layer.
pub fn transfer_max(targets: &[OpenFile]) -> Option<(&str, Bytes)> {
    let limits = targets.iter().filter_map(|target| {
        let most = target.passthrough.as_ref()?.transfer_bytes_max();
        Some((target.name.as_str(), Bytes(most)))
    });
    limits.min_by_key(|(_, most)| most.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_engine::Ignore;
    use assay_model::units::{Bytes, Nanos, Share};
    use assay_model::workload::Stream;

    fn workload() -> Workload {
        let stream = Stream::closed("reads", Share(1.0), Bytes(4096), 4);
        Workload { interval: Nanos(10_000_000), ..Workload::of("bench", Nanos(50_000_000), stream) }
    }

    /// This crate's own manifest as a target that nobody touches: the null backend carries nothing
    /// out.
    fn target() -> OpenFile {
        OpenFile {
            name: "nothing".to_owned(),
            file: std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap(),
            first_byte: 0,
            length_bytes: 1 << 20,
            alignment_bytes: 512,
            writable: false,
            direct: false,
            passthrough: None,
        }
    }

    #[test]
    fn storage_is_measured_in_real_time_and_stops_when_told() {
        let stop = AtomicBool::new(false);
        let mut shares = [0.1, 0.7].into_iter();
        let mut bench = StorageBench::new([target()].into(), BackendChoice::Null, &stop)
            .with_host_busy(|| shares.next());
        let before_ns = bench.now_ns();
        let measurement = bench.measure(&workload(), &mut Ignore).unwrap();
        assert!(bench.now_ns() - before_ns >= 50_000_000);
        assert!(measurement.iops() > 0.0);
        assert_eq!(measurement.conduct.host_busy_share, Some(0.7));
        assert_eq!((bench.target(), bench.stopped()), ("nothing".to_owned(), false));
        stop.store(true, Ordering::Relaxed);
        assert!(bench.stopped());
    }

    #[test]
    fn simulating_is_no_work_of_the_host() {
        let spec = DeviceSpec::parse("servers?count=8&service=200us").unwrap();
        let mut bench = SimulatedBench::new(&spec);
        let measurement = bench.measure(&workload(), &mut Ignore).unwrap();
        assert!(measurement.conduct.worker_busy_share_max < f64::EPSILON);
        assert!(bench.now_ns() >= 50_000_000 && !bench.stopped());
    }
}
