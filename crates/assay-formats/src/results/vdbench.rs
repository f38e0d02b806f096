//! Vdbench's flatfile and its summary: a row a run.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::table;
use assay_model::Result;
use assay_model::study::{FactorValue, Setting};
use assay_model::units::Bytes;
use std::collections::BTreeMap;

/// Bytes of Vdbench's megabyte.
const MEGABYTE: f64 = 1_048_576.0;
/// Columns of a row at most, and rows of a file.
const COLUMNS_MAX: usize = 1024;
const ROWS_MAX: usize = 4_000_000;

/// Whether a text has the header line of a flatfile.
pub fn is_flatfile(text: &str) -> bool {
    header(text).is_some()
}

/// Whether a text has the lines of a summary.
pub fn is_summary(text: &str) -> bool {
    text.contains("Starting RD=") && text.lines().any(|line| line.contains("avg_"))
}

/// The names of the columns and the number of the line that has them.
fn header(text: &str) -> Option<(usize, Vec<&str>)> {
    let lines = text.lines().enumerate().take(10_000);
    let mut words = lines.map(|(number, line)| {
        (number, line.split_whitespace().take(COLUMNS_MAX).collect::<Vec<_>>())
    });
    words.find(|(_, words)| {
        let has = |name: &str| words.iter().any(|word| word.eq_ignore_ascii_case(name));
        has("tod") && has("run") && has("interval") && has("rate") && has("resp")
    })
}

/// One row of the flatfile, by the names of its columns.
type Row<'a> = BTreeMap<String, &'a str>;

/// Reads a flatfile: the intervals of each run with the same loop values are a row.
pub fn read_flatfile(text: &str) -> Result<ImportedResult> {
    let (line, names) = header(text).ok_or_else(|| broken("Vdbench", "it has no header line"))?;
    let mut runs: Vec<(Vec<Setting>, Vec<Row<'_>>)> = Vec::new();
    for (number, words) in text.lines().enumerate().skip(line + 1).take(ROWS_MAX) {
        let words: Vec<&str> = words.split_whitespace().take(COLUMNS_MAX).collect();
        if words.len() != names.len() {
            if words.len() > names.len() / 2 && words.len() < names.len() {
                return Err(broken("Vdbench", &format!("line {} is cut off", number + 1)));
            }
            continue;
        }
        let row: Row<'_> = names.iter().map(|name| name.to_ascii_lowercase()).zip(words).collect();
        let is_interval = row.get("interval").is_some_and(|word| word.parse::<u64>().is_ok());
        let is_format = row.get("run").is_some_and(|name| name.starts_with("format"));
        if !is_interval || is_format {
            continue;
        }
        let settings = settings(&row);
        match runs.last_mut().filter(|(known, _)| *known == settings) {
            Some((_, rows)) => rows.push(row),
            None => runs.push((settings, vec![row])),
        }
    }
    let rows: Vec<ImportedRow> =
        runs.into_iter().map(|(settings, rows)| measured(settings, &rows)).collect();
    if rows.is_empty() {
        return Err(broken("Vdbench", "it has no intervals"));
    }
    Ok(ImportedResult {
        program: "Vdbench".to_owned(),
        name: "flatfile".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Quantiles, Lack::Environment, Lack::Date],
    })
}

fn settings(row: &Row<'_>) -> Vec<Setting> {
    let text =
        |name: &str| row.get(name).copied().filter(|value| !["n/a", "-", "0"].contains(value));
    let setting = |factor: &str, value: FactorValue| Setting { factor: factor.to_owned(), value };
    let mut found =
        vec![setting("run", FactorValue::Text(text("run").unwrap_or("run").to_owned()))];
    if let Some(bytes) = text("xfersize").and_then(|text| text.parse::<u64>().ok()) {
        found.push(setting("transfer", FactorValue::Text(Bytes(bytes).to_string())));
    }
    if let Some(threads) = text("threads").and_then(|text| text.parse::<u64>().ok()) {
        found.push(setting("queue_depth", FactorValue::Whole(threads)));
    }
    if let Some(percent) = text("rdpct").and_then(|text| text.parse::<f64>().ok()) {
        found.push(setting("read_share", FactorValue::Text(format!("{percent}%"))));
    }
    found
}

