//! Loads the tables of any load: several sessions at once, rows before indexes before statistics,
//! and a note of every part that is whole, so that a loading which was broken off can go on.

use super::LoadSchema;
use super::jobs::{FillJob, Jobs, TableJobs};
use super::link::single_number;
use super::manifest::{Manifest, complete, note, part_note, sizes_of};
use super::procedures::ensure_procedures;
use super::product::{Destination, Product};
use super::tables::{IndexLayout, LoadTables, RowOrigin, TableLayout};
use super::transfer::transfer;
use assay_host::clock::unix_ns;
use assay_loads::sink::TablePart;
use assay_model::failure::{Answer, Failure};
use assay_model::load::Filled;
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_millis(20);
/// The note that says when rows were made, microseconds since 1970.
const LOADED_US: &str = "loaded_us";
/// The note that says what they were made of.
const SEED: &str = "seed";

/// How loading goes.
pub struct TableFill<'a, T> {
    /// The tables.
    pub tables: &'a T,
    /// Seed of the rows.
    pub seed: u64,
    /// What a loading that was broken off noted; none when everything is to be made.
    pub found: Option<Manifest>,
    /// Sessions that load at once; 0 for as many as there are processors.
    pub loaders: usize,
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
    /// Called with the rows so far and the rows in all.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// A table with all that is built for it.
struct FillTarget<T> {
    table: T,
    layout: TableLayout,
    /// Indexes that are built after the rows, that of the key last.
    indexes: Vec<IndexLayout>,
}

/// What loaders share.
struct FillShared<'a, T: LoadTables, L: Product> {
    database: &'a LoadSchema<L>,
    tables: &'a T,
    targets: &'a [FillTarget<T::Table>],
    origin: RowOrigin,
    jobs: Jobs,
    rows: AtomicU64,
    /// Something failed: what others still send is of no use.
    is_broken: AtomicBool,
    stop: &'a AtomicBool,
}

/// Creates the schema, or goes on with one, and loads its tables.
///
/// # Errors
/// What the server says, for example that its storage is full, or that loading was stopped; what is
/// whole then stays noted.
pub fn fill<T: LoadTables, L: Product>(
    database: &mut LoadSchema<L>,
    doing: TableFill<'_, T>,
) -> Result<Filled> {
    let started = Instant::now();
    let mut targets = targets::<T, L>(doing.tables);
    let is_new = doing.found.is_none();
    let manifest = match doing.found {
        Some(found) => found,
        None => begin(database, doing.tables, doing.seed, &targets)?,
    };
    if let Err(error) = ensure_procedures(database, doing.tables, &manifest) {
        // A schema that was made for nothing does not stay.
        if is_new {
            let _ = database.remove_schema();
        }
        return Err(error);
    }
    targets.retain(|target| !manifest.was_whole(&target.layout.name));
    let jobs = Jobs::of(targets.iter_mut().map(|target| target.jobs(&manifest)).collect());
    create_cut_tables(database, &targets)?;
    let origin = origin(&manifest);
    let shared = FillShared {
        database: &*database,
        tables: doing.tables,
        targets: &targets,
        origin,
        jobs,
        rows: AtomicU64::new(manifest.rows()),
        is_broken: AtomicBool::new(false),
        stop: doing.stop,
    };
    load_all(&shared, loaders(doing.loaders), doing.progress)?;
    end(database, doing.tables, origin, started)
}

fn targets<T: LoadTables, L: Product>(tables: &T) -> Vec<FillTarget<T::Table>> {
    let target = |table| {
        let layout = tables.layout(table);
        let key = L::key_index(&layout);
        let indexes = layout.indexes.iter().cloned().chain(key).collect();
        FillTarget { table, layout, indexes }
    };
    tables.all().into_iter().map(target).collect()
}

