//! A ladder of loads in one regime: what was measured before the rate fell is kept apart.

use super::best::best;
use super::level::{LEAST_FALL, fall, reserve};
use super::meter::{LadderLoad, RungMeter};
use super::pace::{CONFIRMED_AFTER, PaceGoal};
use super::rung::{CONFIDENCE, CalibrationRung, Slice};
use assay_model::Result;
use assay_model::measurement::Interval;
use assay_model::number::{real_len, seconds};
use assay_model::spelling::LimitStatistic;
use assay_stats::curve::LoadPoint;
use assay_stats::mean_interval;
use assay_stats::series::{mean, variance};
use std::collections::BTreeMap;

/// Slices thrown away in a row because a reserve had come back; then the step is taken as it is.
const DRAINS_MAX: u32 = 8;

/// A reserve lifts a slice by at least this share.
const LEAST_LIFT: f64 = 0.02;

/// How a step was extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LadderStep {
    /// A slice was added.
    Added,
    /// The rate fell for good: the ladder was divided, and steps are missing.
    Fell,
    /// No time is left, or nothing more can be measured.
    Over,
}

/// When the rate fell, and to what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fallen {
    /// The step on which it was seen.
    pub(super) queue_depth: u32,
    /// From when on only the level after it was measured, on the bench's clock, ns.
    pub(super) at_ns: u64,
    /// When it was sure, ns.
    pub(super) seen_ns: u64,
    /// The rate before it, I/Os per second.
    before: f64,
}

/// Steps of one load.
#[derive(Debug)]
pub(super) struct Ladder {
    pub(super) load: LadderLoad,
    /// Steps of the present regime by outstanding I/Os.
    pub(super) rungs: BTreeMap<u32, CalibrationRung>,
    /// Steps of the burst, where the rate fell.
    pub(super) burst: BTreeMap<u32, CalibrationRung>,
    /// The load that stands for the highest rate, chosen by its place on the ladder.
    pub(super) peak_load: Option<u32>,
    /// The smallest load of the way up: where a reserve was used up, smaller ones would refill it.
    pub(super) lowest: u32,
    /// The last fall.
    pub(super) fallen: Option<Fallen>,
    /// Time of the first fall, ns: until then the reserve was used up from full.
    used_up_ns: Option<u64>,
    /// Whether other transfers used up a part of the reserve.
    is_shared: bool,
    /// Every slice: begin, end (ns) and IOPS.
    history: Vec<(u64, u64, f64)>,
    /// Intervals up to which a step is known to keep its level.
    quiet: BTreeMap<u32, usize>,
    /// The load from which a queue takes long to build up, and how long, s.
    slow_from: Option<(u32, f64)>,
    /// Whether a rate that had fallen came back by itself: then no fall is for good.
    wanders: bool,
    /// The sustained level of smaller transfers after their rate fell: no transfer of these is
    /// done more often.
    sustained: Option<CalibrationRung>,
    statistic: LimitStatistic,
}

impl Ladder {
    pub(super) fn new(load: LadderLoad, statistic: LimitStatistic) -> Self {
        Self {
            load,
            rungs: BTreeMap::new(),
            burst: BTreeMap::new(),
            peak_load: None,
            lowest: 1,
            fallen: None,
            used_up_ns: None,
            is_shared: false,
            history: Vec::new(),
            quiet: BTreeMap::new(),
            slow_from: None,
            wanders: false,
            sustained: None,
            statistic,
        }
    }

    /// Takes the sustained level of smaller transfers, where their rate fell, as the most that
    /// lasts here.
    pub(super) fn sustain_below(&mut self, smaller: &Self) {
        let level = smaller.fallen.and_then(|fallen| smaller.rungs.get(&fallen.queue_depth));
        self.sustained = level.cloned();
        if self.sustained.is_some() {
            let most = best(&smaller.rungs, smaller.peak_load);
            self.lowest = most.map_or(1, |most| (most.queue_depth / 2).max(1));
        }
    }

