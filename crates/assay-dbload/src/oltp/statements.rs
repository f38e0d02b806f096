//! The five transactions as statements of the client: a transaction is two batches at most, because its statements
//! travel together as far as none needs what another one finds.

use super::functions::{DELIVER, DISTRICT_TEXT, STOCK_LEVEL, with_schema};
use assay_loads::oltp::{Customer, Line, NewOrder, OrderStatus, Payment, Transaction};
use assay_postgres::connection::{Answers, Batch, Connection, Values};
use assay_postgres::failure::{Answer, Failure};

/// Names of statements with their texts.
const STATEMENTS: [(&str, &str); 18] = [
    ("begin", "BEGIN"),
    ("commit", "COMMIT"),
    (
        "buyer",
        "SELECT (c_discount * 10000)::bigint, c_last, c_credit, (w_tax * 10000)::bigint FROM {s}.customer, {s}.warehouse \
         WHERE w_id = $1::int AND c_w_id = $1::int AND c_d_id = $2::int AND c_id = $3::int",
    ),
    (
        "next",
        "UPDATE {s}.district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1::int AND d_id = $2::int \
         RETURNING d_next_o_id - 1, (d_tax * 10000)::bigint",
    ),
    ("item", "SELECT (i_price * 100)::bigint, i_name, i_data FROM {s}.item WHERE i_id = $1::int"),
    (
        "stock",
        "UPDATE {s}.stock SET s_quantity = CASE WHEN s_quantity >= $3::int + 10 THEN s_quantity - $3::int \
         ELSE s_quantity - $3::int + 91 END, s_ytd = s_ytd + $3::int, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + $4::int WHERE s_w_id = $1::int AND s_i_id = $2::int \
         RETURNING s_quantity, {text}, s_data",
    ),
    (
        "order",
        "INSERT INTO {s}.orders VALUES ($1::int, $2::int, $3::int, $4::int, localtimestamp, NULL, $5::int, $6::int)",
    ),
    ("new", "INSERT INTO {s}.new_order VALUES ($1::int, $2::int, $3::int)"),
    (
        "line",
        "INSERT INTO {s}.order_line VALUES ($1::int, $2::int, $3::int, $4::int, $5::int, $6::int, NULL, $7::int, \
         $8::bigint / 100.0, $9::text)",
    ),
    (
        "named",
        "SELECT c_id FROM {s}.customer WHERE c_w_id = $1::int AND c_d_id = $2::int AND c_last = $3::text ORDER BY c_first",
    ),
    (
        "names",
        "SELECT w_name, d_name FROM {s}.warehouse, {s}.district WHERE w_id = $1::int AND d_w_id = $1::int AND d_id = $2::int",
    ),
    (
        "charge",
        "UPDATE {s}.customer SET c_balance = c_balance - $4::int / 100.0, c_ytd_payment = c_ytd_payment + $4::int / 100.0, \
         c_payment_cnt = c_payment_cnt + 1, c_data = CASE WHEN c_credit = 'BC' THEN \
         left(concat_ws(' ', c_id, c_d_id, c_w_id, $6::int, $5::int, $4::int / 100.0) || '|' || c_data, 500) ELSE c_data END \
         WHERE c_w_id = $1::int AND c_d_id = $2::int AND c_id = $3::int \
         RETURNING c_first, c_middle, c_last, c_credit, c_balance::text",
    ),
    (
        "district",
        "UPDATE {s}.district SET d_ytd = d_ytd + $3::int / 100.0 WHERE d_w_id = $1::int AND d_id = $2::int",
    ),
    ("warehouse", "UPDATE {s}.warehouse SET w_ytd = w_ytd + $2::int / 100.0 WHERE w_id = $1::int"),
    (
        "history",
        "INSERT INTO {s}.history VALUES ($1::int, $2::int, $3::int, $4::int, $5::int, localtimestamp, $6::int / 100.0, $7::text)",
    ),
    (
        "last",
        "SELECT c_first, c_middle, c_last, c_balance::text, o_id, o_carrier_id, o_entry_d::text FROM {s}.customer, {s}.orders \
         WHERE c_w_id = $1::int AND c_d_id = $2::int AND c_id = $3::int AND o_w_id = $1::int AND o_d_id = $2::int \
         AND o_c_id = $3::int ORDER BY o_id DESC LIMIT 1",
    ),
    (
        "lines",
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount::text, ol_delivery_d::text FROM {s}.order_line \
         WHERE ol_w_id = $1::int AND ol_d_id = $2::int AND ol_o_id = (SELECT o_id FROM {s}.orders WHERE o_w_id = $1::int \
         AND o_d_id = $2::int AND o_c_id = $3::int ORDER BY o_id DESC LIMIT 1)",
    ),
    ("rollback", "ROLLBACK"),
];

