//! The load curve of one mix: what time an I/O takes at which rate, with the limit and the knee.

use super::annotation::{annotate, annotate_if_free, around};
use super::axis::{Axis, horizontal, legend, vertical};
use super::scale::{AxisScale, range_of};
use super::scene::{Ink, Scene, ScenePoint, SceneSize, Stroke, TextAnchor};
use crate::format::Formatter;
use assay_model::Estimate;
use assay_model::calibration::{CurvePoint, LatencyLimit, MixCalibration};
use assay_model::verdict::Unit;

/// What stays the same while one curve is drawn.
struct Sheet<'a> {
    /// How numbers are shown.
    format: &'a Formatter,
    /// What is drawn.
    mix: &'a MixCalibration,
    /// The limit that was calibrated.
    limit: &'a LatencyLimit,
    /// The points by their depth.
    points: Vec<&'a CurvePoint>,
    /// The ink of the mix.
    ink: Ink,
    /// Rates across.
    x: AxisScale,
    /// Times upwards.
    y: AxisScale,
}

/// Which time of a point is drawn.
type Time = fn(&CurvePoint) -> &Estimate;

/// An interval of so few visits or so wide says nothing that a picture could show; the table has
/// it.
fn is_drawn(estimate: &Estimate) -> bool {
    const VISITS_MIN: u64 = 5;
    const WIDEST: f64 = 0.5;
    estimate.n >= VISITS_MIN && estimate.relative_half_width() <= WIDEST
}

/// The next value of a rising line: a value below the last one counts only if its interval is
/// known and below it, too.
fn without_noise(last: f64, next: &Estimate) -> f64 {
    let has_fallen = is_drawn(next) && next.high < last;
    if has_fallen { next.value } else { next.value.max(last) }
}

/// The ink of a mix of reads and writes.
pub(crate) fn ink_of(read_share: f64) -> Ink {
    match read_share {
        all if all >= 1.0 => Ink::Read,
        none if none <= 0.0 => Ink::Write,
        _ => Ink::Mix,
    }
}

/// Draws the curve.
pub(crate) fn curve(
    mix: &MixCalibration,
    limit: &LatencyLimit,
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let mut scene = Scene::new(size, 320.0, format!("Load curve, {}", mix.name));
    let sheet = Sheet::new(mix, limit, format, &scene);
    scene.description = sheet.describe();
    let wanted = if size == SceneSize::Narrow { 4 } else { 5 };
    vertical(
        &mut scene,
        format,
        &Axis::new(format, "latency (service time)", Unit::Ns, sheet.y, 6),
    );
    horizontal(&mut scene, format, &Axis::new(format, "IOPS", Unit::IosPerS, sheet.x, wanted));
    sheet.draw_points(&mut scene, Stroke::Dashed, |point| &point.limited_quantile_ns);
    sheet.draw_points(&mut scene, Stroke::Solid, |point| &point.service_time_ns);
    sheet.draw_burst(&mut scene);
    sheet.draw_limit(&mut scene);
    sheet.draw_knee(&mut scene);
    sheet.draw_depths(&mut scene);
    let quantile = limit.quantile.to_string();
    let mean = ("mean".to_owned(), sheet.ink, Stroke::Solid);
    let mut entries = vec![mean, (quantile, sheet.ink, Stroke::Dashed)];
    let burst = (!mix.burst_curve.is_empty())
        .then(|| ("mean in the burst".to_owned(), sheet.ink, Stroke::Dotted));
    entries.extend(burst);
    legend(&mut scene, &entries);
    scene
}

impl<'a> Sheet<'a> {
    /// Scales for all points of a mix, sorted by depth.
    fn new(
        mix: &'a MixCalibration,
        limit: &'a LatencyLimit,
        format: &'a Formatter,
        scene: &Scene,
    ) -> Self {
        let mut points: Vec<&CurvePoint> = mix.curve.iter().collect();
        points.sort_by_key(|point| point.queue_depth);
        let plot = scene.plot;
        let all = mix.curve.iter().chain(&mix.burst_curve);
        let most = range_of(all.map(|point| &point.iops)).map_or(0.0, |(_, most)| most);
        let x = AxisScale::from_zero(most / format.divisor(Unit::IosPerS), 5);
        Self {
            format,
            mix,
            limit,
            y: times(&points, limit, format).onto(plot.bottom(), plot.top),
            points,
            ink: ink_of(mix.read_share),
            x: x.onto(plot.left, plot.right()),
        }
    }

    /// The place of a rate, pixels.
    fn x(&self, iops: f64) -> f64 {
        self.x.place(iops / self.format.divisor(Unit::IosPerS))
    }

    /// The place of a time, pixels.
    fn y(&self, time_ns: f64) -> f64 {
        self.y.place(time_ns / self.format.divisor(Unit::Ns))
    }

    /// The place of a point, by one of its times.
    fn place(&self, point: &CurvePoint, time: Time) -> ScenePoint {
        (self.x(point.iops.value), self.y(time(point).value))
    }

    /// The line through the points: rate and time rise with the load, so a point that turns back
    /// within its interval is noise and does not bend the line.
    fn course(&self, time: Time) -> Vec<ScenePoint> {
        let (mut iops, mut time_ns) = (0.0, 0.0);
        let rising = self.points.iter().map(|point| {
            iops = without_noise(iops, &point.iops);
            time_ns = without_noise(time_ns, time(point));
            (self.x(iops), self.y(time_ns))
        });
        rising.collect()
    }

