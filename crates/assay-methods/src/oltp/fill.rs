//! Loads the nine tables: rows are made on one thread and sent on another, tables in parallel, keys after the rows.

use super::copy::{Chunk, Rows};
use super::{Manifest, Shape, functions};
use crate::load::Database;
use assay_loads::oltp::{Rules, Table, fill_part, parts, rows_of};
use assay_model::load::Filled;
use assay_model::number::index_of;
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use assay_postgres::failure::{Answer, Failure};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Chunks that wait for the server.
const CHUNKS_AHEAD: usize = 4;
/// Nobody takes another table.
const NONE_LEFT: u32 = u32::MAX / 2;

/// How loading goes.
pub struct Fill<'a> {
    /// The scale.
    pub rules: &'a Rules,
    /// Where and how the tables lie.
    pub shape: &'a Shape,
    /// Tables of a broken off loading that stand; none when everything is to be made.
    pub found: Option<Manifest>,
    /// Tables that are loaded at once; 0 for as many as there are processors.
    pub loaders: usize,
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
    /// Told rows so far and rows in all.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// What loaders share.
struct Shared<'a> {
    database: &'a Database,
    rules: &'a Rules,
    shape: &'a Shape,
    manifest: &'a Manifest,
    tables: Vec<Table>,
    next: AtomicU32,
    loaded: AtomicU64,
    stop: &'a AtomicBool,
}

/// Creates the schema, or goes on with one, and loads its tables.
///
/// # Errors
/// What the server says, for example that its storage is full, or that loading was stopped; what is whole then stays
/// noted down.
pub fn fill(database: &mut Database, doing: Fill<'_>) -> Result<Filled> {
    let begun = Instant::now();
    let schema = doing.shape.schema.clone();
    let manifest = if let Some(found) = doing.found {
        found
    } else {
        let manifest = Manifest::of(doing.rules, doing.shape, now_us());
        database.run("creating a schema", &manifest.create(&schema))?;
        manifest
    };
    let rules = Rules { seed: manifest.seed, ..doing.rules.clone() };
    let tables: Vec<Table> = Table::ALL.into_iter().filter(|table| !manifest.has(*table)).collect();
    let total = tables.iter().map(|table| rows_of(*table, rules.warehouses)).sum();
    let shared = Shared {
        database: &*database,
        rules: &rules,
        shape: doing.shape,
        manifest: &manifest,
        tables,
        next: AtomicU32::new(0),
        loaded: AtomicU64::new(0),
        stop: doing.stop,
    };
    load_all(&shared, loaders(doing.loaders), total, doing.progress)?;
    database.run("creating functions", &functions::create(&schema))?;
    database.run("noting that all is loaded", &Manifest::note_complete(&schema))?;
    filled(database, begun)
}

fn loaders(wanted: usize) -> usize {
    if wanted > 0 { wanted } else { thread::available_parallelism().map_or(1, usize::from) }
}

fn now_us() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}

fn load_all(
    shared: &Shared<'_>,
    loaders: usize,
    total: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..loaders.min(shared.tables.len()))
            .map(|_| scope.spawn(move || loader(shared)))
            .collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            progress(shared.loaded.load(Ordering::Relaxed).min(total), total);
            thread::sleep(Duration::from_millis(20));
        }
        threads.into_iter().try_for_each(|loader| {
            let ended = loader.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// Takes one table after the other.
fn loader(shared: &Shared<'_>) -> Result<()> {
    let mut connection = shared.database.connect()?;
    loop {
        let place = index_of(u64::from(shared.next.fetch_add(1, Ordering::Relaxed)));
        let Some(table) = shared.tables.get(place) else {
            connection.close();
            return Ok(());
        };
        let loaded = load(&mut connection, shared, *table);
        if shared.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        if let Err(failure) = loaded {
            // The others need not go on for a load that failed.
            shared.next.store(NONE_LEFT, Ordering::Relaxed);
            return Err(failure.of(format!("loading {}", shared.shape.name(*table))));
        }
    }
}

fn stopped() -> Error {
    Error::environment(
        "loading was stopped",
        "start again; in a server of yours --left finish goes on with the tables that are whole",
    )
}

/// A table with its keys and its note, in one transaction.
fn load(connection: &mut Connection, shared: &Shared<'_>, table: Table) -> Answer<()> {
    connection.run("BEGIN")?;
    connection.run(&shared.shape.create(table))?;
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || make(shared, table, &sender));
        send(connection, shared, table, chunks)
    })?;
    for sql in shared.shape.indexes(table) {
        connection.run(&sql)?;
    }
    connection.run(&Manifest::note(&shared.shape.schema, table))?;
    connection.run("COMMIT")?;
    connection.run(&format!("ANALYZE {}", shared.shape.name(table)))
}

/// Makes rows in binary form until nobody takes them.
fn make(shared: &Shared<'_>, table: Table, to: &SyncSender<Chunk>) {
    let mut rows = Rows::new(to);
    for part in parts(table, shared.rules.warehouses) {
        fill_part(shared.rules, part, shared.manifest.loaded_us, &mut rows);
        if rows.is_over {
            return;
        }
    }
    rows.flush();
}

fn send(
    connection: &mut Connection,
    shared: &Shared<'_>,
    table: Table,
    chunks: Receiver<Chunk>,
) -> Answer<()> {
    let mut copying = connection.copy_in(&shared.shape.copy(table))?;
    for (bytes, rows) in chunks {
        if shared.stop.load(Ordering::Relaxed) {
            copying.abort();
            return Err(Failure::Strange("it was stopped".to_owned()));
        }
        copying.send(&bytes)?;
        shared.loaded.fetch_add(rows, Ordering::Relaxed);
    }
    copying.finish()
}

/// What the tables became on storage.
fn filled(database: &mut Database, begun: Instant) -> Result<Filled> {
    let sizes = database.admin.one(&format!(
        "SELECT sum(reltuples) FILTER (WHERE relkind IN ('r', 'p') AND NOT relispartition)::bigint, \
         sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r')::bigint, \
         sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i')::bigint \
         FROM pg_class WHERE relnamespace = '{}'::regnamespace",
        database.schema
    ));
    let sizes = sizes.map_err(|failure| failure.of("looking at the tables"))?;
    Ok(Filled {
        rows: sizes.count(0).unwrap_or(0),
        table_bytes: sizes.count(1).unwrap_or(0),
        index_bytes: sizes.count(2).unwrap_or(0),
        elapsed_s: begun.elapsed().as_secs_f64(),
    })
}
