//! What to buy: the answer, how the demand was built up, what carries it with its limits and cost,
//! and what does not.

mod summary;
mod tables;
mod words;

use crate::format::Formatter;
use crate::input::TextOptions;
use crate::render;
use crate::view::{HeadingLevel, View, ViewAnswer, ViewBlock, ViewSection, ViewTable};
use assay_model::sizing::{Configuration, Sizing};

/// Rejections that are shown; the document has all.
const REJECTIONS_MAX: usize = 20;

/// The page of a sizing with its best `top` configurations; `program` is the name and version of
/// the program.
pub fn sizing_html(sizing: &Sizing, top: usize, program: &str) -> String {
    render::html::html(&view(sizing, top, program))
}

/// The same as text.
pub fn sizing_text(sizing: &Sizing, top: usize, options: TextOptions) -> String {
    render::text::text(&view(sizing, top, ""), options)
}

fn view<'a>(sizing: &'a Sizing, top: usize, program: &str) -> View<'a> {
    let best = cheapest(&sizing.configurations, top);
    View {
        title: "Sizing – Assay".to_owned(),
        program: program.to_owned(),
        subject: "sizing".to_owned(),
        facts: vec![("date", sizing.day.to_string())],
        answer: ViewAnswer {
            asked: summary::asked(sizing),
            summary: summary::summary(sizing, &best).blocks(Formatter::default()),
            headline: words::headline(sizing),
            details: words::details(sizing),
            ..ViewAnswer::default()
        },
        sections: sections(sizing, &best),
    }
}

/// The best layout of each entry, the cheapest first.
fn cheapest(sorted: &[Configuration], top: usize) -> Vec<&Configuration> {
    let mut best: Vec<&Configuration> = Vec::new();
    for one in sorted {
        if best.len() < top && !best.iter().any(|known| known.name == one.name) {
            best.push(one);
        }
    }
    best
}

fn sections<'a>(sizing: &'a Sizing, best: &[&'a Configuration]) -> Vec<ViewSection<'a>> {
    let section = |id, title: &str, blocks| ViewSection { id, title: title.to_owned(), blocks };
    vec![
        section("demand", "Demand", vec![ViewBlock::Table(tables::demand(sizing))]),
        section("cost", "Configurations by cost", cost(sizing, best)),
        section("limits", "Utilization of limits", limits(best)),
        section("undecided", "Undecided", undecided(sizing)),
        section("rejected", "Rejected configurations", rejected(sizing)),
        section("doubts", "Caveats", vec![ViewBlock::List(sizing.doubts.clone())]),
    ]
}

fn cost<'a>(sizing: &'a Sizing, best: &[&'a Configuration]) -> Vec<ViewBlock<'a>> {
    if best.is_empty() {
        return Vec::new();
    }
    let note = "Per month: monthly charges plus the purchase price spread over its lifetime. Per \
                1,000 IOPS: at the configuration's limit, for this read/write mix. –: no known \
                price.";
    let left = sizing.configurations.len() - best.len();
    let more = (left > 0).then(|| {
        ViewBlock::Note(format!(
            "The best layout of each; the document has {left} more that meet the demand."
        ))
    });
    let lines = ViewBlock::Folded(
        "Costs and price dates".to_owned(),
        true,
        vec![
            ViewBlock::captioned(HeadingLevel::Part, tables::lines(best)),
            ViewBlock::captioned(HeadingLevel::Part, tables::price_days(sizing, best)),
        ],
    );
    [ViewBlock::Table(tables::cost(best)), ViewBlock::Note(note.to_owned())]
        .into_iter()
        .chain(more)
        .chain([lines])
        .collect()
}

/// A terminal has room for the first one.
fn limits<'a>(best: &[&'a Configuration]) -> Vec<ViewBlock<'a>> {
    let one = |(number, found): (usize, &&'a Configuration)| {
        let found: &'a Configuration = found;
        let title = words::pieces(found);
        let table: ViewTable = tables::limits(found);
        let mut blocks = vec![ViewBlock::Table(table)];
        if !found.doubts.is_empty() {
            blocks.push(ViewBlock::List(found.doubts.clone()));
        }
        blocks.push(ViewBlock::Note(format!("Numbers: {}.", found.source)));
        blocks.push(ViewBlock::OnPage(vec![ViewBlock::folded(
            "Formulas",
            vec![ViewBlock::facts(
                found.limits.iter().map(|limit| (limit.limit.name(), limit.formula.clone())),
            )],
        )]));
        let part = vec![ViewBlock::part(title, blocks)];
        let article = ViewBlock::Article(Some(format!("configuration-{number}")), part);
        if number == 1 { article } else { ViewBlock::OnPage(vec![article]) }
    };
    (1..).zip(best).map(one).collect()
}

fn undecided(sizing: &Sizing) -> Vec<ViewBlock<'_>> {
    let best = cheapest(&sizing.undecided, REJECTIONS_MAX);
    if best.is_empty() {
        return Vec::new();
    }
    let note = "These meet every limit that is documented for them. Measure the rest before you \
                buy: assay calibrate DIR.";
    vec![ViewBlock::Table(tables::undecided(&best)), ViewBlock::Note(note.to_owned())]
}

fn rejected(sizing: &Sizing) -> Vec<ViewBlock<'_>> {
    if sizing.rejections.is_empty() {
        return Vec::new();
    }
    let shown = &sizing.rejections[..sizing.rejections.len().min(REJECTIONS_MAX)];
    vec![ViewBlock::Table(tables::rejections(shown))]
}

#[cfg(test)]
mod tests;
