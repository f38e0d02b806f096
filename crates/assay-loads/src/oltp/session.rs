//! What one session does: an endless, repeatable series of transactions with their inputs.
//!
//! Source: TPC-C, clauses 2.4.1 to 2.8.1 (inputs) and 5.2.5 (keying and think times).

use super::choice::{Choices, Constants};
use super::deck::{OltpKind, deck};
use super::text::last_name;
use super::{DISTRICTS, Homes, OltpRules, UNUSED_ITEM};
use crate::deck::Deck;
use crate::think::thought;
use assay_model::units::Nanos;

/// A customer, by number or, in 60 of 100 cases, by last name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OltpCustomer {
    /// The number.
    Number(u32),
    /// The last name; of several the one in the middle is meant, by first name.
    Name(String),
}

/// A line of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderLine {
    /// The warehouse that supplies it; in 99 of 100 cases the home.
    pub supply: u32,
    /// The item.
    pub item: u32,
    /// How many.
    pub quantity: u32,
}

/// A customer orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// The home warehouse.
    pub warehouse: u32,
    /// Its district.
    pub district: u32,
    /// The customer.
    pub customer: u32,
    /// 5 to 15 lines, ordered by warehouse and item: sessions that lock rows in one order do not
    /// block each other for ever.
    pub lines: Vec<OrderLine>,
}

/// A customer pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// The warehouse that is paid.
    pub warehouse: u32,
    /// Its district.
    pub district: u32,
    /// The customer's warehouse; in 85 of 100 cases the same.
    pub customer_warehouse: u32,
    /// The customer's district.
    pub customer_district: u32,
    /// The customer.
    pub customer: OltpCustomer,
    /// Hundredths of the currency.
    pub amount: u32,
}

/// A customer asks for the last order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderStatus {
    /// The home warehouse.
    pub warehouse: u32,
    /// The customer's district.
    pub district: u32,
    /// The customer.
    pub customer: OltpCustomer,
}

/// The oldest order of each district is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OltpDelivery {
    /// The home warehouse.
    pub warehouse: u32,
    /// Who delivers, 1..=10.
    pub carrier: u32,
}

/// Items of the last 20 orders whose stock is below a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockLevel {
    /// The home warehouse.
    pub warehouse: u32,
    /// The session's district.
    pub district: u32,
    /// The threshold, 10..=20.
    pub threshold: u32,
}

/// One transaction with its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OltpTransaction {
    /// A customer orders.
    NewOrder(NewOrder),
    /// A customer pays.
    Payment(Payment),
    /// A customer asks for the last order.
    OrderStatus(OrderStatus),
    /// The oldest order of each district is delivered.
    Delivery(OltpDelivery),
    /// Items whose stock is low are counted.
    StockLevel(StockLevel),
}

/// One session's series of transactions.
#[derive(Clone, Debug)]
pub struct OltpSession {
    rules: OltpRules,
    home: u32,
    district: u32,
    choices: Choices,
    deck: Deck<OltpKind>,
    /// Thinking about the last transaction.
    think: Nanos,
}

impl NewOrder {
    /// Whether it is one of those that name an unused item and are rolled back.
    pub fn is_rolled_back(&self) -> bool {
        self.lines.iter().any(|line| line.item == UNUSED_ITEM)
    }
}

impl OltpTransaction {
    /// Which of the five it is.
    pub const fn kind(&self) -> OltpKind {
        match self {
            Self::NewOrder(_) => OltpKind::NewOrder,
            Self::Payment(_) => OltpKind::Payment,
            Self::OrderStatus(_) => OltpKind::OrderStatus,
            Self::Delivery(_) => OltpKind::Delivery,
            Self::StockLevel(_) => OltpKind::StockLevel,
        }
    }
}

impl OltpSession {
    /// The session of a number, from 0; rules must have passed their check.
    pub fn new(rules: &OltpRules, number: u32) -> Self {
        Self {
            home: number % rules.warehouses + 1,
            district: number / rules.warehouses % DISTRICTS + 1,
            choices: Choices::new(
                rules.seed ^ 0x07c0,
                u64::from(number),
                Constants::of_running(rules.seed),
            ),
            rules: rules.clone(),
            deck: deck(),
            think: Nanos(0),
        }
    }

    /// The next transaction, and how long to wait before it: thinking about the last and keying in
    /// this one.
    pub fn draw(&mut self) -> (OltpTransaction, Nanos) {
        let kind = self.deck.deal(self.choices.random());
        let warehouse = match self.rules.homes {
            Homes::Home => self.home,
            Homes::All => self.choices.uniform(1, self.rules.warehouses),
        };
        let transaction = match kind {
            OltpKind::NewOrder => OltpTransaction::NewOrder(self.new_order(warehouse)),
            OltpKind::Payment => OltpTransaction::Payment(self.payment(warehouse)),
            OltpKind::OrderStatus => OltpTransaction::OrderStatus(OrderStatus {
                warehouse,
                district: self.choices.uniform(1, DISTRICTS),
                customer: self.customer(),
            }),
            OltpKind::Delivery => OltpTransaction::Delivery(OltpDelivery {
                warehouse,
                carrier: self.choices.uniform(1, 10),
            }),
            OltpKind::StockLevel => OltpTransaction::StockLevel(StockLevel {
                warehouse,
                district: self.district,
                threshold: self.choices.uniform(10, 20),
            }),
        };
        (transaction, self.wait(kind))
    }

    /// Keying and thinking.
    fn wait(&mut self, kind: OltpKind) -> Nanos {
        let share = self.rules.think_share;
        if share <= 0.0 {
            return Nanos(0);
        }
        let before = self.think.0;
        self.think = thought(self.choices.random(), share * kind.think_mean_s());
        Nanos(before.saturating_add(Nanos::from_seconds(share * kind.keying_s()).0))
    }

