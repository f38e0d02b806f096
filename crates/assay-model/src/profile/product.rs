//! The products whose counters and reports become profiles.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A database product, by its name in documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProfileProduct {
    /// Not known: the profile was written by hand.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// Oracle Database.
    Oracle,
    /// PostgreSQL.
    Postgresql,
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
    /// A simulated database host.
    Simulated,
}

impl ProfileProduct {
    /// Its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Oracle => "oracle",
            Self::Postgresql => "postgresql",
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
            Self::Simulated => "simulated",
        }
    }
}

impl ProfileProduct {
    /// Whether its commits are those of InnoDB.
    pub const fn is_innodb(self) -> bool {
        matches!(self, Self::Mariadb | Self::Mysql)
    }
}

impl fmt::Display for ProfileProduct {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_written_by_its_name_and_read_again() {
        for product in [
            ProfileProduct::Unknown,
            ProfileProduct::Oracle,
            ProfileProduct::Postgresql,
            ProfileProduct::Mariadb,
            ProfileProduct::Mysql,
            ProfileProduct::Simulated,
        ] {
            let text = serde_json::to_string(&product).unwrap();
            assert_eq!(text, format!("\"{product}\""));
            assert_eq!(serde_json::from_str::<ProfileProduct>(&text).unwrap(), product);
        }
    }
}
