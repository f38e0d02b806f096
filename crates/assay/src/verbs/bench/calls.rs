//! The option that says how transactions reach the server.

use assay_app::load::call_mode::CallMode;
use clap::ValueEnum;

/// How transactions reach the server.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CallsOption {
    /// Functions of PostgreSQL, procedures of MariaDB and MySQL (order entry only): one network round trip each
    Proc,
    /// Prepared statements, sent together as long as none needs the result of another
    Stmt,
}

impl From<CallsOption> for CallMode {
    fn from(option: CallsOption) -> Self {
        match option {
            CallsOption::Proc => Self::ServerSide,
            CallsOption::Stmt => Self::ClientSide,
        }
    }
}
