//! The literature of storage faults: what sectors carry so that faults can be named, and what is
//! wrong with a block that was read.
//!
//! No I/O and no clock: whoever writes and reads calls this room.
//!
//! | question | answer |
//! | --- | --- |
//! | what is written? | [`BlockPattern::fill`]: stamps and content by run, place and version |
//! | which version is the last one, and which are allowed? | [`Generations`] |
//! | which writes does a failed sync cast doubt on? | [`UnsyncedWrites`] |
//! | is what was read right? | [`BlockPattern::holds`] |
//! | what is wrong with it? | [`diagnose`] |
//! | what is it called when both ends of it are known? | [`Faults`] |
//! | what was written, in which order? | [`WriteLog`] |
//! | what does a device hold after its power was cut? | [`CrashDevice`] |
//! | was a promise broken by that? | [`StampedLog::cut`] |
//! | what does a block hold after a real cut? | [`AfterCut::judge`] |
//! | what does a simulated device hold, and what did it lose? | [`SimulatedContent`] |
//!
//! Sources: Zheng, Tucek, Qin and Lillibridge, "Understanding the Robustness of SSDs under Power
//! Fault", FAST 2013, for the kinds; Rebello et al., "Can Applications Recover from fsync
//! Failures?", USENIX ATC 2020, for what a failed sync leaves behind.
#![forbid(unsafe_code)]

mod after_cut;
mod crash;
mod diagnosis;
mod faults;
mod generations;
mod pattern;
mod power_cuts;
mod sector;
mod simulated;
mod stamp;
mod unsynced;
mod write_log;

pub use after_cut::{AfterCut, BlockAfterCut};
pub use crash::{CacheBehaviour, CacheOrder, CrashDevice, CrashModel, CrashState};
pub use diagnosis::{BlockState, Diagnosis, diagnose};
pub use faults::{FAULTS_KEPT, FaultArea, Faults, FaultyBlock, Sighting};
pub use generations::{BegunWrite, Generations, Promise};
pub use pattern::{BlockPattern, BlockStamp};
pub use power_cuts::{CutResults, StampedLog};
pub use simulated::SimulatedContent;
pub use stamp::{SECTOR_BYTES, SectorAddress, WriteStamp, Writer};
pub use unsynced::{UnsyncedWrite, UnsyncedWrites};
pub use write_log::{LogEntry, WriteLog};
