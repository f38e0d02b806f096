//! Predictions compared with measurements: what the model, Amdahl's law and a look-up in the curve
//! would have said.

use crate::demand::{Overheads, PredictedDemand};
use crate::model::{Lean, solve};
use crate::storage::PredictedStorage;
use assay_model::projection::{Population, ProjectedTarget, Verification, VerificationCase};

/// What was measured after the move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RungMeasurement {
    /// Sessions without think time.
    pub sessions: u32,
    /// Units of work a second.
    pub throughput_per_s: f64,
    /// Share of DB time in reads.
    pub read_share: f64,
    /// Share of the processors that others kept busy, where it is known.
    pub others_busy_share: Option<f64>,
    /// Share of the sessions' time in which the server waited for a processor, where it is known.
    pub cpu_queue_share: Option<f64>,
}

/// One case of a verification: the target as it was projected for these sessions, compared with
/// what was measured.
pub fn case(
    demand: &PredictedDemand,
    storage: Option<&PredictedStorage>,
    target: &ProjectedTarget,
    measured: RungMeasurement,
) -> Option<VerificationCase> {
    let closed = target.state(|population| matches!(population, Population::Closed { .. }))?;
    let sessions = f64::from(measured.sessions);
    Some(VerificationCase {
        sessions: measured.sessions,
        answer: target.answer,
        predicted_per_s: closed.throughput_per_s,
        measured_per_s: measured.throughput_per_s,
        predicted_read_share: closed.parts.reads_s / closed.response_s.value,
        measured_read_share: measured.read_share,
        amdahl_per_s: storage.map_or(0.0, |storage| amdahl_per_s(demand, storage, sessions)),
        lookup_per_s: storage.map_or(0.0, |storage| lookup_per_s(demand, storage, sessions)),
        others_busy_share: measured.others_busy_share,
        cpu_queue_share: measured.cpu_queue_share,
    })
}

/// What is usual: the waits for reads and commits scaled by the time of one read and one flush
/// alone.
fn amdahl_per_s(demand: &PredictedDemand, storage: &PredictedStorage, sessions: f64) -> f64 {
    let read_s = demand.reads_mean * storage.curve.latency_s(1.0);
    let before_s = demand.flush_s.unwrap_or(demand.commit_latency_s);
    let flush = storage.flush.as_ref().zip(Some(before_s).filter(|before_s| *before_s > 0.0));
    let commit_s =
        demand.commit_s() * flush.map_or(1.0, |(log, before_s)| log.flush_s(0.0) / before_s);
    let kept_s = demand.response_s - demand.reads_s() - demand.commit_s();
    sessions / (kept_s + read_s + commit_s)
}

/// The other usual thing: the latency of the curve with as many outstanding as there are sessions.
fn lookup_per_s(demand: &PredictedDemand, storage: &PredictedStorage, sessions: f64) -> f64 {
    let read_s = demand.reads_mean * storage.curve.latency_s(sessions.max(1.0));
    sessions / (demand.response_s - demand.reads_s() + read_s)
}

/// The model's own throughput of `sessions`, units a second.
pub fn closed_per_s(
    demand: &PredictedDemand,
    storage: &PredictedStorage,
    overheads: Overheads,
    sessions: f64,
) -> f64 {
    let population = Population::Closed { sessions };
    solve(demand, storage, overheads, population, Lean::MIDDLE)
        .map_or(0.0, |solved| solved.throughput_per_s)
}

/// The documents of many verifications as one list of cases.
pub fn cases(all: &[Verification]) -> Vec<&VerificationCase> {
    all.iter().flat_map(|one| &one.cases).collect()
}
