//! Closed networks whose stations work faster with more customers: Buzen's convolution, tilted so
//! that nothing overflows.
//!
//! The probability of `n_k` customers at station k is the product of its terms `f_k(n)` = Π_{i≤n}
//! `D_k/α_k(i)` over G(N), where G is the convolution of all `f_k`, and X(N) = G(N-1)/G(N) (J.
//! Buzen, CACM 16(9), 1973). Exact load-dependent mean value analysis is not used: it loses all
//! digits where many servers are nearly full (G. Casale, "A note on stable flow-equivalent
//! aggregation in closed networks", Queueing Systems 60, 2008).

use crate::special::ln_gamma;
use assay_model::number::{index, real_len};

/// A station of a network: what one pass asks of it, and how much faster it works with more
/// customers present.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Time of one pass where nobody else is present, seconds.
    pub demand_s: f64,
    /// Work done a second with 1, 2, … customers present, over that with one; the last holds for
    /// all more. At least one, each above 0.
    pub speedup_ratio: Vec<f64>,
}

impl Station {
    /// One server.
    pub fn single(demand_s: f64) -> Self {
        Self { demand_s, speedup_ratio: vec![1.0] }
    }

    /// Identical servers with one queue; a part of a server counts as its part.
    pub fn servers(demand_s: f64, servers: f64) -> Self {
        let servers = servers.max(1.0);
        let whole = index(servers);
        let mut speedup_ratio: Vec<f64> = (1..=whole).map(real_len).collect();
        if servers > real_len(whole) {
            speedup_ratio.push(servers);
        }
        Self { demand_s, speedup_ratio }
    }

    /// The speedup with `present` customers, of which there is at least one.
    pub fn speedup(&self, present: usize) -> f64 {
        self.speedup_ratio[(present - 1).min(self.speedup_ratio.len() - 1)]
    }

    /// Passes a second that it can serve with up to `present` customers; infinite where nothing is
    /// asked of it.
    pub fn most_per_s(&self, present: usize) -> f64 {
        let reached = &self.speedup_ratio[..present.clamp(1, self.speedup_ratio.len())];
        reached.iter().copied().fold(0.0, f64::max) / self.demand_s
    }
}

/// What a closed network of such stations gives.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkState {
    /// Passes through the whole network a second.
    pub throughput_per_s: f64,
    /// Mean number of customers at each station.
    pub customers: Vec<f64>,
}

/// The exact throughput, passes a second, of `customers` who think for `think_time_s` between two
/// passes.
///
/// ```
/// use assay_stats::network::convolution::{Station, throughput_per_s};
/// let two = [Station::single(0.002), Station::single(0.004)];
/// assert!((throughput_per_s(&two, 0.010, 4.0) - 192.0).abs() < 0.5);
/// ```
pub fn throughput_per_s(stations: &[Station], think_time_s: f64, customers: f64) -> f64 {
    ClosedStations::new(stations, customers).throughput_per_s(think_time_s)
}

/// Stations and a fixed number of customers, of whom only the think time is still open.
///
/// A number of customers that is not whole lies between the two next to it, in proportion. Solving
/// for another think time takes no new convolution.
#[derive(Clone, Debug)]
pub struct ClosedStations {
    stations: Vec<Station>,
    customers: usize,
    fraction: f64,
    joint: Joint,
}

/// Terms of all stations together, each multiplied by `tilt_per_s`^n and scaled to a largest of 1.
///
/// With a tilt near the throughput all of them are of ordinary size where the network is, whatever
/// N is.
#[derive(Clone, Debug)]
struct Joint {
    tilt_per_s: f64,
    each: Vec<Vec<f64>>,
    together: Vec<f64>,
}

/// Customers at the stations at once that are looked at first; where more may be there, all are.
const REACH: usize = 128;
/// Below this a tail has lost digits, and its terms are taken one by one.
const SMALLEST_TAIL: f64 = 1e-200;
/// A share of all states that changes no digit that counts.
const NEGLIGIBLE: f64 = 1e-13;

impl ClosedStations {
    /// Prepares the stations for a number of customers.
    pub fn new(stations: &[Station], customers: f64) -> Self {
        Self::near(stations, customers, 0.0)
    }

