//! `assay list`: what comes with the program: workloads, studies, criteria, arrays, catalog
//! entries, mixes and schemas.

mod arrays;
mod catalog;

use crate::exit::{ExitStatus, print};
use assay_methods::patterns::{LoadPattern, PATTERNS};
use assay_methods::presets::{PRESETS, preset, preset_text};
use assay_methods::shipped_studies::{STUDIES, study_text};
use assay_model::contract::{SCHEMAS, schema_text};
use assay_model::document::to_toml;
use assay_model::study::parse_study;
use assay_model::{Error, Result};
use clap::{Args, Subcommand};
use std::fmt::Write;

/// List or print built-in items
#[derive(Args)]
#[command(after_help = "Examples:
  assay list workloads
  assay list workloads oltp > my.workload.toml
  assay list catalog gp3")]
pub struct ListOptions {
    #[command(subcommand)]
    kind: Option<ListKind>,
}

/// Kinds of what is built in.
#[derive(Subcommand)]
enum ListKind {
    /// List workloads, or print one
    #[command(aliases = ["workload", "presets", "preset", "patterns", "pattern"])]
    Workloads(ListedName),
    /// List studies, or print one
    #[command(alias = "study")]
    Studies(ListedName),
    /// List criteria, or print one
    Criteria(ListedName),
    #[command(alias = "array")]
    Arrays(arrays::ArraysOptions),
    #[command(alias = "catalogs")]
    Catalog(catalog::CatalogOptions),
    /// List transaction mixes, or print one
    #[command(alias = "mix")]
    Mixes(ListedName),
    /// List the JSON schemas of documents, or print one
    #[command(alias = "schema")]
    Schemas(ListedName),
}

/// One of a kind.
#[derive(Args)]
struct ListedName {
    /// Print this item instead of the list
    name: Option<String>,
}

/// Built-in documents that are named alone.
#[derive(Clone, Copy)]
enum Shipped {
    Workload,
    Study,
    Criteria,
    Array,
    Mix,
    Schema,
}

impl Shipped {
    const ALL: [Self; 6] =
        [Self::Workload, Self::Study, Self::Criteria, Self::Array, Self::Mix, Self::Schema];

    /// The word behind `assay list`, and where a name of it is written.
    const fn named(self) -> [&'static str; 2] {
        match self {
            Self::Workload => ["workloads", "for `assay run NAME STORAGE`"],
            Self::Study => ["studies", "for `assay study NAME STORAGE`"],
            Self::Criteria => ["criteria", "for `--criteria NAME`"],
            Self::Array => ["arrays", "simulated storage, written array:NAME"],
            Self::Mix => ["mixes", "for `assay bench brokerage --mix NAME`"],
            Self::Schema => ["schemas", "JSON schemas of documents"],
        }
    }
}

/// Carries the command out.
///
/// # Errors
/// A usage error when there is nothing of that name.
pub fn run(options: &ListOptions) -> Result<ExitStatus> {
    match &options.kind {
        None => print(&overview()?),
        Some(ListKind::Arrays(options)) => arrays::run(options),
        Some(ListKind::Catalog(options)) => catalog::run(options),
        Some(ListKind::Workloads(named)) => show(Shipped::Workload, named),
        Some(ListKind::Studies(named)) => show(Shipped::Study, named),
        Some(ListKind::Criteria(named)) => show(Shipped::Criteria, named),
        Some(ListKind::Mixes(named)) => show(Shipped::Mix, named),
        Some(ListKind::Schemas(named)) => show(Shipped::Schema, named),
    }
}

/// How many there are of each kind.
fn overview() -> Result<String> {
    let mut text = String::from(
        "Built-in items. `assay list KIND` lists one kind; `assay list KIND NAME` prints one \
         item:\n",
    );
    for kind in Shipped::ALL {
        let ([word, place], count) = (kind.named(), entries(kind)?.len());
        let _ = writeln!(text, "  {word:<12}{count:>4}  {place}");
    }
    let count = assay_app::sizing::catalog_index(&[])?.listings().len();
    let _ = writeln!(
        text,
        "  {:<12}{count:>4}  choices of `assay size`, with limits and prices",
        "catalog"
    );
    Ok(text)
}

