//! The seam between who drives storage in virtual time and who models it: an I/O, and a device that
//! takes and completes it.
//!
//! It lies below both, so that the engine that drives and the arrays that are driven need not know
//! each other.

use crate::measurement::Operation;

/// An I/O as a device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceIo {
    /// What it does.
    pub operation: Operation,
    /// Index of the target.
    pub target: u32,
    /// Offset, bytes.
    pub offset: u64,
    /// Bytes to move.
    pub bytes: u32,
    /// Its number among all of who issues, by which a device says what became of its data; 0 where
    /// nobody asks.
    pub number: u32,
}

impl DeviceIo {
    /// A read of the first target.
    pub const fn read(offset: u64, bytes: u32) -> Self {
        Self { operation: Operation::Read, target: 0, offset, bytes, number: 0 }
    }

    /// A write of the first target.
    pub const fn write(offset: u64, bytes: u32) -> Self {
        Self { operation: Operation::Write, target: 0, offset, bytes, number: 0 }
    }

    /// What a device answers when all went well: the bytes moved.
    pub fn moved(&self) -> i32 {
        i32::try_from(self.bytes).unwrap_or(i32::MAX)
    }
}

/// What a device in virtual time did to data that it had acknowledged; places are those of the
/// I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLoss {
    /// A write was in memory that is lost.
    Write(DeviceIo),
    /// A write did not reach one of the members that should hold it.
    Missed(DeviceIo),
    /// A place is answered from now on, or now and then, by a member that missed the last writes of
    /// it.
    Outdated(Extent),
    /// Such a place was written again.
    Renewed(Extent),
    /// A read was answered by that member.
    OutdatedRead {
        /// The number of the read.
        number: u32,
        /// The part of it that is concerned.
        extent: Extent,
    },
    /// Nothing more will be lost: what was overwritten long ago can be forgotten.
    Over,
}

/// A part of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Where it begins, bytes.
    pub offset: u64,
    /// How long it is, bytes.
    pub bytes: u64,
}

/// A device in virtual time: takes I/Os, and completes them when the clock reaches its events.
pub trait Device {
    /// Takes an I/O; `now_ns` never decreases.
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo);

    /// When something happens next, if anything is under way.
    fn next_event_ns(&self) -> Option<u64>;

    /// Completes everything due at `now_ns`, oldest first: tag, and bytes moved or the negative
    /// error number.
    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>);

    /// Whether I/Os may be submitted ahead of the clock, as long as they come in the order of their
    /// times: what happens to one depends on those before it alone, and on nothing that
    /// completes meanwhile.
    fn takes_ahead(&self) -> bool {
        false
    }

    /// Appends what happened to data since it was asked last.
    fn losses(&mut self, _found: &mut Vec<DataLoss>) {}
}
