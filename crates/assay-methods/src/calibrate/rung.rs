//! One step of a load ladder: what was measured with a number of I/Os outstanding, and what it
//! shows.

use assay_model::Histogram;
use assay_model::calibration::CurvePoint;
use assay_model::measurement::{Interval, Operation, PackedOperations, PerOperation};
use assay_model::number::{count, nanoseconds, real, real_len, seconds};
use assay_model::spelling::LimitStatistic;
use assay_stats::IntervalEstimate;
use assay_stats::curve::LoadPoint;
use assay_stats::mean::mean_error;
use assay_stats::quantile::quantile_levels;

/// How often the intervals of a calibration cover the truth.
pub(super) const CONFIDENCE: f64 = 0.95;

/// How sure it must be that a step is within a limit, or not: steps are measured until it is, and
/// with some seven looks at growing data a nominal 0.99 errs no more often than a single look at
/// 0.95 (Pocock, Biometrika 64, 1977).
pub(super) const SURE: f64 = 0.99;

/// One run of the engine at one load.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    /// Begin of its warm-up on the bench's clock, ns.
    pub(super) begin_ns: u64,
    /// Length of the warm-up, ns.
    pub(super) warm_up_ns: u64,
    /// End on the bench's clock, ns.
    pub(super) end_ns: u64,
    /// The intervals after the warm-up, all equally long.
    pub(super) intervals: Vec<Interval>,
    /// The same joined, in full precision; packed, because a calibration keeps hundreds of them.
    pub(super) operations: PackedOperations,
    /// Busy share of the busiest worker, 0..=1.
    pub(super) worker_busy_share: f64,
    /// Share of an I/O's time that it waited for a worker to get a processor, 0..=1, where known.
    pub(super) delayed_share: Option<f64>,
    /// Busy share of the host, 0..=1, where known.
    pub(super) host_busy_share: Option<f64>,
}

impl Slice {
    /// Measured time, s.
    pub(super) fn elapsed_s(&self) -> f64 {
        self.intervals.iter().map(Interval::elapsed_s).sum()
    }

    /// Reads and writes per second, a stall at the end included where that is known.
    pub(super) fn iops(&self) -> f64 {
        self.completed() / self.accounted_s().max(f64::MIN_POSITIVE)
    }

    /// Measured time and a stall at its end, s.
    pub(super) fn accounted_s(&self) -> f64 {
        self.elapsed_s() + self.stall_s().unwrap_or(0.0)
    }

    /// Reads and writes that completed in that time: one I/O alone ends the stall.
    fn completed(&self) -> f64 {
        let ended = self.is_alone() && self.stall_s().is_some();
        real(self.operations.ios()) + f64::from(u8::from(ended))
    }

    /// Whether never more than one I/O was outstanding.
    fn is_alone(&self) -> bool {
        self.intervals.iter().all(|interval| interval.queue_depth_mean <= 1.0 + 1e-6)
    }

    /// How long the storage stood still after the measured time, s; `None` where it did not, or
    /// that is not known.
    ///
    /// Time without a completion after the last interval is in no interval, so that leaving it out
    /// would be to measure between stalls only. One I/O alone is waited for; of several it is
    /// known by the last interval, in which much less completed than usual, and what they take
    /// to complete otherwise is not a stall.
    fn stall_s(&self) -> Option<f64> {
        const LEAST_SHARE: f64 = 0.1;
        const LEAST_TIMES: f64 = 10.0;
        let measured_ns = self.warm_up_ns + nanoseconds(self.elapsed_s());
        let drained_s = seconds((self.end_ns - self.begin_ns).saturating_sub(measured_ns));
        let usual_s = self.elapsed_s() / real(self.operations.ios().max(1));
        let alone = self.is_alone();
        let times = if alone { LEAST_TIMES } else { 0.0 };
        let long = drained_s > LEAST_SHARE * self.elapsed_s() && drained_s > times * usual_s;
        if alone {
            return long.then_some(drained_s);
        }
        let last = self.intervals.last()?;
        let stall_s = drained_s - last.queue_depth_mean * usual_s;
        (long && self.stands_still_in(last) && stall_s > 0.0).then_some(stall_s)
    }

