//! The five transactions as statements of the client, which travel together as far as none needs
//! what another one finds. The lines of a new order are one value where the product takes rows in a
//! statement, and else are written one by one.
//!
//! Source: TPC-C, clauses 2.4.2 to 2.8.2; the order of changes inside a transaction is free, so the
//! rows that most sessions want come last.

use super::rows::{order_rows, write_rows};
use crate::load::{CommitMark, Product, StatementValue, TransactionRunner, missing};
use assay_loads::oltp::{
    NewOrder, OltpCustomer, OltpDelivery, OltpTransaction, OrderLine, OrderStatus, Payment,
    StockLevel,
};
use assay_model::failure::Answer;

/// A transaction at work.
pub(super) type OrderRunner<'a, L> = TransactionRunner<'a, L, ()>;

/// Numbers as values of a statement.
pub(super) fn numbers<const COUNT: usize>(
    numbers: [u32; COUNT],
) -> [StatementValue<'static>; COUNT] {
    numbers.map(StatementValue::from)
}

/// One try of a transaction; whether it was committed, and not rolled back as asked. A failure
/// leaves none open.
pub(super) fn attempt<L: Product>(
    link: &mut L,
    pipeline: &mut L::Pipeline,
    transaction: &OltpTransaction,
    mark: &mut Option<CommitMark>,
) -> Answer<bool> {
    let mut runner = TransactionRunner { link, pipeline, mark, context: () };
    let outcome = runner.take(transaction);
    runner.over(outcome)
}

impl<L: Product> OrderRunner<'_, L> {
    fn take(&mut self, transaction: &OltpTransaction) -> Answer<bool> {
        match transaction {
            OltpTransaction::NewOrder(order) => return self.new_order(order),
            OltpTransaction::Payment(payment) => self.payment(payment)?,
            OltpTransaction::OrderStatus(asked) => self.order_status(asked)?,
            OltpTransaction::Delivery(delivery) => self.delivery(*delivery)?,
            OltpTransaction::StockLevel(StockLevel { warehouse, district, threshold }) => {
                self.alone("low", &numbers([*warehouse, *district, *threshold]))?;
            }
        }
        Ok(true)
    }

    /// Asks for a customer by name.
    fn ask(&mut self, w: u32, d: u32, customer: &OltpCustomer) -> Answer<Option<usize>> {
        let OltpCustomer::Name(name) = customer else { return Ok(None) };
        self.put("named", &[w.into(), d.into(), StatementValue::Text(name)]).map(Some)
    }

    /// The number of a customer; of several of one name the one in the middle, rounded up.
    fn found(
        &self,
        customer: &OltpCustomer,
        named: Option<usize>,
    ) -> Answer<StatementValue<'static>> {
        if let OltpCustomer::Number(number) = customer {
            return Ok(StatementValue::from(*number));
        }
        let all: Vec<[i64; 1]> = named.map_or_else(Vec::new, |place| self.all(place));
        let middle = all.get(all.len().saturating_sub(1) / 2);
        middle.map(|[number]| StatementValue::Number(*number)).ok_or_else(|| missing("customer"))
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
            self.put("history", &[customer, cd, cw, d, w, cents, StatementValue::Text(&names)])?,
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
    fn delivery(&mut self, delivery: OltpDelivery) -> Answer<()> {
        let [w, carrier] = numbers([delivery.warehouse, delivery.carrier]);
        if self.knows("deliver") {
            return self.alone("deliver", &[w, carrier]);
        }
        self.begin()?;
        let oldest = self.put("oldest", &[w])?;
        self.exchange()?;
        let mut due = String::new();
        write_rows(&mut due, self.all::<2>(oldest));
        let due = StatementValue::Text(&due);
        self.put("gone", &[w, due])?;
        self.put("carry", &[w, due, carrier])?;
        self.put("delivered", &[w, due])?;
        self.put("credit", &[w, due])?;
        self.commit()
    }
}

