//! What a target is and how far its content can be trusted to make the storage work.

use serde::{Deserialize, Serialize};

/// Whether the name of a target is that of a simulated device: of its parts, of a published array,
/// or from a catalog.
pub fn is_simulated(name: &str) -> bool {
    ["sim:", "array:", "catalog:"].iter().any(|kind| name.starts_with(kind))
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A regular file.
    File,
    /// A block device.
    BlockDevice,
    /// An NVMe namespace by its character device, such as `/dev/ng0n1`: commands go past the block
    /// layer.
    NvmeNamespace,
}

/// Whether the page cache can be passed by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state", deny_unknown_fields)]
pub enum DirectIo {
    /// It can.
    Supported {
        /// Offsets and lengths must be multiples of this, bytes.
        offset_alignment_bytes: u64,
    },
    /// It cannot.
    Refused {
        /// What the file system answered.
        reason: String,
    },
    /// It was not tried.
    #[default]
    Unknown,
}

/// What the content of a read target does to a measurement; shares are in 0..=1 of the target's
/// bytes. What was sampled is a share of the samples, and `samples` says of how many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ContentFacts {
    /// Share of the bytes that have space allocated; below 1 the file is sparse or compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_share: Option<f64>,
    /// Share of the bytes that hold written data; the rest are holes or unwritten extents, which
    /// read as zeros without touching the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_share: Option<f64>,
    /// Blocks that were sampled for the shares below.
    pub samples: u64,
    /// Bytes a sample.
    pub sample_bytes: u64,
    /// Share of the samples that were all zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_share: Option<f64>,
    /// Compressed size over size of the samples by a fast compressor: 1 is incompressible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressed_ratio: Option<f64>,
    /// Share of the samples that the page cache held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_share: Option<f64>,
    /// Whether the file system compresses this file, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_system_compresses: Option<bool>,
}

/// One target as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TargetFacts {
    /// The path as it was given.
    pub path: String,
    /// What it is.
    pub kind: TargetKind,
    /// Size, bytes.
    pub size_bytes: u64,
    /// First byte that may be read or written; Assay's header lies before it.
    pub usable_start_bytes: u64,
    /// First byte behind the usable range.
    pub usable_end_bytes: u64,
    /// Smallest addressable unit of the storage below, bytes.
    pub logical_block_bytes: u64,
    /// Smallest unit that the storage below writes without reading first, bytes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// The most that one command moves, bytes, where commands go past the block layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_bytes_max: Option<u64>,
    /// Whether the page cache can be passed by.
    #[serde(default)]
    pub direct_io: DirectIo,
    /// Whether it is a file that Assay created.
    #[serde(default)]
    pub created_by_assay: bool,
    /// What its content does to a measurement of reads.
    #[serde(default)]
    pub content: ContentFacts,
}

impl TargetFacts {
    /// Length of the usable range, bytes.
    pub const fn usable_bytes(&self) -> u64 {
        self.usable_end_bytes.saturating_sub(self.usable_start_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> TargetFacts {
        TargetFacts {
            path: "/data/x".into(),
            kind: TargetKind::File,
            size_bytes: 8 << 20,
            usable_start_bytes: 1 << 20,
            usable_end_bytes: 8 << 20,
            logical_block_bytes: 512,
            physical_block_bytes: None,
            transfer_bytes_max: None,
            direct_io: DirectIo::Refused { reason: "EINVAL".into() },
            created_by_assay: true,
            content: ContentFacts::default(),
        }
    }

    #[test]
    fn the_document_reads_back_the_same() {
        let text = serde_json::to_string(&facts()).unwrap();
        assert_eq!(serde_json::from_str::<TargetFacts>(&text).unwrap(), facts());
        assert_eq!(facts().usable_bytes(), 7 << 20);
    }

    #[test]
    fn unknown_keys_are_refused() {
        let text = serde_json::to_string(&facts()).unwrap().replacen('{', "{\"colour\":1,", 1);
        assert!(serde_json::from_str::<TargetFacts>(&text).is_err());
    }
}
