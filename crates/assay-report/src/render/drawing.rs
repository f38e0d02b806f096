//! The charts of a view as SVG files, for a presentation or a ticket: each with its title and the
//! light colours of the page, so that it needs nothing else.

use super::html::markup::{Markup, tag};
use super::html::svg;
use super::palette::Palette;
use crate::chart::scene::{Ink, Scene, SceneMark};
use crate::view::View;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Space for the title above the chart.
const TITLE_HEIGHT: f64 = 30.0;
/// Space at the other edges.
const EDGE: f64 = 10.0;
/// Rules of the page's style sheet for charts, with colours in place of its variables: few
/// programs besides browsers understand variables.
const STYLE: &str = "svg{overflow:visible}svg.plot{overflow:hidden}\
                     text{font:12px sans-serif}.name{font-size:14px}\
                     .mid{text-anchor:middle}.end{text-anchor:end}\
                     .l,.c{fill:none}.a{opacity:.2}.d{fill:#fff}\
                     .l,.d{stroke-width:1.6;stroke-linejoin:round;vector-effect:non-scaling-stroke}\
                     .l.hair{stroke-width:1}.dashed{stroke-dasharray:6 3}\
                     .dotted{stroke-dasharray:1.8 2.6}";

/// Every chart with the name of its file.
pub(crate) fn drawings(view: &View<'_>) -> Vec<(String, String)> {
    let mut drawings: Vec<(String, String)> = Vec::new();
    for chart in view.charts() {
        let is_taken =
            drawings.iter().any(|(name, _)| name.strip_suffix(".svg") == Some(&chart.file));
        let number = drawings.len() + 1;
        let name = if is_taken { format!("{}-{number}", chart.file) } else { chart.file.clone() };
        drawings.push((format!("{name}.svg"), draw(&chart.draw(chart.size))));
    }
    drawings
}

/// One scene below its title.
fn draw(scene: &Scene) -> String {
    let (width, height) = (scene.width + 2.0 * EDGE, scene.height + TITLE_HEIGHT + EDGE);
    let title = tag("text").class("name label").number("x", 0.0).number("y", -12.0);
    let body = tag("style")
        .text(&style(scene))
        .and(paper(width, height))
        .and(title.text(&scene.title))
        .and(svg::svg(scene, "chart"));
    tag("svg")
        .attribute("xmlns", "http://www.w3.org/2000/svg")
        .number("width", width)
        .number("height", height)
        .attribute("viewBox", &format!("-{EDGE} -{TITLE_HEIGHT} {width} {height}"))
        .body(body)
        .into_string()
}

/// The white behind everything.
fn paper(width: f64, height: f64) -> Markup {
    tag("rect")
        .number("x", -EDGE)
        .number("y", -TITLE_HEIGHT)
        .number("width", width)
        .number("height", height)
        .attribute("fill", "#fff")
        .empty()
}

/// The rules for what is drawn, with a colour for each ink in use.
fn style(scene: &Scene) -> String {
    let palette = Palette::light();
    let used = scene.marks.iter().chain(&scene.stretching).map(SceneMark::ink);
    let inks: BTreeMap<String, Ink> =
        used.chain([Ink::Label]).map(|ink| (svg::class(ink), ink)).collect();
    let mut rules = STYLE.to_owned();
    for (class, ink) in inks {
        let (class, colour) = (class.replace(' ', "."), palette.colour(ink));
        // Numbers along a grid line are read; the line itself is not.
        let text_colour = palette.colour(if ink == Ink::Time { Ink::Axis } else { ink });
        // Writing to a string cannot fail.
        let _ = write!(
            rules,
            ".l.{class},.c.{class},.d.{class}{{stroke:#{colour:06x}}}\
             .a.{class},.b.{class}{{fill:#{colour:06x}}}\
             text.{class}{{fill:#{text_colour:06x}}}"
        );
    }
    rules
}
