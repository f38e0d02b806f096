//! What a report says, section by section; what is not in the report is `None` or an empty list,
//! never zero.

pub use crate::quantity::{Flag, OracleQuantity, OracleUnit, UnreadableFact};
pub use crate::section::OracleSection;
pub use crate::split::{ReportForm, ReportKind};
use assay_model::number::real_len;
pub use assay_model::profile::ShareOf;

/// One AWR or Statspack report.
#[derive(Clone, Debug)]
pub struct OracleReport {
    /// What made it.
    pub kind: ReportKind,
    /// How it was printed.
    pub form: ReportForm,
    /// Whether it is an excerpt, as papers print them: what it leaves out is unknown.
    pub is_excerpt: bool,
    /// Whether its end was there; of a report cut short only what was complete was read.
    pub complete: bool,
    /// Database, instance, host, snapshots.
    pub header: Header,
    /// Rows of the Load Profile.
    pub load_profile: Vec<LoadRow>,
    /// Rows of the IO Profile.
    pub io_profile: Vec<IoProfileRow>,
    /// Rows of the time model: name and seconds.
    pub time_model: Vec<NamedAmount>,
    /// Foreground waits by class; holds `DB CPU` too.
    pub wait_classes: Vec<ReportEvent>,
    /// The top events as printed, `DB CPU` among them.
    pub top_events: Vec<ReportEvent>,
    /// Waits of sessions.
    pub foreground_events: Vec<ReportEvent>,
    /// Waits of background processes.
    pub background_events: Vec<ReportEvent>,
    /// Waits of both together, where the report prints them so (a global report its top ones
    /// only); never to be added to the other two.
    pub all_events: Vec<ReportEvent>,
    /// The top events of sessions and background processes together (global report).
    pub top_of_all: Vec<ReportEvent>,
    /// The top events of background processes (global report).
    pub top_background: Vec<ReportEvent>,
    /// Notes of the report that spoils it.
    pub invalid: Option<String>,
    /// Load and shares of CPU time of the machine: rows named as the operating system's counters
    /// are.
    pub host_cpu: Vec<NamedAmount>,
    /// Segments by reads, those by requests first where both are printed.
    pub segments: Vec<SegmentRow>,
    /// The buffer cache at other sizes.
    pub buffer_pool: Vec<PoolRow>,
    /// One curve per event, joined from all its tables; foreground and background together.
    pub histograms: Vec<EventHistogram>,
    /// Counters of the instance, of all instances in a global report.
    pub activity: Vec<Statistic>,
    /// Rates of each instance (global report).
    pub instances: Vec<InstanceRates>,
    /// I/O by tablespace.
    pub tablespaces: Vec<FileIo>,
    /// I/O by file.
    pub files: Vec<FileIo>,
    /// I/O by function of the database, without the total.
    pub io_by_function: Vec<IoStat>,
    /// I/O by type of file, without the total.
    pub io_by_file_type: Vec<IoStat>,
    /// Counters of the operating system; times in seconds.
    pub operating_system: Vec<NamedAmount>,
    /// Statements by time waited for I/O; identifiers only, never their text.
    pub sql_by_io_time: Vec<SqlIo>,
    /// Sections that were found with rows.
    pub sections: Vec<OracleSection>,
    /// What stood there and could not be read with certainty.
    pub unread: Vec<UnreadableFact>,
    /// Impossible values and contradictions.
    pub flags: Vec<Flag>,
}

