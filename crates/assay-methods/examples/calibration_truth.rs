//! How often the intervals of a calibration cover the truth: `calibration_truth drawn|known FIRST
//! SEEDS [NAME] [each]` prints one row a device and answer. `drawn` devices have parameters of
//! their own for every seed, `known` ones are those of the tests; with `each` every answer has a
//! line, too.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example's output is its purpose")]

#[path = "../tests/truth/mod.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use other parts")]
mod truth;

use assay_engine::device::DeviceSpec;
use assay_methods::{CalibrationPlan, SimulatedBench, calibrate};
use assay_model::calibration::{Calibration, CapacityBound};
use assay_model::number::{real, real_len};
use assay_model::{Error, Estimate, Result};
use truth::drawn::{Between, Drawn, KINDS};
use truth::{Case, Truth};

/// A half-width above this share is called wide.
const WIDE: f64 = 0.1;

/// A wide interval is an answer up to this number of half-widths of one who knows the law and sees
/// this load all the time.
const WIDEST: f64 = 3.0;

/// One answer over all seeds.
#[derive(Default)]
struct Row {
    answer: &'static str,
    n: usize,
    withheld: usize,
    covered: usize,
    /// Answers off by more than 10% whose half-width is below 5%.
    wrong: usize,
    /// Wide intervals beyond what an oracle's allows.
    too_wide: usize,
    errors: Vec<f64>,
    halves: Vec<f64>,
    /// Half-widths over those of an oracle.
    of_oracle: Vec<f64>,
}

/// What all seeds of a device say.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    bursts: u64,
    saturated: u64,
    longest_s: f64,
}

type Open = Box<dyn Fn(u64) -> Drawn>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let devices = match arguments.first().map(String::as_str) {
        Some("drawn") => drawn(),
        Some("known") => known(),
        _ => Vec::new(),
    };
    let (Some(first), Some(seeds), false) = (number(1), number(2), devices.is_empty()) else {
        return Err(Error::usage(
            "no devices or no seeds",
            "calibration_truth drawn|known FIRST SEEDS [NAME] [each]",
        ));
    };
    let name = arguments.get(3).cloned().unwrap_or_default();
    let each = arguments.get(4).is_some_and(|word| word == "each");
    println!(
        "| device | answer | covered | withheld | bias | worst | median half-width | of an \
         oracle's | wide beyond 3 times | off by 10%, ± < 5% | bursts | saturated | device time, \
         s |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    );
    for (device, open) in devices.into_iter().filter(|(device, _)| device.contains(&name)) {
        measured(device, &open, first..first + seeds, each)?.print(device, seeds);
    }
    Ok(())
}

/// The kinds whose parameters are drawn.
fn drawn() -> Vec<(&'static str, Open)> {
    let of_kind = |(name, draw): truth::drawn::Draw| {
        let open: Open = Box::new(move |seed| draw(&mut Between::new(seed, name), seed));
        (name, open)
    };
    KINDS.into_iter().map(of_kind).collect()
}

/// The noisy kinds, then well-behaved ones and such that burst.
fn known() -> Vec<(&'static str, Open)> {
    let mut all: Vec<(&str, Open)> = Vec::new();
    for kind in truth::noisy::kinds().into_iter().chain(truth::noisy::others()) {
        let name = kind.case.name;
        all.push((name, Box::new(move |seed| truth::drawn::of_kind(kind.clone(), seed))));
    }
    for (name, case) in [
        ("8 exponential servers", truth::exponential(8, 1000.0, 10_000.0, 60.0)),
        ("8 constant servers", truth::constant(8, 1500.0, 5000.0, 60.0)),
        ("server and delay", truth::smooth(200.0, 1000.0, 6200.0, 60.0)),
        ("bandwidth cap", truth::link(1000.0, 60.0)),
        ("token bucket", truth::bucket(2000.0, 1700.0, 30_000.0, 60.0)),
        ("fast token bucket", truth::bucket(200.0, 17_000.0, 200_000.0, 60.0)),
        ("other: token bucket", truth::bucket(930.0, 2300.0, 24_000.0, 60.0)),
        ("other: slow token bucket", truth::bucket(2700.0, 1100.0, 45_000.0, 60.0)),
        ("other: write cliff", truth::cliff("4GB", 4e9, 60.0)),
        ("other: limit within the curve", truth::smooth(210.0, 1700.0, 9000.0, 60.0)),
    ] {
        all.push((name, Box::new(move |seed| of_case(&case, seed))));
    }
    all
}

