//! The SLOB method: its plan, what it says of itself, its tables on a server, its steps in the
//! words of workloads.

use super::bounds::{REPEATS, SESSIONS, WORK, checked_schema, one_of, plain_name, within};
use super::databases_check::{Databases, targets, usual_sessions};
use super::kind::{DataShape, LoadParts, PlannedLoad};
use super::ladder_run::{LadderPlan, run_ladder};
use super::load_driver::LoadDriver;
use super::load_member::LoadMember;
use super::parameters::{HotSpotParameter, ThinkParameter};
use super::partial_data::PartialData;
use super::prepared_server::{PreparedServer, ServerRequest};
use super::search::LadderSearchPlan;
use super::server_plan::{SERVER, ServerPlan, ServerSizing};
use super::settings_table::{sessions_words, shown, step_words};
use crate::cluster::HostNames;
use crate::context::Context;
use crate::finish::{CriteriaSource, FinishedRun};
use crate::plan_document::{PlanDocument, without_password, without_passwords};
use assay_dbload::load::{
    Dialect, LadderSearch, LoadSchema, LoadTarget, Product, RungPlan, schema_name,
};
use assay_dbload::slob::{RowAccess, Slob, access_words, data_bytes, fill, is_filled};
use assay_dbload::with_link;
use assay_loads::slob::{Redo, SlobRules};
use assay_model::load::{Filled, Length, LoadKind, Setting};
use assay_model::number::{real, share};
use assay_model::spelling::{LimitStatistic, defaults, latency};
use assay_model::units::{Bytes, Nanos, Share, show_bytes};
use assay_model::{Error, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Bytes of a block, as every usual server has it.
pub const BLOCK_BYTES: u64 = 8192;
/// The load before the first step, which fills the caches of processes and of the server.
pub const WARM_UP: Nanos = Nanos(2_000_000_000);

/// Sessions at most when a search finds no end.
const SESSIONS_MAX: u32 = 1024;
/// Numbers of sessions where nobody says.
const GIVEN: [u32; 5] = [1, 2, 4, 8, 16];

/// The plan of the load; its fields are the options of the command.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlobPlan {
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
    /// default 1,2,4,8,16 on each database
    #[arg(
        long,
        aliases = ["users", "clients", "connections", "threads", "vu", "vus"],
        short_alias = 'c',
        value_name = "N,N,…",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(SESSIONS)
    )]
    pub sessions: Option<Vec<u32>>,
    /// Double the sessions until throughput stops rising
    #[arg(long, conflicts_with_all = ["sessions", "max_latency"])]
    pub find_knee: bool,
    /// Search for the maximum number of sessions whose reading statements meet this latency
    #[arg(long, value_name = "TIME", conflicts_with = "sessions", value_parser = latency)]
    pub max_latency: Option<Nanos>,
    /// Quantile that must meet the limit, or `mean`
    #[arg(long, alias = "of", value_name = "QUANTILE", default_value = "0.99")]
    pub quantile: LimitStatistic,
    /// Measured time of each step
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "15s")]
    pub time: Nanos,
    /// Statements per session instead of a duration; the result is then the elapsed time
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "time",
        value_parser = clap::value_parser!(u64).range(WORK)
    )]
    pub work: Option<u64>,
    /// Repeat all steps this many times, alternately up and down, so that two runs can be compared
    #[arg(
        long,
        alias = "repeat",
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(REPEATS)
    )]
    pub repeats: u32,
    /// Size of each table; a row fills one 8 KiB block
    #[arg(long, alias = "size", value_name = "SIZE", default_value = "1GiB")]
    pub scale: Bytes,
    /// Number of tables; sessions are spread over them
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub tables: u32,
    /// Blocks per reading statement; 1 shows single-block times, 64 the maximum IOPS per CPU
    #[arg(long, value_name = "BLOCKS", default_value_t = 64)]
    pub work_unit: u64,
    /// Blocks per updating statement
    #[arg(long, value_name = "BLOCKS", default_value_t = 8)]
    pub update_work_unit: u64,
    /// Percentage of statements that update rows and commit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub update_pct: u64,
    /// How much of a row an update changes
    #[arg(long, value_enum, default_value_t = Redo::Lite)]
    pub redo: Redo,
    /// Share of the reading statements that scan a short table without an index
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub scan_share: Share,
    /// Size of that table
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    pub scan_size: Bytes,
    /// Every Nth statement goes to one part of the table, for example `8MiB:16MiB:3`
    #[arg(long, value_name = "SIZE:OFFSET:EVERY")]
    pub hot_spot: Option<HotSpotParameter>,
    /// Every Nth statement goes to the first table; 0 for none
    #[arg(long, value_name = "EVERY", default_value_t = 0)]
    pub hot_table: u64,
    /// Before every Nth statement a session waits for a random time, for example `10:100ms:500ms`
    #[arg(long, value_name = "EVERY:SHORTEST:LONGEST")]
    pub think: Option<ThinkParameter>,
    /// Share of the rows' text that compression can remove
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub compressible: Share,
    /// How rows are read
    #[arg(long, value_enum, default_value_t = RowAccess::Index)]
    pub access: RowAccess,
    /// Hosts that run the sessions, assigned in turn: local:N (processes
    /// here), ssh:A,B, or names in a Ray cluster: A,B
    #[arg(long, value_name = "HOSTS", conflicts_with = "work")]
    pub hosts: Option<HostNames>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Name of Assay's schema on your server; an empty one of yours is used and left empty; by
    /// default a new one
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    pub schema: Option<String>,
    /// What to do with data left by earlier runs of this load; by default it is only listed
    #[arg(long, alias = "left", value_parser = dropped())]
    #[serde(alias = "left")]
    pub partial_data: Option<PartialData>,
    /// Criteria to judge by; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    pub criteria: Option<PathBuf>,
    /// Size of the server's buffer pool (`shared_buffers`, `innodb_buffer_pool_size`); choose a
    /// small one, so that reads reach the storage
    #[arg(
        long,
        help_heading = SERVER,
        aliases = ["shared-buffers", "innodb-buffer-pool-size", "memory", "server-memory"],
        value_name = "SIZE",
        default_value = "32MiB"
    )]
    #[serde(alias = "shared_buffers")]
    pub buffer_pool: Bytes,
    /// The server
    #[command(flatten)]
    pub server: ServerPlan,
}

