//! One session's thread: step after step, each timed and counted where the rung can see it.

use super::database::Database;
use super::tables::{self, Access, READ_PARAMETERS, UPDATE_PARAMETERS};
use assay_loads::slob::{Filler, Rules, Session, Step, TEXT_BYTES, Work};
use assay_model::measurement::{NamedResult, Operation, OperationResult};
use assay_model::number::narrow;
use assay_model::units::Nanos;
use assay_model::{Histogram, Precision, Result};
use assay_postgres::connection::{Connection, Interrupter, Prepared};
use assay_postgres::failure::{Answer, Failure};
use assay_postgres::processes::{Usage, usage};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A wait looks so often whether it is over for another reason.
const NAP: Duration = Duration::from_millis(20);
/// The kinds of steps, in the order in which their results are kept.
pub(super) const KINDS: [(&str, Operation); 3] =
    [("read", Operation::Read), ("update", Operation::Write), ("scan", Operation::Read)];

/// What all sessions of a rung share.
pub(super) struct Common<'a> {
    pub(super) rules: &'a Rules,
    pub(super) block_bytes: u64,
    /// Everybody begins together.
    pub(super) start: Barrier,
    /// The time is over.
    pub(super) done: AtomicBool,
    /// Steps of each session, where work and not time ends the rung.
    pub(super) steps: Option<u64>,
}

/// What one session did since somebody looked.
#[derive(Default)]
pub(super) struct Slot {
    /// One a kind that happened.
    results: [Option<OperationResult>; 3],
    /// Failures by their words.
    failures: BTreeMap<(usize, String), u64>,
}

/// A session that is ready to begin.
pub(super) struct Worker {
    connection: Connection,
    statements: Vec<[Option<Prepared>; 3]>,
    number: u32,
    pub(super) slot: Arc<Mutex<Slot>>,
}

/// How a session ended.
pub(super) struct Ended {
    /// What its process used from the start together on, where that can be seen.
    pub(super) usage: Option<Usage>,
    /// Bytes that storage gave to its process in its whole life.
    pub(super) storage_read_bytes: Option<u64>,
    /// Number of its process.
    pub(super) process: u32,
    /// When its last step ended.
    pub(super) at: Instant,
    /// Why it could not go on.
    pub(super) lost: Option<String>,
}

impl Slot {
    /// Counts a step.
    #[inline]
    fn count(&mut self, kind: usize, time_ns: u64, bytes: u64) {
        let result = self.results[kind].get_or_insert_with(|| OperationResult {
            service: Histogram::new(Precision::Fine),
            ..OperationResult::default()
        });
        result.ios += 1;
        result.bytes += bytes;
        result.service.record(time_ns);
    }

    /// Adds what was counted to totals of each kind, and forgets it.
    pub(super) fn drain(&mut self, into: &mut [NamedResult]) {
        for (kind, (name, operation)) in KINDS.iter().enumerate() {
            let Some(mine) = self.results[kind].as_mut().filter(|mine| mine.ios > 0) else {
                continue;
            };
            let Some(total) = into.iter_mut().find(|total| total.name == *name) else {
                continue;
            };
            let total =
                total.operations.slot(*operation).get_or_insert_with(OperationResult::default);
            total.merge(mine);
            (mine.ios, mine.bytes) = (0, 0);
            mine.service.clear();
        }
    }

    /// Failures so far, by kind and words.
    pub(super) fn failures(&self) -> impl Iterator<Item = (usize, &str, u64)> {
        self.failures.iter().map(|((kind, words), times)| (*kind, words.as_str(), *times))
    }
}

impl Worker {
    /// Opens a session and prepares its statements.
    pub(super) fn open(
        database: &Database,
        rules: &Rules,
        access: Access,
        number: u32,
    ) -> Result<Self> {
        let mut connection = database.connect()?;
        let prepared = prepare(&mut connection, &database.schema, rules, access, number);
        let statements =
            prepared.map_err(|failure| failure.of("preparing the statements of a session"))?;
        Ok(Self { connection, statements, number, slot: Arc::default() })
    }

    /// A handle that ends it from outside.
    pub(super) fn interrupter(&self) -> Option<Interrupter> {
        self.connection.interrupter().ok()
    }

    /// Waits for the others, steps until the rung is over, and closes the session.
    pub(super) fn work(mut self, common: &Common<'_>) -> Ended {
        let process = self.connection.facts().process_id;
        common.start.wait();
        let before = usage(process);
        let lost = self.steps(common);
        let at = Instant::now();
        let after = usage(process);
        self.connection.close();
        Ended {
            usage: after.zip(before).map(|(after, before)| after.since(&before)),
            storage_read_bytes: after.and_then(|after| after.storage_read_bytes),
            process,
            at,
            lost,
        }
    }