    /// Whether a reserve still lifts the rate at a load above what smaller transfers sustain.
    pub(super) fn is_above_sustained(&self, iops: f64) -> bool {
        self.sustained
            .as_ref()
            .is_some_and(|level| iops > level.estimates.iops.high * (1.0 + LEAST_FALL))
    }

    /// The steps as points of a curve, ascending.
    pub(super) fn points(&self) -> Vec<LoadPoint> {
        self.rungs.values().map(CalibrationRung::load_point).collect()
    }

    /// How many slices were measured.
    pub(super) const fn slices(&self) -> usize {
        self.history.len()
    }

    /// A third of the time that a queue takes to build up at a load, s: three times the expected
    /// service time are waited.
    fn builds_up_s(&self, queue_depth: u32) -> f64 {
        self.slow_from
            .filter(|(load, _)| queue_depth >= *load)
            .map_or(0.0, |(_, time_s)| time_s / 3.0)
    }

    /// From a load on the queue builds up slowly: what was measured there before counts only from
    /// then on, and larger loads have to be measured once more.
    pub(super) fn build_up(&mut self, queue_depth: u32, kept: &Slice, time_s: f64) {
        self.rungs.retain(|load, _| 2 * load <= queue_depth);
        let rung = CalibrationRung::of(queue_depth, vec![kept.second_half()], self.statistic);
        self.rungs.extend(rung.map(|rung| (queue_depth, rung)));
        self.slow_from = Some((queue_depth / 2 + 1, time_s));
        self.quiet.clear();
        self.peak_load = None;
    }

    /// Leaves out what was measured before a time.
    pub(super) fn forget_before(&mut self, at_ns: u64) {
        let old = std::mem::take(&mut self.rungs);
        self.rungs = old
            .into_iter()
            .filter_map(|(load, rung)| Some((load, rung.since(at_ns, self.statistic)?)))
            .collect();
        self.quiet.clear();
    }

    /// One outstanding I/O may have taken another time before the rate fell: where it was measured
    /// again, only that counts.
    pub(super) fn forget_base_before_fall(&mut self) {
        let fresh = self.fallen.zip(self.rungs.get(&1)).and_then(|(fallen, base)| {
            base.since(fallen.at_ns, self.statistic).filter(|fresh| fresh.slices.len() > 1)
        });
        self.rungs.extend(fresh.map(|fresh| (1, fresh)));
    }

    /// Takes a division back, because the rate came up again without rest; `lifted` are the slices
    /// that showed it.
    fn heal(&mut self, queue_depth: u32, lifted: Vec<Slice>) {
        let burst = std::mem::take(&mut self.burst);
        let lifted = CalibrationRung::of(queue_depth, lifted, self.statistic);
        for rung in burst.into_values().chain(lifted) {
            let load = rung.queue_depth;
            let all = match self.rungs.remove(&load) {
                Some(known) => known.joined_with(rung, self.statistic),
                None => Some(rung),
            };
            self.rungs.extend(all.map(|all| (load, all)));
        }
        (self.fallen, self.used_up_ns, self.wanders) = (None, None, true);
    }

    /// Whether slices that no reserve explains any more are nearer to the level before the fall
    /// than to the one after.
    fn came_back(&self, slices: &[Slice]) -> bool {
        let level = |fallen: &Fallen| {
            self.rungs.get(&fallen.queue_depth).map(|rung| rung.estimates.iops.value)
        };
        let Some((fallen, after)) = self.fallen.as_ref().zip(self.fallen.as_ref().and_then(level))
        else {
            return false;
        };
        let rates: Vec<f64> = slices.iter().map(Slice::iops).collect();
        mean(&rates) > 0.5 * (fallen.before + after)
    }

    /// Whether the step was measured in the present regime.
    pub(super) fn is_fresh(&self, rung: &CalibrationRung) -> bool {
        self.fallen.is_none_or(|fallen| rung.last_begin_ns() >= fallen.at_ns)
    }

