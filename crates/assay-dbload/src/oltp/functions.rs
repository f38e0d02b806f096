//! The five transactions as functions of PostgreSQL and as procedures of MariaDB and MySQL, and
//! their calls: one network round trip, one transaction.
//!
//! In a procedure, what concerns all lines of an order is one statement, whose lines come as one
//! text: a statement of a procedure costs some thirty microseconds however little it does. The rows
//! that most sessions want come last, and what is changed is changed before it is read: a lock that
//! is shared first and then wanted alone is how serialisable sessions end in deadlocks.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free.

use super::FUNCTIONS;
use super::rows::{order_rows, write_rows};
use super::statements::{text, within};
use crate::load::{
    Dialect, LETTERS, LoadStatement, Procedure, Product, StatementPipeline, StatementValue,
    none_open, with_variables,
};
use assay_loads::oltp::{NewOrder, OltpCustomer, OltpTransaction, OrderLine};
use assay_model::failure::Answer;

/// The code with which a new order is rolled back that names an unused item.
const UNUSED_ITEM: &str = "AS001";

const PROCEDURES: &str = include_str!("sql/mariadb_procedures.sql");
/// How each procedure begins.
const CREATE: &str = "CREATE PROCEDURE {s}.";
/// Whatever is refused leaves no transaction open, and the client hears of it.
const REFUSED: &str =
    "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; START TRANSACTION;";
/// The number of a customer; of several of one name the one in the middle, rounded up.
const NUMBER: &str = "
    SET customer = c;
    IF name <> '' THEN
        {count};
        SET place = (place - 1) DIV 2;
        {named} LIMIT place, 1;
    END IF;";

/// Creates all functions.
pub(super) fn create(schema: &str) -> String {
    // A statement whose changes are part of a query cannot stand inside of an expression.
    within(Dialect::Postgres, FUNCTIONS, &[("{into}", "INTO delivered")], schema)
}

/// All procedures with what they are made of.
pub(super) fn procedures(schema: &str) -> Vec<Procedure> {
    let named = text(Dialect::Mariadb, "named");
    let number = NUMBER
        .replace("{count}", &into(&counted(&named), "place"))
        .replace("{named}", &into(&named, "customer"));
    let parts = [
        ("{refused}", REFUSED.to_owned()),
        ("{found}", number),
        ("{buyer}", found("buyer", "discount, last_name, credit, tax, district_tax")),
        ("{low}", found("low", "low")),
        ("{letters}", LETTERS.to_owned()),
    ];
    let made = |text: &'static str| {
        let (name, _) = text.split_once('(')?;
        let body = parts.iter().fold(text.trim_end().to_owned(), |body, (part, is)| {
            body.replace(part, &with_variables(is))
        });
        let (sql, number) = (format!("{CREATE}{body}"), [("{number}", "number")]);
        Some(Procedure { name, sql: within(Dialect::Mariadb, &sql, &number, schema) })
    };
    PROCEDURES.split(CREATE).skip(1).filter_map(made).collect()
}

/// A statement that searches one row, which goes into variables.
fn found(statement: &str, variables: &str) -> String {
    into(&text(Dialect::Mariadb, statement), variables)
}

fn into(search: &str, variables: &str) -> String {
    search.replacen(" FROM ", &format!(" INTO {variables} FROM "), 1)
}

/// How many customers have a name.
fn counted(named: &str) -> String {
    let (search, _) = named.split_once(" ORDER BY").unwrap_or((named, ""));
    search.replacen("c_id", "COUNT(*)", 1)
}

/// The call whose answer says whether there is an order.
const PLACE_ORDER: &str = "place_order";
/// Parameters of the functions.
const FUNCTION_CALLS: [(&str, &str); 5] = [
    (PLACE_ORDER, "#1::int, #2::int, #3::int, %4, %5, %6"),
    ("pay", "#1::int, #2::int, #3::int, #4::int, #5::int, @6, #7::int"),
    ("last_order", "#1::int, #2::int, #3::int, @4"),
    ("deliver", "#1::int, #2::int"),
    ("low_stock", "#1::int, #2::int, #3::int"),
];
/// How many values the procedures take, and how many they give out: what is given out needs a place
/// only.
const PROCEDURE_CALLS: [(&str, usize, usize); 5] = [
    (PLACE_ORDER, 6, 4),
    ("pay", 7, 2),
    ("last_order", 4, 10),
    ("deliver", 2, 1),
    ("low_stock", 3, 1),
];

