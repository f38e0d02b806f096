//! The ladder of a load in words and columns, for the page and for the terminal: those of its kind.

mod beside;
mod blocks;
mod brokerage;
mod columns;
mod databases;
mod load_view;
mod loaded;
#[cfg(test)]
pub(crate) mod made_up;
mod orders;
mod session_time;
pub(crate) mod split;
mod transaction_charts;
mod transactions;
mod words;

use assay_model::load::{Load, LoadKind};
pub(crate) use beside::beside;
pub(crate) use databases::{databases, time_of_databases};
use load_view::LoadView;
pub(crate) use load_view::{done, who};
pub(crate) use loaded::{encryption, facts};
pub(crate) use words::several;

/// What a load shows of itself.
pub(crate) const fn view(load: &Load) -> &'static LoadView {
    match load.kind {
        LoadKind::Oltp => &orders::VIEW,
        LoadKind::Brokerage => &brokerage::VIEW,
        // A load of decision support has a document of its own.
        LoadKind::Slob | LoadKind::Dss => &blocks::VIEW,
    }
}

/// What the load came to, in sentences.
pub(crate) fn sentences(load: &Load) -> Vec<String> {
    if load.rungs.is_empty() {
        return vec![format!("The database was not measured: {}.", load.end)];
    }
    let mut said = (view(load).sentences)(load);
    // What the whole came to stands first.
    let behind_first = said.len().min(1);
    said.splice(behind_first..behind_first, databases::evenness(load));
    said
}

/// What spoils the result.
pub(crate) fn flaw(load: &Load) -> Option<String> {
    (view(load).flaw)(load)
}

#[cfg(test)]
mod tests {
    use super::made_up::{report, rung};
    use crate::{ReportOptions, html, text};

    #[test]
    fn relative_reports_hide_the_ladder_and_a_skipped_one_says_why() {
        let relative = ReportOptions { relative: true };
        let whole = report(vec![rung(1, 0)]);
        assert!(!text(&whole, relative, false).contains("50,000"));
        assert!(!html(&whole, relative).contains("50,000"));
        let skipped = text(&report(Vec::new()), ReportOptions::default(), false);
        assert!(skipped.contains("was not measured: all steps were completed"), "{skipped}");
    }
}