    /// One line with its points and their intervals.
    fn draw_points(&self, scene: &mut Scene, stroke: Stroke, time: Time) {
        let line = self.course(time);
        scene.line(line.clone(), self.ink, stroke);
        for (point, on_line) in self.points.iter().zip(line) {
            let (iops, time_ns) = (&point.iops, time(point));
            let (x, y) = self.place(point, time);
            if (x, y) != on_line {
                scene.dot((x, y), Ink::Grid, self.says(point, time));
                continue;
            }
            if is_drawn(time_ns) {
                scene.whisker(x, (self.y(time_ns.low), self.y(time_ns.high)), self.ink);
            }
            if is_drawn(iops) {
                scene.whisker_across((self.x(iops.low), self.x(iops.high)), y, self.ink);
            }
            scene.dot((x, y), self.ink, self.says(point, time));
        }
    }

    /// What a point says when it is pointed at.
    fn says(&self, point: &CurvePoint, time: Time) -> String {
        let time_ns = self.format.value(Unit::Ns, time(point).value);
        let iops = self.format.value(Unit::IosPerS, point.iops.value);
        format!("queue depth {}: {iops}, {time_ns}", point.queue_depth)
    }

    /// The points from before the level fell; they promise nothing, so they stay thin.
    fn draw_burst(&self, scene: &mut Scene) {
        let mut points: Vec<&CurvePoint> = self.mix.burst_curve.iter().collect();
        points.sort_by_key(|point| point.queue_depth);
        let line =
            points.into_iter().map(|point| self.place(point, |point| &point.service_time_ns));
        let line: Vec<ScenePoint> = line.collect();
        if line.len() > 1 {
            scene.line(line, self.ink, Stroke::Dotted);
        }
    }

    /// The outstanding I/Os next to the points, where there is room.
    fn draw_depths(&self, scene: &mut Scene) {
        for point in &self.points {
            let place = self.place(point, |point| &point.service_time_ns);
            let depth = point.queue_depth.to_string();
            annotate_if_free(scene, Ink::Axis, &depth, &around(place));
        }
    }

    /// The limit, and the rate at which it is reached; relative charts show neither.
    fn draw_limit(&self, scene: &mut Scene) {
        if self.format.is_relative() {
            return;
        }
        let plot = scene.plot;
        let y = self.y(self.limit.service_time_ns);
        scene.line(vec![(plot.left, y), (plot.right(), y)], Ink::Limit, Stroke::Dashed);
        let limit = self.format.chosen(Unit::Ns, self.limit.service_time_ns);
        let text = format!("{} ≤ {limit}", self.limit.quantile);
        let (left, right) = (plot.left + 6.0, plot.right() - 4.0);
        let [above, below] = [y - 5.0, y + 14.0];
        let places = [
            (left, above, TextAnchor::Start),
            (right, above, TextAnchor::End),
            (left, below, TextAnchor::Start),
            (right, below, TextAnchor::End),
        ];
        annotate(scene, Ink::Limit, &text, &places.map(|(x, y, anchor)| ((x, y), anchor)));
        if let Some(capacity) = &self.mix.iops_within_limit {
            let x = self.x(capacity.rate.value);
            scene.line(vec![(x, y), (x, plot.bottom())], Ink::Limit, Stroke::Dotted);
        }
    }

    /// A line from the knee down to its rate.
    fn draw_knee(&self, scene: &mut Scene) {
        let Some(knee) = &self.mix.knee else {
            return;
        };
        let (top, bottom) = (scene.plot.top, scene.plot.bottom());
        let (x, y) = (self.x(knee.iops), self.y(knee.service_time_ns));
        let text = format!("knee at {}", knee.queue_depth);
        scene.line(vec![(x, y), (x, bottom)], Ink::Found, Stroke::Dotted);
        let places = [bottom - 7.0, bottom - 22.0, bottom - 37.0, top + 14.0, top + 29.0]
            .map(|y| [((x - 5.0, y), TextAnchor::End), ((x + 5.0, y), TextAnchor::Start)]);
        annotate(scene, Ink::Found, &text, places.as_flattened());
    }

    /// The ends of the curve in words.
    fn describe(&self) -> String {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
            return "No load was measured.".to_owned();
        };
        format!("From {} to {}.", self.in_words(first), self.in_words(last))
    }

    /// One point in words.
    fn in_words(&self, point: &CurvePoint) -> String {
        let iops = self.format.value(Unit::IosPerS, point.iops.value);
        let time = self.format.value(Unit::Ns, point.service_time_ns.value);
        let depth = point.queue_depth;
        format!("{iops} at a mean service time of {time} with queue depth {depth}")
    }
}

/// The range of times. The limit is part of it, except where it is hidden.
fn times(points: &[&CurvePoint], limit: &LatencyLimit, format: &Formatter) -> AxisScale {
    let means = points.iter().map(|point| &point.service_time_ns);
    let all = means.chain(points.iter().map(|point| &point.limited_quantile_ns));
    let (low, high) = range_of(all).unwrap_or((limit.service_time_ns, limit.service_time_ns));
    let limit_ns = if format.is_relative() { high } else { limit.service_time_ns };
    let divisor = format.divisor(Unit::Ns);
    // Room below the lowest point for the number next to it.
    AxisScale::log(0.85 * low.min(limit_ns) / divisor, high.max(limit_ns) / divisor)
}