impl Default for SlobPlan {
    fn default() -> Self {
        defaults()
    }
}

/// This load never continues with existing data.
fn dropped() -> impl TypedValueParser<Value = PartialData> {
    let drop = PossibleValue::new("drop").help("Drop them");
    PossibleValuesParser::new([drop]).map(|_| PartialData::Drop)
}

impl PlannedLoad for SlobPlan {
    fn kind(&self) -> LoadKind {
        LoadKind::Slob
    }

    fn check(&self) -> Result<()> {
        within("--sessions", self.sessions.iter().flatten().copied(), &SESSIONS)?;
        within("--repeats", [self.repeats], &REPEATS)?;
        let (sessions, knee) =
            (("--sessions", self.sessions.is_some()), ("--find-knee", self.find_knee));
        let limit = ("--max-latency", self.max_latency.is_some());
        one_of(knee, sessions)?;
        one_of(knee, limit)?;
        one_of(limit, sessions)?;
        one_of(("--work", self.work.is_some()), ("--hosts", self.hosts.is_some()))?;
        Databases {
            target: &self.target,
            others: &self.other_targets,
            hosts: self.hosts.as_ref(),
            server: &self.server,
            sessions: self.sessions.as_deref(),
        }
        .check()?;
        if self.work == Some(0) {
            return Err(Error::usage("--work 0 measures nothing", "write at least 1"));
        }
        if self.partial_data == Some(PartialData::Resume) {
            return Err(Error::usage(
                "--partial-data resume: this load never continues with existing data",
                "write drop, or leave it out",
            ));
        }
        checked_schema(self.schema.as_deref())?;
        self.rules()?.check()?;
        self.access_on_dialect().map(drop)
    }

    fn run(&self, document: &PlanDocument, context: &Context) -> Result<FinishedRun> {
        let (dialect, access, words) = self.access_on_dialect()?;
        with_link!(dialect, L => self.run_on::<L>(access, words, document, context))
    }

