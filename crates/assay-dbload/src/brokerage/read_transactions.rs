//! What customers and brokers only read, as transactions of statements.

use super::outcome::TransactionOutcome;
use super::runner::{BrokerRunner, filled, of};
use super::statements::{BROKERS, TRADES};
use crate::load::{Product, Value, missing};
use assay_loads::brokerage::{Customer, Detail, Lookup, Position, Volume, Watch, WatchScope};
use assay_model::failure::Answer;

/// Working days and days of a week: prices have the former only.
const WORKING_DAYS: u32 = 5;
const WEEK_DAYS: u32 = 7;
/// A change is given in millionths of a hundredth.
const CHANGE_UNITS: i128 = 100_000_000;

impl<L: Product> BrokerRunner<'_, L> {
    pub(super) fn broker_volume(&mut self, asked: &Volume) -> Answer<TransactionOutcome> {
        let names = asked.brokers.iter().map(|name| Value::Text(name));
        let mut values = vec![Value::Text(asked.sector)];
        values.extend(filled(names, BROKERS, Value::Text("")));
        let volume = self.put("broker_volume", &values)?;
        self.commit()?;
        Ok(TransactionOutcome::figures([self.number(volume, 0), self.number(volume, 1)]))
    }

    pub(super) fn customer_position(&mut self, asked: &Position) -> Answer<TransactionOutcome> {
        let owner = match &asked.customer {
            Customer::Number(number) => self.put("owner", &[of(*number)])?,
            Customer::TaxCode(code) => self.put("owner_of_code", &[Value::Text(code)])?,
        };
        self.exchange()?;
        let owner = self.need(owner, 0, "customer")?;
        let accounts = self.put("accounts", &[Value::Number(owner)])?;
        let steps = match asked.history_of {
            Some(which) => {
                Some(self.put("steps", &[Value::Number(owner * 10 + i64::from(which))])?)
            }
            None => None,
        };
        self.commit()?;
        let steps = steps.and_then(|steps| self.number(steps, 0));
        Ok(TransactionOutcome::figures([self.number(accounts, 0), self.number(accounts, 1), steps]))
    }

    /// The day that is `days_back` working days before the last day with prices.
    fn since(&self, days_back: u32) -> Value<'static> {
        let days = days_back / WORKING_DAYS * WEEK_DAYS + days_back % WORKING_DAYS;
        Value::Number(self.context.last_price_day - i64::from(days))
    }

    pub(super) fn market_watch(&mut self, asked: &Watch) -> Answer<TransactionOutcome> {
        let since = self.since(asked.days_back);
        let worth = match &asked.watched {
            WatchScope::List(customer) => self.put("watch_list", &[of(*customer), since])?,
            WatchScope::Account(account) => self.put("watch_account", &[of(*account), since])?,
            WatchScope::Industry(name) => {
                self.put("watch_industry", &[Value::Text(name), since])?
            }
        };
        self.commit()?;
        let (old, new) = (self.number(worth, 1), self.number(worth, 2));
        let change = change(old.unwrap_or(0), new.unwrap_or(0));
        Ok(TransactionOutcome::figures([self.number(worth, 0), Some(change)]))
    }

    pub(super) fn security_detail(&mut self, asked: &Detail) -> Answer<TransactionOutcome> {
        let symbol = Value::Text(&asked.symbol);
        let since = self.since(asked.days_back);
        let company = self.put("company", &[symbol])?;
        let competitors = self.put("competitors", &[symbol])?;
        let quarters = self.put("quarters", &[symbol])?;
        let prices = self.put("prices", &[symbol, since, of(asked.days)])?;
        let price = self.put("last_price", &[symbol])?;
        let news = if asked.with_texts { "texts" } else { "headlines" };
        let news = self.put(news, &[symbol])?;
        self.commit()?;
        let text = self.text(company, 0).to_owned();
        if text.is_empty() {
            return Err(missing("security"));
        }
        let figures = [competitors, quarters, prices, news, price];
        let figures = figures.map(|place| self.number(place, 0)).to_vec();
        Ok(TransactionOutcome { figures, text, ..TransactionOutcome::default() })
    }

    pub(super) fn trade_status(&mut self, account: u32) -> Answer<TransactionOutcome> {
        let status = self.put("status", &[of(account)])?;
        let names = self.put("status_names", &[of(account)])?;
        self.commit()?;
        let figures = vec![self.number(status, 0), self.number(status, 1)];
        Ok(TransactionOutcome {
            figures,
            text: self.text(names, 0).to_owned(),
            ..TransactionOutcome::default()
        })
    }

    pub(super) fn trade_lookup(&mut self, lookup: &Lookup) -> Answer<TransactionOutcome> {
        match lookup {
            Lookup::Trades(numbers) => self.details(numbers),
            Lookup::Account(account, from_s) => {
                let found = self.trades_of_account(*account, *from_s)?;
                self.details(&found)
            }
            Lookup::Security(symbol, from_s) => {
                let found = self.trades_of_security(symbol, *from_s)?;
                self.details(&found)
            }
            Lookup::Holding(account, from_s) => {
                let moment = self.moment(*from_s);
                let became = self.put("what_became", &[of(*account), moment])?;
                self.commit()?;
                Ok(TransactionOutcome::figures([self.number(became, 0)]))
            }
        }
    }

    /// The moment that is `from_s` seconds after the market first opened.
    fn moment(&self, from_s: u32) -> Value<'static> {
        Value::Number(self.context.opened_s + i64::from(from_s))
    }

    /// A turn that finds out which trades of an account are meant.
    pub(super) fn trades_of_account(&mut self, account: u32, from_s: u32) -> Answer<Vec<i64>> {
        let found = self.put("trades_of_account", &[of(account), self.moment(from_s)])?;
        self.exchange()?;
        Ok(self.found_trades(found))
    }

    /// The same of a security.
    pub(super) fn trades_of_security(&mut self, symbol: &str, from_s: u32) -> Answer<Vec<i64>> {
        let found = self.put("trades_of_security", &[Value::Text(symbol), self.moment(from_s)])?;
        self.exchange()?;
        Ok(self.found_trades(found))
    }

    fn found_trades(&self, place: usize) -> Vec<i64> {
        let mut numbers: Vec<i64> = self.all(place).iter().map(|[number]| *number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Looks trades up, which ends the transaction.
    pub(super) fn details(&mut self, numbers: &[i64]) -> Answer<TransactionOutcome> {
        let values = twenty(numbers);
        let details = self.put("details", &values)?;
        self.put("last_steps", &values)?;
        self.commit()?;
        Ok(TransactionOutcome::figures([self.number(details, 0)]))
    }
}

/// Numbers of trades as a statement takes them.
pub(super) fn twenty(numbers: &[i64]) -> Vec<Value<'static>> {
    filled(numbers.iter().map(|number| Value::Number(*number)), TRADES, Value::Number(0))
}

/// The change from one sum to another in millionths of a hundredth, rounded half away from zero; 0 where there was nothing.
fn change(old: i64, new: i64) -> i64 {
    if old <= 0 {
        return 0;
    }
    let (old, new) = (i128::from(old), i128::from(new));
    let scaled = (new - old) * CHANGE_UNITS;
    let half = if scaled < 0 { -old } else { old };
    i64::try_from((2 * scaled + half) / (2 * old)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_rounded_away_from_zero() {
        assert_eq!(
            (change(200, 300), change(200, 100), change(0, 7)),
            (50_000_000, -50_000_000, 0)
        );
        assert_eq!((change(3, 4), change(3, 2)), (33_333_333, -33_333_333));
        assert_eq!((change(6, 11), change(6, 1)), (83_333_333, -83_333_333));
        assert_eq!(change(3, 5), 66_666_667);
    }
}
