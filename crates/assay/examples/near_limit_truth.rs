//! How often a run decides wrongly near its limit under noise that lasts for seconds and rare long
//! services: `near_limit_truth FIRST SEEDS [NAME]` prints a row a kind of device, quantity and
//! distance.
//!
//! Each run of 60 s is judged by its intervals, and each run that is planned for 100 s may end at
//! the look at which it is certain.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

#[allow(dead_code, reason = "shared with other examples, which use other parts")]
mod drawn;

use assay_engine::device::{DeviceLaw, LawPipeline};
use assay_engine::{Observer, Simulation};
use assay_judge::{CriteriaRules, EarlyWatch, JudgedRun, SeriesBuilder};
use assay_judge::{estimates_of_run, is_near_limit};
use assay_model::measurement::{ClockKind, Interval, Window};
use assay_model::number::{nanoseconds, real};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::verdict::{NamedEstimate, Outcome, parse_criteria};
use assay_model::workload::{Arrival, Process, Stream, Workload};
use assay_model::{Error, Estimate, Histogram, Precision, Result};
use assay_stats::random::Random;
use drawn::{Drawn, Queue};
use std::ops::ControlFlow;

/// The whole run, and the one that may end at a look, s.
const WHOLE_S: f64 = 60.0;
const PLANNED_S: f64 = 100.0;
/// The limit over the truth. Times below 1 and rates above 1 must not pass.
const LIMITS: [f64; 6] = [0.95, 0.98, 0.995, 1.005, 1.02, 1.05];
/// I/Os of the simulation that is the truth.
const TRUTH_IOS: u64 = 60_000_000;
const QUANTILES: [f64; 3] = [0.9, 0.99, 0.999];

/// Servers behind one queue, and how I/Os arrive.
#[derive(Clone, Copy, Debug)]
struct Case {
    name: &'static str,
    servers: usize,
    law: Drawn,
    load: Load,
}

#[derive(Clone, Copy, Debug)]
enum Load {
    /// I/Os that are always outstanding.
    Closed(u32),
    /// Poisson arrivals a second.
    Open(f64),
}

fn cases() -> Vec<Case> {
    let memory = |seconds: f64| (-1.0 / seconds).exp();
    let slow = Drawn::Wander(10.0, 0.04, memory(14.0));
    let two = Drawn::TwoWanders(10.0, 0.03, [memory(1.0), memory(10.0)]);
    let rare = Drawn::Rare(1.0, 115.0, 5e-4);
    let case = |name, servers, law, load| Case { name, servers, law, load };
    vec![
        case("4%, memory 14 s, closed", 10, slow, Load::Closed(10)),
        case("4%, memory 14 s, open 0.79", 10, slow, Load::Open(790.0)),
        case("3% 1 s and 3% 10 s, open 0.8", 10, two, Load::Open(800.0)),
        case("one in 2,000 takes 115 ms, open 0.66", 8, rare, Load::Open(4993.0)),
        case("one in 2,000 takes 115 ms, closed", 8, rare, Load::Closed(8)),
    ]
}

/// A quantity, its truth, and what runs came to at each limit.
struct Row {
    name: String,
    is_rate: bool,
    truth: f64,
    runs: u64,
    covered: u64,
    open: u64,
    whole: [Tally; LIMITS.len()],
    early: [Tally; LIMITS.len()],
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
}

impl Tally {
    fn add(&mut self, outcome: Outcome) {
        self.passed += u64::from(outcome == Outcome::Pass);
        self.failed += u64::from(outcome == Outcome::Fail);
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(first), Some(seeds)) = (number(0), number(1)) else {
        let hint = "near_limit_truth FIRST SEEDS [NAME]";
        return Err(Error::usage("no first seed or number of seeds", hint));
    };
    let wanted = words.get(2).map_or("", String::as_str);
    let limits = LIMITS.map(|limit| format!("{limit}")).join(" | ");
    println!(
        "| device | quantity | runs | held % | no upper end % \
         | wrong %, limit over truth: {limits} |"
    );
    println!("|---|---|---|---|---|{}", "---|".repeat(LIMITS.len()));
    for case in cases().iter().filter(|case| case.name.contains(wanted)) {
        for row in &rows(case, first, seeds)? {
            print(case, row);
        }
    }
    Ok(())
}

