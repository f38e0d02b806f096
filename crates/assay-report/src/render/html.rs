//! A view as a page: one file that needs nothing else, for a reader who never saw this program.

mod figure;
mod frame;
pub(crate) mod live;
pub(crate) mod markup;
mod range;
pub(super) mod svg;
mod table;

use crate::phrases::capital;
use crate::view::{
    Fact, FigureCard, HeadingLevel, KeyFigure, View, ViewAnswer, ViewBlock, ViewFinding,
    ViewTimeline,
};
use assay_model::environment::Severity;
use assay_model::verdict::Outcome;
use figure::Figures;
use frame::{PagePart, page};
use markup::{Markup, Tag, constant, data, tag, text};
use table::table;

/// The whole page.
pub(crate) fn html(view: &View<'_>) -> String {
    let mut figures = Figures::default();
    let sections = view.sections.iter();
    let parts = sections.map(|section| PagePart {
        id: section.id,
        title: &section.title,
        body: blocks(&section.blocks, &mut figures),
    });
    let parts: Vec<PagePart<'_>> = parts.collect();
    let answer = answer(&view.answer, &mut figures);
    page(view, header(view), answer, parts)
}

/// What the page is about.
fn header(view: &View<'_>) -> Markup {
    let facts = view.facts.iter().map(|(name, value)| {
        tag("span").body(tag("em").text(name).and(constant(" ")).and(text(value)))
    });
    let name = tag("p")
        .class("brand")
        .body(tag("b").text("Assay").and(text(&format!(" {}", view.subject))));
    tag("header").body(name.and(tag("p").class("facts").all(facts)))
}

/// The answer: what a manager reads on one screen, then the verdict's table and the sentences of
/// those who know the words.
fn answer(answer: &ViewAnswer<'_>, figures: &mut Figures) -> Markup {
    let outcome = answer.outcome.map(|outcome| badge(outcome, tag("p").class("outcome big")));
    let headline = tag("h1").text(&answer.headline);
    let class = answer.outcome.map_or("answer", answer_class);
    let asked = optional_class("p", "asked", &answer.asked);
    let head = tag("div").class(class).all([asked, outcome.unwrap_or_default(), headline]);
    let summary = tag("div").attribute("id", "summary");
    let summary = summary.body(head.and(blocks(&answer.summary, figures)));
    let verdict = blocks(&answer.verdict, figures);
    let details = items(tag("ul").class("lead"), &answer.details);
    let details = titled(HeadingLevel::Part, "Key figures", details);
    let reading = optional_class("p", "note", answer.reading);
    let parts = [summary, verdict, details, reading, notes(&answer.notes)];
    tag("section").attribute("id", "answer").all(parts)
}

/// The look of the answer.
const fn answer_class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "answer pass",
        Outcome::Fail => "answer fail",
        Outcome::Inconclusive => "answer open",
    }
}

/// An outcome as word, sign and colour; `element` carries it.
fn badge(outcome: Outcome, element: Tag) -> Markup {
    let (class, sign) = match outcome {
        Outcome::Pass => ("mark pass", "✓"),
        Outcome::Fail => ("mark fail", "✗"),
        Outcome::Inconclusive => ("mark open", "?"),
    };
    let sign = tag("span").attribute("aria-hidden", "true").text(sign);
    element.body(tag("span").class(class).body(sign.and(text(outcome.name()))))
}

/// What a reader has to know before relying on the numbers; reasons stand further down the page.
fn notes(notes: &[ViewFinding]) -> Markup {
    if notes.is_empty() {
        return Markup::new();
    }
    let items = notes.iter().map(|note| tag("li").text(&capital(&note.what)));
    let title = tag("h3").text("Before you rely on it");
    tag("aside").class("notes").body(title.and(tag("ul").all(items)))
}

