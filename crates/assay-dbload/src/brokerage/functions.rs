//! All transactions as functions of PostgreSQL, how they are called, and what they return: one
//! call, one network round trip, one transaction.

use super::FUNCTIONS;
use super::transactions::TransactionOutcome;
use crate::load::{Dialect, LoadStatement, Product, StatementPipeline, StatementValue};
use assay_loads::brokerage::{
    BrokerageCustomer, BrokerageRules, BrokerageTransaction, Lookup, MarketOrder, MarketTick,
    MarketWatch, Position, TradeOrder, TradeUpdate, WatchScope,
};
use assay_model::failure::{Answer, Failure};

/// The code with which an order is taken back.
const ROLLED_BACK_CODE: &str = "AS002";
/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// Creates all functions, and the numbers of trades to come.
pub(super) fn create(schema: &str, rules: &BrokerageRules, loaded_us: i64) -> String {
    let opened_s = rules.opened_us(loaded_us) / SECOND_US;
    FUNCTIONS
        .replace("{s}", schema)
        .replace("{next}", &(rules.trades() + 1).to_string())
        .replace(
            "{day}",
            &format!("(date '1970-01-01' + {})", BrokerageRules::last_price_day(loaded_us)),
        )
        .replace(
            "{opened}",
            &format!("(timestamp '1970-01-01' + make_interval(secs => {opened_s}))"),
        )
}

/// The calls: names with their parameters and what is asked of the answer, money in hundredths.
const CALLS: [(&str, &str, &str); 16] = [
    ("broker_volume", "@1, @2", "brokers, (volume * 100)::bigint"),
    ("customer_position", "#1::int, @2, #3::int", "accounts, (total * 100)::bigint, steps"),
    ("market_watch", "#1::int, #2::int, @3, #4::int", "securities, (change * 1000000)::bigint"),
    (
        "security_detail",
        "@1, #2::int, #3::int, #4::int",
        "competitors, (quarters * 100)::bigint, (prices * 100)::bigint, letters, (price * \
         100)::bigint, company",
    ),
    ("lookup_trades", "@1", "seen"),
    ("lookup_account", "#1::int, #2::int", "seen"),
    ("lookup_security", "@1, #2::int", "seen"),
    ("lookup_holding", "#1::int, #2::int", "seen"),
    ("trade_status", "#1::int", "seen, letters, names"),
    ("update_executor", "@1", "seen"),
    ("update_settlement", "#1::int, #2::int", "seen"),
    ("update_cash", "@1, #2::int", "seen"),
    (
        "trade_order",
        "#1::int, @2, @3, @4, @5, @6, @7, #8::int, #9::int, #10::int, #11::int, #12::int, #13::int",
        "number, sent, cents, of_symbol",
    ),
    ("trade_result", "#1, #2::int", "(money * 100)::bigint"),
    ("market_feed", "@1, @2, @3", "sent"),
    ("data_maintenance", "#1::int, #2::int, @3", "done"),
];

/// All calls that sessions make.
pub(super) fn calls(schema: &str) -> Vec<LoadStatement> {
    let call = |(name, parameters, columns)| {
        let sql = format!("SELECT {columns} FROM {schema}.{name}({parameters})");
        LoadStatement::of(name, &sql, Dialect::Postgres)
    };
    CALLS.map(call).to_vec()
}

/// One call of a transaction. A failure leaves none open.
pub(super) fn call<L: Product>(
    link: &mut L,
    pipeline: &mut L::Pipeline,
    transaction: &BrokerageTransaction,
) -> Answer<TransactionOutcome> {
    match give(transaction, |name, values| pipeline.alone(link, name, values)) {
        Ok(()) => outcome(transaction, pipeline),
        Err(failure) if failure.code() == Some(ROLLED_BACK_CODE) => {
            Ok(TransactionOutcome { is_rolled_back: true, ..TransactionOutcome::default() })
        }
        Err(failure) => Err(failure),
    }
}