/// The first page's facts.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Name of the database.
    pub db_name: Option<String>,
    /// Its identifier.
    pub db_id: Option<String>,
    /// Its unique name (12.2 and later).
    pub unique_name: Option<String>,
    /// Primary or standby (12.2 and later).
    pub role: Option<String>,
    /// Edition (12.2 and later).
    pub edition: Option<String>,
    /// Release, `19.0.0.0.0`.
    pub release: Option<String>,
    /// Whether the database is a cluster's.
    pub cluster: Option<bool>,
    /// Whether it is a container database.
    pub container_database: Option<bool>,
    /// The pluggable database of a PDB report.
    pub container: Option<String>,
    /// Name of the instance; of a global report the first.
    pub instance: Option<String>,
    /// Number of the instance.
    pub instance_number: Option<OracleQuantity>,
    /// Name of the host.
    pub host: Option<String>,
    /// Operating system.
    pub platform: Option<String>,
    /// Start of the instance as printed.
    pub startup: Option<String>,
    /// False where minutes are known to be misprinted: HTML up to 12.2 prints the month there.
    pub startup_is_exact: bool,
    /// Logical CPUs; of a global report the sum over instances.
    pub cpus: Option<OracleQuantity>,
    /// Cores.
    pub cores: Option<OracleQuantity>,
    /// Sockets.
    pub sockets: Option<OracleQuantity>,
    /// Memory of the host, bytes.
    pub memory: Option<OracleQuantity>,
    /// The database's standard block, bytes.
    pub block: Option<OracleQuantity>,
    /// First snapshot.
    pub begin: ReportSnapshot,
    /// Last snapshot.
    pub end: ReportSnapshot,
    /// Time between them, seconds.
    pub elapsed: Option<OracleQuantity>,
    /// Time sessions spent in the database, seconds.
    pub db_time: Option<OracleQuantity>,
    /// Time sessions spent on a CPU, seconds (Statspack prints it here).
    pub db_cpu: Option<OracleQuantity>,
    /// Instances that the report covers (global report).
    pub instances_covered: Option<OracleQuantity>,
}

/// One snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportSnapshot {
    /// Its number.
    pub id: Option<OracleQuantity>,
    /// When it was taken, as printed, in the client's language.
    pub time: Option<String>,
    /// The same as seconds since 1970 in the server's zone, where date and month could be read.
    pub clock_s: Option<i64>,
    /// Sessions at that moment.
    pub sessions: Option<OracleQuantity>,
    /// Instances that ran, in a cluster.
    pub instances: Option<OracleQuantity>,
}

/// A row of the Load Profile.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadRow {
    /// The label without its colon, `Physical reads`.
    pub name: String,
    /// Per second.
    pub per_second: Option<OracleQuantity>,
    /// Per transaction.
    pub per_transaction: Option<OracleQuantity>,
}

/// A row of the IO Profile.
#[derive(Clone, Debug, PartialEq)]
pub struct IoProfileRow {
    /// The label without its colon, `Total Requests`.
    pub name: String,
    /// Reads and writes per second.
    pub both: Option<OracleQuantity>,
    /// Reads per second.
    pub read: Option<OracleQuantity>,
    /// Writes per second.
    pub write: Option<OracleQuantity>,
}

/// A name and one number.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAmount {
    /// The name as printed; text reports cut it.
    pub name: String,
    /// The number.
    pub value: Option<OracleQuantity>,
}

/// A wait event, or a wait class.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportEvent {
    /// The name as printed; text reports cut it.
    pub name: String,
    /// The wait class where the table has it; text reports cut it.
    pub class: Option<String>,
    /// How often it was waited.
    pub waits: Option<OracleQuantity>,
    /// Time waited in total, seconds.
    pub time: Option<OracleQuantity>,
    /// The mean as printed, seconds.
    pub average: Option<OracleQuantity>,
    /// Share of what `share_of` says.
    pub share: Option<OracleQuantity>,
    /// What the share is a part of.
    pub share_of: ShareOf,
}

impl ReportEvent {
    /// The mean time of a wait, seconds: whichever of total/waits and the printed mean is known
    /// more finely.
    pub fn mean_s(&self) -> Option<f64> {
        self.mean_wait().map(|mean| mean.value_s)
    }

    /// The same with its rounding: of a time in whole seconds it is that of half a second.
    pub(crate) fn mean_wait(&self) -> Option<MeanWait> {
        let waits = self.waits.filter(|waits| waits.value > 0.0);
        let quotient = waits.zip(self.time).map(|(waits, time)| MeanWait {
            value_s: time.value / waits.value,
            rounding_s: time.rounding_width / waits.value,
        });
        let printed = self
            .average
            .map(|mean| MeanWait { value_s: mean.value, rounding_s: mean.rounding_width });
        match (quotient, printed) {
            (Some(quotient), Some(printed)) if printed.rounding_s < quotient.rounding_s => {
                Some(printed)
            }
            (quotient, printed) => quotient.or(printed),
        }
    }
}

/// The mean time of a wait, and half a unit of its last known digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanWait {
    /// Seconds.
    pub(crate) value_s: f64,
    /// Seconds.
    pub(crate) rounding_s: f64,
}

