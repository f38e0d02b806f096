//! What is drawn, before it is SVG or pixels: marks at places, in inks that have a meaning instead
//! of a colour.

use super::scale::AxisScale;
use assay_model::measurement::Operation;

/// What a mark means; style sheets and palettes give it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ink {
    /// Axis lines and their numbers.
    Axis,
    /// Ticks of a time axis, which change when a part of the time is looked at.
    Time,
    /// Numbers of events, which disappear when a part of the time is looked at.
    Event,
    /// Lines behind the data.
    Grid,
    /// Text that names something.
    Label,
    /// A limit that should be kept.
    Limit,
    /// Something found by a rule: a knee, an event.
    Found,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Syncs.
    Sync,
    /// Reads and writes mixed.
    Mix,
    /// A share of the largest value, in eighths from 1 to 8.
    Heat(u8),
    /// A wait class, from 0; the last one is for all others.
    Class(u8),
}

impl From<Operation> for Ink {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Read => Self::Read,
            Operation::Write => Self::Write,
            Operation::Sync => Self::Sync,
        }
    }
}

/// A place on the scene, from the upper left corner.
pub(crate) type ScenePoint = (f64, f64);

/// How a line is drawn; kinds of lines differ by more than their ink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Hair line of axes and grids.
    Hair,
    /// Data.
    Solid,
    /// Data of a second kind.
    Dashed,
    /// Data of a third kind.
    Dotted,
}

/// The shape of a single point; kinds of points differ by more than their ink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointShape {
    /// Reads.
    Circle,
    /// Writes.
    Square,
    /// Mixes.
    Diamond,
    /// Syncs.
    Triangle,
}

impl Ink {
    /// The shape that goes with the ink.
    pub(crate) const fn shape(self) -> PointShape {
        match self {
            Self::Write => PointShape::Square,
            Self::Sync => PointShape::Triangle,
            Self::Mix => PointShape::Diamond,
            _ => PointShape::Circle,
        }
    }
}

/// Half the width of a point, pixels.
pub(crate) const RADIUS: f64 = 4.0;

impl PointShape {
    /// The corners about a place; `None` for what has none.
    pub(crate) fn corners(self, (x, y): ScenePoint) -> Option<Vec<ScenePoint>> {
        let of = |corners: &[ScenePoint]| {
            let place = |(right, down): &ScenePoint| (x + right * RADIUS, y + down * RADIUS);
            Some(corners.iter().map(place).collect())
        };
        match self {
            Self::Circle => None,
            Self::Square => of(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]),
            Self::Diamond => of(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            Self::Triangle => of(&[(0.0, -1.2), (1.2, 1.0), (-1.2, 1.0)]),
        }
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextAnchor {
    /// At its left end.
    Start,
    /// At its middle.
    Middle,
    /// At its right end.
    End,
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SceneMark {
    /// A line through points.
    Line { points: Vec<ScenePoint>, ink: Ink, stroke: Stroke },
    /// A filled outline.
    Area { points: Vec<ScenePoint>, ink: Ink },
    /// Filled rectangles of one ink: x, y, width, height.
    Rects { rects: Vec<[f64; 4]>, ink: Ink },
    /// Upright bars of one width and ink: x of the middle, y of the top, height.
    Bars { bars: Vec<[f64; 3]>, width: f64, ink: Ink },
    /// A point with what it says when it is pointed at.
    Dot { at: ScenePoint, ink: Ink, says: String },
    /// A text.
    Text { at: ScenePoint, anchor: TextAnchor, ink: Ink, text: String },
}

impl SceneMark {
    /// What it is drawn with.
    pub(crate) const fn ink(&self) -> Ink {
        match self {
            Self::Line { ink, .. }
            | Self::Area { ink, .. }
            | Self::Rects { ink, .. }
            | Self::Bars { ink, .. }
            | Self::Dot { ink, .. }
            | Self::Text { ink, .. } => *ink,
        }
    }

    /// Moves it down.
    fn lower(&mut self, by: f64) {
        let tops: Box<dyn Iterator<Item = &mut f64>> = match self {
            Self::Line { points, .. } | Self::Area { points, .. } => {
                Box::new(points.iter_mut().map(|point| &mut point.1))
            }
            Self::Rects { rects, .. } => Box::new(rects.iter_mut().map(|rect| &mut rect[1])),
            Self::Bars { bars, .. } => Box::new(bars.iter_mut().map(|bar| &mut bar[1])),
            Self::Dot { at, .. } | Self::Text { at, .. } => Box::new(std::iter::once(&mut at.1)),
        };
        for top in tops {
            *top += by;
        }
    }
}

/// The rectangle in which data are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Plot {
    /// Left edge, pixels from the left of the scene.
    pub(crate) left: f64,
    /// Upper edge, pixels from the top of the scene.
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// How places along an axis are read back into numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SceneReading {
    /// From numbers to places.
    pub(crate) scale: AxisScale,
    /// What stands behind a number: `ns`, `/s`, `share`; nothing for a count.
    pub(crate) unit: &'static str,
    /// What the numbers are.
    pub(crate) name: String,
}

/// For what width a chart is drawn: text stays readable because nothing is ever scaled down much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SceneSize {
    /// As wide as the page.
    Full,
    /// Two next to each other.
    Half,
    /// As wide as a telephone.
    Narrow,
}

/// An interval shorter than this lies under its point, pixels.
const VISIBLE: f64 = 9.0;
/// Half the width of the ends of an interval, pixels.
const CAP: f64 = 3.0;
/// Room around the plot, pixels: for the numbers on the left, the names above and below.
const LEFT: f64 = 62.0;
/// Room at the right: for half of the last number.
const RIGHT: f64 = 14.0;
/// Room above: for the legend.
const TOP: f64 = 26.0;
/// Room below: for numbers and the name of the axis.
const BOTTOM: f64 = 42.0;

/// A chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What it shows, in a few words.
    pub(crate) title: String,
    /// What can be read from it, for those who cannot see it.
    pub(crate) description: String,
    /// Where the data are drawn.
    pub(crate) plot: Plot,
    /// What is across, where a place can be read back into a number.
    pub(crate) across: Option<SceneReading>,
    /// What is upwards, where it can.
    pub(crate) upwards: Option<SceneReading>,
    /// Marks that stay where they are.
    pub(crate) marks: Vec<SceneMark>,
    /// Marks that are stretched when a part of the time is looked at; they are cut off at the
    /// plot's edges.
    pub(crate) stretching: Vec<SceneMark>,
}

