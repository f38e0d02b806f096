//! The statements of all transactions, written once in the words that products share.

use super::store::BrokerStore;
use crate::load::{Statement, all_in};

/// Trades that a statement takes at once.
pub(super) const TRADES: usize = 20;
/// Brokers that a statement takes at once.
pub(super) const BROKERS: usize = 40;

/// All statements in the words of a product.
pub(super) fn all<L: BrokerStore>(schema: &str) -> Vec<Statement> {
    let numbers = list('#', 1, TRADES);
    let names = list('@', 2, BROKERS);
    let whole = |text: &str| {
        let text = text.replace("{worth}", WORTH).replace("{prices}", PRICES);
        text.replace("{numbers}", &numbers).replace("{names}", &names)
    };
    let texts = [READS, ORDERS, RESULTS, FEEDS, UPDATES, CARE].into_iter().flatten();
    let texts: Vec<_> = texts.map(|(name, text)| (*name, whole(text))).collect();
    all_in(texts.iter().map(|(name, text)| (*name, text.as_str())), L::DIALECT, schema)
}

/// `count` parameters of a kind, with commas between them.
fn list(kind: char, first: usize, count: usize) -> String {
    (first..first + count).map(|place| format!("{kind}{place}")).collect::<Vec<_>>().join(", ")
}

type Texts = &'static [(&'static str, &'static str)];

/// What securities `w` were and are worth, all shares of them.
const WORTH: &str = "SELECT count(*), cast(sum(d.close * y.shares) * 100 AS {long}), cast(sum(l.price * y.shares) * 100 AS {long})";
const PRICES: &str = "JOIN {s}.security AS y ON y.symbol = w.symbol JOIN {s}.last_trade AS l ON l.symbol = w.symbol \
    JOIN {s}.daily_market AS d ON d.symbol = w.symbol AND d.day = {since}";