    /// Whether much less than usual completed in an interval, where that is not chance.
    fn stands_still_in(&self, interval: &Interval) -> bool {
        const FEWEST: f64 = 20.0;
        const LEAST: f64 = 0.75;
        let usual = real(self.operations.ios()) / real_len(self.intervals.len().max(1));
        usual >= FEWEST && real(interval.operations.ios()) < LEAST * usual
    }

    /// Only the intervals from one on: what was before it counts as warming up.
    fn from(&self, first: usize) -> Self {
        let kept = self.intervals[first.min(self.intervals.len())..].to_vec();
        let skipped_s: f64 = self.intervals[..first].iter().map(Interval::elapsed_s).sum();
        let operations = packed(&kept);
        let warm_up_ns = self.warm_up_ns + nanoseconds(skipped_s);
        Self { intervals: kept, operations, warm_up_ns, ..self.clone() }
    }

    /// Its second half.
    pub(super) fn second_half(&self) -> Self {
        self.from(self.intervals.len() / 2)
    }

    /// Only the first intervals of it; histograms then have the precision of intervals. What came
    /// after them is not a stall.
    fn cut(&self, intervals: usize) -> Self {
        if intervals >= self.intervals.len() {
            return self.clone();
        }
        let kept = self.intervals[..intervals].to_vec();
        let operations = packed(&kept);
        let kept_s: f64 = kept.iter().map(Interval::elapsed_s).sum();
        let end_ns = self.begin_ns + self.warm_up_ns + nanoseconds(kept_s);
        Self { intervals: kept, operations, end_ns, ..self.clone() }
    }
}

/// Results of some intervals as one.
fn packed(intervals: &[Interval]) -> PackedOperations {
    PackedOperations::new(&joined(intervals.iter().map(|interval| &interval.operations)))
}

/// Results of several stretches of time as one.
fn joined<'r>(parts: impl Iterator<Item = &'r PerOperation>) -> PerOperation {
    parts.fold(PerOperation::default(), |mut all, part| {
        all.merge(part);
        all
    })
}

/// Where the limited quantile or mean lies; the upper end is infinite where too few I/Os were seen
/// to bound it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RungSpan {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// The lower end that repeated looks allow for.
    pub(super) sure_low: f64,
    /// The upper end that repeated looks allow for.
    pub(super) sure_high: f64,
    pub(super) effective_n: f64,
}

/// What a quantile or mean says about a limit, with the sureness that repeated looks ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// The whole interval lies within it.
    Surely,
    /// The interval holds it.
    Unclear,
    /// The whole interval lies beyond it.
    Not,
}

impl RungSpan {
    pub(super) fn judged(&self, limit_ns: f64) -> Within {
        if self.sure_high <= limit_ns {
            Within::Surely
        } else if self.sure_low > limit_ns {
            Within::Not
        } else {
            Within::Unclear
        }
    }

    /// Of reads and writes the slower one counts, so each end is the larger of theirs.
    fn worse(self, other: Self) -> Self {
        Self {
            value: self.value.max(other.value),
            low: self.low.max(other.low),
            high: self.high.max(other.high),
            sure_low: self.sure_low.max(other.sure_low),
            sure_high: self.sure_high.max(other.sure_high),
            effective_n: self.effective_n.min(other.effective_n),
        }
    }
}

/// What a step shows.
#[derive(Clone, Debug)]
pub(super) struct RungEstimates {
    /// Reads and writes per second.
    pub(super) iops: IntervalEstimate,
    /// Mean service time, ns.
    pub(super) service_time_ns: IntervalEstimate,
    /// The limited quantile of the service time, or its mean, ns.
    pub(super) limited_ns: RungSpan,
    /// Everything joined, read and write apart.
    pub(super) operations: PerOperation,
    /// Measured time, s.
    pub(super) elapsed_s: f64,
    /// Doubt of the rate by what completes in step at the ends of slices, in reads and writes a
    /// second.
    edge: f64,
}

