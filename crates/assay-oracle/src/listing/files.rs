//! I/O by file since instance start: listings of `v$filestat`, `v$tempstat` and `v$file_histogram`.

use super::row::{ListingRow, OracleListing};
use super::spool::{SpoolRow, SpoolTable, parsed};
use assay_model::study::FactorValue;

const MILLISECOND_NS: f64 = 1e6;

fn file_row(row: &SpoolRow<'_>) -> Option<ListingRow> {
    let name = row.text(&["file name", "name", "file_name"]);
    let is_file = row.number(&["file", "file#"]).is_some() && !name.is_empty();
    is_file.then(|| ListingRow::of("file", FactorValue::Text(name.to_owned())))
}

/// Reads, writes and blocks by file (`fileio.sql`).
pub(super) fn counts(tables: &[SpoolTable]) -> Option<OracleListing> {
    let table =
        tables.iter().find(|table| table.has(&["physical reads", "physical block reads"]))?;
    let rows = table.rows().filter_map(|row| {
        let mut file = file_row(&row)?;
        let number = |name: &str| row.number(&[name]);
        let (reads, writes) = (number("physical reads"), number("physical writes"));
        let per = |blocks: &str, ios: Option<f64>| {
            number(blocks).zip(ios).filter(|(_, ios)| *ios > 0.0).map(|(blocks, ios)| blocks / ios)
        };
        file.measure("reads", reads);
        file.measure("writes", writes);
        file.measure("blocks_per_read", per("physical block reads", reads));
        file.measure("blocks_per_write", per("physical block writes", writes));
        (reads.is_some() || writes.is_some()).then_some(file)
    });
    let mut rows: Vec<ListingRow> = rows.collect();
    shares(&mut rows);
    Some(OracleListing { source: "fileio.sql", rows, has_rates: false })
}

/// Each row's part of all I/Os, recomputed: the printed one has three decimals.
fn shares(rows: &mut [ListingRow]) {
    let ios = |row: &ListingRow| -> f64 {
        let counts =
            row.measures.iter().filter(|one| matches!(one.quantity.as_str(), "reads" | "writes"));
        counts.map(|one| one.estimate.value).fold(0.0, |sum, value| sum + value)
    };
    let all: f64 = rows.iter().map(ios).sum();
    for row in rows.iter_mut().filter(|_| all > 0.0) {
        let share = ios(row) / all;
        row.measure("share", Some(share));
    }
}

/// Reads, writes and their mean times by file, the times in milliseconds.
pub(super) fn times(tables: &[SpoolTable]) -> Option<OracleListing> {
    let table = tables.iter().find(|table| table.has(&["avg. read time", "avg. write time"]))?;
    let rows = table.rows().filter_map(|row| {
        let mut file = file_row(&row)?;
        let time = |name: &str| row.number(&[name]).map(|time| time * MILLISECOND_NS);
        let reads = row.number(&["phys. reads", "phyrds"]);
        file.measure("reads", reads);
        file.measure("writes", row.number(&["phys. writes", "phywrts"]));
        // The query divides by one where there was no I/O.
        file.measure(
            "read.service_time.mean",
            time("avg. read time").filter(|_| reads != Some(0.0)),
        );
        let writes = row.number(&["phys. writes", "phywrts"]);
        file.measure(
            "write.service_time.mean",
            time("avg. write time").filter(|_| writes != Some(0.0)),
        );
        reads.map(|_| file)
    });
    Some(OracleListing { source: "io_time.sql", rows: rows.collect(), has_rates: false })
}

/// Single-block reads by how long they took: as the view has them, or with ranges written out.
pub(super) fn histogram(tables: &[SpoolTable]) -> Option<OracleListing> {
    let view = ["singleblkrdtim_milli", "singleblkrds"];
    let table =
        tables.iter().find(|table| table.has(&["read time (ms)", "reads"]) || table.has(&view))?;
    let mut buckets: Vec<(String, f64)> = Vec::new();
    for row in table.rows() {
        let label = row.text(&["read time (ms)", view[0]]);
        // The view says the upper end of a range alone; its files are summed. Stars draw the bar.
        let range = range(label);
        let reads = row.text(&["reads", view[1]]).split([' ', '*']).next().and_then(parsed);
        let (Some(range), Some(reads)) = (range, reads) else { continue };
        match buckets.iter_mut().find(|(known, _)| *known == range) {
            Some((_, sum)) => *sum += reads,
            None => buckets.push((range, reads)),
        }
    }
    let all: f64 = buckets.iter().map(|(_, reads)| reads).sum();
    let rows = buckets.into_iter().map(|(range, reads)| {
        let mut row = ListingRow::of("read time", FactorValue::Text(range));
        row.measure("reads", Some(reads));
        row.measure("share", (all > 0.0).then(|| reads / all));
        row
    });
    Some(OracleListing { source: "v$file_histogram", rows: rows.collect(), has_rates: false })
}

/// `<1`, `1<2`, and the upper end alone, as `16 ms to 32 ms`.
fn range(label: &str) -> Option<String> {
    let (low, high) = if let Some((low, high)) = label.split_once('<') {
        (if low.trim().is_empty() { 0.0 } else { parsed(low)? }, parsed(high)?)
    } else {
        let high = parsed(label)?;
        (if high > 1.0 { high / 2.0 } else { 0.0 }, high)
    };
    (low < high).then(|| format!("{low} ms to {high} ms"))
}
