//! Where it was measured: what was found, the storage from the path to the hardware, the host.

use super::environment_facts as facts;
use crate::input::GivenReport;
use crate::view::{CellLook, ViewBlock, ViewCell, ViewFinding, ViewTable};
use assay_model::environment::{self, Environment, Severity, Storage};

/// The section of a report; a terminal has only what costs speed or puts data at risk.
pub(super) fn section<'a>(report: &GivenReport) -> Vec<ViewBlock<'a>> {
    let Some(environment) = &report.environment else {
        return Vec::new();
    };
    let grave: Vec<ViewFinding> =
        environment.findings_from(Severity::Warning).map(finding).collect();
    let title = "Findings about the host and the storage";
    let grave = ViewBlock::part(title, vec![ViewBlock::Findings(grave)]);
    vec![ViewBlock::OnPage(blocks(environment)), ViewBlock::InTerminal(vec![grave])]
}

/// Everything that is known.
pub(super) fn blocks<'a>(environment: &Environment) -> Vec<ViewBlock<'a>> {
    let mut blocks = vec![findings(environment.findings.iter().map(finding).collect())];
    blocks.extend(environment.storage.iter().map(storage));
    blocks.push(ViewBlock::part("Host", vec![ViewBlock::facts(facts::host(&environment.host))]));
    let unreadable = vec![ViewBlock::List(facts::unreadable(environment).collect())];
    blocks.push(ViewBlock::folded("Missing data", unreadable));
    blocks
}

/// The same for a first screen: findings without reasons and remedies.
pub(super) fn brief_blocks<'a>(environment: &Environment) -> Vec<ViewBlock<'a>> {
    let brief = |found| ViewFinding { why: String::new(), remedy: String::new(), ..finding(found) };
    let mut blocks = blocks(environment);
    if let Some(first) = blocks.first_mut() {
        *first = findings(environment.findings.iter().map(brief).collect());
    }
    blocks
}

/// All findings, the gravest first.
fn findings<'a>(found: Vec<ViewFinding>) -> ViewBlock<'a> {
    if found.is_empty() {
        return ViewBlock::Note("Nothing needs attention.".to_owned());
    }
    ViewBlock::part("Findings", vec![ViewBlock::Findings(found)])
}

/// One finding with why it matters and the remedy.
fn finding(finding: &environment::Finding) -> ViewFinding {
    ViewFinding {
        severity: Some(finding.severity),
        what: format!("{}: {}", finding.what, finding.value),
        why: finding.why.clone(),
        remedy: finding.remedy.clone(),
    }
}

/// The layers under one target.
fn storage<'a>(storage: &Storage) -> ViewBlock<'a> {
    let table = ViewTable::new("From the path to the hardware").look(CellLook::Records);
    let table = table.words("Layer").words("Kind");
    let mut table = table.numbers("Size").words("Settings").words("Lies on");
    for layer in facts::layers(storage) {
        table.row(vec![
            ViewCell::Words(layer.name),
            ViewCell::Words(layer.kind),
            ViewCell::Number(layer.size),
            ViewCell::Words(layer.settings),
            if layer.lower.is_empty() { ViewCell::Unknown } else { ViewCell::Words(layer.lower) },
        ]);
    }
    ViewBlock::part(format!("Storage under {}", storage.stack.path), vec![ViewBlock::Table(table)])
}
