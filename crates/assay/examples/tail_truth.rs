//! How often the intervals of response times under open arrivals hold the truth: `tail_truth FIRST
//! SEEDS SECONDS [NAME]` prints one row a queue and quantity.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

mod drawn;

use assay_judge::is_near_limit;
use assay_model::number::{count, count_of, nanoseconds, real, real_len};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::workload::{Arrival, Process, Stream, Workload};
use assay_model::{Error, Estimate, Histogram, Precision, Result};
use assay_stats::queueing::OpenQueue;
use assay_stats::random::Random;
use drawn::{Drawn, Queue, run};

/// Poisson arrivals to servers behind one queue.
struct Case {
    name: &'static str,
    servers: u32,
    law: Drawn,
    arrivals_per_s: f64,
}

const CASES: [Case; 10] = [
    case("M/M/1, load 0.5", 1, Drawn::Exponential(1.0), 500.0),
    case("M/M/1, load 0.8", 1, Drawn::Exponential(1.0), 800.0),
    case("M/M/1, load 0.9", 1, Drawn::Exponential(1.0), 900.0),
    case("M/M/1, load 0.95", 1, Drawn::Exponential(1.0), 950.0),
    case("M/D/1, load 0.85", 1, Drawn::Constant(1.0), 850.0),
    case("M/H2/1, load 0.7", 1, Drawn::Hyper(0.9, 0.5, 5.5), 700.0),
    case("M/M/7, load 0.9", 7, Drawn::Exponential(5.0), 1260.0),
    case("M/G/1 lognormal, load 0.6", 1, Drawn::LogNormal(1.0, 1.0), 600.0),
    case("M/G/4 lognormal, load 0.8", 4, Drawn::LogNormal(2.0, 1.2), 1600.0),
    case("M/G/8 one in 2,000 takes 115 ms, load 0.66", 8, Drawn::Rare(1.0, 115.0, 5e-4), 4993.0),
];

const fn case(name: &'static str, servers: u32, law: Drawn, arrivals_per_s: f64) -> Case {
    Case { name, servers, law, arrivals_per_s }
}

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// Arrivals of the simulation that is the truth where no formula does.
const ARRIVALS: f64 = 2e8;
/// The limit of the criterion that must not be kept, as a share of the truth.
const LIMIT: f64 = 0.995;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
    let (Some(first), Some(seeds), Some(duration_s)) = (number(0), number(1), number(2)) else {
        return Err(Error::usage(
            "no first seed, number of seeds or seconds",
            "tail_truth FIRST SEEDS SECONDS [NAME]",
        ));
    };
    let (first, seeds) = (count(first), count(seeds));
    let wanted = words.get(3).map_or("", String::as_str);
    println!(
        "| queue | s | quantity | runs | held % | below the truth % | above it % | no upper end % \
         | criterion {LIMIT} of the truth passed % | half-width over the oracle's |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for case in CASES.iter().filter(|case| case.name.contains(wanted)) {
        cover(case, first..first + seeds, duration_s)?;
    }
    Ok(())
}

fn cover(case: &Case, seeds: std::ops::Range<u64>, duration_s: f64) -> Result<()> {
    let mut rows: Vec<Row> = truths_ns(case).into_iter().map(Row::new).collect();
    let runs = seeds.end - seeds.start;
    for seed in seeds {
        let mut workload = workload(case, duration_s);
        workload.seed = seed;
        let (_, _, estimates) = run(index_of(case.servers), case.law, &workload)?;
        for (row, name) in rows.iter_mut().zip(names()) {
            let found = estimates.iter().find(|named| named.quantity == name);
            row.add(found.map(|named| named.estimate), duration_s);
        }
    }
    for (row, name) in rows.iter_mut().zip(names()) {
        let quantity = name.trim_start_matches("read.response_time.");
        println!("| {} | {duration_s} | {quantity} | {runs} | {} |", case.name, row.cells());
    }
    Ok(())
}

fn index_of(servers: u32) -> usize {
    assay_model::number::index_of(u64::from(servers))
}

fn names() -> impl Iterator<Item = String> {
    let quantiles = QUANTILES.iter().map(|quantile| format!("q{quantile}"));
    let statistics = std::iter::once("mean".to_owned()).chain(quantiles);
    statistics.map(|statistic| format!("read.response_time.{statistic}"))
}

