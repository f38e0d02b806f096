//! Every formula against an independent computation of it (`golden/make_golden.py`).

#![allow(clippy::unwrap_used, reason = "a golden file that cannot be read fails the test")]

mod golden;

use assay_model::number::{count, index, real_len};
use assay_stats::bootstrap::block_length;
use assay_stats::distribution::{
    binomial, chi_square_quantile, kolmogorov, normal, normal_quantile, student, student_quantile,
};
use assay_stats::fit::{chi_square_fit, kolmogorov_smirnov_fit, kolmogorov_smirnov_p_value};
use assay_stats::mean::mean_error;
use assay_stats::quantile::{exact_ranks, share_interval};
use assay_stats::queueing::{ClosedQueue, OpenQueue};
use assay_stats::series::{autocovariance, mean, variance};
use assay_stats::special::{Tails, incomplete_beta, incomplete_gamma, ln_gamma};
use assay_stats::trend::{line, trend};
use golden::{Golden, assert_near, numbers};

#[track_caller]
fn assert_tails(seen: Tails, lower: f64, upper: f64, relative: f64, what: &str) {
    assert_near(seen.lower, lower, relative, &format!("lower {what}"));
    assert_near(seen.upper, upper, relative, &format!("upper {what}"));
}

fn whole(value: f64) -> u32 {
    u32::try_from(count(value)).unwrap()
}

#[test]
fn the_gamma_function_is_right_to_the_last_digits() {
    for [x, expected] in Golden::read().rows("ln_gamma") {
        let (seen, allowed) = (ln_gamma(x), 1e-14 * expected.abs().max(1.0));
        assert!((seen - expected).abs() <= allowed, "ln_gamma({x}): {seen}");
    }
}

#[test]
fn incomplete_gamma_and_beta_are_right_in_both_tails() {
    let golden = Golden::read();
    for [shape, _, x, lower, upper] in golden.rows("incomplete_gamma") {
        let what = format!("gamma({shape}, {x})");
        assert_tails(incomplete_gamma(shape, x), lower, upper, 1e-12, &what);
    }
    for [a, b, x, lower, upper] in golden.rows("incomplete_beta") {
        let what = format!("beta({a}, {b}, {x})");
        assert_tails(incomplete_beta(a, b, x, 1.0 - x), lower, upper, 1e-11, &what);
    }
}

#[test]
fn distributions_agree_with_scipy() {
    let golden = Golden::read();
    for [z, lower, upper] in golden.rows("normal") {
        assert_tails(normal(z), lower, upper, 1e-13, &format!("normal({z})"));
    }
    for [t, freedom, lower, upper] in golden.rows("student") {
        let what = format!("student({t}, {freedom})");
        assert_tails(student(t, freedom), lower, upper, 1e-12, &what);
    }
    for [trials, chance, _, k, lower, upper] in golden.rows("binomial") {
        let what = format!("binomial({k}, {trials}, {chance})");
        let seen = binomial(count(k), count(trials), chance);
        assert_tails(seen, lower, upper, 1e-10, &what);
    }
    for [x, upper] in golden.rows("kolmogorov") {
        assert_near(kolmogorov(x).upper, upper, 1e-12, &format!("kolmogorov({x})"));
    }
}

#[test]
fn quantiles_agree_with_scipy() {
    let golden = Golden::read();
    for [level, expected] in golden.rows("normal_quantile") {
        assert_near(normal_quantile(level), expected, 1e-13, &format!("normal at {level}"));
    }
    for [level, freedom, expected] in golden.rows("student_quantile") {
        let what = format!("student({freedom}) at {level}");
        assert_near(student_quantile(level, freedom), expected, 1e-11, &what);
    }
    for [level, freedom, expected] in golden.rows("chi_square_quantile") {
        let what = format!("chi-square({freedom}) at {level}");
        assert_near(chi_square_quantile(level, freedom), expected, 1e-11, &what);
    }
}

