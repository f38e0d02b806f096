//! Durability of acknowledged writes: cut tests, declarations of the layers, flush times, and the
//! strength of the evidence.

mod commits;
mod page_protection;

pub use commits::{CommitHole, Control, JudgedCommits, PageCheck};
pub use page_protection::{DeclaredUnits, PageAnswer, PageProtection};

use crate::fault::{FaultCount, FaultKind};
use crate::verdict::Outcome;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Strength of the evidence that acknowledged writes are durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CutEvidence {
    /// E0: unknown.
    Unknown,
    /// E1: the layers declare their cache behaviour.
    Declared,
    /// E2: flush times are consistent with durable writes.
    Timed,
    /// E3: no loss in system cuts, which do not affect caches below the system.
    SystemCuts,
    /// E4: no loss in power cuts of the whole I/O path.
    PowerCuts,
    /// An acknowledged write is missing.
    Refuted,
}

impl CutEvidence {
    /// Code of the evidence level, or of a refutation.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Unknown => "E0",
            Self::Declared => "E1",
            Self::Timed => "E2",
            Self::SystemCuts => "E3",
            Self::PowerCuts => "E4",
            Self::Refuted => "refuted",
        }
    }

    /// Meaning and limits of the evidence level.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Unknown => "it is unknown what the storage keeps across a power cut",
            Self::Declared => "only the declarations of its layers are known",
            Self::Timed => "nothing was cut, and the flush times are plausible",
            Self::SystemCuts => {
                "the system was cut but the caches below it were not: device and host may still \
                 lose data"
            }
            Self::PowerCuts => "the power of the whole path was cut; number of cuts",
            Self::Refuted => "at least one acknowledged write is missing",
        }
    }
}

/// Scope of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CutKind {
    /// The process alone
    Process,
    /// The operating system, or the virtual machine
    System,
    /// The power of the whole path
    Power,
}

impl CutKind {
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::System => "system",
            Self::Power => "power",
        }
    }
}

/// Torn writes by the byte at which the version changes within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TearCount {
    /// Offset of the version change within the block, bytes.
    pub boundary_bytes: u64,
    /// Blocks with a version change at this offset.
    pub blocks: u64,
}

/// Damaged blocks by age of their acknowledgement at the cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LostAge {
    /// Maximum age, s; absent if unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_max_s: Option<f64>,
    /// Damaged blocks.
    pub blocks: u64,
}

/// Data after one cut, compared with the acknowledgements before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JudgedCut {
    /// Scope of the cut.
    pub kind: CutKind,
    /// Run number in the stamps written before the cut.
    pub run: u32,
    /// Time of the check, ns since 1970-01-01 UTC.
    pub judged_unix_ns: u64,
    /// Acknowledgements in the ledger.
    pub acknowledgements: u64,
    /// Time from the start of writing to the last acknowledgement, s.
    pub acknowledged_s: f64,
    /// Blocks with at least one acknowledged version.
    pub promised_blocks: u64,
    /// Acknowledged blocks that hold the acknowledged version or a newer one.
    pub kept_blocks: u64,
    /// Acknowledged blocks that hold a newer, unacknowledged version.
    pub newer_blocks: u64,
    /// Faults by kind.
    pub counts: Vec<FaultCount>,
    /// Blocks with sectors of several permitted versions, from writes torn in flight.
    pub torn_blocks: u64,
    /// Greatest common divisor of the offsets of version changes, bytes: the atomic write unit or a
    /// multiple of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_unit_bytes: Option<u64>,
    /// Torn writes by offset of the version change within the block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tears: Vec<TearCount>,
    /// Damaged blocks by age of their acknowledgement at the end of the ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ages: Vec<LostAge>,
    /// State of acknowledged transactions; absent without a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<JudgedCommits>,
}

impl JudgedCut {
    /// A cut of this kind after writes of this run, of which nothing else is known.
    pub const fn of(kind: CutKind, run: u32) -> Self {
        Self {
            kind,
            run,
            judged_unix_ns: 0,
            acknowledgements: 0,
            acknowledged_s: 0.0,
            promised_blocks: 0,
            kept_blocks: 0,
            newer_blocks: 0,
            counts: Vec::new(),
            torn_blocks: 0,
            atomic_unit_bytes: None,
            tears: Vec::new(),
            lost_ages: Vec::new(),
            commits: None,
        }
    }

    /// Blocks whose promise was broken.
    pub fn lost_blocks(&self) -> u64 {
        self.counts.iter().map(|count| count.blocks).sum()
    }

    /// Promises that can be judged: blocks, or transactions.
    pub fn promised(&self) -> u64 {
        self.promised_blocks + self.commits.as_ref().map_or(0, |commits| commits.acknowledged)
    }

    /// Promises that were broken: blocks, or what is wrong with a database.
    pub fn broken(&self) -> u64 {
        self.lost_blocks() + self.commits.as_ref().map_or(0, JudgedCommits::broken)
    }

    /// What the server was started without, where the cut is to show that a loss would be seen.
    pub fn control(&self) -> Option<Control> {
        self.commits.as_ref().and_then(|commits| commits.control)
    }

    /// Whether it says something of what is kept: the process alone loses nothing, without promises
    /// none can break, and a control promises nothing.
    pub fn is_evidence(&self) -> bool {
        self.promised() > 0 && !matches!(self.kind, CutKind::Process) && self.control().is_none()
    }
}