/// Everything measured at one load.
#[derive(Clone, Debug)]
pub(super) struct CalibrationRung {
    pub(super) queue_depth: u32,
    pub(super) slices: Vec<Slice>,
    pub(super) estimates: RungEstimates,
}

impl CalibrationRung {
    /// A step of at least one slice; `None` when too little was measured to say anything.
    pub(super) fn of(
        queue_depth: u32,
        slices: Vec<Slice>,
        statistic: LimitStatistic,
    ) -> Option<Self> {
        let mut operations = PerOperation::default();
        for slice in &slices {
            operations.merge(&slice.operations.unpack());
        }
        let estimates = RungEstimates::new(&slices, operations, statistic)?;
        Some(Self { queue_depth, slices, estimates })
    }

    /// The step with a slice more.
    pub(super) fn with(mut self, slice: Slice, statistic: LimitStatistic) -> Option<Self> {
        // Only the new slice is unpacked: a step of an hour has thousands.
        let mut operations = self.estimates.operations;
        operations.merge(&slice.operations.unpack());
        self.slices.push(slice);
        let estimates = RungEstimates::new(&self.slices, operations, statistic)?;
        Some(Self { estimates, ..self })
    }

    /// Only the slices that begin at a time or later; `None` where too few are left.
    pub(super) fn since(&self, at_ns: u64, statistic: LimitStatistic) -> Option<Self> {
        let slices = self.slices.iter().filter(|slice| slice.begin_ns >= at_ns).cloned().collect();
        Self::of(self.queue_depth, slices, statistic)
    }

    /// Both joined, in order of time.
    pub(super) fn joined_with(mut self, other: Self, statistic: LimitStatistic) -> Option<Self> {
        self.slices.extend(other.slices);
        self.slices.sort_by_key(|slice| slice.begin_ns);
        Self::of(self.queue_depth, self.slices, statistic)
    }

    /// Only the intervals before the given one, counted over all slices.
    pub(super) fn before(&self, interval: usize, statistic: LimitStatistic) -> Option<Self> {
        let mut left = interval;
        let mut slices = Vec::new();
        for slice in &self.slices {
            if left > 0 {
                slices.push(slice.cut(left));
            }
            left = left.saturating_sub(slice.intervals.len());
        }
        Self::of(self.queue_depth, slices, statistic)
    }

    /// IOPS of every interval, in order of time.
    pub(super) fn series(&self) -> Vec<f64> {
        let intervals = self.slices.iter().flat_map(|slice| &slice.intervals);
        intervals.map(Interval::iops).collect()
    }

    /// Half the width of the interval of IOPS over its value.
    pub(super) fn imprecision(&self) -> f64 {
        self.estimates.iops.relative_half_width()
    }

    /// Begin of the last slice, ns.
    pub(super) fn last_begin_ns(&self) -> u64 {
        self.slices.last().map_or(0, |slice| slice.begin_ns)
    }

    /// Whether the CPU of the host was used up: programs that keep it busy and give way at once
    /// limit nothing.
    pub(super) fn host_was_limit(&self) -> bool {
        const USED_UP: f64 = 0.95;
        const DELAYED: f64 = 0.05;
        self.slices.last().is_some_and(|slice| {
            let waited = slice.delayed_share.is_none_or(|share| share > DELAYED);
            slice.worker_busy_share >= USED_UP
                || waited && slice.host_busy_share.is_some_and(|share| share >= USED_UP)
        })
    }

    /// The step as a point of a throughput-latency curve.
    pub(super) fn load_point(&self) -> LoadPoint {
        LoadPoint {
            load: f64::from(self.queue_depth),
            throughput: self.estimates.iops,
            latency: self.estimates.service_time_ns,
        }
    }

