//! Judged cuts as a table: a row for each, with what was promised and what became of it.

use super::{number, table};
use crate::input::GivenReport;
use assay_model::durability::{Control, JudgedCommits, JudgedCut};

/// The header line.
const HEADER: &str = "cut,kind,control,acknowledgements,acknowledged_s,promised_blocks,\
                      kept_blocks,newer_blocks,lost_blocks,torn_blocks,atomic_unit_bytes,\
                      acknowledged_transactions,kept_transactions,lost_transactions,\
                      doubled_transactions,broken_conditions,damaged_pages";

/// All cuts in their order; nothing where nothing was cut.
pub fn cuts_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let cuts = report.durability().into_iter().flat_map(|found| &found.cuts);
    table(HEADER, run_id, (1u64..).zip(cuts).map(|(place, cut)| row(place, cut)))
}

fn row(place: u64, cut: &JudgedCut) -> Vec<String> {
    let known = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let commits = cut.commits.as_ref();
    let of = |number: fn(&JudgedCommits) -> u64| known(commits.map(number));
    let damaged = |commits: &JudgedCommits| {
        commits.pages.iter().filter_map(|check| check.damaged).sum::<u64>()
    };
    let blocks = [
        cut.promised_blocks,
        cut.kept_blocks,
        cut.newer_blocks,
        cut.lost_blocks(),
        cut.torn_blocks,
    ];
    let mut row = vec![
        place.to_string(),
        cut.kind.name().to_owned(),
        cut.control().map_or("", Control::name).to_owned(),
        cut.acknowledgements.to_string(),
        number(cut.acknowledged_s),
    ];
    row.extend(blocks.map(|blocks| blocks.to_string()));
    row.extend([
        known(cut.atomic_unit_bytes),
        of(|commits| commits.acknowledged),
        of(|commits| commits.kept),
        of(|commits| commits.lost),
        of(|commits| commits.doubled),
        known(commits.and_then(|commits| commits.broken_conditions)),
        known(commits.map(damaged)),
    ]);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::durability::{CutEvidence, CutKind, Durability};
    use assay_model::load::Load;

    #[test]
    fn each_cut_is_a_row_and_what_does_not_exist_is_empty() {
        assert_eq!(cuts_csv(&GivenReport::default(), "id"), None);
        let commits =
            JudgedCommits { acknowledged: 9, kept: 8, lost: 1, ..JudgedCommits::default() };
        let of_commits = JudgedCut { commits: Some(commits), ..JudgedCut::of(CutKind::Power, 1) };
        let blocks = JudgedCut { promised_blocks: 5, ..JudgedCut::of(CutKind::System, 1) };
        let found =
            Durability { cuts: vec![of_commits, blocks], ..Durability::of(CutEvidence::Refuted) };
        let mut load: Load =
            serde_json::from_str(include_str!("../../../../contract/examples/small.load.json"))
                .unwrap();
        load.durability = Some(found);
        let report = GivenReport { load: Some(load), ..GivenReport::default() };
        let written = cuts_csv(&report, "id").unwrap();
        let rows: Vec<&str> = written.lines().collect();
        assert_eq!(rows[1], "id,1,power,,0,0,0,0,0,0,0,,9,8,1,0,,0");
        assert_eq!(rows[2], "id,2,system,,0,0,5,0,0,0,0,,,,,,,");
        assert_eq!(rows[0].split(',').count(), rows[1].split(',').count());
    }
}
