//! What verification found: whether every block that was read holds what was last written to it.

use crate::durability::{Durability, JudgedCut, TimingFinding};
pub use crate::fault::{FaultCount, FaultKind};
use crate::verdict::Outcome;
use serde::{Deserialize, Serialize};

/// Which read found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// A read of the workload.
    Read,
    /// The sweep over all blocks after the load.
    Sweep,
}

/// A place on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultPlace {
    /// Name of the target.
    pub target: String,
    /// Offset in it, bytes.
    pub offset_bytes: u64,
}

/// One block that does not hold what it should.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The block.
    pub place: FaultPlace,
    /// Which read found it.
    pub found_by: FoundBy,
    /// Whether a second read of the block was right.
    #[serde(default, skip_serializing_if = "is_false")]
    pub transient: bool,
    /// The version that was last written, counted from 1 for each block.
    pub expected_generation: u32,
    /// The version that was found; 0 stands for what was there before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_generation: Option<u32>,
    /// Writes of the block that are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_writes: Option<u32>,
    /// Where in the block one version ends and another begins, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary_bytes: Option<u64>,
    /// Where the data belongs that was found here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belongs_to: Option<FaultPlace>,
    /// The number of the other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_run: Option<u32>,
    /// The inverted bits, counted from the lowest of the first byte of the block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bits: Vec<u64>,
    /// The first byte of the block that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong_bytes: Option<u64>,
    /// The last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_wrong_bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Where the faults of a target lie: it is divided into parts of one size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultMap {
    /// Name of the target.
    pub target: String,
    /// Where the first part begins, bytes.
    pub first_byte: u64,
    /// Bytes of a part; the last one may be shorter.
    pub part_bytes: u64,
    /// Faulty blocks in each part.
    pub blocks: Vec<u64>,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerificationCoverage {
    /// Blocks that the workload could write.
    pub blocks: u64,
    /// Blocks that were written at least once.
    pub written_blocks: u64,
    /// Of these, blocks whose last version was read and was right.
    pub verified_blocks: u64,
    /// Of these, blocks of which more than one version is allowed: a write or a sync failed and
    /// they were not written since.
    pub unknown_blocks: u64,
    /// Writes that carried stamps.
    pub stamped_writes: u64,
    /// Block reads that were compared with what was written.
    pub checked_reads: u64,
    /// Block reads of what this run had not written.
    pub unwritten_reads: u64,
    /// Block reads that were left out, as asked.
    pub skipped_reads: u64,
    /// Block reads while the block was being written: the old and the new version are right.
    pub racing_reads: u64,
    /// Of these, reads that returned some sectors of each.
    pub torn_racing_reads: u64,
    /// Writes that took another place because theirs was being written.
    pub redrawn_writes: u64,
}

/// The read of everything written, after the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Whether it came to its end.
    pub complete: bool,
    /// Blocks that it read and compared.
    pub blocks: u64,
    /// Bytes that it read.
    pub read_bytes: u64,
    /// How long it took, s.
    pub elapsed_s: f64,
}

/// Verification overheads; measured on a part of the I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerificationCost {
    /// Mean time to stamp a write, ns.
    pub stamp_mean_ns: f64,
    /// Mean time to check a read, ns.
    pub check_mean_ns: f64,
    /// Share of the workers' time that both took.
    pub worker_share: f64,
    /// Memory for the versions of all blocks, bytes.
    pub table_bytes: u64,
}

/// What a simulated device did to its data, by its own account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SimulatedLoss {
    /// Writes that were in the memory that it lost.
    pub lost_writes: u64,
    /// Blocks whose last version was among them.
    pub lost_blocks: u64,
    /// Blocks that a member answered with an old version after it had come back.
    pub stale_blocks: u64,
    /// Of both, blocks that were written again before anybody read them: nobody can find these.
    pub rewritten_blocks: u64,
}

impl SimulatedLoss {
    /// Blocks that somebody who reads everything finds.
    pub const fn to_be_found(&self) -> u64 {
        self.lost_blocks + self.stale_blocks - self.rewritten_blocks
    }
}

/// What verification found on all targets of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Integrity {
    /// Version of the document's form: 1.
    pub format: u32,
    /// The number that every sector of this run carries.
    pub run: u32,
    /// Bytes of a block: what all transfers are multiples of.
    pub block_bytes: u64,
    /// Share of the reads that was checked.
    pub checked_share: f64,
    /// What was looked at.
    pub coverage: VerificationCoverage,
    /// The read of everything written, after the load.
    pub sweep: Sweep,
    /// What it costs.
    pub cost: VerificationCost,
    /// Faults by kind; a block counts once for each version.
    pub counts: Vec<FaultCount>,
    /// The first faults.
    pub faults: Vec<Fault>,
    /// Where all of them lie, for each target that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault_maps: Vec<FaultMap>,
    /// What a simulated device that fails did to its data, by its own account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_loss: Option<SimulatedLoss>,
    /// Whether storage keeps what it acknowledged, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
}

impl Integrity {
    /// Blocks that do not hold what they should.
    pub fn found_blocks(&self) -> u64 {
        self.counts.iter().map(|count| count.blocks).sum()
    }

    /// FAIL with a fault or a lost acknowledgement, INCONCLUSIVE where nothing was verified or its
    /// times cannot be true.
    pub fn outcome(&self) -> Outcome {
        let broken = self.durability.as_ref().map_or(0, Durability::broken);
        match (self.found_blocks() + broken, self.coverage.verified_blocks) {
            (1.., _) => Outcome::Fail,
            (0, 0) => Outcome::Inconclusive,
            (0, _) if self.is_doubtful() => Outcome::Inconclusive,
            (0, _) => Outcome::Pass,
        }
    }

    /// Whether what was found proves nothing: the last cut took nothing away, or flushes were
    /// faster than they can be.
    fn is_doubtful(&self) -> bool {
        let Some(durability) = &self.durability else { return false };
        let is_idle = durability.cuts.last().is_some_and(|cut| !JudgedCut::is_evidence(cut));
        let timing = durability.timing.as_ref();
        is_idle || timing.is_some_and(|timing| timing.finding == TimingFinding::Implausible)
    }
}

/// A block as it should be and as it was read, in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultVersions {
    /// What is wrong.
    pub fault: Fault,
    /// What was last written, as far as it is known.
    pub expected_hex: String,
    /// What was read.
    pub found_hex: String,
}
