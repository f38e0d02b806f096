//! The ladder of a load in words and columns, for the page and for the terminal: those of its kind.

mod beside;
mod blocks;
pub(crate) mod brokerage;
mod columns;
mod databases;
mod kind;
mod loaded;
#[cfg(test)]
pub(crate) mod made_up;
pub(crate) mod orders;
pub(crate) mod split;
mod transactions;
mod words;

use assay_model::load::Load;
pub(crate) use beside::beside;
pub(crate) use columns::Columns;
pub(crate) use databases::{databases, time_of_databases};
pub(crate) use kind::Kind;
pub(crate) use loaded::{encryption, facts};
pub(crate) use transactions::{response_time_ns, result};
pub(crate) use words::several;

/// All tables of a ladder.
pub(crate) fn tables(load: &Load) -> Vec<Columns> {
    match Kind::of(load) {
        Kind::Blocks => blocks::tables(load),
        Kind::Orders => orders::tables(load),
        Kind::Brokerage => brokerage::tables(),
    }
}

/// What its sessions are called.
pub(crate) fn who(load: &Load) -> &'static str {
    match Kind::of(load) {
        Kind::Blocks => "session",
        Kind::Orders | Kind::Brokerage => "user",
    }
}

/// What the load came to, in sentences.
pub(crate) fn sentences(load: &Load) -> Vec<String> {
    if load.rungs.is_empty() {
        return vec![format!("What a database gets was not measured: {}.", load.end)];
    }
    let mut said = match Kind::of(load) {
        Kind::Blocks => blocks::sentences(load),
        Kind::Orders => orders::sentences(load),
        Kind::Brokerage => brokerage::sentences(load),
    };
    // What the whole came to stands first.
    let behind_first = said.len().min(1);
    said.splice(behind_first..behind_first, databases::evenness(load));
    said
}

/// What spoils the result: reads that were none of storage, or data that is not right any more.
pub(crate) fn flaw(load: &Load) -> Option<String> {
    match Kind::of(load) {
        Kind::Blocks => blocks::flaw(load),
        Kind::Orders | Kind::Brokerage => transactions::flaw(load),
    }
}

#[cfg(test)]
mod tests {
    use super::made_up::{report, rung};
    use crate::{Options, html, text};

    #[test]
    fn relative_reports_hide_the_ladder_and_a_skipped_one_says_why() {
        let relative = Options { relative: true };
        let whole = report(vec![rung(1, 0)]);
        assert!(!text(&whole, relative, false).contains("50,000"));
        assert!(!html(&whole, relative).contains("50,000"));
        let skipped = text(&report(Vec::new()), Options::default(), false);
        assert!(skipped.contains("was not measured: all steps were completed"), "{skipped}");
    }
}
