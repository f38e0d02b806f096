//! The conditions that the data keeps whatever happens, and what must be there of acknowledged
//! transactions.
//!
//! They are our own choice: what a brokerage's books must say of each other. Statuses: 1 pending, 2
//! submitted, 3 completed, 4 canceled; kinds 2, 4 and 5 sell, kinds from 3 on wait for a price. Two
//! sides are compared by sums over both: a row of the one counts 1 and its amount, a row of the
//! other -1 and less its amount, and nothing may remain.

use super::statements::PHRASES;
use crate::load::{Conditions, LoadSchema, Product, check_all, single_number};
use assay_loads::brokerage::BrokerageRules;
use assay_model::Result;
use assay_model::load::Checks;

/// Completed trades with what they moved, once for all conditions that need them.
const TRADES: &str = "SELECT t.id, t.account_id, a.broker_id, t.symbol, t.is_cash, t.commission, \
                      CASE WHEN t.kind IN (2, 4, 5) THEN -t.quantity ELSE t.quantity END AS \
                      moved, CASE WHEN t.kind IN (2, 4, 5) THEN t.quantity ELSE -t.quantity END * \
                      t.price - t.charge - t.commission - CASE WHEN a.tax_status = 1 THEN t.tax \
                      ELSE 0 END AS money FROM {s}.trade AS t JOIN {s}.customer_account AS a ON \
                      a.id = t.account_id WHERE t.status = 3";

/// Counts keys of which something remains; in the place of `{sides}` stand the sides.
const REMAINS: &str = "SELECT count(*) FROM (SELECT sum(side) AS side, sum(amount) AS amount FROM \
                       ({sides}) AS sides GROUP BY name, further HAVING sum(side) <> 0 OR \
                       sum(amount) <> 0) AS remains";

