//! A scene as pixels: the same marks as in SVG, in the light colours of the page.

use super::file;
use super::glyphs::Glyphs;
use crate::chart::scene::{Anchor, Ink, Mark, Point, RADIUS, Scene, Stroke as Line};
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
/// The colour of titles.
const TITLE_COLOUR: u32 = 0x1a_1c_1f;

/// Pixels that are being drawn on.
struct Canvas {
    /// What was drawn so far.
    pixels: Pixmap,
    /// What writes.
    glyphs: Glyphs,
}

/// Draws a scene below its title, as a PNG file; `None` where there is no memory for it.
pub(super) fn draw(scene: &Scene) -> Option<Vec<u8>> {
    let size = |length: f64| u32::try_from(count(length * FINENESS)).ok();
    let width = size(scene.width + 2.0 * EDGE)?;
    let mut pixels = Pixmap::new(width, size(scene.height + TITLE + EDGE)?)?;
    pixels.fill(colour(PAPER, 1.0));
    let mut canvas = Canvas { pixels, glyphs: Glyphs::new() };
    canvas.text((0.0, -12.0), Anchor::Start, TITLE_SIZE, TITLE_COLOUR, &scene.title);
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

/// The colours of the page's style sheet, in the light.
const fn hex(ink: Ink) -> u32 {
    match ink {
        Ink::Axis => 0x56_5c_66,
        Ink::Grid | Ink::Time => 0xe6_e8_e6,
        Ink::Label => 0x1a_1c_1f,
        Ink::Limit => 0xa3_12_3a,
        Ink::Found | Ink::Event => 0x4b_51_58,
        Ink::Read => 0x0b_62_a8,
        Ink::Write => 0xb4_43_0a,
        Ink::Sync => 0x6d_3f_a3,
        Ink::Mix => 0x0b_6b_60,
        Ink::Heat(level) => heat(level),
        Ink::Class(place) => class(place),
    }
}

/// The colours of wait classes, as readers of Oracle's tools know them: CPU green, User I/O blue, Commit orange.
const fn class(place: u8) -> u32 {
    match place {
        0 => 0x3f_9a_4c,
        1 => 0x2f_74_c0,
        2 => 0xe0_8a_12,
        3 => 0x7f_b3_e0,
        4 => 0x8c_1d_2c,
        5 => 0xd4_4a_3c,
        6 => 0x8b_6d_4a,
        _ => 0x9a_a0_a8,
    }
}

/// The colours of the heat map, from light to deep.
const fn heat(level: u8) -> u32 {
    match level {
        0 | 1 => 0xe3_eb_f3,
        2 => 0xc9_db_eb,
        3 => 0xa8_c6_e0,
        4 => 0x82_ad_d2,
        5 => 0x5b_91_c1,
        6 => 0x38_73_aa,
        7 => 0x1d_54_8b,
        _ => 0x0b_35_63,
    }
}

impl Canvas {
    /// Draws one mark.
    fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { points, ink, stroke } => self.stroke(points, *ink, *stroke),
            Mark::Area { points, ink } => {
                if let Some(path) = polygon(points) {
                    self.fill(&path, hex(*ink), 0.2);
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
                self.text(*at, *anchor, TEXT_SIZE, hex(ink), text);
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
        self.pixels.stroke_path(&path, &paint(hex(ink), 1.0), &stroke, place(), None);
    }

    /// Fills an outline.
    fn fill(&mut self, path: &Path, hex: u32, opacity: f64) {
        self.pixels.fill_path(path, &paint(hex, opacity), FillRule::Winding, place(), None);
    }

    /// All in one path; edges are not softened, so that neighbours leave no line of paper between them.
    fn rects(&mut self, rects: impl Iterator<Item = [f64; 4]>, ink: Ink) {
        let mut path = PathBuilder::new();
        for [x, y, width, height] in rects {
            let rect = Rect::from_xywh(single(x), single(y), single(width), single(height));
            if let Some(rect) = rect {
                path.push_rect(rect);
            }
        }
        let paint = Paint { anti_alias: false, ..paint(hex(ink), 1.0) };
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
            self.pixels.stroke_path(&outline, &paint(hex(ink), 1.0), &stroke, place(), None);
        }
    }

    /// Writes a text held at a place of its base line.
    fn text(&mut self, (x, y): Point, anchor: Anchor, size: f64, hex: u32, text: &str) {
        let width = self.glyphs.width(text, size);
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        if let Some(outline) = self.glyphs.outline(text, size, (left, y)) {
            // A seam of paper keeps text readable on lines, as on the page.
            let seam = Stroke { width: 3.0, ..Stroke::default() };
            self.pixels.stroke_path(&outline, &paint(PAPER, 0.85), &seam, place(), None);
            self.fill(&outline, hex, 1.0);
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
