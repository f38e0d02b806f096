//! The early end of a load whose criteria are certain.

use super::{OpenTarget, Recording};
use assay_judge::{CriteriaRules, EarlyWatch};
use assay_model::measurement::{ClockKind, Finish, Measurement};
use assay_model::{Error, Workload};

impl Recording {
    /// Ends the next measurement as soon as the criteria are certain; where several hosts measure
    /// or data is verified, the whole time is measured.
    pub fn end_when_certain(&mut self, rules: &CriteriaRules, workload: &Workload) {
        if self.verification.is_some() {
            return;
        }
        self.early = match &self.target {
            OpenTarget::Hosts(_) => None,
            OpenTarget::Simulated(..) => EarlyWatch::new(rules, workload, None, ClockKind::Virtual),
            OpenTarget::Storage(storage) => {
                let environment = Some(&storage.environment);
                EarlyWatch::new(rules, workload, environment, ClockKind::Monotonic)
            }
        };
    }

    /// How a measurement ended: one that the program itself ended has measured all that was needed,
    /// and one whose intervals could not be kept has failed.
    pub(super) fn conclude(
        &self,
        measurement: &mut Measurement,
        early: Option<&EarlyWatch>,
        failure: Option<Error>,
    ) {
        let decided = early.and_then(EarlyWatch::decided).filter(|_| !self.context.is_stopped());
        if let Some(end) = decided.filter(|_| measurement.finish == Finish::Interrupted) {
            measurement.finish = Finish::Complete;
            measurement.conduct.end_early(end.clone());
        }
        if let Some(error) = failure {
            measurement.finish = Finish::Failed { reason: error.message().to_owned() };
        }
    }
}
