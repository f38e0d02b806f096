//! What `--json` prints is a document with a format and a schema that the program ships.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

#[path = "support/awr.rs"]
mod awr;
#[path = "support/schema.rs"]
mod schema;
mod support;

use assay_integrity::WriteLog;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use support::Place;

/// Commands, their exit codes, and the schema of what they print with `--json`; in this order in
/// one place.
const DOCUMENTS: &[(&str, i32, &str)] = &[
    ("inspect d", 0, "environment"),
    ("inspect d --hosts local:2", 0, "survey"),
    ("hosts nodes --hosts local:2 d", 0, "survey"),
    ("run randread sim:servers?count=8&service=200us --time 20s --name one", 0, "report"),
    ("run randread sim:servers?count=8&service=100us --time 20s --name two", 0, "report"),
    ("run reads.toml d --size 16MiB --criteria no-errors.toml", 0, "report"),
    ("verify d --size 8MiB --time 1s", 0, "report"),
    ("calibrate sim:servers?count=8&service=200us --time 5s --read-share 100%", 0, "report"),
    ("check sim:servers?count=8&service=200us --time 20s", 0, "report"),
    ("soak sim:servers?count=8&service=200us --time 10s", 3, "report"),
    ("locality sim:device?size=64MiB+servers?count=8&service=200us --time 1s", 0, "report"),
    ("study orion-simple array:ps6010xv --scale 1/10000", 0, "report"),
    ("study orion-simple array:ps6010xv --scale 1/10000 --dry-run", 0, "outline"),
    ("watch d --time 400ms --interval 200ms", 0, "report"),
    ("watch d --hosts local:2 --time 400ms --interval 200ms", 0, "report"),
    ("report one", 0, "report"),
    ("runs show one", 0, "report"),
    ("runs", 0, "runs"),
    ("report one --criteria oltp-default", 1, "report"),
    ("compare one two", 0, "comparison"),
    ("check d --dry-run", 0, "summary"),
    ("bench oltp d --dry-run", 0, "summary"),
    ("soak d --dry-run", 0, "summary"),
    ("list arrays", 0, "arrays"),
    ("list arrays ramsan-300 --verify", 0, "figures"),
    ("list arrays xtremio-1 --profile slob-1h", 0, "profile"),
    ("list catalog gp3 io2", 0, "entries"),
    ("profile awr.txt", 0, "profile"),
    ("profile awr.txt awr.txt", 0, "profiles"),
    ("profile awr.txt awr.txt --table", 0, "table"),
    // It has no DB CPU, which is refused; the document says so.
    ("predict awr.txt --on sim:servers?count=16&service=1ms --time 5s --draws 20", 4, "projection"),
    ("size --iops 20000/s --only gp3 --headroom 0% --fill 100%", 0, "sizing"),
    ("run job.fio --print", 0, "conversion"),
    ("runs import one.fio.json", 0, "report"),
];

/// A place with a report of a database, a job file and a write log.
fn place() -> Place {
    let place = Place::new();
    place.write("awr.txt", &awr::report(500, "8192.0"));
    place.write("job.fio", "[job]\nfilename=d/x\nrw=randread\nbs=8k\niodepth=4\nruntime=10\n");
    let mut log = WriteLog::new();
    log.push_write(0, &[1; 4096], false);
    log.push_flush();
    fs::write(place.path("stamped.log"), log.bytes()).unwrap();
    place.run("run randread sim:servers?count=8&service=200us --time 2s --name fio").ends_with(0);
    place.write("one.fio.json", &place.run("report fio --as fio-json").ends_with(0).stdout);
    place
}

