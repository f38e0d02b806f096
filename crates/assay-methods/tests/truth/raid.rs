//! RAID-5 on disks with command queues, whose rate collapses under deep queues, and its answers by
//! long simulations.
#![allow(clippy::unwrap_used, reason = "a device that was drawn wrongly is a bug of the draw")]

use super::drawn::Between;
use super::{Case, Truth, plan};
use assay_arrays::ArraySpec;
use assay_engine::{Ignore, Simulation};
use assay_model::array::parse_array;
use assay_model::measurement::Operation;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Stream, Workload};
use std::collections::HashMap;
use std::sync::Mutex;

/// Seven parts of ten are reads.
const READ_SHARE: f64 = 0.7;

/// The largest load.
const QUEUE_DEPTH_MAX: u32 = 256;

/// Its document.
pub fn array(between: &mut Between) -> String {
    let (members, depth) = (between.whole(5, 9), between.whole(4, 16));
    let rotation = [7200, 10_000, 15_000][usize::try_from(between.whole(0, 2)).unwrap()];
    let seek_ms = between.real(6.0, 14.0);
    format!(
        "format = 1\nname = \"drawn\"\ntitle = \"drawn\"\nsource = \"drawn\"\ncapacity = \
         \"800GB\"\n[[part]]\n[part.path]\nlatency = \"100us\"\n[[part]]\n[part.raid]\nlevel = \
         \"raid5\"\nmembers = {members}\nstripe = \"64KiB\"\n[[part]]\n[part.hdd]\ncapacity = \
         \"300GB\"\nrotation_per_min = {rotation}\nseek_track = \"300us\"\nseek_full = \
         \"{seek_ms:.1}ms\"\ntransfer_per_s = \"120MB\"\nqueue_depth = {depth}\n"
    )
}

pub fn simulation(array: &str, seed: u64) -> Simulation {
    let model = parse_array(array).unwrap();
    let spec = ArraySpec::new(model).with_query(&format!("seed={seed}")).unwrap();
    Simulation::new(spec.build(), spec.capacity_bytes)
}

/// The answers of an array: each is found once.
pub fn case(array: &str) -> Case {
    static KNOWN: Mutex<Option<HashMap<String, Case>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap();
    let known = known.get_or_insert_default();
    known.entry(array.to_owned()).or_insert_with(|| measured(array)).clone()
}

/// I/Os per second of a load kept for a long time, and the slower 0.99 quantile, ns.
fn kept(array: &str, access: Access, bytes: u64, queue_depth: u32) -> (f64, f64) {
    let stream =
        Stream { access, ..Stream::closed("truth", Share(READ_SHARE), Bytes(bytes), queue_depth) };
    let workload = Workload {
        warm_up: Nanos::from_seconds(30.0),
        interval: Nanos::from_seconds(1.0),
        seed: 77,
        ..Workload::of("truth", Nanos::from_seconds(400.0), stream)
    };
    let found = simulation(array, 78).run(&workload, &mut Ignore).unwrap();
    let all = found.operations();
    let quantile = [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| Some(all.get(operation)?.service.quantile_ns(0.99)))
        .max();
    let ios = assay_model::number::real(all.ios());
    (ios / found.elapsed_s(), assay_model::number::real(quantile.unwrap_or(0)))
}

/// The highest rate at loads up to the largest, with every load's rate and quantile: factors of 2,
/// then of 1.2 around the top.
fn highest(array: &str, bytes: u64) -> (f64, Vec<(u32, f64, f64)>) {
    let mut seen: Vec<(u32, f64, f64)> = Vec::new();
    let mut look = |load: u32| {
        let (rate, quantile_ns) = kept(array, Access::Uniform, bytes, load);
        seen.push((load, rate, quantile_ns));
        rate
    };
    let doubled: Vec<(u32, f64)> = (0..=8).map(|power| (1u32 << power, look(1 << power))).collect();
    let top = doubled.iter().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap().0;
    for tenths in [6, 7, 8, 12, 14, 17] {
        let load = (top * tenths / 10).clamp(1, QUEUE_DEPTH_MAX);
        look(load);
    }
    let most = seen.iter().map(|(_, rate, _)| *rate).fold(0.0, f64::max);
    (most, seen)
}

fn measured(array: &str) -> Case {
    let small = plan(READ_SHARE, 1.0, 60.0);
    let (most, seen) = highest(array, small.block_size.0);
    let large_bytes = small.large_block_size.0;
    let (most_large, _) = highest(array, large_bytes);
    let large = assay_model::number::real(large_bytes);
    let (base, _) = kept(array, Access::Uniform, small.block_size.0, 1);
    let (stream, _) = kept(array, Access::Sequential { streams: 1 }, large_bytes, 1);
    // A limit that the load of the highest rate keeps with ease.
    let at_most =
        seen.iter().filter(|(_, rate, _)| *rate >= most).map(|(_, _, quantile)| *quantile);
    let limit_us = 1.5 * at_most.fold(0.0, f64::max) / 1e3;
    let mut plan = plan(READ_SHARE, limit_us, 60.0);
    plan.queue_depth_max = QUEUE_DEPTH_MAX;
    Case {
        name: "drawn",
        device: String::new(),
        plan,
        truth: Truth {
            base_service_time_ns: 1e9 / base,
            iops_max: most,
            iops_within: Some(most),
            throughput_max: Some(most_large * large),
            single_stream: Some(stream * large),
            ..Truth::default()
        },
    }
}