    /// Whether a reserve that was used up comes back while this step is measured.
    pub(super) fn refills(&self, rung: &CalibrationRung) -> bool {
        let level = self.fallen.and_then(|fallen| self.rungs.get(&fallen.queue_depth));
        level.is_some_and(|level| {
            rung.estimates.iops.value < level.estimates.iops.value * (1.0 - LEAST_FALL)
        })
    }

    /// The mean service time to be expected at a load, s: Little's law over the step below, or
    /// above.
    fn expected_s(&self, queue_depth: u32) -> f64 {
        let below = self.rungs.range(..=queue_depth).next_back();
        let near = below.or_else(|| self.rungs.range(queue_depth..).next());
        near.map_or(0.0, |(_, rung)| {
            let grown = f64::from(queue_depth) / f64::from(rung.queue_depth);
            rung.estimates.service_time_ns.value / 1e9 * grown.max(1.0)
        })
    }

    /// The step whose rate no slice at a load can exceed since the rate fell: that of the fall, for
    /// loads up to it, and for any load where half of it gave as much.
    fn ceiling(&self, queue_depth: u32) -> Option<&CalibrationRung> {
        let Some(fallen) = self.fallen else {
            return self.sustained.as_ref();
        };
        let fallen = self.rungs.get(&fallen.queue_depth)?;
        let half = self.rungs.range(..=fallen.queue_depth / 2).next_back();
        let flat = half.is_some_and(|(_, half)| {
            half.estimates.iops.value >= 0.98 * fallen.estimates.iops.value
        });
        (queue_depth <= fallen.queue_depth || flat).then_some(fallen)
    }

    /// Whether a reserve that had come back lifted the start of this slice above what can be
    /// sustained.
    fn is_lifted(&self, queue_depth: u32, slice: &Slice) -> bool {
        const BEGIN: usize = 2;
        let Some(ceiling) = self.ceiling(queue_depth) else {
            return false;
        };
        let estimates = &ceiling.estimates.iops;
        let most = estimates.value * (1.0 + LEAST_LIFT);
        let noise = (variance(&ceiling.series()) / real_len(BEGIN)).sqrt();
        let series: Vec<f64> = slice.intervals.iter().map(Interval::iops).collect();
        let begin = mean(&series[..BEGIN.min(series.len())]);
        begin > most + 4.0 * noise
            || mean_interval(&series, CONFIDENCE)
                .is_some_and(|level| level.value > most && level.low > estimates.high)
    }

    /// Leaves out loads whose rate a reserve that had come back still lifts above what lasts.
    pub(super) fn leave_out_lifted(&mut self) {
        let is_lifted = |rung: &&CalibrationRung| {
            let level = self.ceiling(rung.queue_depth);
            level.is_some_and(|level| {
                let most = level.estimates.iops.high * (1.0 + LEAST_LIFT);
                level.queue_depth != rung.queue_depth && rung.estimates.iops.value > most
            })
        };
        let lifted: Vec<u32> =
            self.rungs.values().filter(is_lifted).map(|rung| rung.queue_depth).collect();
        self.rungs.retain(|load, _| !lifted.contains(load));
    }

    /// Adds a slice to a step.
    fn add(&mut self, queue_depth: u32, slice: Slice) {
        self.history.push((slice.begin_ns, slice.end_ns, slice.iops()));
        let rung = match self.rungs.remove(&queue_depth) {
            Some(rung) => rung.with(slice, self.statistic),
            None => CalibrationRung::of(queue_depth, vec![slice], self.statistic),
        };
        if let Some(rung) = rung {
            self.rungs.insert(queue_depth, rung);
        }
    }

    /// No fall of a step is suspected before a quarter more of it was seen.
    pub(super) fn calm(&mut self, queue_depth: u32) {
        let seen = self.rungs.get(&queue_depth).map_or(0, |rung| rung.series().len());
        self.quiet.insert(queue_depth, seen + seen / 4);
    }

