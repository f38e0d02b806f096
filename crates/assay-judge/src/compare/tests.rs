//! Error rates by simulation, and the figures of the papers.

use super::*;
use crate::statistics;
use assay_model::Estimate;
use assay_model::comparison::{
    Comparison, ComparisonRefusal, Direction, Side, SideKind, SpreadSource,
};
use assay_model::number::real;
use assay_model::verdict::{Bias, Doubt, Outcome, Unit};
use assay_stats::random::Random;

fn side(name: &str, measures: Vec<SideFigure>) -> SideFacts {
    let side = Side {
        name: name.to_owned(),
        kind: SideKind::Run,
        target: String::new(),
        elapsed_s: 600.0,
        repeats: 3,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    };
    SideFacts { measures, ..SideFacts::new(side) }
}

fn measured(quantity: &str, unit: Unit, estimate: Estimate) -> SideFigure {
    SideFigure::new(quantity, None, unit, estimate)
}

/// Three runs of ten minutes of 1 s values about a level with noise of 2% and φ = 0.8, as a side of
/// four measures that vary on their own.
fn noisy(level: f64, seed: u64) -> SideFacts {
    let one = |repeat| single(level, seed, repeat);
    joined((0..3).map(one).collect()).unwrap()
}

fn single(level: f64, seed: u64, repeat: u64) -> SideFacts {
    let series = |number: u64| {
        let mut random = Random::part(seed, 10 * repeat + number);
        let mut shock = random.normal();
        let values: Vec<f64> = (0..600)
            .map(|_| {
                shock = 0.8 * shock + 0.6 * random.normal();
                level * (1.0 + 0.02 * shock)
            })
            .collect();
        statistics::mean(&values, 1.0).unwrap()
    };
    let names = ["iops", "throughput", "read.iops", "write.iops"];
    let measures = names.iter().zip(0..);
    let measures = measures.map(|(name, number)| measured(name, Unit::IosPerS, series(number)));
    let mut facts = side(&format!("{seed}"), measures.collect());
    facts.side.repeats = 1;
    facts
}

fn compared(base: &SideFacts, other: &SideFacts) -> Comparison {
    compare(&[base.clone(), other.clone()], &[], &CompareRules::default()).unwrap()
}

fn differs(found: &Comparison) -> bool {
    found.pairs[0].measures.iter().any(|measure| measure.different)
}

#[test]
fn equal_runs_hardly_ever_differ() {
    let alarms = (0..200u64)
        .filter(|trial| differs(&compared(&noisy(1e4, 2 * trial), &noisy(1e4, 2 * trial + 1))))
        .count();
    println!("{alarms} of 200 comparisons of equal runs found a difference");
    assert!(alarms <= 10, "{alarms} false differences of 200");
}

#[test]
fn a_difference_of_three_percent_is_found() {
    let found = (0..200u64).filter(|trial| {
        let found = compared(&noisy(1e4, 2 * trial), &noisy(0.97e4, 2 * trial + 1));
        found.pairs[0].measures[0].different
    });
    let found = found.count();
    println!("3% was found in {found} of 200 comparisons");
    assert!(found >= 180, "power: {found} of 200");
}

/// Runs of `seconds` with noise of 2% and memory φ, each with a day of its own that moves it by
/// `day` (standard deviation).
fn days(repeats: u64, seconds: usize, phi: f64, day: f64, level: f64, seed: u64) -> SideFacts {
    let run = |repeat: u64| {
        let mut random = Random::part(seed, 100 + repeat);
        let level = level * (1.0 + day * random.normal());
        let measure = |name: &&str| {
            let mut shock = random.normal();
            let values: Vec<f64> = (0..seconds)
                .map(|_| {
                    shock = phi * shock + (1.0 - phi * phi).sqrt() * random.normal();
                    level * (1.0 + 0.02 * shock)
                })
                .collect();
            measured(name, Unit::IosPerS, statistics::mean(&values, 1.0).unwrap())
        };
        let mut facts =
            side("day", ["iops", "read.iops", "write.iops"].iter().map(measure).collect());
        facts.side.repeats = 1;
        facts.side.elapsed_s = 600.0;
        facts
    };
    joined((0..repeats).map(run).collect()).unwrap()
}

