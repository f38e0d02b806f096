//! The options of `assay bench dss`.

use super::partial_data::PartialDataOption;
use super::server::{SERVER, ServerOptions};
use crate::options::LoadRunOptions;
use assay_app::load::bounds::{LOADERS, PARALLEL, REPEATS, STREAMS};
use assay_app::load::dss::{DssPlan, ParameterSource};
use assay_model::units::{Bytes, Nanos};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Run decision-support queries in the manner of TPC-H
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(after_help = "Examples:
  assay bench dss /mnt/data --scale 10
  assay bench dss postgresql://user@host/database --scale 10 --streams 2,4")]
pub struct Options {
    /// Directory on the storage, where Assay creates a server, or the address of a server, `postgresql://…` or `mysql://…`
    #[arg(value_name = "STORAGE|DB")]
    target: String,
    /// Scale factor: 1 is about 1 GB of rows, 1.7 GB on storage; fractions from 0.01
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    /// Concurrent streams of each throughput run; 0 for no throughput run
    #[arg(long, aliases = ["sessions", "users", "clients", "vu", "vus"], short_alias = 'c', value_name = "N,N,…", value_delimiter = ',', default_value = "2", value_parser = clap::value_parser!(u32).range(STREAMS))]
    streams: Vec<u32>,
    /// Processes that the server may use for a step of a query in addition to the session's own; all runs are made with
    /// each number. By default 2 on PostgreSQL, none elsewhere
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(PARALLEL))]
    parallel: Option<Vec<u32>>,
    /// Repeat all runs this many times
    #[arg(long, alias = "repeat", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEATS))]
    repeats: u32,
    /// Longest time of a query; a longer one is cancelled and counts as the limit
    #[arg(long, value_name = "TIME", default_value = "10min")]
    query_limit: Nanos,
    /// Where the parameters of the queries come from
    #[arg(long, value_enum, default_value_t = ParametersOption::Drawn)]
    parameters: ParametersOption,
    /// Seed of drawn parameters; every stream draws its own
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Skip the power run
    #[arg(long)]
    no_power: bool,
    /// Skip the refresh functions, which insert and delete a thousandth of the orders
    #[arg(long)]
    no_refresh: bool,
    /// Write the answers of the first power run to this new directory, one CSV file per query; implies --no-refresh
    #[arg(long, value_name = "DIR", conflicts_with = "no_power")]
    answers: Option<PathBuf>,
    /// Sessions that load the tables; by default one per processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(LOADERS))]
    loaders: Option<u32>,
    /// What to do with tables whose loading was interrupted, or that were made with other options
    #[arg(long, value_enum)]
    partial_data: Option<PartialDataOption>,
    /// Criteria to judge by; without it there is an answer and no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Memory of a session for each sort and hash; by default the server's own setting
    #[arg(long, help_heading = SERVER, value_name = "SIZE")]
    work_mem: Option<Bytes>,
    /// Size of the server's buffer pool (`shared_buffers`, `innodb_buffer_pool_size`)
    #[arg(long, help_heading = SERVER, aliases = ["shared-buffers", "innodb-buffer-pool-size", "server-memory"], value_name = "SIZE", default_value = "128MiB")]
    buffer_pool: Bytes,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    pub run: LoadRunOptions,
}

/// Where parameters come from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParametersOption {
    /// By seed, as the benchmark draws them
    Drawn,
    /// Those whose answers the benchmark publishes
    Validation,
}

impl Options {
    /// The plan that these options mean.
    pub fn plan(&self) -> DssPlan {
        DssPlan {
            target: self.target.clone(),
            scale: self.scale,
            streams: self.streams.clone(),
            parallel: self.parallel.clone(),
            repeats: self.repeats,
            query_limit: self.query_limit,
            parameters: match self.parameters {
                ParametersOption::Drawn => ParameterSource::Drawn,
                ParametersOption::Validation => ParameterSource::Validation,
            },
            seed: self.seed,
            no_power: self.no_power,
            no_refresh: self.no_refresh,
            answers: self.answers.clone(),
            work_mem: self.work_mem,
            buffer_pool: self.buffer_pool,
            loaders: self.loaders,
            partial_data: self.partial_data.map(PartialDataOption::into),
            criteria: self.criteria.clone(),
            server: self.server.plan(),
        }
    }
}
