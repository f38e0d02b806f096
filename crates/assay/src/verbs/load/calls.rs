//! How transactions reach the server, as an option.

use assay_model::Error;
use clap::ValueEnum;

/// The words for statements of a server that answers each before it takes the next.
pub const ONE_BY_ONE: &str = "prepared statements, one after the other (stmt)";

/// How transactions reach the server.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CallsOption {
    /// Functions of the server (PostgreSQL only): one turn of the wire each
    Proc,
    /// Prepared statements: on PostgreSQL they travel together as far as none needs what another finds; on MariaDB a turn each
    Stmt,
}

/// Functions are asked for where there are none.
pub fn no_functions() -> Error {
    Error::usage(
        "--calls proc: the transactions are functions of PostgreSQL only",
        "leave it out with MariaDB and MySQL: their transactions are prepared statements",
    )
}
