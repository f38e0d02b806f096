//! One session's series of transactions with their inputs, and which trades of the past it looks up
//! or corrects.

use super::fixed::{INDUSTRIES, is_limit};
use super::fixed::{SECTORS, broker, company, industry, person, sector, symbol, tax_code};
use super::fixed::{account, accounts_of_tier, permitted, tier_of};
use super::market::{MarketDue, MarketOrder, MarketTick};
use super::rules::{Skewed, below, between, percent};
use super::securities::{company_of, issue_of, of_account, price_cents, skewed};
use super::{BrokerageRules, MAINTAINED, PRICE_DAYS, trades as past};
use crate::deck::Deck;
use crate::think::thought;
use assay_model::mix::Mix;
use assay_model::units::Nanos;
use assay_stats::random::Random;

/// Trades that are looked up at once.
const AT_ONCE: u32 = 20;
/// Seconds of an open market a day.
const OPEN_S: u32 = 8 * 3600;
/// Seconds of a day.
const DAY_S: u32 = 86_400;

/// Trades of the past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// By their numbers, in order.
    Trades(Vec<i64>),
    /// Of an account, starting this number of seconds after the first opening.
    Account(u32, u32),
    /// Of a security, likewise.
    Security(String, u32),
    /// What became of what an account bought, likewise.
    Holding(u32, u32),
}

/// Trades of the past, corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TradeUpdate {
    /// Who executed them, by their numbers, in order.
    Executor(Vec<i64>),
    /// How they were settled: those of an account, starting this number of seconds after the first
    /// opening.
    Settlement(u32, u32),
    /// What is written of their money: those of a security, likewise.
    Cash(String, u32),
}

/// Different numbers of trades, in order, so that sessions lock rows in one order.
pub(super) fn trades(rules: &BrokerageRules, random: &mut Random) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..AT_ONCE)
        .map(|_| i64::try_from(random.below(rules.trades())).unwrap_or(0) + 1)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A moment at which the market was open, seconds after the first opening.
pub(super) fn moment_s(rules: &BrokerageRules, random: &mut Random) -> u32 {
    below(random, rules.trade_days) * DAY_S + below(random, OPEN_S)
}

/// What customers ask for, by the cards of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MixCard {
    Volume,
    Position,
    Watch,
    Detail,
    Lookup,
    Order,
    Status,
    Update,
}

/// A customer, by number or, in half of the cases, by the number that the state knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerageCustomer {
    /// The number.
    Number(u32),
    /// The number of the state.
    TaxCode(String),
}

/// Orders of brokers in a sector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerVolume {
    /// Names of brokers: 20 to 40 where there are as many.
    pub brokers: Vec<String>,
    /// Name of the sector.
    pub sector: &'static str,
}

/// What a customer owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Whose.
    pub customer: BrokerageCustomer,
    /// Whether the last trades of one of the accounts are wanted, too, and of which, from 0.
    pub history_of: Option<u32>,
}

/// Of which securities a watcher wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchScope {
    /// Those on the list of a customer.
    List(u32),
    /// Those in an account.
    Account(u32),
    /// Those of an industry.
    Industry(String),
}

/// How securities did since a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketWatch {
    /// Which.
    pub watched: WatchScope,
    /// Working days before the last.
    pub days_back: u32,
}

/// All data on a security.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Which.
    pub symbol: String,
    /// The first day of prices, working days before the last.
    pub days_back: u32,
    /// Days of prices.
    pub days: u32,
    /// Whether the texts of its news are wanted, or their headlines only.
    pub with_texts: bool,
}

/// A security is bought or sold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradeOrder {
    /// For which account.
    pub account: u32,
    /// First and last name and number of the state of who orders.
    pub executor: (&'static str, &'static str, String),
    /// The symbol, or in 40 of a hundred cases the name of the company and which of its
    /// securities.
    pub security: Result<String, (String, &'static str)>,
    /// The kind, from 1.
    pub kind: u32,
    /// How many.
    pub quantity: u32,
    /// At what price, where it is a limit; hundredths of the currency.
    pub limit_cents: i64,
    /// Whether money of the account is used.
    pub is_cash: bool,
    /// Whether what was bought last is sold first.
    pub is_lifo: bool,
    /// Whether it is taken back, as one in a hundred is.
    pub is_rolled_back: bool,
}

/// A piece of data is looked after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataMaintenance {
    /// Which of twelve things, in turn.
    pub what: u32,
    /// Of whom: a customer.
    pub customer: u32,
    /// Of what: the symbol of a security, whose company is meant where it is one of companies.
    pub symbol: String,
}

