//! How often the intervals of a calibration cover the truth on devices whose rate wanders, stalls, warms up or collapses,
//! and on well-behaved ones: `calibration_truth FIRST SEEDS [NAME]` prints one row a device and answer.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

#[path = "../tests/truth/mod.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use other parts")]
mod truth;

use assay_engine::device::DeviceSpec;
use assay_methods::{Bench, CalibrationPlan, SimulatedBench, calibrate};
use assay_model::calibration::{Bound, Calibration};
use assay_model::number::{real, real_len};
use assay_model::{Error, Estimate, Result};
use truth::{Case, Truth};

/// One answer over all seeds.
#[derive(Default)]
struct Row {
    answer: &'static str,
    n: usize,
    covered: usize,
    /// Answers off by more than 10 % whose half-width is below 5 %.
    wrong: usize,
    errors: Vec<f64>,
    halves: Vec<f64>,
    /// Half the width of an interval of one who knows the law and sees this load all the time.
    oracle: Option<f64>,
}

/// What all seeds of a device say.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    bursts: u64,
    saturated: u64,
    longest_s: f64,
}

type Open = Box<dyn Fn(u64) -> Result<Box<dyn Bench>>>;
type Oracle = Box<dyn Fn(f64) -> Option<f64>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let (Some(first), Some(seeds)) = (number(0), number(1)) else {
        return Err(Error::usage("no seeds", "calibration_truth FIRST SEEDS [NAME]"));
    };
    let name = arguments.get(2).cloned().unwrap_or_default();
    println!(
        "| device | answer | covered | bias | worst | median half-width | of an oracle's | off by 10 %, ± < 5 % | bursts | saturated | device time, s |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    for (case, open, oracle) in devices().into_iter().filter(|(case, ..)| case.name.contains(&name))
    {
        let mut found = measured(&case, &open, first, seeds)?;
        for row in &mut found.rows {
            let alone = matches!(row.answer, "base" | "stream");
            let iops =
                if alone { 1e9 / case.truth.base_service_time_ns } else { case.truth.iops_max };
            row.oracle = oracle(iops);
        }
        found.print(case.name, seeds);
    }
    Ok(())
}

/// The noisy kinds, then well-behaved ones and such that burst.
fn devices() -> Vec<(Case, Open, Oracle)> {
    let mut all: Vec<(Case, Open, Oracle)> = Vec::new();
    for kind in truth::noisy::kinds().into_iter().chain(truth::noisy::others()) {
        let (case, known) = (kind.case.clone(), kind.clone());
        let time_s = case.plan.time_budget.seconds();
        all.push((
            case,
            Box::new(move |seed| Ok(Box::new(kind.bench(seed)) as Box<dyn Bench>)),
            Box::new(move |iops| known.oracle(iops, time_s)),
        ));
    }
    let named = |name, case: Case| Case { name, ..case };
    for case in [
        named("8 exponential servers", truth::exponential(8, 1000.0, 10_000.0, 60.0)),
        named("8 constant servers", truth::constant(8, 1500.0, 5000.0, 60.0)),
        named("server and delay", truth::smooth(200.0, 1000.0, 6200.0, 60.0)),
        named("bandwidth cap", truth::link(1000.0, 60.0)),
        named("token bucket", truth::bucket(2000.0, 1700.0, 30_000.0, 60.0)),
        named("other: token bucket", truth::bucket(930.0, 2300.0, 24_000.0, 60.0)),
        named("other: write cliff", truth::cliff("4GB", 4e9, 60.0)),
        named("other: limit within the curve", truth::smooth(210.0, 1700.0, 9000.0, 60.0)),
    ] {
        let device = case.device.clone();
        let open = move |seed| {
            let spec = DeviceSpec::parse(&device)?.with_seed(seed);
            Ok(Box::new(SimulatedBench::new(&spec)) as Box<dyn Bench>)
        };
        all.push((case, Box::new(open), Box::new(|_| None)));
    }
    all
}

fn measured(case: &Case, open: &Open, first: u64, seeds: u64) -> Result<Found> {
    let mut found = Found::default();
    for seed in first..first + seeds {
        let plan = CalibrationPlan { seed, ..case.plan.clone() };
        let calibration = calibrate(open(seed)?.as_mut(), &plan, &mut |_| {})?;
        let most = &calibration.mixes[0].iops_max;
        found.bursts += u64::from(most.burst_rate.is_some());
        found.saturated += u64::from(most.bound == Bound::Saturated);
        found.longest_s = found.longest_s.max(calibration.elapsed_s);
        for (index, (answer, truth, estimate)) in
            answers(&case.truth, &calibration).into_iter().enumerate()
        {
            if found.rows.len() <= index {
                found.rows.push(Row { answer, ..Row::default() });
            }
            found.rows[index].count(truth, estimate.as_ref());
        }
    }
    Ok(found)
}

/// The answers that have a truth, with what was found.
fn answers(truth: &Truth, calibration: &Calibration) -> Vec<(&'static str, f64, Option<Estimate>)> {
    let mix = &calibration.mixes[0];
    let within = mix.iops_within_limit.map(|capacity| capacity.rate);
    let throughput = mix.throughput_max_bytes_per_s.map(|capacity| capacity.rate);
    let all = [
        ("base", Some(truth.base_service_time_ns), Some(mix.base_service_time_ns)),
        ("most IOPS", Some(truth.iops_max), Some(mix.iops_max.rate)),
        ("IOPS within limit", truth.iops_within, within),
        ("throughput", truth.throughput_max, throughput),
        ("stream", truth.single_stream, mix.single_stream_bytes_per_s),
        ("burst", truth.iops_burst, mix.iops_max.burst_rate),
    ];
    let known = |(answer, truth, found): (_, Option<f64>, _)| {
        truth.filter(|truth| truth.is_finite()).map(|truth| (answer, truth, found))
    };
    all.into_iter().filter_map(known).collect()
}

impl Row {
    fn count(&mut self, truth: f64, found: Option<&Estimate>) {
        self.n += 1;
        let Some(found) = found else {
            return;
        };
        let (error, half) = (found.value / truth - 1.0, found.relative_half_width());
        self.covered += usize::from(found.covers(truth));
        self.wrong += usize::from(error.abs() > 0.1 && half < 0.05);
        self.errors.push(error);
        self.halves.push(half);
    }
}

impl Found {
    fn print(&mut self, device: &str, seeds: u64) {
        for row in &mut self.rows {
            row.halves.sort_by(f64::total_cmp);
            let n = row.errors.len().max(1);
            let bias = row.errors.iter().sum::<f64>() / real_len(n);
            let worst = row.errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
            let half = row.halves.get(n / 2).copied().unwrap_or(0.0);
            println!(
                "| {device} | {} | {}/{} | {:+.2} % | {:+.1} % | {:.2} % | {} | {} | {}/{seeds} | {:.0} % | {:.1} |",
                row.answer,
                row.covered,
                row.n,
                100.0 * bias,
                100.0 * worst.unwrap_or(0.0),
                100.0 * half,
                row.oracle.map_or_else(|| "–".to_owned(), |oracle| format!("{:.1}", half / oracle)),
                row.wrong,
                self.bursts,
                100.0 * real(self.saturated) / real(seeds.max(1)),
                self.longest_s,
            );
        }
    }
}
