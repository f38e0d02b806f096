//! Loads the tables: several sessions at once, each row made while the one before it travels, nothing held.

use super::jobs::{Job, Jobs, parts};
use super::manifest::{Manifest, first_notes, note, part_item, put, read};
use super::store::{DssStore, Wanted};
use crate::load::{Chunk, Database, LoadKind};
use assay_loads::dss::{Part, Scale, TABLES, Table, prepare_texts};
use assay_model::dss::{DssData, DssLoading};
use assay_model::failure::{Answer, Failure};
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

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
struct Common<'a, L: DssStore> {
    database: &'a Database<L>,
    scale: Scale,
    jobs: Jobs,
    rows: AtomicU64,
    /// Something failed: what others still send is of no use.
    is_broken: AtomicBool,
    stop: &'a AtomicBool,
}

impl<L: DssStore> Common<'_, L> {
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
pub fn fill<L: DssStore>(
    database: &mut Database<L>,
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

/// The schema with its manifest and empty tables; gives the parts of each table.
fn begin<L: DssStore>(
    database: &mut Database<L>,
    filling: Filling,
    half: Option<&Manifest>,
) -> Result<Vec<(Table, i32)>> {
    let mut parts = parts(filling.scale, filling.loaders);
    if let Some(half) = half {
        for (table, of) in &mut parts {
            *of = half.parts(table.name()).unwrap_or(*of);
        }
        let missing = database.admin.make_missing(&parts);
        return missing.map(|()| parts).map_err(|failure| failure.of("making tables"));
    }
    database.claim(LoadKind::Dss)?;
    let mut notes = first_notes(filling.scale);
    notes.extend(parts.iter().map(|(table, of)| note(&format!("parts {}", table.name()), of)));
    let made = database.admin.make(&notes, &parts);
    made.map(|()| parts).map_err(|failure| failure.of("making the schema"))
}

/// Takes one job after the other.
fn loader<L: DssStore>(common: &Common<'_, L>) -> Result<()> {
    let mut connection = common.database.connect()?;
    connection.ready_to_load();
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

fn carry_out<L: DssStore>(connection: &mut L, job: Job, common: &Common<'_, L>) -> Answer<()> {
    if common.is_over() {
        return Err(stopped());
    }
    match job {
        Job::Rows(table, part) => rows(connection, table, part, common),
        Job::Key(table) => connection.build_key(table),
        Job::Index(table, index) => connection.build_index(table, index),
        Job::Statistics { table, frozen } => connection.gather(table, frozen),
    }
}

fn stopped() -> Failure {
    Failure::Protocol("it was stopped".to_owned())
}

/// The rows of a part in one transaction, with the word in the manifest that they are there.
fn rows<L: DssStore>(
    connection: &mut L,
    table: Table,
    part: Part,
    common: &Common<'_, L>,
) -> Answer<()> {
    let is_whole = part.of == 1;
    connection.begin_part(table, is_whole)?;
    let wanted = Wanted { table, scale: common.scale, part, rekey: &|key| key };
    let sent = transfer(connection, wanted, is_whole, |rows| {
        common.rows.fetch_add(rows, Ordering::Relaxed);
        !common.is_over()
    })?;
    if common.is_over() {
        // Not all were sent: the transaction ends with the session.
        return Err(stopped());
    }
    connection.run(&put::<L, _>(&part_item(table.name(), part.number), sent))?;
    connection.run("COMMIT")
}

/// Makes rows on one thread and sends them on this one, as long as `goes_on` says so, which is told how many follow.
pub(super) fn transfer<L: DssStore>(
    connection: &mut L,
    wanted: Wanted<'_>,
    is_whole: bool,
    goes_on: impl Fn(u64) -> bool,
) -> Answer<u64> {
    let (sender, chunks) = sync_channel::<Chunk>(CHUNKS_AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || L::rows_of(wanted, &sender));
        // Nobody takes rows any more when these are dropped: the other thread then ends.
        let mut chunks = chunks.into_iter().take_while(|(_, rows)| goes_on(*rows));
        connection.send(wanted.table, is_whole, &mut chunks)
    })
}

/// Says in the manifest that all is there.
fn end<L: DssStore>(database: &mut Database<L>, loaders: u32, begun: Instant) -> Result<DssData> {
    let told = |failure: Failure| failure.of("finishing the tables");
    let manifest = read(&mut database.admin).map_err(told)?;
    let rows = manifest.rows_of_parts();
    let elapsed_s = begun.elapsed().as_secs_f64();
    let notes = L::put(&[note("rows", rows), note("state", "loaded")]);
    database.admin.run(&notes).map_err(told)?;
    let mut data = sizes(database)?;
    data.rows = rows;
    data.loading = Some(DssLoading { loaders, elapsed_s });
    Ok(data)
}

/// What the tables take on storage now.
///
/// # Errors
/// What the server says.
pub fn sizes<L: DssStore>(database: &mut Database<L>) -> Result<DssData> {
    let bytes = database.admin.bytes();
    let (table_bytes, index_bytes) =
        bytes.map_err(|failure| failure.of("looking at the tables"))?;
    Ok(DssData { table_bytes, index_bytes, ..DssData::default() })
}

/// Makes a server of our own fit for large queries, and tells the settings that matter for them.
///
/// # Errors
/// What the server says.
pub fn fit<L: DssStore>(database: &mut Database<L>) -> Result<()> {
    L::fit(database).map_err(|failure| failure.of("choosing the settings of the server"))
}

/// Processes that the server has for parallel steps of all sessions together; none where it does not tell, or has none.
pub fn parallel_max<L: DssStore>(database: &mut Database<L>) -> Option<u32> {
    database.admin.parallel_max()
}