    /// What of the service times is limited.
    pub(super) const fn statistic(&self) -> LimitStatistic {
        self.statistic
    }

    /// The interval at which the step seems to have fallen.
    fn suspicion(&self, queue_depth: u32) -> Option<usize> {
        if self.wanders {
            return None;
        }
        let series = self.rungs.get(&queue_depth)?.series();
        let quiet = self.quiet.get(&queue_depth).copied().unwrap_or(0);
        if series.len() < quiet {
            return None;
        }
        fall(&series).map(|fall| fall.at)
    }

    /// Divides the ladder: what the step measured before the interval, and all steps that had a
    /// higher rate than it has now, belong to the burst. Only its slices from one on are sure
    /// to be of the level after: until then a reserve may have come back now and then.
    pub(super) fn divide(&mut self, queue_depth: u32, interval: usize, first_fresh: usize) {
        let Some(rung) = self.rungs.remove(&queue_depth) else {
            return;
        };
        let used_up_ns = time_of(&rung, interval);
        let fresh = rung.slices[first_fresh.min(rung.slices.len())..].to_vec();
        let seen_ns = rung.slices.last().map_or(used_up_ns, |slice| slice.end_ns);
        let at_ns = fresh.first().map_or(used_up_ns, |slice| slice.begin_ns);
        let before = rung.before(interval, self.statistic);
        let before_iops = before.as_ref().map_or(0.0, |before| before.estimates.iops.value);
        if let Some(before) = before {
            self.keep_as_burst(before);
        }
        let level = if let Some(after) = CalibrationRung::of(queue_depth, fresh, self.statistic) {
            let level = after.estimates.iops.value;
            self.rungs.insert(queue_depth, after);
            level
        } else {
            0.0
        };
        self.fallen = Some(Fallen { queue_depth, at_ns, seen_ns, before: before_iops });
        self.used_up_ns.get_or_insert(used_up_ns);
        self.quiet.clear();
        let old: Vec<u32> = self
            .rungs
            .values()
            .filter(|rung| rung.queue_depth != queue_depth && !self.stands(rung, level))
            .map(|rung| rung.queue_depth)
            .collect();
        for queue_depth in old {
            if let Some(rung) = self.rungs.remove(&queue_depth) {
                self.keep_as_burst(rung);
            }
        }
    }

    /// Whether a step still describes the present regime: it never reached the rate that can be
    /// sustained.
    fn stands(&self, rung: &CalibrationRung, level: f64) -> bool {
        let iops = rung.estimates.iops.value;
        iops < level * (1.0 - 2.0 * LEAST_FALL)
            || self.is_fresh(rung) && iops <= level * (1.0 + LEAST_FALL)
    }

    /// Keeps a step of the burst, the longer measured one of two.
    fn keep_as_burst(&mut self, rung: CalibrationRung) {
        let longer = self
            .burst
            .get(&rung.queue_depth)
            .is_none_or(|known| known.estimates.elapsed_s < rung.estimates.elapsed_s);
        if longer {
            self.burst.insert(rung.queue_depth, rung);
        }
    }

    /// Other transfers used up a part of the reserve, in a unit that is not known: how long it
    /// lasts cannot be known.
    pub(super) const fn forget_reserve(&mut self) {
        self.is_shared = true;
    }

    /// How long a full reserve lasts at a rate, s.
    pub(super) fn burst_s(&self, burst: f64, sustained: f64) -> Option<f64> {
        let used_up_ns = self.used_up_ns.filter(|_| !self.is_shared)?;
        let stretches: Vec<(f64, f64)> = self
            .history
            .iter()
            .filter(|(begin_ns, _, _)| *begin_ns < used_up_ns)
            .map(|(begin_ns, end_ns, iops)| {
                // The slice that saw the fall has the mean of both levels.
                let iops = if *end_ns > used_up_ns { burst } else { *iops };
                (seconds((*end_ns).min(used_up_ns) - begin_ns), iops)
            })
            .collect();
        (burst > sustained).then(|| reserve(&stretches, sustained) / (burst - sustained))
    }
}

