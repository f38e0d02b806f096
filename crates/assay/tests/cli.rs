//! The program as a user meets it: what it prints and its exit codes.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

use std::process::{Command, Output};

fn assay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).output().unwrap()
}

#[test]
fn version_names_the_program() {
    let output = assay(&["--version"]);
    let expected = concat!("assay ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(0));
}

/// What the program says on standard error about a short run on a simulated device.
fn notes(options: &[&str]) -> String {
    let place = std::env::temp_dir().join(format!("assay-notes-{}", std::process::id()));
    let run = ["run", "oltp-read", "sim:servers?count=4&service=1ms", "--store"];
    let store = place.to_str().unwrap();
    let output = assay(&[&run[..], &[store], options].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    drop(std::fs::remove_dir_all(&place));
    said.lines().filter(|line| line.contains(" now ") || line.contains(" read as ")).collect()
}

#[test]
fn a_bare_number_of_seconds_works_with_a_note() {
    let other = ["--warm-up", "0", "--json"];
    let noted = notes(&[&["--duration", "2s"][..], &other].concat());
    assert!(noted.contains("note: --warm-up 0 is read as 0s"), "{noted}");
    assert_eq!(notes(&["--runtime", "2s", "--warmup", "0s", "--json"]), "");
    assert_eq!(notes(&["--duration", "2", "--warm-up", "0", "--json", "--quiet"]), "");
}

#[test]
fn commands_and_loads_have_the_names_that_others_use() {
    for (line, usage) in [
        (["runs", "rm", "--help"], "Usage: assay runs remove"),
        (["bench", "tpcc", "--help"], "Usage: assay bench oltp"),
        (["bench", "tpch", "--help"], "Usage: assay bench dss"),
        (["bench", "tpce", "--help"], "Usage: assay bench brokerage"),
    ] {
        let output = assay(&line);
        let help = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(help.contains(usage), "{help}");
    }
}

#[test]
fn an_unknown_verb_is_the_users_mistake() {
    assert_eq!(assay(&["frobnicate"]).status.code(), Some(2));
}
