//! Every scenario of the attack on the promises has a test that is there, or a sentence why not.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing, and says what is open"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Scenarios of the attack.
const SCENARIOS: usize = 788;
/// Areas that have answered all of theirs.
const ANSWERED: [&str; 8] =
    ["store", "servers", "devices", "network", "pages", "others", "fourth", "fifth"];

type Table = BTreeMap<String, BTreeMap<String, String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn table() -> Table {
    let path = root().join("crates/assay/tests/attack.toml");
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What is wrong with an answer; nothing where its test is there.
fn wrong(answer: &str, text_of: impl Fn(&str) -> Option<String>) -> Option<String> {
    if let Some(why) = answer.strip_prefix("why: ") {
        return (why.len() < 20).then(|| "no sentence".to_owned());
    }
    let Some((file, function)) = answer.split_once("::") else {
        return Some(format!("'{answer}' names no test"));
    };
    let Some(text) = text_of(file) else { return Some(format!("{file} is not there")) };
    let is_there = ["fn", "def"].iter().any(|word| text.contains(&format!("{word} {function}(")));
    (!is_there).then(|| format!("{file} has no {function}"))
}

#[test]
fn every_scenario_has_its_answer() {
    let table = table();
    assert_eq!(table.values().map(BTreeMap::len).sum::<usize>(), SCENARIOS);
    let mut complaints = Vec::new();
    for (area, answers) in &table {
        let open = answers.values().filter(|answer| *answer == "open").count();
        println!("{area}: {} scenarios, {open} open", answers.len());
        if ANSWERED.contains(&area.as_str()) && open > 0 {
            complaints.push(format!("{area}: {open} open"));
        }
        for (scenario, answer) in answers.iter().filter(|(_, answer)| *answer != "open") {
            let text_of = |file: &str| fs::read_to_string(root().join(file)).ok();
            complaints.extend(wrong(answer, text_of).map(|what| format!("{scenario}: {what}")));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn an_answer_without_its_test_is_found() {
    let text = |_: &str| Some("fn it_holds() {}".to_owned());
    assert_eq!(wrong("a.rs::it_holds", text), None);
    assert!(wrong("a.rs::it_does_not", text).is_some());
    assert!(wrong("a.rs::it_holds", |_| None).is_some());
    assert!(wrong("why: no", text).is_some() && wrong("it_holds", text).is_some());
}
