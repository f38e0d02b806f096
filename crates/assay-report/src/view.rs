//! What a reader sees, before it is a page, a text or pictures. Every section is made once, of
//! blocks of a few forms; those that write it down know the forms and nothing of the subject.

mod table;

use crate::chart::scene::{Scene, SceneSize};
use assay_model::environment::Severity;
use assay_model::verdict::Outcome;
use serde_json::Value;
use std::fmt;
pub(crate) use table::{
    CellLook, Estimated, Name, ROWS_MAX, Terminal, ViewCell, ViewColumn, ViewTable,
};

/// Everything that is shown, the answer first.
pub(crate) struct View<'a> {
    /// The name of the window.
    pub(crate) title: String,
    /// Name and version of the program.
    pub(crate) program: String,
    /// What was done, in a word or two.
    pub(crate) subject: String,
    /// What it is about: names and values.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The answer.
    pub(crate) answer: ViewAnswer<'a>,
    /// The evidence.
    pub(crate) sections: Vec<ViewSection<'a>>,
}

/// What a reader should know who reads nothing else.
#[derive(Default)]
pub(crate) struct ViewAnswer<'a> {
    /// What the criteria came to, where there are any.
    pub(crate) outcome: Option<Outcome>,
    /// The question, in one sentence; may be empty.
    pub(crate) asked: String,
    /// One sentence.
    pub(crate) headline: String,
    /// What the answer means, how it compares with known storage, what to do next: only a page has
    /// room for it.
    pub(crate) summary: Vec<ViewBlock<'a>>,
    /// The outcome point by point.
    pub(crate) verdict: Vec<ViewBlock<'a>>,
    /// What was found, a sentence each.
    pub(crate) details: Vec<String>,
    /// How its figures are to be read; may be empty.
    pub(crate) reading: &'static str,
    /// What to know before relying on it.
    pub(crate) notes: Vec<ViewFinding>,
}

/// A part with a heading; one without content is left out.
pub(crate) struct ViewSection<'a> {
    /// The name that links use.
    pub(crate) id: &'static str,
    /// The heading.
    pub(crate) title: String,
    /// The content.
    pub(crate) blocks: Vec<ViewBlock<'a>>,
}

/// A piece of content.
pub(crate) enum ViewBlock<'a> {
    /// A heading with what it stands above; nothing where that is empty.
    Titled(HeadingLevel, String, Vec<ViewBlock<'a>>),
    /// A sentence or several.
    Paragraph(String),
    /// How something is to be read.
    Note(String),
    /// What can be seen, a sentence each.
    Lead(Vec<String>),
    /// Lines of a list.
    List(Vec<String>),
    /// What was left out, a line each.
    Omissions(Vec<String>),
    /// Numbers and words in rows.
    Table(ViewTable),
    /// Names and their values.
    Facts(Vec<Fact>),
    /// Terms and what they mean.
    Terms(Vec<(&'static str, &'static str)>),
    /// What was noticed, with why it matters and what to do.
    Findings(Vec<ViewFinding>),
    /// A card for each of several things of one kind.
    Cards(Vec<FigureCard>),
    /// A drawing.
    Chart(Chart<'a>),
    /// Drawings over one time axis, of which a part can be looked at.
    Timeline(ViewTimeline<'a>),
    /// A text as it was given.
    Verbatim(String),
    /// Parts next to each other where there is room.
    SideBySide(Vec<ViewBlock<'a>>),
    /// Parts that stay together.
    Group(Vec<ViewBlock<'a>>),
    /// One of several alike, with the name that links use, where it has one.
    Article(Option<String>, Vec<ViewBlock<'a>>),
    /// What is read when it is wanted; whether it is unfolded at first.
    Folded(String, bool, Vec<ViewBlock<'a>>),
    /// What only a page has room for.
    OnPage(Vec<ViewBlock<'a>>),
    /// What a terminal shows in place of something else.
    InTerminal(Vec<ViewBlock<'a>>),
}

/// How far down a heading stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadingLevel {
    /// Like that of a section.
    Section,
    /// Below the heading of a section.
    Part,
    /// Below a part.
    Detail,
}

/// A name and its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fact {
    /// What it is.
    pub(crate) name: String,
    /// How much it is.
    pub(crate) value: String,
    /// How sure that is; may be empty.
    pub(crate) doubt: String,
    /// What else is to be said of it; may be empty.
    pub(crate) note: String,
}

/// Something noticed; parts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewFinding {
    /// How grave it is, where that was judged.
    pub(crate) severity: Option<Severity>,
    /// What.
    pub(crate) what: String,
    /// Why it matters.
    pub(crate) why: String,
    /// What to do.
    pub(crate) remedy: String,
}

/// The figures of one thing: the one that matters most, and the others.
#[derive(Clone, Debug)]
pub(crate) struct FigureCard {
    /// The name of the thing.
    pub(crate) title: String,
    /// What it is.
    pub(crate) subtitle: String,
    /// The figure that matters most.
    pub(crate) figure: KeyFigure,
    /// The others.
    pub(crate) others: Vec<KeyFigure>,
}

/// A figure of a card.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyFigure {
    /// What it is.
    pub(crate) name: String,
    /// The number with its unit.
    pub(crate) value: String,
    /// The number alone, where its name says the unit.
    pub(crate) number: String,
    /// How sure it is, next to the number; may be empty.
    pub(crate) doubt: String,
    /// Its two ends; may be empty.
    pub(crate) interval: String,
    /// The queue depth at which it was measured, where there is one.
    pub(crate) queue_depth: Option<u32>,
    /// What else is to be said of it; may be empty.
    pub(crate) note: String,
    /// Whether the note is shown even where there is little room.
    pub(crate) is_noteworthy: bool,
}

/// A drawing with its caption.
pub(crate) struct Chart<'a> {
    /// Name of its picture, without the ending; unique in a view.
    pub(crate) file: String,
    /// For what width it is drawn.
    pub(crate) size: SceneSize,
    /// How to read it; may be empty.
    pub(crate) caption: String,
    draw: Box<dyn Fn(SceneSize) -> Scene + 'a>,
}

/// Drawings over one time axis with the numbers under them.
pub(crate) struct ViewTimeline<'a> {
    /// The name of the numbers.
    pub(crate) id: String,
    /// The drawings.
    pub(crate) charts: Vec<Chart<'a>>,
    /// The numbers, for the page's own script.
    pub(crate) data: Value,
}

impl<'a> Chart<'a> {
    /// A chart; `draw` is asked for every size that is wanted.
    pub(crate) fn new(
        file: impl Into<String>,
        size: SceneSize,
        caption: impl Into<String>,
        draw: impl Fn(SceneSize) -> Scene + 'a,
    ) -> Self {
        Self { file: file.into(), size, caption: caption.into(), draw: Box::new(draw) }
    }

    /// The drawing for a width.
    pub(crate) fn draw(&self, size: SceneSize) -> Scene {
        (self.draw)(size)
    }
}

impl fmt::Debug for Chart<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)
    }
}

