//! The quantities that can be judged: their names, their units, and what they are in words.

use assay_model::load::CountedTransaction;
use assay_model::measurement::Operation;
use assay_model::verdict::Unit;
use std::fmt;

/// A quantity that criteria may name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CriterionQuantity {
    /// Of a measurement.
    Measured {
        /// What part of it.
        scope: Scope,
        /// What about it.
        amount: Amount,
    },
    /// Of a calibration, for one kind of mix.
    Calibrated {
        /// Which mixes.
        mix: QuantityMix,
        /// What about them.
        what: CapacityOf,
    },
    /// Of a load on a database.
    Loaded {
        /// Whether it holds for each number of sessions instead of the one with the most work
        /// done.
        each_rung: bool,
        /// What about it.
        what: LoadAmount,
    },
    /// Of a load of decision support, for each kind of its runs.
    Queried {
        /// What about it.
        what: QueryAmount,
    },
    /// Transactions of another program's load, a second; given by the caller.
    Transactions,
    /// Their response time, ns; given by the caller.
    TransactionTime(TimeStatistic),
    /// Blocks that did not hold what was written to them.
    IntegrityFindings,
    /// Blocks that do not hold what was acknowledged before a cut.
    DurabilityLost,
    /// Upper limit of the chance that a cut loses something.
    DurabilityLossPerCut,
    /// What the places have in common at which writes on their way were torn by cuts, bytes.
    AtomicUnit,
    /// What a unit of a database's work takes with the times of its I/O on the storage; given by
    /// the caller.
    DatabaseResponse,
    /// Busy share of all processors of the host during the measurement.
    HostCpuBusy,
    /// Share of TCP segments that the host sent again during the measurement; given by the caller.
    HostTcpRetransmits,
}

/// What part of a measurement is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All streams on all targets together.
    Whole,
    /// Each stream for itself.
    Stream,
    /// Each target for itself.
    Target,
}

/// What is counted or timed; `None` as operation means reads and writes together (for errors also
/// syncs).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// A time of one operation, ns.
    Time {
        /// Which operation.
        operation: Operation,
        /// Counted from where.
        kind: CriterionTimeKind,
        /// Which number of its distribution.
        statistic: TimeStatistic,
    },
    /// Completed I/Os per second.
    Iops(Option<Operation>),
    /// Bytes per second.
    Throughput(Option<Operation>),
    /// I/Os that failed.
    Errors(Option<Operation>),
}

/// Where a time counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionTimeKind {
    /// From the submission.
    Service,
    /// From the intended start.
    Response,
}

/// One number of a distribution of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStatistic {
    /// The mean.
    Mean,
    /// The longest.
    Max,
    /// The time within which this share of the I/Os completes, above 0 and below 1.
    Quantile(f64),
}

/// What is counted or timed of a load on a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadAmount {
    /// Transactions of the counted kind that were committed, a minute.
    Counted(&'static CountedTransaction),
    /// Statements or transactions of all kinds, a second.
    Statements,
    /// Reads that the database asked of its storage, a second.
    PhysicalReads,
    /// Statements and transactions that failed.
    Errors,
    /// The response time of one kind of transaction or statement, ns.
    Time {
        /// One of [`LoadKind::all_streams`](assay_model::load::LoadKind::all_streams).
        transaction: &'static str,
        /// Which number of its distribution.
        statistic: TimeStatistic,
    },
}

/// What is timed of a load of decision support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryAmount {
    /// The geometric mean of the times of all queries of a run.
    GeometricMean,
    /// Queries an hour of a power run, times the scale.
    Power,
    /// Queries an hour of a throughput run, times the scale.
    Throughput,
    /// The mean time of one of the 22 queries, by its number.
    Query(u8),
}

/// Which mixes of a calibration are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityMix {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Each mix of both.
    Mixed,
}

/// What a calibration says about a mix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CapacityOf {
    /// Most IOPS within the latency limit.
    IopsWithinLimit,
    /// Maximum IOPS at any depth.
    IopsMax,
    /// Most bytes per second.
    ThroughputMax,
    /// Bytes a second of one sequential stream.
    SingleStreamThroughput,
    /// Mean service time at queue depth 1.
    BaseServiceTime,
    /// A quantile of the service time at queue depth 1; known of the one that the calibration
    /// limits.
    BaseQuantile(f64),
    /// IOPS at the knee of the curve.
    KneeIops,
}

