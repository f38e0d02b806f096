//! Group commit: commits that arrive while the log is flushed wait for the end of that flush and go
//! together with the next.
//!
//! A flush takes the same time whatever goes with it, and the next one starts at once where
//! anything has gathered. No M/M/1 describes that: its queue grows without bound, while here more
//! arrivals only make larger batches.

use assay_model::number::{index, real, real_len};

/// What a log does under commits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupCommit {
    /// Mean time from a commit's arrival to the end of the flush that holds it, seconds.
    pub wait_s: f64,
    /// Mean number of commits in a flush.
    pub batch_mean: f64,
    /// Share of time in which a flush is under way, 0..=1.
    pub busy_share: f64,
}

/// Commits that arrive at random, `arrivals_per_s` on average, whatever their waits are.
///
/// A cycle is a flush and, where nothing arrived meanwhile, the wait for the next commit: it holds
/// λF + e^{-λF} commits. Who finds the log idle waits F; who finds it busy waits for the rest of
/// that flush, F(1 + c²)/2 on average, and for the next. `variation` is c², the squared coefficient
/// of variation of a flush.
pub fn open(arrivals_per_s: f64, flush_s: f64, variation: f64) -> GroupCommit {
    let load = arrivals_per_s * flush_s;
    let batch_mean = load + (-load).exp();
    let busy_share = load / batch_mean;
    GroupCommit {
        wait_s: flush_s * (1.0 + 0.5 * (1.0 + variation) * busy_share),
        batch_mean,
        busy_share,
    }
}

/// From this number of sessions on the number of them in a flush barely varies, and no chain is
/// needed.
const SESSIONS_OF_CHAIN: usize = 48;

/// A fixed number of sessions, each of which commits, and commits again an exponential time of mean
/// `between_s` after its commit has ended.
///
/// The number b in a flush is a Markov chain: while it runs, each of the other N - b arrives with p
/// = 1 - e^{-F/O}, so the next one is Binomial(N - b, p); where nobody came, the first of all N
/// begins a flush alone after O/N. For many sessions the chain stays where it is on average: who
/// arrives waits for F(1/p - O/F) more, all inside a busy share of time.
pub fn closed(sessions: usize, between_s: f64, flush_s: f64) -> GroupCommit {
    if sessions == 0 || flush_s <= 0.0 {
        return GroupCommit { wait_s: flush_s.max(0.0), batch_mean: 1.0, busy_share: 0.0 };
    }
    if sessions > SESSIONS_OF_CHAIN {
        return of_many(real_len(sessions), between_s, flush_s);
    }
    let arrives = -(-flush_s / between_s).exp_m1();
    let (batch_mean, none) = stationary(&transitions(sessions, arrives), sessions, arrives);
    let idle_s = none * between_s / real_len(sessions);
    let commits_per_s = batch_mean / (flush_s + idle_s);
    GroupCommit {
        wait_s: real_len(sessions) / commits_per_s - between_s,
        batch_mean,
        busy_share: flush_s / (flush_s + idle_s),
    }
}

/// The same where there are enough sessions that their number in a flush is its mean: the open
/// form's idle share, and the wait of who finds the log busy between F/2, where sessions come back
/// late, and F, where they come back at once.
fn of_many(sessions: f64, between_s: f64, flush_s: f64) -> GroupCommit {
    let ratio = flush_s / between_s;
    let arrives = -(-ratio).exp_m1();
    let rest = if ratio < 1e-6 { 0.5 } else { 1.0 / arrives - 1.0 / ratio };
    let mut wait_s = 1.5 * flush_s;
    let mut state = open(sessions / (between_s + wait_s), flush_s, 0.0);
    for _ in 0..60 {
        wait_s = flush_s * (1.0 + state.busy_share * rest);
        state = open(sessions / (between_s + wait_s), flush_s, 0.0);
    }
    GroupCommit { wait_s, ..state }
}

/// Row b - 1 holds the probabilities of 1, 2, … commits in the flush after one with b.
fn transitions(sessions: usize, arrives: f64) -> Vec<Vec<f64>> {
    let row = |batch: usize| {
        let mut row = binomial(sessions - batch, arrives);
        row.resize(sessions + 1, 0.0);
        // Nobody came: the next flush has the first who does.
        row[1] += row[0];
        row.split_off(1)
    };
    (1..=sessions).map(row).collect()
}

