//! Results that are tables and lines: one form for the page and the terminal, filled from the documents of comparisons,
//! soaks, studies and localities.

use crate::chart::scene::{Ink, Stroke};
use crate::format::Formatter;
use crate::input::Report;
use assay_model::Estimate;
use assay_model::verdict::{Outcome, Unit};

mod comparison;
mod dss;
mod locality;
mod overlay;
mod soak;
mod study;

/// A part of the page or of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panel {
    /// The name that links use.
    pub(crate) id: &'static str,
    /// The heading.
    pub(crate) title: &'static str,
    /// What can be seen, in sentences.
    pub(crate) lead: Vec<String>,
    /// Charts, page only.
    pub(crate) charts: Vec<Lines>,
    /// Charts two beside each other, page only.
    pub(crate) halves: Vec<Lines>,
    /// Charts of bars, page only.
    pub(crate) bars: Vec<Bars>,
    /// Tables.
    pub(crate) tables: Vec<Grid>,
    /// What it was made with.
    pub(crate) facts: Facts,
}

/// Names and what they stand for; none where there is nothing to tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// What they are about.
    pub(crate) caption: &'static str,
    /// The names with their values.
    pub(crate) pairs: Vec<(String, String)>,
}

/// A table of words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    /// What it shows.
    pub(crate) caption: &'static str,
    /// Names of the columns; the first one holds names, the others numbers.
    pub(crate) head: Vec<String>,
    /// The cells.
    pub(crate) rows: Vec<Vec<String>>,
}

/// How places on the horizontal axis are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Across {
    /// From zero.
    #[default]
    Linear,
    /// Equal ratios are equally long.
    Log,
    /// Times in ns, equal ratios equally long.
    LogTime,
    /// Seconds since the beginning.
    Time,
}

/// Lines over one axis.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// What it shows.
    pub(crate) title: String,
    /// What is across.
    pub(crate) across: Across,
    /// Its name.
    pub(crate) across_name: String,
    /// What is upwards.
    pub(crate) name: String,
    /// Unit of what is upwards.
    pub(crate) unit: Unit,
    /// Whether the vertical axis is logarithmic; else it begins at zero.
    pub(crate) log: bool,
    /// What is drawn.
    pub(crate) curves: Vec<Line>,
    /// Places across at which something happened.
    pub(crate) marks: Vec<(f64, String)>,
}

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its colour.
    pub(crate) ink: Ink,
    /// Its stroke.
    pub(crate) stroke: Stroke,
    /// Whether its points are drawn with their intervals.
    pub(crate) dots: bool,
    /// Whether the intervals are joined to a band.
    pub(crate) band: bool,
    /// The points, ascending.
    pub(crate) points: Vec<(f64, Estimate)>,
}

/// Bars side by side, in groups of one name.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// What they format.
    pub(crate) title: String,
    /// What is upwards.
    pub(crate) name: String,
    /// What is across.
    pub(crate) across_name: String,
    /// Unit of what is upwards.
    pub(crate) unit: Unit,
    /// Names of the groups.
    pub(crate) names: Vec<String>,
    /// What is in every group.
    pub(crate) kinds: Vec<Kind>,
}

/// The bars of one kind, one a group; none where it is not known.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// Its name in the legend.
    pub(crate) name: String,
    /// Its colour.
    pub(crate) ink: Ink,
    /// One a group.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A bar with the least and the greatest of what it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bar {
    /// The middle one.
    pub(crate) value: f64,
    /// The least.
    pub(crate) low: f64,
    /// The greatest.
    pub(crate) high: f64,
    /// Whether one of them was cut off, so that the value is a lower bound.
    pub(crate) is_cut: bool,
    /// How many they are.
    pub(crate) n: usize,
}

/// What the answer of a report is when it has no verdict of criteria.
pub(crate) struct Headline {
    /// What it came to, where that can be said.
    pub(crate) outcome: Option<Outcome>,
    /// One sentence.
    pub(crate) words: String,
}

/// Inks and strokes for lines of no meaning of their own, in their order.
pub(crate) const STYLES: [(Ink, Stroke); 6] = [
    (Ink::Read, Stroke::Solid),
    (Ink::Write, Stroke::Dashed),
    (Ink::Mix, Stroke::Solid),
    (Ink::Sync, Stroke::Dotted),
    (Ink::Found, Stroke::Dashed),
    (Ink::Axis, Stroke::Dotted),
];

/// The panels of a report, in their order.
pub(crate) fn panels(report: &Report, format: &Formatter) -> Vec<Panel> {
    let mut panels = Vec::new();
    if let Some(found) = &report.comparison {
        panels.extend(comparison::panels(found, format));
    }
    if let Some(found) = &report.dss {
        panels.push(dss::panel(found, format));
    }
    if let Some(found) = &report.soak {
        panels.extend(soak::panels(found, format));
    }
    if let Some(found) = &report.locality {
        panels.push(locality::panel(found, format));
    }
    if let Some(found) = &report.study {
        panels.extend(study::panels(found, format));
    }
    panels
}

/// The sentence that answers, where a document of these kinds is there.
pub(crate) fn headline(report: &Report, format: &Formatter) -> Option<Headline> {
    let comparison = report.comparison.as_ref();
    let soak = report.soak.as_ref();
    comparison
        .map(|found| comparison::headline(found, format))
        .or_else(|| report.dss.as_ref().map(|found| dss::headline(found, format)))
        .or_else(|| soak.map(|found| soak::headline(found, &report.target, format)))
        .or_else(|| {
            let locality = report.locality.as_ref();
            locality.map(|found| locality::headline(found, &report.target, format))
        })
        .or_else(|| {
            let study = report.study.as_ref();
            study.map(|found| study::headline(found, &report.target, format))
        })
}

/// Names of columns.
pub(crate) fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
