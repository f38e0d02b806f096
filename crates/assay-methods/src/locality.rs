//! The locality curve: one random reader on working sets of growing size, then on a hot spot that
//! jumps.

use crate::bench::Bench;
use assay_model::locality::{Adaptation, Locality, LocalityPoint, LocalityTier};
use assay_model::measurement::{Finish, Interval, Measurement, Window};
use assay_model::number::{count, count_of, index, nanoseconds, real, real_len, seconds};
use assay_model::spelling::defaults;
use assay_model::units::{Bytes, Nanos, Share, show_bytes};
use assay_model::workload::{Access, Span, Stream, Workload};
use assay_model::{Error, Estimate, Result};
use assay_stats::batches::noun;
use assay_stats::distribution::{normal_quantile, student_quantile};
use assay_stats::mean_interval;
use assay_stats::series::{mean, variance};
use assay_stats::tiers::{
    FittedTiers, TIERS_MAX, TierIntervals, follow_times_s, tier_intervals, tiers,
};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

const CONFIDENCE: f64 = 0.95;
/// Bytes of a read that brings a working set in, at most.
const LARGE: Bytes = Bytes(1 << 20);
/// Such reads at least make up a working set.
const LARGE_READS: u64 = 16;
/// Above this relative distance no places explain a curve.
const MISFIT_MAX: f64 = 0.15;
/// Where the means are uncertain by this part of the misfit, their noise is named as its reason.
const VARIED: f64 = 0.3;
/// A read time that is larger by less than this may be chance.
const SLOWER: f64 = 1.05;
/// A working set is brought in for at most this many times as long as a point is measured.
const BRING_IN_MOST: f64 = 4.0;
/// I/Os in flight while a working set is brought in.
const BRING_IN_QUEUE_DEPTH: u32 = 4;
/// A working set is brought in by runs of at most this length, s.
const BRING_IN_RUN_S: f64 = 1.0;
/// A run that brings a working set in ends with the first interval of this length in which it has
/// read enough, ns.
const BRING_IN_INTERVAL_NS: u64 = 10_000_000;
/// Points in a doubling of the working set.
const POINTS_A_DOUBLING: f64 = 3.0;
/// Intervals of a point.
const INTERVALS: u64 = 20;
/// Stretches between two jumps of the hot spot.
const STRETCHES: u64 = 200;
/// Jumps of the hot spot that are timed, after its first place.
const JUMPS: u64 = 3;

/// The curve that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalityCurve {
    /// Smallest working set
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub smallest: Bytes,
    /// Largest working set; by default the whole target
    #[arg(long, value_name = "SIZE")]
    pub largest: Option<Bytes>,
    /// Size of a read
    #[serde(alias = "transfer")]
    #[arg(
        long,
        aliases = ["block", "bs", "transfer"],
        value_name = "SIZE",
        default_value = "8KiB"
    )]
    pub block_size: Bytes,
    /// Warm-up before each working set; must exceed the time that the slowest tier takes to adapt
    #[arg(long, aliases = ["warmup", "ramp-time"], value_name = "TIME", default_value = "2s")]
    pub warm_up: Nanos,
    /// Measured time of each working set
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "5s")]
    pub time: Nanos,
    /// Move a hot spot at this interval, and measure how long the target takes to adapt
    #[arg(long, value_name = "TIME")]
    pub follow: Option<Nanos>,
    /// Seed of the addresses
    #[arg(skip = 1_u64)]
    #[serde(skip)]
    pub seed: u64,
}

impl Default for LocalityCurve {
    fn default() -> Self {
        defaults()
    }
}

/// A curve on a target.
struct CurvePlan<'a> {
    curve: &'a LocalityCurve,
    /// Bytes of the target.
    length_bytes: u64,
}

