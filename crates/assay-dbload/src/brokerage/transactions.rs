//! The transactions as statements: what customers and brokers only read, corrections of trades and
//! care of data, and trades from their order to their settlement with the prices of the market. The
//! rows that most sessions want come last; sums are made here, in hundredths, as functions of the
//! server make them. What a transaction found and did is the same whichever way it went to the
//! server.

use super::statements::{BROKERS, TRADES};
use crate::load::{CommitMark, Product, StatementValue, TransactionRunner, loaded_us_of, missing};
use assay_loads::brokerage::{
    BrokerVolume, BrokerageCustomer, BrokerageRules, BrokerageTransaction, DataMaintenance, Detail,
    Lookup, MarketOrder, MarketTick, MarketWatch, Position, TradeOrder, TradeUpdate, WatchScope,
};
use assay_model::failure::{Answer, Failure};

/// Working days and days of a week: prices have the former only.
const WORKING_DAYS: u32 = 5;
const WEEK_DAYS: u32 = 7;
/// A change is given in millionths of a hundredth.
const CHANGE_UNITS: i128 = 100_000_000;
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
    pub orders: Vec<MarketOrder>,
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
    pub fn of<L: Product>(link: &mut L, schema: &str, rules: &BrokerageRules) -> Answer<Self> {
        let loaded_us = loaded_us_of(link, schema)?;
        Ok(Self {
            opened_s: rules.opened_us(loaded_us) / SECOND_US,
            last_price_day: i64::from(BrokerageRules::last_price_day(loaded_us)),
        })
    }
}

/// A transaction of statements.
type BrokerRunner<'a, L> = TransactionRunner<'a, L, Days>;

impl<L: Product> BrokerRunner<'_, L> {
    /// Carries a transaction out.
    fn take(&mut self, transaction: &BrokerageTransaction) -> Answer<TransactionOutcome> {
        self.begin()?;
        match transaction {
            BrokerageTransaction::BrokerVolume(asked) => self.broker_volume(asked),
            BrokerageTransaction::CustomerPosition(asked) => self.customer_position(asked),
            BrokerageTransaction::MarketWatch(asked) => self.market_watch(asked),
            BrokerageTransaction::SecurityDetail(asked) => self.security_detail(asked),
            BrokerageTransaction::TradeLookup(lookup) => self.trade_lookup(lookup),
            BrokerageTransaction::TradeOrder(order) => self.trade_order(order),
            BrokerageTransaction::TradeStatus(account) => self.trade_status(*account),
            BrokerageTransaction::TradeUpdate(update) => self.trade_update(update),
            BrokerageTransaction::TradeResult(order) => self.trade_result(order),
            BrokerageTransaction::MarketFeed(ticks) => self.market_feed(ticks),
            BrokerageTransaction::DataMaintenance(care) => self.data_maintenance(care),
        }
    }
}

/// One try of a transaction as statements. A failure leaves none open.
pub(super) fn attempt<L: Product>(
    link: &mut L,
    pipeline: &mut L::Pipeline,
    days: Days,
    transaction: &BrokerageTransaction,
    mark: &mut Option<CommitMark>,
) -> Answer<TransactionOutcome> {
    let mut runner = TransactionRunner { link, pipeline, mark, context: days };
    let outcome = runner.take(transaction);
    runner.over(outcome)
}

/// A number for a statement.
fn of(number: u32) -> StatementValue<'static> {
    StatementValue::Number(i64::from(number))
}

/// `count` values: those that there are, then the last of them repeated, which does not change a
/// set.
fn filled<'a>(
    values: impl Iterator<Item = StatementValue<'a>>,
    count: usize,
    none: StatementValue<'a>,
) -> Vec<StatementValue<'a>> {
    let mut all: Vec<StatementValue<'a>> = values.take(count).collect();
    let last = all.last().copied().unwrap_or(none);
    all.resize(count, last);
    all
}

