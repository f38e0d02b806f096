//! The load of decision support, in the manner of TPC-H: its plan, and what it says of itself.

mod answers;
mod data;
mod live_queries;
mod request;
mod session;

use super::bounds::{LOADERS, PARALLEL, REPEATS, STREAMS, checked_schema, plain_name, within};
use super::kind::{DataShape, LoadParts, PlannedLoad};
use super::load_member::LoadMember;
use super::partial_data::PartialData;
use super::prepared_server::processors;
use super::server_plan::{SERVER, ServerPlan};
use super::settings_table::{joined, shown};
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun};
use crate::plan_document::{PlanDocument, without_password};
use assay_dbload::dss::{SCHEMA, SessionMemory, data_bytes, parallel_usual};
use assay_dbload::load::{Dialect, Product};
use assay_dbload::with_link;
use assay_loads::dss::{DssScale, ParameterChoice};
use assay_model::load::{LoadKind, Setting};
use assay_model::spelling::defaults;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use clap::{Args, ValueEnum};
use request::DssRequest;
use serde::{Deserialize, Serialize};
use session::run_queries;
use std::path::PathBuf;

/// The plan of the load; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DssPlan {
    /// Directory on the storage, in which Assay creates a server, or the address of a server,
    /// `postgresql://…` or `mysql://…`
    #[arg(value_name = "STORAGE|DB")]
    #[serde(serialize_with = "without_password")]
    pub target: String,
    /// Scale factor: 1 is about 1 GB of rows, 1.7 GB on storage; fractions from 0.01
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub scale: f64,
    /// Concurrent streams of each throughput run; 0 for no throughput run
    #[arg(
        long,
        aliases = ["sessions", "users", "clients", "vu", "vus"],
        short_alias = 'c',
        value_name = "N,N,…",
        value_delimiter = ',',
        default_value = "2",
        value_parser = clap::value_parser!(u32).range(STREAMS)
    )]
    pub streams: Vec<u32>,
    /// Parallel worker processes for each step of a query; all runs are made with each number;
    /// default 2 on PostgreSQL, none elsewhere
    #[arg(
        long,
        alias = "parallelism",
        value_name = "N,N,…",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(PARALLEL)
    )]
    pub parallel: Option<Vec<u32>>,
    /// Repeat all runs this many times
    #[arg(
        long,
        alias = "repeat",
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(REPEATS)
    )]
    pub repeats: u32,
    /// Timeout of a query; a longer one is cancelled and counted at the limit
    #[arg(long, value_name = "TIME", default_value = "10min")]
    pub query_limit: Nanos,
    /// Source of the query parameters
    #[arg(long, value_enum, default_value_t = ParameterSource::Drawn)]
    pub parameters: ParameterSource,
    /// Seed of the drawn parameters; each stream draws its own
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Skip the power run
    #[arg(long)]
    pub no_power: bool,
    /// Skip the refresh functions, which insert and delete 0.1% of the orders
    #[arg(long)]
    pub no_refresh: bool,
    /// Write the answers of the first power run to this new directory, one CSV file per query;
    /// implies --no-refresh
    #[arg(long, value_name = "DIR", conflicts_with = "no_power")]
    pub answers: Option<PathBuf>,
    /// Sessions that load the tables; by default one per CPU
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(LOADERS))]
    pub loaders: Option<u32>,
    /// Name of Assay's schema on your server; an empty one of yours is used and left empty; by
    /// default `assay_dss`
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    pub schema: Option<String>,
    /// What to do with incomplete tables, or tables loaded with other options
    #[arg(long, alias = "left", value_enum)]
    #[serde(alias = "left")]
    pub partial_data: Option<PartialData>,
    /// Criteria to judge by; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    pub criteria: Option<PathBuf>,
    /// Memory for each sort and hash of a session; by default the server's own setting
    #[arg(long, help_heading = SERVER, value_name = "SIZE")]
    pub work_mem: Option<Bytes>,
    /// Size of the server's buffer pool (`shared_buffers`, `innodb_buffer_pool_size`)
    #[arg(
        long,
        help_heading = SERVER,
        aliases = ["shared-buffers", "innodb-buffer-pool-size", "memory", "server-memory"],
        value_name = "SIZE",
        default_value = "128MiB"
    )]
    #[serde(alias = "shared_buffers")]
    pub buffer_pool: Bytes,
    /// The server
    #[command(flatten)]
    pub server: ServerPlan,
}

/// Where parameters come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterSource {
    /// Drawn with the seed, as the benchmark specifies
    #[default]
    Drawn,
    /// Those for which the benchmark publishes the answers
    Validation,
}

impl Default for DssPlan {
    fn default() -> Self {
        defaults()
    }
}

impl PlannedLoad for DssPlan {
    fn kind(&self) -> LoadKind {
        LoadKind::Dss
    }

