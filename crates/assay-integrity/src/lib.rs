//! The literature of storage faults: what sectors carry so that faults can be named, and what is wrong with a block that was read.
//!
//! No I/O and no clock: whoever writes and reads calls this room.
//!
//! | question | answer |
//! | --- | --- |
//! | what is written? | [`Pattern::fill`]: stamps and content by run, place and version |
//! | which version is the last one, and which are allowed? | [`Generations`] |
//! | which writes does a failed sync cast doubt on? | [`UnsyncedWrites`] |
//! | is what was read right? | [`Pattern::holds`] |
//! | what is wrong with it? | [`diagnose`] |
//! | what is it called when both ends of it are known? | [`Faults`] |
//!
//! Sources: Zheng, Tucek, Qin and Lillibridge, "Understanding the Robustness of SSDs under Power Fault", FAST 2013, for the kinds;
//! Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020, for what a failed sync leaves behind.
#![forbid(unsafe_code)]

mod diagnosis;
mod faults;
mod generations;
mod pattern;
mod sector;
mod stamp;
mod unsynced;

pub use diagnosis::{BlockState, Diagnosis, diagnose};
pub use faults::{FAULTS_KEPT, Faults, Place, Sighting};
pub use generations::{BegunWrite, Generations, Promise};
pub use pattern::{BlockStamp, Pattern};
pub use stamp::{SECTOR_BYTES, SectorAddress, Stamp, Writer};
pub use unsynced::UnsyncedWrites;