    /// The step as it is printed.
    pub(super) fn curve_point(&self, block_size_bytes: u64) -> CurvePoint {
        let estimates = &self.estimates;
        let span = estimates.limited_ns;
        let shares = self.slices.iter().filter_map(|slice| slice.host_busy_share);
        CurvePoint {
            queue_depth: self.queue_depth,
            block_size_bytes,
            iops: document(&estimates.iops),
            throughput_bytes_per_s: document(&estimates.iops.scaled(real(block_size_bytes))),
            service_time_ns: document(&estimates.service_time_ns),
            limited_quantile_ns: document(&IntervalEstimate {
                value: span.value,
                low: span.low,
                high: span.high,
                confidence: CONFIDENCE,
                n: self.slices.len(),
                effective_n: span.effective_n,
            }),
            operations: estimates.operations.clone(),
            elapsed_s: estimates.elapsed_s,
            worker_busy_share: largest(self.slices.iter().map(|slice| slice.worker_busy_share))
                .unwrap_or(0.0),
            host_busy_share: largest(shares),
        }
    }
}

fn largest(shares: impl Iterator<Item = f64>) -> Option<f64> {
    shares.reduce(f64::max)
}

impl RungEstimates {
    /// The same with the doubt that noise of all time scales asks for, a share of the values; never
    /// less than what falls into slices or out of them at their ends.
    pub(super) fn with_half_width(&mut self, half: f64) {
        let rate = half.max(self.edge / self.iops.value.max(f64::MIN_POSITIVE));
        self.iops = around(&self.iops, rate);
        self.service_time_ns = around(&self.service_time_ns, rate);
    }

    /// The same at the rate and the mean service time that it has with its share of stalls.
    pub(super) fn stalled(&mut self, iops: f64, service_time_ns: f64) {
        self.iops = IntervalEstimate { value: iops, ..self.iops };
        self.service_time_ns = IntervalEstimate { value: service_time_ns, ..self.service_time_ns };
    }

    /// The same with a rate to which other loads contribute, and its doubt as a share.
    pub(super) fn pooled(&mut self, iops: f64, half: f64) {
        self.iops = around(&IntervalEstimate { value: iops, ..self.iops }, half);
    }

    fn new(slices: &[Slice], operations: PerOperation, statistic: LimitStatistic) -> Option<Self> {
        let intervals: Vec<&Interval> = slices.iter().flat_map(|slice| &slice.intervals).collect();
        let elapsed: Vec<f64> = intervals.iter().map(|interval| interval.elapsed_s()).collect();
        let completed: Vec<f64> =
            intervals.iter().map(|interval| real(interval.operations.ios())).collect();
        let time_ns: Vec<f64> = intervals.iter().map(|interval| time_ns(interval)).collect();
        let elapsed_s: f64 = elapsed.iter().sum();
        let iops = ratio(&completed, &elapsed)?;
        // The same with stalls that a slice ended in.
        let accounted_s: f64 = slices.iter().map(Slice::accounted_s).sum();
        let whole = slices.iter().map(Slice::completed).sum::<f64>() / accounted_s;
        let stalled = whole / iops.value.max(f64::MIN_POSITIVE);
        let iops = iops.scaled(stalled);
        let edge = real(in_step(slices)) * real_len(slices.len()) / elapsed_s;
        Some(Self {
            iops: widened(iops, edge),
            service_time_ns: ratio(&time_ns, &completed)?.scaled(stalled.recip()),
            limited_ns: span(&intervals, &operations, statistic)?,
            operations,
            elapsed_s,
            edge,
        })
    }
}

/// An interval with ends at this share from its value.
fn around(estimate: &IntervalEstimate, half: f64) -> IntervalEstimate {
    IntervalEstimate {
        // A rate that may be twice or half as large has its ends as factors: none of them reaches
        // 0.
        low: if half < 0.5 {
            estimate.value * (1.0 - half)
        } else {
            estimate.value / (1.0 + 2.0 * half)
        },
        high: estimate.value * (1.0 + half),
        ..*estimate
    }
}

/// I/Os that may fall into a slice or out of it at its ends: those that complete in step, which is
/// what the counts of all intervals have in common, and no more than are outstanding.
fn in_step(slices: &[Slice]) -> u64 {
    let ios = |interval: &Interval| interval.operations.ios();
    let common = slices
        .iter()
        .flat_map(|slice| &slice.intervals)
        .fold(0, |common, interval| divisor(common, ios(interval)));
    let queue_depth = slices
        .iter()
        .flat_map(|slice| &slice.intervals)
        .map(|interval| count(interval.queue_depth_mean))
        .max();
    common.clamp(1, queue_depth.unwrap_or(1).max(1))
}

