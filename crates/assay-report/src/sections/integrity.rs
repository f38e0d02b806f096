//! Whether what was read is what was written: the answer, faults by kind, each of the first, what
//! was looked at, what it cost.

use super::headline::Headline;
use crate::chart::bars::{Bar, BarKind, Bars};
use crate::chart::scene::{Ink, SceneSize};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::view::{CellLook, HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::integrity::{Fault, FaultMap, FoundBy, Integrity, SimulatedLoss};
use assay_model::number::{count_of, real, share};
use assay_model::units::{show_bytes, show_count};
use assay_model::verdict::{Outcome, Unit};

/// Faults that a terminal lists.
const FAULTS_IN_TERMINAL: usize = 10;
/// Parts of a map from one that is named to the next.
const PARTS_A_NAME: usize = 16;

/// The answer where there are faults.
pub(super) fn headline(found: &Integrity) -> Option<Headline> {
    let words = sentence(found);
    (found.found_blocks() > 0).then_some(Headline { outcome: Some(Outcome::Fail), words })
}

/// What came of it, in a sentence.
pub(super) fn sentence(found: &Integrity) -> String {
    let kinds: Vec<String> = found
        .counts
        .iter()
        .map(|count| format!("{} {}", show_count(real(count.blocks)), count.kind.name()))
        .collect();
    match (found.found_blocks(), found.coverage.verified_blocks) {
        (1, _) => {
            format!("1 block has wrong content: {}.", kinds.join(", "))
        }
        (blocks @ 2.., _) => {
            format!("{} blocks have wrong content: {}.", show_count(real(blocks)), kinds.join(", "))
        }
        (0, 0) => "Nothing was verified: no written block was read again.".to_owned(),
        (0, _) => format!(
            "Every block that was read is correct: {} blocks verified, {} of those written.",
            show_count(real(found.coverage.verified_blocks)),
            Unit::Share.show(share(found.coverage.verified_blocks, found.coverage.written_blocks))
        ),
    }
}

pub(super) fn section<'a>(found: &Integrity, format: Formatter) -> ViewSection<'a> {
    // Amounts and times would show how fast the storage is.
    let amounts = (!format.is_relative()).then(|| [coverage(found), cost(found)]);
    let tables = [kinds(found), faults(found)].into_iter().chain(amounts.into_iter().flatten());
    let tables = tables.filter(|table| !table.is_empty());
    let swept = (!format.is_relative()).then(|| swept(found));
    let simulated = found.simulated_loss.as_ref().map(account);
    let lead =
        ViewBlock::Lead([sentence(found)].into_iter().chain(simulated).chain(swept).collect());
    let limits = found.durability.is_none().then(|| {
        ViewBlock::Note(
            "No power was cut: this does not show what storage keeps across a power failure."
                .to_owned(),
        )
    });
    let tables = tables.map(|table| ViewBlock::captioned(HeadingLevel::Detail, table));
    ViewSection {
        id: "integrity",
        title: "Verified data".to_owned(),
        blocks: [lead]
            .into_iter()
            .chain((1..).zip(&found.fault_maps).map(|(number, map)| fault_map(number, map, format)))
            .chain(tables)
            .chain(limits)
            .collect(),
    }
}

/// What a simulated device says that it did.
fn account(loss: &SimulatedLoss) -> String {
    let blocks = |number: u64| match number {
        1 => "1 block".to_owned(),
        _ => format!("{} blocks", show_count(real(number))),
    };
    let mut said = Vec::new();
    if loss.lost_writes > 0 {
        let writes = show_count(real(loss.lost_writes));
        said.push(format!("lost {writes} writes and with them {}", blocks(loss.lost_blocks)));
    }
    if loss.stale_blocks > 0 {
        said.push(format!("got old data of {} back with a member", blocks(loss.stale_blocks)));
    }
    if said.is_empty() {
        return "The simulated array reports no loss.".to_owned();
    }
    let hidden = match loss.rewritten_blocks {
        0 => "all of them could be detected".to_owned(),
        number => format!("{} of these were written again before they were read", blocks(number)),
    };
    format!("The simulated array {}; {hidden}.", said.join(" and "))
}

/// Where the faults of a target lie; together or scattered says much of how they came.
fn fault_map<'a>(number: u64, map: &FaultMap, format: Formatter) -> ViewBlock<'a> {
    let begin = |part: usize| map.first_byte + count_of(part) * map.part_bytes;
    let is_named = |part: usize| part.is_multiple_of(PARTS_A_NAME);
    let name = |part| if is_named(part) { show_bytes(real(begin(part))) } else { String::new() };
    let bar = |blocks: &u64| {
        let value = real(*blocks);
        (*blocks > 0).then_some(Bar { value, low: value, high: value, is_cut: true, n: 1 })
    };
    let bars = map.blocks.iter().map(bar).collect();
    let chart = Bars {
        title: format!("Faulty blocks of {} by their address", map.target),
        name: "faulty blocks".to_owned(),
        across_name: "address".to_owned(),
        unit: Unit::Count,
        names: (0..map.blocks.len()).map(name).collect(),
        kinds: vec![BarKind { name: "blocks".to_owned(), ink: Ink::Found, bars }],
    };
    let row = |(part, blocks): (usize, &u64)| {
        let end = begin(part + 1) - 1;
        (*blocks > 0).then(|| vec![format!("{} to {end}", begin(part)), show_count(real(*blocks))])
    };
    let caption = format!("Fault addresses of {}", map.target);
    let table = ViewTable::new(caption).words("bytes").numbers("faulty blocks");
    let table = table.with(map.blocks.iter().enumerate().filter_map(row));
    let table = ViewTable { terminal_rows_max: Some(FAULTS_IN_TERMINAL), ..table };
    let file = format!("fault-map-{number}");
    ViewBlock::Group(vec![
        ViewBlock::OnPage(vec![ViewBlock::Chart(chart.chart(&file, SceneSize::Full, format))]),
        ViewBlock::folded("Parts of the target with faults", vec![ViewBlock::Table(table)]),
    ])
}

/// What the sweep came to.
fn swept(found: &Integrity) -> String {
    let sweep = &found.sweep;
    let amount =
        format!("{} in {}", show_bytes(real(sweep.read_bytes)), show_length(sweep.elapsed_s));
    match (sweep.complete, sweep.blocks) {
        (true, _) => format!("The sweep after the load read {amount}."),
        (false, 0) => "There was no sweep after the load.".to_owned(),
        (false, _) => format!("The sweep after the load was stopped; it read {amount}."),
    }
}

fn kinds(found: &Integrity) -> ViewTable {
    let table = ViewTable::new("Faults by kind").words("fault").numbers("blocks").words("meaning");
    table.with(found.counts.iter().map(|count| {
        let (name, meaning) = (count.kind.name().to_owned(), count.kind.meaning().to_owned());
        vec![name, show_count(real(count.blocks)), meaning]
    }))
}

fn faults(found: &Integrity) -> ViewTable {
    let row = |fault: &Fault| {
        let (target, byte) = (fault.place.target.clone(), fault.place.offset_bytes.to_string());
        vec![fault.kind.name().to_owned(), target, byte, details(fault)]
    };
    let table = ViewTable::new("First faults").look(CellLook::Records);
    let table = table.words("fault").words("target").numbers("byte").words("finding");
    let table = table.with(found.faults.iter().map(row));
    ViewTable { terminal_rows_max: Some(FAULTS_IN_TERMINAL), ..table }
}

/// What the bytes of a block show.
fn details(fault: &Fault) -> String {
    let mut said = Vec::new();
    match (fault.found_generation, fault.missing_writes) {
        (Some(0), Some(_)) => {
            said.push(format!(
                "content from before the run instead of version {}",
                fault.expected_generation
            ));
        }
        (Some(version), Some(missing)) => said.push(format!(
            "version {version} instead of {}, {missing} writes missing",
            fault.expected_generation
        )),
        _ => {}
    }
    said.extend(fault.boundary_bytes.map(|byte| format!("changes at byte {byte} of the block")));
    said.extend(
        fault
            .belongs_to
            .as_ref()
            .map(|home| format!("belongs to byte {} of {}", home.offset_bytes, home.target)),
    );
    said.extend(fault.other_run.map(|run| format!("written by run number {run}")));
    if !fault.bits.is_empty() {
        let bits: Vec<String> = fault.bits.iter().map(ToString::to_string).collect();
        said.push(format!("bit {} of the block", bits.join(" and ")));
    }
    if let (true, Some(first), Some(last)) =
        (said.is_empty(), fault.first_wrong_bytes, fault.last_wrong_bytes)
    {
        said.push(format!("bytes {first} to {last} of the block differ"));
    }
    said.push(match fault.found_by {
        FoundBy::Read => "found by a read of the load".to_owned(),
        FoundBy::Sweep => "found by the sweep".to_owned(),
    });
    said.extend(fault.transient.then(|| "a second read was correct".to_owned()));
    said.join("; ")
}

fn coverage(found: &Integrity) -> ViewTable {
    let coverage = &found.coverage;
    let rows = [
        ("blocks that could be written", coverage.blocks),
        ("blocks written", coverage.written_blocks),
        ("of these, verified after their last write", coverage.verified_blocks),
        (
            "of these, with several versions allowed after a failed write or sync",
            coverage.unknown_blocks,
        ),
        ("writes with stamps", coverage.stamped_writes),
        ("blocks read and compared", coverage.checked_reads),
        ("blocks read that this run had not written", coverage.unwritten_reads),
        ("blocks read and not compared, as requested", coverage.skipped_reads),
        ("blocks read while they were being written", coverage.racing_reads),
        ("of these, with sectors of both versions", coverage.torn_racing_reads),
        (
            "writes moved to another address because theirs was being written",
            coverage.redrawn_writes,
        ),
    ];
    let rows = rows.into_iter().filter(|(_, number)| *number > 0);
    let row = |(name, number): (&str, u64)| vec![name.to_owned(), show_count(real(number))];
    ViewTable::of_numbers("Verification coverage", &["", "number"]).with(rows.map(row))
}

fn cost(found: &Integrity) -> ViewTable {
    let cost = &found.cost;
    if cost.table_bytes == 0 {
        // After a cut nothing was written, and nothing timed.
        return ViewTable::of_numbers("Verification overhead", &["", "mean"]);
    }
    let rows = [
        ("stamping a write", Unit::Ns.show(cost.stamp_mean_ns)),
        ("checking a read", Unit::Ns.show(cost.check_mean_ns)),
        ("share of the workers' time", Unit::Share.show(cost.worker_share)),
        ("memory for the versions of all blocks", show_bytes(real(cost.table_bytes))),
    ];
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    ViewTable::of_numbers("Verification overhead", &["", "mean"]).with(rows)
}
