//! Corrections of trades and care of data, as transactions of statements.

use super::outcome::TransactionOutcome;
use super::read_transactions::twenty;
use super::runner::{BrokerRunner, of};
use crate::load::{Product, Value};
use assay_loads::brokerage::{DataMaintenance, Update};
use assay_model::failure::Answer;

/// Rates of taxes.
const TAX_RATES: u32 = 320;
/// Days whose prices are looked after.
const PRICE_DAYS: i64 = 7;

impl<L: Product> BrokerRunner<'_, L> {
    pub(super) fn trade_update(&mut self, update: &Update) -> Answer<TransactionOutcome> {
        let (statement, numbers) = match update {
            Update::Executor(numbers) => ("executor", numbers.clone()),
            Update::Settlement(account, from_s) => {
                ("cash_type", self.trades_of_account(*account, *from_s)?)
            }
            Update::Cash(symbol, from_s) => {
                ("cash_name", self.trades_of_security(symbol, *from_s)?)
            }
        };
        self.put(statement, &twenty(&numbers))?;
        self.details(&numbers)
    }

    pub(super) fn data_maintenance(
        &mut self,
        care: &DataMaintenance,
    ) -> Answer<TransactionOutcome> {
        let (customer, symbol) = (of(care.customer), Value::Text(&care.symbol));
        let last_day = self.context.last_price_day;
        let place = match care.what {
            0 => self.put("care_permission", &[customer])?,
            1 => self.put("care_address", &[customer])?,
            2 => self.put("care_rating", &[symbol])?,
            3 => self.put("care_email", &[customer])?,
            4 => self.put("care_taxes", &[customer])?,
            5 => self.put("care_volume", &[symbol, Value::Number(last_day - PRICE_DAYS)])?,
            6 => self.put("care_exchange", &[])?,
            7 => self.put("care_quarters", &[symbol])?,
            8 => return self.care_news(symbol),
            9 => self.put("care_listing", &[symbol])?,
            10 => self.put("care_tax_names", &[of(care.customer % TAX_RATES + 1)])?,
            _ => return self.care_watched(customer, symbol),
        };
        self.commit()?;
        Ok(TransactionOutcome::figures([Some(self.touched(place))]))
    }

    /// The news of a company, a day later.
    fn care_news(&mut self, symbol: Value<'_>) -> Answer<TransactionOutcome> {
        let news = self.put("news_of", &[symbol])?;
        self.exchange()?;
        let mut places = Vec::new();
        for [number] in self.all(news) {
            places.push(self.put("care_news", &[Value::Number(number)])?);
        }
        self.commit()?;
        let touched = places.into_iter().map(|place| self.touched(place)).sum();
        Ok(TransactionOutcome::figures([Some(touched)]))
    }

    /// The first security on a list becomes another one, where that is not there yet.
    fn care_watched(
        &mut self,
        customer: Value<'_>,
        symbol: Value<'_>,
    ) -> Answer<TransactionOutcome> {
        let watched = self.put("watched", &[customer, symbol])?;
        self.exchange()?;
        let first = self.text(watched, 0).to_owned();
        if self.number(watched, 1) != Some(0) {
            self.commit()?;
            return Ok(TransactionOutcome::figures([Some(0)]));
        }
        let place = self.put("care_watched", &[customer, symbol, Value::Text(&first)])?;
        self.commit()?;
        Ok(TransactionOutcome::figures([Some(self.touched(place))]))
    }
}
