//! Where it was measured: what was found, the storage from the path to the hardware, the host.

use super::environment_facts as facts;
use crate::input::Report;
use crate::view::{Block, Cell, Finding, Look, Table};
use assay_model::environment::{self, Environment, Severity, Storage};

/// The section of a report; a terminal has only what costs speed or puts data at risk.
pub(super) fn section<'a>(report: &Report) -> Vec<Block<'a>> {
    let Some(environment) = &report.environment else {
        return Vec::new();
    };
    let grave: Vec<Finding> = environment.findings_from(Severity::Warning).map(finding).collect();
    let title = "Findings about the host and the storage";
    let grave = Block::part(title, vec![Block::Findings(grave)]);
    vec![Block::OnPage(blocks(environment)), Block::InTerminal(vec![grave])]
}

/// Everything that is known.
pub(super) fn blocks<'a>(environment: &Environment) -> Vec<Block<'a>> {
    let mut blocks = vec![findings(environment.findings.iter().map(finding).collect())];
    blocks.extend(environment.storage.iter().map(storage));
    blocks.push(Block::part("Host", vec![Block::facts(facts::host(&environment.host))]));
    let unreadable = vec![Block::List(facts::unreadable(environment).collect())];
    blocks.push(Block::folded("Missing data", unreadable));
    blocks
}

/// The same for a first screen: findings without reasons and remedies.
pub(super) fn brief_blocks<'a>(environment: &Environment) -> Vec<Block<'a>> {
    let brief = |found| Finding { why: String::new(), remedy: String::new(), ..finding(found) };
    let mut blocks = blocks(environment);
    if let Some(first) = blocks.first_mut() {
        *first = findings(environment.findings.iter().map(brief).collect());
    }
    blocks
}

/// All findings, the gravest first.
fn findings<'a>(found: Vec<Finding>) -> Block<'a> {
    if found.is_empty() {
        return Block::Note("Nothing needs attention.".to_owned());
    }
    Block::part("Findings", vec![Block::Findings(found)])
}

/// One finding with why it matters and the remedy.
fn finding(finding: &environment::Finding) -> Finding {
    Finding {
        severity: Some(finding.severity),
        what: format!("{}: {}", finding.what, finding.value),
        why: finding.why.clone(),
        remedy: finding.remedy.clone(),
    }
}

/// The layers under one target.
fn storage<'a>(storage: &Storage) -> Block<'a> {
    let table = Table::new("From the path to the hardware").look(Look::Records);
    let table = table.words("Layer").words("Kind");
    let mut table = table.numbers("Size").words("Settings").words("Lies on");
    for layer in facts::layers(storage) {
        table.row(vec![
            Cell::Words(layer.name),
            Cell::Words(layer.kind),
            Cell::Number(layer.size),
            Cell::Words(layer.settings),
            if layer.lower.is_empty() { Cell::Unknown } else { Cell::Words(layer.lower) },
        ]);
    }
    Block::part(format!("Storage under {}", storage.stack.path), vec![Block::Table(table)])
}
