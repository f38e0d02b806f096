//! Calibrations of simulated devices whose answers are known.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails, in its helpers too")]

#[allow(dead_code, reason = "shared with the example, which uses other parts")]
mod truth;

use assay_engine::Observer;
use assay_engine::device::DeviceSpec;
use assay_methods::{
    Bench, CalibrationMix, CalibrationPlan, CalibrationUpdate, SimulatedBench, calibrate,
};
use assay_model::calibration::{Calibration, Capacity, CapacityBound, MixCalibration};
use assay_model::measurement::{ErrorCount, Finish, Measurement, Operation};
use assay_model::number::{real, real_len};
use assay_model::spelling::LimitStatistic;
use assay_model::units::Nanos;
use assay_model::workload::Workload;
use assay_model::{Estimate, Result};
use truth::{
    Case, Truth, bucket, cases, cliff, constant, exponential, plan, server_and_delay, smooth,
};

fn simulated(device: &str, seed: u64) -> SimulatedBench<'static> {
    SimulatedBench::new(&DeviceSpec::parse(device).unwrap().with_seed(seed))
}

fn run(case: &Case, seed: u64) -> Calibration {
    let plan = CalibrationPlan { seed, ..case.plan.clone() };
    calibrate(&mut simulated(&case.device, seed), &plan, &mut |_| {}).unwrap()
}

/// The answers that have a truth: name, truth, estimate.
fn answers(truth: &Truth, calibration: &Calibration) -> Vec<(&'static str, f64, Estimate)> {
    let mix = &calibration.mixes[0];
    let rate =
        |capacity: Option<Capacity>| capacity.map_or(Estimate::exact(0.0, 0), |found| found.rate);
    let mut answers = vec![
        ("base", truth.base_service_time_ns, mix.base_service_time_ns),
        ("most", truth.iops_max, mix.iops_max.rate),
        ("within", truth.iops_within.unwrap_or(0.0), rate(mix.iops_within_limit)),
        ("throughput", truth.throughput_max.unwrap(), rate(mix.throughput_max_bytes_per_s)),
        ("stream", truth.single_stream.unwrap(), mix.single_stream_bytes_per_s.unwrap()),
    ];
    if let Some(burst) = truth.iops_burst {
        answers.push(("burst", burst, mix.iops_max.burst_rate.unwrap()));
    }
    answers.retain(|(_, truth, _)| truth.is_finite());
    answers
}

#[test]
fn every_device_is_answered_within_5_percent_and_60_seconds() {
    let on_the_edge = |case: &Case| case.name.contains("edge") || case.name.starts_with("slow");
    for case in cases(60.0).iter().filter(|case| !on_the_edge(case)) {
        let calibration = run(case, 5);
        assert!(calibration.elapsed_s <= 60.0, "{}: {} s", case.name, calibration.elapsed_s);
        for (answer, truth, estimate) in answers(&case.truth, &calibration) {
            assert!(
                (estimate.value - truth).abs() <= 0.05 * truth,
                "{}: {answer} {estimate:?} of {truth}",
                case.name
            );
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
        }
    }
}

/// How many of the seeded runs have an interval that holds the truth, by answer.
fn covered(case: &Case, seeds: u64) -> Vec<(&'static str, usize)> {
    let mut covered: Vec<(&str, usize)> = Vec::new();
    for seed in 1..=seeds {
        for (index, (answer, truth, estimate)) in
            answers(&case.truth, &run(case, seed)).into_iter().enumerate()
        {
            if covered.len() <= index {
                covered.push((answer, 0));
            }
            covered[index].1 += usize::from(estimate.covers(truth));
        }
    }
    covered
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    const SEEDS: u64 = 20;
    let mut all: Vec<(&str, usize)> = Vec::new();
    for case in [
        exponential(8, 1000.0, 10_000.0, 60.0),
        smooth(500.0, 1000.0, 6200.0, 60.0),
        bucket(2000.0, 1700.0, 30_000.0, 60.0),
    ] {
        let covered = covered(&case, SEEDS);
        // With a chance of 0.95 fewer than 16 of 20 hold the truth once in 400 times.
        assert!(covered.iter().all(|(_, runs)| *runs >= 16), "{}: {covered:?}", case.name);
        all.extend(covered);
    }
    let holding: usize = all.iter().map(|(_, runs)| runs).sum();
    let share = real_len(holding) / (real(SEEDS) * real_len(all.len()));
    assert!(share >= 0.93, "{share} of {all:?}");
}

