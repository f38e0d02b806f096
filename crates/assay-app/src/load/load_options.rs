//! A load as a study has it: options by name, which the reader of the command line takes as a
//! whole.

use super::LoadPlan;
use crate::context::Context;
use crate::finish::FinishedRun;
use crate::plan_document::PlanDocument;
use assay_model::document::nearest;
use assay_model::study::FactorValue;
use assay_model::usage::usage_error;
use assay_model::{Error, Result};
use clap::{Arg, Command, FromArgMatches, Subcommand};

impl LoadPlan {
    /// A load by its name, on a target.
    ///
    /// # Errors
    /// A usage error with the names of all loads.
    pub fn named(kind: &str, target: &str) -> Result<Self> {
        LoadOptions::new(kind, target)?.plan()
    }

    /// Carries it out as a run of its own.
    pub fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.load().check()?;
        self.load().run(&PlanDocument::new(self)?, context)
    }
}

/// The command of a load: its target, and options by name.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The directory, or the address of a server.
    pub target: String,
    /// The command of the load, which knows its options.
    command: Command,
    set: Vec<(String, FactorValue)>,
}

impl LoadOptions {
    /// A load by its name, with no option set.
    ///
    /// # Errors
    /// A usage error with the names of all loads.
    pub fn new(kind: &str, target: &str) -> Result<Self> {
        let loads = LoadPlan::augment_subcommands(Command::new("bench"));
        let command = loads.find_subcommand(kind).cloned().ok_or_else(|| {
            let names: Vec<&str> = loads.get_subcommands().map(Command::get_name).collect();
            Error::usage(
                format!("there is no load '{kind}'"),
                format!("loads are {}", names.join(", ")),
            )
        })?;
        Ok(Self { target: target.to_owned(), command, set: Vec::new() })
    }

    /// The names of all options.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.command.get_arguments().filter_map(Arg::get_long)
    }

    /// The name of an option by that name or another one of it, with `-` or `_`.
    pub fn name_of(&self, name: &str) -> Option<&str> {
        let spelled = name.replace('_', "-");
        let is_named = |option: &&Arg| {
            let others = option.get_all_aliases().unwrap_or_default();
            option.get_long() == Some(&spelled) || others.contains(&spelled.as_str())
        };
        self.command.get_arguments().find(is_named).and_then(Arg::get_long)
    }

    /// The value that an option was set to.
    pub fn value(&self, name: &str) -> Option<&FactorValue> {
        let name = self.name_of(name)?;
        self.set.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// Sets an option in place of an earlier value.
    ///
    /// # Errors
    /// A usage error with the nearest name when there is no such option.
    pub fn set(&mut self, name: &str, value: &FactorValue) -> Result<()> {
        let known = self.name_of(name).map(str::to_owned);
        let known = known.ok_or_else(|| self.unknown(name))?;
        self.set.retain(|(earlier, _)| *earlier != known);
        if *value != FactorValue::Flag(false) {
            self.set.push((known, value.clone()));
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> Error {
        let names: Vec<String> = self.names().map(str::to_owned).collect();
        let near = nearest(&name.replace('_', "-"), &names)
            .map(|near| format!("did you mean '{near}'? "))
            .unwrap_or_default();
        let kind = self.command.get_name();
        Error::usage(
            format!("the load '{kind}' has no '{name}'"),
            format!("{near}see `assay bench {kind} --help`"),
        )
    }

    /// The words of the command behind the program's name.
    pub fn words(&self) -> Vec<String> {
        let begin = ["bench", self.command.get_name(), &self.target].map(str::to_owned);
        let option = |(name, value): &(String, FactorValue)| match value {
            FactorValue::Flag(_) => format!("--{name}"),
            value => format!("--{name}={value}"),
        };
        begin.into_iter().chain(self.set.iter().map(option)).collect()
    }

    /// What the command means.
    ///
    /// # Errors
    /// A usage error when a value is not one of its option, or options contradict each other.
    pub fn plan(&self) -> Result<LoadPlan> {
        let loads = Command::new("bench").subcommand(self.command.clone());
        let matches = loads.try_get_matches_from(self.words());
        matches.and_then(|matches| LoadPlan::from_arg_matches(&matches)).map_err(|error| {
            usage_error(&error, &format!("assay bench {}", self.command.get_name()))
        })
    }
}
