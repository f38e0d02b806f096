//! One profile for a terminal: whether faster storage would help, then the demand, then what to doubt.

use super::NamedProfile;
use super::facts::{self, Rows};
use super::{report, response, server};
use crate::text::layout::Text;

/// Tablespaces listed; the document has all.
const CANDIDATES_MAX: usize = 10;
/// Doubts listed; the document has all.
const DOUBTS_MAX: usize = 12;

/// The profile as text; `colour` dresses it with ANSI sequences.
pub fn profile_text(named: NamedProfile<'_>, colour: bool) -> String {
    let profile = named.profile;
    let mut text = Text::new(colour);
    answer(&mut text, named);
    let first = report::top_events(profile).into_iter().chain(response::tables(profile));
    for (title, rows) in first {
        table(&mut text, title, &rows);
    }
    table(&mut text, "What was asked of storage", &facts::classes(profile));
    table(&mut text, "Requests, as each section counts them", &facts::rates(profile));
    table(&mut text, "Where DB time went", &facts::time_rows(profile));
    let who = report::load(profile).into_iter().chain(report::who_asked(profile));
    let who = who.chain(report::looked_up(profile)).chain(server::tables(profile));
    for (title, rows) in who {
        table(&mut text, title, &rows);
    }
    let shown = profile.tiering.len().min(CANDIDATES_MAX);
    table(
        &mut text,
        "Tablespaces that gain most from faster storage",
        &facts::tiering(&profile.tiering[..shown]),
    );
    more(&mut text, profile.tiering.len() - shown);
    table(&mut text, "Sections compared", &facts::checks(&profile.checks));
    list(&mut text, "To be doubted", &profile.doubts);
    if !profile.missing.is_empty() {
        text.heading("Not in this report");
        text.item(&profile.missing.join(", "));
    }
    text.finish()
}

/// Whether faster storage would help, and of which database.
fn answer(text: &mut Text, NamedProfile { file, profile }: NamedProfile<'_>) {
    text.paragraph(&facts::headline(&profile.verdict));
    for sentence in facts::details(profile) {
        text.item(&sentence);
    }
    text.heading(file);
    text.pairs(&facts::source(profile));
}

fn table(text: &mut Text, title: &str, rows: &Rows) {
    if rows.len() > 1 {
        text.heading(title);
        text.table(rows);
    }
}

fn list(text: &mut Text, title: &str, items: &[String]) {
    let shown = items.iter().take(DOUBTS_MAX);
    if !items.is_empty() {
        text.heading(title);
    }
    for item in shown {
        text.item(item);
    }
    more(text, items.len().saturating_sub(DOUBTS_MAX));
}

fn more(text: &mut Text, left: usize) {
    if left > 0 {
        text.item(&format!("and {left} more, which the JSON form holds"));
    }
}
