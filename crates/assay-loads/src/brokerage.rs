//! The rules of a brokerage load in the manner of TPC-E: 33 tables, twelve transactions with those
//! of the market, their mix and their random choices, independent of the server.
//!
//! Sources: the published descriptions of TPC-E (numbers of tables, their cardinalities,
//! transactions and mix; Chen et al., "TPC-E vs. TPC-C", SIGMOD Record 39(3), 2010). Names, word
//! lists, distributions and code are our own; nothing is taken from the generator of the TPC. What
//! is measured here is not a TPC result and is never called one.

mod customers;
mod fixed;
mod market;
mod rules;
mod securities;
mod session;
mod tables;
mod trades;

pub use market::{Market, MarketDue, MarketOrder, MarketTick};
pub use rules::{
    BrokerageRules, MAINTAINED, MIXES, OPENING_BALANCE_CENTS, POOL, PRICE_DAYS, UNIT,
    UNIT_ACCOUNTS, UNIT_TRADES_A_DAY, mix_of,
};
pub use session::{
    BrokerVolume, BrokerageCustomer, BrokerageSession, BrokerageTransaction, DataMaintenance,
    Detail, Lookup, MarketWatch, Position, TradeOrder, TradeUpdate, WatchScope,
};
pub use tables::{BrokerageTable, fill, rows_of};

impl BrokerageRules {
    /// The first opening of the market before loading, microseconds since 1970.
    pub const fn opened_us(&self, loaded_us: i64) -> i64 {
        trades::opened_us(self, loaded_us)
    }

    /// The last day that has prices, counted from 1970.
    pub fn last_price_day(loaded_us: i64) -> i32 {
        securities::price_day(loaded_us, 0)
    }
}
