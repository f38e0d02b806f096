//! All transactions as functions of the server: one call, one network round trip, one transaction.

use assay_loads::brokerage::Rules;

const FUNCTIONS: &str = include_str!("sql/postgres_functions.sql");

/// The code with which an order is taken back.
pub(super) const ROLLED_BACK_CODE: &str = "AS002";
/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// Creates all functions, and the numbers of trades to come.
pub(super) fn create(schema: &str, rules: &Rules, loaded_us: i64) -> String {
    let opened_s = rules.opened_us(loaded_us) / SECOND_US;
    FUNCTIONS
        .replace("{s}", schema)
        .replace("{next}", &(rules.trades() + 1).to_string())
        .replace("{day}", &format!("(date '1970-01-01' + {})", Rules::last_price_day(loaded_us)))
        .replace(
            "{opened}",
            &format!("(timestamp '1970-01-01' + make_interval(secs => {opened_s}))"),
        )
}

/// The calls: names with their parameters and what is asked of the answer, money in hundredths.
pub(super) const CALLS: [(&str, &str, &str); 16] = [
    ("broker_volume", "@1, @2", "brokers, (volume * 100)::bigint"),
    ("customer_position", "#1::int, @2, #3::int", "accounts, (total * 100)::bigint, steps"),
    ("market_watch", "#1::int, #2::int, @3, #4::int", "securities, (change * 1000000)::bigint"),
    (
        "security_detail",
        "@1, #2::int, #3::int, #4::int",
        "competitors, (quarters * 100)::bigint, (prices * 100)::bigint, letters, (price * 100)::bigint, company",
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
        "#1::int, @2, @3, @4, @5, @6, @7, #8::int, #9::int, #10::int, #11::int, \
         #12::int, #13::int",
        "number, sent, cents, of_symbol",
    ),
    ("trade_result", "#1, #2::int", "(money * 100)::bigint"),
    ("market_feed", "@1, @2, @3", "sent"),
    ("data_maintenance", "#1::int, #2::int, @3", "done"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_schema_their_days_and_each_call() {
        let rules = Rules { customers: 100, trade_days: 1, ..Rules::default() };
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
}
