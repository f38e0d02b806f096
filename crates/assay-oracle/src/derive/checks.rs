//! Sections that should say the same, compared.

use super::figures::figure;
use super::rates;
use crate::quantity::OracleQuantity;
use crate::report::{IoStat, OracleReport};
use crate::section::OracleSection;
use assay_model::profile::RateKind::{Database, FileType, Total};
use assay_model::profile::{CheckOutcome, CrossCheck, Figure, RateKind};

/// Snapshots of the sections are not taken at the same instant.
const TOLERANCE: f64 = 0.05;
/// Rates below this many a second differ by chance.
const SMALL: f64 = 1.0;

pub(super) fn all(report: &OracleReport) -> Vec<CrossCheck> {
    let rates = rates::all(report);
    let of = |kind: RateKind| rates.iter().find(|rate| rate.kind == kind);
    let reads = |kind| of(kind).and_then(|rate| rate.read_per_s.clone());
    let writes = |kind| of(kind).and_then(|rate| rate.write_per_s.clone());
    let total = report.io("Total Requests");
    let page = |number: Option<OracleQuantity>| number.as_ref().map(figure);
    let load = |name: &str| page(report.load(&[name]).and_then(|row| row.per_second));
    let pairs = [
        (READS_OF_LOAD, reads(Database), load("Read IO requests")),
        (WRITES_OF_LOAD, writes(Database), load("Write IO requests")),
        (READS_OF_PROFILE, reads(Total), page(total.and_then(|row| row.read))),
        (WRITES_OF_PROFILE, writes(Total), page(total.and_then(|row| row.write))),
        (READS_OF_TYPES, reads(Total), reads(FileType)),
        (WRITES_OF_TYPES, writes(Total), writes(FileType)),
        (FUNCTIONS, by_function(report), reads(FileType)),
        (BYTES, read_bytes(report), read_blocks(report)),
    ];
    pairs.map(|(what, left, right)| check(what, left, right)).into()
}

const READS_OF_LOAD: &str = "read requests: counters against Load Profile";
const WRITES_OF_LOAD: &str = "write requests: counters against Load Profile";
const READS_OF_PROFILE: &str = "all reads: counters against IO Profile";
const WRITES_OF_PROFILE: &str = "all writes: counters against IO Profile";
const READS_OF_TYPES: &str = "all reads: counters against types of file";
const WRITES_OF_TYPES: &str = "all writes: counters against types of file";
const FUNCTIONS: &str = "reads: functions against types of file";
const BYTES: &str = "bytes read: counters against blocks read";

fn by_function(report: &OracleReport) -> Option<Figure> {
    let rows = report.io_by_function.iter().filter(|row: &&IoStat| row.instance.is_none());
    let numbers: Vec<Option<OracleQuantity>> = rows.map(|row| row.reads).collect();
    let first = numbers.iter().flatten().next()?;
    let values = numbers.iter().map(|number| number.map(|number| number.value));
    let sum = rates::whole_sum(report, OracleSection::IoByFunction, values)?;
    Some(Figure::new(sum, format!("sum of {}", first.place())))
}

fn read_bytes(report: &OracleReport) -> Option<Figure> {
    let rate = report.rate("physical read bytes")?;
    Some(Figure::new(rate.value, format!("{}: physical read bytes", rate.place())))
}

fn read_blocks(report: &OracleReport) -> Option<Figure> {
    let (blocks, block) = (report.rate("physical reads")?, report.header.block?);
    Some(Figure::new(
        blocks.value * block.value,
        format!("{}: physical reads x block", blocks.place()),
    ))
}

fn check(what: &str, left: Option<Figure>, right: Option<Figure>) -> CrossCheck {
    let outcome = match (&left, &right) {
        (Some(left), Some(right)) if agree(left.value, right.value) => CheckOutcome::Agrees,
        (Some(_), Some(_)) => CheckOutcome::Contradicts,
        _ => CheckOutcome::NotPossible,
    };
    CrossCheck { what: what.to_owned(), left, right, outcome }
}

fn agree(left: f64, right: f64) -> bool {
    (left - right).abs() <= SMALL + TOLERANCE * left.abs().max(right.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_rates_differ_by_chance_and_large_ones_do_not() {
        assert!(agree(0.2, 1.1));
        assert!(agree(71_556.5, 70_691.0));
        assert!(!agree(298_914_443.0, 2371.7));
        let lone = check("x", Some(Figure::new(1.0, "a")), None);
        assert_eq!(lone.outcome, CheckOutcome::NotPossible);
    }
}