/// Parses them all in a session.
pub(super) fn prepare(connection: &mut Connection, schema: &str) -> Answer<()> {
    let text = DISTRICT_TEXT.replace("{d}", "$5::int");
    for (name, sql) in STATEMENTS {
        connection.parse(name, &with_schema(sql, schema).replace("{text}", &text))?;
    }
    connection.parse("deliver", &with_schema(DELIVER, schema))?;
    connection.parse("low", &with_schema(STOCK_LEVEL, schema))
}

/// What a transaction of statements works with.
pub(super) struct Turn<'a> {
    pub(super) connection: &'a mut Connection,
    pub(super) batch: &'a mut Batch,
    pub(super) answers: &'a mut Answers,
}

impl Turn<'_> {
    /// Carries a transaction out; whether it was committed, and not rolled back as asked.
    pub(super) fn take(&mut self, transaction: &Transaction) -> Answer<bool> {
        self.batch.clear();
        match transaction {
            Transaction::NewOrder(order) => self.new_order(order),
            Transaction::Payment(payment) => self.payment(payment).map(|()| true),
            Transaction::OrderStatus(asked) => self.order_status(asked).map(|()| true),
            Transaction::Delivery(delivery) => {
                self.batch.execute("deliver", |values| {
                    values.integer(delivery.warehouse).integer(delivery.carrier);
                });
                self.exchange().map(|()| true)
            }
            Transaction::StockLevel(asked) => {
                self.batch.execute("low", |values| {
                    values
                        .integer(asked.warehouse)
                        .integer(asked.district)
                        .integer(asked.threshold);
                });
                self.exchange().map(|()| true)
            }
        }
    }

    fn exchange(&mut self) -> Answer<()> {
        let done = self.connection.exchange(self.batch, self.answers);
        self.batch.clear();
        done
    }

    fn new_order(&mut self, order: &NewOrder) -> Answer<bool> {
        let (w, d) = (order.warehouse, order.district);
        self.batch.execute("begin", |_| {});
        self.batch.execute("buyer", |values| {
            values.integer(w).integer(d).integer(order.customer);
        });
        self.batch.execute("next", |values| {
            values.integer(w).integer(d);
        });
        for line in &order.lines {
            self.batch.execute("item", |values| {
                values.integer(line.item);
            });
            self.batch.execute("stock", |values| {
                let is_remote = u32::from(line.supply != w);
                values.integer(line.supply).integer(line.item).integer(line.quantity);
                values.integer(is_remote).integer(d);
            });
        }
        self.exchange()?;
        let number = self.answers.row(2).and_then(|row| row.integer(0));
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| missing("district"))?;
        let are_known = (0..order.lines.len()).all(|line| self.answers.row(3 + 2 * line).is_some());
        if !are_known {
            self.batch.execute("rollback", |_| {});
            return self.exchange().map(|()| false);
        }
        self.insert(order, number);
        self.exchange().map(|()| true)
    }

    /// The order with its lines, and the end of the transaction.
    fn insert(&mut self, order: &NewOrder, number: u32) {
        let Self { batch, answers, .. } = self;
        let (w, d) = (order.warehouse, order.district);
        let count = u32::try_from(order.lines.len()).unwrap_or(0);
        let is_local = u32::from(order.lines.iter().all(|line| line.supply == w));
        batch.execute("order", |values| {
            values.integer(number).integer(d).integer(w).integer(order.customer);
            values.integer(count).integer(is_local);
        });
        batch.execute("new", |values| {
            values.integer(number).integer(d).integer(w);
        });
        for (place, (line, line_number)) in order.lines.iter().zip(1..).enumerate() {
            let Line { supply, item, quantity } = *line;
            let price = answers.row(3 + 2 * place).and_then(|row| row.integer(0)).unwrap_or(0);
            let text = answers.row(4 + 2 * place).map_or("", |row| row.text(1));
            batch.execute("line", |values| {
                values.integer(number).integer(d).integer(w).integer(line_number);
                values.integer(item).integer(supply).integer(quantity);
                values.long(price * i64::from(quantity)).text(text);
            });
        }
        batch.execute("commit", |_| {});
    }

    /// Adds the search for a customer by name.
    fn ask_name(&mut self, w: u32, d: u32, customer: &Customer) {
        if let Customer::Name(name) = customer {
            self.batch.execute("named", |values| {
                values.integer(w).integer(d).text(name);
            });
        }
    }

    /// The number of a customer; of several of one name the one in the middle, rounded up.
    fn number(&self, customer: &Customer, execution: usize) -> Answer<u32> {
        if let Customer::Number(number) = customer {
            return Ok(*number);
        }
        let found = self.answers.rows(execution).count();
        let middle = self.answers.rows(execution).nth(found.saturating_sub(1) / 2);
        let number = middle.and_then(|row| row.integer(0));
        number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| missing("customer"))
    }

    fn payment(&mut self, payment: &Payment) -> Answer<()> {
        let Payment {
            warehouse: w,
            district: d,
            customer_warehouse: cw,
            customer_district: cd,
            ..
        } = *payment;
        self.batch.execute("begin", |_| {});
        self.batch.execute("names", |values| {
            values.integer(w).integer(d);
        });
        self.ask_name(cw, cd, &payment.customer);
        self.exchange()?;
        let number = self.number(&payment.customer, 2)?;
        let Self { batch, answers, .. } = self;
        let names = answers.row(1).ok_or_else(|| missing("district"))?;
        let text = format!("{}    {}", names.text(0), names.text(1));
        batch.execute("charge", |values| {
            values.integer(cw).integer(cd).integer(number).integer(payment.amount);
            values.integer(w).integer(d);
        });
        batch.execute("district", |values| {
            values.integer(w).integer(d).integer(payment.amount);
        });
        batch.execute("warehouse", |values| {
            values.integer(w).integer(payment.amount);
        });
        batch.execute("history", |values: &mut Values<'_>| {
            values.integer(number).integer(cd).integer(cw).integer(d).integer(w);
            values.integer(payment.amount).text(&text);
        });
        batch.execute("commit", |_| {});
        self.exchange()
    }

    fn order_status(&mut self, asked: &OrderStatus) -> Answer<()> {
        let OrderStatus { warehouse: w, district: d, .. } = *asked;
        self.batch.execute("begin", |_| {});
        if let Customer::Name(_) = asked.customer {
            self.ask_name(w, d, &asked.customer);
            self.exchange()?;
        }
        let number = self.number(&asked.customer, 1)?;
        for name in ["last", "lines"] {
            self.batch.execute(name, |values| {
                values.integer(w).integer(d).integer(number);
            });
        }
        self.batch.execute("commit", |_| {});
        self.exchange()
    }
}

fn missing(what: &str) -> Failure {
    Failure::Protocol(format!("a {what} is missing"))
}
