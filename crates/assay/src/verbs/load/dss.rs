//! The options of `assay load dss`.

use super::left::Left;
use super::server::ServerOptions;
use crate::options::{LoadRunOptions, quantity};
use assay_app::load::bounds::{LOADERS, PARALLEL, REPEATS, STREAMS};
use assay_app::load::dss::{DssPlan, ParameterSource};
use assay_model::units::{Bytes, Nanos};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Queries of decision support (TPC-H-like): a power run and throughput runs with the counters of server, host and device
#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Options {
    /// A directory on the storage (a server of our own is made there), or the address of a server, `postgresql://…` or
    /// `mysql://…`
    #[arg(value_name = "TARGET|DSN")]
    target: String,
    /// How large the tables are: 1 makes about 1 GB of rows, 1.7 GB on storage; fractions from 0.01 on
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    /// Streams at once of each throughput run; 0 for no throughput run
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "2", value_parser = clap::value_parser!(u32).range(STREAMS))]
    streams: Vec<u32>,
    /// Processes that the server may use for a step of a query beside the session's own; all runs with each. Else 2 on
    /// PostgreSQL, and none elsewhere
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(PARALLEL))]
    parallel: Option<Vec<u32>>,
    /// Measure all runs so often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEATS))]
    repeats: u32,
    /// Longest time of a query; one that takes longer is cancelled, and its time counts as the limit
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "10min")]
    query_limit: Nanos,
    /// Where the parameters of the queries come from
    #[arg(long, value_enum, default_value_t = ParametersOption::Drawn)]
    parameters: ParametersOption,
    /// Seed of drawn parameters; every stream draws its own
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// No power run
    #[arg(long)]
    no_power: bool,
    /// Without refresh functions, which insert and delete a thousandth of the orders
    #[arg(long)]
    no_refresh: bool,
    /// Write every answer of the first power run into this new directory, one CSV a query
    #[arg(long, value_name = "DIR", conflicts_with = "no_power")]
    answers: Option<PathBuf>,
    /// Memory of a session for each sort and hash; else the server's own setting
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    work_mem: Option<Bytes>,
    /// Cache of a server of our own
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "128MiB")]
    shared_buffers: Bytes,
    /// Sessions that load the tables at once; else one a processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(LOADERS))]
    loaders: Option<u32>,
    /// What to do with tables of which loading was broken off, or that were made otherwise
    #[arg(long, value_enum)]
    left: Option<Left>,
    /// Criteria to judge by; without it there is an answer and no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
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
    /// Those by which its answers can be checked
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
            shared_buffers: self.shared_buffers,
            loaders: self.loaders,
            left: self.left.map(Left::into),
            criteria: self.criteria.clone(),
            server: self.server.plan(),
        }
    }
}
