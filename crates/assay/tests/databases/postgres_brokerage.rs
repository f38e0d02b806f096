//! `assay bench brokerage` on the servers that this machine has: what it measures, that its books
//! stay right, also when its server is killed, that its functions answer what plain queries say,
//! and how it fails. Without a server the tests say that they were skipped.

use crate::brokerage::{BUSY, SMALL, Side, assert_alike};
use crate::server::{Place, address, given_server, json, schemas, words};
use crate::transactions::{Given, assert_nothing_lost, assert_right, ios, killed};
use assay_dbload::load::Calls;
use assay_postgres::connection::PostgresConnection;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::time::Duration;

fn streams(rung: &Value) -> Vec<&str> {
    let streams = rung["measurement"]["streams"].as_array().unwrap().iter();
    streams.map(|stream| stream["name"].as_str().unwrap()).collect()
}

#[test]
fn all_transactions_happen_and_the_books_stay_right() {
    let Some(place) = Place::new("brokerage-whole") else {
        return;
    };
    fs::write(place.0.join("busy.mix.toml"), BUSY).unwrap();
    let output = place.run(&format!(
        "bench brokerage d {SMALL} --mix busy.mix.toml --sessions 1,3 --time 4s --warm-up 500ms \
         --restore-every 1 --verify"
    ));
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(load["kind"], "brokerage");
    assert_right(load, 2);
    // 177,000 prices, five rows and more for each of 11,520 trades, and the tables of fixed size.
    let rows = load["filled"]["rows"].as_u64().unwrap();
    assert!((270_000..=330_000).contains(&rows), "{rows}");
    let plan = load["plan"].as_array().unwrap();
    assert!(plan.iter().any(|one| one["name"] == "mix" && one["value"] == "busy, version 7"));
    for rung in load["steps"].as_array().unwrap() {
        assert!(rung["measurement"]["errors"].as_array().unwrap().is_empty(), "{rung}");
        let all = streams(rung);
        for name in [
            "trade result",
            "trade order",
            "market feed",
            "trade update",
            "data maintenance",
            "broker volume",
            "customer position",
            "market watch",
            "security detail",
            "trade lookup",
            "trade status",
        ] {
            assert!(all.contains(&name), "{name}: {all:?}");
        }
        // What was ordered at the market comes back, and some of what waited for its price.
        let (orders, results) = (ios(rung, "trade order"), ios(rung, "trade result"));
        assert!(results > orders / 5 && results < orders + 50, "{orders} {results}");
    }
    assert_eq!((place.left().len(), place.processes()), (0, 0));
    told_in_every_form(&place);
}

