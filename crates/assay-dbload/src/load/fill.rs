//! Loads the tables of a load: rows are made on one thread and sent on another, tables in parallel, keys after the rows.

use super::copy::{Chunk, Chunked};
use super::owner::Kind;
use super::store::{Coming, Store};
use super::{Database, Manifest};
use assay_host::clock::unix_ns;
use assay_loads::sink::Sink;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Filled;
use assay_model::number::index_of;
use assay_model::{Error, Result};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Chunks that wait for the server.
const CHUNKS_AHEAD: usize = 4;
/// Nobody takes another table.
const NONE_LEFT: u32 = u32::MAX / 2;
/// The knob of a manifest that says when rows were made, microseconds since 1970.
const LOADED_US: &str = "loaded_us";
/// The knob of a manifest that says what they were made of.
const SEED: &str = "seed";
/// The note that tells of which text its procedures are.
const PROCEDURES: &str = "procedures";

/// The tables of a load: what they are on the server, and the rows in them.
pub trait Tables: Sync {
    /// Which load it is.
    fn kind(&self) -> Kind;

    /// Names of all tables, the largest first, so that who loads them at once ends at once.
    fn names(&self) -> Vec<&'static str>;

    /// What a schema is made with, by the names of the options, for its manifest.
    fn knobs(&self) -> Vec<(&'static str, String)>;

    /// Rows of a table after loading, about.
    fn rows(&self, table: &str) -> u64;

    /// Columns of a table, in the order in which rows are made.
    fn columns(&self, table: &str) -> &'static str;

    /// The key, as columns, where there is one.
    fn key(&self, table: &str) -> Option<&'static str>;

    /// Further indexes, as columns.
    fn indexes(&self, table: &str) -> &'static [&'static str];

    /// Percent of a block that loading fills, where the product leaves room.
    fn filled_percent(&self, table: &str) -> u32;

    /// The column by whose hash a table is cut, and into how many parts.
    fn parts(&self, _table: &str) -> Option<(&'static str, u32)> {
        None
    }

    /// The column of a table that numbers new rows, where the product lets the table do so.
    fn numbered(&self, _table: &str) -> Option<&'static str> {
        None
    }

    /// Makes the rows of a table, until nobody wants more, from a seed and the moment of loading, microseconds since 1970.
    fn make(&self, table: &str, seed: u64, loaded_us: i64, to: &mut dyn Sink);

    /// Creates what stands beside the tables of PostgreSQL: functions, sequences, references; whole statements.
    fn finish(&self, schema: &str, loaded_us: i64) -> String;

    /// Procedures of MariaDB and MySQL that sessions call.
    fn procedures(&self, _schema: &str) -> Vec<Procedure> {
        Vec::new()
    }
}

/// A procedure of the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Procedure {
    /// Its name in our schema.
    pub name: &'static str,
    /// The statement that creates it.
    pub sql: String,
}

/// How loading goes.
pub struct Fill<'a, T> {
    /// The tables.
    pub tables: &'a T,
    /// Seed of the rows.
    pub seed: u64,
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
struct Shared<'a, T, L: Store> {
    database: &'a Database<L>,
    tables: &'a T,
    schema: &'a str,
    manifest: &'a Manifest,
    wanted: Vec<&'static str>,
    next: AtomicU32,
    loaded: AtomicU64,
    stop: &'a AtomicBool,
}

/// Creates the schema, or goes on with one, and loads its tables.
///
/// # Errors
/// What the server says, for example that its storage is full, or that loading was stopped; what is whole then stays
/// noted down.
pub fn fill<T: Tables, L: Store>(database: &mut Database<L>, doing: Fill<'_, T>) -> Result<Filled> {
    let begun = Instant::now();
    let schema = database.schema.clone();
    let manifest = if let Some(found) = doing.found {
        found
    } else {
        let mut manifest = Manifest::of(&doing.tables.knobs());
        manifest.knobs.insert(SEED.to_owned(), doing.seed.to_string());
        manifest.knobs.insert(LOADED_US.to_owned(), now_us().to_string());
        database.claim(doing.tables.kind())?;
        let noted = database.admin.begin_notes(&schema, &manifest);
        noted.map_err(|failure| failure.of("creating a schema"))?;
        manifest
    };
    if let Err(error) = see_to_procedures(database, doing.tables, &manifest) {
        // A schema that was made for nothing does not stay.
        if manifest.whole.is_empty() {
            let _ = database.remove_schema();
        }
        return Err(error);
    }
    let mut wanted = doing.tables.names();
    wanted.retain(|table| !manifest.has(table));
    let total = wanted.iter().map(|table| doing.tables.rows(table)).sum();
    let shared = Shared {
        database: &*database,
        tables: doing.tables,
        schema: &schema,
        manifest: &manifest,
        wanted,
        next: AtomicU32::new(0),
        loaded: AtomicU64::new(0),
        stop: doing.stop,
    };
    load_all(&shared, loaders(doing.loaders), total, doing.progress)?;
    let finish = doing.tables.finish(&schema, loaded_us(&manifest));
    let completed = database.admin.complete(&schema, finish);
    completed.map_err(|failure| failure.of("ending the loading"))?;
    filled(database, begun)
}