#[test]
fn the_largest_gap_has_its_exact_law_for_few_and_nearly_for_many_values() {
    let golden = Golden::read();
    for [n, _, gap, expected] in golden.rows("kolmogorov_smirnov_exact") {
        let seen = kolmogorov_smirnov_p_value(index(n), gap);
        assert!((seen - expected).abs() < 1e-11, "n {n}, gap {gap}: {seen}");
    }
    for [n, _, gap, expected] in golden.rows("kolmogorov_smirnov_large") {
        let seen = kolmogorov_smirnov_p_value(index(n), gap);
        assert!((seen - expected).abs() < 2e-4, "n {n}, gap {gap}: {seen}");
        assert_near(seen.ln(), expected.ln(), 0.02, &format!("n {n}, gap {gap}"));
    }
}

#[test]
fn ranks_and_shares_have_the_exact_binomial_limits() {
    let golden = Golden::read();
    for [n, quantile, low, high] in golden.rows("quantile_ranks") {
        let ranks = exact_ranks(count(n), quantile, 0.95);
        let seen = (ranks.low.unwrap_or(0), ranks.high.unwrap_or(0));
        assert_eq!(seen, (count(low), count(high)), "{quantile} of {n}");
    }
    for [trials, hits, low, high] in golden.rows("share_limits") {
        // Spread so evenly that the intervals say no more than single trials do.
        let counts = vec![count(trials) / 10; 10];
        let even = vec![count(hits) / 10; 10];
        let seen = share_interval(&counts, &even, 0.95).unwrap();
        assert_near(seen.low, low, 1e-10, &format!("low of {hits} in {trials}"));
        assert_near(seen.high, high, 1e-10, &format!("high of {hits} in {trials}"));
    }
}

#[test]
fn series_are_described_as_by_independent_programs() {
    for case in Golden::read().cases("series") {
        let series = numbers(&case["series"]);
        let moments = numbers(&case["moments"]);
        assert_near(mean(&series), moments[0], 1e-14, "mean");
        assert_near(variance(&series), moments[1], 1e-12, "variance");
        for (lag, expected) in numbers(&case["autocovariances"]).into_iter().enumerate() {
            assert_near(autocovariance(&series, lag), expected, 1e-10, "autocovariance");
        }
        let expected = case["block_length"].as_f64().unwrap();
        assert_near(block_length(&series), expected, 1e-9, "block length");
    }
}

#[test]
fn errors_of_means_and_trends_agree_with_a_second_program() {
    let golden = Golden::read_long_run();
    for case in golden.cases("means") {
        let series = numbers(&case["series"]);
        let what = format!("mean of {}", series.len());
        let error = mean_error(&series).unwrap();
        let expected = |name: &str| case[name].as_f64().unwrap();
        assert_near(real_len(error.frequencies), expected("frequencies"), 1e-14, &what);
        assert_near(error.freedom, expected("freedom"), 1e-9, &what);
        assert_near(error.half_width(0.95), expected("half_width"), 1e-9, &what);
    }
    for case in golden.cases("trends") {
        let series = numbers(&case["series"]);
        let what = format!("trend of {}", series.len());
        let slope = trend(&series, 0.95).unwrap().slope;
        assert_near(slope.value, case["slope"].as_f64().unwrap(), 1e-8, &what);
        assert_near(slope.half_width(), case["half_width"].as_f64().unwrap(), 1e-8, &what);
    }
}

#[test]
fn closed_queues_agree_with_numerical_integration() {
    let golden = Golden::read();
    let queue = |servers: f64, customers: f64| ClosedQueue {
        servers: whole(servers),
        services_per_s: 1.0,
        customers: whole(customers),
    };
    for [servers, customers, time, expected] in golden.rows("closed_exceeds") {
        let what = format!("{customers} customers, {servers} servers, {time} s");
        assert_near(queue(servers, customers).response_exceeds(time), expected, 1e-11, &what);
    }
    for [servers, customers, quantile, expected] in golden.rows("closed_quantile") {
        let what = format!("{customers} customers, {servers} servers at {quantile}");
        let seen = queue(servers, customers).response_quantile_s(quantile);
        assert_near(seen, expected, 1e-9, &what);
    }
}

#[test]
fn open_queues_agree_with_the_balance_of_flows() {
    for row in Golden::read().rows::<7>("open_queue") {
        let [servers, utilization, waiting, mean_wait, quantiles @ ..] = row;
        let queue = OpenQueue {
            servers: whole(servers),
            services_per_s: 1.0,
            arrivals_per_s: servers * utilization,
        };
        let what = format!("{servers} servers at {utilization}");
        assert_near(queue.waiting_share(), waiting, 1e-9, &what);
        assert_near(queue.mean_wait_s(), mean_wait, 1e-9, &what);
        for (level, expected) in [0.5, 0.99, 0.9999].into_iter().zip(quantiles) {
            assert_near(queue.response_quantile_s(level), expected, 1e-8, &what);
        }
    }
}

