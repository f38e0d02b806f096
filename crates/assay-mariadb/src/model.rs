//! The time model: from two snapshots of a server's counters, and looks at its sessions in between,
//! to a profile.
//!
//! Nothing here asks a server or a clock. What is judged alike of every product is in
//! [`assay_live`].

mod classes;
mod delta;
mod events;
mod files;
mod io;
mod load;
mod profile;
mod snapshot;

pub use classes::seen;
pub use delta::MariadbDelta;
pub(crate) use delta::{AUTOCOMMITTED, ENDINGS, LOSSES};
pub use profile::profile;
pub use snapshot::{EventTally, FileCounts, Instruments, MariadbSettings, MariadbSnapshot};

#[cfg(test)]
mod made_up;
#[cfg(test)]
mod tests;