const READS: Texts = &[
    (
        "broker_volume",
        "SELECT count(*), cast(sum(v) * 100 AS {long}) FROM (SELECT b.name, sum(r.quantity * r.bid_price) AS v \
         FROM {s}.sector AS g JOIN {s}.industry AS i ON i.sector_id = g.id JOIN {s}.company AS c ON c.industry_id = i.id \
         JOIN {s}.security AS y ON y.company_id = c.id JOIN {s}.trade_request AS r ON r.symbol = y.symbol \
         JOIN {s}.broker AS b ON b.id = r.broker_id WHERE g.name = @1 AND b.name IN ({names}) \
         GROUP BY b.name ORDER BY v DESC) AS of_brokers",
    ),
    ("owner_of_code", "SELECT id FROM {s}.customer WHERE tax_code = @1"),
    ("owner", "SELECT id FROM {s}.customer WHERE id = #1"),
    (
        "accounts",
        "SELECT count(*), cast(sum(balance + held) * 100 AS {long}) FROM (\
         SELECT a.id, a.balance, coalesce(sum(h.quantity * l.price), 0) AS held \
         FROM {s}.customer_account AS a LEFT JOIN {s}.holding_summary AS h ON h.account_id = a.id \
         LEFT JOIN {s}.last_trade AS l ON l.symbol = h.symbol \
         WHERE a.customer_id = #1 GROUP BY a.id, a.balance ORDER BY held LIMIT 10) AS of_accounts",
    ),
    (
        "steps",
        "SELECT count(s.name) FROM (SELECT id FROM {s}.trade WHERE account_id = #1 ORDER BY at DESC LIMIT 10) AS t \
         JOIN {s}.trade_history AS h ON h.trade_id = t.id JOIN {s}.status_type AS s ON s.id = h.status",
    ),
    (
        "watch_list",
        "{worth} FROM {s}.watch_list AS o JOIN {s}.watch_item AS w ON w.list_id = o.id {prices} WHERE o.customer_id = #1",
    ),
    ("watch_account", "{worth} FROM {s}.holding_summary AS w {prices} WHERE w.account_id = #1"),
    (
        "watch_industry",
        "{worth} FROM {s}.industry AS i JOIN {s}.company AS c ON c.industry_id = i.id \
         JOIN {s}.security AS w ON w.company_id = c.id {prices} WHERE i.name = @1",
    ),
    (
        "company",
        "SELECT concat(c.name, ' ', c.chief, ' ', c.description), concat(a.line_1, z.town, b.line_1, e.description) \
         FROM {s}.security AS y JOIN {s}.company AS c ON c.id = y.company_id JOIN {s}.address AS a ON a.id = c.address_id \
         JOIN {s}.zip_code AS z ON z.code = a.zip_code JOIN {s}.exchange AS e ON e.id = y.exchange_id \
         JOIN {s}.address AS b ON b.id = e.address_id WHERE y.symbol = @1",
    ),
    (
        "competitors",
        "SELECT count(concat(o.name, i.name)) FROM {s}.security AS y \
         JOIN {s}.company_competitor AS k ON k.company_id = y.company_id JOIN {s}.company AS o ON o.id = k.competitor_id \
         JOIN {s}.industry AS i ON i.id = k.industry_id WHERE y.symbol = @1",
    ),
    (
        "quarters",
        "SELECT cast(sum(f.revenue + f.earned + f.assets) * 100 AS {long}) FROM {s}.security AS y \
         JOIN {s}.financial AS f ON f.company_id = y.company_id WHERE y.symbol = @1",
    ),
    (
        "prices",
        "SELECT cast(sum(d.close) * 100 AS {long}) FROM (SELECT close FROM {s}.daily_market \
         WHERE symbol = @1 AND day >= {since} ORDER BY day LIMIT #3) AS d",
    ),
    ("last_price", "SELECT cast(price * 100 AS {long}) FROM {s}.last_trade WHERE symbol = @1"),
    (
        "texts",
        "SELECT cast(sum(length(n.item)) AS {long}) FROM {s}.security AS y \
         JOIN {s}.news_link AS x ON x.company_id = y.company_id JOIN {s}.news_item AS n ON n.id = x.news_id WHERE y.symbol = @1",
    ),
    (
        "headlines",
        "SELECT cast(sum(length(n.headline) + length(n.summary)) AS {long}) FROM {s}.security AS y \
         JOIN {s}.news_link AS x ON x.company_id = y.company_id JOIN {s}.news_item AS n ON n.id = x.news_id WHERE y.symbol = @1",
    ),
    (
        "trades_of_account",
        "SELECT t.id FROM {s}.trade AS t WHERE t.account_id = #1 AND t.at >= {moment} ORDER BY t.at LIMIT 20",
    ),
    (
        "trades_of_security",
        "SELECT t.id FROM {s}.trade AS t WHERE t.symbol = @1 AND t.at >= {moment} ORDER BY t.at LIMIT 20",
    ),
    (
        "details",
        "SELECT count(k.name), sum(s.amount + t.bid_price), sum(c.amount) FROM {s}.trade AS t \
         JOIN {s}.trade_type AS k ON k.id = t.kind LEFT JOIN {s}.settlement AS s ON s.trade_id = t.id \
         LEFT JOIN {s}.cash_transaction AS c ON c.trade_id = t.id WHERE t.id IN ({numbers})",
    ),
    ("last_steps", "SELECT max(h.at) FROM {s}.trade_history AS h WHERE h.trade_id IN ({numbers})"),
    (
        "what_became",
        "SELECT count(h.quantity_after) FROM (SELECT t.id FROM {s}.trade AS t \
         WHERE t.account_id = #1 AND t.at >= {moment} ORDER BY t.at LIMIT 1) AS f \
         JOIN {s}.holding_history AS o ON o.trade_id = f.id \
         JOIN {s}.holding_history AS h ON h.holding_trade_id = o.holding_trade_id",
    ),
    (
        "status",
        "SELECT count(*), cast(sum(length(s.name) + length(k.name) + length(y.name) + length(e.name)) AS {long}) \
         FROM (SELECT * FROM {s}.trade WHERE account_id = #1 ORDER BY at DESC LIMIT 50) AS t \
         JOIN {s}.status_type AS s ON s.id = t.status JOIN {s}.trade_type AS k ON k.id = t.kind \
         JOIN {s}.security AS y ON y.symbol = t.symbol JOIN {s}.exchange AS e ON e.id = y.exchange_id",
    ),
    (
        "status_names",
        "SELECT concat(c.first_name, ' ', c.last_name, ' ', b.name) FROM {s}.customer_account AS a \
         JOIN {s}.customer AS c ON c.id = a.customer_id JOIN {s}.broker AS b ON b.id = a.broker_id WHERE a.id = #1",
    ),
];

