//! One mix of reads and writes: all its questions in the order in which they disturb each other
//! least.

use super::agree::agree;
use super::best::{Rungs, best, level_of_best};
use super::climbed::Climbed;
use super::full_load::FullLoad;
use super::ladder::{Fallen, Ladder, LadderStep};
use super::level::LEAST_FALL;
use super::limit::answer;
use super::meter::{LadderLoad, RungMeter};
use super::pace::{LARGE_QUEUE_DEPTH_MAX, PaceGoal, ROUNDS_MAX, end, late};
use super::plan::CalibrationMix;
use super::progress::CalibrationPhase;
use super::remarks::{
    drifted, held, host_bound, impossible, still_rising, stood_still, unknown_throughput, unsure,
    varied,
};
use super::rounds::{NOISY, RoundParts};
use super::rung::{CalibrationRung, chosen_document};
use super::stalls::Stalls;
use assay_model::calibration::{
    Capacity, CapacityBound, Knee, LatencyLimit, LimitStep, MixCalibration,
};
use assay_model::measurement::Remark;
use assay_model::number::{real, real_len, seconds};
use assay_model::units::show_count;
use assay_model::workload::Access;
use assay_model::{Estimate, Result};
use assay_stats::curve;

/// Parts of the time for limits that the one that was asked for may take; each of a series may take
/// one.
const FIRST_LIMIT: f64 = 7.0;

/// An answer whose interval is wider than this share to each side is called unsure.
const WIDE: f64 = 0.1;

/// Share of the time left that the limit is searched for when a level had changed.
const AFTER_CHANGE: f64 = 0.3;

/// Share of the time left in which a ladder that ran out of time goes on.
const UNFINISHED: f64 = 0.2;

/// A ladder that ran out of time after fewer steps says nothing about the highest rate.
const FEWEST_RUNGS: usize = 5;

