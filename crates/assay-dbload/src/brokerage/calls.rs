//! The calls of the transactions that are functions of PostgreSQL, and what they return.

use super::functions::CALLS;
use super::store::TransactionOutcome;
use assay_loads::brokerage::{
    Customer, Lookup, Order, Position, Tick, TradeOrder, Transaction, Update, Watch, WatchScope,
};
use assay_model::failure::{Answer, Failure};
use assay_postgres::connection::{Answers, Batch, Connection, Fields, Values};

/// Prepares all calls that sessions make.
pub(super) fn parse(connection: &mut Connection, schema: &str) -> Answer<()> {
    for (name, parameters, columns) in CALLS {
        let sql = format!("SELECT {columns} FROM {schema}.{name}({parameters})");
        connection.parse(name, &sql)?;
    }
    Ok(())
}

/// What a call returned.
pub(super) fn outcome(transaction: &Transaction, answers: &Answers) -> Answer<TransactionOutcome> {
    let row = answers.row(0);
    let row = row.ok_or_else(|| Failure::Protocol("a transaction without an answer".to_owned()))?;
    let figures = |count: usize| (0..count).map(|column| row.integer(column)).collect();
    let with_text = |count: usize| TransactionOutcome {
        figures: figures(count),
        text: row.text(count).to_owned(),
        ..TransactionOutcome::default()
    };
    Ok(match transaction {
        Transaction::BrokerVolume(_) | Transaction::MarketWatch(_) => {
            TransactionOutcome::figures(figures(2))
        }
        Transaction::CustomerPosition(_) => TransactionOutcome::figures(figures(3)),
        Transaction::SecurityDetail(_) => with_text(5),
        Transaction::TradeStatus(_) => with_text(2),
        Transaction::TradeLookup(_)
        | Transaction::TradeUpdate(_)
        | Transaction::TradeResult(_)
        | Transaction::DataMaintenance(_) => TransactionOutcome::figures(figures(1)),
        Transaction::TradeOrder(order) => TransactionOutcome {
            figures: figures(3),
            orders: sent(row, order.quantity).into_iter().collect(),
            ..TransactionOutcome::default()
        },
        Transaction::MarketFeed(_) => TransactionOutcome {
            orders: row.text(0).split(';').filter_map(triggered).collect(),
            ..TransactionOutcome::default()
        },
    })
}

/// The order that a trade order became, where it goes to the market at once.
fn sent(row: Fields<'_>, quantity: u32) -> Option<Order> {
    (row.integer(1) == Some(1)).then(|| Order {
        trade: row.integer(0).unwrap_or(0),
        symbol: row.text(3).to_owned(),
        quantity,
        price_cents: row.integer(2).unwrap_or(0),
    })
}

/// An order whose price was reached: trade, symbol, quantity and price.
fn triggered(text: &str) -> Option<Order> {
    let mut parts = text.split(',');
    Some(Order {
        trade: parts.next()?.parse().ok()?,
        symbol: parts.next()?.to_owned(),
        quantity: parts.next()?.parse().ok()?,
        price_cents: parts.next()?.parse().ok()?,
    })
}

/// A price as a parameter.
fn cents(price_cents: i64) -> u32 {
    u32::try_from(price_cents).unwrap_or(0)
}