#[test]
fn tests_of_fit_agree_with_scipy() {
    let golden = Golden::read();
    for case in golden.cases("chi_square_fit") {
        let observed: Vec<u64> = numbers(&case["observed"]).into_iter().map(count).collect();
        let fit = chi_square_fit(&observed, &numbers(&case["weights"]), 0);
        let expected = numbers(&case["expect"]);
        assert_near(fit.statistic, expected[0], 1e-11, "statistic");
        assert_near(fit.p_value, expected[1], 1e-11, "p-value");
    }
    for case in golden.cases("kolmogorov_smirnov_fit") {
        let fit = kolmogorov_smirnov_fit(&numbers(&case["values"]), |value| value);
        let expected = numbers(&case["expect"]);
        assert_near(fit.statistic, expected[0], 1e-12, "statistic");
        assert_near(fit.p_value, expected[1], 1e-10, "p-value");
    }
}

#[test]
fn lines_agree_with_scipy() {
    for case in Golden::read().cases("line") {
        let fit = line(&numbers(&case["x"]), &numbers(&case["y"]), 0.95).unwrap();
        let expected = numbers(&case["expect"]);
        assert_near(fit.slope.value, expected[0], 1e-11, "slope");
        assert_near(fit.slope.half_width(), expected[1], 1e-9, "half width");
        assert_near(fit.at(0.0), expected[2], 1e-10, "intercept");
    }
}

mod of_changes {
    //! The values of `golden/make_change.py`.

    use super::golden::{assert_near, numbers};
    use assay_model::number::{count_of, index};
    use assay_stats::network::mean_value_analysis;
    use assay_stats::pelt::pelt;
    use assay_stats::scalability::scalability;
    use serde_json::Value;

    fn cases(table: &str) -> Vec<Value> {
        let all: Value = serde_json::from_str(include_str!("golden/change.json")).unwrap();
        all[table].as_array().unwrap().clone()
    }

    #[test]
    fn segments_are_those_of_ruptures() {
        for case in cases("pelt") {
            let series = numbers(&case["series"]);
            let shortest = index(case["shortest"].as_f64().unwrap());
            let seen = pelt(&series, case["penalty"].as_f64().unwrap(), shortest);
            let expected: Vec<u64> =
                case["changes"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect();
            let seen: Vec<u64> = seen.into_iter().map(count_of).collect();
            assert_eq!(seen, expected, "{} values", series.len());
        }
    }

    #[test]
    fn the_law_of_scaling_is_that_of_a_general_fit() {
        for case in cases("scalability") {
            let points: Vec<(f64, f64)> = case["points"]
                .as_array()
                .unwrap()
                .iter()
                .map(|pair| (numbers(pair)[0], numbers(pair)[1]))
                .collect();
            let found = scalability(&points, 0.95).unwrap();
            let seen = [found.of_one, found.contention, found.coherency];
            let reach = assay_stats::distribution::student_quantile(
                0.975,
                super::real_len(points.len()) - 3.0,
            );
            for ((seen, expected), error) in
                seen.iter().zip(numbers(&case["parameters"])).zip(numbers(&case["standard_errors"]))
            {
                assert_near(seen.value, expected, 1e-5, "a parameter");
                assert_near(seen.high - seen.value, reach * error, 1e-3, "its doubt");
            }
        }
    }

    #[test]
    fn closed_networks_are_those_of_the_convolution() {
        for case in cases("network") {
            let customers = index(case["customers"].as_f64().unwrap());
            let think_s = case["think_time_s"].as_f64().unwrap();
            let found = mean_value_analysis(&numbers(&case["demands_s"]), customers, think_s);
            let expected = case["throughput_per_s"].as_f64().unwrap();
            assert_near(found.throughput_per_s, expected, 1e-12, "throughput");
            let held: f64 = found.customers.iter().sum();
            let thinking = found.throughput_per_s * think_s;
            assert_near(held + thinking, super::real_len(customers), 1e-12, "customers");
        }
    }
}
