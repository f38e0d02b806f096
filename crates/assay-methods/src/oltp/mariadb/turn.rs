//! The five transactions as statements of the client, one after the other: such a server answers a statement before it
//! takes the next.

use super::rows::{order_rows, write_rows};
use super::statements::{
    BUYER, CARRY, CHARGE, CREDIT, DELIVER, DISTRICT, GONE, HISTORY, LAST, LINES, LOW, NAMED, NAMES,
    NEW, NEXT, OLDEST, ORDER, SELL, WAREHOUSE, WRITE, asked,
};
use assay_loads::oltp::{
    Customer, Delivery, NewOrder, OrderStatus, Payment, StockLevel, Transaction,
};
use assay_mariadb::connection::{Connection, Prepared, Values};
use assay_model::failure::{Answer, Failure};

/// Districts whose oldest order is delivered.
const DISTRICTS: usize = 10;

/// Statements of a session.
pub struct Statements {
    buyer: Prepared,
    next: Prepared,
    order: Prepared,
    new_order: Prepared,
    sell: Prepared,
    write: Prepared,
    named: Prepared,
    names: Prepared,
    charge: Prepared,
    district: Prepared,
    warehouse: Prepared,
    history: Prepared,
    last: Prepared,
    lines: Prepared,
    oldest: Prepared,
    gone: Prepared,
    carry: Prepared,
    deliver: Prepared,
    credit: Prepared,
    low: Prepared,
    /// Lines of an order, or orders of a delivery, as the server takes them.
    wanted: String,
}

impl Statements {
    pub(super) fn prepare(connection: &mut Connection, schema: &str) -> Answer<Self> {
        // MySQL wants a database for rows that are in none.
        connection.run(&format!("USE {schema}"))?;
        let mut of = |text: &str| connection.prepare(&asked(text, schema));
        Ok(Self {
            buyer: of(BUYER)?,
            next: of(NEXT)?,
            order: of(ORDER)?,
            new_order: of(NEW)?,
            sell: of(SELL)?,
            write: of(WRITE)?,
            named: of(NAMED)?,
            names: of(NAMES)?,
            charge: of(CHARGE)?,
            district: of(DISTRICT)?,
            warehouse: of(WAREHOUSE)?,
            history: of(HISTORY)?,
            last: of(LAST)?,
            lines: of(LINES)?,
            oldest: of(OLDEST)?,
            gone: of(GONE)?,
            carry: of(CARRY)?,
            deliver: of(DELIVER)?,
            credit: of(CREDIT)?,
            low: of(LOW)?,
            wanted: String::new(),
        })
    }

    /// Carries a transaction out; whether it was committed, and not rolled back as asked.
    pub(super) fn take(
        &mut self,
        connection: &mut Connection,
        transaction: &Transaction,
    ) -> Answer<bool> {
        connection.run("START TRANSACTION")?;
        let is_to_commit = match transaction {
            Transaction::NewOrder(order) => self.new_order(connection, order)?,
            Transaction::Payment(payment) => self.payment(connection, payment).map(|()| true)?,
            Transaction::OrderStatus(asked) => {
                self.order_status(connection, asked).map(|()| true)?
            }
            Transaction::Delivery(delivery) => {
                self.delivery(connection, *delivery).map(|()| true)?
            }
            Transaction::StockLevel(asked) => {
                self.stock_level(connection, *asked).map(|()| true)?
            }
        };
        connection.run(if is_to_commit { "COMMIT" } else { "ROLLBACK" })?;
        Ok(is_to_commit)
    }

