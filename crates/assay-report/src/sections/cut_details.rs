//! What cuts were and what they showed: what each kind takes away, how old lost promises were,
//! where writes were torn, and how long flushes take by what was written before.

use crate::chart::bars::{Bar, BarKind, Bars};
use crate::chart::scene::{Ink, SceneSize};
use crate::format::Formatter;
use crate::phrases::size;
use crate::view::{ViewBlock, ViewTable};
use assay_model::durability::{CutKind, Durability, FlushTime, JudgedCut, LostAge};
use assay_model::number::{count_of, real};
use assay_model::units::show_count;
use assay_model::verdict::Unit;
use std::collections::BTreeMap;

/// Bytes of a sector: no device tears below.
const SECTOR_BYTES: u64 = 512;
/// Places of a torn block that are drawn one by one.
const PLACES_MAX: u64 = 32;

/// What each kind of cut takes away, and how often it was made; nothing where nothing was cut.
pub(super) fn reach(found: &Durability) -> ViewTable {
    let table = ViewTable::new("Components cut").words("cut").numbers("times");
    let table = table.words("page cache").words("cache of a virtual machine's host");
    let table = table.words("cache of the device or array");
    let row = |kind: CutKind| {
        let times = found.cuts.iter().filter(|cut| cut.kind == kind).count();
        let reached = match kind {
            CutKind::Process => ["stayed", "stayed", "stayed"],
            CutKind::System => ["cut", "stayed", "stayed"],
            CutKind::Power => ["cut", "cut", "cut, if it lost power"],
        };
        let times = (times > 0).then(|| show_count(real(count_of(times))))?;
        let cells = [kind.name().to_owned(), times].into_iter();
        Some(cells.chain(reached.map(str::to_owned)).collect())
    };
    let kinds = [CutKind::Process, CutKind::System, CutKind::Power];
    table.with(kinds.into_iter().filter_map(row))
}

/// How old lost promises were when the cut came.
pub(super) fn ages<'a>(found: &Durability, format: Formatter) -> Vec<ViewBlock<'a>> {
    let Some(first) = found.cuts.iter().find(|cut| !cut.lost_ages.is_empty()) else {
        return Vec::new();
    };
    let sum = |place: usize| -> u64 {
        found.cuts.iter().filter_map(|cut| cut.lost_ages.get(place)).map(|age| age.blocks).sum()
    };
    let names = first.lost_ages.iter().map(age_name);
    let counts: Vec<(String, u64)> = names.enumerate().map(|(at, name)| (name, sum(at))).collect();
    let title = "Lost writes by time from acknowledgement to the cut";
    counted(title, "at most, before the last acknowledgement", "lost-before-cut", counts, format)
}

fn age_name(age: &LostAge) -> String {
    match age.age_max_s {
        None => "more".to_owned(),
        Some(most_s) if most_s < 1.0 => format!("{:.0} ms", most_s * 1e3),
        Some(most_s) => format!("{most_s:.0} s"),
    }
}

/// Where torn writes change from one version to another.
pub(super) fn tears<'a>(found: &Durability, format: Formatter) -> Vec<ViewBlock<'a>> {
    let mut places: BTreeMap<u64, u64> = BTreeMap::new();
    for tear in found.cuts.iter().flat_map(|cut: &JudgedCut| &cut.tears) {
        *places.entry(tear.boundary_bytes).or_default() += tear.blocks;
    }
    let Some(last) = places.keys().next_back().copied() else { return Vec::new() };
    let step = if last / SECTOR_BYTES <= PLACES_MAX { SECTOR_BYTES } else { last / PLACES_MAX };
    let count = |at: u64| -> u64 {
        let part = places.range((at - 1) * step + 1..=at * step);
        part.map(|(_, blocks)| *blocks).sum()
    };
    let counts = (1..=last.div_ceil(step)).map(|at| (kibibytes(at * step), count(at)));
    let title = "Torn writes by position of the version change in the block";
    counted(title, "KiB into the block", "torn-at", counts.collect(), format)
}

/// A place in KiB with as few digits as say it.
fn kibibytes(bytes: u64) -> String {
    let whole = real(bytes) / 1024.0;
    if bytes.is_multiple_of(1024) { format!("{whole:.0}") } else { format!("{whole:.1}") }
}

