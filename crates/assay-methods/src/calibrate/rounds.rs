//! Rounds of short visits, in random order, to every load that an answer rests on: each answer then sees the same noise
//! of seconds as the others, and sees it often enough to tell how large it is.

use super::ladder::{Ladder, Step};
use super::limit::{visited_for_limit, visited_for_most};
use super::meter::Meter;
use super::mix::{Climbed, LARGE_OUTSTANDING_MAX};
use super::noise::tell_doubts;
use super::pace::PRECISION;
use assay_model::Result;
use assay_model::number::count_of;
use assay_model::random::Random;

/// Slices of a visit; of one to a load that is not yet known well.
const SLICES: f64 = 2.0;
const SLICES_MORE: f64 = 3.0;

/// What a mix consists of.
pub(super) struct Parts {
    pub(super) small: Climbed,
    pub(super) large: Option<Climbed>,
    pub(super) stream: Option<Ladder>,
}

/// The ladder that is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Small,
    Large,
    Stream,
}

impl Parts {
    /// All ladders.
    pub(super) fn ladders(&mut self) -> Vec<&mut Ladder> {
        let large = self.large.as_mut().map(|large| &mut large.ladder);
        let mut all = vec![&mut self.small.ladder];
        all.extend(large);
        all.extend(self.stream.as_mut());
        all
    }

    fn ladder(&mut self, part: Part) -> Option<&mut Ladder> {
        match part {
            Part::Small => Some(&mut self.small.ladder),
            Part::Large => self.large.as_mut().map(|large| &mut large.ladder),
            Part::Stream => self.stream.as_mut(),
        }
    }

    /// Gives every rung the interval that noise of all time scales asks for; where a level fell its visits follow one another,
    /// and each tells what it can.
    pub(super) fn tell_doubts(&mut self) {
        if !self.fell() {
            tell_doubts(&mut self.ladders());
        }
    }

    /// Whether a level fell anywhere: visits to smaller loads would then refill a reserve.
    pub(super) fn fell(&mut self) -> bool {
        self.ladders().iter().any(|ladder| ladder.fallen.is_some())
    }
}

impl Meter<'_> {
    /// Visits what the answers rest on round by round, until the time of this part of the method is used.
    pub(super) fn rounds(&mut self, parts: &mut Parts) -> Result<Step> {
        let mut random = Random::part(self.plan.seed, count_of(parts.small.ladder.slices()));
        loop {
            parts.tell_doubts();
            if self.warmed(parts) {
                return Ok(Step::Fell);
            }
            let mut visits = self.visits(parts);
            shuffle(&mut visits, &mut random);
            if visits.is_empty() {
                return Ok(Step::Added);
            }
            for (part, load, slices) in visits {
                let duration_s = slices * self.pace.slice_s;
                let Some(ladder) = parts.ladder(part) else { continue };
                match self.extend(ladder, load, duration_s)? {
                    Step::Added => {}
                    step => {
                        parts.tell_doubts();
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// The visits of a round: ladder, load, slices.
    fn visits(&self, parts: &Parts) -> Vec<(Part, u32, f64)> {
        let (small, most) = (&parts.small.ladder, self.plan.outstanding_max);
        let mut loads = vec![1];
        loads.extend(visited_for_most(small, most));
        loads.extend(visited_for_limit(small, &self.plan.limit));
        let mut visits = visits_of(Part::Small, small, loads);
        if let Some(large) = &parts.large {
            let loads = visited_for_most(&large.ladder, most.min(LARGE_OUTSTANDING_MAX));
            visits.extend(visits_of(Part::Large, &large.ladder, loads));
        }
        if let Some(stream) = parts.stream.as_ref().filter(|stream| !stream.rungs.is_empty()) {
            visits.extend(visits_of(Part::Stream, stream, vec![1]));
        }
        visits
    }
}

/// A visit to each load, longer to those that are not yet known well.
fn visits_of(part: Part, ladder: &Ladder, mut loads: Vec<u32>) -> Vec<(Part, u32, f64)> {
    loads.sort_unstable();
    loads.dedup();
    let slices = |load: &u32| {
        let known = ladder.rungs.get(load).is_some_and(|rung| rung.imprecision() <= PRECISION);
        if known { SLICES } else { SLICES_MORE }
    };
    loads.into_iter().map(|load| (part, load, slices(&load))).collect()
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for end in (1..items.len()).rev() {
        let at = assay_model::number::index_of(random.below(count_of(end + 1)));
        items.swap(end, at);
    }
}
