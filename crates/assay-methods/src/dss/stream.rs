//! One stream: a session that asks one query after the other, each timed, each within its limit.

use super::manifest::SCHEMA;
use super::refresh::{insert_new, remove_old};
use crate::load::Database;
use assay_loads::dss::{Choice, RefreshSet, Scale, order, text};
use assay_model::Result;
use assay_model::dss::{DssOutcome, DssQuery};
use assay_model::number::{count_of, narrow};
use assay_model::units::{Bytes, Nanos};
use assay_postgres::connection::{Connection, Interrupter, Row};
use assay_postgres::failure::{Answer, Failure};
use assay_postgres::processes::{Usage, usage};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

/// The server's word for a statement that was cancelled, here by its limit.
const CANCELLED: &str = "57014";

/// How much memory a session may use for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// For each sort and hash; the server's own choice where it is none.
    pub work: Option<Bytes>,
}

/// What every stream of a run is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// How large the tables are.
    pub scale: Scale,
    /// Where parameters come from.
    pub choice: Choice,
    /// The longest that a query may take.
    pub limit: Option<Nanos>,
    /// Processes that the server may use for a step of a query beside the session's own.
    pub parallel: u32,
    /// Memory of a session.
    pub memory: Memory,
}

/// What a stream does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// One stream alone: all queries, between the refresh functions of a set where there is one.
    Power(Option<u32>),
    /// The queries of a stream among several, from 1.
    Queries(u32),
    /// So many pairs of refresh functions from a set on.
    Refresh(u32, u32),
}

/// What a stream tells: something came to its end, with its answer.
pub(super) type Told = (DssQuery, Vec<Row>);

/// A session that is ready to begin.
pub(super) struct Stream {
    connection: Connection,
    work: Work,
    asked: Asked,
}

/// What a stream shares with the one who watches.
pub(super) struct Common<'a> {
    pub(super) begun: Instant,
    /// No further query.
    pub(super) done: &'a AtomicBool,
    pub(super) tell: Sender<Told>,
}

/// How a stream ended.
pub(super) struct Ended {
    /// What its process used, without the parallel ones that worked for it.
    pub(super) usage: Option<Usage>,
    /// Why it could not go on.
    pub(super) lost: Option<String>,
}

impl Stream {
    /// Opens a session as it is to ask.
    pub(super) fn open(database: &Database, work: Work, asked: Asked) -> Result<Self> {
        let mut connection = database.connect()?;
        let settings = settings(&asked);
        connection
            .run(&settings)
            .map_err(|failure| failure.of("choosing the settings of a session"))?;
        // Some versions lack one, and only some users may set the other; the result says what was timed.
        let _ = connection.run("SET client_connection_check_interval = '1s'");
        let _ = connection.run("SET track_io_timing = on");
        Ok(Self { connection, work, asked })
    }

    /// A handle that ends it from outside.
    pub(super) fn interrupter(&self) -> Option<Interrupter> {
        self.connection.interrupter().ok()
    }

    /// Does its work and closes the session.
    pub(super) fn work(mut self, common: &Common<'_>) -> Ended {
        let process = self.connection.facts().process_id;
        let before = usage(process);
        let lost = match self.work {
            Work::Power(set) => self.power(set, common),
            Work::Queries(stream) => self.queries(stream, common),
            Work::Refresh(first, pairs) => self.refreshes(first, pairs, common),
        };
        let after = usage(process);
        self.connection.close();
        Ended { usage: after.zip(before).map(|(after, before)| after.since(&before)), lost }
    }

    fn power(&mut self, set: Option<u32>, common: &Common<'_>) -> Option<String> {
        let inserted = set.and_then(|set| self.refresh("RF1", set, Some(0), common));
        let asked = inserted.or_else(|| self.queries(0, common));
        asked.or_else(|| set.and_then(|set| self.refresh("RF2", set, Some(0), common)))
    }

    /// All queries of a stream in its order; says why it could not go on.
    fn queries(&mut self, stream: u32, common: &Common<'_>) -> Option<String> {
        order(stream).iter().find_map(|query| {
            let parameters = self.asked.choice.of(*query, stream, self.asked.scale);
            let sql = text(*query, &parameters);
            self.timed(format!("Q{query}"), Some(stream), common, |connection| {
                let rows = connection.query(&sql)?;
                Ok((count_of(rows.len()), rows))
            })
        })
    }

