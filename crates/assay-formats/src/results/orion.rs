//! ORION's summary and its csv files: one number a data point.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use assay_model::Result;
use assay_model::study::{FactorValue, Setting};
use assay_model::verdict::NamedEstimate;

/// Data points of a matrix at most.
const POINTS_MAX: usize = 100_000;

/// Reads a summary, or what ORION printed: its three best points.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let version = text.lines().find_map(|line| {
        let line = line.trim();
        line.strip_prefix("ORION VERSION ")
            .or_else(|| line.split_once("-- Version ").map(|(_, version)| version))
    });
    let mut rows: Vec<ImportedRow> = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some((what, rest)) = line.split_once('=') else { continue };
        let Some((value, point)) = rest.split_once('@') else { continue };
        let word = value.split_whitespace().next().unwrap_or_default();
        let Ok(number) = word.parse::<f64>() else { continue };
        let measure = match what {
            "Maximum Large MBPS" => total("throughput", number * 1e6),
            "Maximum Small IOPS" => total("iops", number),
            // Up to 11.1 there is no unit: milliseconds. Later it is microseconds.
            "Minimum Small Latency" => {
                let unit_ns = if value.contains("usecs") { 1e3 } else { 1e6 };
                total("read.service_time.mean", number * unit_ns)
            }
            _ => continue,
        };
        add(&mut rows, point_settings(point), measure);
    }
    if rows.is_empty() {
        return Err(broken(
            "ORION",
            "it has none of the lines Maximum Small IOPS, Maximum Large MBPS, Minimum Small Latency",
        ));
    }
    Ok(result(version.unwrap_or_default(), "summary", rows))
}

fn add(rows: &mut Vec<ImportedRow>, settings: Vec<Setting>, measure: NamedEstimate) {
    match rows.iter_mut().find(|row| row.settings == settings) {
        Some(row) => row.measures.push(measure),
        None => rows.push(ImportedRow { settings, elapsed_s: 60.0, measures: vec![measure] }),
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
        name if name.contains("_lat") => ("read.service_time.mean", 1e3),
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
                elapsed_s: 60.0,
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
    fn a_matrix_has_a_row_a_point() {
        let text = "Large/Small,      1,      2\n      0,    100,    200\n      1,     90,\n";
        let ImportedContent::Rows(rows) = read_matrix(text, "x_iops.csv").unwrap().content else {
            panic!()
        };
        assert_eq!(rows.len(), 3);
        assert!(read_matrix(text, "x.csv").is_err());
    }
}
