//! The five transactions as statements of the client, which travel together as far as none needs what another one finds, and in
//! any case before the end of the transaction: the server executes what stands behind a refused one, too.

use super::rows::{order_rows, write_rows};
use super::statements::{
    BUYER, CARRY, CHARGE, CREDIT, DELIVER, DISTRICT, GONE, HISTORY, LOW, NAMED, NEW, NEXT, ORDER,
    PAID, SELL, STATUS, WAREHOUSE, WRITE, WRITTEN, asked, oldest_of_each,
};
use assay_loads::oltp::{
    Customer, Delivery, NewOrder, OrderStatus, Payment, StockLevel, Transaction,
};
use assay_mariadb::connection::{Answers, Batch, Connection, Prepared, Values};
use assay_model::failure::{Answer, Failure};

/// Districts whose oldest order is delivered.
const DISTRICTS: u32 = 10;

/// Statements of a session.
pub struct Statements {
    buyer: Prepared,
    next: Prepared,
    order: Prepared,
    new_order: Prepared,
    sell: Prepared,
    write: Prepared,
    written: Prepared,
    named: Prepared,
    charge: Prepared,
    district: Prepared,
    warehouse: Prepared,
    history: Prepared,
    paid: Prepared,
    status: Prepared,
    oldest: Prepared,
    gone: Prepared,
    carry: Prepared,
    deliver: Prepared,
    credit: Prepared,
    low: Prepared,
    commit: Prepared,
    batch: Batch,
    /// Lines of an order, or orders of a delivery, as the server takes them.
    wanted: String,
}

impl Statements {
    /// Has the statements parsed in a session whose transactions begin with the first statement.
    pub(super) fn prepare(connection: &mut Connection, schema: &str) -> Answer<Self> {
        // MySQL wants a database for rows that are in none.
        connection.run(&format!("USE {schema}; SET SESSION autocommit = 0"))?;
        let mut of = |text: &str| connection.prepare(&asked(text, schema));
        Ok(Self {
            buyer: of(BUYER)?,
            next: of(NEXT)?,
            order: of(ORDER)?,
            new_order: of(NEW)?,
            sell: of(SELL)?,
            write: of(WRITE)?,
            written: of(WRITTEN)?,
            named: of(NAMED)?,
            charge: of(CHARGE)?,
            district: of(DISTRICT)?,
            warehouse: of(WAREHOUSE)?,
            history: of(HISTORY)?,
            paid: of(PAID)?,
            status: of(STATUS)?,
            oldest: of(&oldest_of_each(DISTRICTS))?,
            gone: of(GONE)?,
            carry: of(CARRY)?,
            deliver: of(DELIVER)?,
            credit: of(CREDIT)?,
            low: of(LOW)?,
            commit: of("COMMIT")?,
            batch: Batch::default(),
            wanted: String::new(),
        })
    }

    /// Carries a transaction out; whether it was committed, and not rolled back as asked.
    pub(super) fn take(
        &mut self,
        connection: &mut Connection,
        transaction: &Transaction,
    ) -> Answer<bool> {
        match transaction {
            Transaction::NewOrder(order) => {
                if !self.new_order(connection, order)? {
                    return connection.run("ROLLBACK").map(|()| false);
                }
            }
            Transaction::Payment(payment) => self.payment(connection, payment)?,
            Transaction::OrderStatus(asked) => self.order_status(connection, asked)?,
            Transaction::Delivery(delivery) => self.delivery(connection, *delivery)?,
            Transaction::StockLevel(asked) => self.stock_level(*asked),
        }
        // What reads only is still to be sent, and goes with the end.
        self.put(self.commit, &[]);
        self.exchange(connection).map(|()| true)
    }

    fn put(&mut self, statement: Prepared, numbers: &[u32]) {
        self.batch.execute(statement, |values| put_all(values, numbers));
    }

    fn exchange(&mut self, connection: &mut Connection) -> Answer<()> {
        connection.exchange(&mut self.batch)
    }

    /// What a statement of the last exchange gave.
    fn answers(&self, place: usize) -> Answer<&Answers> {
        self.batch.answers(place).ok_or_else(|| missing("answer"))
    }

