//! How soon and how often wrongly a run with a criterion is decided: `early_truth FIRST SEEDS
//! DEVICES` prints a row a kind of device and a truth, `SEEDS` runs each, and then the times of
//! `DEVICES` devices whose kind and truth are drawn.
//!
//! Every device has four servers with four outstanding I/Os and 500 IOPS in the long run; the limit
//! is the long-run truth over a factor. Loads are planned for 100 s.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

#[allow(dead_code, reason = "shared with other examples, which use other parts")]
mod drawn;

use assay_engine::device::{DeviceIo, DeviceLaw, LawPipeline};
use assay_engine::{Observer, Simulation};
use assay_judge::{CriteriaRules, EarlyWatch, Facts, JudgedRun, SeriesBuilder};
use assay_model::measurement::{ClockKind, Interval, Window};
use assay_model::number::{count, real, real_len, seconds};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::verdict::{Outcome, parse_criteria};
use assay_model::workload::{Stream, Workload};
use assay_model::{Error, Result};
use assay_stats::random::Random;
use drawn::{Drawn, Queue};
use std::ops::ControlFlow;

/// Mean service time of one I/O in the long run, ms, and the IOPS of four servers.
const SERVICE_MS: f64 = 8.0;
const IOPS: f64 = 500.0;
const PLANNED_S: f64 = 100.0;
/// The long-run truth over the limit, above 1 where the storage is good enough.
const TRUTHS: [f64; 7] = [0.5, 0.9, 0.995, 1.005, 1.1, 2.0, 10.0];

/// A start that differs from the long run.
#[derive(Clone, Copy, Debug)]
struct Start {
    until_s: f64,
    /// Its service time over that of the long run.
    slower: f64,
}

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Judged {
    Rate,
    /// p99, whose truth is this many ms.
    Tail(f64),
}

/// A kind of device.
#[derive(Clone, Copy, Debug)]
struct Kind {
    name: &'static str,
    law: Drawn,
    start: Option<Start>,
    judged: Judged,
}

fn rate(name: &'static str, law: Drawn) -> Kind {
    Kind { name, law, start: None, judged: Judged::Rate }
}

fn started(name: &'static str, until_s: f64, slower: f64) -> Kind {
    let start = Some(Start { until_s, slower });
    Kind { start, ..rate(name, Drawn::Exponential(SERVICE_MS)) }
}

/// The mean rate of lognormal levels is e^(s²/2) times that of the median level.
fn wander(name: &'static str, spread: f64, memory: f64) -> Kind {
    let mean_ms = SERVICE_MS * (0.5 * spread * spread).exp();
    rate(name, Drawn::Wander(mean_ms, spread, memory))
}

/// Levels of 1 and 0.6 of the higher rate, as long as each other; the mean of the rates is 0.8.
fn regimes(name: &'static str, stay_s: f64) -> Kind {
    let means = [0.8 * SERVICE_MS, 0.8 * SERVICE_MS / 0.6];
    rate(name, Drawn::Regimes(means, [stay_s, stay_s]))
}

fn kinds() -> Vec<Kind> {
    let spread: f64 = 0.5;
    // The 99% quantiles of the two laws.
    let lognormal_ms = SERVICE_MS * (2.326_348 * spread - 0.5 * spread * spread).exp();
    let tail = |name, law, p99_ms| Kind { judged: Judged::Tail(p99_ms), ..rate(name, law) };
    vec![
        rate("rate: exponential", Drawn::Exponential(SERVICE_MS)),
        wander("rate: 10%, φ 0.3", 0.1, 0.3),
        wander("rate: 10%, φ 0.6", 0.1, 0.6),
        wander("rate: 10%, φ 0.9", 0.1, 0.9),
        regimes("rate: regimes of 2 s", 2.0),
        regimes("rate: regimes of 8 s", 8.0),
        started("rate: cold for 10 s", 10.0, 4.0),
        started("rate: 3 times for 15 s", 15.0, 1.0 / 3.0),
        started("rate: 3 times for 60 s", 60.0, 1.0 / 3.0),
        tail("p99: exponential", Drawn::Exponential(SERVICE_MS), SERVICE_MS * 100f64.ln()),
        tail("p99: lognormal 0.5", Drawn::LogNormal(SERVICE_MS, spread), lognormal_ms),
    ]
}

/// A device that starts otherwise than it goes on.
#[derive(Debug)]
struct Device {
    start: Option<(f64, Queue)>,
    lasting: Queue,
}

impl DeviceLaw for Device {
    fn completion_ns(&mut self, now_ns: u64, _io: &DeviceIo) -> u64 {
        match &mut self.start {
            Some((until_s, queue)) if seconds(now_ns) < *until_s => queue.done_ns(now_ns),
            _ => self.lasting.done_ns(now_ns),
        }
    }
}

/// Ends at the look that decides.
struct Watched {
    watch: Option<EarlyWatch>,
    series: SeriesBuilder,
}

