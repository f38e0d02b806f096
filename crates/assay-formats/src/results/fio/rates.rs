//! fio's logs of rates and of mean latencies: a row an operation, because no histogram can be made of them.

use super::super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken};
use super::super::table;
use super::line::{Line, LogKind, parse_line};
use assay_model::Result;
use assay_model::measurement::Operation;
use assay_model::number::{index_of, real, seconds};
use assay_model::study::{FactorValue, Setting};

/// Longest time of a log of single I/Os: a week.
const SECONDS_MAX: u64 = 7 * 86_400;

/// Reads a log whose lines are means over a time, or rates.
pub(super) fn read(text: &str, name: &str, kind: LogKind) -> Result<ImportedResult> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let line = parse_line(line);
        lines.push(line.ok_or_else(|| broken("fio", &format!("line {number} of the log")))?);
    }
    let elapsed_ms = lines.iter().map(|line| line.at_ms).max().unwrap_or(0);
    if lines.is_empty() || elapsed_ms / 1000 > SECONDS_MAX {
        return Err(broken("fio", "the log is empty, or longer than a week"));
    }
    let mut rows = Vec::new();
    for operation in [Operation::Read, Operation::Write] {
        let of: Vec<&Line> = lines.iter().filter(|line| line.operation == operation).collect();
        let has_others = of.len() < lines.len();
        rows.extend(row(&of, (operation, has_others), kind, name, elapsed_ms));
    }
    Ok(ImportedResult {
        program: "fio".to_owned(),
        name: name.to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Quantiles, Lack::Load, Lack::Environment, Lack::Date],
    })
}

/// The row of an operation; none where it did not happen.
fn row(
    lines: &[&Line],
    (operation, has_others): (Operation, bool),
    kind: LogKind,
    name: &str,
    elapsed_ms: u64,
) -> Option<ImportedRow> {
    let quantity = match (kind, has_others) {
        // The only operation is all of them.
        (LogKind::Throughput | LogKind::Iops, false) => kind.quantity().to_owned(),
        _ => format!("{}.{}", operation.name(), kind.quantity()),
    };
    let setting = |factor: &str, text: &str| Setting {
        factor: factor.to_owned(),
        value: FactorValue::Text(text.to_owned()),
    };
    let measure = table::mean(&quantity, &values(lines, kind, elapsed_ms))?;
    Some(ImportedRow {
        settings: vec![setting("run", name), setting("operation", operation.name())],
        elapsed_s: Some(seconds(elapsed_ms * 1_000_000)),
        measures: vec![measure],
    })
}

/// The values in base units: those of the lines where they are means, else what each second holds of single I/Os, because a
/// mean of the rates of single I/Os is not a rate.
fn values(lines: &[&Line], kind: LogKind, elapsed_ms: u64) -> Vec<f64> {
    let is_rate = matches!(kind, LogKind::Throughput | LogKind::Iops);
    let single = lines.iter().all(|line| line.bytes > 0);
    if lines.is_empty() || !is_rate || !single {
        return lines.iter().map(|line| real(line.value) * kind.unit()).collect();
    }
    // The last second is not over.
    let whole = (elapsed_ms / 1000).max(1);
    let mut sums = vec![0.0; index_of(whole)];
    for line in lines {
        if let Some(sum) = sums.get_mut(index_of(line.at_ms / 1000)) {
            *sum += if kind == LogKind::Iops { 1.0 } else { real(line.bytes) };
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, name: &str) -> Vec<ImportedRow> {
        let found = read(text, name, LogKind::of(name).unwrap()).unwrap();
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        assert!(found.lacks.contains(&Lack::Quantiles));
        rows
    }

    #[test]
    fn means_over_a_time_stay_means() {
        let found =
            rows("500, 1000, 0, 0, 0\n1000, 3000, 0, 0, 0\n1000, 10, 1, 0, 0\n", "x_bw.1.log");
        assert_eq!(found[0].measures[0].quantity, "read.throughput");
        assert!((found[0].measures[0].estimate.value - 2000.0 * 1024.0).abs() < 1e-6);
        assert!((found[1].measures[0].estimate.value - 10_240.0).abs() < 1e-6);
        let times = rows("500, 2000, 0, 0, 0\n1000, 4000, 0, 0, 0\n", "x_clat.1.log");
        assert_eq!(times[0].measures[0].quantity, "read.response_time.mean");
        assert!((times[0].measures[0].estimate.value - 3000.0).abs() < 1e-9);
    }

    #[test]
    fn single_ios_are_counted_by_second() {
        let text = "100, 9999, 0, 4096\n900, 1, 0, 4096\n1500, 7, 0, 8192\n2000, 5, 0, 4096\n";
        let throughput = rows(text, "x_bw.1.log");
        assert!((throughput[0].measures[0].estimate.value - 8192.0).abs() < 1e-9);
        let iops = rows(text, "job_iops.2.log");
        assert!((iops[0].measures[0].estimate.value - 1.5).abs() < 1e-9);
        assert_eq!(iops[0].elapsed_s, Some(2.0));
    }

    #[test]
    fn a_log_that_is_cut_off_is_refused() {
        let error = read("500, 1000, 0, 0\n100, 2", "x_bw.1.log", LogKind::Throughput).unwrap_err();
        assert!(error.message().contains("line 2"), "{error}");
        assert_eq!(LogKind::of("results.log"), None);
    }
}