impl MeanWait {
    /// The rounding as a share of the mean; infinite of a mean that is rounded to 0.
    pub(crate) fn rounding_share(self) -> f64 {
        if self.rounding_s > 0.0 { self.rounding_s / self.value_s } else { 0.0 }
    }
}

/// Waits for one event by how long they took.
#[derive(Clone, Debug, PartialEq)]
pub struct EventHistogram {
    /// The event as printed.
    pub event: String,
    /// Waits in all, where printed in full or with a suffix.
    pub waits: Option<OracleQuantity>,
    /// Adjoining intervals in ascending order.
    pub buckets: Vec<EventBucket>,
}

/// One interval of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventBucket {
    /// Shortest wait in it, ns.
    pub low_ns: u64,
    /// Waits in it are shorter than this, ns; `None` is open.
    pub high_ns: Option<u64>,
    /// Share of all waits.
    pub share: f64,
    /// Line it was read from.
    pub line: u32,
}

/// A counter over the interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistic {
    /// The name as printed; text reports cut it.
    pub name: String,
    /// Its growth.
    pub total: Option<OracleQuantity>,
    /// The same per second, rounded.
    pub per_second: Option<OracleQuantity>,
}

/// A segment and its reads.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentRow {
    /// The owner.
    pub owner: String,
    /// The tablespace.
    pub tablespace: Option<String>,
    /// The table or index.
    pub object: String,
    /// Its partition.
    pub partition: Option<String>,
    /// `TABLE`, `INDEX`, as printed.
    pub kind: Option<String>,
    /// Whether requests are counted, not blocks.
    pub is_requests: bool,
    /// How many.
    pub reads: OracleQuantity,
    /// Share of all reads.
    pub share: Option<OracleQuantity>,
}

/// A row of the buffer pool advisory.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolRow {
    /// The pool.
    pub pool: String,
    /// Size, bytes.
    pub size: Option<OracleQuantity>,
    /// Size over the present one.
    pub factor: Option<OracleQuantity>,
    /// Physical reads over those of the present size.
    pub read_factor: Option<OracleQuantity>,
}

/// What one instance of a cluster did.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceRates {
    /// Number of the instance.
    pub number: u32,
    /// Its name.
    pub name: Option<String>,
    /// Sessions when the interval began.
    pub sessions: Option<OracleQuantity>,
    /// Time of its sessions in database calls, seconds.
    pub db_time: Option<OracleQuantity>,
    /// Blocks read, per second.
    pub read_blocks: Option<OracleQuantity>,
    /// Blocks written, per second.
    pub write_blocks: Option<OracleQuantity>,
    /// Redo, bytes per second.
    pub redo: Option<OracleQuantity>,
    /// Blocks looked at, per second.
    pub logical_reads: Option<OracleQuantity>,
    /// Statements executed, per second.
    pub executes: Option<OracleQuantity>,
    /// Changes of blocks, per second.
    pub block_changes: Option<OracleQuantity>,
    /// Transactions, per second.
    pub transactions: Option<OracleQuantity>,
}

/// I/O of one tablespace or file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileIo {
    /// The pluggable database, in a container: names repeat between them.
    pub container: Option<String>,
    /// The tablespace.
    pub tablespace: String,
    /// The file, in the table of files.
    pub file: Option<String>,
    /// Read requests.
    pub reads: Option<OracleQuantity>,
    /// Read requests per second, rounded.
    pub reads_per_second: Option<OracleQuantity>,
    /// Mean time of a read, seconds.
    pub read_time: Option<OracleQuantity>,
    /// Blocks a read.
    pub blocks_per_read: Option<OracleQuantity>,
    /// Single-block reads per second, rounded (11.2.0.4 and later).
    pub single_reads_per_second: Option<OracleQuantity>,
    /// Mean time of a single-block read, seconds (11.2.0.4 and later).
    pub single_read_time: Option<OracleQuantity>,
    /// Write requests.
    pub writes: Option<OracleQuantity>,
    /// Write requests per second, rounded.
    pub writes_per_second: Option<OracleQuantity>,
}

