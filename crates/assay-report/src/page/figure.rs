//! A chart with its caption, drawn twice: for the desk and for the telephone, so that its text is never scaled down.

use crate::chart::scene::{Scene, Size};
use crate::chart::svg::svg;
use crate::markup::{Markup, tag, text};

/// Numbers charts, because the parts of an SVG are named by ids that must be unique on the page.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Charts so far.
    drawn: u32,
}

impl Figures {
    /// A chart with a caption; `draw` is asked for two sizes.
    pub(crate) fn figure(
        &mut self,
        size: Size,
        caption: &str,
        draw: impl Fn(Size) -> Scene,
    ) -> Markup {
        self.drawn += 1;
        let number = self.drawn;
        let one = |size: Size, class: &str, letter: char| {
            tag("div").class(class).body(svg(&draw(size), &format!("f{number}{letter}")))
        };
        let wide = one(size, "wide", 'w');
        let narrow = one(Size::Narrow, "narrow", 'n');
        let caption = tag("figcaption").body(text(caption));
        let class = if size == Size::Full { "full" } else { "half" };
        tag("figure").class(class).body(wide.and(narrow).and(caption))
    }
}