/// Text and page of the last run.
fn told_in_every_form(place: &Place) {
    let text = place.run("report");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for word in ["trade results/s", "not a TPC benchmark", "DB reads:writes", "9.7:1", "12 of 12"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(place.run("report --html page.html").status.code(), Some(0));
    let page = fs::read_to_string(place.0.join("page.html")).unwrap();
    assert!(page.contains("Trade results by users") && page.contains("not a TPC benchmark"));
}

#[test]
fn statements_answer_and_do_what_functions_do() {
    let Some(place) = Place::new("brokerage-alike") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let side = |schema: &str, calls| {
        Side::<PostgresConnection>::new(server.address("postgres"), schema, calls)
    };
    assert_alike(side("one", Calls::Functions), side("other", Calls::Statements));
}

#[test]
fn statements_keep_the_books_right_beside_each_other() {
    let Some(place) = Place::new("brokerage-stmt") else {
        return;
    };
    fs::write(place.0.join("busy.mix.toml"), BUSY).unwrap();
    let output = place.run(&format!(
        "bench brokerage d {SMALL} --calls stmt --mix busy.mix.toml --sessions 4 --time 4s \
         --warm-up 500ms --verify"
    ));
    let load = &json(&output)["load"];
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_right(load, 2);
    assert!(load["steps"][0]["measurement"]["errors"].as_array().unwrap().is_empty(), "{load}");
}

#[test]
fn a_write_heavy_mix_changes_more_and_open_arrivals_lose_nothing() {
    let Some(place) = Place::new("brokerage-mix") else {
        return;
    };
    let share = |mix: &str| {
        let output = place.run(&format!(
            "bench brokerage d {SMALL} --mix {mix} --sessions 2 --rate 100 --arrival constant \
             --time 4s --warm-up 1s"
        ));
        let all = json(&output);
        let rung = &all["load"]["steps"][0];
        let reads = ["broker volume", "customer position", "market watch", "security detail"];
        let reads = reads.iter().chain(&["trade lookup", "trade status"]);
        let reads: u64 = reads.map(|name| ios(rung, name)).sum();
        let total: u64 = streams(rung).iter().map(|name| ios(rung, name)).sum();
        let late = rung["backlog"].as_u64().unwrap();
        // A busy machine may be late, but nothing that was due is lost: 400, the one at the start,
        // and at the most the 100 of the warm-up.
        assert!((395..=505).contains(&(total + late)), "{total} {late}");
        (total - reads, total)
    };
    // Who thinks asks seldom: twelve users 72 times in three seconds.
    let output = place.run(&format!(
        "bench brokerage d {SMALL} --sessions 12 --think 500ms --time 3s --warm-up 1s"
    ));
    let rung = &json(&output)["load"]["steps"][0];
    let asked =
        ["customer position", "market watch", "security detail", "trade lookup", "trade status"];
    let asked: u64 = asked.iter().map(|name| ios(rung, name)).sum();
    // What is asked by these, with six standard deviations of 72 to spare.
    assert!((1..=123).contains(&asked), "{asked}");
    let ((few, of_few), (many, of_many)) = (share("default"), share("write-heavy"));
    // 23 and 62 of a hundred, less the limits that still wait; shares of 400 are within 7 of a
    // hundred.
    assert!(many * of_few > 3 * few * of_many / 2, "{few}/{of_few} {many}/{of_many}");
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed_and_sessions_come_back() {
    let Some(place) = Place::new("brokerage-kill") else {
        return;
    };
    let words_of =
        "--sessions 3 --time 10s --warm-up 0s --mix write-heavy --verify --on-loss reconnect";
    let load = format!("bench brokerage d {SMALL} {words_of}");
    let after = Duration::from_millis(1500);
    let output = killed(&place, &load, after, || place.kill_server(Signal::QUIT));
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(assert_nothing_lost(&place, &output, "complete") > 0);
}

#[test]
fn what_cannot_be_meant_is_told() {
    let Some(place) = Place::new("brokerage-refused") else {
        return;
    };
    fs::write(place.0.join("wrong.mix.toml"), BUSY.replace("trade_order", "trade_ordre")).unwrap();
    for (arguments, code, word) in [
        ("bench brokerage nowhere", 2, "neither a directory"),
        ("bench brokerage d --customers 150", 2, "multiples of 100"),
        ("bench brokerage d --trade-days 0", 2, "--trade-days"),
        ("bench brokerage d --security-skew 3", 2, "--security-skew"),
        ("bench brokerage d --mix other", 2, "write-heavy"),
        ("bench brokerage d --mix missing.mix.toml", 2, "missing.mix.toml"),
        ("bench brokerage d --mix wrong.mix.toml", 2, "did you mean 'trade_order'"),
        ("bench brokerage d --rate 0", 2, "--rate"),
        ("bench brokerage d --rate 5 --think 1s", 2, "contradict"),
        ("bench brokerage d --think 2h", 2, "--think"),
        ("bench brokerage d --customers 10000000", 4, "space"),
        ("bench brokerage postgresql://127.0.0.1:1/x", 4, "connecting"),
    ] {
        let output = place.run(arguments);
        let words = words(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {words}");
        assert!(words.contains(word), "{arguments}: {words}");
        assert_eq!(place.left().len(), 0, "{arguments}");
    }
}

/// A given server with the smallest tables kept in it.
fn kept(place: &Place) -> (assay_postgres::server::PostgresServer, String, PostgresConnection) {
    let server = given_server(&place.0.join("d"));
    let address = address(&server, None);
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    connection.run("SET synchronous_commit = off").unwrap();
    let output = place.run(&format!(
        "bench brokerage {address} {SMALL} --sessions 2 --time 1s --warm-up 0s --keep --verify"
    ));
    assert_right(&json(&output)["load"], 2);
    assert_eq!(schemas(&server), ["assay_brokerage"]);
    (server, address, connection)
}

#[test]
fn a_given_server_keeps_what_is_to_be_kept_and_half_loaded_tables_are_seen() {
    let Some(place) = Place::new("brokerage-given") else {
        return;
    };
    let (server, address, mut connection) = kept(&place);
    let given = Given {
        place: &place,
        load: format!("bench brokerage {address} {SMALL} --sessions 2 --time 1s --warm-up 0s"),
        schema: "assay_brokerage",
        schemas: &|| schemas(&server),
    };
    // Its open orders are cancelled first.
    given.assert_used();
    for (other, expected) in [
        ("--customers 300 --trade-days 1", "200 customers, but 300"),
        ("--customers 200 --trade-days 2", "1 trade-days, but 2"),
        ("--customers 200 --trade-days 1 --seed 9", "1 seed, but 9"),
    ] {
        let output = place.run(&format!("bench brokerage {address} {other} --time 1s"));
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        assert!(words(&output).contains(expected), "{}", words(&output));
    }
    let output = place.run(&format!("bench brokerage {address} {SMALL} --sessions 500 --time 1s"));
    assert_eq!(output.status.code(), Some(4));
    assert!(words(&output).contains("max_connections"), "{}", words(&output));

    // As a break before the last table leaves it: no functions, no references.
    connection
        .run(
            "DELETE FROM assay_brokerage.assay_manifest WHERE name IN ('complete', 'part holding \
             1'); DROP TABLE assay_brokerage.holding; DROP SEQUENCE \
             assay_brokerage.trade_numbers; DO $$ DECLARE one record; BEGIN FOR one IN SELECT \
             oid::regprocedure AS f FROM pg_proc WHERE pronamespace = \
             'assay_brokerage'::regnamespace LOOP EXECUTE 'DROP FUNCTION ' || one.f; END LOOP; \
             FOR one IN SELECT conrelid::regclass AS t, conname AS c FROM pg_constraint WHERE \
             contype = 'f' AND connamespace = 'assay_brokerage'::regnamespace LOOP EXECUTE 'ALTER \
             TABLE ' || one.t || ' DROP CONSTRAINT ' || one.c; END LOOP; END $$",
        )
        .unwrap();
    given.assert_half_is_seen("drop");
    connection
        .run("CREATE SCHEMA assay_brokerage; CREATE TABLE assay_brokerage.thesis (x int)")
        .unwrap();
    given.assert_foreign_stays();
}

#[test]
fn users_without_rights_and_servers_that_only_read_are_told() {
    let Some(place) = Place::new("brokerage-rights") else {
        return;
    };
    let server = given_server(&place.0.join("d"));
    let mut connection = PostgresConnection::open(&server.address("postgres"), "test").unwrap();
    connection
        .run(
            "CREATE ROLE guest LOGIN PASSWORD 'guest'; CREATE ROLE reader LOGIN PASSWORD 'reader' \
             SUPERUSER; ALTER ROLE reader SET default_transaction_read_only = on",
        )
        .unwrap();
    for (user, hint) in [
        ("guest", "an empty schema or database of this account"),
        ("reader", "cannot be written to"),
    ] {
        let address =
            format!("postgresql://{user}:{user}@/postgres?host={}", server.daemon.data().display());
        let output =
            place.run(&format!("bench brokerage {address} {SMALL} --time 1s --sessions 1"));
        assert_eq!(output.status.code(), Some(4), "{}", words(&output));
        assert!(words(&output).contains(hint), "{user}: {}", words(&output));
    }
    assert_eq!(schemas(&server), Vec::<String>::new());
}

/// What one query of one row and column gives.
fn one(connection: &mut PostgresConnection, sql: &str) -> String {
    let sql = sql.replace("{s}", "assay_brokerage");
    connection.one(&sql).unwrap().text(0).to_owned()
}

#[test]
fn functions_answer_what_plain_queries_say_and_broken_books_are_seen() {
    let Some(place) = Place::new("brokerage-answers") else {
        return;
    };
    let (_server, address, mut connection) = kept(&place);
    let day = one(&mut connection, "SELECT max(day) FROM {s}.daily_market");
    for (call, plain) in [
        (
            "SELECT round(total, 2) FROM {s}.customer_position(17, '', -1)",
            "SELECT round((SELECT sum(balance) FROM {s}.customer_account WHERE customer_id = 17) \
             + (SELECT coalesce(sum(h.quantity * l.price), 0) FROM {s}.holding_summary h JOIN \
             {s}.last_trade l USING (symbol) JOIN {s}.customer_account a ON a.id = h.account_id \
             WHERE a.customer_id = 17), 2)",
        ),
        (
            "SELECT accounts FROM {s}.customer_position(0, (SELECT tax_code FROM {s}.customer \
             WHERE id = 5), 0)",
            "SELECT count(*) FROM {s}.customer_account WHERE customer_id = 5",
        ),
        (
            "SELECT round(change, 6) FROM {s}.market_watch(9, 0, '', 0)",
            "SELECT round(100 * (sum(l.price * y.shares) / sum(d.close * y.shares) - 1), 6) FROM \
             {s}.watch_list w JOIN {s}.watch_item i ON i.list_id = w.id JOIN {s}.security y USING \
             (symbol) JOIN {s}.last_trade l USING (symbol) JOIN {s}.daily_market d USING (symbol) \
             WHERE w.customer_id = 9 AND d.day = 'DAY'",
        ),
        ("SELECT seen FROM {s}.lookup_trades('1,2,3,11520')", "SELECT 4"),
        (
            "SELECT seen FROM {s}.trade_status(170)",
            "SELECT least(50, count(*)) FROM {s}.trade WHERE account_id = 170",
        ),
        (
            "SELECT seen FROM {s}.lookup_security('AAAAAB', 0)",
            "SELECT least(20, count(*)) FROM {s}.trade WHERE symbol = 'AAAAAB'",
        ),
        (
            "SELECT prices FROM {s}.security_detail('AAAAAC', 9, 10, 0)",
            "SELECT sum(close) FROM (SELECT close FROM {s}.daily_market WHERE symbol = 'AAAAAC' \
             ORDER BY day DESC LIMIT 10) AS d",
        ),
        ("SELECT letters FROM {s}.security_detail('AAAAAC', 9, 10, 1)", "SELECT 20000"),
        ("SELECT competitors FROM {s}.security_detail('AAAAAC', 9, 10, 1)", "SELECT 3"),
    ] {
        let plain = plain.replace("DAY", &day);
        assert_eq!(one(&mut connection, call), one(&mut connection, &plain), "{call}");
    }
    a_trade_passes_through_all_its_states(&mut connection);
    connection.run("UPDATE assay_brokerage.broker SET trades = trades + 1 WHERE id = 2").unwrap();
    let output = place.run(&format!(
        "bench brokerage {address} {SMALL} --sessions 1 --time 1s --warm-up 0s --verify"
    ));
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    let all = json(&output);
    assert_eq!(all["load"]["checks"][0]["checks"][0]["violations"], 1);
}

/// A limit waits, goes to the market when its price comes, and is settled; one that is taken back
/// leaves nothing.
fn a_trade_passes_through_all_its_states(connection: &mut PostgresConnection) {
    let owner = "(SELECT first_name FROM {s}.customer WHERE id = 17), (SELECT last_name FROM \
                 {s}.customer WHERE id = 17), (SELECT tax_code FROM {s}.customer WHERE id = 17)";
    let order = format!("170, {owner}, 'AAAAAB', '', '', 3, 100, 1000");
    let number =
        one(connection, &format!("SELECT number FROM {{s}}.trade_order({order}, 1, 0, 0)"));
    let price = "SELECT {s}.market_feed('AAAAAB', 'CENTS', '100')";
    let rows = one(connection, &price.replace("CENTS", "1001"));
    assert!(!rows.contains(&format!("{number},")), "{rows}");
    let rows = one(connection, &price.replace("CENTS", "999"));
    assert!(rows.contains(&format!("{number},AAAAAB,100,999;")), "{rows}");
    // 100 at 9.90, less the charge, and the commission by tier, kind and exchange.
    let money = one(connection, &format!("SELECT money FROM {{s}}.trade_result({number}, 990)"));
    let expected = "SELECT -990.00 - c.amount - round(990.00 * r.rate / 100, 2) FROM {s}.customer \
                    o JOIN {s}.charge c ON c.tier = o.tier AND c.kind = 3 JOIN {s}.security y ON \
                    y.symbol = 'AAAAAB' JOIN {s}.commission_rate r ON r.tier = o.tier AND r.kind \
                    = 3 AND r.exchange_id = y.exchange_id AND r.from_quantity = 1 WHERE o.id = 17";
    let tax = one(connection, &format!("SELECT tax FROM {{s}}.trade WHERE id = {number}"));
    if tax == "0.00" {
        assert_eq!(money, one(connection, expected));
    }
    let steps = format!(
        "SELECT string_agg(status::text, ' ' ORDER BY status) FROM {{s}}.trade_history WHERE \
         trade_id = {number}"
    );
    assert_eq!(one(connection, &steps), "1 2 3");
    let before = one(connection, "SELECT count(*) FROM {s}.trade");
    let sql = format!("SELECT number FROM {{s}}.trade_order({order}, 1, 0, 1)");
    let refused = connection.one(&sql.replace("{s}", "assay_brokerage")).unwrap_err();
    assert_eq!(refused.code(), Some("AS002"));
    let stranger = order.replace(owner, "'A', 'B', 'C'");
    let sql = format!("SELECT number FROM {{s}}.trade_order({stranger}, 1, 0, 0)");
    let refused = connection.one(&sql.replace("{s}", "assay_brokerage")).unwrap_err();
    assert_eq!(refused.code(), Some("AS003"));
    assert_eq!(one(connection, "SELECT count(*) FROM {s}.trade"), before);
}