/// I/O of one function or type of file.
#[derive(Clone, Debug, PartialEq)]
pub struct IoStat {
    /// Instance, in a global report; `None` is all of them.
    pub instance: Option<u32>,
    /// The function or type, as printed.
    pub name: String,
    /// Read requests per second.
    pub reads: Option<OracleQuantity>,
    /// Bytes read per second.
    pub read_throughput: Option<OracleQuantity>,
    /// Write requests per second.
    pub writes: Option<OracleQuantity>,
    /// Bytes written per second.
    pub write_throughput: Option<OracleQuantity>,
    /// Mean wait (by function) or mean time of a small read (by type), seconds.
    pub small_time: Option<OracleQuantity>,
    /// Mean time of a large read, seconds (by type).
    pub large_time: Option<OracleQuantity>,
}

/// A statement's wait for I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlIo {
    /// The statement's identifier.
    pub sql_id: String,
    /// Time waited for I/O, seconds.
    pub io_time: Option<OracleQuantity>,
    /// Executions.
    pub executions: Option<OracleQuantity>,
    /// Elapsed time in all, seconds.
    pub elapsed: Option<OracleQuantity>,
}

/// Whether a printed name can stand for a full one: text reports cut names, so a long opening is
/// enough.
pub(crate) fn stands_for(printed: &str, full: &str) -> bool {
    const SHORTEST_CUT: usize = 25;
    printed == full || (printed.len() >= SHORTEST_CUT && full.starts_with(printed))
}

impl OracleReport {
    /// The counter of that full name; `None` too where a cut name could mean two counters.
    pub fn statistic(&self, name: &str) -> Option<&Statistic> {
        let exact = self.activity.iter().find(|row| row.name == name);
        exact.or_else(|| {
            let mut cut = self.activity.iter().filter(|row| stands_for(&row.name, name));
            let first = cut.next()?;
            cut.all(|other| other == first).then_some(first)
        })
    }

    /// A counter per second, from its total and the elapsed time; the printed rate is rounded to a
    /// decimal.
    pub fn rate(&self, name: &str) -> Option<OracleQuantity> {
        let row = self.statistic(name)?;
        let elapsed = self.header.elapsed.map(|elapsed| elapsed.value);
        let exact = row.total.zip(elapsed.filter(|elapsed| *elapsed > 0.0));
        let exact =
            exact.map(|(total, elapsed)| total.scaled(1.0 / elapsed, OracleUnit::PerSecond));
        // Elapsed minutes have two decimals: over short intervals the printed rate is the finer
        // one.
        let rate = match (exact, row.per_second) {
            (Some(exact), Some(printed)) if !self.is_finer(&exact, &printed) => Some(printed),
            (exact, printed) => exact.or(printed),
        };
        rate.filter(|rate| rate.value >= 0.0)
    }

    fn is_finer(&self, exact: &OracleQuantity, printed: &OracleQuantity) -> bool {
        let elapsed = self.header.elapsed;
        let relative = elapsed.map_or(0.0, |elapsed| elapsed.rounding_width / elapsed.value);
        exact.rounding_width + exact.value.abs() * relative < printed.rounding_width
    }

    /// The row of the Load Profile with one of these labels.
    pub fn load(&self, names: &[&str]) -> Option<&LoadRow> {
        let rows = &mut self.load_profile.iter();
        rows.find(|row| names.iter().any(|name| row.name.eq_ignore_ascii_case(name)))
    }

    /// The row of the IO Profile with that label.
    pub fn io(&self, name: &str) -> Option<&IoProfileRow> {
        self.io_profile.iter().find(|row| row.name == name)
    }

    /// Seconds of the time model under that name.
    pub fn time(&self, name: &str) -> Option<OracleQuantity> {
        let row = self.time_model.iter().find(|row| stands_for(&row.name, name));
        row.and_then(|row| row.value)
    }

    /// Whether something in that section could not be read: a number that is absent there may be
    /// one.
    pub(crate) fn has_unread(&self, section: OracleSection) -> bool {
        self.unread.iter().any(|unread| unread.section == section)
    }

    /// Log writers: one an instance that the report covers.
    pub(crate) fn log_writers(&self) -> f64 {
        let covered = self.header.instances_covered.map_or(0.0, |covered| covered.value);
        real_len(self.instances.len()).max(covered).max(1.0)
    }

    /// Whether a section was found with rows in it.
    pub fn has(&self, section: OracleSection) -> bool {
        self.sections.contains(&section)
    }
}
