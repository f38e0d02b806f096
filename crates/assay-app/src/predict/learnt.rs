//! The model's own error, as verifications of the store have shown it.

use crate::context::Context;
use assay_model::Result;
use assay_model::projection::{Verification, Verifications};
use assay_predict::ProjectionPlan;
use assay_store::{RunReader, StoredDocument};

/// What is assumed before anything was verified counts as much as this many cases.
const PRIOR_CASES: f64 = 8.0;
/// No model is more certain than this, however well it did.
const DEVIATION_MIN: f64 = 0.03;

/// Every verification of the store.
pub(crate) fn kept(context: &Context) -> Result<Vec<Verification>> {
    let runs = context.store.runs()?.runs;
    let read = |path: &std::path::Path| -> Result<Option<Verifications>> {
        RunReader::open(path)?.json::<Verifications>(StoredDocument::Verification)
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

/// What one case says of the model: how far it missed, and how far its inputs alone could have.
#[derive(Clone, Copy)]
struct Miss {
    residual: f64,
    input_deviation: f64,
}

/// Standard deviation of the logarithm of measured over predicted throughput beyond what the inputs
/// explain, from all cases that were answered on a quiet host and are not held out.
pub(crate) fn model_deviation(known: &[Verification], before: f64) -> f64 {
    let teaching = known.iter().filter(|one| !one.held_out);
    let misses: Vec<Miss> = teaching
        .flat_map(|one| one.cases.iter().map(|case| (case, one.model_deviation)))
        .filter(|(case, _)| case.is_answered() && !case.is_noisy())
        .map(|(case, model_deviation)| {
            let (residual, input_deviation) = case.residual(model_deviation);
            Miss { residual, input_deviation }
        })
        .collect();
    most_likely(&misses, before).max(DEVIATION_MIN)
}

/// The deviations among which the likeliest is looked for, and in how many steps of equal ratio.
const DEVIATIONS: (f64, f64) = (0.005, 5.0);
const STEPS: u32 = 400;
/// Rounds in which a bracket is narrowed to a thousandth of a step.
const ROUNDS: u32 = 40;

/// The τ that makes the misses and what was assumed before likeliest, where ln(measured /
/// predicted) of a case is normal with variance τ² + s²: a case whose inputs are worth nothing (a
/// large s) then teaches nothing. What was assumed before counts as eight cases of exact inputs
/// that missed by `before`. (Paule and Mandel, J. Res. NBS 87, 1982, weight alike; the likelihood
/// is that of `DerSimonian` and Laird, Controlled Clinical Trials 7, 1986.)
fn most_likely(misses: &[Miss], before: f64) -> f64 {
    if misses.is_empty() {
        return before;
    }
    let likelihood = |logarithm: f64| log_likelihood(misses, before, logarithm.exp());
    let (low, high) = (DEVIATIONS.0.ln(), DEVIATIONS.1.ln());
    let step = (high - low) / f64::from(STEPS);
    let at = |index: u32| low + step * f64::from(index);
    let best =
        (0..=STEPS).map(at).max_by(|one, other| likelihood(*one).total_cmp(&likelihood(*other)));
    let (mut from, mut to) = best.map_or((low, high), |best| (best - step, best + step));
    for _ in 0..ROUNDS {
        let third = (to - from) / 3.0;
        if likelihood(from + third) < likelihood(to - third) {
            from += third;
        } else {
            to -= third;
        }
    }
    f64::midpoint(from, to).exp()
}

/// Logarithm of the likelihood, up to a constant.
fn log_likelihood(misses: &[Miss], before: f64, deviation: f64) -> f64 {
    let term = |square: f64, variance: f64| -0.5 * (variance.ln() + square / variance);
    let prior = PRIOR_CASES * term(before.powi(2), deviation.powi(2));
    let of =
        |miss: &Miss| term(miss.residual.powi(2), deviation.powi(2) + miss.input_deviation.powi(2));
    prior + misses.iter().map(of).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;
    use assay_model::projection::{ProjectionAnswer, VerificationCase};
    use assay_stats::random::Random;

    fn verification(errors: &[f64], held_out: bool) -> Verification {
        let case = |error: &f64| VerificationCase {
            sessions: 8,
            answer: ProjectionAnswer::Answered,
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
            unanswered: Vec::new(),
        }
    }

    /// Cases whose inputs have this deviation and that missed by as much.
    fn missed(residuals: &[f64], input_deviation: f64) -> Verification {
        let mut made = verification(residuals, false);
        let half = 1.96 * input_deviation.hypot(0.08);
        for case in &mut made.cases {
            case.predicted_per_s.low = 100.0 * (-half).exp();
            case.predicted_per_s.high = 100.0 * half.exp();
        }
        made
    }

    #[test]
    fn what_inputs_explain_teaches_nothing() {
        // Fifty cases of inputs worth 0.3 and a model worth 0.08.
        for seed in 1..=20 {
            let mut random = Random::part(seed, 0x7a0);
            let spread = 0.3_f64.hypot(0.08);
            let residuals: Vec<f64> = (0..50).map(|_| spread * random.normal()).collect();
            let found = model_deviation(&[missed(&residuals, 0.3)], 0.08);
            assert!((found / 0.08 - 1.0).abs() < 0.2, "{seed}: {found}");
        }
        // One that happens to hit, and one that misses as its inputs may.
        for residual in [0.0, 0.012, 0.35, -0.5] {
            let found = model_deviation(&[missed(&[residual], 0.35)], 0.08);
            assert!((found / 0.08 - 1.0).abs() < 0.1, "{residual}: {found}");
        }
    }

    #[test]
    fn good_inputs_teach_what_the_model_is_worth() {
        let mut random = Random::part(3, 0x7a1);
        let residuals: Vec<f64> =
            (0..2000).map(|_| 0.2_f64.hypot(0.05) * random.normal()).collect();
        let found = model_deviation(&[missed(&residuals, 0.05)], 0.08);
        assert!((found / 0.2 - 1.0).abs() < 0.05, "{found}");
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
