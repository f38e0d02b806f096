//! Whether a database must protect its pages against writes that a power cut leaves half done, by
//! what was declared and what cuts showed.

use crate::durability::CONFIDENCE;
use assay_model::durability::{Control, DeclaredUnits, Durability, PageAnswer, PageProtection};
use assay_stats::quantile::chance_at_most;

/// Adds the answer for pages of this size.
pub fn with_page_protection(
    found: Durability,
    page_bytes: u64,
    declared: DeclaredUnits,
) -> Durability {
    let (is_torn, cuts) = (is_torn(&found, page_bytes), telling_cuts(&found));
    let is_promised = declared.promised_bytes().is_some_and(|bytes| bytes >= page_bytes);
    let answer = match (is_torn, is_promised) {
        (true, _) => PageAnswer::Needed,
        (false, true) => PageAnswer::Promised,
        (false, false) => PageAnswer::Unproven,
    };
    let torn_per_cut_max = (!is_torn && cuts > 0).then(|| chance_at_most(0, cuts, CONFIDENCE));
    let pages = PageProtection { page_bytes, answer, declared, cuts, torn_per_cut_max };
    Durability {
        declared_atomic_unit_bytes: declared.device_bytes,
        page_protection: Some(pages),
        ..found
    }
}

/// Whether a page was seen torn, or a server broke that did not protect its own.
fn is_torn(found: &Durability, page_bytes: u64) -> bool {
    let (_, damaged) = found.controls(Control::Pages);
    let is_within_page = |unit_bytes: u64| !unit_bytes.is_multiple_of(page_bytes);
    damaged > 0
        || found.torn_promises() > 0
        || found.atomic_unit_bytes().is_some_and(is_within_page)
}

/// Cuts that would have shown a torn page. A server repairs what is torn while it protects its
/// pages: only without does it show.
fn telling_cuts(found: &Durability) -> u64 {
    let (controls, _) = found.controls(Control::Pages);
    match found.strongest_cuts() {
        Some((_, cuts)) if found.cuts.iter().all(|cut| cut.commits.is_none()) => cuts,
        _ => controls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::durability::{CutEvidence, CutKind, JudgedCommits, JudgedCut};
    use assay_model::integrity::{FaultCount, FaultKind};

    const PAGE_BYTES: u64 = 8192;

    fn found(cuts: Vec<JudgedCut>) -> Durability {
        Durability { cuts, ..Durability::of(CutEvidence::Unknown) }
    }

    fn torn_at(unit_bytes: u64) -> Durability {
        let torn = JudgedCut { torn_blocks: 1, atomic_unit_bytes: Some(unit_bytes), ..cut() };
        found(vec![torn])
    }

    fn cut() -> JudgedCut {
        JudgedCut { promised_blocks: 1, kept_blocks: 1, ..JudgedCut::of(CutKind::Power, 1) }
    }

    fn protection(found: Durability, declared: DeclaredUnits) -> PageProtection {
        with_page_protection(found, PAGE_BYTES, declared).page_protection.unwrap()
    }

    fn answer(found: &Durability, declared: DeclaredUnits) -> PageAnswer {
        protection(found.clone(), declared).answer
    }

    #[test]
    fn what_was_torn_weighs_more_than_what_is_promised() {
        let of = |bytes| DeclaredUnits { device_bytes: Some(bytes), ..DeclaredUnits::default() };
        let whole = found(vec![cut(); 9]);
        assert_eq!(answer(&whole, of(16_384)), PageAnswer::Promised);
        assert_eq!(answer(&whole, of(4096)), PageAnswer::Unproven);
        assert_eq!(answer(&whole, DeclaredUnits::default()), PageAnswer::Unproven);
        for unit_bytes in [512, 4096, 12_288] {
            assert_eq!(answer(&torn_at(unit_bytes), of(16_384)), PageAnswer::Needed);
        }
        assert_eq!(answer(&torn_at(16_384), of(16_384)), PageAnswer::Promised);
    }

    #[test]
    fn a_promised_block_that_is_torn_is_a_torn_page() {
        let of = |kind| JudgedCut { counts: vec![FaultCount { kind, blocks: 3 }], ..cut() };
        for (kind, answered) in [
            (FaultKind::Torn, PageAnswer::Needed),
            (FaultKind::Shorn, PageAnswer::Needed),
            (FaultKind::Lost, PageAnswer::Unproven),
        ] {
            assert_eq!(answer(&found(vec![of(kind)]), DeclaredUnits::default()), answered);
        }
    }

    #[test]
    fn a_file_system_must_pass_the_promise_of_its_devices_on() {
        let devices =
            DeclaredUnits { device_bytes: Some(65_536), is_file: true, ..DeclaredUnits::default() };
        assert_eq!(answer(&found(Vec::new()), devices), PageAnswer::Unproven);
        let files = DeclaredUnits { file_bytes: Some(8192), ..devices };
        assert_eq!(answer(&found(Vec::new()), files), PageAnswer::Promised);
    }

    #[test]
    fn a_server_without_protection_that_breaks_says_that_it_is_needed() {
        let refusal = Some("invalid page".to_owned());
        let control = Some(Control::Pages);
        let commits = JudgedCommits { refusal, control, ..JudgedCommits::default() };
        let broken = found(vec![JudgedCut { commits: Some(commits), ..cut() }]);
        let promised = DeclaredUnits { device_bytes: Some(16_384), ..DeclaredUnits::default() };
        assert_eq!(answer(&broken, promised), PageAnswer::Needed);
    }

    /// 1 - 0.05^(1/59) = 4.95%; cuts of a server that protects its pages say nothing of torn ones.
    #[test]
    fn only_cuts_that_would_have_shown_it_bound_the_chance_of_a_torn_page() {
        let of = |cuts| protection(found(cuts), DeclaredUnits::default());
        let blocks = of(vec![cut(); 59]);
        assert!((blocks.torn_per_cut_max.unwrap() - 0.0495).abs() < 5e-5, "{blocks:?}");
        let protected = JudgedCut { commits: Some(JudgedCommits::default()), ..cut() };
        let server = of(vec![protected.clone(); 20]);
        assert_eq!((server.cuts, server.torn_per_cut_max), (0, None));
        let control = Some(Control::Pages);
        let commits = JudgedCommits { control, ..JudgedCommits::default() };
        let tried = of(vec![protected, JudgedCut { commits: Some(commits), ..cut() }]);
        assert_eq!(tried.cuts, 1);
        assert_eq!(
            of(vec![cut(), JudgedCut { torn_blocks: 1, atomic_unit_bytes: Some(512), ..cut() }])
                .torn_per_cut_max,
            None
        );
    }
}