    /// The same, prepared for think times of about this length: with short ones more customers are
    /// at the stations.
    pub fn near(stations: &[Station], customers: f64, think_time_s: f64) -> Self {
        let whole = index(customers);
        let bound_per_s = bound_per_s(stations, think_time_s, whole);
        // Where the slowest station is the bound, all who do not think queue there.
        let queueing = real_len(whole) - bound_per_s * think_time_s;
        let reach = index(1.2 * queueing.max(0.0)).saturating_add(REACH).min(whole + 1);
        let joint = Joint::new(stations, reach, bound_per_s);
        Self { stations: stations.to_vec(), customers: whole, fraction: customers.fract(), joint }
    }

    /// Passes a second where everybody thinks for that long between two of them.
    pub fn throughput_per_s(&self, think_time_s: f64) -> f64 {
        let of = |customers: usize| {
            self.at(think_time_s, customers, |weights| weights.throughput_per_s(customers))
        };
        self.between(of)
    }

    /// The same with the mean number of customers at each station.
    pub fn solve(&self, think_time_s: f64) -> NetworkState {
        let mean = |station: usize| {
            self.between(|customers| {
                self.at(think_time_s, customers, |weights| weights.mean_at(station, customers))
            })
        };
        NetworkState {
            throughput_per_s: self.throughput_per_s(think_time_s),
            customers: (0..self.stations.len()).map(mean).collect(),
        }
    }

    /// A number between those of the whole numbers of customers.
    fn between(&self, of: impl Fn(usize) -> f64) -> f64 {
        let low = of(self.customers);
        if self.fraction <= 0.0 {
            return low;
        }
        low + self.fraction * (of(self.customers + 1) - low)
    }

    /// What `of` makes of the weights of a think time; the terms reach further and are tilted again
    /// where they have to be.
    fn at(&self, think_time_s: f64, customers: usize, of: impl Fn(&TermWeights<'_>) -> f64) -> f64 {
        let bound_per_s = bound_per_s(&self.stations, think_time_s, customers);
        let kept = TermWeights::new(&self.joint, think_time_s, customers);
        if kept.is_sound(customers, self.joint.tilt_per_s) {
            return of(&kept);
        }
        let mut tilt_per_s = bound_per_s;
        for _ in 0..8 {
            let joint = Joint::new(&self.stations, customers, tilt_per_s);
            let weights = TermWeights::new(&joint, think_time_s, customers);
            let found_per_s = weights.throughput_per_s(customers);
            if weights.is_sound(customers, tilt_per_s) || !found_per_s.is_finite() {
                return of(&weights);
            }
            tilt_per_s = found_per_s.max(0.5 * tilt_per_s);
        }
        let joint = Joint::new(&self.stations, customers, tilt_per_s);
        of(&TermWeights::new(&joint, think_time_s, customers))
    }
}

impl Joint {
    fn new(stations: &[Station], most: usize, tilt_per_s: f64) -> Self {
        let of = |station: &Station| {
            scaled_terms(most, |n| tilt_per_s * station.demand_s / station.speedup(n))
        };
        let each: Vec<Vec<f64>> = stations.iter().map(of).collect();
        let mut together = vec![0.0; most + 1];
        together[0] = 1.0;
        for (station, list) in stations.iter().zip(&each) {
            let settled = station.speedup_ratio.len();
            let ratio = tilt_per_s * station.demand_s / station.speedup(settled);
            together = convolved_with_tail(&together, list, settled, ratio);
            scale(&mut together);
        }
        Self { tilt_per_s, each, together }
    }
}

/// The terms of thinking customers next to those of the stations: `thinking[m]` is that of N + 1 -
/// m who think, so that the same list serves N customers and one fewer.
struct TermWeights<'a> {
    joint: &'a Joint,
    thinking: Vec<f64>,
}

impl<'a> TermWeights<'a> {
    fn new(joint: &'a Joint, think_time_s: f64, customers: usize) -> Self {
        let reach = joint.together.len().min(customers + 1);
        let mean = joint.tilt_per_s * think_time_s;
        // From the fewest who think upwards: ln(mean^n / n!).
        let fewest = customers + 1 - reach;
        let begin = if fewest == 0 {
            0.0
        } else {
            real_len(fewest) * mean.ln() - ln_gamma(real_len(fewest + 1))
        };
        let terms = scaled_from(begin, reach - 1, |n| mean / real_len(fewest + n));
        Self { joint, thinking: terms }
    }

    /// G of `customers` but for a factor: Σ over those at the stations, the others thinking.
    fn states(&self, customers: usize, all: usize) -> f64 {
        self.beside(&self.joint.together, customers, all)
    }

