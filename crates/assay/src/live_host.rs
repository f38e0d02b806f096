//! The host while somebody looks on: how busy its processors are and how many tasks are ready, once
//! a second.

use assay_app::host_sampler::SamplerPace;
use assay_host::root::SysRoot;
use assay_host::watch::HostWatch;
use assay_monitor::Monitor;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(1);

/// The thread that samples; it ends when this is dropped.
pub struct LiveHost {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveHost {
    /// Samples until the end, at the cost of the monitor; without a thread those who look on see no
    /// processors.
    pub fn begin(monitor: &Monitor) -> Self {
        let (end, wait) = channel();
        let of = monitor.clone();
        let builder = thread::Builder::new().name("live host".to_owned());
        let thread = builder.spawn(move || sample(&of, &wait)).ok();
        Self { end: Some(end), thread }
    }
}

impl Drop for LiveHost {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn sample(monitor: &Monitor, wait: &Receiver<()>) {
    let mut sampler = HostWatch::new(SysRoot::live(), Vec::new());
    let mut pace = SamplerPace::new(EVERY);
    while wait.recv_timeout(pace.left()) == Err(RecvTimeoutError::Timeout) {
        let late_ns = pace.step();
        let moment = monitor.at_cost(|| sampler.sample(late_ns));
        monitor.sample(&moment);
    }
}
