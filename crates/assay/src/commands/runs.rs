//! `assay runs`: what the store holds, and what runs left behind.

mod clean;
mod import;

use crate::exit::{ExitStatus, json, print};
use crate::finish::show;
use crate::options::{COMMON, OutputOptions, StoreOptions};
use assay_app::loaded_run::LoadedRun;
use assay_model::Result;
use assay_model::measurement::Finish;
use assay_model::number::real;
use assay_model::run::Utc;
use assay_model::units::show_bytes;
use assay_store::{RunListing, RunStatus, RunSummary, Store, UnreadableRun};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::Path;

/// List, name, import and remove runs
#[derive(Args)]
#[command(after_help = "Examples:
  assay runs
  assay runs import fio.json
  assay runs remove RUN")]
pub struct RunsOptions {
    #[command(subcommand)]
    what: Option<What>,
    /// List only runs with this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print the list as JSON instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
}

#[derive(Subcommand)]
enum What {
    /// List runs, newest first
    #[command(alias = "ls")]
    List {
        /// List only runs with this name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Print the list as JSON instead of text
        #[arg(long, help_heading = COMMON)]
        json: bool,
    },
    /// Show one run as text or JSON
    Show {
        /// Id of a run or its beginning, `latest`, or a run's directory
        #[arg(default_value = "latest")]
        run: String,
        #[command(flatten, next_help_heading = COMMON)]
        output: OutputOptions,
    },
    /// Name a run
    #[command(alias = "name")]
    Rename {
        /// Id of a run or its first characters, its name, or `latest`
        run: String,
        /// New name
        name: String,
    },
    /// Delete runs from the store
    #[command(aliases = ["rm", "delete"])]
    Remove {
        /// Ids of runs, or their first characters
        #[arg(required = true)]
        runs: Vec<String>,
    },
    Import(import::ImportOptions),
    /// Remove leftovers of killed runs from directories or servers
    Clean(clean::CleanOptions),
}

/// Carries the command out.
pub fn run(options: &RunsOptions) -> Result<ExitStatus> {
    let store = options.store.open();
    match &options.what {
        None => list(&store, options.name.as_deref(), options.json),
        Some(What::List { name, json }) => {
            list(&store, name.as_deref().or(options.name.as_deref()), *json || options.json)
        }
        Some(What::Rename { run, name }) => {
            let id = store.open(run)?.manifest().id.clone();
            store.label(&id, name)?;
            print(&format!("{id} is called {name}\n"))
        }
        Some(What::Show { run, output }) => {
            let run = store.open(run)?;
            show(&LoadedRun::read(&run)?, &run, output)
        }
        Some(What::Remove { runs }) => remove(&store, runs),
        Some(What::Import(import)) => import::run(import, &options.store),
        Some(What::Clean(options)) => clean::run(options, &store),
    }
}

fn list(store: &Store, name: Option<&str>, as_json: bool) -> Result<ExitStatus> {
    let mut listing = store.runs()?;
    listing.runs.retain(|run| name.is_none() || run.label.as_deref() == name);
    if as_json {
        return print(&json(&document(&listing))?);
    }
    let mut rows = vec![row("run", "kind", "begun (UTC)", "state", "name", "target")];
    for run in &listing.runs {
        let begun = Utc::of(run.created_unix_ns).to_string();
        let label = run.label.as_deref().unwrap_or("-");
        let targets = run.targets.join(", ");
        rows.push(row(&run.id, run.kind.name(), &begun, state(run), label, &targets));
    }
    for unreadable in &listing.unreadable {
        rows.push(format!("{}: {}\n", unreadable.path.display(), unreadable.error.message()));
    }
    for path in &listing.begun {
        let what = "it was killed before it started; `assay runs remove` removes it";
        rows.push(format!("{}: {what}\n", path.display()));
    }
    if rows.len() == 1 {
        rows = vec![format!("no runs in {}\n", store.root().display())];
    }
    print(&rows.concat())
}

fn row(id: &str, kind: &str, begun: &str, state: &str, label: &str, target: &str) -> String {
    format!("{id:<34} {kind:<10} {begun:<20} {state:<12} {label:<12} {target}\n")
}

/// The list as a program reads it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "Runs", deny_unknown_fields))]
struct RunList<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// The runs of the store, the newest first.
    runs: Vec<Listed<'a>>,
    /// What cannot be read.
    unreadable: Vec<Unread<'a>>,
}

/// A run of the store.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Listed<'a> {
    /// Its id.
    id: &'a str,
    /// What people call it.
    name: Option<&'a str>,
    /// What it was made for.
    kind: &'static str,
    /// When it was begun, ns since 1970 UTC.
    created_unix_ns: u64,
    /// Where it stands: running, unfinished, complete, interrupted or failed.
    state: &'static str,
    /// The targets as they were named.
    targets: &'a [String],
    /// Its directory.
    path: &'a Path,
}

/// A run that cannot be read.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct Unread<'a> {
    /// Its directory.
    path: &'a Path,
    /// Why.
    reason: &'a str,
}

fn document(listing: &RunListing) -> RunList<'_> {
    RunList {
        format: 1,
        runs: listing.runs.iter().map(Listed::of).collect(),
        unreadable: listing.unreadable.iter().map(Unread::of).collect(),
    }
}

impl<'a> Listed<'a> {
    fn of(run: &'a RunSummary) -> Self {
        Self {
            id: &run.id,
            name: run.label.as_deref(),
            kind: run.kind.name(),
            created_unix_ns: run.created_unix_ns,
            state: state(run),
            targets: &run.targets,
            path: &run.path,
        }
    }
}

impl<'a> Unread<'a> {
    fn of(unread: &'a UnreadableRun) -> Self {
        Self { path: &unread.path, reason: unread.error.message() }
    }
}

const fn state(run: &RunSummary) -> &'static str {
    match &run.status {
        RunStatus::Writing(_) => "running",
        RunStatus::Unfinished | RunStatus::Finished(Finish::Unfinished) => "unfinished",
        RunStatus::Finished(Finish::Complete) => "complete",
        RunStatus::Finished(Finish::Interrupted) => "interrupted",
        RunStatus::Finished(Finish::Failed { .. }) => "failed",
    }
}

fn remove(store: &Store, runs: &[String]) -> Result<ExitStatus> {
    let remove = |name: &String| {
        let removed = store.remove(name)?;
        Ok(format!("removed {} ({})\n", removed.id, show_bytes(real(removed.bytes))))
    };
    print(&runs.iter().map(remove).collect::<Result<String>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_tidy::contract::{assert_kept, schema_of};

    #[test]
    fn the_contract_of_the_list_is_that_of_its_type() {
        assert_kept("runs", &schema_of::<RunList<'_>>());
    }
}
