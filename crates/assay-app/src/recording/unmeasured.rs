//! What a session does around its measurements: load that is not kept, rests, and its clock.

use super::{OpenTarget, Recording, real_time};
use assay_engine::{EngineJob, run};
use assay_methods::study::shaped;
use assay_model::Result;
use assay_model::Workload;
use assay_model::measurement::{Interval, Measurement, Window};
use assay_model::number::seconds;
use assay_model::study::Cell;
use assay_model::units::Nanos;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

impl Recording {
    /// Runs a workload of which nothing is kept: filling, preconditioning, settling.
    pub fn measure_unkept(&mut self, workload: &Workload) -> Result<Measurement> {
        let stop = Arc::clone(&self.context.stop);
        let mut observe = |_: &Interval, _: &Window| {
            // Virtual time does not look at the flag by itself.
            if stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        match &mut self.target {
            OpenTarget::Simulated(simulation, device) => {
                simulation.run(&device.hasten().workload(workload), &mut observe)
            }
            OpenTarget::Storage(storage) => {
                let job = EngineJob {
                    workload,
                    targets: Arc::clone(&storage.targets),
                    backend: self.backend,
                    passes: None,
                };
                run(&job, &self.context.stop, &mut observe)
            }
            OpenTarget::Hosts(hosts) => hosts.measure_unkept(workload),
        }
    }

    /// Makes a simulated array what a cell wants of it, where it is not already or may have failed,
    /// and lets as many hosts take part; gives the cell without that.
    pub fn shape_array(&mut self, cell: &Cell) -> Result<Cell> {
        if let OpenTarget::Hosts(hosts) = &mut self.target {
            return hosts.chosen_for(cell);
        }
        let OpenTarget::Simulated(_, device) = &mut self.target else {
            return Ok(cell.clone());
        };
        let (wanted, rest) = shaped(device, cell)?;
        if **device != wanted || wanted.fails() {
            **device = wanted;
            self.renew_array();
        }
        Ok(rest)
    }

    /// A simulated array as new, at the time it is now; other places stay as they are.
    pub fn renew_array(&mut self) -> bool {
        let OpenTarget::Simulated(simulation, device) = &mut self.target else {
            return false;
        };
        if !device.is_array() {
            return false;
        }
        let now_ns = simulation.now_ns();
        **simulation = device.simulation_at(now_ns);
        simulation.stop_on(Arc::clone(&self.context.stop));
        true
    }

    /// Time since the session began, s: virtual where the device is.
    pub fn now_s(&self) -> f64 {
        match &self.target {
            OpenTarget::Simulated(simulation, device) => {
                seconds(simulation.now_ns().saturating_mul(device.hasten().0))
            }
            OpenTarget::Storage(_) | OpenTarget::Hosts(_) => self.began.elapsed().as_secs_f64(),
        }
    }

    /// Lets time pass without load; a person's stop ends it, and so does the loss of a host, which
    /// the next load then says.
    pub fn rest(&mut self, what: &str, time: Nanos) {
        if let OpenTarget::Simulated(simulation, device) = &mut self.target {
            simulation.rest(device.hasten().shorter(time).0);
            if device.keeps_real_pace() {
                real_time::rest(device.hasten().shorter(time), &self.context.stop);
            }
            return;
        }
        let (begin, total_s) = (Instant::now(), time.seconds());
        while !self.context.stop.load(Ordering::Relaxed) {
            let left_s = total_s - begin.elapsed().as_secs_f64();
            if left_s <= 0.0 {
                break;
            }
            if let OpenTarget::Hosts(hosts) = &mut self.target
                && hosts.hear_resting().is_some()
            {
                break;
            }
            self.context.progress.show(what, 1.0 - left_s / total_s, Some(left_s));
            std::thread::sleep(Duration::from_secs_f64(left_s.min(0.2)));
        }
        self.context.progress.clear();
    }
}
