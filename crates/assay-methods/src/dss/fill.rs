//! Loads the tables: several sessions at once, each row made while the one before it travels, nothing held.

use super::copy::Binary;
use super::jobs::{Job, Jobs, parts};
use super::manifest::{Manifest, SCHEMA, create, part_item, put};
use super::refresh::copy;
use crate::load::Database;
use assay_loads::dss::{Part, Scale, TABLES, Table, create_table, prepare_texts, put_rows};
use assay_model::dss::{DssData, DssLoading};
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use assay_postgres::failure::{Answer, Failure};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that travel together.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks that wait for the server.
const CHUNKS_AHEAD: usize = 4;
/// How often progress is told.
const LOOK: Duration = Duration::from_millis(50);

/// What is to be loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// How large the tables are.
    pub scale: Scale,
    /// Sessions that load at once.
    pub loaders: u32,
}

/// How loading goes.
pub struct Fill<'a> {
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
    /// Told rows so far, and rows in all but for the chance in the number of lines.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// What all loaders share.
struct Common<'a> {
    database: &'a Database,
    scale: Scale,
    jobs: Jobs,
    rows: AtomicU64,
    /// Something failed: what others still send is of no use.
    is_broken: AtomicBool,
    stop: &'a AtomicBool,
}

impl Common<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_broken.load(Ordering::Relaxed)
    }
}

/// Bytes on storage of tables and indexes, as they are at scale 1, with a tenth to spare.
pub fn data_bytes(scale: Scale) -> u64 {
    assay_model::number::count(scale.factor() * 1.9e9)
}

