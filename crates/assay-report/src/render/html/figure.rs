//! A chart with its caption, drawn twice: for the desk and for the telephone, so that its text is
//! never scaled down.

use super::markup::{Markup, tag, text};
use super::svg::svg;
use crate::chart::scene::SceneSize;
use crate::view::Chart;

/// Numbers charts, because the parts of an SVG are named by ids that must be unique on the page.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Charts so far.
    drawn: u32,
}

impl Figures {
    /// A chart with its caption.
    pub(super) fn figure(&mut self, chart: &Chart<'_>) -> Markup {
        self.drawn += 1;
        let number = self.drawn;
        let one = |size: SceneSize, class: &str, letter: char| {
            tag("div").class(class).body(svg(&chart.draw(size), &format!("f{number}{letter}")))
        };
        let wide = one(chart.size, "wide", 'w');
        let narrow = one(SceneSize::Narrow, "narrow", 'n');
        let caption = tag("figcaption").body(text(&chart.caption));
        let class = if chart.size == SceneSize::Full { "full" } else { "half" };
        tag("figure").class(class).body(wide.and(narrow).and(caption))
    }
}
