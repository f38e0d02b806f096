//! The report of a job that HammerDB 6 writes as JSON (`jobs summaryjson`).

use super::dates;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::rows::{count, word};
use assay_model::Result;
use assay_model::number::nanoseconds;
use serde::Deserialize;

const SCHEMA: &str = "hammerdb-job-report";

/// Whether a text is such a report.
pub fn is_report(text: &str) -> bool {
    text.contains(SCHEMA) && text.trim_start().starts_with('{')
}

#[derive(Deserialize)]
struct Report {
    job: Job,
    #[serde(default)]
    benchmark_config: ReportedLoad,
    result: ReportedRates,
    #[serde(default)]
    response_times: Times,
}

#[derive(Deserialize)]
struct Job {
    hdb_version: Option<String>,
    database: Option<String>,
    benchmark: Option<String>,
    timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedLoad {
    warehouses: Option<u64>,
    virtual_users: Option<u64>,
    rampup_minutes: Option<f64>,
    duration_minutes: Option<f64>,
}

#[derive(Deserialize)]
struct ReportedRates {
    nopm: Option<f64>,
    tpm: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Times {
    rows: Vec<serde_json::Value>,
}

/// Reads a report: its rates, and what they were measured with.
///
/// # Errors
/// A usage error where it is cut off, or has no rate.
pub fn read(text: &str) -> Result<ImportedResult> {
    let report: Report =
        serde_json::from_str(text).map_err(|error| broken("HammerDB", &error.to_string()))?;
    let rates = [("new_orders", report.result.nopm), ("transactions", report.result.tpm)];
    let rates =
        rates.into_iter().filter_map(|(name, rate)| Some((name, rate.filter(|rate| *rate > 0.0)?)));
    let load = &report.benchmark_config;
    let ramp_ns = load.rampup_minutes.map_or(0, |minutes| nanoseconds(minutes * 60.0));
    let begun = report.job.timestamp.as_deref().and_then(dates::iso);
    let settings = [
        load.virtual_users.map(|users| count("sessions", users)),
        report.job.database.as_ref().map(|database| word("database", database)),
        load.rampup_minutes.map(|minutes| word("ramp", &format!("{minutes}min"))),
        load.warehouses.map(|warehouses| count("warehouses", warehouses)),
    ];
    let row = ImportedRow {
        settings: settings.into_iter().flatten().collect(),
        started_unix_ns: begun.map(|begun| begun.saturating_add(ramp_ns)),
        elapsed_s: load.duration_minutes.map(|minutes| minutes * 60.0),
        measures: rates.map(|(name, rate)| total(name, rate / 60.0)).collect(),
        ..ImportedRow::default()
    };
    let has_times = !report.response_times.rows.is_empty();
    let lacks = [
        (true, Lack::Intervals),
        (true, Lack::Load),
        (true, Lack::Environment),
        (!has_times, Lack::Times),
        (has_times, Lack::TimesLeftOut("the response times".to_owned())),
        (row.started_unix_ns.is_none(), Lack::Date),
        (row.elapsed_s.is_none(), Lack::Duration),
    ];
    let version = report.job.hdb_version.unwrap_or_default();
    Ok(ImportedResult {
        program: format!("HammerDB {}", version.trim_start_matches('v')).trim_end().to_owned(),
        name: report.job.benchmark.unwrap_or_else(|| "job".to_owned()),
        content: ImportedContent::Rows(vec![row]),
        lacks: lacks.into_iter().filter_map(|(is, lack)| is.then_some(lack)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    #[test]
    fn a_report_has_its_rates_and_its_load() {
        let text = r#"{"schema":"hammerdb-job-report-v1","job":{"hdb_version":"v6.0","database":"Db2",
            "benchmark":"TPROC-C","timestamp":"2025-01-15 10:28:00"},
            "benchmark_config":{"warehouses":50,"virtual_users":24,"rampup_minutes":2,"duration_minutes":5},
            "result":{"nopm":6000,"tpm":12000},"response_times":{"rows":[]}}"#;
        assert!(is_report(text));
        let found = read(text).unwrap();
        assert_eq!((found.program.as_str(), found.name.as_str()), ("HammerDB 6.0", "TPROC-C"));
        assert!(found.lacks.contains(&Lack::Times) && !found.lacks.contains(&Lack::Date));
        let row = &rows(found)[0];
        assert!((value(row, "new_orders") - 100.0).abs() < 1e-9);
        let settings = ["sessions", "database", "ramp", "warehouses"].map(|one| setting(row, one));
        assert_eq!(settings, ["24", "Db2", "2min", "50"]);
        assert_eq!(row.started_unix_ns, Some(1_736_937_000_000_000_000));
        assert!(read(&text[..200]).unwrap_err().message().contains("HammerDB"));
    }
}
