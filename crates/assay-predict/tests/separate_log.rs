//! A log on a device of its own: predictions against a database that is simulated event by event,
//! by code of its own.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod made_up;

use assay_model::calibration::{Calibration, LogCalibration};
use assay_model::profile::{Figure, IoPurpose, Profile};
use assay_model::projection::{Population, ProjectedState, TargetOrigin};
use assay_predict::{ProjectionPlan, StorageSource, demand_of, project};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A database whose sessions compute, read, and commit, without thinking; times in ns.
#[derive(Clone, Copy)]
struct SimulatedDatabase {
    sessions: u32,
    processors: u32,
    cpu_ns: f64,
    reads: u32,
    flush_ns: f64,
}

/// What it did.
#[expect(clippy::struct_field_names, reason = "units stand last")]
struct SimulatedResult {
    transactions_per_s: f64,
    commit_s: f64,
    flushes_per_s: f64,
}

/// A stream of numbers below 1 (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(1_u32 << 31)
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }
}

/// What ends at a moment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DatabaseEvent {
    Computed(u32),
    Read(u32, u32),
    Flushed,
}

/// The database while it runs: a queue before the processors, reads that wait for nobody, and a log
/// that takes all commits that wait in one flush.
struct DatabaseSimulation {
    database: SimulatedDatabase,
    read_ns: f64,
    numbers: Numbers,
    now_ns: u64,
    events: BinaryHeap<Reverse<(u64, DatabaseEvent)>>,
    busy: u32,
    ready: VecDeque<u32>,
    waiting: Vec<(u32, u64)>,
    flushing: Vec<(u32, u64)>,
    transactions: u64,
    flushes: u64,
    committed_ns: u64,
}

fn whole(value: f64) -> u64 {
    assay_model::number::count(value)
}

impl DatabaseSimulation {
    fn after(&mut self, delay_ns: f64, event: DatabaseEvent) {
        self.events.push(Reverse((self.now_ns + whole(delay_ns).max(1), event)));
    }

    fn compute(&mut self, session: u32) {
        if self.busy >= self.database.processors {
            self.ready.push_back(session);
            return;
        }
        self.busy += 1;
        let cpu_ns = self.numbers.exponential(self.database.cpu_ns);
        self.after(cpu_ns, DatabaseEvent::Computed(session));
    }

    fn flush(&mut self) {
        if self.flushing.is_empty() && !self.waiting.is_empty() {
            self.flushing = std::mem::take(&mut self.waiting);
            self.flushes += 1;
            self.after(self.database.flush_ns, DatabaseEvent::Flushed);
        }
    }

    fn happen(&mut self, event: DatabaseEvent) {
        match event {
            DatabaseEvent::Computed(session) => {
                self.busy -= 1;
                if let Some(next) = self.ready.pop_front() {
                    self.compute(next);
                }
                self.after(self.read_ns, DatabaseEvent::Read(session, 1));
            }
            DatabaseEvent::Read(session, done) if done < self.database.reads => {
                self.after(self.read_ns, DatabaseEvent::Read(session, done + 1));
            }
            DatabaseEvent::Read(session, _) => {
                self.waiting.push((session, self.now_ns));
                self.flush();
            }
            DatabaseEvent::Flushed => {
                for (session, since_ns) in std::mem::take(&mut self.flushing) {
                    self.transactions += 1;
                    self.committed_ns += self.now_ns - since_ns;
                    self.compute(session);
                }
                self.flush();
            }
        }
    }
}

/// 60 simulated seconds on storage whose reads take `read_ns`.
fn simulated(database: SimulatedDatabase, read_ns: f64, seed: u64) -> SimulatedResult {
    const SECONDS: f64 = 60.0;
    let mut run = DatabaseSimulation {
        database,
        read_ns,
        numbers: Numbers(seed),
        now_ns: 0,
        events: BinaryHeap::new(),
        busy: 0,
        ready: VecDeque::new(),
        waiting: Vec::new(),
        flushing: Vec::new(),
        transactions: 0,
        flushes: 0,
        committed_ns: 0,
    };
    (0..database.sessions).for_each(|session| run.compute(session));
    while let Some(Reverse((at_ns, event))) = run.events.pop() {
        if at_ns > whole(SECONDS * 1e9) {
            break;
        }
        run.now_ns = at_ns;
        run.happen(event);
    }
    let real = assay_model::number::real;
    SimulatedResult {
        transactions_per_s: real(run.transactions) / SECONDS,
        commit_s: real(run.committed_ns) / 1e9 / real(run.transactions),
        flushes_per_s: real(run.flushes) / SECONDS,
    }
}

