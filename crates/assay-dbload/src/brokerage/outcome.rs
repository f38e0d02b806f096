//! What a transaction of the brokerage load found and did, and the days of the data on which it looks.

use crate::load::{Product, loaded_us_of};
use assay_loads::brokerage::{Order, Rules};
use assay_model::failure::Answer;

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// What a transaction found and did, the same whichever way it went to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionOutcome {
    /// Counts and sums of money in hundredths; nothing where there was nothing to add up.
    pub figures: Vec<Option<i64>>,
    /// Names and descriptions.
    pub text: String,
    /// Orders that go to the market now.
    pub orders: Vec<Order>,
    /// Whether it was taken back as asked.
    pub is_rolled_back: bool,
}

impl TransactionOutcome {
    /// Figures and nothing else.
    pub(super) fn figures(figures: impl Into<Vec<Option<i64>>>) -> Self {
        Self { figures: figures.into(), ..Self::default() }
    }
}

/// Days of the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Days {
    /// The first opening of the market, seconds since 1970.
    pub opened_s: i64,
    /// The last day that has prices, counted from 1970.
    pub last_price_day: i64,
}

impl Days {
    /// Those of the data in a schema that was made by these rules.
    pub fn of<L: Product>(link: &mut L, schema: &str, rules: &Rules) -> Answer<Self> {
        let loaded_us = loaded_us_of(link, schema)?;
        Ok(Self {
            opened_s: rules.opened_us(loaded_us) / SECOND_US,
            last_price_day: i64::from(Rules::last_price_day(loaded_us)),
        })
    }
}
