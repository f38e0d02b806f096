//! A scene as pixels: the same marks as in SVG, in the light colours of the page.

use super::file;
use super::glyphs::Glyphs;
use crate::chart::scene::{Anchor, Ink, Mark, Point, RADIUS, Scene, Stroke as Line};
use crate::render::palette::Palette;
use assay_model::number::{count, index_of, single};
use tiny_skia::{
    Color, FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke,
    StrokeDash, Transform,
};

/// Pixels a unit of the scene.
const FINENESS: f64 = 2.0;
/// Room for the title above the chart, and at the edges.
const TITLE: f64 = 30.0;
/// Room at the other edges.
const EDGE: f64 = 10.0;
/// Size of the letters in charts, as on the page.
const TEXT_SIZE: f64 = 12.0;
/// Size of the letters of titles.
const TITLE_SIZE: f64 = 14.0;
/// The colour behind everything.
const PAPER: u32 = 0xff_ff_ff;

/// Pixels that are being drawn on.
struct Canvas {
    /// What was drawn so far.
    pixels: Pixmap,
    /// What writes.
    glyphs: Glyphs,
    /// What inks look like.
    palette: Palette,
}

/// Draws a scene below its title, as a PNG file; `None` where there is no memory for it.
pub(super) fn draw(scene: &Scene) -> Option<Vec<u8>> {
    let size = |length: f64| u32::try_from(count(length * FINENESS)).ok();
    let width = size(scene.width + 2.0 * EDGE)?;
    let mut pixels = Pixmap::new(width, size(scene.height + TITLE + EDGE)?)?;
    pixels.fill(colour(PAPER, 1.0));
    let mut canvas = Canvas { pixels, glyphs: Glyphs::new(), palette: Palette::light() };
    canvas.text((0.0, -12.0), Anchor::Start, TITLE_SIZE, Ink::Label, &scene.title);
    for mark in scene.marks.iter().chain(&scene.stretching) {
        canvas.mark(mark);
    }
    let rows = canvas.pixels.pixels().chunks(index_of(u64::from(width)));
    let rows: Vec<Vec<u8>> = rows.map(bytes).collect();
    Some(file::encode(width, &rows))
}

/// The scene's paper is opaque, so that no pixel has a share of nothing.
fn bytes(row: &[PremultipliedColorU8]) -> Vec<u8> {
    let channels = |pixel: &PremultipliedColorU8| [pixel.red(), pixel.green(), pixel.blue()];
    row.iter().flat_map(channels).collect()
}

/// From places of a scene to pixels.
fn place() -> Transform {
    let fineness = single(FINENESS);
    Transform::from_translate(single(EDGE), single(TITLE)).post_scale(fineness, fineness)
}

/// A colour from its three bytes; opacity in 0..=1.
fn colour(hex: u32, opacity: f64) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    let mut colour = Color::from_rgba8(red, green, blue, u8::MAX);
    colour.set_alpha(single(opacity));
    colour
}

/// The same to paint with, edges softened.
fn paint(hex: u32, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(colour(hex, opacity));
    paint
}

impl Canvas {
    /// Draws one mark.
    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { points, ink, stroke } => self.stroke(points, *ink, *stroke),
            Mark::Area { points, ink } => {
                if let Some(path) = polygon(points) {
                    self.fill(&path, self.palette.colour(*ink), 0.2);
                }
            }
            Mark::Rects { rects, ink } => self.rects(rects.iter().copied(), *ink),
            Mark::Bars { bars, width, ink } => {
                let rects =
                    bars.iter().map(|[x, y, height]| [x - width / 2.0, *y, *width, *height]);
                self.rects(rects, *ink);
            }
            Mark::Dot { at, ink, .. } => self.dot(*at, *ink),
            Mark::Text { at, anchor, ink, text } => {
                let ink = if *ink == Ink::Time { Ink::Axis } else { *ink };
                self.text(*at, *anchor, TEXT_SIZE, ink, text);
            }
        }
    }

    /// Draws a line.
    fn stroke(&mut self, points: &[Point], ink: Ink, line: Line) {
        let Some(path) = open(points) else {
            return;
        };
        let (width, dash) = match line {
            Line::Hair => (1.0, None),
            Line::Solid => (1.6, None),
            Line::Dashed => (1.6, StrokeDash::new(vec![6.0, 3.0], 0.0)),
            Line::Dotted => (1.6, StrokeDash::new(vec![1.8, 2.6], 0.0)),
        };
        let stroke = Stroke { width, dash, ..Stroke::default() };
        self.pixels.stroke_path(
            &path,
            &paint(self.palette.colour(ink), 1.0),
            &stroke,
            place(),
            None,
        );
    }

    /// Fills an outline.
    fn fill(&mut self, path: &Path, hex: u32, opacity: f64) {
        self.pixels.fill_path(path, &paint(hex, opacity), FillRule::Winding, place(), None);
    }

    /// All in one path; edges are not softened, so that neighbours leave no line of paper between
    /// them.
    fn rects(&mut self, rects: impl Iterator<Item = [f64; 4]>, ink: Ink) {
        let mut path = PathBuilder::new();
        for [x, y, width, height] in rects {
            let rect = Rect::from_xywh(single(x), single(y), single(width), single(height));
            if let Some(rect) = rect {
                path.push_rect(rect);
            }
        }
        let paint = Paint { anti_alias: false, ..paint(self.palette.colour(ink), 1.0) };
        if let Some(path) = path.finish() {
            self.pixels.fill_path(&path, &paint, FillRule::Winding, place(), None);
        }
    }

    /// Draws a point: paper inside, so that lines do not shine through.
    fn dot(&mut self, at: Point, ink: Ink) {
        let corners = ink.shape().corners(at);
        let circle = || PathBuilder::from_circle(single(at.0), single(at.1), single(RADIUS));
        let outline = corners.map_or_else(circle, |corners| polygon(&corners));
        if let Some(outline) = outline {
            self.fill(&outline, PAPER, 1.0);
            let stroke = Stroke { width: 1.6, ..Stroke::default() };
            self.pixels.stroke_path(
                &outline,
                &paint(self.palette.colour(ink), 1.0),
                &stroke,
                place(),
                None,
            );
        }
    }

    /// Writes a text held at a place of its base line.
    fn text(&mut self, (x, y): Point, anchor: Anchor, size: f64, ink: Ink, text: &str) {
        let width = self.glyphs.width(text, size);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        if let Some(outline) = self.glyphs.outline(text, size, left, y) {
            // A seam of paper keeps text readable on lines, as on the page.
            let seam = Stroke { width: 3.0, ..Stroke::default() };
            self.pixels.stroke_path(&outline, &paint(PAPER, 0.85), &seam, place(), None);
            self.fill(&outline, self.palette.colour(ink), 1.0);
        }
    }
}

/// A line through places.
fn open(points: &[Point]) -> Option<Path> {
    follow(points)?.finish()
}

/// The closed outline through places.
fn polygon(points: &[Point]) -> Option<Path> {
    let mut path = follow(points)?;
    path.close();
    path.finish()
}

/// The way through places, not ended yet.
fn follow(points: &[Point]) -> Option<PathBuilder> {
    let ((x, y), rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(single(*x), single(*y));
    for (x, y) in rest {
        path.line_to(single(*x), single(*y));
    }
    Some(path)
}