fn share_different(
    trials: u64,
    base: impl Fn(u64) -> SideFacts,
    other: impl Fn(u64) -> SideFacts,
) -> f64 {
    let found =
        (0..trials).filter(|trial| differs(&compared(&base(2 * trial), &other(2 * trial + 1))));
    real(u64::try_from(found.count()).unwrap()) / real(trials)
}

#[test]
fn another_day_is_not_another_storage() {
    for (repeats, seconds, phi, day) in [
        (1, 60, 0.8, 0.03),
        (1, 600, 0.5, 0.03),
        (2, 60, 0.8, 0.03),
        (3, 60, 0.8, 0.03),
        (1, 10, 0.95, 0.0),
        (1, 60, 0.95, 0.0),
        (3, 30, 0.95, 0.0),
    ] {
        let side = |seed| days(repeats, seconds, phi, day, 1e4, seed);
        let seen = share_different(100, side, side);
        println!("{repeats} x {seconds} s, φ {phi}, days {day}: {seen}");
        assert!(seen <= 0.06, "{repeats} x {seconds} s, φ {phi}, days {day}: {seen}");
    }
}

#[test]
fn three_repeats_find_three_percent_and_single_runs_say_that_they_cannot() {
    let of = |repeats, level| move |seed| days(repeats, 600, 0.8, 0.0, level, seed);
    let found = share_different(60, of(3, 1e4), of(3, 0.97e4));
    println!("3% was found in {found} of the comparisons of three repeats");
    assert!(found >= 0.9, "power: {found}");
    let single = compared(&of(1, 1e4)(1), &of(1, 2e4)(2));
    assert_eq!((single.pairs[0].run_to_run, differs(&single)), (SpreadSource::Unknown, false));
    assert_eq!(single.outcome, None);
    let ratio = single.pairs[0].measures[0].ratio.unwrap();
    assert!(ratio.covers(2.0) && ratio.low > 1.9, "{ratio:?}");
    assert_eq!(compared(&of(3, 1e4)(1), &of(3, 1e4)(2)).pairs[0].run_to_run, SpreadSource::Repeats);
}

#[test]
fn earlier_runs_of_the_same_storage_let_single_runs_be_compared() {
    let with_history = |level: f64, seed: u64| {
        let mut facts = days(1, 60, 0.5, 0.03, level, seed);
        facts.history =
            (1..=5).map(|run| days(1, 60, 0.5, 0.03, level, 1000 * seed + run)).collect();
        facts
    };
    let equal =
        share_different(100, |seed| with_history(1e4, seed), |seed| with_history(1e4, seed));
    let found =
        share_different(100, |seed| with_history(1e4, seed), |seed| with_history(1.2e4, seed));
    println!("single runs with history: equal {equal}, +20% {found}");
    assert!(equal <= 0.08 && found >= 0.9, "{equal} {found}");
    let one = compared(&with_history(1e4, 1), &with_history(1e4, 2));
    assert_eq!(one.pairs[0].run_to_run, SpreadSource::History { runs: 10 });
}

#[test]
fn a_simulated_device_does_not_vary_from_run_to_run() {
    let simulated = |level: f64, seed: u64| {
        let mut facts = single(level, seed, 0);
        facts.side.target = "sim:servers?count=8".to_owned();
        facts
    };
    let found = compared(&simulated(1e4, 1), &simulated(2e4, 2));
    assert_eq!(found.pairs[0].run_to_run, SpreadSource::Simulated);
    let iops = found.pairs[0].primary().unwrap();
    assert!(iops.different && iops.quantity == "iops");
}