/// The greatest common divisor (Euclid); that of a number and 0 is the number.
const fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Sum of the service times that ended in an interval, ns.
pub(super) fn time_ns(interval: &Interval) -> f64 {
    [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| interval.operations.get(operation))
        .map(|result| result.service.mean_ns() * real(result.service.ios()))
        .sum()
}

/// The ratio of two sums over correlated intervals, by the linearized residuals (the delta method).
pub(super) fn ratio(parts: &[f64], wholes: &[f64]) -> Option<IntervalEstimate> {
    ratio_within(parts, wholes, CONFIDENCE)
}

fn ratio_within(parts: &[f64], wholes: &[f64], confidence: f64) -> Option<IntervalEstimate> {
    let (part, whole): (f64, f64) = (parts.iter().sum(), wholes.iter().sum());
    if whole <= 0.0 {
        return None;
    }
    let (value, scale) = (part / whole, whole / real_len(wholes.len()));
    let residuals: Vec<f64> =
        parts.iter().zip(wholes).map(|(part, whole)| (part - value * whole) / scale).collect();
    let error = mean_error(&residuals)?;
    let half = error.half_width(confidence);
    Some(IntervalEstimate {
        value,
        low: value - half,
        high: value + half,
        confidence,
        n: parts.len(),
        effective_n: error.effective_n,
    })
}

/// An interval at least `half` to each side.
fn widened(estimate: IntervalEstimate, half: f64) -> IntervalEstimate {
    IntervalEstimate {
        low: estimate.low.min(estimate.value - half).max(0.0),
        high: estimate.high.max(estimate.value + half),
        ..estimate
    }
}

/// The limited quantile or mean of several steps thrown together: where it lies beyond a limit the
/// largest load does too, where it lies within the smallest one does.
pub(super) fn pooled(rungs: &[&CalibrationRung], statistic: LimitStatistic) -> Option<RungSpan> {
    let operations = joined(rungs.iter().map(|rung| &rung.estimates.operations));
    let intervals: Vec<&Interval> =
        rungs.iter().flat_map(|rung| &rung.slices).flat_map(|slice| &slice.intervals).collect();
    span(&intervals, &operations, statistic)
}

/// The limited quantile or mean of reads and of writes, whichever is worse; never of both thrown
/// together.
fn span(
    intervals: &[&Interval],
    operations: &PerOperation,
    statistic: LimitStatistic,
) -> Option<RungSpan> {
    [Operation::Read, Operation::Write]
        .into_iter()
        .filter_map(|operation| {
            let joined = &operations.get(operation).filter(|result| result.ios > 0)?.service;
            let parts: Vec<Option<&Histogram>> = intervals
                .iter()
                .map(|interval| Some(&interval.operations.get(operation)?.service))
                .collect();
            Some(match statistic {
                LimitStatistic::Mean => span_of_mean(&parts, joined),
                LimitStatistic::Quantile(quantile) => span_of(&parts, joined, quantile),
            })
        })
        .reduce(RungSpan::worse)
}

/// One operation's mean over correlated intervals. Without an interval the ends are the shortest
/// time and infinity.
fn span_of_mean(parts: &[Option<&Histogram>], joined: &Histogram) -> RungSpan {
    let ios: Vec<f64> =
        parts.iter().map(|part| part.map_or(0.0, |part| real(part.ios()))).collect();
    let time_ns = |part: &Histogram| part.mean_ns() * real(part.ios());
    let times: Vec<f64> = parts.iter().map(|part| part.map_or(0.0, time_ns)).collect();
    let value = joined.mean_ns();
    let ends = |confidence| ratio_within(&times, &ios, confidence);
    let (known, sure) = (ends(CONFIDENCE), ends(SURE));
    let low = |known: Option<IntervalEstimate>| {
        known.map_or(real(joined.min_ns()), |known| known.low.max(0.0)).min(value)
    };
    let high = |known: Option<IntervalEstimate>| {
        known.map_or(f64::INFINITY, |known| known.high.max(value))
    };
    RungSpan {
        value,
        low: low(known),
        high: high(known),
        sure_low: low(sure),
        sure_high: high(sure),
        effective_n: known.map_or(0.0, |known| known.effective_n),
    }
}

