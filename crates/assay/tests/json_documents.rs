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

/// Commands, their exit codes, and the schema of what they print with `--json`; in this order in one place.
const DOCUMENTS: &[(&str, i32, &str)] = &[
    ("inspect d", 0, "environment"),
    ("inspect d --hosts local:2", 0, "survey"),
    ("cluster nodes --hosts local:2 d", 0, "survey"),
    ("run randread sim:servers?count=8&service=200us --time 2s --name one", 0, "report"),
    ("run randread sim:servers?count=8&service=100us --time 2s --name two", 0, "report"),
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
    ("judge one --criteria oltp-default", 3, "verdict"),
    ("compare one two", 0, "comparison"),
    ("check d --dry-run", 0, "summary"),
    ("load oltp d --dry-run", 0, "summary"),
    ("soak d --dry-run", 0, "summary"),
    ("arrays", 0, "arrays"),
    ("arrays ramsan-300 --verify", 0, "figures"),
    ("arrays xtremio-1 --profile slob-1h", 0, "profile"),
    ("catalog gp3 io2", 0, "entries"),
    ("profile awr.txt", 0, "profile"),
    ("profile awr.txt awr.txt", 0, "profiles"),
    ("profile awr.txt awr.txt --table", 0, "table"),
    // It has no DB CPU, which is refused; the document says so.
    ("predict awr.txt --on sim:servers?count=16&service=1ms --time 5s --draws 20", 4, "projection"),
    ("size --iops 20000/s --only gp3 --headroom 0% --fill 100%", 0, "sizing"),
    ("convert job.fio", 0, "conversion"),
    ("import one.fio.json", 0, "report"),
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
        let ran = place.run(&format!("show schema {name}"));
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
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_document_that_is_not_as_its_schema_says_is_found() {
    let place = Place::new();
    let schema = |name: &str| -> Value {
        serde_json::from_str(&place.run(&format!("schema {name}")).stdout).unwrap()
    };
    let mut document = place.json("check d --dry-run", 0);
    assert!(schema::problems("summary", &document, &schema).is_empty());
    document["tmie"] = Value::from("1s");
    document["format"] = Value::from("one");
    let found = schema::problems("summary", &document, &schema);
    assert_eq!(found.len(), 2, "{found:?}");
}
