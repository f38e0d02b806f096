//! The answer for several targets: populations side by side, bounds, budget, sensitivity, and what
//! stands against it.

use crate::bounds::bounds;
use crate::closure::{close, commit_overhead_s};
use crate::demand::{Overheads, PredictedDemand};
use crate::draws::{Around, NORMAL_95, response_deviation, sensitivity};
use crate::model::{Lean, Solution, solve};
use crate::objections;
use crate::of_profile::{ReadProfile, around};
use crate::storage::{PredictedStorage, StorageSource};
use assay_model::Estimate;
use assay_model::number::count;
use assay_model::projection::{
    Effect, FORMAT, LatencyBudget, Objection, ObjectionKind, Population, ProjectedState,
    ProjectedTarget, Projection, ProjectionAnswer, SessionPoint, StoragePoint, TimeParts,
};
use assay_model::verdict::Outcome;

/// How far the model misses, as a standard deviation of the logarithm of throughput, before
/// verifications say otherwise.
pub const MODEL_DEVIATION: f64 = 0.08;

/// The formulas of the manual that an answer rests on.
const FORMULAS: [&str; 5] = [
    "convolution of a closed network with load-dependent stations",
    "flow-equivalent station of the calibrated curve",
    "group commit, open and closed",
    "M/M/c for CPUs under the same work",
    "log-normal draws with a model term",
];

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectionPlan {
    /// Users who think between two units of work; `None` where nobody said.
    pub thinking_sessions: Option<f64>,
    /// Whether only the same work is asked for.
    pub only_same_work: bool,
    /// Whether only sessions without think time are asked for.
    pub only_closed: bool,
    /// Sessions without think time; by default as many as were active on average.
    pub sessions: Option<f64>,
    /// Processors of the host, instead of the profile's.
    pub processors_mean: Option<f64>,
    /// Speed of one of its processors over one of the profile's host.
    pub cpu_speed_ratio: Option<f64>,
    /// Work a second over what was measured.
    pub growth: f64,
    /// Reads over those of the present cache, where it changes.
    pub read_ratio: Option<f64>,
    /// Writes that the database has outstanding at most, where that is known.
    pub write_queue_depth: Option<f64>,
    /// Response that is wanted, seconds.
    pub response_limit_s: Option<f64>,
    /// How often inputs are drawn.
    pub draws: u32,
    /// Seed of the draws.
    pub seed: u64,
    /// Standard deviation of the model's own error.
    pub model_deviation: f64,
}

impl Default for ProjectionPlan {
    fn default() -> Self {
        Self {
            thinking_sessions: None,
            only_same_work: false,
            only_closed: false,
            sessions: None,
            processors_mean: None,
            cpu_speed_ratio: None,
            growth: 1.0,
            read_ratio: None,
            write_queue_depth: None,
            response_limit_s: None,
            draws: 1000,
            seed: 1,
            model_deviation: MODEL_DEVIATION,
        }
    }
}

