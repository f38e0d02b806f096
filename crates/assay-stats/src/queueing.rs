//! Exact answers of queueing theory: what a system of identical servers does under open and closed
//! load.
//!
//! Times are in seconds, rates per second. Sources: L. Kleinrock, "Queueing Systems", vol. 1, 1975,
//! chapters 3 and 5; D. Gross and C. Harris, "Fundamentals of Queueing Theory", 3rd ed., chapter 2.

use crate::root;
use crate::special::{gamma_series, incomplete_gamma, poisson_kernel};

/// The share of arrivals lost by `servers` without a waiting room at `offered_load` erlangs (Erlang
/// B).
///
/// By the recurrence B(c) = aB(c-1) / (c + aB(c-1)), which never overflows.
pub fn erlang_b(servers: u32, offered_load: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, server| {
        let flow = offered_load * blocked;
        flow / (f64::from(server) + flow)
    })
}

/// The share of arrivals that must wait for one of `servers` at `offered_load` erlangs (Erlang C);
/// 1 from saturation on.
pub fn erlang_c(servers: u32, offered_load: f64) -> f64 {
    let utilization = offered_load / f64::from(servers);
    if utilization >= 1.0 {
        return 1.0;
    }
    let blocked = erlang_b(servers, offered_load);
    blocked / (1.0 - utilization * (1.0 - blocked))
}

/// Poisson arrivals to identical exponential servers with one queue, first come first served:
/// M/M/c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenQueue {
    /// How many servers work in parallel, at least 1.
    pub servers: u32,
    /// What one busy server completes, per second.
    pub services_per_s: f64,
    /// What arrives, per second.
    pub arrivals_per_s: f64,
}

impl OpenQueue {
    /// Busy share of the servers; from 1 on there is no steady state and every time is infinite.
    pub fn utilization(&self) -> f64 {
        self.arrivals_per_s / (f64::from(self.servers) * self.services_per_s)
    }

    /// Share of arrivals that wait.
    pub fn waiting_share(&self) -> f64 {
        erlang_c(self.servers, self.arrivals_per_s / self.services_per_s)
    }

    /// How fast the queue drains on balance while all servers are busy: cμ - λ, at least 0.
    fn spare_rate(&self) -> f64 {
        (f64::from(self.servers) * self.services_per_s - self.arrivals_per_s).max(0.0)
    }

    /// Mean wait before service in seconds.
    pub fn mean_wait_s(&self) -> f64 {
        self.waiting_share() / self.spare_rate()
    }

    /// Mean wait and service in seconds.
    pub fn mean_response_s(&self) -> f64 {
        self.mean_wait_s() + 1.0 / self.services_per_s
    }

    /// The wait in seconds that a share `quantile` in 0..1 of arrivals does not exceed.
    pub fn wait_quantile_s(&self, quantile: f64) -> f64 {
        let exceed = (1.0 - quantile) / self.waiting_share();
        if exceed >= 1.0 {
            return 0.0;
        }
        -exceed.ln() / self.spare_rate()
    }

    /// Share of arrivals whose wait and service take longer than `time_s`.
    ///
    /// The wait is 0 or, for those who wait, exponential with rate cμ - λ, and independent of the
    /// service.
    pub fn response_exceeds(&self, time_s: f64) -> f64 {
        let (service, drain) = (self.services_per_s * time_s, self.spare_rate() * time_s);
        (-service).exp() + self.waiting_share() * service * exponential_difference(service, drain)
    }

    /// The response time in seconds that a share `quantile` in 0..1 of arrivals does not exceed.
    pub fn response_quantile_s(&self, quantile: f64) -> f64 {
        if self.utilization() >= 1.0 {
            return f64::INFINITY;
        }
        quantile_of(quantile, self.mean_response_s(), |time_s| self.response_exceeds(time_s))
    }
}

/// (e^-x - e^-y) / (y - x), also where x and y meet.
fn exponential_difference(x: f64, y: f64) -> f64 {
    let (near, gap) = (x.min(y), (x - y).abs());
    if gap < f64::MIN_POSITIVE {
        return (-near).exp();
    }
    (-near).exp() * -(-gap).exp_m1() / gap
}

/// Identical exponential servers with one queue and a fixed number of customers who return at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedQueue {
    /// How many servers work in parallel, at least 1.
    pub servers: u32,
    /// What one busy server completes, per second.
    pub services_per_s: f64,
    /// How many customers are always waiting or being served, at least 1.
    pub customers: u32,
}

