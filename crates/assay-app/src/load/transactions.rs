//! What loads of transactions share: the plan of their ladder, where their tables are, and what is
//! done around a step.

mod commit_judgement;
mod commit_ledger;
mod driver;
mod table_setup;

use self::commit_judgement::JudgedLoad;
use self::commit_ledger::CommitRun;
use super::bounds::{REPEATS, RESTORE_EVERY, SESSIONS, checked_schema, one_of, plain_name, within};
use super::call_mode::{CallMode, chosen, chosen_with_identity};
use super::databases_check::{Databases, targets, usual_sessions};
use super::kind::LoadParts;
use super::ladder_run::{LadderPlan, run_ladder};
use super::load_driver::LoadDriver;
use super::partial_data::PartialData;
use super::search::LadderSearchPlan;
use super::server_plan::{SERVER, ServerPlan};
use super::settings_table::{sessions_words, shown, step_words};
use crate::cluster::HostNames;
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun};
use crate::plan_document::{PlanDocument, without_password, without_passwords};
use assay_dbload::load::{
    Calls, Isolation, LadderSearch, LoadTables, Method, Product, RungPlan, StepPace,
};
use assay_model::load::{Dialect, Length, LoadKind, OnLoss, Setting, Spacing};
use assay_model::spelling::{LimitStatistic, defaults, latency};
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use commit_ledger::{CommitPlan, CommitStep};
pub use driver::{TransactionDriver, TransactionLoad};
pub use table_setup::TableSetup;

/// Heading of the options that a load has of its own, behind those of its server.
pub(super) const OWN: Option<&str> = None;

/// Sessions at most when a search finds no end.
const USERS_MAX: u32 = 512;
/// Numbers of sessions where nobody says.
const SESSION_COUNTS: [u32; 4] = [1, 4, 8, 16];

/// The plan of a ladder of transactions; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransactionPlan {
    /// Directory on the storage, in which Assay creates a server, or the address of a server,
    /// `postgresql://…` or `mysql://…`
    #[arg(value_name = "STORAGE|DB")]
    #[serde(serialize_with = "without_password")]
    pub target: String,
    /// More databases for the same load, each with its own server, data and hosts; hosts are
    /// assigned to them in turn
    #[arg(value_name = "STORAGE|DB", requires = "hosts")]
    #[serde(serialize_with = "without_passwords", skip_serializing_if = "Vec::is_empty")]
    pub other_targets: Vec<String>,
    /// Numbers of concurrent sessions in total, one load step each; by
    /// default 1,4,8,16 on each database
    #[arg(
        long,
        aliases = ["users", "clients", "connections", "threads", "vu", "vus"],
        short_alias = 'c',
        value_name = "N,N,…",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(SESSIONS)
    )]
    #[serde(alias = "users")]
    pub sessions: Option<Vec<u32>>,
    /// Double the sessions until throughput stops rising
    #[arg(long, conflicts_with_all = ["sessions", "max_latency"])]
    pub find_knee: bool,
    /// Search for the maximum number of sessions whose counted transactions meet this latency
    #[arg(long, value_name = "TIME", conflicts_with = "sessions", value_parser = latency)]
    pub max_latency: Option<Nanos>,
    /// Quantile that must meet the limit, or `mean`
    #[arg(long, alias = "of", value_name = "QUANTILE", default_value = "0.9")]
    pub quantile: LimitStatistic,
    /// Measured time of each step
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "30s")]
    pub time: Nanos,
    /// Start the sessions one after another over this time, which is not measured
    #[arg(long, alias = "ramp-up", value_name = "TIME", default_value = "0s")]
    pub ramp: Nanos,
    /// Warm-up before each step, with the same sessions
    #[arg(long, alias = "warmup", value_name = "TIME", default_value = "5s")]
    pub warm_up: Nanos,
    /// Transactions per second in total, due whether or not a session is free; response times
    /// count from when they are due
    #[arg(id = "rate", long = "rate", value_name = "PER_SECOND")]
    #[serde(rename = "rate")]
    pub rate_per_s: Option<f64>,
    /// How these arrivals are spaced
    #[arg(long, value_enum, default_value_t = Spacing::Poisson, requires = "rate")]
    pub arrival: Spacing,
    /// Repeat all steps this many times, alternately up and down, so that two runs can be compared
    #[arg(
        long,
        alias = "repeat",
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(REPEATS)
    )]
    pub repeats: u32,
    /// Isolation level of the transactions
    #[arg(long, value_enum, default_value_t = Isolation::ReadCommitted)]
    pub isolation: Isolation,
    /// Tables to load in parallel; 0 for one per CPU
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub loaders: usize,
    /// Check the consistency conditions of the data before the first and after the last step
    #[arg(long)]
    pub verify: bool,
    /// Restore the loaded data before every Nth step; with --keep the copy is kept for the next
    /// run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(RESTORE_EVERY))]
    pub restore_every: Option<u32>,
    /// What sessions do if the server goes away
    #[arg(long, value_enum, default_value_t = OnLoss::End)]
    pub on_loss: OnLoss,
    /// Hosts that run the sessions, assigned in turn: local:N (processes
    /// here), ssh:A,B, or names in a Ray cluster: A,B
    #[arg(long, value_name = "HOSTS")]
    pub hosts: Option<HostNames>,
    /// Name of Assay's schema on your server, and with --restore-every of its database; an empty
    /// schema of yours is used and left empty; by default assay_ and the name of the load
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    pub schema: Option<String>,
    /// What to do with incomplete tables, or tables loaded with other options
    #[arg(long, alias = "left", value_enum)]
    #[serde(alias = "left")]
    pub partial_data: Option<PartialData>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Criteria to judge by; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    pub criteria: Option<PathBuf>,
    /// Size of the server's buffer pool (`shared_buffers`, `innodb_buffer_pool_size`)
    #[arg(
        long,
        help_heading = SERVER,
        aliases = ["shared-buffers", "innodb-buffer-pool-size", "memory", "server-memory"],
        value_name = "SIZE",
        default_value = "256MiB"
    )]
    #[serde(alias = "shared_buffers")]
    pub buffer_pool: Bytes,
    /// The server
    #[command(flatten)]
    pub server: ServerPlan,
    /// Where acknowledged transactions are kept, so that a cut can be judged.
    #[arg(skip)]
    #[serde(skip)]
    pub ledger: Option<CommitPlan>,
}

