//! Dies against queueing theory, and the cliff against the theory of collection.

use super::*;
use crate::drive::Closed;
use assay_model::array::{CollectionPolicy, Spread};
use assay_model::units::{Bytes, Nanos, Rate, Share};

fn flash(dies: u32) -> Flash {
    Flash {
        dies,
        read: Nanos(100_000),
        program: Nanos(400_000),
        erase: Nanos(0),
        spread: Spread::Constant,
        page: Bytes(8192),
        pages_per_block: 64,
        buffer: Bytes(0),
        buffered_write: Nanos(0),
        over_provisioning: Share(0.0),
        collection: CollectionPolicy::Greedy,
        collection_spread: Bytes(0),
        fill: Share(0.0),
        background: Rate(0.0),
        mapped_pages: 1 << 16,
    }
}

#[test]
fn dies_bound_the_rate_of_reads_and_writes() {
    // Sixteen equal queues in a closed network (mean value analysis): X = M N / (N + M - 1) of the
    // service rate.
    let mut spread = flash(16);
    spread.spread = Spread::Exponential;
    let mut device = FlashDevice::new(&spread, 1 << 30, 1.0, 1);
    let run = Closed::reads(64).run(&mut device, 4_000_000_000);
    let expected = 10_000.0 * 16.0 * 64.0 / 79.0;
    assert!((run.iops() / expected - 1.0).abs() < 0.01, "{}", run.iops());
    let mut device = FlashDevice::new(&flash(16), 1 << 30, 1.0, 1);
    let run = Closed::reads(512).with_read_share(0.0).run(&mut device, 1_000_000_000);
    assert!((run.iops() / 40_000.0 - 1.0).abs() < 0.01, "{}", run.iops());
}

#[test]
fn one_outstanding_read_takes_the_read_time() {
    let mut device = FlashDevice::new(&flash(16), 1 << 30, 1.0, 1);
    let run = Closed::reads(1).run(&mut device, 1_000_000_000);
    assert_eq!((run.read.min_ns(), run.read.max_ns()), (100_000, 100_000));
}

#[test]
fn a_buffer_takes_a_burst_and_then_as_much_as_is_programmed() {
    let mut small = flash(4);
    (small.buffer, small.buffered_write) = (Bytes(100 * 8192), Nanos(10_000));
    let mut device = FlashDevice::new(&small, 1 << 30, 1.0, 1);
    let run = Closed::reads(1).with_read_share(0.0).run(&mut device, 1_000_000_000);
    // Four dies program 10,000 pages per second; the buffer adds its hundred.
    assert!((run.iops() / 10_100.0 - 1.0).abs() < 0.01, "{}", run.iops());
    assert_eq!(run.write.min_ns(), 10_000);
}

/// Writes a second in the long run, at random over the whole flash.
fn sustained_iops(over: f64, capacity_bytes: u64, mapped_pages: u32) -> f64 {
    let mut mapped = flash(64);
    (mapped.over_provisioning, mapped.fill) = (Share(over), Share(1.0));
    mapped.mapped_pages = mapped_pages;
    mapped.collection = CollectionPolicy::Fifo;
    let mut device = FlashDevice::new(&mapped, capacity_bytes, 1.0, 1);
    let seconds = 6 * capacity_bytes / 8192 / 160_000 + 1;
    let load = Closed {
        warm_up_ns: seconds * 3_000_000_000,
        ..Closed::reads(256).with_read_share(0.0).over(capacity_bytes)
    };
    load.run(&mut device, seconds * 1_000_000_000).iops()
}

#[test]
fn the_cliff_is_as_deep_as_amplification_says() {
    // A log with 40% more flash moves 0.96 of a page for each page written (see the layer's own
    // test).
    let expected = 64.0 / (400e-6 + 0.96 * 500e-6);
    let iops = sustained_iops(0.4, 1 << 29, 1 << 16);
    assert!((iops / expected - 1.0).abs() < 0.08, "{iops} {expected}");
}

#[test]
fn a_scaled_map_gives_the_rate_of_the_whole_one() {
    let (whole, scaled) =
        (sustained_iops(0.4, 1 << 29, 1 << 16), sustained_iops(0.4, 1 << 29, 1 << 13));
    assert!((scaled / whole - 1.0).abs() < 0.08, "{whole} {scaled}");
}
