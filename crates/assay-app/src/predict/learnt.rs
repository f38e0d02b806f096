//! The model's own error, as verifications of the store have shown it.

use crate::context::Context;
use assay_model::Result;
use assay_model::number::real_len;
use assay_model::projection::{Verification, Verifications};
use assay_predict::ProjectionPlan;
use assay_store::{Document, RunReader};

/// What is assumed before anything was verified counts as much as this many cases.
const PRIOR_CASES: f64 = 8.0;
/// No model is more certain than this, however well it did.
const DEVIATION_MIN: f64 = 0.03;

/// Every verification of the store.
pub(crate) fn kept(context: &Context) -> Result<Vec<Verification>> {
    let runs = context.store.runs()?.runs;
    let read = |path: &std::path::Path| -> Result<Option<Verifications>> {
        RunReader::open(path)?.json::<Verifications>(Document::Verification)
    };
    let found: Result<Vec<Option<Verifications>>> =
        runs.iter().map(|run| read(&run.path)).collect();
    Ok(found?.into_iter().flatten().flat_map(|document| document.pairs).collect())
}

/// The plan with the model's error that the store's verifications show.
pub(crate) fn with_learnt(plan: &ProjectionPlan, context: &Context) -> Result<ProjectionPlan> {
    let model_deviation = model_deviation(&kept(context)?, plan.model_deviation);
    Ok(ProjectionPlan { model_deviation, ..plan.clone() })
}

/// Standard deviation of the logarithm of measured over predicted throughput beyond what the inputs explain, from all cases
/// that were answered on a quiet host and are not held out; what was assumed before weighs as much as some cases.
///
/// The posterior mean of a variance under a scaled inverse chi-squared prior (Gelman et al., Bayesian Data Analysis, 2.6).
pub(crate) fn model_deviation(known: &[Verification], before: f64) -> f64 {
    let teaching = known.iter().filter(|one| !one.held_out);
    let variances: Vec<f64> = teaching
        .flat_map(|one| one.cases.iter().map(|case| (case, one.model_deviation)))
        .filter(|(case, _)| case.is_answered() && !case.is_noisy())
        .map(|(case, model_deviation)| {
            let (residual, inputs) = case.residual(model_deviation);
            residual.powi(2) - inputs.powi(2)
        })
        .collect();
    let sum = PRIOR_CASES * before.powi(2) + variances.iter().sum::<f64>();
    (sum / (PRIOR_CASES + real_len(variances.len()))).max(DEVIATION_MIN.powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;
    use assay_model::projection::{Answer, VerificationCase};

    fn verification(errors: &[f64], held_out: bool) -> Verification {
        let case = |error: &f64| VerificationCase {
            sessions: 8,
            answer: Answer::Answered,
            predicted_per_s: Estimate {
                value: 100.0,
                low: 100.0 * (-1.96 * 0.08_f64).exp(),
                high: 100.0 * (1.96 * 0.08_f64).exp(),
                confidence: 0.95,
                n: 100,
            },
            measured_per_s: 100.0 * error.exp(),
            predicted_read_share: 0.5,
            measured_read_share: 0.5,
            amdahl_per_s: 1.0,
            lookup_per_s: 1.0,
            others_busy_share: None,
            cpu_queue_share: None,
        };
        Verification {
            before: "a".to_owned(),
            after: "b".to_owned(),
            calibration: "c".to_owned(),
            product: "PostgreSQL".to_owned(),
            held_out,
            model_deviation: 0.08,
            cases: errors.iter().map(case).collect(),
        }
    }

    #[test]
    fn nothing_is_learnt_of_nothing_and_of_what_is_held_out() {
        assert!((model_deviation(&[], 0.08) - 0.08).abs() < 1e-12);
        let tests = verification(&[0.5; 50], true);
        assert!((model_deviation(&[tests], 0.08) - 0.08).abs() < 1e-12);
    }

    #[test]
    fn errors_teach_in_both_directions_and_slowly() {
        let good = model_deviation(&[verification(&[0.02; 8], false)], 0.08);
        // Eight cases of the prior and eight of 0.02 weigh alike.
        assert!(
            (good - (0.5 * (0.08_f64.powi(2) + 0.02_f64.powi(2))).sqrt()).abs() < 1e-6,
            "{good}"
        );
        let bad = model_deviation(&[verification(&[0.3; 8], false)], 0.08);
        assert!((0.2..0.3).contains(&bad), "{bad}");
        let perfect = model_deviation(&[verification(&vec![0.0; 5000], false)], 0.08);
        assert!((perfect - DEVIATION_MIN).abs() < 1e-12);
    }

    #[test]
    fn a_busy_host_teaches_nothing() {
        let mut noisy = verification(&[0.5; 20], false);
        noisy.cases.iter_mut().for_each(|case| case.others_busy_share = Some(0.4));
        assert!((model_deviation(&[noisy], 0.08) - 0.08).abs() < 1e-12);
    }
}
