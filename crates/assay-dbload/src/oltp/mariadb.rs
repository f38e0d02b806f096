//! The order-entry load on MariaDB and MySQL: its transactions and what its conditions count.

mod calls;
mod conditions;
pub(super) mod procedures;
mod rows;
mod statements;
mod turn;

use super::store::OrderStore;
use crate::load::{Calls, Isolation, Link, MariaLink, check_rows_of_json, none_open};
use assay_loads::oltp::Transaction;
use assay_model::Result;
use assay_model::failure::Answer;
use calls::Procedures;
use turn::Statements;

/// What a session keeps between its transactions.
pub enum Turn {
    /// Calls of procedures.
    Procedures(Procedures),
    /// Statements.
    Statements(Box<Statements>),
}

impl OrderStore for MariaLink {
    type Turn = Turn;

    const CONDITIONS: [&'static str; 12] = conditions::CONDITIONS;

    fn check_orders(&self) -> Result<()> {
        check_rows_of_json(self)
    }

    fn before_conditions(schema: &str) -> Vec<String> {
        conditions::TABLES.map(|sql| sql.replace("{s}", schema)).to_vec()
    }

    fn after_conditions(schema: &str) -> String {
        format!("DROP TABLE IF EXISTS {schema}.assay_lines, {schema}.assay_customers")
    }

    fn turn(&mut self, schema: &str, calls: Calls, isolation: Isolation) -> Answer<Turn> {
        let isolation = isolation.name().to_uppercase();
        self.run(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"))?;
        Ok(match calls {
            Calls::Functions => {
                Turn::Procedures(Procedures::prepare(&mut self.connection, schema)?)
            }
            Calls::Statements => {
                Turn::Statements(Box::new(Statements::prepare(&mut self.connection, schema)?))
            }
        })
    }

    fn attempt(&mut self, turn: &mut Turn, transaction: &Transaction) -> Answer<bool> {
        let taken = match turn {
            Turn::Procedures(procedures) => procedures.call(&mut self.connection, transaction),
            Turn::Statements(statements) => statements.take(&mut self.connection, transaction),
        };
        // A procedure has rolled back itself, unless it was not called at all.
        none_open(self, taken)
    }
}
