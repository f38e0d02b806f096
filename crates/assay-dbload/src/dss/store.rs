//! What this load needs of a product beyond its tables: sessions that ask within limits.

use super::query_settings::QuerySettings;
use crate::load::{Database, TableStore};
use assay_dbserver::Usage;
use assay_loads::dss::Table;
use assay_model::failure::{Answer, Failure};
use assay_model::units::Nanos;

/// How a product asks the tables of this load.
pub trait DssStore: TableStore {
    /// Removes the rows that meet a condition; how many there were.
    fn remove(&mut self, table: Table, condition: &str) -> Answer<u64>;

    /// Processes that the server has for parallel steps of all sessions together; none where it does not say, or has
    /// none.
    fn parallel_max(&mut self) -> Option<u32>;

    /// Makes a managed server fit for large queries, and adds the settings that matter for them to its facts.
    fn tune(database: &mut Database<Self>) -> Answer<()>;

    /// Makes a session one that asks.
    fn ready_to_ask(&mut self, asked: &QuerySettings) -> Answer<()>;

    /// The text of a query that has a limit, where the limit is not one of the session.
    fn limited(&self, sql: String, limit: Option<Nanos>) -> String;

    /// Whether a query was cancelled by its limit.
    fn is_over_limit(failure: &Failure) -> bool;

    /// The statement by which another session ends this one in the middle of a query; none where the server sees by
    /// itself that nobody waits any more.
    fn ending(&self) -> Option<String>;

    /// What all processes of a server used, those among them that have ended.
    fn whole_usage(first_process: u32) -> Option<Usage>;
}
