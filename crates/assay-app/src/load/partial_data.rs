//! What becomes of tables that an earlier run left half loaded, or otherwise than they are wanted:
//! the same for all loads that leave a manifest.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What to do with tables of which loading was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartialData {
    /// Continue after the tables that are complete
    #[value(alias = "finish")]
    #[serde(alias = "finish")]
    Resume,
    /// Drop them and start over
    Drop,
}
