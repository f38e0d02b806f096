//! How often the intervals of a calibration cover the truth on simulated devices, and how far the
//! answers are off: `coverage SEEDS [NAME]` prints one row a device and answer.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

#[path = "../tests/truth/mod.rs"]
#[allow(dead_code, reason = "shared with the tests, which use other parts")]
mod truth;

use assay_engine::device::DeviceSpec;
use assay_methods::{SimulatedBench, calibrate};
use assay_model::calibration::MixCalibration;
use assay_model::{Error, Estimate, Result};
use truth::{Case, Truth, cases};

/// One answer over all seeds.
struct Row {
    answer: &'static str,
    truth: f64,
    covered: usize,
    within_5: usize,
    errors: Vec<f64>,
    widths: Vec<f64>,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Error::usage("no number of seeds", "coverage SEEDS [NAME]"))?;
    let name = arguments.next().unwrap_or_default();
    println!(
        "| device | answer | truth | covered | within 5% | median error | largest error | median \
         half-width | device time, s |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for case in cases(60.0).iter().filter(|case| case.name.contains(&name)) {
        cover(case, seeds)?;
    }
    Ok(())
}

fn cover(case: &Case, seeds: u64) -> Result<()> {
    let mut rows: Vec<Row> = Vec::new();
    let mut longest_s: f64 = 0.0;
    for seed in 1..=seeds {
        let spec = DeviceSpec::parse(&case.device)?.with_seed(seed);
        let mut plan = case.plan.clone();
        plan.seed = seed;
        let calibration = calibrate(&mut SimulatedBench::new(&spec), &plan, &mut |_| {})?;
        longest_s = longest_s.max(calibration.elapsed_s);
        for (index, (answer, truth, estimate)) in
            answers(&case.truth, &calibration.mixes[0]).into_iter().enumerate()
        {
            if rows.len() <= index {
                rows.push(Row::new(answer, truth));
            }
            rows[index].count(estimate);
        }
    }
    for row in &mut rows {
        row.print(case.name, seeds, longest_s);
    }
    Ok(())
}

/// The answers that have a truth. An absent answer is an estimate of 0.
fn answers(truth: &Truth, mix: &MixCalibration) -> Vec<(&'static str, f64, Estimate)> {
    let none = Estimate::exact(0.0, 0);
    let mut answers = vec![
        ("base service time, ns", truth.base_service_time_ns, mix.base_service_time_ns),
        ("IOPS, most", truth.iops_max, mix.iops_max.rate),
        (
            "IOPS within the limit",
            truth.iops_within.unwrap_or(0.0),
            mix.iops_within_limit.map_or(none, |capacity| capacity.rate),
        ),
    ];
    if let Some(burst) = truth.iops_burst {
        answers.push(("IOPS, burst", burst, mix.iops_max.burst_rate.unwrap_or(none)));
    }
    if let (Some(truth), burst_s) = (truth.burst_s, mix.iops_max.burst_s.unwrap_or(0.0)) {
        answers.push(("length of the burst, s", truth, Estimate::exact(burst_s, 1)));
    }
    if let Some(truth) = truth.throughput_max {
        let capacity = mix.throughput_max_bytes_per_s;
        answers.push(("B/s, most", truth, capacity.map_or(none, |capacity| capacity.rate)));
    }
    if let Some(truth) = truth.single_stream {
        let stream = mix.single_stream_bytes_per_s;
        answers.push(("B/s, single stream", truth, stream.unwrap_or(none)));
    }
    answers.retain(|(_, truth, _)| truth.is_finite());
    answers
}

impl Row {
    fn new(answer: &'static str, truth: f64) -> Self {
        Self { answer, truth, covered: 0, within_5: 0, errors: Vec::new(), widths: Vec::new() }
    }

    fn count(&mut self, estimate: Estimate) {
        let error = if self.truth > 0.0 {
            (estimate.value / self.truth - 1.0).abs()
        } else {
            estimate.value
        };
        self.covered += usize::from(estimate.covers(self.truth));
        self.within_5 += usize::from(error <= 0.05);
        self.errors.push(error);
        self.widths.push(estimate.relative_half_width());
    }

    fn print(&mut self, device: &str, seeds: u64, longest_s: f64) {
        self.errors.sort_by(f64::total_cmp);
        self.widths.sort_by(f64::total_cmp);
        let middle = self.errors.len() / 2;
        // The length of a burst comes without an interval.
        let covered = if self.widths[middle] > 0.0 || self.covered > 0 {
            format!("{}/{seeds}", self.covered)
        } else {
            "no interval".to_owned()
        };
        println!(
            "| {device} | {} | {:.0} | {} | {}/{seeds} | {:.2}% | {:.2}% | {:.2}% | \
             {longest_s:.1} |",
            self.answer,
            self.truth,
            covered,
            self.within_5,
            self.errors[middle] * 100.0,
            self.errors[self.errors.len() - 1] * 100.0,
            self.widths[middle] * 100.0,
        );
    }
}