impl CapacityOf {
    /// Those with a name of their own.
    pub(crate) const NAMED: [Self; 6] = [
        Self::IopsWithinLimit,
        Self::IopsMax,
        Self::ThroughputMax,
        Self::SingleStreamThroughput,
        Self::BaseServiceTime,
        Self::KneeIops,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::IopsWithinLimit => "iops_within_limit",
            Self::IopsMax => "iops_max",
            Self::ThroughputMax => "throughput_max",
            Self::SingleStreamThroughput => "single_stream_throughput",
            Self::BaseServiceTime | Self::BaseQuantile(_) => "base_service_time",
            Self::KneeIops => "knee_iops",
        }
    }
}

impl QuantityMix {
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Mixed];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Mixed => "mix",
        }
    }

    /// Whether a mix with this share of reads is meant.
    pub fn holds(self, read_share: f64) -> bool {
        match self {
            Self::Read => read_share >= 1.0,
            Self::Write => read_share <= 0.0,
            Self::Mixed => read_share > 0.0 && read_share < 1.0,
        }
    }
}

impl CriterionQuantity {
    /// The unit of its limits.
    pub const fn unit(&self) -> Unit {
        match self {
            Self::Measured { amount, .. } => amount.unit(),
            Self::Calibrated { what, .. } => match what {
                CapacityOf::IopsWithinLimit | CapacityOf::IopsMax | CapacityOf::KneeIops => {
                    Unit::IosPerS
                }
                CapacityOf::ThroughputMax | CapacityOf::SingleStreamThroughput => Unit::BytesPerS,
                CapacityOf::BaseServiceTime | CapacityOf::BaseQuantile(_) => Unit::Ns,
            },
            Self::Loaded { what, .. } => what.unit(),
            Self::Queried { what } => what.unit(),
            Self::Transactions => Unit::IosPerS,
            Self::TransactionTime(_) | Self::DatabaseResponse => Unit::Ns,
            Self::IntegrityFindings | Self::DurabilityLost => Unit::Count,
            Self::AtomicUnit => Unit::Bytes,
            Self::DurabilityLossPerCut | Self::HostCpuBusy | Self::HostTcpRetransmits => {
                Unit::Share
            }
        }
    }

    /// Whether it is judged for each stream, target or mix, so that one can be picked by name.
    pub const fn has_subjects(&self) -> bool {
        match self {
            Self::Measured { scope, .. } => !matches!(scope, Scope::Whole),
            Self::Calibrated { mix, .. } => matches!(mix, QuantityMix::Mixed),
            Self::Loaded { each_rung, .. } => *each_rung,
            Self::Queried { .. } => true,
            Self::Transactions
            | Self::TransactionTime(_)
            | Self::IntegrityFindings
            | Self::DurabilityLost
            | Self::DurabilityLossPerCut
            | Self::AtomicUnit
            | Self::DatabaseResponse
            | Self::HostCpuBusy
            | Self::HostTcpRetransmits => false,
        }
    }

    /// The quantity in words, for a reader who does not know its name.
    pub fn label(&self) -> String {
        match self {
            Self::Measured { amount, .. } => amount.label(),
            Self::Calibrated { mix, what } => calibrated_label(*mix, *what),
            Self::Loaded { what, .. } => what.label(),
            Self::Queried { what } => what.label(),
            Self::Transactions => "transactions".to_owned(),
            Self::TransactionTime(statistic) => {
                statistic_label(*statistic, CriterionTimeKind::Response, "transactions")
            }
            Self::IntegrityFindings => "blocks with wrong content".to_owned(),
            Self::DurabilityLost => "blocks that lost acknowledged writes".to_owned(),
            Self::DurabilityLossPerCut => "maximum probability of a loss per cut".to_owned(),
            Self::AtomicUnit => "largest unit observed to be written atomically".to_owned(),
            Self::DatabaseResponse => "response time of the database".to_owned(),
            Self::HostCpuBusy => "CPU use of the host".to_owned(),
            Self::HostTcpRetransmits => "TCP retransmissions of the host".to_owned(),
        }
    }

