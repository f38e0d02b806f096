//! Active sessions by wait class over time, one class on top of the other, with a line for the
//! processors.

use super::annotation::annotate;
use super::axis::{Axis, name_below, vertical};
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, SceneSize, Stroke, TextAnchor};
use super::time_axis::time_axis;
use crate::format::Formatter;
use assay_model::number::{real, real_len};
use assay_model::profile::WaitSeries;
use assay_model::verdict::Unit;

/// Classes and their inks, from below to above; what has no place here comes last.
const CLASSES: [&str; 7] =
    ["CPU", "User I/O", "Commit", "System I/O", "Concurrency", "Application", "Network"];
/// What all other classes together are called.
const OTHER: &str = "other";
/// Width of a letter, estimated, because nothing here knows the reader's font, pixels.
const LETTER: f64 = 7.3;
/// Height of a line of the legend, pixels.
const LINE: f64 = 17.0;

/// A stretch of time with its name; stretches stand one behind the other.
pub(crate) struct WaitsStretch<'a> {
    /// Its name; empty where there is only one.
    pub(crate) name: String,
    /// What was seen in it.
    pub(crate) series: &'a WaitSeries,
}

/// Sessions of a step by place in the order of inks.
type WaitsColumn = [f64; CLASSES.len() + 1];

/// Draws the columns.
pub(crate) fn waits(
    stretches: &[WaitsStretch<'_>],
    cpus: Option<f64>,
    format: &Formatter,
    size: SceneSize,
) -> Scene {
    let columns: Vec<Vec<WaitsColumn>> = stretches.iter().map(|one| columns(one.series)).collect();
    let used: Vec<usize> = (0..=CLASSES.len())
        .filter(|place| columns.iter().flatten().any(|column| column[*place] > 0.005))
        .collect();
    let mut scene = Scene::new(size, 280.0, "Active sessions by wait class over time");
    name_classes(&mut scene, &used);
    let plot = scene.plot;
    let highest = columns.iter().flatten().map(|column| column.iter().sum()).fold(1.0, f64::max);
    let highest = above_processors(highest, cpus);
    let wanted = whole_ticks(highest);
    let y = AxisScale::from_zero(highest, wanted).onto(plot.bottom(), plot.top);
    vertical(&mut scene, format, &Axis::new(format, "sessions", Unit::Count, y, wanted));
    let all_s = stretches.iter().map(|one| length_s(one.series)).sum();
    let x = time_axis(&mut scene, all_s);
    name_below(&mut scene, "measured time");
    let mut begin_s = 0.0;
    for (stretch, columns) in stretches.iter().zip(&columns) {
        draw(&mut scene, stretch.series, columns, begin_s, x, y);
        name(&mut scene, stretch, x.place(begin_s));
        begin_s += length_s(stretch.series);
    }
    limit(&mut scene, y, cpus);
    scene.description = describe(&columns, &used);
    scene
}

/// The height up to which is drawn: where the line of the processors is near, there is room for its
/// name above it.
pub(crate) fn above_processors(highest: f64, cpus: Option<f64>) -> f64 {
    const NEAR: f64 = 0.8;
    const ROOM: f64 = 1.2;
    cpus.filter(|cpus| NEAR * cpus <= highest).map_or(highest, |cpus| highest.max(ROOM * cpus))
}

/// As many ticks as keep them whole: there is no half session.
pub(crate) fn whole_ticks(highest: f64) -> usize {
    assay_model::number::index(highest.ceil()).clamp(1, 5)
}

/// The ink of a wait class.
pub(crate) fn ink_of(class: &str) -> Ink {
    ink(place(class))
}

fn length_s(series: &WaitSeries) -> f64 {
    series.step_s * real_len(series.samples.len())
}

/// The place of a class in the order of inks.
fn place(class: &str) -> usize {
    CLASSES.iter().position(|known| *known == class).unwrap_or(CLASSES.len())
}

fn ink(place: usize) -> Ink {
    Ink::Class(u8::try_from(place).unwrap_or(u8::MAX))
}

fn class_name(place: usize) -> &'static str {
    CLASSES.get(place).copied().unwrap_or(OTHER)
}

fn columns(series: &WaitSeries) -> Vec<WaitsColumn> {
    let mut columns = vec![WaitsColumn::default(); series.samples.len()];
    for class in &series.classes {
        for (column, sessions) in columns.iter_mut().zip(&class.sessions_mean) {
            column[place(&class.class)] += sessions;
        }
    }
    columns
}

/// One ink after the other, so that each is one mark.
fn draw(
    scene: &mut Scene,
    series: &WaitSeries,
    columns: &[WaitsColumn],
    begin_s: f64,
    x: AxisScale,
    y: AxisScale,
) {
    let mut below = vec![0.0; columns.len()];
    for place in 0..=CLASSES.len() {
        let mut rects = Vec::new();
        for (step, (column, below)) in columns.iter().zip(&mut below).enumerate() {
            let from_s = begin_s + series.step_s * real_len(step);
            let (left, right) = (x.place(from_s), x.place(from_s + series.step_s));
            let (top, bottom) = (y.place(*below + column[place]), y.place(*below));
            if bottom - top > 0.05 {
                rects.push([left, top, right - left, bottom - top]);
            }
            *below += column[place];
        }
        if !rects.is_empty() {
            scene.marks.push(SceneMark::Rects { rects, ink: ink(place) });
        }
    }
}

