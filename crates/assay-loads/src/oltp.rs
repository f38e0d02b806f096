//! The rules of an order-entry load in the manner of TPC-C: nine tables, five transactions, their
//! mix and their random choices, independent of the server.
//!
//! Source: TPC Benchmark C, standard specification, revision 5.11, clauses 1 (tables), 2
//! (transactions), 4.3 (population), 5.2 (mix and times). What is measured here is not a TPC result
//! and is never called one.

mod choice;
mod deck;
mod population;
mod session;
pub(crate) mod text;

pub use choice::{Choices, Constants};
pub use deck::{OltpKind, deck};
pub use population::{OltpTable, PopulationPart, fill_part, parts, rows_of};
pub use session::{
    NewOrder, OltpCustomer, OltpDelivery, OltpSession, OltpTransaction, OrderLine, OrderStatus,
    Payment, StockLevel,
};
pub use text::last_name;

use assay_model::{Error, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;
/// Customers of a district.
pub const CUSTOMERS: u32 = 3000;
/// Items, the same for all warehouses.
pub const ITEMS: u32 = 100_000;
/// Orders of a district after loading.
pub const ORDERS: u32 = 3000;
/// The first of them that is not delivered.
pub const FIRST_NEW_ORDER: u32 = 2101;
/// No item has this number: an order with it is rolled back.
pub const UNUSED_ITEM: u32 = ITEMS + 1;
/// Bytes on storage of a warehouse with its indexes, about, before it grows.
pub const WAREHOUSE_BYTES: u64 = 105 << 20;

/// Which warehouse a session works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Homes {
    // Sessions are dealt out over them in turn.
    /// One, always the same
    Home,
    /// A random one for each transaction, so that all data are used
    #[default]
    All,
}

/// The knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct OltpRules {
    /// Warehouses: the scale of the data.
    pub warehouses: u32,
    /// Which warehouse a session works for.
    pub homes: Homes,
    /// Keying and think times as a share of the specified ones; 0 for none.
    pub think_share: f64,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for OltpRules {
    fn default() -> Self {
        Self { warehouses: 1, homes: Homes::All, think_share: 0.0, seed: 1 }
    }
}

impl OltpRules {
    /// Refuses what means nothing.
    ///
    /// # Errors
    /// A usage error that names the knob.
    pub fn check(&self) -> Result<()> {
        if self.warehouses == 0 || self.warehouses > 100_000 {
            return Err(Error::usage(
                format!("--warehouses {} cannot be loaded", self.warehouses),
                "write 1 to 100000",
            ));
        }
        if !(0.0..=10.0).contains(&self.think_share) {
            return Err(Error::usage(
                "--think is not a share of the specified times",
                "write 0% for none or 100% for the specified ones",
            ));
        }
        Ok(())
    }

    /// Bytes on storage, about.
    pub fn data_bytes(&self) -> u64 {
        u64::from(self.warehouses).saturating_mul(WAREHOUSE_BYTES).saturating_add(32 << 20)
    }
}
