//! What cannot be typed again when a run goes on.

use crate::live_options::LiveOptions;
use crate::options::StartOptions;
use assay_app::target_plan::TargetPlan;
use clap::{Arg, Args, Command, Id};

/// The options of a group.
pub fn ids<Group: Args>() -> Vec<Id> {
    let command = Group::augment_args(Command::new("group"));
    command.get_arguments().map(Arg::get_id).cloned().collect()
}

/// The options that cannot be typed again for a run that goes on: `own` ones of its command, those
/// of some groups and all of its targets, but for what may be destroyed, which is never taken from
/// an earlier command.
pub fn locked_options(own: &[&'static str], groups: &[Vec<Id>]) -> Vec<Id> {
    let usual = [ids::<TargetPlan>(), ids::<StartOptions>(), ids::<LiveOptions>()];
    let of_groups = usual.iter().chain(groups).flatten().cloned();
    let locked = own.iter().map(|name| Id::from(*name)).chain(of_groups);
    locked.filter(|id| !["destroy", "wipe", "yes"].contains(&id.as_str())).collect()
}
