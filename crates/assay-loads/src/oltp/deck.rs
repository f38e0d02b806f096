//! The five transactions, and the deck that deals them.
//!
//! Source: TPC-C, clause 5.2.4.2: a deck of 23 cards gives 43.5% payments and 4.3% of each of the
//! three others, at least what clause 5.2.3 asks for; the rest are new orders.

use crate::deck::Deck;

/// The five transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OltpKind {
    /// A customer orders.
    NewOrder,
    /// A customer pays.
    Payment,
    /// A customer asks for the last order.
    OrderStatus,
    /// The oldest order of each district is delivered.
    Delivery,
    /// Items of the last orders whose stock is low are counted.
    StockLevel,
}

impl OltpKind {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "new order",
            Self::Payment => "payment",
            Self::OrderStatus => "order status",
            Self::Delivery => "delivery",
            Self::StockLevel => "stock level",
        }
    }

    /// Keying time before it, s (clause 5.2.5.2).
    pub const fn keying_s(self) -> f64 {
        match self {
            Self::NewOrder => 18.0,
            Self::Payment => 3.0,
            Self::OrderStatus | Self::Delivery | Self::StockLevel => 2.0,
        }
    }

    /// Mean of the think time after it, s (clause 5.2.5.4).
    pub const fn think_mean_s(self) -> f64 {
        match self {
            Self::NewOrder | Self::Payment => 12.0,
            Self::OrderStatus => 10.0,
            Self::Delivery | Self::StockLevel => 5.0,
        }
    }
}

/// The deck of the specification.
pub fn deck() -> Deck<OltpKind> {
    use OltpKind::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
    Deck::new(&[(NewOrder, 10), (Payment, 10), (OrderStatus, 1), (Delivery, 1), (StockLevel, 1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    #[test]
    fn every_deck_has_exactly_the_mix_in_an_order_of_its_own() {
        let (mut deck, mut random) = (deck(), Random::new(3));
        let decks: Vec<Vec<OltpKind>> =
            (0..50).map(|_| (0..23).map(|_| deck.deal(&mut random)).collect()).collect();
        for dealt in &decks {
            let count = |wanted| dealt.iter().filter(|kind| **kind == wanted).count();
            assert_eq!((count(OltpKind::NewOrder), count(OltpKind::Payment)), (10, 10));
            let others = [OltpKind::OrderStatus, OltpKind::Delivery, OltpKind::StockLevel];
            assert!(others.iter().all(|other| count(*other) == 1));
        }
        assert!(decks.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
