//! The repository itself under the house rules: each test prints what is over and by how much.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

use assay_tidy::metadata::Workspace;
use assay_tidy::sources::{self, Source};
use assay_tidy::{Finding, RustFile};
use assay_tidy::{
    circles, dependencies, floors, glossary, length, links, openings, phrases, picture,
    readability, unsafe_code, vocabulary, wall_clock, workplace,
};

fn all() -> Vec<Source> {
    sources::read_all(&sources::root()).unwrap()
}

fn rust() -> Vec<RustFile> {
    let sources = all();
    let files = sources.iter().filter(|source| source.is("rs"));
    files
        .map(|source| RustFile::parse(source).unwrap_or_else(|finding| panic!("{finding}")))
        .collect()
}

fn packages() -> Vec<assay_tidy::metadata::Package> {
    Workspace::read(&sources::root()).unwrap().packages
}

#[track_caller]
fn tidy(findings: &[Finding]) {
    assert!(findings.is_empty(), "\n{}\n", assay_tidy::report(findings));
}

#[test]
fn stairs_lead_down_only() {
    tidy(&floors::check(&packages(), floors::FLOORS));
}

#[test]
fn the_picture_shows_the_crates_as_they_are() {
    let path = sources::root().join(picture::PATH);
    if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
        std::fs::write(&path, picture::draw(&packages())).unwrap();
    }
    tidy(&picture::check(&std::fs::read_to_string(path).unwrap(), &packages()));
}

#[test]
fn no_files_need_each_other() {
    tidy(&circles::check(&rust()));
}

#[test]
fn functions_and_files_keep_the_length_budget() {
    let files = rust();
    println!("lengths: {}", length::summary(&files, length::TABLES));
    tidy(&length::check(&files, &length::BUDGET, length::TABLES));
}

#[test]
fn every_file_opens_with_what_it_knows() {
    tidy(&openings::check(&all()));
}

#[test]
fn names_are_those_of_the_glossary() {
    tidy(&rust().iter().flat_map(glossary::check).collect::<Vec<_>>());
}

#[test]
fn types_are_named_by_the_glossary() {
    let page = std::fs::read_to_string(sources::root().join(vocabulary::GLOSSARY)).unwrap();
    tidy(&vocabulary::check(&rust(), &page));
}

#[test]
fn no_two_types_share_a_name() {
    tidy(&vocabulary::shared(&rust()));
}

#[test]
fn the_prose_is_english() {
    tidy(&phrases::check(&all()));
}

#[test]
fn the_manual_is_easy_to_read() {
    tidy(&readability::check(&all()));
}

#[test]
fn the_readme_quotes_the_benchmarks() {
    let sources = all();
    let text = |path: &str| &sources.iter().find(|source| source.path == path).unwrap().text;
    let page = text("benchmarks/README.md");
    let section = page.split("## ").find(|section| section.starts_with("Efficiency")).unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|') && line.contains("queue depth"));
    let cells: Vec<&str> = rows.map(|row| row.split('|').nth(2).unwrap().trim()).collect();
    let measured = text("benchmarks/results/engine.md");
    assert!(cells.iter().all(|cell| measured.contains(&cell.replace('–', " … "))), "{cells:?}");
    let mut ratios: Vec<&str> = cells.iter().filter_map(|cell| cell.split(' ').next()).collect();
    ratios.sort_unstable();
    let quoted = format!("{} to {} times the IOPS per CPU-second", ratios[0], ratios[3]);
    assert!(text("README.md").contains(&quoted), "README.md does not say \"{quoted}\"");
}

#[test]
fn the_project_speaks_of_itself_only() {
    let sources = all();
    let findings = sources.iter().flat_map(|source| workplace::check(source, workplace::HOSTS));
    tidy(&findings.collect::<Vec<_>>());
}

#[test]
fn unsafe_code_stays_in_the_engine() {
    tidy(&unsafe_code::check(&rust(), unsafe_code::ALLOWED));
}

#[test]
fn every_use_of_unsafe_is_counted_explained_and_told() {
    let sources = all();
    tidy(&unsafe_code::count(&rust(), &sources, unsafe_code::USES));
    let page = sources.iter().find(|source| source.path == "docs/methods/safety.md").unwrap();
    assert!(page.text.contains(&format!("written {} times", unsafe_code::USES)));
}

#[test]
fn a_step_of_the_clock_changes_no_interval() {
    tidy(&wall_clock::check(&rust(), wall_clock::ALLOWED));
}

#[test]
fn every_dependency_has_its_reason() {
    let sources = all();
    let text = |path: &str| {
        let found = sources.iter().find(|source| source.path == path);
        found.map(|source| source.text.as_str()).unwrap_or_default()
    };
    let reasons = text(dependencies::REASONS);
    tidy(&dependencies::check(text("Cargo.toml"), reasons, &packages()).unwrap());
}

#[test]
fn the_documentation_holds_together() {
    tidy(&links::check(&all()));
}