    fn beside(&self, together: &[f64], customers: usize, all: usize) -> f64 {
        let fewest = all + 1 - self.thinking.len();
        let at_stations = (customers + 1 - fewest).min(together.len());
        let together = together[..at_stations].iter();
        let thinking = self.thinking[..customers + 1 - fewest].iter().rev();
        together.zip(thinking).map(|(left, right)| left * right).sum()
    }

    /// X(N) = G(N-1)/G(N).
    fn throughput_per_s(&self, customers: usize) -> f64 {
        if customers == 0 {
            return 0.0;
        }
        self.joint.tilt_per_s * self.states(customers - 1, customers)
            / self.states(customers, customers)
    }

    /// Mean number of customers at a station: the sum of n f(n) G'(N-n) over G(N), where G' is
    /// without it.
    fn mean_at(&self, station: usize, customers: usize) -> f64 {
        let others = self.joint.each.iter().enumerate().filter(|(place, _)| *place != station);
        let mut rest = vec![0.0; self.joint.together.len()];
        rest[0] = 1.0;
        for (_, list) in others {
            rest = convolved(&rest, list);
            scale(&mut rest);
        }
        let own = &self.joint.each[station];
        let counted: Vec<f64> =
            own.iter().enumerate().map(|(n, term)| real_len(n) * term).collect();
        let of = |list: &[f64]| self.beside(&convolved(list, &rest), customers, customers);
        of(&counted) / of(own)
    }

    /// Whether the terms reach far enough, and all that count have their digits.
    fn is_sound(&self, customers: usize, tilt_per_s: f64) -> bool {
        let all = self.states(customers, customers);
        let reach = self.thinking.len();
        let is_whole = reach == customers + 1;
        let last = self.joint.together[reach - 1] * self.thinking[0];
        let found_per_s = self.throughput_per_s(customers);
        let is_near =
            customers == 0 || (found_per_s / tilt_per_s).ln().abs() * real_len(reach) < 300.0;
        all.is_normal() && is_near && (is_whole || last < NEGLIGIBLE * all)
    }
}

/// What no network can exceed: its slowest station, and all customers without any wait.
fn bound_per_s(stations: &[Station], think_time_s: f64, present: usize) -> f64 {
    let present = present.max(1);
    let alone_s: f64 = stations.iter().map(|station| station.demand_s / station.speedup(1)).sum();
    let slowest = stations.iter().map(|station| station.most_per_s(present));
    slowest.fold(real_len(present) / (alone_s + think_time_s), f64::min)
}

/// 1, r(1), r(1)r(2), … up to `most` factors, over the largest of them.
fn scaled_terms(most: usize, factor: impl Fn(usize) -> f64) -> Vec<f64> {
    scaled_from(0.0, most, factor)
}

/// The same after a first term of which the logarithm is given.
fn scaled_from(first: f64, most: usize, factor: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut terms = Vec::with_capacity(most + 1);
    let (mut logarithm, mut largest) = (first, first);
    terms.push(logarithm);
    for n in 1..=most {
        logarithm += factor(n).ln();
        largest = largest.max(logarithm);
        terms.push(logarithm);
    }
    for term in &mut terms {
        *term = (*term - largest).exp();
    }
    terms
}

/// The convolution of two lists of terms, as long as each of them.
fn convolved(left: &[f64], right: &[f64]) -> Vec<f64> {
    let term = |n: usize| {
        left[..=n].iter().zip(right[..=n].iter().rev()).map(|(left, right)| left * right).sum()
    };
    (0..left.len()).map(term).collect()
}

/// The same where the right list goes on with a constant `ratio` from its place `settled` on: what
/// that tail adds follows from what it added to the place before, so that this takes as many steps
/// a place as the station has rates.
fn convolved_with_tail(left: &[f64], right: &[f64], settled: usize, ratio: f64) -> Vec<f64> {
    let first = right.get(settled).copied().unwrap_or(0.0);
    if first < SMALLEST_TAIL {
        return convolved(left, right);
    }
    let mut tail = 0.0;
    let term = |n: usize| {
        let rates = settled.min(n + 1);
        let head: f64 = left[n + 1 - rates..=n]
            .iter()
            .zip(right[..rates].iter().rev())
            .map(|(left, right)| left * right)
            .sum();
        tail = ratio * tail + n.checked_sub(settled).map_or(0.0, |place| first * left[place]);
        head + tail
    };
    (0..left.len()).map(term).collect()
}

/// Divides by the largest.
fn scale(terms: &mut [f64]) {
    let largest = terms.iter().copied().fold(0.0, f64::max);
    for term in terms {
        *term /= largest;
    }
}

#[cfg(test)]
mod tests;