    fn refreshes(&mut self, first: u32, pairs: u32, common: &Common<'_>) -> Option<String> {
        (first..first + pairs).find_map(|set| {
            let inserted = self.refresh("RF1", set, None, common);
            inserted.or_else(|| self.refresh("RF2", set, None, common))
        })
    }

    fn refresh(
        &mut self,
        name: &str,
        number: u32,
        stream: Option<u32>,
        common: &Common<'_>,
    ) -> Option<String> {
        let scale = self.asked.scale;
        let set = match RefreshSet::new(number) {
            Ok(set) => set,
            Err(error) => return Some(error.message().to_owned()),
        };
        let change = if name == "RF1" { insert_new } else { remove_old };
        self.timed(name.to_owned(), stream, common, |connection| {
            Ok((change(connection, set, number, scale)?, Vec::new()))
        })
    }

    /// Times one thing and tells of it; says why the stream cannot go on.
    fn timed(
        &mut self,
        name: String,
        stream: Option<u32>,
        common: &Common<'_>,
        work: impl FnOnce(&mut Connection) -> Answer<(u64, Vec<Row>)>,
    ) -> Option<String> {
        if common.done.load(Ordering::Relaxed) {
            return Some(String::new());
        }
        let started = common.begun.elapsed();
        let answer = work(&mut self.connection);
        let elapsed = common.begun.elapsed().saturating_sub(started);
        let (outcome, lost) = judged(answer.as_ref().err());
        if lost.is_some() && common.done.load(Ordering::Relaxed) {
            // What an interrupted session says is no news.
            return Some(String::new());
        }
        let (rows, answer) = answer.unwrap_or_default();
        let query = DssQuery {
            stream,
            name,
            started_ns: narrow(started.as_nanos()),
            elapsed_ns: narrow(elapsed.as_nanos()),
            rows,
            outcome,
        };
        // The one who watches listens until all have ended.
        let _ = common.tell.send((query, answer));
        lost
    }
}

/// What became of it, and why the session is lost where it is.
fn judged(failure: Option<&Failure>) -> (DssOutcome, Option<String>) {
    let Some(failure) = failure else {
        return (DssOutcome::Complete, None);
    };
    if failure.code() == Some(CANCELLED) {
        return (DssOutcome::OverLimit, None);
    }
    let reason = failure.to_string();
    (DssOutcome::Failed { reason: reason.clone() }, failure.is_lost().then_some(reason))
}

/// Settings of a session.
fn settings(asked: &Asked) -> String {
    let mut all = vec![
        format!("SET search_path = {SCHEMA}"),
        format!("SET max_parallel_workers_per_gather = {}", asked.parallel),
    ];
    if let Some(limit) = asked.limit {
        all.push(format!("SET statement_timeout = {}", limit.0.div_ceil(1_000_000).max(1)));
    }
    if let Some(work) = asked.memory.work {
        all.push(format!("SET work_mem = '{}kB'", (work.0 >> 10).max(64)));
    }
    all.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str) -> Failure {
        assay_postgres::failure::refused(code, "no")
    }

    #[test]
    fn a_cancelled_query_is_over_its_limit_and_the_stream_goes_on() {
        assert_eq!(judged(None), (DssOutcome::Complete, None));
        assert_eq!(judged(Some(&refused("57014"))), (DssOutcome::OverLimit, None));
        let (outcome, lost) = judged(Some(&refused("53100")));
        assert!(matches!(outcome, DssOutcome::Failed { .. }) && lost.is_none());
        assert!(judged(Some(&refused("57P01"))).1.is_some());
    }

    #[test]
    fn sessions_have_the_settings_that_were_asked() {
        let asked = Asked {
            scale: Scale::new(1.0).unwrap(),
            choice: Choice::Validation,
            limit: Some(Nanos(1_500_000)),
            parallel: 3,
            memory: Memory { work: Some(Bytes(64 << 20)) },
        };
        let all = settings(&asked);
        for wanted in ["per_gather = 3", "statement_timeout = 2", "work_mem = '65536kB'"] {
            assert!(all.contains(wanted), "{all}");
        }
        assert!(!settings(&Asked { limit: None, ..asked }).contains("timeout"));
    }
}