/// The disk array and the flash of a buyer: flash did twenty times as many writes, and each took
/// longer.
#[test]
fn times_of_closed_loads_at_other_rates_are_not_compared() {
    let of = |iops: f64, write_ns: f64| {
        let about = |value: f64| Estimate {
            value,
            low: 0.97 * value,
            high: 1.03 * value,
            confidence: 0.95,
            n: 60,
        };
        let measures = vec![
            measured("iops", Unit::IosPerS, about(iops)),
            measured("write.service_time.mean", Unit::Ns, about(write_ns)),
        ];
        let mut facts = side("array:x", measures);
        facts.closed_depth = Some(32);
        facts
    };
    let rules = CompareRules { tolerance: Some(0.02), ..CompareRules::default() };
    let judge = |base, other| compare(&[base, other], &[], &rules).unwrap();
    let found = judge(of(2_000.0, 0.5e6), of(40_000.0, 1.1e6));
    let write = &found.pairs[0].measures[1];
    assert_eq!(write.not_compared, Some(ComparisonRefusal::OtherRate));
    assert!(write.ratio.is_none() && !write.judged);
    let same_rate = judge(of(2_000.0, 0.5e6), of(2_010.0, 1.1e6));
    assert!(same_rate.pairs[0].measures[1].ratio.is_some());
    let mut alone = of(2_000.0, 0.5e6);
    alone.closed_depth = Some(1);
    let mut fast = of(4_000.0, 0.25e6);
    fast.closed_depth = Some(1);
    assert!(judge(alone, fast).pairs[0].measures[1].ratio.is_some());
}

#[test]
fn what_a_model_assumes_is_never_judged() {
    let mut one = noisy(1e4, 1);
    let time = Estimate::exact(1e6, 1);
    let assumed = |value| SideFigure {
        is_assumed: true,
        ..measured("write.service_time.mean", Unit::Ns, Estimate { value, ..time })
    };
    let mut two = noisy(1e4, 2);
    one.measures.push(assumed(1e6));
    two.measures.push(assumed(2e6));
    let found = compared(&one, &two);
    let write = found.pairs[0].measures.last().unwrap();
    assert_eq!((write.not_compared, write.judged), (Some(ComparisonRefusal::Assumed), false));
}

#[test]
fn worse_better_and_open_are_told_apart() {
    let rules = CompareRules { tolerance: Some(0.02), ..CompareRules::default() };
    let judged = |level: f64| compare(&[noisy(1e4, 1), noisy(level, 2)], &[], &rules).unwrap();
    assert_eq!(judged(0.9e4).outcome, Some(Outcome::Fail));
    assert_eq!(judged(1.1e4).outcome, Some(Outcome::Pass));
    let at_the_limit = judged(0.98e4);
    assert_eq!(at_the_limit.outcome, Some(Outcome::Inconclusive));
    assert_eq!(at_the_limit.pairs[0].measures[0].better, Direction::Higher);
}

#[test]
fn what_was_made_differently_is_refused_and_named() {
    let mut other = noisy(1e4, 2);
    let mut base = noisy(1e4, 1);
    base.made = vec![("stream.0.read_share".to_owned(), "1.0".to_owned())];
    other.made = vec![("stream.0.read_share".to_owned(), "0.7".to_owned())];
    let sides = [base, other];
    let rules = CompareRules::default();
    let refused = compare(&sides, &[], &rules).unwrap_err();
    assert!(refused.message().contains("stream.0.read_share is 1.0 and 0.7"));
    assert!(refused.hint().contains("--varied stream.0.read_share"));
    let allowed = compare(&sides, &["stream.0".to_owned()], &rules).unwrap();
    assert_eq!(allowed.differences.len(), 1);
    let mut seconds = noisy(1e4, 3);
    seconds.measures[0].unit = Unit::Ns;
    seconds.measures.truncate(1);
    let only = side("b", vec![noisy(1e4, 4).measures[0].clone()]);
    let refused = compare(&[seconds, only], &[], &rules).unwrap_err();
    assert!(refused.message().contains("no measure in common"), "{refused}");
}