    fn check(&self) -> Result<()> {
        within("--streams", self.streams.iter().copied(), &STREAMS)?;
        within("--parallel", self.parallel.iter().flatten().copied(), &PARALLEL)?;
        within("--repeats", [self.repeats], &REPEATS)?;
        within("--loaders", self.loaders, &LOADERS)?;
        if self.answers.is_some() && self.no_power {
            return Err(Error::usage(
                "--answers cannot be used with --no-power",
                "leave one of them out",
            ));
        }
        if self.no_power && self.streams.iter().all(|streams| *streams == 0) {
            return Err(Error::usage(
                "with --no-power and --streams 0 there is nothing to measure",
                "leave one of them out",
            ));
        }
        DssScale::new(self.scale)?;
        checked_schema(self.schema.as_deref())?;
        self.parallel_on_dialect().map(drop)
    }

    fn run(&self, document: &PlanDocument, context: &Context) -> Result<FinishedRun> {
        let (dialect, parallel) = self.parallel_on_dialect()?;
        with_link!(dialect, L => self.run_on::<L>(parallel, document, context))
    }

    fn take_part(&self, _: &mut LoadMember<'_>) -> Result<()> {
        Err(Error::usage(
            "decision-support queries use the CPUs of the server, not of a client",
            "leave --hosts out",
        ))
    }

    fn shape(&self) -> DataShape {
        // A field that is added must say here whether it shapes the data; parameters of queries,
        // and so the seed, do not.
        #[rustfmt::skip]
        let Self {
            scale, target: _, streams: _, parallel: _, repeats: _, query_limit: _, parameters: _, seed: _, no_power: _,
            no_refresh: _, answers: _, work_mem: _, buffer_pool: _, loaders: _, schema: _, partial_data: _, criteria: _,
            server: _,
        } = self;
        vec![("scale", scale.to_string())]
    }

    fn data_bytes(&self) -> Result<u64> {
        Ok(data_bytes(DssScale::new(self.scale)?))
    }

    fn summary(&self) -> [String; 2] {
        [
            format!("22 queries one by one, then in {} streams", joined(&self.streams)),
            format!("at most {} for each query, after the data are loaded", self.query_limit),
        ]
    }

    fn parts(&mut self) -> LoadParts<'_> {
        LoadParts {
            target: &mut self.target,
            other_targets: None,
            server: &mut self.server,
            buffer_pool: &mut self.buffer_pool,
            restore_every: None,
            ledger: None,
        }
    }
}

impl DssPlan {
    fn run_on<L: Product>(
        &self,
        parallel: Vec<u32>,
        document: &PlanDocument,
        context: &Context,
    ) -> Result<FinishedRun> {
        let criteria = CriteriaSource::named(self.criteria.as_deref())?;
        run_queries::<L>(&self.request(parallel)?, document, criteria.as_ref(), context)
    }

    /// The dialect of the server, and parallel processes on it.
    fn parallel_on_dialect(&self) -> Result<(Dialect, Vec<u32>)> {
        let dialect = self.server.dialect(&self.target)?;
        let usual = parallel_usual(dialect);
        let parallel = self.parallel.clone().unwrap_or_else(|| vec![usual.unwrap_or(0)]);
        if usual.is_none() && parallel.iter().any(|processes| *processes > 0) {
            let products = dialect.facts().products;
            return Err(Error::usage(
                format!("--parallel: {products} runs each query in one thread"),
                "omit it; --streams runs several queries at once",
            ));
        }
        Ok((dialect, parallel))
    }

    fn request(&self, parallel: Vec<u32>) -> Result<DssRequest<'_>> {
        Ok(DssRequest {
            target: &self.target,
            scale: DssScale::new(self.scale)?,
            streams: self.streams.iter().copied().filter(|streams| *streams > 0).collect(),
            plan: self.settings(&parallel),
            parallel,
            repeats: self.repeats,
            has_power: !self.no_power,
            refreshes: self.refreshes(),
            choice: match self.parameters {
                ParameterSource::Drawn => ParameterChoice::Drawn(self.seed),
                ParameterSource::Validation => ParameterChoice::Validation,
            },
            limit: self.query_limit,
            memory: SessionMemory { work: self.work_mem },
            answers: self.answers.as_deref(),
            buffer_pool: self.buffer_pool,
            loaders: self.loaders.unwrap_or_else(processors),
            schema: self.schema.clone().unwrap_or_else(|| SCHEMA.to_owned()),
            partial_data: self.partial_data,
            server: &self.server,
        })
    }

    /// Answers can be checked only if the rows are those that were loaded.
    const fn refreshes(&self) -> bool {
        !self.no_refresh && self.answers.is_none()
    }

    /// The settings as they are shown.
    fn settings(&self, parallel: &[u32]) -> Vec<Setting> {
        let parameters = match self.parameters {
            ParameterSource::Drawn => format!("drawn by seed {}", self.seed),
            ParameterSource::Validation => "those of validation".to_owned(),
        };
        let own = || "the server's own".to_owned();
        shown([
            ("scale", self.scale.to_string()),
            ("streams", joined(&self.streams)),
            ("parallel processes", joined(parallel)),
            ("repeats", self.repeats.to_string()),
            ("query limit", self.query_limit.to_string()),
            ("parameters", parameters),
            ("refresh functions", if self.refreshes() { "yes" } else { "no" }.to_owned()),
            ("work_mem", self.work_mem.map_or_else(own, |size| size.to_string())),
        ])
    }
}