fn blocks(all: &[ViewBlock<'_>], figures: &mut Figures) -> Markup {
    all.iter().map(|one| block(one, figures)).collect()
}

fn block(block: &ViewBlock<'_>, figures: &mut Figures) -> Markup {
    match block {
        ViewBlock::Titled(level, title, inner) => titled(*level, title, blocks(inner, figures)),
        ViewBlock::Paragraph(words) => tag("p").text(words),
        ViewBlock::Note(words) => tag("p").class("note").text(words),
        ViewBlock::Lead(sentences) => items(tag("ul").class("lead"), sentences),
        ViewBlock::List(lines) => items(tag("ul"), lines),
        ViewBlock::Omissions(lines) => items(tag("ul").class("left-out"), lines),
        ViewBlock::Table(found) => table(found),
        ViewBlock::Facts(found) => facts(found),
        ViewBlock::Terms(found) => terms(found),
        ViewBlock::Findings(found) => findings(found),
        ViewBlock::Cards(cards) => tag("div").class("cards").all(cards.iter().map(card)),
        ViewBlock::Chart(chart) => figures.figure(chart),
        ViewBlock::Timeline(found) => timeline(found, figures),
        ViewBlock::Verbatim(words) => tag("pre").attribute("tabindex", "0").text(words),
        ViewBlock::SideBySide(inner) => wrapped(tag("div").class("charts"), blocks(inner, figures)),
        ViewBlock::Group(inner) => wrapped(tag("div"), blocks(inner, figures)),
        ViewBlock::Article(id, inner) => article(id.as_deref(), blocks(inner, figures)),
        ViewBlock::Folded(title, is_open, inner) => folded(title, *is_open, blocks(inner, figures)),
        ViewBlock::OnPage(inner) => blocks(inner, figures),
        ViewBlock::InTerminal(_) => Markup::new(),
    }
}

/// The element with its content, or nothing where there is none.
fn wrapped(element: Tag, content: Markup) -> Markup {
    if content.is_empty() { content } else { element.body(content) }
}

fn titled(level: HeadingLevel, title: &str, content: Markup) -> Markup {
    if content.is_empty() {
        return content;
    }
    let heading = match level {
        HeadingLevel::Section => tag("h2"),
        HeadingLevel::Part => tag("h3"),
        HeadingLevel::Detail => tag("h4"),
    };
    heading.text(title).and(content)
}

fn article(id: Option<&str>, content: Markup) -> Markup {
    let element = match id {
        Some(id) => tag("article").attribute("id", id),
        None => tag("article"),
    };
    wrapped(element.class("run"), content)
}

fn folded(title: &str, is_open: bool, content: Markup) -> Markup {
    if content.is_empty() {
        return content;
    }
    let element = if is_open { tag("details").attribute("open", "open") } else { tag("details") };
    element.body(tag("summary").text(title).and(content))
}

fn items(list: Tag, lines: &[String]) -> Markup {
    wrapped(list, lines.iter().map(|line| tag("li").text(line)).collect())
}

/// An element with this text, or nothing where there is none.
fn optional(name: &'static str, content: &str) -> Markup {
    if content.is_empty() { Markup::new() } else { tag(name).text(content) }
}

/// The same with a class.
fn optional_class(name: &'static str, class: &str, content: &str) -> Markup {
    if content.is_empty() { Markup::new() } else { tag(name).class(class).text(content) }
}

/// Names and values one below the other.
fn facts(facts: &[Fact]) -> Markup {
    if facts.is_empty() {
        return Markup::new();
    }
    tag("dl").class("pairs").all(facts.iter().map(fact))
}

fn fact(fact: &Fact) -> Markup {
    let doubt = optional("small", &fact.doubt);
    let value = tag("dd").body(text(&fact.value).and(constant(" ")).and(doubt));
    let note = optional_class("dd", "line", &fact.note);
    tag("div").all([tag("dt").text(&fact.name), value, note])
}

fn terms(terms: &[(&str, &str)]) -> Markup {
    let one = |(term, meaning): &(&str, &str)| {
        tag("div").body(tag("dt").text(term).and(tag("dd").text(meaning)))
    };
    tag("dl").class("terms").all(terms.iter().map(one))
}

fn findings(findings: &[ViewFinding]) -> Markup {
    wrapped(tag("ul").class("findings"), findings.iter().map(finding).collect())
}

fn finding(finding: &ViewFinding) -> Markup {
    let line = |class: &str, words: &str| optional_class("p", class, &capital(words));
    let what = match finding.severity {
        None => line("what", &finding.what),
        Some(severity) => {
            let word = severity_word(severity);
            let badge = tag("span").class(&format!("sev {word}")).text(word);
            tag("p").class("what").body(badge.and(text(&format!(" {}", finding.what))))
        }
    };
    // A remedy may begin with a command, which is typed as it stands.
    let remedy = optional_class("p", "remedy", &finding.remedy);
    tag("li").all([what, line("why", &finding.why), remedy])
}

/// The word for a severity.
pub(super) const fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Notice => "notice",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

fn card(card: &FigureCard) -> Markup {
    let title = tag("h3").text(&capital(&card.title));
    let others: Vec<Fact> = card.others.iter().map(other).collect();
    let parts = [title, sub(&card.subtitle), figure(&card.figure), facts(&others)];
    tag("article").class("card").all(parts)
}

/// A line in small letters.
fn sub(words: &str) -> Markup {
    tag("p").class("sub").text(words)
}

/// The number that matters most, large.
fn figure(figure: &KeyFigure) -> Markup {
    let Some(queue_depth) = figure.queue_depth else {
        let none = tag("p").class("figure").text(&figure.value);
        return none.and(sub(&format!("{}: {}", figure.name, figure.note)));
    };
    let doubt = tag("small").text(&format!(" {}", figure.doubt));
    let number = tag("p").class("figure").body(text(&figure.number).and(doubt));
    let ends = format!("{}, queue depth {queue_depth}", figure.interval);
    number.and(sub(&figure.name)).and(sub(&ends))
}

fn other(figure: &KeyFigure) -> Fact {
    Fact {
        name: figure.name.clone(),
        value: figure.value.clone(),
        doubt: figure.doubt.clone(),
        note: figure.note.clone(),
    }
}

fn timeline(timeline: &ViewTimeline<'_>, figures: &mut Figures) -> Markup {
    let charts: Vec<Markup> = timeline.charts.iter().map(|chart| figures.figure(chart)).collect();
    let group = tag("div").class("timelines").attribute("data-timeline", &timeline.id).all(charts);
    group.and(data(&timeline.id, &timeline.data))
}
