//! Loads the tables: rows are made on one thread and sent on another, tables in parallel.

use super::tables::{copy, create, index, scan_table, table};
use crate::load::Database;
use assay_loads::slob::{Row, Rows, Rules, TEXT_BYTES, TEXT_COLUMNS};
use assay_model::load::Filled;
use assay_model::number::index_of;
use assay_model::{Error, Result};
use assay_postgres::connection::Connection;
use assay_postgres::failure::{Answer, Failure};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that travel together.
const CHUNK_BYTES: usize = 1 << 20;
/// Chunks that wait for the server.
const CHUNKS_AHEAD: usize = 4;
/// Columns of a row: the key and the texts.
const COLUMNS: u16 = 20;

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
pub fn fill(database: &mut Database, rules: &Rules, doing: &mut Fill<'_>) -> Result<Filled> {
    let begun = Instant::now();
    let schema = database.schema.clone();
    database.run("creating a schema", &format!("CREATE SCHEMA {schema}"))?;
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
    let comment = format!("COMMENT ON SCHEMA {schema} IS '{}'", contents(rules));
    database.run("naming the tables", &comment)?;
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
pub fn is_filled(database: &mut Database, rules: &Rules) -> Result<bool> {
    let sql = format!(
        "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = '{}'",
        database.schema
    );
    let rows = database.admin.query(&sql);
    let rows = rows.map_err(|failure| failure.of("looking for tables that are there"))?;
    let Some(row) = rows.first() else {
        return Ok(false);
    };
    let wanted = contents(rules);
    if row.text(0) == wanted {
        return Ok(true);
    }
    Err(Error::usage(
        format!("the kept server holds '{}', and wanted is '{wanted}'", row.text(0)),
        "ask for the same --scale, --tables, --scan-share, --compressible and --seed, or make a server anew",
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
fn loader(
    database: &Database,
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
        match load(&mut connection, rules, job, loaded, stop) {
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

fn load(
    connection: &mut Connection,
    rules: &Rules,
    job: &Job,
    loaded: &AtomicU64,
    stop: &AtomicBool,
) -> Answer<()> {
    connection.run("BEGIN")?;
    connection.run(&create(&job.name))?;
    let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
    let sent = thread::scope(|scope| {
        scope.spawn(move || make(rules, job, &sender));
        send(connection, job, chunks, loaded, stop)
    });
    sent?;
    connection.run("COMMIT")?;
    if job.is_indexed && !stop.load(Ordering::Relaxed) {
        connection.run(&index(&job.name))?;
    }
    Ok(())
}

/// Makes rows in binary form until nobody takes them.
fn make(rules: &Rules, job: &Job, to: &SyncSender<(Vec<u8>, u64)>) {
    // The table without an index is shorter, and its keys are of no interest.
    let part = Rules { scale_blocks: job.rows, ..rules.clone() };
    let (mut rows, mut row) = (Rows::of(&part, job.number, 0..job.rows), Row::default());
    loop {
        let (mut chunk, mut inside) = (Vec::with_capacity(CHUNK_BYTES + 4096), 0);
        while chunk.len() < CHUNK_BYTES && rows.next_into(&mut row) {
            put(&mut chunk, &row);
            inside += 1;
        }
        if inside == 0 || to.send((chunk, inside)).is_err() {
            return;
        }
    }
}

/// A row in the binary form of COPY: number of columns, then length and bytes of each.
fn put(chunk: &mut Vec<u8>, row: &Row) {
    const TEXT: [u8; 4] = [0, 0, 0, TEXT_BYTES.to_le_bytes()[0]];
    chunk.extend(COLUMNS.to_be_bytes());
    chunk.extend([0, 0, 0, 8]);
    chunk.extend(row.key.to_be_bytes());
    for text in row.text.chunks_exact(TEXT_BYTES).take(TEXT_COLUMNS) {
        chunk.extend(TEXT);
        chunk.extend(text);
    }
}

fn send(
    connection: &mut Connection,
    job: &Job,
    chunks: Receiver<(Vec<u8>, u64)>,
    loaded: &AtomicU64,
    stop: &AtomicBool,
) -> Answer<()> {
    let mut copying = connection.copy_in(&copy(&job.name))?;
    for (chunk, rows) in chunks {
        if stop.load(Ordering::Relaxed) {
            copying.abort();
            return Err(Failure::Strange("it was stopped".to_owned()));
        }
        copying.send(&chunk)?;
        loaded.fetch_add(rows, Ordering::Relaxed);
    }
    copying.finish()
}

/// What the tables became on storage.
fn filled(database: &mut Database, rows: u64, begun: Instant) -> Result<Filled> {
    let told = |failure: Failure| failure.of("looking at the tables");
    let sizes = database.admin.one(&format!(
        "SELECT sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'r'), \
         coalesce(sum(pg_relation_size(oid)) FILTER (WHERE relkind = 'i'), 0) \
         FROM pg_class WHERE relnamespace = '{}'::regnamespace",
        database.schema
    ));
    let sizes = sizes.map_err(told)?;
    let filled = Filled {
        rows,
        table_bytes: sizes.count(0).unwrap_or(0),
        index_bytes: sizes.count(1).unwrap_or(0),
        elapsed_s: begun.elapsed().as_secs_f64(),
    };
    let wanted = rows.saturating_mul(database.knowledge.block_bytes);
    if filled.table_bytes == wanted {
        return Ok(filled);
    }
    Err(Error::environment(
        format!(
            "{rows} rows became {} bytes and not {wanted}: not every row has a block of its own",
            filled.table_bytes
        ),
        "use a server with the usual block of 8 KiB",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::count_of;

    /// A row takes so many bytes on its way.
    const fn row_bytes() -> usize {
        2 + 12 + TEXT_COLUMNS * (4 + TEXT_BYTES)
    }

    #[test]
    fn rows_have_the_form_that_copy_takes() {
        let mut chunk = Vec::new();
        let row = Row { key: 0x0102_0304, ..Row::default() };
        put(&mut chunk, &row);
        assert_eq!(chunk.len(), row_bytes());
        assert_eq!(chunk[..14], [0, 20, 0, 0, 0, 8, 0, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(chunk[14..18], [0, 0, 0, 100]);
        assert_eq!(usize::from(COLUMNS), 1 + TEXT_COLUMNS);
    }

    #[test]
    fn every_row_is_made_once() {
        let rules = Rules { scale_blocks: 2000, ..Rules::default() };
        let jobs = jobs("s", &rules);
        let (sender, chunks) = sync_channel(1000);
        make(&rules, &jobs[0], &sender);
        drop(sender);
        let (mut rows, mut bytes) = (0, 0);
        for (chunk, inside) in chunks {
            rows += inside;
            bytes += count_of(chunk.len());
        }
        assert_eq!((rows, bytes), (2000, 2000 * count_of(row_bytes())));
    }
}