/// Makes the schema with its notes.
fn begin<T: LoadTables, L: Product>(
    database: &mut LoadSchema<L>,
    tables: &T,
    seed: u64,
    targets: &[FillTarget<T::Table>],
) -> Result<Manifest> {
    let mut manifest = Manifest::of(&tables.knobs());
    manifest.set(SEED, seed);
    manifest.set(LOADED_US, unix_ns() / 1000);
    for layout in targets.iter().map(|target| &target.layout).filter(|layout| layout.parts > 1) {
        manifest.set(&format!("parts {}", layout.name), layout.parts);
    }
    database.claim(tables.kind())?;
    let schema = database.schema.clone();
    let (create, put) = (L::create_manifest(&schema), L::put_notes(&schema, &manifest.notes()));
    database.run("creating a schema", &format!("{create}; {put}"))?;
    Ok(manifest)
}

/// Tables that several sessions load are there before the first row.
fn create_cut_tables<T, L: Product>(
    database: &mut LoadSchema<L>,
    targets: &[FillTarget<T>],
) -> Result<()> {
    let schema = database.schema.clone();
    let cut = targets.iter().filter(|target| target.layout.parts > 1);
    for target in cut {
        let sql = L::create_table(&schema, &target.layout);
        database.run("creating the tables", &sql)?;
    }
    Ok(())
}

fn origin(manifest: &Manifest) -> RowOrigin {
    let number = |name| manifest.note(name);
    RowOrigin {
        seed: number(SEED).parse().unwrap_or(0),
        loaded_us: number(LOADED_US).parse().unwrap_or(0),
    }
}

/// When the rows of a schema were made, microseconds since 1970.
pub(crate) fn loaded_us_of<L: Product>(link: &mut L, schema: &str) -> Answer<i64> {
    let sql = format!("SELECT value FROM {schema}.assay_manifest WHERE name = '{LOADED_US}'");
    Ok(i64::try_from(single_number(link, &sql)?.unwrap_or(0)).unwrap_or(0))
}

fn loaders(wanted: usize) -> usize {
    if wanted > 0 { wanted } else { thread::available_parallelism().map_or(1, usize::from) }
}

