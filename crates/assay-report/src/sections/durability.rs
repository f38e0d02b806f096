//! Whether storage keeps what it acknowledged: the answer with how strong it is, the cuts, the
//! times of flushes, the declarations.

use super::{cut_details, database_faults, page_protection};
use crate::format::Formatter;
use crate::phrases::size;
use crate::view::{CellLook, HeadingLevel, ViewBlock, ViewFinding, ViewSection, ViewTable};
use assay_model::durability::{
    CutEvidence, CutKind, Durability, FlushTiming, JudgedCut, TimingFinding,
};
use assay_model::integrity::FaultKind;
use assay_model::number::real;
use assay_model::units::{show_bytes, show_count};
use assay_model::verdict::{Outcome, Unit};

/// Cuts that a terminal lists.
const CUTS_IN_TERMINAL: usize = 10;

/// What came of it, in a sentence.
pub fn sentence(found: &Durability) -> String {
    let code = found.evidence.code();
    match found.evidence {
        CutEvidence::Refuted => refuted(found),
        _ if found.is_void() => format!(
            "Void ({code}): the server ran without waiting for storage, and no cut lost anything, \
             so the other cuts prove nothing."
        ),
        CutEvidence::PowerCuts | CutEvidence::SystemCuts => kept(found),
        CutEvidence::Timed => format!(
            "Nothing was cut, and the flush times are plausible ({code}): {}.",
            found.timing.as_ref().map_or("", timing_words)
        ),
        CutEvidence::Declared | CutEvidence::Unknown => {
            let timing =
                found.timing.as_ref().filter(|timing| timing.finding == TimingFinding::Implausible);
            match (timing, found.cuts.last()) {
                (Some(timing), _) => format!("Implausible ({code}): {}.", timing_words(timing)),
                (None, Some(cut)) if cut.control().is_some() => format!(
                    "Only controls were cut ({code}): this does not show what the server keeps \
                     with its normal settings."
                ),
                (None, Some(cut)) if cut.promised() == 0 => {
                    format!(
                        "Nothing was acknowledged before the cut, so the cut shows nothing \
                         ({code})."
                    )
                }
                (None, Some(_)) => format!(
                    "Only the process ended, which loses no data: nothing is known about a power \
                     cut ({code})."
                ),
                (None, None) => format!("Nothing was cut ({code}): {}.", found.evidence.meaning()),
            }
        }
    }
}

fn refuted(found: &Durability) -> String {
    let real_cuts = || found.cuts.iter().filter(|cut| cut.control().is_none());
    let lossy: Vec<&JudgedCut> = real_cuts().filter(|cut| cut.broken() > 0).collect();
    let after = format!(
        "after {} of {}.",
        show_count(assay_model::number::real_len(lossy.len())),
        cuts(assay_model::number::count_of(real_cuts().count()), None)
    );
    let commits = lossy.iter().find_map(|cut| cut.commits.as_ref());
    if let Some(commits) = commits {
        return format!("Refuted: {}, {after}", database_faults::sentence(commits));
    }
    let promised: u64 = lossy.iter().map(|cut| cut.promised_blocks).sum();
    let foreign =
        |cut: &&JudgedCut| cut.counts.iter().any(|count| count.kind == FaultKind::OtherRun);
    let caution = if lossy.iter().any(foreign) {
        " Some contain data of another run: make sure that no other run wrote here in the meantime."
    } else {
        ""
    };
    format!(
        "Refuted: {} of {} blocks lost acknowledged writes, {after}{caution}",
        show_count(real(found.broken())),
        show_count(real(promised)),
    )
}

fn kept(found: &Durability) -> String {
    let (kind, number) = found.strongest_cuts().unwrap_or((CutKind::Process, 0));
    let limit = found.loss_per_cut_max.unwrap_or(1.0);
    let below = if kind == CutKind::System { "; caches below the system were not cut" } else { "" };
    format!(
        "No acknowledged write was lost in {}: at most {} per cut lose data, with 95% confidence \
         ({}{below}).",
        cuts(number, Some(kind)),
        Unit::Share.show(limit),
        found.evidence.code()
    )
}

