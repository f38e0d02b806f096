//! The option that says what becomes of tables that an earlier run left half loaded, or otherwise than they are wanted.

use assay_app::load::partial_data::PartialData;
use clap::ValueEnum;

/// What to do with tables of which loading was broken off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Left {
    /// Go on with what is whole
    Finish,
    /// Drop them and start over
    Drop,
}

/// The same of a load that never goes on with what is there.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LeftOnly {
    /// Drop it
    Drop,
}

impl From<Left> for PartialData {
    fn from(left: Left) -> Self {
        match left {
            Left::Finish => Self::Resume,
            Left::Drop => Self::Drop,
        }
    }
}

impl From<LeftOnly> for PartialData {
    fn from(LeftOnly::Drop: LeftOnly) -> Self {
        Self::Drop
    }
}