/// Makes our schema, or goes on with one that is half loaded, and loads its tables.
///
/// # Errors
/// What the server says, for example that its storage is full, or that loading was stopped.
pub fn fill(
    database: &mut Database,
    filling: Filling,
    half: Option<&Manifest>,
    doing: &mut Fill<'_>,
) -> Result<DssData> {
    let begun = Instant::now();
    let parts = begin(database, filling, half)?;
    let known = half.cloned().unwrap_or_default();
    let common = Common {
        database,
        scale: filling.scale,
        jobs: Jobs::of(&parts, &known),
        rows: AtomicU64::new(0),
        is_broken: AtomicBool::new(false),
        stop: doing.stop,
    };
    let total = TABLES.iter().map(|table| table.rows(filling.scale)).sum();
    thread::scope(|scope| -> Result<()> {
        let common = &common;
        scope.spawn(prepare_texts);
        let loaders = filling.loaders.max(1);
        let threads: Vec<_> = (0..loaders).map(|_| scope.spawn(move || loader(common))).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            (doing.progress)(common.rows.load(Ordering::Relaxed), total);
            thread::sleep(LOOK);
        }
        threads.into_iter().try_for_each(|loader| {
            loader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    end(database, filling.loaders.max(1), begun)
}

/// The schema with its manifest and empty tables, in one transaction; gives the parts of each table.
fn begin(
    database: &mut Database,
    filling: Filling,
    half: Option<&Manifest>,
) -> Result<Vec<(Table, i32)>> {
    let mut parts = parts(filling.scale, filling.loaders);
    if let Some(half) = half {
        for (table, of) in &mut parts {
            *of = half.parts(table.name()).unwrap_or(*of);
        }
        return Ok(parts);
    }
    let mut statements = create(filling.scale);
    for (table, of) in &parts {
        statements.push(put(&format!("parts {}", table.name()), &of.to_string()));
        // A table in one piece is made in the transaction that sends its rows.
        if *of > 1 {
            statements.push(create_here(*table));
        }
    }
    let all = format!("BEGIN; {}; COMMIT", statements.join("; "));
    if let Err(failure) = database.admin.run(&all) {
        // The refusal is what must be heard of.
        let _ = database.admin.run("ROLLBACK");
        return Err(failure.of("making the schema"));
    }
    Ok(parts)
}

/// Without automatic vacuum: what it does would disturb what is measured.
fn create_here(table: Table) -> String {
    let name = format!("{SCHEMA}.{}", table.name());
    format!("{} WITH (autovacuum_enabled = off)", create_table(table, &name))
}

/// Takes one job after the other.
fn loader(common: &Common<'_>) -> Result<()> {
    let mut connection = common.database.connect()?;
    // Only some users may; the server's own settings serve, too.
    let _ = connection.run("SET maintenance_work_mem = '256MB'; SET synchronous_commit = off");
    while let Some(job) = common.jobs.take() {
        match carry_out(&mut connection, job, common) {
            Ok(()) => common.jobs.done(job),
            Err(failure) => {
                common.jobs.break_off();
                let is_first = !common.is_broken.swap(true, Ordering::Relaxed);
                if !is_first && !common.stop.load(Ordering::Relaxed) {
                    // It was ended because of another one's failure, which is told.
                    return Ok(());
                }
                if common.stop.load(Ordering::Relaxed) {
                    return Err(Error::environment("loading was stopped", "start again"));
                }
                return Err(failure.of(format!("loading {}", describe(job))));
            }
        }
    }
    connection.close();
    Ok(())
}

fn describe(job: Job) -> String {
    match job {
        Job::Rows(table, _) => table.name().to_owned(),
        Job::Key(table) => format!("the primary key of {}", table.name()),
        Job::Index(_, index) => format!("the index {}", index.name),
        Job::Statistics { table, .. } => format!("the statistics of {}", table.name()),
    }
}

fn carry_out(connection: &mut Connection, job: Job, common: &Common<'_>) -> Answer<()> {
    if common.is_over() {
        return Err(stopped());
    }
    match job {
        Job::Rows(table, part) => rows(connection, table, part, common),
        // Two of them at once do not wait for each other; the key itself is declared behind them.
        Job::Key(table) => connection.run(&format!(
            "CREATE UNIQUE INDEX IF NOT EXISTS {0}_pkey ON {SCHEMA}.{0} ({1})",
            table.name(),
            table.key()
        )),
        Job::Index(table, index) => connection.run(&format!(
            "CREATE INDEX IF NOT EXISTS {} ON {SCHEMA}.{} ({})",
            index.name,
            table.name(),
            index.columns
        )),
        Job::Statistics { table, frozen } => {
            declare_key(connection, table)?;
            let how = if frozen { "ANALYZE" } else { "VACUUM (FREEZE, ANALYZE)" };
            connection.run(&format!("{how} {SCHEMA}.{}", table.name()))
        }
    }
}

fn stopped() -> Failure {
    Failure::Strange("it was stopped".to_owned())
}

/// Not again where an earlier run had come so far.
fn declare_key(connection: &mut Connection, table: Table) -> Answer<()> {
    let name = table.name();
    let there = connection.one(&format!(
        "SELECT count(*) FROM pg_constraint \
         WHERE conrelid = '{SCHEMA}.{name}'::regclass AND contype = 'p'"
    ))?;
    if there.count(0) == Some(1) {
        return Ok(());
    }
    connection.run(&format!("ALTER TABLE {SCHEMA}.{name} ADD PRIMARY KEY USING INDEX {name}_pkey"))
}

/// The rows of a part in one transaction, with the word in the manifest that they are there.
fn rows(connection: &mut Connection, table: Table, part: Part, common: &Common<'_>) -> Answer<()> {
    connection.run("BEGIN")?;
    let is_whole = part.of == 1;
    if is_whole {
        connection.run(&create_here(table))?;
    }
    // A table that was made in the same transaction is not logged where that is allowed, and its rows need no second
    // visit.
    let sql = copy(table, if is_whole { ", FREEZE" } else { "" });
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    let scale = common.scale;
    let sent = thread::scope(|scope| {
        scope.spawn(move || make(table, scale, part, &sender));
        send(connection, &sql, chunks, common)
    })?;
    connection.run(&put(&part_item(table.name(), part.number), &sent.to_string()))?;
    connection.run("COMMIT")
}

/// Makes rows until nobody takes them.
fn make(table: Table, scale: Scale, part: Part, to: &SyncSender<(Vec<u8>, u64)>) {
    let mut give = |bytes, rows| to.send((bytes, rows)).is_ok();
    let mut binary = Binary::new(table.columns().len(), CHUNK_BYTES, &mut give);
    put_rows(table, scale, part, |key| key, &mut binary);
    binary.finish();
}

/// Takes the chunks as its own, so that nobody goes on making them when it ends early.
fn send(
    connection: &mut Connection,
    sql: &str,
    chunks: Receiver<(Vec<u8>, u64)>,
    common: &Common<'_>,
) -> Answer<u64> {
    let mut copying = connection.copy_in(sql)?;
    let mut sent = 0;
    for (chunk, rows) in chunks {
        if common.is_over() {
            copying.abort();
            return Err(stopped());
        }
        copying.send(&chunk)?;
        sent += rows;
        common.rows.fetch_add(rows, Ordering::Relaxed);
    }
    copying.finish().map(|()| sent)
}

/// Says in the manifest that all is there.
fn end(database: &mut Database, loaders: u32, begun: Instant) -> Result<DssData> {
    let told = |failure: Failure| failure.of("finishing the tables");
    let state = put("state", "loaded");
    let sum =
        format!("SELECT sum(value::bigint) FROM {SCHEMA}.assay_manifest WHERE item LIKE 'part %'");
    let rows = database.admin.one(&sum).map_err(told)?.count(0).unwrap_or(0);
    let elapsed_s = begun.elapsed().as_secs_f64();
    database.admin.run(&put("rows", &rows.to_string())).map_err(told)?;
    database.admin.run(&state).map_err(told)?;
    let mut data = sizes(database)?;
    data.rows = rows;
    data.loading = Some(DssLoading { loaders, elapsed_s });
    Ok(data)
}

/// What the tables take on storage now.
///
/// # Errors
/// What the server says.
pub fn sizes(database: &mut Database) -> Result<DssData> {
    let row = database.admin.one(&format!(
        "SELECT sum(pg_table_size(oid)) FILTER (WHERE relkind = 'r'), \
         coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i'), 0) \
         FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relname <> 'assay_manifest'"
    ));
    let row = row.map_err(|failure| failure.of("looking at the tables"))?;
    Ok(DssData {
        table_bytes: row.count(0).unwrap_or(0),
        index_bytes: row.count(1).unwrap_or(0),
        ..DssData::default()
    })
}
