//! The products whose servers are put under load, and the dialects that they have in common: what
//! every room must know of a product stands here.

use crate::measurement::BackendKind;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A product, by the name that it has for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum DatabaseProduct {
    /// Not known: the load ended before its server was asked.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// PostgreSQL.
    #[serde(rename = "PostgreSQL")]
    Postgres,
    /// MariaDB.
    #[serde(rename = "MariaDB")]
    MariaDb,
    /// MySQL.
    #[serde(rename = "MySQL")]
    MySql,
}

impl DatabaseProduct {
    /// All products that loads run on.
    pub const ALL: [Self; 3] = [Self::Postgres, Self::MariaDb, Self::MySql];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Postgres => "PostgreSQL",
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
        }
    }
}

/// Products with one protocol and one SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// PostgreSQL
    #[value(aliases = ["postgresql", "pg"])]
    Postgres,
    /// MariaDB, or MySQL behind an address
    #[value(alias = "mysql")]
    Mariadb,
}

/// What is known of a dialect.
#[derive(Debug)]
pub struct DialectFacts {
    /// Its products, in words.
    pub products: &'static str,
    /// How addresses of its servers begin.
    schemes: &'static [&'static str],
    /// How those without a scheme begin.
    pairs: &'static [&'static str],
    /// What an address looks like.
    pub example: &'static str,
    /// A file that its servers make in the directory of a managed server.
    pub data_file: &'static str,
    /// Who issues the I/Os of a load on it.
    pub backend: BackendKind,
    /// What stands around a name that needs quotes.
    pub quote: char,
    /// Whether a load creates functions on it; else it may create procedures.
    pub has_functions: bool,
}

const POSTGRES: DialectFacts = DialectFacts {
    products: "PostgreSQL",
    schemes: &["postgresql://", "postgres://", "jdbc:postgresql://"],
    pairs: &["host=", "hostaddr=", "dbname=", "user=", "port=", "service="],
    example: "postgresql://USER@HOST/DATABASE",
    data_file: "data/PG_VERSION",
    backend: BackendKind::Postgresql,
    quote: '"',
    has_functions: true,
};

const MARIADB: DialectFacts = DialectFacts {
    products: "MariaDB and MySQL",
    schemes: &["mysql://", "mariadb://", "jdbc:mysql://", "jdbc:mariadb://"],
    pairs: &[],
    example: "mysql://USER@HOST/",
    data_file: "data/ibdata1",
    backend: BackendKind::Mariadb,
    quote: '`',
    has_functions: false,
};

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Postgres, Self::Mariadb];

    /// What is known of it.
    pub const fn facts(self) -> &'static DialectFacts {
        match self {
            Self::Postgres => &POSTGRES,
            Self::Mariadb => &MARIADB,
        }
    }

    /// What stands behind the scheme of an address of its servers.
    pub fn behind_scheme(self, text: &str) -> Option<&str> {
        self.facts().schemes.iter().find_map(|scheme| text.strip_prefix(scheme))
    }

    /// The dialect of the server that a text is meant as the address of; none where it is a path.
    pub fn of_address(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| {
            let pairs = known.facts().pairs;
            known.behind_scheme(text).is_some() || pairs.iter().any(|pair| text.starts_with(pair))
        })
    }
}

impl fmt::Display for DatabaseProduct {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_known_by_its_names_and_by_addresses_and_written_by_its_own() {
        for dialect in Dialect::ALL {
            let facts = dialect.facts();
            let typed = dialect.to_possible_value().unwrap();
            assert_eq!(serde_json::to_value(dialect).unwrap(), typed.get_name());
            assert_eq!(Dialect::of_address(facts.example), Some(dialect));
        }
        for (address, dialect) in [
            ("postgres:///x", Some(Dialect::Postgres)),
            ("hostaddr=::1 dbname=x", Some(Dialect::Postgres)),
            ("mariadb://root@h/", Some(Dialect::Mariadb)),
            ("/mnt/data", None),
            ("oracle://h", None),
        ] {
            assert_eq!(Dialect::of_address(address), dialect, "{address}");
        }
    }

    #[test]
    fn names_are_those_of_documents() {
        for product in DatabaseProduct::ALL.into_iter().chain([DatabaseProduct::Unknown]) {
            let name = serde_json::to_string(&product).unwrap();
            assert_eq!(name, format!("\"{product}\""));
            assert_eq!(serde_json::from_str::<DatabaseProduct>(&name).unwrap(), product);
        }
    }
}
