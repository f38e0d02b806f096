//! Workloads of one stream in the words of storage people: random or sequential, block, depth,
//! rate.
//!
//! The names of patterns are those of fio's `rw` (fio manual, "I/O type"); a half of `randrw` and
//! `rw` are reads, as there.

use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::workload::{Access, Arrival, BlockSizeMix, Process, Stream, SyncPolicy};
use assay_model::{Error, Result, Workload};
use clap::{Args, value_parser};

/// A single block of a database, the transfer of random patterns.
const RANDOM_TRANSFER: Bytes = Bytes(8 << 10);
/// The large I/O of a scan, the transfer of sequential patterns.
const SEQUENTIAL_TRANSFER: Bytes = Bytes(1 << 20);
/// Keep a single flash device busy; arrays take more.
const RANDOM_OUTSTANDING: u32 = 32;
/// Read-ahead of one scan.
const SEQUENTIAL_OUTSTANDING: u32 = 4;
/// I/Os in flight at most where a rate is given.
const QUEUE_DEPTH_MAX: u32 = 256;

/// A pattern of I/O that has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPattern {
    /// Its name.
    pub name: &'static str,
    /// Whether addresses are drawn at random; else they ascend.
    pub is_random: bool,
    /// Share of reads, 0..=1.
    pub read_share: f64,
}

/// All patterns that have names.
pub const PATTERNS: [LoadPattern; 6] = [
    LoadPattern { name: "randread", is_random: true, read_share: 1.0 },
    LoadPattern { name: "randwrite", is_random: true, read_share: 0.0 },
    LoadPattern { name: "randrw", is_random: true, read_share: 0.5 },
    LoadPattern { name: "read", is_random: false, read_share: 1.0 },
    LoadPattern { name: "write", is_random: false, read_share: 0.0 },
    LoadPattern { name: "rw", is_random: false, read_share: 0.5 },
];

impl LoadPattern {
    /// The pattern of a name; `readwrite` is fio's other name of `rw`.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "readwrite" { "rw" } else { name };
        PATTERNS.into_iter().find(|pattern| pattern.name == name)
    }

    /// The pattern that a stream has.
    fn of(stream: &Stream) -> Self {
        let is_random = !matches!(stream.access, Access::Sequential { .. });
        let share = stream.read_share.0;
        let is_same = |pattern: &Self| {
            let is_whole = share <= 0.0 || share >= 1.0;
            let is_mixed = pattern.read_share > 0.0 && pattern.read_share < 1.0;
            let same_share =
                if is_whole { (pattern.read_share - share).abs() < f64::EPSILON } else { is_mixed };
            pattern.is_random == is_random && same_share
        };
        PATTERNS.into_iter().find(is_same).unwrap_or(PATTERNS[0])
    }

    /// A workload of this pattern with the usual transfer and depth: half a minute after 2 s of
    /// warm-up.
    pub fn workload(self) -> Workload {
        let (block_size, queue_depth) = if self.is_random {
            (RANDOM_TRANSFER, RANDOM_OUTSTANDING)
        } else {
            (SEQUENTIAL_TRANSFER, SEQUENTIAL_OUTSTANDING)
        };
        let closed = Stream::closed("blocks", Share(self.read_share), block_size, queue_depth);
        let access =
            if self.is_random { Access::Uniform } else { Access::Sequential { streams: 1 } };
        let stream = Stream { access, ..closed };
        let description = describe(&stream);
        let workload = Workload::of(self.name, Nanos(30_000_000_000), stream);
        Workload { description, warm_up: Nanos(2_000_000_000), ..workload }
    }
}

/// How a workload that runs differs from what it says itself; by default not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct WorkloadChanges {
    /// Its one stream.
    #[command(flatten)]
    pub stream: StreamSpec,
    /// Length of an interval; by default the workload's own
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Nanos>,
    /// Seed of all random choices; by default the workload's own
    #[arg(long)]
    pub seed: Option<u64>,
}

impl WorkloadChanges {
    /// The workload with these changes.
    ///
    /// # Errors
    /// Those of [`StreamSpec::apply`].
    pub fn apply(&self, workload: Workload) -> Result<Workload> {
        let workload = self.stream.apply(workload)?;
        let interval = self.interval.unwrap_or(workload.interval);
        let seed = self.seed.unwrap_or(workload.seed);
        Ok(Workload { interval, seed, ..workload })
    }
}

/// How the one stream of a workload differs from what the workload says; by default not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct StreamSpec {
    /// Size of an I/O (block size), for example `8k`
    #[arg(long, visible_aliases = ["block", "bs"], alias = "transfer", value_name = "SIZE")]
    pub block_size: Option<Bytes>,
    /// Queue depth (outstanding I/Os); with --rate, its maximum
    #[arg(
        long,
        visible_aliases = ["depth", "iodepth"],
        aliases = ["outstanding", "qd"],
        value_name = "N",
        value_parser = value_parser!(u32).range(1..)
    )]
    pub queue_depth: Option<u32>,
    /// Share of reads, for example `70%`
    #[arg(long, value_name = "SHARE")]
    pub read_share: Option<Share>,
    /// Issue I/Os at this rate, for example `5000/s`, instead of at a fixed queue depth
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Rate>,
    /// Number of threads
    #[arg(
        long,
        aliases = ["threads", "jobs"],
        value_name = "N",
        value_parser = value_parser!(u32).range(1..)
    )]
    pub workers: Option<u32>,
    /// Zipf skew of the addresses: the k-th most popular block has weight k^-THETA
    #[arg(long = "zipf", value_name = "THETA")]
    pub theta: Option<f64>,
    /// Call fdatasync after this number of writes
    #[arg(long = "fdatasync", value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub fdatasync_every: Option<u32>,
}

