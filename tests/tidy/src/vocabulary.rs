//! The names of types: each is used once, and public ones are made of the words of the glossary and
//! of a few of Rust and of computing.

use crate::{Finding, RustFile};
use std::collections::{BTreeMap, BTreeSet};

/// The page whose bold terms are the vocabulary.
pub const GLOSSARY: &str = "docs/glossary.md";

/// Words that every programmer knows.
pub const COMPUTING: &str = "
    Account Accumulator Action Address Answer Axis Background Bench Binary Binding Buffer Builder
    Bulk Byte Calibrate Call Cancel Cause Certificate Check Checked Choice Chunk Chunked Clean
    Cleanup Client Command Compare Compared Connection Constant Content Converted Copy Cost Cpu
    Create Created Cross Cycle Daemon Day Destination Detail Deterministic Dir Direct Direction
    Directory Driver Drop Due Encrypted Encryption End Engine Entry Error Execution Exit Faulty
    Field File Fill Filled Filling Finish Finished Fio Fit Fitted Flag Folder Formatter Generator
    Given Group Guard Handshake Header Held Help History Hit Holder Hook Id Ignore Image Imported
    In Incident Index Input Inspect Instant Instrument Interface Interrupter Io Iometer Job Key
    Kind Last Left Length Line Lines Link Listing Loaded Loading Location Lookup Loss Managed
    Mariadb Match Measured Member Memory Message Metric Mode Mount Name Named Nano Network Next
    Node Note Null Numa Number Observed Observer Of On Only Oracle Origin Out Output Own Owned
    Page Pair Parameter Part Per Permission Planned Position Posix Postgres Predict Predicted
    Prepared Preserved Process Processor Program Progress Projected Random Rank Reader Reading
    Recorded Removed Reported Request Resampling Resumable Retry Ring Role Root Routine Runner
    Running Safety Scope Search Security Sender Sequential Set Setup Shape Shift Simulation Sink
    Sizing Slot Slow Socket Spacing Spec Speedup Spelling Split Sql Start Stat Statistic Storage
    Stored Sys System Tally Task Text Thread Tick Tiered Timed Tls Top Tracked Trait Unreadable
    Update Uri Uring Usage Use Utc Value Version Word Writer Zip";

/// Every public type of a shipped crate with a word in its name that nobody defines.
pub fn check(files: &[RustFile], glossary: &str) -> Vec<Finding> {
    let defined = defined(glossary);
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_shipped(&file.path)) {
        for (name, line) in public_types(file) {
            let unknown = words(&name).into_iter().filter(|word| !is_known(word, &defined));
            findings.extend(unknown.map(|word| {
                let what = format!("`{name}`: \"{word}\" is not a term of {GLOSSARY}");
                Finding::at(&file.path, line, what)
            }));
        }
    }
    findings
}

fn is_shipped(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

/// The singulars of all words in bold type.
fn defined(glossary: &str) -> BTreeSet<String> {
    let bold = glossary.split("**").skip(1).step_by(2);
    let words = bold.flat_map(|term| term.split(|mark: char| !mark.is_alphanumeric()));
    let computing = COMPUTING.split_whitespace();
    words.chain(computing).map(|word| singular(&word.to_lowercase())).collect()
}

fn is_known(word: &str, defined: &BTreeSet<String>) -> bool {
    defined.contains(&singular(&word.to_lowercase()))
}

/// The same for both numbers of a noun; of a word such as "process" it need not be a word.
fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => format!("{stem}y"),
        _ => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

/// The public structures, enumerations, traits and aliases outside of tests, with their lines.
fn public_types(file: &RustFile) -> Vec<(String, usize)> {
    types(file)
        .filter(|(_, visibility, _)| matches!(visibility, syn::Visibility::Public(_)))
        .map(|(name, _, line)| (name, line))
        .filter(|(_, line)| !file.is_test(*line))
        .collect()
}

/// All structures, enumerations, traits and aliases of a file: names, visibilities, lines.
fn types(file: &RustFile) -> impl Iterator<Item = (String, &syn::Visibility, usize)> {
    let types = file.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some((&item.ident, &item.vis)),
        syn::Item::Enum(item) => Some((&item.ident, &item.vis)),
        syn::Item::Trait(item) => Some((&item.ident, &item.vis)),
        syn::Item::Type(item) => Some((&item.ident, &item.vis)),
        _ => None,
    });
    types.map(|(name, visibility)| (name.to_string(), visibility, name.span().start().line))
}

/// Types of shipped crates, in tests or not, that share their name with another one: a search for
/// a name should find one thing.
pub fn shared(files: &[RustFile]) -> Vec<Finding> {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| is_shipped(&file.path)) {
        for (name, _, line) in types(file) {
            let place = format!("{}:{line}", file.path);
            if let Some(other) = first.insert(name.clone(), place) {
                let what = format!("`{name}` is also the name of the type at {other}");
                findings.push(Finding::at(&file.path, line, what));
            }
        }
    }
    findings
}

/// `Db`, `Result` of `DbResult`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for mark in name.chars() {
        match words.last_mut() {
            Some(word) if !mark.is_uppercase() => word.push(mark),
            _ => words.push(mark.to_string()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    const PAGE: &str =
        "**Service time**: from start to end. **Policy**: what is chosen. A dark horse.";

    fn findings(path: &str, text: &str) -> Vec<String> {
        let file = RustFile::parse(&Source::new(path, text)).unwrap();
        check(&[file], PAGE).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_of_defined_words_pass_in_both_numbers() {
        let text = "pub struct ServiceTimes;\npub enum Policies {}\npub trait PolicyReader {}";
        assert_eq!(findings("crates/a/src/b.rs", text), Vec::<String>::new());
    }

    #[test]
    fn a_word_that_nobody_defines_is_found_in_every_kind_of_type() {
        let expected =
            "crates/a/src/b.rs:1: `ServiceHorse`: \"Horse\" is not a term of docs/glossary.md";
        assert_eq!(findings("crates/a/src/b.rs", "pub struct ServiceHorse;"), [expected]);
        for text in ["pub enum Horse {}", "pub trait Horse {}", "pub type Horse = u8;"] {
            assert_eq!(findings("crates/a/src/b.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_no_other_crate_sees_may_have_any_name() {
        let text =
            "struct Horse;\npub(crate) struct Mare;\n#[cfg(test)]\nmod tests { pub struct Foal; }";
        assert_eq!(findings("crates/a/src/b.rs", text), Vec::<String>::new());
        assert_eq!(findings("crates/a/tests/b.rs", "pub struct Horse;"), Vec::<String>::new());
    }

    #[test]
    fn two_types_of_one_name_are_found_wherever_they_are() {
        let file = |path: &str| RustFile::parse(&Source::new(path, "struct Part;")).unwrap();
        let files = [file("crates/a/src/b.rs"), file("crates/c/src/d.rs")];
        let found: Vec<String> = shared(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["crates/c/src/d.rs:1: `Part` is also the name of the type at crates/a/src/b.rs:1"]
        );
        assert!(shared(&files[..1]).is_empty());
    }
}
