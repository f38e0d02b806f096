//! The market's side: what it sends back for the orders that the sessions placed, prices of its own
//! among it, and when data is to be maintained.

use super::BrokerageRules;
use super::fixed::symbol;
use super::rules::{Skewed, between};
use super::securities::{price_cents, skewed};
use assay_model::mix::Mix;
use assay_model::number::{index_of, narrow};
use assay_stats::random::Random;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// An order on its way to the market, and the trade that comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketOrder {
    /// Number of the trade.
    pub trade: i64,
    /// What is dealt in.
    pub symbol: String,
    /// How many.
    pub quantity: u32,
    /// At what price, hundredths of the currency.
    pub price_cents: i64,
}

/// A price that the market reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarketTick {
    /// Of what.
    pub symbol: String,
    /// The price, hundredths of the currency.
    pub price_cents: i64,
    /// How many were dealt in.
    pub quantity: u32,
}

/// What the market has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarketDue {
    /// A trade was made.
    Result(MarketOrder),
    /// Prices, ordered by symbol, so that sessions lock rows in one order.
    Feed(Vec<MarketTick>),
    /// It is time to maintain data: the number of the time.
    Maintenance(u32),
}

/// A market that all sessions share.
#[derive(Debug)]
pub struct Market {
    rules: BrokerageRules,
    securities: Skewed,
    ticks_a_feed: usize,
    every_ns: u64,
    state: Mutex<MarketState>,
}

#[derive(Debug)]
struct MarketState {
    random: Random,
    trades: VecDeque<MarketOrder>,
    ticks: Vec<MarketTick>,
    maintained: u64,
}

impl Market {
    /// A market without orders; rules must have passed their check.
    pub fn new(rules: &BrokerageRules, mix: &Mix) -> Self {
        let state = MarketState {
            random: Random::part(rules.seed, 0x3a4e7),
            trades: VecDeque::new(),
            ticks: Vec::new(),
            maintained: 0,
        };
        Self {
            securities: skewed(rules),
            rules: rules.clone(),
            ticks_a_feed: 2 * index_of(u64::from(mix.orders_per_feed)),
            every_ns: mix.maintenance_every.0.max(1),
            state: Mutex::new(state),
        }
    }

    /// Forgets what was ordered: those orders are cancelled, or their data is gone.
    pub fn clear(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.trades.clear();
        state.ticks.clear();
        state.maintained = 0;
    }

    /// Takes an order. It is carried out within 1% of its price, and its price is reported with
    /// that of another security.
    pub fn send(&self, mut order: MarketOrder) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let MarketState { random, trades, ticks, .. } = &mut *state;
        order.price_cents = order.price_cents * i64::from(between(random, 990, 1010)) / 1000;
        let other = self.securities.draw(random);
        ticks.push(MarketTick {
            symbol: order.symbol.clone(),
            price_cents: order.price_cents,
            quantity: order.quantity,
        });
        ticks.push(MarketTick {
            symbol: symbol(other),
            price_cents: price_cents(&self.rules, other, random),
            quantity: 100,
        });
        trades.push_back(order);
    }

    /// What is to be done for the market now, so long after the step began; whoever asks first does
    /// it.
    pub fn due(&self, elapsed: Duration) -> Option<MarketDue> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(order) = state.trades.pop_front() {
            return Some(MarketDue::Result(order));
        }
        if state.ticks.len() >= self.ticks_a_feed {
            let rest = state.ticks.split_off(self.ticks_a_feed);
            return Some(MarketDue::Feed(in_order(std::mem::replace(&mut state.ticks, rest))));
        }
        // The first time comes at once, so that a short step has one.
        let times = narrow(elapsed.as_nanos()) / self.every_ns + 1;
        if state.maintained >= times {
            return None;
        }
        state.maintained += 1;
        Some(MarketDue::Maintenance(u32::try_from(state.maintained - 1).unwrap_or(0)))
    }
}

/// By symbol; of several prices of one security the last.
fn in_order(mut ticks: Vec<MarketTick>) -> Vec<MarketTick> {
    ticks.reverse();
    ticks.sort_by(|one, other| one.symbol.cmp(&other.symbol));
    ticks.dedup_by(|later, kept| later.symbol == kept.symbol);
    ticks
}

#[cfg(test)]
mod tests {
    use super::super::mix_of;
    use super::*;

    fn order(trade: i64) -> MarketOrder {
        MarketOrder { trade, symbol: symbol(7), quantity: 100, price_cents: 5000 }
    }

    #[test]
    fn every_order_comes_back_once_and_ten_make_a_feed() {
        let market = Market::new(&BrokerageRules::default(), &mix_of("default").unwrap());
        let now = Duration::from_secs(1);
        assert_eq!(market.due(now), Some(MarketDue::Maintenance(0)));
        assert_eq!(market.due(now), None);
        (1..=25).for_each(|trade| market.send(order(trade)));
        let mut feeds = 0;
        let mut trades = Vec::new();
        while let Some(due) = market.due(now) {
            match due {
                MarketDue::Result(back) => {
                    assert!((4950..=5050).contains(&back.price_cents), "{back:?}");
                    trades.push(back.trade);
                }
                MarketDue::Feed(ticks) => {
                    feeds += 1;
                    assert!(ticks.windows(2).all(|pair| pair[0].symbol < pair[1].symbol));
                    assert!(ticks.iter().any(|tick| tick.symbol == symbol(7)));
                }
                MarketDue::Maintenance(_) => panic!("not yet"),
            }
        }
        assert_eq!((trades, feeds), ((1..=25).collect(), 2));
        assert_eq!(market.due(Duration::from_secs(61)), Some(MarketDue::Maintenance(1)));
        market.send(order(9));
        market.clear();
        assert_eq!(market.due(now), Some(MarketDue::Maintenance(0)));
        assert_eq!(market.due(now), None);
    }

    #[test]
    fn of_two_prices_the_later_one_stands() {
        let tick = |name: &str, price_cents| MarketTick {
            symbol: name.to_owned(),
            price_cents,
            quantity: 1,
        };
        let ordered = in_order(vec![tick("B", 1), tick("A", 2), tick("B", 3)]);
        assert_eq!(ordered, [tick("A", 2), tick("B", 3)]);
    }
}
