//! A new order as statements: its lines are one value where the product takes rows in a statement, and else are written one
//! by one. An item that nobody has rolls it back.

use super::rows::{order_rows, write_rows};
use super::transactions::{OrderRunner, numbers};
use crate::load::{Product, Value, missing};
use assay_loads::oltp::{Line, NewOrder};
use assay_model::failure::Answer;

/// What is written of a line when it is known.
struct Sold {
    line: Line,
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

    /// What is changed is changed before it is read: a lock that is shared first and then wanted alone is how serialisable
    /// sessions end in deadlocks.
    fn at_once(&mut self, order: &NewOrder) -> Answer<bool> {
        let [w, d, c] = numbers([order.warehouse, order.district, order.customer]);
        let mut wanted = String::new();
        write_rows(&mut wanted, order_rows(order));
        let wanted = Value::Text(&wanted);
        let next = self.put("next", &[w, d])?;
        self.put_order(order, Value::Number(0))?;
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
        let number = Value::Number(self.need(next, 0, "district")?);
        if sold.iter().any(|one| self.number(one.item, 0).is_none()) {
            return Ok(false);
        }
        self.put_order(order, number)?;
        for (place, one) in (1..).zip(sold) {
            self.put_line([number, d, w, Value::Number(place)], &one)?;
        }
        Ok(true)
    }

    /// The order without its lines.
    fn put_order(&mut self, order: &NewOrder, number: Value<'static>) -> Answer<()> {
        let [w, d, c] = numbers([order.warehouse, order.district, order.customer]);
        let line_count = u32::try_from(order.lines.len()).unwrap_or(0);
        let is_local = order.lines.iter().all(|line| line.supply == order.warehouse);
        let [line_count, is_local] = numbers([line_count, u32::from(is_local)]);
        self.put("order", &[number, d, w, c, line_count, is_local])?;
        self.put("new_order", &[number, d, w]).map(drop)
    }

    /// A line, with its place in the order.
    fn put_line(&mut self, [number, d, w, place]: [Value<'static>; 4], sold: &Sold) -> Answer<()> {
        let cents = self.number(sold.item, 0).unwrap_or(0) * i64::from(sold.line.quantity);
        let info = self.text(sold.item + 1, 1).to_owned();
        let [item, supply, quantity] =
            numbers([sold.line.item, sold.line.supply, sold.line.quantity]);
        let (cents, info) = (Value::Number(cents), Value::Text(&info));
        self.put("line", &[number, d, w, place, item, supply, quantity, cents, info]).map(drop)
    }
}
