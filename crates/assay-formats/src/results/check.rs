//! Checks of every imported result: it has measurements, possible numbers, and the same factors in
//! all rows.

use super::amount::possible;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack, refused};
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Result};
use std::collections::BTreeMap;

/// The result if it keeps them.
///
/// # Errors
/// A usage error where nothing was measured, a number is impossible, or quantiles fall.
pub fn checked(mut result: ImportedResult) -> Result<ImportedResult> {
    let program = result.program.clone();
    match &mut result.content {
        ImportedContent::Runs(runs) => check_runs(runs, &program)?,
        ImportedContent::Rows(rows) => {
            rows.iter().try_for_each(|row| check_row(row, &program))?;
            result.lacks.extend(drop_rounded_times(rows));
            for row in rows.iter_mut() {
                result.lacks.extend(drop_impossible_times(row).then_some(Lack::ImpossibleTimes));
                let is_contradictory = drop_contradictory_times(row);
                result.lacks.extend(is_contradictory.then_some(Lack::ContradictoryTimes));
            }
            if rows.iter().all(|row| row.measures.is_empty()) {
                return Err(nothing(&program));
            }
            join_factors(rows);
        }
    }
    result.lacks.sort();
    result.lacks.dedup();
    Ok(result)
}

fn nothing(program: &str) -> Error {
    refused(
        program,
        "it has no measurements",
        "specify the result of a finished run that issued I/O",
    )
}

fn check_runs(runs: &[ImportedRun], program: &str) -> Result<()> {
    let is_empty = |run: &ImportedRun| {
        run.measurement.operations().iter().all(|(_, result)| result.ios == 0)
            || run.measurement.elapsed_ns == 0
    };
    if runs.iter().all(is_empty) { Err(nothing(program)) } else { Ok(()) }
}

fn check_row(row: &ImportedRow, program: &str) -> Result<()> {
    for named in &row.measures {
        let estimate = &named.estimate;
        let is_ordered = estimate.low <= estimate.value && estimate.value <= estimate.high;
        if possible(estimate.value).is_none() || !is_ordered {
            let what = format!("{} cannot be {}", named.quantity, estimate.value);
            return Err(refused(program, &what, "correct the number, or remove its line"));
        }
    }
    match falling(&row.measures) {
        Some(quantity) => Err(refused(
            program,
            &format!("{quantity} is below a lower quantile of the same times"),
            "specify the unmodified file",
        )),
        None => Ok(()),
    }
}

/// Whether more I/Os were outstanding on average than the load had at most. Printed numbers have
/// few digits.
pub fn contradicts_depth(queue_depth_mean: f64, queue_depth_max: Option<f64>) -> bool {
    queue_depth_max.is_some_and(|most| queue_depth_mean > 1.1 * most)
}

/// Drops times that are too long for the rate and the depth of the row by Little's law, and says
/// whether they were.
fn drop_contradictory_times(row: &mut ImportedRow) -> bool {
    let value = |quantity: &str| {
        let found = row.measures.iter().find(|named| named.quantity == quantity);
        found.map(|named| named.estimate.value)
    };
    let queue_depth = |side: &str| {
        Some(value(&format!("{side}iops"))? * value(&format!("{side}service_time.mean"))? / 1e9)
    };
    let queue_depth_mean =
        ["", "read.", "write."].iter().filter_map(|side| queue_depth(side)).sum();
    let is_contradictory = contradicts_depth(queue_depth_mean, row.queue_depth_max);
    row.measures.retain(|named| !(is_contradictory && is_time(&named.quantity)));
    is_contradictory
}

fn is_time(quantity: &str) -> bool {
    quantity.contains("service_time.") || quantity.contains("response_time.")
}

/// Drops times of 0 from rows, and says if there were any: nothing takes no time, so that they are
/// below the last digit of their column.
pub fn drop_rounded_times(rows: &mut [ImportedRow]) -> Option<Lack> {
    let is_rounded = |named: &NamedEstimate| {
        is_time(&named.quantity)
            && !named.quantity.ends_with(".stddev")
            && named.estimate.value <= 0.0
    };
    let has_any = rows.iter().flat_map(|row| &row.measures).any(is_rounded);
    for row in rows {
        row.measures.retain(|named| !is_rounded(named));
    }
    has_any.then_some(Lack::RoundedTimes)
}

/// Drops times that are longer than ten times the run, and says whether there were any: fio 2.1
/// printed the time since the host started in place of a latency.
fn drop_impossible_times(row: &mut ImportedRow) -> bool {
    let limit_ns = row.elapsed_s.map_or(f64::INFINITY, |elapsed_s| elapsed_s * 1e10);
    let before = row.measures.len();
    row.measures.retain(|named| !is_time(&named.quantity) || named.estimate.value <= limit_ns);
    row.measures.len() < before
}

/// The first quantile that is below one of a lower rank.
fn falling(measures: &[NamedEstimate]) -> Option<&str> {
    let mut quantiles: BTreeMap<&str, Vec<(f64, &NamedEstimate)>> = BTreeMap::new();
    for named in measures {
        let Some((of, rank)) = named.quantity.rsplit_once(".q") else { continue };
        let Ok(rank) = rank.parse() else { continue };
        quantiles.entry(of).or_default().push((rank, named));
    }
    quantiles.into_values().find_map(|mut all| {
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let falls =
            |two: &[(f64, &NamedEstimate)]| two[1].1.estimate.value < two[0].1.estimate.value;
        all.windows(2).find(|two| falls(two)).map(|two| two[1].1.quantity.as_str())
    })
}

