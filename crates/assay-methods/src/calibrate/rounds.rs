//! Rounds of short visits, in random order, to every load that an answer rests on: each answer then sees the same noise
//! of seconds as the others, and sees it often enough to tell how large it is.

use super::ladder::{Ladder, Step};
use super::limit::{visited_for_limit, visited_for_most};
use super::meter::Meter;
use super::mix::{Climbed, LARGE_OUTSTANDING_MAX};
use super::noise::tell_doubts;
use assay_model::Result;
use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;

/// Slices of a visit; where noise outlasts it more visits tell more than longer ones.
const SLICES: f64 = 2.0;
const SLICES_OF_NOISY: f64 = 1.0;

/// Noise that outlasts a visit counts from this share on.
pub(super) const NOISY: f64 = 0.005;

/// In so many rounds the load that was not seen for longest is visited, too: what it gave at the beginning shows whether the
/// storage has changed.
const ROUNDS_OF_OLD: u32 = 4;

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
    /// and each tells what it can. How large the noise is that outlasts a visit.
    pub(super) fn tell_doubts(&mut self) -> f64 {
        if self.fell() { 0.0 } else { tell_doubts(&mut self.ladders()) }
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
        let mut round = 0;
        loop {
            let slices = if parts.tell_doubts() > NOISY { SLICES_OF_NOISY } else { SLICES };
            if self.warmed(parts) {
                return Ok(Step::Fell);
            }
            let mut visits = self.visits(parts, &mut random);
            round += 1;
            if round <= ROUNDS_OF_OLD {
                visits.extend(oldest(&parts.small.ladder).map(|load| (Part::Small, load)));
                visits.dedup();
            }
            shuffle(&mut visits, &mut random);
            if visits.is_empty() {
                return Ok(Step::Added);
            }
            for (part, load) in visits {
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

    /// The visits of a round: ladder and load. Of the loads that only show whether an answer lies elsewhere one is visited.
    fn visits(&self, parts: &Parts, random: &mut Random) -> Vec<(Part, u32)> {
        let (small, most) = (&parts.small.ladder, self.plan.outstanding_max);
        let of_limit = visited_for_limit(small, &self.plan.limit);
        let of_most = visited_for_most(small, most);
        let mut loads = vec![1];
        loads.extend(of_most.chosen(random).into_iter().chain(of_limit.chosen(random)));
        let mut visits = visits_of(Part::Small, loads);
        if let Some(large) = &parts.large {
            let of_most = visited_for_most(&large.ladder, most.min(LARGE_OUTSTANDING_MAX));
            visits.extend(visits_of(Part::Large, of_most.chosen(random)));
        }
        if parts.stream.as_ref().is_some_and(|stream| !stream.rungs.is_empty()) {
            visits.push((Part::Stream, 1));
        }
        visits
    }
}

/// The load whose last visit is the oldest one.
fn oldest(ladder: &Ladder) -> Option<u32> {
    let rung = ladder.rungs.values().min_by_key(|rung| rung.last_begin_ns())?;
    Some(rung.outstanding)
}

/// Loads that are worth a visit.
#[derive(Debug, Default)]
pub(super) struct Worth {
    /// What the answer is.
    pub(super) always: Vec<u32>,
    /// What shows whether it lies elsewhere.
    pub(super) in_turn: Vec<u32>,
}

impl Worth {
    fn chosen(mut self, random: &mut Random) -> Vec<u32> {
        self.in_turn.retain(|load| !self.always.contains(load));
        self.in_turn.sort_unstable();
        self.in_turn.dedup();
        let at = index_of(random.below(count_of(self.in_turn.len().max(1))));
        self.always.extend(self.in_turn.get(at));
        self.always
    }
}

fn visits_of(part: Part, mut loads: Vec<u32>) -> Vec<(Part, u32)> {
    loads.sort_unstable();
    loads.dedup();
    loads.into_iter().map(|load| (part, load)).collect()
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for end in (1..items.len()).rev() {
        let at = index_of(random.below(count_of(end + 1)));
        items.swap(end, at);
    }
}