/// What a database would do on each target. `from` is the calibration of the storage that the
/// profile was measured on.
pub fn project(
    read: &ReadProfile,
    from: Option<&StorageSource<'_>>,
    targets: &[StorageSource<'_>],
    plan: &ProjectionPlan,
) -> Projection {
    let present = from.and_then(|source| PredictedStorage::of(source, &read.demand));
    let closed = present.as_ref().map(|storage| close(&read.demand, storage));
    let overheads = closed.as_ref().map_or_else(
        || Overheads { read_s: 0.0, commit_s: commit_overhead_s(&read.demand, None) },
        |(_, overheads)| *overheads,
    );
    let closure = closed.map(|(closure, _)| closure);
    let response_factor = closure.as_ref().map_or(1.0, |closure| closure.response_factor);
    let doubled = if objections::is_doubted(closure.as_ref()) { 2.0 } else { 1.0 };
    let demand = changed(&read.demand, read.processors_total, plan);
    let mut against = read.objections.clone();
    let reads_may_be_cached =
        closure.is_none() && objections::reads_may_be_cached(&read.demand, read.cached_share);
    against.extend(objections::of_closure(
        closure.as_ref(),
        present.as_ref(),
        &read.demand,
        reads_may_be_cached,
    ));
    against.extend(other_host(read, plan));
    against.sort_by_key(|one| std::cmp::Reverse(one.effect));
    let asked = AskedOfTargets {
        demand: &demand,
        overheads,
        response_factor,
        plan,
        model_deviation: doubled * plan.model_deviation,
        populations: populations(&demand, plan),
        against: &against,
        reads_may_be_cached,
    };
    Projection {
        format: FORMAT,
        profile: read.name.clone(),
        product: read.product.clone(),
        unit: demand.unit,
        inputs: read.inputs.clone(),
        base: base(&read.demand),
        targets: targets.iter().map(|source| asked.target(source)).collect(),
        closure,
        replay: None,
        objections: against.clone(),
        model_deviation: asked.model_deviation,
        draws: plan.draws,
        seed: plan.seed,
        formulas: FORMULAS.map(str::to_owned).to_vec(),
    }
}

/// The demand on the host, with the growth and the cache that are asked for.
fn changed(
    demand: &PredictedDemand,
    processors_total: Option<f64>,
    plan: &ProjectionPlan,
) -> PredictedDemand {
    let mut changed = demand.clone();
    changed.throughput_per_s *= plan.growth;
    changed.cpu_s /= plan.cpu_speed_ratio.unwrap_or(1.0);
    if let Some(processors) = plan.processors_mean {
        let others = processors_total.map_or(0.0, |all| (all - demand.processors_mean).max(0.0));
        changed.processors_mean = (processors - others).max(0.05 * processors);
    }
    changed.write_queue_depth = plan.write_queue_depth.or(demand.write_queue_depth);
    if let Some(ratio) = plan.read_ratio {
        changed.reads_mean *= ratio;
    }
    changed
}

/// Other processors without a word on their speed.
fn other_host(read: &ReadProfile, plan: &ProjectionPlan) -> Option<Objection> {
    let asked = plan.processors_mean?;
    let known = read.processors_total;
    let is_other = known.is_some_and(|known| (known - asked).abs() > 0.5);
    (is_other && plan.cpu_speed_ratio.is_none()).then(|| Objection {
        kind: ObjectionKind::OtherHost,
        effect: Effect::Refused,
        finding: format!(
            "another host with {asked:.0} CPUs of unknown speed instead of {:.0}",
            known.unwrap_or(0.0)
        ),
        remedy: "state their speed: --cpu-speed 1 if they are the same".to_owned(),
    })
}

/// Three populations side by side, or those that are asked for.
fn populations(demand: &PredictedDemand, plan: &ProjectionPlan) -> Vec<Population> {
    let active = demand.average_active_sessions();
    let sessions = plan.sessions.unwrap_or(active);
    let users = plan.thinking_sessions.map(|sessions| Population::Users {
        sessions,
        think_time_s: (sessions / demand.throughput_per_s - demand.response_s).max(0.0),
    });
    let same = (!plan.only_closed).then_some(Population::SameWork);
    let closed = (!plan.only_same_work).then_some(Population::Closed { sessions });
    same.into_iter().chain(users).chain(closed).collect()
}

/// The database as it was measured.
fn base(demand: &PredictedDemand) -> ProjectedState {
    let deviations = demand.deviations;
    let active = demand.average_active_sessions();
    ProjectedState {
        population: Population::SameWork,
        throughput_per_s: around(demand.throughput_per_s, deviations.throughput_deviation),
        response_s: around(demand.response_s, deviations.throughput_deviation),
        parts: TimeParts {
            cpu_s: demand.cpu_s,
            cpu_queue_s: 0.0,
            reads_s: demand.reads_s() + demand.large_reads_s,
            commit_s: demand.commit_s(),
            writes_s: demand.write_behind_s + demand.foreground_writes_s,
            contention_s: demand.contention_s + demand.page_waits_s + demand.cluster_s,
            // What the report counts twice is negative and no part.
            other_s: demand.other_s + demand.unaccounted_s.max(0.0),
        },
        average_active_sessions: active,
        cpu_busy_share: Some(demand.throughput_per_s * demand.cpu_s / demand.processors_mean),
        read_latency_s: Some(demand.read_latency_s).filter(|latency_s| *latency_s > 0.0),
        commit_latency_s: Some(demand.commit_latency_s).filter(|latency_s| *latency_s > 0.0),
        read_queue_depth: demand.throughput_per_s * (demand.reads_s() + demand.large_reads_s),
    }
}

/// What is asked of every target.
struct AskedOfTargets<'a> {
    demand: &'a PredictedDemand,
    overheads: Overheads,
    /// What responses are multiplied by, as the present storage showed it.
    response_factor: f64,
    plan: &'a ProjectionPlan,
    model_deviation: f64,
    populations: Vec<Population>,
    against: &'a [Objection],
    /// Whether some of its reads may have been answered before they reached the present storage.
    reads_may_be_cached: bool,
}

