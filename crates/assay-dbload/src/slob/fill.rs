//! Loads the tables: rows are made on one thread and sent on another, tables in parallel.

use super::store::BlockStore;
use super::tables::{scan_table, table};
use crate::load::{Database, LoadKind};
use assay_loads::slob::{Row, Rows, Rules};
use assay_model::failure::{Answer, Failure};
use assay_model::load::Filled;
use assay_model::number::index_of;
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that travel together.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks that wait for the server.
const CHUNKS_AHEAD: usize = 4;

/// How loading goes.
pub struct Fill<'a> {
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
    /// Told rows so far and rows in all.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// One table that is to be loaded.
struct Job {
    name: String,
    /// Number of the table in the rules; tables differ in their content.
    number: u32,
    rows: u64,
    is_indexed: bool,
}

/// Creates our schema and loads its tables.
///
/// # Errors
/// What the server says, for example that its storage is full, or that loading was stopped.
pub fn fill<L: BlockStore>(
    database: &mut Database<L>,
    rules: &Rules,
    doing: &mut Fill<'_>,
) -> Result<Filled> {
    let begun = Instant::now();
    let schema = database.schema.clone();
    database.claim(LoadKind::Slob)?;
    let jobs = jobs(&schema, rules);
    let total = jobs.iter().map(|job| job.rows).sum();
    let (next, loaded) = (AtomicU32::new(0), AtomicU64::new(0));
    let loaders = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    let shared = &*database;
    let (next, sent, jobs, stop) = (&next, &loaded, &jobs, doing.stop);
    thread::scope(|scope| -> Result<()> {
        let work = move || loader(shared, rules, jobs, next, sent, stop);
        let threads: Vec<_> = (0..loaders).map(|_| scope.spawn(work)).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            (doing.progress)(sent.load(Ordering::Relaxed), total);
            thread::sleep(Duration::from_millis(20));
        }
        threads.into_iter().try_for_each(|loader| {
            let ended = loader.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    let filled = filled(database, total, begun)?;
    let noted = database.admin.note(&schema, &contents(rules));
    noted.map_err(|failure| failure.of("naming the tables"))?;
    Ok(filled)
}

/// What a schema of ours holds, in its comment: tables that were loaded with other knobs are other tables.
fn contents(rules: &Rules) -> String {
    let scan_blocks = if rules.scan_share.0 > 0.0 { rules.scan_blocks } else { 0 };
    format!(
        "assay slob: {} tables of {} rows, {scan_blocks} rows without index, compressible {}, seed {}",
        rules.tables, rules.scale_blocks, rules.compressible.0, rules.seed
    )
}

/// Whether the tables are there already.
///
/// # Errors
/// A usage error when the schema holds others, and what the server says.
pub fn is_filled<L: BlockStore>(database: &mut Database<L>, rules: &Rules) -> Result<bool> {
    let schema = database.schema.clone();
    let noted = database.admin.noted(&schema);
    let noted = noted.map_err(|failure| failure.of("looking for tables that are there"))?;
    let Some(held) = noted else {
        return Ok(false);
    };
    let wanted = contents(rules);
    if held == wanted {
        return Ok(true);
    }
    Err(Error::usage(
        format!("the kept server holds '{held}', and wanted is '{wanted}'"),
        "ask for the same --scale, --tables, --scan-share, --compressible and --seed, or make a new server",
    ))
}

fn jobs(schema: &str, rules: &Rules) -> Vec<Job> {
    let mut jobs: Vec<Job> = (0..rules.tables)
        .map(|number| Job {
            name: table(schema, number),
            number,
            rows: rules.scale_blocks,
            is_indexed: true,
        })
        .collect();
    if rules.scan_share.0 > 0.0 {
        jobs.push(Job {
            name: scan_table(schema),
            number: rules.tables,
            rows: rules.scan_blocks,
            is_indexed: false,
        });
    }
    jobs
}

/// Takes one table after the other.
fn loader<L: BlockStore>(
    database: &Database<L>,
    rules: &Rules,
    jobs: &[Job],
    next: &AtomicU32,
    loaded: &AtomicU64,
    stop: &AtomicBool,
) -> Result<()> {
    let mut connection = database.connect()?;
    loop {
        let place = index_of(u64::from(next.fetch_add(1, Ordering::Relaxed)));
        let Some(job) = jobs.get(place) else {
            connection.close();
            return Ok(());
        };
        match load(&mut connection, rules, job, database.facts.block_bytes, &Sent { loaded, stop })
        {
            Ok(()) if stop.load(Ordering::Relaxed) => {
                return Err(Error::environment("loading was stopped", "start again"));
            }
            Ok(()) => {}
            Err(failure) => {
                // The others need not go on for a load that failed.
                next.store(u32::MAX / 2, Ordering::Relaxed);
                return Err(failure.of(format!("loading {}", job.name)));
            }
        }
    }
}

/// What a loader tells and is told.
struct Sent<'a> {
    loaded: &'a AtomicU64,
    stop: &'a AtomicBool,
}

fn load<L: BlockStore>(
    connection: &mut L,
    rules: &Rules,
    job: &Job,
    block_bytes: u64,
    sent: &Sent<'_>,
) -> Answer<()> {
    connection.begin(&job.name)?;
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || make::<L>(rules, job, block_bytes, &sender));
        // Nobody takes rows any more when these are dropped: the other thread then ends.
        let mut chunks = chunks.into_iter().map_while(|(chunk, rows)| {
            sent.loaded.fetch_add(rows, Ordering::Relaxed);
            (!sent.stop.load(Ordering::Relaxed)).then_some(chunk)
        });
        connection.send(&job.name, &mut chunks, sent.stop)
    })?;
    if sent.stop.load(Ordering::Relaxed) {
        return Err(Failure::Protocol("it was stopped".to_owned()));
    }
    connection.end(&job.name, job.is_indexed)
}