fn load_all<T: LoadTables, L: Product>(
    shared: &FillShared<'_, T, L>,
    loaders: usize,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let total = shared.targets.iter().map(|target| target.layout.rows).sum();
    thread::scope(|scope| {
        scope.spawn(|| shared.tables.prepare());
        let threads: Vec<_> = (0..loaders).map(|_| scope.spawn(move || loader(shared))).collect();
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            progress(shared.rows.load(Ordering::Relaxed).min(total), total);
            thread::sleep(REPORT_EVERY);
        }
        threads.into_iter().try_for_each(|loader| {
            loader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// Takes one job after the other.
fn loader<T: LoadTables, L: Product>(shared: &FillShared<'_, T, L>) -> Result<()> {
    let mut connection = shared.database.connect()?;
    for setting in L::LOADING {
        // Only some users may; the server's own settings serve, too.
        let _ = connection.run(setting);
    }
    while let Some(job) = shared.jobs.take() {
        let Err(failure) = shared.carry_out(&mut connection, job) else {
            shared.jobs.done(job);
            continue;
        };
        shared.jobs.break_off();
        let is_first = !shared.is_broken.swap(true, Ordering::Relaxed);
        if shared.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        // The others were ended because of the first failure, which is reported.
        return if is_first { Err(failure.of(shared.describe(job))) } else { Ok(()) };
    }
    connection.close();
    Ok(())
}

fn stopped() -> Error {
    Error::environment(
        "loading was stopped",
        "start again; on your own server --partial-data resume continues with the tables that are \
         complete",
    )
}

impl<T> FillTarget<T> {
    /// What is missing of the table; it keeps the parts that it was cut into before.
    fn jobs(&mut self, manifest: &Manifest) -> TableJobs {
        let layout = &mut self.layout;
        layout.parts = manifest.parts(&layout.name);
        let is_missing = |number: &i32| manifest.rows_of_part(&layout.name, *number).is_none();
        let missing = (1..=layout.parts).filter(is_missing);
        let part = |number| TablePart { number, of: layout.parts };
        TableJobs { missing: missing.map(part).collect(), indexes: self.indexes.len() }
    }
}

impl<T: LoadTables, L: Product> FillShared<'_, T, L> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_broken.load(Ordering::Relaxed)
    }

    fn describe(&self, job: FillJob) -> String {
        let name = |table: usize| format!("{}.{}", self.database.schema, self.name(table));
        match job {
            FillJob::Rows(table, _) => format!("loading {}", name(table)),
            FillJob::Index(table, index) => {
                let index = &self.targets[table].indexes[index].name;
                format!("building the index {index} of {}", name(table))
            }
            FillJob::Finish(table) => format!("gathering statistics of {}", name(table)),
        }
    }

    fn name(&self, table: usize) -> &str {
        &self.targets[table].layout.name
    }

    fn carry_out(&self, connection: &mut L, job: FillJob) -> Answer<()> {
        if self.is_over() {
            return Err(ended_early());
        }
        let schema = &self.database.schema;
        match job {
            FillJob::Rows(table, part) => self.load_part(connection, &self.targets[table], part),
            FillJob::Index(table, index) => {
                let index = &self.targets[table].indexes[index];
                ensure_index(connection, schema, self.name(table), index)
            }
            FillJob::Finish(table) => {
                let statements = L::finish_table(schema, &self.targets[table].layout);
                statements.iter().try_for_each(|sql| connection.run(sql))
            }
        }
    }

    /// The rows of a part in one transaction, with the note that they are there.
    fn load_part(
        &self,
        connection: &mut L,
        target: &FillTarget<T::Table>,
        part: TablePart,
    ) -> Answer<()> {
        let (schema, layout) = (&self.database.schema, &target.layout);
        for sql in L::begin_rows(schema, layout) {
            connection.run(&sql)?;
        }
        let destination = Destination { schema, layout, is_new: part.of == 1 };
        let (tables, table, origin) = (self.tables, target.table, self.origin);
        let make = |to: &mut dyn assay_loads::sink::RowSink| tables.make(table, part, origin, to);
        let sent = transfer(connection, &destination, make, |rows| {
            self.rows.fetch_add(rows, Ordering::Relaxed);
            !self.is_over()
        })?;
        if self.is_over() {
            // Not all were sent: the transaction ends with the session.
            return Err(ended_early());
        }
        let name = part_note(&layout.name, part.number);
        connection.run(&L::put_notes(schema, &[note(&name, sent)]))?;
        connection.run("COMMIT")
    }
}

fn ended_early() -> Failure {
    Failure::Protocol("it was stopped".to_owned())
}

/// Builds an index, unless an earlier loading did.
fn ensure_index<L: Product>(
    connection: &mut L,
    schema: &str,
    table: &str,
    index: &IndexLayout,
) -> Answer<()> {
    if single_number(connection, &L::count_index(schema, table, &index.name))? == Some(0) {
        connection.run(&L::add_index(schema, table, index))?;
    }
    Ok(())
}

/// Creates what the schema holds besides the tables, together with the note that everything is
/// there, so that whoever resumes after a break does not find half of it.
fn end<T: LoadTables, L: Product>(
    database: &mut LoadSchema<L>,
    tables: &T,
    origin: RowOrigin,
    started: Instant,
) -> Result<Filled> {
    let schema = database.schema.clone();
    let mut sql = L::put_notes(&schema, &[complete()]);
    if L::DIALECT.facts().has_functions {
        sql.insert_str(0, &tables.functions(&schema, origin.loaded_us));
    }
    database.run("finishing the load", &sql)?;
    let manifest = Manifest::read(&mut database.admin, &schema);
    let rows = manifest.map_err(|failure| failure.of("finishing the load"))?.rows();
    let (table_bytes, index_bytes) = sizes_of(database)?;
    Ok(Filled { rows, table_bytes, index_bytes, elapsed_s: started.elapsed().as_secs_f64() })
}