impl Fact {
    /// A name with its value.
    pub(crate) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), ..Self::default() }
    }
}

impl ViewFinding {
    /// A sentence that says everything itself.
    pub(crate) fn sentence(what: String) -> Self {
        Self { what, ..Self::default() }
    }
}

impl ViewBlock<'_> {
    /// A heading with what it stands above.
    pub(crate) fn part(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Titled(HeadingLevel::Part, title.into(), blocks)
    }

    /// A lower heading with what it stands above.
    pub(crate) fn detail(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Titled(HeadingLevel::Detail, title.into(), blocks)
    }

    /// A table below its caption.
    pub(crate) fn captioned(level: HeadingLevel, table: ViewTable) -> Self {
        Self::Titled(level, table.caption.clone(), vec![Self::Table(table)])
    }

    /// Something folded away.
    pub(crate) fn folded(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Folded(title.into(), false, blocks)
    }

    /// Names and their values.
    pub(crate) fn facts(pairs: impl IntoIterator<Item = (impl Into<String>, String)>) -> Self {
        Self::Facts(pairs.into_iter().map(|(name, value)| Fact::new(name, value)).collect())
    }

    /// The blocks inside, of those that are made of others.
    pub(crate) fn inner(&self) -> &[Self] {
        match self {
            Self::Titled(_, _, inner)
            | Self::SideBySide(inner)
            | Self::Group(inner)
            | Self::Article(_, inner)
            | Self::Folded(_, _, inner)
            | Self::OnPage(inner)
            | Self::InTerminal(inner) => inner,
            _ => &[],
        }
    }
}

impl<'a> View<'a> {
    /// All charts in their order.
    pub(crate) fn charts(&self) -> Vec<&Chart<'a>> {
        let mut charts = Vec::new();
        collect(&self.answer.summary, &mut charts);
        for section in &self.sections {
            collect(&section.blocks, &mut charts);
        }
        charts
    }
}

fn collect<'v, 'a>(blocks: &'v [ViewBlock<'a>], charts: &mut Vec<&'v Chart<'a>>) {
    for block in blocks {
        match block {
            ViewBlock::Chart(chart) => charts.push(chart),
            ViewBlock::Timeline(timeline) => charts.extend(&timeline.charts),
            other => collect(other.inner(), charts),
        }
    }
}
