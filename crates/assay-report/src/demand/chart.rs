//! The charts of one profile: how its I/Os took, where time went, and what a few tablespaces would
//! bring.

use super::facts;
use crate::chart::axis::{Axis, base_line, horizontal, legend, name_below, vertical};
use crate::chart::scale::AxisScale;
use crate::chart::scene::{Ink, Scene, SceneMark, ScenePoint, SceneSize, Stroke, TextAnchor};
use crate::chart::waits::{WaitsStretch, ink_of, waits};
use crate::format::Formatter;
use assay_model::number::{real, real_len};
use assay_model::profile::{IoClass, IoPurpose, LatencyCurve, Profile};
use assay_model::verdict::Unit;

/// Purposes whose curves are drawn, with their looks.
const CURVES: [(IoPurpose, Ink, Stroke); 4] = [
    (IoPurpose::SingleBlockRead, Ink::Read, Stroke::Solid),
    (IoPurpose::MultiBlockRead, Ink::Mix, Stroke::Dotted),
    (IoPurpose::LogWrite, Ink::Write, Stroke::Solid),
    (IoPurpose::DataFileWrite, Ink::Sync, Stroke::Dashed),
];
/// Height of a bar with its gap, pixels.
const BAR: f64 = 26.0;
/// Parts of DB time that are drawn.
const PARTS_MAX: usize = 12;

/// The curves of a profile; `None` where the report has no histogram.
pub(super) fn curves(profile: &Profile) -> Option<impl Fn(SceneSize) -> Scene> {
    let found: Vec<_> = CURVES
        .into_iter()
        .filter_map(|(purpose, ink, stroke)| {
            let class = profile.class(purpose)?;
            Some((class, ink, stroke, points(class.latency.as_ref()?)))
        })
        .filter(|(.., points)| points.len() > 1)
        .collect();
    let times = || found.iter().flat_map(|(.., points)| points).map(|(time_ns, _)| *time_ns);
    let (low, high) = (times().reduce(f64::min)?, times().reduce(f64::max)?);
    let looks: Vec<(String, Ink, Stroke, Vec<ScenePoint>)> = found
        .into_iter()
        .map(|(class, ink, stroke, points)| (name(class), ink, stroke, points))
        .collect();
    Some(move |size| draw_curves(&looks, (low, high), size))
}

fn name(class: &IoClass) -> String {
    facts::purpose(class.purpose).to_owned()
}

/// Share of the I/Os that took no longer than the end of each range.
fn points(curve: &LatencyCurve) -> Vec<ScenePoint> {
    let (all, mut sum) = (curve.ios(), 0.0);
    let ends = curve.buckets.iter().filter(|_| all > 0.0);
    let ends = ends.filter_map(|bucket| {
        sum += bucket.ios;
        Some((real(bucket.high_ns?), sum / all))
    });
    ends.collect()
}

fn draw_curves(
    looks: &[(String, Ink, Stroke, Vec<ScenePoint>)],
    (low, high): ScenePoint,
    size: SceneSize,
) -> Scene {
    let mut scene = Scene::new(size, 280.0, "I/O latency");
    let plot = scene.plot;
    let format = Formatter::default();
    let x = AxisScale::log(low, high).onto(plot.left, plot.right());
    let y = AxisScale::linear(0.0, 1.0).onto(plot.bottom(), plot.top);
    vertical(&mut scene, &format, &Axis::new(&format, "share of the I/Os", Unit::Share, y, 5));
    horizontal(&mut scene, &format, &Axis::new(&format, "took at most", Unit::Ns, x, 6));
    for (name, ink, stroke, points) in looks {
        let places = points.iter().map(|(time, share)| (x.place(*time), y.place(*share)));
        scene.line(places.collect(), *ink, *stroke);
        for (time_ns, share) in points {
            let says = format!(
                "{name}: {} within {}",
                facts::percent(*share),
                assay_model::units::show_time_ns(*time_ns)
            );
            scene.dot((x.place(*time_ns), y.place(*share)), *ink, says);
        }
    }
    let entries: Vec<_> =
        looks.iter().map(|(name, ink, stroke, _)| (name.clone(), *ink, *stroke)).collect();
    legend(&mut scene, &entries);
    "Cumulative shares of I/Os by latency.".clone_into(&mut scene.description);
    scene
}

