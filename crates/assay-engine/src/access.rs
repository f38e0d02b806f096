//! Where the next I/O goes: generators over places, each place as long as the smallest transfer of
//! its stream.

use assay_model::number::{count, narrow, real};
use assay_model::units::Share;
use assay_model::workload::Access;
use assay_stats::random::{Random, mix};

pub use assay_stats::permutation::Permutation;
pub use assay_stats::zipf::Zipf;

/// One worker's sequence of places; `worker` of `workers` share a stream without meeting each other
/// where the access promises that no place comes twice.
#[derive(Debug)]
pub struct Generator {
    places: u64,
    random: Random,
    law: AccessLaw,
}

#[derive(Debug)]
enum AccessLaw {
    Uniform,
    Cycle(Cycle),
    Zipf { zipf: Zipf, scatter: Permutation },
    Band { share: f64, first: u64, length: u64, every_ns: u64 },
    Runs { cursors: Vec<AccessCursor>, turn: usize },
    Stride { step: u64, next: u64, lap: u64, workers: u64 },
}

/// The worker's part of a permutation, with a new permutation for each round.
#[derive(Debug)]
struct Cycle {
    permutation: Permutation,
    seed: u64,
    round: u64,
    next: u64,
    worker: u64,
    workers: u64,
}

/// A sequential run over its own part.
#[derive(Clone, Copy, Debug)]
struct AccessCursor {
    first: u64,
    end: u64,
    next: u64,
}

/// Which part of a stream's load a worker carries.
#[derive(Clone, Copy, Debug)]
pub struct WorkerPart {
    /// Number of the worker in its stream, from 0.
    pub worker: u64,
    /// Workers of the stream.
    pub workers: u64,
    /// Seed of the stream.
    pub seed: u64,
}

impl Generator {
    /// The generator of a worker over `places` places of `place_bytes` each; `places` must be at
    /// least 1.
    pub fn new(access: &Access, places: u64, place_bytes: u64, part: WorkerPart) -> Self {
        let law = match *access {
            Access::Uniform => AccessLaw::Uniform,
            Access::Permutation => AccessLaw::Cycle(Cycle::new(places, part)),
            Access::Zipf { theta } => AccessLaw::Zipf {
                zipf: Zipf::new(places, theta),
                scatter: Permutation::new(places, mix(part.seed)),
            },
            Access::HotBand { share, band, start } => band_law(places, share, band, start, 0),
            Access::MovingHotBand { share, band, every } => {
                band_law(places, share, band, Share(0.0), every.0)
            }
            Access::Sequential { streams } => runs_law(places, u64::from(streams), part),
            Access::Stride { step } => stride_law(places, step.0 / place_bytes, part),
        };
        Self { places, random: Random::part(part.seed, part.worker), law }
    }

    /// The first of `length` adjacent places for the next I/O, at `time_ns` of the run.
    #[inline]
    pub fn next(&mut self, length: u64, time_ns: u64) -> u64 {
        let place = match &mut self.law {
            AccessLaw::Uniform => self.random.below(self.places),
            AccessLaw::Cycle(cycle) => cycle.next(self.places),
            AccessLaw::Zipf { zipf, scatter } => scatter.image(zipf.rank(&mut self.random) - 1),
            AccessLaw::Band { share, first, length, every_ns } => {
                let moved =
                    time_ns.checked_div(*every_ns).map_or(0, |jumps| jumps.wrapping_mul(*length));
                let hot = self.random.chance(*share);
                let within = if hot {
                    self.random.below(*length)
                } else {
                    *length + self.random.below(self.places - *length)
                };
                (*first + moved + within) % self.places
            }
            AccessLaw::Runs { cursors, turn } => {
                *turn = (*turn + 1) % cursors.len();
                cursors[*turn].next(length)
            }
            AccessLaw::Stride { step, next, lap, workers } => {
                stride_next(self.places, *step, next, lap, *workers)
            }
        };
        place.min(self.places.saturating_sub(length))
    }
}

fn band_law(places: u64, share: Share, band: Share, start: Share, every_ns: u64) -> AccessLaw {
    let length = count(real(places) * band.0).clamp(1, places);
    // A band as wide as the span leaves no elsewhere.
    let share = if length == places { 1.0 } else { share.0 };
    AccessLaw::Band { share, first: count(real(places) * start.0) % places, length, every_ns }
}

/// Runs are dealt out evenly: the i-th of all runs of the stream begins at the i-th equal part of
/// the places.
fn runs_law(places: u64, streams: u64, part: WorkerPart) -> AccessLaw {
    let runs = (streams * part.workers).min(places);
    let edge = |run: u64| run * (places / runs) + run.min(places % runs);
    let mine = (0..streams).map(|stream| (part.worker * streams + stream) % runs);
    let cursors = mine
        .map(|run| AccessCursor { first: edge(run), end: edge(run + 1), next: edge(run) })
        .collect();
    AccessLaw::Runs { cursors, turn: 0 }
}

fn stride_law(places: u64, step: u64, part: WorkerPart) -> AccessLaw {
    let step = (step % places).max(1);
    let next = narrow(u128::from(step) * u128::from(part.worker) % u128::from(places));
    AccessLaw::Stride { step, next, lap: 0, workers: part.workers }
}

/// Steps until the start of the lap is met again, then begins one place further, so that every
/// place is met.
fn stride_next(places: u64, step: u64, next: &mut u64, lap: &mut u64, workers: u64) -> u64 {
    let place = *next;
    let wide = u128::from(place) + u128::from(step) * u128::from(workers);
    let mut after = narrow(wide % u128::from(places));
    if wide >= u128::from(places) {
        *lap = (*lap + 1) % step;
        after = (after / step * step + *lap) % places;
    }
    *next = after;
    place
}

impl Cycle {
    fn new(places: u64, part: WorkerPart) -> Self {
        let permutation = Permutation::new(places, mix(part.seed));
        let next = part.worker;
        Self {
            permutation,
            seed: part.seed,
            round: 0,
            next,
            worker: part.worker,
            workers: part.workers,
        }
    }

    fn next(&mut self, places: u64) -> u64 {
        if self.next >= places {
            self.round += 1;
            self.permutation = Permutation::new(places, mix(self.seed.wrapping_add(self.round)));
            self.next = self.worker % places;
        }
        let place = self.permutation.image(self.next);
        self.next += self.workers;
        place
    }
}

impl AccessCursor {
    fn next(&mut self, length: u64) -> u64 {
        if self.next + length > self.end {
            self.next = self.first;
        }
        let place = self.next;
        self.next += length;
        place
    }
}

/// Chooses the block size of the next I/O.
#[derive(Debug)]
pub struct Sizes {
    bounds: Vec<(f64, u64)>,
}

impl Sizes {
    /// The sizes of a mix, as places of `place_bytes`.
    pub fn new(mix: &assay_model::workload::BlockSizeMix, place_bytes: u64) -> Self {
        let mut total = 0.0;
        let bound = |part: &assay_model::workload::BlockSizePart| {
            total += part.share.0;
            (total, part.size.0 / place_bytes)
        };
        Self { bounds: mix.parts.iter().map(bound).collect() }
    }

    /// The next size in places.
    #[inline]
    pub fn next(&self, random: &mut Random) -> u64 {
        if let [(_, only)] = self.bounds.as_slice() {
            return *only;
        }
        let draw = random.unit();
        let found = self.bounds.iter().find(|(bound, _)| draw < *bound);
        found.or(self.bounds.last()).map_or(1, |(_, places)| *places)
    }
}

#[cfg(test)]
mod tests;
