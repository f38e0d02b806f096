//! The time model: from two snapshots of a server's counters, and looks at its sessions in between,
//! to a profile.
//!
//! Nothing here asks a server or a clock. What is judged alike of every product is in
//! [`assay_live`].

mod classes;
mod delta;
mod events;
mod io;
mod load;
mod own_reads;
mod profile;
mod redo;
mod snapshot;
mod statements;
mod time;

pub use delta::PostgresDelta;
pub use own_reads::OwnReads;
pub use profile::profile;
pub use snapshot::{
    BackendSession, Background, DatabaseRow, IoKey, IoRow, LogCounters, PostgresSettings,
    PostgresSnapshot, PostgresVersion, RelationCounters, StatementCounts, StatementKey,
    StatementStatistics,
};

#[cfg(test)]
use assay_live::{
    HostContext, IntervalEstimator, SessionSample, SessionSamples, SessionState, Tasks,
};
#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traps;
