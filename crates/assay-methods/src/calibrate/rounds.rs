//! Rounds of short visits, in random order, to every load that an answer rests on: each answer then
//! sees the same noise of seconds as the others, and sees it often enough to show how large it is.

use super::best::{NEARLY, best};
use super::candidates::Candidates;
use super::climbed::Climbed;
use super::ladder::{Ladder, LadderStep};
use super::limit::{visited_for_limit, visited_for_most};
use super::meter::RungMeter;
use super::noise::{INDISTINCT, NoiseModel, slow_noise_of_parts, widen};
use super::pace::LARGE_QUEUE_DEPTH_MAX;
use super::peak::nearest_to_top;
use super::rung::CalibrationRung;
use super::stalls::Stalls;
use assay_model::Result;
use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;

/// Noise that outlasts a visit counts from this share on.
pub(super) const NOISY: f64 = 0.005;
/// Noise much larger than what a short visit shows of itself.
const VERY_NOISY: f64 = 0.05;

/// Once in this many rounds the load that was not seen for longest is visited, too: what it gave at
/// the beginning shows whether the storage has changed.
const ROUNDS_OF_OLD: u32 = 4;

/// After this many rounds the noise is estimated again: it takes longer than all else that is
/// computed.
const ROUNDS_OF_NOISE: u32 = 4;

/// What a mix consists of.
pub(super) struct RoundParts {
    pub(super) small: Climbed,
    pub(super) large: Option<Climbed>,
    pub(super) stream: Option<Ladder>,
    /// Stalls with a period, as far as they are known.
    pub(super) stalls: Option<Stalls>,
}

/// The ladder that is visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RoundPart {
    Small,
    Large,
    Stream,
}

impl RoundParts {
    /// All ladders.
    pub(super) fn ladders(&mut self) -> Vec<&mut Ladder> {
        let large = self.large.as_mut().map(|large| &mut large.ladder);
        let mut all = vec![&mut self.small.ladder];
        all.extend(large);
        all.extend(self.stream.as_mut());
        all
    }

    fn ladder(&mut self, part: RoundPart) -> Option<&mut Ladder> {
        match part {
            RoundPart::Small => Some(&mut self.small.ladder),
            RoundPart::Large => self.large.as_mut().map(|large| &mut large.ladder),
            RoundPart::Stream => self.stream.as_mut(),
        }
    }

    /// Gives every step the interval that noise of all time scales asks for. How large the noise is
    /// that outlasts a visit, as a share. Where a level fell, intervals get only wider, and
    /// only if there is such noise: each long visit shows most of it.
    pub(super) fn apply_noise(&mut self) -> f64 {
        if self.fell() {
            let noise = slow_noise_of_parts(&self.ladders());
            if noise.spread() > NOISY {
                widen(&mut self.ladders(), &noise);
            }
            self.stalls = None;
            return 0.0;
        }
        let noise_model = NoiseModel::of(&self.ladders());
        noise_model.apply(&mut self.ladders());
        self.stalls = noise_model.stalls;
        noise_model.spread()
    }

    /// Chooses which load stands for the highest rate of each ladder.
    fn choose(&mut self, is_first: bool) {
        for climbed in [Some(&mut self.small), self.large.as_mut()].into_iter().flatten() {
            choose(&mut climbed.ladder, is_first);
        }
    }

    /// Whether a level fell anywhere: visits to smaller loads would then refill a reserve.
    pub(super) fn fell(&mut self) -> bool {
        self.ladders().iter().any(|ladder| ladder.fallen.is_some())
    }
}

