//! Predictions of simulated hosts on simulated arrays, compared with the truth, which is simulated,
//! too: a profile is taken on array A, array B is calibrated, and the same host runs on B.
//! `prediction_truth PAIRS [SEED] [--each]` prints the errors.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

use assay_arrays::{ArraySpec, profile, run_host};
use assay_methods::target::SimulatedDevice;
use assay_methods::{
    CalibrationMix, CalibrationPlan, LogPlan, SimulatedBench, calibrate, calibrate_log,
};
use assay_model::array::{SessionLoad, parse_array};
use assay_model::calibration::Calibration;
use assay_model::number::{count, real_len};
use assay_model::projection::{Effect, Population, ProjectionAnswer, TargetOrigin};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Error, Profile, Result};
use assay_predict::{PredictedDemand, ProjectionPlan, StorageSource, demand_of, project};
use assay_stats::random::Random;

const BLOCK: Bytes = Bytes(8192);
const ACTIVE: Bytes = Bytes(16 << 30);

/// One pair with its answer.
struct Outcome {
    what: String,
    answer: ProjectionAnswer,
    error: f64,
    is_covered: bool,
    /// The calibration did not reach as far as the database asks: the answer is what it does at
    /// least.
    is_least: bool,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| words.get(place).and_then(|text| text.parse::<u64>().ok());
    let pairs = number(0).ok_or_else(|| {
        Error::usage("no number of pairs", "prediction_truth PAIRS [SEED] [--each]")
    })?;
    let seed = number(1).unwrap_or(1);
    let each = words.iter().any(|word| word == "--each");
    let mut outcomes = Vec::new();
    for pair in 0..pairs {
        let outcome = predicted(&mut Random::part(seed, pair))?;
        if each {
            let (answer, error) = (outcome.answer, 100.0 * outcome.error);
            println!("{answer:?} {error:+6.1}% {} {}", outcome.is_covered, outcome.what);
        }
        outcomes.push(outcome);
    }
    summarize(&outcomes);
    Ok(())
}

fn summarize(all: &[Outcome]) {
    let is_answered = |outcome: &&Outcome| outcome.answer == ProjectionAnswer::Answered;
    let least = all.iter().filter(is_answered).filter(|outcome| outcome.is_least);
    let (least, held): (Vec<&Outcome>, Vec<&Outcome>) = least.partition(|one| !one.is_covered);
    println!("at least: {} kept, {} not covered", held.len(), least.len());
    let answered: Vec<&Outcome> =
        all.iter().filter(is_answered).filter(|outcome| !outcome.is_least).collect();
    let mut errors: Vec<f64> = answered.iter().map(|outcome| outcome.error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    let n = errors.len();
    if n == 0 {
        println!("{} pairs, none answered", all.len());
        return;
    }
    let share = |held: usize| 100.0 * real_len(held) / real_len(n);
    let within = errors.iter().filter(|error| **error <= 0.15).count();
    let covered = answered.iter().filter(|outcome| outcome.is_covered).count();
    let bias = answered.iter().map(|outcome| outcome.error).sum::<f64>() / real_len(n);
    println!(
        "{} pairs, {n} answered: median error {:.1}%, 95% of errors below {:.1}%, worst {:.1}%, \
         within 15%: {:.1}%, covered {:.1}%, mean {:+.1}%",
        all.len(),
        100.0 * errors[n / 2],
        100.0 * errors[(95 * n / 100).min(n - 1)],
        100.0 * errors[n - 1],
        share(within),
        share(covered),
        100.0 * bias
    );
}

fn predicted(random: &mut Random) -> Result<Outcome> {
    let load = session_load(random);
    let (before, after) = (array(random)?, array(random)?);
    let times = (6_000_000_000, 2_000_000_000);
    let on = |device: &SimulatedDevice, seed: u64| -> Option<Profile> {
        let SimulatedDevice::Array(spec) = device else { return None };
        let run = run_host(&load, &mut *spec.build(), times.0, times.1, seed);
        Some(profile(&run, &load, &spec.model.name))
    };
    let (Some(measured), Some(truth)) = (on(&before, 1), on(&after, 2)) else {
        return Err(Error::usage("no array", "both are arrays"));
    };
    let read = demand_of(&measured, None);
    let calibration = calibrated(&after, &read.demand)?;
    let source = StorageSource {
        name: "after".to_owned(),
        calibration: &calibration,
        origin: TargetOrigin::Simulated,
        log: None,
    };
    let sessions = f64::from(load.sessions);
    let plan = ProjectionPlan {
        sessions: Some(sessions),
        only_closed: true,
        write_queue_depth: Some(f64::from(load.writer_depth)),
        draws: 100,
        ..ProjectionPlan::default()
    };
    let projection = project(&read, None, &[source], &plan);
    let target = &projection.targets[0];
    // Few statements are counted in so short a run, and many reads: both are work.
    let demand = &read.demand;
    let reads_per_s = |demand: &PredictedDemand| demand.throughput_per_s * demand.reads_mean;
    let per_s = reads_per_s(&demand_of(&truth, None).demand) / demand.reads_mean;
    let closed = target.state(|population| matches!(population, Population::Closed { .. }));
    let estimate = closed.map(|state| state.throughput_per_s);
    Ok(Outcome {
        what: format!(
            "sessions {} cpus {} updates {:.2} commits wait {} cpu {:.3} ms reads {:.3} ms, then \
             {:.3}, predicted {:.3}, writes/read {:.2} {:?}",
            load.sessions,
            load.cpus,
            load.update_share.0,
            load.commit_waits,
            1e3 * demand.cpu_s,
            1e3 * demand.read_latency_s,
            1e3 * demand_of(&truth, None).demand.read_latency_s,
            closed.and_then(|state| state.read_latency_s).map_or(0.0, |latency_s| 1e3 * latency_s),
            demand.writes_mean / demand.reads_mean.max(1e-9),
            target.objections.iter().map(|one| one.kind).collect::<Vec<_>>(),
        ),
        answer: target.answer,
        is_least: target.objections.iter().any(|one| one.effect == Effect::AtLeast),
        error: estimate.map_or(f64::NAN, |estimate| estimate.value / per_s - 1.0),
        is_covered: estimate.is_some_and(|estimate| estimate.covers(per_s)),
    })
}

/// A number between two, equal ratios equally likely.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.unit())
}

