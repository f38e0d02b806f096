//! What loads of transactions share: the options of their ladder, where they run, and what is done around a rung.

use super::left::Left;
use super::server::ServerOptions;
use crate::exit::ExitStatus;
use crate::finish::conclude;
use crate::options::{OutputOptions, StoreOptions, context, quantity};
use assay_app::finish::CriteriaSource;
use assay_app::load::ladder_run::{LadderPlan, run_ladder};
use assay_app::load::search::Search;
use assay_app::load::server_plan::ProductName;
use assay_app::load::settings_table::shown;
use assay_app::load::transactions::{Restorable, TableSetup, TransactionDriver, TransactionLoad};
use assay_dbload::load::{Climb, Isolation, Pace, RungPlan, Tables};
use assay_model::load::{Length, OnLoss, Setting, Spacing};
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Sessions at most when a search finds no end.
const USERS_MAX: u32 = 512;

/// Options of a load of transactions.
#[derive(Args)]
pub struct TransactionOptions {
    /// A directory on the storage (a server of our own is made there), or the address of a server, `postgresql://…` or `mysql://…`
    #[arg(value_name = "TARGET|DSN")]
    target: String,
    /// Numbers of sessions at once, one rung each
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,4,8,16", value_parser = clap::value_parser!(u32).range(1..=10_000))]
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
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=99))]
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
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    restore_every: Option<u32>,
    /// What sessions do when the server goes away
    #[arg(long, value_enum, default_value_t = OnLossOption::End)]
    on_loss: OnLossOption,
    /// Name of our schema in a server of yours, by default assay_ and the load; with --restore-every of our database, too
    #[arg(long, value_name = "NAME", value_parser = schema_name)]
    schema: Option<String>,
    /// What to do with tables of which loading was broken off, or that were made otherwise
    #[arg(long, value_enum)]
    left: Option<Left>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Cache of the server
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>, default_value = "256MiB")]
    shared_buffers: Bytes,
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

/// A name that needs no quotes.
fn schema_name(text: &str) -> std::result::Result<String, String> {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    let begins = text.starts_with(|letter: char| letter.is_ascii_lowercase() || letter == '_');
    if begins && text.len() <= 40 && text.chars().all(is_plain) && !text.starts_with("pg_") {
        return Ok(text.to_owned());
    }
    Err("write lower-case letters, digits and _, 40 at most".to_owned())
}

/// What a kind of load adds to the shared options.
pub struct Wanted<'a, T> {
    /// Its name, for example `oltp`.
    pub kind: &'static str,
    /// Its tables.
    pub tables: &'a T,
    /// Bytes of them on storage, about.
    pub data_bytes: u64,
    /// Its own knobs as they are shown.
    pub plan: Vec<Setting>,
    /// How transactions reach the server, in words.
    pub access: &'static str,
}

impl TransactionOptions {
    /// Carries a load out.
    ///
    /// # Errors
    /// What the options, the store, the safety gate or the server say.
    pub fn carry_out<T: Tables, B>(&self, wanted: Wanted<'_, T>, load: B) -> Result<ExitStatus>
    where
        B: TransactionLoad<Link: Restorable>,
    {
        let schema = self.schema.clone().unwrap_or_else(|| format!("assay_{}", wanted.kind));
        let ladder = self.ladder(wanted.plan, wanted.access)?;
        let server = self.server.plan();
        let setup = TableSetup {
            tables: wanted.tables,
            schema,
            seed: self.seed,
            data_bytes: wanted.data_bytes,
            server: &server,
            cache_bytes: self.shared_buffers.0,
            sessions_max: ladder.climb.sessions_max(),
            are_given: matches!(ladder.climb, Climb::Given(_)),
            loaders: self.loaders,
            left: self.left.map(Left::into),
            has_copy: self.restore_every.is_some(),
        };
        let mut driver = TransactionDriver::new(load, self.verify, self.restore_every);
        let criteria = CriteriaSource::named(self.criteria.as_deref())?;
        let finished = run_ladder(
            &ladder,
            &mut driver,
            |named, context| setup.prepare(named, context),
            criteria.as_ref(),
            &context(&self.store, &self.output)?,
        )?;
        conclude(&finished, &self.output)
    }

    /// The product that is meant.
    ///
    /// # Errors
    /// When options and target contradict each other.
    pub fn product(&self) -> Result<ProductName> {
        self.server.plan().product(&self.target)
    }

    /// Refuses users who think where transactions come by a rate.
    ///
    /// # Errors
    /// A usage error that names both.
    pub fn check_think(&self, is_thinking: bool) -> Result<()> {
        if is_thinking && self.rate.is_some() {
            return Err(Error::usage(
                "--rate and --think contradict each other",
                "with a rate, transactions come when they are due; leave one of the two out",
            ));
        }
        Ok(())
    }

    /// How transactions are kept apart.
    pub const fn isolation(&self) -> Isolation {
        match self.isolation {
            IsolationOption::ReadCommitted => Isolation::ReadCommitted,
            IsolationOption::RepeatableRead => Isolation::RepeatableRead,
            IsolationOption::Serializable => Isolation::Serializable,
        }
    }

    fn ladder(&self, own: Vec<Setting>, access: &str) -> Result<LadderPlan> {
        Ok(LadderPlan {
            target: self.target.clone(),
            climb: self.climb()?,
            rung: RungPlan {
                ramp: self.ramp,
                warm_up: self.warm_up,
                pace: self.pace()?,
                on_loss: match self.on_loss {
                    OnLossOption::End => OnLoss::End,
                    OnLossOption::Reconnect => OnLoss::Reconnect,
                },
                ..RungPlan::new(1, 1, Length::Time(self.time))
            },
            warm_up: None,
            repeats: self.repeats,
            plan: own.into_iter().chain(self.plan()).collect(),
            access: access.to_owned(),
        })
    }

    fn climb(&self) -> Result<Climb> {
        Search {
            given: &self.users,
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            usual_quantile: 0.9,
            most: USERS_MAX,
        }
        .climb()
    }

    fn pace(&self) -> Result<Option<Pace>> {
        let Some(rate_per_s) = self.rate else {
            return Ok(None);
        };
        if !(rate_per_s > 0.0 && rate_per_s <= 1e7) {
            return Err(Error::usage(
                format!("--rate {rate_per_s} is no rate"),
                "write transactions a second, for example 200",
            ));
        }
        let spacing = match self.arrival {
            Arrival::Constant => Spacing::Constant,
            Arrival::Poisson => Spacing::Poisson,
        };
        Ok(Some(Pace { rate_per_s, spacing, seed: self.seed }))
    }

    /// The shared knobs as they are shown.
    fn plan(&self) -> Vec<Setting> {
        let rate = self.rate.map_or_else(
            || "closed: the next transaction begins when the last has ended".to_owned(),
            |rate| format!("open: {rate} transactions a second"),
        );
        let restored = match self.restore_every {
            None => "never".to_owned(),
            Some(1) => "before every rung".to_owned(),
            Some(every) => format!("before every {every}. rung"),
        };
        shown([
            ("isolation", self.isolation().name().to_owned()),
            ("arrivals", rate),
            ("ramp", self.ramp.to_string()),
            ("warm-up of each rung", self.warm_up.to_string()),
            ("data restored", restored),
            ("seed", self.seed.to_string()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas_need_no_quotes() {
        assert!(schema_name("assay_oltp2").is_ok());
        for wrong in ["", "2x", "A", "a b", "a;drop", "pg_mine", &"x".repeat(41)] {
            assert!(schema_name(wrong).is_err(), "{wrong}");
        }
    }
}
