//! What a throughput-latency curve shows: where it saturates, where its knee lies, or that it does
//! neither yet.

use crate::estimate::IntervalEstimate;

/// Load must have grown by this factor without effect before that is called saturation.
const SPAN: f64 = 2.0;

/// Over this last stretch of load, half a doubling, throughput must still grow to be called rising.
const LAST_STRETCH: f64 = std::f64::consts::SQRT_2;

/// One point of a throughput-latency curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// The load: how many requests are kept outstanding, or how many are offered per second.
    pub load: f64,
    /// Completions per second, or any other unit of throughput.
    pub throughput: IntervalEstimate,
    /// The latency that goes with it, mean or quantile, in any unit of time.
    pub latency: IntervalEstimate,
}

/// Whether more load gives more throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Saturation {
    /// It does not: at least a doubling of load was shown to give no more.
    Saturated(Plateau),
    /// It does, up to the last point: the capacity is not known.
    StillRising {
        /// What the last doubling of load gave, as a share: 0.3 for 30% more.
        gain: IntervalEstimate,
    },
    /// The points do not decide it.
    Undecided(CurveDoubt),
}

/// The part of a curve where more load gives no more throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Index of its first point; never the last point of the curve.
    pub from: usize,
    /// Index of the point with the most throughput.
    pub peak: usize,
    /// The joined throughput of its points, but for those certainly more than the tolerance below
    /// the peak.
    pub capacity: IntervalEstimate,
    /// Whether the last point lies more than the tolerance below the peak: overload costs
    /// throughput.
    pub declines: bool,
}

/// Why a curve does not show whether it saturates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveDoubt {
    /// The curve bends, but load did not double beyond the bend: measure at higher load.
    LoadSpanTooShort,
    /// The intervals are wider than the tolerance: measure longer.
    IntervalsTooWide,
}

/// Whether a curve saturates, at the confidence of its intervals.
///
/// A point starts the plateau if load at least doubles beyond it and no later point can have more
/// than `tolerance` (0.05 for 5%) more throughput, by the upper end of the interval of the ratio.
/// The last point is therefore never taken for saturation. The curve is still rising if even half
/// of the last doubling gave more than the tolerance allows for, by the lower end.
///
/// # Panics
/// If loads do not ascend.
pub fn saturation(points: &[LoadPoint], tolerance: f64) -> Saturation {
    assert_ascending(points);
    let Some(doubled) = last_below(points, SPAN) else {
        return Saturation::Undecided(CurveDoubt::LoadSpanTooShort);
    };
    if let Some(from) = (0..=doubled).find(|from| stays_flat(&points[*from..], tolerance)) {
        return Saturation::Saturated(plateau(points, from, tolerance));
    }
    let stretch = last_below(points, LAST_STRETCH).unwrap_or(doubled);
    let allowed = (1.0 + tolerance).powf(doublings(points, stretch)) - 1.0;
    if gain_since(points, stretch).low > allowed {
        let gain = gain_since(points, doubled);
        return Saturation::StillRising { gain };
    }
    if gain_since(points, doubled).low > tolerance {
        return Saturation::Undecided(CurveDoubt::LoadSpanTooShort);
    }
    Saturation::Undecided(CurveDoubt::IntervalsTooWide)
}

fn assert_ascending(points: &[LoadPoint]) {
    assert!(
        points.is_sorted_by(|one, next| one.load < next.load),
        "the points of a curve ascend in load"
    );
}

/// The last point whose load is at least `factor` times below that of the end.
fn last_below(points: &[LoadPoint], factor: f64) -> Option<usize> {
    let end = points.last()?.load;
    points.iter().rposition(|point| point.load * factor <= end)
}

/// How often load doubles from `index` to the end.
fn doublings(points: &[LoadPoint], index: usize) -> f64 {
    points.last().map_or(0.0, |end| (end.load / points[index].load).log2())
}

/// What throughput gained from `index` to the end, as a share.
fn gain_since(points: &[LoadPoint], index: usize) -> IntervalEstimate {
    let end = points.last().map_or(points[index].throughput, |end| end.throughput);
    gain(&points[index].throughput, &end)
}

