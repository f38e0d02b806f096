//! The mix of a brokerage load: how many of a thousand transactions are of which kind. The document
//! `*.mix.toml`.

use crate::document::parse_toml;
use crate::units::Nanos;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Cards of a deck at most: a deck is dealt to its end before it is shuffled again.
const CARDS_MAX: u32 = 10_000;

/// The transactions of a brokerage's customers. Transactions of the market follow from their trade
/// orders and have no share of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// Version of the document format: 1.
    pub format: u32,
    /// Its name, as shown in results.
    pub name: String,
    /// Its version: results of two versions are not compared.
    pub version: u32,
    /// Purpose, and source of the shares.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Number of cards of each transaction in a deck; any whole numbers, for example shares of
    /// 1,000.
    pub shares: MixShares,
    /// The market sends its prices after this number of trade orders: one price for each, and as
    /// many of other securities.
    pub orders_per_feed: u32,
    /// Interval between data maintenance transactions.
    pub maintenance_every: Nanos,
}

/// Cards of each transaction of the customers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MixShares {
    /// Orders of brokers in a sector.
    pub broker_volume: u32,
    /// What a customer owns, and the last trades.
    pub customer_position: u32,
    /// Performance of a list of securities since a date.
    pub market_watch: u32,
    /// All data on a security.
    pub security_detail: u32,
    /// Trades of the past.
    pub trade_lookup: u32,
    /// A security is bought or sold.
    pub trade_order: u32,
    /// The last trades of an account.
    pub trade_status: u32,
    /// Trades of the past, corrected.
    pub trade_update: u32,
}

impl MixShares {
    /// All, in the order of their names.
    pub const fn all(&self) -> [u32; 8] {
        [
            self.broker_volume,
            self.customer_position,
            self.market_watch,
            self.security_detail,
            self.trade_lookup,
            self.trade_order,
            self.trade_status,
            self.trade_update,
        ]
    }
}

impl Mix {
    /// Reads a mix.
    ///
    /// # Errors
    /// A usage error that names the line and what is wrong in it.
    pub fn parse(text: &str) -> Result<Self> {
        let mix: Self = parse_toml(text, "mix")?;
        mix.check()?;
        Ok(mix)
    }

    fn check(&self) -> Result<()> {
        let refuse = |what: &str, hint: &str| Err(Error::usage(format!("mix: {what}"), hint));
        if self.format != 1 {
            return refuse(&format!("format {} is not known", self.format), "write format = 1");
        }
        let cards = self.shares.all().iter().try_fold(0_u32, |sum, cards| sum.checked_add(*cards));
        if !cards.is_some_and(|cards| (1..=CARDS_MAX).contains(&cards)) {
            return refuse(
                "the sum of the shares is not from 1 to 10000",
                "write shares of a thousand",
            );
        }
        if !(1..=1000).contains(&self.orders_per_feed) {
            return refuse("orders_per_feed is not from 1 to 1000", "write 10");
        }
        if self.maintenance_every.0 == 0 {
            return refuse("maintenance_every is not a time", "write 60s");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "format = 1\nname = \"x\"\nversion = 3\norders_per_feed = \
                        10\nmaintenance_every = \"60s\"\n[shares]\ntrade_order = 10\n";

    #[test]
    fn a_mix_is_read_and_what_means_nothing_is_refused() {
        let mix = Mix::parse(TEXT).unwrap();
        assert_eq!((mix.version, mix.shares.trade_order, mix.shares.market_watch), (3, 10, 0));
        for (from, to, word) in [
            ("format = 1", "format = 2", "format 2"),
            ("trade_order = 10", "trade_order = 0", "sum"),
            ("trade_order = 10", "trade_order = 4294967295\nmarket_watch = 9", "sum"),
            ("trade_order", "trade_ordre", "trade_ordre"),
            ("orders_per_feed = 10", "orders_per_feed = 0", "orders_per_feed"),
            ("60s", "0s", "maintenance_every"),
        ] {
            let error = Mix::parse(&TEXT.replace(from, to)).unwrap_err();
            assert!(error.message().contains(word), "{}", error.message());
        }
    }
}
