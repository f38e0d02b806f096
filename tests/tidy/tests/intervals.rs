//! No interval that the repository publishes contradicts its value: in the documents of the
//! contract and in the pages and texts that reports are compared with.
#![allow(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]

use serde_json::Value;
use std::path::{Path, PathBuf};

/// An upper end is known up to this many times the value.
const UPPER_TIMES_MAX: f64 = 2.0;
/// In text the value is not printed with its ends: one may be half of it, the other twice.
const ENDS_TIMES_MAX: f64 = 4.0;
/// Of fewer intervals the test would look at the wrong files.
const DOCUMENT_INTERVALS_MIN: usize = 100;
const TEXT_INTERVALS_MIN: usize = 20;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(directory: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(directory)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_meant = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    };
    paths.filter(is_meant).collect()
}

/// The intervals of a document, each with where it stands.
#[derive(Default)]
struct Scan {
    intervals: usize,
    wrong: Vec<String>,
}

impl Scan {
    fn value(&mut self, place: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                if fields.contains_key("confidence") {
                    self.interval(place, value);
                }
                for (name, value) in fields {
                    self.value(&format!("{place}/{name}"), value);
                }
            }
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.value(&format!("{place}/{index}"), value);
                }
            }
            _ => {}
        }
    }

    /// An end that is not a number is not known.
    fn interval(&mut self, place: &str, estimate: &Value) {
        let number = |name: &str| estimate.get(name).and_then(Value::as_f64);
        let Some(value) = number("value") else { return };
        let (low, high) = (number("low"), number("high"));
        self.intervals += 1;
        let is_ordered =
            low.is_none_or(|low| low <= value) && high.is_none_or(|high| value <= high);
        // Changes have either sign, and an end may be any number of times a value about 0.
        let is_change = place.ends_with("/drift");
        let is_near =
            is_change || value <= 0.0 || high.is_none_or(|high| high <= UPPER_TIMES_MAX * value);
        if !(is_ordered && is_near) {
            self.wrong.push(format!("{place}: {low:?} – {value} – {high:?}"));
        }
    }
}

#[test]
fn no_document_of_the_contract_has_an_end_beyond_twice_its_value() {
    let mut scan = Scan::default();
    for path in files("contract/examples", &["json"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        scan.value(&path.file_name().unwrap().to_string_lossy(), &document);
    }
    assert!(scan.intervals >= DOCUMENT_INTERVALS_MIN, "{} intervals", scan.intervals);
    assert!(scan.wrong.is_empty(), "{:#?}", scan.wrong);
}

/// The numbers on both sides of ` – `, where both are numbers.
fn ends(line: &str) -> Vec<(f64, f64)> {
    let parts: Vec<&str> = line.split(" – ").collect();
    let is_digit = |letter: char| letter.is_ascii_digit() || letter == ',' || letter == '.';
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok();
    let pair = |pair: &[&str]| {
        let low = pair[0].rsplit(|letter| !is_digit(letter)).next()?;
        let high = pair[1].split(|letter| !is_digit(letter)).next()?;
        // Ends in two units are not compared.
        Some((number(low)?, number(high.trim_end_matches(['.', ',']))?))
    };
    parts.windows(2).filter_map(pair).collect()
}

#[test]
fn no_report_that_others_are_compared_with_prints_ends_far_apart() {
    let (mut intervals, mut wrong) = (0, Vec::new());
    for path in files("crates/assay-report/tests/golden", &["txt", "html"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            for (low, high) in ends(line) {
                intervals += 1;
                if !(low <= high && (low <= 0.0 || high <= ENDS_TIMES_MAX * low)) {
                    wrong.push(format!("{}: {low} – {high}", path.display()));
                }
            }
        }
    }
    assert!(intervals >= TEXT_INTERVALS_MIN, "{intervals} intervals");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_end_that_contradicts_its_value_is_seen() {
    let wrong = |low: f64, value: f64, high: Value| {
        let estimate = serde_json::json!({
            "rate": { "value": value, "low": low, "high": high, "confidence": 0.95 }
        });
        let mut scan = Scan::default();
        scan.value("made up", &estimate);
        scan.wrong.len()
    };
    assert_eq!(wrong(4_807.0, 24_151.0, 24_591_955.0.into()), 1);
    assert_eq!(wrong(25_000.0, 24_151.0, 26_000.0.into()), 1);
    assert_eq!(wrong(20_000.0, 24_151.0, 24_000.0.into()), 1);
    assert_eq!(wrong(20_000.0, 24_151.0, 28_000.0.into()), 0);
    assert_eq!(wrong(20_000.0, 24_151.0, Value::Null), 0);
    assert_eq!(
        ends("reads  4,807 – 24,591,955/s  1.2 – 1.4 ms"),
        [(4807.0, 24_591_955.0), (1.2, 1.4)]
    );
}
