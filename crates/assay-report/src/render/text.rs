//! A view for a terminal: the page's order, answer first, never wider than the terminal.

mod layout;
mod table;

use super::html::severity_word;
use crate::input::TextOptions;
use crate::phrases::{capital, ended};
use crate::view::{
    CellLook, Fact, FigureCard, KeyFigure, View, ViewAnswer, ViewBlock, ViewCell, ViewFinding,
    ViewSection, ViewTable,
};
use assay_model::verdict::Outcome;
use layout::TextLayout;

/// Heading of the notes.
const NOTES: &str = "Before you rely on it";

/// Lines of a list at most.
const LIST_MAX: usize = 12;

/// The view as text. Sections for which there is no room are named at the end.
pub(crate) fn text(view: &View<'_>, options: TextOptions) -> String {
    let mut text = TextLayout::new(options);
    headline(&mut text, &view.answer);
    let mut left_out = Vec::new();
    if !append_notes(&mut text, &view.answer) {
        left_out.push(NOTES);
    }
    let mut verdict = text.another();
    blocks(&mut verdict, &view.answer.verdict);
    if !text.append(&verdict) {
        left_out.push("Verdict by criterion");
    }
    for one in &view.sections {
        if !append(&mut text, one) {
            left_out.push(one.title.as_str());
        }
    }
    if !left_out.is_empty() {
        text.set_apart(&format!("More with --full and on the page: {}", left_out.join(", ")));
    }
    text.finish()
}

/// Adds as many notes as there is room for, from the gravest on; whether those were all.
fn append_notes(text: &mut TextLayout, answer: &ViewAnswer<'_>) -> bool {
    let empty = text.another();
    let all: Vec<String> =
        answer.notes.iter().filter_map(|note| note_words(note, &answer.headline)).collect();
    let first = |count: usize| {
        let mut part = empty.another();
        notes(&mut part, &all[..count]);
        part
    };
    (0..=all.len()).rev().position(|count| text.append(&first(count))) == Some(0)
}

/// Adds a section, or as much of its beginning as there is room for; whether that was all.
fn append(text: &mut TextLayout, whole: &ViewSection<'_>) -> bool {
    let empty = text.another();
    let beginning = |blocks: usize| {
        let mut part = empty.another();
        section(&mut part, &whole.title, &whole.blocks[..blocks]);
        part
    };
    let mut parts = (0..=whole.blocks.len()).rev().map(beginning);
    parts.position(|part| text.append(&part)) == Some(0)
}

/// The answer alone, with its verdict.
pub(crate) fn answer_text(answer: &ViewAnswer<'_>, options: TextOptions) -> String {
    let mut text = TextLayout::new(options);
    headline(&mut text, answer);
    blocks(&mut text, &answer.verdict);
    text.finish()
}