const ORDERS: Texts = &[
    (
        "account",
        "SELECT o.customer_id, o.broker_id, o.tax_status, c.tier, c.tax_code, cast(o.balance * 100 AS {long}), b.name \
         FROM {s}.customer_account AS o JOIN {s}.customer AS c ON c.id = o.customer_id JOIN {s}.broker AS b ON b.id = o.broker_id \
         WHERE o.id = #1",
    ),
    (
        "permission",
        "SELECT 1 FROM {s}.account_permission WHERE account_id = #1 AND tax_code = @2 AND last_name = @3 AND first_name = @4",
    ),
    (
        "security",
        "SELECT s.symbol, s.exchange_id, cast(l.price * 100 AS {long}) FROM {s}.security AS s \
         JOIN {s}.last_trade AS l ON l.symbol = s.symbol WHERE s.symbol = @1",
    ),
    (
        "security_of",
        "SELECT s.symbol, s.exchange_id, cast(l.price * 100 AS {long}) FROM {s}.company AS c \
         JOIN {s}.security AS s ON s.company_id = c.id JOIN {s}.last_trade AS l ON l.symbol = s.symbol \
         WHERE c.name = @1 AND s.issue = @2",
    ),
    (
        "lots",
        "SELECT h.trade_id, cast(h.price * 100 AS {long}), h.quantity FROM {s}.holding AS h \
         WHERE h.account_id = #1 AND h.symbol = @2 ORDER BY h.trade_id",
    ),
    (
        "tax_rate",
        "SELECT cast(sum(r.rate) * 10000 AS {long}) FROM {s}.customer_tax_rate AS x \
         JOIN {s}.tax_rate AS r ON r.id = x.tax_rate_id WHERE x.customer_id = #1",
    ),
    (
        "rate",
        "SELECT cast(r.rate * 100 AS {long}) FROM {s}.commission_rate AS r WHERE r.tier = #1 AND r.kind = #2 \
         AND r.exchange_id = #3 AND r.from_quantity <= #4 AND r.to_quantity >= #4",
    ),
    (
        "charge",
        "SELECT cast(c.amount * 100 AS {long}) FROM {s}.charge AS c WHERE c.kind = #1 AND c.tier = #2",
    ),
    (
        "assets",
        "SELECT cast(coalesce(sum(h.quantity * l.price), 0) * 100 AS {long}) FROM {s}.holding_summary AS h \
         JOIN {s}.last_trade AS l ON l.symbol = h.symbol WHERE h.account_id = #1",
    ),
    (
        "order",
        "INSERT INTO {s}.trade VALUES ({next number}, localtimestamp(6), #1, #2, #3 = 1, @4, #5, #6 / 100.0, #7, @8, NULL, \
         #9 / 100.0, #10 / 100.0, #11 / 100.0, #12 = 1)",
    ),
    ("ordered", "INSERT INTO {s}.trade_history VALUES ({number}, localtimestamp(6), #1)"),
    ("request", "INSERT INTO {s}.trade_request VALUES ({number}, #1, @2, #3, #4 / 100.0, #5)"),
    ("number", "SELECT cast({number} AS {long})"),
];

