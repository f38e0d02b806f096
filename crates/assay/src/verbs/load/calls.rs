//! How transactions reach the server: as an option, and what it means on a product.

use super::server::ProductName;
use assay_methods::load::Calls;
use assay_model::{Error, Result};
use clap::ValueEnum;

/// The words for statements of a server that answers each before it takes the next.
const ONE_BY_ONE: &str = "prepared statements, one after the other (stmt)";

/// How transactions reach the server.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CallsOption {
    /// Functions of the server (PostgreSQL only): one turn of the wire each
    Proc,
    /// Prepared statements: on PostgreSQL they travel together as far as none needs what another finds; on MariaDB a turn each
    Stmt,
}

/// What was chosen, or what a product takes by itself, with the words for it.
///
/// # Errors
/// A usage error where the product has no functions.
pub fn chosen(product: ProductName, asked: Option<CallsOption>) -> Result<(Calls, &'static str)> {
    match (product, asked) {
        (ProductName::Postgres, Some(CallsOption::Stmt)) => {
            Ok((Calls::Statements, Calls::Statements.name()))
        }
        (ProductName::Postgres, _) => Ok((Calls::Functions, Calls::Functions.name())),
        (ProductName::Mariadb, Some(CallsOption::Proc)) => Err(no_functions()),
        (ProductName::Mariadb, _) => Ok((Calls::Statements, ONE_BY_ONE)),
    }
}

/// Functions are asked for where there are none.
fn no_functions() -> Error {
    Error::usage(
        "--calls proc: the transactions are functions of PostgreSQL only",
        "leave it out with MariaDB and MySQL: their transactions are prepared statements",
    )
}
