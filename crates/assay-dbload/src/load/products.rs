//! The products that loads run on, where they stand side by side: what each says, its address and
//! its programs.

use assay_dbserver::ServerProgram;
use assay_model::Result;
use assay_model::load::Dialect;
use std::fmt;

/// What each dialect says of something.
pub(crate) struct ByDialect<T> {
    pub postgres: T,
    pub mariadb: T,
}

impl<T> ByDialect<T> {
    /// What one of them says.
    pub(crate) const fn of(&self, dialect: Dialect) -> &T {
        match dialect {
            Dialect::Postgres => &self.postgres,
            Dialect::Mariadb => &self.mariadb,
        }
    }
}

/// The way to a server, and who asks.
#[derive(Clone)]
pub enum ServerAddress {
    /// PostgreSQL.
    Postgres(Box<assay_postgres::address::PostgresAddress>),
    /// MariaDB or MySQL.
    Mariadb(Box<assay_mariadb::address::MariadbAddress>),
}

/// An expression with the address inside, whichever it is.
macro_rules! whichever {
    ($server:expr, $address:ident => $then:expr) => {
        match $server {
            Self::Postgres($address) => $then,
            Self::Mariadb($address) => $then,
        }
    };
}

impl ServerAddress {
    /// Reads an address of a dialect; what it leaves out comes from the environment.
    pub(super) fn read(dialect: Dialect, text: &str) -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        Ok(match dialect {
            Dialect::Postgres => Self::Postgres(Box::new(
                assay_postgres::address::PostgresAddress::parse(text, variable)?,
            )),
            Dialect::Mariadb => Self::Mariadb(Box::new(
                assay_mariadb::address::MariadbAddress::parse(text, variable)?,
            )),
        })
    }

    /// Its dialect.
    pub const fn dialect(&self) -> Dialect {
        match self {
            Self::Postgres(_) => Dialect::Postgres,
            Self::Mariadb(_) => Dialect::Mariadb,
        }
    }

    /// The password of who asks.
    pub(super) fn password(&self) -> Option<&str> {
        whichever!(self, address => address.password.as_deref())
    }

    /// The same address with another password.
    pub(super) fn set_password(&mut self, password: String) {
        whichever!(self, address => address.password = Some(password));
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        whichever!(self, address => address.fmt(formatter))
    }
}

/// Names of the processes of servers that may have been left behind, whatever their product.
pub(super) fn programs() -> Vec<&'static str> {
    let postgres = assay_postgres::server::PostgresServer::PROGRAMS.iter();
    postgres.chain(assay_mariadb::server::MariadbServer::PROGRAMS).copied().collect()
}
