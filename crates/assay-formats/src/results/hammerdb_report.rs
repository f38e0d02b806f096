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
    #[serde(default)]
    query_times: Times,
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
    scale_factor: Option<f64>,
    virtual_users: Option<u64>,
    rampup_minutes: Option<f64>,
    duration_minutes: Option<f64>,
}

#[derive(Deserialize)]
struct ReportedRates {
    nopm: Option<f64>,
    tpm: Option<f64>,
    query_sets: Option<u64>,
    geomean_seconds: Option<f64>,
    total_query_time_seconds: Option<f64>,
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
    // The sets of several users at once are a throughput run.
    let is_power_run = report.result.query_sets.is_none_or(|sets| sets <= 1);
    let run = if is_power_run { "power_run" } else { "throughput_run" };
    let query_time_s = report.result.total_query_time_seconds.filter(|time_s| *time_s > 0.0);
    let times = [
        ("query_time.geometric_mean", report.result.geomean_seconds.filter(|mean| *mean > 0.0)),
        ("time", query_time_s),
    ];
    let times = times
        .into_iter()
        .filter_map(|(name, time_s)| Some(total(&format!("{run}.{name}"), time_s? * 1e9)));
    let settings = [
        load.virtual_users.map(|users| count("sessions", users)),
        report.job.database.as_ref().map(|database| word("database", database)),
        load.rampup_minutes.map(|minutes| word("ramp", &format!("{minutes}min"))),
        load.warehouses.map(|warehouses| count("warehouses", warehouses)),
        load.scale_factor.map(|scale| count("scale", assay_model::number::count(scale))),
        report.result.query_sets.map(|sets| count("query_sets", sets)),
    ];
    let row = ImportedRow {
        settings: settings.into_iter().flatten().collect(),
        started_unix_ns: begun.map(|begun| begun.saturating_add(ramp_ns)),
        elapsed_s: load.duration_minutes.map(|minutes| minutes * 60.0).or(query_time_s),
        measures: rates.map(|(name, rate)| total(name, rate / 60.0)).chain(times).collect(),
        ..ImportedRow::default()
    };
    let has_times = !report.response_times.rows.is_empty();
    let has_queries = !report.query_times.rows.is_empty();
    let is_of_queries = row.measures.iter().any(|one| one.quantity.contains("query_time"));
    let single = || Lack::OperationsLeftOut(vec!["times of single queries".to_owned()]);
    let lacks = [
        (true, Lack::Intervals),
        (true, Lack::Load),
        (true, Lack::Environment),
        (!has_times && !is_of_queries, Lack::Times),
        (has_queries, single()),
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
        let queries = r#"{"schema":"hammerdb-job-report-v1","job":{"benchmark":"TPROC-H"},
            "benchmark_config":{"scale_factor":10},
            "result":{"query_sets":1,"geomean_seconds":4.25,"total_query_time_seconds":280},
            "query_times":{"rows":[{"name":"14","seconds":6.5}]}}"#;
        let found = read(queries).unwrap();
        assert!(!found.lacks.contains(&Lack::Times), "{:?}", found.lacks);
        let row = &rows(found)[0];
        let times = ["query_time.geometric_mean", "time"]
            .map(|one| value(row, &format!("power_run.{one}")));
        assert_eq!(
            (times.map(f64::to_bits), row.elapsed_s),
            ([4.25e9, 280e9].map(f64::to_bits), Some(280.0))
        );
        assert_eq!(["scale", "query_sets"].map(|one| setting(row, one)), ["10", "1"]);
        assert!(read(&text[..200]).unwrap_err().message().contains("HammerDB"));
    }
}
