//! pgbench's output, and its log of transactions.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::table;
use assay_model::Result;
use assay_model::histogram::{Histogram, Precision};
use assay_model::number::real;
use assay_model::study::{FactorValue, Setting};
use std::collections::BTreeMap;

/// Transactions a second, and their times.
const RATE: &str = "transactions";
const TIME: &str = "transaction.response_time";
/// Seconds of a log at most: a week.
const SECONDS_MAX: u64 = 7 * 86_400;

/// Reads what pgbench printed.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let value = |name: &str| {
        let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    // Since version 14 one line has the rate, before it there were two.
    let rate = value("tps = ").ok_or_else(|| broken("pgbench", "it has no line tps ="))?;
    let mut measures = vec![total(RATE, rate)];
    measures.extend(
        value("latency average = ").map(|time_ms| total(&format!("{TIME}.mean"), time_ms * 1e6)),
    );
    let clients = value("number of clients: ").map_or(1, assay_model::number::count);
    let settings =
        vec![Setting { factor: "sessions".to_owned(), value: FactorValue::Whole(clients) }];
    let row = ImportedRow { settings, elapsed_s: value("duration: "), measures };
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("pgbench ("))
        .and_then(|rest| rest.split(')').next());
    Ok(result(
        version,
        vec![row],
        vec![Lack::Intervals, Lack::Quantiles, Lack::Load, Lack::Environment, Lack::Date],
    ))
}

/// One transaction of a log: client, number, time in microseconds, script, second, microsecond.
fn parse(line: &str) -> Option<(u64, u64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if !(6..=8).contains(&fields.len()) {
        return None;
    }
    let number = |index: usize| fields[index].parse::<u64>().ok();
    number(0)?;
    number(1)?;
    number(3)?;
    number(5).filter(|microsecond| *microsecond < 1_000_000)?;
    let second = number(4).filter(|second| *second > 1_000_000_000)?;
    // Failed and skipped transactions have a word instead of a time.
    Some((number(2)?, second))
}

/// Whether a line is one of a log.
pub fn is_log(line: &str) -> bool {
    parse(line).is_some()
}

/// Reads a log of transactions: rates a second, and times with exact quantiles.
pub fn read_log(text: &str) -> Result<ImportedResult> {
    let mut histogram = Histogram::new(Precision::Fine);
    let mut seconds: BTreeMap<u64, u64> = BTreeMap::new();
    let mut clients = 0;
    for (number, line) in (1..).zip(text.lines()) {
        if line.contains("skipped") || line.contains("failed") || line.trim().is_empty() {
            continue;
        }
        let (time_us, second) = parse(line)
            .ok_or_else(|| broken("pgbench", &format!("line {number} of the log is cut off")))?;
        let client =
            line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        clients = clients.max(client.saturating_add(1));
        histogram.record(time_us.saturating_mul(1000));
        *seconds.entry(second).or_default() += 1;
    }
    let (Some(first), Some(last)) =
        (seconds.keys().next().copied(), seconds.keys().last().copied())
    else {
        return Err(broken("pgbench", "the log has no transactions"));
    };
    if last - first > SECONDS_MAX {
        return Err(broken("pgbench", "the log is longer than a week"));
    }
    // The first and the last second are cut.
    let whole = (first + 1..last).map(|second| real(seconds.get(&second).copied().unwrap_or(0)));
    let whole: Vec<f64> = whole.collect();
    let elapsed_s = real(last - first + 1);
    let mut measures = vec![
        table::mean(RATE, &whole).unwrap_or_else(|| total(RATE, real(histogram.ios()) / elapsed_s)),
    ];
    measures.push(total(&format!("{TIME}.mean"), histogram.mean_ns()));
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        measures.push(total(&format!("{TIME}.q{quantile}"), real(histogram.quantile_ns(quantile))));
    }
    let settings =
        vec![Setting { factor: "sessions".to_owned(), value: FactorValue::Whole(clients) }];
    let row = ImportedRow { settings, elapsed_s: Some(elapsed_s), measures };
    Ok(result(None, vec![row], vec![Lack::Load, Lack::Environment]))
}

fn result(version: Option<&str>, rows: Vec<ImportedRow>, lacks: Vec<Lack>) -> ImportedResult {
    ImportedResult {
        program: format!("pgbench {}", version.unwrap_or_default()).trim_end().to_owned(),
        name: "pgbench".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_log_are_rows() {
        let text = "pgbench (18.6)\ntransaction type: <builtin: select only>\nnumber of clients: 8\nduration: 20 s\nlatency average = 0.305 ms\ntps = 26216.5 (without initial connection time)\n";
        let found = read_summary(text).unwrap();
        let ImportedContent::Rows(rows) = &found.content else { panic!() };
        assert_eq!((found.program.as_str(), rows[0].measures.len()), ("pgbench 18.6", 2));
        let log = "0 1 500 0 1700000000 10\n1 1 700 0 1700000001 20\n0 2 900 0 1700000002 5\n";
        assert!(is_log(log.lines().next().unwrap()));
        let ImportedContent::Rows(rows) = read_log(log).unwrap().content else { panic!() };
        assert!((rows[0].measures[0].estimate.value - 1.0).abs() < 1e-9);
        assert!((rows[0].measures[1].estimate.value - 700_000.0).abs() < 1e-6);
        assert!(read_log("0 1 500 0 1700000000 10\n1 1 7").is_err());
    }
}
