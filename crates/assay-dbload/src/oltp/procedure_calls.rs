//! The five transactions as calls of procedures of MariaDB and MySQL: what goes in, and what comes out.

use super::rows::{order_rows, write_rows};
use assay_loads::oltp::{Customer, NewOrder, Transaction};
use assay_mariadb::connection::{Answers, Connection, Prepared, Values};
use assay_model::failure::Answer;

/// A call and how many values it gives out.
#[derive(Clone, Copy)]
struct Call {
    statement: Prepared,
    given_out: usize,
}

/// Calls of a session.
pub struct Procedures {
    place_order: Call,
    pay: Call,
    last_order: Call,
    deliver: Call,
    low_stock: Call,
    /// The lines of an order as the procedure takes them.
    wanted: String,
}

impl Procedures {
    /// Has the calls parsed, and makes one that finds nothing, so that a missing procedure or right is met here.
    pub(super) fn prepare(connection: &mut Connection, schema: &str) -> Answer<Self> {
        let mut of = |name: &str, taken: usize, given_out: usize| -> Answer<Call> {
            let places = vec!["?"; taken + given_out].join(", ");
            let statement = connection.prepare(&format!("CALL {schema}.{name}({places})"))?;
            Ok(Call { statement, given_out })
        };
        let this = Self {
            place_order: of("place_order", 6, 4)?,
            pay: of("pay", 7, 2)?,
            last_order: of("last_order", 4, 10)?,
            deliver: of("deliver", 2, 1)?,
            low_stock: of("low_stock", 3, 1)?,
            wanted: String::new(),
        };
        this.low_stock.make(connection, |values| put(values, &[0, 0, 0]))?;
        Ok(this)
    }

    /// Carries a transaction out; whether it was committed, and not rolled back as asked.
    pub(super) fn call(
        &mut self,
        connection: &mut Connection,
        transaction: &Transaction,
    ) -> Answer<bool> {
        let answers = match transaction {
            Transaction::NewOrder(order) => {
                write_rows(&mut self.wanted, order_rows(order));
                let made = self.place_order.make(connection, |values| {
                    put_order(values, order);
                    values.text(self.wanted.as_bytes());
                })?;
                // An order that names an unused item gets no number.
                return Ok(made.row().and_then(|row| row.integer(0)).is_some());
            }
            Transaction::Payment(payment) => self.pay.make(connection, |values| {
                put(values, &[payment.warehouse, payment.district]);
                put(values, &[payment.customer_warehouse, payment.customer_district]);
                put_customer(values, &payment.customer);
                put(values, &[payment.amount]);
            }),
            Transaction::OrderStatus(asked) => self.last_order.make(connection, |values| {
                put(values, &[asked.warehouse, asked.district]);
                put_customer(values, &asked.customer);
            }),
            Transaction::Delivery(delivery) => self.deliver.make(connection, |values| {
                put(values, &[delivery.warehouse, delivery.carrier]);
            }),
            Transaction::StockLevel(asked) => self.low_stock.make(connection, |values| {
                put(values, &[asked.warehouse, asked.district, asked.threshold]);
            }),
        };
        answers.map(|_| true)
    }
}

impl Call {
    /// Makes the call; what it gives out is the row of the answers.
    fn make(
        self,
        connection: &mut Connection,
        fill: impl FnOnce(&mut Values<'_>),
    ) -> Answer<&Answers> {
        connection.execute(&self.statement, |values| {
            fill(values);
            for _ in 0..self.given_out {
                values.null();
            }
        })
    }
}

fn put(values: &mut Values<'_>, numbers: &[u32]) {
    for number in numbers {
        values.integer(i64::from(*number));
    }
}

/// An order without its lines.
fn put_order(values: &mut Values<'_>, order: &NewOrder) {
    let is_local = order.lines.iter().all(|line| line.supply == order.warehouse);
    let line_count = u32::try_from(order.lines.len()).unwrap_or(0);
    put(values, &[order.warehouse, order.district, order.customer]);
    put(values, &[line_count, u32::from(is_local)]);
}

/// A customer as number and name; one of them says nothing.
fn put_customer(values: &mut Values<'_>, customer: &Customer) {
    match customer {
        Customer::Number(number) => values.integer(i64::from(*number)).text(b""),
        Customer::Name(name) => values.integer(0).text(name.as_bytes()),
    };
}
