//! A scene as SVG: inks become classes, so that the page's style sheet decides on colours for
//! light, dark and print.

use super::markup::{Markup, push_number, tag};
use crate::chart::scale::ScaleLaw;
use crate::chart::scene::{
    Ink, PointShape, RADIUS, Scene, SceneMark, ScenePoint, SceneReading, Stroke, TextAnchor,
};

/// The chart as an element of the page; `id` must be unique on it.
pub(crate) fn svg(scene: &Scene, id: &str) -> Markup {
    let (title, description) = (format!("{id}-t"), format!("{id}-d"));
    let head = tag("title").attribute("id", &title).text(&scene.title);
    let about = tag("desc").attribute("id", &description).text(&scene.description);
    let marks = scene.marks.iter().map(mark).collect::<Markup>();
    let mut svg = tag("svg");
    for (name, reading) in [("data-x", &scene.across), ("data-y", &scene.upwards)] {
        // One without the other cannot be read.
        if let (Some(reading), true) = (reading, scene.across.is_some() == scene.upwards.is_some())
        {
            svg = svg.attribute(name, &read_back(reading));
        }
    }
    svg.attribute("role", "img")
        .attribute("viewBox", &format!("0 0 {} {}", scene.width, scene.height))
        .number("width", scene.width)
        .number("height", scene.height)
        .attribute("aria-labelledby", &format!("{title} {description}"))
        .body(head.and(about).and(marks).and(stretching(scene)))
}

/// What the page's script reads places by: law, numbers at both ends, their places, unit, name.
fn read_back(reading: &SceneReading) -> String {
    let (law, ends) = reading.scale.ends();
    let law = match law {
        ScaleLaw::Linear => "linear",
        ScaleLaw::Log => "log",
    };
    let ends = ends.map(|end| end.to_string()).join("|");
    format!("{law}|{ends}|{}|{}", reading.unit, reading.name)
}

/// The part that a script may stretch: a drawing of its own, cut off at the edges of the plot.
fn stretching(scene: &Scene) -> Markup {
    if scene.stretching.is_empty() {
        return Markup::new();
    }
    let plot = scene.plot;
    let marks = scene.stretching.iter().map(mark).collect::<Markup>();
    tag("svg")
        .class("plot")
        .number("x", plot.left)
        .number("y", plot.top)
        .number("width", plot.width)
        .number("height", plot.height)
        .attribute("viewBox", &format!("{} {} {} {}", plot.left, plot.top, plot.width, plot.height))
        .attribute("preserveAspectRatio", "none")
        .body(marks)
}

/// The class of an ink.
pub(crate) fn class(ink: Ink) -> String {
    let name = match ink {
        Ink::Axis => "axis",
        Ink::Time => "axis time",
        Ink::Event => "found time",
        Ink::Grid => "grid",
        Ink::Label => "label",
        Ink::Limit => "limit",
        Ink::Found => "found",
        Ink::Read => "read",
        Ink::Write => "write",
        Ink::Sync => "sync",
        Ink::Mix => "mix",
        Ink::Heat(level) => return format!("h{level}"),
        Ink::Class(place) => return format!("w{}", place.min(7)),
    };
    name.to_owned()
}

/// One mark as one element.
fn mark(mark: &SceneMark) -> Markup {
    match mark {
        SceneMark::Line { points, ink, stroke } => tag("path")
            .class(&format!("l {}{}", class(*ink), stroke_class(*stroke)))
            .attribute("d", &path(points))
            .empty(),
        SceneMark::Area { points, ink } => tag("path")
            .class(&format!("a {}", class(*ink)))
            .attribute("d", &(path(points) + "z"))
            .empty(),
        SceneMark::Rects { rects, ink } => {
            tag("path").class(&format!("b {}", class(*ink))).attribute("d", &boxes(rects)).empty()
        }
        SceneMark::Bars { bars, width, ink } => tag("path")
            .class(&format!("c {}", class(*ink)))
            .number("stroke-width", *width)
            .attribute("d", &uprights(bars))
            .empty(),
        SceneMark::Dot { at, ink, says } => dot(*at, *ink, says),
        SceneMark::Text { at, anchor, ink, text } => tag("text")
            .class(&format!("{}{}", class(*ink), anchor_class(*anchor)))
            .number("x", at.0)
            .number("y", at.1)
            .text(text),
    }
}

