//! Verification of a recording: begun before the load, ended by a sweep and its documents.

use super::{OpenTarget, Recording};
use assay_engine::Verifier;
use assay_methods::target::is_simulated;
use assay_model::integrity::{Integrity, Sweep};
use assay_model::measurement::{Finish, Measurement, Remark};
use assay_model::number::count_of;
use assay_model::units::{Share, show_bytes};
use assay_model::{Error, Result, Workload};
use assay_store::Document;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// What a recording verifies with.
pub(super) struct Verification {
    pub(super) verifier: Arc<Verifier>,
    /// Measured time of all workers together, ns.
    worker_time_ns: u64,
    told_blocks: u64,
}

impl Verification {
    /// Takes a measurement in, and notes in it what was found meanwhile.
    pub(super) fn measured(&mut self, workload: &Workload, measurement: &mut Measurement) {
        let workers: u64 = workload.streams.iter().map(|stream| u64::from(stream.workers)).sum();
        self.worker_time_ns += measurement.elapsed_ns.saturating_mul(workers);
        measurement.conduct.remarks.push(Remark {
            what: "writes carried stamps and reads were compared with them".to_owned(),
            why: "the workers' time for it is part of what was measured".to_owned(),
            remedy: "measure without --verify to compare rates".to_owned(),
        });
    }

    /// What was found since this was last asked, in words.
    pub(super) fn news(&mut self) -> Option<String> {
        let found_blocks = self.verifier.found_blocks();
        (found_blocks > std::mem::replace(&mut self.told_blocks, found_blocks))
            .then(|| format!("note: {found_blocks} blocks did not hold what was written to them"))
    }
}

/// Refuses verification of what keeps no data, and workloads that cannot be verified, before anything is touched.
///
/// # Errors
/// A usage error that says why.
pub fn check_verifiable(
    workload: &Workload,
    targets: &[String],
    checked_share: Share,
) -> Result<()> {
    if checked_share.0 <= 0.0 {
        return Err(Error::usage(
            "--verify=0 compares nothing",
            "write a share above 0, or leave --verify out",
        ));
    }
    if targets.iter().any(|target| is_simulated(target)) {
        return Err(Error::usage(
            "a simulated device keeps no data that could be verified",
            "verify on a directory, a file or a block device",
        ));
    }
    Verifier::check(workload)
}

impl Recording {
    /// Verifies everything that is measured from now on; `checked_share` of the reads are compared.
    ///
    /// # Errors
    /// A usage error when the workload or the targets cannot be verified.
    pub fn verify(&mut self, workload: &Workload, checked_share: Share) -> Result<()> {
        let OpenTarget::Storage(storage) = &self.target else {
            let targets = &self.writer.manifest().targets;
            return check_verifiable(workload, targets, checked_share);
        };
        let verifier = Verifier::new(workload, &storage.targets, run_number(), checked_share.0)?;
        let verifier = Arc::new(verifier);
        self.verification = Some(Verification { verifier, worker_time_ns: 0, told_blocks: 0 });
        Ok(())
    }

    /// Reads everything that was written, and keeps what came of it; nothing without verification.
    ///
    /// # Errors
    /// An environment error when memory is short or the store cannot take the documents.
    pub fn end_verification(&mut self, finish: &Finish) -> Result<Option<Integrity>> {
        let Some(verification) = self.verification.take() else {
            return Ok(None);
        };
        let verifier = &verification.verifier;
        let progress = self.context.progress.clone();
        let mut show = |share: f64| progress.show("sweep over what was written", share, None);
        let sweep = match finish {
            // What has gone cannot be read.
            Finish::Failed { .. } => Sweep::default(),
            _ => verifier.sweep(&self.context.stop, &mut show)?,
        };
        self.context.progress.clear();
        let integrity = verifier.finish(sweep, verification.worker_time_ns);
        self.writer.put_json(Document::Integrity, &integrity)?;
        let versions = verifier.versions();
        if !versions.is_empty() {
            self.writer.keep_faults(&versions)?;
            self.context.progress.say(&format!(
                "note: both versions of {} blocks ({} each) are kept in {}",
                count_of(versions.len()),
                show_bytes(assay_model::number::real(integrity.block_bytes)),
                self.writer.path().join(assay_store::FAULTS).display()
            ));
        }
        Ok(Some(integrity))
    }
}

/// A number that no other run has but by a chance of one in four thousand million.
fn run_number() -> u32 {
    // The hasher is keyed by the system's random numbers.
    let [first, second, third, fourth, ..] = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([first, second, third, fourth])
}