/// Parts of DB time as bars; `None` without DB time.
pub(super) fn shares(profile: &Profile) -> Option<impl Fn(SceneSize) -> Scene> {
    let parts: Vec<(String, f64)> = facts::time(profile)
        .into_iter()
        .filter_map(|(name, _, share)| Some((name, share?)))
        .filter(|(_, share)| *share > 0.0)
        .take(PARTS_MAX)
        .collect();
    (!parts.is_empty()).then_some(move |size| draw_shares(&parts, size))
}

fn draw_shares(parts: &[(String, f64)], size: SceneSize) -> Scene {
    let mut scene = Scene::new(size, 76.0 + BAR * real_len(parts.len()), "DB time");
    scene.plot.left += 70.0;
    scene.plot.width -= 70.0;
    let plot = scene.plot;
    let format = Formatter::default();
    let most = parts.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let x = AxisScale::from_zero(most, 4).onto(plot.left, plot.right());
    horizontal(&mut scene, &format, &Axis::new(&format, "share of DB time", Unit::Share, x, 4));
    let mut top = plot.top + 4.0;
    for (name, share) in parts {
        let ink = ink_of(name);
        let width = (x.place(*share) - plot.left).max(1.0);
        scene.marks.push(SceneMark::Rects { rects: vec![[plot.left, top, width, BAR - 8.0]], ink });
        scene.text((plot.left - 6.0, top + 13.0), TextAnchor::End, Ink::Label, name);
        top += BAR;
    }
    let say = |(name, share): &(String, f64)| format!("{name} {}", facts::percent(*share));
    scene.description = parts.iter().map(say).collect::<Vec<_>>().join(", ");
    scene
}

/// What sessions did over time; `None` of a report.
pub(super) fn over_time(profile: &Profile) -> Option<impl Fn(SceneSize) -> Scene> {
    let series = profile.server.as_ref()?.over_time.as_ref()?;
    let cpus = profile.time.cpus.as_ref().map(|cpus| cpus.value);
    Some(move |size| {
        waits(&[WaitsStretch { name: String::new(), series }], cpus, &Formatter::default(), size)
    })
}

/// What the first few tablespaces bring together; `None` for fewer than two.
pub(super) fn tiers(profile: &Profile) -> Option<impl Fn(SceneSize) -> Scene> {
    let shares: Vec<f64> =
        profile.tiering.iter().map(|candidate| candidate.cumulative_share).collect();
    (shares.len() > 1 && shares.last().is_some_and(|last| *last > 0.0))
        .then_some(move |size| draw_tiers(&shares, size))
}

fn draw_tiers(shares: &[f64], size: SceneSize) -> Scene {
    let mut scene = Scene::new(size, 240.0, "Waiting for reads by tablespaces");
    let plot = scene.plot;
    let format = Formatter::default();
    let x = AxisScale::from_zero(real_len(shares.len()), 6).onto(plot.left, plot.right());
    let y = AxisScale::linear(0.0, 1.0).onto(plot.bottom(), plot.top);
    vertical(&mut scene, &format, &Axis::new(&format, "share of the waiting", Unit::Share, y, 5));
    for tick in x.ticks(6) {
        let place = x.place(tick.value);
        scene.text(
            (place, plot.bottom() + 17.0),
            TextAnchor::Middle,
            Ink::Axis,
            format!("{}", tick.value),
        );
    }
    base_line(&mut scene);
    name_below(&mut scene, "tablespaces, by decreasing gain");
    let places = std::iter::once(0.0).chain(shares.iter().copied());
    let places =
        places.enumerate().map(|(number, share)| (x.place(real_len(number)), y.place(share)));
    scene.line(places.collect(), Ink::Read, Stroke::Solid);
    let first = shares.first().copied().unwrap_or(0.0);
    scene.description =
        format!("The first of {} accounts for {}.", shares.len(), facts::percent(first));
    scene
}
