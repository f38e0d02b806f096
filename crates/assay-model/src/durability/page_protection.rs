//! Whether a database must protect its pages against writes that a power cut leaves half done: what
//! layers declare of such writes, and what cuts showed of them.

use serde::{Deserialize, Serialize};

/// Writes that a power cut leaves whole, as far as the layers under a target say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeclaredUnits {
    /// Largest write that the file system keeps whole in a file of the target (`statx`,
    /// `STATX_WRITE_ATOMIC`), bytes; 0 where it says that it keeps none, nothing where it does
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// Largest write that every device below keeps whole (`atomic_write_unit_max_bytes`), bytes; 0
    /// and nothing as for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes: Option<u64>,
    /// Smallest addressable unit of the devices, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Smallest unit that all devices write without reading first, bytes: what they are built of,
    /// and no promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Whether a file system lies between the writer and the devices.
    #[serde(default)]
    pub is_file: bool,
}

impl DeclaredUnits {
    /// The largest write that is promised to stay whole: that of the file system where there is
    /// one, else that of the devices.
    pub fn promised_bytes(&self) -> Option<u64> {
        if self.is_file { self.file_bytes } else { self.device_bytes }
    }
}

/// Whether full-page writes or a doublewrite buffer must stay on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PageAnswer {
    /// They must: a page was torn, or damaged without them.
    Needed,
    /// Nothing promises whole pages, and nothing refutes them either: they should.
    Unproven,
    /// Whole pages are promised, and no cut contradicted that.
    Promised,
}

/// The answer to a database's administrator, with what it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PageProtection {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The answer.
    pub answer: PageAnswer,
    /// What is declared.
    pub declared: DeclaredUnits,
    /// Cuts that would have shown a torn page.
    pub cuts: u64,
    /// Where they showed none: the highest chance of one per cut, with 95% confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn_per_cut_max: Option<f64>,
}