impl CurvePlan<'_> {
    /// Working sets in ascending order.
    ///
    /// # Errors
    /// A usage error when there is no room for a curve.
    fn working_sets(&self) -> Result<Vec<u64>> {
        let largest = self.curve.largest.map_or(self.length_bytes, |largest| largest.0);
        let (low, high) = (real(self.curve.smallest.0), real(largest.min(self.length_bytes)));
        if self.curve.block_size.0 == 0 {
            return Err(Error::usage("a read of 0 bytes reads nothing", "write for example 8KiB"));
        }
        if self.curve.smallest.0 < self.curve.block_size.0.saturating_mul(16) || high < 16.0 * low {
            return Err(Error::usage(
                format!(
                    "working sets from {} to {} on a target of {} are too few for a curve",
                    self.curve.smallest,
                    Bytes(largest),
                    Bytes(self.length_bytes)
                ),
                "the smallest must hold at least 16 reads, and the largest 16 times as much",
            ));
        }
        let steps = ((high / low).log2() * POINTS_A_DOUBLING).round().max(4.0);
        let size = |step: usize| {
            let bytes = low * (high / low).powf(real_len(step) / steps);
            self.whole(bytes)
        };
        Ok((0..=index(steps)).map(size).collect())
    }

    /// A working set in whole transfers.
    fn whole(&self, bytes: f64) -> u64 {
        count(bytes) / self.curve.block_size.0 * self.curve.block_size.0
    }

    /// The share of the target that holds that many bytes in whole transfers: half a transfer more,
    /// because a span is cut to whole ones.
    fn share(&self, bytes: f64, block_size: u64) -> Share {
        let whole = self.length_bytes / block_size * block_size;
        Share(((bytes + real(block_size) / 2.0) / real(whole.max(1))).min(1.0))
    }

    /// A working set is brought in for at most so long, s.
    fn bring_in_s(&self) -> f64 {
        BRING_IN_MOST * self.curve.time.seconds()
    }

    /// Expected time to bring in and to measure these working sets at this rate, s. Without a rate
    /// nothing is brought in.
    fn expected_s(&self, sets: &[u64], rate_bytes_per_s: Option<f64>) -> f64 {
        let mut most_s = self.bring_in_s();
        let expected_s = sets.iter().map(|bytes| {
            let whole_s = rate_bytes_per_s.map_or(0.0, |rate| 2.0 * real(*bytes) / rate);
            let bring_in_s = whole_s.min(most_s);
            if whole_s > most_s {
                most_s = self.curve.time.seconds();
            }
            bring_in_s + self.curve.warm_up.seconds() + self.curve.time.seconds()
        });
        expected_s.sum()
    }

    /// Time in which a hot spot is followed, s.
    fn follow_s(&self) -> f64 {
        self.curve.follow.map_or(0.0, |period| real(JUMPS + 1) * period.seconds())
    }
}

/// How far a measurement is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalityPhase {
    /// Working set that is measured, bytes.
    pub working_set_bytes: u64,
    /// Share of the measurement that is done, 0..=1.
    pub done_share: f64,
    /// Expected time to the end, s; `None` before the target's rate is known.
    pub left_s: Option<f64>,
}

/// What is done and what is expected.
struct LocalityProgress<'a> {
    show: &'a mut dyn FnMut(&LocalityPhase),
    plan: &'a CurvePlan<'a>,
    /// Working sets to come, the current one among them, bytes.
    ahead: Vec<u64>,
    /// Time that the working sets before took, s.
    done_s: f64,
    /// Rate at which the last working set was brought in.
    rate_bytes_per_s: Option<f64>,
}

impl LocalityProgress<'_> {
    /// Reports that the current working set has taken `passed_s` so far.
    fn tell(&mut self, passed_s: f64, bytes: u64) {
        let expected_s = self.plan.expected_s(&self.ahead, self.rate_bytes_per_s);
        let left_s = (expected_s + self.plan.follow_s() - passed_s).max(0.0);
        let done_s = self.done_s + passed_s;
        (self.show)(&LocalityPhase {
            working_set_bytes: bytes,
            done_share: if done_s > 0.0 { done_s / (done_s + left_s) } else { 0.0 },
            left_s: self.rate_bytes_per_s.map(|_| left_s),
        });
    }

    /// A working set is measured, and took this long.
    fn finish(&mut self, took_s: f64, bytes: u64) {
        if let Some(place) = self.ahead.iter().position(|ahead| *ahead == bytes) {
            self.ahead.remove(place);
        }
        self.done_s += took_s;
    }
}

/// Working sets in the order in which they are measured: the smallest one comes again.
fn visits(sets: &[u64]) -> Vec<u64> {
    sets.iter().chain(sets.first()).copied().collect()
}

/// What was measured; `None` if a person stopped it meanwhile, which is not a fault of the target.
fn unless_stopped<T>(bench: &dyn Bench, measured: Result<T>) -> Result<Option<T>> {
    match measured {
        Err(_) if bench.stopped() => Ok(None),
        measured => measured.map(Some),
    }
}