/// Begin of an interval on the bench's clock, ns, counted over all slices of a step.
fn time_of(rung: &CalibrationRung, interval: usize) -> u64 {
    let mut left = interval;
    for slice in &rung.slices {
        if let Some(found) = slice.intervals.get(left) {
            let measured_ns = slice.intervals.last().map_or(0, |last| last.end_ns);
            return slice.end_ns.saturating_sub(measured_ns - found.start_ns);
        }
        left -= slice.intervals.len();
    }
    rung.slices.last().map_or(0, |slice| slice.end_ns)
}

impl RungMeter<'_> {
    /// Adds one slice to a step, and finds out whether the rate fell.
    pub(super) fn extend(
        &mut self,
        ladder: &mut Ladder,
        queue_depth: u32,
        duration_s: f64,
    ) -> Result<LadderStep> {
        if !self.add_slice(ladder, queue_depth, duration_s)? {
            return Ok(LadderStep::Over);
        }
        let Some(interval) = ladder.suspicion(queue_depth) else {
            return Ok(LadderStep::Added);
        };
        let kept_s = CONFIRMED_AFTER * self.pace.budget_s;
        self.at_least(1.2 * kept_s, |meter| meter.confirm(ladder, queue_depth, interval))
    }

    /// Measures a slice that no reserve has lifted.
    pub(super) fn add_slice(
        &mut self,
        ladder: &mut Ladder,
        queue_depth: u32,
        duration_s: f64,
    ) -> Result<bool> {
        let mut lifted = Vec::new();
        for drain in 0..=DRAINS_MAX {
            let expected_s = ladder.expected_s(queue_depth).max(ladder.builds_up_s(queue_depth));
            let Some(slice) = self.slice(&ladder.load, queue_depth, duration_s, expected_s)? else {
                return Ok(false);
            };
            if drain == DRAINS_MAX || !ladder.is_lifted(queue_depth, &slice) {
                let came_back = drain == DRAINS_MAX && ladder.came_back(&lifted);
                ladder.add(queue_depth, slice);
                if came_back {
                    ladder.heal(queue_depth, lifted);
                }
                return Ok(true);
            }
            lifted.push(slice);
        }
        Ok(false)
    }

    /// Measures a step until its rate is known as well as wanted, or for as long as it may take.
    pub(super) fn settle(
        &mut self,
        ladder: &mut Ladder,
        queue_depth: u32,
        goal: PaceGoal,
    ) -> Result<LadderStep> {
        loop {
            let Some(duration_s) = self.lacking_s(ladder.rungs.get(&queue_depth), goal) else {
                return Ok(LadderStep::Added);
            };
            match self.extend(ladder, queue_depth, duration_s)? {
                LadderStep::Added => {}
                step => return Ok(step),
            }
        }
    }

    /// How long the next slice of a step should be; `None` when the goal is reached.
    ///
    /// The width of an interval shrinks with the root of the time, so the time that is missing
    /// follows from the first slice (the two-stage procedure of Stein, 1945); a tenth is added
    /// for the doubt in the width itself.
    fn lacking_s(&self, rung: Option<&CalibrationRung>, goal: PaceGoal) -> Option<f64> {
        let Some(rung) = rung else {
            return Some(self.pace.slice_s);
        };
        let (elapsed_s, imprecision) = (rung.estimates.elapsed_s, rung.imprecision());
        let room_s = goal.most_s - elapsed_s;
        let long_enough = elapsed_s >= goal.least_s - self.pace.interval.seconds();
        if imprecision <= goal.precision && long_enough || room_s < self.pace.slice_s / 2.0 {
            return None;
        }
        let wanted_s = elapsed_s * ((imprecision / goal.precision).powi(2) * 1.1 - 1.0);
        Some(wanted_s.clamp(self.pace.slice_s / 2.0, room_s))
    }
}
