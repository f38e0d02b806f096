//! What `--json` prints is a document with a format and a schema that the program ships.
#![allow(clippy::unwrap_used, reason = "a test stops where its ground is missing")]

#[path = "support/schema.rs"]
mod schema;
mod support;

use serde_json::Value;
use std::fmt::Write;
use support::Place;

/// Commands, their exit codes, and the schema of what they print with `--json`; in this order in one place.
const DOCUMENTS: [(&str, i32, &str); 14] = [
    ("inspect d", 0, "environment"),
    ("run randread sim:servers?count=8&service=200us --time 2s --name one", 0, "report"),
    ("run reads.toml d --size 16MiB --criteria no-errors.toml", 0, "report"),
    ("calibrate sim:servers?count=8&service=200us --time 5s --read-share 100%", 0, "report"),
    ("soak sim:servers?count=8&service=200us --time 10s", 3, "report"),
    ("locality sim:device?size=64MiB+servers?count=8&service=200us --time 1s", 0, "report"),
    ("report one", 0, "report"),
    ("runs show one", 0, "report"),
    ("runs", 0, "runs"),
    ("judge one --criteria oltp-default", 1, "verdict"),
    ("compare one one", 3, "comparison"),
    ("check d --dry-run", 0, "summary"),
    ("load oltp d --dry-run", 0, "summary"),
    ("soak d --dry-run", 0, "summary"),
];

#[test]
fn every_document_is_as_its_schema_says() {
    let place = Place::new();
    let schema = |name: &str| -> Value {
        let ran = place.run(&format!("schema {name}"));
        serde_json::from_str(&ran.ends_with(0).stdout).unwrap()
    };
    let mut wrong = String::new();
    for (line, code, name) in DOCUMENTS {
        let ran = place.run(&format!("{line} --json"));
        let Ok(document) = serde_json::from_str::<Value>(&ran.stdout) else {
            let _ = writeln!(wrong, "{line}: {:?} {}{}", ran.code, ran.stderr, ran.stdout);
            continue;
        };
        if ran.code != Some(code) || !document["format"].is_u64() {
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
