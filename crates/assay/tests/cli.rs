//! The program as a user meets it: what it prints and its exit codes.
#![allow(clippy::unwrap_used, reason = "a test stops where its ground is missing")]

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

#[test]
fn an_unknown_verb_is_the_users_mistake() {
    assert_eq!(assay(&["frobnicate"]).status.code(), Some(2));
}
