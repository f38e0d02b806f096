//! The way to an NVMe namespace past the block layer: its character device, and why it cannot be
//! gone.

use crate::nvme::{BlockFormat, COMMAND_BLOCKS_MAX};
use crate::sys::{identify_namespace, namespace_id};
use assay_model::units::Bytes;
use assay_model::{Error, Result};
use std::fs::File;

/// What the kernel says of a namespace, by its block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// Its number on the controller.
    pub id: u32,
    /// Size, bytes.
    pub size_bytes: u64,
    /// Data of a block, bytes.
    pub block_bytes: u64,
    /// The most that the driver moves by one command, bytes.
    pub transfer_bytes_max: u64,
    /// Whether completions can be polled for.
    pub polls: bool,
}

/// An open character device of a namespace that is what its block device is.
#[derive(Debug)]
pub struct Passthrough {
    file: File,
    facts: NamespaceFacts,
}

impl Passthrough {
    /// Asks the drive itself whether this is the namespace that the kernel described.
    ///
    /// # Errors
    /// An environment error when it is not, when the drive cannot be asked, and where blocks have
    /// metadata, which commands would have to carry.
    pub fn new(name: &str, file: File, facts: NamespaceFacts) -> Result<Self> {
        let id = namespace_id(&file).map_err(|errno| refusal(name, errno))?;
        let answer = identify_namespace(&file, id).map_err(|errno| refusal(name, errno))?;
        check(name, id, BlockFormat::parse(&answer), &facts)?;
        let command_bytes_max = COMMAND_BLOCKS_MAX * facts.block_bytes;
        let transfer_bytes_max = facts.transfer_bytes_max.min(command_bytes_max);
        Ok(Self { file, facts: NamespaceFacts { transfer_bytes_max, ..facts } })
    }

    /// The open character device.
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// The number of the namespace.
    pub(crate) const fn id(&self) -> u32 {
        self.facts.id
    }

    /// Data of a block, bytes.
    pub(crate) const fn block_bytes(&self) -> u64 {
        self.facts.block_bytes
    }

    /// The most that one command moves, bytes.
    pub const fn transfer_bytes_max(&self) -> u64 {
        self.facts.transfer_bytes_max
    }

    /// Whether completions can be polled for.
    pub(crate) const fn polls(&self) -> bool {
        self.facts.polls
    }
}

/// The drive's answer against what the block device of the same name says.
fn check(name: &str, id: u32, format: Option<BlockFormat>, facts: &NamespaceFacts) -> Result<()> {
    let elsewhere = "specify the block device of the namespace, such as /dev/nvme0n1";
    let refused =
        |why: String| Err(Error::environment(format!("refusing {name}: {why}"), elsewhere));
    let Some(format) = format else {
        return refused("the drive reports a block format that it does not have".to_owned());
    };
    if format.metadata_bytes > 0 || format.is_protected {
        let protection = if format.is_protected { ", with protection information" } else { "" };
        return refused(format!(
            "its blocks have {} of metadata{protection}, which needs the block layer",
            Bytes(format.metadata_bytes)
        ));
    }
    let size_bytes = format.blocks.saturating_mul(format.block_bytes);
    let found = (id, format.block_bytes, size_bytes);
    let said = (facts.id, facts.block_bytes, facts.size_bytes);
    if found != said {
        return refused(format!(
            "the drive reports namespace {}, blocks of {} B, {} B in total; the kernel reports {}, \
             {} B and {} B",
            found.0, found.1, found.2, said.0, said.1, said.2
        ));
    }
    Ok(())
}

/// Why commands are not taken, by the first answer to one.
pub(crate) fn refusal(name: &str, errno: i32) -> Error {
    const BLOCK_DEVICE: &str = "specify the block device of the namespace, such as /dev/nvme0n1";
    let (why, hint) = match errno {
        libc::ENOTTY => (
            "it is not the character device of an NVMe namespace".to_owned(),
            "such a device is called /dev/ng0n1",
        ),
        libc::EACCES | libc::EPERM => (
            "the kernel does not allow commands to it".to_owned(),
            "run as root: before Linux 6.2 every command needs CAP_SYS_ADMIN",
        ),
        libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS => (
            format!(
                "this kernel does not support NVMe commands through io_uring, which needs Linux \
                 5.19 ({})",
                crate::errno::meaning(errno)
            ),
            BLOCK_DEVICE,
        ),
        _ => (format!("a first command failed: {}", crate::errno::meaning(errno)), BLOCK_DEVICE),
    };
    Error::environment(format!("cannot pass commands to {name}: {why}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: BlockFormat =
        BlockFormat { blocks: 1000, block_bytes: 4096, metadata_bytes: 0, is_protected: false };

    fn facts() -> NamespaceFacts {
        NamespaceFacts {
            id: 1,
            size_bytes: 4_096_000,
            block_bytes: 4096,
            transfer_bytes_max: 1 << 19,
            polls: false,
        }
    }

    fn refused(id: u32, format: Option<BlockFormat>) -> String {
        check("/dev/ng0n1", id, format, &facts()).unwrap_err().message().to_owned()
    }

    #[test]
    fn a_namespace_is_what_its_block_device_is_or_refused() {
        check("/dev/ng0n1", 1, Some(FORMAT), &facts()).unwrap();
        assert_eq!(
            refused(2, Some(FORMAT)),
            "refusing /dev/ng0n1: the drive reports namespace 2, blocks of 4096 B, 4096000 B in \
             total; the kernel reports 1, 4096 B and 4096000 B"
        );
        assert!(
            refused(1, Some(BlockFormat { blocks: 999, ..FORMAT })).contains("4091904 B in total")
        );
        assert!(
            refused(1, Some(BlockFormat { block_bytes: 512, ..FORMAT }))
                .contains("blocks of 512 B")
        );
        assert!(refused(1, None).contains("a block format that it does not have"));
    }

    #[test]
    fn metadata_and_protection_are_refused_by_name() {
        let with = |metadata_bytes, is_protected| {
            refused(1, Some(BlockFormat { metadata_bytes, is_protected, ..FORMAT }))
        };
        assert!(with(8, false).contains("its blocks have 8B of metadata, which"));
        assert!(
            with(8, true)
                .contains("its blocks have 8B of metadata, with protection information, which")
        );
    }

    #[test]
    fn what_is_no_namespace_says_so() {
        let zero = File::open("/dev/zero").unwrap();
        let error = Passthrough::new("/dev/zero", zero, facts()).unwrap_err();
        assert_eq!(
            (error.message(), error.hint()),
            (
                "cannot pass commands to /dev/zero: it is not the character device of an NVMe \
                 namespace",
                "such a device is called /dev/ng0n1"
            )
        );
    }

    #[test]
    fn a_refusal_says_why() {
        for (errno, why) in [
            (libc::EACCES, "the kernel does not allow commands to it"),
            (libc::EOPNOTSUPP, "this kernel does not support NVMe commands through io_uring"),
            (libc::EINVAL, "which needs Linux 5.19"),
            (65_536 + 0x80, "a first command failed: LBA out of range (NVMe status 0x080)"),
        ] {
            let error = refusal("/dev/ng0n1", errno);
            assert!(error.message().contains(why), "{error}");
        }
    }
}