/// What a call returned.
fn outcome<P: StatementPipeline>(
    transaction: &BrokerageTransaction,
    answers: &P,
) -> Answer<TransactionOutcome> {
    if answers.rows(0) == 0 {
        return Err(Failure::Protocol("a transaction without an answer".to_owned()));
    }
    let figures = |count: usize| (0..count).map(|column| answers.number(0, 0, column)).collect();
    let with_text = |count: usize| TransactionOutcome {
        figures: figures(count),
        text: answers.text(0, count).to_owned(),
        ..TransactionOutcome::default()
    };
    Ok(match transaction {
        BrokerageTransaction::BrokerVolume(_) | BrokerageTransaction::MarketWatch(_) => {
            TransactionOutcome::figures(figures(2))
        }
        BrokerageTransaction::CustomerPosition(_) => TransactionOutcome::figures(figures(3)),
        BrokerageTransaction::SecurityDetail(_) => with_text(5),
        BrokerageTransaction::TradeStatus(_) => with_text(2),
        BrokerageTransaction::TradeLookup(_)
        | BrokerageTransaction::TradeUpdate(_)
        | BrokerageTransaction::TradeResult(_)
        | BrokerageTransaction::DataMaintenance(_) => TransactionOutcome::figures(figures(1)),
        BrokerageTransaction::TradeOrder(order) => TransactionOutcome {
            figures: figures(3),
            orders: sent(answers, order.quantity).into_iter().collect(),
            ..TransactionOutcome::default()
        },
        BrokerageTransaction::MarketFeed(_) => TransactionOutcome {
            orders: answers.text(0, 0).split(';').filter_map(triggered).collect(),
            ..TransactionOutcome::default()
        },
    })
}

/// The order that a trade order became, where it goes to the market at once.
fn sent<P: StatementPipeline>(answers: &P, quantity: u32) -> Option<MarketOrder> {
    let number = |column| answers.number(0, 0, column);
    (number(1) == Some(1)).then(|| MarketOrder {
        trade: number(0).unwrap_or(0),
        symbol: answers.text(0, 3).to_owned(),
        quantity,
        price_cents: number(2).unwrap_or(0),
    })
}

/// An order whose price was reached: trade, symbol, quantity and price.
fn triggered(text: &str) -> Option<MarketOrder> {
    let mut parts = text.split(',');
    Some(MarketOrder {
        trade: parts.next()?.parse().ok()?,
        symbol: parts.next()?.to_owned(),
        quantity: parts.next()?.parse().ok()?,
        price_cents: parts.next()?.parse().ok()?,
    })
}

/// A price as a parameter.
fn cents(price_cents: i64) -> StatementValue<'static> {
    StatementValue::from(u32::try_from(price_cents).unwrap_or(0))
}

/// Numbers or names with commas between them.
fn joined<T: ToString>(values: impl Iterator<Item = T>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// Gives a call the values of a transaction.
fn give(
    transaction: &BrokerageTransaction,
    call: impl FnOnce(&'static str, &[StatementValue<'_>]) -> Answer<()>,
) -> Answer<()> {
    use StatementValue::Text;
    let number = |number: u32| StatementValue::from(number);
    match transaction {
        BrokerageTransaction::BrokerVolume(asked) => {
            call("broker_volume", &[Text(&asked.brokers.join(",")), Text(asked.sector)])
        }
        BrokerageTransaction::CustomerPosition(asked) => {
            call("customer_position", &position(asked))
        }
        BrokerageTransaction::MarketWatch(asked) => call("market_watch", &watch(asked)),
        BrokerageTransaction::SecurityDetail(asked) => {
            let (back, days) = (number(asked.days_back), number(asked.days));
            let with_texts = u32::from(asked.with_texts);
            call("security_detail", &[Text(&asked.symbol), back, days, number(with_texts)])
        }
        BrokerageTransaction::TradeLookup(lookup) => give_lookup(lookup, call),
        BrokerageTransaction::TradeOrder(order) => call("trade_order", &order_values(order)),
        BrokerageTransaction::TradeStatus(account) => call("trade_status", &[number(*account)]),
        BrokerageTransaction::TradeUpdate(update) => give_update(update, call),
        BrokerageTransaction::TradeResult(order) => {
            call("trade_result", &[StatementValue::Number(order.trade), cents(order.price_cents)])
        }
        BrokerageTransaction::MarketFeed(ticks) => {
            let [symbols, prices, quantities] = feed(ticks);
            call("market_feed", &[Text(&symbols), Text(&prices), Text(&quantities)])
        }
        BrokerageTransaction::DataMaintenance(care) => call(
            "data_maintenance",
            &[number(care.what), number(care.customer), Text(&care.symbol)],
        ),
    }
}

fn position(asked: &Position) -> [StatementValue<'_>; 3] {
    let (number, code) = match &asked.customer {
        BrokerageCustomer::Number(number) => (*number, ""),
        BrokerageCustomer::TaxCode(code) => (0, code.as_str()),
    };
    let account = asked.history_of.map_or(StatementValue::Number(-1), StatementValue::from);
    [StatementValue::from(number), StatementValue::Text(code), account]
}