fn whole(random: &mut Random, low: f64, high: f64) -> u32 {
    u32::try_from(count(between(random, low, high))).unwrap_or(1)
}

fn session_load(random: &mut Random) -> SessionLoad {
    let update_share = if random.chance(0.3) { 0.0 } else { random.unit() };
    SessionLoad {
        sessions: whole(random, 1.0, 400.0),
        hosts: 1,
        cpus: whole(random, 2.0, 64.0),
        cpu_per_read: Nanos(count(between(random, 3e4, 1e6))),
        cluster_wait: Nanos(0),
        update_share: Share(update_share),
        logical_reads_mean: between(random, 2.0, 10.0),
        cache_hits: Share(0.2 + 0.7 * random.unit()),
        block_changes_mean: 4.0,
        dirty_blocks_mean: 0.2 + 2.0 * random.unit(),
        dirty_max: whole(random, 300.0, 3000.0),
        writer_depth: 64,
        redo: Bytes(3072),
        commit_waits: random.chance(0.5),
        log_pause: Nanos(count(3e5 * random.unit())),
        log_copies: 1,
        block: BLOCK,
        active: ACTIVE,
    }
}

fn array(random: &mut Random) -> Result<SimulatedDevice> {
    let us = |random: &mut Random, low: f64, high: f64| count(between(random, low, high));
    let text = format!(
        r#"
format = 1
name = "drawn"
title = "drawn"
source = "drawn"
capacity = "32GiB"
[[part]]
[part.path]
latency = "{}us"
[[part]]
[part.controller]
nodes = 2
cores = {}
read = "{}us"
write = "{}us"
spread = "half"
scaling_loss_share = 0.0
[[part]]
[part.flash]
dies = {}
read = "{}us"
program = "{}us"
spread = "half"
page = "8KiB"
buffer = "4MiB"
buffered_write = "{}us"
"#,
        us(random, 20.0, 400.0),
        us(random, 2.0, 16.0),
        us(random, 20.0, 200.0),
        us(random, 30.0, 300.0),
        us(random, 8.0, 160.0),
        us(random, 100.0, 3000.0),
        us(random, 300.0, 3000.0),
        us(random, 100.0, 1500.0),
    );
    Ok(SimulatedDevice::Array(ArraySpec::new(parse_array(&text)?)))
}

/// As `predict` calibrates a simulated target, in less time.
fn calibrated(device: &SimulatedDevice, demand: &PredictedDemand) -> Result<Calibration> {
    let share = (100.0 * demand.read_share()).round() / 100.0;
    let mut mixes = vec![CalibrationMix::of(1.0)];
    if demand.writes_mean > 0.0 {
        mixes.push(CalibrationMix::of(0.0));
        mixes.push(CalibrationMix::of(share.clamp(0.01, 0.99)));
    }
    let plan = CalibrationPlan {
        mixes,
        block_size: BLOCK,
        time_budget: Nanos(12_000_000_000),
        queue_depth_max: 512,
        ..CalibrationPlan::default()
    };
    let mut calibration = calibrate(&mut SimulatedBench::of(device), &plan, &mut |_| {})?;
    if demand.commits_mean > 0.0 {
        let most = calibration.mixes.last().map_or(8, |mix| mix.iops_max.queue_depth).max(4);
        let log = LogPlan {
            append: Bytes(4096),
            block_size: BLOCK,
            read_share: share,
            queue_depth: vec![0, most / 4, most],
            time: Nanos(500_000_000),
            seed: 1,
        };
        calibration.log = calibrate_log(&mut SimulatedBench::of(device), &log)?;
    }
    Ok(calibration)
}
