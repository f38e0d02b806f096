//! How transactions reach the server: as it is planned, and what it means on a product.

use assay_dbload::load::{Calls, Dialect};
use assay_model::{Error, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How transactions reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum CallMode {
    /// Functions of PostgreSQL, procedures of MariaDB and MySQL (order entry only): one network
    /// round trip each
    #[value(name = "proc")]
    #[serde(rename = "proc")]
    ServerSide,
    /// Prepared statements, sent together unless one needs the result of another
    #[value(name = "stmt")]
    #[serde(rename = "stmt")]
    ClientSide,
}

/// What was chosen, or what a load takes by itself on servers of a dialect, with the words for it;
/// `routines` are those for transactions that are a single call there.
///
/// # Errors
/// A usage error where the load has no such calls.
pub fn chosen(
    dialect: Dialect,
    routines: Option<&'static str>,
    asked: Option<CallMode>,
) -> Result<(Calls, &'static str)> {
    use CallMode::{ClientSide, ServerSide};
    match (asked, routines) {
        (None | Some(ServerSide), Some(words)) => Ok((Calls::Functions, words)),
        (Some(ServerSide), None) => Err(no_procedures(dialect)),
        (Some(ClientSide), _) | (None, None) => Ok((Calls::Statements, Calls::Statements.name())),
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
            "--calls proc: a ledger needs the identity of each transaction, which functions and \
             procedures do not record",
            "leave it out: with a ledger transactions are prepared statements",
        )),
    }
}

/// Procedures are asked for where there are none.
fn no_procedures(dialect: Dialect) -> Error {
    let products = dialect.facts().products;
    Error::usage(
        "--calls proc: the transactions of this load are functions of PostgreSQL only",
        format!("leave it out with {products}: its transactions are prepared statements there"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_dbload::{brokerage, oltp};

    #[test]
    fn a_load_takes_procedures_where_it_has_them_and_refuses_them_elsewhere() {
        use CallMode::{ClientSide, ServerSide};
        use Dialect::{Mariadb, Postgres};
        type Routines = fn(Dialect) -> Option<&'static str>;
        let (of_postgres, of_both): (Routines, Routines) = (brokerage::routines, oltp::routines);
        for (dialect, routines, asked, words) in [
            (Postgres, of_postgres, None, "functions"),
            (Postgres, of_both, Some(ServerSide), "functions"),
            (Postgres, of_both, Some(ClientSide), "pipelined"),
            (Mariadb, of_both, None, "procedures"),
            (Mariadb, of_both, Some(ServerSide), "procedures"),
            (Mariadb, of_both, Some(ClientSide), "pipelined"),
            (Mariadb, of_postgres, None, "pipelined"),
            (Mariadb, of_postgres, Some(ClientSide), "pipelined"),
        ] {
            let (calls, said) = chosen(dialect, routines(dialect), asked).unwrap();
            assert!(said.contains(words), "{said}");
            assert_eq!(calls == Calls::Functions, said.contains("proc"), "{said}");
        }
        assert!(chosen(Mariadb, of_postgres(Mariadb), Some(ServerSide)).is_err());
    }
}
