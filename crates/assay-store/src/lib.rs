//! Runs on disk: what was measured survives whatever ends the program.
//!
//! A store is a directory; a run is a directory in it, with these files:
//!
//! | file | what it holds |
//! |---|---|
//! | `run.json` | the [`RunManifest`](assay_model::run::RunManifest); without it a directory is not a run |
//! | `lock` | who writes the run; held with `flock` as long as that program lives |
//! | `workload.toml`, `criteria.toml` … | documents as they were given, and results: see [`StoredDocument`] |
//! | `events.jsonl` | errors, phase edges and remarks, one a line |
//! | `watch.jsonl` | the machine meanwhile: [`Moment`](assay_model::watch::Moment)s, one a line |
//! | `checksums.jsonl` | the checksums of its documents, also in the directory of each cell |
//! | `cells/NAME/workload.toml` | what the cell issued on storage |
//! | `cells/NAME/step.toml` | or the [`LoadStep`](assay_model::load::LoadStep) of a database load that it measured |
//! | `cells/NAME/intervals.jsonl` | every interval in numbers; joints with full histograms of one or more intervals |
//! | `cells/NAME/tail.jsonl` | the intervals since the last joint with full histograms; gone when the cell is finished |
//! | `cells/NAME/measurement.json` | the whole result, when the cell is finished |
//!
//! Every line ends with a line feed and is written in one piece, so a line without one was cut off
//! and does not count. An interval is on the disk before the next one begins: `kill -9` costs the
//! last one at most, a power failure the last second. Readers take no lock that a writer could
//! feel.
//!
//! Every line ends with its checksum (`"crc32"`), and what is not what was written is said: lines
//! are left out, documents refused, and [`take_damage`] says where. A run may come from others:
//! whatever a name in it leads to, only plain files of the run itself are read and written.
#![forbid(unsafe_code)]

mod cell;
mod checksum;
mod damage;
mod directory;
mod document;
mod failure;
mod id;
mod label;
mod lines;
mod listing;
mod lock;
mod node_log;
mod remove;
mod run;
mod seal;
mod store;
mod watch;

pub use cell::{
    CellExtent, CellPlan, CellReader, CellStart, CellStatus, CellWriter, JOINT_BYTES_MAX,
    LoadedPlan, TAIL_BYTES_MAX, WINDOWS_MAX, WriteDurability, joined,
};
pub use damage::{Damage, take_damage};
pub use document::StoredDocument;
pub use listing::{RunListing, RunSummary, UnreadableRun};
pub use lock::Holder;
pub use node_log::{LeftoverLog, NodeLog};
pub use remove::Removed;
pub use run::{FAULTS, NewRun, RunReader, RunStatus, RunWriter};
pub use store::Store;
pub use watch::WatchLog;
