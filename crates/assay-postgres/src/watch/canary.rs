//! A canary: an Assay session that reads one random block of a table at a modest rate, whatever
//! else runs, and has the server time it. A server has no histogram of its reads; this is one with
//! a known number of them.

use super::link::{MANNERS, NAME, PATIENCE};
use crate::address::PostgresAddress;
use crate::connection::{Execution, PostgresConnection, PostgresPrepared, Row, SYSTEM_NAMES};
use crate::failure::Answer;
use crate::model::OwnReads;
use assay_live::watch::{rest, spread, thread_cpu_s};
use assay_model::number::seconds;
use assay_model::profile::{ReadObserver, ReadTimes};
use assay_model::{Histogram, Precision, Result};
use assay_stats::random::Random;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Distance of two reads: 20 a second do not load anything that is worth measuring.
const EVERY: Duration = Duration::from_millis(50);
/// A number of a row as the server takes it: its block and its place there.
const ROW_NUMBER_BYTES: usize = 6;
/// A table, and how many blocks it has: the largest that this account may read.
const LARGEST: &str = "SELECT /* assay */ format('%I.%I', n.nspname, c.relname), \
                       pg_relation_size(c.oid) / current_setting('block_size')::int8 FROM \
                       pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = \
                       'r' AND c.relpersistence = 'p' AND n.nspname NOT IN ('pg_catalog', \
                       'information_schema') AND has_schema_privilege(n.oid, 'USAGE') AND \
                       has_table_privilege(c.oid, 'SELECT') AND NOT c.relrowsecurity ORDER BY \
                       c.relpages DESC, 2 DESC LIMIT 1";

/// The session with its statement.
#[derive(Debug)]
pub struct Canary {
    connection: PostgresConnection,
    statement: PostgresPrepared,
    table: String,
    blocks: u64,
}

/// What it saw, and what it cost the server.
#[derive(Debug)]
pub struct CanaryTimes {
    /// Times of random blocks, and of the same ones again.
    pub times: Vec<ReadTimes>,
    /// Time that its statements took, seconds.
    pub own_time_s: f64,
    /// CPU time of its thread, seconds.
    pub own_cpu_s: f64,
    /// Its statements.
    pub own_statements: u64,
    /// What it read past the server's cache.
    pub own_reads: OwnReads,
    /// Why it ended early.
    pub lost: Option<String>,
}

impl Canary {
    /// Connects and chooses the largest table; `None` where this account may read none.
    pub fn open(address: &PostgresAddress) -> Result<Option<Self>> {
        let failed =
            |failure: crate::failure::Failure| failure.of("preparing the reader of single blocks");
        let mut connection = PostgresConnection::open(address, NAME).map_err(failed)?;
        Self::prepare(&mut connection).map_err(failed).map(|found| {
            found.map(|(table, blocks, statement)| Self { connection, statement, table, blocks })
        })
    }

    fn prepare(
        connection: &mut PostgresConnection,
    ) -> Answer<Option<(String, u64, PostgresPrepared)>> {
        connection.wait_at_most(PATIENCE)?;
        connection.run(SYSTEM_NAMES)?;
        connection.run(MANNERS)?;
        let row = connection.query(LARGEST)?.into_iter().next();
        let found = row.and_then(|row: Row| Some((row.text(0).to_owned(), row.count(1)?)));
        let Some((table, blocks)) = found.filter(|(_, blocks)| *blocks > 0) else {
            return Ok(None);
        };
        // The row says how long the server had worked on the statement when it had the row, by the
        // server's clock.
        let sql = format!(
            "SELECT /* assay */ (1e9 * extract(epoch FROM clock_timestamp() - \
             statement_timestamp()))::bigint FROM {table} WHERE ctid >= $1 AND ctid < $2 LIMIT 1"
        );
        let statement = connection.prepare("assay_canary", &sql, &[ROW_NUMBER_BYTES; 2])?;
        Ok(Some((table, blocks, statement)))
    }

    /// The process that serves it.
    pub fn process_id(&self) -> u32 {
        self.connection.facts().process_id
    }

    /// Reads until it is stopped: each block twice, the second time from the server's cache.
    pub fn read_until(mut self, stop: &AtomicBool) -> CanaryTimes {
        let new = |seen_by| ReadTimes {
            seen_by,
            subject: self.table.clone(),
            error_share: 0.001,
            service: Histogram::new(Precision::Fine),
        };
        let mut times = [new(ReadObserver::Canary), new(ReadObserver::CanaryCached)];
        let mut random = Random::new(u64::from(self.process_id()));
        let cpu_s = thread_cpu_s();
        let (mut own_ns, mut own_statements) = (0_u64, 0_u64);
        let mut own_reads = OwnReads::default();
        let (mut lost, mut due) = (None, Instant::now());
        while !stop.load(Ordering::Relaxed) && lost.is_none() {
            self.choose(random.below(self.blocks));
            let mut pair_ns = [0, 0];
            for (seen, time_ns) in times.iter_mut().zip(&mut pair_ns) {
                match self.connection.execute(&self.statement) {
                    // A block without a visible row says nothing.
                    Ok(Execution { count: 0 }) => {}
                    Ok(Execution { count }) => {
                        seen.service.record(count);
                        *time_ns = count;
                    }
                    Err(failure) => lost = Some(failure.to_string()),
                }
                own_statements += 1;
            }
            own_ns = own_ns.saturating_add(pair_ns.iter().sum());
            let [first_ns, again_ns] = pair_ns;
            own_reads.add(first_ns, again_ns);
            due = spread(due, EVERY, &mut random);
            rest(due, stop);
        }
        self.connection.close();
        let times = times.into_iter().filter(|seen| !seen.service.is_empty()).collect();
        let own_cpu_s = thread_cpu_s() - cpu_s;
        let own_time_s = seconds(own_ns);
        CanaryTimes { times, own_time_s, own_cpu_s, own_statements, own_reads, lost }
    }

    /// The rows of a block, of which the first one that is visible is taken.
    fn choose(&mut self, block: u64) {
        for (parameter, block) in [(0, block), (1, block + 1)] {
            let mut number = [0_u8; ROW_NUMBER_BYTES];
            let block = u32::try_from(block).unwrap_or(u32::MAX);
            number[..4].copy_from_slice(&block.to_be_bytes());
            self.statement.set(parameter, &number);
        }
    }
}
