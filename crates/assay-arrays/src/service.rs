//! How long something takes: a mean, and how the time varies around it.

use crate::exponential::Layers;
use assay_model::array::Spread;
use assay_model::number::{count, real};
use assay_model::units::Nanos;
use assay_stats::random::Random;

/// A source of service times.
pub struct ServiceSource {
    mean_ns: f64,
    whole_ns: u64,
    spread: Spread,
    random: Random,
    layers: &'static Layers,
}

impl ServiceSource {
    /// Times around a mean.
    pub fn new(mean: Nanos, spread: Spread, seed: u64) -> Self {
        Self {
            mean_ns: real(mean.0),
            whole_ns: mean.0,
            spread,
            random: Random::part(seed, 0x5e41),
            layers: Layers::shared(),
        }
    }

    /// No time is shorter than this, ns.
    pub fn least_ns(&self) -> u64 {
        match self.spread {
            Spread::Constant => self.whole_ns,
            Spread::Exponential => 0,
            Spread::Half => count(self.mean_ns * 0.5),
        }
    }

    /// The next time, ns.
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        match self.spread {
            Spread::Constant => self.whole_ns,
            Spread::Exponential => count(self.mean_ns * self.layers.draw(&mut self.random)),
            Spread::Half => count(self.mean_ns * (0.5 + 0.5 * self.layers.draw(&mut self.random))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::number::real;

    #[test]
    fn means_and_deviations_are_those_of_the_spreads() {
        for (spread, deviation) in
            [(Spread::Constant, 0.0), (Spread::Exponential, 1000.0), (Spread::Half, 500.0)]
        {
            let mut service = ServiceSource::new(Nanos(1000), spread, 1);
            let times: Vec<f64> = (0..100_000).map(|_| real(service.next_ns())).collect();
            let mean = times.iter().sum::<f64>() / 1e5;
            let square = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / 1e5;
            assert!((mean - 1000.0).abs() < 10.0, "{spread:?} {mean}");
            assert!((square.sqrt() - deviation).abs() < 15.0, "{spread:?} {square}");
        }
    }
}
