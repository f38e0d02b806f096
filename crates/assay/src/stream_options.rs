//! Options that describe the one stream of a workload: block, depth, mix, rate.

use assay_methods::patterns::StreamSpec;
use assay_model::units::{Bytes, Rate, Share};
use clap::Args;

/// How the I/Os of the one stream of a workload are issued.
#[derive(Args)]
pub struct StreamOptions {
    /// Size of an I/O (block size), for example `8k`
    #[arg(long, visible_aliases = ["block", "bs"], alias = "block-size", value_name = "SIZE")]
    pub transfer: Option<Bytes>,
    /// Queue depth (outstanding I/Os); with --rate, its maximum
    #[arg(long, visible_aliases = ["depth", "iodepth"], aliases = ["queue-depth", "qd"], value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub outstanding: Option<u32>,
    /// Share of reads, for example `70%`
    #[arg(long, value_name = "SHARE")]
    pub read_share: Option<Share>,
    /// Issue I/Os at this rate, for example `5000/s`, instead of at a fixed queue depth
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Rate>,
    /// Number of threads
    #[arg(long, aliases = ["threads", "jobs"], value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub workers: Option<u32>,
    /// Zipf skew of the addresses: the k-th most popular block has weight k^-THETA
    #[arg(long = "zipf", value_name = "THETA")]
    pub theta: Option<f64>,
    /// Call fdatasync after this number of writes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub fdatasync: Option<u32>,
}

impl StreamOptions {
    /// What the options say of the stream.
    pub fn spec(&self) -> StreamSpec {
        StreamSpec {
            transfer: self.transfer,
            outstanding: self.outstanding,
            read_share: self.read_share,
            rate: self.rate,
            workers: self.workers,
            theta: self.theta,
            fdatasync_every: self.fdatasync,
        }
    }
}
