//! Closed networks of several stations by mean value analysis: what a fixed number of sessions gets
//! from CPU and storage.

pub mod convolution;

use assay_model::number::real_len;

/// What a closed network gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNetwork {
    /// Passes through the whole network a second.
    pub throughput_per_s: f64,
    /// Time of one pass without thinking, seconds.
    pub response_s: f64,
    /// Mean number of customers at each station.
    pub customers: Vec<f64>,
}

/// The exact solution for single-server stations with exponential service or processor sharing.
///
/// `demands_s` is the time that one pass asks of each station, `think_time_s` the pause between
/// passes. (M. Reiser and S. Lavenberg, J. ACM 27(2), 1980.) With no customers nothing passes.
///
/// ```
/// let network = assay_stats::network::mean_value_analysis(&[0.002, 0.004], 4, 0.010);
/// assert!((network.throughput_per_s - 192.0).abs() < 0.5);
/// ```
pub fn mean_value_analysis(
    demands_s: &[f64],
    customers: usize,
    think_time_s: f64,
) -> ClosedNetwork {
    let mut network = ClosedNetwork {
        throughput_per_s: 0.0,
        response_s: demands_s.iter().sum(),
        customers: vec![0.0; demands_s.len()],
    };
    for present in 1..=customers {
        let stay = |(demand, held): (&f64, &f64)| demand * (1.0 + held);
        let stays: Vec<f64> = demands_s.iter().zip(&network.customers).map(stay).collect();
        let response_s: f64 = stays.iter().sum();
        let throughput_per_s = real_len(present) / (response_s + think_time_s);
        network = ClosedNetwork {
            throughput_per_s,
            response_s,
            customers: stays.iter().map(|stay| stay * throughput_per_s).collect(),
        };
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_customer_never_waits_and_many_meet_the_slowest_station() {
        let alone = mean_value_analysis(&[0.002, 0.004], 1, 0.010);
        assert!(
            (alone.throughput_per_s - 62.5).abs() < 1e-9
                && (alone.response_s - 0.006).abs() < 1e-12
        );
        let many = mean_value_analysis(&[0.002, 0.004], 100, 0.010);
        assert!((many.throughput_per_s - 250.0).abs() < 1e-6);
        assert!(mean_value_analysis(&[0.1], 0, 1.0).throughput_per_s.abs() < 1e-15);
    }
}