const RESULTS: Texts = &[
    (
        "trade",
        "SELECT t.account_id, t.symbol, t.kind, t.quantity, CASE WHEN t.is_cash THEN 1 ELSE 0 END, \
         CASE WHEN t.is_lifo THEN 1 ELSE 0 END, cast(t.charge * 100 AS {long}), t.status \
         FROM {s}.trade AS t WHERE t.id = #1 {lock}",
    ),
    // Who holds the account holds what is in it, too.
    (
        "account_of_trade",
        "SELECT o.customer_id, o.broker_id, o.tax_status FROM {s}.customer_account AS o \
         WHERE o.id = (SELECT account_id FROM {s}.trade WHERE id = #1) {lock}",
    ),
    (
        "lots_of_trade",
        "SELECT h.trade_id, cast(h.price * 100 AS {long}), h.quantity FROM {s}.trade AS t \
         JOIN {s}.holding AS h ON h.account_id = t.account_id AND h.symbol = t.symbol \
         WHERE t.id = #1 ORDER BY h.trade_id {fresh}",
    ),
    (
        "tax_rate_of_trade",
        "SELECT cast(sum(r.rate) * 10000 AS {long}) FROM {s}.trade AS t JOIN {s}.customer_account AS o ON o.id = t.account_id \
         JOIN {s}.customer_tax_rate AS x ON x.customer_id = o.customer_id JOIN {s}.tax_rate AS r ON r.id = x.tax_rate_id \
         WHERE t.id = #1",
    ),
    (
        "rate_of_trade",
        "SELECT cast(r.rate * 100 AS {long}) FROM {s}.trade AS t JOIN {s}.customer_account AS o ON o.id = t.account_id \
         JOIN {s}.customer AS c ON c.id = o.customer_id JOIN {s}.security AS y ON y.symbol = t.symbol \
         JOIN {s}.commission_rate AS r ON r.tier = c.tier AND r.kind = t.kind AND r.exchange_id = y.exchange_id \
         WHERE t.id = #1 AND r.from_quantity <= t.quantity AND r.to_quantity >= t.quantity",
    ),
    ("lot_changed", "INSERT INTO {s}.holding_history VALUES (#1, #2, #3, #4)"),
    ("lot_gone", "DELETE FROM {s}.holding WHERE trade_id = #1"),
    ("lot_left", "UPDATE {s}.holding SET quantity = #2 WHERE trade_id = #1"),
    ("lot", "INSERT INTO {s}.holding VALUES (#1, #2, @3, localtimestamp(6), #4 / 100.0, #5)"),
    ("held_first", "INSERT INTO {s}.holding_summary VALUES (#1, @2, #3)"),
    (
        "held_now",
        "UPDATE {s}.holding_summary SET quantity = quantity + #3 WHERE account_id = #1 AND symbol = @2",
    ),
    ("held_none", "DELETE FROM {s}.holding_summary WHERE account_id = #1 AND symbol = @2"),
    (
        "completed",
        "UPDATE {s}.trade SET status = 3, at = localtimestamp(6), price = #2 / 100.0, commission = #3 / 100.0, \
         tax = #4 / 100.0 WHERE id = #1",
    ),
    ("passed", "INSERT INTO {s}.trade_history VALUES (#1, localtimestamp(6), #2)"),
    (
        "settled",
        "INSERT INTO {s}.settlement VALUES (#1, @2, current_date + interval '2' day, #3 / 100.0)",
    ),
    ("paid", "UPDATE {s}.customer_account SET balance = balance + #2 / 100.0 WHERE id = #1"),
    ("cash", "INSERT INTO {s}.cash_transaction VALUES (#1, localtimestamp(6), #2 / 100.0, @3)"),
    (
        "earned",
        "UPDATE {s}.broker SET trades = trades + 1, commissions = commissions + #2 / 100.0 WHERE id = #1",
    ),
];

const FEEDS: Texts = &[
    // Who holds the price of a security holds what waits for it, too.
    (
        "price",
        "UPDATE {s}.last_trade SET price = #2 / 100.0, volume = volume + #3, at = localtimestamp(6) WHERE symbol = @1",
    ),
    (
        "reached",
        "SELECT r.trade_id, r.quantity FROM {s}.trade_request AS r WHERE r.symbol = @1 \
         AND ((r.kind IN (3, 5) AND r.bid_price >= #2 / 100.0) OR (r.kind = 4 AND r.bid_price <= #2 / 100.0)) \
         ORDER BY r.trade_id {fresh}",
    ),
    ("request_gone", "DELETE FROM {s}.trade_request WHERE trade_id = #1"),
    ("submitted", "UPDATE {s}.trade SET status = 2, at = localtimestamp(6) WHERE id = #1"),
];

const UPDATES: Texts = &[
    (
        "executor",
        "UPDATE {s}.trade SET executor = CASE WHEN executor LIKE '% X %' THEN replace(executor, ' X ', ' ') \
         ELSE replace(executor, ' ', ' X ') END WHERE id IN ({numbers})",
    ),
    (
        "cash_type",
        "UPDATE {s}.settlement SET cash_type = CASE cash_type WHEN 'Cash Account' THEN 'Cash' WHEN 'Cash' THEN 'Cash Account' \
         WHEN 'Margin' THEN 'Margin Account' ELSE 'Margin' END WHERE trade_id IN ({numbers})",
    ),
    (
        "cash_name",
        "UPDATE {s}.cash_transaction SET name = CASE WHEN name LIKE '% shares of %' THEN replace(name, ' shares of ', ' of ') \
         ELSE replace(name, ' of ', ' shares of ') END WHERE trade_id IN ({numbers})",
    ),
];