#[test]
fn burst_and_sustained_are_two_numbers_and_two_curves() {
    for case in [
        bucket(930.0, 2300.0, 24_000.0, 60.0),
        bucket(200.0, 17_000.0, 200_000.0, 60.0),
        cliff("4GB", 4e9, 60.0),
    ] {
        let calibration = run(&case, 3);
        let mix = &calibration.mixes[0];
        let (most, within) = (mix.iops_max, mix.iops_within_limit.unwrap());
        let (burst, burst_s) = (case.truth.iops_burst.unwrap(), case.truth.burst_s.unwrap());
        for capacity in [most, within] {
            let found = capacity.burst_rate.unwrap().value;
            assert!((found / burst - 1.0).abs() < 0.05, "{capacity:?} of {burst}");
            let length_s = capacity.burst_s.unwrap();
            assert!((length_s / burst_s - 1.0).abs() < 0.05, "{capacity:?} of {burst_s} s");
        }
        let ceiling = case.truth.iops_max * 1.02;
        assert!(mix.curve.iter().all(|point| point.iops.value < ceiling));
        assert!(mix.burst_curve.iter().any(|point| point.iops.value > ceiling));
        let is_said =
            calibration.remarks.iter().any(|remark| remark.what.contains("the rate fell from"));
        assert!(is_said, "{:?}", calibration.remarks);
    }
}

#[test]
fn a_fall_that_large_transfers_show_late_is_one_of_small_ones_too() {
    // Credits for 25 s of full load end while all loads are visited in turn, with little time left.
    let case = bucket(2700.0, 1100.0, 45_000.0, 60.0);
    for seed in 1..=6 {
        let calibration = run(&case, seed);
        let most = calibration.mixes[0].iops_max;
        assert!((most.rate.value / 1100.0 - 1.0).abs() < 0.05, "{seed}: {most:?}");
        let burst = most.burst_rate.unwrap().value;
        assert!((burst / case.truth.iops_burst.unwrap() - 1.0).abs() < 0.05, "{seed}: {burst}");
    }
}

#[test]
fn reads_pass_by_a_write_cache_that_is_full() {
    let mut case = cliff("1GB", 1e9, 20.0);
    case.plan.mixes = vec![CalibrationMix::of(0.0), CalibrationMix::of(1.0)];
    let calibration = run(&case, 1);
    let names: Vec<&str> = calibration.mixes.iter().map(|mix| mix.name.as_str()).collect();
    assert_eq!(names, ["write", "read"]);
    let [write, read] = calibration.mixes.as_slice() else { panic!("two mixes") };
    assert!(write.iops_max.burst_rate.is_some() && read.iops_max.burst_rate.is_none());
    assert!((read.iops_max.rate.value - 40_000.0).abs() < 100.0);
    assert!(write.curve[0].operations.read.is_none() && read.curve[0].operations.write.is_none());
    assert!(calibration.elapsed_s <= 41.0);
}

#[test]
fn of_reads_and_writes_the_slower_ones_decide() {
    // Writes drain at 20 MB/s from the start, 410 us each; reads take 100 us.
    let device = "cliff?cache=8kB&drain=20MB/s+constant?count=64&service=100us";
    let mut plan = plan(0.5, 300.0, 20.0);
    let calibrate_at = |plan: &CalibrationPlan| {
        let calibration = calibrate(&mut simulated(device, 1), plan, &mut |_| {}).unwrap();
        calibration.mixes[0].iops_within_limit
    };
    assert_eq!(calibrate_at(&plan), None);
    plan.mixes = vec![CalibrationMix::of(1.0)];
    assert!(calibrate_at(&plan).is_some());
}

