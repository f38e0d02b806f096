//! The options that loads of transactions share.

use super::partial_data::PartialDataOption;
use super::server::{DatabaseOptions, SERVER, ServerOptions};
use crate::ledger_options::{CUTS, LedgerOptions};
use crate::options::LoadRunOptions;
use assay_app::cluster::HostNames;
use assay_app::load::bounds::{REPEATS, RESTORE_EVERY, SESSIONS, schema_name};
use assay_app::load::transactions::{CommitPlan, CommitStep, TransactionPlan};
use assay_dbload::load::Isolation;
use assay_model::durability::Control;
use assay_model::load::{OnLoss, Spacing};
use assay_model::spelling::Quantile;
use assay_model::spelling::latency;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of a load of transactions.
#[derive(Args)]
pub struct TransactionOptions {
    #[command(flatten)]
    databases: DatabaseOptions,
    /// Numbers of concurrent sessions on all databases together, one load step (rung) each; by default 1,4,8,16 on each
    /// database
    #[arg(long, aliases = ["users", "clients", "connections", "threads", "vu", "vus"], short_alias = 'c', value_name = "N,N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(SESSIONS))]
    sessions: Option<Vec<u32>>,
    /// Double the sessions until throughput stops rising
    #[arg(long, conflicts_with_all = ["sessions", "max_latency"])]
    find_knee: bool,
    /// Search for the most sessions whose counted transactions stay within this latency
    #[arg(long, value_name = "TIME", conflicts_with = "sessions", value_parser = latency)]
    max_latency: Option<Nanos>,
    /// Quantile that the limit holds for
    #[arg(long, value_name = "QUANTILE", default_value = "0.9")]
    quantile: Quantile,
    /// Measured time of each rung
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "30s")]
    time: Nanos,
    /// Start the sessions one after another over this time, which is not measured
    #[arg(long, alias = "ramp-up", value_name = "TIME", default_value = "0s")]
    ramp: Nanos,
    /// Time under load before each rung is measured, with the same sessions
    #[arg(long, alias = "warmup", value_name = "TIME", default_value = "5s")]
    warm_up: Nanos,
    /// Transactions per second of all sessions together, due whether a session is free or not; response times count from
    /// when they are due
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// How these arrivals are spaced
    #[arg(long, value_enum, default_value_t = Arrival::Poisson, requires = "rate")]
    arrival: Arrival,
    /// Repeat the whole ladder this many times, alternately up and down, so that two runs can be compared
    #[arg(long, alias = "repeat", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEATS))]
    repeats: u32,
    /// Isolation level of the transactions
    #[arg(long, value_enum, default_value_t = IsolationOption::ReadCommitted)]
    isolation: IsolationOption,
    /// Tables to load in parallel; 0 for one per processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    loaders: usize,
    /// Check the consistency conditions of the data before the first and after the last rung
    #[arg(long)]
    verify: bool,
    /// Restore the data as they were loaded before every Nth rung; with --keep the copy stays for the next run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(RESTORE_EVERY))]
    restore_every: Option<u32>,
    /// What sessions do when the server goes away
    #[arg(long, value_enum, default_value_t = OnLossOption::End)]
    on_loss: OnLossOption,
    /// Hosts that have the sessions, dealt in the order of their numbers: local:N (processes here), ssh:A,B, or names in a Ray
    /// cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<HostNames>,
    /// Name of Assay's schema on your server, by default assay_ and the load; with --restore-every also of its database
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    schema: Option<String>,
    /// What to do with tables whose loading was interrupted, or that were made with other options
    #[arg(long, value_enum)]
    partial_data: Option<PartialDataOption>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Criteria to judge by; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Size of the server's buffer pool (`shared_buffers`, `innodb_buffer_pool_size`)
    #[arg(long, help_heading = SERVER, aliases = ["shared-buffers", "innodb-buffer-pool-size", "server-memory"], value_name = "SIZE", default_value = "256MiB")]
    buffer_pool: Bytes,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    pub ledger: LedgerOptions,
    /// Start the managed server without this on purpose: the cut must break something, else losses are not seen here; its data
    /// are of no use afterwards
    #[arg(long, value_enum, value_name = "WHAT", help_heading = CUTS)]
    control: Option<ControlOption>,
    #[command(flatten)]
    pub run: LoadRunOptions,
}

/// What a server is started without.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ControlOption {
    /// Commits that wait for storage
    Commits,
    /// Whole pages in the log, or pages that are written twice
    Pages,
}

/// How arrivals are spaced.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Arrival {
    /// All gaps are equal
    Constant,
    /// Gaps are exponential, as those of many independent users
    Poisson,
}

/// How the server keeps transactions apart.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IsolationOption {
    /// Each statement sees what was committed before it
    ReadCommitted,
    /// Each transaction sees a snapshot
    RepeatableRead,
    /// As if one transaction came after the other
    Serializable,
}

/// What sessions do when the server goes away.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnLossOption {
    /// They end; what was measured is kept
    End,
    /// They reconnect as soon as the server is back; a server that Assay created is started again
    Reconnect,
}

fn plain_name(text: &str) -> std::result::Result<String, String> {
    schema_name(text).map_err(|error| error.hint().to_owned())
}

impl TransactionOptions {
    /// What is done with a ledger, where there is one.
    ///
    /// # Errors
    /// A usage error when options contradict each other, an environment error when the token cannot be read.
    pub fn ledger(&self, step: CommitStep) -> Result<Option<CommitPlan>> {
        let control = self.control.map(|control| match control {
            ControlOption::Commits => Control::Commits,
            ControlOption::Pages => Control::Pages,
        });
        match (self.ledger.place()?, control) {
            (Some(place), control) => {
                Ok(Some(CommitPlan { place, step, cut: self.ledger.cut(), control }))
            }
            (None, Some(_)) => Err(Error::usage(
                "--control needs a ledger: without one no loss can be seen",
                "name it with --ledger FILE or --witness HOST:PORT",
            )),
            (None, None) => Ok(None),
        }
    }

    /// The plan that these options mean.
    pub fn plan(&self) -> TransactionPlan {
        TransactionPlan {
            target: self.databases.target.clone(),
            other_targets: self.databases.other_targets.clone(),
            sessions: self.sessions.clone(),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile.0,
            time: self.time,
            ramp: self.ramp,
            warm_up: self.warm_up,
            rate_per_s: self.rate,
            arrival: match self.arrival {
                Arrival::Constant => Spacing::Constant,
                Arrival::Poisson => Spacing::Poisson,
            },
            repeats: self.repeats,
            isolation: match self.isolation {
                IsolationOption::ReadCommitted => Isolation::ReadCommitted,
                IsolationOption::RepeatableRead => Isolation::RepeatableRead,
                IsolationOption::Serializable => Isolation::Serializable,
            },
            loaders: self.loaders,
            verify: self.verify,
            restore_every: self.restore_every,
            on_loss: match self.on_loss {
                OnLossOption::End => OnLoss::End,
                OnLossOption::Reconnect => OnLoss::Reconnect,
            },
            hosts: self.hosts.clone(),
            schema: self.schema.clone(),
            partial_data: self.partial_data.map(PartialDataOption::into),
            seed: self.seed,
            buffer_pool: self.buffer_pool,
            criteria: self.criteria.clone(),
            server: self.server.plan(),
            ledger: None,
        }
    }
}
