//! What `cargo metadata` says of the workspace's own crates and what they depend on.

use serde::Deserialize;
use std::io;
use std::path::Path;
use std::process::Command;

/// The answer of `cargo metadata --no-deps`, as far as the rules need it.
#[derive(Debug, Deserialize)]
pub struct Workspace {
    /// The crates of the workspace.
    pub packages: Vec<Package>,
}

/// One crate of the workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// The name in Cargo.toml.
    pub name: String,
    /// Everything it depends on, the workspace's own crates included.
    pub dependencies: Vec<Dependency>,
}

/// One line of a `[dependencies]` table.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The name of the crate depended on.
    pub name: String,
    /// `dev`, `build`, or nothing for an ordinary dependency.
    pub kind: Option<String>,
    /// The folder of a crate of the workspace.
    pub path: Option<String>,
}

impl Dependency {
    /// Whether only tests need it.
    pub fn is_for_tests(&self) -> bool {
        self.kind.as_deref() == Some("dev")
    }
}

impl Workspace {
    /// Asks cargo.
    ///
    /// # Errors
    /// When cargo cannot be started, refuses, or answers something unknown.
    pub fn read(root: &Path) -> io::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let answer = Command::new(cargo)
            .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
            .current_dir(root)
            .output()?;
        if !answer.status.success() {
            let complaint = String::from_utf8_lossy(&answer.stderr).into_owned();
            return Err(io::Error::other(format!("cargo metadata: {complaint}")));
        }
        Ok(serde_json::from_slice(&answer.stdout)?)
    }
}

/// Shorthand for the tests of the rules: a crate with `(name, kind, own)` dependencies.
#[cfg(test)]
pub(crate) fn package(name: &str, dependencies: &[(&str, Option<&str>, bool)]) -> Package {
    let dependency = |(name, kind, own): &(&str, Option<&str>, bool)| Dependency {
        name: (*name).to_owned(),
        kind: kind.map(ToOwned::to_owned),
        path: own.then(|| format!("crates/{name}")),
    };
    Package { name: name.to_owned(), dependencies: dependencies.iter().map(dependency).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_knows_this_crate() {
        let workspace = Workspace::read(&crate::sources::root()).unwrap();
        let tidy = workspace.packages.iter().find(|package| package.name == "assay-tidy").unwrap();
        assert!(tidy.dependencies.iter().any(|dependency| dependency.name == "syn"));
    }
}