/// What its server would report.
fn profile(database: SimulatedDatabase, read_ns: f64, measured: &SimulatedResult) -> Profile {
    let figure = |value: f64| Some(Figure::new(value, "simulated"));
    let mut profile = made_up::profile();
    let rate = measured.transactions_per_s;
    let sessions = f64::from(database.sessions);
    let (reads, cpu_s) = (f64::from(database.reads), database.cpu_ns / 1e9);
    let response_s = sessions / rate;
    profile.sessions = figure(sessions);
    profile.rates[0].read_per_s = figure(rate * reads);
    profile.rates[0].write_per_s = figure(0.0);
    for class in &mut profile.classes {
        let is_read = class.purpose == IoPurpose::SingleBlockRead;
        class.rate_iops = figure(if is_read { rate * reads } else { measured.flushes_per_s });
        class.latency_s = figure(if is_read { read_ns } else { database.flush_ns } / 1e9);
    }
    profile.work.transactions_per_s = figure(rate);
    profile.work.commits_per_s = figure(rate);
    let time = &mut profile.time;
    (time.db_time_s, time.db_cpu_s) = (figure(100.0 * sessions), figure(100.0 * rate * cpu_s));
    (time.average_active_sessions, time.cpus) =
        (figure(sessions), figure(f64::from(database.processors)));
    time.host_busy_share = figure(rate * cpu_s / f64::from(database.processors));
    time.waits.clear();
    let share = |part_s: f64| Some(part_s / response_s);
    let verdict = &mut profile.verdict;
    let known_s = cpu_s + reads * read_ns / 1e9 + measured.commit_s;
    verdict.user_io_share = share(reads * read_ns / 1e9);
    verdict.commit_share = share(measured.commit_s);
    verdict.cpu_share = share(cpu_s);
    verdict.other_share = Some(0.0);
    verdict.unaccounted_share = share((response_s - known_s).max(0.0));
    let redo = &mut profile.redo;
    (redo.sync_latency_s, redo.syncs_per_s) = (figure(measured.commit_s), figure(rate));
    redo.write_latency_s = figure(database.flush_ns / 1e9);
    profile
}

/// The device of the log: flushes take this long alone, and three times as long during reads, which
/// its flushes hold up.
fn log_device(flush_ns: f64) -> Calibration {
    let mut device = made_up::calibration(flush_ns, 4.0);
    // A point's time is 0.7 of what it is given.
    let alone = made_up::log_point(0, flush_ns / 0.7, 0.0);
    let beside = made_up::log_point(8, 3.0 * flush_ns / 0.7, 9.0 * flush_ns);
    device.log = Some(LogCalibration { block_size_bytes: 2048, points: vec![alone, beside] });
    device
}

fn predicted(database: SimulatedDatabase, reads_ns: [f64; 2], seed: u64) -> ProjectedState {
    let before = simulated(database, reads_ns[0], seed);
    let read = demand_of(&profile(database, reads_ns[0], &before), None);
    let (data, log) = (made_up::calibration(reads_ns[1], 512.0), log_device(database.flush_ns));
    let source = StorageSource {
        name: "new".to_owned(),
        calibration: &data,
        origin: TargetOrigin::Measured,
        log: Some(&log),
    };
    let plan = ProjectionPlan { draws: 50, only_closed: true, ..ProjectionPlan::default() };
    let found = project(&read, None, &[source], &plan);
    let closed = found.targets[0]
        .state(|population| matches!(population, Population::Closed { .. }))
        .unwrap_or_else(|| panic!("{:#?}", found.objections));
    closed.clone()
}

#[test]
fn reads_of_the_data_do_not_wait_for_the_log() {
    let database =
        SimulatedDatabase { sessions: 16, processors: 8, cpu_ns: 1e6, reads: 4, flush_ns: 3e6 };
    let measured = simulated(database, 3e5, 7).transactions_per_s;
    let found = predicted(database, [1e6, 3e5], 7);
    let work = found.throughput_per_s.value;
    assert!((work / measured - 1.0).abs() < 0.08, "{work} instead of {measured}");
    assert!((found.read_latency_s.unwrap() / 3e-4 - 1.0).abs() < 0.02, "{found:?}");
}

#[test]
fn random_databases_with_a_log_of_their_own_are_predicted() {
    let mut numbers = Numbers(42);
    let mut off: Vec<f64> = Vec::new();
    for seed in 0..20 {
        let database = SimulatedDatabase {
            sessions: 2 + u32::try_from(whole(30.0 * numbers.unit())).unwrap(),
            processors: 8,
            cpu_ns: numbers.between(2e5, 2e6),
            reads: 1 + u32::try_from(whole(7.0 * numbers.unit())).unwrap(),
            flush_ns: numbers.between(5e5, 6e6),
        };
        let reads_ns = [numbers.between(5e5, 3e6), numbers.between(1e5, 1e6)];
        let measured = simulated(database, reads_ns[1], seed).transactions_per_s;
        let found = predicted(database, reads_ns, seed).throughput_per_s;
        assert!(found.covers(measured), "{found:?} instead of {measured}");
        off.push((found.value / measured - 1.0).abs());
    }
    off.sort_by(f64::total_cmp);
    assert!(off[10] < 0.04 && off[19] < 0.16, "{off:.3?}");
}
