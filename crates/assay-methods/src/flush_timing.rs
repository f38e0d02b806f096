//! What the times of flushes say without any cut: whether they grow with what was written, what a
//! device cannot have done, and how much memory it must protect from power cuts if it is truthful.

use assay_engine::{FlushProbe, OpenFile};
use assay_model::durability::{FlushTime, FlushTiming, TimingFinding};
use assay_model::number::{count_of, real, seconds};
use assay_model::stack::{BlockLayer, BlockStack, LayerKind};
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_stats::quantile::quantile_interval;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that are written before the flushes of a round.
const DIRTY_BYTES: [u64; 4] = [0, 8 << 10, 1 << 20, 16 << 20];
/// A single page.
const PAGE_BYTES: u64 = 8 << 10;
/// Bytes from one flush to the next while the sustained rate is looked for.
const BURST_BYTES: u64 = 8 << 20;
/// Rounds that are enough for narrow intervals of the medians.
const ROUNDS_MAX: usize = 60;
/// Fewer rounds give no interval.
const ROUNDS_MIN: usize = 6;
/// Share of the time for the rounds; the rest is for the sustained rate.
const ROUNDS_SHARE: f64 = 0.5;
const CONFIDENCE: f64 = 0.95;
/// A flush that takes this much longer behind many bytes grows with them.
const GROWTH: f64 = 1.5;
/// Half a revolution of the fastest spindle that was sold, 15,000 a minute, ns: the least mean time
/// to a sector that passes by.
const HALF_REVOLUTION_NS: f64 = 2e6;

/// Bytes that had become durable at a time, ns.
type Durable = (u64, u64);

/// Samples in ns.
#[derive(Debug, Default)]
struct FlushSamples {
    flushes: [Vec<f64>; DIRTY_BYTES.len()],
    writes: Vec<f64>,
    durable_writes: Vec<f64>,
    /// Whether durable writes are refused.
    refused: bool,
}

/// Times flushes on a target that may be written to; about as long as given.
///
/// # Errors
/// An environment error when writing or flushing fails.
pub fn time_flushes(
    target: &OpenFile,
    stack: Option<&BlockStack>,
    time: Nanos,
    stop: &AtomicBool,
    show: &mut dyn FnMut(f64),
) -> Result<FlushTiming> {
    let fail = |error: std::io::Error| {
        Error::environment(
            format!("timing flushes on {}: {error}", target.name),
            "check the device and the kernel log",
        )
    };
    let mut probe = FlushProbe::new(target, 0xf1).map_err(fail)?;
    let started_ns = probe.now_ns();
    let mut samples = FlushSamples::default();
    let passed =
        |probe: &FlushProbe<'_>| seconds(probe.now_ns() - started_ns) / time.seconds().max(1e-9);
    for round in 0..ROUNDS_MAX {
        let is_enough = round >= ROUNDS_MIN && passed(&probe) > ROUNDS_SHARE;
        if is_enough || stop.load(Ordering::Relaxed) {
            break;
        }
        show(passed(&probe));
        samples.round(&mut probe, round).map_err(fail)?;
    }
    let mut durable: Vec<Durable> = Vec::new();
    let burst_ns = probe.now_ns();
    while (passed(&probe) < 1.0 || durable.len() < 4) && !stop.load(Ordering::Relaxed) {
        show(passed(&probe));
        probe.write(BURST_BYTES, false).and_then(|_| probe.flush()).map_err(fail)?;
        let bytes = BURST_BYTES * count_of(durable.len() + 1);
        durable.push((probe.now_ns() - burst_ns, bytes));
    }
    Ok(samples.conclude(&durable, stack))
}

