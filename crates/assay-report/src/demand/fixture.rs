//! A profile to begin a test from: that of the contract, without its numbers.

use assay_model::Profile;
use assay_model::profile::{TimeModel, Work};

/// The example of the contract without classes, times and rates of work.
pub(super) fn profile() -> Profile {
    let text = include_str!("../../../../contract/examples/small.profile.json");
    let read: Profile = serde_json::from_str(text).expect("the contract's example");
    Profile {
        classes: Vec::new(),
        time: TimeModel::default(),
        work: Work::default(),
        report: None,
        ..read
    }
}