impl Default for TransactionPlan {
    fn default() -> Self {
        defaults()
    }
}

/// What a kind of load adds to the shared plan.
pub struct TransactionTables<'a, T> {
    /// Which load it is.
    pub kind: LoadKind,
    /// Its tables.
    pub tables: &'a T,
    /// Bytes of them on storage, about.
    pub data_bytes: u64,
    /// Its own settings as they are shown.
    pub settings: Vec<Setting>,
    /// How transactions reach the server, in words.
    pub access: &'static str,
}

impl TransactionPlan {
    /// Refuses what means nothing or contradicts itself.
    ///
    /// # Errors
    /// A usage error that names the option.
    pub fn check(&self) -> Result<()> {
        within("--sessions", self.sessions.iter().flatten().copied(), &SESSIONS)?;
        within("--repeats", [self.repeats], &REPEATS)?;
        within("--restore-every", self.restore_every, &RESTORE_EVERY)?;
        let (sessions, knee) =
            (("--sessions", self.sessions.is_some()), ("--find-knee", self.find_knee));
        let limit = ("--max-latency", self.max_latency.is_some());
        one_of(knee, sessions)?;
        one_of(knee, limit)?;
        one_of(limit, sessions)?;
        checked_schema(self.schema.as_deref())?;
        let ledger = ("--ledger and --witness", self.ledger.is_some());
        one_of(ledger, ("--restore-every", self.restore_every.is_some()))?;
        one_of(ledger, ("--hosts", self.hosts.is_some()))?;
        self.check_hosts()?;
        self.pace().map(drop)
    }

    /// How transactions reach the server, with the words for it.
    ///
    /// # Errors
    /// A usage error where what was asked is not to be had.
    pub fn calls(
        &self,
        routines: fn(Dialect) -> Option<&'static str>,
        asked: Option<CallMode>,
    ) -> Result<(Calls, &'static str)> {
        if self.ledger.is_some() {
            return chosen_with_identity(asked);
        }
        let dialect = self.dialect()?;
        chosen(dialect, routines(dialect), asked)
    }

    fn targets(&self) -> Vec<String> {
        targets(&self.target, &self.other_targets)
    }

    fn check_hosts(&self) -> Result<()> {
        Databases {
            target: &self.target,
            others: &self.other_targets,
            hosts: self.hosts.as_ref(),
            server: &self.server,
            sessions: self.sessions.as_deref(),
        }
        .check()?;
        if self.hosts.is_none() {
            return Ok(());
        }
        if self.on_loss == OnLoss::Reconnect {
            return Err(Error::usage(
                "--on-loss reconnect and --hosts contradict each other: hosts reconnect at \
                 different times",
                "leave one of them out",
            ));
        }
        if self.restore_every.is_some()
            && self.targets().iter().any(|target| Dialect::of_address(target).is_some())
        {
            return Err(Error::usage(
                "--restore-every creates a database with a name unknown to other hosts",
                "leave --restore-every or --hosts out, or specify a directory",
            ));
        }
        Ok(())
    }

    /// Refuses think times where transactions arrive at a rate.
    ///
    /// # Errors
    /// A usage error that names both.
    pub fn check_think(&self, is_thinking: bool) -> Result<()> {
        if is_thinking && self.rate_per_s.is_some() {
            return Err(Error::usage(
                "--rate and --think contradict each other",
                "with --rate, transactions start on a schedule; omit one of the two",
            ));
        }
        Ok(())
    }