impl StreamSpec {
    /// The workload with these changes to its one stream, and a description of the result.
    ///
    /// # Errors
    /// A usage error when the workload has several streams: they have no transfer or depth in
    /// common.
    pub fn apply(&self, mut workload: Workload) -> Result<Workload> {
        if *self == Self::default() {
            return Ok(workload);
        }
        let several = format!("the workload {} has several streams", workload.name);
        let [stream] = workload.streams.as_mut_slice() else {
            let hint = "stream options apply only to workloads with one stream; write the workload \
                        to a file with --print and change its streams there";
            return Err(Error::usage(several, hint));
        };
        self.change(stream);
        workload.description = describe(stream);
        if LoadPattern::named(&workload.name).is_some() {
            LoadPattern::of(stream).name.clone_into(&mut workload.name);
        }
        Ok(workload)
    }

    fn change(&self, stream: &mut Stream) {
        stream.block_size = self.block_size.map_or(stream.block_size.clone(), BlockSizeMix::single);
        stream.read_share = self.read_share.unwrap_or(stream.read_share);
        stream.workers = self.workers.unwrap_or(stream.workers);
        stream.access = self.theta.map_or(stream.access, |theta| Access::Zipf { theta });
        stream.sync =
            self.fdatasync_every.map_or(stream.sync, |every| SyncPolicy::Fdatasync { every });
        stream.arrival = self.arrival(stream.arrival);
    }

    fn arrival(&self, arrival: Arrival) -> Arrival {
        let depth = self.queue_depth;
        match (self.rate, arrival) {
            (Some(rate), _) => Arrival::Open {
                rate,
                process: Process::Poisson,
                burst: 1,
                queue_depth_max: depth.unwrap_or(QUEUE_DEPTH_MAX),
                group_commit: None,
            },
            (None, Arrival::Closed { queue_depth, think_time }) => {
                Arrival::Closed { queue_depth: depth.unwrap_or(queue_depth), think_time }
            }
            (None, Arrival::Open { rate, process, burst, queue_depth_max, group_commit }) => {
                let queue_depth_max = depth.unwrap_or(queue_depth_max);
                Arrival::Open { rate, process, burst, queue_depth_max, group_commit }
            }
        }
    }
}

/// A stream in a few words: `random 8KiB, 70% reads, queue depth 32`.
pub fn describe(stream: &Stream) -> String {
    let order = match stream.access {
        Access::Sequential { .. } | Access::Stride { .. } => "sequential",
        _ => "random",
    };
    let sizes: Vec<String> =
        stream.block_size.parts.iter().map(|part| part.size.to_string()).collect();
    let mix = match stream.read_share.0 {
        share if share >= 1.0 => " reads".to_owned(),
        share if share <= 0.0 => " writes".to_owned(),
        share => format!(", {:.0}% reads", 100.0 * share),
    };
    let pace = match stream.arrival {
        Arrival::Closed { queue_depth, think_time: Nanos(0) } => {
            format!("queue depth {queue_depth}")
        }
        Arrival::Closed { queue_depth, think_time } => {
            format!("queue depth {queue_depth}, {think_time} of think time")
        }
        Arrival::Open { rate, .. } => format!("{rate}"),
    };
    format!("{order} {}{mix}, {pace}", sizes.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_valid_workload_of_its_name() {
        for pattern in PATTERNS {
            let workload = pattern.workload();
            workload.check().unwrap();
            assert_eq!(workload.name, pattern.name);
            assert_eq!(LoadPattern::of(&workload.streams[0]), pattern);
        }
        assert_eq!(LoadPattern::named("readwrite").unwrap().name, "rw");
        assert_eq!(LoadPattern::named("trim"), None);
    }

    #[test]
    fn what_is_said_of_the_stream_changes_it_and_its_description() {
        let spec = StreamSpec {
            block_size: Some(Bytes(16 << 10)),
            read_share: Some(Share(0.7)),
            rate: Some(Rate(5000.0)),
            workers: Some(2),
            theta: Some(0.9),
            fdatasync_every: Some(8),
            ..StreamSpec::default()
        };
        let workload = spec.apply(PATTERNS[0].workload()).unwrap();
        workload.check().unwrap();
        assert_eq!(workload.name, "randrw");
        assert_eq!(workload.description, "random 16KiB, 70% reads, 5000/s");
        let stream = &workload.streams[0];
        assert_eq!((stream.workers, stream.arrival.queue_depth()), (2, QUEUE_DEPTH_MAX));
        assert_eq!(stream.sync, SyncPolicy::Fdatasync { every: 8 });
        assert_eq!(stream.access, Access::Zipf { theta: 0.9 });
    }

    #[test]
    fn a_depth_bounds_a_rate_and_replaces_a_number_outstanding() {
        let depth = |rate| StreamSpec { queue_depth: Some(4), rate, ..StreamSpec::default() };
        let closed = depth(None).apply(PATTERNS[1].workload()).unwrap();
        assert_eq!(
            closed.streams[0].arrival,
            Arrival::Closed { queue_depth: 4, think_time: Nanos(0) }
        );
        let open = depth(Some(Rate(10.0))).apply(PATTERNS[1].workload()).unwrap();
        assert_eq!(open.streams[0].arrival.queue_depth(), 4);
        assert!(matches!(open.streams[0].arrival, Arrival::Open { .. }));
    }

    #[test]
    fn several_streams_have_no_depth_in_common() {
        let database = crate::presets::preset("database").unwrap();
        assert_eq!(StreamSpec::default().apply(database.clone()).unwrap(), database);
        let spec = StreamSpec { queue_depth: Some(4), ..StreamSpec::default() };
        let error = spec.apply(database).unwrap_err();
        assert!(error.hint().contains("--print"), "{error}");
    }
}