impl Observer for Watched {
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()> {
        self.series.add(interval);
        self.series.add_joint(joint);
        let Some(watch) = &mut self.watch else { return ControlFlow::Continue(()) };
        watch.add(interval, joint);
        match watch.decided() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// What a run came to, and after how many seconds.
struct Ended {
    outcome: Outcome,
    after_s: f64,
}

/// A run with a limit at the truth over `truth`; `is_early` lets it end at a look.
fn run(kind: &Kind, truth: f64, seed: u64, is_early: bool) -> Result<Ended> {
    let rules = rules(kind, truth)?;
    let stream = Stream::closed("io", Share(1.0), Bytes(8192), 4);
    let mut workload = Workload::of("run", Nanos::from_seconds(PLANNED_S), stream);
    workload.seed = seed;
    let start = kind.start.map(|start| {
        let law = Drawn::Exponential(SERVICE_MS * start.slower);
        (start.until_s, Queue::new(4, law, seed + 1))
    });
    let device = Device { start, lasting: Queue::new(4, kind.law, seed) };
    let pipeline = LawPipeline::new(vec![Box::new(device) as Box<dyn DeviceLaw>]);
    let mut simulation = Simulation::new(Box::new(pipeline), 1 << 40);
    let watch = EarlyWatch::new(&rules, &workload, None, ClockKind::Virtual);
    let watch = watch.filter(|_| is_early);
    let mut watched = Watched { watch, series: SeriesBuilder::new() };
    let measurement = simulation.run(&workload, &mut watched)?;
    let series = watched.series.finish();
    let verdict = rules.judge(&Facts {
        calibration: None,
        run: Some(JudgedRun { measurement: &measurement, series: &series }),
        load: None,
        dss: None,
        integrity: None,
        given: &[],
        environment: None,
        doubts: &[],
    });
    Ok(Ended { outcome: verdict.outcome, after_s: measurement.elapsed_s() })
}

fn rules(kind: &Kind, truth: f64) -> Result<CriteriaRules> {
    let limit = match kind.judged {
        Judged::Rate => format!("quantity = \"iops\"\nat_least = \"{}/s\"", IOPS / truth),
        Judged::Tail(p99_ms) => format!(
            "quantity = \"read.service_time.q0.99\"\nat_most = \"{:.0}ns\"",
            1e6 * p99_ms * truth
        ),
    };
    let text = format!("format = 1\nname = \"truth\"\n[[criterion]]\n{limit}\n");
    CriteriaRules::check(&parse_criteria(&text)?)
}

/// Outcomes of many runs of one truth.
#[derive(Default)]
struct Tally {
    runs: usize,
    wrong: usize,
    undecided: usize,
    times_s: Vec<f64>,
}

impl Tally {
    fn add(&mut self, ended: &Ended, truth: f64) {
        let right = if truth > 1.0 { Outcome::Pass } else { Outcome::Fail };
        self.runs += 1;
        let is_undecided = ended.outcome == Outcome::Inconclusive;
        self.undecided += usize::from(is_undecided);
        self.wrong += usize::from(!is_undecided && ended.outcome != right);
        self.times_s.push(if is_undecided { f64::INFINITY } else { ended.after_s });
    }

    /// The time within which this share of the runs is decided, s; – where it is not.
    fn time(&self, share: f64) -> String {
        let mut times_s = self.times_s.clone();
        times_s.sort_by(f64::total_cmp);
        let at = assay_model::number::index(share * real_len(times_s.len()));
        match times_s.get(at) {
            Some(time_s) if time_s.is_finite() => format!("{time_s:.0}"),
            _ => "–".to_owned(),
        }
    }

    fn percent(&self, some: usize) -> f64 {
        100.0 * real_len(some) / real_len(self.runs.max(1))
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(first), Some(seeds), Some(devices)) = (number(0), number(1), number(2)) else {
        return Err(Error::usage("no seed or numbers", "early_truth FIRST SEEDS DEVICES"));
    };
    println!("| device | truth / limit | runs | wrong % | undecided % | s: 10/50/90% of runs |");
    println!("|---|---|---|---|---|---|");
    for kind in kinds() {
        for truth in TRUTHS {
            row(&kind, truth, first..first + seeds)?;
        }
    }
    drawn_devices(first, devices)
}

fn row(kind: &Kind, truth: f64, seeds: std::ops::Range<u64>) -> Result<()> {
    let mut tally = Tally::default();
    for seed in seeds {
        tally.add(&run(kind, truth, 7 * seed, true)?, truth);
    }
    let [fast, middle, slow] = [0.1, 0.5, 0.9].map(|share| tally.time(share));
    println!(
        "| {} | {truth} | {} | {:.1} | {:.1} | {fast}/{middle}/{slow} |",
        kind.name,
        tally.runs,
        tally.percent(tally.wrong),
        tally.percent(tally.undecided),
    );
    Ok(())
}

/// Devices whose kind is drawn and whose truth over the limit is log-uniform from a third to three;
/// the reserve of 60 s, which no test of 100 s shows at a look, is left out.
fn drawn_devices(first: u64, devices: u64) -> Result<()> {
    let kinds: Vec<Kind> = kinds()
        .into_iter()
        .filter(|kind| kind.start.is_none_or(|one| one.until_s < 60.0))
        .collect();
    println!("\n| {devices} devices | wrong | undecided | s: 10/25/50/75/90% of devices |");
    println!("|---|---|---|---|");
    for is_early in [true, false] {
        let mut tally = Tally::default();
        for device in 0..devices {
            let mut random = Random::part(first, device);
            let kind = kinds[assay_model::number::index(real(random.below(real_u64(&kinds))))];
            let truth = (3f64.ln() * (2.0 * random.unit() - 1.0)).exp();
            tally.add(&run(&kind, truth, first + 7 * device, is_early)?, truth);
        }
        let name = if is_early { "with looks" } else { "whole time" };
        let times = [0.1, 0.25, 0.5, 0.75, 0.9].map(|share| tally.time(share)).join("/");
        println!("| {name} | {} | {} | {times} |", tally.wrong, tally.undecided);
    }
    Ok(())
}

fn real_u64(kinds: &[Kind]) -> u64 {
    count(real_len(kinds.len()))
}
