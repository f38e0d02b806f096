//! What cannot be typed again when a run goes on.

use crate::live_options::LiveOptions;
use crate::options::StartOptions;
use assay_app::target_plan::TargetPlan;
use clap::{Arg, Args, Command, Id};

/// The options that cannot be typed again for a run that goes on: `own` ones of its verb and all of its targets, but for
/// what may be destroyed, which is never taken from an earlier command.
pub fn locked_options(own: &[&'static str]) -> Vec<Id> {
    let target = TargetPlan::augment_args(Command::new("target"));
    let target = LiveOptions::augment_args(StartOptions::augment_args(target));
    let of_target = target.get_arguments().map(Arg::get_id);
    let of_target = of_target.filter(|id| !["destroy", "wipe", "yes"].contains(&id.as_str()));
    own.iter().map(|name| Id::from(*name)).chain(of_target.cloned()).collect()
}
