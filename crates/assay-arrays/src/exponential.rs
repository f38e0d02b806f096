//! Exponential numbers without a logarithm for all but one in a hundred.
//!
//! Source: Marsaglia and Tsang, "The ziggurat method for generating random variables", Journal of
//! Statistical Software 5 (2000): the density is covered by layers of equal area, and a point in a
//! layer is nearly always below the density.

use assay_model::number::real;
use assay_stats::random::Random;
use std::sync::LazyLock;

const LAYERS: usize = 256;
/// Where the tail begins, and the area of a layer, for 256 layers.
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_557;

static LAYERS_OF_ALL: LazyLock<Layers> = LazyLock::new(Layers::new);

/// Right edges of the layers, and the density there.
pub struct Layers {
    edges: [f64; LAYERS + 1],
    densities: [f64; LAYERS + 1],
}

impl Layers {
    /// The layers, made once.
    pub fn shared() -> &'static Self {
        &LAYERS_OF_ALL
    }

    fn new() -> Self {
        let mut edges = [0.0; LAYERS + 1];
        (edges[0], edges[1]) = (AREA * TAIL.exp(), TAIL);
        for layer in 2..LAYERS {
            let before: f64 = edges[layer - 1];
            edges[layer] = -(AREA / before + (-before).exp()).ln();
        }
        Self { densities: edges.map(|edge| (-edge).exp()), edges }
    }

    /// A number of mean 1.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> f64 {
        loop {
            let bits = random.next_u64();
            let layer = usize::from(bits.to_le_bytes()[0]);
            let place = real(bits >> 11) * (1.0 / 9_007_199_254_740_992.0) * self.edges[layer];
            if place < self.edges[layer + 1] || self.is_below(layer, place, random) {
                return place;
            }
            if layer == 0 {
                return TAIL + random.exponential();
            }
        }
    }

    /// Whether a point at the edge of a layer lies below the density.
    #[cold]
    fn is_below(&self, layer: usize, place: f64, random: &mut Random) -> bool {
        let [low, high] = [self.densities[layer], self.densities[layer + 1]];
        layer > 0 && low + (high - low) * random.unit() < (-place).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_beyond_any_time_are_those_of_the_law() {
        let (layers, mut random, draws) = (Layers::shared(), Random::new(11), 2_000_000u32);
        let limits = [0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 7.6, 7.8, 9.0];
        let (mut beyond, mut sum, mut squares) = ([0u32; 9], 0.0, 0.0);
        for _ in 0..draws {
            let time = layers.draw(&mut random);
            (sum, squares) = (sum + time, squares + time * time);
            for (limit, count) in limits.iter().zip(&mut beyond) {
                *count += u32::from(time > *limit);
            }
        }
        let all = f64::from(draws);
        assert!((sum / all - 1.0).abs() < 0.004 && (squares / all - 2.0).abs() < 0.02);
        for (limit, count) in limits.iter().zip(beyond) {
            let (expected, seen) = ((-limit).exp(), f64::from(count) / all);
            // Five standard deviations of a share.
            let reach = 5.0 * (expected * (1.0 - expected) / all).sqrt();
            assert!((seen - expected).abs() < reach, "{limit}: {seen} {expected}");
        }
    }
}