/// Measures the curve on a target of this length, works out the places behind it, and times how
/// they follow a hot spot.
///
/// `show` gets how far it is, about once a second.
///
/// # Errors
/// What the engine says; an environment error when a person stopped it before there was a curve.
pub fn locality(
    bench: &mut dyn Bench,
    curve: &LocalityCurve,
    length_bytes: u64,
    show: &mut dyn FnMut(&LocalityPhase),
) -> Result<Locality> {
    let plan = &CurvePlan { curve, length_bytes };
    let sets = plan.working_sets()?;
    let ahead = visits(&sets);
    let mut progress = LocalityProgress { show, plan, ahead, done_s: 0.0, rate_bytes_per_s: None };
    let (mut points, brought) = points(bench, plan, &sets, &mut progress)?;
    between(bench, plan, &mut points, &mut progress)?;
    let found = known_tiers(&points).ok_or_else(|| {
        Error::environment(
            "the locality curve was stopped before it had four points",
            "let it finish, or make each point shorter with --time",
        )
    })?;
    let again = match sets.first() {
        Some(smallest) if !bench.stopped() => {
            let visited = visit(bench, plan, *smallest, plan.bring_in_s(), &mut progress);
            unless_stopped(bench, visited)?.map(|(service_time_ns, _)| service_time_ns)
        }
        _ => None,
    };
    let mut doubts = doubts(&points, again.as_ref(), found.misfit);
    doubts.extend(not_filled(&found, brought));
    let following = match (plan.curve.follow, found.sizes.first()) {
        // Where places are in doubt there still is a hot part that may be followed.
        (Some(period), Some(first)) if !bench.stopped() => {
            let followed = follow(bench, plan, *first, period, &mut progress);
            unless_stopped(bench, followed)?
        }
        _ => None,
    };
    Ok(Locality {
        format: 1,
        block_size_bytes: plan.curve.block_size.0,
        tiers: if doubts.is_empty() { places(&found, &points) } else { Vec::new() },
        points,
        doubts,
        misfit: found.misfit,
        following,
    })
}

/// The points of the curve, and the most bytes that were brought in for one of them.
fn points(
    bench: &mut dyn Bench,
    plan: &CurvePlan<'_>,
    sets: &[u64],
    progress: &mut LocalityProgress<'_>,
) -> Result<(Vec<LocalityPoint>, f64)> {
    let (mut points, mut brought_most, mut most_s) = (Vec::new(), 0.0, plan.bring_in_s());
    for bytes in sets.iter().copied() {
        if bench.stopped() {
            break;
        }
        let visited = visit(bench, plan, bytes, most_s, progress);
        let Some((service_time_ns, brought)) = unless_stopped(bench, visited)? else { break };
        brought_most = brought.max(brought_most);
        if brought < real(2 * bytes) {
            // What the places hold by now is part of every larger working set, too.
            most_s = plan.curve.time.seconds();
        }
        points.push(LocalityPoint { working_set_bytes: bytes, service_time_ns });
    }
    Ok((points, brought_most))
}

/// Measures more working sets where places are so close that the curve does not tell them apart.
fn between(
    bench: &mut dyn Bench,
    plan: &CurvePlan<'_>,
    points: &mut Vec<LocalityPoint>,
    progress: &mut LocalityProgress<'_>,
) -> Result<()> {
    let found = tiers(&means(points), noise(points), TIERS_MAX);
    let more = found.map_or_else(Vec::new, |found| found.working_sets_between(&means(points)));
    let more: Vec<u64> = more.into_iter().map(|bytes| plan.whole(bytes)).collect();
    progress.ahead.extend(&more);
    for bytes in more {
        if bench.stopped() {
            break;
        }
        let visited = visit(bench, plan, bytes, plan.bring_in_s(), progress);
        let Some((service_time_ns, _)) = unless_stopped(bench, visited)? else { break };
        points.push(LocalityPoint { working_set_bytes: bytes, service_time_ns });
    }
    points.sort_by_key(|point| point.working_set_bytes);
    Ok(())
}

/// Brings a working set in and measures it: its mean read time, and how much was brought in.
fn visit(
    bench: &mut dyn Bench,
    plan: &CurvePlan<'_>,
    bytes: u64,
    most_s: f64,
    progress: &mut LocalityProgress<'_>,
) -> Result<(Estimate, f64)> {
    let began_ns = bench.now_ns();
    progress.tell(0.0, bytes);
    let brought = bring_in(bench, plan, bytes, most_s, progress)?;
    let brought_s = seconds(bench.now_ns() - began_ns);
    let mean = point(bench, plan, bytes, brought_s, progress)?;
    progress.finish(seconds(bench.now_ns() - began_ns), bytes);
    Ok((mean, brought))
}

/// Working sets with their mean read times.
fn means(points: &[LocalityPoint]) -> Vec<(f64, f64)> {
    let mean = |point: &LocalityPoint| (real(point.working_set_bytes), point.service_time_ns.value);
    points.iter().map(mean).collect()
}

/// The standard error of a point's mean, ns.
fn standard_error_ns(point: &LocalityPoint) -> f64 {
    let Estimate { low, high, .. } = point.service_time_ns;
    0.5 * (high - low) / normal_quantile(0.5 + 0.5 * CONFIDENCE)
}

