//! ORION's summary and its csv files: one number a data point.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use assay_model::Result;
use assay_model::study::{FactorValue, Setting};
use assay_model::verdict::NamedEstimate;

const READ_TIME: &str = "read.service_time.mean";
const WRITE_TIME: &str = "write.service_time.mean";
/// ORION's own time of a data point, s.
const POINT_S: f64 = 60.0;
/// Data points of a matrix at most.
const POINTS_MAX: usize = 100_000;

/// Reads a summary, or what ORION printed: its three best points.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let lines = || text.lines().map(str::trim);
    let version = lines().find_map(|line| {
        line.strip_prefix("ORION VERSION ")
            .or_else(|| line.split_once("-- Version ").map(|(_, version)| version))
    });
    let elapsed_s = after(text, "Duration for each Data Point:").or(Some(POINT_S));
    let mut rows: Vec<ImportedRow> = Vec::new();
    for (measure, point) in lines().filter_map(best).chain(lines().filter_map(mean_time)) {
        add(&mut rows, point_settings(point), measure, elapsed_s);
    }
    if rows.is_empty() {
        return Err(broken(
            "ORION",
            "it has none of the lines Maximum Small IOPS, Maximum Large MBPS, Minimum Small Latency: a run that was not finished has none",
        ));
    }
    let mut found = result(version.unwrap_or_default(), "summary", rows);
    let is_mixed = after(text, "Write:").is_some_and(|percent| percent > 0.0);
    if is_mixed && lines().all(|line| mean_time(line).is_none()) {
        found.lacks.push(Lack::Operations);
    }
    Ok(found)
}

/// The number behind a word.
fn after(text: &str, word: &str) -> Option<f64> {
    let (_, rest) = text.split_once(word)?;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(|sign| sign.is_ascii_digit() || *sign == '.')
        .collect();
    digits.parse().ok()
}

/// One of the best points, `Maximum Small IOPS=900 @ Small=5 and Large=0`.
fn best(line: &str) -> Option<(NamedEstimate, &str)> {
    let (what, rest) = line.split_once('=')?;
    let (value, point) = rest.split_once('@')?;
    let number = value.split_whitespace().next()?.parse::<f64>().ok()?;
    let measure = match what {
        "Maximum Large MBPS" => total("throughput", number * 1e6),
        "Maximum Small IOPS" => total("iops", number),
        // Up to 11.1 there is no unit: milliseconds. Later it is microseconds.
        "Minimum Small Latency" => {
            let unit_ns = if value.contains("usecs") { 1e3 } else { 1e6 };
            total(READ_TIME, number * unit_ns)
        }
        _ => return None,
    };
    Some((measure, point))
}

/// From 12.2 each best point of small I/Os has its times, `Small Write Latency: avg=392.499 us, min=… @ Small=5 and Large=0`.
fn mean_time(line: &str) -> Option<(NamedEstimate, &str)> {
    let (times, point) = line.split_once('@')?;
    let quantity = match times.split_once(':')?.0 {
        "Small Read Latency" => READ_TIME,
        "Small Write Latency" => WRITE_TIME,
        _ => return None,
    };
    Some((total(quantity, after(times, "avg=")? * 1e3), point))
}

/// Adds a number to its point; a time of reads alone takes the place of the best one, which is of reads and writes.
fn add(
    rows: &mut Vec<ImportedRow>,
    settings: Vec<Setting>,
    measure: NamedEstimate,
    elapsed_s: Option<f64>,
) {
    let Some(row) = rows.iter_mut().find(|row| row.settings == settings) else {
        rows.push(ImportedRow { settings, elapsed_s, measures: vec![measure] });
        return;
    };
    match row.measures.iter_mut().find(|known| known.quantity == measure.quantity) {
        Some(known) => *known = measure,
        None => row.measures.push(measure),
    }
}

/// `Small=5 and Large=0`.
fn point_settings(text: &str) -> Vec<Setting> {
    let number = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    settings(number("Small=").unwrap_or(0), number("Large=").unwrap_or(0))
}

fn settings(small: u64, large: u64) -> Vec<Setting> {
    let one = |factor: &str, value| Setting {
        factor: factor.to_owned(),
        value: FactorValue::Whole(value),
    };
    vec![one("large_outstanding", large), one("queue_depth", small)]
}

