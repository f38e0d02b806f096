//! The answer to a database's administrator: must full-page writes, or the doublewrite buffer, stay
//! on here? Never more than was declared or seen.

use crate::phrases::size;
use assay_model::durability::{Control, Durability, PageAnswer, PageProtection};
use assay_model::number::real;
use assay_model::units::show_count;
use assay_model::verdict::Unit;
/// What protects pages.
const PROTECTION: &str = "full_page_writes or innodb_doublewrite";

/// The answer, a sentence or two.
pub(super) fn sentence(found: &Durability, pages: &PageProtection) -> String {
    let page = size(pages.page_bytes);
    match pages.answer {
        PageAnswer::Needed => {
            format!(
                "{PROTECTION} must stay on here: {}.{}",
                seen(found, pages),
                contradiction(pages)
            )
        }
        PageAnswer::Unproven => format!(
            "{PROTECTION} should stay on here: {}. {}",
            unpromised(pages, &page),
            untorn(pages, &page)
        ),
        PageAnswer::Promised => format!(
            "{PROTECTION} may be turned off if the declarations are true: aligned writes of up to \
             {} are declared atomic. This covers a page of {page} that the server writes in one \
             piece with direct I/O. {}",
            size(pages.declared.promised_bytes().unwrap_or_default()),
            untorn(pages, &page)
        ),
    }
}

/// How it was seen that pages do not stay whole.
fn seen(found: &Durability, pages: &PageProtection) -> String {
    let (cuts, damaged) = found.controls(Control::Pages);
    if damaged > 0 {
        return format!(
            "without them {} of {} damaged the data",
            show_count(real(damaged)),
            times(cuts)
        );
    }
    let blocks = |number: u64| match number {
        1 => "1 block".to_owned(),
        _ => format!("{} blocks", show_count(real(number))),
    };
    let page = size(pages.page_bytes);
    let torn: u64 = found.cuts.iter().map(|cut| cut.torn_blocks).sum();
    match found.atomic_unit_bytes() {
        Some(unit_bytes) if !unit_bytes.is_multiple_of(pages.page_bytes) => format!(
            "{} of {page} in flight during a cut were torn, at multiples of {}",
            blocks(torn),
            size(unit_bytes)
        ),
        _ => {
            format!("{} of {page} that were acknowledged were torn", blocks(found.torn_promises()))
        }
    }
}

fn contradiction(pages: &PageProtection) -> String {
    match pages.declared.promised_bytes() {
        Some(bytes) if bytes >= pages.page_bytes => format!(
            " This contradicts the declaration that writes of up to {} are atomic.",
            size(bytes)
        ),
        _ => String::new(),
    }
}

/// What is declared, and that it is too little.
fn unpromised(pages: &PageProtection, page: &str) -> String {
    let declared = &pages.declared;
    let what = match (declared.promised_bytes(), declared.device_bytes) {
        (Some(0) | None, Some(bytes)) if declared.is_file && bytes >= pages.page_bytes => format!(
            "the devices declare writes of up to {} as atomic, but the file system does not pass \
             this on",
            size(bytes)
        ),
        (Some(0), _) => format!("the layers declare no atomic write of {page}"),
        (Some(bytes), _) => {
            format!("only writes of up to {} are declared atomic", size(bytes))
        }
        (None, _) => format!("no layer declares a write of {page} as atomic"),
    };
    match (declared.logical_block_bytes.map(size), declared.physical_block_bytes.map(size)) {
        (Some(logical), Some(physical)) => {
            format!(
                "{what} (logical blocks of {logical}, physical blocks of {physical}, which \
                 guarantee nothing)"
            )
        }
        _ => what,
    }
}

/// What cuts say while none tore a page.
fn untorn(pages: &PageProtection, page: &str) -> String {
    pages.torn_per_cut_max.map_or_else(
        || "No cut has tested it.".to_owned(),
        |limit| {
            format!(
                "No torn page of {page} was seen in {}: at most {} per cut tear one, with 95% \
                 confidence.",
                times(pages.cuts),
                Unit::Share.show(limit)
            )
        },
    )
}