    fn take_part(&self, member: &mut LoadMember<'_>) -> Result<()> {
        let rules = self.rules()?;
        let (dialect, access, _) = self.access_on_dialect()?;
        with_link!(dialect, L => member.serve(&Slob::<L>::new(&rules, access)))
    }

    fn shape(&self) -> DataShape {
        // A field that is added must say here whether it shapes the data.
        #[rustfmt::skip]
        let Self {
            scale: _, tables: _, compressible: _, scan_size: _, seed: _, // below
            target: _, other_targets: _, sessions: _, find_knee: _, max_latency: _, quantile: _, time: _, work: _, repeats: _,
            work_unit: _, update_work_unit: _, update_pct: _, redo: _, scan_share: _, hot_spot: _, hot_table: _,
            think: _, access: _, hosts: _, buffer_pool: _, schema: _, partial_data: _, criteria: _, server: _,
        } = self;
        vec![
            ("scale", self.scale.to_string()),
            ("tables", self.tables.to_string()),
            ("compressible", self.compressible.to_string()),
            ("scan_size", self.scan_size.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }

    fn data_bytes(&self) -> Result<u64> {
        let rules = self.rules()?;
        Ok(data_bytes(rules.scale_blocks.saturating_mul(u64::from(rules.tables)), BLOCK_BYTES))
    }

    fn summary(&self) -> [String; 2] {
        let length = self.work.map_or_else(
            || step_words(self.time, self.repeats),
            |work| {
                format!(
                    "until each session has executed {work} statements, after the data are loaded"
                )
            },
        );
        [sessions_words(self.sessions.as_deref()), length]
    }

    fn parts(&mut self) -> LoadParts<'_> {
        LoadParts {
            target: &mut self.target,
            other_targets: Some(&mut self.other_targets),
            server: &mut self.server,
            buffer_pool: &mut self.buffer_pool,
            restore_every: None,
            ledger: None,
        }
    }

    fn set_time(&mut self, time: Nanos) {
        self.time = time;
    }
}

impl SlobPlan {
    /// The dialect of the server, how rows are read on it, and the words for that.
    fn access_on_dialect(&self) -> Result<(Dialect, RowAccess, &'static str)> {
        let dialect = self.server.dialect(&self.target)?;
        let words = access_words(dialect, self.access).ok_or_else(|| {
            let products = dialect.facts().products;
            Error::usage(
                "--access stream: the server cannot read several pages ahead through an index",
                format!("omit it with {products}: they read one page at a time"),
            )
        })?;
        Ok((dialect, self.access, words))
    }

    fn run_on<L: Product>(
        &self,
        access: RowAccess,
        words: &str,
        document: &PlanDocument,
        context: &Context,
    ) -> Result<FinishedRun> {
        let rules = self.rules()?;
        let ladder = LadderPlan {
            targets: targets(&self.target, &self.other_targets),
            climb: self.climb(),
            rung: RungPlan::new(1, 1, self.work.map_or(Length::Time(self.time), Length::Steps)),
            warm_up: Some(WARM_UP),
            repeats: self.repeats,
            plan: self.settings(),
            access: words.to_owned(),
            hosts: self.hosts.clone(),
        };
        let setup = BlockSetup {
            rules: &rules,
            server: &self.server,
            schema: self.schema.as_deref(),
            partial_data: self.partial_data,
            cache_bytes: self.buffer_pool.0,
            sessions_max: ladder.sessions_max(),
            are_given: matches!(ladder.climb, LadderSearch::Given(_)),
        };
        let driver = || LoadDriver::Statements(Slob::<L>::new(&rules, access));
        let criteria = CriteriaSource::named(self.criteria.as_deref())?;
        run_ladder(
            &ladder,
            driver,
            |named, context| setup.prepare(named, context),
            document,
            criteria.as_ref(),
            context,
        )
    }