#[test]
fn a_limit_that_nothing_keeps_has_no_answer_and_a_reason() {
    let calibration = run(&constant(8, 150.0, 100.0, 20.0), 1);
    assert!(calibration.mixes[0].certainly_exceeds(&calibration.limit));
    assert_eq!(calibration.mixes[0].iops_within_limit, None);
    let what = &calibration.remarks[0].what;
    assert_eq!(what, "read: p99 is 150 µs even at queue depth 1, above the limit of 100 µs");
}

#[test]
fn the_last_rung_is_never_taken_for_saturation() {
    let mut case = exponential(64, 1000.0, 50_000.0, 20.0);
    case.plan.queue_depth_max = 32;
    let calibration = run(&case, 1);
    let mix = &calibration.mixes[0];
    for capacity in
        [mix.iops_max, mix.iops_within_limit.unwrap(), mix.throughput_max_bytes_per_s.unwrap()]
    {
        assert_eq!((capacity.bound, capacity.queue_depth), (CapacityBound::StillRising, 32));
    }
    assert!(mix.knee.is_none());
    assert!(
        calibration
            .remarks
            .iter()
            .any(|remark| remark.what.contains("still rose at queue depth 32"))
    );
}

#[test]
fn the_series_of_limits_is_answered_from_one_ladder() {
    // The limits of 100 us to 2 ms that others never offered.
    let (server_us, delay_us) = (50.0, 150.0);
    let mut case = smooth(server_us, delay_us, 900.0, 60.0);
    case.plan.steps = (1..=20).map(|step| Nanos(step * 100_000)).collect();
    let calibration = run(&case, 2);
    let steps = &calibration.mixes[0].steps;
    assert_eq!(steps.len(), 20);
    let mut last = 0.0;
    for step in steps {
        let limit_us = step.limit.service_time_ns / 1e3;
        let beyond = |load| server_and_delay(load, server_us, delay_us, limit_us).1;
        let truth = truth::last_within(200, beyond)
            .map_or(0.0, |load| server_and_delay(load, server_us, delay_us, limit_us).0);
        let found = step.iops.map_or(Estimate::exact(0.0, 0), |capacity| capacity.rate);
        assert!(found.value >= last * 0.97, "{limit_us}: {found:?} after {last}");
        assert!(
            found.covers(truth) || (found.value - truth).abs() <= 0.05 * truth,
            "{limit_us} us: {found:?} of {truth}"
        );
        last = found.value;
    }
    assert!(steps[0].iops.is_none() && steps[19].iops.is_some());
}

/// Calibrates every noisy kind of device once: the full count is `examples/calibration_truth.rs`.
#[test]
fn noise_of_seconds_is_no_burst_and_lies_within_the_intervals() {
    let (mut held, mut all) = (0, 0);
    let kinds = truth::noisy::kinds().into_iter().chain(truth::noisy::others());
    for (seed, kind) in (101..).zip(kinds) {
        let plan = CalibrationPlan { seed, ..kind.case.plan.clone() };
        let calibration = calibrate(&mut kind.bench(seed), &plan, &mut |_| {}).unwrap();
        let name = kind.case.name;
        assert!(calibration.elapsed_s <= 60.0, "{name}: {} s", calibration.elapsed_s);
        assert_eq!(calibration.mixes[0].iops_max.burst_rate, None, "{name}");
        for (answer, truth, estimate) in answers(&kind.case.truth, &calibration) {
            held += u32::from(estimate.covers(truth));
            all += 1;
            let off = (estimate.value / truth - 1.0).abs();
            let surely = estimate.relative_half_width() < 0.05;
            assert!(off <= 0.1 || !surely, "{name}: {answer} {estimate:?} of {truth}");
        }
    }
    assert!(f64::from(held) >= 0.93 * f64::from(all), "{held} of {all}");
}

