//! What processes of a server used for sessions, as the sessions saw it.

use super::worker::EndedStep;
use assay_dbserver::CpuUsage;

/// What processes of the server used for sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedSessions {
    /// Their use of processors, where that can be seen.
    pub usage: Option<CpuUsage>,
    /// Bytes that storage gave to them in their whole lives.
    pub storage_read_bytes: Option<u64>,
    /// Their numbers.
    pub processes: Vec<u32>,
}

impl ServedSessions {
    pub(super) fn of(ended: &[EndedStep]) -> Self {
        Self {
            usage: used_by(ended.iter().map(|one| one.usage)),
            storage_read_bytes: ended.iter().map(|one| one.storage_read_bytes).sum(),
            processes: ended.iter().map(|one| one.process).collect(),
        }
    }

    /// As another program saw it: time that the processes ran and waited for a processor, ns, bytes
    /// that storage gave to them, and their numbers.
    pub fn seen(
        times_ns: Option<(u64, u64)>,
        storage_read_bytes: Option<u64>,
        processes: Vec<u32>,
    ) -> Self {
        let usage = times_ns.map(|(cpu_ns, queue_ns)| CpuUsage {
            cpu_ns,
            queue_ns,
            storage_read_bytes,
            storage_write_bytes: None,
        });
        Self { usage, storage_read_bytes, processes }
    }

    /// Those of other sessions, too; what one side does not know is not known.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        self.usage = used_by([self.usage, other.usage].into_iter());
        self.storage_read_bytes =
            self.storage_read_bytes.zip(other.storage_read_bytes).map(|(mine, more)| mine + more);
        self.processes.extend(&other.processes);
        self
    }
}

/// The use of all; unknown where that of one is.
fn used_by(usages: impl Iterator<Item = Option<CpuUsage>>) -> Option<CpuUsage> {
    usages.reduce(|sum, one| Some(sum?.plus(&one?))).flatten()
}