/// All calls that sessions make.
fn calls(dialect: Dialect, schema: &str) -> Vec<LoadStatement> {
    let function = |(name, parameters)| {
        LoadStatement::of(name, &format!("SELECT {schema}.{name}({parameters})"), dialect)
    };
    let procedure = |(name, taken, given_out)| {
        let places: Vec<String> =
            (1..=taken + given_out).map(|place| format!("#{place}")).collect();
        LoadStatement::of(name, &format!("CALL {schema}.{name}({})", places.join(", ")), dialect)
    };
    match dialect {
        Dialect::Postgres => FUNCTION_CALLS.map(function).to_vec(),
        Dialect::Mariadb => PROCEDURE_CALLS.map(procedure).to_vec(),
    }
}

/// Has the calls parsed, and makes one that finds nothing where a procedure or right that is
/// missing is met by that only.
pub(super) fn prepare<L: Product>(link: &mut L, schema: &str) -> Answer<L::Pipeline> {
    let mut pipeline = L::Pipeline::prepare(link, schema, calls(L::DIALECT, schema))?;
    if L::DIALECT == Dialect::Mariadb {
        pipeline.alone(link, "low_stock", &[0, 0, 0].map(StatementValue::Number))?;
    }
    Ok(pipeline)
}

/// Carries a transaction out; whether it was committed, and not rolled back as asked. A failure
/// leaves none open.
pub(super) fn call<L: Product>(
    link: &mut L,
    pipeline: &mut L::Pipeline,
    transaction: &OltpTransaction,
) -> Answer<bool> {
    let mut call = |name, values: &[StatementValue<'_>]| {
        let called = pipeline.alone(link, name, values);
        match L::DIALECT {
            Dialect::Postgres => match called {
                Err(failure) if failure.code() == Some(UNUSED_ITEM) => Ok(false),
                called => called.map(|()| true),
            },
            // A procedure has rolled back itself, unless it was not called at all. An order that
            // names an unused item gets no number.
            Dialect::Mariadb => {
                none_open(link, called)?;
                Ok(name != PLACE_ORDER || pipeline.number(0, 0, 0).is_some())
            }
        }
    };
    let number = |number: u32| StatementValue::from(number);
    match transaction {
        OltpTransaction::NewOrder(order) => place_order(L::DIALECT, order, call),
        OltpTransaction::Payment(payment) => {
            let [customer, name] = number_and_name(&payment.customer);
            let (w, d) = (number(payment.warehouse), number(payment.district));
            let of_w = number(payment.customer_warehouse);
            let of_d = number(payment.customer_district);
            call("pay", &[w, d, of_w, of_d, customer, name, number(payment.amount)])
        }
        OltpTransaction::OrderStatus(asked) => {
            let [customer, name] = number_and_name(&asked.customer);
            call("last_order", &[number(asked.warehouse), number(asked.district), customer, name])
        }
        OltpTransaction::Delivery(delivery) => {
            call("deliver", &[delivery.warehouse, delivery.carrier].map(number))
        }
        OltpTransaction::StockLevel(asked) => {
            call("low_stock", &[asked.warehouse, asked.district, asked.threshold].map(number))
        }
    }
}

/// A new order: its lines are three arrays of a function, and one text of rows for a procedure.
fn place_order(
    dialect: Dialect,
    order: &NewOrder,
    call: impl FnOnce(&'static str, &[StatementValue<'_>]) -> Answer<bool>,
) -> Answer<bool> {
    let [w, d, c] = [order.warehouse, order.district, order.customer].map(StatementValue::from);
    match dialect {
        Dialect::Postgres => {
            let numbers =
                |of: fn(&OrderLine) -> u32| order.lines.iter().map(of).collect::<Vec<u32>>();
            let all = [
                numbers(|line| line.supply),
                numbers(|line| line.item),
                numbers(|line| line.quantity),
            ];
            let [supplies, items, quantities] =
                all.each_ref().map(|all| StatementValue::Numbers(all));
            call(PLACE_ORDER, &[w, d, c, supplies, items, quantities])
        }
        Dialect::Mariadb => {
            let is_local = order.lines.iter().all(|line| line.supply == order.warehouse);
            let line_count = u32::try_from(order.lines.len()).unwrap_or(0);
            let [line_count, is_local] =
                [line_count, u32::from(is_local)].map(StatementValue::from);
            let mut wanted = String::new();
            write_rows(&mut wanted, order_rows(order));
            call(PLACE_ORDER, &[w, d, c, line_count, is_local, StatementValue::Text(&wanted)])
        }
    }
}