    /// Whether it says how fit the host was to measure, and nothing about the storage.
    pub const fn is_of_host(&self) -> bool {
        matches!(self, Self::HostCpuBusy | Self::HostTcpRetransmits)
    }
}

impl LoadAmount {
    /// The unit of its limits.
    const fn unit(self) -> Unit {
        match self {
            Self::Counted(_) => Unit::PerMinute,
            Self::Statements | Self::PhysicalReads => Unit::IosPerS,
            Self::Errors => Unit::Count,
            Self::Time { .. } => Unit::Ns,
        }
    }

    /// The amount in words.
    fn label(self) -> String {
        match self {
            Self::Counted(counted) => counted.plural.to_owned(),
            Self::Statements => "statements".to_owned(),
            Self::PhysicalReads => "physical reads of the database".to_owned(),
            Self::Errors => "failed statements".to_owned(),
            Self::Time { transaction, statistic } => {
                let name = transaction.replace('_', " ");
                statistic_label(statistic, CriterionTimeKind::Response, &format!("‘{name}’"))
            }
        }
    }
}

impl QueryAmount {
    /// All but the queries.
    pub(crate) const OF_ALL: [Self; 3] = [Self::GeometricMean, Self::Power, Self::Throughput];

    /// The unit of its limits.
    const fn unit(self) -> Unit {
        match self {
            Self::GeometricMean | Self::Query(_) => Unit::Ns,
            Self::Power | Self::Throughput => Unit::PerHour,
        }
    }

    /// The amount in words.
    fn label(self) -> String {
        match self {
            Self::GeometricMean => "geometric mean of the query times".to_owned(),
            Self::Power => "power (queries per hour of one stream, times the scale)".to_owned(),
            Self::Throughput => {
                "throughput (queries per hour of all streams, times the scale)".to_owned()
            }
            Self::Query(number) => format!("mean time of Q{number}"),
        }
    }
}

/// A capacity in words.
fn calibrated_label(mix: QuantityMix, what: CapacityOf) -> String {
    let whose = match mix {
        QuantityMix::Read => "reads",
        QuantityMix::Write => "writes",
        QuantityMix::Mixed => "reads and writes",
    };
    match what {
        CapacityOf::IopsWithinLimit => format!("rate of {whose}"),
        CapacityOf::IopsMax => format!("highest rate of {whose}"),
        CapacityOf::ThroughputMax => format!("highest throughput of large {whose}"),
        CapacityOf::SingleStreamThroughput => format!("throughput of one stream of {whose}"),
        CapacityOf::BaseServiceTime => format!("mean latency of {whose}"),
        CapacityOf::BaseQuantile(quantile) => format!("p{} of {whose}", hundredfold(quantile)),
        CapacityOf::KneeIops => format!("rate of {whose} at the knee"),
    }
}

impl Amount {
    /// The unit of its limits.
    const fn unit(self) -> Unit {
        match self {
            Self::Time { .. } => Unit::Ns,
            Self::Iops(_) => Unit::IosPerS,
            Self::Throughput(_) => Unit::BytesPerS,
            Self::Errors(_) => Unit::Count,
        }
    }

    /// The amount in words.
    fn label(self) -> String {
        match self {
            Self::Time { operation, kind, statistic } => time_label(operation, kind, statistic),
            Self::Iops(operation) => format!("rate of {}", plural(operation)),
            Self::Throughput(operation) => format!("throughput of {}", plural(operation)),
            Self::Errors(None) => "failed I/Os".to_owned(),
            Self::Errors(operation) => format!("failed {}", plural(operation)),
        }
    }
}

/// The operations meant, in the plural.
fn plural(operation: Option<Operation>) -> &'static str {
    match operation {
        None => "reads and writes",
        Some(Operation::Read) => "reads",
        Some(Operation::Write) => "writes",
        Some(Operation::Sync) => "syncs",
    }
}

/// A time in words. A service time is what storage people call the latency.
fn time_label(operation: Operation, kind: CriterionTimeKind, statistic: TimeStatistic) -> String {
    statistic_label(statistic, kind, plural(Some(operation)))
}