impl AskedOfTargets<'_> {
    fn target(&self, source: &StorageSource<'_>) -> ProjectedTarget {
        let mut target = ProjectedTarget {
            name: source.name.clone(),
            origin: source.origin,
            answer: ProjectionAnswer::Refused,
            states: Vec::new(),
            overload_per_s: None,
            bounds: Vec::new(),
            curve: Vec::new(),
            storage_curve: Vec::new(),
            budget: None,
            sensitivity: Vec::new(),
            objections: Vec::new(),
        };
        if self.demand.throughput_per_s <= 0.0 || self.demand.response_s <= 0.0 {
            return target;
        }
        let Some(storage) = PredictedStorage::of(source, self.demand) else {
            target.objections.push(no_curve(&source.name));
            return target;
        };
        target.objections = objections::of_target(self.demand, &storage);
        target.storage_curve = storage_curve(&storage);
        target.bounds = bounds(self.demand, &storage);
        let around = Around { demand: self.demand, storage: &storage, overheads: self.overheads };
        let worst = |objections: &[Objection]| {
            let all = self.against.iter().chain(objections);
            all.map(|one| one.effect).max().unwrap_or(Effect::Doubt)
        };
        target.answer = answer(worst(&target.objections));
        if target.answer == ProjectionAnswer::Refused {
            return target;
        }
        let only_bounds = target.answer == ProjectionAnswer::Bounds;
        let states = self.populations.iter();
        target.states =
            states.filter_map(|population| self.state(around, *population, only_bounds)).collect();
        let is_same = |population: &Population| matches!(population, Population::SameWork);
        let is_asked = self.populations.iter().any(is_same);
        target.overload_per_s =
            (is_asked && target.state(is_same).is_none()).then_some(self.demand.throughput_per_s);
        target.objections.extend(objections::of_states(self.demand, &storage, &target.states));
        target.objections.sort_by_key(|one| std::cmp::Reverse(one.effect));
        target.curve = self.curve(around);
        target.budget = self.budget(&target);
        let sessions = self.demand.average_active_sessions();
        target.sensitivity =
            sensitivity(around, Population::Closed { sessions }, self.model_deviation);
        target
    }

    /// The network solved, with the part of the model's miss on the present storage that is
    /// expected on others, too.
    fn solve(&self, around: Around<'_>, population: Population, lean: Lean) -> Option<Solution> {
        let solved = solve(around.demand, around.storage, around.overheads, population, lean)?;
        let limit_per_s = bounds(around.demand, around.storage).first().map(|one| one.most_per_s);
        Some(missed(&solved, population, self.response_factor, limit_per_s))
    }

    /// The response if the storage went on beyond its last step as there, where the answer lies
    /// near that and more was not shown to give no more.
    fn if_more(&self, around: Around<'_>, population: Population, middle: &Solution) -> f64 {
        let storage = around.storage;
        if !objections::is_beyond(middle.read_queue_depth, storage) {
            return middle.response_s;
        }
        let more = PredictedStorage {
            curve: storage.curve.prolonged(),
            writes_most_per_s: None,
            bandwidth_bytes_per_s: None,
            ..storage.clone()
        };
        let found = self.solve(Around { storage: &more, ..around }, population, Lean::HOPEFUL);
        found.map_or(middle.response_s, |found| found.response_s.min(middle.response_s))
    }

    /// The response if a cache answered all reads, on the present storage and on others: how far
    /// the answer may be off where nobody knows.
    fn if_cached(&self, around: Around<'_>, population: Population, middle: &Solution) -> f64 {
        if !self.reads_may_be_cached {
            return middle.response_s;
        }
        let cached = PredictedDemand {
            reads_mean: 0.0,
            large_reads_mean: 0.0,
            large_reads_s: 0.0,
            ..around.demand.clone()
        };
        let found = self.solve(Around { demand: &cached, ..around }, population, Lean::HOPEFUL);
        found.map_or(middle.response_s, |found| found.response_s.min(middle.response_s))
    }

    /// One population: the middle, with what draws and the model's error make of it; or the two
    /// ends, where only bounds can be given.
    fn state(
        &self,
        around: Around<'_>,
        population: Population,
        only_bounds: bool,
    ) -> Option<ProjectedState> {
        let of = |lean| self.solve(around, population, lean);
        let middle = of(Lean::MIDDLE)?;
        let drawn = response_deviation(around, population, self.plan.draws, self.plan.seed);
        let spread = NORMAL_95 * drawn.hypot(self.model_deviation);
        let more_s = self.if_more(around, population, &middle);
        let more_s = more_s.min(self.if_cached(around, population, &middle));
        let (low_s, high_s) = if only_bounds {
            let ends = [of(Lean::HOPEFUL), of(Lean::CAUTIOUS)];
            let ends = ends.into_iter().flatten().map(|end| end.response_s);
            ends.fold((middle.response_s, middle.response_s), |(low, high), end| {
                (low.min(end), high.max(end))
            })
        } else {
            (middle.response_s, middle.response_s)
        };
        let n = u64::from(self.plan.draws.max(1));
        let response_s = Estimate {
            value: middle.response_s,
            low: low_s.min(more_s) / spread.exp(),
            high: high_s * spread.exp(),
            confidence: 0.95,
            n,
        };
        let throughput_per_s = throughput(population, &middle, &response_s);
        Some(projected(population, &middle, response_s, throughput_per_s, self.demand))
    }

    /// Throughput and response by sessions, in steps of equal ratio around what was measured.
    fn curve(&self, around: Around<'_>) -> Vec<SessionPoint> {
        let active = self.demand.average_active_sessions().max(1.0);
        let most = (4.0 * active).max(16.0);
        let steps = 16_u32;
        let at = |step: u32| most.powf(f64::from(step) / f64::from(steps));
        let point = |sessions: f64| {
            let population = Population::Closed { sessions };
            let found = self.solve(around, population, Lean::MIDDLE)?;
            Some(SessionPoint {
                sessions,
                throughput_per_s: found.throughput_per_s,
                response_s: found.response_s,
            })
        };
        (0..=steps).filter_map(|step| point(at(step))).collect()
    }

    /// Read latency budget for the response that is wanted, at the same work.
    fn budget(&self, target: &ProjectedTarget) -> Option<LatencyBudget> {
        let limit_s = self.plan.response_limit_s?;
        let demand = self.demand;
        let state = target
            .state(|population| matches!(population, Population::SameWork))
            .or_else(|| target.states.first());
        let rest_s = state.map_or(demand.response_s - demand.reads_s(), |state| {
            let small_s = demand.reads_mean * state.read_latency_s.unwrap_or(0.0);
            state.parts.sum_s() - small_s.min(state.parts.reads_s)
        });
        let outcome = state.map_or(Outcome::Fail, |state| judged(&state.response_s, limit_s));
        Some(LatencyBudget {
            response_limit_s: limit_s,
            read_latency_max_s: (limit_s - rest_s) / demand.reads_mean.max(1e-12),
            read_iops: demand.throughput_per_s * demand.reads_mean,
            outcome: if target.answer == ProjectionAnswer::Answered {
                outcome
            } else {
                Outcome::Inconclusive
            },
        })
    }
}