/// Blocks without anything around them, as many as there is room for.
pub(crate) fn blocks_text(all: &[ViewBlock<'_>], options: TextOptions) -> String {
    let mut text = TextLayout::new(options);
    if options.lines_max.is_none() {
        blocks(&mut text, all);
        return text.finish();
    }
    for one in all.iter().filter(|one| is_shown(one)) {
        let mut part = text.another();
        block(&mut part, one);
        text.append(&part);
    }
    text.set_apart("More with --full");
    text.finish()
}

fn headline(text: &mut TextLayout, answer: &ViewAnswer<'_>) {
    match answer.outcome {
        Some(outcome) => text.marked(outcome, &answer.headline),
        None => text.paragraph(&answer.headline),
    }
    for sentence in &answer.details {
        text.item(sentence);
    }
    if !answer.reading.is_empty() {
        text.item(answer.reading);
    }
}

/// Caveats and their remedies, gravest first.
fn notes(text: &mut TextLayout, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    text.heading(NOTES);
    items(text, notes);
}

/// A caveat in one paragraph; of one that the headline states already only the remedy.
fn note_words(note: &ViewFinding, headline: &str) -> Option<String> {
    let what = capital(&note.what);
    let what =
        if note.why.is_empty() { ended(&what) } else { format!("{what}: {}", ended(&note.why)) };
    let what = if headline.contains(what.trim_end_matches('.')) { "" } else { &what };
    let words = format!("{what} {}", ended(&capital(&note.remedy))).trim().to_owned();
    (!words.is_empty()).then_some(words)
}

/// A section; no heading stands directly above another.
fn section(text: &mut TextLayout, title: &str, all: &[ViewBlock<'_>]) {
    let Some(first) = all.iter().find(|block| is_shown(block)) else {
        return;
    };
    if !begins_with_heading(first) {
        text.heading(title);
    }
    blocks(text, all);
}

fn begins_with_heading(block: &ViewBlock<'_>) -> bool {
    match block {
        ViewBlock::Titled(..) | ViewBlock::Folded(..) => true,
        other => {
            other.inner().iter().find(|block| is_shown(block)).is_some_and(begins_with_heading)
        }
    }
}

/// Whether a terminal shows anything of it.
fn is_shown(block: &ViewBlock<'_>) -> bool {
    match block {
        ViewBlock::Paragraph(words) | ViewBlock::Note(words) | ViewBlock::Verbatim(words) => {
            !words.is_empty()
        }
        ViewBlock::Lead(lines) | ViewBlock::List(lines) | ViewBlock::Omissions(lines) => {
            !lines.is_empty()
        }
        ViewBlock::Table(table) => !table.is_empty(),
        ViewBlock::Facts(facts) => !facts.is_empty(),
        ViewBlock::Terms(terms) => !terms.is_empty(),
        ViewBlock::Findings(findings) => !findings.is_empty(),
        ViewBlock::Cards(cards) => !cards.is_empty(),
        ViewBlock::Chart(_) | ViewBlock::Timeline(_) | ViewBlock::OnPage(_) => false,
        other => other.inner().iter().any(is_shown),
    }
}

fn blocks(text: &mut TextLayout, all: &[ViewBlock<'_>]) {
    for one in all.iter().filter(|one| is_shown(one)) {
        block(text, one);
    }
}

fn block(text: &mut TextLayout, block: &ViewBlock<'_>) {
    match block {
        ViewBlock::Titled(_, title, inner) | ViewBlock::Folded(title, _, inner) => {
            text.heading(title);
            blocks(text, inner);
        }
        ViewBlock::Paragraph(words) | ViewBlock::Note(words) => text.item(words),
        ViewBlock::Verbatim(words) => {
            for line in words.lines() {
                text.item(line);
            }
        }
        ViewBlock::Lead(lines) | ViewBlock::Omissions(lines) => {
            items(text, lines);
        }
        ViewBlock::List(lines) => {
            items(text, &lines[..lines.len().min(LIST_MAX)]);
            more(text, lines.len().saturating_sub(LIST_MAX));
        }
        ViewBlock::Table(table) if matches!(table.look, CellLook::Stacked | CellLook::Records) => {
            rows(text, table);
        }
        ViewBlock::Table(table) => {
            text.lines(table::lines(table, text.table_width()));
            more(text, table.rows.len().saturating_sub(table::rows_max(table)));
        }
        ViewBlock::Facts(facts) => text.pairs(&facts.iter().map(fact).collect::<Vec<_>>()),
        ViewBlock::Terms(terms) => {
            for (term, meaning) in terms {
                text.item(&format!("{term}: {meaning}"));
            }
        }
        ViewBlock::Findings(findings) => {
            for found in findings {
                finding(text, found);
            }
        }
        ViewBlock::Cards(all) => cards(text, all),
        other => blocks(text, other.inner()),
    }
}

fn items(text: &mut TextLayout, lines: &[String]) {
    for line in lines {
        text.item(line);
    }
}

/// How many were left out.
fn more(text: &mut TextLayout, left: usize) {
    if left > 0 {
        text.item(&format!("and {left} more in the JSON form"));
    }
}

fn fact(fact: &Fact) -> (String, String) {
    let value = format!("{} {}", fact.value, fact.doubt);
    (fact.name.clone(), value.trim_end().to_owned())
}

/// One finding with why it matters and the remedy.
fn finding(text: &mut TextLayout, finding: &ViewFinding) {
    let severity = finding.severity.map(|severity| format!("{}: ", severity_word(severity)));
    text.item(&format!("{}{}", severity.unwrap_or_default(), finding.what));
    if !finding.why.is_empty() {
        text.deeper(&ended(&capital(&finding.why)));
    }
    // A remedy may be a command, which is typed as it stands.
    if !finding.remedy.is_empty() {
        text.deeper(&format!("→ {}", finding.remedy));
    }
}

/// Rows that are blocks of lines: the name, its values, and remarks on lines of their own.
fn rows(text: &mut TextLayout, table: &ViewTable) {
    for row in &table.rows {
        let outcome = row.iter().find_map(|cell| match cell {
            ViewCell::Outcome(outcome) => Some(*outcome),
            _ => None,
        });
        let mut cells = row.iter().zip(&table.columns);
        let name = cells.next().map(|(cell, column)| table::words(cell, column));
        match outcome {
            Some(outcome) => text.marked(outcome, &name.unwrap_or_default()),
            None => text.item(&name.unwrap_or_default()),
        }
        let values: Vec<String> =
            cells.clone().filter_map(|(cell, column)| value(cell, &column.name)).collect();
        below(text, outcome, &values.join("; "));
        for remark in cells.filter_map(|(cell, _)| remark(cell)) {
            below(text, outcome, remark);
        }
    }
}

fn below(text: &mut TextLayout, outcome: Option<Outcome>, words: &str) {
    match outcome {
        _ if words.is_empty() => {}
        Some(_) => text.below_mark(words),
        None => text.deeper(words),
    }
}

/// A cell behind the name of its column; nothing of what is not known, not shown, or shown
/// elsewhere.
fn value(cell: &ViewCell, column: &str) -> Option<String> {
    match cell {
        ViewCell::Words(words) | ViewCell::Number(words) if !words.is_empty() => {
            Some(format!("{}: {words}", column.to_lowercase()))
        }
        ViewCell::Estimate(estimated) if estimated.interval.is_empty() => {
            Some(estimated.value.clone())
        }
        ViewCell::Estimate(estimated) => {
            Some(format!("{} ({})", estimated.value, estimated.interval))
        }
        _ => None,
    }
}

fn remark(cell: &ViewCell) -> Option<&str> {
    match cell {
        ViewCell::Name(name) => Some(name.words.as_str()),
        _ => None,
    }
}

/// A row a figure, and below what changes the worth of one.
fn cards(text: &mut TextLayout, cards: &[FigureCard]) {
    let mut table = ViewTable::of_numbers("", &["", "value", "95% interval", "queue depth"]);
    for card in cards {
        table.extend(figures(card).map(|figure| figure_row(card, figure)));
    }
    text.lines(table::lines(&table, text.table_width()));
    for card in cards {
        for figure in figures(card).filter(|figure| figure.is_noteworthy) {
            text.item(&format!("{}, {}: {}.", card.title, lower(&figure.name), figure.note));
        }
    }
}

fn figures(card: &FigureCard) -> impl Iterator<Item = &KeyFigure> {
    std::iter::once(&card.figure).chain(&card.others)
}

fn figure_row(card: &FigureCard, figure: &KeyFigure) -> Vec<String> {
    let queue_depth = figure.queue_depth.map_or_else(String::new, |depth| depth.to_string());
    let name = format!("{}: {}", card.title, lower(&figure.name));
    vec![name, figure.value.clone(), figure.interval.clone(), queue_depth]
}

/// A name in the middle of a sentence; names such as `IOPS` stay.
fn lower(name: &str) -> String {
    let mut letters = name.chars();
    let (first, second) = (letters.next(), letters.next());
    match (first, second) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(name.chars().skip(1)).collect()
        }
        _ => name.to_owned(),
    }
}