/// The probabilities of 0, 1, … `trials` successes.
fn binomial(trials: usize, success: f64) -> Vec<f64> {
    let mut law = vec![0.0; trials + 1];
    law[0] = 1.0;
    for trial in 1..=trials {
        for successes in (1..=trial).rev() {
            law[successes] = law[successes] * (1.0 - success) + law[successes - 1] * success;
        }
        law[0] *= 1.0 - success;
    }
    law
}

/// Mean batch, and the probability that nobody came, of the chain in its steady state.
///
/// By elimination without subtractions (W. Grassmann, M. Taksar and D. Heyman, Operations Research
/// 33(5), 1985).
fn stationary(chain: &[Vec<f64>], sessions: usize, arrives: f64) -> (f64, f64) {
    let mut chain = chain.to_vec();
    for state in (1..sessions).rev() {
        let leaves: f64 = chain[state][..state].iter().sum();
        // A state that is never left downwards is never met either.
        let leaves = leaves.max(f64::MIN_POSITIVE);
        for from in 0..state {
            chain[from][state] /= leaves;
            for to in 0..state {
                chain[from][to] += chain[from][state] * chain[state][to];
            }
        }
    }
    let mut weights = vec![1.0];
    for state in 1..sessions {
        let arrivals = weights.iter().zip(&chain).map(|(weight, row)| weight * row[state]);
        weights.push(arrivals.sum());
    }
    let all: f64 = weights.iter().sum();
    let mean =
        weights.iter().enumerate().map(|(state, one)| one * real_len(state + 1)).sum::<f64>();
    let nobody = |state: usize| (1.0 - arrives).powf(real_len(sessions - state - 1));
    let none = weights.iter().enumerate().map(|(state, one)| one * nobody(state)).sum::<f64>();
    (mean / all, none / all)
}

/// The wait of a fixed number of sessions over the flush, as a table over how long they stay away.
///
/// A solver asks for it at every step; a table costs a chain for each of its entries once.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedCommits {
    waits: Vec<f64>,
}

/// The table's ends and steps in ln(F/O): below the first the log is idle, beyond the last
/// everybody waits for it.
const FROM: f64 = -14.0;
const STEPS_PER_E: f64 = 4.0;
const ENTRIES: u32 = 81;

impl ClosedCommits {
    /// The table for a number of sessions, which need not be whole; below one it is that of one.
    pub fn new(sessions: f64) -> Self {
        let (below, part) = (index(sessions.max(1.0)), sessions.max(1.0).fract());
        let entry = |entry: u32| {
            let ratio = (FROM + f64::from(entry) / STEPS_PER_E).exp();
            let of = |sessions| closed(sessions, 1.0 / ratio, 1.0).wait_s;
            let low = of(below);
            if part > 0.0 { low + part * (of(below + 1) - low) } else { low }
        };
        Self { waits: (0..ENTRIES).map(entry).collect() }
    }