fn workload(case: &Case, duration_s: f64) -> Workload {
    let mut stream = Stream::closed("io", Share(1.0), Bytes(8192), 1);
    stream.arrival = Arrival::Open {
        rate: Rate(case.arrivals_per_s),
        process: Process::Poisson,
        burst: 1,
        queue_depth_max: 4096,
        group_commit: None,
    };
    let mut workload = Workload::of("open", Nanos::from_seconds(duration_s), stream);
    workload.warm_up = Nanos::from_seconds(10.0);
    workload
}

/// The mean and the quantiles, ns: by formula where there is one, else from a long simulation of
/// its own.
fn truths_ns(case: &Case) -> Vec<f64> {
    let Drawn::Exponential(mean_ms) = case.law else {
        return simulated_ns(case);
    };
    let queue = OpenQueue {
        servers: case.servers,
        services_per_s: 1e3 / mean_ms,
        arrivals_per_s: case.arrivals_per_s,
    };
    let quantiles = QUANTILES.map(|quantile| 1e9 * queue.response_quantile_s(quantile));
    std::iter::once(1e9 * queue.mean_response_s()).chain(quantiles).collect()
}

fn simulated_ns(case: &Case) -> Vec<f64> {
    let mut queue = Queue::new(index_of(case.servers), case.law, 99);
    let mut random = Random::new(77);
    let mut times = Histogram::new(Precision::Fine);
    let mut now_s = 0.0;
    for arrival in 0..count(ARRIVALS) {
        now_s += random.exponential() / case.arrivals_per_s;
        let now_ns = nanoseconds(now_s);
        let time_ns = queue.done_ns(now_ns) - now_ns;
        if arrival >= 100_000 {
            times.record(time_ns);
        }
    }
    let quantiles = QUANTILES.map(|quantile| real(times.quantile_ns(quantile)));
    std::iter::once(times.mean_ns()).chain(quantiles).collect()
}

/// One quantity over all seeds.
struct Row {
    truth: f64,
    runs: u64,
    below: u64,
    above: u64,
    open: u64,
    passed: u64,
    values: Vec<f64>,
    halves: Vec<f64>,
}

impl Row {
    const fn new(truth: f64) -> Self {
        Self {
            truth,
            runs: 0,
            below: 0,
            above: 0,
            open: 0,
            passed: 0,
            values: Vec::new(),
            halves: Vec::new(),
        }
    }

    fn add(&mut self, estimate: Option<Estimate>, duration_s: f64) {
        let Some(estimate) = estimate else { return };
        self.runs += 1;
        self.below += u64::from(estimate.high < self.truth);
        self.above += u64::from(estimate.low > self.truth);
        let limit = LIMIT * self.truth;
        let passes = estimate.high <= limit && !is_near_limit(limit, &estimate, duration_s);
        self.passed += u64::from(passes);
        self.values.push(estimate.value);
        if estimate.is_at_least() {
            self.open += 1;
        } else {
            self.halves.push(0.5 * (estimate.high - estimate.low));
        }
    }

    /// The row's shares, and the median half-width over 1.96 standard deviations of the value from
    /// run to run.
    fn cells(&mut self) -> String {
        let percent = |part: u64| format!("{:.1}", 100.0 * real(part) / real(self.runs.max(1)));
        let shares = [
            percent(self.runs - self.below - self.above),
            percent(self.below),
            percent(self.above),
            percent(self.open),
            percent(self.passed),
        ];
        let n = real_len(self.values.len());
        let mean = self.values.iter().sum::<f64>() / n;
        let squares = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        self.halves.sort_by(f64::total_cmp);
        let half = self.halves.get(self.halves.len() / 2);
        // Fewer than one in five tell of themselves, not of the method.
        let half = half.filter(|_| 5 * count_of(self.halves.len()) >= self.runs);
        let over = half.map_or_else(
            || "–".to_owned(),
            |half| format!("{:.2}", half / (1.96 * (squares / (n - 1.0)).sqrt())),
        );
        format!("{} | {over}", shares.join(" | "))
    }
}
