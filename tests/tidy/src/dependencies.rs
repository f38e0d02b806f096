//! Every third-party crate is named once in the workspace and has its reason in
//! docs/architecture.md.

use crate::Finding;
use crate::metadata::Package;
use std::collections::BTreeSet;

/// Where the reasons stand.
pub const REASONS: &str = "docs/architecture.md";

/// `manifest` is the text of the root Cargo.toml, `reasons` that of docs/architecture.md.
///
/// # Errors
/// When the manifest is not TOML.
pub fn check(
    manifest: &str,
    reasons: &str,
    packages: &[Package],
) -> Result<Vec<Finding>, toml::de::Error> {
    let named = third_party(manifest)?;
    let explained = explained(reasons);
    let mut findings: Vec<Finding> = named
        .difference(&explained)
        .map(|name| Finding::new(REASONS, format!("no row gives the reason for `{name}`")))
        .collect();
    let gone = explained.difference(&named);
    findings.extend(
        gone.map(|name| Finding::new(REASONS, format!("`{name}` is no longer a dependency"))),
    );
    findings.extend(unnamed(packages, &named));
    Ok(findings)
}

/// The crates of `[workspace.dependencies]` that are not the house's own.
fn third_party(manifest: &str) -> Result<BTreeSet<String>, toml::de::Error> {
    let manifest: toml::Table = toml::from_str(manifest)?;
    let table = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let entries = table.and_then(toml::Value::as_table).into_iter().flatten();
    Ok(entries
        .filter(|(_, entry)| entry.get("path").is_none())
        .map(|(name, _)| name.clone())
        .collect())
}

/// The names in the first cells of the table of dependencies: rows whose first cell is one name in
/// backticks.
fn explained(reasons: &str) -> BTreeSet<String> {
    let rows = reasons.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once("` |")).map(|(name, _)| name.to_owned()).collect()
}

/// Dependencies that a crate declares past the workspace's table.
fn unnamed(packages: &[Package], named: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let foreign = package.dependencies.iter().filter(|dependency| dependency.path.is_none());
        let unnamed = foreign.filter(|dependency| !named.contains(&dependency.name));
        findings.extend(unnamed.map(|dependency| {
            let what = format!("`{}` is missing in [workspace.dependencies]", dependency.name);
            Finding::new(&package.name, what)
        }));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::package;

    const MANIFEST: &str =
        "[workspace.dependencies]\nassay-model = { path = \"x\" }\nserde = \"1\"\ntoml = \"1\"\n";

    fn findings(reasons: &str, dependency: &str) -> String {
        let packages = [package("assay-model", &[(dependency, None, false)])];
        crate::report(&check(MANIFEST, reasons, &packages).unwrap())
    }

    #[test]
    fn a_row_each_is_enough() {
        assert_eq!(findings("| crate | reason |\n| `serde` | a |\n| `toml` | b |\n", "serde"), "");
    }

    #[test]
    fn a_missing_reason_is_found() {
        let expected = "docs/architecture.md: no row gives the reason for `toml`";
        assert_eq!(findings("| `serde` | a |\nand toml\n", "serde"), expected);
    }

    #[test]
    fn a_stale_reason_is_found() {
        let found = findings("| `serde` | a |\n| `toml` | b |\n| `rand` | c |\n", "serde");
        assert_eq!(found, "docs/architecture.md: `rand` is no longer a dependency");
    }

    #[test]
    fn a_crate_past_the_workspace_is_found() {
        let found = findings("| `serde` | a |\n| `toml` | b |\n", "rand");
        assert_eq!(found, "assay-model: `rand` is missing in [workspace.dependencies]");
    }
}