/// Makes rows until nobody takes them.
fn make<L: BlockStore>(
    rules: &Rules,
    job: &Job,
    block_bytes: u64,
    to: &SyncSender<(Vec<u8>, u64)>,
) {
    // The table without an index is shorter, and its keys are of no interest.
    let part = Rules { scale_blocks: job.rows, ..rules.clone() };
    let (mut rows, mut row) = (Rows::of(&part, job.number, 0..job.rows), Row::default());
    loop {
        let (mut chunk, mut inside) = (Vec::with_capacity(CHUNK_BYTES + 20_480), 0);
        while chunk.len() < CHUNK_BYTES && rows.next_into(&mut row) {
            L::put(&mut chunk, &row, block_bytes);
            inside += 1;
        }
        if inside == 0 || to.send((chunk, inside)).is_err() {
            return;
        }
    }
}

/// What the tables became on storage.
fn filled<L: BlockStore>(database: &mut Database<L>, rows: u64, begun: Instant) -> Result<Filled> {
    let schema = database.schema.clone();
    let sizes = database.admin.sizes(&schema);
    let (table_bytes, index_bytes) =
        sizes.map_err(|failure| failure.of("looking at the tables"))?;
    L::check_blocks(rows, table_bytes, database.facts.block_bytes)?;
    let elapsed_s = begun.elapsed().as_secs_f64();
    Ok(Filled { rows, table_bytes, index_bytes, elapsed_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::count_of;
    use assay_postgres::connection::Connection;

    #[test]
    fn every_row_is_made_once() {
        let rules = Rules { scale_blocks: 2000, ..Rules::default() };
        let jobs = jobs("s", &rules);
        let (sender, chunks) = sync_channel(1000);
        make::<Connection>(&rules, &jobs[0], 8192, &sender);
        drop(sender);
        let mut one = Vec::new();
        Connection::put(&mut one, &Row::default(), 8192);
        let (mut rows, mut bytes) = (0, 0);
        for (chunk, inside) in chunks {
            rows += inside;
            bytes += count_of(chunk.len());
        }
        assert_eq!((rows, bytes), (2000, 2000 * count_of(one.len())));
    }
}
