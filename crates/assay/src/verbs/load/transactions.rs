//! The options that loads of transactions share.

use super::left::Left;
use super::server::ServerOptions;
use crate::options::{LoadRunOptions, quantity};
use assay_app::load::bounds::{REPEATS, RESTORE_EVERY, SESSIONS, schema_name};
use assay_app::load::transactions::{self, IsolationLevel, LossAction, TransactionPlan};
use assay_model::units::{Bytes, Nanos};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of a load of transactions.
#[derive(Args)]
pub struct TransactionOptions {
    /// A directory on the storage (a server of our own is made there), or the address of a server, `postgresql://…` or `mysql://…`
    #[arg(value_name = "TARGET|DSN")]
    target: String,
    /// Numbers of sessions at once, one rung each
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,4,8,16", value_parser = clap::value_parser!(u32).range(SESSIONS))]
    users: Vec<u32>,
    /// Twice as many sessions each time until that gives no more
    #[arg(long, conflicts_with_all = ["users", "max_latency"])]
    find_knee: bool,
    /// Search the most sessions whose counted transactions keep this limit
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, conflicts_with = "users")]
    max_latency: Option<Nanos>,
    /// The quantile that the limit is on
    #[arg(long, value_name = "QUANTILE", default_value_t = 0.9)]
    quantile: f64,
    /// Measured time of each rung
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "30s")]
    time: Nanos,
    /// Sessions begin one after the other over this time, which is not measured
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "0s")]
    ramp: Nanos,
    /// Load before the measured time of each rung, with the same sessions
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "5s")]
    warm_up: Nanos,
    /// Transactions a second of all sessions together, due whether one is free or not; response times count from then
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// How these arrivals are spaced
    #[arg(long, value_enum, default_value_t = Arrival::Poisson, requires = "rate")]
    arrival: Arrival,
    /// Measure the whole ladder so often, up and down in turn, so that two runs can be compared
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEATS))]
    repeats: u32,
    /// How the server keeps transactions apart
    #[arg(long, value_enum, default_value_t = IsolationOption::ReadCommitted)]
    isolation: IsolationOption,
    /// Tables that are loaded at once; 0 for as many as there are processors
    #[arg(long, value_name = "N", default_value_t = 0)]
    loaders: usize,
    /// Check the conditions of the data before the first and after the last rung
    #[arg(long)]
    verify: bool,
    /// Go back to the data as it was loaded before every Nth rung; with --keep the copy stays for the next run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(RESTORE_EVERY))]
    restore_every: Option<u32>,
    /// What sessions do when the server goes away
    #[arg(long, value_enum, default_value_t = OnLossOption::End)]
    on_loss: OnLossOption,
    /// Name of our schema in a server of yours, by default assay_ and the load; with --restore-every of our database, too
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    schema: Option<String>,
    /// What to do with tables of which loading was broken off, or that were made otherwise
    #[arg(long, value_enum)]
    left: Option<Left>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cache of the server
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "256MiB")]
    shared_buffers: Bytes,
    /// Criteria to judge by; without it there is an answer and no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    #[command(flatten)]
    server: ServerOptions,
    #[command(flatten)]
    pub run: LoadRunOptions,
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
    /// As if one came after the other
    Serializable,
}

/// What sessions do when the server goes away.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnLossOption {
    /// They end; what was measured is kept
    End,
    /// They come back as soon as the server does; one of our own is started again
    Reconnect,
}

fn plain_name(text: &str) -> Result<String, String> {
    schema_name(text).map_err(|error| error.hint().to_owned())
}

impl TransactionOptions {
    /// The plan that these options mean.
    pub fn plan(&self) -> TransactionPlan {
        let is_searched = self.find_knee || self.max_latency.is_some();
        TransactionPlan {
            target: self.target.clone(),
            users: (!is_searched).then(|| self.users.clone()),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            time: self.time,
            ramp: self.ramp,
            warm_up: self.warm_up,
            rate_per_s: self.rate,
            arrival: match self.arrival {
                Arrival::Constant => transactions::Arrival::Constant,
                Arrival::Poisson => transactions::Arrival::Poisson,
            },
            repeats: self.repeats,
            isolation: match self.isolation {
                IsolationOption::ReadCommitted => IsolationLevel::ReadCommitted,
                IsolationOption::RepeatableRead => IsolationLevel::RepeatableRead,
                IsolationOption::Serializable => IsolationLevel::Serializable,
            },
            loaders: self.loaders,
            verify: self.verify,
            restore_every: self.restore_every,
            on_loss: match self.on_loss {
                OnLossOption::End => LossAction::End,
                OnLossOption::Reconnect => LossAction::Reconnect,
            },
            schema: self.schema.clone(),
            left: self.left.map(Left::into),
            seed: self.seed,
            shared_buffers: self.shared_buffers,
            criteria: self.criteria.clone(),
            server: self.server.plan(),
        }
    }
}
