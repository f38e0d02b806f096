//! One session of the method: prepared statements on the tables that it meets.

use super::tables::{self, Access, READ_PARAMETERS, UPDATE_PARAMETERS};
use crate::load::{Database, Done, Kind, Method, Session};
use assay_loads::slob::{Filler, Rules, Step, TEXT_BYTES, Work};
use assay_model::measurement::Operation;
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_postgres::connection::{Connection, Prepared};
use assay_postgres::failure::{Answer, Failure};

/// The kinds of steps, in the order in which their results are kept.
const KINDS: [Kind; 3] = [
    Kind { name: "read", operation: Operation::Read },
    Kind { name: "update", operation: Operation::Write },
    Kind { name: "scan", operation: Operation::Read },
];

/// The method with its knobs.
pub struct Slob<'a> {
    /// The knobs.
    pub rules: &'a Rules,
    /// How rows are read.
    pub access: Access,
}

/// One session of it.
pub struct BlockSession<'a> {
    rules: &'a Rules,
    access: Access,
    schema: String,
    block_bytes: u64,
    number: u32,
    steps: assay_loads::slob::Session<'a>,
    next: Option<Step>,
    statements: Vec<[Option<Prepared>; 3]>,
    text: [u8; TEXT_BYTES],
}

impl<'a> Method for Slob<'a> {
    type Session = BlockSession<'a>;

    fn name(&self) -> &'static str {
        "slob"
    }

    fn kinds(&self) -> &[Kind] {
        &KINDS
    }

    fn single_block_stream(&self) -> Option<&str> {
        (self.rules.work_unit == 1).then_some(KINDS[0].name)
    }

    /// The plan of a reading statement must be the one that is to be measured.
    fn check(&self, database: &mut Database) -> Result<()> {
        let doing = "asking for the plan of the reading statement";
        database.run(doing, self.access.settings())?;
        let read = tables::read(&tables::table(&database.schema, 0));
        let read = read.replace("$1", "1").replace("$2", &self.rules.work_unit.to_string());
        let rows = database.admin.query(&format!("EXPLAIN {read}"));
        let rows = rows.map_err(|failure| failure.of(doing))?;
        let plan: Vec<&str> = rows.iter().map(|row| row.text(0).trim()).collect();
        if plan.iter().any(|line| line.contains(self.access.plan_word())) {
            return Ok(());
        }
        Err(Error::environment(
            format!("the server plans otherwise than asked: {}", plan.join(" ")),
            "check settings of planner methods in its configuration",
        ))
    }

    fn session(&self, database: &Database, number: u32) -> BlockSession<'a> {
        let rules = self.rules;
        let mut text = [b' '; TEXT_BYTES];
        Filler::new(rules.compressible.0, rules.seed, u64::from(number)).fill(&mut text);
        BlockSession {
            rules,
            access: self.access,
            schema: database.schema.clone(),
            block_bytes: database.knowledge.block_bytes,
            number,
            steps: assay_loads::slob::Session::new(rules, number),
            next: None,
            statements: Vec::new(),
            text,
        }
    }
}

impl Session for BlockSession<'_> {
    /// Statements of every table that the session may meet.
    fn prepare(&mut self, connection: &mut Connection) -> Answer<()> {
        connection.run("SET plan_cache_mode = force_generic_plan; SET jit = off; SET max_parallel_workers_per_gather = 0")?;
        connection.run(self.access.settings())?;
        // Only some users may; the result says whether it was timed.
        let _ = connection.run("SET track_io_timing = on");
        self.statements.clear();
        let own = self.rules.table_of(self.number);
        for table in 0..self.rules.tables {
            let meets = table == own || (table == 0 && self.rules.hot_table_every > 0);
            let none = [None, None, None];
            self.statements.push(if meets { self.of_table(connection, table)? } else { none });
        }
        Ok(())
    }

    #[inline]
    fn choose(&mut self) -> Option<Nanos> {
        let step = self.steps.step();
        self.next = Some(step);
        Some(step.think)
    }

    /// Rows that are missing are a failure, too.
    #[inline]
    fn step(&mut self, connection: &mut Connection) -> Done {
        let Some(step) = self.next.take() else {
            return Done::once(
                0,
                0,
                Err(Failure::Strange("a step that was not chosen".to_owned())),
            );
        };
        let answer = self.execute(connection, &step).and_then(|rows| {
            let words = || Failure::Strange(format!("{rows} rows where {} are", step.blocks));
            (rows == step.blocks).then_some(()).ok_or_else(words)
        });
        Done::once(kind(step.work), step.blocks * self.block_bytes, answer)
    }
}

impl BlockSession<'_> {
    #[inline]
    fn execute(&mut self, connection: &mut Connection, step: &Step) -> Answer<u64> {
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
            Filler::stamp(&mut self.text, self.number, step.number);
            statement.set(2, &self.text);
        }
        Ok(connection.execute(statement)?.count)
    }

    fn of_table(&self, connection: &mut Connection, table: u32) -> Answer<[Option<Prepared>; 3]> {
        let name = tables::table(&self.schema, table);
        let read =
            connection.prepare(&format!("read{table}"), &tables::read(&name), &READ_PARAMETERS)?;
        let update = tables::update(&name, self.rules.redo);
        let update = connection.prepare(&format!("update{table}"), &update, &UPDATE_PARAMETERS)?;
        let scan = if self.rules.scan_share.0 > 0.0 {
            let scan = tables::scan(&tables::scan_table(&self.schema));
            Some(connection.prepare(&format!("scan{table}"), &scan, &[])?)
        } else {
            None
        };
        Ok([Some(read), Some(update), scan])
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