/// Numbers by name as a picture and as a table of those that are not zero.
fn counted<'a>(
    title: &str,
    across: &str,
    file: &str,
    counts: Vec<(String, u64)>,
    format: Formatter,
) -> Vec<ViewBlock<'a>> {
    let row = |(name, blocks): &(String, u64)| {
        (*blocks > 0).then(|| vec![name.clone(), show_count(real(*blocks))])
    };
    let table =
        ViewTable::of_numbers(title, &[across, "blocks"]).with(counts.iter().filter_map(row));
    let bar = |blocks: u64| Bar { is_cut: true, ..certain(real(blocks)) };
    let bars = counts.iter().map(|(_, blocks)| Some(bar(*blocks))).collect();
    let chart = Bars {
        title: title.to_owned(),
        name: "blocks".to_owned(),
        across_name: across.to_owned(),
        unit: Unit::Count,
        names: counts.into_iter().map(|(name, _)| name).collect(),
        kinds: vec![BarKind { name: "blocks".to_owned(), ink: Ink::Write, bars }],
    };
    vec![
        ViewBlock::OnPage(vec![ViewBlock::Chart(chart.chart(file, SceneSize::Full, format))]),
        ViewBlock::captioned(crate::view::HeadingLevel::Detail, table),
    ]
}

/// A value that has no interval.
const fn certain(value: f64) -> Bar {
    Bar { value, low: value, high: value, is_cut: false, n: 1 }
}

/// How long flushes take by what was written before.
pub(super) fn flushes<'a>(found: &Durability, format: Formatter) -> Option<ViewBlock<'a>> {
    let timing = found.timing.as_ref().filter(|timing| !timing.flushes.is_empty())?;
    let name = |time: &FlushTime| match time.dirty_bytes {
        0 => "nothing".to_owned(),
        bytes => size(bytes),
    };
    let bar = |time: &FlushTime| {
        Some(Bar { low: time.low_ns, high: time.high_ns, ..certain(time.median_ns) })
    };
    let bars = timing.flushes.iter().map(bar).collect();
    let chart = Bars {
        title: "Flush time by bytes written before it".to_owned(),
        name: "median time".to_owned(),
        across_name: "written since the previous flush".to_owned(),
        unit: Unit::Ns,
        names: timing.flushes.iter().map(name).collect(),
        kinds: vec![BarKind { name: "flush".to_owned(), ink: Ink::Sync, bars }],
    };
    Some(ViewBlock::OnPage(vec![ViewBlock::Chart(chart.chart(
        "flush-times",
        SceneSize::Full,
        format,
    ))]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{GivenReport, ReportOptions};
    use assay_model::durability::{CutEvidence, TearCount};

    fn found(cuts: Vec<JudgedCut>) -> Durability {
        Durability { cuts, ..Durability::of(CutEvidence::PowerCuts) }
    }

    fn rows(blocks: &[ViewBlock<'_>]) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for block in blocks {
            match block {
                ViewBlock::Table(table) => rows.extend(table.plain().into_iter().skip(1)),
                other => rows.extend(self::rows(other.inner())),
            }
        }
        rows
    }

    #[test]
    fn tears_and_ages_of_all_cuts_are_added_up() {
        let tear = |boundary_bytes, blocks| TearCount { boundary_bytes, blocks };
        let age = |age_max_s, blocks| LostAge { age_max_s, blocks };
        let cut =
            |tears, lost_ages| JudgedCut { tears, lost_ages, ..JudgedCut::of(CutKind::Power, 1) };
        let found = found(vec![
            cut(vec![tear(512, 1), tear(4096, 2)], vec![age(Some(0.01), 3), age(None, 0)]),
            cut(vec![tear(4096, 5)], vec![age(Some(0.01), 1), age(None, 4)]),
        ]);
        let format = Formatter::new(&GivenReport::default(), ReportOptions { relative: false });
        assert_eq!(rows(&tears(&found, format)), [["0.5", "1"], ["4", "7"]]);
        assert_eq!(rows(&ages(&found, format)), [["10 ms", "4"], ["more", "4"]]);
        let reached = ["power", "2", "cut", "cut", "cut, if it lost power"];
        assert_eq!(reach(&found).plain()[1..], [reached]);
    }

    #[test]
    fn what_was_not_seen_is_not_shown() {
        let found = found(Vec::new());
        let format = Formatter::new(&GivenReport::default(), ReportOptions { relative: false });
        assert!(tears(&found, format).is_empty() && ages(&found, format).is_empty());
        assert!(reach(&found).is_empty() && flushes(&found, format).is_none());
    }
}