/// Reads one of the csv files: rows are loads of large I/Os, columns loads of small ones; its name says what it holds.
pub fn read_matrix(text: &str, name: &str) -> Result<ImportedResult> {
    let (quantity, unit) = match name {
        name if name.contains("_iops") => ("iops", 1.0),
        name if name.contains("_mbps") => ("throughput", 1e6),
        name if name.contains("_lat") => (READ_TIME, 1e3),
        _ => {
            return Err(broken(
                "ORION",
                "the name of the file says not what it holds: _iops, _mbps or _lat",
            ));
        }
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let numbers = |line: &str| -> Vec<Option<f64>> {
        line.split(',').skip(1).map(|word| word.trim().parse::<f64>().ok()).collect()
    };
    let columns = numbers(lines.next().unwrap_or_default());
    let mut rows = Vec::new();
    for line in lines {
        let large = line.split(',').next().and_then(|word| word.trim().parse::<u64>().ok());
        let large =
            large.ok_or_else(|| broken("ORION", "a row without its number of large I/Os"))?;
        for (small, value) in columns.iter().zip(numbers(line)) {
            let (Some(small), Some(value)) = (small, value) else { continue };
            let settings = settings(assay_model::number::count(*small), large);
            rows.push(ImportedRow {
                settings,
                elapsed_s: Some(POINT_S),
                measures: vec![total(quantity, value * unit)],
            });
        }
        if rows.len() > POINTS_MAX {
            return Err(broken("ORION", "more than 100000 data points"));
        }
    }
    if rows.is_empty() {
        return Err(broken("ORION", "it has no data points"));
    }
    Ok(result("", name, rows))
}

fn result(version: &str, name: &str, rows: Vec<ImportedRow>) -> ImportedResult {
    ImportedResult {
        program: format!("ORION {version}").trim_end().to_owned(),
        name: name.to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Intervals, Lack::Quantiles, Lack::Environment, Lack::Date],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_points_of_a_summary_are_rows() {
        let text = "ORION VERSION 11.1.0.7.0\nMaximum Large MBPS=10.50 @ Small=0 and Large=2\nMaximum Small IOPS=900 @ Small=5 and Large=0\nMinimum Small Latency=0.26 @ Small=5 and Large=0\n";
        let found = read_summary(text).unwrap();
        let ImportedContent::Rows(rows) = &found.content else { panic!() };
        assert_eq!(
            (rows.len(), rows[1].measures.len(), found.program.as_str()),
            (2, 2, "ORION 11.1.0.7.0")
        );
        assert!((rows[1].measures[1].estimate.value - 260_000.0).abs() < 1e-6);
        assert!(read_summary("Maximum Large MBPS=").is_err());
    }

    #[test]
    fn times_of_reads_and_writes_are_told_apart_where_they_are_printed() {
        let best = "Write: 50%\nDuration for each Data Point: 30 seconds\nMinimum Small Latency=4.4 @ Small=4 and Large=0\n";
        let old = read_summary(best).unwrap();
        assert!(old.lacks.contains(&Lack::Operations));
        let times = "Small Read Latency: avg=4455.933 us, min=1.0 us @ Small=4 and Large=0\nSmall Write Latency: avg=4363.848 us, min=1.0 us @ Small=4 and Large=0\n";
        let found = read_summary(&format!("{best}{times}")).unwrap();
        assert!(!found.lacks.contains(&Lack::Operations));
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        let values: Vec<(&str, f64)> = rows[0]
            .measures
            .iter()
            .map(|one| (one.quantity.as_str(), one.estimate.value.round()))
            .collect();
        assert_eq!(values, [(READ_TIME, 4_455_933.0), (WRITE_TIME, 4_363_848.0)]);
        assert!((rows.len(), rows[0].elapsed_s) == (1, Some(30.0)), "{rows:?}");
    }

    #[test]
    fn a_matrix_has_a_row_a_point() {
        let text = "Large/Small,      1,      2\n      0,    100,    200\n      1,     90,\n";
        let ImportedContent::Rows(rows) = read_matrix(text, "x_iops.csv").unwrap().content else {
            panic!()
        };
        assert_eq!(rows.len(), 3);
        assert!(read_matrix(text, "x.csv").is_err());
    }
}
