//! One stream: a session that asks one query after the other, each timed, each within its limit.

use super::query_settings::{QuerySettings, ending, is_over_limit};
use super::refresh::Refresh;
use crate::load::{LoadSchema, Product};
use assay_dbserver::{CpuUsage, Interrupter};
use assay_loads::dss::{RefreshSet, order, text};
use assay_model::Result;
use assay_model::dss::{DssOutcome, DssQuery};
use assay_model::failure::{Answer, Failure};
use assay_model::load::DatabaseProduct;
use assay_model::number::{count_of, narrow};
use assay_model::row::Row;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

/// What a stream does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamWork {
    /// One stream alone: all queries, between the refresh functions of a set where there is one.
    Power(Option<u32>),
    /// The queries of a stream among several, from 1.
    Queries(u32),
    /// Pairs of refresh functions: the first set, and their number.
    Refresh(u32, u32),
}

/// What a stream reports: a query or refresh that has ended, with its answer.
pub(super) type QueryRecord = (DssQuery, Vec<Row>);

/// A session that is ready to begin.
pub(super) struct QueryStream<L> {
    connection: L,
    product: DatabaseProduct,
    schema: String,
    /// The statement by which another session ends it.
    ending: Option<String>,
    work: StreamWork,
    asked: QuerySettings,
}

/// What a stream shares with the one who watches.
pub(super) struct StreamCommon<'a> {
    pub(super) started: Instant,
    /// No further query.
    pub(super) done: &'a AtomicBool,
    pub(super) sender: Sender<QueryRecord>,
}

/// How a stream ended.
pub(super) struct EndedQuery {
    /// What its process used, without the parallel ones that worked for it.
    pub(super) usage: Option<CpuUsage>,
    /// Why it could not go on.
    pub(super) lost: Option<String>,
}

impl<L: Product> QueryStream<L> {
    /// Opens a session as it is to ask.
    pub(super) fn open(
        database: &LoadSchema<L>,
        work: StreamWork,
        asked: QuerySettings,
    ) -> Result<Self> {
        let (mut connection, product) = (database.connect()?, database.facts.product);
        let schema = database.schema.clone();
        let applied = asked.apply(&mut connection, product, &schema);
        let ending = applied.and_then(|()| ending(&mut connection));
        let ending = ending.map_err(|failure| failure.of("choosing the settings of a session"))?;
        Ok(Self { connection, product, schema, ending, work, asked })
    }

    /// A handle that ends it from outside.
    pub(super) fn interrupter(&self) -> Option<Interrupter> {
        self.connection.interrupter().ok()
    }

    /// The statement by which another session ends it.
    pub(super) fn ending(&self) -> Option<String> {
        self.ending.clone()
    }

    /// Does its work and closes the session.
    pub(super) fn work(mut self, common: &StreamCommon<'_>) -> EndedQuery {
        let before = self.connection.usage();
        let lost = match self.work {
            StreamWork::Power(set) => self.power(set, common),
            StreamWork::Queries(stream) => self.queries(stream, common),
            StreamWork::Refresh(first, pairs) => self.refreshes(first, pairs, common),
        };
        let after = self.connection.usage();
        self.connection.close();
        EndedQuery { usage: after.zip(before).map(|(after, before)| after.since(&before)), lost }
    }

    fn power(&mut self, set: Option<u32>, common: &StreamCommon<'_>) -> Option<String> {
        let inserted = set.and_then(|set| self.refresh("RF1", set, Some(0), common));
        let asked = inserted.or_else(|| self.queries(0, common));
        asked.or_else(|| set.and_then(|set| self.refresh("RF2", set, Some(0), common)))
    }

    /// All queries of a stream in its order; says why it could not go on.
    fn queries(&mut self, stream: u32, common: &StreamCommon<'_>) -> Option<String> {
        order(stream).iter().find_map(|query| {
            let parameters = self.asked.choice.of(*query, stream, self.asked.scale);
            let sql = self.asked.limited(text(*query, &parameters), self.product);
            self.timed(format!("Q{query}"), Some(stream), common, |connection| {
                let rows = connection.query(&sql)?;
                Ok((count_of(rows.len()), rows))
            })
        })
    }

    fn refreshes(&mut self, first: u32, pairs: u32, common: &StreamCommon<'_>) -> Option<String> {
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
        common: &StreamCommon<'_>,
    ) -> Option<String> {
        let scale = self.asked.scale;
        let set = match RefreshSet::new(number) {
            Ok(set) => set,
            Err(error) => return Some(error.message().to_owned()),
        };
        let change = if name == "RF1" { Refresh::insert_new } else { Refresh::remove_old };
        let schema = self.schema.clone();
        let refresh = Refresh { schema: &schema, set, number, scale };
        self.timed(name.to_owned(), stream, common, |connection| {
            Ok((change(refresh, connection)?, Vec::new()))
        })
    }

    /// Times one query or refresh and reports it; returns why the stream cannot go on.
    fn timed(
        &mut self,
        name: String,
        stream: Option<u32>,
        common: &StreamCommon<'_>,
        work: impl FnOnce(&mut L) -> Answer<(u64, Vec<Row>)>,
    ) -> Option<String> {
        if common.done.load(Ordering::Relaxed) {
            return Some(String::new());
        }
        let started = common.started.elapsed();
        let answer = work(&mut self.connection);
        let elapsed = common.started.elapsed().saturating_sub(started);
        let (outcome, lost) = judged(answer.as_ref().err());
        if lost.is_some() && common.done.load(Ordering::Relaxed) {
            // What an interrupted session says adds nothing.
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
        let _ = common.sender.send((query, answer));
        lost
    }
}

/// What became of it, and why the session is lost where it is.
fn judged(failure: Option<&Failure>) -> (DssOutcome, Option<String>) {
    let Some(failure) = failure else {
        return (DssOutcome::Complete, None);
    };
    if is_over_limit(failure) {
        return (DssOutcome::OverLimit, None);
    }
    let reason = failure.to_string();
    (DssOutcome::Failed { reason: reason.clone() }, failure.is_lost().then_some(reason))
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
}
