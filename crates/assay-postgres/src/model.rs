//! The time model: from two snapshots of a server's counters, and looks at its sessions in between, to a profile.
//!
//! Nothing here asks a server or a clock.

mod classes;
mod delta;
mod events;
mod io;
mod load;
mod looks;
mod over_time;
mod profile;
mod snapshot;
mod statements;
mod time;
mod verdict;

pub use delta::Delta;
pub use looks::{Look, Looks, Seen, Tasks};
pub use profile::{Bars, Outside, profile};
pub use snapshot::{
    Background, Database, IoKey, IoRow, LogCounters, Relation, Session, Settings, Snapshot,
    Statement, StatementKey, Statements, Version,
};

#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traps;
