//! Closed networks whose stations work faster with more customers: Buzen's convolution, tilted so that nothing overflows.
//!
//! The probability of n_k customers at station k is the product of its terms f_k(n) = Π_{i≤n} D_k/α_k(i) over G(N), where
//! G is the convolution of all f_k, and X(N) = G(N-1)/G(N) (J. Buzen, CACM 16(9), 1973). Exact load-dependent mean value
//! analysis is not used: it loses all digits where many servers are nearly full (G. Casale, "A note on stable flow-equivalent
//! aggregation in closed networks", Queueing Systems 60, 2008).

use assay_model::number::{index, real_len};

/// A station of a network: what one pass asks of it, and how much faster it works with more customers present.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Time of one pass where nobody else is present, seconds.
    pub demand_s: f64,
    /// Work done a second with 1, 2, … customers present, over that with one; the last holds for all more. At least one,
    /// each above 0.
    pub speedups: Vec<f64>,
}

impl Station {
    /// One server.
    pub fn single(demand_s: f64) -> Self {
        Self { demand_s, speedups: vec![1.0] }
    }

    /// Identical servers with one queue; a part of a server counts as its part.
    pub fn servers(demand_s: f64, servers: f64) -> Self {
        let servers = servers.max(1.0);
        let whole = index(servers);
        let mut speedups: Vec<f64> = (1..=whole).map(real_len).collect();
        if servers > real_len(whole) {
            speedups.push(servers);
        }
        Self { demand_s, speedups }
    }

    /// The speedup with `present` customers, of which there is at least one.
    pub fn speedup(&self, present: usize) -> f64 {
        self.speedups[(present - 1).min(self.speedups.len() - 1)]
    }

