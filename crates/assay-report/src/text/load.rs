//! The ladder of a load for a terminal.

use super::layout::Text;
use crate::demand::{read_times, server_tables};
use crate::format::Formatter;
use crate::input::Report;
use crate::ladder::{beside, facts, tables};
use assay_model::load::Load;

/// Writes all tables of the ladder; nothing in relative reports, because every column is absolute.
pub(super) fn load(text: &mut Text, report: &Report, format: &Formatter) {
    let known = |load: &&Load| !format.is_relative() && !load.rungs.is_empty();
    let Some(load) = report.load.as_ref().filter(known) else {
        return;
    };
    let beside = beside(report);
    if !beside.is_empty() {
        text.heading("The storage alone, and the database on it");
        text.table(&beside);
    }
    for table in tables(load) {
        text.heading(table.title);
        let head = table.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let rows = load
            .rungs
            .iter()
            .map(|rung| table.columns.iter().map(|(_, fill)| fill(rung)).collect());
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
        text.table(&rows);
    }
    activity(text, load);
    text.heading("How it was loaded");
    text.pairs(&facts(load));
    errors(text, load);
}

/// What the server itself told of the best rung: where its sessions' time went, and how long single reads took.
fn activity(text: &mut Text, load: &Load) {
    let Some((rung, profile)) = load.best().and_then(|rung| Some((rung, rung.profile.as_ref()?)))
    else {
        return;
    };
    for (title, rows) in server_tables(profile).iter().take(1) {
        text.heading(&format!("{title}, {} sessions", rung.sessions));
        text.table(rows);
    }
    let times = profile.server.as_ref().map(|server| read_times(&server.read_times));
    if let Some(rows) = times.filter(|rows| rows.len() > 1) {
        text.heading(&format!("How long reads of a block took, {} sessions", rung.sessions));
        text.table(&rows);
    }
}

/// What failed, by kind.
fn errors(text: &mut Text, load: &Load) {
    let all = load
        .rungs
        .iter()
        .flat_map(|rung| rung.measurement.errors.iter().map(move |error| (rung.sessions, error)));
    let said: Vec<String> = all
        .map(|(sessions, error)| {
            format!(
                "{} × {} with {sessions} sessions: {}",
                error.ios,
                error.operation.name(),
                error.meaning
            )
        })
        .collect();
    if said.is_empty() {
        return;
    }
    text.heading("Statements that failed");
    for one in said {
        text.item(&one);
    }
}
