//! `assay load dss`: a load of decision support on a server of our own, or on any.

use super::left::Left;
use super::server::ServerOptions;
use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, context, quantity};
use assay_app::load::dss::{DssRequest, run_queries};
use assay_app::load::prepared_server::{LoadProduct, processors};
use assay_app::load::server_plan::{ProductName, ServerPlan};
use assay_app::load::settings_table::shown;
use assay_dbload::dss::{DssStore, Memory};
use assay_dbload::load::MariaLink;
use assay_loads::dss::{Choice, Scale};
use assay_model::load::Setting;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Streams at most: each is a session with processes of its own.
const STREAMS_MAX: i64 = 1000;
/// Processes beside that of a session, where nobody says.
const PARALLEL: u32 = 2;
/// Processes at most beside that of a session.
const PARALLEL_MAX: i64 = 1024;

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
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "2", value_parser = clap::value_parser!(u32).range(0..=STREAMS_MAX))]
    streams: Vec<u32>,
    /// Processes that the server may use for a step of a query beside the session's own; all runs with each. Else 2 on
    /// PostgreSQL, and none elsewhere
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=PARALLEL_MAX))]
    parallel: Option<Vec<u32>>,
    /// Measure all runs so often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=99))]
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    loaders: Option<u32>,
    /// What to do with tables of which loading was broken off, or that were made otherwise
    #[arg(long, value_enum)]
    left: Option<Left>,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Where parameters come from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParametersOption {
    /// By seed, as the benchmark draws them
    Drawn,
    /// Those by which its answers can be checked
    Validation,
}

/// Carries the load out.
///
/// # Errors
/// What the options, the store, the safety gate or the server say.
pub fn run(options: &Options) -> Result<ExitStatus> {
    match options.server.plan().product(&options.target)? {
        ProductName::Postgres => options.run_on::<Connection>(options.parallel(PARALLEL)),
        ProductName::Mariadb => {
            let parallel = options.parallel(0);
            if parallel.iter().any(|processes| *processes > 0) {
                return Err(Error::usage(
                    "--parallel: in MariaDB and MySQL one thread works on a query, and no other helps it",
                    "leave it out; --streams asks several queries at once",
                ));
            }
            options.run_on::<MariaLink>(parallel)
        }
    }
}

impl Options {
    fn run_on<L: LoadProduct + DssStore>(&self, parallel: Vec<u32>) -> Result<ExitStatus> {
        let server = self.server.plan();
        let request = self.request(parallel, &server)?;
        let finished = run_queries::<L>(&request, &context(&self.store, &self.output)?)?;
        conclude(&finished, &self.output)
    }

    fn parallel(&self, usual: u32) -> Vec<u32> {
        self.parallel.clone().unwrap_or_else(|| vec![usual])
    }

    fn request<'a>(&'a self, parallel: Vec<u32>, server: &'a ServerPlan) -> Result<DssRequest<'a>> {
        if self.no_power && self.streams.iter().all(|streams| *streams == 0) {
            return Err(Error::usage(
                "--no-power with --streams 0 leaves nothing to measure",
                "leave one of them out",
            ));
        }
        Ok(DssRequest {
            target: &self.target,
            scale: Scale::new(self.scale)?,
            streams: self.streams.iter().copied().filter(|streams| *streams > 0).collect(),
            plan: self.plan(&parallel),
            parallel,
            repeats: self.repeats,
            has_power: !self.no_power,
            refreshes: !self.no_refresh,
            choice: match self.parameters {
                ParametersOption::Drawn => Choice::Drawn(self.seed),
                ParametersOption::Validation => Choice::Validation,
            },
            limit: self.query_limit,
            memory: Memory { work: self.work_mem },
            answers: self.answers.as_deref(),
            shared_buffers: self.shared_buffers,
            loaders: self.loaders.unwrap_or_else(processors),
            left: self.left.map(Left::into),
            server,
        })
    }

    /// The knobs as they are shown.
    fn plan(&self, parallel: &[u32]) -> Vec<Setting> {
        let list =
            |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        let parameters = match self.parameters {
            ParametersOption::Drawn => format!("drawn by seed {}", self.seed),
            ParametersOption::Validation => "those of validation".to_owned(),
        };
        let own = || "the server's own".to_owned();
        shown([
            ("scale", self.scale.to_string()),
            ("streams", list(&self.streams)),
            ("parallel processes", list(parallel)),
            ("repeats", self.repeats.to_string()),
            ("query limit", self.query_limit.to_string()),
            ("parameters", parameters),
            ("refresh functions", if self.no_refresh { "no" } else { "yes" }.to_owned()),
            ("work_mem", self.work_mem.map_or_else(own, |size| size.to_string())),
        ])
    }
}