fn cuts(number: u64, kind: Option<CutKind>) -> String {
    let what = kind.map_or_else(String::new, |kind| format!("{} ", kind.name()));
    let many = if number == 1 { "cut" } else { "cuts" };
    format!("{} {what}{many}", show_count(real(number)))
}

/// What the times come to.
const fn timing_words(timing: &FlushTiming) -> &'static str {
    match timing.finding {
        TimingFinding::Grows => "a flush takes longer after more data, as with a volatile cache",
        TimingFinding::Flat => {
            "flush times do not depend on the amount written: the cache is protected, or flushes \
             do nothing"
        }
        TimingFinding::Implausible => {
            "a hard disk with a volatile cache cannot make data durable in this time"
        }
    }
}

/// The answer where durability was asked for.
pub(super) fn outcome(found: &Durability) -> Option<Outcome> {
    match found.evidence {
        _ if found.is_void() => Some(Outcome::Inconclusive),
        CutEvidence::Refuted => Some(Outcome::Fail),
        CutEvidence::PowerCuts | CutEvidence::SystemCuts => Some(Outcome::Pass),
        CutEvidence::Unknown | CutEvidence::Declared | CutEvidence::Timed => None,
    }
}

pub(super) fn section<'a>(found: &Durability, format: Formatter) -> ViewSection<'a> {
    let mut lead = vec![sentence(found)];
    lead.extend(found.timing.as_ref().filter(|_| !format.is_relative()).map(memory));
    lead.extend(found.atomic_unit_bytes().map(|bytes| {
        format!(
            "Writes in flight were torn at multiples of {}: larger ones are not atomic here.",
            size(bytes)
        )
    }));
    lead.extend(database_faults::controls(found));
    let pages = found.page_protection.as_ref();
    lead.extend(pages.map(|pages| page_protection::sentence(found, pages)));
    let mut blocks = vec![ViewBlock::Lead(lead)];
    blocks.extend(captioned([judged(found), database_faults::table(found)]));
    blocks.extend(cut_details::ages(found, format));
    blocks.extend(cut_details::tears(found, format));
    if !format.is_relative() {
        blocks.extend(cut_details::flushes(found, format));
        blocks.extend(captioned(found.timing.as_ref().map(flushes)));
    }
    blocks.extend(captioned([cut_details::reach(found), declared(found)]));
    let limits = format!("{}: {}.", found.evidence.code(), found.evidence.meaning());
    blocks.push(ViewBlock::Note(limits));
    let title = "Acknowledged writes".to_owned();
    ViewSection { id: "durability", title, blocks }
}

/// The caveat of a ledger that does not have all that was acknowledged.
pub(super) fn unkept(found: &Durability) -> Option<ViewFinding> {
    let missing = Some(found.unkept_acknowledgements).filter(|missing| *missing > 0)?;
    Some(ViewFinding {
        what: format!(
            "The ledger lacks {} of {} acknowledgements: a cut cannot test them.",
            show_count(real(missing)),
            show_count(real(found.acknowledgements.saturating_add(missing)))
        ),
        remedy: "Check the connection to the witness or the space for the ledger, then verify \
                 again."
            .to_owned(),
        ..ViewFinding::default()
    })
}

/// Tables that have rows, below their captions.
fn captioned<'a>(
    tables: impl IntoIterator<Item = ViewTable>,
) -> impl Iterator<Item = ViewBlock<'a>> {
    let tables = tables.into_iter().filter(|table| !table.is_empty());
    tables.map(|table| ViewBlock::captioned(HeadingLevel::Detail, table))
}

/// The memory that the device must protect.
fn memory(timing: &FlushTiming) -> String {
    let rate = Unit::BytesPerS.show(timing.sustained_bytes_per_s);
    match timing.protected_memory_bytes_min {
        0 => format!(
            "The rate at which data became durable is possible without a protected cache: {rate} \
             in the long run."
        ),
        bytes => format!(
            "If flushes are truthful, at least {} of cache is protected from power cuts: this \
             amount became durable beyond the long-run rate of {rate}.",
            show_bytes(real(bytes))
        ),
    }
}