/// One operation's quantile, read from the joined histogram at levels that the correlated intervals
/// justify.
fn span_of(parts: &[Option<&Histogram>], joined: &Histogram, quantile: f64) -> RungSpan {
    let value = real(joined.quantile_ns(quantile));
    let (low, high, effective_n) = ends(parts, joined, quantile, CONFIDENCE);
    let (sure_low, sure_high, _) = ends(parts, joined, quantile, SURE);
    let floor = |confidence| floor_ns(parts, joined, quantile, confidence).min(value);
    RungSpan {
        value,
        low: low.max(floor(CONFIDENCE)),
        high,
        sure_low: sure_low.max(floor(SURE)),
        sure_high,
        effective_n,
    }
}

/// The ends of a quantile's interval, ns, and what its observations are worth. Without a level the
/// ends are the shortest time and infinity.
fn ends(
    parts: &[Option<&Histogram>],
    joined: &Histogram,
    quantile: f64,
    confidence: f64,
) -> (f64, f64, f64) {
    let value = joined.quantile_ns(quantile);
    let counts: Vec<u64> = parts.iter().map(|part| part.map_or(0, Histogram::ios)).collect();
    let above: Vec<u64> =
        parts.iter().map(|part| part.map_or(0, |part| part.ios_above(value))).collect();
    let levels = quantile_levels(&counts, &above, quantile, confidence);
    let at = |level: f64| real(joined.quantile_ns(level));
    let low = levels.and_then(|levels| levels.low);
    let high = levels.and_then(|levels| levels.high);
    (
        low.map_or(real(joined.min_ns()), at).min(real(value)),
        high.map_or(f64::INFINITY, at).max(real(value)),
        levels.map_or(0.0, |levels| levels.effective_n),
    )
}

/// The lower ends of lower quantiles, of which the highest bounds this one, too, ns: a few slices
/// say little about a tail and more about the middle. Each of them may be wrong a fifth as often,
/// so that together they barely add to the doubt.
fn floor_ns(
    parts: &[Option<&Histogram>],
    joined: &Histogram,
    quantile: f64,
    confidence: f64,
) -> f64 {
    const LOWER: [f64; 2] = [0.5, 0.9];
    let confidence = 1.0 - (1.0 - confidence) / 5.0;
    let lower = LOWER.into_iter().filter(|lower| *lower < quantile);
    lower.map(|lower| ends(parts, joined, lower, confidence).0).fold(0.0, f64::max)
}

/// An estimate as documents hold it: where it may be more than twice the value, only the lower end
/// is known.
pub(super) fn document(estimate: &IntervalEstimate) -> assay_model::Estimate {
    const MOST: f64 = 2.0;
    let is_bounded = estimate.high <= MOST * estimate.value;
    assay_model::Estimate {
        value: estimate.value,
        low: estimate.low,
        high: if is_bounded { estimate.high } else { f64::INFINITY },
        confidence: estimate.confidence,
        n: count(estimate.effective_n),
    }
}

/// An interval that was watched until it was tight, at a load that was chosen for its rate, covers
/// the truth less often than one of a load and a time fixed before: on devices of known truth, five
/// of them with 100 seeds each, 91.2% where 95% are claimed (`examples/calibration_coverage.rs`).
/// This factor makes up for it.
const CHOSEN_WIDER_BY: f64 = 1.15;

/// The estimate of a load that was chosen for what it gave, as documents hold it.
pub(super) fn chosen_document(estimate: &IntervalEstimate) -> assay_model::Estimate {
    let wider = |end: f64| estimate.value + (end - estimate.value) * CHOSEN_WIDER_BY;
    let (low, high) = (wider(estimate.low).max(0.0), wider(estimate.high));
    document(&IntervalEstimate { low, high, ..*estimate })
}

#[cfg(test)]
pub(super) mod tests;
