//! Verification results: whether each block read holds the data last written to it.

use crate::durability::{Durability, JudgedCut, TimingFinding};
pub use crate::fault::{FaultCount, FaultKind};
use crate::verdict::Outcome;
use serde::{Deserialize, Serialize};

/// Read that detected a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// Read of the workload.
    Read,
    /// Sweep over all blocks after the load.
    Sweep,
}

/// Location on a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultPlace {
    /// Name of the target.
    pub target: String,
    /// Offset in the target, bytes.
    pub offset_bytes: u64,
}

/// Block with incorrect data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Type of the fault.
    pub kind: FaultKind,
    /// Location of the block.
    pub place: FaultPlace,
    /// Read that detected the fault.
    pub found_by: FoundBy,
    /// Whether a second read of the block was correct.
    #[serde(default, skip_serializing_if = "is_false")]
    pub transient: bool,
    /// Version last written, counted from 1 per block.
    pub expected_generation: u32,
    /// Version read; 0 for data from before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_generation: Option<u32>,
    /// Number of missing writes of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_writes: Option<u32>,
    /// Offset of the version change within the block, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary_bytes: Option<u64>,
    /// Correct location of the data read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belongs_to: Option<FaultPlace>,
    /// Run number of the data, if it is from another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_run: Option<u32>,
    /// Inverted bits, numbered from the lowest bit of the first byte of the block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bits: Vec<u64>,
    /// Offset of the first incorrect byte in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong_bytes: Option<u64>,
    /// Offset of the last incorrect byte in the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_wrong_bytes: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Distribution of faults over a target, in parts of equal size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultMap {
    /// Name of the target.
    pub target: String,
    /// Offset of the first part, bytes.
    pub first_byte: u64,
    /// Size of a part, bytes; the last part may be shorter.
    pub part_bytes: u64,
    /// Faulty blocks per part.
    pub blocks: Vec<u64>,
}

/// Coverage of the verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerificationCoverage {
    /// Blocks that the workload can write.
    pub blocks: u64,
    /// Blocks that were written at least once.
    pub written_blocks: u64,
    /// Written blocks whose last version was read and correct.
    pub verified_blocks: u64,
    /// Written blocks with more than one permitted version, because a write or sync failed and
    /// the block was not written since.
    pub unknown_blocks: u64,
    /// Writes with stamps.
    pub stamped_writes: u64,
    /// Block reads compared with the data written.
    pub checked_reads: u64,
    /// Block reads of data not written by this run.
    pub unwritten_reads: u64,
    /// Block reads not verified, because of the requested share.
    pub skipped_reads: u64,
    /// Block reads concurrent with a write of the block; the old and the new version are both
    /// correct.
    pub racing_reads: u64,
    /// Concurrent block reads that returned sectors of both versions.
    pub torn_racing_reads: u64,
    /// Writes moved to another address because a write to theirs was in progress.
    pub redrawn_writes: u64,
}

/// Read of all written data after the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Whether the sweep was completed.
    pub complete: bool,
    /// Blocks read and compared.
    pub blocks: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Duration, s.
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
    /// Share of the workers' time spent on stamps and checks, 0..=1.
    pub worker_share: f64,
    /// Memory for the versions of all blocks, bytes.
    pub table_bytes: u64,
}

/// Data faults that a simulated device reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SimulatedLoss {
    /// Writes in the memory that the device lost.
    pub lost_writes: u64,
    /// Blocks whose last version was in the lost memory.
    pub lost_blocks: u64,
    /// Blocks for which a returning member supplied an old version.
    pub stale_blocks: u64,
    /// Lost or stale blocks overwritten before any read, which verification cannot detect.
    pub rewritten_blocks: u64,
}

impl SimulatedLoss {
    /// Blocks detectable by reading all data.
    pub const fn to_be_found(&self) -> u64 {
        self.lost_blocks + self.stale_blocks - self.rewritten_blocks
    }
}

/// Verification results of all targets of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Integrity {
    /// Version of the document format: 1.
    pub format: u32,
    /// Run number in the stamp of every sector.
    pub run: u32,
    /// Block size, bytes; all I/O sizes are multiples of it.
    pub block_bytes: u64,
    /// Share of reads verified, 0..=1.
    pub checked_share: f64,
    /// Coverage of the verification.
    pub coverage: VerificationCoverage,
    /// Read of all written data after the load.
    pub sweep: Sweep,
    /// Verification overhead.
    pub cost: VerificationCost,
    /// Faults by type; a block counts once per version.
    pub counts: Vec<FaultCount>,
    /// First detected faults.
    pub faults: Vec<Fault>,
    /// Fault distribution of each target with faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault_maps: Vec<FaultMap>,
    /// Data faults that a failing simulated device reports; absent for real devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_loss: Option<SimulatedLoss>,
    /// Durability of acknowledged writes; absent if not tested.
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