/// Gives every row the same factors in the same order: what a row does not say is unknown.
fn join_factors(rows: &mut [ImportedRow]) {
    let mut factors: Vec<String> = Vec::new();
    for setting in rows.iter().flat_map(|row| &row.settings) {
        if !factors.contains(&setting.factor) {
            factors.push(setting.factor.clone());
        }
    }
    for row in rows {
        let known = std::mem::take(&mut row.settings);
        let value = |factor: &String| {
            let setting = known.iter().find(|setting| setting.factor == *factor);
            let unknown = || FactorValue::Text("unknown".to_owned());
            setting.map_or_else(unknown, |setting| setting.value.clone())
        };
        row.settings = factors
            .iter()
            .map(|factor| StudySetting { factor: factor.clone(), value: value(factor) })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::super::imported::total;
    use super::*;

    fn of_rows(rows: Vec<ImportedRow>) -> Result<ImportedResult> {
        checked(ImportedResult {
            program: "x".to_owned(),
            name: "y".to_owned(),
            content: ImportedContent::Rows(rows),
            lacks: Vec::new(),
        })
    }

    fn row(factor: &str, measures: Vec<NamedEstimate>) -> ImportedRow {
        let value = FactorValue::Whole(1);
        let settings = vec![StudySetting { factor: factor.to_owned(), value }];
        ImportedRow { settings, measures, ..ImportedRow::default() }
    }

    #[test]
    fn a_time_that_is_longer_than_the_run_is_unknown() {
        let measures = vec![total("iops", 9.0), total("read.service_time.mean", 7.5e14)];
        let row = ImportedRow { elapsed_s: Some(30.0), measures, ..ImportedRow::default() };
        let result = ImportedResult {
            program: "fio".to_owned(),
            name: "a".to_owned(),
            content: ImportedContent::Rows(vec![row]),
            lacks: Vec::new(),
        };
        let found = checked(result).unwrap();
        assert_eq!(found.lacks, [Lack::ImpossibleTimes]);
        let ImportedContent::Rows(rows) = found.content else { panic!("rows became runs") };
        assert_eq!(rows[0].measures, [total("iops", 9.0)]);
    }

    #[test]
    fn a_time_that_is_rounded_to_zero_is_unknown() {
        let names = ["iops", "read.service_time.mean", "read.service_time.stddev"];
        let measures = names.map(|name| total(name, 0.0)).to_vec();
        let found = of_rows(vec![row("a", measures)]).unwrap();
        assert_eq!(found.lacks, [Lack::RoundedTimes]);
        let ImportedContent::Rows(rows) = found.content else { panic!() };
        let kept: Vec<&str> = rows[0].measures.iter().map(|one| one.quantity.as_str()).collect();
        assert_eq!(kept, ["iops", "read.service_time.stddev"]);
    }

    #[test]
    fn times_that_are_too_long_for_rate_and_depth_are_unknown() {
        let of_depth = |depth: f64| {
            let measures = ["read.iops", "read.service_time.mean", "read.service_time.max"];
            let measures = measures.map(|name| total(name, 1e6)).to_vec();
            let row = ImportedRow { queue_depth_max: Some(depth), ..row("a", measures) };
            let found = of_rows(vec![row]).unwrap();
            let ImportedContent::Rows(rows) = found.content else { panic!() };
            (rows[0].measures.len(), found.lacks)
        };
        // A million a second of 1 ms each are 1,000 at a time.
        assert_eq!(of_depth(1000.0), (3, vec![]));
        assert_eq!(of_depth(64.0), (1, vec![Lack::ContradictoryTimes]));
    }

    #[test]
    fn rows_have_the_same_factors() {
        let measures = || vec![total("iops", 5.0)];
        let result = of_rows(vec![row("a", measures()), row("b", measures())]).unwrap();
        let ImportedContent::Rows(rows) = result.content else { panic!() };
        let shown = |row: &ImportedRow| {
            let words = row.settings.iter().map(|one| format!("{} {}", one.factor, one.value));
            words.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(
            (shown(&rows[0]), shown(&rows[1])),
            ("a 1, b unknown".into(), "a unknown, b 1".into())
        );
    }

    #[test]
    fn nothing_impossible_numbers_and_falling_quantiles_are_refused() {
        for (measures, why) in [
            (vec![], "no measurements"),
            (vec![total("iops", f64::INFINITY)], "iops cannot be inf"),
            (vec![total("iops", -1.0)], "iops cannot be -1"),
            (vec![total("t.q0.99", 1.0), total("t.q0.5", 2.0)], "t.q0.99 is below"),
        ] {
            let error = of_rows(vec![row("a", measures)]).unwrap_err();
            assert!(error.message().contains(why), "{error}");
        }
        assert!(of_rows(vec![row("a", vec![total("t.q0.5", 1.0), total("t.q0.99", 1.0)])]).is_ok());
    }
}
