//! elbencho's csv: one row a phase.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use assay_model::Result;
use assay_model::study::{FactorValue, Setting};

const MEBIBYTE: f64 = 1_048_576.0;

/// Whether a line is the header of such a file.
pub fn is_csv(line: &str) -> bool {
    let names = fields(line);
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    has("operation") && names.iter().any(|name| name.to_ascii_lowercase().starts_with("iops"))
}

/// Reads the csv.
pub fn read(text: &str) -> Result<ImportedResult> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let names: Vec<String> = fields(lines.next().unwrap_or_default())
        .iter()
        .map(|name| name.to_ascii_lowercase())
        .collect();
    let mut rows = Vec::new();
    for line in lines {
        let values = fields(line);
        if values.len() < names.len() {
            return Err(broken("elbencho", "a row is cut off"));
        }
        // Of each phase the last thread counts: the whole work.
        let find = |start: &str| {
            let place =
                names.iter().position(|name| name.starts_with(start) && name.contains("last"));
            let place = place.or_else(|| names.iter().position(|name| name.starts_with(start)))?;
            values.get(place).filter(|value| !value.is_empty()).cloned()
        };
        let number = |start: &str| find(start).and_then(|text| text.parse::<f64>().ok());
        let operation = find("operation").unwrap_or_default();
        let side = if operation.to_ascii_lowercase().contains("read") { "read" } else { "write" };
        let text = |factor: &str, value: String| Setting {
            factor: factor.to_owned(),
            value: FactorValue::Text(value),
        };
        let mut settings = vec![text("run", operation.clone())];
        for (column, factor) in
            [("threads", "workers"), ("iodepth", "queue_depth"), ("block size", "transfer")]
        {
            settings.extend(find(column).map(|value| text(factor, value)));
        }
        let measures = [
            number("iops").map(|rate| total(&format!("{side}.iops"), rate)),
            number("mib/s").map(|rate| total(&format!("{side}.throughput"), rate * MEBIBYTE)),
            number("io lat us [avg]")
                .map(|time_us| total(&format!("{side}.service_time.mean"), time_us * 1e3)),
        ];
        let measures: Vec<_> = measures.into_iter().flatten().collect();
        if !measures.is_empty() {
            rows.push(ImportedRow {
                settings,
                elapsed_s: number("time ms").map(|time_ms| time_ms / 1e3),
                measures,
            });
        }
    }
    if rows.is_empty() {
        return Err(broken("elbencho", "no row has IOPS or MiB/s"));
    }
    Ok(ImportedResult {
        program: "elbencho".to_owned(),
        name: "phases".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Intervals, Lack::Quantiles, Lack::Environment, Lack::Date],
    })
}

/// The fields of a line; quotes may hold commas.
fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.trim_end().chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(String::new()),
            letter => found.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_rows() {
        let text = "ISO date,operation,threads,iops first,iops last,mib/s last,IO lat us [avg]\n\"1, 2\",READ,4,900,1000,3.9,250\n";
        assert!(is_csv(text.lines().next().unwrap()));
        let ImportedContent::Rows(rows) = read(text).unwrap().content else { panic!() };
        let values: Vec<f64> =
            rows[0].measures.iter().map(|one| one.estimate.value.round()).collect();
        assert_eq!(values, [1000.0, (3.9 * MEBIBYTE).round(), 250_000.0]);
        assert!(read("operation,iops last\nREAD\n").is_err());
    }
}
