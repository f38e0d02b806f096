//! The host, the storage and what was found about them, as text.

use super::layout::Text;
use crate::facts;
use assay_model::environment::{Environment, Finding, Severity, Storage};

/// Everything that is known.
pub(super) fn environment(text: &mut Text, environment: &Environment) {
    for storage in &environment.storage {
        layers(text, storage);
    }
    text.heading("Host");
    let host = facts::host(&environment.host).into_iter();
    let rows: Vec<(String, String)> = host.map(|(name, value)| (name.to_owned(), value)).collect();
    text.pairs(&rows);
    text.heading("Findings");
    if environment.findings.is_empty() {
        text.item("Nothing was found that needs attention.");
    }
    for found in &environment.findings {
        finding(text, found);
    }
    let unreadable: Vec<String> = facts::unreadable(environment).collect();
    if !unreadable.is_empty() {
        text.heading("What could not be read");
    }
    for fact in unreadable {
        text.item(&fact);
    }
}

/// What costs speed or puts data at risk; mere notices are for those who ask.
pub(super) fn grave_findings(text: &mut Text, environment: &Environment) {
    let mut grave = environment.findings_from(Severity::Warning).peekable();
    if grave.peek().is_some() {
        text.heading("Findings about the host and the storage");
    }
    for found in grave {
        finding(text, found);
    }
}

/// One finding with why it matters and the remedy.
fn finding(text: &mut Text, finding: &Finding) {
    let severity = facts::severity(finding.severity);
    text.item(&format!("{severity}: {}: {}", finding.what, finding.value));
    text.deeper(&format!("{}; remedy: {}", finding.why, finding.remedy));
}

/// The layers under one target.
fn layers(text: &mut Text, storage: &Storage) {
    text.heading(&format!("Storage under {}", storage.stack.path));
    for layer in facts::layers(storage) {
        let size = if layer.size.is_empty() { String::new() } else { format!(", {}", layer.size) };
        text.item(&format!("{}: {}{size}, on {}", layer.name, layer.kind, layer.lower));
        if !layer.settings.is_empty() {
            text.deeper(&layer.settings);
        }
    }
}
