//! The operating system's manual: what lies under a path, what may be written to, what the kernel
//! counts, and what kind of computer this is.
//!
//! A [`root::SysRoot`] says where the kernel shows itself, so that made-up systems can be described
//! as well as this one. A [`root::Survey`] reads facts from it and lists what it could not read.
//! [`stack`] leads from a path down to the hardware, [`environment`] puts host and storage into one
//! document, and [`findings`] judges that document. Only the [`gate::SafetyGate`] opens targets: it
//! returns an [`gate::AdmittedTarget`], which owns the open file. [`content`] says whether an
//! admitted target makes the storage work, [`counters`] what the kernel counted, and [`watch`] the
//! same again and again.
//!
//! ```no_run
//! use assay_host::{gate::SafetyGate, root::SysRoot};
//! # fn main() -> assay_model::Result<()> {
//! let gate = SafetyGate::new(SysRoot::live());
//! let target = gate.create_file("/data".as_ref(), 8 << 30)?;
//! println!("{} may be written at {:?}", target.path().display(), target.range());
//! gate.remove(&target)?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod clock;
pub mod content;
pub mod counters;
pub mod declarations;
pub mod device;
mod draw;
pub mod environment;
pub mod file_system;
pub mod findings;
pub mod gate;
pub mod hook;
pub mod live_database;
pub mod mounts;
mod namespace;
pub mod open_files;
mod page_cache;
pub mod root;
pub mod shared_device;
pub mod signatures;
pub mod size;
pub mod stack;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod testing;
pub mod watch;
