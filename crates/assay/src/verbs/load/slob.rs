//! The options of `assay load slob`.

use super::left::LeftOnly;
use super::server::ServerOptions;
use crate::options::{LoadRunOptions, quantity};
use assay_app::load::bounds::{REPEATS, SESSIONS, WORK};
use assay_app::load::parameters::{HotSpotParameter, ThinkParameter};
use assay_app::load::slob::{ReadAccess, RedoAmount, SlobPlan};
use assay_model::units::{Bytes, Nanos, Share};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Random blocks through a database, by the SLOB method: a ladder of sessions with the counters of server, host and device
#[derive(Args)]
pub struct Options {
    /// A directory on the storage (a server of our own is made there), or the address of a server, `postgresql://…` or `mysql://…`
    #[arg(value_name = "TARGET|DSN")]
    target: String,
    /// Numbers of sessions, one rung each
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,2,4,8,16", value_parser = clap::value_parser!(u32).range(SESSIONS))]
    sessions: Vec<u32>,
    /// Twice as many sessions each time until that gives no more
    #[arg(long, conflicts_with_all = ["sessions", "max_latency"])]
    find_knee: bool,
    /// Search the most sessions whose reading statements keep this limit
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, conflicts_with = "sessions")]
    max_latency: Option<Nanos>,
    /// The quantile that the limit is on
    #[arg(long, value_name = "QUANTILE", default_value_t = 0.99)]
    quantile: f64,
    /// Measured time of each rung
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "15s")]
    time: Nanos,
    /// Statements of each session instead of a time; the time is then the result
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(WORK))]
    work: Option<u64>,
    /// Measure the whole ladder so often, up and down in turn, so that two runs can be compared
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEATS))]
    repeats: u32,
    /// Size of each table; a row fills a block of 8 KiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "1GiB")]
    scale: Bytes,
    /// Tables; sessions are dealt out over them in turn
    #[arg(long, value_name = "N", default_value_t = 1)]
    tables: u32,
    /// Blocks that a reading statement touches; 1 shows single-block times, 64 the most IOPS for the CPU
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    work_unit: u64,
    /// Blocks that a changing statement touches
    #[arg(long, value_name = "BLOCKS", default_value_t = 8)]
    update_work_unit: u64,
    /// Of 100 statements so many change rows and commit
    #[arg(long, value_name = "N", default_value_t = 0)]
    update_pct: u64,
    /// How much of a row is changed
    #[arg(long, value_enum, default_value_t = Redo::Lite)]
    redo: Redo,
    /// Share of the reading statements that scan a short table without an index
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "0%")]
    scan_share: Share,
    /// Size of that table
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "1MiB")]
    scan_size: Bytes,
    /// Every Nth statement goes to a part of the table, for example `8MiB:16MiB:3`
    #[arg(long, value_name = "SIZE:OFFSET:EVERY", value_parser = quantity::<HotSpotParameter>)]
    hot_spot: Option<HotSpotParameter>,
    /// Every Nth statement goes to the first table; 0 for none
    #[arg(long, value_name = "EVERY", default_value_t = 0)]
    hot_table: u64,
    /// Before every Nth statement a session waits for a random time, for example `10:100ms:500ms`
    #[arg(long, value_name = "EVERY:SHORTEST:LONGEST", value_parser = quantity::<ThinkParameter>)]
    think: Option<ThinkParameter>,
    /// Share of the rows' text that compresses away
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "0%")]
    compressible: Share,
    /// How rows are read
    #[arg(long, value_enum, default_value_t = Reading::Index)]
    access: Reading,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cache of the server, small so that reads reach the storage
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "32MiB")]
    shared_buffers: Bytes,
    /// What to do with what earlier runs of this load left behind; else it is only named
    #[arg(long, value_enum)]
    left: Option<LeftOnly>,
    /// Criteria to judge by; without it there is an answer and no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    pub run: LoadRunOptions,
}

/// How much of a row is changed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Redo {
    /// Two columns
    Lite,
    /// All columns of text
    Heavy,
}

/// How rows are read.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reading {
    /// An index scan, one block at a time ("sequential read")
    Index,
    /// A bitmap scan that reads ahead ("parallel read")
    Stream,
}

impl Options {
    /// The plan that these options mean.
    pub fn plan(&self) -> SlobPlan {
        let is_searched = self.find_knee || self.max_latency.is_some();
        SlobPlan {
            target: self.target.clone(),
            sessions: (!is_searched).then(|| self.sessions.clone()),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            time: self.work.is_none().then_some(self.time),
            work: self.work,
            repeats: self.repeats,
            scale: self.scale,
            tables: self.tables,
            work_unit: self.work_unit,
            update_work_unit: self.update_work_unit,
            update_pct: self.update_pct,
            redo: match self.redo {
                Redo::Lite => RedoAmount::Lite,
                Redo::Heavy => RedoAmount::Heavy,
            },
            scan_share: self.scan_share,
            scan_size: self.scan_size,
            hot_spot: self.hot_spot,
            hot_table: self.hot_table,
            think: self.think,
            compressible: self.compressible,
            access: match self.access {
                Reading::Index => ReadAccess::Index,
                Reading::Stream => ReadAccess::Stream,
            },
            seed: self.seed,
            shared_buffers: self.shared_buffers,
            left: self.left.map(LeftOnly::into),
            criteria: self.criteria.clone(),
            server: self.server.plan(),
        }
    }
}
