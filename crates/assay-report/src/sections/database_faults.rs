//! What cuts did to a database: missing transactions, doubled ones, broken conditions and damaged
//! pages, and what controls showed.

use crate::view::{CellLook, ViewTable};
use assay_model::durability::{Control, Durability, JudgedCommits, JudgedCut};
use assay_model::number::real;
use assay_model::units::show_count;

/// Cuts that a terminal lists.
const CUTS_IN_TERMINAL: usize = 10;

/// What is wrong, in the middle of a sentence.
pub(super) fn sentence(commits: &JudgedCommits) -> String {
    let count = |number: u64| show_count(real(number));
    let pages: u64 = commits.pages.iter().filter_map(|check| check.damaged).sum();
    let parts = [
        (
            commits.lost,
            format!(
                "{} of {} acknowledged transactions are missing",
                count(commits.lost),
                count(commits.acknowledged)
            ),
        ),
        (commits.doubled, format!("{} are present twice", count(commits.doubled))),
        (commits.broken_conditions.unwrap_or(0), "consistency conditions are violated".to_owned()),
        (pages, "pages are damaged".to_owned()),
        (
            u64::from(commits.refusal.is_some()),
            format!("the server said “{}”", commits.refusal.as_deref().unwrap_or_default()),
        ),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words).collect();
    parts.join("; ")
}

/// What controls came to, a sentence each.
pub(super) fn controls(found: &Durability) -> Vec<String> {
    let mut said = Vec::new();
    match found.controls(Control::Commits) {
        (0, _) if found.cuts.iter().any(|cut| cut.commits.is_some()) => said.push(
            "No control was cut, so it is unproven that this test detects a lost transaction \
             (--control commits)."
                .to_owned(),
        ),
        (0, _) => (),
        (cuts, 0) => said.push(format!(
            "The control was not caught: without waiting for storage {} lost nothing.",
            times(cuts)
        )),
        (cuts, caught) => said.push(format!(
            "The control was caught in {} of {}: without waiting for storage, losses are seen.",
            show_count(real(caught)),
            times(cuts)
        )),
    }
    said
}

fn times(cuts: u64) -> String {
    let many = if cuts == 1 { "cut" } else { "cuts" };
    format!("{} {many}", show_count(real(cuts)))
}

/// One row a cut.
pub(super) fn table(found: &Durability) -> ViewTable {
    let table = ViewTable::new("Transactions after cuts").look(CellLook::Records);
    let table = table
        .words("cut")
        .words("without")
        .numbers("acknowledged")
        .numbers("kept")
        .numbers("newer")
        .numbers("missing")
        .numbers("twice")
        .words("conditions")
        .words("pages")
        .words("the server said");
    let row = |cut: &JudgedCut| {
        let commits = cut.commits.as_ref()?;
        let numbers =
            [commits.acknowledged, commits.kept, commits.newer, commits.lost, commits.doubled];
        let words = [
            match commits.broken_conditions {
                None => "not checked".to_owned(),
                Some(0) => "hold".to_owned(),
                Some(broken) => format!("{broken} broken"),
            },
            pages(commits),
            commits.refusal.clone().unwrap_or_default(),
        ];
        let without = cut.control().map_or("", Control::name);
        let begin = [cut.kind.name().to_owned(), without.to_owned()];
        let numbers = numbers.map(|number| show_count(real(number)));
        Some(begin.into_iter().chain(numbers).chain(words).collect())
    };
    let table = table.with(found.cuts.iter().filter_map(row));
    ViewTable { terminal_rows_max: Some(CUTS_IN_TERMINAL), ..table }
}

/// What each checker said.
fn pages(commits: &JudgedCommits) -> String {
    let said = commits.pages.iter().map(|check| match check.damaged {
        Some(0) => format!("{}: sound", check.checker),
        Some(damaged) => format!("{}: {damaged} damaged: {}", check.checker, check.what),
        None => format!("{}: {}", check.checker, check.what),
    });
    said.collect::<Vec<_>>().join("; ")
}
