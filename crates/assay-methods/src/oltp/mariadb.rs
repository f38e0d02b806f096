//! The order-entry load on MariaDB and MySQL: its transactions and what its conditions count.

mod conditions;
mod turn;

use super::store::OrderStore;
use crate::load::{Calls, Isolation, Link, MariaLink};
use assay_loads::oltp::Transaction;
use assay_model::failure::Answer;
use turn::Turn;

impl OrderStore for MariaLink {
    type Turn = Turn;

    const CONDITIONS: [&'static str; 12] = conditions::CONDITIONS;

    fn before_conditions(schema: &str) -> Vec<String> {
        conditions::TABLES.map(|sql| sql.replace("{s}", schema)).to_vec()
    }

    fn after_conditions(schema: &str) -> String {
        format!("DROP TABLE IF EXISTS {schema}.assay_lines, {schema}.assay_customers")
    }

    fn turn(&mut self, schema: &str, _calls: Calls, isolation: Isolation) -> Answer<Turn> {
        let isolation = isolation.name().to_uppercase();
        self.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))?;
        Turn::prepare(self, schema)
    }

    fn attempt(&mut self, turn: &mut Turn, transaction: &Transaction) -> Answer<bool> {
        let taken = turn.take(self, transaction);
        if taken.as_ref().is_err_and(|failure| !failure.is_lost()) {
            self.run("ROLLBACK")?;
        }
        taken
    }
}