#[test]
fn every_document_is_as_its_schema_says() {
    let place = place();
    let schema = |name: &str| -> Value {
        let ran = place.run(&format!("list schemas {name}"));
        serde_json::from_str(&ran.ends_with(0).stdout).unwrap()
    };
    let mut wrong = String::new();
    for (line, code, name) in DOCUMENTS {
        let ran = place.run(&format!("{line} --json"));
        let Ok(document) = serde_json::from_str::<Value>(&ran.stdout) else {
            let _ = writeln!(wrong, "{line}: {:?} {}{}", ran.code, ran.stderr, ran.stdout);
            continue;
        };
        if ran.code != Some(*code) || !document["format"].is_u64() {
            let _ =
                writeln!(wrong, "{line}: exit code {:?}, format {}", ran.code, document["format"]);
        }
        for problem in schema::problems(name, &document, &schema).iter().take(5) {
            let _ = writeln!(wrong, "{line}: {problem}");
        }
        let mut intervals = Vec::new();
        collect_intervals("", &document, &mut intervals);
        for problem in intervals.iter().filter_map(Interval::problem).take(5) {
            let _ = writeln!(wrong, "{line}: {problem}");
        }
        for problem in disordered(&intervals) {
            let _ = writeln!(wrong, "{line}: {problem}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// An interval of a document, by the path to it, or by the quantity and the subject that it is of.
struct Interval {
    name: String,
    value: f64,
    low: f64,
    /// Absent where only the lower end is known.
    high: Option<f64>,
}

impl Interval {
    /// What is wrong with it: a difference or a share has ends of its own, all else reaches up to
    /// twice its value at most.
    fn problem(&self) -> Option<String> {
        let Self { name, value, low, high } = self;
        let is_open = high.is_none_or(f64::is_infinite);
        let top = high.unwrap_or(f64::INFINITY);
        let is_amount = *low >= 0.0
            && *value > 0.0
            && !["share", "ratio", "time_s"].iter().any(|word| name.contains(word));
        let is_wrong = low > value || *value > top || (is_amount && !is_open && top > 2.0 * value);
        is_wrong.then(|| format!("{name}: {value} has the interval {low} to {top}"))
    }
}

fn collect_intervals(path: &str, value: &Value, found: &mut Vec<Interval>) {
    if let (Some(middle), Some(low)) = (value["value"].as_f64(), value["low"].as_f64()) {
        let high = value["high"].as_f64();
        found.push(Interval { name: path.to_owned(), value: middle, low, high });
        return;
    }
    let of_quantity =
        value["quantity"].as_str().map(|name| format!("{path}/{name}/{}", value["subject"]));
    let path = of_quantity.as_deref().unwrap_or(path);
    match value {
        Value::Object(parts) => {
            parts
                .iter()
                .for_each(|(key, part)| collect_intervals(&format!("{path}/{key}"), part, found));
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect_intervals(path, part, found)),
        _ => {}
    }
}

/// Quantiles of one time whose ends fall where the quantile rises; an end that is not known orders
/// nothing.
fn disordered(intervals: &[Interval]) -> Vec<String> {
    let quantile = |interval: &Interval| -> Option<(String, f64)> {
        let (before, behind) = interval.name.split_once(".q0.")?;
        let (digits, subject) = behind.split_once('/')?;
        Some((format!("{before} {subject}"), format!("0.{digits}").parse().ok()?))
    };
    let named: Vec<(String, f64, &Interval)> = intervals
        .iter()
        .filter_map(|one| quantile(one).map(|(name, level)| (name, level, one)))
        .collect();
    let mut problems = Vec::new();
    for (name, level, one) in &named {
        for (other_name, higher, other) in &named {
            let falls = other.low < one.low
                || one.high.zip(other.high).is_some_and(|(low, high)| high < low);
            if name == other_name && higher > level && falls {
                problems.push(format!("{name}: an end of q{higher} is below that of q{level}"));
            }
        }
    }
    problems
}

#[test]
fn an_interval_that_contradicts_itself_is_found() {
    let document: Value = serde_json::from_str(
        r#"{"estimates": [
            {"quantity": "read.service_time.q0.99", "estimate": {"value": 3.0, "low": 2.0, "high": 4.0}},
            {"quantity": "read.service_time.q0.999", "estimate": {"value": 5.0, "low": 1.0}},
            {"quantity": "iops", "estimate": {"value": 10.0, "low": 2.0, "high": 4000.0}}
        ]}"#,
    )
    .unwrap();
    let mut found = Vec::new();
    collect_intervals("", &document, &mut found);
    let wrong: Vec<String> = found.iter().filter_map(Interval::problem).collect();
    assert!(wrong.len() == 1 && wrong[0].contains("iops"), "{wrong:?}");
    assert_eq!(disordered(&found).len(), 1, "{:?}", disordered(&found));
}

#[test]
fn a_document_that_is_not_as_its_schema_says_is_found() {
    let place = Place::new();
    let schema = |name: &str| -> Value {
        serde_json::from_str(&place.run(&format!("list schemas {name}")).stdout).unwrap()
    };
    let mut document = place.json("check d --dry-run", 0);
    assert!(schema::problems("summary", &document, &schema).is_empty());
    document["tmie"] = Value::from("1s");
    document["format"] = Value::from("one");
    let found = schema::problems("summary", &document, &schema);
    assert_eq!(found.len(), 2, "{found:?}");
}
