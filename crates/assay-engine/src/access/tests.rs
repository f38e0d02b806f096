//! The generators against their laws: chi-square, exact coverage and shares.

use super::*;
use assay_model::number::index_of;
use assay_model::units::{Bytes, Nanos};
use proptest::prelude::*;

/// Pearson's statistic of the counts against weights.
pub(super) fn chi_square(seen: &[u64], weights: &[f64]) -> f64 {
    let (draws, total) = (real(seen.iter().sum()), weights.iter().sum::<f64>());
    let term = |(seen, weight): (&u64, &f64)| {
        let expected = draws * weight / total;
        (real(*seen) - expected).powi(2) / expected
    };
    seen.iter().zip(weights).map(term).sum()
}

/// Fails when the statistic lies outside the central 99.99% of its law: too far from the law, or
/// too close to be random. Wilson and Hilferty's cube-root normal approximation (PNAS 17, 1931).
pub(super) fn assert_fits(statistic: f64, freedom: u64, what: &str) {
    let freedom = real(freedom);
    let spread = (2.0 / (9.0 * freedom)).sqrt();
    let normal = ((statistic / freedom).cbrt() - (1.0 - 2.0 / (9.0 * freedom))) / spread;
    assert!(
        normal.abs() < 3.9,
        "{what}: chi-square {statistic} for {freedom} degrees, z = {normal}"
    );
}

const PART: WorkerPart = WorkerPart { worker: 0, workers: 1, seed: 11 };

fn histogram(generator: &mut Generator, cells: u64, draws: u64) -> Vec<u64> {
    let mut seen = vec![0; index_of(cells)];
    for _ in 0..draws {
        seen[index_of(generator.next(1, 0) * cells / generator.places)] += 1;
    }
    seen
}

#[test]
fn uniform_places_are_uniform() {
    let mut generator = Generator::new(&Access::Uniform, 1_000_003, 8192, PART);
    let seen = histogram(&mut generator, 500, 500_000);
    assert_fits(chi_square(&seen, &[1.0; 500]), 499, "uniform");
}

#[test]
fn the_test_itself_can_fail() {
    let lopsided: Vec<u64> = (0..100).map(|cell| 1000 + cell * 5).collect();
    let fails = std::panic::catch_unwind(|| {
        assert_fits(chi_square(&lopsided, &[1.0; 100]), 99, "lopsided");
    });
    assert!(fails.is_err());
}

#[test]
fn zipf_places_have_the_weights_of_their_ranks_wherever_they_lie() {
    for theta in [0.5, 0.8, 0.99, 1.0, 1.25, 1.5] {
        let places = 300;
        let mut generator = Generator::new(&Access::Zipf { theta }, places, 8192, PART);
        let seen = histogram(&mut generator, places, 400_000);
        let scatter = Permutation::new(places, mix(PART.seed));
        let by_rank: Vec<u64> =
            (0..places).map(|rank| seen[index_of(scatter.image(rank))]).collect();
        let weights: Vec<f64> = (1..=places).map(|rank| real(rank).powf(-theta)).collect();
        assert_fits(chi_square(&by_rank, &weights), places - 1, &format!("theta {theta}"));
    }
}

#[test]
fn a_hot_band_gets_its_share_and_is_even_inside_and_outside() {
    let access = Access::HotBand { share: Share(0.8), band: Share(0.2), start: Share(0.9) };
    let mut generator = Generator::new(&access, 1000, 8192, PART);
    let seen = histogram(&mut generator, 1000, 500_000);
    // The band wraps around the end: places 900..1000 and 0..100.
    let weights: Vec<f64> = (0..1000)
        .map(|place| if (100..900).contains(&place) { 0.2 / 800.0 } else { 0.8 / 200.0 })
        .collect();
    assert_fits(chi_square(&seen, &weights), 999, "hot band");
}

#[test]
fn a_moving_band_moves_by_its_size() {
    let access = Access::MovingHotBand { share: Share(1.0), band: Share(0.1), every: Nanos(1000) };
    let mut generator = Generator::new(&access, 1000, 8192, PART);
    for time_ns in [0, 999, 1000, 5500, 9999, 10_000, 25_000] {
        let first = time_ns / 1000 * 100 % 1000;
        for _ in 0..100 {
            assert!((first..first + 100).contains(&generator.next(1, time_ns)), "{time_ns}");
        }
    }
}

proptest! {
    #[test]
    fn workers_together_meet_every_place_once_a_round(places in 1u64..2000, workers in 1u64..8, seed in any::<u64>()) {
        let mut seen = vec![0u32; index_of(places)];
        for worker in 0..workers.min(places) {
            let mut generator = Generator::new(&Access::Permutation, places, 8192, WorkerPart { worker, workers, seed });
            for _ in (worker..places).step_by(index_of(workers)) {
                seen[index_of(generator.next(1, 0))] += 1;
            }
        }
        prop_assert!(workers > places || seen.iter().all(|times| *times == 1));
    }

    #[test]
    fn a_stride_meets_every_place_once_a_round(places in 1u64..500, step in 1u64..50) {
        // The step divides the places: laps then interleave exactly.
        let places = places * step;
        let mut generator = Generator::new(&Access::Stride { step: Bytes(step * 512) }, places, 512, PART);
        let mut seen = vec![false; index_of(places)];
        for _ in 0..places {
            let place = index_of(generator.next(1, 0));
            prop_assert!(!std::mem::replace(&mut seen[place], true), "place {place}");
        }
    }

    #[test]
    fn sequential_runs_ascend_and_stay_in_their_part(places in 64u64..5000, streams in 1u32..5, workers in 1u64..4, length in 1u64..9) {
        for worker in 0..workers {
            let mut generator = Generator::new(&Access::Sequential { streams }, places, 8192, WorkerPart { worker, workers, seed: 1 });
            let first: Vec<u64> = (0..streams).map(|_| generator.next(length, 0)).collect();
            let second: Vec<u64> = (0..streams).map(|_| generator.next(length, 0)).collect();
            for (one, two) in first.iter().zip(&second) {
                prop_assert!(*two == one + length || *two <= *one);
            }
        }
    }

    #[test]
    fn no_access_leaves_the_span(places in 1u64..300, length in 1u64..20, which in 0usize..6, seed in any::<u64>()) {
        let length = length.min(places);
        let all = [
            Access::Uniform,
            Access::Permutation,
            Access::Zipf { theta: 1.1 },
            Access::HotBand { share: Share(0.9), band: Share(0.1), start: Share(0.95) },
            Access::Sequential { streams: 3 },
            Access::Stride { step: Bytes(7 * 512) },
        ];
        let mut generator = Generator::new(&all[which], places, 512, WorkerPart { worker: 1, workers: 2, seed });
        for time_ns in 0..1000 {
            prop_assert!(generator.next(length, time_ns) + length <= places);
        }
    }
}

#[test]
fn size_mixes_have_their_shares() {
    let mix: assay_model::workload::BlockSizeMix = assay_model::workload::BlockSizeMix {
        parts: [(8192, 0.7), (16384, 0.2), (65536, 0.1)]
            .map(|(size, share)| assay_model::workload::BlockSizePart {
                size: Bytes(size),
                share: Share(share),
            })
            .to_vec(),
    };
    let (sizes, mut random) = (Sizes::new(&mix, 8192), Random::new(5));
    let mut seen = [0u64; 9];
    for _ in 0..100_000 {
        seen[index_of(sizes.next(&mut random))] += 1;
    }
    assert_fits(chi_square(&[seen[1], seen[2], seen[8]], &[0.7, 0.2, 0.1]), 2, "sizes");
}