/// One row for each cut after which something was missing, and one for all others of a kind.
fn judged(found: &Durability) -> ViewTable {
    let table = ViewTable::new("Judged cuts").look(CellLook::Records);
    let table = table
        .words("cut")
        .numbers("cuts")
        .numbers("acknowledgements")
        .numbers("promised blocks")
        .numbers("kept")
        .numbers("lost")
        .numbers("torn, unpromised")
        .words("lost");
    let of_blocks = || found.cuts.iter().filter(|cut| cut.commits.is_none());
    let lossy = of_blocks().filter(|cut| cut.lost_blocks() > 0).map(|cut| judged_row(&[cut]));
    let others = [CutKind::Power, CutKind::System, CutKind::Process].into_iter().map(|kind| {
        let whole = of_blocks().filter(|cut| cut.lost_blocks() == 0 && cut.kind == kind);
        whole.collect::<Vec<&JudgedCut>>()
    });
    let others = others.filter(|cuts| !cuts.is_empty()).map(|cuts| judged_row(&cuts));
    let table = table.with(lossy.chain(others));
    ViewTable { terminal_rows_max: Some(CUTS_IN_TERMINAL), ..table }
}

/// Cuts of one kind, added up.
fn judged_row(cuts: &[&JudgedCut]) -> Vec<String> {
    let sum = |number: fn(&JudgedCut) -> u64| cuts.iter().map(|cut| number(cut)).sum::<u64>();
    let kinds: Vec<String> = cuts
        .iter()
        .flat_map(|cut| &cut.counts)
        .map(|count| format!("{} {}", show_count(real(count.blocks)), count.kind.name()))
        .collect();
    let numbers = [
        assay_model::number::count_of(cuts.len()),
        sum(|cut| cut.acknowledgements),
        sum(|cut| cut.promised_blocks),
        sum(|cut| cut.kept_blocks),
        sum(JudgedCut::lost_blocks),
        sum(|cut| cut.torn_blocks),
    ];
    let kind = cuts.first().map_or("", |cut| cut.kind.name()).to_owned();
    let numbers = numbers.map(|number| show_count(real(number)));
    [kind].into_iter().chain(numbers).chain([kinds.join(", ")]).collect()
}

fn declared(found: &Durability) -> ViewTable {
    let table = ViewTable::new("Declarations by layer").words("layer").words("declaration");
    let rows = found.declarations.iter();
    table.with(rows.map(|said| vec![said.layer.clone(), said.what.clone()]))
}

fn flushes(timing: &FlushTiming) -> ViewTable {
    let table = ViewTable::of_numbers(
        "Flush time by bytes written before",
        &["", "median", "95% from", "to"],
    );
    let row = |time: &assay_model::durability::FlushTime| {
        let what = match time.dirty_bytes {
            0 => "flush without data".to_owned(),
            bytes => format!("flush after {}", size(bytes)),
        };
        let times =
            [time.median_ns, time.low_ns, time.high_ns].map(|time_ns| Unit::Ns.show(time_ns));
        [what].into_iter().chain(times).collect()
    };
    let single = [
        ("write of 8 KiB", Some(timing.write_median_ns)),
        ("the same, durable on return", timing.durable_write_median_ns),
    ];
    let single = single.into_iter().filter_map(|(what, time_ns)| {
        let time = Unit::Ns.show(time_ns?);
        Some(vec![what.to_owned(), time, String::new(), String::new()])
    });
    table.with(timing.flushes.iter().map(row).chain(single))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_that_the_ledger_misses_are_counted() {
        let whole = Durability { acknowledgements: 10, ..Durability::of(CutEvidence::Declared) };
        assert_eq!(unkept(&whole), None);
        let found = unkept(&Durability { unkept_acknowledgements: 30, ..whole }).unwrap();
        assert!(found.what.starts_with("The ledger lacks 30 of 40 acknowledgements"), "{found:?}");
    }
}