impl SceneSize {
    /// Width in pixels.
    pub(crate) const fn width(self) -> f64 {
        match self {
            Self::Full => 1080.0,
            Self::Half => 528.0,
            Self::Narrow => 356.0,
        }
    }

    /// Columns of time or of a distribution that can be told apart.
    pub(crate) const fn columns_max(self) -> usize {
        match self {
            Self::Full => 960,
            Self::Half => 480,
            Self::Narrow => 160,
        }
    }
}

impl Scene {
    /// An empty chart with room for axes on the left and below.
    pub(crate) fn new(size: SceneSize, height: f64, title: impl Into<String>) -> Self {
        let width = size.width();
        let plot = Plot {
            left: LEFT,
            top: TOP,
            width: width - LEFT - RIGHT,
            height: height - TOP - BOTTOM,
        };
        Self { width, height, title: title.into(), plot, ..Self::default() }
    }

    /// An empty chart whose horizontal axis needs no name.
    pub(crate) fn unnamed(size: SceneSize, height: f64, title: impl Into<String>) -> Self {
        let mut scene = Self::new(size, height, title);
        scene.plot.height += BOTTOM - 24.0;
        scene
    }

    /// Moves everything down, so that there is more room above.
    pub(crate) fn lower(&mut self, by: f64) {
        self.height += by;
        self.plot.top += by;
        if let Some(upwards) = &mut self.upwards {
            upwards.scale = upwards.scale.moved(by);
        }
        self.marks.iter_mut().chain(&mut self.stretching).for_each(|mark| mark.lower(by));
    }

    /// A line through places.
    pub(crate) fn line(&mut self, points: Vec<ScenePoint>, ink: Ink, stroke: Stroke) {
        self.marks.push(SceneMark::Line { points, ink, stroke });
    }

    /// A hair line between two places.
    pub(crate) fn hair(&mut self, from: ScenePoint, to: ScenePoint, ink: Ink) {
        self.line(vec![from, to], ink, Stroke::Hair);
    }

    /// A vertical interval about a point; thin, because the points are what is read first.
    pub(crate) fn whisker(&mut self, x: f64, (one, other): ScenePoint, ink: Ink) {
        if (one - other).abs() >= VISIBLE {
            self.hair((x, one), (x, other), ink);
            for y in [one, other] {
                self.hair((x - CAP, y), (x + CAP, y), ink);
            }
        }
    }

    /// A horizontal interval about a point.
    pub(crate) fn whisker_across(&mut self, (one, other): ScenePoint, y: f64, ink: Ink) {
        if (one - other).abs() >= VISIBLE {
            self.hair((one, y), (other, y), ink);
            for x in [one, other] {
                self.hair((x, y - CAP), (x, y + CAP), ink);
            }
        }
    }

    /// A text held at a place of its base line.
    pub(crate) fn text(
        &mut self,
        at: ScenePoint,
        anchor: TextAnchor,
        ink: Ink,
        text: impl Into<String>,
    ) {
        self.marks.push(SceneMark::Text { at, anchor, ink, text: text.into() });
    }

    /// A number below an axis, held so that it does not leave the chart.
    pub(crate) fn number_below(&mut self, x: f64, ink: Ink, text: impl Into<String>) {
        const LETTER: f64 = 7.3;
        let text = text.into();
        let half = LETTER * assay_model::number::real_len(text.chars().count()) / 2.0;
        let y = self.plot.bottom() + 17.0;
        if x + half > self.width {
            self.text((self.width, y), TextAnchor::End, ink, text);
        } else {
            self.text((x, y), TextAnchor::Middle, ink, text);
        }
    }

    /// A point with its shape.
    pub(crate) fn dot(&mut self, at: ScenePoint, ink: Ink, says: impl Into<String>) {
        self.marks.push(SceneMark::Dot { at, ink, says: says.into() });
    }
}

impl Plot {
    /// The right edge.
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    /// The lower edge.
    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}