fn judged(response_s: &Estimate, limit_s: f64) -> Outcome {
    if response_s.high <= limit_s {
        Outcome::Pass
    } else if response_s.low > limit_s {
        Outcome::Fail
    } else {
        Outcome::Inconclusive
    }
}

const fn answer(worst: Effect) -> ProjectionAnswer {
    match worst {
        Effect::Refused => ProjectionAnswer::Refused,
        Effect::Bounds => ProjectionAnswer::Bounds,
        Effect::Doubt | Effect::AtLeast => ProjectionAnswer::Answered,
    }
}

fn no_curve(name: &str) -> Objection {
    Objection {
        kind: ObjectionKind::Mix,
        effect: Effect::Refused,
        finding: format!("the calibration {name} has no reads"),
        remedy: "calibrate with reads: --read-share 100%,0%,70%".to_owned(),
    }
}

/// Throughput with the interval that follows from the response's; the same work has none.
fn throughput(population: Population, middle: &Solution, response_s: &Estimate) -> Estimate {
    let of = |customers: f64, think_time_s: f64| Estimate {
        value: middle.throughput_per_s,
        low: customers / (think_time_s + response_s.high),
        high: customers / (think_time_s + response_s.low),
        ..*response_s
    };
    match population {
        Population::SameWork => Estimate::exact(middle.throughput_per_s, response_s.n),
        Population::Users { sessions, think_time_s } => of(sessions, think_time_s),
        Population::Closed { sessions } => of(sessions, 0.0),
    }
}

fn projected(
    population: Population,
    solved: &Solution,
    response_s: Estimate,
    throughput_per_s: Estimate,
    demand: &PredictedDemand,
) -> ProjectedState {
    ProjectedState {
        population,
        average_active_sessions: throughput_per_s.value * response_s.value,
        throughput_per_s,
        response_s,
        parts: solved.parts,
        cpu_busy_share: Some(solved.cpu_busy_share),
        read_latency_s: (demand.reads_mean > 0.0).then_some(solved.read_latency_s),
        commit_latency_s: (demand.commits_mean > 0.0).then_some(solved.commit_latency_s),
        read_queue_depth: solved.read_queue_depth,
    }
}

