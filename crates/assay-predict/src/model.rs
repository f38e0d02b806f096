//! The network of one database on one storage, solved for one population.

use crate::bounds::outside_per_s;
use crate::demand::{Overheads, PredictedDemand};
use crate::open;
use crate::storage::PredictedStorage;
use assay_model::number::index;
use assay_model::projection::{Population, TimeParts};
use assay_stats::group_commit::{self, ClosedCommits};
use assay_stats::network::convolution::{ClosedStations, Station};

/// Where between two ends lies what nobody can know: 0 is the cautious end, 1 the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lean {
    /// Locks are waited for as long as before (0), or shorter as work is (1).
    pub contention_share: f64,
    /// Waits for late writes remain (0), or are gone where the storage keeps up (1).
    pub behind_share: f64,
    /// Waits for pages that no event shows last as long as before (0), or as I/O does (1).
    pub page_waits_share: f64,
    /// Time of no event remains (0), or was waiting for a processor and is in the model of those
    /// (1).
    pub unaccounted_share: f64,
}

impl Lean {
    /// The middle: half of each.
    pub const MIDDLE: Self = Self {
        contention_share: 0.5,
        behind_share: 1.0,
        page_waits_share: 1.0,
        unaccounted_share: 0.5,
    };
    /// As little gain as can be.
    pub const CAUTIOUS: Self = Self {
        contention_share: 0.0,
        behind_share: 0.0,
        page_waits_share: 0.0,
        unaccounted_share: 0.0,
    };
    /// As much gain as can be.
    pub const HOPEFUL: Self = Self {
        contention_share: 1.0,
        behind_share: 1.0,
        page_waits_share: 1.0,
        unaccounted_share: 1.0,
    };
}

/// A solved network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solution {
    /// Units of work a second.
    pub throughput_per_s: f64,
    /// Time of one, seconds.
    pub response_s: f64,
    /// Where it goes.
    pub parts: TimeParts,
    /// Mean time of a small read, seconds.
    pub read_latency_s: f64,
    /// Mean wait for a commit, seconds.
    pub commit_latency_s: f64,
    /// Reads outstanding on average.
    pub read_queue_depth: f64,
    /// Busy share of the processors that the sessions have.
    pub cpu_busy_share: f64,
}

/// Solves the network; `None` where the same work a second is more than it can do.
pub fn solve(
    demand: &PredictedDemand,
    storage: &PredictedStorage,
    overheads: Overheads,
    population: Population,
    lean: Lean,
) -> Option<Solution> {
    let network = Network { demand, storage, overheads, lean };
    match population {
        Population::SameWork => network.open(demand.throughput_per_s),
        Population::Users { sessions, think_time_s } => {
            Some(network.closed(sessions, think_time_s))
        }
        Population::Closed { sessions } => Some(network.closed(sessions, 0.0)),
    }
}

/// The response alone, seconds, many times over for inputs that differ a little: the table of
/// commits is that of the first.
pub(crate) struct ResponseSolver {
    population: Population,
    commits: Option<ClosedCommits>,
}

impl ResponseSolver {
    pub(crate) fn new(demand: &PredictedDemand, population: Population) -> Self {
        let customers = match population {
            Population::SameWork => None,
            Population::Users { sessions, .. } | Population::Closed { sessions } => Some(sessions),
        };
        let commits = customers.filter(|_| demand.commits_mean > 0.0).map(ClosedCommits::new);
        Self { population, commits }
    }

    pub(crate) fn response_s(
        &self,
        demand: &PredictedDemand,
        storage: &PredictedStorage,
        overheads: Overheads,
        lean: Lean,
    ) -> Option<f64> {
        let network = Network { demand, storage, overheads, lean };
        let closed = |customers: f64, think_time_s: f64| {
            let found = network.fixed_point(customers, think_time_s, self.commits.as_ref());
            customers / found.throughput_per_s - think_time_s
        };
        match self.population {
            Population::SameWork => {
                network.open(demand.throughput_per_s).map(|found| found.response_s)
            }
            Population::Users { sessions, think_time_s } => Some(closed(sessions, think_time_s)),
            Population::Closed { sessions } => Some(closed(sessions, 0.0)),
        }
    }
}

/// Where throughput and delays agree.
struct FixedPoint {
    network: ClosedStations,
    throughput_per_s: f64,
    delays: Delays,
}

/// Rounds of the fixed point at most, and where it ends.
const ROUNDS: usize = 80;
const TOLERANCE: f64 = 1e-7;

struct Network<'a> {
    demand: &'a PredictedDemand,
    storage: &'a PredictedStorage,
    overheads: Overheads,
    lean: Lean,
}

/// Waits that no station stands for, at some throughput, seconds of one unit.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the unit is a part of each name")]
struct Delays {
    read_one_s: f64,
    reads_s: f64,
    commit_one_s: f64,
    commit_s: f64,
    writes_s: f64,
    contention_s: f64,
    other_s: f64,
}

