//! The open character device of an NVMe namespace, and its driver's information.

use crate::namespace::NamespaceQueue;
use std::fs::File;

/// The character device of a namespace whose block device was admitted.
#[derive(Debug)]
pub struct AdmittedNamespace {
    pub(super) file: File,
    pub(super) queue: NamespaceQueue,
}

impl AdmittedNamespace {
    /// The open character device.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The number of the namespace on its controller.
    pub fn id(&self) -> u32 {
        self.queue.id
    }

    /// The most that the driver moves by one command, bytes.
    pub fn transfer_bytes_max(&self) -> u64 {
        self.queue.transfer_bytes_max
    }

    /// Whether completions can be polled for.
    pub fn polls(&self) -> bool {
        self.queue.polls
    }
}