impl<L: Product> BrokerRunner<'_, L> {
    fn broker_volume(&mut self, asked: &BrokerVolume) -> Answer<TransactionOutcome> {
        let names = asked.brokers.iter().map(|name| StatementValue::Text(name));
        let mut values = vec![StatementValue::Text(asked.sector)];
        values.extend(filled(names, BROKERS, StatementValue::Text("")));
        let volume = self.put("broker_volume", &values)?;
        self.commit()?;
        Ok(TransactionOutcome::figures([self.number(volume, 0), self.number(volume, 1)]))
    }

    fn customer_position(&mut self, asked: &Position) -> Answer<TransactionOutcome> {
        let owner = match &asked.customer {
            BrokerageCustomer::Number(number) => self.put("owner", &[of(*number)])?,
            BrokerageCustomer::TaxCode(code) => {
                self.put("owner_of_code", &[StatementValue::Text(code)])?
            }
        };
        self.exchange()?;
        let owner = self.need(owner, 0, "customer")?;
        let accounts = self.put("accounts", &[StatementValue::Number(owner)])?;
        let steps = match asked.history_of {
            Some(which) => {
                Some(self.put("steps", &[StatementValue::Number(owner * 10 + i64::from(which))])?)
            }
            None => None,
        };
        self.commit()?;
        let steps = steps.and_then(|steps| self.number(steps, 0));
        Ok(TransactionOutcome::figures([self.number(accounts, 0), self.number(accounts, 1), steps]))
    }

    /// The day that is `days_back` working days before the last day with prices.
    fn since(&self, days_back: u32) -> StatementValue<'static> {
        let days = days_back / WORKING_DAYS * WEEK_DAYS + days_back % WORKING_DAYS;
        StatementValue::Number(self.context.last_price_day - i64::from(days))
    }

    fn market_watch(&mut self, asked: &MarketWatch) -> Answer<TransactionOutcome> {
        let since = self.since(asked.days_back);
        let worth = match &asked.watched {
            WatchScope::List(customer) => self.put("watch_list", &[of(*customer), since])?,
            WatchScope::Account(account) => self.put("watch_account", &[of(*account), since])?,
            WatchScope::Industry(name) => {
                self.put("watch_industry", &[StatementValue::Text(name), since])?
            }
        };
        self.commit()?;
        let (old, new) = (self.number(worth, 1), self.number(worth, 2));
        let change = change(old.unwrap_or(0), new.unwrap_or(0));
        Ok(TransactionOutcome::figures([self.number(worth, 0), Some(change)]))
    }

    fn security_detail(&mut self, asked: &Detail) -> Answer<TransactionOutcome> {
        let symbol = StatementValue::Text(&asked.symbol);
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

    fn trade_status(&mut self, account: u32) -> Answer<TransactionOutcome> {
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

    fn trade_lookup(&mut self, lookup: &Lookup) -> Answer<TransactionOutcome> {
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
    fn moment(&self, from_s: u32) -> StatementValue<'static> {
        StatementValue::Number(self.context.opened_s + i64::from(from_s))
    }

    /// A turn that finds out which trades of an account are meant.
    fn trades_of_account(&mut self, account: u32, from_s: u32) -> Answer<Vec<i64>> {
        let found = self.put("trades_of_account", &[of(account), self.moment(from_s)])?;
        self.exchange()?;
        Ok(self.found_trades(found))
    }

    /// The same of a security.
    fn trades_of_security(&mut self, symbol: &str, from_s: u32) -> Answer<Vec<i64>> {
        let found =
            self.put("trades_of_security", &[StatementValue::Text(symbol), self.moment(from_s)])?;
        self.exchange()?;
        Ok(self.found_trades(found))
    }

    fn found_trades(&self, place: usize) -> Vec<i64> {
        let mut numbers: Vec<i64> = self.all(place).iter().map(|[number]| *number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Looks trades up, which ends the transaction.
    fn details(&mut self, numbers: &[i64]) -> Answer<TransactionOutcome> {
        let values = twenty(numbers);
        let details = self.put("details", &values)?;
        self.put("last_steps", &values)?;
        self.commit()?;
        Ok(TransactionOutcome::figures([self.number(details, 0)]))
    }
}

/// Numbers of trades as a statement takes them.
pub(super) fn twenty(numbers: &[i64]) -> Vec<StatementValue<'static>> {
    filled(
        numbers.iter().map(|number| StatementValue::Number(*number)),
        TRADES,
        StatementValue::Number(0),
    )
}

/// The change from one sum to another in millionths of a hundredth, rounded half away from zero; 0
/// where there was nothing.
fn change(old: i64, new: i64) -> i64 {
    if old <= 0 {
        return 0;
    }
    let (old, new) = (i128::from(old), i128::from(new));
    let scaled = (new - old) * CHANGE_UNITS;
    let half = if scaled < 0 { -old } else { old };
    i64::try_from((2 * scaled + half) / (2 * old)).unwrap_or(i64::MAX)
}

/// Rates of taxes.
const TAX_RATES: u32 = 320;
/// Days whose prices are looked after.
const PRICE_DAYS: i64 = 7;

impl<L: Product> BrokerRunner<'_, L> {
    fn trade_update(&mut self, update: &TradeUpdate) -> Answer<TransactionOutcome> {
        let (statement, numbers) = match update {
            TradeUpdate::Executor(numbers) => ("executor", numbers.clone()),
            TradeUpdate::Settlement(account, from_s) => {
                ("cash_type", self.trades_of_account(*account, *from_s)?)
            }
            TradeUpdate::Cash(symbol, from_s) => {
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
        let (customer, symbol) = (of(care.customer), StatementValue::Text(&care.symbol));
        let last_day = self.context.last_price_day;
        let place = match care.what {
            0 => self.put("care_permission", &[customer])?,
            1 => self.put("care_address", &[customer])?,
            2 => self.put("care_rating", &[symbol])?,
            3 => self.put("care_email", &[customer])?,
            4 => self.put("care_taxes", &[customer])?,
            5 => {
                self.put("care_volume", &[symbol, StatementValue::Number(last_day - PRICE_DAYS)])?
            }
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
    fn care_news(&mut self, symbol: StatementValue<'_>) -> Answer<TransactionOutcome> {
        let news = self.put("news_of", &[symbol])?;
        self.exchange()?;
        let mut places = Vec::new();
        for [number] in self.all(news) {
            places.push(self.put("care_news", &[StatementValue::Number(number)])?);
        }
        self.commit()?;
        let touched = places.into_iter().map(|place| self.touched(place)).sum();
        Ok(TransactionOutcome::figures([Some(touched)]))
    }

    /// The first security on a list becomes another one, where that is not there yet.
    fn care_watched(
        &mut self,
        customer: StatementValue<'_>,
        symbol: StatementValue<'_>,
    ) -> Answer<TransactionOutcome> {
        let watched = self.put("watched", &[customer, symbol])?;
        self.exchange()?;
        let first = self.text(watched, 0).to_owned();
        if self.number(watched, 1) != Some(0) {
            self.commit()?;
            return Ok(TransactionOutcome::figures([Some(0)]));
        }
        let place = self.put("care_watched", &[customer, symbol, StatementValue::Text(&first)])?;
        self.commit()?;
        Ok(TransactionOutcome::figures([Some(self.touched(place))]))
    }
}

/// States of a trade.
const PENDING: i64 = 1;
const SUBMITTED: i64 = 2;
const COMPLETED: i64 = 3;
/// A part of a price is given in hundredths of a hundredth.
const PARTS: i64 = 10_000;

/// Whose an account is.
struct BrokerageAccount {
    customer: i64,
    broker: i64,
    tax_status: i64,
}

/// An order with what it needs of the tables.
struct Placing {
    account: BrokerageAccount,
    tier: i64,
    is_owner: bool,
    symbol: String,
    exchange: i64,
    price_cents: i64,
}

/// What an order is estimated to cost, hundredths of the currency.
struct Costs {
    charge: i64,
    commission: i64,
    tax: i64,
}

/// What was bought at once, or sold without being owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SoldLot {
    trade: i64,
    price_cents: i64,
    quantity: i64,
}

/// What a trade makes of lots.
#[derive(Debug, Default, PartialEq, Eq)]
struct Closing {
    /// Lots, and how many are left of each.
    lots: Vec<(SoldLot, i64)>,
    /// What is bought or sold beyond them.
    remaining: i64,
    gain_cents: i64,
}

/// A trade that the market made, as it stands in the tables.
struct MarketTrade {
    account: i64,
    symbol: String,
    kind: i64,
    quantity: i64,
    is_cash: bool,
    charge_cents: i64,
}

/// What is to be written of it.
struct Settlement {
    trade: MarketTrade,
    number: i64,
    price_cents: i64,
    closing: Closing,
    /// What the account had before.
    held: Option<i64>,
    tax_cents: i64,
    commission_cents: i64,
    money_cents: i64,
    broker: i64,
}

impl<L: Product> BrokerRunner<'_, L> {
    fn trade_order(&mut self, order: &TradeOrder) -> Answer<TransactionOutcome> {
        let placing = self.look_up(order)?;
        let costs = self.estimate(order, &placing)?;
        let trade = self.write_order(order, &placing, &costs)?;
        if order.is_rolled_back {
            return Ok(TransactionOutcome {
                is_rolled_back: true,
                ..TransactionOutcome::default()
            });
        }
        let is_market = !waits(i64::from(order.kind));
        let Placing { price_cents, symbol, .. } = placing;
        let figures = vec![Some(trade), Some(i64::from(is_market)), Some(price_cents)];
        let sent = MarketOrder { trade, symbol, quantity: order.quantity, price_cents };
        let orders = if is_market { vec![sent] } else { Vec::new() };
        Ok(TransactionOutcome { figures, orders, ..TransactionOutcome::default() })
    }

    /// A turn for the account and the security.
    fn look_up(&mut self, order: &TradeOrder) -> Answer<Placing> {
        let account = self.put("account", &[of(order.account)])?;
        let security = match &order.security {
            Ok(symbol) => self.put("security", &[StatementValue::Text(symbol)])?,
            Err((company, issue)) => self.put(
                "security_of",
                &[StatementValue::Text(company), StatementValue::Text(issue)],
            )?,
        };
        self.exchange()?;
        let is_limit = waits(i64::from(order.kind));
        let price_cents = self.need(security, 2, "price")?;
        Ok(Placing {
            account: self.account(account)?,
            tier: self.need(account, 3, "tier")?,
            is_owner: self.text(account, 4) == order.executor.2,
            symbol: self.text(security, 0).to_owned(),
            exchange: self.need(security, 1, "exchange")?,
            price_cents: if is_limit { order.limit_cents } else { price_cents },
        })
    }

    /// A turn for what the order will come to, and whether this person may give it.
    fn estimate(&mut self, order: &TradeOrder, placing: &Placing) -> Answer<Costs> {
        let (account, kind, quantity) = (of(order.account), of(order.kind), of(order.quantity));
        let (tier, exchange) =
            (StatementValue::Number(placing.tier), StatementValue::Number(placing.exchange));
        let lots = self.put("lots", &[account, StatementValue::Text(&placing.symbol)])?;
        let taxes = self.put("tax_rate", &[StatementValue::Number(placing.account.customer)])?;
        let rate = self.put("rate", &[tier, kind, exchange, quantity])?;
        let charge = self.put("charge", &[kind, tier])?;
        if !order.is_cash {
            self.put("assets", &[account])?;
        }
        let permission = if placing.is_owner { None } else { Some(self.ask_permission(order)?) };
        self.exchange()?;
        if permission.is_some_and(|permission| self.number(permission, 0).is_none()) {
            let words = format!("this person is not authorized for account {}", order.account);
            return Err(Failure::Protocol(words));
        }
        let quantity = i64::from(order.quantity);
        let change = change_of(i64::from(order.kind), quantity);
        let closing = close(self.lots(lots), change, placing.price_cents, order.is_lifo);
        let rate = self.need(rate, 0, "commission")?;
        Ok(Costs {
            charge: self.need(charge, 0, "charge")?,
            commission: part(quantity * placing.price_cents, rate),
            tax: self.tax(&closing, placing.account.tax_status, taxes),
        })
    }

    fn ask_permission(&mut self, order: &TradeOrder) -> Answer<usize> {
        let (first, last, code) = &order.executor;
        let [code, last, first] = [code.as_str(), last, first].map(StatementValue::Text);
        self.put("permission", &[of(order.account), code, last, first])
    }

    /// Writes an order, which ends the transaction; returns the number of the trade.
    fn write_order(&mut self, order: &TradeOrder, placing: &Placing, costs: &Costs) -> Answer<i64> {
        let waits = waits(i64::from(order.kind));
        let status = StatementValue::Number(if waits { PENDING } else { SUBMITTED });
        let executor = format!("{} {}", order.executor.0, order.executor.1);
        let (kind, quantity) = (of(order.kind), of(order.quantity));
        let symbol = StatementValue::Text(&placing.symbol);
        let price = StatementValue::Number(placing.price_cents);
        let Costs { charge, commission, tax } = *costs;
        let mut values = vec![status, kind, flag(order.is_cash), symbol, quantity, price];
        values.extend([of(order.account), StatementValue::Text(&executor)]);
        values.extend([charge, commission, tax].map(StatementValue::Number));
        values.push(flag(order.is_lifo));
        self.put("order", &values)?;
        self.put("ordered", &[status])?;
        if waits {
            let broker = StatementValue::Number(placing.account.broker);
            self.put("request", &[kind, symbol, quantity, price, broker])?;
        }
        let number = self.put("number", &[])?;
        self.end(!order.is_rolled_back)?;
        self.need(number, 0, "number")
    }

    fn account(&self, place: usize) -> Answer<BrokerageAccount> {
        Ok(BrokerageAccount {
            customer: self.need(place, 0, "account")?,
            broker: self.need(place, 1, "broker")?,
            tax_status: self.need(place, 2, "tax status")?,
        })
    }

    fn lots(&self, place: usize) -> Vec<SoldLot> {
        let lot = |[trade, price_cents, quantity]: &[i64; 3]| SoldLot {
            trade: *trade,
            price_cents: *price_cents,
            quantity: *quantity,
        };
        self.all(place).iter().map(lot).collect()
    }

    /// Tax on what was gained, where such an account pays any.
    fn tax(&self, closing: &Closing, tax_status: i64, rate: usize) -> i64 {
        let is_due = closing.gain_cents > 0 && tax_status > 0;
        if is_due { part(closing.gain_cents, self.number(rate, 0).unwrap_or(0)) } else { 0 }
    }

    fn trade_result(&mut self, order: &MarketOrder) -> Answer<TransactionOutcome> {
        let number = StatementValue::Number(order.trade);
        let trade = self.put("trade", &[number])?;
        let account = self.put("account_of_trade", &[number])?;
        let lots = self.put("lots_of_trade", &[number])?;
        let taxes = self.put("tax_rate_of_trade", &[number])?;
        let rate = self.put("rate_of_trade", &[number])?;
        self.exchange()?;
        if self.need(trade, 7, "trade")? != SUBMITTED {
            return Err(Failure::Protocol(format!("trade {} is not at the market", order.trade)));
        }
        let account = self.account(account)?;
        let rate = self.need(rate, 0, "commission")?;
        let is_lifo = self.number(trade, 5) == Some(1);
        let trade = self.trade(trade)?;
        let lots = self.lots(lots);
        let held = (!lots.is_empty()).then(|| lots.iter().map(|lot| lot.quantity).sum());
        let change = change_of(trade.kind, trade.quantity);
        let closing = close(lots, change, order.price_cents, is_lifo);
        let tax_cents = self.tax(&closing, account.tax_status, taxes);
        let commission_cents = part(trade.quantity * order.price_cents, rate);
        // Some accounts pay their taxes themselves.
        let withheld = if account.tax_status == 1 { tax_cents } else { 0 };
        let value = -change * order.price_cents;
        let settlement = Settlement {
            money_cents: value - trade.charge_cents - commission_cents - withheld,
            trade,
            number: order.trade,
            price_cents: order.price_cents,
            closing,
            held,
            tax_cents,
            commission_cents,
            broker: account.broker,
        };
        self.settle(&settlement)?;
        Ok(TransactionOutcome::figures([Some(settlement.money_cents)]))
    }

    fn trade(&self, place: usize) -> Answer<MarketTrade> {
        Ok(MarketTrade {
            account: self.need(place, 0, "account")?,
            symbol: self.text(place, 1).to_owned(),
            kind: self.need(place, 2, "kind")?,
            quantity: self.need(place, 3, "quantity")?,
            is_cash: self.number(place, 4) == Some(1),
            charge_cents: self.need(place, 6, "charge")?,
        })
    }

    /// Writes what a trade came to, which ends the transaction.
    fn settle(&mut self, done: &Settlement) -> Answer<()> {
        let number = StatementValue::Number(done.number);
        self.write_lots(done)?;
        self.write_held(done)?;
        let sums =
            [done.price_cents, done.commission_cents, done.tax_cents].map(StatementValue::Number);
        self.put("completed", &[number, sums[0], sums[1], sums[2]])?;
        self.put("passed", &[number, StatementValue::Number(COMPLETED)])?;
        let money = StatementValue::Number(done.money_cents);
        let paid = if done.trade.is_cash { "Cash Account" } else { "Margin" };
        self.put("settled", &[number, StatementValue::Text(paid), money])?;
        if done.trade.is_cash {
            self.put("paid", &[StatementValue::Number(done.trade.account), money])?;
            let did = if sells(done.trade.kind) { "Sold" } else { "Bought" };
            let words = format!("{did} {} of {}", done.trade.quantity, done.trade.symbol);
            self.put("cash", &[number, money, StatementValue::Text(&words)])?;
        }
        self.put("earned", &[StatementValue::Number(done.broker), sums[1]])?;
        self.commit()
    }

    fn write_lots(&mut self, done: &Settlement) -> Answer<()> {
        let number = StatementValue::Number(done.number);
        for (lot, left) in &done.closing.lots {
            let (of_lot, was, left_over) = (
                StatementValue::Number(lot.trade),
                StatementValue::Number(lot.quantity),
                StatementValue::Number(*left),
            );
            self.put("lot_changed", &[of_lot, number, was, left_over])?;
            if *left == 0 {
                self.put("lot_gone", &[of_lot])?;
            } else {
                self.put("lot_left", &[of_lot, left_over])?;
            }
        }
        if done.closing.remaining != 0 {
            let remaining = StatementValue::Number(done.closing.remaining);
            let (account, symbol) = (
                StatementValue::Number(done.trade.account),
                StatementValue::Text(&done.trade.symbol),
            );
            let price = StatementValue::Number(done.price_cents);
            self.put("lot", &[number, account, symbol, price, remaining])?;
            self.put("lot_changed", &[number, number, StatementValue::Number(0), remaining])?;
        }
        Ok(())
    }

    /// What the account has now; it has been the sum of its lots.
    fn write_held(&mut self, done: &Settlement) -> Answer<()> {
        let (account, symbol) =
            (StatementValue::Number(done.trade.account), StatementValue::Text(&done.trade.symbol));
        let change = change_of(done.trade.kind, done.trade.quantity);
        match done.held {
            Some(held) if held + change == 0 => self.put("held_none", &[account, symbol])?,
            Some(_) => self.put("held_now", &[account, symbol, StatementValue::Number(change)])?,
            None => self.put("held_first", &[account, symbol, StatementValue::Number(change)])?,
        };
        Ok(())
    }

    fn market_feed(&mut self, ticks: &[MarketTick]) -> Answer<TransactionOutcome> {
        let mut reached = Vec::with_capacity(ticks.len());
        for tick in ticks {
            let (symbol, price) =
                (StatementValue::Text(&tick.symbol), StatementValue::Number(tick.price_cents));
            self.put("price", &[symbol, price, of(tick.quantity)])?;
            reached.push(self.put("reached", &[symbol, price])?);
        }
        self.exchange()?;
        let mut orders = Vec::new();
        for (tick, place) in ticks.iter().zip(reached) {
            for [trade, quantity] in self.all(place) {
                orders.push(MarketOrder {
                    trade,
                    symbol: tick.symbol.clone(),
                    quantity: u32::try_from(quantity).unwrap_or(0),
                    price_cents: tick.price_cents,
                });
            }
        }
        for order in &orders {
            let number = StatementValue::Number(order.trade);
            self.put("request_gone", &[number])?;
            self.put("submitted", &[number])?;
            self.put("passed", &[number, StatementValue::Number(SUBMITTED)])?;
        }
        self.commit()?;
        Ok(TransactionOutcome { orders, ..TransactionOutcome::default() })
    }
}

const fn sells(kind: i64) -> bool {
    matches!(kind, 2 | 4 | 5)
}

/// Whether such an order waits for a price.
const fn waits(kind: i64) -> bool {
    kind >= 3
}

/// What an account has more by such a trade.
const fn change_of(kind: i64, quantity: i64) -> i64 {
    if sells(kind) { -quantity } else { quantity }
}

fn flag(is_so: bool) -> StatementValue<'static> {
    of(u32::from(is_so))
}

/// Hundredths of hundredths of a sum, rounded half up; neither is below nothing.
const fn part(cents: i64, parts: i64) -> i64 {
    (cents * parts + PARTS / 2) / PARTS
}

/// Closes lots with a change of the other sign, the oldest or the newest first.
fn close(mut lots: Vec<SoldLot>, change: i64, price_cents: i64, newest_first: bool) -> Closing {
    if newest_first {
        lots.reverse();
    }
    let mut closing = Closing { remaining: change, ..Closing::default() };
    for lot in lots {
        if closing.remaining == 0 || lot.quantity.signum() == closing.remaining.signum() {
            break;
        }
        let closed = lot.quantity.abs().min(closing.remaining.abs()) * closing.remaining.signum();
        closing.lots.push((lot, lot.quantity + closed));
        closing.gain_cents -= closed * (price_cents - lot.price_cents);
        closing.remaining -= closed;
    }
    closing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_list_is_filled_with_its_last() {
        let numbers = |values: &[u32]| filled(values.iter().map(|one| of(*one)), 3, of(0));
        assert_eq!(numbers(&[7]), [of(7), of(7), of(7)]);
        assert_eq!(numbers(&[]), [of(0), of(0), of(0)]);
        assert_eq!(numbers(&[1, 2, 3, 4]), [of(1), of(2), of(3)]);
    }

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

    #[test]
    fn lots_are_closed_from_the_asked_end_and_the_rest_is_a_new_one() {
        let lot = |trade, price_cents, quantity| SoldLot { trade, price_cents, quantity };
        let lots = || vec![lot(1, 1000, 100), lot(2, 1200, 200)];
        let sold = close(lots(), -150, 1100, false);
        assert_eq!(sold.lots, [(lot(1, 1000, 100), 0), (lot(2, 1200, 200), 150)]);
        assert_eq!((sold.remaining, sold.gain_cents), (0, 100 * 100 - 50 * 100));
        let sold = close(lots(), -400, 1100, true);
        assert_eq!(sold.lots, [(lot(2, 1200, 200), 0), (lot(1, 1000, 100), 0)]);
        assert_eq!((sold.remaining, sold.gain_cents), (-100, -10_000));
        let bought = close(lots(), 50, 1100, false);
        assert_eq!((bought.lots.len(), bought.remaining, bought.gain_cents), (0, 50, 0));
    }

    #[test]
    fn parts_are_rounded_half_up() {
        assert_eq!((part(99_000, 50), part(1, 5000), part(1, 4999)), (495, 1, 0));
    }
}
