//! HammerDB's log: the line of the result of each run.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use assay_model::Result;
use assay_model::study::{FactorValue, Setting};

/// Reads the lines `System achieved N NOPM from M … TPM`, each with the virtual users that ran.
pub fn read(text: &str) -> Result<ImportedResult> {
    let mut rows = Vec::new();
    let mut users = 0;
    for line in text.lines() {
        if let Some((before, _)) = line.split_once(" Active Virtual Users configured") {
            let word = before.split([':', ' ']).next_back().unwrap_or_default();
            users = word.parse::<u64>().unwrap_or(users);
        }
        let Some((_, rest)) = line.split_once("System achieved ") else { continue };
        let numbers: Vec<f64> =
            rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [orders, transactions, ..] = numbers.as_slice() else {
            return Err(broken("HammerDB", "the line System achieved is cut off"));
        };
        let measures =
            vec![total("new_orders", orders / 60.0), total("transactions", transactions / 60.0)];
        let settings =
            vec![Setting { factor: "sessions".to_owned(), value: FactorValue::Whole(users) }];
        rows.push(ImportedRow { settings, elapsed_s: None, measures });
    }
    if rows.is_empty() {
        return Err(broken("HammerDB", "it has no line System achieved"));
    }
    Ok(ImportedResult {
        program: "HammerDB".to_owned(),
        name: "TPROC-C".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Intervals, Lack::Quantiles, Lack::Load, Lack::Environment, Lack::Date],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_each_run_is_a_row() {
        let text = "Vuser 1:8 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved 42298 NOPM from 96814 PostgreSQL TPM\n";
        let ImportedContent::Rows(rows) = read(text).unwrap().content else { panic!() };
        assert_eq!(rows[0].settings[0].value, FactorValue::Whole(8));
        assert!((rows[0].measures[0].estimate.value - 42298.0 / 60.0).abs() < 1e-9);
        assert!(read("System achieved 42298 NOPM from").is_err());
    }
}