impl RungMeter<'_> {
    /// Everything about one mix; `None` when not even one step could be measured.
    ///
    /// Each load is seen once as fast as that goes; the rest of the time is for rounds over all
    /// that answers rest on. Where a level fell, one thing follows the other instead.
    pub(super) fn calibrate_mix(&mut self, mix: &CalibrationMix) -> Result<Option<MixCalibration>> {
        self.begin_mix(mix);
        let small = self.small(mix)?;
        let mut parts = RoundParts { small, large: None, stream: None, stalls: None };
        if !parts.fell() {
            self.keep_small(&mut parts.small)?;
        }
        if !parts.fell() {
            parts.large = Some(self.large(mix, &parts.small.ladder, None)?);
        }
        if !parts.fell() {
            parts.stream = Some(self.single_stream(mix)?);
            self.repeat(&mut parts)?;
        }
        if parts.fell() {
            self.after_fall(mix, &mut parts)?;
        }
        parts.apply_noise();
        if !parts.fell() && mix.read_share > 0.0 {
            self.refine_curve(&mut parts.small)?;
        }
        let stood_still = parts.stalls.as_ref().map(|stalls| stood_still(&mix.name, stalls));
        self.remarks.extend(stood_still);
        Ok(self.concluded(mix, &parts))
    }

    /// Everything that was measured while a reserve may have lasted is measured again: small
    /// transfers, then large ones, and last what refills it.
    fn after_fall(&mut self, mix: &CalibrationMix, parts: &mut RoundParts) -> Result<()> {
        let of_large = parts.large.as_ref().and_then(|large| large.ladder.fallen);
        if let Some(fallen) = of_large.filter(|_| parts.small.ladder.fallen.is_none()) {
            self.begin_late(CalibrationPhase::Sustained, fallen.seen_ns, late::SUSTAINED);
            self.fell_meanwhile(&mut parts.small.ladder)?;
        }
        if parts.large.is_some() {
            parts.small.ladder.forget_reserve();
        }
        if parts.small.ladder.fallen.is_some() {
            self.explore(&mut parts.small)?;
        }
        let small = &parts.small.ladder;
        let known = parts.large.take().filter(|_| of_large.is_some());
        parts.large = Some(self.large(mix, small, known)?);
        parts.stream = Some(self.single_stream_late(mix, parts)?);
        self.begin(CalibrationPhase::Rounds, end::ROUNDS);
        self.base(&mut parts.small.ladder)?;
        parts.small.ladder.forget_base_before_fall();
        parts.small.ladder.leave_out_lifted();
        Ok(())
    }

    /// Keeps the highest load of small transfers; where it collapses the limit is searched again.
    fn keep_small(&mut self, small: &mut Climbed) -> Result<()> {
        self.begin(CalibrationPhase::Sustained, end::KEPT);
        if !self.keep(&mut small.ladder, self.plan.queue_depth_max)? {
            return Ok(());
        }
        small.bound = self.climb(&mut small.ladder, self.plan.queue_depth_max)?;
        let limit = self.plan.limit;
        self.part(AFTER_CHANGE, |meter| meter.search(&mut small.ladder, &limit))?;
        Ok(())
    }

    /// Rounds; where all levels rise, what is missing is measured before them. They end where one
    /// falls.
    fn repeat(&mut self, parts: &mut RoundParts) -> Result<()> {
        let end_share = end::ROUNDS;
        let largest = self.plan.queue_depth_max.min(LARGE_QUEUE_DEPTH_MAX);
        let small = &mut parts.small;
        if small.bound == CapacityBound::TimeBudget {
            self.begin(CalibrationPhase::Ladder, end_share);
            let most = self.plan.queue_depth_max;
            small.bound = self.part(UNFINISHED, |meter| meter.climb(&mut small.ladder, most))?;
        }
        if let Some(large) =
            parts.large.as_mut().filter(|large| large.bound == CapacityBound::TimeBudget)
        {
            self.begin(CalibrationPhase::Large, end_share);
            large.bound = self.part(UNFINISHED, |meter| meter.climb(&mut large.ladder, largest))?;
        }
        // Without slow noise a limit is found by searching on, not by visits to all loads.
        if parts.apply_noise() < NOISY {
            self.begin(CalibrationPhase::Limit, end_share);
            let (ladder, limit) = (&mut parts.small.ladder, self.plan.limit);
            self.part(AFTER_CHANGE, |meter| meter.search(ladder, &limit))?;
        }
        for _ in 0..ROUNDS_MAX {
            self.begin(CalibrationPhase::Rounds, end_share);
            if self.rounds(parts)? != LadderStep::Fell || parts.fell() {
                break;
            }
            self.begin(CalibrationPhase::Ladder, end_share);
            parts.small.bound = self.climb(&mut parts.small.ladder, self.plan.queue_depth_max)?;
            self.begin(CalibrationPhase::Limit, end_share);
            let ladder = &mut parts.small.ladder;
            let limit = self.plan.limit;
            self.part(AFTER_CHANGE, |meter| meter.search(ladder, &limit))?;
            if let Some(large) = parts.large.as_mut() {
                self.begin(CalibrationPhase::Large, end_share);
                large.bound = self.climb(&mut large.ladder, largest)?;
            }
        }
        Ok(())
    }

    /// The answers of what was measured.
    fn concluded(&mut self, mix: &CalibrationMix, parts: &RoundParts) -> Option<MixCalibration> {
        let (small, block_size_bytes) = (&parts.small, self.plan.block_size.0);
        let large_bytes = self.plan.large_block_size.0;
        let base = base(&small.ladder)?;
        let most = capacity(&small.ladder, small.bound, 1.0)?;
        let within = within(small, &self.plan.limit);
        let knee = knee(&small.ladder, most.rate.value);
        let large = parts.large.as_ref();
        let lasting = large.filter(|large| !is_burst(&large.ladder) && !is_unfinished(large));
        let throughput =
            lasting.and_then(|large| capacity(&large.ladder, large.bound, real(large_bytes)));
        let is_said = |remark: &Remark| remark.what.contains(CalibrationPhase::Large.name());
        if large.is_some() && throughput.is_none() && !self.remarks.iter().any(is_said) {
            self.remarks.push(unknown_throughput(&mix.name));
        }
        let stream = parts.stream.as_ref().and_then(|stream| stream.rungs.get(&1));
        let stream_bytes_per_s =
            stream.map(|rung| chosen_document(&rung.estimates.iops.scaled(real(large_bytes))));
        let throughput = throughput.map(|most| at_least_one_stream(most, stream_bytes_per_s));
        let steps = self.steps(small);
        self.remark_on(small, within.as_ref());
        let mut found = MixCalibration {
            name: mix.name.clone(),
            read_share: mix.read_share,
            block_size_bytes,
            large_block_size_bytes: large_bytes,
            base_service_time_ns: base,
            iops_within_limit: within,
            iops_max: most,
            throughput_max_bytes_per_s: throughput,
            single_stream_bytes_per_s: stream_bytes_per_s,
            curve: points(&small.ladder.rungs, block_size_bytes),
            burst_curve: points(&small.ladder.burst, block_size_bytes),
            large_curve: large.map_or(Vec::new(), |large| points(&large.ladder.rungs, large_bytes)),
            knee,
            steps,
            stalls: parts.stalls.as_ref().map(Stalls::noun),
            contradictions: Vec::new(),
        };
        agree(&mut found, small);
        self.remark_on_full_load(parts, &mut found);
        allow_for_short_budget(&mut found, self.pace.budget_s);
        Some(found.of_hosts(self.plan.hosts))
    }

    /// Whether the highest rate kept its level, where it did not significantly fall to another one
    /// that was measured.
    ///
    /// Large I/Os are seen last: the end of a reserve may show in them alone, and small ones share
    /// it.
    fn remark_on_full_load(&mut self, parts: &RoundParts, found: &mut MixCalibration) {
        if found.iops_max.burst_rate.is_some() {
            return;
        }
        let Some(full_load) = FullLoad::new(&parts.small.ladder) else { return };
        let large =
            parts.large.as_ref().and_then(|large| FullLoad::new(&large.ladder)?.late_fall());
        let most_iops = found.iops_max.rate.value;
        if let Some(most) = found.throughput_max_bytes_per_s.as_mut()
            && let Some(fall) = &large
        {
            fall.widen(most, most.rate.value);
        }
        if let Some(drift) = full_load.drift().or(large) {
            let capacities = [Some(&mut found.iops_max), found.iops_within_limit.as_mut()];
            for capacity in capacities.into_iter().flatten() {
                drift.widen(capacity, most_iops);
            }
            let began_s = seconds(self.began_ns());
            self.remarks.push(drifted(&found.name, &drift, most_iops, began_s));
        } else if found.iops_max.bound == CapacityBound::Saturated {
            self.remarks.push(held(&found.name, &full_load, found.block_size_bytes));
        }
    }

    pub(super) fn load(
        &self,
        mix: &CalibrationMix,
        what: &str,
        block_size_bytes: u64,
        access: Access,
    ) -> Ladder {
        let load = LadderLoad {
            name: format!("{} {what}", mix.name),
            read_share: mix.read_share,
            block_size_bytes,
            access,
        };
        Ladder::new(load, self.plan.limit.quantile)
    }

    /// Ladder and limit of small transfers.
    fn small(&mut self, mix: &CalibrationMix) -> Result<Climbed> {
        let mut ladder = self.load(mix, "small", self.plan.block_size.0, Access::Uniform);
        self.begin(CalibrationPhase::Ladder, end::LADDER);
        let twice = PaceGoal { least_s: 2.0 * self.pace.slice_s, ..self.pace.first_look() };
        self.settle(&mut ladder, 1, twice)?;
        let mut small = Climbed { ladder, bound: CapacityBound::TimeBudget };
        self.explore(&mut small)?;
        Ok(small)
    }

    /// Climbs and searches the limit; from the start again where the rate fell, and then one thing
    /// after the other.
    fn explore(&mut self, small: &mut Climbed) -> Result<()> {
        let ladder = &mut small.ladder;
        let series = !self.plan.steps.is_empty();
        for round in 0..ROUNDS_MAX {
            let fallen = ladder.fallen;
            self.begin_explore(CalibrationPhase::Ladder, fallen, end::LADDER, late::SUSTAINED);
            small.bound = self.climb(ladder, self.plan.queue_depth_max)?;
            let fell_first = fallen.is_none() && ladder.fallen.is_some();
            if fell_first || self.search_peak(ladder)? == LadderStep::Fell {
                continue;
            }
            if fallen.is_some() {
                self.begin_explore(
                    CalibrationPhase::Sustained,
                    fallen,
                    end::LADDER,
                    late::SUSTAINED,
                );
                let watch_s = self.pace.watch_s();
                let ended = small.bound != CapacityBound::TimeBudget;
                if ended && self.watch(ladder, watch_s)? == LadderStep::Fell {
                    continue;
                }
            }
            let limit = if series { end::LIMIT_SERIES } else { end::LIMIT };
            self.begin_explore(CalibrationPhase::Limit, fallen, limit, late::LIMIT);
            if self.limits(ladder)? == LadderStep::Fell {
                continue;
            }
            if fallen.is_some() && (round > 1 || self.recheck(ladder)? != LadderStep::Fell) {
                self.polish(ladder)?;
                break;
            }
            if fallen.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Begins a part with the share of the budget by which it ends, or with that of the time that a
    /// fall left.
    pub(super) fn begin_explore(
        &mut self,
        doing: CalibrationPhase,
        fallen: Option<Fallen>,
        usual: f64,
        late: f64,
    ) {
        match fallen {
            Some(fallen) => self.begin_late(doing, fallen.seen_ns, late),
            None => self.begin(doing, usual),
        }
    }

    /// The limit, then the series of limits and the knee, each with a share of the time left.
    fn limits(&mut self, ladder: &mut Ladder) -> Result<LadderStep> {
        let plan = self.plan;
        let limits = std::iter::once(plan.limit.service_time_ns)
            .chain(plan.steps.iter().map(|step| real(step.0)));
        // The first limit is the question; what the others take from it they find answered in part.
        let others = real_len(plan.steps.len());
        let mut parts = others + FIRST_LIMIT + 1.0;
        for (limit_ns, part) in limits.zip([FIRST_LIMIT].into_iter().chain(std::iter::repeat(1.0)))
        {
            let limit = at_most(&plan.limit, limit_ns);
            let step = self.part(part / parts, |meter| meter.search(ladder, &limit))?;
            parts -= part;
            if step == LadderStep::Fell {
                return Ok(step);
            }
        }
        self.refine_knee(ladder)
    }

    /// Two loads between the knee and its neighbours, each way.
    fn refine_knee(&mut self, ladder: &mut Ladder) -> Result<LadderStep> {
        for _ in 0..2 {
            for load in around_knee(ladder) {
                match self.settle(ladder, load, self.pace.first_look())? {
                    LadderStep::Added => {}
                    step => return Ok(step),
                }
            }
        }
        Ok(LadderStep::Added)
    }

    fn steps(&self, small: &Climbed) -> Vec<LimitStep> {
        let step = |limit_ns: f64| {
            let limit = at_most(&self.plan.limit, limit_ns);
            let iops = within(small, &limit);
            LimitStep { limit, iops }
        };
        self.plan.steps.iter().map(|limit| step(real(limit.0))).collect()
    }

    /// What the reader must know of the answers.
    fn remark_on(&mut self, small: &Climbed, within: Option<&Capacity>) {
        let mix = self.mix().to_owned();
        let first = small.ladder.rungs.get(&1);
        if let (None, Some(first)) = (within, first) {
            self.remarks.push(impossible(&mix, first, &self.plan.limit));
        }
        let last = small.ladder.rungs.values().next_back();
        if let (CapacityBound::StillRising, Some(last)) = (small.bound, last) {
            self.remarks.push(still_rising(&mix, last, self.plan.hosts));
        }
        if let Some(wide) = within.filter(|within| within.rate.relative_half_width() > WIDE) {
            self.remarks.push(unsure(&mix, &wide.rate));
        }
        let most = best(&small.ladder.rungs, small.ladder.peak_load);
        if small.bound == CapacityBound::Host || most.is_some_and(CalibrationRung::host_was_limit) {
            self.remarks.push(host_bound(&mix));
        }
        if let Some(unsteady) = most.filter(|rung| rung.imprecision() > WIDE) {
            self.remarks.push(varied(&mix, unsteady, self.plan.hosts));
        }
        self.remarks.extend(fell(&mix, small));
        self.remarks.extend(self.was_cold());
    }
}

/// Whether the highest rate of a ladder cannot last, since smaller transfers fell below it.
fn is_burst(ladder: &Ladder) -> bool {
    let best = best(&ladder.rungs, ladder.peak_load);
    best.is_some_and(|best| ladder.is_above_sustained(best.estimates.iops.value))
}

/// Whether a ladder after a fall ended before it was seen that more load gives no more: its last
/// rate is not an answer.
fn is_unfinished(climbed: &Climbed) -> bool {
    climbed.bound == CapacityBound::TimeBudget && climbed.ladder.rungs.len() < FEWEST_RUNGS
}

fn fell(mix: &str, small: &Climbed) -> Option<Remark> {
    let most = capacity(&small.ladder, small.bound, 1.0)?;
    let burst = most.burst_rate?;
    let lasted = most
        .burst_s
        .map_or_else(String::new, |burst_s| format!(" after {burst_s:.1} s at the higher rate"));
    Some(Remark {
        what: format!(
            "{mix}: the rate fell from {} to {} IOPS{lasted}",
            show_count(burst.value),
            show_count(most.rate.value)
        ),
        why: "exhausted burst credits, a rate limit and a busy neighbour look the same; these are \
              the sustained rates"
            .to_owned(),
        remedy: "plan with the sustained rate; measure for longer to see whether it falls again"
            .to_owned(),
    })
}

/// Below this budget stalls and noise of seconds may be missed altogether, s.
const SHORT_BUDGET_S: f64 = 15.0;
/// No answer is then known better than this, as a share to each side: what stalls of half a second
/// every six take, and more.
const SHORT_BUDGET_DOUBT: f64 = 0.15;

/// Lets no interval of a short calibration be narrower than what it may have missed.
fn allow_for_short_budget(found: &mut MixCalibration, budget_s: f64) {
    if budget_s >= SHORT_BUDGET_S {
        return;
    }
    let capacities = [
        Some(&mut found.iops_max),
        found.iops_within_limit.as_mut(),
        found.throughput_max_bytes_per_s.as_mut(),
    ];
    for Capacity { rate, .. } in capacities.into_iter().flatten() {
        rate.low = rate.low.min(rate.value * (1.0 - SHORT_BUDGET_DOUBT));
        rate.high = rate.high.max(rate.value * (1.0 + SHORT_BUDGET_DOUBT));
    }
}

/// Mean service time at queue depth 1.
fn base(ladder: &Ladder) -> Option<Estimate> {
    let rung = ladder.rungs.get(&1).or_else(|| ladder.burst.get(&1))?;
    Some(chosen_document(&rung.estimates.service_time_ns))
}

/// The highest rate of a ladder, in units of `factor` a transfer.
fn capacity(ladder: &Ladder, bound: CapacityBound, factor: f64) -> Option<Capacity> {
    let best = best(&ladder.rungs, ladder.peak_load)?;
    let sustained = Capacity {
        rate: chosen_document(&best.estimates.iops.scaled(factor)),
        burst_rate: None,
        burst_s: None,
        queue_depth: best.queue_depth,
        bound,
    };
    let burst = level_of_best(&ladder.burst, ladder.statistic());
    Some(with_burst(
        sustained,
        burst.map(|iops| chosen_document(&iops.scaled(factor))),
        ladder,
        factor,
    ))
}

/// The capacity together with the burst, where that was higher.
fn with_burst(
    sustained: Capacity,
    burst: Option<Estimate>,
    ladder: &Ladder,
    factor: f64,
) -> Capacity {
    let level = sustained.rate.value;
    match burst.filter(|burst| burst.value > level * (1.0 + LEAST_FALL)) {
        None => sustained,
        Some(burst) => Capacity {
            burst_rate: Some(burst),
            burst_s: ladder.burst_s(burst.value / factor, level / factor),
            ..sustained
        },
    }
}

/// The rate within a limit, sustained and as a burst.
fn within(small: &Climbed, limit: &LatencyLimit) -> Option<Capacity> {
    let ladder = &small.ladder;
    let sustained = answer(&ladder.rungs, ladder.peak_load, limit, small.bound)?;
    // Loads below the sustained rate are the same in both regimes.
    let lowest = ladder.burst.keys().next().copied().unwrap_or(0);
    let mut rungs: Rungs =
        ladder.rungs.range(..lowest).map(|(load, rung)| (*load, rung.clone())).collect();
    rungs.extend(ladder.burst.clone());
    let burst = answer(&rungs, None, limit, small.bound).map(|capacity| capacity.rate);
    Some(with_burst(sustained, burst, ladder, 1.0))
}

/// The same quantile or mean with another limit.
fn at_most(limit: &LatencyLimit, service_time_ns: f64) -> LatencyLimit {
    LatencyLimit { service_time_ns, ..*limit }
}

fn points(rungs: &Rungs, block_size_bytes: u64) -> Vec<assay_model::calibration::CurvePoint> {
    rungs.values().map(|rung| rung.curve_point(block_size_bytes)).collect()
}

/// Where the curve bends; the rate of a step that was seen for a short time is not above the
/// highest one.
fn knee(ladder: &Ladder, most_iops: f64) -> Option<Knee> {
    let curve::CurveKnee::Found { at, .. } = curve::knee(&ladder.points()) else {
        return None;
    };
    let rung = ladder.rungs.values().nth(at)?;
    Some(Knee {
        queue_depth: rung.queue_depth,
        iops: rung.estimates.iops.value.min(most_iops),
        service_time_ns: rung.estimates.service_time_ns.value,
        rule: "maximum power: IOPS over mean service time (Kleinrock 1979)".to_owned(),
    })
}

/// One sequential stream is a load like others: what it reached is part of the maximum.
fn at_least_one_stream(most: Capacity, stream: Option<Estimate>) -> Capacity {
    match stream.filter(|stream| stream.value > most.rate.value) {
        Some(rate) => Capacity { rate, queue_depth: 1, ..most },
        None => most,
    }
}

/// The loads half way from the knee to its neighbours, where there are any.
fn around_knee(ladder: &Ladder) -> Vec<u32> {
    let Some(knee) = knee(ladder, f64::INFINITY) else {
        return Vec::new();
    };
    let at = knee.queue_depth;
    let below = ladder.rungs.range(..at).next_back().map(|(load, _)| *load);
    let above = ladder.rungs.range(at + 1..).next().map(|(load, _)| *load);
    [below, above]
        .into_iter()
        .flatten()
        .map(|load| u32::midpoint(load, at))
        .filter(|load| !ladder.rungs.contains_key(load))
        .collect()
}