/// The root mean square of the means' relative standard errors.
fn noise(points: &[LocalityPoint]) -> f64 {
    let relative =
        |point: &LocalityPoint| (standard_error_ns(point) / point.service_time_ns.value).powi(2);
    mean(&points.iter().map(relative).collect::<Vec<f64>>()).sqrt()
}

/// The places behind the points whose latencies are all known to be above 0: one that may take no
/// time may be noise.
fn known_tiers(points: &[LocalityPoint]) -> Option<FittedTiers> {
    let errors: Vec<f64> = points.iter().map(standard_error_ns).collect();
    let mut found = tiers(&means(points), noise(points), TIERS_MAX)?;
    while !found.sizes.is_empty() {
        let intervals = tier_intervals(&means(points), &errors, &found, CONFIDENCE);
        if intervals.latencies.iter().all(|latency| latency.low > 0.0) {
            break;
        }
        found = tiers(&means(points), noise(points), found.sizes.len())?;
    }
    Some(found)
}

/// What was worked out, with its intervals, as a document has it.
fn places(found: &FittedTiers, points: &[LocalityPoint]) -> Vec<LocalityTier> {
    let errors: Vec<f64> = points.iter().map(standard_error_ns).collect();
    let TierIntervals { sizes, latencies } =
        tier_intervals(&means(points), &errors, found, CONFIDENCE);
    let sizes = sizes.into_iter().map(Some).chain([None]);
    sizes
        .zip(latencies)
        .map(|(size, latency)| LocalityTier {
            holds_bytes: size.map(|size| size.value),
            service_time_ns: latency.value,
            holds_interval_bytes: size.map(noun),
            interval_ns: Some(noun(latency)),
        })
        .collect()
}

/// Why a place may be larger than it seems: what was brought in did not fill it twice over.
fn not_filled(found: &FittedTiers, brought: f64) -> Option<String> {
    let largest = *found.sizes.last()?;
    (brought < 2.0 * largest).then(|| {
        format!(
            "Only {} of the largest working sets were read in, which may hide a tier of {}: use a \
             --largest of at most four times the tier, or a longer --time.",
            show_bytes(brought),
            show_bytes(largest)
        )
    })
}

/// Why the curve does not show places that keep what was used last. Each of these makes latencies
/// wrong, so that it is better to name none.
fn doubts(points: &[LocalityPoint], again: Option<&Estimate>, misfit: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    let longer = "increase --warm-up: it must exceed the time that the slowest tier takes to adapt";
    let falls =
        |pair: &&[LocalityPoint]| is_slower(&pair[0].service_time_ns, &pair[1].service_time_ns);
    if let Some(pair) = points.windows(2).find(falls) {
        doubts.push(format!(
            "Reads of {} took longer than those of {}: a tier was still adapting; {longer}.",
            Bytes(pair[0].working_set_bytes),
            Bytes(pair[1].working_set_bytes)
        ));
    }
    if let Some((first, again)) = points.first().zip(again)
        && is_slower(&first.service_time_ns, again)
    {
        doubts.push(format!(
            "The smallest working set was faster at the end of the curve: a tier adapts slowly; \
             {longer}."
        ));
    }
    let noise = noise(points);
    if misfit > MISFIT_MAX && noise > VARIED * misfit {
        doubts.push(format!(
            "The read times of a working set varied: their means are known within {:.0}%, which \
             hides tiers. Increase --time and stop other programs that use the target, or, if a \
             tier adapts slowly, {longer}.",
            200.0 * noise
        ));
    } else if misfit > MISFIT_MAX {
        doubts.push(format!(
            "No set of up to {TIERS_MAX} tiers explains the means; the best one is off by {:.0}%. \
             There may be more tiers, a tier may not keep the most recently used blocks, or it may \
             adapt slowly; for the last, {longer}.",
            misfit * 100.0
        ));
    }
    doubts
}

/// Whether a read time is larger than another that should be at least as large, by more than both
/// are uncertain by.
fn is_slower(one: &Estimate, other: &Estimate) -> bool {
    one.low > other.high && one.value > SLOWER * other.value
}

/// Random reads of a part of the target, one at a time.
fn reader(plan: &CurvePlan<'_>, bytes: f64, access: Access, duration: Nanos) -> Workload {
    let mut stream = Stream::closed("locality", Share(1.0), plan.curve.block_size, 1);
    stream.access = access;
    stream.span = Span { from: Share(0.0), to: plan.share(bytes, plan.curve.block_size.0) };
    // With one seed for all, chance would be the same at every working set.
    Workload { seed: plan.curve.seed ^ count(bytes), ..Workload::of("locality", duration, stream) }
}

