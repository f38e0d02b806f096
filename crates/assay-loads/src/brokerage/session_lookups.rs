//! Which trades of the past a session looks up or corrects.

use super::Rules;
use super::choice::below;
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
pub enum Update {
    /// Who executed them, by their numbers, in order.
    Executor(Vec<i64>),
    /// How they were settled: those of an account, starting this number of seconds after the first opening.
    Settlement(u32, u32),
    /// What is written of their money: those of a security, likewise.
    Cash(String, u32),
}

/// Different numbers of trades, in order, so that sessions lock rows in one order.
pub(super) fn trades(rules: &Rules, random: &mut Random) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..AT_ONCE)
        .map(|_| i64::try_from(random.below(rules.trades())).unwrap_or(0) + 1)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A moment at which the market was open, seconds after the first opening.
pub(super) fn moment_s(rules: &Rules, random: &mut Random) -> u32 {
    below(random, rules.trade_days) * DAY_S + below(random, OPEN_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trades_are_those_of_loading_and_moments_those_of_an_open_market() {
        let rules = Rules { customers: 100, trade_days: 2, ..Rules::default() };
        let mut random = Random::new(4);
        for _ in 0..1000 {
            let numbers = trades(&rules, &mut random);
            assert!(numbers.iter().all(|number| (1..=11_520).contains(number)));
            assert!(numbers.len() > 15 && numbers.windows(2).all(|pair| pair[0] < pair[1]));
            let moment = moment_s(&rules, &mut random);
            assert!(moment < 2 * DAY_S && moment % DAY_S < OPEN_S);
        }
    }
}