impl FlushSamples {
    /// Every kind once, in an order that turns with the rounds, so that a drift meets all alike.
    fn round(&mut self, probe: &mut FlushProbe<'_>, round: usize) -> std::io::Result<()> {
        for turn in 0..DIRTY_BYTES.len() {
            let which = (turn + round) % DIRTY_BYTES.len();
            probe.write(DIRTY_BYTES[which], false)?;
            self.flushes[which].push(real(probe.flush()?));
        }
        self.writes.push(real(probe.write(PAGE_BYTES, false)?));
        probe.flush()?;
        if !self.refused {
            match probe.write(PAGE_BYTES, true) {
                Ok(time_ns) => self.durable_writes.push(real(time_ns)),
                Err(_) => self.refused = true,
            }
        }
        Ok(())
    }

    fn conclude(&self, durable: &[Durable], stack: Option<&BlockStack>) -> FlushTiming {
        let times = DIRTY_BYTES.into_iter().zip(&self.flushes);
        let flushes: Vec<FlushTime> =
            times.map(|(dirty_bytes, times)| flush_time(dirty_bytes, times)).collect();
        let write_median_ns = median(&self.writes);
        let sustained_bytes_per_s = sustained(durable);
        FlushTiming {
            finding: finding(&flushes, write_median_ns, stack),
            flushes,
            write_median_ns,
            durable_write_median_ns: (!self.durable_writes.is_empty())
                .then(|| median(&self.durable_writes)),
            sustained_bytes_per_s,
            protected_memory_bytes_min: protected(durable, sustained_bytes_per_s),
        }
    }
}

fn flush_time(dirty_bytes: u64, times_ns: &[f64]) -> FlushTime {
    let mut ascending = times_ns.to_vec();
    ascending.sort_by(f64::total_cmp);
    let middle = median(times_ns);
    let interval = quantile_interval(&ascending, 0.5, CONFIDENCE);
    let (low_ns, high_ns) = interval.map_or_else(
        || {
            let first = ascending.first().copied().unwrap_or_default();
            (first, ascending.last().copied().unwrap_or_default())
        },
        |found| (found.low, found.high),
    );
    FlushTime { dirty_bytes, median_ns: middle, low_ns, high_ns, flushes: count_of(times_ns.len()) }
}

fn median(times_ns: &[f64]) -> f64 {
    let mut ascending = times_ns.to_vec();
    ascending.sort_by(f64::total_cmp);
    ascending.get(ascending.len() / 2).copied().unwrap_or_default()
}

/// What the times come to.
fn finding(
    flushes: &[FlushTime],
    write_median_ns: f64,
    stack: Option<&BlockStack>,
) -> TimingFinding {
    let [_, page, _, most] = flushes else { return TimingFinding::Flat };
    let spins = stack.is_some_and(|stack| stack.layers.iter().any(is_bare_spindle));
    if spins && write_median_ns + page.high_ns < HALF_REVOLUTION_NS {
        return TimingFinding::Implausible;
    }
    let grows = most.low_ns > page.high_ns && most.median_ns > GROWTH * page.median_ns;
    if grows { TimingFinding::Grows } else { TimingFinding::Flat }
}

/// A disk of its own on a plain port that says of itself that it spins and has a volatile cache:
/// behind a controller, an array or a hypervisor protected memory may answer for it.
fn is_bare_spindle(layer: &BlockLayer) -> bool {
    let model = layer.model.as_deref().unwrap_or_default().to_lowercase();
    let is_virtual = ["qemu", "vbox", "virtual"].iter().any(|word| model.contains(word));
    let queue = layer.queue.as_ref();
    layer.kind == LayerKind::Scsi
        && layer.vendor.as_deref().map(str::trim) == Some("ATA")
        && !is_virtual
        && queue.is_some_and(|queue| {
            queue.rotational == Some(true) && queue.write_cache.as_deref() == Some("write back")
        })
}

/// The rate of the second half of a burst: the higher of its two quarters, for a rate too low would
/// make memory out of nothing.
fn sustained(durable: &[Durable]) -> f64 {
    let quarter = durable.len() / 4;
    if quarter == 0 {
        return 0.0;
    }
    let last = durable.len() - 1;
    let rate = |from: usize, to: usize| {
        let bytes = real(durable[to].1 - durable[from].1);
        bytes / seconds(durable[to].0 - durable[from].0).max(1e-9)
    };
    rate(last - 2 * quarter, last - quarter).max(rate(last - quarter, last))
}