/// The mean read time of a working set that took `brought_s` to bring in.
fn point(
    bench: &mut dyn Bench,
    plan: &CurvePlan<'_>,
    bytes: u64,
    brought_s: f64,
    progress: &mut LocalityProgress<'_>,
) -> Result<Estimate> {
    let mut workload = reader(plan, real(bytes), Access::Uniform, plan.curve.time);
    workload.warm_up = plan.curve.warm_up;
    workload.interval = Nanos((plan.curve.time.0 / INTERVALS).max(10_000_000));
    let mut means = Vec::new();
    let measured_from_s = brought_s + plan.curve.warm_up.seconds();
    progress.tell(brought_s, bytes);
    let mut observe = |interval: &Interval, _: &Window| {
        if let Some(read) = interval.operations.read.as_ref().filter(|read| read.ios > 0) {
            means.push(read.service.mean_ns());
        }
        progress.tell(measured_from_s + seconds(interval.end_ns), bytes);
        ControlFlow::Continue(())
    };
    let measurement = bench.measure(&workload, &mut observe)?;
    let value = mean_ns(&measurement)?;
    let half = mean_interval(&means, CONFIDENCE).map_or(0.0, |interval| interval.half_width());
    Ok(Estimate {
        value,
        low: (value - half).max(0.0),
        high: value + half,
        confidence: CONFIDENCE,
        n: count_of(means.len()).max(1),
    })
}

fn mean_ns(measurement: &Measurement) -> Result<f64> {
    if let Finish::Failed { reason } = &measurement.finish {
        return Err(Error::environment(reason, "check the target"));
    }
    let whole = measurement.operations();
    let read = whole.read.as_ref().filter(|read| read.ios > 0);
    read.map(|read| read.service.mean_ns()).ok_or_else(|| {
        Error::environment(
            "no read completed in the time of a point",
            "increase --time, the time of each point",
        )
    })
}

/// Reads a working set twice from its beginning in large transfers, so that what can hold it does,
/// but for no longer than `most_s`; gives the bytes that were read.
///
/// What is read of a working set larger than any place need not be all of it: a place that is full
/// of some of it serves its share of uniform reads.
fn bring_in(
    bench: &mut dyn Bench,
    plan: &CurvePlan<'_>,
    bytes: u64,
    most_s: f64,
    progress: &mut LocalityProgress<'_>,
) -> Result<f64> {
    let began_ns = bench.now_ns();
    let (wanted, mut read, mut at, mut idle) = (real(2 * bytes), 0.0, 0.0, 0);
    while read < wanted && idle < 100 && !bench.stopped() {
        let passed_s = seconds(bench.now_ns() - began_ns);
        if passed_s > most_s {
            break;
        }
        progress.tell(passed_s, bytes);
        let left = real(bytes) - at;
        let mut workload = sequential(plan, at, bytes, bench.transfer_max());
        workload.duration = run_length(most_s - passed_s);
        let more = bring_in_run(bench, &workload, left, progress)?;
        idle = if more > 0.0 { 0 } else { idle + 1 };
        // A run that came to the end went on where it had begun.
        (read, at) = if more < left { (read + more, at + more) } else { (read + left, 0.0) };
    }
    Ok(read)
}

/// Length of a run if this time is left, s.
fn run_length(left_s: f64) -> Nanos {
    Nanos(nanoseconds(left_s.min(BRING_IN_RUN_S)).max(2 * BRING_IN_INTERVAL_NS))
}