const CARE: Texts = &[
    (
        "care_permission",
        "UPDATE {s}.account_permission SET may = CASE may WHEN '0001' THEN '0011' ELSE '0001' END \
         WHERE account_id = #1 * 10 AND may <> '0000'",
    ),
    (
        "care_address",
        "UPDATE {s}.address SET line_2 = CASE line_2 WHEN 'Floor 2' THEN 'Floor 22' ELSE 'Floor 2' END \
         WHERE id = (SELECT address_id FROM {s}.customer WHERE id = #1)",
    ),
    (
        "care_rating",
        "UPDATE {s}.company SET rating = CASE rating WHEN 'AAA' THEN 'AA' ELSE 'AAA' END \
         WHERE id = (SELECT company_id FROM {s}.security WHERE symbol = @1)",
    ),
    (
        "care_email",
        "UPDATE {s}.customer SET email_2 = CASE WHEN email_2 LIKE '%@office.example' THEN replace(email_2, '@office', '@desk') \
         ELSE replace(email_2, '@desk', '@office') END WHERE id = #1",
    ),
    (
        "care_taxes",
        "UPDATE {s}.customer_tax_rate SET tax_rate_id = tax_rate_id % 20 + 1 WHERE customer_id = #1 AND tax_rate_id <= 20",
    ),
    (
        "care_volume",
        "UPDATE {s}.daily_market SET volume = volume + 1 WHERE symbol = @1 AND day > {since}",
    ),
    (
        "care_exchange",
        "UPDATE {s}.exchange SET description = CASE WHEN description LIKE '%.' \
         THEN trim(TRAILING '.' FROM description) ELSE concat(description, '.') END",
    ),
    (
        "care_quarters",
        "UPDATE {s}.financial SET begun = CASE WHEN extract(day FROM begun) % 2 = 0 THEN begun - interval '1' day \
         ELSE begun + interval '1' day END WHERE company_id = (SELECT company_id FROM {s}.security WHERE symbol = @1)",
    ),
    (
        "news_of",
        "SELECT x.news_id FROM {s}.security AS y JOIN {s}.news_link AS x ON x.company_id = y.company_id \
         WHERE y.symbol = @1 ORDER BY x.news_id",
    ),
    (
        "care_news",
        "UPDATE {s}.news_item SET published = published + interval '1' day WHERE id = #1",
    ),
    (
        "care_listing",
        "UPDATE {s}.security SET listed = listed + interval '1' day WHERE symbol = @1",
    ),
    (
        "care_tax_names",
        "UPDATE {s}.tax_rate SET name = CASE WHEN name LIKE 'Tax %' THEN replace(name, 'Tax ', 'Duty ') \
         ELSE replace(name, 'Duty ', 'Tax ') END WHERE id = #1",
    ),
    (
        "watched",
        "SELECT min(symbol), count(CASE WHEN symbol = @2 THEN 1 END) FROM {s}.watch_item WHERE list_id = #1",
    ),
    ("care_watched", "UPDATE {s}.watch_item SET symbol = @2 WHERE list_id = #1 AND symbol = @3"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::MariaLink;
    use assay_postgres::connection::Connection;
    use std::collections::HashSet;

    fn assert_whole<L: BrokerStore>() {
        let all = all::<L>("shop");
        let names: HashSet<&str> = all.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), all.len());
        for Statement { name, sql, order, .. } in &all {
            assert!(!sql.contains(['{', '}', '#']), "{name}: {sql}");
            let marks = sql.matches(if L::DIALECT.is_numbered { "$" } else { "?" }).count();
            assert!(marks >= order.len(), "{name}: {sql}");
            assert!(L::DIALECT.is_numbered || marks == order.len(), "{name}: {sql}");
        }
    }

    #[test]
    fn every_statement_has_a_name_of_its_own_and_no_word_that_a_product_does_not_know() {
        assert_whole::<Connection>();
        assert_whole::<MariaLink>();
        assert!(
            READS.iter().all(|(_, text)| text.starts_with("SELECT") || text.starts_with("{worth}"))
        );
    }
}