/// Figures 17 and 18 and the parity of the EMC paper of 2014: 4%, 2% and 1% after rounding.
#[test]
fn parity_is_that_of_the_paper() {
    let work = |values: [f64; 3]| {
        let whats = ["logical", "physical", "change"].into_iter();
        let checks = whats.zip(values).zip([0.04, 0.02, 0.01]);
        let checks = checks.map(|((what, value), limit)| WorkRatio { what, value, limit });
        checks.collect::<Vec<_>>()
    };
    let (mut one, mut two) = (noisy(1e4, 1), noisy(1e4, 2));
    one.work = work([0.17227, 0.29347, 0.65409]);
    two.work = work([0.17928, 0.30058, 0.65858]);
    let parity = compared(&one, &two).pairs[0].parity.clone();
    let shown: Vec<(String, Outcome)> = parity
        .iter()
        .map(|check| (format!("{:.3}", check.other / check.base), check.outcome))
        .collect();
    let pass = |ratio: &str| (ratio.to_owned(), Outcome::Pass);
    assert_eq!(shown, [pass("1.041"), pass("1.024"), pass("1.007")]);
    two.work = work([0.19, 0.3, 0.8]);
    let parity = compared(&one, &two).pairs[0].parity.clone();
    assert_eq!(parity[0].outcome, Outcome::Fail);
}

/// Figures 4, 8, 10 and 11 of the EMC paper of 2014: a physical I/O is a read or a write.
#[test]
fn two_bricks_do_the_same_work_and_scale_as_the_paper_says() {
    let brick = |nodes: f64, [executions, logical, reads, writes, changes, redo]: [f64; 6]| {
        let figure = |value: f64| format!("{{\"value\": {value}, \"source\": \"Load Profile\"}}");
        let (executions, logical, changes) = (figure(executions), figure(logical), figure(changes));
        let (reads, writes, redo) = (figure(reads), figure(writes), figure(redo));
        let text = format!(
            "{{\"format\": 1, \"name\": \"{nodes}\", \"source\": {{}}, \"verdict\": {{}},
              \"redo\": {{\"redo_bytes_per_s\": {redo}}},
              \"work\": {{\"executions_per_s\": {executions}, \"logical_reads_per_s\": {logical},
                          \"physical_reads_per_s\": {reads}, \"block_changes_per_s\": {changes}}},
              \"rates\": [{{\"kind\": \"blocks\", \"read_per_s\": {reads}, \"write_per_s\": \
             {writes}}}]}}"
        );
        let mut facts = facts_of_profile(&assay_model::profile::parse_profile(&text).unwrap());
        facts.side.nodes = Some(nodes);
        facts
    };
    let one = brick(1.0, [29_014.9, 168_425.0, 83_114.8, 15_754.8, 44_359.0, 21_834_010.5]);
    let two = brick(2.0, [56_968.3, 317_754.25, 158_739.8, 30_788.3, 86_501.1, 43_454_976.0]);
    let found = compared(&one, &two);
    let shown: Vec<String> = found.pairs[0]
        .parity
        .iter()
        .map(|check| format!("{:.1} {:?}", (check.other / check.base - 1.0) * 100.0, check.outcome))
        .collect();
    assert_eq!(shown, ["4.1 Pass", "2.4 Pass", "0.7 Pass"]);
    let of_linear = |quantity: &str| {
        let scaling = found.scaling.iter().find(|one| one.quantity == quantity).unwrap();
        format!("{:.1}", 100.0 * scaling.points[1].of_linear.value)
    };
    let names = ["physical_reads", "physical_writes", "sql_executions", "redo"];
    assert_eq!(names.map(of_linear), ["95.5", "97.7", "98.2", "99.5"]);
}

