//! The option that says what becomes of tables that an earlier run left incomplete, or made with other options.

use assay_app::load::partial_data::PartialData;
use clap::ValueEnum;

/// What to do with tables whose loading was interrupted.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PartialDataOption {
    /// Continue with the tables that are complete
    #[value(alias = "finish")]
    Resume,
    /// Drop them and start over
    Drop,
}

/// The same of a load that never continues with existing data.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DropOption {
    /// Drop them
    Drop,
}

impl From<PartialDataOption> for PartialData {
    fn from(option: PartialDataOption) -> Self {
        match option {
            PartialDataOption::Resume => Self::Resume,
            PartialDataOption::Drop => Self::Drop,
        }
    }
}

impl From<DropOption> for PartialData {
    fn from(DropOption::Drop: DropOption) -> Self {
        Self::Drop
    }
}
