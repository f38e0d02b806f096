//! Whether storage keeps what it acknowledged: what was cut and judged, what its layers declare,
//! how long flushes take, and how strong all that is as evidence.

mod commits;
mod page_protection;

pub use commits::{CommitHole, Control, JudgedCommits, PageCheck};
pub use page_protection::{DeclaredUnits, PageAnswer, PageProtection};

use crate::fault::{FaultCount, FaultKind};
use crate::verdict::Outcome;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How strong the evidence is that acknowledged writes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CutEvidence {
    /// E0: nothing is known.
    Unknown,
    /// E1: the layers declare what they do.
    Declared,
    /// E2: the times of flushes do not contradict it.
    Timed,
    /// E3: nothing was lost when the system was cut off; caches below it were not.
    SystemCuts,
    /// E4: nothing was lost when the power of the whole path was cut.
    PowerCuts,
    /// An acknowledged write is missing.
    Refuted,
}

impl CutEvidence {
    /// Its number, or that it is refuted.
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

    /// What it says, and what it does not.
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

/// What a cut took away.
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
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::System => "system",
            Self::Power => "power",
        }
    }
}

/// Torn writes that change at one byte of their block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TearCount {
    /// The first byte of the other version.
    pub boundary_bytes: u64,
    /// Blocks that change there.
    pub blocks: u64,
}

/// Broken blocks whose promise was of about the same age when the cut came.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LostAge {
    /// The greatest age, s; nothing where it has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_max_s: Option<f64>,
    /// Broken blocks.
    pub blocks: u64,
}

/// What storage held after one cut, compared with what it had acknowledged before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JudgedCut {
    /// What was cut.
    pub kind: CutKind,
    /// The number in the stamps that were written before it.
    pub run: u32,
    /// When it was judged, nanoseconds since 1970 UTC.
    pub judged_unix_ns: u64,
    /// Acknowledgements that the ledger holds.
    pub acknowledgements: u64,
    /// Time from the start of writing to the last of them, s.
    pub acknowledged_s: f64,
    /// Blocks of which some version is acknowledged.
    pub promised_blocks: u64,
    /// Of these, blocks that hold that version or a newer one.
    pub kept_blocks: u64,
    /// Of these, blocks that hold a newer one, which had not been acknowledged.
    pub newer_blocks: u64,
    /// Broken promises by kind.
    pub counts: Vec<FaultCount>,
    /// Blocks with sectors of several versions that are all allowed: a write on its way was torn.
    pub torn_blocks: u64,
    /// What the places have in common at which these change, bytes: what is written as a whole, or
    /// a multiple of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_unit_bytes: Option<u64>,
    /// Where torn writes change from one version to another, by the byte within their block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tears: Vec<TearCount>,
    /// Broken blocks by how long before the end of the ledger their promise had been given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_ages: Vec<LostAge>,
    /// What became of transactions, where a database had acknowledged them.
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

/// What one layer under the target says of its cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The layer: a mount or the kernel's name of a device.
    pub layer: String,
    /// What it declares, in words.
    pub what: String,
}

/// How long a flush takes behind this many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlushTime {
    /// Bytes that were written since the previous flush.
    pub dirty_bytes: u64,
    /// Median time of the flush alone, ns.
    pub median_ns: f64,
    /// Lower end of its 95% interval, ns.
    pub low_ns: f64,
    /// Upper end, ns.
    pub high_ns: f64,
    /// Flushes that were timed.
    pub flushes: u64,
}

/// What the times of flushes come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimingFinding {
    /// A flush takes longer behind more bytes, as that of a volatile cache does.
    Grows,
    /// A flush takes the same time whatever was written: protected memory, or a flush that does
    /// nothing.
    Flat,
    /// The times are such that the device cannot have done it.
    Implausible,
}

/// The times of flushes, without any cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlushTiming {
    /// By the bytes written before.
    pub flushes: Vec<FlushTime>,
    /// Median time of a write of one block, ns.
    pub write_median_ns: f64,
    /// Median time of a write that is durable when it returns (`RWF_DSYNC`), ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable_write_median_ns: Option<f64>,
    /// What they come to.
    pub finding: TimingFinding,
    /// Rate at which writes became durable in the long run, bytes per second.
    pub sustained_bytes_per_s: f64,
    /// Memory that the device must at least protect from power cuts, if it is truthful, bytes.
    pub protected_memory_bytes_min: u64,
}

/// Whether storage keeps what it acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Durability {
    /// How strong the evidence is.
    pub evidence: CutEvidence,
    /// Declarations by layer, from the top to the bottom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declarations: Vec<Declaration>,
    /// Largest write that all devices below promise to keep whole over a power cut, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_atomic_unit_bytes: Option<u64>,
    /// Whether a database must protect its pages here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_protection: Option<PageProtection>,
    /// Times of flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<FlushTiming>,
    /// Cuts that were judged, with those of the same ledger before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<JudgedCut>,
    /// Upper limit of the chance that a cut loses something, with 95% confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_per_cut_max: Option<f64>,
    /// Acknowledgements that reached the ledger.
    #[serde(default)]
    pub acknowledgements: u64,
    /// Acknowledgements that did not, because it was too slow or gone: what they promise cannot be
    /// judged.
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