fn of_case(case: &Case, seed: u64) -> Drawn {
    let spec = DeviceSpec::parse(&case.device).unwrap().with_seed(seed);
    Drawn { case: case.clone(), bench: Box::new(SimulatedBench::new(&spec)), kind: None }
}

fn measured(device: &str, open: &Open, seeds: std::ops::Range<u64>, each: bool) -> Result<Found> {
    let mut found = Found::default();
    for seed in seeds {
        let mut drawn = open(seed);
        let plan = CalibrationPlan { seed, ..drawn.case.plan.clone() };
        let calibration = calibrate(drawn.bench.as_mut(), &plan, &mut |_| {})?;
        let most = &calibration.mixes[0].iops_max;
        found.bursts += u64::from(most.burst_rate.is_some());
        found.saturated += u64::from(most.bound == CapacityBound::Saturated);
        found.longest_s = found.longest_s.max(calibration.elapsed_s);
        for (answer, truth, estimate) in answers(&drawn.case.truth, &calibration) {
            let oracle = drawn.oracle(answer);
            found.row(answer).count(truth, estimate.as_ref(), oracle);
            if each {
                line(device, seed, answer, truth, estimate.as_ref());
            }
        }
        if each {
            let remarks = calibration.remarks.iter().map(|remark| remark.what.as_str());
            println!("# {seed}: {}", remarks.collect::<Vec<_>>().join("; "));
        }
    }
    Ok(found)
}

fn line(device: &str, seed: u64, answer: &str, truth: f64, estimate: Option<&Estimate>) {
    let Some(found) = estimate else {
        println!("# {device}, {seed}, {answer}: withheld of {truth:.1}");
        return;
    };
    println!(
        "# {device}, {seed}, {answer}: {:+.1}% ± {:.1}% of {truth:.1}{}",
        100.0 * (found.value / truth - 1.0),
        100.0 * found.relative_half_width(),
        if found.covers(truth) { "" } else { " MISSED" },
    );
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

impl Drawn {
    /// Half the width, as a share, of the interval of one who knows the law and sees the load of an
    /// answer all the time.
    fn oracle(&self, answer: &str) -> Option<f64> {
        let truth = &self.case.truth;
        let alone = matches!(answer, "base" | "stream");
        let iops = if alone { 1e9 / truth.base_service_time_ns } else { truth.iops_max };
        self.kind.as_ref()?.oracle(iops, self.case.plan.time_budget.seconds())
    }
}

impl Row {
    fn count(&mut self, truth: f64, found: Option<&Estimate>, oracle: Option<f64>) {
        self.n += 1;
        let Some(found) = found else {
            self.withheld += 1;
            return;
        };
        let (error, half) = (found.value / truth - 1.0, found.relative_half_width());
        let wide = half > WIDE && oracle.is_some_and(|oracle| half > WIDEST * oracle);
        self.covered += usize::from(found.covers(truth));
        self.wrong += usize::from(error.abs() > 0.1 && half < 0.05);
        self.too_wide += usize::from(wide);
        self.errors.push(error);
        self.halves.push(half);
        self.of_oracle.extend(oracle.map(|oracle| half / oracle));
    }
}

/// The middle one of some values; `None` of none.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Found {
    /// The row of an answer; not every device of a kind has every answer.
    fn row(&mut self, answer: &'static str) -> &mut Row {
        let known = self.rows.iter().position(|row| row.answer == answer);
        let at = known.unwrap_or_else(|| {
            self.rows.push(Row { answer, ..Row::default() });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    fn print(self, device: &str, seeds: u64) {
        for row in self.rows {
            let n = row.errors.len().max(1);
            let bias = row.errors.iter().sum::<f64>() / real_len(n);
            let worst = row.errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
            let of_oracle = middle(row.of_oracle);
            println!(
                "| {device} | {} | {}/{} | {} | {:+.2}% | {:+.1}% | {:.2}% | {} | {} | {} | \
                 {}/{seeds} | {:.0}% | {:.1} |",
                row.answer,
                row.covered,
                row.n - row.withheld,
                row.withheld,
                100.0 * bias,
                100.0 * worst.unwrap_or(0.0),
                100.0 * middle(row.halves).unwrap_or(0.0),
                of_oracle.map_or_else(|| "–".to_owned(), |times| format!("{times:.1}")),
                row.too_wide,
                row.wrong,
                self.bursts,
                100.0 * real(self.saturated) / real(seeds.max(1)),
                self.longest_s,
            );
        }
    }
}