/// A number of the distribution of a time.
fn statistic_label(statistic: TimeStatistic, kind: CriterionTimeKind, whose: &str) -> String {
    let time = match kind {
        CriterionTimeKind::Service => "latency",
        CriterionTimeKind::Response => "response time",
    };
    match (statistic, kind) {
        (TimeStatistic::Mean, _) => format!("mean {time} of {whose}"),
        (TimeStatistic::Max, _) => format!("longest {time} of {whose}"),
        // The latency is what everybody means who says no more than p99.
        (TimeStatistic::Quantile(quantile), CriterionTimeKind::Service) => {
            format!("p{} of {whose}", hundredfold(quantile))
        }
        (TimeStatistic::Quantile(quantile), CriterionTimeKind::Response) => {
            format!("p{} {time} of {whose}", hundredfold(quantile))
        }
    }
}

/// A hundredfold, without the digits that binary arithmetic adds.
fn hundredfold(share: f64) -> f64 {
    (share * 1e9).round() / 1e7
}

impl fmt::Display for CriterionQuantity {
    /// The name by which criteria call it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measured { scope, amount } => write!(formatter, "{scope}{amount}"),
            Self::Calibrated { mix, what } => {
                write!(formatter, "calibration.{}.{}", mix.name(), what.name())?;
                match what {
                    CapacityOf::BaseQuantile(quantile) => write!(formatter, ".q{quantile}"),
                    _ => Ok(()),
                }
            }
            Self::Loaded { each_rung, what } => {
                formatter.write_str(if *each_rung { "load.step." } else { "load." })?;
                what.fmt(formatter)
            }
            Self::Queried { what } => write!(formatter, "load.{what}"),
            Self::Transactions => formatter.write_str("transactions"),
            Self::TransactionTime(statistic) => {
                write!(formatter, "transaction.response_time.{statistic}")
            }
            Self::IntegrityFindings => formatter.write_str("integrity.findings"),
            Self::DurabilityLost => formatter.write_str("durability.lost"),
            Self::DurabilityLossPerCut => formatter.write_str("durability.loss_per_cut"),
            Self::AtomicUnit => formatter.write_str("atomic_unit"),
            Self::DatabaseResponse => formatter.write_str("database.response_time"),
            Self::HostCpuBusy => formatter.write_str("host.cpu_busy"),
            Self::HostTcpRetransmits => formatter.write_str("host.tcp_retransmits"),
        }
    }
}

impl fmt::Display for LoadAmount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted(counted) => formatter.write_str(counted.figures[0].0),
            Self::Statements => formatter.write_str("statements"),
            Self::PhysicalReads => formatter.write_str("physical_reads"),
            Self::Errors => formatter.write_str("errors"),
            Self::Time { transaction, statistic } => {
                write!(formatter, "{transaction}.response_time.{statistic}")
            }
        }
    }
}

impl fmt::Display for QueryAmount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GeometricMean => formatter.write_str("query_time.geometric_mean"),
            Self::Power => formatter.write_str("power"),
            Self::Throughput => formatter.write_str("throughput"),
            Self::Query(number) => write!(formatter, "q{number}.query_time"),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Whole => "",
            Self::Stream => "stream.",
            Self::Target => "target.",
        })
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operation, what) = match self {
            Self::Time { operation, kind, statistic } => {
                return write!(formatter, "{}.{kind}.{statistic}", operation.name());
            }
            Self::Iops(operation) => (operation, "iops"),
            Self::Throughput(operation) => (operation, "throughput"),
            Self::Errors(operation) => (operation, "errors"),
        };
        match operation {
            Some(operation) => write!(formatter, "{}.{what}", operation.name()),
            None => formatter.write_str(what),
        }
    }
}

impl fmt::Display for CriterionTimeKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Service => "service_time",
            Self::Response => "response_time",
        })
    }
}

impl fmt::Display for TimeStatistic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => formatter.write_str("mean"),
            Self::Max => formatter.write_str("max"),
            Self::Quantile(quantile) => write!(formatter, "q{quantile}"),
        }
    }
}
