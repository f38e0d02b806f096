//! The last change of level of a run, and what it makes doubtful.

use assay_model::units::{show_count, show_time_ns};
use assay_model::verdict::{Bias, Doubt, LevelChange};

/// The last change of level of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastChange {
    /// Index of the first batch of the last level.
    pub(crate) from: usize,
    /// The same as a share of the run, 0..=1.
    pub(crate) from_share: f64,
    /// What it was.
    pub change: LevelChange,
}

impl LastChange {
    /// What a conclusion has to allow for: only a last level that did not settle mixes with the one
    /// before.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        (!self.change.settled).then(|| Doubt {
            what: format!(
                "the level changed {:.0} s into the run, from {} to {} IOPS and from {} to {}, and \
                 no level held for the last quarter",
                self.change.at_s,
                show_count(self.change.before_iops.value),
                show_count(self.change.after_iops.value),
                show_time_ns(self.change.before_ns.value),
                show_time_ns(self.change.after_ns.value)
            ),
            bias: Bias::Unknown,
            remedy: "run until one level holds for a quarter of the time, or warm up for longer"
                .to_owned(),
        })
    }
}