impl RungMeter<'_> {
    /// Visits what the answers rest on round by round, until the time of this part of the method is
    /// used.
    pub(super) fn rounds(&mut self, parts: &mut RoundParts) -> Result<LadderStep> {
        let mut random = Random::part(self.plan.seed, count_of(parts.small.ladder.slices()));
        let mut round = 0;
        parts.apply_noise();
        let mut noise_model = NoiseModel::of(&parts.ladders());
        loop {
            if round % ROUNDS_OF_NOISE == 0 {
                noise_model = NoiseModel::of(&parts.ladders());
            }
            noise_model.apply(&mut parts.ladders());
            // A first look under noise may have preferred a load that is too small; what larger
            // ones gave since then shows it.
            if round % ROUNDS_OF_NOISE == 0 {
                parts.choose(round == 0);
            }
            let slices = slices_of_visit(noise_model.spread());
            if self.warmed(parts) {
                return Ok(LadderStep::Fell);
            }
            let mut visits = self.visits(parts, &mut random);
            round += 1;
            if round <= ROUNDS_OF_OLD {
                visits.extend(oldest(&parts.small.ladder).map(|load| (RoundPart::Small, load)));
                visits.dedup();
            }
            shuffle(&mut visits, &mut random);
            if visits.is_empty() {
                return Ok(LadderStep::Added);
            }
            for (part, load) in visits {
                let duration_s = slices * self.pace.slice_s;
                let Some(ladder) = parts.ladder(part) else { continue };
                match self.extend(ladder, load, duration_s)? {
                    LadderStep::Added => {}
                    step => {
                        parts.apply_noise();
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// The visits of a round: ladder and load. Of the loads that only show whether an answer lies
    /// elsewhere one is visited.
    fn visits(&self, parts: &RoundParts, random: &mut Random) -> Vec<(RoundPart, u32)> {
        let (small, most) = (&parts.small.ladder, self.plan.queue_depth_max);
        let mut candidates = visited_for_limit(small, &self.plan.limit).of(RoundPart::Small);
        candidates.extend(visited_for_most(small, most).of(RoundPart::Small));
        if let Some(large) = &parts.large {
            let most = most.min(LARGE_QUEUE_DEPTH_MAX);
            candidates.extend(visited_for_most(&large.ladder, most).of(RoundPart::Large));
        }
        let base = std::iter::once((RoundPart::Small, 1));
        let stream = parts.stream.as_ref().filter(|stream| !stream.rungs.is_empty());
        let stream = stream.map(|_| (RoundPart::Stream, 1));
        let (always, in_turn): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|(_, is_always)| *is_always);
        let always = always.into_iter().map(|(visit, _)| visit);
        let mut visits = distinct(base.chain(stream).chain(always).collect());
        let mut in_turn = distinct(in_turn.into_iter().map(|(visit, _)| visit).collect());
        in_turn.retain(|visit| !visits.contains(visit));
        let at = index_of(random.below(count_of(in_turn.len().max(1))));
        visits.extend(in_turn.get(at));
        visits
    }
}

/// Slices of a visit: where noise outlasts it, more visits say more than longer ones.
fn slices_of_visit(spread: f64) -> f64 {
    match spread {
        _ if spread > VERY_NOISY => 0.25,
        _ if spread > NOISY => 0.5,
        _ => 2.0,
    }
}

/// Where the rate falls on both sides, the load nearest to the top of the curve stands for the
/// highest rate. Otherwise, where noise hides which load gives most, it is the smallest one that
/// gave about as much as larger ones in the mean: a short queue is soon filled. Later on another
/// load is chosen only where larger ones certainly gave more: to choose by values again and again
/// would be to choose the luckiest.
fn choose(ladder: &mut Ladder, is_first: bool) {
    if let Some(load) = nearest_to_top(&ladder.rungs) {
        ladder.peak_load = Some(load);
        return;
    }
    let most = best(&ladder.rungs, ladder.peak_load);
    let Some(most) = most.filter(|most| most.imprecision() > INDISTINCT) else { return };
    if is_first || is_too_small(ladder, most) {
        let least = if is_first { 1 } else { most.queue_depth + 1 };
        ladder.peak_load = smallest_of_most(ladder, least);
    }
}

/// Whether larger loads gave more than this one beyond its whole interval.
fn is_too_small(ladder: &Ladder, rung: &CalibrationRung) -> bool {
    let at_most = level(std::iter::once(rung)) * (1.0 + rung.imprecision());
    level_above(ladder, rung.queue_depth).is_some_and(|level| level > at_most)
}

/// What larger loads gave together.
fn level_above(ladder: &Ladder, load: u32) -> Option<f64> {
    let mut larger = ladder.rungs.range(load + 1..).map(|(_, rung)| rung).peekable();
    larger.peek().is_some().then(|| level(larger))
}

/// What the visits to some loads gave, by time; the rate of a step may be that of several loads.
fn level<'r>(rungs: impl Iterator<Item = &'r CalibrationRung>) -> f64 {
    let visits = rungs.flat_map(|rung| &rung.slices);
    let (ios, time_s) = visits.fold((0.0, 0.0), |(ios, time_s), visit| {
        (ios + visit.iops() * visit.accounted_s(), time_s + visit.accounted_s())
    });
    ios / time_s
}

fn smallest_of_most(ladder: &Ladder, least: u32) -> Option<u32> {
    let reaches = |rung: &&CalibrationRung| {
        let above = level_above(ladder, rung.queue_depth);
        above.is_none_or(|above| level(std::iter::once(*rung)) >= NEARLY * above)
    };
    ladder.rungs.range(least..).map(|(_, rung)| rung).find(reaches).map(|rung| rung.queue_depth)
}

/// The load whose last visit is the oldest one.
fn oldest(ladder: &Ladder) -> Option<u32> {
    let rung = ladder.rungs.values().min_by_key(|rung| rung.last_begin_ns())?;
    Some(rung.queue_depth)
}

impl Candidates {
    /// Visits of a ladder, each with whether every round makes it.
    fn of(self, part: RoundPart) -> Vec<((RoundPart, u32), bool)> {
        let always = self.always.into_iter().map(|load| ((part, load), true));
        always.chain(self.in_turn.into_iter().map(|load| ((part, load), false))).collect()
    }
}

fn distinct(mut visits: Vec<(RoundPart, u32)>) -> Vec<(RoundPart, u32)> {
    visits.sort_unstable();
    visits.dedup();
    visits
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for end in (1..items.len()).rev() {
        let at = index_of(random.below(count_of(end + 1)));
        items.swap(end, at);
    }
}