/// Makes procedures that sessions call, where the product has such, unless they are there as this program writes them.
/// They come before the tables, so that a user who may not make any does not wait for rows first.
///
/// # Errors
/// What the server says.
pub fn see_to_procedures<T: Tables, L: Store>(
    database: &mut Database<L>,
    tables: &T,
    found: &Manifest,
) -> Result<()> {
    let wanted = tables.procedures(&database.schema);
    let mut hasher = DefaultHasher::new();
    wanted.hash(&mut hasher);
    let mark = format!("{:x}", hasher.finish());
    if wanted.is_empty() || found.knob(PROCEDURES) == mark {
        return Ok(());
    }
    let note = Manifest::note_again(&database.schema, PROCEDURES, &mark);
    database.admin.make_procedures(&database.schema, &wanted, &note)
}

/// When the rows of a schema were made, microseconds since 1970.
///
/// # Errors
/// What the server says.
pub(crate) fn loaded_us_of<L: Store>(link: &mut L, schema: &str) -> Answer<i64> {
    let sql = format!("SELECT value FROM {schema}.assay_manifest WHERE name = '{LOADED_US}'");
    Ok(i64::try_from(link.number(&sql)?.unwrap_or(0)).unwrap_or(0))
}

fn loaded_us(manifest: &Manifest) -> i64 {
    manifest.knob(LOADED_US).parse().unwrap_or(0)
}

fn loaders(wanted: usize) -> usize {
    if wanted > 0 { wanted } else { thread::available_parallelism().map_or(1, usize::from) }
}

fn now_us() -> i64 {
    i64::try_from(unix_ns() / 1000).unwrap_or(i64::MAX)
}

fn load_all<T: Tables, L: Store>(
    shared: &Shared<'_, T, L>,
    loaders: usize,
    total: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..loaders.min(shared.wanted.len()))
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
fn loader<T: Tables, L: Store>(shared: &Shared<'_, T, L>) -> Result<()> {
    let mut connection = shared.database.connect()?;
    loop {
        let place = index_of(u64::from(shared.next.fetch_add(1, Ordering::Relaxed)));
        let Some(table) = shared.wanted.get(place) else {
            connection.close();
            return Ok(());
        };
        let loaded = load(&mut connection, shared, table);
        if shared.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        if let Err(failure) = loaded {
            // The others need not go on for a load that failed.
            shared.next.store(NONE_LEFT, Ordering::Relaxed);
            return Err(failure.of(format!("loading {}.{table}", shared.schema)));
        }
    }
}

fn stopped() -> Error {
    Error::environment(
        "loading was stopped",
        "start again; in a server of yours --left finish goes on with the tables that are whole",
    )
}

/// A table with its keys and its note.
fn load<T: Tables, L: Store>(
    connection: &mut L,
    shared: &Shared<'_, T, L>,
    table: &str,
) -> Answer<()> {
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    let (schema, tables, stop) = (shared.schema, shared.tables, shared.stop);
    thread::scope(|scope| {
        scope.spawn(move || make(shared, table, &sender));
        // Nobody takes rows any more when these are dropped: the other thread then ends.
        let mut chunks = chunks.into_iter().map_while(|(bytes, rows)| {
            shared.loaded.fetch_add(rows, Ordering::Relaxed);
            (!stop.load(Ordering::Relaxed)).then_some(bytes)
        });
        connection.load_table(&Coming { schema, table, tables, stop }, &mut chunks)
    })
}

/// That somebody asked to stop.
pub(super) fn stop_asked(stop: &AtomicBool) -> Answer<()> {
    let words = || Failure::Protocol("it was stopped".to_owned());
    (!stop.load(Ordering::Relaxed)).then_some(()).ok_or_else(words)
}

/// Makes rows in the form of the server until nobody takes them.
fn make<T: Tables, L: Store>(shared: &Shared<'_, T, L>, table: &str, to: &SyncSender<Chunk>) {
    let seed = shared.manifest.knob(SEED).parse().unwrap_or(0);
    let mut rows = L::rows(to);
    shared.tables.make(table, seed, loaded_us(shared.manifest), &mut rows);
    rows.flush();
}

/// What the tables became on storage.
fn filled<L: Store>(database: &mut Database<L>, begun: Instant) -> Result<Filled> {
    let schema = database.schema.clone();
    let sizes = database.admin.table_sizes(&schema);
    let [rows, table_bytes, index_bytes] =
        sizes.map_err(|failure| failure.of("looking at the tables"))?;
    Ok(Filled { rows, table_bytes, index_bytes, elapsed_s: begun.elapsed().as_secs_f64() })
}
