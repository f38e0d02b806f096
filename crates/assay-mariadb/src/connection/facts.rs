//! What a server says of itself at the login.

use assay_model::load::DatabaseProduct;

/// What newer servers write before their version, for the sake of old clients.
const DISGUISE: &str = "5.5.5-";

/// What the server is, as it said at the login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariadbFacts {
    /// MariaDB or MySQL.
    pub product: DatabaseProduct,
    /// For example `10.11.19`.
    pub version: String,
    /// Number of this session.
    pub session: u32,
}

impl MariadbFacts {
    pub(super) fn of(version: &str, session: u32) -> Self {
        let is_mariadb = version.contains("MariaDB");
        let plain = version.strip_prefix(DISGUISE).unwrap_or(version);
        let plain = plain.split('-').next().unwrap_or(plain);
        let product = if is_mariadb { DatabaseProduct::MariaDb } else { DatabaseProduct::MySql };
        Self { product, version: plain.to_owned(), session }
    }

    /// Major and minor version, for example 10 and 11; 0 where they cannot be read.
    pub fn release(&self) -> (u32, u32) {
        let mut numbers = self.version.split('.').map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// Whether it is MariaDB.
    pub fn is_mariadb(&self) -> bool {
        self.product == DatabaseProduct::MariaDb
    }
}
