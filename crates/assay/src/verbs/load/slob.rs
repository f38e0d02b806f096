//! `assay load slob`: the SLOB method on a server of our own, or on any.

mod knobs;

use super::left::LeftOnly;
use super::server::ServerOptions;
use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, context, quantity};
use assay_app::finish::CriteriaSource;
use assay_app::load::ladder_run::{LadderPlan, run_ladder};
use assay_app::load::prepared_server::LoadProduct;
use assay_app::load::search::Search;
use assay_app::load::server_plan::ProductName;
use assay_app::load::settings_table::shown;
use assay_app::load::slob::{BLOCK_BYTES, BlockSetup, SlobDriver, WARM_UP};
use assay_dbload::load::{Climb, MariaLink, RungPlan};
use assay_dbload::slob::{Access, BlockStore, Slob};
use assay_loads::slob::Rules;
use assay_model::load::{Length, Setting};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use clap::{Args, ValueEnum};
use knobs::{HotSpotOption, ThinkOption, hot_spot, think};
use std::path::PathBuf;

/// Sessions at most when a search finds no end.
const SESSIONS_MAX: u32 = 1024;

/// Random blocks through a database, by the SLOB method: a ladder of sessions with the counters of server, host and device
#[derive(Args)]
pub struct Options {
    /// A directory on the storage (a server of our own is made there), or the address of a server, `postgresql://…` or `mysql://…`
    #[arg(value_name = "TARGET|DSN")]
    target: String,
    /// Numbers of sessions, one rung each
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,2,4,8,16", value_parser = clap::value_parser!(u32).range(1..=10_000))]
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
    #[arg(long, value_name = "N", conflicts_with = "time", value_parser = clap::value_parser!(u64).range(1..))]
    work: Option<u64>,
    /// Measure the whole ladder so often, up and down in turn, so that two runs can be compared
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=99))]
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
    #[arg(long, value_name = "SIZE:OFFSET:EVERY", value_parser = hot_spot)]
    hot_spot: Option<HotSpotOption>,
    /// Every Nth statement goes to the first table; 0 for none
    #[arg(long, value_name = "EVERY", default_value_t = 0)]
    hot_table: u64,
    /// Before every Nth statement a session waits for a random time, for example `10:100ms:500ms`
    #[arg(long, value_name = "EVERY:SHORTEST:LONGEST", value_parser = think)]
    think: Option<ThinkOption>,
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
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
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

/// Carries the load out.
///
/// # Errors
/// What the options, the store, the safety gate or the server say.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let access = match options.access {
        Reading::Index => Access::Index,
        Reading::Stream => Access::Stream,
    };
    match options.server.plan().product(&options.target)? {
        ProductName::Postgres => run_on::<Connection>(options, access, access.name()),
        ProductName::Mariadb if access == Access::Stream => Err(Error::usage(
            "--access stream: the server has no way to read several pages ahead of an index",
            "leave it out with MariaDB and MySQL: each page is read when it is met",
        )),
        ProductName::Mariadb => {
            run_on::<MariaLink>(options, access, assay_dbload::slob::MARIADB_ACCESS)
        }
    }
}

fn run_on<L: LoadProduct + BlockStore>(
    options: &Options,
    access: Access,
    words: &str,
) -> Result<ExitStatus> {
    let rules = options.rules()?;
    rules.check()?;
    let length = options.work.map_or(Length::Time(options.time), Length::Steps);
    let ladder = LadderPlan {
        target: options.target.clone(),
        climb: options.climb()?,
        rung: RungPlan::new(1, 1, length),
        warm_up: Some(WARM_UP),
        repeats: options.repeats,
        plan: options.plan(),
        access: words.to_owned(),
    };
    let server = options.server.plan();
    let setup = BlockSetup {
        rules: &rules,
        server: &server,
        left: options.left.map(LeftOnly::into),
        cache_bytes: options.shared_buffers.0,
        sessions_max: ladder.climb.sessions_max(),
        are_given: matches!(ladder.climb, Climb::Given(_)),
    };
    let mut driver = SlobDriver::<L>(Slob::new(&rules, access));
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let finished = run_ladder(
        &ladder,
        &mut driver,
        |named, context| setup.prepare(named, context),
        criteria.as_ref(),
        &context(&options.store, &options.output)?,
    )?;
    conclude(&finished, &options.output)
}

impl Options {
    fn rules(&self) -> Result<Rules> {
        let blocks = |size: Bytes, option: &str| -> Result<u64> {
            if size.0.is_multiple_of(BLOCK_BYTES) && size.0 > 0 {
                return Ok(size.0 / BLOCK_BYTES);
            }
            Err(Error::usage(
                format!("{option} {size} is no whole number of blocks"),
                "write a multiple of 8KiB",
            ))
        };
        let spot = self.hot_spot.as_ref().map(|spot| spot.in_blocks(BLOCK_BYTES));
        Ok(Rules {
            scale_blocks: blocks(self.scale, "--scale")?,
            tables: self.tables,
            work_unit: self.work_unit,
            update_work_unit: self.update_work_unit,
            update_percent: self.update_pct,
            scan_share: self.scan_share,
            scan_blocks: blocks(self.scan_size, "--scan-size")?,
            redo: match self.redo {
                Redo::Lite => assay_loads::slob::Redo::Lite,
                Redo::Heavy => assay_loads::slob::Redo::Heavy,
            },
            hot_spot: spot,
            hot_table_every: self.hot_table,
            think: self.think.as_ref().map(|think| think.0),
            compressible: self.compressible,
            seed: self.seed,
        })
    }

    fn climb(&self) -> Result<Climb> {
        Search {
            given: &self.sessions,
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            usual_quantile: 0.99,
            most: SESSIONS_MAX,
        }
        .climb()
    }

    /// The knobs as they are shown.
    fn plan(&self) -> Vec<Setting> {
        let redo = if self.redo == Redo::Lite { "lite" } else { "heavy" };
        shown([
            ("scale", self.scale.to_string()),
            ("tables", self.tables.to_string()),
            ("work unit", format!("{} blocks", self.work_unit)),
            ("update work unit", format!("{} blocks", self.update_work_unit)),
            ("updates", format!("{} of 100 statements", self.update_pct)),
            ("redo", redo.to_owned()),
            ("scans", self.scan_share.to_string()),
            ("hot spot", self.hot_spot.as_ref().map_or_else(none, ToString::to_string)),
            ("hot table", every(self.hot_table)),
            ("think time", self.think.as_ref().map_or_else(none, ToString::to_string)),
            ("compressible", self.compressible.to_string()),
            ("seed", self.seed.to_string()),
        ])
    }
}

fn none() -> String {
    "none".to_owned()
}

fn every(steps: u64) -> String {
    if steps == 0 { none() } else { format!("every {steps} statements") }
}
