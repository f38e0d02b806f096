//! The five transactions as statements of the client, which travel together as far as none needs what another one finds.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free, so the rows that most sessions
//! want come last.

use super::rows::write_rows;
use crate::load::{CommitMark, Product, TransactionRunner, Value, missing};
use assay_loads::oltp::{Customer, Delivery, OrderStatus, Payment, StockLevel, Transaction};
use assay_model::failure::Answer;

/// A transaction at work.
pub(super) type OrderRunner<'a, L> = TransactionRunner<'a, L, ()>;

/// Numbers as values of a statement.
pub(super) fn numbers<const COUNT: usize>(numbers: [u32; COUNT]) -> [Value<'static>; COUNT] {
    numbers.map(Value::from)
}

/// One try of a transaction; whether it was committed, and not rolled back as asked. A failure leaves none open.
pub(super) fn attempt<L: Product>(
    link: &mut L,
    pipeline: &mut L::Pipeline,
    transaction: &Transaction,
    mark: &mut Option<CommitMark>,
) -> Answer<bool> {
    let mut runner = TransactionRunner { link, pipeline, mark, context: () };
    let outcome = runner.take(transaction);
    runner.over(outcome)
}

impl<L: Product> OrderRunner<'_, L> {
    fn take(&mut self, transaction: &Transaction) -> Answer<bool> {
        match transaction {
            Transaction::NewOrder(order) => return self.new_order(order),
            Transaction::Payment(payment) => self.payment(payment)?,
            Transaction::OrderStatus(asked) => self.order_status(asked)?,
            Transaction::Delivery(delivery) => self.delivery(*delivery)?,
            Transaction::StockLevel(StockLevel { warehouse, district, threshold }) => {
                self.alone("low", &numbers([*warehouse, *district, *threshold]))?;
            }
        }
        Ok(true)
    }

    /// Asks for a customer by name.
    fn ask(&mut self, w: u32, d: u32, customer: &Customer) -> Answer<Option<usize>> {
        let Customer::Name(name) = customer else { return Ok(None) };
        self.put("named", &[w.into(), d.into(), Value::Text(name)]).map(Some)
    }

    /// The number of a customer; of several of one name the one in the middle, rounded up.
    fn found(&self, customer: &Customer, named: Option<usize>) -> Answer<Value<'static>> {
        if let Customer::Number(number) = customer {
            return Ok(Value::from(*number));
        }
        let all: Vec<[i64; 1]> = named.map_or_else(Vec::new, |place| self.all(place));
        let middle = all.get(all.len().saturating_sub(1) / 2);
        middle.map(|[number]| Value::Number(*number)).ok_or_else(|| missing("customer"))
    }

    fn payment(&mut self, payment: &Payment) -> Answer<()> {
        let [w, d, cents] = numbers([payment.warehouse, payment.district, payment.amount]);
        let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
        self.begin()?;
        // Where the row of the history cannot read them itself.
        let names = self.put_known("names", &[w, d])?;
        let named = self.ask(cw, cd, &payment.customer)?;
        if names.or(named).is_some() {
            self.exchange()?;
        }
        let customer = self.found(&payment.customer, named)?;
        let names = self.both_names(names)?;
        let [cw, cd] = numbers([cw, cd]);
        let changed = [
            self.put("charge", &[cw, cd, customer, cents, w, d])?,
            self.put("district", &[cents, w, d])?,
            self.put("warehouse", &[cents, w])?,
            self.put("history", &[customer, cd, cw, d, w, cents, Value::Text(&names)])?,
        ];
        self.put_known("paid", &[w, d, cw, cd, customer])?;
        self.commit_changed(&changed)
    }

    /// The names of a warehouse and its district, where they were asked for.
    fn both_names(&self, asked: Option<usize>) -> Answer<String> {
        let Some(place) = asked else { return Ok(String::new()) };
        if self.touched(place) == 0 {
            return Err(missing("district"));
        }
        Ok(format!("{}    {}", self.text(place, 0), self.text(place, 1)))
    }

    fn order_status(&mut self, asked: &OrderStatus) -> Answer<()> {
        let (w, d) = (asked.warehouse, asked.district);
        self.begin()?;
        let named = self.ask(w, d, &asked.customer)?;
        if named.is_some() {
            self.exchange()?;
        }
        let of_customer = [w.into(), d.into(), self.found(&asked.customer, named)?];
        self.put("last", &of_customer)?;
        // Where the order is not read with its lines.
        self.put_known("lines", &of_customer)?;
        self.commit()
    }

    /// The oldest order of each district; one that another delivery holds is left to it.
    fn delivery(&mut self, delivery: Delivery) -> Answer<()> {
        let [w, carrier] = numbers([delivery.warehouse, delivery.carrier]);
        if self.knows("deliver") {
            return self.alone("deliver", &[w, carrier]);
        }
        self.begin()?;
        let oldest = self.put("oldest", &[w])?;
        self.exchange()?;
        let mut due = String::new();
        write_rows(&mut due, self.all::<2>(oldest));
        let due = Value::Text(&due);
        self.put("gone", &[w, due])?;
        self.put("carry", &[w, due, carrier])?;
        self.put("delivered", &[w, due])?;
        self.put("credit", &[w, due])?;
        self.commit()
    }
}