/// A customer as number and name; one of them says nothing.
fn number_and_name(customer: &OltpCustomer) -> [StatementValue<'_>; 2] {
    match customer {
        OltpCustomer::Number(number) => [StatementValue::from(*number), StatementValue::Text("")],
        OltpCustomer::Name(name) => [StatementValue::Number(0), StatementValue::Text(name)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_schema_and_their_code() {
        let all = create("shop");
        assert_eq!(all.matches("CREATE FUNCTION shop.").count(), 5);
        assert!(!all.contains('{') && all.contains("no_w_id = w AND"), "{all}");
        assert!(all.contains(UNUSED_ITEM) && all.contains("INTO delivered FROM paid;"));
    }

    #[test]
    fn procedures_are_whole_and_end_each_transaction_that_they_begin() {
        let all = procedures("shop");
        assert_eq!(all.len(), 5);
        for Procedure { name, sql } in &all {
            assert!(sql.starts_with(&format!("CREATE PROCEDURE shop.{name}(")), "{sql}");
            assert!(!sql.contains(['{', '}', ':', '?']), "{sql}");
            assert_eq!(sql.matches("START TRANSACTION;").count(), 1, "{sql}");
            assert_eq!(sql.matches("COMMIT;").count(), 1, "{sql}");
            assert!(sql.contains("ROLLBACK; RESIGNAL"), "{sql}");
        }
        let named = "SELECT COUNT(*) INTO place FROM shop.customer WHERE c_w_id = cw AND c_d_id = \
                     cd AND c_last = name;";
        assert!(all[1].sql.contains(named) && all[2].sql.contains(named), "{}", all[1].sql);
    }

    #[test]
    fn a_call_has_a_place_for_each_value_of_its_function_or_procedure() {
        let sql = |dialect| calls(dialect, "s").into_iter().map(|one| one.sql).collect::<Vec<_>>();
        assert_eq!(sql(Dialect::Postgres)[3], "SELECT s.deliver($1::bigint::int, $2::bigint::int)");
        assert_eq!(sql(Dialect::Mariadb)[3], "CALL s.deliver(?, ?, ?)");
        for LoadStatement { name, sql, .. } in calls(Dialect::Mariadb, "s") {
            let made = procedures("s").into_iter().find(|one| one.name == name);
            let head = made.unwrap().sql.split("SQL SECURITY").next().unwrap().to_owned();
            // The types of money hold a comma, too.
            assert_eq!(
                sql.matches('?').count(),
                head.replace("2,2", "").matches(',').count() + 1,
                "{name}"
            );
        }
    }

    #[test]
    fn the_lines_of_an_order_go_in_the_form_that_the_server_reads() {
        let line = |item, supply, quantity| OrderLine { item, supply, quantity };
        let lines = vec![line(7, 2, 10), line(9, 3, 1)];
        let order = NewOrder { warehouse: 2, district: 1, customer: 5, lines };
        place_order(Dialect::Postgres, &order, |_, values| {
            let arrays = [[2, 3], [7, 9], [10, 1]];
            assert_eq!(values[3..], arrays.each_ref().map(|all| StatementValue::Numbers(all)));
            Ok(true)
        })
        .unwrap();
        place_order(Dialect::Mariadb, &order, |_, values| {
            assert_eq!(
                values[3..],
                [
                    StatementValue::Number(2),
                    StatementValue::Number(0),
                    StatementValue::Text("[[7, 2, 10],[9, 3, 1]]")
                ]
            );
            Ok(true)
        })
        .unwrap();
    }
}
