//! The options of `assay bench slob`.

use super::partial_data::DropOption;
use super::server::{DatabaseOptions, SERVER, ServerOptions};
use crate::options::LoadRunOptions;
use assay_app::cluster::HostNames;
use assay_app::load::bounds::{REPEATS, SESSIONS, WORK};
use assay_app::load::parameters::{HotSpotParameter, ThinkParameter};
use assay_app::load::slob::SlobPlan;
use assay_dbload::slob::Access;
use assay_loads::slob;
use assay_model::spelling::Quantile;
use assay_model::spelling::latency;
use assay_model::units::{Bytes, Nanos, Share};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Read and write random blocks through a database (SLOB)
#[derive(Args)]
#[command(after_help = "Examples:
  assay bench slob /mnt/data
  assay bench slob /mnt/data --sessions 1,8,64 --time 30s --update-pct 25
  assay bench slob postgresql://user@host/database --max-latency 5ms")]
pub struct Options {
    #[command(flatten)]
    databases: DatabaseOptions,
    /// Numbers of concurrent sessions on all databases together, one load step (rung) each; by default 1,2,4,8,16 on each
    /// database
    #[arg(long, aliases = ["users", "clients", "connections", "threads", "vu", "vus"], short_alias = 'c', value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(SESSIONS))]
    sessions: Option<Vec<u32>>,
    /// Double the sessions until throughput stops rising
    #[arg(long, conflicts_with_all = ["sessions", "max_latency"])]
    find_knee: bool,
    /// Search for the most sessions whose reading statements stay within this latency
    #[arg(long, value_name = "TIME", conflicts_with = "sessions", value_parser = latency)]
    max_latency: Option<Nanos>,
    /// Quantile that the limit holds for
    #[arg(long, value_name = "QUANTILE", default_value = "0.99")]
    quantile: Quantile,
    /// Measured time of each rung
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "15s")]
    time: Nanos,
    /// Statements per session instead of a time; the elapsed time is then the result
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(WORK))]
    work: Option<u64>,
    /// Repeat the whole ladder this many times, alternately up and down, so that two runs can be compared
    #[arg(long, alias = "repeat", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEATS))]
    repeats: u32,
    /// Size of each table; a row fills one 8 KiB block
    #[arg(long, alias = "size", value_name = "SIZE", default_value = "1GiB")]
    scale: Bytes,
    /// Number of tables; sessions are distributed over them
    #[arg(long, value_name = "N", default_value_t = 1)]
    tables: u32,
    /// Blocks that a reading statement touches; 1 shows single-block times, 64 the most IOPS per CPU
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    work_unit: u64,
    /// Blocks that an updating statement touches
    #[arg(long, value_name = "BLOCKS", default_value_t = 8)]
    update_work_unit: u64,
    /// Percentage of statements that update rows and commit
    #[arg(long, value_name = "N", default_value_t = 0)]
    update_pct: u64,
    /// How much of a row an update changes
    #[arg(long, value_enum, default_value_t = Redo::Lite)]
    redo: Redo,
    /// Share of the reading statements that scan a short table without an index
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    scan_share: Share,
    /// Size of that table
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    scan_size: Bytes,
    /// Every Nth statement goes to one part of the table, for example `8MiB:16MiB:3`
    #[arg(long, value_name = "SIZE:OFFSET:EVERY")]
    hot_spot: Option<HotSpotParameter>,
    /// Every Nth statement goes to the first table; 0 for none
    #[arg(long, value_name = "EVERY", default_value_t = 0)]
    hot_table: u64,
    /// Before every Nth statement a session waits for a random time, for example `10:100ms:500ms`
    #[arg(long, value_name = "EVERY:SHORTEST:LONGEST")]
    think: Option<ThinkParameter>,
    /// Share of the rows' text that compression removes
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    compressible: Share,
    /// How rows are read
    #[arg(long, value_enum, default_value_t = Reading::Index)]
    access: Reading,
    /// Hosts that have the sessions, dealt in the order of their numbers: local:N (processes here), ssh:A,B, or names in a Ray
    /// cluster: A,B
    #[arg(long, value_name = "HOSTS", conflicts_with = "work")]
    hosts: Option<HostNames>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to do with data that earlier runs of this load left behind; by default they are only named
    #[arg(long, value_enum)]
    partial_data: Option<DropOption>,
    /// Criteria to judge by; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Size of the server's buffer pool (`shared_buffers`, `innodb_buffer_pool_size`); small, so that reads reach the storage
    #[arg(long, help_heading = SERVER, aliases = ["shared-buffers", "innodb-buffer-pool-size", "server-memory"], value_name = "SIZE", default_value = "32MiB")]
    buffer_pool: Bytes,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    pub run: LoadRunOptions,
}

/// How much of a row an update changes.
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
        SlobPlan {
            target: self.databases.target.clone(),
            other_targets: self.databases.other_targets.clone(),
            sessions: self.sessions.clone(),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile.0,
            time: self.work.is_none().then_some(self.time),
            work: self.work,
            repeats: self.repeats,
            scale: self.scale,
            tables: self.tables,
            work_unit: self.work_unit,
            update_work_unit: self.update_work_unit,
            update_pct: self.update_pct,
            redo: match self.redo {
                Redo::Lite => slob::Redo::Lite,
                Redo::Heavy => slob::Redo::Heavy,
            },
            scan_share: self.scan_share,
            scan_size: self.scan_size,
            hot_spot: self.hot_spot,
            hot_table: self.hot_table,
            think: self.think,
            compressible: self.compressible,
            access: match self.access {
                Reading::Index => Access::Index,
                Reading::Stream => Access::Stream,
            },
            hosts: self.hosts.clone(),
            seed: self.seed,
            buffer_pool: self.buffer_pool,
            partial_data: self.partial_data.map(DropOption::into),
            criteria: self.criteria.clone(),
            server: self.server.plan(),
        }
    }
}