fn show(kind: Shipped, named: &ListedName) -> Result<ExitStatus> {
    print(&match &named.name {
        Some(name) => text(kind, name)?,
        None => list(kind)?,
    })
}

/// Name and description of each.
fn list(kind: Shipped) -> Result<String> {
    if matches!(kind, Shipped::Study) {
        return studies();
    }
    let mut text = String::new();
    for (name, what) in entries(kind)? {
        let line = format!("  {name:<24}{what}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    Ok(text)
}

/// Studies below the papers that they repeat, with the places in them.
fn studies() -> Result<String> {
    let known: Vec<_> =
        STUDIES.into_iter().map(|(_, text)| parse_study(text)).collect::<Result<_>>()?;
    let mut papers: Vec<&str> = known.iter().map(|study| study.paper.as_str()).collect();
    papers.sort_unstable();
    papers.dedup();
    let mut text = String::new();
    for paper in papers {
        let _ = writeln!(text, "{paper}");
        for study in known.iter().filter(|study| study.paper == paper) {
            let _ = writeln!(text, "  {:<26}{}: {}", study.name, study.place, study.description);
        }
    }
    Ok(text)
}

fn entries(kind: Shipped) -> Result<Vec<(&'static str, String)>> {
    match kind {
        Shipped::Workload => {
            let names = PRESETS.iter().map(|(name, _)| *name);
            let names = names.chain(PATTERNS.iter().map(|pattern| pattern.name));
            names.map(|name| Ok((name, preset(name)?.description))).collect()
        }
        Shipped::Study => {
            let described = |(name, text): (&'static str, &str)| {
                parse_study(text).map(|study| (name, study.description))
            };
            STUDIES.into_iter().map(described).collect()
        }
        Shipped::Criteria => {
            let described = |(name, text): (&'static str, &str)| {
                assay_model::verdict::parse_criteria(text).map(|found| (name, found.description))
            };
            assay_judge::SHIPPED.into_iter().map(described).collect()
        }
        Shipped::Array => {
            assay_arrays::names().map(|name| Ok((name, assay_arrays::find(name)?.title))).collect()
        }
        Shipped::Mix => {
            let described = |(name, text): (&'static str, &str)| {
                assay_model::mix::Mix::parse(text).map(|mix| (name, mix.description))
            };
            assay_loads::brokerage::MIXES.into_iter().map(described).collect()
        }
        Shipped::Schema => Ok(SCHEMAS.iter().map(|name| (*name, String::new())).collect()),
    }
}

/// The document of a name as it ships.
fn text(kind: Shipped, name: &str) -> Result<String> {
    let found = match kind {
        Shipped::Schema => return schema_text(name),
        Shipped::Workload => match preset_text(name) {
            Some(text) => Some(text),
            None => {
                return LoadPattern::named(name).map_or_else(
                    || preset(name).and_then(|found| to_toml(&found)),
                    |pattern| to_toml(&pattern.workload()),
                );
            }
        },
        Shipped::Study => Some(study_text(name)?),
        Shipped::Criteria => named(&assay_judge::SHIPPED, name),
        Shipped::Array => assay_arrays::text(name),
        Shipped::Mix => named(&assay_loads::brokerage::MIXES, name),
    };
    found.map(str::to_owned).ok_or_else(|| unknown(kind, name))
}

fn named(shipped: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    shipped.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn unknown(kind: Shipped, name: &str) -> Error {
    let known = entries(kind).unwrap_or_default();
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    Error::usage(
        format!("there is no built-in '{name}'"),
        format!("write one of {}", names.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::workload::parse_workload;

    #[test]
    fn everything_that_is_listed_can_be_printed() {
        for kind in Shipped::ALL {
            let known = entries(kind).unwrap();
            assert!(!known.is_empty());
            for (name, _) in known {
                assert!(text(kind, name).unwrap().len() > 40, "{name}");
            }
            assert!(!text(kind, "nothing").unwrap_err().hint().is_empty());
        }
    }

    #[test]
    fn a_printed_workload_is_the_preset() {
        for (name, _) in entries(Shipped::Workload).unwrap() {
            let printed = parse_workload(&text(Shipped::Workload, name).unwrap()).unwrap();
            assert_eq!(printed, preset(name).unwrap(), "{name}");
        }
    }
}