/// The curve of the storage, and points between its steps.
fn storage_curve(storage: &PredictedStorage) -> Vec<StoragePoint> {
    let reach = storage.curve.reach();
    let steps = 24_u32;
    let at = |step: u32| reach.powf(f64::from(step) / f64::from(steps));
    let point = |queue_depth: f64| StoragePoint {
        read_queue_depth: queue_depth,
        read_iops: storage.curve.iops(queue_depth),
        read_latency_s: storage.curve.latency_s(queue_depth),
    };
    if count(reach) <= 1 {
        return vec![point(reach)];
    }
    (0..=steps).map(|step| point(at(step))).collect()
}

/// A solution whose response is longer or shorter by a factor, which no event explains; a limit
/// that it kept it keeps.
fn missed(
    solved: &Solution,
    population: Population,
    response_factor: f64,
    limit_per_s: Option<f64>,
) -> Solution {
    let limit_per_s = limit_per_s.unwrap_or(f64::INFINITY).max(solved.throughput_per_s);
    let response_s = solved.response_s * response_factor;
    let (response_s, throughput_per_s) = match population {
        Population::SameWork => (response_s, solved.throughput_per_s),
        Population::Closed { sessions } => limited(sessions, 0.0, response_s, limit_per_s),
        Population::Users { sessions, think_time_s } => {
            limited(sessions, think_time_s, response_s, limit_per_s)
        }
    };
    let faster = throughput_per_s / solved.throughput_per_s;
    Solution {
        response_s,
        throughput_per_s,
        parts: parts_of(response_s, solved),
        read_queue_depth: solved.read_queue_depth * faster,
        cpu_busy_share: solved.cpu_busy_share * faster,
        ..*solved
    }
}

/// The parts of a response that is not the computed one: what it has more stands in no event, what
/// it has less no event names, so that all parts shrink alike and none is less than nothing.
fn parts_of(response_s: f64, solved: &Solution) -> TimeParts {
    let more_s = response_s - solved.response_s;
    if more_s < 0.0 {
        return solved.parts.scaled(response_s / solved.response_s);
    }
    TimeParts { other_s: solved.parts.other_s + more_s, ..solved.parts }
}

/// Response and throughput of a closed population that cannot do more than a limit.
fn limited(sessions: f64, think_time_s: f64, response_s: f64, limit_per_s: f64) -> (f64, f64) {
    let response_s = response_s.max(sessions / limit_per_s - think_time_s);
    (response_s, sessions / (think_time_s + response_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solution() -> Solution {
        Solution {
            throughput_per_s: 100.0,
            response_s: 0.1,
            parts: TimeParts { reads_s: 0.09, cpu_s: 0.01, ..TimeParts::default() },
            read_latency_s: 0.009,
            commit_latency_s: 0.0,
            read_queue_depth: 9.0,
            cpu_busy_share: 0.5,
        }
    }

    #[test]
    fn a_miss_lengthens_the_response_and_stands_in_no_event() {
        let found = missed(&solution(), Population::Closed { sessions: 10.0 }, 1.25, Some(120.0));
        assert!((found.response_s - 0.125).abs() < 1e-12);
        assert!((found.throughput_per_s - 80.0).abs() < 1e-9);
        assert!((found.parts.other_s - 0.025).abs() < 1e-12);
        assert!((found.parts.sum_s() - found.response_s).abs() < 1e-12);
        assert!((found.read_queue_depth - 7.2).abs() < 1e-9);
        let same = missed(&solution(), Population::SameWork, 1.25, None);
        assert!((same.throughput_per_s - 100.0).abs() < 1e-12);
        assert!((same.response_s - 0.125).abs() < 1e-12);
    }

    #[test]
    fn a_miss_the_other_way_breaks_no_limit() {
        let population = Population::Users { sessions: 20.0, think_time_s: 0.1 };
        let found = missed(&solution(), population, 0.8, Some(104.0));
        assert!((found.throughput_per_s - 104.0).abs() < 1e-9);
        assert!((found.response_s - (20.0 / 104.0 - 0.1)).abs() < 1e-12);
        let free = missed(&solution(), population, 0.8, None);
        assert!((free.throughput_per_s - 20.0 / 0.18).abs() < 1e-9);
        assert!((free.parts.sum_s() - free.response_s).abs() < 1e-12);
        assert!(free.parts.named().iter().all(|(_, part_s)| *part_s >= 0.0));
    }
}