/// One transaction with its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they carry says what they are")]
pub enum BrokerageTransaction {
    BrokerVolume(BrokerVolume),
    CustomerPosition(Position),
    MarketWatch(MarketWatch),
    SecurityDetail(Detail),
    TradeLookup(Lookup),
    TradeOrder(TradeOrder),
    /// The last trades of an account.
    TradeStatus(u32),
    TradeUpdate(TradeUpdate),
    TradeResult(MarketOrder),
    MarketFeed(Vec<MarketTick>),
    DataMaintenance(DataMaintenance),
}

/// One session.
#[derive(Clone, Debug)]
pub struct BrokerageSession {
    rules: BrokerageRules,
    customers: Skewed,
    securities: Skewed,
    deck: Deck<MixCard>,
    random: Random,
    /// Thinking changes nothing in what is drawn.
    thoughts: Random,
}

impl BrokerageSession {
    /// The session of a number, from 0; rules and mix must have passed their checks.
    pub fn new(rules: &BrokerageRules, mix: &Mix, number: u32) -> Self {
        use MixCard::{Detail, Lookup, Order, Position, Status, Update, Volume, Watch};
        let kinds = [Volume, Position, Watch, Detail, Lookup, Order, Status, Update];
        let mut cards = [(Volume, 0); 8];
        for ((card, kind), count) in cards.iter_mut().zip(kinds).zip(mix.shares.all()) {
            *card = (kind, count);
        }
        Self {
            customers: Skewed::new(rules.customers, rules.customer_skew, rules.seed ^ 0xc057),
            securities: skewed(rules),
            deck: Deck::new(&cards),
            random: Random::part(rules.seed ^ 0xb20c, u64::from(number)),
            thoughts: Random::part(rules.seed ^ 0x7417, u64::from(number)),
            rules: rules.clone(),
        }
    }

    /// The next transaction of the customers.
    pub fn draw(&mut self) -> BrokerageTransaction {
        match self.deck.deal(&mut self.random) {
            MixCard::Volume => BrokerageTransaction::BrokerVolume(self.volume()),
            MixCard::Position => BrokerageTransaction::CustomerPosition(self.position()),
            MixCard::Watch => BrokerageTransaction::MarketWatch(self.watch()),
            MixCard::Detail => BrokerageTransaction::SecurityDetail(self.detail()),
            MixCard::Lookup => BrokerageTransaction::TradeLookup(self.lookup()),
            MixCard::Order => BrokerageTransaction::TradeOrder(self.order()),
            MixCard::Status => BrokerageTransaction::TradeStatus(self.account().0),
            MixCard::Update => BrokerageTransaction::TradeUpdate(self.update()),
        }
    }

    /// How long the customer thinks before it.
    pub fn think(&mut self) -> Nanos {
        thought(&mut self.thoughts, self.rules.think_mean.seconds())
    }

    /// What the market wants to be done.
    pub fn answer(&mut self, due: MarketDue) -> BrokerageTransaction {
        match due {
            MarketDue::Result(order) => BrokerageTransaction::TradeResult(order),
            MarketDue::Feed(ticks) => BrokerageTransaction::MarketFeed(ticks),
            MarketDue::Maintenance(number) => {
                BrokerageTransaction::DataMaintenance(DataMaintenance {
                    what: number % MAINTAINED,
                    customer: self.customers.draw(&mut self.random),
                    symbol: symbol(self.securities.draw(&mut self.random)),
                })
            }
        }
    }

    /// An account, and whose it is.
    fn account(&mut self) -> (u32, u32) {
        let customer = self.customers.draw(&mut self.random);
        let accounts = accounts_of_tier(tier_of(&self.rules, customer));
        (account(customer, below(&mut self.random, accounts)), customer)
    }

    fn volume(&mut self) -> BrokerVolume {
        let all = self.rules.units();
        let count = between(&mut self.random, 20, 40).min(all);
        let first = below(&mut self.random, all);
        let brokers = (0..count).map(|place| broker((first + place) % all + 1)).collect();
        BrokerVolume { brokers, sector: sector(between(&mut self.random, 1, SECTORS)) }
    }

    fn position(&mut self) -> Position {
        let number = self.customers.draw(&mut self.random);
        let customer = if percent(&mut self.random, 50) {
            BrokerageCustomer::TaxCode(tax_code(number))
        } else {
            BrokerageCustomer::Number(number)
        };
        let accounts = accounts_of_tier(tier_of(&self.rules, number));
        let wants = percent(&mut self.random, 50);
        Position { customer, history_of: wants.then(|| below(&mut self.random, accounts)) }
    }