    /// Carries a load out.
    pub fn run<T: LoadTables, M>(
        &self,
        wanted: TransactionTables<'_, T>,
        load: impl Fn() -> TransactionLoad<M>,
        document: &PlanDocument,
        context: &Context,
    ) -> Result<FinishedRun>
    where
        M: Method<Link: Product>,
    {
        let schema = self.schema_of(wanted.kind);
        let ladder = self.ladder(wanted.settings, wanted.access)?;
        let setup = TableSetup {
            tables: wanted.tables,
            schema,
            seed: self.seed,
            data_bytes: wanted.data_bytes,
            server: &self.server,
            cache_bytes: self.buffer_pool.0,
            sessions_max: ladder.sessions_max(),
            are_given: matches!(ladder.climb, LadderSearch::Given(_)),
            loaders: self.loaders,
            partial_data: self.partial_data,
            has_copy: self.restore_every.is_some(),
        };
        let criteria = CriteriaSource::named(self.criteria.as_deref())?;
        let judged = self.ledger.as_ref().filter(|ledger| ledger.step == CommitStep::Judge);
        if let Some(ledger) = judged {
            let case = JudgedLoad {
                target: &self.target,
                ledger,
                setup: &setup,
                load: &load(),
                settings: &ladder.plan,
            };
            return case.run(document, criteria.as_ref(), context);
        }
        let ledger = self.ledger.as_ref().map(|plan| CommitRun::new(plan, &self.target, context));
        let ledger = ledger.transpose()?;
        // A ledger is of one database.
        let mut ledger = ledger;
        let driver = || {
            let (ledger, every) = (ledger.take(), self.restore_every);
            let driver = TransactionDriver::new(load(), self.verify, every, ledger);
            LoadDriver::Transactions(Box::new(driver))
        };
        run_ladder(
            &ladder,
            driver,
            |named, context| setup.prepare(named, context),
            document,
            criteria.as_ref(),
            context,
        )
    }

    /// The schema of the tables of a load.
    pub fn schema_of(&self, load: LoadKind) -> String {
        self.schema.clone().unwrap_or_else(|| format!("assay_{}", load.name()))
    }

    /// What it does in a few words, and how long that is measured.
    pub fn summary(&self) -> [String; 2] {
        [sessions_words(self.sessions.as_deref()), step_words(self.time, self.repeats)]
    }

    /// The dialect of the server that is meant.
    ///
    /// # Errors
    /// When options and target contradict each other.
    pub fn dialect(&self) -> Result<Dialect> {
        self.server.dialect(&self.target)
    }

    /// The parts that all loads have.
    pub fn parts(&mut self) -> LoadParts<'_> {
        LoadParts {
            target: &mut self.target,
            other_targets: Some(&mut self.other_targets),
            server: &mut self.server,
            buffer_pool: &mut self.buffer_pool,
            restore_every: Some(&mut self.restore_every),
            ledger: Some(&mut self.ledger),
        }
    }

    fn ladder(&self, own: Vec<Setting>, access: &str) -> Result<LadderPlan> {
        Ok(LadderPlan {
            targets: self.targets(),
            climb: self.climb(),
            rung: RungPlan {
                ramp: self.ramp,
                warm_up: self.warm_up,
                pace: self.pace()?,
                on_loss: self.on_loss,
                ..RungPlan::new(1, 1, Length::Time(self.time))
            },
            warm_up: None,
            repeats: self.repeats,
            plan: own.into_iter().chain(self.settings()).collect(),
            access: access.to_owned(),
            hosts: self.hosts.clone(),
        })
    }

    fn climb(&self) -> LadderSearch {
        let usual = usual_sessions(&SESSION_COUNTS, &self.other_targets);
        LadderSearchPlan {
            given: self.sessions.as_deref().unwrap_or(&usual),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            most: USERS_MAX,
        }
        .climb()
    }

    fn pace(&self) -> Result<Option<StepPace>> {
        let Some(rate_per_s) = self.rate_per_s else {
            return Ok(None);
        };
        if !(rate_per_s > 0.0 && rate_per_s <= 1e7) {
            return Err(Error::usage(
                format!("--rate {rate_per_s} is not a rate"),
                "write transactions per second, for example 200",
            ));
        }
        Ok(Some(StepPace { rate_per_s, spacing: self.arrival, seed: self.seed }))
    }

    /// The shared settings as they are shown.
    fn settings(&self) -> Vec<Setting> {
        let rate = self.rate_per_s.map_or_else(
            || "closed: the next transaction begins when the last has ended".to_owned(),
            |rate| format!("open: {rate} transactions per second"),
        );
        let restored = match self.restore_every {
            None => "never".to_owned(),
            Some(1) => "before every step".to_owned(),
            Some(every) => format!("before every {every} steps"),
        };
        shown([
            ("isolation", self.isolation.name().to_owned()),
            ("arrivals", rate),
            ("ramp", self.ramp.to_string()),
            ("warm-up of each step", self.warm_up.to_string()),
            ("data restored", restored),
            ("seed", self.seed.to_string()),
        ])
    }
}
