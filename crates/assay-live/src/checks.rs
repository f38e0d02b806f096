//! Samples and counters held against each other, and how far the samples can be relied on.

use crate::host_context::HostContext;
use crate::samples::SessionSamples;
use assay_model::Estimate;
use assay_model::number::{count_of, seconds};
use assay_model::profile::{CheckOutcome, CrossCheck, Figure, Sampling, TimeModel};

/// Active sessions by counters and by samples: they say the same unless counters came late, or
/// samples did.
pub fn active_sessions(time: &TimeModel, seen: Option<&Estimate>) -> CrossCheck {
    let counted = time.average_active_sessions.clone();
    let right = seen.map(|seen| {
        let source = format!("samples of the sessions, {:.3} to {:.3}", seen.low, seen.high);
        Figure::new(seen.value, source)
    });
    let outcome = match (&counted, seen) {
        (Some(counted), Some(seen)) => {
            // A tenth of a session, or of them, is what statements at the ends can make.
            let room = 0.1_f64.max(0.1 * counted.value);
            let agrees = counted.value >= seen.low - room && counted.value <= seen.high + room;
            if agrees { CheckOutcome::Agrees } else { CheckOutcome::Contradicts }
        }
        _ => CheckOutcome::NotPossible,
    };
    CrossCheck {
        what: "active sessions by counters and by samples".to_owned(),
        left: counted,
        right,
        outcome,
    }
}

/// How it was sampled; `own_time_s` is the time that our own sessions were active.
pub fn sampling(
    samples: &SessionSamples,
    host: &HostContext,
    active: Option<Estimate>,
    own_time_s: f64,
) -> Sampling {
    let own_cpu = samples.tasks.map(|tasks| seconds(tasks.own.on_cpu_ns) + host.own_cpu_s);
    Sampling {
        samples: count_of(samples.taken.len()),
        late_samples: samples.late(),
        period_s: samples.period_s(),
        average_active_sessions: active,
        own_time_s,
        own_cpu_s: own_cpu,
    }
}

/// What a reader has to know of the samples.
pub fn doubts_of_samples(samples: &SessionSamples) -> Vec<String> {
    let mut doubts = Vec::new();
    let (late, all) = (samples.late(), count_of(samples.taken.len()));
    if all > 0 && 5 * late > all {
        doubts.push(format!(
            "{late} of {all} session samples were late, because no CPU was free: a busy machine is \
             sampled too rarely"
        ));
    }
    let missed = samples.tasks.map_or(0, |tasks| tasks.missed_sessions);
    if missed > 0 {
        doubts.push(format!(
            "{missed} sessions started and ended between two samples: DB CPU does not include \
             their CPU time"
        ));
    }
    doubts
}
