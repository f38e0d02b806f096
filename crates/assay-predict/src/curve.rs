//! The storage by itself: reads per second by how many reads are outstanding, between and beyond
//! the steps of a calibration.

use assay_model::number::{index, real_len};

/// Reads a second by reads outstanding, the writes of a mix going along.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadCurve {
    /// Outstanding reads and reads per second, both ascending; the first is above 0.
    points: Vec<(f64, f64)>,
}

impl ReadCurve {
    /// The curve through these points; those that give less with more outstanding are left out,
    /// because a queue before the storage would do as well. `None` of nothing.
    pub fn new(points: &[(f64, f64)]) -> Option<Self> {
        let mut sorted: Vec<(f64, f64)> =
            points.iter().copied().filter(|(at, iops)| *at > 0.0 && *iops > 0.0).collect();
        sorted.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut kept: Vec<(f64, f64)> = Vec::new();
        for (at, iops) in sorted {
            let last = kept.last().copied().unwrap_or((0.0, 0.0));
            if at > last.0 && iops > last.1 {
                kept.push((at, iops));
            }
        }
        (!kept.is_empty()).then_some(Self { points: kept })
    }

    /// Servers that never make a read wait for another.
    pub fn constant(latency_s: f64) -> Self {
        Self { points: [1.0, 1e9].map(|at| (at, at / latency_s)).to_vec() }
    }

    /// The points.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The most reads outstanding that were measured.
    pub fn reach(&self) -> f64 {
        self.points.last().map_or(1.0, |(at, _)| *at)
    }

    /// The most reads per second.
    pub fn most_iops(&self) -> f64 {
        self.points.last().map_or(0.0, |(_, iops)| *iops)
    }

    /// Reads a second with this many outstanding.
    ///
    /// A curve of saturation bends down. Between two steps it lies above the line through them and
    /// below the lines of the steps around, prolonged: the middle of these ends is taken.
    pub fn iops(&self, queue_depth: f64) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at < queue_depth);
        let Some(next) = self.points.get(after).copied() else {
            return self.most_iops();
        };
        let Some(before) = after.checked_sub(1).map(|place| self.points[place]) else {
            return next.1 * queue_depth / next.0;
        };
        let chord = line(before, next, queue_depth);
        let left = if after >= 2 { self.points[after - 2] } else { (0.0, 0.0) };
        let from_left = line(left, before, queue_depth);
        let from_right =
            self.points.get(after + 1).map_or(next.1, |beyond| line(next, *beyond, queue_depth));
        let above = from_left.min(from_right).max(chord);
        0.5 * (chord + above)
    }

    /// Mean time of a read with this many outstanding, by Little's law, seconds.
    pub fn latency_s(&self, queue_depth: f64) -> f64 {
        queue_depth / self.iops(queue_depth)
    }

    /// Reads outstanding at a rate; `None` where it is not reached.
    pub fn queue_depth(&self, iops: f64) -> Option<f64> {
        if iops >= self.most_iops() {
            return None;
        }
        let (mut low, mut high) = (0.0, self.reach());
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.iops(middle) < iops { low = middle } else { high = middle }
        }
        Some(0.5 * (low + high))
    }

    /// The same storage with `factor` times the rates, each read taking its time divided by that.
    pub fn faster(&self, factor: f64) -> Self {
        Self { points: self.points.iter().map(|(at, iops)| (*at, iops * factor)).collect() }
    }

    /// The same storage if every read beyond the last step took what one takes there: as much as it
    /// may have more.
    pub fn prolonged(&self) -> Self {
        let mut points = self.points.clone();
        let last = *points.last().unwrap_or(&(1.0, 1.0));
        points.push((1e6 * last.0, 1e6 * last.1));
        Self { points }
    }

    /// The same storage with `factor` times as much of everything inside: as fast for one read, and
    /// able to serve that many more at once.
    pub fn wider(&self, factor: f64) -> Self {
        let wide = |(at, iops): &(f64, f64)| (at * factor, iops * factor);
        let mut points: Vec<(f64, f64)> = self.points.iter().map(wide).collect();
        // One read alone takes what it took.
        if let Some(first) = points.first().copied().filter(|(at, _)| *at > 1.0) {
            points.insert(0, (1.0, first.1 / first.0));
        }
        Self { points }
    }

    /// The same storage with the rate of each point multiplied by its factor; the factors repeat
    /// where there are fewer.
    pub fn scaled_by(&self, factors: &[f64]) -> Self {
        let points = self.points.iter().zip(factors.iter().cycle());
        let points: Vec<(f64, f64)> =
            points.map(|((at, iops), factor)| (*at, iops * factor)).collect();
        Self::new(&points).unwrap_or_else(|| self.clone())
    }

    /// Work with 1, 2, … reads outstanding over that with one, as a station has it; up to `most` of
    /// them.
    pub fn speedup_ratio(&self, most: usize) -> Vec<f64> {
        let reach = self.reach();
        let last = if reach < real_len(most) { index(reach.ceil()) } else { most };
        let one = self.iops(1.0);
        (1..=last.max(1)).map(|queue_depth| self.iops(real_len(queue_depth)) / one).collect()
    }
}

/// The height at `x` of the line through two points.
fn line(left: (f64, f64), right: (f64, f64), x: f64) -> f64 {
    left.1 + (right.1 - left.1) * (x - left.0) / (right.0 - left.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disks() -> ReadCurve {
        // 24 servers of 0.2 ms.
        let iops = |at: f64| at.min(24.0) / 0.0002;
        let points: Vec<(f64, f64)> =
            [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|at| (at, iops(at))).to_vec();
        ReadCurve::new(&points).unwrap()
    }

    #[test]
    fn a_corner_between_two_rungs_is_missed_by_less_than_a_tenth() {
        let curve = disks();
        for at in [1.0, 3.0, 8.0, 12.0, 20.0, 24.0, 28.0, 200.0] {
            let exact = f64::min(at, 24.0) / 0.0002;
            assert!((curve.iops(at) / exact - 1.0).abs() < 0.09, "{at} {}", curve.iops(at));
        }
        assert!((curve.latency_s(4.0) - 0.0002).abs() < 1e-12);
        let half = curve.queue_depth(60_000.0).unwrap();
        assert!((half - 12.0).abs() < 1e-6 && curve.queue_depth(130_000.0).is_none());
    }

    #[test]
    fn a_rung_that_gives_less_is_a_queue() {
        let curve = ReadCurve::new(&[(1.0, 100.0), (2.0, 190.0), (4.0, 150.0)]).unwrap();
        assert!((curve.most_iops() - 190.0).abs() < 1e-9 && (curve.reach() - 2.0).abs() < 1e-9);
        assert_eq!(curve.speedup_ratio(64), [1.0, 1.9]);
        assert_eq!(ReadCurve::new(&[]), None);
    }

    #[test]
    fn constant_and_wider_storage_keep_the_time_of_one_read() {
        let constant = ReadCurve::constant(0.001);
        assert!((constant.latency_s(300.0) - 0.001).abs() < 1e-12);
        let wide = disks().wider(2.0);
        assert!((wide.latency_s(1.0) - 0.0002).abs() < 1e-9);
        assert!((wide.most_iops() - 240_000.0).abs() < 1e-6);
    }
}
