//! `assay explain`: what a word means, and what to do about a finding.

use crate::exit::{ExitStatus, print};
use assay_host::findings::{Rule, rules};
use assay_model::document::nearest;
use assay_model::{Error, Result};
use clap::Args;
use std::fmt::Write;

/// The page whose entries are explained.
const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// Explains a word of the glossary or a finding: what it means, why it matters and what to do about it
#[derive(Args)]
#[command(after_help = "Examples:
  assay explain knee
  assay explain service time
  assay explain scheduler")]
pub struct Options {
    /// A word of the glossary, or the name of a finding
    #[arg(required = true)]
    word: Vec<String>,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let word = options.word.join(" ").to_lowercase();
    let mut text = String::new();
    for rule in rules().filter(|rule| is_rule(rule, &word)) {
        _ = writeln!(text, "finding {}: {}\nremedy: {}\n", rule.name, rule.why, rule.remedy);
    }
    for entry in entries().filter(|entry| terms(entry).any(|term| is_same(term, &word))) {
        _ = writeln!(text, "{}\n", plain(entry));
    }
    if text.is_empty() {
        return Err(unknown(&word));
    }
    print(&(text.trim_end().to_owned() + "\n"))
}

fn is_rule(rule: &Rule, word: &str) -> bool {
    rule.name == word || rule.name.replace('_', " ") == word
}

/// The paragraphs of the glossary.
fn entries() -> impl Iterator<Item = &'static str> {
    GLOSSARY.split("\n\n").filter(|entry| entry.contains("**"))
}

/// The words in bold type of an entry, of lists each one.
fn terms(entry: &str) -> impl Iterator<Item = &str> {
    entry.split("**").skip(1).step_by(2).flat_map(|term| term.split(", "))
}

/// The same word, in one number or the other.
fn is_same(term: &str, word: &str) -> bool {
    let single = |text: &str| text.to_lowercase().trim_end_matches('s').to_owned();
    single(term) == single(word)
}

/// An entry for a terminal: one line, without marks.
fn plain(entry: &str) -> String {
    let mut text = entry.replace("**", "").replace('*', "").replace('\n', " ");
    while let Some((before, rest)) = text.split_once("](") {
        let Some((_, behind)) = rest.split_once(')') else { break };
        text = format!("{}{behind}", before.replacen('[', "", 1));
    }
    text
}

fn unknown(word: &str) -> Error {
    let names = rules().map(|rule| rule.name.to_owned());
    let known: Vec<String> =
        entries().flat_map(terms).map(str::to_lowercase).chain(names).collect();
    let near =
        nearest(word, &known).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    Error::usage(
        format!("there is no entry '{word}'"),
        format!("{near}the glossary of the documentation lists all words"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_and_every_term_is_explained() {
        for word in rules()
            .map(|rule| rule.name.to_owned())
            .chain(entries().flat_map(terms).map(str::to_owned))
        {
            let found = run(&Options { word: vec![word.clone()] });
            assert!(found.is_ok(), "{word}");
        }
        assert!(
            run(&Options { word: vec!["kneee".to_owned()] }).unwrap_err().hint().contains("knee")
        );
        assert_eq!(plain("**A**: see [the\npage](x.md)."), "A: see the page.");
    }
}
