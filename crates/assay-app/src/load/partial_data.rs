//! What becomes of tables that an earlier run left half loaded, or otherwise than they are wanted: the same for all loads
//! that leave a manifest.

use serde::{Deserialize, Serialize};

/// What to do with tables of which loading was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartialData {
    /// Go on with what is whole.
    #[serde(alias = "finish")]
    Resume,
    /// Drop them and start over.
    Drop,
}