impl Delays {
    fn sum_s(&self) -> f64 {
        self.reads_s + self.commit_s + self.writes_s + self.contention_s + self.other_s
    }
}

impl Network<'_> {
    fn closed(&self, customers: f64, think_time_s: f64) -> Solution {
        let commits = (self.demand.commits_mean > 0.0).then(|| ClosedCommits::new(customers));
        let found = self.fixed_point(customers, think_time_s, commits.as_ref());
        let state = found.network.solve(think_time_s + found.delays.sum_s());
        let residence = |station: usize| {
            let held = state.customers.get(station).copied().unwrap_or(0.0);
            held / state.throughput_per_s
        };
        let throughput_per_s = found.throughput_per_s;
        let mut solved = self.solved(throughput_per_s, residence(0), residence(1), &found.delays);
        solved.response_s = customers / throughput_per_s - think_time_s;
        // What a bound outside of the network leaves waits for it.
        solved.parts.writes_s += (solved.response_s - solved.parts.sum_s()).max(0.0);
        solved
    }

    /// Throughput and the delays that hang on it, by damped steps.
    fn fixed_point(
        &self,
        customers: f64,
        think_time_s: f64,
        commits: Option<&ClosedCommits>,
    ) -> FixedPoint {
        let network = ClosedStations::near(
            &self.stations(customers),
            customers,
            think_time_s + self.least_delay_s(),
        );
        let wait = |commits_per_s: f64, flush_s: f64, before_s: f64| {
            let between_s = (customers / commits_per_s - before_s).max(1e-3 * flush_s);
            commits.map_or(0.0, |table| table.wait_s(between_s, flush_s))
        };
        let mut throughput_per_s = network.throughput_per_s(think_time_s + self.least_delay_s());
        let mut delays = Delays::default();
        for _ in 0..ROUNDS {
            let response_s = (customers / throughput_per_s - think_time_s).max(1e-12);
            delays = self.delays(throughput_per_s, response_s, customers, &delays, &wait);
            let found_per_s = network.throughput_per_s(think_time_s + delays.sum_s());
            let is_done = (found_per_s / throughput_per_s - 1.0).abs() < TOLERANCE;
            throughput_per_s = 0.5 * (throughput_per_s + found_per_s);
            if is_done {
                break;
            }
        }
        let cap_per_s = outside_per_s(self.demand, self.storage);
        FixedPoint { network, throughput_per_s: throughput_per_s.min(cap_per_s), delays }
    }

    fn open(&self, throughput_per_s: f64) -> Option<Solution> {
        if throughput_per_s >= outside_per_s(self.demand, self.storage) {
            return None;
        }
        let demand = self.demand;
        let processors = demand.processors_mean;
        let cpu_wait_s = open::cpu_wait_s(demand.cpu_s, processors, throughput_per_s)?;
        let reads_iops = throughput_per_s * demand.small_reads_worth(self.storage);
        let queue_depth = if reads_iops > 0.0 {
            open::queue_depth(&self.storage.curve, reads_iops)?
        } else {
            0.0
        };
        let storage_s = queue_depth / throughput_per_s;
        let wait = |commits_per_s: f64, flush_s: f64, _: f64| {
            group_commit::open(commits_per_s, flush_s, 0.0).wait_s
        };
        let mut response_s = demand.response_s;
        let mut delays = Delays::default();
        for _ in 0..ROUNDS {
            delays = self.delays(throughput_per_s, response_s, f64::INFINITY, &delays, &wait);
            response_s = demand.cpu_s + cpu_wait_s + storage_s + delays.sum_s();
        }
        Some(self.solved(throughput_per_s, demand.cpu_s + cpu_wait_s, storage_s, &delays))
    }

    fn stations(&self, customers: f64) -> Vec<Station> {
        let demand = self.demand;
        let processors = demand.processors_mean;
        let cpu = Station::servers(demand.cpu_s / processors.min(1.0), processors);
        let most = index(customers.ceil()).max(1);
        let storage = Station {
            demand_s: demand.storage_s(self.storage),
            speedup_ratio: self.storage.curve.speedup_ratio(most),
        };
        vec![cpu, storage]
    }

    /// The delays that hang on nothing.
    fn least_delay_s(&self) -> f64 {
        self.demand.reads_mean * self.overheads.read_s + self.demand.other_s + self.demand.cluster_s
    }

    /// All delays at a throughput; `wait` gives the wait for one commit by commits per second,
    /// flush and the wait before.
    fn delays(
        &self,
        throughput_per_s: f64,
        response_s: f64,
        customers: f64,
        before: &Delays,
        wait: &dyn Fn(f64, f64, f64) -> f64,
    ) -> Delays {
        let (demand, lean) = (self.demand, self.lean);
        let kept = |share: f64| 1.0 - share;
        let shorter = response_s / demand.response_s;
        let shortened = |share: f64| kept(share) + share * shorter;
        let locks_s = demand.contention_s * shortened(lean.contention_share)
            + demand.page_waits_s * shortened(lean.page_waits_share);
        let commit_one_s = self.commit_one_s(throughput_per_s, customers, before, wait);
        let read_one_s = self.overheads.read_s + self.read_delay_s(throughput_per_s, customers);
        let own_writes_s =
            if self.storage.write_s.is_none() { demand.foreground_writes_s } else { 0.0 };
        let unaccounted_s = demand.unaccounted_s.max(0.0) * kept(lean.unaccounted_share);
        Delays {
            read_one_s,
            reads_s: demand.reads_mean * read_one_s,
            commit_one_s,
            commit_s: demand.commits_mean * commit_one_s,
            writes_s: demand.write_behind_s * kept(lean.behind_share) + own_writes_s,
            contention_s: locks_s + demand.cluster_s,
            other_s: demand.other_s + unaccounted_s,
        }
    }

    fn commit_one_s(
        &self,
        throughput_per_s: f64,
        customers: f64,
        before: &Delays,
        wait: &dyn Fn(f64, f64, f64) -> f64,
    ) -> f64 {
        let demand = self.demand;
        if demand.commits_mean <= 0.0 {
            return 0.0;
        }
        let Some(log) = &self.storage.flush else {
            return demand.commit_latency_s;
        };
        let flush_s = log.flush_s(self.ios_outstanding(throughput_per_s, customers));
        wait(throughput_per_s * demand.commits_mean, flush_s, before.commit_one_s)
            + self.overheads.commit_s * self.commit_overhead_ratio(throughput_per_s, customers)
    }

    /// What commits wait beyond the flush over what that was: as much longer as a read where it is
    /// pages that they wait for.
    fn commit_overhead_ratio(&self, throughput_per_s: f64, customers: f64) -> f64 {
        let before_s = self.demand.read_latency_s;
        if !self.demand.commits_wait_for_pages || before_s <= 0.0 {
            return 1.0;
        }
        let queue_depth = self.read_queue_depth(throughput_per_s, customers).max(1.0);
        let read_s = self.storage.curve.latency_s(queue_depth) + self.overheads.read_s;
        (read_s + self.read_delay_s(throughput_per_s, customers)) / before_s
    }

    /// How long flushes of the log hold a read up, seconds.
    fn read_delay_s(&self, throughput_per_s: f64, customers: f64) -> f64 {
        let Some(log) = self.storage.flush.as_ref().filter(|log| log.has_read_delays()) else {
            return 0.0;
        };
        let queue_depth = self.ios_outstanding(throughput_per_s, customers);
        log.read_delay_s(self.demand, throughput_per_s, queue_depth)
    }

    /// Reads and writes of data outstanding at a throughput.
    fn ios_outstanding(&self, throughput_per_s: f64, customers: f64) -> f64 {
        self.read_queue_depth(throughput_per_s, customers) / self.demand.read_share().max(0.05)
    }

    /// Reads outstanding at a throughput.
    fn read_queue_depth(&self, throughput_per_s: f64, customers: f64) -> f64 {
        let reads_iops = throughput_per_s * self.demand.small_reads_worth(self.storage);
        let reads = self.storage.curve.queue_depth(reads_iops);
        reads.unwrap_or_else(|| self.storage.curve.reach()).min(customers)
    }

    fn solved(
        &self,
        throughput_per_s: f64,
        cpu_s: f64,
        storage_s: f64,
        delays: &Delays,
    ) -> Solution {
        let demand = self.demand;
        let alone_s = demand.storage_s(self.storage);
        let small_s = demand.reads_mean * self.storage.curve.latency_s(1.0);
        let own_writes_s =
            self.storage.write_s.map_or(0.0, |one_s| demand.foreground_writes_mean * one_s);
        let share = |part_s: f64| if alone_s > 0.0 { part_s / alone_s } else { 0.0 };
        let per_read = if demand.reads_mean > 0.0 {
            storage_s * share(small_s) / demand.reads_mean
        } else {
            0.0
        };
        let parts = TimeParts {
            cpu_s: demand.cpu_s,
            cpu_queue_s: (cpu_s - demand.cpu_s).max(0.0),
            reads_s: storage_s * (1.0 - share(own_writes_s)) + delays.reads_s,
            commit_s: delays.commit_s,
            writes_s: storage_s * share(own_writes_s) + delays.writes_s,
            contention_s: delays.contention_s,
            other_s: delays.other_s,
        };
        Solution {
            throughput_per_s,
            response_s: parts.sum_s(),
            parts,
            read_latency_s: per_read + delays.read_one_s,
            commit_latency_s: delays.commit_one_s,
            read_queue_depth: throughput_per_s * storage_s * (1.0 - share(own_writes_s)),
            cpu_busy_share: throughput_per_s * demand.cpu_s / demand.processors_mean,
        }
    }
}

#[cfg(test)]
mod tests;
