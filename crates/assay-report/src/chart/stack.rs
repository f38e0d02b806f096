//! Where the time of sessions went, a column a step: parts on top of one another, with a line for
//! the processors.

use super::annotation::annotate;
use super::axis::{Axis, base_line, legend, name_below, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, SceneSize, Stroke, TextAnchor};
use super::waits::{above_processors, whole_ticks};
use crate::format::Formatter;
use crate::ladder::split::SessionSplit;
use assay_model::load::Rung;
use assay_model::number::real_len;
use assay_model::verdict::Unit;

/// Names of the parts, their inks, and how a split fills them.
const PARTS: [(&str, Ink, StackPart); 5] = [
    ("CPU", Ink::Class(0), |split| split.cpu),
    ("data I/O", Ink::Class(1), |split| split.data_io),
    ("commit", Ink::Class(2), |split| split.commit),
    ("locks", Ink::Class(3), |split| split.locks),
    ("other", Ink::Class(4), |split| split.other),
];

/// Sessions in a part on average, where it is known.
type StackPart = fn(&SessionSplit) -> Option<f64>;

/// Draws the columns.
pub(crate) fn stack(
    rungs: &[&Rung],
    who: &str,
    processors: u32,
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let mut scene = Scene::new(size, 280.0, "Session time by wait");
    let plot = scene.plot;
    let height =
        |rung: &&Rung| PARTS.iter().map(|(_, _, part)| sessions_in(rung, *part)).sum::<f64>();
    let highest =
        rungs.iter().map(|rung| height(rung).max(f64::from(rung.sessions))).fold(1.0, f64::max);
    let highest = above_processors(highest, Some(f64::from(processors)));
    let wanted = whole_ticks(highest);
    let y = AxisScale::from_zero(highest, wanted).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, "sessions on average", Unit::Count, y, wanted));
    let step = plot.width / real_len(rungs.len().max(1));
    for (rung, column) in rungs.iter().zip(0_u32..) {
        let left = plot.left + step * (f64::from(column) + 0.2);
        draw(&mut scene, rung, y, left, 0.6 * step);
        let middle = left + 0.3 * step;
        scene.text(
            (middle, plot.bottom() + 17.0),
            TextAnchor::Middle,
            Ink::Axis,
            rung.sessions.to_string(),
        );
    }
    limit(&mut scene, y, f64::from(processors));
    base_line(&mut scene);
    name_below(&mut scene, who);
    let used = PARTS
        .iter()
        .filter(|(_, _, part)| rungs.iter().any(|rung| sessions_in(rung, *part) > 0.005));
    let entries: Vec<_> =
        used.map(|(name, ink, _)| ((*name).to_owned(), *ink, Stroke::Solid)).collect();
    legend(&mut scene, &entries);
    scene.description = rungs.last().map_or_else(String::new, |rung| describe(rung));
    scene
}

/// Sessions that were in a state on average.
fn sessions_in(rung: &Rung, part: StackPart) -> f64 {
    part(&SessionSplit::of(rung)).unwrap_or(0.0)
}

fn draw(scene: &mut Scene, rung: &Rung, y: AxisScale, left: f64, width: f64) {
    let mut below = 0.0;
    for (_, ink, part) in PARTS {
        let above = below + sessions_in(rung, part);
        let (top, bottom) = (y.place(above), y.place(below));
        if bottom - top > 0.1 {
            scene
                .marks
                .push(SceneMark::Rects { rects: vec![[left, top, width, bottom - top]], ink });
        }
        below = above;
    }
}

/// More sessions than this cannot be on a processor at once.
fn limit(scene: &mut Scene, y: AxisScale, count: f64) {
    if count > y.high {
        return;
    }
    let (plot, at) = (scene.plot, y.place(count));
    scene.line(vec![(plot.left, at), (plot.right(), at)], Ink::Limit, Stroke::Dashed);
    let name = if count > 1.0 { format!("{count} CPUs") } else { "1 CPU".to_owned() };
    let places = [
        ((plot.left + 4.0, at - 4.0), TextAnchor::Start),
        ((plot.left + 4.0, at + 14.0), TextAnchor::Start),
    ];
    annotate(scene, Ink::Limit, &name, &places);
}

fn describe(rung: &Rung) -> String {
    let parts =
        PARTS.iter().map(|(name, _, part)| format!("{name} {:.2}", sessions_in(rung, *part)));
    format!(
        "With {} sessions on average in: {}.",
        rung.sessions,
        parts.collect::<Vec<_>>().join(", ")
    )
}
