//! A piece of an I/O within one stripe unit, and the I/Os on members that it becomes.

use assay_model::device::DeviceIo;

/// I/Os with the members that they go to.
pub(super) type OnMembers = Vec<(usize, DeviceIo)>;

/// A piece of an I/O within one stripe unit.
pub(super) struct StripePiece {
    /// The stripe unit.
    pub(super) unit: u64,
    /// Offset within the unit, bytes.
    pub(super) within: u64,
    /// Length, bytes.
    pub(super) bytes: u32,
}