#[test]
fn stalls_with_a_period_are_named_and_leave_intervals_narrow() {
    for kind in truth::noisy::kinds().into_iter().chain(truth::noisy::others()) {
        let name = kind.case.name;
        let plan = CalibrationPlan { seed: 7, ..kind.case.plan.clone() };
        let calibration = calibrate(&mut kind.bench(7), &plan, &mut |_| {}).unwrap();
        let named = calibration.remarks.iter().any(|remark| remark.what.contains("stalled for"));
        assert_eq!(named, name.contains("stalls of"), "{name}: {:?}", calibration.remarks);
        for (answer, truth, estimate) in answers(&kind.case.truth, &calibration) {
            let half = estimate.relative_half_width();
            assert!(!named || half < 0.05, "{name}: {answer} {estimate:?} of {truth}");
        }
    }
}

#[test]
fn small_ios_that_move_more_than_large_ones_are_named() {
    // The cache is full only when large writes have come.
    let device = "cliff?cache=550MB&drain=23MB/s+constant?count=2&service=350us";
    let calibration =
        calibrate(&mut simulated(device, 4), &plan(0.0, 2000.0, 60.0), &mut |_| {}).unwrap();
    let mix = &calibration.mixes[0];
    let sustained = (mix.iops_max.rate.value / (23e6 / 8192.0) - 1.0).abs() < 0.05;
    assert!(sustained || !mix.contradictions.is_empty(), "{:?}", mix.iops_max);
    assert!(sustained || mix.iops_max.bound != CapacityBound::Saturated, "{:?}", mix.iops_max);
}

/// A bench that changes what is measured.
struct Twisted<T> {
    inner: SimulatedBench<'static>,
    twist: T,
    runs: usize,
    stop_after: usize,
}

impl<T: FnMut(&Workload, &mut Measurement)> Bench for Twisted<T> {
    fn measure(&mut self, workload: &Workload, observer: &mut dyn Observer) -> Result<Measurement> {
        let mut measurement = self.inner.measure(workload, observer)?;
        (self.twist)(workload, &mut measurement);
        self.runs += 1;
        Ok(measurement)
    }

    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }

    fn stopped(&self) -> bool {
        self.runs >= self.stop_after
    }

    fn target(&self) -> String {
        "twisted".to_owned()
    }
}

fn twisted<T: FnMut(&Workload, &mut Measurement)>(
    plan: &CalibrationPlan,
    stop_after: usize,
    twist: T,
) -> Result<Calibration> {
    let inner = simulated("servers?count=8&service=500us", 1);
    let mut bench = Twisted { inner, twist, runs: 0, stop_after };
    calibrate(&mut bench, plan, &mut |_| {})
}

#[test]
fn a_busy_host_is_named_as_the_limit() {
    let plan = plan(1.0, 10_000.0, 10.0);
    let calibration = twisted(&plan, usize::MAX, |workload, measurement| {
        let busy = if workload.queue_depth() >= 8 { 1.0 } else { 0.3 };
        measurement.conduct.worker_busy_share_max = busy;
    })
    .unwrap();
    let mix = &calibration.mixes[0];
    assert_eq!(mix.iops_max.bound, CapacityBound::Host);
    assert_eq!(mix.iops_within_limit.unwrap().bound, CapacityBound::Host);
    assert!(mix.curve.last().unwrap().worker_busy_share > 0.99);
    assert!(calibration.remarks.iter().any(|remark| remark.what.contains("had no idle CPU")));
    // Host-bound is said where the rate no longer rises, not at every busy step.
    let calibration = twisted(&plan, usize::MAX, |workload, measurement| {
        let busy = if workload.queue_depth() < 8 { 1.0 } else { 0.3 };
        measurement.conduct.host_busy_share = Some(busy);
    })
    .unwrap();
    assert_eq!(calibration.mixes[0].iops_max.bound, CapacityBound::Saturated);
}

