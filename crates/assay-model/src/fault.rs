//! What can be wrong with a block, by its name, and how often it was.

use serde::{Deserialize, Serialize};

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An older version, and the newer one was never seen: the write was acknowledged and stored
    /// nowhere.
    Lost,
    /// An older version, although the newer one was read before.
    Stale,
    /// Some sectors of one version, some of another.
    Torn,
    /// Data that belongs elsewhere; a second read finds it, too.
    MisdirectedWrite,
    /// Data that belongs elsewhere; a second read finds the right one.
    MisdirectedRead,
    /// Data that another run wrote.
    OtherRun,
    /// One sector holds bytes of two versions.
    Shorn,
    /// One or two bits are inverted.
    BitFlip,
    /// All bytes of a sector are equal, as after a trim or a lost mapping.
    Zeroed,
    /// The read failed.
    Unreadable,
    /// After a cut: an older version, while a write that was acknowledged later is there.
    Unserializable,
    /// None of the above.
    Damaged,
}

impl FaultKind {
    /// All kinds, in the order they are printed.
    pub const ALL: [Self; 12] = [
        Self::Lost,
        Self::Stale,
        Self::Torn,
        Self::MisdirectedWrite,
        Self::MisdirectedRead,
        Self::OtherRun,
        Self::Shorn,
        Self::BitFlip,
        Self::Zeroed,
        Self::Unreadable,
        Self::Unserializable,
        Self::Damaged,
    ];

    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Stale => "stale",
            Self::Torn => "torn",
            Self::MisdirectedWrite => "misdirected write",
            Self::MisdirectedRead => "misdirected read",
            Self::OtherRun => "another run's data",
            Self::Shorn => "shorn",
            Self::BitFlip => "bit flip",
            Self::Zeroed => "zeroed",
            Self::Unreadable => "unreadable",
            Self::Unserializable => "unserializable",
            Self::Damaged => "damaged",
        }
    }

    /// What it means, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Lost => "a write was acknowledged, but the block has its old content",
            Self::Stale => "the block returned to an older version after the newer one was read",
            Self::Torn => "some sectors hold the last write and some an older one",
            Self::MisdirectedWrite => "data was stored at the wrong address",
            Self::MisdirectedRead => "a read returned data from another address",
            Self::OtherRun => "the block has data of another run, or another program writes here",
            Self::Shorn => "one sector contains bytes of two writes",
            Self::BitFlip => "one or two bits are inverted",
            Self::Zeroed => "a sector contains only one byte value",
            Self::Unreadable => "a block that was written cannot be read",
            Self::Unserializable => {
                "an acknowledged write is missing while one that was acknowledged later is there"
            }
            Self::Damaged => "the content was never written",
        }
    }
}

/// How often a fault was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FaultCount {
    /// What was wrong.
    pub kind: FaultKind,
    /// Blocks with it.
    pub blocks: u64,
}