    /// One of the other warehouses; the same where there is no other.
    fn other(&mut self, warehouse: u32) -> u32 {
        if self.rules.warehouses < 2 {
            return warehouse;
        }
        let chosen = self.choices.uniform(1, self.rules.warehouses - 1);
        if chosen >= warehouse { chosen + 1 } else { chosen }
    }

    fn customer(&mut self) -> OltpCustomer {
        if self.choices.percent(60) {
            OltpCustomer::Name(last_name(self.choices.last_name()))
        } else {
            OltpCustomer::Number(self.choices.customer())
        }
    }

    /// An item is named once in an order.
    fn new_order(&mut self, warehouse: u32) -> NewOrder {
        let district = self.choices.uniform(1, DISTRICTS);
        let customer = self.choices.customer();
        let count = self.choices.uniform(5, 15);
        let is_rolled_back = self.choices.percent(1);
        let mut lines: Vec<OrderLine> = Vec::with_capacity(15);
        for number in 1..=count {
            let item =
                if is_rolled_back && number == count { UNUSED_ITEM } else { self.new_item(&lines) };
            let is_remote = self.choices.percent(1);
            let supply = if is_remote { self.other(warehouse) } else { warehouse };
            lines.push(OrderLine { supply, item, quantity: self.choices.uniform(1, 10) });
        }
        lines.sort_unstable();
        NewOrder { warehouse, district, customer, lines }
    }

    fn new_item(&mut self, lines: &[OrderLine]) -> u32 {
        loop {
            let item = self.choices.item();
            if lines.iter().all(|line| line.item != item) {
                return item;
            }
        }
    }

    fn payment(&mut self, warehouse: u32) -> Payment {
        let district = self.choices.uniform(1, DISTRICTS);
        let is_remote = self.choices.percent(15);
        let (customer_warehouse, customer_district) = if is_remote {
            (self.other(warehouse), self.choices.uniform(1, DISTRICTS))
        } else {
            (warehouse, district)
        };
        Payment {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: self.customer(),
            amount: self.choices.uniform(100, 500_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(rules: &OltpRules, number: u32, count: usize) -> Vec<OltpTransaction> {
        let mut session = OltpSession::new(rules, number);
        (0..count).map(|_| session.draw().0).collect()
    }

    #[test]
    fn orders_are_of_the_sizes_and_from_the_places_that_are_specified() {
        let rules = OltpRules { warehouses: 10, ..OltpRules::default() };
        let (mut orders, mut lines, mut remote, mut back) = (0_u32, 0_u32, 0_u32, 0_u32);
        for transaction in drawn(&rules, 0, 46_000) {
            let OltpTransaction::NewOrder(order) = transaction else { continue };
            orders += 1;
            back += u32::from(order.is_rolled_back());
            assert!((5..=15).contains(&order.lines.len()));
            assert!(order.lines.is_sorted());
            let mut items: Vec<u32> = order.lines.iter().map(|line| line.item).collect();
            items.sort_unstable();
            items.dedup();
            assert_eq!(items.len(), order.lines.len());
            lines += u32::try_from(order.lines.len()).unwrap();
            let from_afar = order.lines.iter().filter(|line| line.supply != order.warehouse);
            remote += u32::try_from(from_afar.count()).unwrap();
        }
        assert_eq!(orders, 20_000);
        // Within four standard deviations of 10 lines, 1% of 20,000 orders and of 200,000 lines.
        assert!((198_200..201_800).contains(&lines), "{lines}");
        assert!((143..257).contains(&back), "{back}");
        assert!((1820..2180).contains(&remote), "{remote}");
    }

    #[test]
    fn payments_come_from_other_warehouses_and_by_name_as_specified() {
        let rules = OltpRules { warehouses: 4, homes: Homes::Home, ..OltpRules::default() };
        let (mut payments, mut afar, mut named) = (0_u32, 0_u32, 0_u32);
        for transaction in drawn(&rules, 6, 46_000) {
            let OltpTransaction::Payment(payment) = transaction else { continue };
            assert_eq!(payment.warehouse, 3);
            payments += 1;
            afar += u32::from(payment.customer_warehouse != 3);
            named += u32::from(matches!(payment.customer, OltpCustomer::Name(_)));
            assert!((100..=500_000).contains(&payment.amount));
        }
        assert_eq!(payments, 20_000);
        assert!((2800..3200).contains(&afar), "{afar}");
        assert!((11_720..12_280).contains(&named), "{named}");
    }

    #[test]
    fn keying_and_thinking_take_the_time_that_is_specified() {
        let mut session =
            OltpSession::new(&OltpRules { think_share: 1.0, ..OltpRules::default() }, 0);
        let waited: f64 = (0..23_000).map(|_| session.draw().1.seconds()).sum();
        // A deck: 10 x (18 + 12) + 10 x (3 + 12) + (2 + 10) + 2 x (2 + 5) = 476 s.
        assert!((waited / 1000.0 - 476.0).abs() < 8.0, "{waited}");
        let mut none = OltpSession::new(&OltpRules::default(), 0);
        assert!((0..100).all(|_| none.draw().1.0 == 0));
    }

    #[test]
    fn one_warehouse_has_no_other_and_sessions_differ() {
        let rules = OltpRules::default();
        for transaction in drawn(&rules, 0, 1000) {
            if let OltpTransaction::NewOrder(order) = transaction {
                assert!(order.lines.iter().all(|line| line.supply == 1));
            }
        }
        assert_eq!(drawn(&rules, 1, 50), drawn(&rules, 1, 50));
        assert_ne!(drawn(&rules, 1, 50), drawn(&rules, 2, 50));
    }
}