fn name(scene: &mut Scene, stretch: &WaitsStretch<'_>, left: f64) {
    if stretch.name.is_empty() {
        return;
    }
    let plot = scene.plot;
    scene.line(vec![(left, plot.top), (left, plot.bottom())], Ink::Found, Stroke::Dotted);
    scene.text((left + 3.0, plot.top + 10.0), TextAnchor::Start, Ink::Found, &stretch.name);
}

/// More sessions than this cannot be on a processor at once.
fn limit(scene: &mut Scene, y: AxisScale, cpus: Option<f64>) {
    let Some(cpus) = cpus.filter(|cpus| *cpus <= y.high) else {
        return;
    };
    let (plot, at) = (scene.plot, y.place(cpus));
    scene.line(vec![(plot.left, at), (plot.right(), at)], Ink::Limit, Stroke::Dashed);
    let name = if cpus > 1.0 { format!("{cpus} CPUs") } else { "1 CPU".to_owned() };
    annotate(
        scene,
        Ink::Limit,
        &name,
        &[
            ((plot.right() - 4.0, at - 4.0), TextAnchor::End),
            ((plot.right() - 4.0, at + 14.0), TextAnchor::End),
        ],
    );
}

/// The legend in as many lines as it needs; the plot makes room for it.
fn name_classes(scene: &mut Scene, used: &[usize]) {
    const SAMPLE: f64 = 11.0;
    // The name of the axis stands at the start of the first line.
    let (mut left, mut base) = (scene.plot.left + 10.0, 13.0);
    for place in used {
        let width = SAMPLE + 4.0 + LETTER * real_len(class_name(*place).len()) + 10.0;
        if left + width > scene.plot.right() {
            (left, base) = (4.0, base + LINE);
        }
        let rects = vec![[left, base - 10.0, SAMPLE, SAMPLE]];
        scene.marks.push(SceneMark::Rects { rects, ink: ink(*place) });
        let at = (left + SAMPLE + 4.0, base);
        scene.text(at, TextAnchor::Start, Ink::Label, class_name(*place));
        left += width;
    }
    scene.plot.top += base - 13.0;
    scene.plot.height -= base - 13.0;
}

fn describe(columns: &[Vec<WaitsColumn>], used: &[usize]) -> String {
    let count = real(assay_model::number::count_of(columns.iter().flatten().count())).max(1.0);
    let one = |place: &usize| {
        let sum: f64 = columns.iter().flatten().map(|column| column[*place]).sum();
        format!("{} {:.2}", class_name(*place), sum / count)
    };
    let said: Vec<String> = used.iter().map(one).collect();
    if said.is_empty() {
        return "No active session was sampled.".to_owned();
    }
    format!("Sessions on average: {}.", said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::profile::ClassSeries;

    fn series(classes: &[(&str, [f64; 3])]) -> WaitSeries {
        let one = |(class, sessions): &(&str, [f64; 3])| ClassSeries {
            class: (*class).to_owned(),
            sessions_mean: sessions.to_vec(),
        };
        WaitSeries { step_s: 1.0, samples: vec![10; 3], classes: classes.iter().map(one).collect() }
    }

    #[test]
    fn classes_stand_on_one_another_and_the_processors_have_a_line() {
        let series = series(&[
            ("CPU", [1.0, 0.0, 2.0]),
            ("Lock or what", [1.0, 1.0, 0.0]),
            ("User I/O", [2.0; 3]),
        ]);
        let stretch = |name: &str| WaitsStretch { name: name.to_owned(), series: &series };
        for size in [SceneSize::Full, SceneSize::Narrow] {
            let scene =
                waits(&[stretch("1"), stretch("4")], Some(2.0), &Formatter::default(), size);
            let of = |wanted: Ink| -> Vec<[f64; 4]> {
                let rects = scene.marks.iter().filter_map(|mark| match mark {
                    // Those of the legend are of one size.
                    SceneMark::Rects { rects, ink } if *ink == wanted && rects.len() > 1 => {
                        Some(rects)
                    }
                    _ => None,
                });
                rects.flatten().copied().collect()
            };
            let (cpu, io) = (of(Ink::Class(0)), of(Ink::Class(1)));
            assert_eq!((cpu.len(), io.len()), (4, 6));
            // I/O stands on what waits for nothing: its lower edge is the upper edge below.
            assert!((io[0][1] + io[0][3] - cpu[0][1]).abs() < 1e-6, "{io:?} {cpu:?}");
            assert!(
                scene.description.contains("CPU 1.00") && scene.description.contains("other 0.67")
            );
            let text = |wanted: &str| {
                scene
                    .marks
                    .iter()
                    .any(|mark| matches!(mark, SceneMark::Text { text, .. } if text == wanted))
            };
            assert!(text("2 CPUs") && text("4"));
            for mark in &scene.marks {
                if let SceneMark::Rects { rects, .. } = mark {
                    assert!(rects.iter().all(|[x, y, w, h]| *x >= 0.0
                        && x + w <= scene.width + 0.1
                        && *y >= 0.0
                        && y + h <= scene.height));
                }
            }
        }
    }
}