/// How much more `to` is than `from`, as a share; unbounded where an interval reaches 0.
fn gain(from: &IntervalEstimate, to: &IntervalEstimate) -> IntervalEstimate {
    let ratio = to.over(from).unwrap_or(IntervalEstimate {
        value: to.value / from.value,
        low: 0.0,
        high: f64::INFINITY,
        ..*to
    });
    IntervalEstimate {
        value: ratio.value - 1.0,
        low: ratio.low - 1.0,
        high: ratio.high - 1.0,
        ..ratio
    }
}

/// Whether no later point can have more than `tolerance` more throughput than the first.
fn stays_flat(tail: &[LoadPoint], tolerance: f64) -> bool {
    tail[1..].iter().all(|later| gain(&tail[0].throughput, &later.throughput).high <= tolerance)
}

fn plateau(points: &[LoadPoint], from: usize, tolerance: f64) -> Plateau {
    let throughput = |index: usize| points[index].throughput;
    let indices = from..points.len();
    let peak = indices
        .clone()
        .max_by(|one, other| throughput(*one).value.total_cmp(&throughput(*other).value))
        .unwrap_or(from);
    let level: Vec<IntervalEstimate> = indices
        .map(throughput)
        .filter(|level| gain(&throughput(peak), level).high >= -tolerance)
        .collect();
    Plateau {
        from,
        peak,
        capacity: joined(&level),
        declines: gain_since(points, peak).high < -tolerance,
    }
}

/// Independent estimates of one quantity joined, each with the weight of its precision (inverse
/// squared width).
fn joined(estimates: &[IntervalEstimate]) -> IntervalEstimate {
    // A width of nothing would weigh infinitely; this leaves such a weight finite and overwhelming.
    let weight = |estimate: &IntervalEstimate| {
        estimate.half_width().max(1e-9 * estimate.value.abs()).powi(-2)
    };
    let total: f64 = estimates.iter().map(weight).sum();
    let value = estimates.iter().map(|one| one.value * weight(one)).sum::<f64>() / total;
    let half = total.sqrt().recip();
    IntervalEstimate {
        value,
        low: value - half,
        high: value + half,
        confidence: estimates.iter().map(|one| one.confidence).fold(1.0, f64::min),
        n: estimates.iter().map(|one| one.n).sum(),
        effective_n: estimates.iter().map(|one| one.effective_n).sum(),
    }
}

/// Where a curve bends from throughput that grows into latency that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKnee {
    /// It bends at a point before the last.
    Found {
        /// Index of the point with the most power.
        at: usize,
        /// Index of the first point that may have as much power; at 0 the knee may lie below the
        /// curve.
        earliest: usize,
        /// Index of the last point that may have as much power; never the last of the curve.
        latest: usize,
    },
    /// The last point has the most power: no knee yet.
    StillRising,
    /// The last point may have as much power as the best one: measure longer or at higher load.
    Undecided,
}

/// The knee of a curve: the point of most power, throughput divided by latency.
///
/// (L. Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
/// communications", ICC 1979.) With a fixed number of customers on c servers it is exactly c
/// customers; with open arrivals at one exponential server, half its capacity. Unlike rules of
/// curvature it does not depend on how far the curve was measured. The interval of power assumes
/// the worst about how throughput and latency vary together.
///
/// # Panics
/// If loads do not ascend.
pub fn knee(points: &[LoadPoint]) -> CurveKnee {
    assert_ascending(points);
    let value = |point: &LoadPoint| point.throughput.value / point.latency.value;
    let best = points
        .iter()
        .enumerate()
        .max_by(|(_, one), (_, other)| value(one).total_cmp(&value(other)));
    let Some((at, best)) = best else {
        return CurveKnee::Undecided;
    };
    let worst_of_best = best.throughput.low / best.latency.high;
    let rivals = |point: &LoadPoint| {
        point.latency.low <= 0.0 || point.throughput.high / point.latency.low >= worst_of_best
    };
    let last = points.len() - 1;
    let latest = points.iter().rposition(rivals).unwrap_or(at);
    match (at == last, latest == last) {
        (true, _) => CurveKnee::StillRising,
        (false, true) => CurveKnee::Undecided,
        (false, false) => {
            CurveKnee::Found { at, earliest: points.iter().position(rivals).unwrap_or(at), latest }
        }
    }
}

#[cfg(test)]
mod tests;