/// What became durable in some time beyond what the sustained rate explains must lie in protected
/// memory (conservation of bytes): the most of all windows from the start on.
fn protected(durable: &[Durable], bytes_per_s: f64) -> u64 {
    let beyond = |(time_ns, bytes): &Durable| real(*bytes) - bytes_per_s * seconds(*time_ns);
    let most = durable.iter().map(beyond).fold(0.0, f64::max);
    // Less than a flush apart is what the grain of the measurement makes.
    if most < real(BURST_BYTES) { 0 } else { assay_model::number::count(most) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::stack::Queue;

    fn times(page_ns: f64, most_ns: f64) -> Vec<FlushTime> {
        let all = [page_ns, page_ns, page_ns, most_ns];
        let of = |(dirty_bytes, time_ns): (u64, f64)| {
            let around: Vec<f64> =
                (0..20).map(|at| time_ns * (0.95 + 0.005 * f64::from(at))).collect();
            flush_time(dirty_bytes, &around)
        };
        DIRTY_BYTES.into_iter().zip(all).map(of).collect()
    }

    fn disk(vendor: &str, model: &str, write_cache: &str) -> BlockStack {
        let queue = Queue {
            rotational: Some(true),
            write_cache: Some(write_cache.to_owned()),
            ..Queue::default()
        };
        let layer = BlockLayer {
            kind: LayerKind::Scsi,
            vendor: Some(vendor.to_owned()),
            model: Some(model.to_owned()),
            queue: Some(queue),
            ..BlockLayer::default()
        };
        BlockStack { layers: vec![layer], ..BlockStack::default() }
    }

    #[test]
    fn a_flush_grows_with_what_was_written_or_is_flat() {
        assert_eq!(finding(&times(1e6, 30e6), 5e4, None), TimingFinding::Grows);
        assert_eq!(finding(&times(4e4, 4.2e4), 5e4, None), TimingFinding::Flat);
    }

    #[test]
    fn only_a_bare_spindle_with_a_volatile_cache_cannot_be_that_fast() {
        let (fast, slow) = (times(4e4, 4e4), times(9e6, 40e6));
        let disk_of = |vendor, model, cache| disk(vendor, model, cache);
        let found = |stack: &BlockStack, times: &[FlushTime]| finding(times, 5e4, Some(stack));
        let bare = disk_of("ATA     ", "ST4000NM0033", "write back");
        assert_eq!(found(&bare, &fast), TimingFinding::Implausible);
        assert_eq!(found(&bare, &slow), TimingFinding::Grows);
        for other in [
            disk_of("ATA", "QEMU HARDDISK", "write back"),
            disk_of("DELL", "PERC H740P", "write back"),
            disk_of("ATA", "ST4000NM0033", "write through"),
        ] {
            assert_eq!(found(&other, &fast), TimingFinding::Flat);
        }
    }

    /// A device with this much protected memory in front of a medium, asked for 8 MiB after 8 MiB.
    fn burst(memory_bytes: f64, memory_rate: f64, medium_rate: f64, bursts: u64) -> Vec<Durable> {
        let (mut time_s, mut filled) = (0.0, 0.0);
        let mut durable = Vec::new();
        for number in 1..=bursts {
            let bytes = real(BURST_BYTES);
            let fits = filled + bytes <= memory_bytes;
            let took_s = bytes / if fits { memory_rate } else { medium_rate };
            filled = if fits { filled + bytes - took_s * medium_rate } else { memory_bytes };
            time_s += took_s;
            durable.push((assay_model::number::count(time_s * 1e9), number * BURST_BYTES));
        }
        durable
    }

    #[test]
    fn memory_is_bounded_from_below_and_never_made_up() {
        for memory_mib in [0.0, 64.0, 256.0] {
            let memory_bytes = memory_mib * 1024.0 * 1024.0;
            let durable = burst(memory_bytes, 2e9, 2e8, 400);
            let rate = sustained(&durable);
            assert!((rate / 2e8 - 1.0).abs() < 0.01, "{rate}");
            let found = real(protected(&durable, rate));
            assert!(found <= memory_bytes * 1.001, "{memory_mib}: {found}");
            assert!(found >= memory_bytes * 0.8 - real(BURST_BYTES), "{memory_mib}: {found}");
        }
    }

    /// What a device of a kind is like.
    struct DeviceKind {
        stack: BlockStack,
        /// Range of the time of a flush behind a page, ns, and rate at which more is written out;
        /// nothing where memory answers.
        flush_ns: (f64, f64),
        medium_bytes_per_s: Option<(f64, f64)>,
    }

    fn kind(
        vendor: &str,
        model: &str,
        flush_ns: (f64, f64),
        rate: Option<(f64, f64)>,
    ) -> DeviceKind {
        DeviceKind { stack: disk(vendor, model, "write back"), flush_ns, medium_bytes_per_s: rate }
    }

    /// Times of one device of a kind, with noise of a fifth and a slow one in fifty.
    fn simulated(
        kind: &DeviceKind,
        random: &mut assay_stats::random::Random,
    ) -> (Vec<FlushTime>, f64) {
        let mut between = |(low, high): (f64, f64)| low * (high / low).powf(random.unit());
        let page_ns = between(kind.flush_ns);
        let rate = kind.medium_bytes_per_s.map(&mut between);
        let (nothing_ns, write_ns) = (between((2e4, 6e4)), between((1.5e4, 8e4)));
        let mut times = |typical_ns: f64| -> Vec<f64> {
            let noisy = |_| {
                let slow = if random.chance(0.02) { 10.0 } else { 1.0 };
                typical_ns * (1.0 + 0.2 * (2.0 * random.unit() - 1.0)) * slow
            };
            (0..40).map(noisy).collect()
        };
        let of = |dirty_bytes: u64| {
            let medium_ns = rate.map_or(0.0, |rate| real(dirty_bytes) / rate * 1e9);
            let typical_ns = if dirty_bytes == 0 { nothing_ns } else { page_ns + medium_ns };
            flush_time(dirty_bytes, &times(typical_ns))
        };
        (DIRTY_BYTES.into_iter().map(of).collect(), write_ns)
    }

    /// A thousand devices: nobody truthful is called implausible, and a disk that spins and ignores
    /// flushes is found.
    #[test]
    fn truthful_devices_are_never_called_implausible_and_disks_that_ignore_flushes_are() {
        let flash = |mut found: DeviceKind| {
            for layer in &mut found.stack.layers {
                layer.kind = LayerKind::Nvme;
                layer.queue = Some(Queue { rotational: Some(false), ..Queue::default() });
            }
            found
        };
        let truthful = [
            kind("ATA", "ST4000NM0033", (3e6, 2.5e7), Some((9e7, 2.6e8))),
            flash(kind("", "SSD 990", (9e5, 1e7), Some((4e8, 3e9)))),
            flash(kind("", "PM9A3", (1.2e4, 5.8e4), None)),
            kind("DELL", "PERC H740P", (6e4, 4e5), None),
            kind("ATA", "QEMU HARDDISK", (3e4, 2e5), None),
        ];
        let liar = kind("ATA", "ST4000NM0033", (2e4, 2e5), None);
        let mut random = assay_stats::random::Random::new(18);
        let mut implausible = |kind: &DeviceKind, devices: usize| {
            let is_implausible = |_: &usize| {
                let (times, write_ns) = simulated(kind, &mut random);
                finding(&times, write_ns, Some(&kind.stack)) == TimingFinding::Implausible
            };
            (0..devices).filter(is_implausible).count()
        };
        assert_eq!(truthful.each_ref().map(|kind| implausible(kind, 150)), [0; 5]);
        let found = implausible(&liar, 250);
        assert!(found * 100 >= 250 * 95, "{found} of 250");
    }
}