    /// Mean time from a commit's arrival to the end of its flush, seconds.
    pub fn wait_s(&self, between_s: f64, flush_s: f64) -> f64 {
        let last = real(u64::from(ENTRIES - 2));
        let place = ((flush_s / between_s).ln() - FROM) * STEPS_PER_E;
        let place = if place.is_nan() { 0.0 } else { place.clamp(0.0, last + 1.0) };
        let below = index(place.min(last));
        let (low, high) = (self.waits[below], self.waits[below + 1]);
        flush_s * (low + (place - real_len(below)) * (high - low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Mean wait and mean batch by playing it: Poisson arrivals to a log whose flush takes 1.
    fn played_open(load: f64) -> (f64, f64) {
        let mut random = Random::new(11);
        let (mut next, mut free, mut waits, mut commits, mut flushes) = (0.0, 0.0, 0.0, 0.0, 0.0);
        while commits < 400_000.0 {
            let begin = f64::max(next, free);
            let end = begin + 1.0;
            while next <= begin {
                waits += end - next;
                commits += 1.0;
                next += random.exponential() / load;
            }
            flushes += 1.0;
            free = end;
        }
        (waits / commits, commits / flushes)
    }

    /// Commits a second and mean batch of sessions that stay away an exponential time of mean
    /// `between_s`.
    fn played_closed(sessions: usize, between_s: f64) -> (f64, f64) {
        let mut random = Random::new(12);
        let mut due: Vec<f64> = (0..sessions).map(|_| between_s * random.exponential()).collect();
        let (mut now, mut commits, mut flushes) = (0.0, 0.0, 0.0);
        while commits < 300_000.0 {
            let first = due.iter().copied().fold(f64::INFINITY, f64::min);
            let begin = f64::max(now, first);
            now = begin + 1.0;
            for time in due.iter_mut().filter(|time| **time <= begin) {
                *time = now + between_s * random.exponential();
                commits += 1.0;
            }
            flushes += 1.0;
        }
        (commits / now, commits / flushes)
    }

    #[test]
    fn open_waits_are_those_of_a_played_log() {
        let expected = [(0.1, 1.05), (0.5, 1.226), (1.0, 1.366), (2.0, 1.468), (5.0, 1.500)];
        for (load, wait) in expected {
            let found = open(load, 1.0, 0.0);
            let (played, batch) = played_open(load);
            // The published digits were simulated.
            assert!((found.wait_s - wait).abs() < 0.0025, "{load}: {}", found.wait_s);
            assert!(
                (found.wait_s / played - 1.0).abs() < 0.003,
                "{load}: {} {played}",
                found.wait_s
            );
            assert!((found.batch_mean / batch - 1.0).abs() < 0.003);
        }
        assert!((open(1e-9, 2.0, 0.0).wait_s - 2.0).abs() < 1e-6);
    }

    #[test]
    fn the_chain_is_that_of_played_sessions() {
        for sessions in [2, 4, 8, 16] {
            for between in [0.05, 0.5, 2.0, 10.0] {
                let found = closed(sessions, between, 1.0);
                let (rate, batch) = played_closed(sessions, between);
                let own = real_len(sessions) / (between + found.wait_s);
                assert!((own / rate - 1.0).abs() < 0.006, "{sessions} {between}: {own} {rate}");
                assert!((found.batch_mean / batch - 1.0).abs() < 0.006);
            }
        }
    }

    #[test]
    fn the_ends_of_the_closed_form_are_known() {
        // One session never shares, and never waits for another.
        assert!((closed(1, 3.0, 2.0).wait_s - 2.0).abs() < 1e-9);
        // Who comes back at once waits for the flush under way and for its own: half of all go with
        // each.
        let busy = closed(16, 1e-9, 1.0);
        assert!((busy.wait_s - 2.0).abs() < 1e-6 && (busy.batch_mean - 8.0).abs() < 1e-5);
        // Far apart the open form holds.
        let (rare, one) = (closed(16, 400.0, 1.0), open(16.0 / 401.0, 1.0, 0.0));
        assert!((rare.wait_s / one.wait_s - 1.0).abs() < 0.002);
    }

    #[test]
    fn many_sessions_continue_what_the_chain_says_of_fewer() {
        for between in [0.01, 0.3, 1.0, 5.0, 40.0, 300.0] {
            let (chain, many) =
                (closed(SESSIONS_OF_CHAIN, between, 1.0), of_many(48.0, between, 1.0));
            assert!(
                (chain.wait_s / many.wait_s - 1.0).abs() < 0.02,
                "{between}: {} {}",
                chain.wait_s,
                many.wait_s
            );
        }
    }

    #[test]
    fn the_table_is_the_chain() {
        for sessions in [1.0, 3.0, 12.5, 200.0] {
            let table = ClosedCommits::new(sessions);
            for between in [1e-4, 0.02, 0.7, 3.0, 90.0] {
                let whole = index(sessions);
                let of = |sessions| closed(sessions, between, 0.002).wait_s;
                let exact = of(whole) + sessions.fract() * (of(whole + 1) - of(whole));
                assert!((table.wait_s(between, 0.002) / exact - 1.0).abs() < 0.003);
            }
        }
    }
}