#[test]
fn processors_that_others_keep_busy_and_give_up_at_once_are_no_limit() {
    let bound_where = |delayed_share: f64| {
        let calibration = twisted(&plan(1.0, 10_000.0, 10.0), usize::MAX, |_, measurement| {
            measurement.conduct.host_busy_share = Some(1.0);
            measurement.conduct.worker_delayed_share_max = Some(delayed_share);
        });
        calibration.unwrap().mixes[0].iops_max.bound
    };
    assert_eq!(bound_where(0.02), CapacityBound::Saturated);
    assert_eq!(bound_where(0.9), CapacityBound::Host);
}

#[test]
fn a_crowded_worker_gets_company() {
    let mut plan = plan(1.0, 10_000.0, 10.0);
    plan.workers_max = 4;
    let calibration = twisted(&plan, usize::MAX, |workload, measurement| {
        let workers = f64::from(workload.streams[0].workers);
        let load = f64::from(workload.queue_depth().min(8));
        measurement.conduct.worker_busy_share_max = (load / 8.0 / workers * 1.5).min(1.0);
    })
    .unwrap();
    let mix = &calibration.mixes[0];
    assert_eq!(mix.iops_max.bound, CapacityBound::Saturated);
    assert!(mix.curve.iter().all(|point| point.worker_busy_share < 0.8));
}

#[test]
fn what_was_known_when_stopped_is_the_result() {
    let calibration = twisted(&plan(1.0, 10_000.0, 60.0), 6, |_, _| {}).unwrap();
    let mix = &calibration.mixes[0];
    assert_eq!(mix.iops_max.bound, CapacityBound::TimeBudget);
    assert!(mix.throughput_max_bytes_per_s.is_none() && mix.single_stream_bytes_per_s.is_none());
    assert!(calibration.remarks.iter().any(|remark| remark.what.contains("stopped")));
    let nothing = twisted(&plan(1.0, 10_000.0, 60.0), 0, |_, _| {}).unwrap_err();
    assert!(nothing.to_string().contains("nothing was measured"), "{nothing}");
}

#[test]
fn a_target_that_fails_ends_the_calibration_and_failures_are_told() {
    let mut runs = 0;
    let calibration = twisted(&plan(1.0, 10_000.0, 60.0), usize::MAX, |_, measurement| {
        runs += 1;
        measurement.errors.push(ErrorCount {
            operation: Operation::Read,
            target: "twisted".to_owned(),
            errno: 5,
            meaning: "Input/output error".to_owned(),
            ios: 2,
            first_offset_bytes: 4096,
        });
        if runs == 4 {
            measurement.finish =
                Finish::Failed { reason: "read on twisted: No such device".to_owned() };
        }
    })
    .unwrap();
    let remarks: Vec<&str> =
        calibration.remarks.iter().map(|remark| remark.what.as_str()).collect();
    let failures = "8 read I/Os on twisted failed: Input/output error";
    let expected = [
        "read: read on twisted: No such device",
        "read: the sustained throughput of large I/Os is unknown",
        "read: the IOPS within the limit are uncertain: they lie between 1,909 and 4,413",
        failures,
    ];
    assert_eq!(remarks, expected);
}

#[test]
fn each_mix_is_reported_as_soon_as_it_is_answered() {
    let plan = CalibrationPlan {
        mixes: vec![CalibrationMix::of(1.0), CalibrationMix::of(0.7)],
        ..plan(1.0, 10_000.0, 10.0)
    };
    let mut heard = Vec::new();
    let mut slices = 0;
    let calibration =
        calibrate(&mut simulated("servers?count=8&service=500us", 1), &plan, &mut |update| {
            match update {
                CalibrationUpdate::Slice(_) => slices += 1,
                CalibrationUpdate::Mix(answer) => heard.push((slices, answer.clone())),
            }
        })
        .unwrap();
    let (after, answers): (Vec<u32>, Vec<MixCalibration>) = heard.into_iter().unzip();
    assert_eq!(answers, calibration.mixes);
    assert!(0 < after[0] && after[0] < after[1] && after[1] == slices, "{after:?} {slices}");
}