fn times(cuts: u64) -> String {
    let many = if cuts == 1 { "cut" } else { "cuts" };
    format!("{} {many}", show_count(real(cuts)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::durability::{
        CutEvidence, CutKind, DeclaredUnits, JudgedCommits, JudgedCut, PageCheck,
    };
    use assay_model::integrity::{FaultCount, FaultKind};

    fn cut(torn_blocks: u64, unit_bytes: Option<u64>) -> JudgedCut {
        let whole = JudgedCut::of(CutKind::Power, 1);
        JudgedCut { torn_blocks, atomic_unit_bytes: unit_bytes, promised_blocks: 9, ..whole }
    }

    fn control(damaged: u64) -> JudgedCut {
        let check = PageCheck { checker: "x".into(), damaged: Some(damaged), what: String::new() };
        let commits = JudgedCommits {
            pages: vec![check],
            control: Some(Control::Pages),
            ..JudgedCommits::default()
        };
        JudgedCut { commits: Some(commits), ..cut(0, None) }
    }

    const FILE: DeclaredUnits = DeclaredUnits {
        file_bytes: None,
        device_bytes: None,
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        is_file: true,
    };
    const RAW: DeclaredUnits = DeclaredUnits { device_bytes: Some(16_384), is_file: false, ..FILE };

    fn said(answer: PageAnswer, cuts: &[JudgedCut], declared: DeclaredUnits) -> String {
        let found = Durability { cuts: cuts.to_vec(), ..Durability::of(CutEvidence::PowerCuts) };
        let number = assay_model::number::count_of(cuts.len());
        let limit = (answer != PageAnswer::Needed && number > 0).then_some(0.0495);
        let pages = PageProtection {
            page_bytes: 8192,
            answer,
            declared,
            cuts: number,
            torn_per_cut_max: limit,
        };
        sentence(&found, &pages)
    }

    #[test]
    fn without_a_promise_protection_should_stay_on_whatever_was_cut() {
        let text = said(PageAnswer::Unproven, &vec![cut(0, None); 59], FILE);
        assert!(text.contains("should stay on here: no layer declares"), "{text}");
        assert!(text.contains("logical blocks of 512 B, physical blocks of 4 KiB"), "{text}");
        assert!(text.contains("in 59 cuts: at most 5% per cut"), "{text}");
        assert!(said(PageAnswer::Unproven, &[], FILE).ends_with("No cut has tested it."));
        let devices = DeclaredUnits { device_bytes: Some(16_384), ..FILE };
        assert!(said(PageAnswer::Unproven, &[], devices).contains("does not pass this on"));
        let none = DeclaredUnits { file_bytes: Some(0), ..FILE };
        assert!(said(PageAnswer::Unproven, &[], none).contains("no atomic write of 8 KiB"));
        let small = DeclaredUnits { file_bytes: Some(4096), ..FILE };
        assert!(said(PageAnswer::Unproven, &[], small).contains("only writes of up to 4 KiB"));
    }

    #[test]
    fn what_was_seen_is_said_and_contradicts_what_is_declared() {
        let text = said(PageAnswer::Promised, &[cut(0, None)], RAW);
        assert!(text.contains("may be turned off if") && text.contains("16 KiB"), "{text}");
        let text = said(PageAnswer::Needed, &[cut(3, Some(512)), cut(8, Some(4096))], RAW);
        assert!(text.contains("must stay on here: 11 blocks of 8 KiB"), "{text}");
        assert!(text.contains("at multiples of 512 B") && text.contains("contradicts"), "{text}");
        let count = FaultCount { kind: FaultKind::Torn, blocks: 7 };
        let promised = JudgedCut { counts: vec![count], ..cut(0, None) };
        let text = said(PageAnswer::Needed, &[promised], FILE);
        assert!(text.contains("7 blocks of 8 KiB that were acknowledged were torn"), "{text}");
        let text = said(PageAnswer::Needed, &[control(0), control(2)], FILE);
        assert!(text.contains("without them 1 of 2 cuts damaged the data"), "{text}");
    }
}
