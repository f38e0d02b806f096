//! What one unit of a database's work asks of processors, storage and log, and how sure each part
//! is.

use assay_model::projection::WorkUnit;

/// The work of a database: amounts of one unit, and how much of it is done a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictedDemand {
    /// What one unit is.
    pub unit: WorkUnit,
    /// Units a second, as measured.
    pub throughput_per_s: f64,
    /// DB time of one, seconds.
    pub response_s: f64,
    /// CPU time of one, seconds.
    pub cpu_s: f64,
    /// Processors that are left for the database's sessions by all else that runs on them.
    pub processors_mean: f64,
    /// Small reads.
    pub reads_mean: f64,
    /// Small reads that no session waits for.
    pub background_reads_mean: f64,
    /// Mean wait for a small read as sessions saw it, the wait for a processor after it included,
    /// seconds.
    pub read_latency_s: f64,
    /// Bytes of a small read.
    pub read_bytes: f64,
    /// Large reads that sessions wait for.
    pub large_reads_mean: f64,
    /// Bytes of a large read.
    pub large_read_bytes: f64,
    /// Wait for all large reads of one unit, seconds.
    pub large_reads_s: f64,
    /// Writes of data in the background.
    pub writes_mean: f64,
    /// Writes of data that sessions wait for themselves.
    pub foreground_writes_mean: f64,
    /// Wait for them, seconds.
    pub foreground_writes_s: f64,
    /// Writes of the log.
    pub log_writes_mean: f64,
    /// Writes of data that are outstanding when all writers of the database are at work; `None`
    /// where that is not known.
    pub write_queue_depth: Option<f64>,
    /// Bytes of all reads and writes.
    pub io_bytes: f64,
    /// Commits that sessions wait for.
    pub commits_mean: f64,
    /// Mean wait for one, seconds.
    pub commit_latency_s: f64,
    /// Whether commits wait for pages, too: what they wait beyond the flush then lasts as long as
    /// reads do.
    pub commits_wait_for_pages: bool,
    /// Mean time of a flush of the log, seconds; `None` where it is not known.
    pub flush_s: Option<f64>,
    /// Flushes of the device that no commit waits for: of data files, of checkpoints, of others.
    pub other_flushes_mean: f64,
    /// Redo, bytes.
    pub redo_bytes: f64,
    /// Waits for other sessions, seconds.
    pub contention_s: f64,
    /// Waits for pages that others read or write, seconds: they last as long as I/O does.
    pub page_waits_s: f64,
    /// Waits for other instances, seconds.
    pub cluster_s: f64,
    /// Waits because writes came too late: free buffers, room in the log, seconds.
    pub write_behind_s: f64,
    /// Waits of any other kind, seconds.
    pub other_s: f64,
    /// DB time that is in no event and on no CPU, seconds; negative where something was counted
    /// twice.
    pub unaccounted_s: f64,
    /// How sure it all is.
    pub deviations: Deviations,
}

/// What the database adds to waits for storage, whatever the storage is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overheads {
    /// To each small read, seconds.
    pub read_s: f64,
    /// To each commit, seconds: waking up, and what is done between two flushes.
    pub commit_s: f64,
}

/// Standard deviations of the logarithms of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deviations {
    /// Of work a second, and so of sessions.
    pub throughput_deviation: f64,
    /// Of CPU time.
    pub cpu_deviation: f64,
    /// Of reads, large and small.
    pub reads_deviation: f64,
    /// Of background writes.
    pub writes_deviation: f64,
    /// Of the flush of the target's log.
    pub flush_deviation: f64,
    /// Of contention and other waits.
    pub other_deviation: f64,
    /// Of the target's curve.
    pub curve_deviation: f64,
}

impl PredictedDemand {
    /// Sessions active on average.
    pub fn average_active_sessions(&self) -> f64 {
        self.throughput_per_s * self.response_s
    }

    /// Share of reads among all I/O on data.
    pub fn read_share(&self) -> f64 {
        let reads = self.reads_mean + self.large_reads_mean + self.background_reads_mean;
        let ios = reads + self.writes_mean + self.foreground_writes_mean;
        if ios > 0.0 { reads / ios } else { 1.0 }
    }

    /// Share of DB time of a part of it.
    pub fn share(&self, part_s: f64) -> f64 {
        if self.response_s > 0.0 { part_s / self.response_s } else { 0.0 }
    }

    /// All writes of data.
    pub fn all_writes(&self) -> f64 {
        self.writes_mean + self.foreground_writes_mean
    }

    /// All writes of data and of the log: what the storage has to do where both lie on it.
    pub fn storage_writes(&self) -> f64 {
        self.all_writes() + self.log_writes_mean
    }

    /// Waits for commits, seconds.
    pub fn commit_s(&self) -> f64 {
        self.commits_mean * self.commit_latency_s
    }

    /// All that is on a processor or in an event, seconds.
    pub(crate) fn known_s(&self) -> f64 {
        let storage_s = self.reads_s() + self.large_reads_s + self.foreground_writes_s;
        let locks_s = self.contention_s + self.page_waits_s + self.cluster_s;
        let waits_s = self.write_behind_s + locks_s + self.other_s;
        self.cpu_s + storage_s + self.commit_s() + waits_s
    }

    /// Waits for small reads, seconds.
    pub fn reads_s(&self) -> f64 {
        self.reads_mean * self.read_latency_s
    }
}
