//! The conditions that the data keeps whatever happens, and what must be there of acknowledged transactions.
//!
//! They are our own choice: what a brokerage's books must say of each other. Statuses: 1 pending, 2 submitted,
//! 3 completed, 4 canceled; kinds 2, 4 and 5 sell, kinds from 3 on wait for a price.

use crate::load::{Conditions, Database, check_all};
use assay_model::Result;
use assay_model::load::Checks;

/// Completed trades with what they moved, once for all conditions that need them.
const TRADES: &str = "
    SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB';
    CREATE TEMP TABLE assay_trades AS
    SELECT t.id, t.account_id, a.broker_id, t.symbol, t.is_cash, t.commission,
        CASE WHEN t.kind IN (2, 4, 5) THEN -t.quantity ELSE t.quantity END AS moved,
        CASE WHEN t.kind IN (2, 4, 5) THEN t.quantity ELSE -t.quantity END * t.price - t.charge - t.commission
            - CASE WHEN a.tax_status = 1 THEN t.tax ELSE 0 END AS money
    FROM {s}.trade AS t JOIN {s}.customer_account AS a ON a.id = t.account_id WHERE t.status = 3;
    ANALYZE assay_trades";

/// Each condition in words, and a statement that counts what breaks it.
const CONDITIONS: [(&str, &str); 12] = [
    (
        "a broker has made the completed trades of its accounts",
        "SELECT count(*) FROM {s}.broker AS b \
         LEFT JOIN (SELECT broker_id, count(*) AS made FROM assay_trades GROUP BY 1) AS t ON t.broker_id = b.id \
         WHERE b.trades <> coalesce(made, 0)",
    ),
    (
        "a broker has earned the commissions of these trades",
        "SELECT count(*) FROM {s}.broker AS b \
         LEFT JOIN (SELECT broker_id, sum(commission) AS earned FROM assay_trades GROUP BY 1) AS t ON t.broker_id = b.id \
         WHERE b.commissions <> coalesce(earned, 0)",
    ),
    (
        "what an account holds of a security is the sum of its lots",
        "SELECT count(*) FROM {s}.holding_summary AS s \
         FULL JOIN (SELECT account_id, symbol, sum(quantity) AS held FROM {s}.holding GROUP BY 1, 2) AS h \
         ON h.account_id = s.account_id AND h.symbol = s.symbol WHERE s.quantity IS DISTINCT FROM h.held",
    ),
    (
        "what an account holds of a security is what it bought less what it sold",
        "SELECT count(*) FROM {s}.holding_summary AS s \
         FULL JOIN (SELECT account_id, symbol, sum(moved) AS held FROM assay_trades GROUP BY 1, 2 HAVING sum(moved) <> 0) AS t \
         ON t.account_id = s.account_id AND t.symbol = s.symbol WHERE s.quantity IS DISTINCT FROM t.held",
    ),
    (
        "a balance is that of the opening and the cash transactions since",
        "SELECT count(*) FROM {s}.customer_account AS a \
         LEFT JOIN (SELECT t.account_id, sum(c.amount) AS moved FROM {s}.cash_transaction AS c \
         JOIN {s}.trade AS t ON t.id = c.trade_id GROUP BY 1) AS m ON m.account_id = a.id \
         WHERE a.balance <> {opening} / 100.0 + coalesce(moved, 0)",
    ),
    (
        "a lot has what the changes of its history left",
        "SELECT count(*) FROM {s}.holding AS h \
         FULL JOIN (SELECT holding_trade_id, sum(quantity_after - quantity_before) AS left_over FROM {s}.holding_history \
         GROUP BY 1) AS c ON c.holding_trade_id = h.trade_id WHERE coalesce(h.quantity, 0) <> coalesce(left_over, 0)",
    ),
    (
        "the changes of lots by a trade are its quantity, and only completed trades have any",
        "SELECT count(*) FROM assay_trades AS t \
         FULL JOIN (SELECT trade_id, sum(quantity_after - quantity_before) AS moved FROM {s}.holding_history GROUP BY 1) AS c \
         ON c.trade_id = t.id WHERE t.moved IS DISTINCT FROM c.moved",
    ),
    (
        "a trade has a row of history for each status that it passed, and no other",
        "SELECT count(*) FROM {s}.trade AS t \
         FULL JOIN (SELECT trade_id, bit_or(1 << status) AS passed FROM {s}.trade_history GROUP BY 1) AS h ON h.trade_id = t.id \
         WHERE NOT coalesce(h.passed = ANY (CASE WHEN t.kind < 3 \
         THEN CASE t.status WHEN 2 THEN ARRAY[4] WHEN 3 THEN ARRAY[12] WHEN 4 THEN ARRAY[20] END \
         ELSE CASE t.status WHEN 1 THEN ARRAY[2] WHEN 2 THEN ARRAY[6] WHEN 3 THEN ARRAY[14] WHEN 4 THEN ARRAY[18, 22] END \
         END), false)",
    ),
    (
        "a completed trade is settled for its value less what is charged, and no other trade is settled",
        "SELECT count(*) FROM assay_trades AS t FULL JOIN {s}.settlement AS s ON s.trade_id = t.id \
         WHERE t.money IS DISTINCT FROM s.amount",
    ),
    (
        "a trade that is paid from its account has moved the money of its settlement, and no other has",
        "SELECT count(*) FROM (SELECT t.id, s.amount FROM assay_trades AS t JOIN {s}.settlement AS s ON s.trade_id = t.id \
         WHERE t.is_cash) AS paid FULL JOIN {s}.cash_transaction AS c ON c.trade_id = paid.id \
         WHERE paid.amount IS DISTINCT FROM c.amount",
    ),
    (
        "orders that wait are the trades that are pending",
        "SELECT count(*) FROM (SELECT id FROM {s}.trade WHERE status = 1) AS t \
         FULL JOIN {s}.trade_request AS r ON r.trade_id = t.id WHERE t.id IS NULL OR r.trade_id IS NULL",
    ),
    (
        "every security has a last price, and every account may be used by its owner",
        "SELECT (SELECT count(*) FROM {s}.security AS y LEFT JOIN {s}.last_trade AS l ON l.symbol = y.symbol \
         WHERE l.price IS NULL OR l.price <= 0) \
         + (SELECT count(*) FROM {s}.customer_account AS a JOIN {s}.customer AS c ON c.id = a.customer_id \
         LEFT JOIN {s}.account_permission AS p ON p.account_id = a.id AND p.tax_code = c.tax_code WHERE p.tax_code IS NULL)",
    ),
];

/// Trade results and trade orders that stand in the tables, by the place of their kind.
///
/// # Errors
/// What the server says.
pub fn found(database: &mut Database) -> Result<Vec<(usize, u64)>> {
    let sql = format!("SELECT results, orders FROM {}.trades_placed()", database.schema);
    let row = database.admin.one(&sql);
    let row = row.map_err(|failure| failure.of("counting trades"))?;
    Ok(vec![(0, row.count(0).unwrap_or(0)), (1, row.count(1).unwrap_or(0))])
}

/// Checks all conditions; `when` says in the result when that was.
///
/// # Errors
/// What the server says.
pub fn verify(database: &mut Database, when: &str) -> Result<Checks> {
    let opening = assay_loads::brokerage::OPENING_BALANCE_CENTS.to_string();
    let each = CONDITIONS.map(|(words, sql)| (words, sql.replace("{opening}", &opening)));
    let conditions = Conditions { before: &[TRADES.to_owned()], each: &each, after: None };
    check_all(database, &conditions, when)
}
