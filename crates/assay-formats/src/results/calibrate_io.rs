//! What `DBMS_RESOURCE_MANAGER.CALIBRATE_IO` of a database prints: the most IOPS and throughput,
//! and the mean time of a read.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use assay_model::Result;
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::NamedEstimate;

/// Whether a text holds its lines.
pub fn is_output(text: &str) -> bool {
    ["max_iops", "max_mbps"].iter().all(|name| text.lines().any(|line| value(line, name).is_some()))
}

/// Reads every calibration in what was printed; one that is printed twice is one. The times stand
/// before or behind the throughput.
pub fn read(text: &str) -> Result<ImportedResult> {
    let mut rows: Vec<ImportedRow> = Vec::new();
    let mut measures: Vec<NamedEstimate> = Vec::new();
    for line in text.lines() {
        if value(line, "max_iops").is_some() {
            keep(&mut rows, std::mem::take(&mut measures));
        }
        measures.extend(measure(line));
    }
    keep(&mut rows, measures);
    if rows.is_empty() {
        return Err(broken("CALIBRATE_IO", "it has no max_iops that is followed by max_mbps"));
    }
    Ok(ImportedResult {
        program: "CALIBRATE_IO".to_owned(),
        name: "output".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Intervals, Lack::Quantiles, Lack::Load, Lack::Environment, Lack::Date],
    })
}

fn keep(rows: &mut Vec<ImportedRow>, measures: Vec<NamedEstimate>) {
    let of = |measures: &[NamedEstimate], quantity: &str| {
        let found = measures.iter().find(|one| one.quantity == quantity);
        found.map(|one| one.estimate.value)
    };
    // What is printed again is rounded to whole milliseconds.
    let key = |measures: &[NamedEstimate]| {
        let time = of(measures, "read.service_time.mean").map(|time_ns| (time_ns / 1e6).round());
        (of(measures, "iops"), of(measures, "throughput"), time)
    };
    let is_known = of(&measures, "iops").is_some() && of(&measures, "throughput").is_some();
    if is_known && !rows.iter().any(|row| key(&row.measures) == key(&measures)) {
        let number = assay_model::number::count_of(rows.len() + 1);
        let settings =
            vec![StudySetting { factor: "run".to_owned(), value: FactorValue::Whole(number) }];
        rows.push(ImportedRow { settings, measures, ..ImportedRow::default() });
    }
}

/// `latency = 10.868`, `Actual Latency: 11`: IOPS, milliseconds, megabytes per second.
fn measure(line: &str) -> Option<NamedEstimate> {
    [
        ("max_iops", "iops", 1.0),
        ("latency", "read.service_time.mean", 1e6),
        ("actual_latency", "read.service_time.mean", 1e6),
        ("max_mbps", "throughput", 1e6),
        ("max_pmbps", "process.throughput", 1e6),
    ]
    .into_iter()
    .find_map(|(name, quantity, unit)| Some(total(quantity, value(line, name)? * unit)))
}

fn value(line: &str, name: &str) -> Option<f64> {
    let (key, value) = line.split_once(['=', ':'])?;
    if !key.trim().replace(' ', "_").eq_ignore_ascii_case(name) {
        return None;
    }
    value.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_that_is_printed_twice_is_one_row() {
        let text = "max_iops = 24002\nlatency  = 10.868\nmax_mbps = 175\n\nmax_iops = \
                    24002\nlatency = 11\nmax_mbps = 175\n";
        let other = "MAX_IOPS = 5\nlatency = 1\nmax_mbps = 2\n";
        let ImportedContent::Rows(rows) = read(&format!("{text}{other}")).unwrap().content else {
            panic!()
        };
        assert_eq!(rows.len(), 2);
        let values: Vec<f64> = rows[0].measures.iter().map(|one| one.estimate.value).collect();
        assert_eq!(values, [24002.0, 10_868_000.0, 175e6]);
        assert!(is_output(text) && !is_output("max_iops = 5\n"));
        assert!(read("max_mbps = 5\nmax_iops = 1\n").is_err());
    }

    /// The listings of calibrations that vary the number of disks or the latency (TMS 2010).
    #[test]
    fn equal_rates_at_other_latencies_are_rows_of_their_own() {
        let one = |latency: u32| {
            format!("Results follow:\nMax IOPS: 850\nMax MBPS:  102\nActual Latency:  {latency}\n")
        };
        let text = one(10) + &one(15) + &one(20);
        assert!(is_output(&text));
        let ImportedContent::Rows(rows) = read(&text).unwrap().content else { panic!() };
        let times: Vec<f64> = rows.iter().map(|row| row.measures[2].estimate.value).collect();
        assert_eq!(times, [10e6, 15e6, 20e6]);
    }
}