/// What is written of a line when it is known.
struct Sold {
    line: OrderLine,
    /// The place of its item among the answers; that of its stock follows.
    item: usize,
}

impl<L: Product> OrderRunner<'_, L> {
    /// Whether all of its items are known.
    pub(super) fn new_order(&mut self, order: &NewOrder) -> Answer<bool> {
        self.begin()?;
        let is_known = if self.knows("sell") { self.at_once(order)? } else { self.by_line(order)? };
        self.end(is_known)?;
        Ok(is_known)
    }

    /// What is changed is changed before it is read: a lock that is shared first and then wanted
    /// alone is how serialisable sessions end in deadlocks.
    fn at_once(&mut self, order: &NewOrder) -> Answer<bool> {
        let [w, d, c] = numbers([order.warehouse, order.district, order.customer]);
        let mut wanted = String::new();
        write_rows(&mut wanted, order_rows(order));
        let wanted = StatementValue::Text(&wanted);
        let next = self.put("next", &[w, d])?;
        self.put_order(order, StatementValue::Number(0))?;
        self.put("sell", &[w, wanted])?;
        let written = self.put("write", &[w, d, wanted])?;
        self.put("buyer", &[w, d, c])?;
        self.put("written", &[w, d])?;
        self.exchange()?;
        if self.touched(next) == 0 {
            return Err(missing("district"));
        }
        Ok(usize::try_from(self.touched(written)).is_ok_and(|lines| lines == order.lines.len()))
    }

    fn by_line(&mut self, order: &NewOrder) -> Answer<bool> {
        let [w, d, c] = numbers([order.warehouse, order.district, order.customer]);
        self.put("buyer", &[w, d, c])?;
        let next = self.put("next", &[w, d])?;
        let mut sold = Vec::with_capacity(order.lines.len());
        for line in &order.lines {
            let item = self.put("item", &[line.item.into()])?;
            let is_remote = u32::from(line.supply != order.warehouse);
            let [supply, item_number, quantity, is_remote] =
                numbers([line.supply, line.item, line.quantity, is_remote]);
            self.put("stock", &[supply, item_number, quantity, is_remote, d])?;
            sold.push(Sold { line: *line, item });
        }
        self.exchange()?;
        let number = StatementValue::Number(self.need(next, 0, "district")?);
        if sold.iter().any(|one| self.number(one.item, 0).is_none()) {
            return Ok(false);
        }
        self.put_order(order, number)?;
        for (place, one) in (1..).zip(sold) {
            self.put_line([number, d, w, StatementValue::Number(place)], &one)?;
        }
        Ok(true)
    }

    /// The order without its lines.
    fn put_order(&mut self, order: &NewOrder, number: StatementValue<'static>) -> Answer<()> {
        let [w, d, c] = numbers([order.warehouse, order.district, order.customer]);
        let line_count = u32::try_from(order.lines.len()).unwrap_or(0);
        let is_local = order.lines.iter().all(|line| line.supply == order.warehouse);
        let [line_count, is_local] = numbers([line_count, u32::from(is_local)]);
        self.put("order", &[number, d, w, c, line_count, is_local])?;
        self.put("new_order", &[number, d, w]).map(drop)
    }

    /// A line, with its place in the order.
    fn put_line(
        &mut self,
        [number, d, w, place]: [StatementValue<'static>; 4],
        sold: &Sold,
    ) -> Answer<()> {
        let cents = self.number(sold.item, 0).unwrap_or(0) * i64::from(sold.line.quantity);
        let info = self.text(sold.item + 1, 1).to_owned();
        let [item, supply, quantity] =
            numbers([sold.line.item, sold.line.supply, sold.line.quantity]);
        let (cents, info) = (StatementValue::Number(cents), StatementValue::Text(&info));
        self.put("line", &[number, d, w, place, item, supply, quantity, cents, info]).map(drop)
    }
}