    /// Whether all of its items are known.
    fn new_order(&mut self, connection: &mut Connection, order: &NewOrder) -> Answer<bool> {
        let (w, d) = (order.warehouse, order.district);
        let is_local = u32::from(order.lines.iter().all(|line| line.supply == w));
        let count = u32::try_from(order.lines.len()).unwrap_or(0);
        self.put(self.next, &[w, d]);
        self.put(self.order, &[d, w, order.customer, count, is_local]);
        self.put(self.new_order, &[d, w]);
        write_rows(&mut self.wanted, order_rows(order));
        let Self { batch, wanted, .. } = self;
        batch.execute(self.sell, |values| {
            values.text(wanted.as_bytes()).integer(i64::from(w));
        });
        batch.execute(self.write, |values| {
            put_all(values, &[d, w, d]);
            values.text(wanted.as_bytes());
        });
        self.put(self.buyer, &[w, d, order.customer]);
        self.put(self.written, &[w, d]);
        self.exchange(connection)?;
        if self.answers(0)?.touched() == 0 {
            return Err(missing("district"));
        }
        // An item that nobody has makes no line.
        Ok(self.answers(4)?.touched() == u64::from(count))
    }

    /// The number of a customer; of several of one name the one in the middle, rounded up.
    fn number(
        &mut self,
        connection: &mut Connection,
        w: u32,
        d: u32,
        customer: &Customer,
    ) -> Answer<u32> {
        let name = match customer {
            Customer::Number(number) => return Ok(*number),
            Customer::Name(name) => name,
        };
        self.batch.execute(self.named, |values| {
            put_all(values, &[w, d]);
            values.text(name.as_bytes());
        });
        self.exchange(connection)?;
        let mut rows = self.answers(0)?.rows();
        let middle = rows.len().saturating_sub(1) / 2;
        let number = rows.nth(middle).and_then(|row| row.integer(0));
        number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| missing("customer"))
    }

    fn payment(&mut self, connection: &mut Connection, payment: &Payment) -> Answer<()> {
        let (w, d, cents) = (payment.warehouse, payment.district, payment.amount);
        let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
        let number = self.number(connection, cw, cd, &payment.customer)?;
        self.put(self.charge, &[w, d, cents, cents, cents, cw, cd, number]);
        self.put(self.district, &[cents, w, d]);
        self.put(self.warehouse, &[cents, w]);
        self.put(self.history, &[number, cd, cw, d, w, cents, w, d]);
        self.put(self.paid, &[w, d, cw, cd, number]);
        self.exchange(connection)?;
        let is_whole = (0..4).all(|place| self.answers(place).is_ok_and(|one| one.touched() == 1));
        if is_whole { Ok(()) } else { Err(missing("row of a payment")) }
    }

    fn order_status(&mut self, connection: &mut Connection, asked: &OrderStatus) -> Answer<()> {
        let (w, d) = (asked.warehouse, asked.district);
        let number = self.number(connection, w, d, &asked.customer)?;
        self.put(self.status, &[w, d, number, w, d, number]);
        Ok(())
    }

    /// The oldest order of each district; one that another delivery holds is left to it.
    fn delivery(&mut self, connection: &mut Connection, delivery: Delivery) -> Answer<()> {
        let w = delivery.warehouse;
        self.batch.execute(self.oldest, |values| {
            (1..=DISTRICTS).for_each(|d| put_all(values, &[w, d]));
        });
        self.exchange(connection)?;
        let number = |value: Option<i64>| value.and_then(|value| u32::try_from(value).ok());
        let due = self.batch.answers(0).into_iter().flat_map(Answers::rows);
        let due = due.filter_map(|row| Some([number(row.integer(0))?, number(row.integer(1))?]));
        write_rows(&mut self.wanted, due);
        self.hand_over(w, delivery.carrier);
        self.exchange(connection)
    }

    /// What is done with the orders of a delivery.
    fn hand_over(&mut self, w: u32, carrier: u32) {
        let Self { batch, wanted, .. } = self;
        let due = wanted.as_bytes();
        for (statement, numbers) in [
            (self.gone, &[w][..]),
            (self.carry, &[w, carrier]),
            (self.deliver, &[w]),
            (self.credit, &[w, w, w]),
        ] {
            batch.execute(statement, |values| {
                values.text(due);
                put_all(values, numbers);
            });
        }
    }

    fn stock_level(&mut self, asked: StockLevel) {
        self.put(self.low, &[asked.warehouse, asked.district, asked.threshold]);
    }
}

fn put_all(values: &mut Values<'_>, numbers: &[u32]) {
    for number in numbers {
        values.integer(i64::from(*number));
    }
}

fn missing(what: &str) -> Failure {
    Failure::Protocol(format!("a {what} is missing"))
}