#[test]
fn a_part_that_does_not_fit_the_target_does_not_take_away_the_others() {
    let device = "device?size=512KiB+servers?count=8&service=500us";
    let plan = plan(1.0, 10_000.0, 10.0);
    let calibration = calibrate(&mut simulated(device, 1), &plan, &mut |_| {}).unwrap();
    let mix = &calibration.mixes[0];
    assert!(mix.iops_within_limit.is_some() && mix.throughput_max_bytes_per_s.is_none());
    let said: Vec<&str> = calibration.remarks.iter().map(|remark| remark.what.as_str()).collect();
    let [large, stream, held] = said.as_slice() else { panic!("{said:?}") };
    assert!(large.contains("large I/Os: stream 'read large': the target is too small"));
    assert!(stream.contains("a single stream: stream 'read stream': the target is too small"));
    assert!(held.contains("without a pause"), "{held}");
    let mut plan = plan;
    plan.block_size = plan.large_block_size;
    assert!(calibrate(&mut simulated(device, 1), &plan, &mut |_| {}).is_err());
}

#[test]
fn equal_seeds_give_equal_calibrations_and_each_slice_is_reported() {
    let case = exponential(8, 1000.0, 10_000.0, 10.0);
    assert_eq!(run(&case, 4), run(&case, 4));
    let mut slices = Vec::new();
    let mut bench = simulated(&case.device, 4);
    calibrate(&mut bench, &case.plan, &mut |update| {
        if let CalibrationUpdate::Slice(progress) = update {
            slices.push(progress.clone());
        }
    })
    .unwrap();
    assert!(slices.windows(2).all(|pair| pair[0].elapsed_s < pair[1].elapsed_s));
    assert!(slices.iter().all(|progress| progress.elapsed_s <= progress.budget_s + 0.5));
}

#[test]
fn plans_that_cannot_be_meant_are_refused() {
    let good = || plan(1.0, 1000.0, 10.0);
    let refused = |change: fn(&mut CalibrationPlan)| {
        let mut plan = good();
        change(&mut plan);
        calibrate(&mut simulated("servers?count=1&service=1ms", 1), &plan, &mut |_| {})
            .unwrap_err()
            .to_string()
    };
    assert!(
        refused(|plan| plan.limit.quantile = LimitStatistic::Quantile(1.0))
            .contains("1 is not a valid quantile")
    );
    assert!(refused(|plan| plan.limit.service_time_ns = 0.0).contains("not a valid latency limit"));
    assert!(refused(|plan| plan.mixes.clear()).contains("nothing to calibrate"));
    assert!(refused(|plan| plan.time_budget = Nanos(1_000_000_000)).contains("too short"));
    assert!(refused(|plan| plan.queue_depth_max = 0).contains("at least one I/O"));
}

#[test]
fn a_limit_on_the_mean_is_met_by_littles_law() {
    let (server_us, delay_us, limit_us) = (500.0, 1000.0, 2000.0);
    let mut case = smooth(server_us, delay_us, limit_us, 60.0);
    case.plan.limit.quantile = LimitStatistic::Mean;
    let rate = |load: u32| server_and_delay(load, server_us, delay_us, limit_us).0;
    let loads = (1..64).map(|load| (load, rate(load)));
    let within = loads.take_while(|(load, rate)| f64::from(*load) / rate <= limit_us / 1e6);
    let truth = within.last().unwrap().1;
    let mix = &run(&case, 3).mixes[0];
    let found = mix.iops_within_limit.unwrap().rate;
    assert!((found.value / truth - 1.0).abs() < 0.05, "{found:?} of {truth}");
    // No load has its p99 within that limit.
    assert!(case.truth.iops_within.is_none());
}