/// The class of a stroke, after that of the ink.
const fn stroke_class(stroke: Stroke) -> &'static str {
    match stroke {
        Stroke::Hair => " hair",
        Stroke::Solid => "",
        Stroke::Dashed => " dashed",
        Stroke::Dotted => " dotted",
    }
}

/// The class that holds a text, after that of the ink.
const fn anchor_class(anchor: TextAnchor) -> &'static str {
    match anchor {
        TextAnchor::Start => "",
        TextAnchor::Middle => " mid",
        TextAnchor::End => " end",
    }
}

/// A point that says something when it is pointed at.
fn dot(at: ScenePoint, ink: Ink, says: &str) -> Markup {
    let title = tag("title").text(says);
    let outline = shape(ink.shape(), at);
    tag("path").class(&format!("d {}", class(ink))).attribute("d", &outline).body(title)
}

/// The outline of a point's shape.
fn shape(shape: PointShape, (x, y): ScenePoint) -> String {
    let Some(corners) = shape.corners((x, y)) else {
        let mut outline = path(&[(x - RADIUS, y)]);
        outline.push_str("a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z");
        return outline;
    };
    path(&corners) + "z"
}

/// A line through places in the language of paths.
fn path(points: &[ScenePoint]) -> String {
    let mut written = String::with_capacity(points.len() * 11);
    for (index, (x, y)) in points.iter().enumerate() {
        written.push(match index {
            0 => 'M',
            1 => 'L',
            _ => ' ',
        });
        push_number(&mut written, *x);
        written.push(' ');
        push_number(&mut written, *y);
    }
    written
}

/// Many rectangles in one path, because elements cost more than letters.
fn boxes(rects: &[[f64; 4]]) -> String {
    let mut written = String::with_capacity(rects.len() * 24);
    for [x, y, width, height] in rects {
        written.push('M');
        push_number(&mut written, *x);
        written.push(' ');
        push_number(&mut written, *y);
        for (command, value) in [('h', *width), ('v', *height), ('h', -width)] {
            written.push(command);
            push_number(&mut written, value);
        }
        written.push('z');
    }
    written
}

/// Many upright lines in one path.
fn uprights(bars: &[[f64; 3]]) -> String {
    let mut written = String::with_capacity(bars.len() * 12);
    for [x, y, height] in bars {
        written.push('M');
        push_number(&mut written, *x);
        written.push(' ');
        push_number(&mut written, *y);
        written.push('v');
        push_number(&mut written, *height);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::scene::SceneSize;

    #[test]
    fn every_mark_becomes_an_element() {
        let mut scene = Scene::new(SceneSize::Half, 100.0, "a < b");
        scene.line(vec![(0.0, 1.0), (2.26, 3.0), (4.0, 5.0)], Ink::Read, Stroke::Dashed);
        scene.dot((10.0, 10.0), Ink::Write, "8 & 9");
        scene.text((1.0, 2.0), TextAnchor::End, Ink::Axis, "x");
        scene
            .stretching
            .push(SceneMark::Rects { rects: vec![[1.0, 2.0, 3.0, 4.0]], ink: Ink::Heat(3) });
        let written = svg(&scene, "c").into_string();
        for part in [
            "<title id=\"c-t\">a &lt; b</title>",
            "<path class=\"l read dashed\" d=\"M0 1L2.3 3 4 5\"/>",
            "<path class=\"d write\" d=\"M6 6L14 6 14 14 6 14z\"><title>8 &amp; 9</title></path>",
            "<text class=\"axis end\" x=\"1\" y=\"2\">x</text>",
            "<path class=\"b h3\" d=\"M1 2h3v4h-3z\"/>",
            "viewBox=\"0 0 528 100\"",
        ] {
            assert!(written.contains(part), "{part} in {written}");
        }
    }
}