/// Reads until the end of the working set is read, or the run is over; gives the bytes that were
/// read.
fn bring_in_run(
    bench: &mut dyn Bench,
    workload: &Workload,
    left: f64,
    progress: &mut LocalityProgress<'_>,
) -> Result<f64> {
    // Reads end in any order: the last ones in flight may lie before the end.
    let largest = workload.streams.iter().map(|stream| stream.block_size.max_bytes()).max();
    let enough = left + real(largest.unwrap_or(0) * u64::from(BRING_IN_QUEUE_DEPTH));
    let mut read = 0.0;
    let mut observe = |interval: &Interval, _: &Window| {
        read += real(interval.operations.bytes());
        if read < enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let measurement = bench.measure(workload, &mut observe)?;
    let bytes = real(measurement.operations().bytes());
    if bytes > 0.0 && measurement.elapsed_ns > 0 {
        progress.rate_bytes_per_s = Some(bytes / measurement.elapsed_s());
    }
    Ok(bytes)
}

/// Large reads in order of a working set, from a place in it on.
fn sequential(plan: &CurvePlan<'_>, at: f64, bytes: u64, most: Option<Bytes>) -> Workload {
    let transfers = (bytes / plan.curve.block_size.0 / LARGE_READS).max(1);
    let large = (transfers * plan.curve.block_size.0).min(
        most.map_or(LARGE, |most| most.min(LARGE)).0 / plan.curve.block_size.0
            * plan.curve.block_size.0,
    );
    let large = large.max(plan.curve.block_size.0);
    let mut stream = Stream::closed("bring in", Share(1.0), Bytes(large), BRING_IN_QUEUE_DEPTH);
    stream.access = Access::Sequential { streams: 1 };
    // All of it and a little more: what was left out would be slow at its first read.
    let runs = bytes.div_ceil(large);
    stream.span.to = plan.share(real(runs * large), large);
    if at > 0.0 {
        let from = (count(at) / large).min(runs - 1) * large;
        stream.span.from = plan.share(real(from), large);
    }
    let interval = Nanos(BRING_IN_INTERVAL_NS);
    Workload { interval, ..Workload::of("bring in", run_length(BRING_IN_RUN_S), stream) }
}

/// Times how long half the first place takes to be followed when it jumps.
fn follow(
    bench: &mut dyn Bench,
    plan: &CurvePlan<'_>,
    first_bytes: f64,
    period: Nanos,
    progress: &mut LocalityProgress<'_>,
) -> Result<Adaptation> {
    let hot_bytes = (0.5 * first_bytes).max(real(16 * plan.curve.block_size.0));
    let access = Access::MovingHotBand {
        share: Share(1.0),
        band: plan.share(hot_bytes, plan.curve.block_size.0),
        every: period,
    };
    // The hot spot begins far from what was just measured: nothing holds it yet.
    let mut workload = reader(plan, real(plan.length_bytes), access, Nanos(period.0 * (JUMPS + 1)));
    workload.interval = Nanos((period.0 / STRETCHES).max(10_000_000));
    let step_s = workload.interval.seconds();
    let stretches = index(real(period.0) / real(workload.interval.0));
    let mut means: Vec<f64> = Vec::new();
    let mut observe = |interval: &Interval, _: &Window| {
        let read = interval.operations.read.as_ref().filter(|read| read.ios > 0);
        let last = means.last().copied().unwrap_or(0.0);
        means.push(read.map_or(last, |read| read.service.mean_ns()));
        let passed_s = real_len(means.len()) * step_s;
        progress.tell(passed_s, count(hot_bytes));
        ControlFlow::Continue(())
    };
    mean_ns(&bench.measure(&workload, &mut observe)?)?;
    let timed: Vec<(f64, f64)> = means
        .chunks(stretches.max(1))
        .skip(1)
        .filter(|stretch| stretch.len() == stretches)
        .filter_map(|stretch| follow_times_s(stretch, step_s))
        .collect();
    Ok(Adaptation {
        hot_bytes,
        period_s: period.seconds(),
        half_s: timed.iter().map(|times| times.0).collect(),
        most_s: timed.iter().map(|times| times.1).collect(),
        half_mean_s: mean_of_jumps(&timed, |times| times.0, step_s),
        most_mean_s: mean_of_jumps(&timed, |times| times.1, step_s),
    })
}

/// The mean of a time over independent jumps with Student's interval, no narrower than the
/// stretches in which it was read.
fn mean_of_jumps(
    timed: &[(f64, f64)],
    time: impl Fn(&(f64, f64)) -> f64,
    step_s: f64,
) -> Option<Estimate> {
    let times: Vec<f64> = timed.iter().map(time).collect();
    let jumps = times.len();
    if jumps < 2 {
        return None;
    }
    let value = mean(&times);
    let error = (variance(&times) / real_len(jumps)).sqrt();
    let reach = student_quantile(0.5 + 0.5 * CONFIDENCE, real_len(jumps - 1));
    let half = (reach * error).max(step_s);
    let n = count_of(jumps);
    Some(Estimate {
        value,
        low: (value - half).max(0.0),
        high: value + half,
        confidence: CONFIDENCE,
        n,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::SimulatedBench;
    use assay_engine::device::DeviceSpec;

    fn curve(follow: Option<Nanos>) -> LocalityCurve {
        LocalityCurve {
            largest: Some(Bytes(512 << 20)),
            time: Nanos(8_000_000_000),
            follow,
            ..LocalityCurve::default()
        }
    }

    fn measured(device: &str, curve: &LocalityCurve) -> Locality {
        let spec = DeviceSpec::parse(&format!("device?size=2GiB+{device}")).unwrap();
        locality(&mut SimulatedBench::new(&spec), curve, spec.length_bytes, &mut |_| {}).unwrap()
    }

    #[track_caller]
    fn assert_tiers(found: &Locality, sizes_mib: &[f64], latencies_us: &[f64]) {
        assert_eq!(found.tiers.len(), latencies_us.len(), "{:?}", found.tiers);
        for (tier, latency_us) in found.tiers.iter().zip(latencies_us) {
            let off = tier.service_time_ns / 1000.0 / latency_us - 1.0;
            assert!(off.abs() < 0.05, "latency {latency_us}: {off}");
        }
        for (tier, size_mib) in found.tiers.iter().zip(sizes_mib) {
            let off = tier.holds_bytes.unwrap() / 1_048_576.0 / size_mib - 1.0;
            assert!(off.abs() < 0.10, "size {size_mib}: {off}");
        }
    }

    #[test]
    fn two_and_three_places_are_found_as_scripted() {
        let two = measured("tiers?sizes=24MiB&latencies=100us,2ms", &curve(None));
        assert_tiers(&two, &[24.0], &[100.0, 2000.0]);
        let three = measured("tiers?sizes=6MiB,90MiB&latencies=60us,300us,4ms", &curve(None));
        assert_tiers(&three, &[6.0, 90.0], &[60.0, 300.0, 4000.0]);
        assert!(two.following.is_none());
    }

    #[test]
    fn a_hot_spot_is_followed_as_late_as_scripted() {
        let curve =
            LocalityCurve { warm_up: Nanos(60_000_000_000), ..curve(Some(Nanos(60_000_000_000))) };
        let found = measured("tiers?sizes=24MiB&latencies=100us,2ms&follow=20s", &curve);
        let following = found.following.unwrap_or_else(|| panic!("{:?}", found.doubts));
        assert_eq!(following.half_s.len(), 3);
        // 1,536 pages at 500 reads per second: half of the reads are fast after 20 s and some.
        for half_s in following.half_s {
            assert!((20.0..23.0).contains(&half_s), "{half_s}");
        }
        let (half, most) = (following.half_mean_s.unwrap(), following.most_mean_s.unwrap());
        assert!(half.low >= 19.0 && half.high < 24.0 && most.low > half.low, "{half:?} {most:?}");
    }

    #[test]
    fn a_place_that_follows_late_gives_a_warning_and_no_wrong_number() {
        let hasty = measured("tiers?sizes=24MiB&latencies=100us,2ms&follow=20s", &curve(None));
        assert!(hasty.tiers.is_empty(), "{:?}", hasty.tiers);
        assert!(hasty.doubts.iter().any(|doubt| doubt.contains("--warm-up")), "{:?}", hasty.doubts);
    }

    #[test]
    fn scripted_devices_of_three_places_are_told_whatever_their_sizes() {
        for (sizes, latencies, sizes_mib, latencies_us) in [
            ("4MiB,40MiB", "50us,500us,5ms", [4.0, 40.0], [50.0, 500.0, 5000.0]),
            ("12MiB,150MiB", "100us,400us,8ms", [12.0, 150.0], [100.0, 400.0, 8000.0]),
            ("3MiB,24MiB", "80us,160us,2ms", [3.0, 24.0], [80.0, 160.0, 2000.0]),
        ] {
            let device = format!("tiers?sizes={sizes}&latencies={latencies}");
            assert_tiers(&measured(&device, &curve(None)), &sizes_mib, &latencies_us);
        }
    }

    #[test]
    fn close_places_are_told_apart() {
        for (sizes, latencies, sizes_mib, latencies_us) in [
            ("9MiB,12MiB", "100us,350us,2ms", [9.0, 12.0], [100.0, 350.0, 2000.0]),
            ("10MiB,14MiB", "120us,400us,3ms", [10.0, 14.0], [120.0, 400.0, 3000.0]),
        ] {
            let device = format!("tiers?sizes={sizes}&latencies={latencies}");
            let curve = LocalityCurve { largest: Some(Bytes(300 << 20)), ..curve(None) };
            assert_tiers(&measured(&device, &curve), &sizes_mib, &latencies_us);
        }
    }

    #[test]
    fn any_length_of_the_target_does() {
        for length in ["7GB", "40GB", "100GB", "1TiB"] {
            let text = format!("device?size={length}+tiers?sizes=3MiB&latencies=90us,1100us");
            let spec = DeviceSpec::parse(&text).unwrap();
            let curve = LocalityCurve {
                largest: Some(Bytes(16 << 20)),
                time: Nanos(1_000_000_000),
                ..curve(None)
            };
            let found =
                locality(&mut SimulatedBench::new(&spec), &curve, spec.length_bytes, &mut |_| {})
                    .unwrap();
            assert_tiers(&found, &[3.0], &[90.0, 1100.0]);
        }
    }

    #[test]
    fn intervals_of_places_hold_the_truth() {
        let curve = LocalityCurve {
            largest: Some(Bytes(32 << 20)),
            time: Nanos(1_000_000_000),
            ..curve(None)
        };
        let found = measured("tiers?sizes=5MiB&latencies=200us,2ms", &curve);
        let [fast, slow] = found.tiers.as_slice() else { panic!("{:?}", found.tiers) };
        let held = [
            (fast.holds_interval_bytes, 5.0 * f64::from(1 << 20)),
            (fast.interval_ns, 200e3),
            (slow.interval_ns, 2e6),
        ];
        for (interval, truth) in held {
            let interval = interval.unwrap();
            // One seed alone may miss by chance: twice the interval holds all but one of ten
            // thousand.
            let reach = interval.high - interval.low;
            assert!((interval.value - truth).abs() <= reach, "{truth}: {interval:?}");
            assert!(interval.relative_half_width() < 0.1, "{interval:?}");
        }
        assert_eq!(slow.holds_interval_bytes, None);
    }

    #[test]
    fn a_large_target_ends_soon_and_tells_how_far_it_is() {
        let spec = DeviceSpec::parse("tiers?sizes=3MiB&latencies=90us,1100us").unwrap();
        let curve = LocalityCurve { largest: None, time: Nanos(500_000_000), ..curve(None) };
        let mut delay = 0;
        let mut bench = SimulatedBench::new(&spec);
        let found = locality(&mut bench, &curve, spec.length_bytes, &mut |_| delay += 1).unwrap();
        assert!(bench.now_ns() < 600_000_000_000 && delay > 41, "{delay}");
        assert_tiers(&found, &[3.0], &[90.0, 1100.0]);
    }

    #[test]
    fn the_time_that_is_announced_holds() {
        for device in ["tiers?sizes=24MiB&latencies=100us,2ms", "servers?count=4&service=300us"] {
            let spec = DeviceSpec::parse(&format!("device?size=1GiB+{device}")).unwrap();
            let time = Nanos(1_000_000_000);
            let curve = LocalityCurve { largest: None, time, ..curve(None) };
            let mut bench = SimulatedBench::new(&spec);
            let mut announced_s = None;
            let mut show = |phase: &LocalityPhase| announced_s = announced_s.or(phase.left_s);
            locality(&mut bench, &curve, spec.length_bytes, &mut show).unwrap();
            let (took_s, announced_s) = (seconds(bench.now_ns()), announced_s.unwrap());
            let ratio = took_s / announced_s;
            assert!((1.0 / 1.5..1.5).contains(&ratio), "{device}: {announced_s} s, {took_s} s");
        }
    }

    /// Each one was read for two whole seconds, however small it was.
    #[test]
    fn a_small_working_set_is_read_twice_and_not_for_whole_seconds() {
        let spec = DeviceSpec::parse("servers?count=4&service=100us").unwrap();
        let curve = curve(None);
        let mut show = |_: &LocalityPhase| {};
        let plan = &CurvePlan { curve: &curve, length_bytes: spec.length_bytes };
        let mut progress = LocalityProgress {
            show: &mut show,
            plan,
            ahead: Vec::new(),
            done_s: 0.0,
            rate_bytes_per_s: None,
        };
        let mut bench = SimulatedBench::new(&spec);
        let read = bring_in(&mut bench, plan, 1 << 20, plan.bring_in_s(), &mut progress).unwrap();
        assert!((read - 2.0 * f64::from(1 << 20)).abs() < 1.0, "{read}");
        assert!(bench.now_ns() < 200_000_000, "{} ns", bench.now_ns());
    }

    #[test]
    fn a_curve_that_is_stopped_between_two_points_keeps_its_points() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        let spec = DeviceSpec::parse("device?size=2GiB+tiers?sizes=3MiB&latencies=90us,1100us");
        let spec = spec.unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        // So long that the simulation looks for a stop before it measures.
        let curve = LocalityCurve { warm_up: Nanos(20_000_000_000), ..curve(None) };
        let plan = CurvePlan { curve: &curve, length_bytes: spec.length_bytes };
        let last = plan.working_sets().unwrap()[8];
        let mut show = |phase: &LocalityPhase| {
            if phase.working_set_bytes == last {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let mut bench = SimulatedBench::new(&spec).with_stop(&stop);
        let found = locality(&mut bench, &curve, spec.length_bytes, &mut show).unwrap();
        assert_eq!(found.points.len(), 8);
    }

    #[test]
    fn a_curve_needs_room() {
        let small = LocalityCurve { largest: Some(Bytes(4 << 20)), ..curve(None) };
        let small = CurvePlan { curve: &small, length_bytes: 2 << 30 };
        assert!(small.working_sets().unwrap_err().hint().contains("16 times"));
    }
}