    fn new_order(&mut self, connection: &mut Connection, order: &NewOrder) -> Answer<bool> {
        let (w, d) = (order.warehouse, order.district);
        put(connection, self.buyer, &[w, d, order.customer])?;
        put(connection, self.next, &[w, d])?;
        let number =
            u32::try_from(connection.answers().numbered()).ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| missing("district"))?;
        let is_local = u32::from(order.lines.iter().all(|line| line.supply == w));
        let count = u32::try_from(order.lines.len()).unwrap_or(0);
        put(connection, self.order, &[number, d, w, order.customer, count, is_local])?;
        put(connection, self.new_order, &[number, d, w])?;
        write_rows(&mut self.wanted, order_rows(order));
        let wanted = self.wanted.as_bytes();
        connection.execute(&self.sell, |values| {
            values.text(wanted).integer(i64::from(w));
        })?;
        let written = connection.execute(&self.write, |values| {
            put_all(values, &[number, d, w, d]);
            values.text(wanted);
        })?;
        // An item that nobody has makes no line.
        Ok(written.touched() == u64::from(count))
    }

    /// The number of a customer; of several of one name the one in the middle, rounded up.
    fn number(
        &self,
        connection: &mut Connection,
        w: u32,
        d: u32,
        customer: &Customer,
    ) -> Answer<u32> {
        let name = match customer {
            Customer::Number(number) => return Ok(*number),
            Customer::Name(name) => name,
        };
        let answers = connection.execute(&self.named, |values| {
            put_all(values, &[w, d]);
            values.text(name.as_bytes());
        })?;
        let middle = answers.rows().len().saturating_sub(1) / 2;
        let number = answers.rows().nth(middle).and_then(|row| row.integer(0));
        number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| missing("customer"))
    }

    fn payment(&self, connection: &mut Connection, payment: &Payment) -> Answer<()> {
        let (w, d, cents) = (payment.warehouse, payment.district, payment.amount);
        let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
        let names = connection.execute(&self.names, |values| put_all(values, &[w, d]))?;
        let names = names.row().ok_or_else(|| missing("district"))?;
        let text = format!("{}    {}", names.text(0), names.text(1));
        let number = self.number(connection, cw, cd, &payment.customer)?;
        put(connection, self.charge, &[w, d, cents, cents, cents, cw, cd, number])?;
        put(connection, self.district, &[cents, w, d])?;
        connection.execute(&self.history, |values| {
            put_all(values, &[number, cd, cw, d, w, cents]);
            values.text(text.as_bytes());
        })?;
        // The row that most sessions want comes last.
        put(connection, self.warehouse, &[cents, w])
    }

    fn order_status(&self, connection: &mut Connection, asked: &OrderStatus) -> Answer<()> {
        let (w, d) = (asked.warehouse, asked.district);
        let number = self.number(connection, w, d, &asked.customer)?;
        put(connection, self.last, &[w, d, number])?;
        let last = connection.answers().row().and_then(|row| row.integer(4));
        let last = last.and_then(|last| u32::try_from(last).ok());
        put(connection, self.lines, &[w, d, last.ok_or_else(|| missing("order"))?])
    }

    /// The oldest order of each district; one that another delivery holds is left to it.
    fn delivery(&mut self, connection: &mut Connection, delivery: Delivery) -> Answer<()> {
        let w = delivery.warehouse;
        let mut due = Vec::with_capacity(DISTRICTS);
        for d in (1..=DISTRICTS).filter_map(|d| u32::try_from(d).ok()) {
            if let Some(order) = first(connection, self.oldest, &[w, d])? {
                due.push([d, order]);
            }
        }
        write_rows(&mut self.wanted, due);
        let due = self.wanted.as_bytes();
        let w = i64::from(w);
        connection.execute(&self.gone, |values| {
            values.text(due).integer(w);
        })?;
        connection.execute(&self.carry, |values| {
            values.text(due).integer(w).integer(i64::from(delivery.carrier));
        })?;
        connection.execute(&self.deliver, |values| {
            values.text(due).integer(w);
        })?;
        let credit = connection.execute(&self.credit, |values| {
            values.text(due).integer(w).integer(w).integer(w);
        });
        credit.map(drop)
    }

    fn stock_level(&self, connection: &mut Connection, asked: StockLevel) -> Answer<()> {
        put(connection, self.low, &[asked.warehouse, asked.district, asked.threshold])
    }
}

fn put_all(values: &mut Values<'_>, numbers: &[u32]) {
    for number in numbers {
        values.integer(i64::from(*number));
    }
}

/// Executes a statement whose rows are of no interest here.
fn put(connection: &mut Connection, statement: Prepared, numbers: &[u32]) -> Answer<()> {
    connection.execute(&statement, |values| put_all(values, numbers)).map(drop)
}

/// The first column of the first row.
fn first(connection: &mut Connection, statement: Prepared, numbers: &[u32]) -> Answer<Option<u32>> {
    let answers = connection.execute(&statement, |values| put_all(values, numbers))?;
    let first = answers.row().and_then(|row| row.integer(0));
    Ok(first.and_then(|first| u32::try_from(first).ok()))
}

fn missing(what: &str) -> Failure {
    Failure::Strange(format!("a {what} is missing"))
}