fn watch(asked: &MarketWatch) -> [StatementValue<'_>; 4] {
    let (customer, account, industry) = match &asked.watched {
        WatchScope::List(customer) => (*customer, 0, ""),
        WatchScope::Account(account) => (0, *account, ""),
        WatchScope::Industry(industry) => (0, 0, industry.as_str()),
    };
    let [customer, account, back] = [customer, account, asked.days_back].map(StatementValue::from);
    [customer, account, StatementValue::Text(industry), back]
}

fn order_values(order: &TradeOrder) -> Vec<StatementValue<'_>> {
    let (first, last, code) = &order.executor;
    let (symbol, company, issue) = match &order.security {
        Ok(symbol) => (symbol.as_str(), "", ""),
        Err((company, issue)) => ("", company.as_str(), *issue),
    };
    let texts = [first, last, code.as_str(), symbol, company, issue].map(StatementValue::Text);
    let mut values = vec![StatementValue::from(order.account)];
    values.extend(texts);
    values.extend([
        StatementValue::from(order.kind),
        StatementValue::from(order.quantity),
        cents(order.limit_cents),
    ]);
    let flags = [order.is_cash, order.is_lifo, order.is_rolled_back];
    values.extend(flags.map(|flag| StatementValue::from(u32::from(flag))));
    values
}

fn feed(ticks: &[MarketTick]) -> [String; 3] {
    [
        joined(ticks.iter().map(|tick| &tick.symbol)),
        joined(ticks.iter().map(|tick| tick.price_cents)),
        joined(ticks.iter().map(|tick| tick.quantity)),
    ]
}

fn give_lookup(
    lookup: &Lookup,
    call: impl FnOnce(&'static str, &[StatementValue<'_>]) -> Answer<()>,
) -> Answer<()> {
    let number = |number: u32| StatementValue::from(number);
    match lookup {
        Lookup::Trades(numbers) => {
            call("lookup_trades", &[StatementValue::Text(&joined(numbers.iter()))])
        }
        Lookup::Account(account, from_s) => {
            call("lookup_account", &[number(*account), number(*from_s)])
        }
        Lookup::Security(symbol, from_s) => {
            call("lookup_security", &[StatementValue::Text(symbol), number(*from_s)])
        }
        Lookup::Holding(account, from_s) => {
            call("lookup_holding", &[number(*account), number(*from_s)])
        }
    }
}

fn give_update(
    update: &TradeUpdate,
    call: impl FnOnce(&'static str, &[StatementValue<'_>]) -> Answer<()>,
) -> Answer<()> {
    let number = |number: u32| StatementValue::from(number);
    match update {
        TradeUpdate::Executor(numbers) => {
            call("update_executor", &[StatementValue::Text(&joined(numbers.iter()))])
        }
        TradeUpdate::Settlement(account, from_s) => {
            call("update_settlement", &[number(*account), number(*from_s)])
        }
        TradeUpdate::Cash(symbol, from_s) => {
            call("update_cash", &[StatementValue::Text(symbol), number(*from_s)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_schema_their_days_and_each_call() {
        let rules = BrokerageRules { customers: 100, trade_days: 1, ..BrokerageRules::default() };
        let all = create("shop", &rules, 20_779 * 86_400 * SECOND_US);
        for word in ["{s}", "{next}", "{day}", "{opened}"] {
            assert!(!all.contains(word), "{word}");
        }
        assert!(all.contains("START WITH 5761") && all.contains("'1970-01-01' + 20777"));
        for (name, parameters, _) in CALLS {
            let begin = format!("CREATE FUNCTION shop.{name}(");
            assert!(all.contains(&begin), "{name}");
            let list = all.split(&begin).nth(1).and_then(|rest| rest.split(')').next());
            let given = list.unwrap_or_default().split(',').filter(|one| !one.contains("OUT "));
            let given = given.filter(|one| !one.trim().is_empty()).count();
            assert_eq!(given, parameters.matches(['#', '@']).count(), "{name}");
        }
        assert!(all.contains(ROLLED_BACK_CODE));
    }

    #[test]
    fn orders_whose_price_was_reached_are_read_and_nothing_else() {
        let text = "7,AAAAAB,100,2550;9,AAAAAC,200,1000;";
        let orders: Vec<MarketOrder> = text.split(';').filter_map(triggered).collect();
        assert_eq!(orders.len(), 2);
        assert_eq!((orders[1].trade, orders[1].price_cents), (9, 1000));
        assert_eq!((orders[0].symbol.as_str(), orders[0].quantity), ("AAAAAB", 100));
        assert!(triggered("").is_none() && triggered("7,A").is_none());
    }
}