    fn watch(&mut self) -> MarketWatch {
        let watched = match below(&mut self.random, 100) {
            0..60 => WatchScope::List(self.customers.draw(&mut self.random)),
            60..95 => WatchScope::Account(self.account().0),
            _ => WatchScope::Industry(industry(between(&mut self.random, 1, INDUSTRIES))),
        };
        MarketWatch { watched, days_back: below(&mut self.random, PRICE_DAYS) }
    }

    fn detail(&mut self) -> Detail {
        let days = between(&mut self.random, 5, 20);
        Detail {
            symbol: symbol(self.securities.draw(&mut self.random)),
            days_back: between(&mut self.random, days, PRICE_DAYS - 1),
            days,
            with_texts: percent(&mut self.random, 1),
        }
    }

    fn lookup(&mut self) -> Lookup {
        let moment_s = moment_s(&self.rules, &mut self.random);
        match below(&mut self.random, 100) {
            0..30 => Lookup::Trades(trades(&self.rules, &mut self.random)),
            30..60 => Lookup::Account(self.account().0, moment_s),
            60..90 => Lookup::Security(symbol(self.securities.draw(&mut self.random)), moment_s),
            _ => Lookup::Holding(self.account().0, moment_s),
        }
    }

    fn update(&mut self) -> TradeUpdate {
        let moment_s = moment_s(&self.rules, &mut self.random);
        match below(&mut self.random, 100) {
            0..33 => TradeUpdate::Executor(trades(&self.rules, &mut self.random)),
            33..66 => TradeUpdate::Settlement(self.account().0, moment_s),
            _ => TradeUpdate::Cash(symbol(self.securities.draw(&mut self.random)), moment_s),
        }
    }