    fn rules(&self) -> Result<SlobRules> {
        let blocks = |size: Bytes, option: &str| -> Result<u64> {
            if size.0.is_multiple_of(BLOCK_BYTES) && size.0 > 0 {
                return Ok(size.0 / BLOCK_BYTES);
            }
            Err(Error::usage(
                format!("{option} {size} is not a multiple of the block size"),
                "write a multiple of 8KiB",
            ))
        };
        Ok(SlobRules {
            scale_blocks: blocks(self.scale, "--scale")?,
            tables: self.tables,
            work_unit: self.work_unit,
            update_work_unit: self.update_work_unit,
            update_percent: self.update_pct,
            scan_share: self.scan_share,
            scan_blocks: blocks(self.scan_size, "--scan-size")?,
            redo: self.redo,
            hot_spot: self.hot_spot.map(|spot| spot.in_blocks(BLOCK_BYTES)),
            hot_table_every: self.hot_table,
            think: self.think.as_ref().map(|think| think.0),
            compressible: self.compressible,
            seed: self.seed,
        })
    }

    fn climb(&self) -> LadderSearch {
        let usual = usual_sessions(&GIVEN, &self.other_targets);
        LadderSearchPlan {
            given: self.sessions.as_deref().unwrap_or(&usual),
            find_knee: self.find_knee,
            max_latency: self.max_latency,
            quantile: self.quantile,
            most: SESSIONS_MAX,
        }
        .climb()
    }

    /// The settings as they are shown.
    fn settings(&self) -> Vec<Setting> {
        let redo = if self.redo == Redo::Lite { "lite" } else { "heavy" };
        shown([
            ("scale", self.scale.to_string()),
            ("tables", self.tables.to_string()),
            ("work unit", format!("{} blocks", self.work_unit)),
            ("update work unit", format!("{} blocks", self.update_work_unit)),
            ("updates", format!("{} of 100 statements", self.update_pct)),
            ("redo", redo.to_owned()),
            ("scans", self.scan_share.to_string()),
            ("hot spot", self.hot_spot.map_or_else(none, |spot| spot.words())),
            ("hot table", every(self.hot_table)),
            ("think time", self.think.map_or_else(none, |think| think.words())),
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

/// Where the method runs.
pub struct BlockSetup<'a> {
    /// The knobs.
    pub rules: &'a SlobRules,
    /// The server.
    pub server: &'a ServerPlan,
    /// The schema on a server that is not ours; a new one where none is named.
    pub schema: Option<&'a str>,
    /// What becomes of what earlier runs left behind.
    pub partial_data: Option<PartialData>,
    /// Cache of a managed server, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Whether a person asked for that many; a search takes what it gets.
    pub are_given: bool,
}

impl BlockSetup<'_> {
    /// Makes or enters the server and loads the tables.
    ///
    /// # Errors
    /// What the gate or the server say; then Assay leaves nothing behind.
    pub fn prepare<L: Product>(
        &self,
        named: &LoadTarget,
        context: &Context,
    ) -> Result<PreparedServer<L>> {
        let rules = self.rules;
        let blocks = rules.scale_blocks.saturating_mul(u64::from(rules.tables));
        let mut fill = |database: &mut LoadSchema<L>| {
            if self.are_given {
                database.check_room(self.sessions_max)?;
            }
            if self.partial_data == Some(PartialData::Drop) && database.is_ours()? {
                database.remove_schema()?;
            }
            if is_filled(database, rules)? {
                return Ok(None);
            }
            load(database, rules, context).map(Some)
        };
        let wanted = ServerRequest {
            schema: match self.schema {
                Some(name) => name.to_owned(),
                None => schema_name(LoadKind::Slob)?,
            },
            kind: LoadKind::Slob,
            is_named_at_random: self.schema.is_none(),
            partial_data: self.partial_data,
            own_database: None,
            sizing: ServerSizing {
                data_bytes: data_bytes(blocks, BLOCK_BYTES),
                cache_bytes: self.cache_bytes,
                sessions_max: self.sessions_max,
            },
            server: self.server,
            fill: &mut fill,
        };
        PreparedServer::prepare(named, wanted, context)
    }
}

fn load<L: Product>(
    database: &mut LoadSchema<L>,
    rules: &SlobRules,
    context: &Context,
) -> Result<Filled> {
    let mut show = |rows: u64, total: u64| {
        let what = format!("loading tables: {}", show_bytes(real(rows * BLOCK_BYTES)));
        context.progress.show(&what, share(rows, total), None);
    };
    let filled = fill(database, rules, &context.stop, &mut show);
    context.progress.clear();
    filled
}
