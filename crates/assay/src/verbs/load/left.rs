//! What becomes of tables that an earlier run left half loaded, or otherwise than they are wanted: one option of all loads
//! that leave a manifest.

use clap::ValueEnum;

/// What to do with tables of which loading was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Left {
    /// Go on with what is whole
    Finish,
    /// Drop them and start over
    Drop,
}

/// The same of a load that never goes on with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LeftOnly {
    /// Drop it
    Drop,
}