impl ClosedQueue {
    /// Completions per second: every customer keeps a server busy until the servers run out.
    pub fn throughput(&self) -> f64 {
        f64::from(self.customers.min(self.servers)) * self.services_per_s
    }

    /// Mean wait and service in seconds, by Little's law.
    pub fn mean_response_s(&self) -> f64 {
        f64::from(self.customers) / self.throughput()
    }

    /// Share of visits whose wait and service take longer than `time_s`.
    ///
    /// Who returns finds all servers busy and waits for n - c departures at rate cμ, an Erlang
    /// time, and is then served for an exponential time; where nobody needs to wait only the
    /// latter.
    pub fn response_exceeds(&self, time_s: f64) -> f64 {
        let ahead = f64::from(self.customers.saturating_sub(self.servers));
        let service = self.services_per_s * time_s;
        let departures = f64::from(self.servers) * service;
        if ahead < 1.0 {
            return (-service).exp();
        }
        if departures <= 0.0 {
            return 1.0;
        }
        incomplete_gamma(ahead, departures).upper + in_service(ahead, departures, service)
    }

    /// The response time in seconds that a share `quantile` in 0..1 of visits does not exceed.
    pub fn response_quantile_s(&self, quantile: f64) -> f64 {
        quantile_of(quantile, self.mean_response_s(), |time_s| self.response_exceeds(time_s))
    }
}

/// The probability of being in service: the wait for `ahead` departures is over, the service is
/// not.
///
/// That is e^-s (d / (d - s))^k P(k, d - s) with d departures and s services expected; where the
/// power would overflow, the same as a Poisson probability of k at d times the series of P.
fn in_service(ahead: f64, departures: f64, service: f64) -> f64 {
    let rest = departures - service;
    if rest < ahead + 1.0 {
        return poisson_kernel(ahead, departures) * gamma_series(ahead, rest);
    }
    let exponent = -ahead * (-service / departures).ln_1p() - service;
    exponent.exp() * incomplete_gamma(ahead, rest).lower
}

/// The time that is exceeded with probability 1 - quantile, by a law around `scale_s`.
fn quantile_of(quantile: f64, scale_s: f64, exceeds: impl Fn(f64) -> f64) -> f64 {
    assert!(
        (0.0..1.0).contains(&quantile),
        "a response time has no bound, so its quantile {quantile} does not exist"
    );
    let target = (-quantile).ln_1p();
    let mut high = scale_s;
    while exceeds(high).ln() > target {
        high *= 2.0;
    }
    root::increasing(0.0, high, |time_s| target - exceeds(time_s).max(f64::MIN_POSITIVE).ln())
}

/// Identical servers that take the same time for each customer, with a fixed number of customers
/// who return at once.
///
/// The order of service repeats itself, so that response times vary only with how the customers
/// started.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedDeterministic {
    /// How many servers work in parallel, at least 1.
    pub servers: u32,
    /// What one service takes, in seconds.
    pub service_time_s: f64,
    /// How many customers are always waiting or being served, at least 1.
    pub customers: u32,
}

impl ClosedDeterministic {
    /// Completions per second.
    pub fn throughput(&self) -> f64 {
        f64::from(self.customers.min(self.servers)) / self.service_time_s
    }

    /// Mean wait and service in seconds; with one server every response takes exactly this.
    pub fn mean_response_s(&self) -> f64 {
        f64::from(self.customers) / self.throughput()
    }
}

