//! What loads of transactions share: the plan of their ladder, where their tables are, and what is done around a rung.

mod commit_judgement;
mod commit_ledger;
mod driver;
mod table_setup;

use self::commit_judgement::JudgedLoad;
use self::commit_ledger::CommitRun;
use super::bounds::{REPEATS, RESTORE_EVERY, SESSIONS, one_of, schema_name, within};
use super::call_mode::{CallMode, chosen, chosen_with_identity};
use super::databases_check::{Databases, targets, usual_sessions};
use super::kind::Parts;
use super::ladder_run::{LadderPlan, run_ladder};
use super::load_driver::LoadDriver;
use super::partial_data::PartialData;
use super::search::Search;
use super::server_plan::ServerPlan;
use super::settings_table::{sessions_words, shown, step_words};
use crate::cluster::HostNames;
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun};
use crate::plan_document::{PlanDocument, without_password, without_passwords};
use assay_dbload::load::{Calls, Isolation, LadderSearch, Method, Pace, Product, RungPlan, Tables};
use assay_model::load::{Dialect, Length, LoadKind, OnLoss, Setting, Spacing};
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use commit_ledger::{CommitPlan, CommitStep};
pub use driver::{TransactionDriver, TransactionLoad};
pub use table_setup::TableSetup;

/// Sessions at most when a search finds no end.
const USERS_MAX: u32 = 512;
/// Numbers of sessions where nobody says.
const SESSION_COUNTS: [u32; 4] = [1, 4, 8, 16];

/// The plan of a ladder of transactions; its fields are the options of the verb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransactionPlan {
    /// A directory on the storage, or the address of a server.
    #[serde(serialize_with = "without_password")]
    pub target: String,
    /// Further databases of the same load, dealt with the first one over the hosts in turn.
    #[serde(serialize_with = "without_passwords", skip_serializing_if = "Vec::is_empty")]
    pub other_targets: Vec<String>,
    /// Numbers of sessions at once, one rung each, where they are not searched.
    #[serde(alias = "users")]
    pub sessions: Option<Vec<u32>>,
    /// Whether sessions are doubled until throughput stops rising.
    pub find_knee: bool,
    /// Limit under which the most sessions are searched.
    pub max_latency: Option<Nanos>,
    /// The quantile that the limit is on, 0..=1.
    pub quantile: f64,
    /// Measured time of each rung.
    pub time: Nanos,
    /// Sessions begin one after the other over this time, which is not measured.
    pub ramp: Nanos,
    /// Load before the measured time of each rung.
    pub warm_up: Nanos,
    /// Transactions a second of all sessions together; closed without it.
    #[serde(rename = "rate")]
    pub rate_per_s: Option<f64>,
    /// How these arrivals are spaced.
    pub arrival: Spacing,
    /// How often the ladder is measured.
    pub repeats: u32,
    /// How the server keeps transactions apart.
    pub isolation: Isolation,
    /// Tables that are loaded at once; 0 for as many as there are processors.
    pub loaders: usize,
    /// Whether the conditions of the data are checked before the first and after the last rung.
    pub verify: bool,
    /// Before every how many rungs the data are restored.
    pub restore_every: Option<u32>,
    /// What sessions do when the server goes away.
    pub on_loss: OnLoss,
    /// Hosts that have the sessions; this program alone where they are absent.
    pub hosts: Option<HostNames>,
    /// Schema, by default `assay_` and the load.
    pub schema: Option<String>,
    /// What becomes of tables that are incomplete or were made with other parameters.
    #[serde(alias = "left")]
    pub partial_data: Option<PartialData>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Buffer pool of the server.
    #[serde(alias = "shared_buffers")]
    pub buffer_pool: Bytes,
    /// Criteria to judge by.
    pub criteria: Option<PathBuf>,
    /// The server.
    pub server: ServerPlan,
    /// Where acknowledged transactions are kept, so that a cut can be judged.
    #[serde(skip)]
    pub ledger: Option<CommitPlan>,
}

impl Default for TransactionPlan {
    fn default() -> Self {
        Self {
            target: String::new(),
            other_targets: Vec::new(),
            sessions: None,
            find_knee: false,
            max_latency: None,
            quantile: 0.9,
            time: Nanos(30_000_000_000),
            ramp: Nanos(0),
            warm_up: Nanos(5_000_000_000),
            rate_per_s: None,
            arrival: Spacing::Poisson,
            repeats: 1,
            isolation: Isolation::default(),
            loaders: 0,
            verify: false,
            restore_every: None,
            on_loss: OnLoss::default(),
            hosts: None,
            schema: None,
            partial_data: None,
            seed: 1,
            buffer_pool: Bytes(256 << 20),
            criteria: None,
            server: ServerPlan::default(),
            ledger: None,
        }
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
        self.schema.as_deref().map_or(Ok(()), |name| schema_name(name).map(drop))?;
        self.climb()?;
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
                "--on-loss reconnect and --hosts contradict each other: hosts that come back at different times measure different times",
                "leave one of them out",
            ));
        }
        if self.restore_every.is_some()
            && self.targets().iter().any(|target| Dialect::of_address(target).is_some())
        {
            return Err(Error::usage(
                "--restore-every gives a server a database of its own name, which other hosts do not know",
                "leave --restore-every or --hosts out, or name a directory",
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
                "with a rate, transactions come when they are due; leave one of the two out",
            ));
        }
        Ok(())
    }

    /// Carries a load out.
    pub fn run<T: Tables, M>(
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
            return case.run((document, criteria.as_ref()), context);
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
            (document, criteria.as_ref()),
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
    pub fn parts(&mut self) -> Parts<'_> {
        Parts {
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
            climb: self.climb()?,
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

    fn climb(&self) -> Result<LadderSearch> {
        let usual = usual_sessions(&SESSION_COUNTS, &self.other_targets);
        Search {
            given: self.sessions.as_deref().unwrap_or(&usual),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            usual_quantile: 0.9,
            most: USERS_MAX,
        }
        .climb()
    }

    fn pace(&self) -> Result<Option<Pace>> {
        let Some(rate_per_s) = self.rate_per_s else {
            return Ok(None);
        };
        if !(rate_per_s > 0.0 && rate_per_s <= 1e7) {
            return Err(Error::usage(
                format!("--rate {rate_per_s} is not a rate"),
                "write transactions per second, for example 200",
            ));
        }
        Ok(Some(Pace { rate_per_s, spacing: self.arrival, seed: self.seed }))
    }

    /// The shared settings as they are shown.
    fn settings(&self) -> Vec<Setting> {
        let rate = self.rate_per_s.map_or_else(
            || "closed: the next transaction begins when the last has ended".to_owned(),
            |rate| format!("open: {rate} transactions per second"),
        );
        let restored = match self.restore_every {
            None => "never".to_owned(),
            Some(1) => "before every rung".to_owned(),
            Some(every) => format!("before every {every}. rung"),
        };
        shown([
            ("isolation", self.isolation.name().to_owned()),
            ("arrivals", rate),
            ("ramp", self.ramp.to_string()),
            ("warm-up of each rung", self.warm_up.to_string()),
            ("data restored", restored),
            ("seed", self.seed.to_string()),
        ])
    }
}
