//! The scale, the mix and the choices with a skew: some are met more often, and a keyed permutation
//! decides which.

use assay_model::mix::Mix;
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_stats::permutation::Permutation;
use assay_stats::random::{Random, mix};
use assay_stats::zipf::Zipf;

/// Customers of a unit: a broker serves them, and their trades are made in one piece.
pub const UNIT: u32 = 100;
/// Accounts of a unit.
pub const UNIT_ACCOUNTS: u32 = 500;
/// Trades of a unit on a day before loading: of a thousand customers 57,600, two a second in eight
/// hours.
pub const UNIT_TRADES_A_DAY: u32 = 5760;
/// Days of prices of each security, five years of working days.
pub const PRICE_DAYS: u32 = 1305;
/// What stands on an account before its first trade, hundredths of the currency.
pub const OPENING_BALANCE_CENTS: i64 = 10_000_000;
/// Things that data maintenance looks after, in turn.
pub const MAINTAINED: u32 = 12;
/// Securities that an account deals in at most.
pub const POOL: u32 = 18;
/// Whoever thinks longer is not a user of a load.
const THINK_MEAN_MAX: Nanos = Nanos(3_600_000_000_000);
/// Bytes on storage of a thousand customers with their indexes, about, without their trades.
const CUSTOMERS_BYTES: u64 = 150 << 20;
/// Bytes on storage of a trade with all that belongs to it, about.
const TRADE_BYTES: u64 = 700;

/// The knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerageRules {
    /// Customers: the scale of the data, whole hundreds.
    pub customers: u32,
    /// Days of trades before loading.
    pub trade_days: u32,
    /// Skew of the customers that ask: the weight of the k-th is k to the minus this; 0 for none.
    pub customer_skew: f64,
    /// Skew of the securities that are dealt in.
    pub security_skew: f64,
    /// Mean time that a customer thinks before a transaction.
    pub think_mean: Nanos,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for BrokerageRules {
    fn default() -> Self {
        Self {
            customers: 1000,
            trade_days: 5,
            customer_skew: 0.4,
            security_skew: 0.6,
            think_mean: Nanos(0),
            seed: 1,
        }
    }
}

impl BrokerageRules {
    /// Refuses what means nothing.
    ///
    /// # Errors
    /// A usage error that names the knob.
    pub fn check(&self) -> Result<()> {
        if !(UNIT..=10_000_000).contains(&self.customers) || !self.customers.is_multiple_of(UNIT) {
            return Err(Error::usage(
                format!("--customers {} cannot be loaded", self.customers),
                "use 100 to 10000000, in multiples of 100",
            ));
        }
        if !(1..=3000).contains(&self.trade_days) {
            return Err(Error::usage(
                format!("--trade-days {} cannot be loaded", self.trade_days),
                "write 1 to 3000",
            ));
        }
        if self.think_mean > THINK_MEAN_MAX {
            let hint = "write a time up to 1h";
            return Err(Error::usage(format!("--think {} is too long", self.think_mean), hint));
        }
        let knobs =
            [("--customer-skew", self.customer_skew), ("--security-skew", self.security_skew)];
        for (knob, skew) in knobs {
            if !(0.0..=2.0).contains(&skew) {
                return Err(Error::usage(format!("{knob} {skew} is out of range"), "write 0 to 2"));
            }
        }
        Ok(())
    }

    /// Units: brokers, too.
    pub const fn units(&self) -> u32 {
        self.customers / UNIT
    }

    /// Companies: half as many as customers.
    pub const fn companies(&self) -> u32 {
        self.customers / 2
    }

    /// Securities: 685 of a thousand customers.
    pub fn securities(&self) -> u32 {
        u32::try_from(u64::from(self.customers) * 685 / 1000).unwrap_or(u32::MAX)
    }

    /// Trades of a unit before loading.
    pub const fn unit_trades(&self) -> u32 {
        self.trade_days * UNIT_TRADES_A_DAY
    }

    /// Trades before loading.
    pub fn trades(&self) -> u64 {
        u64::from(self.units()) * u64::from(self.unit_trades())
    }

    /// Bytes on storage, about.
    pub fn data_bytes(&self) -> u64 {
        let customers = u64::from(self.customers).saturating_mul(CUSTOMERS_BYTES) / 1000;
        customers.saturating_add(self.trades().saturating_mul(TRADE_BYTES)).saturating_add(32 << 20)
    }
}

/// Their names and texts.
pub const MIXES: [(&str, &str); 2] = [
    ("default", include_str!("../../mixes/default.mix.toml")),
    ("write-heavy", include_str!("../../mixes/write-heavy.mix.toml")),
];

