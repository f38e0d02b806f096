//! Texts within a plot, put where they cover neither one another nor a line of data.

use super::scene::{Ink, Scene, SceneMark, ScenePoint, Stroke, TextAnchor};
use assay_model::number::real_len;

/// Width of a letter, estimated, because nothing here knows the reader's font, pixels.
const LETTER: f64 = 6.9;
/// Height of a text above its base line and below it, pixels.
const ABOVE: f64 = 11.0;
const BELOW: f64 = 3.5;
/// Distance of the places at which a line is looked at, pixels.
const STEP: f64 = 2.5;

/// A place for a text, and where it is held.
pub(crate) type LabelCandidate = (ScenePoint, TextAnchor);

/// Left, upper, right and lower edge, pixels.
type Box = [f64; 4];

/// Writes a text at the first place where it covers nothing that is drawn so far, else at the one
/// where it covers least.
pub(crate) fn annotate(scene: &mut Scene, ink: Ink, text: &str, candidates: &[LabelCandidate]) {
    let covered = |(at, anchor): &LabelCandidate| covered(scene, area(*at, *anchor, text));
    if let Some((at, anchor)) = candidates.iter().min_by_key(|one| covered(one)).copied() {
        scene.text(at, anchor, ink, text);
    }
}

/// Writes a text at the first place where it covers nothing; else not at all.
pub(crate) fn annotate_if_free(
    scene: &mut Scene,
    ink: Ink,
    text: &str,
    candidates: &[LabelCandidate],
) {
    let free = candidates.iter().find(|(at, anchor)| covered(scene, area(*at, *anchor, text)) == 0);
    if let Some((at, anchor)) = free.copied() {
        scene.text(at, anchor, ink, text);
    }
}

/// The places around a point: below and above, right and left of it.
pub(crate) fn around((x, y): ScenePoint) -> [LabelCandidate; 6] {
    [
        ((x + 6.0, y + 15.0), TextAnchor::Start),
        ((x - 6.0, y + 15.0), TextAnchor::End),
        ((x + 6.0, y - 7.0), TextAnchor::Start),
        ((x - 6.0, y - 7.0), TextAnchor::End),
        ((x + 9.0, y + 4.0), TextAnchor::Start),
        ((x - 9.0, y + 4.0), TextAnchor::End),
    ]
}

fn area((x, y): ScenePoint, anchor: TextAnchor, text: &str) -> Box {
    let width = LETTER * real_len(text.chars().count());
    let left = match anchor {
        TextAnchor::Start => x,
        TextAnchor::Middle => x - width / 2.0,
        TextAnchor::End => x - width,
    };
    [left, y - ABOVE, left + width, y + BELOW]
}

/// How many marks a text there would cover; beyond the plot counts as many.
fn covered(scene: &Scene, area: Box) -> usize {
    let plot = scene.plot;
    let is_inside = area[0] >= plot.left
        && area[2] <= plot.right() + 8.0
        && area[1] >= plot.top - 12.0
        && area[3] <= plot.bottom();
    let beyond = if is_inside { 0 } else { scene.marks.len() };
    let marks = scene.marks.iter().chain(&scene.stretching);
    beyond + marks.filter(|mark| is_covered(mark, area)).count()
}

fn is_covered(mark: &SceneMark, [left, top, right, bottom]: Box) -> bool {
    let holds = |(x, y): ScenePoint| x > left && x < right && y > top && y < bottom;
    match mark {
        SceneMark::Line { points, stroke, .. } if !matches!(stroke, Stroke::Hair) => {
            points.windows(2).any(|ends| along(ends[0], ends[1]).any(holds))
        }
        SceneMark::Dot { at: (x, y), .. } => {
            *x > left - 4.0 && *x < right + 4.0 && *y > top - 4.0 && *y < bottom + 4.0
        }
        SceneMark::Text { at, anchor, text, .. } => {
            let other = area(*at, *anchor, text);
            other[0] < right && left < other[2] && other[1] < bottom && top < other[3]
        }
        SceneMark::Line { .. }
        | SceneMark::Area { .. }
        | SceneMark::Rects { .. }
        | SceneMark::Bars { .. } => false,
    }
}

/// Places on a straight line, close to one another.
fn along(from: ScenePoint, to: ScenePoint) -> impl Iterator<Item = ScenePoint> {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let steps = assay_model::number::index(length / STEP) + 1;
    (0..=steps).map(move |step| {
        let share = real_len(step) / real_len(steps);
        (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1))
    })
}

#[cfg(test)]
mod tests {
    use super::super::scene::SceneSize;
    use super::*;

    fn texts(scene: &Scene) -> Vec<ScenePoint> {
        let at = |mark: &SceneMark| match mark {
            SceneMark::Text { at, .. } => Some(*at),
            _ => None,
        };
        scene.marks.iter().filter_map(at).collect()
    }

    #[test]
    fn a_text_goes_where_no_line_is() {
        let mut scene = Scene::new(SceneSize::Half, 200.0, "chart");
        scene.line(vec![(100.0, 115.0), (300.0, 115.0)], Ink::Read, Stroke::Solid);
        annotate(&mut scene, Ink::Axis, "16", &around((150.0, 100.0)));
        assert_eq!(texts(&scene), [(156.0, 93.0)]);
    }

    #[test]
    fn a_text_without_a_free_place_is_left_out_or_covers_least() {
        let mut scene = Scene::new(SceneSize::Half, 200.0, "chart");
        for y in [90.0, 100.0, 110.0] {
            scene.line(vec![(62.0, y), (500.0, y)], Ink::Read, Stroke::Solid);
        }
        let places = [((150.0, 104.0), TextAnchor::Start), ((150.0, 93.0), TextAnchor::Start)];
        annotate_if_free(&mut scene, Ink::Axis, "16", &places);
        assert!(texts(&scene).is_empty());
        annotate(&mut scene, Ink::Axis, "16", &places);
        assert_eq!(texts(&scene).len(), 1);
    }
}
