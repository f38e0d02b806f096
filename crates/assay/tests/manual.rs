//! Every command and every option has its page under docs/commands, as the program itself describes
//! it.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

use assay_tidy::manual::{self, Chapter};
use assay_tidy::{forms, sources};
use std::fs;
use std::process::Command;

fn chapters() -> Vec<Chapter> {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).arg("manual").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    manual::chapters(&String::from_utf8(output.stdout).unwrap())
}

/// `make docs` sets `ASSAY_WRITE_DOCS` to have the pages written instead of judged.
#[test]
fn the_pages_of_the_verbs_say_what_the_program_says() {
    let chapters = chapters();
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        write(&chapters);
    }
    let found = manual::check(&chapters, &sources::read_all(&sources::root()).unwrap());
    assert!(found.is_empty(), "\n{}\n", assay_tidy::report(&found));
}

#[test]
fn the_index_of_options_says_what_the_program_says() {
    let path = sources::root().join(manual::OPTIONS_PATH);
    let page = manual::options_page(&chapters());
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page, "run `make docs`");
}

fn write(chapters: &[Chapter]) {
    for chapter in chapters {
        let path = sources::root().join(chapter.path());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let old = fs::read_to_string(&path).ok();
        fs::write(&path, chapter.page(old.as_deref())).unwrap();
    }
}

/// The same for the files that people write: their pages say what the schemas say.
#[test]
fn the_pages_of_forms_say_what_the_schemas_say() {
    let root = sources::root();
    let mut found = Vec::new();
    for (name, heading) in forms::FORMS {
        let text = fs::read_to_string(root.join(format!("contract/{name}.schema.json"))).unwrap();
        let schema = serde_json::from_str(&text).unwrap();
        let path = root.join(forms::path(name));
        let old = fs::read_to_string(&path).ok();
        if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, forms::page(heading, &schema, old.as_deref())).unwrap();
        }
        let kept = fs::read_to_string(&path).ok();
        found.extend(forms::check(heading, name, &schema, kept.as_deref()));
    }
    assert!(found.is_empty(), "\n{}\n", assay_tidy::report(&found));
}