/// The mix of a name.
///
/// # Errors
/// A usage error with the names that there are.
pub fn mix_of(name: &str) -> Result<Mix> {
    let found = MIXES.iter().find(|(known, _)| *known == name);
    let Some((_, text)) = found else {
        return Err(Error::usage(
            format!("there is no mix '{name}'"),
            "write default, write-heavy, or the name of a file *.mix.toml",
        ));
    };
    Mix::parse(text)
}

/// Numbers 1..=places of which the k-th in an order of its own has weight k to the minus theta.
#[derive(Clone, Debug)]
pub(super) struct Skewed {
    places: u64,
    zipf: Option<Zipf>,
    scatter: Permutation,
}

impl Skewed {
    /// `places` at least 1; a theta of 0 makes all equally likely.
    pub(super) fn new(places: u32, theta: f64, key: u64) -> Self {
        let places = u64::from(places.max(1));
        let zipf = (theta > 0.0).then(|| Zipf::new(places, theta));
        Self { places, zipf, scatter: Permutation::new(places, mix(key)) }
    }

    /// The next number.
    pub(super) fn draw(&self, random: &mut Random) -> u32 {
        let rank = match &self.zipf {
            Some(zipf) => zipf.rank(random) - 1,
            None => random.below(self.places),
        };
        self.scattered(rank)
    }

    /// The number at a place of the order, from 0.
    pub(super) fn scattered(&self, rank: u64) -> u32 {
        u32::try_from(self.scatter.image(rank % self.places) + 1).unwrap_or(1)
    }

    /// How many there are.
    pub(super) const fn places(&self) -> u64 {
        self.places
    }
}

/// A number below a limit.
pub(super) fn below(random: &mut Random, limit: u32) -> u32 {
    u32::try_from(random.below(u64::from(limit))).unwrap_or(0)
}

/// A number from `low` to `high`.
pub(super) fn between(random: &mut Random, low: u32, high: u32) -> u32 {
    low + below(random, high - low + 1)
}

/// Whether something happens that has this chance in percent.
pub(super) fn percent(random: &mut Random, percent: u32) -> bool {
    below(random, 100) < percent
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn mixes_are_of_their_names_and_have_the_shares_that_are_told() {
        for (name, _) in MIXES {
            assert_eq!(mix_of(name).unwrap().name, name);
        }
        let default = mix_of("default").unwrap().shares;
        assert_eq!(default.all().iter().sum::<u32>(), 890);
        // With a result for each order and a feed for ten: what changes data is a quarter.
        let writes = |mix: &Mix| {
            let (orders, updates) =
                (f64::from(mix.shares.trade_order), f64::from(mix.shares.trade_update));
            let asked = f64::from(mix.shares.all().iter().sum::<u32>());
            let feeds = orders / f64::from(mix.orders_per_feed);
            (2.0 * orders + updates + feeds) / (asked + orders + feeds)
        };
        assert!((writes(&mix_of("default").unwrap()) - 0.231).abs() < 0.005);
        assert!((0.60..0.65).contains(&writes(&mix_of("write-heavy").unwrap())));
        assert!(mix_of("other").unwrap_err().hint().contains("write-heavy"));
    }

    /// Pearson's statistic of counts, the k-th of which has weight k to the minus theta.
    fn chi_square(seen: &[u32], theta: f64) -> f64 {
        let weights: Vec<f64> = (1..=seen.len())
            .map(|rank| f64::from(u32::try_from(rank).unwrap()).powf(-theta))
            .collect();
        let (total, draws) = (weights.iter().sum::<f64>(), seen.iter().sum::<u32>());
        let term = |(seen, weight): (&u32, &f64)| {
            let expected = f64::from(draws) * weight / total;
            (f64::from(*seen) - expected).powi(2) / expected
        };
        seen.iter().zip(&weights).map(term).sum()
    }

    #[test]
    fn numbers_follow_the_law_of_their_place_wherever_they_lie() {
        for theta in [0.0, 0.4, 0.6, 1.0] {
            let skewed = Skewed::new(200, theta, 7);
            let mut random = Random::new(5);
            let mut drawn = [0_u32; 201];
            for _ in 0..400_000 {
                drawn[usize::try_from(skewed.draw(&mut random)).unwrap()] += 1;
            }
            assert_eq!(drawn[0], 0);
            let ordered: Vec<u32> = (0..200)
                .map(|rank| drawn[usize::try_from(skewed.scattered(rank)).unwrap()])
                .collect();
            // Of 199 degrees of freedom: outside of 125 to 295 less than once in 50,000.
            let statistic = chi_square(&ordered, theta);
            assert!((125.0..295.0).contains(&statistic), "theta {theta}: {statistic}");
        }
    }
}
