//! The products whose servers are put under load.

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

impl fmt::Display for DatabaseProduct {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_documents() {
        for product in DatabaseProduct::ALL.into_iter().chain([DatabaseProduct::Unknown]) {
            let name = serde_json::to_string(&product).unwrap();
            assert_eq!(name, format!("\"{product}\""));
            assert_eq!(serde_json::from_str::<DatabaseProduct>(&name).unwrap(), product);
        }
    }
}
