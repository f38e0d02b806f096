//! `assay help`: the first screen, the help of a command, or what a word means.

use crate::exit::{ExitStatus, print};
use crate::first_screen::{ADVANCED, FIRST_SCREEN};
use assay_host::findings::{FindingRule, rules};
use assay_model::document::nearest;
use assay_model::{Error, Result};
use clap::{Args, Command};
use std::fmt::Write;

/// The page whose entries are explained.
const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

/// What the field calls entries of the glossary.
const ALSO_CALLED: [(&str, &str); 24] = [
    ("p50", "quantile"),
    ("p95", "quantile"),
    ("p99", "quantile"),
    ("p999", "quantile"),
    ("percentile", "quantile"),
    ("iodepth", "outstanding i/os"),
    ("qd", "outstanding i/os"),
    ("queue depth", "outstanding i/os"),
    ("queue_depth", "outstanding i/os"),
    ("depth", "outstanding i/os"),
    ("transfer size", "block size"),
    ("bs", "block size"),
    ("nopm", "new orders/min"),
    ("tpmc", "new orders/min"),
    ("tpcc", "oltp"),
    ("tpch", "dss"),
    ("tpce", "brokerage"),
    ("thp", "huge_pages"),
    ("huge pages", "huge_pages"),
    ("aas", "average active sessions"),
    ("wal", "redo"),
    ("rate", "open load"),
    ("working set", "active range"),
    ("saturation", "utilization"),
];

/// Show the help of a command, or explain a term or a finding
#[derive(Args)]
#[command(after_help = "Examples:
  assay help check
  assay help p99
  assay help service time")]
pub struct HelpOptions {
    /// A command, `advanced`, a term such as knee or p99, or the name of a finding
    topic: Vec<String>,
}

/// Carries the command out.
///
/// # Errors
/// A usage error with the nearest word, where nothing is called so.
pub fn run(options: &HelpOptions, program: Command) -> Result<ExitStatus> {
    let topic = options.topic.join(" ").to_lowercase();
    match topic.as_str() {
        "" => print(FIRST_SCREEN),
        "advanced" => print(ADVANCED),
        _ => match of_command(program, &options.topic) {
            Some(text) => print(&text),
            None => print(&explained(&topic)?),
        },
    }
}

/// The help of the command that the words name.
fn of_command(mut program: Command, words: &[String]) -> Option<String> {
    program.build();
    let mut command = &mut program;
    for word in words {
        command = command.find_subcommand_mut(word)?;
    }
    Some(command.render_long_help().to_string())
}

/// The entries of the glossary and the findings of this name.
fn explained(topic: &str) -> Result<String> {
    let also = ALSO_CALLED.iter().find(|(called, _)| *called == topic);
    let word = also.map_or(topic, |(_, entry)| entry);
    let mut text = String::new();
    for rule in rules().filter(|rule| is_rule(rule, word)) {
        _ = writeln!(text, "finding {}: {}\nremedy: {}\n", rule.name, rule.why, rule.remedy);
    }
    for entry in entries().filter(|entry| terms(entry).any(|term| is_same(term, word))) {
        _ = writeln!(text, "{}\n", plain(entry));
    }
    if text.is_empty() {
        return Err(unknown(word));
    }
    Ok(text.trim_end().to_owned() + "\n")
}

fn is_rule(rule: &FindingRule, word: &str) -> bool {
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
        format!("{near}the glossary in the documentation lists all terms"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_and_every_term_is_explained() {
        let rules = rules().map(|rule| rule.name.to_owned());
        let also = ALSO_CALLED.iter().map(|(called, _)| (*called).to_owned());
        for word in rules.chain(entries().flat_map(terms).map(str::to_lowercase)).chain(also) {
            assert!(explained(&word).is_ok(), "{word}");
        }
        assert!(explained("kneee").unwrap_err().hint().contains("knee"));
        assert_eq!(plain("**A**: see [the\npage](x.md)."), "A: see the page.");
    }
}