/// How a condition counts what breaks it.
enum Count {
    /// A statement that counts.
    Plain(&'static str),
    /// Two sides with name, further name, side and amount.
    Sides(&'static str),
}

use Count::{Plain, Sides};

/// Each condition in words, and what counts what breaks it.
const CONDITIONS: [(&str, Count); 12] = [
    (
        "the trade count of a broker equals the completed trades of its accounts",
        Plain(
            "SELECT count(*) FROM {s}.broker AS b LEFT JOIN (SELECT broker_id, count(*) AS made \
             FROM {books} GROUP BY broker_id) AS t ON t.broker_id = b.id WHERE b.trades <> \
             coalesce(made, 0)",
        ),
    ),
    (
        "the commissions of a broker equal those of these trades",
        Plain(
            "SELECT count(*) FROM {s}.broker AS b LEFT JOIN (SELECT broker_id, sum(commission) AS \
             earned FROM {books} GROUP BY broker_id) AS t ON t.broker_id = b.id WHERE \
             b.commissions <> coalesce(earned, 0)",
        ),
    ),
    (
        "the holding of a security in an account equals the sum of its lots",
        Sides(
            "SELECT account_id AS name, symbol AS further, 1 AS side, quantity AS amount FROM \
             {s}.holding_summary UNION ALL SELECT account_id, symbol, -1, -sum(quantity) FROM \
             {s}.holding GROUP BY account_id, symbol",
        ),
    ),
    (
        "the holding of a security in an account equals purchases minus sales",
        Sides(
            "SELECT account_id AS name, symbol AS further, 1 AS side, quantity AS amount FROM \
             {s}.holding_summary UNION ALL SELECT account_id, symbol, -1, -sum(moved) FROM \
             {books} GROUP BY account_id, symbol HAVING sum(moved) <> 0",
        ),
    ),
    (
        "a balance equals the opening balance plus the cash transactions since then",
        Plain(
            "SELECT count(*) FROM {s}.customer_account AS a LEFT JOIN (SELECT t.account_id, \
             sum(c.amount) AS moved FROM {s}.cash_transaction AS c JOIN {s}.trade AS t ON t.id = \
             c.trade_id GROUP BY t.account_id) AS m ON m.account_id = a.id WHERE a.balance <> \
             {opening} / 100.0 + coalesce(moved, 0)",
        ),
    ),
    (
        "the quantity of a lot matches its history",
        Sides(
            "SELECT trade_id AS name, 0 AS further, 0 AS side, quantity AS amount FROM \
             {s}.holding UNION ALL SELECT holding_trade_id, 0, 0, -sum(quantity_after - \
             quantity_before) FROM {s}.holding_history GROUP BY holding_trade_id",
        ),
    ),
    (
        "the lot changes of a trade add up to its quantity, and only completed trades have any",
        Sides(
            "SELECT id AS name, 0 AS further, 1 AS side, moved AS amount FROM {books} UNION ALL \
             SELECT trade_id, 0, -1, -sum(quantity_after - quantity_before) FROM \
             {s}.holding_history GROUP BY trade_id",
        ),
    ),
    // A status counts 2 to the power of its number.
    (
        "a trade has exactly one history row for each status that it passed",
        Plain(
            "SELECT (SELECT count(*) FROM {s}.trade AS t LEFT JOIN (SELECT trade_id, sum(CASE \
             status WHEN 1 THEN 2 WHEN 2 THEN 4 WHEN 3 THEN 8 ELSE 16 END) AS passed FROM \
             {s}.trade_history GROUP BY trade_id) AS h ON h.trade_id = t.id WHERE NOT \
             coalesce(CASE WHEN t.kind < 3 THEN CASE t.status WHEN 2 THEN h.passed = 4 WHEN 3 \
             THEN h.passed = 12 WHEN 4 THEN h.passed = 20 END ELSE CASE t.status WHEN 1 THEN \
             h.passed = 2 WHEN 2 THEN h.passed = 6 WHEN 3 THEN h.passed = 14 WHEN 4 THEN h.passed \
             IN (18, 22) END END, false)) + (SELECT count(*) FROM {s}.trade_history AS h LEFT \
             JOIN {s}.trade AS t ON t.id = h.trade_id WHERE t.id IS NULL)",
        ),
    ),
    (
        "a completed trade is settled for its value minus charges, and no other trade is settled",
        Sides(
            "SELECT id AS name, 0 AS further, 1 AS side, money AS amount FROM {books} UNION ALL \
             SELECT trade_id, 0, -1, -amount FROM {s}.settlement",
        ),
    ),
    (
        "money moved for exactly the trades that are paid from their account",
        Sides(
            "SELECT t.id AS name, 0 AS further, 1 AS side, s.amount AS amount FROM {books} AS t \
             JOIN {s}.settlement AS s ON s.trade_id = t.id WHERE t.is_cash UNION ALL SELECT \
             trade_id, 0, -1, -amount FROM {s}.cash_transaction",
        ),
    ),
    (
        "waiting orders are exactly the pending trades",
        Sides(
            "SELECT id AS name, 0 AS further, 1 AS side, 0 AS amount FROM {s}.trade WHERE status \
             = 1 UNION ALL SELECT trade_id, 0, -1, 0 FROM {s}.trade_request",
        ),
    ),
    (
        "every security has a last price, and every account may be used by its owner",
        Plain(
            "SELECT (SELECT count(*) FROM {s}.security AS y LEFT JOIN {s}.last_trade AS l ON \
             l.symbol = y.symbol WHERE l.price IS NULL OR l.price <= 0) + (SELECT count(*) FROM \
             {s}.customer_account AS a JOIN {s}.customer AS c ON c.id = a.customer_id LEFT JOIN \
             {s}.account_permission AS p ON p.account_id = a.id AND p.tax_code = c.tax_code WHERE \
             p.tax_code IS NULL)",
        ),
    ),
];

/// Trade results and trade orders that stand in the tables, by the place of their kind.
pub fn found<L: Product>(
    database: &mut LoadSchema<L>,
    rules: &BrokerageRules,
) -> Result<Vec<(usize, u64)>> {
    let (schema, first) = (database.schema.clone(), rules.trades() + 1);
    let mut count = |table: &str, column: &str| {
        let sql = format!("SELECT count(*) FROM {schema}.{table} WHERE {column} >= {first}");
        let counted = single_number(&mut database.admin, &sql);
        Ok(counted.map_err(|failure| failure.of("counting trades"))?.unwrap_or(0))
    };
    Ok(vec![(0, count("settlement", "trade_id")?), (1, count("trade", "id")?)])
}

/// Checks all conditions; `when` says in the result when that was.
pub fn verify<L: Product>(database: &mut LoadSchema<L>, when: &str) -> Result<Checks> {
    let opening = assay_loads::brokerage::OPENING_BALANCE_CENTS.to_string();
    let each = CONDITIONS.map(|(condition, count)| {
        let sql = match count {
            Plain(sql) => sql.replace("{opening}", &opening),
            Sides(sides) => REMAINS.replace("{sides}", sides),
        };
        (condition, sql)
    });
    let phrases = PHRASES.of(L::DIALECT);
    let looked_at = &[("{of books}", TRADES)];
    check_all(database, &Conditions { phrases, looked_at, each: &each }, when)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Dialect, said};

    #[test]
    fn conditions_are_in_words_that_products_know() {
        for dialect in Dialect::ALL {
            let known = PHRASES.of(dialect).words;
            for (words, count) in &CONDITIONS {
                let (Plain(sql) | Sides(sql)) = count;
                let sql = said(sql, known, "shop").replace("{opening}", "1");
                assert!(!sql.contains('{') && !sql.contains("FULL JOIN"), "{words}: {sql}");
                assert!(sql.contains("shop."), "{words}");
            }
        }
    }
}
