//! How many I/Os a second of CPU time a simulated device is driven with, through the whole engine.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measuring tool")]

use assay_engine::Ignore;
use assay_methods::target::SimulatedDevice;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Stream, Workload};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().unwrap();
    let seconds: u64 = arguments.next().map_or(10, |text| text.parse().unwrap());
    let read_share: f64 = arguments.next().map_or(1.0, |text| text.parse().unwrap());
    let device = SimulatedDevice::parse(&target).unwrap().unwrap();
    let stream = Stream::closed("io", Share(read_share), Bytes(8192), 64);
    let workload = Workload::of("speed", Nanos(seconds * 1_000_000_000), stream);
    let begun = Instant::now();
    let measurement = device.simulation().run(&workload, &mut Ignore).unwrap();
    let elapsed_s = begun.elapsed().as_secs_f64();
    let ios = measurement.iops() * workload.duration.seconds();
    println!(
        "{target}: {:.2} million I/Os per second ({ios:.0} in {elapsed_s:.2} s; the device did \
         {:.0} per second)",
        ios / elapsed_s / 1e6,
        measurement.iops()
    );
}