/// Numbers or names with commas between them.
fn joined<T: ToString>(values: impl Iterator<Item = T>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// The call of a transaction.
pub(super) fn call(batch: &mut Batch, transaction: &Transaction) {
    match transaction {
        Transaction::BrokerVolume(asked) => batch.execute("broker_volume", |values| {
            values.text(&asked.brokers.join(",")).text(asked.sector);
        }),
        Transaction::CustomerPosition(asked) => {
            batch.execute("customer_position", |values| position(values, asked));
        }
        Transaction::MarketWatch(asked) => {
            batch.execute("market_watch", |values| watch(values, asked));
        }
        Transaction::SecurityDetail(asked) => batch.execute("security_detail", |values| {
            values.text(&asked.symbol).integer(asked.days_back).integer(asked.days);
            values.integer(u32::from(asked.with_texts));
        }),
        Transaction::TradeLookup(lookup) => call_lookup(batch, lookup),
        Transaction::TradeOrder(order) => {
            batch.execute("trade_order", |values| order_of(values, order));
        }
        Transaction::TradeStatus(account) => batch.execute("trade_status", |values| {
            values.integer(*account);
        }),
        Transaction::TradeUpdate(update) => call_update(batch, update),
        Transaction::TradeResult(order) => batch.execute("trade_result", |values| {
            values.long(order.trade).integer(cents(order.price_cents));
        }),
        Transaction::MarketFeed(ticks) => {
            batch.execute("market_feed", |values| feed(values, ticks));
        }
        Transaction::DataMaintenance(care) => batch.execute("data_maintenance", |values| {
            values.integer(care.what).integer(care.customer).text(&care.symbol);
        }),
    }
}

fn position(values: &mut Values<'_>, asked: &Position) {
    let (number, code) = match &asked.customer {
        Customer::Number(number) => (*number, ""),
        Customer::TaxCode(code) => (0, code.as_str()),
    };
    values.integer(number).text(code);
    match asked.history_of {
        Some(account) => values.integer(account),
        None => values.signed(-1),
    };
}

fn watch(values: &mut Values<'_>, asked: &Watch) {
    let (customer, account, industry) = match &asked.watched {
        WatchScope::List(customer) => (*customer, 0, ""),
        WatchScope::Account(account) => (0, *account, ""),
        WatchScope::Industry(industry) => (0, 0, industry.as_str()),
    };
    values.integer(customer).integer(account).text(industry).integer(asked.days_back);
}

fn order_of(values: &mut Values<'_>, order: &TradeOrder) {
    let (first, last, code) = &order.executor;
    let (symbol, company, issue) = match &order.security {
        Ok(symbol) => (symbol.as_str(), "", ""),
        Err((company, issue)) => ("", company.as_str(), *issue),
    };
    values.integer(order.account).text(first).text(last).text(code);
    values.text(symbol).text(company).text(issue);
    values.integer(order.kind).integer(order.quantity).integer(cents(order.limit_cents));
    for flag in [order.is_cash, order.is_lifo, order.is_rolled_back] {
        values.integer(u32::from(flag));
    }
}

fn feed(values: &mut Values<'_>, ticks: &[Tick]) {
    values.text(&joined(ticks.iter().map(|tick| &tick.symbol)));
    values.text(&joined(ticks.iter().map(|tick| tick.price_cents)));
    values.text(&joined(ticks.iter().map(|tick| tick.quantity)));
}

fn call_lookup(batch: &mut Batch, lookup: &Lookup) {
    match lookup {
        Lookup::Trades(numbers) => batch.execute("lookup_trades", |values| {
            values.text(&joined(numbers.iter()));
        }),
        Lookup::Account(account, from_s) => batch.execute("lookup_account", |values| {
            values.integer(*account).integer(*from_s);
        }),
        Lookup::Security(symbol, from_s) => batch.execute("lookup_security", |values| {
            values.text(symbol).integer(*from_s);
        }),
        Lookup::Holding(account, from_s) => batch.execute("lookup_holding", |values| {
            values.integer(*account).integer(*from_s);
        }),
    }
}

fn call_update(batch: &mut Batch, update: &Update) {
    match update {
        Update::Executor(numbers) => batch.execute("update_executor", |values| {
            values.text(&joined(numbers.iter()));
        }),
        Update::Settlement(account, from_s) => batch.execute("update_settlement", |values| {
            values.integer(*account).integer(*from_s);
        }),
        Update::Cash(symbol, from_s) => batch.execute("update_cash", |values| {
            values.text(symbol).integer(*from_s);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_whose_price_was_reached_are_read_and_nothing_else() {
        let text = "7,AAAAAB,100,2550;9,AAAAAC,200,1000;";
        let orders: Vec<Order> = text.split(';').filter_map(triggered).collect();
        assert_eq!(orders.len(), 2);
        assert_eq!((orders[1].trade, orders[1].price_cents), (9, 1000));
        assert_eq!((orders[0].symbol.as_str(), orders[0].quantity), ("AAAAAB", 100));
        assert!(triggered("").is_none() && triggered("7,A").is_none());
    }
}