/// One to two bricks of the EMC paper: reads 95.5% of linear, printed as 96%.
#[test]
fn scaling_is_measured_against_linear() {
    let brick = |nodes: f64, reads: f64| {
        let mut facts =
            side("", vec![measured("read.iops", Unit::IosPerS, Estimate::exact(reads, 1))]);
        facts.side.nodes = Some(nodes);
        facts
    };
    let both = [brick(1.0, 142_000.0), brick(2.0, 271_220.0)];
    let found = compare(&both, &[], &CompareRules::default()).unwrap();
    let last = found.scaling[0].points[1].of_linear;
    assert!((last.value - 0.955).abs() < 1e-9);
    assert!(found.scaling[0].law.is_none());
}

/// Figure 23 of the same paper: 26,998,287 reads of 16 to 32 ms in a day are 312.5 a second.
#[test]
fn outliers_are_counted_by_wall_clock() {
    let day = |ios: f64| {
        let mut facts = noisy(1e4, 1);
        facts.side.elapsed_s = 86_400.0;
        let range = (16_000_000, Some(32_000_000), ios);
        facts.histograms = vec![("read".to_owned(), vec![range])];
        facts
    };
    let found = compared(&day(26_998_287.0), &day(1_538_902.0));
    let bucket = found.pairs[0].histograms[0].rows[0];
    assert!((bucket.base.iops - 312.48).abs() < 0.01);
    assert!((bucket.base.queue_depth - 7.5).abs() < 0.01);
    assert!((1.0 - bucket.other.iops / bucket.base.iops - 0.943).abs() < 0.0005);
    assert!(real(bucket.low_ns) > 0.0);
}

/// Ends 3% around a value.
fn about(value: f64) -> Estimate {
    Estimate { value, low: 0.97 * value, high: 1.03 * value, confidence: 0.95, n: 60 }
}

#[test]
fn times_at_queue_depth_one_are_compared_at_any_rate() {
    let rung = |depth: &str, iops: f64, time_ns: f64| {
        let of = |quantity: &str, unit, value| {
            SideFigure::new(quantity, Some(format!("queue depth {depth}")), unit, about(value))
        };
        [
            of("calibration.read.iops", Unit::IosPerS, iops),
            of("calibration.read.service_time.q0.99", Unit::Ns, time_ns),
        ]
    };
    let of = |rungs: [[SideFigure; 2]; 2]| {
        let mut facts = side("sim:x", rungs.into_iter().flatten().collect());
        facts.side.kind = SideKind::Calibration;
        facts
    };
    let disk = of([rung("1", 192.0, 8e6), rung("11", 2_000.0, 9e6)]);
    let flash = of([rung("1", 1_400.0, 1e6), rung("11", 14_000.0, 1.1e6)]);
    let found = compared(&disk, &flash);
    let measures = &found.pairs[0].measures;
    assert_eq!(measures[1].not_compared, None);
    assert_eq!(measures[3].not_compared, Some(ComparisonRefusal::OtherRate));
}

#[test]
fn nothing_is_worse_than_a_rate_of_none_and_doubts_say_whose_they_are() {
    let rules = CompareRules { tolerance: Some(0.05), ..CompareRules::default() };
    let of = |name: &str, within: Estimate| {
        let figure = measured("calibration.read.iops_within_limit", Unit::IosPerS, within);
        let doubt = Doubt {
            what: "it was still rising".to_owned(),
            bias: Bias::Unflattering,
            remedy: String::new(),
        };
        side(name, vec![SideFigure { doubts: vec![doubt], ..figure }])
    };
    let none = || of("disk", Estimate::exact(0.0, 1));
    for other in [about(1e5), Estimate::exact(0.0, 1)] {
        let found = compare(&[none(), of("flash", other)], &[], &rules).unwrap();
        assert_eq!(found.outcome, Some(Outcome::Pass));
        let doubts: Vec<&str> =
            found.pairs[0].measures[0].doubts.iter().map(|doubt| doubt.what.as_str()).collect();
        assert_eq!(doubts, ["disk: it was still rising", "flash: it was still rising"]);
    }
    let worse = compare(&[of("flash", about(1e5)), none()], &[], &rules).unwrap();
    assert_ne!(worse.outcome, Some(Outcome::Pass));
}
