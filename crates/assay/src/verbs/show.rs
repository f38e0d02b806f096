//! `assay show`: the documents that come with the program: workloads, studies, criteria, arrays, mixes and schemas.

use crate::exit::{ExitStatus, print};
use assay_methods::patterns::{PATTERNS, Pattern};
use assay_methods::presets::{PRESETS, preset, preset_text};
use assay_methods::shipped_studies::{STUDIES, study_text};
use assay_model::contract::{SCHEMAS, schema_text};
use assay_model::document::to_toml;
use assay_model::study::parse_study;
use assay_model::{Error, Result};
use clap::{Args, ValueEnum};
use std::fmt::Write;

/// Lists and prints what is built in: workloads, studies, criteria, arrays, mixes, and the schemas of documents
#[derive(Args)]
#[command(after_help = "Examples:
  assay show
  assay show workload oltp > my.workload.toml
  assay show study emc-slob
  assay show schema run")]
pub struct Options {
    /// What to list: `workload`, `study`, `criteria`, `array`, `mix` or `schema`; by default all of them
    #[arg(value_enum, hide_possible_values = true)]
    kind: Option<Kind>,
    /// Print the one of this name instead of the list
    name: Option<String>,
}

/// Kinds of built-in documents.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    #[value(aliases = ["workloads", "preset", "presets", "pattern", "patterns"])]
    Workload,
    #[value(alias = "studies")]
    Study,
    #[value(alias = "criterion")]
    Criteria,
    #[value(alias = "arrays")]
    Array,
    #[value(alias = "mixes")]
    Mix,
    #[value(alias = "schemas")]
    Schema,
}

const KINDS: [Kind; 6] =
    [Kind::Workload, Kind::Study, Kind::Criteria, Kind::Array, Kind::Mix, Kind::Schema];

/// Carries the verb out.
///
/// # Errors
/// A usage error when there is nothing of that name.
pub fn run(options: &Options) -> Result<ExitStatus> {
    match (options.kind, &options.name) {
        (Some(kind), Some(name)) => print(&text(kind, name)?),
        (Some(kind), None) => print(&list(kind)?),
        (None, _) => {
            let all = KINDS.map(|kind| Ok(format!("{}:\n{}", title(kind), list(kind)?)));
            print(&all.into_iter().collect::<Result<Vec<String>>>()?.join("\n"))
        }
    }
}

const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Workload => "Workloads, for `assay run NAME TARGET`",
        Kind::Study => "Studies, for `assay study NAME TARGET`",
        Kind::Criteria => "Criteria, for `--criteria NAME`",
        Kind::Array => "Arrays, as the target `array:NAME`",
        Kind::Mix => "Mixes, for `assay load brokerage --mix NAME`",
        Kind::Schema => "JSON schemas of documents",
    }
}

/// Name and description of each.
fn list(kind: Kind) -> Result<String> {
    let mut text = String::new();
    for (name, what) in entries(kind)? {
        let line = format!("  {name:<24}{what}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    Ok(text)
}

fn entries(kind: Kind) -> Result<Vec<(&'static str, String)>> {
    match kind {
        Kind::Workload => {
            let names = PRESETS.iter().map(|(name, _)| *name);
            let names = names.chain(PATTERNS.iter().map(|pattern| pattern.name));
            names.map(|name| Ok((name, preset(name)?.description))).collect()
        }
        Kind::Study => {
            let described = |(name, text): (&'static str, &str)| {
                parse_study(text).map(|study| (name, study.description))
            };
            STUDIES.into_iter().map(described).collect()
        }
        Kind::Criteria => {
            let described = |(name, text): (&'static str, &str)| {
                assay_model::verdict::parse_criteria(text).map(|found| (name, found.description))
            };
            assay_judge::SHIPPED.into_iter().map(described).collect()
        }
        Kind::Array => {
            assay_arrays::names().map(|name| Ok((name, assay_arrays::find(name)?.title))).collect()
        }
        Kind::Mix => {
            let described = |(name, text): (&'static str, &str)| {
                assay_model::mix::Mix::parse(text).map(|mix| (name, mix.description))
            };
            assay_loads::brokerage::MIXES.into_iter().map(described).collect()
        }
        Kind::Schema => Ok(SCHEMAS.iter().map(|name| (*name, String::new())).collect()),
    }
}

/// The document of a name as it ships.
fn text(kind: Kind, name: &str) -> Result<String> {
    let found = match kind {
        Kind::Schema => return schema_text(name),
        Kind::Workload => match preset_text(name) {
            Some(text) => Some(text),
            None => {
                return Pattern::named(name).map_or_else(
                    || preset(name).and_then(|found| to_toml(&found)),
                    |pattern| to_toml(&pattern.workload()),
                );
            }
        },
        Kind::Study => Some(study_text(name)?),
        Kind::Criteria => named(&assay_judge::SHIPPED, name),
        Kind::Array => assay_arrays::text(name),
        Kind::Mix => named(&assay_loads::brokerage::MIXES, name),
    };
    found.map(str::to_owned).ok_or_else(|| unknown(kind, name))
}

fn named(shipped: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    shipped.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn unknown(kind: Kind, name: &str) -> Error {
    let known = entries(kind).unwrap_or_default();
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    Error::usage(
        format!("nothing of the name '{name}' is built in"),
        format!("write one of {}", names.join(", ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::workload::parse_workload;

    #[test]
    fn everything_that_is_listed_can_be_printed() {
        for kind in KINDS {
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
        for (name, _) in entries(Kind::Workload).unwrap() {
            let printed = parse_workload(&text(Kind::Workload, name).unwrap()).unwrap();
            assert_eq!(printed, preset(name).unwrap(), "{name}");
        }
    }
}