/// Declared cache behaviour of one layer below the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Layer: a mount, or the kernel name of a device.
    pub layer: String,
    /// Declaration in words.
    pub what: String,
}

/// Flush time after one amount of written data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlushTime {
    /// Bytes written since the previous flush.
    pub dirty_bytes: u64,
    /// Median time of the flush itself, ns.
    pub median_ns: f64,
    /// Lower bound of the 95% interval, ns.
    pub low_ns: f64,
    /// Upper bound of the 95% interval, ns.
    pub high_ns: f64,
    /// Number of timed flushes.
    pub flushes: u64,
}

/// Conclusion from flush times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimingFinding {
    /// Flush time grows with the bytes written, as for a volatile cache.
    Grows,
    /// Flush time is independent of the bytes written: protected memory, or a flush without effect.
    Flat,
    /// Flush times are too short to be physically possible.
    Implausible,
}

/// Flush times, measured without a cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlushTiming {
    /// Flush times by bytes written before the flush.
    pub flushes: Vec<FlushTime>,
    /// Median time of a one-block write, ns.
    pub write_median_ns: f64,
    /// Median time of a durable one-block write (`RWF_DSYNC`), ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable_write_median_ns: Option<f64>,
    /// Conclusion from the flush times.
    pub finding: TimingFinding,
    /// Sustained rate of durable writes, bytes per second.
    pub sustained_bytes_per_s: f64,
    /// Minimum power-protected memory of the device if its flushes are truthful, bytes.
    pub protected_memory_bytes_min: u64,
}

/// Durability of acknowledged writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Durability {
    /// Strength of the evidence.
    pub evidence: CutEvidence,
    /// Declarations by layer, top to bottom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declarations: Vec<Declaration>,
    /// Largest write that all lower devices declare as atomic on power failure, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_atomic_unit_bytes: Option<u64>,
    /// Whether a database needs page protection on this storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_protection: Option<PageProtection>,
    /// Flush times; absent if not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<FlushTiming>,
    /// Checked cuts, including earlier cuts of the ledger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<JudgedCut>,
    /// Upper 95% confidence limit of the probability that a cut loses data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_per_cut_max: Option<f64>,
    /// Acknowledgements stored in the ledger.
    #[serde(default)]
    pub acknowledgements: u64,
    /// Acknowledgements not stored in the ledger, because it was too slow or unavailable; their
    /// writes cannot be checked.
    #[serde(default)]
    pub unkept_acknowledgements: u64,
}

impl Durability {
    /// Evidence of this strength, and nothing else.
    pub const fn of(evidence: CutEvidence) -> Self {
        Self {
            evidence,
            declarations: Vec::new(),
            declared_atomic_unit_bytes: None,
            page_protection: None,
            timing: None,
            cuts: Vec::new(),
            loss_per_cut_max: None,
            acknowledgements: 0,
            unkept_acknowledgements: 0,
        }
    }

    /// Broken promises over all cuts without a control: blocks that miss an acknowledged write, or
    /// what is wrong with a database.
    pub fn broken(&self) -> u64 {
        let cuts = self.cuts.iter().filter(|cut| cut.control().is_none());
        cuts.map(JudgedCut::broken).sum()
    }

    /// Blocks that were promised and hold only parts of their last write.
    pub fn torn_promises(&self) -> u64 {
        let counts = self.cuts.iter().flat_map(|cut| &cut.counts);
        let torn = counts.filter(|count| matches!(count.kind, FaultKind::Torn | FaultKind::Shorn));
        torn.map(|count| count.blocks).sum()
    }

    /// Cuts with a control of this kind, and in how many of them something was broken.
    pub fn controls(&self, control: Control) -> (u64, u64) {
        let of_kind = || self.cuts.iter().filter(|cut| cut.control() == Some(control));
        let caught = of_kind().filter(|cut| cut.broken() > 0).count();
        (crate::number::count_of(of_kind().count()), crate::number::count_of(caught))
    }

    /// Whether a control was run that must lose transactions, and none was seen to be lost: then
    /// nothing else was shown either.
    pub fn is_void(&self) -> bool {
        matches!(self.controls(Control::Commits), (1.., 0))
    }

    /// What came of the cuts: FAIL where something was broken, INCONCLUSIVE where the last one
    /// proves nothing or a control was not caught; nothing where nothing was cut.
    pub fn outcome(&self) -> Option<Outcome> {
        let last = self.cuts.last()?;
        let proves = last.is_evidence() || last.control().is_some();
        Some(match self.broken() {
            1.. => Outcome::Fail,
            0 if self.is_void() || !proves => Outcome::Inconclusive,
            0 => Outcome::Pass,
        })
    }

    /// The kind of cut that the evidence stands on, and how many there were.
    pub fn strongest_cuts(&self) -> Option<(CutKind, u64)> {
        let of = |kind: CutKind| {
            let cuts = self.cuts.iter().filter(|cut| cut.is_evidence() && cut.kind == kind);
            crate::number::count_of(cuts.count())
        };
        [CutKind::Power, CutKind::System]
            .into_iter()
            .map(|kind| (kind, of(kind)))
            .find(|(_, cuts)| *cuts > 0)
    }

    /// The largest unit observed to be written atomically.
    pub fn atomic_unit_bytes(&self) -> Option<u64> {
        self.cuts.iter().filter_map(|cut| cut.atomic_unit_bytes).min()
    }
}
