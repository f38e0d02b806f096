//! Text as outlines, from the font that the program carries: a database server has none.

use assay_model::number::single;
use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The Latin letters of a common sans-serif font; its licence is next to it.
const FONT: &[u8] = include_bytes!("../../../fonts/DejaVuSansCondensed-Latin.ttf");

/// Writes text.
pub(super) struct Glyphs {
    /// None only where the font is damaged, which a test excludes.
    face: Option<Face<'static>>,
}

/// Hands outlines of glyphs to a path.
struct Pen(PathBuilder);

impl Glyphs {
    /// With the font that the program carries.
    pub(super) fn new() -> Self {
        Self { face: Face::parse(FONT, 0).ok() }
    }

    /// The width of a text of this size, pixels.
    pub(super) fn width(&self, text: &str, size: f64) -> f64 {
        let Some(face) = &self.face else {
            return 0.0;
        };
        let advances = text.chars().map(|letter| advance(face, glyph(face, letter)));
        advances.sum::<f64>() * size / f64::from(face.units_per_em())
    }

    /// The outlines of a text, from the left end of its base line; nothing for blanks alone.
    pub(super) fn outline(&self, text: &str, size: f64, x: f64, y: f64) -> Option<Path> {
        let face = self.face.as_ref()?;
        let scale = size / f64::from(face.units_per_em());
        let mut all = PathBuilder::new();
        let mut pen_x = x;
        for letter in text.chars() {
            let glyph = glyph(face, letter);
            let mut pen = Pen(PathBuilder::new());
            let drawn = face.outline_glyph(glyph, &mut pen);
            // Fonts count upwards, pictures downwards.
            let scale = single(scale);
            let place = Transform::from_row(scale, 0.0, 0.0, -scale, single(pen_x), single(y));
            let outline = drawn.and_then(|_| pen.0.finish()?.transform(place));
            if let Some(outline) = outline {
                all.push_path(&outline);
            }
            pen_x += advance(face, glyph) * f64::from(scale);
        }
        all.finish()
    }
}

/// The glyph of a letter; the font's box for missing ones.
fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// How far a glyph moves the pen, in units of the font.
fn advance(face: &Face<'_>, glyph: GlyphId) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_every_sign_that_charts_use() {
        let face = Face::parse(FONT, 0).unwrap();
        for letter in "abcXYZ0123456789 .,:%/()+-µ×–…≤≥“”ÄéÅ".chars() {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
    }

    #[test]
    fn widths_add_up() {
        let glyphs = Glyphs::new();
        let (one, two) = (glyphs.width("IOPS", 12.0), glyphs.width("IOPSIOPS", 12.0));
        assert!(one > 10.0 && (two - 2.0 * one).abs() < 1e-9);
        let outline = glyphs.outline("IOPS", 12.0, 100.0, 50.0).unwrap().bounds();
        assert!(outline.left() >= 100.0 && f64::from(outline.right()) <= 100.0 + one);
        assert!(outline.top() > 38.0 && outline.bottom() <= 51.0);
        assert!(glyphs.outline("  ", 12.0, 0.0, 0.0).is_none());
    }
}
