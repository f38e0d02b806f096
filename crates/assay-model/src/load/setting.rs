//! A name with its value, as knobs of a load and settings of a server are shown.

use serde::{Deserialize, Serialize};

/// A name with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// What it is.
    pub name: String,
    /// What it is set to.
    pub value: String,
}
