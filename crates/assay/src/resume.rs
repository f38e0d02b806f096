//! What cannot be typed again when a run goes on.

use crate::live_options::LiveOptions;
use crate::options::StartOptions;
use clap::{Arg, Args, Command, Id};

/// Options that may be typed for a run that goes on: permissions, which are never taken from an
/// earlier command, and what it is judged by.
const RETYPED: [&str; 4] = ["destroy", "wipe", "yes", "criteria"];

/// The options of a group.
pub fn ids<Group: Args>() -> Vec<Id> {
    let command = Group::augment_args(Command::new("group"));
    command.get_arguments().map(Arg::get_id).cloned().collect()
}

/// The options that cannot be typed again for a run that goes on: `own` ones of its command, and
/// those of some groups.
pub fn locked_options(own: &[&'static str], groups: &[Vec<Id>]) -> Vec<Id> {
    let usual = [ids::<StartOptions>(), ids::<LiveOptions>()];
    let of_groups = usual.iter().chain(groups).flatten().cloned();
    let locked = own.iter().map(|name| Id::from(*name)).chain(of_groups);
    locked.filter(|id| !RETYPED.contains(&id.as_str())).collect()
}
