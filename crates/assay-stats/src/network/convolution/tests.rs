//! The convolution against logarithms of every term and against mean value analysis.

use super::super::mean_value_analysis;
use super::*;
use proptest::prelude::*;

/// ln(e^a + e^b), the plain way.
fn ln_add(left: f64, right: f64) -> f64 {
    let (high, low) = (left.max(right), left.min(right));
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The same answer by logarithms of every term: slow, and without any tilt.
fn by_logarithms(stations: &[Station], think_time_s: f64, customers: usize) -> f64 {
    let terms = |factor: &dyn Fn(usize) -> f64| {
        let mut sum = 0.0;
        let mut all = vec![0.0];
        for n in 1..=customers {
            sum += factor(n).ln();
            all.push(sum);
        }
        all
    };
    let mut whole = terms(&|n| think_time_s / real_len(n));
    for station in stations {
        let own = terms(&|n| station.demand_s / station.speedup(n));
        whole = (0..=customers)
            .map(|n| (0..=n).fold(f64::NEG_INFINITY, |sum, m| ln_add(sum, whole[m] + own[n - m])))
            .collect();
    }
    (whole[customers - 1] - whole[customers]).exp()
}

/// The stationary flow of one station and thinking customers as a chain of births and deaths.
fn by_births_and_deaths(station: &Station, think_time_s: f64, customers: usize) -> f64 {
    let mut weight = 1.0;
    let (mut all, mut flow) = (1.0, 0.0);
    for n in 1..=customers {
        let birth = real_len(customers - n + 1) / think_time_s;
        let death = station.speedup(n) / station.demand_s;
        weight *= birth / death;
        all += weight;
        flow += weight * death;
    }
    flow / all
}

#[test]
fn many_servers_nearly_full_keep_their_digits() {
    // Where load-dependent mean value analysis in double precision gives 7,357/s.
    let stations =
        [Station::servers(16.0 / 14_222.0, 16.0), Station::servers(64.0 / 14_600.0, 64.0)];
    let found = throughput_per_s(&stations, 0.0, 64.0);
    let exact = by_logarithms(&stations, 0.0, 64);
    assert!((found / exact - 1.0).abs() < 1e-10, "{found} {exact}");
}

#[test]
fn one_customer_never_waits() {
    let stations = [Station::servers(0.003, 2.5), Station::single(0.002)];
    let state = ClosedStations::new(&stations, 1.0).solve(0.005);
    assert!((state.throughput_per_s - 100.0).abs() < 1e-9);
    assert!((state.customers[0] - 0.3).abs() < 1e-12 && (state.customers[1] - 0.2).abs() < 1e-12);
    assert!(throughput_per_s(&stations, 0.005, 0.0).abs() < 1e-15);
}

#[test]
fn two_thousand_customers_overflow_nothing() {
    for think_time_s in [0.0, 0.01, 0.15, 3.0] {
        let stations = [Station::servers(0.004, 64.0), Station::servers(0.009, 133.7)];
        let state = ClosedStations::new(&stations, 2000.0).solve(think_time_s);
        let most = stations.iter().map(|one| one.most_per_s(2000)).fold(f64::MAX, f64::min);
        assert!(
            state.throughput_per_s.is_finite() && state.throughput_per_s <= most * (1.0 + 1e-9)
        );
        let all: f64 = state.customers.iter().sum::<f64>() + state.throughput_per_s * think_time_s;
        assert!((all / 2000.0 - 1.0).abs() < 1e-9, "{think_time_s} {all}");
    }
}

#[test]
fn a_part_of_a_customer_lies_between_its_neighbours() {
    let stations = [Station::servers(0.003, 4.0), Station::single(0.0005)];
    let at = |customers| throughput_per_s(&stations, 0.002, customers);
    assert!((at(6.25) - (0.75 * at(6.0) + 0.25 * at(7.0))).abs() < 1e-9);
    assert!((at(0.5) - 0.5 * at(1.0)).abs() < 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn single_servers_are_those_of_mean_value_analysis(
        demands in prop::collection::vec(1e-4..1e-2, 1..5), think in 0.0..0.1, customers in 1usize..200,
    ) {
        let stations: Vec<Station> = demands.iter().map(|demand| Station::single(*demand)).collect();
        let exact = mean_value_analysis(&demands, customers, think);
        let found = ClosedStations::new(&stations, real_len(customers)).solve(think);
        prop_assert!((found.throughput_per_s / exact.throughput_per_s - 1.0).abs() < 1e-9);
        for (found, exact) in found.customers.iter().zip(&exact.customers) {
            prop_assert!((found - exact).abs() < 1e-7 * exact.max(1.0));
        }
    }

    #[test]
    fn one_station_is_a_chain_of_births_and_deaths(
        speedup_ratio in prop::collection::vec(0.5..20.0, 1..40), think in 1e-3..0.1, customers in 1usize..120,
    ) {
        let station = Station { demand_s: 0.004, speedup_ratio };
        let exact = by_births_and_deaths(&station, think, customers);
        let found = throughput_per_s(&[station], think, real_len(customers));
        prop_assert!((found / exact - 1.0).abs() < 1e-9, "{} {}", found, exact);
    }

    #[test]
    fn the_tilt_changes_no_digit_that_counts(
        cpus in 1.0..64.0, disks in 1.0..300.0, ratio in 0.2..5.0, think in 0.0..0.05, customers in 1usize..300,
    ) {
        let stations = [Station::servers(0.002, cpus), Station::servers(0.002 * ratio, disks)];
        let exact = by_logarithms(&stations, think, customers);
        let found = throughput_per_s(&stations, think, real_len(customers));
        prop_assert!((found / exact - 1.0).abs() < 1e-9, "{} {}", found, exact);
    }

    #[test]
    fn units_of_time_do_not_matter_and_speed_never_hurts(
        cpus in 1.0..32.0, disk in 1e-4..1e-2, faster in 0.1..1.0, customers in 1.0..64.0,
    ) {
        let at = |scale: f64, disk: f64| {
            let stations =
                [Station::servers(0.001 * scale, cpus), Station::servers(disk * scale, 8.0)];
            throughput_per_s(&stations, 0.003 * scale, customers)
        };
        prop_assert!((at(1.0, disk) / (at(1000.0, disk) * 1000.0) - 1.0).abs() < 1e-9);
        prop_assert!(at(1.0, disk * faster) >= at(1.0, disk) * (1.0 - 1e-9));
    }
}

#[test]
fn a_constant_tail_is_summed_as_its_terms_are() {
    let left: Vec<f64> = (0..200).map(|n| 1.0 / f64::from(n + 1)).collect();
    for (settled, ratio) in [(1, 0.99), (7, 0.5), (64, 1.0), (199, 0.9)] {
        let station: Vec<f64> = (1..=settled).map(real_len).collect();
        let station = Station { demand_s: 1.0, speedup_ratio: station };
        let scale = ratio * station.speedup(settled);
        let right = scaled_terms(199, |n| scale / station.speedup(n));
        let exact = convolved(&left, &right);
        let found = convolved_with_tail(&left, &right, settled, ratio);
        for (exact, found) in exact.iter().zip(found) {
            assert!((found / exact - 1.0).abs() < 1e-12, "{settled} {found} {exact}");
        }
    }
}
