//! Who the customers are: their size, accounts, brokers and taxes, and who may deal for them. All of it follows from their
//! numbers, so nobody has to keep it.

use super::fixed::{COUNTRY_TAX_RATES, TAX_RATES, tax_rate};
use super::{Rules, UNIT};
use assay_stats::permutation::Permutation;
use assay_stats::random::mix;

/// Numbers of accounts of a customer begin with ten times the customer's own.
pub(super) const ACCOUNTS_MAX: u32 = 10;
/// How large customers are: a fifth is small, a fifth is large.
pub(super) fn tier_of(rules: &Rules, customer: u32) -> u32 {
    let (unit, place) = ((customer - 1) / UNIT, (customer - 1) % UNIT);
    let places = Permutation::new(u64::from(UNIT), mix(rules.seed ^ mix(u64::from(unit))));
    match places.image(u64::from(place)) {
        0..20 => 1,
        20..80 => 2,
        _ => 3,
    }
}

/// Accounts of a customer of a tier: five in the mean.
pub(super) const fn accounts_of_tier(tier: u32) -> u32 {
    match tier {
        1 => 2,
        2 => 5,
        _ => 8,
    }
}

/// The account of a customer, from 0.
pub(super) const fn account(customer: u32, place: u32) -> u32 {
    customer * ACCOUNTS_MAX + place
}

/// Whose account it is.
pub(super) const fn customer_of(account: u32) -> u32 {
    account / ACCOUNTS_MAX
}

/// Who serves a customer: each hundred has a broker.
pub(super) const fn broker_of(customer: u32) -> u32 {
    (customer - 1) / UNIT + 1
}

/// What becomes of the tax on gains: 0 none, 1 it is kept back, 2 it is reported.
pub(super) const fn tax_status(account: u32) -> u32 {
    match mix(account as u64 ^ 0x7a) % 10 {
        0 | 1 => 0,
        2..=6 => 1,
        _ => 2,
    }
}

/// The two rates of tax of a customer.
pub(super) fn tax_rates_of(customer: u32) -> [u32; 2] {
    let pick = |key: u64, limit: u32| {
        u32::try_from(mix(u64::from(customer) ^ key) % u64::from(limit)).unwrap_or(0)
    };
    [
        1 + pick(0xa1, COUNTRY_TAX_RATES),
        1 + COUNTRY_TAX_RATES + pick(0xa2, TAX_RATES - COUNTRY_TAX_RATES),
    ]
}

/// Their sum, ten-thousandths.
pub(super) fn tax_sum(customer: u32) -> i64 {
    tax_rates_of(customer).iter().map(|rate| tax_rate(*rate)).sum()
}

/// Others who may deal for an account: customers, two at most.
pub(super) fn permitted(rules: &Rules, account: u32) -> Vec<u32> {
    let mixed = mix(rules.seed ^ mix(u64::from(account) ^ 0xac1));
    let count = match mixed % 100 {
        0..60 => 0,
        60..98 => 1,
        _ => 2,
    };
    let owner = customer_of(account);
    let others = (0..count).map(|place| {
        let other = mix(mixed ^ place) % u64::from(rules.customers - 1);
        (owner + u32::try_from(other).unwrap_or(0)) % rules.customers + 1
    });
    let mut others: Vec<u32> = others.collect();
    others.dedup();
    others
}

/// All accounts of a unit, in order.
pub(super) fn accounts_of_unit(rules: &Rules, unit: u32) -> Vec<u32> {
    let customers = unit * UNIT + 1..=(unit + 1) * UNIT;
    let of_customer = |customer| {
        (0..accounts_of_tier(tier_of(rules, customer))).map(move |place| account(customer, place))
    };
    customers.flat_map(of_customer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_has_the_tiers_and_accounts_that_are_told() {
        let rules = Rules::default();
        for unit in 0..10 {
            let tiers = (unit * UNIT + 1..=(unit + 1) * UNIT).map(|number| tier_of(&rules, number));
            let mut counts = [0; 4];
            tiers.for_each(|tier| counts[usize::try_from(tier).unwrap()] += 1);
            assert_eq!(counts, [0, 20, 60, 20]);
            assert_eq!(accounts_of_unit(&rules, unit).len(), 500);
        }
        assert_eq!((broker_of(100), broker_of(101), customer_of(account(77, 7))), (1, 2, 77));
    }

    #[test]
    fn nobody_is_permitted_to_use_an_own_account_and_nobody_twice() {
        let rules = Rules { customers: 100, ..Rules::default() };
        let mut all = 0;
        for account in accounts_of_unit(&rules, 0) {
            let others = permitted(&rules, account);
            assert!(others.iter().all(|other| (1..=100).contains(other)));
            assert!(!others.contains(&customer_of(account)), "{account}");
            assert!(others.len() < 2 || others[0] != others[1]);
            all += others.len();
        }
        // 0.42 an account: 500 of them within four standard deviations.
        assert!((160..260).contains(&all), "{all}");
    }
}