/// Mean wait in seconds of Poisson arrivals at one server with any law of service (Pollaczek and
/// Khinchine).
///
/// `variation` is the squared coefficient of variation of the service time: 0 for M/D/1, 1 for
/// M/M/1. Infinite from saturation on.
pub fn single_server_wait_s(arrivals_per_s: f64, service_time_s: f64, variation: f64) -> f64 {
    let utilization = arrivals_per_s * service_time_s;
    if utilization >= 1.0 {
        return f64::INFINITY;
    }
    utilization * service_time_s * (1.0 + variation) / (2.0 * (1.0 - utilization))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use assay_model::number::real;
    use proptest::prelude::*;

    fn open(servers: u32, arrivals_per_s: f64) -> OpenQueue {
        OpenQueue { servers, services_per_s: 1.0, arrivals_per_s }
    }

    #[test]
    fn one_exponential_server_has_the_textbook_answers() {
        let queue = open(1, 0.8);
        assert!((queue.waiting_share() - 0.8).abs() < 1e-12);
        assert!((queue.mean_response_s() - 5.0).abs() < 1e-12);
        assert!((queue.response_exceeds(3.0) - (-0.6_f64).exp()).abs() < 1e-12);
        assert!((queue.wait_quantile_s(0.9) - 5.0 * 8.0_f64.ln()).abs() < 1e-12);
        assert!((single_server_wait_s(0.8, 1.0, 1.0) - queue.mean_wait_s()).abs() < 1e-12);
        assert!(queue.wait_quantile_s(0.1).abs() < 1e-12);
    }

    #[test]
    fn an_overloaded_queue_waits_for_ever() {
        let queue = open(2, 2.0);
        assert!(queue.mean_wait_s().is_infinite() && queue.response_quantile_s(0.5).is_infinite());
        assert!(queue.wait_quantile_s(0.5).is_infinite());
        assert!(single_server_wait_s(3.0, 1.0, 0.0).is_infinite());
        assert!((erlang_c(2, 5.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn service_that_drains_as_fast_as_it_serves_is_no_pole() {
        // cμ - λ = μ at c = 3, λ = 2μ
        let at = open(3, 2.0).response_exceeds(1.7);
        let beside = open(3, 2.0 + 1e-9).response_exceeds(1.7);
        assert!((at - beside).abs() < 1e-8);
    }

    #[test]
    fn constant_service_halves_the_wait_as_a_simulated_queue_does() {
        // Lindley's recursion: the next wait is this wait plus this service minus the gap, at least
        // 0.
        let (mut random, mut wait, mut sum) = (Random::new(3), 0.0_f64, 0.0);
        for _ in 0..200_000 {
            sum += wait;
            wait = (wait + 1.0 - random.exponential() / 0.6).max(0.0);
        }
        let exact = single_server_wait_s(0.6, 1.0, 0.0);
        assert!((exact - 0.75).abs() < 1e-12);
        assert!((sum / 2e5 - exact).abs() < 0.03, "{}", sum / 2e5);
    }

    #[test]
    fn constant_servers_complete_one_customer_each_service_time() {
        let queue =
            |servers, customers| ClosedDeterministic { servers, service_time_s: 0.01, customers };
        assert!((queue(1, 5).throughput() - 100.0).abs() < 1e-9);
        assert!((queue(1, 5).mean_response_s() - 0.05).abs() < 1e-12);
        assert!((queue(4, 2).mean_response_s() - 0.01).abs() < 1e-12);
    }

    /// The mean of a law as the area under its tail, by the trapezoid rule.
    fn area(width_s: f64, steps: u64, exceeds: impl Fn(f64) -> f64) -> f64 {
        let inner: f64 = (1..steps).map(|step| exceeds(real(step) * width_s)).sum();
        width_s * (0.5 + inner)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_tail_of_a_closed_queue_has_the_mean_of_littles_law(servers in 1u32..20, customers in 1u32..60) {
            let queue = ClosedQueue { servers, services_per_s: 2.0, customers };
            let mean_s = queue.mean_response_s();
            let reach_s = 4.0 * mean_s + 12.0;
            let area_s = area(reach_s / 2000.0, 2000, |time_s| queue.response_exceeds(time_s));
            prop_assert!((area_s / mean_s - 1.0).abs() < 2e-3, "{} {}", area_s, mean_s);
        }

        #[test]
        fn quantiles_undo_tails(servers in 1u32..40, load in 0.05..0.97, quantile in 0.01..0.9999) {
            let queue = open(servers, load * f64::from(servers));
            let time_s = queue.response_quantile_s(quantile);
            prop_assert!((queue.response_exceeds(time_s) - (1.0 - quantile)).abs() < 1e-12);
        }

        #[test]
        fn thousands_of_customers_overflow_nothing(servers in 1u32..300, customers in 1u32..20_000) {
            let queue = ClosedQueue { servers, services_per_s: 1.0, customers };
            let time_s = queue.response_quantile_s(0.999);
            prop_assert!(time_s.is_finite() && time_s > queue.mean_response_s());
            prop_assert!((queue.response_exceeds(time_s) / 0.001 - 1.0).abs() < 1e-6);
        }
    }
}
