//! What a recording verifies with: the verifier, what it has said, and the time of the workers.

use assay_engine::{OpenFile, Simulation, Verifier};
use assay_ledger::{KeptAcknowledgements, LedgerRecorder};
use assay_methods::target::SimulatedDevice;
use assay_model::integrity::{Integrity, Sweep};
use assay_model::measurement::{Measurement, Remark};
use assay_model::units::Share;
use assay_model::{Error, Result, Workload};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// What a recording verifies with.
pub(super) struct RunVerification {
    pub(super) verifier: Arc<Verifier>,
    /// Measured time of all workers together, ns.
    worker_time_ns: u64,
    told_blocks: u64,
    /// Whether the workers' time is not that in which they stamp and check.
    in_virtual_time: bool,
}

impl RunVerification {
    /// Verification of a workload on opened targets.
    pub(super) fn begin(
        workload: &Workload,
        targets: &Arc<[OpenFile]>,
        checked_share: Share,
    ) -> Result<Self> {
        let verifier = Verifier::new(workload, targets, run_number(), checked_share.0)?;
        let verifier = Arc::new(verifier);
        Ok(Self { verifier, worker_time_ns: 0, told_blocks: 0, in_virtual_time: false })
    }

    /// Verification of a workload on a simulated device, which gets a memory for it.
    pub(super) fn begin_simulated(
        workload: &Workload,
        simulation: &mut Simulation,
        device: &SimulatedDevice,
        name: &str,
        checked_share: Share,
    ) -> Result<Self> {
        let (name, bytes) = (name.to_owned(), device.length_bytes());
        let verifier = Verifier::simulated(workload, name, bytes, run_number(), checked_share.0)?;
        let verifier = Arc::new(verifier);
        simulation.verify_by(&verifier, device.fails());
        Ok(Self { verifier, worker_time_ns: 0, told_blocks: 0, in_virtual_time: true })
    }

    /// The same with a ledger, which is begun for the first target.
    pub(super) fn with_ledger(
        self,
        target: &OpenFile,
        begin: impl FnOnce(&OpenFile, u32, u64) -> Result<LedgerRecorder>,
    ) -> Result<Self> {
        let recorder = begin(target, self.verifier.run(), self.verifier.block_bytes())?;
        let verifier =
            Arc::into_inner(self.verifier).map(|verifier| verifier.with_ledger(recorder));
        let shared = || Error::environment("the verifier is in use", "report this as a bug");
        Ok(Self { verifier: Arc::new(verifier.ok_or_else(shared)?), ..self })
    }

    /// Ends the ledger, which no worker fills any more.
    pub(super) fn end_ledger(&mut self) -> Option<KeptAcknowledgements> {
        Arc::get_mut(&mut self.verifier)?.end_ledger().map(|recorder| recorder.finish())
    }

    /// What came of it after a sweep.
    pub(super) fn finish(&self, sweep: Sweep) -> Integrity {
        let mut integrity = self.verifier.finish(sweep, self.worker_time_ns);
        if self.in_virtual_time {
            integrity.cost.worker_share = 0.0;
        }
        integrity
    }

    /// Takes a measurement in, and notes in it what was found meanwhile.
    pub(super) fn measured(&mut self, workload: &Workload, measurement: &mut Measurement) {
        if self.in_virtual_time {
            return;
        }
        let workers: u64 = workload.streams.iter().map(|stream| u64::from(stream.workers)).sum();
        self.worker_time_ns += measurement.elapsed_ns.saturating_mul(workers);
        measurement.conduct.remarks.push(Remark {
            what: "writes were stamped, and reads were compared with the stamps".to_owned(),
            why: "the measurement includes the time that workers spent on it".to_owned(),
            remedy: "measure without --verify to compare rates".to_owned(),
        });
    }

    /// What was found since this was last asked, in words.
    pub(super) fn news(&mut self) -> Option<String> {
        let found_blocks = self.verifier.found_blocks();
        (found_blocks > std::mem::replace(&mut self.told_blocks, found_blocks))
            .then(|| format!("note: {found_blocks} blocks did not hold the data written to them"))
    }
}

/// Refuses workloads that cannot be verified before anything is touched.
///
/// # Errors
/// A usage error that says why.
pub fn check_verifiable(workload: &Workload, checked_share: Share) -> Result<()> {
    if checked_share.0 <= 0.0 {
        return Err(Error::usage(
            "--verify=0 compares nothing",
            "write a share above 0, or leave --verify out",
        ));
    }
    Verifier::check(workload)
}

/// A number that no other run has but by a chance of one in four thousand million.
fn run_number() -> u32 {
    // The hasher is keyed by the system's random numbers.
    let [first, second, third, fourth, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([first, second, third, fourth])
}
