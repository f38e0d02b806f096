//! The command line that a run was begun with, for the verbs that take a run up again.

use crate::cli::{CommandLine, Verb};
use crate::options::{TargetOptions, typed};
use assay_methods::target::is_simulated;
use assay_model::{Error, Result};
use assay_store::RunReader;
use clap::{Arg, Args, Command, Id, Parser};

/// The options that cannot be typed anew for a run that goes on: `own` ones of its verb and all of its targets, but for
/// what may be destroyed, which is never taken from an earlier command.
pub fn as_begun(own: &[&'static str]) -> Vec<Id> {
    let target = TargetOptions::augment_args(Command::new("target"));
    let of_target = target.get_arguments().map(Arg::get_id).filter(|id| *id != "destroy");
    own.iter().map(|name| Id::from(*name)).chain(of_target.cloned()).collect()
}

/// The options that a run was begun with, where `verb` finds its own; `only` says which runs can be taken up.
///
/// # Errors
/// A usage error when another verb, or another version of this one, began it.
pub fn begun<T>(run: &RunReader, only: &str, verb: impl FnOnce(Verb) -> Option<T>) -> Result<T> {
    let manifest = run.manifest();
    let parsed = CommandLine::try_parse_from(&manifest.command).ok();
    parsed.and_then(|command_line| verb(command_line.verb)).ok_or_else(|| {
        Error::usage(
            format!("the run {} was begun with `{}`", manifest.id, typed(&manifest.command)),
            format!("only a {only}, begun by this version, can be taken up again here"),
        )
    })
}

/// Refuses a run whose device had a time of its own, which ended with the program.
///
/// # Errors
/// A usage error that says how to run it again.
pub fn goes_on(run: &RunReader) -> Result<()> {
    let manifest = run.manifest();
    if !manifest.targets.iter().any(|target| is_simulated(target)) {
        return Ok(());
    }
    Err(Error::usage(
        format!("the run {} is of a simulated device", manifest.id),
        format!(
            "a device in virtual time does not go on; run it again: {}",
            typed(&manifest.command)
        ),
    ))
}
