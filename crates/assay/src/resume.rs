//! The command line that a run was begun with, for runs of versions that kept no plan.

use crate::options::TargetOptions;
use assay_app::command_line::typed;
use assay_model::{Error, Result};
use assay_store::RunReader;
use clap::{Arg, Args, Command, Id};

/// The options that cannot be typed again for a run that goes on: `own` ones of its verb and all of its targets, but for
/// what may be destroyed, which is never taken from an earlier command.
pub fn locked_options(own: &[&'static str]) -> Vec<Id> {
    let target = TargetOptions::augment_args(Command::new("target"));
    let of_target = target.get_arguments().map(Arg::get_id);
    let of_target = of_target.filter(|id| !["destroy", "wipe", "yes"].contains(&id.as_str()));
    own.iter().map(|name| Id::from(*name)).chain(of_target.cloned()).collect()
}

/// The options that a run was begun with by the verb of this name; `only` says which runs can be taken up.
///
/// # Errors
/// A usage error when another verb, or another version of this one, began it.
pub fn original_options<T: Args>(run: &RunReader, verb: &'static str, only: &str) -> Result<T> {
    let manifest = run.manifest();
    options_of(&manifest.command, verb).ok_or_else(|| {
        Error::usage(
            format!("the run {} was begun with `{}`", manifest.id, typed(&manifest.command)),
            format!("only a {only}, begun by this version, can be taken up again here"),
        )
    })
}

/// The options of a verb on a command line; none where it is of another verb or invalid.
fn options_of<T: Args>(command_line: &[String], verb: &'static str) -> Option<T> {
    let program = Command::new("assay").subcommand(T::augment_args(Command::new(verb)));
    let found = program.try_get_matches_from(command_line).ok()?;
    T::from_arg_matches(found.subcommand_matches(verb)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Args)]
    struct Seeded {
        #[arg(long)]
        seed: u64,
    }

    #[test]
    fn only_a_command_of_the_same_verb_and_version_gives_options() {
        let seed = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            options_of::<Seeded>(&words, "run").map(|options| options.seed)
        };
        assert_eq!(seed("/bin/assay run --seed 7"), Some(7));
        assert_eq!(seed("assay soak --seed 7"), None);
        assert_eq!(seed("assay run --sed 7"), None);
        assert_eq!(seed("assay"), None);
    }
}