    /// Passes a second that it can serve with up to `present` customers; infinite where nothing is asked of it.
    pub fn most_per_s(&self, present: usize) -> f64 {
        let reached = &self.speedups[..present.clamp(1, self.speedups.len())];
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

/// The exact throughput, passes a second, of `customers` who think for `think_time_s` between two passes.
///
/// A number of customers that is not whole lies between the two next to it, in proportion.
///
/// ```
/// use assay_stats::network::convolution::{Station, throughput_per_s};
/// let two = [Station::single(0.002), Station::single(0.004)];
/// assert!((throughput_per_s(&two, 0.010, 4.0) - 192.0).abs() < 0.5);
/// ```
pub fn throughput_per_s(stations: &[Station], think_time_s: f64, customers: f64) -> f64 {
    between(customers, |present| {
        let tilted = Tilted::new(stations, think_time_s, present);
        (tilted.throughput_per_s(), Vec::new())
    })
    .throughput_per_s
}

/// The same with the mean number of customers at each station.
pub fn solve(stations: &[Station], think_time_s: f64, customers: f64) -> NetworkState {
    between(customers, |present| {
        let tilted = Tilted::new(stations, think_time_s, present);
        let at = (0..stations.len()).map(|station| tilted.mean_at(station)).collect();
        (tilted.throughput_per_s(), at)
    })
}

/// A state between those of the whole numbers around `customers`.
fn between(customers: f64, of: impl Fn(usize) -> (f64, Vec<f64>)) -> NetworkState {
    let (below, part) = (index(customers), customers.fract());
    let (low, low_at) = of(below);
    if part <= 0.0 {
        return NetworkState { throughput_per_s: low, customers: low_at };
    }
    let (high, high_at) = of(below + 1);
    let mix = |(low, high): (&f64, &f64)| low + part * (high - low);
    NetworkState {
        throughput_per_s: mix((&low, &high)),
        customers: low_at.iter().zip(&high_at).map(mix).collect(),
    }
}

/// The terms of all stations and of the think time, each multiplied by `tilt_per_s`^n and scaled to a largest of 1.
///
/// With a tilt near the throughput all of them are of ordinary size where the network is, whatever N is.
struct Tilted {
    terms: Vec<Vec<f64>>,
    present: usize,
    tilt_per_s: f64,
}

impl Tilted {
    fn new(stations: &[Station], think_time_s: f64, present: usize) -> Self {
        let mut tilt_per_s = bound_per_s(stations, think_time_s, present);
        let mut tilted = Self::at(stations, think_time_s, present, tilt_per_s);
        // e^700 is the range of a number; a factor of e^300 away from it the digits are whole.
        for _ in 0..8 {
            let found_per_s = tilted.throughput_per_s();
            let is_far = (found_per_s / tilt_per_s).ln().abs() * real_len(present) > 300.0;
            if !is_far || found_per_s <= 0.0 || !found_per_s.is_finite() {
                break;
            }
            tilt_per_s = found_per_s;
            tilted = Self::at(stations, think_time_s, present, tilt_per_s);
        }
        tilted
    }

    fn at(stations: &[Station], think_time_s: f64, present: usize, tilt_per_s: f64) -> Self {
        let of_station = |station: &Station| {
            scaled_terms(present, |n| tilt_per_s * station.demand_s / station.speedup(n))
        };
        let thinking = scaled_terms(present, |n| tilt_per_s * think_time_s / real_len(n));
        let terms = stations.iter().map(of_station).chain([thinking]).collect();
        Self { terms, present, tilt_per_s }
    }

    /// X(N) = G(N-1)/G(N).
    fn throughput_per_s(&self) -> f64 {
        let Some(before) = self.present.checked_sub(1) else {
            return 0.0;
        };
        let (first, rest) = self.terms.split_at(1);
        let others = joined(rest.iter());
        self.tilt_per_s * at(&first[0], &others, before) / at(&first[0], &others, self.present)
    }

    /// Mean number of customers at a station: the sum of n f(n) G'(N-n) over G(N), where G' is without it.
    fn mean_at(&self, station: usize) -> f64 {
        let others = self.terms.iter().enumerate().filter(|(place, _)| *place != station);
        let others = joined(others.map(|(_, terms)| terms));
        let terms = &self.terms[station];
        let weights = terms.iter().zip(others.iter().rev()).map(|(one, rest)| one * rest);
        let (all, sum) = weights
            .enumerate()
            .fold((0.0, 0.0), |(all, sum), (n, weight)| (all + weight, sum + real_len(n) * weight));
        sum / all
    }
}

/// What no network can exceed: its slowest station, and all customers without any wait.
fn bound_per_s(stations: &[Station], think_time_s: f64, present: usize) -> f64 {
    let alone_s: f64 = stations.iter().map(|station| station.demand_s / station.speedup(1)).sum();
    let slowest = stations.iter().map(|station| station.most_per_s(present));
    slowest.fold(real_len(present) / (alone_s + think_time_s), f64::min)
}

/// 1, r(1), r(1)r(2), … up to `most` factors, over the largest of them.
fn scaled_terms(most: usize, factor: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut terms = Vec::with_capacity(most + 1);
    let (mut logarithm, mut largest) = (0.0_f64, 0.0_f64);
    terms.push(logarithm);
    for n in 1..=most {
        logarithm += factor(n).ln();
        largest = largest.max(logarithm);
        terms.push(logarithm);
    }
    terms.iter_mut().for_each(|term| *term = (*term - largest).exp());
    terms
}

/// The convolution of several lists of terms, scaled to a largest of 1.
fn joined<'a>(mut lists: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let mut sum = lists.next().cloned().unwrap_or_default();
    for list in lists {
        sum = (0..sum.len()).map(|n| at(&sum, list, n)).collect();
        let largest = sum.iter().copied().fold(0.0, f64::max);
        sum.iter_mut().for_each(|term| *term /= largest);
    }
    sum
}

/// One term of a convolution.
fn at(left: &[f64], right: &[f64], n: usize) -> f64 {
    left[..=n].iter().zip(right[..=n].iter().rev()).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests;