/// Wrong decisions of the whole run, of the early one, and right decisions of both.
fn print(case: &Case, row: &Row) {
    let percent = |part: u64| format!("{:.1}", 100.0 * real(part) / real(row.runs.max(1)));
    let cell = |at: usize| {
        let must_pass = (LIMITS[at] > 1.0) != row.is_rate;
        let pair = |tally: Tally| {
            let (passed, failed) = (percent(tally.passed), percent(tally.failed));
            if must_pass { (failed, passed) } else { (passed, failed) }
        };
        let ((wrong, right), (wrong_early, right_early)) =
            (pair(row.whole[at]), pair(row.early[at]));
        format!("{wrong}, {wrong_early} ({right}, {right_early})")
    };
    let cells: Vec<String> = (0..LIMITS.len()).map(cell).collect();
    println!(
        "| {} | {} | {} | {} | {} | {} |",
        case.name,
        row.name,
        row.runs,
        percent(row.covered),
        percent(row.open),
        cells.join(" | ")
    );
}

fn rows(case: &Case, first: u64, seeds: u64) -> Result<Vec<Row>> {
    let mut rows = truths(case);
    for seed in first..first + seeds {
        let whole = run(case, seed, WHOLE_S, &[])?;
        let watches: Vec<Vec<EarlyWatch>> =
            rows.iter().map(|row| watches(case, row, seed)).collect::<Result<_>>()?;
        let early = run(case, seed + 1_000_000, PLANNED_S, &watches)?;
        for (at, row) in rows.iter_mut().enumerate() {
            add(row, &whole, &early, early.decided.get(at).map_or(&[][..], Vec::as_slice));
        }
    }
    Ok(rows)
}

fn add(row: &mut Row, whole: &Ended, early: &Ended, decided: &[Option<Outcome>]) {
    row.runs += 1;
    if let Some(found) = find(row, &whole.estimates) {
        row.covered += u64::from(found.low <= row.truth && row.truth <= found.high);
        row.open += u64::from(found.is_at_least());
    }
    for (at, limit) in LIMITS.into_iter().enumerate() {
        let limit = limit * row.truth;
        let by_interval = |ended: &Ended, elapsed_s: f64| match find(row, &ended.estimates) {
            Some(found) => judged(row.is_rate, limit, &found, elapsed_s),
            None => Outcome::Inconclusive,
        };
        let whole_outcome = by_interval(whole, WHOLE_S);
        let at_end = by_interval(early, PLANNED_S);
        row.whole[at].add(whole_outcome);
        row.early[at].add(decided.get(at).copied().flatten().unwrap_or(at_end));
    }
}

fn find(row: &Row, estimates: &[NamedEstimate]) -> Option<Estimate> {
    let found = estimates.iter().find(|one| one.quantity == row.name && one.subject.is_none());
    found.map(|one| one.estimate)
}

/// By the interval, as a verdict does that has no doubts.
fn judged(is_rate: bool, limit: f64, found: &Estimate, elapsed_s: f64) -> Outcome {
    if is_near_limit(limit, found, elapsed_s) {
        return Outcome::Inconclusive;
    }
    let (above, below) = (found.low > limit, found.high < limit);
    match (above, below, is_rate) {
        (true, _, true) | (_, true, false) => Outcome::Pass,
        (true, _, false) | (_, true, true) => Outcome::Fail,
        _ => Outcome::Inconclusive,
    }
}

/// What one run came to.
struct Ended {
    estimates: Vec<NamedEstimate>,
    /// For each quantity and limit, where a look decided.
    decided: Vec<Vec<Option<Outcome>>>,
}

struct Watched {
    watches: Vec<Vec<EarlyWatch>>,
    series: SeriesBuilder,
}

impl Observer for Watched {
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()> {
        self.series.add(interval);
        self.series.add_joint(joint);
        for watch in self.watches.iter_mut().flatten() {
            watch.add(interval, joint);
        }
        ControlFlow::Continue(())
    }
}