/// The mean of each quantity over the intervals; the first is Vdbench's own warm-up.
fn measured(settings: Vec<Setting>, rows: &[Row<'_>]) -> ImportedRow {
    let rows = if rows.len() > 1 { &rows[1..] } else { rows };
    let column = |name: &str, unit: f64| -> Vec<f64> {
        let numbers =
            rows.iter().map(|row| row.get(name).and_then(|text| text.parse::<f64>().ok()));
        numbers
            .collect::<Option<Vec<f64>>>()
            .unwrap_or_default()
            .into_iter()
            .map(|number| number * unit)
            .collect()
    };
    let any = |values: Vec<f64>| {
        if values.iter().any(|value| *value > 0.0) { values } else { Vec::new() }
    };
    let rates = column("rate", 1.0);
    let measures = [
        table::mean("iops", &rates),
        table::mean("throughput", &column("mb/sec", MEGABYTE)),
        table::mean("read.response_time.mean", &any(column("read_resp", 1e6))),
        table::mean("write.response_time.mean", &any(column("write_resp", 1e6))),
    ];
    let elapsed_s = Some(assay_model::number::real_len(rows.len()));
    ImportedRow { settings, elapsed_s, measures: measures.into_iter().flatten().collect() }
}

/// Reads a summary: the line of averages of each run is a row.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let mut rows = Vec::new();
    let mut name = String::new();
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Starting RD=") {
            rest.trim_end_matches("</b>").clone_into(&mut name);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(place) = words.iter().position(|word| word.starts_with("avg_")) else { continue };
        let number =
            |offset: usize| words.get(place + offset).and_then(|word| word.parse::<f64>().ok());
        // interval, rate, MB/sec, bytes, read pct, resp, read resp, write resp
        let (Some(rate), Some(megabytes), Some(_), Some(read_percent), Some(_)) =
            (number(1), number(2), number(3), number(4), number(5))
        else {
            continue;
        };
        let mut measures = vec![total("iops", rate), total("throughput", megabytes * MEGABYTE)];
        for (offset, quantity, happens) in [
            (6, "read.response_time.mean", read_percent > 0.0),
            (7, "write.response_time.mean", read_percent < 100.0),
        ] {
            measures.extend(
                number(offset).filter(|_| happens).map(|time_ms| total(quantity, time_ms * 1e6)),
            );
        }
        let run = Setting { factor: "run".to_owned(), value: FactorValue::Text(name.clone()) };
        rows.push(ImportedRow { settings: vec![run], elapsed_s: None, measures });
    }
    if rows.is_empty() {
        return Err(broken("Vdbench", "it has no line of averages"));
    }
    Ok(ImportedResult {
        program: "Vdbench".to_owned(),
        name: "summary".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Intervals, Lack::Quantiles, Lack::Environment, Lack::Date],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_a_flatfile_become_rows() {
        let mut text = "* comment\ntod Run Interval reqrate rate MB/sec resp read_resp write_resp xfersize threads rdpct\n".to_owned();
        for index in 1..=3 {
            let line =
                format!("10:00:0{index} rd1 {index} max {index}00.0 1.0 0.5 0.5 0 4096 8 100");
            text = text + &line + "\n";
        }
        text += "10:00:04 rd1 avg_2-3 max 250 1 1 1 0 4096 8 100\n";
        let found = read_flatfile(&text).unwrap();
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        assert_eq!(rows.len(), 1);
        assert!((rows[0].measures[0].estimate.value - 250.0).abs() < 1e-9);
        assert_eq!(rows[0].measures.len(), 3);
        assert_eq!(rows[0].settings[1].value.to_string(), "4KiB");
        let cut = &text[..text.len() - 60];
        assert!(read_flatfile(&format!("{cut}\n10:00:09 rd1 4 max 100 1 1 1\n")).is_err());
    }

    #[test]
    fn averages_of_a_summary_become_rows() {
        let text = "Starting RD=rd1; I/O rate: 1000; elapsed=3\n  avg_2-3  996.00  0.97  1024  0.00  0.007  0.000  0.007  0.086 0.004 0.0 19.4 0.3\n";
        let found = read_summary(text).unwrap();
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        assert_eq!(rows[0].measures.len(), 3);
        assert!((rows[0].measures[2].estimate.value - 7000.0).abs() < 1e-6);
    }
}
