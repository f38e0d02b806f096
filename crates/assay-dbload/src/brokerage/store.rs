//! What the brokerage load needs of a product: statements that are asked for by name, answers to them, and the end of a
//! transaction; with these the twelve transactions are written once for all products.

use super::statements::Dialect;
use crate::load::{Calls, Isolation, TableStore, loaded_us_of};
use assay_loads::brokerage::{Order, Rules, Transaction};
use assay_model::failure::Answer;

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// A parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'a str),
}

/// What a transaction found and did, the same whichever way it went to the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Counts and sums of money in hundredths; nothing where there was nothing to add up.
    pub figures: Vec<Option<i64>>,
    /// Names and descriptions.
    pub text: String,
    /// Orders that go to the market now.
    pub orders: Vec<Order>,
    /// Whether it was taken back as asked.
    pub is_taken_back: bool,
}

impl Told {
    /// Figures and nothing else.
    pub(super) fn figures(figures: impl Into<Vec<Option<i64>>>) -> Self {
        Self { figures: figures.into(), ..Self::default() }
    }
}

/// How a product carries the transactions of the load out. What is put belongs to the turn; its answers can be read when
/// the turn is over, and until something else is put.
pub trait BrokerStore: TableStore {
    /// What a session keeps between its transactions.
    type Desk: Send;
    /// Its words where products differ.
    const DIALECT: Dialect;
    /// What is done before the conditions are checked.
    const BEFORE_BOOKS: &'static [&'static str];
    /// Makes a table of what follows, on which conditions look.
    const MAKE_BOOKS: &'static str;
    /// What is done when they are checked.
    const AFTER_BOOKS: &'static str;

    /// Settings and statements of a fresh session.
    fn desk(
        &mut self,
        schema: &str,
        rules: &Rules,
        calls: Calls,
        isolation: Isolation,
    ) -> Answer<Self::Desk>;

    /// Begins a transaction of several statements.
    fn begin(&mut self, desk: &mut Self::Desk) -> Answer<()>;

    /// Puts a statement; returns its place among those of the turn.
    ///
    /// # Errors
    /// What the server says, where it is asked at once.
    fn put(
        &mut self,
        desk: &mut Self::Desk,
        name: &'static str,
        values: &[Value<'_>],
    ) -> Answer<usize>;

    /// Waits for the answers to what was put.
    fn turn(&mut self, desk: &mut Self::Desk) -> Answer<()>;

    /// Ends the transaction behind what was put, for good or as if it had not been.
    fn end(&mut self, desk: &mut Self::Desk, is_for_good: bool) -> Answer<()>;

    /// Rows that the statement of a place gave.
    fn rows(&self, desk: &Self::Desk, place: usize) -> usize;

    /// Rows that it changed.
    fn touched(&self, desk: &Self::Desk, place: usize) -> u64;

    /// A whole number that it gave; nothing for null and where there is no such row.
    fn number_at(&self, desk: &Self::Desk, place: usize, row: usize, column: usize) -> Option<i64>;

    /// A text in its first row; empty for null.
    fn text_at<'a>(&'a self, desk: &'a Self::Desk, place: usize, column: usize) -> &'a str;

    /// The moment at which the market of this data opened first, seconds since 1970, and the last day with prices.
    fn days(desk: &Self::Desk) -> Days;

    /// One try of a transaction. A failure leaves none open.
    fn attempt(&mut self, desk: &mut Self::Desk, transaction: &Transaction) -> Answer<Told>;
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
    pub fn of<L: TableStore>(link: &mut L, schema: &str, rules: &Rules) -> Answer<Self> {
        let loaded_us = loaded_us_of(link, schema)?;
        Ok(Self {
            opened_s: rules.opened_us(loaded_us) / SECOND_US,
            last_price_day: i64::from(Rules::last_price_day(loaded_us)),
        })
    }
}