    fn order(&mut self) -> TradeOrder {
        let (account, owner) = self.account();
        let random = &mut self.random;
        let security = of_account(&self.rules, &self.securities, account, random);
        let others = permitted(&self.rules, account);
        let other = others.first().filter(|_| percent(random, 10)).copied();
        let orders = other.unwrap_or(owner);
        let (first, last) = person(orders);
        let by_name = percent(random, 40);
        let kind = past::kind(random);
        TradeOrder {
            account,
            executor: (first, last, tax_code(orders)),
            security: if by_name {
                let name = company(company_of(&self.rules, security));
                Err((name, issue_of(&self.rules, security)))
            } else {
                Ok(symbol(security))
            },
            kind,
            quantity: [100, 200, 400, 800][usize::try_from(below(random, 4)).unwrap_or(0)],
            limit_cents: if is_limit(kind) {
                price_cents(&self.rules, security, random)
            } else {
                0
            },
            is_cash: percent(random, 90),
            is_lifo: percent(random, 35),
            is_rolled_back: percent(random, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mix_of;
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn trades_are_those_of_loading_and_moments_those_of_an_open_market() {
        let rules = BrokerageRules { customers: 100, trade_days: 2, ..BrokerageRules::default() };
        let mut random = Random::new(4);
        for _ in 0..1000 {
            let numbers = trades(&rules, &mut random);
            assert!(numbers.iter().all(|number| (1..=11_520).contains(number)));
            assert!(numbers.len() > 15 && numbers.windows(2).all(|pair| pair[0] < pair[1]));
            let moment = moment_s(&rules, &mut random);
            assert!(moment < 2 * DAY_S && moment % DAY_S < OPEN_S);
        }
    }

    fn drawn(rules: &BrokerageRules, number: u32, count: usize) -> Vec<BrokerageTransaction> {
        let mut session = BrokerageSession::new(rules, &mix_of("default").unwrap(), number);
        (0..count).map(|_| session.draw()).collect()
    }

    #[test]
    fn every_deck_has_exactly_the_mix() {
        let mut counts = HashMap::<_, u32>::new();
        for transaction in drawn(&BrokerageRules::default(), 0, 890) {
            *counts.entry(std::mem::discriminant(&transaction)).or_default() += 1;
        }
        let mut found: Vec<u32> = counts.into_values().collect();
        found.sort_unstable();
        assert_eq!(found, [20, 49, 80, 101, 130, 140, 180, 190]);
    }

    #[test]
    fn who_thinks_does_the_same_only_later() {
        let thinking = BrokerageRules { think_mean: Nanos(1_000_000), ..BrokerageRules::default() };
        let mut session = BrokerageSession::new(&thinking, &mix_of("default").unwrap(), 3);
        let all: Vec<_> = (0..100).map(|_| (session.think(), session.draw())).collect();
        assert!(all.iter().any(|(think, _)| think.0 > 0));
        let transactions: Vec<_> = all.into_iter().map(|(_, transaction)| transaction).collect();
        assert_eq!(transactions, drawn(&BrokerageRules::default(), 3, 100));
        let mut busy =
            BrokerageSession::new(&BrokerageRules::default(), &mix_of("default").unwrap(), 3);
        assert_eq!(busy.think(), Nanos(0));
    }

    #[test]
    fn orders_are_of_the_kinds_and_for_the_accounts_that_are_told() {
        let rules = BrokerageRules { customers: 200, ..BrokerageRules::default() };
        let (mut orders, mut back, mut named, mut others) = (0_u32, 0_u32, 0_u32, 0_u32);
        for transaction in drawn(&rules, 3, 89_000) {
            let BrokerageTransaction::TradeOrder(order) = transaction else { continue };
            orders += 1;
            back += u32::from(order.is_rolled_back);
            named += u32::from(order.security.is_err());
            let customer = order.account / 10;
            assert!((1..=200).contains(&customer));
            assert!(order.account % 10 < accounts_of_tier(tier_of(&rules, customer)));
            others += u32::from(order.executor.2 != tax_code(customer));
            assert_eq!(order.limit_cents > 0, is_limit(order.kind));
        }
        assert_eq!(orders, 10_100);
        // Within four standard deviations of 1%, 40%, and of 10% of the accounts that others may
        // use.
        assert!((61..141).contains(&back), "{back}");
        assert!((3840..4240).contains(&named), "{named}");
        assert!((250..560).contains(&others), "{others}");
    }

    /// The law of the skew is the oracle: the k-th customer of an order of its own has weight k to
    /// the minus 0.4.
    #[test]
    fn customers_ask_as_often_as_their_skew_says() {
        let rules =
            BrokerageRules { customers: 200, customer_skew: 0.4, ..BrokerageRules::default() };
        let mut session = BrokerageSession::new(&rules, &mix_of("default").unwrap(), 0);
        let mut asked = [0_u32; 201];
        for _ in 0..200_000 {
            let (account, customer) = session.account();
            assert_eq!(account / 10, customer);
            asked[usize::try_from(customer).unwrap()] += 1;
        }
        let law: Vec<f64> = (1..=200).map(|rank| f64::from(rank).powf(-0.4)).collect();
        let total: f64 = law.iter().sum();
        let terms = (0..).zip(&law).map(|(rank, weight)| {
            let seen = asked[usize::try_from(session.customers.scattered(rank)).unwrap()];
            let expected = 200_000.0 * weight / total;
            (f64::from(seen) - expected).powi(2) / expected
        });
        // Of 199 degrees of freedom: outside of 125 to 295 less than once in 50,000.
        let statistic: f64 = terms.sum();
        assert!((125.0..295.0).contains(&statistic), "{statistic}");
    }

    #[test]
    fn lookups_are_of_four_sorts_and_sessions_differ() {
        let rules = BrokerageRules::default();
        let mut sorts = [0_u32; 4];
        for transaction in drawn(&rules, 0, 89_000) {
            let BrokerageTransaction::TradeLookup(lookup) = transaction else { continue };
            sorts[match lookup {
                Lookup::Trades(_) => 0,
                Lookup::Account(..) => 1,
                Lookup::Security(..) => 2,
                Lookup::Holding(..) => 3,
            }] += 1;
        }
        for (found, wanted) in sorts.into_iter().zip([2400, 2400, 2400, 800]) {
            assert!(found.abs_diff(wanted) < 170, "{sorts:?}");
        }
        assert_eq!(drawn(&rules, 1, 50), drawn(&rules, 1, 50));
        assert_ne!(drawn(&rules, 1, 50), drawn(&rules, 2, 50));
    }

    #[test]
    fn maintenance_looks_after_everything_in_turn() {
        let mut session =
            BrokerageSession::new(&BrokerageRules::default(), &mix_of("default").unwrap(), 0);
        for number in 0..24 {
            let BrokerageTransaction::DataMaintenance(done) =
                session.answer(MarketDue::Maintenance(number))
            else {
                panic!("something else");
            };
            assert_eq!(done.what, number % 12);
            assert!((1..=1000).contains(&done.customer) && done.symbol.len() == 6);
        }
    }
}
