//! How transactions reach the server: as it is planned, and what it means on a product.

use super::server_plan::ProductName;
use assay_dbload::load::Calls;
use assay_model::{Error, Result};
use serde::{Deserialize, Serialize};

/// The words for functions that give nothing back but what they give out.
const PROCEDURES: &str = "procedures of the server (proc)";

/// How transactions reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallMode {
    /// Functions of PostgreSQL, procedures of MariaDB and MySQL (order entry only): one network round trip each.
    #[serde(rename = "proc")]
    ServerSide,
    /// Prepared statements: they travel together as far as none needs what another finds.
    #[serde(rename = "stmt")]
    ClientSide,
}

/// Where the transactions of a load are written as functions or procedures, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Routines {
    /// On PostgreSQL alone.
    OfPostgres,
    /// On MariaDB and MySQL, too.
    OfBoth,
}

/// What was chosen, or what a load takes by itself on a product, with the words for it.
///
/// # Errors
/// A usage error where the load has no procedures on the product.
pub fn chosen(
    product: ProductName,
    routines: Routines,
    asked: Option<CallMode>,
) -> Result<(Calls, &'static str)> {
    use CallMode::{ClientSide, ServerSide};
    match (product, asked, routines) {
        (ProductName::Postgres, None | Some(ServerSide), _) => {
            Ok((Calls::Functions, Calls::Functions.name()))
        }
        (ProductName::Mariadb, None | Some(ServerSide), Routines::OfBoth) => {
            Ok((Calls::Functions, PROCEDURES))
        }
        (ProductName::Mariadb, Some(ServerSide), Routines::OfPostgres) => Err(no_procedures()),
        (_, Some(ClientSide), _) | (ProductName::Mariadb, None, Routines::OfPostgres) => {
            Ok((Calls::Statements, Calls::Statements.name()))
        }
    }
}

/// What was chosen where transactions leave their identity: statements alone do that.
///
/// # Errors
/// A usage error where functions or procedures are asked for.
pub fn chosen_with_identity(asked: Option<CallMode>) -> Result<(Calls, &'static str)> {
    match asked {
        None | Some(CallMode::ClientSide) => Ok((Calls::Statements, Calls::Statements.name())),
        Some(CallMode::ServerSide) => Err(Error::usage(
            "--calls proc: with a ledger each transaction leaves its identity, which functions and procedures do not",
            "leave it out: with a ledger transactions are prepared statements",
        )),
    }
}

/// Procedures are asked for where there are none.
fn no_procedures() -> Error {
    Error::usage(
        "--calls proc: the transactions of this load are functions of PostgreSQL only",
        "leave it out with MariaDB and MySQL: its transactions are prepared statements there",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_takes_procedures_where_it_has_them_and_refuses_them_elsewhere() {
        use CallMode::{ClientSide, ServerSide};
        use ProductName::{Mariadb, Postgres};
        use Routines::{OfBoth, OfPostgres};
        for (product, routines, asked, words) in [
            (Postgres, OfPostgres, None, "functions"),
            (Postgres, OfBoth, Some(ServerSide), "functions"),
            (Postgres, OfBoth, Some(ClientSide), "pipelined"),
            (Mariadb, OfBoth, None, "procedures"),
            (Mariadb, OfBoth, Some(ServerSide), "procedures"),
            (Mariadb, OfBoth, Some(ClientSide), "pipelined"),
            (Mariadb, OfPostgres, None, "pipelined"),
            (Mariadb, OfPostgres, Some(ClientSide), "pipelined"),
        ] {
            let (calls, said) = chosen(product, routines, asked).unwrap();
            assert!(said.contains(words), "{said}");
            assert_eq!(calls == Calls::Functions, said.contains("proc"), "{said}");
        }
        assert!(chosen(Mariadb, OfPostgres, Some(ServerSide)).is_err());
    }
}