fn run(case: &Case, seed: u64, duration_s: f64, watches: &[Vec<EarlyWatch>]) -> Result<Ended> {
    let queue: Box<dyn DeviceLaw> = Box::new(Queue::new(case.servers, case.law, seed));
    let mut simulation = Simulation::new(Box::new(LawPipeline::new(vec![queue])), 1 << 40);
    let mut watched = Watched { watches: watches.to_vec(), series: SeriesBuilder::new() };
    let measurement = simulation.run(&workload(case, seed, duration_s), &mut watched)?;
    let series = watched.series.finish();
    let estimates = estimates_of_run(JudgedRun { measurement: &measurement, series: &series });
    let outcome = |watch: &EarlyWatch| watch.decided().map(|end| end.outcome);
    let decided = watched.watches.iter().map(|row| row.iter().map(outcome).collect()).collect();
    Ok(Ended { estimates, decided })
}

fn watches(case: &Case, row: &Row, seed: u64) -> Result<Vec<EarlyWatch>> {
    let workload = workload(case, seed, PLANNED_S);
    let watch = |limit: &f64| {
        let limit = limit * row.truth;
        let side = if row.is_rate {
            format!("at_least = \"{limit}/s\"")
        } else {
            format!("at_most = \"{limit:.0}ns\"")
        };
        let name = &row.name;
        let text =
            format!("format = 1\nname = \"truth\"\n[[criterion]]\nquantity = \"{name}\"\n{side}\n");
        let rules = CriteriaRules::check(&parse_criteria(&text)?)?;
        EarlyWatch::new(&rules, &workload, None, ClockKind::Virtual)
            .ok_or_else(|| Error::usage("the run is too short for a look", "plan a longer one"))
    };
    LIMITS.iter().map(watch).collect()
}

fn workload(case: &Case, seed: u64, duration_s: f64) -> Workload {
    let mut stream = Stream::closed("io", Share(1.0), Bytes(8192), 1);
    match case.load {
        Load::Closed(outstanding) => {
            stream = Stream::closed("io", Share(1.0), Bytes(8192), outstanding);
        }
        Load::Open(arrivals_per_s) => {
            stream.arrival = Arrival::Open {
                rate: Rate(arrivals_per_s),
                process: Process::Poisson,
                burst: 1,
                queue_depth_max: 4096,
                group_commit: None,
            };
        }
    }
    let mut workload = Workload::of("near", Nanos::from_seconds(duration_s), stream);
    workload.warm_up = Nanos::from_seconds(10.0);
    workload.seed = seed;
    workload
}

/// Rate, mean and quantiles from a long simulation of its own.
fn truths(case: &Case) -> Vec<Row> {
    let mut queue = Queue::new(case.servers, case.law, 99);
    let mut random = Random::new(77);
    let mut times = Histogram::new(Precision::Fine);
    let (mut arrival_s, mut last_ns) = (0.0, 0);
    // When each I/O that is outstanding will be done; a closed load sends the next one then.
    let mut free = std::collections::BinaryHeap::new();
    for number in 0..TRUTH_IOS {
        let now_ns = match case.load {
            Load::Open(arrivals_per_s) => {
                arrival_s += random.exponential() / arrivals_per_s;
                nanoseconds(arrival_s)
            }
            Load::Closed(outstanding) if number < u64::from(outstanding) => 0,
            Load::Closed(_) => free.pop().map_or(0, |std::cmp::Reverse(done_ns)| done_ns),
        };
        let done_ns = queue.done_ns(now_ns);
        if matches!(case.load, Load::Closed(_)) {
            free.push(std::cmp::Reverse(done_ns));
        }
        if number >= 100_000 {
            times.record(done_ns - now_ns);
        }
        last_ns = done_ns;
    }
    let kind = if matches!(case.load, Load::Open(_)) { "response_time" } else { "service_time" };
    let row = |name: String, is_rate, truth| Row {
        name,
        is_rate,
        truth,
        runs: 0,
        covered: 0,
        open: 0,
        whole: [Tally::default(); LIMITS.len()],
        early: [Tally::default(); LIMITS.len()],
    };
    let mut rows = vec![row(format!("read.{kind}.mean"), false, times.mean_ns())];
    if matches!(case.load, Load::Closed(_)) {
        let rate = 1e9 * real(TRUTH_IOS) / real(last_ns);
        rows.insert(0, row("iops".to_owned(), true, rate));
    }
    rows.extend(QUANTILES.iter().map(|quantile| {
        let truth = real(times.quantile_ns(*quantile));
        row(format!("read.{kind}.q{quantile}"), false, truth)
    }));
    rows
}
