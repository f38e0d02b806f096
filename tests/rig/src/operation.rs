//! The three kinds of data operation that a script addresses and a log records.

use serde::{Deserialize, Serialize};

/// What was asked of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Bytes out of a file.
    Read,
    /// Bytes into a file.
    Write,
    /// fsync, fdatasync, or the sync after an `O_DSYNC` write.
    Sync,
}

impl Operation {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Sync];

    pub(crate) fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }

    /// Position in [`Operation::ALL`].
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Sync => 2,
        }
    }
}