    /// Steps; says why it could not go on.
    fn steps(&mut self, common: &Common<'_>) -> Option<String> {
        let mut session = Session::new(common.rules, self.number);
        let mut text = [b' '; TEXT_BYTES];
        Filler::new(common.rules.compressible.0, common.rules.seed, u64::from(self.number))
            .fill(&mut text);
        let mut before = Instant::now();
        let mut left = common.steps.unwrap_or(u64::MAX);
        while left > 0 && !common.done.load(Ordering::Relaxed) {
            left -= 1;
            let step = session.step();
            if step.think.0 > 0 {
                think(step.think, &common.done);
                before = Instant::now();
            }
            let answer = self.step(&step, &mut text);
            let after = Instant::now();
            let time_ns = narrow((after - before).as_nanos());
            before = after;
            if let Some(lost) = self.keep(&step, answer, time_ns, common) {
                return Some(lost);
            }
        }
        None
    }

    #[inline]
    fn step(&mut self, step: &Step, text: &mut [u8]) -> Answer<u64> {
        let table = usize::try_from(step.table).unwrap_or(0);
        let kinds = self.statements.get_mut(table);
        let Some(statement) = kinds.and_then(|kinds| kinds[kind(step.work)].as_mut()) else {
            return Err(Failure::Strange("a step without its statement".to_owned()));
        };
        if step.work != Work::Scan {
            statement.set_integer(0, key(step.first_key));
            statement.set_integer(1, key(step.first_key + step.blocks - 1));
        }
        if step.work == Work::Update {
            Filler::stamp(text, self.number, step.number);
            statement.set(2, text);
        }
        Ok(self.connection.execute(statement)?.count)
    }

    /// Counts a step; rows that are missing are a failure, too.
    #[inline]
    fn keep(
        &self,
        step: &Step,
        answer: Answer<u64>,
        time_ns: u64,
        common: &Common<'_>,
    ) -> Option<String> {
        let kind = kind(step.work);
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = match answer {
            Ok(rows) if rows == step.blocks => {
                slot.count(kind, time_ns, step.blocks * common.block_bytes);
                return None;
            }
            Ok(rows) => Failure::Strange(format!("{rows} rows where {} are", step.blocks)),
            Err(failure) => failure,
        };
        // What an interrupted session says is no news.
        if common.done.load(Ordering::Relaxed) && failure.is_lost() {
            return Some(String::new());
        }
        *slot.failures.entry((kind, failure.to_string())).or_default() += 1;
        failure.is_lost().then(|| failure.to_string())
    }
}

/// Place of a kind of step.
const fn kind(work: Work) -> usize {
    match work {
        Work::Read => 0,
        Work::Update => 1,
        Work::Scan => 2,
    }
}

/// A key as the server's integer.
#[inline]
fn key(key: u64) -> i64 {
    i64::try_from(key).unwrap_or(i64::MAX)
}

/// Waits, but not beyond the end of the rung.
fn think(time: Nanos, done: &AtomicBool) {
    let end = Instant::now() + Duration::from_nanos(time.0);
    while !done.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(NAP));
    }
}

/// Statements of every table that the session may meet.
fn prepare(
    connection: &mut Connection,
    schema: &str,
    rules: &Rules,
    access: Access,
    number: u32,
) -> Answer<Vec<[Option<Prepared>; 3]>> {
    connection.run("SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0")?;
    connection.run(access.settings())?;
    // Only some users may; the result says whether it was timed.
    let _ = connection.run("SET track_io_timing = on");
    let (own, mut all) = (rules.table_of(number), Vec::new());
    for table in 0..rules.tables {
        let meets = table == own || (table == 0 && rules.hot_table_every > 0);
        all.push(if meets {
            statements(connection, schema, rules, table)?
        } else {
            [None, None, None]
        });
    }
    Ok(all)
}

fn statements(
    connection: &mut Connection,
    schema: &str,
    rules: &Rules,
    table: u32,
) -> Answer<[Option<Prepared>; 3]> {
    let name = tables::table(schema, table);
    let read =
        connection.prepare(&format!("read{table}"), &tables::read(&name), &READ_PARAMETERS)?;
    let update = tables::update(&name, rules.redo);
    let update = connection.prepare(&format!("update{table}"), &update, &UPDATE_PARAMETERS)?;
    let scan = if rules.scan_share.0 > 0.0 {
        let scan = tables::scan(&tables::scan_table(schema));
        Some(connection.prepare(&format!("scan{table}"), &scan, &[])?)
    } else {
        None
    };
    Ok([Some(read), Some(update), scan])
}
