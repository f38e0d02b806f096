//! One session of the method: prepared statements on the tables that it meets.

use super::statements::{SlobStatements, check_plan, make_ready, prepare, values};
use super::tables::RowAccess;
use crate::load::{LoadSchema, LoadSession, Method, Product, StepKind, StepResult};
use assay_loads::slob::{SlobRules, SlobStep, SlobWork, TEXT_BYTES, TextSource};
use assay_model::Result;
use assay_model::failure::{Answer, Failure};
use assay_model::load::LoadKind;
use assay_model::measurement::Operation;
use assay_model::units::Nanos;
use std::marker::PhantomData;

/// The kinds of steps, in the order in which their results are kept.
pub(super) const KINDS: [StepKind; 3] = [
    StepKind { name: "read", operation: Operation::Read },
    StepKind { name: "update", operation: Operation::Write },
    StepKind { name: "scan", operation: Operation::Read },
];

/// The method with its knobs, on a product.
pub struct Slob<'a, L> {
    /// The knobs.
    pub rules: &'a SlobRules,
    /// How rows are read.
    pub access: RowAccess,
    product: PhantomData<fn() -> L>,
}

impl<'a, L> Slob<'a, L> {
    /// The method with these knobs.
    pub const fn new(rules: &'a SlobRules, access: RowAccess) -> Self {
        Self { rules, access, product: PhantomData }
    }
}

/// One session of it.
pub struct BlockSession<'a, L: Product> {
    rules: &'a SlobRules,
    access: RowAccess,
    schema: String,
    block_bytes: u64,
    number: u32,
    steps: assay_loads::slob::SlobSession<'a>,
    next: Option<SlobStep>,
    statements: Vec<SlobStatements<L::Prepared>>,
    text: [u8; TEXT_BYTES],
}

impl<'a, L: Product> Method for Slob<'a, L> {
    type Link = L;
    type Session = BlockSession<'a, L>;

    fn kind(&self) -> LoadKind {
        LoadKind::Slob
    }

    fn kinds(&self) -> &[StepKind] {
        &KINDS
    }

    fn single_block_stream(&self) -> Option<&str> {
        (self.rules.work_unit == 1).then_some(KINDS[0].name)
    }

    /// The plan of a reading statement must be the one that is to be measured.
    fn check(&self, database: &mut LoadSchema<L>) -> Result<()> {
        check_plan(database, self.access, self.rules)
    }

    fn session(&self, database: &LoadSchema<L>, number: u32) -> BlockSession<'a, L> {
        let rules = self.rules;
        let mut text = [b' '; TEXT_BYTES];
        TextSource::new(rules.compressible.0, rules.seed, u64::from(number)).fill(&mut text);
        BlockSession {
            rules,
            access: self.access,
            schema: database.schema.clone(),
            block_bytes: database.facts.block_bytes,
            number,
            steps: assay_loads::slob::SlobSession::new(rules, number),
            next: None,
            statements: Vec::new(),
            text,
        }
    }
}

impl<L: Product> LoadSession for BlockSession<'_, L> {
    type Link = L;

    /// Statements of every table that the session may meet.
    fn prepare(&mut self, connection: &mut L) -> Answer<()> {
        make_ready(connection, self.access)?;
        self.statements.clear();
        let own = self.rules.table_of(self.number);
        for table in 0..self.rules.tables {
            let meets = table == own || (table == 0 && self.rules.hot_table_every > 0);
            let none = [None, None, None];
            let statements =
                if meets { prepare(connection, &self.schema, table, self.rules)? } else { none };
            self.statements.push(statements);
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
    fn step(&mut self, connection: &mut L) -> StepResult {
        let Some(step) = self.next.take() else {
            return StepResult::unchosen();
        };
        let answer = self.execute(connection, &step).and_then(|rows| {
            let words = || Failure::Protocol(format!("{rows} rows instead of {}", step.blocks));
            (rows == step.blocks).then_some(()).ok_or_else(words)
        });
        StepResult::once(place(step.work), step.blocks * self.block_bytes, answer)
    }
}

impl<L: Product> BlockSession<'_, L> {
    #[inline]
    fn execute(&mut self, connection: &mut L, step: &SlobStep) -> Answer<u64> {
        let table = usize::try_from(step.table).unwrap_or(0);
        let kinds = self.statements.get_mut(table);
        let Some(statement) = kinds.and_then(|kinds| kinds[place(step.work)].as_mut()) else {
            return Err(Failure::Protocol("a step without its statement".to_owned()));
        };
        if step.work == SlobWork::Update {
            TextSource::stamp(&mut self.text, self.number, step.number);
        }
        let (first, last) = (key(step.first_key), key(step.first_key + step.blocks - 1));
        connection.execute(statement, &values(first, last, &self.text))
    }
}

/// Place of a kind of step.
pub(super) const fn place(work: SlobWork) -> usize {
    match work {
        SlobWork::Read => 0,
        SlobWork::Update => 1,
        SlobWork::Scan => 2,
    }
}

/// A key as the server's integer.
#[inline]
fn key(key: u64) -> i64 {
    i64::try_from(key).unwrap_or(i64::MAX)
}
