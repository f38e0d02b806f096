//! Loads with known seconds, and the looks at which they end.

use super::*;
use assay_model::measurement::{EarlyNumber, OperationResult};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::verdict::parse_criteria;
use assay_model::workload::Stream;
use assay_model::{Histogram, Precision};

fn rules(criteria: &str) -> CriteriaRules {
    let text = format!("format = 1\nname = \"test\"\n{criteria}");
    CriteriaRules::check(&parse_criteria(&text).unwrap()).unwrap()
}

fn criterion(quantity: &str, limit: &str) -> String {
    format!("[[criterion]]\nquantity = \"{quantity}\"\n{limit}\n")
}

fn workload(duration_s: u64) -> Workload {
    let stream = Stream::closed("blocks", Share(1.0), Bytes(8192), 8);
    Workload::of("test", Nanos(duration_s * 1_000_000_000), stream)
}

/// A second of reads: most take 500 µs, and a few 5 ms.
#[derive(Clone, Copy)]
struct Second {
    fast: u64,
    slow: u64,
}

fn operations(second: Second) -> PerOperation {
    let mut read = OperationResult::empty(Precision::Fine, false);
    let mut times = Histogram::new(Precision::Fine);
    times.record_many(500_000, second.fast);
    if second.slow > 0 {
        times.record_many(5_000_000, second.slow);
    }
    read.ios = second.fast + second.slow;
    read.bytes = 8192 * read.ios;
    read.service = times;
    PerOperation { read: Some(read), ..PerOperation::default() }
}

/// The end of a load, `seconds` of which are the given ones.
fn end(criteria: &str, duration_s: u64, second: impl Fn(u64) -> Second) -> Option<EarlyEnd> {
    let rules = rules(criteria);
    let mut watch = EarlyWatch::new(&rules, &workload(duration_s), None, ClockKind::Virtual)?;
    for index in 0..duration_s {
        let operations = operations(second(index));
        let interval = Interval {
            index,
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            operations: operations.coarsened(),
            queue_depth_mean: 8.0,
        };
        let stream = NamedResult { name: "blocks".to_owned(), operations };
        let joint = Window {
            first_interval: index,
            intervals: 1,
            streams: vec![stream],
            targets: Vec::new(),
        };
        watch.add(&interval, &joint);
    }
    watch.decided().cloned()
}

/// About 3,000 reads a second that vary by 4%, 0.1% of them slow.
fn usual(index: u64) -> Second {
    Second { fast: 2880 + 40 * (7 * index % 7), slow: 2 + index % 3 }
}

fn at(end: Option<&EarlyEnd>) -> Option<(Outcome, f64)> {
    end.map(|end| (end.outcome, end.look_s))
}

#[test]
fn a_rate_at_half_its_limit_fails_after_20_s_and_at_twice_the_limit_passes_after_40_s() {
    let of = |limit: &str| end(&criterion("read.iops", limit), 100, usual);
    assert_eq!(at(of("at_least = \"6000/s\"").as_ref()), Some((Outcome::Fail, 20.0)));
    let passed = of("at_least = \"1450/s\"").unwrap();
    assert_eq!(at(Some(&passed)), Some((Outcome::Pass, 40.0)));
    assert_eq!(passed.bytes, 8192 * passed.ios);
    assert!((115_000..125_000).contains(&passed.ios), "{passed:?}");
    assert_eq!(passed.decisions[0].number, EarlyNumber::Mean);
    assert_eq!(at(of("at_least = \"2900/s\"").as_ref()), None);
}

#[test]
fn a_quantile_is_decided_by_the_share_beyond_its_limit() {
    let of = |limit: &str, slow: u64| {
        let second = move |index: u64| Second { slow: slow + index % 3, ..usual(index) };
        end(&criterion("stream.read.response_time.q0.99", limit), 100, second)
    };
    let passed = of("at_most = \"1ms\"", 2).unwrap();
    assert_eq!(at(Some(&passed)), Some((Outcome::Pass, 40.0)));
    assert_eq!(passed.decisions[0].number, EarlyNumber::ShareBeyond);
    assert!(passed.not_excluded().contains("11 s apart"));
    assert_eq!(at(of("at_most = \"1ms\"", 120).as_ref()), Some((Outcome::Fail, 20.0)));
    assert_eq!(at(of("at_most = \"1ms\"", 29).as_ref()), None);
}

#[test]
fn one_criterion_fails_all_and_all_must_pass() {
    let rate = criterion("read.iops", "at_least = \"1450/s\"");
    let time = criterion("read.response_time.q0.99", "at_most = \"1ms\"");
    let both = format!("{rate}{time}");
    assert_eq!(at(end(&both, 100, usual).as_ref()), Some((Outcome::Pass, 40.0)));
    let slow = |index: u64| Second { slow: 200, ..usual(index) };
    let failed = end(&both, 100, slow).unwrap();
    assert_eq!(at(Some(&failed)), Some((Outcome::Fail, 20.0)));
    assert_eq!(failed.decisions.len(), 1);
    assert_eq!(failed.decisions[0].quantity, "read.response_time.q0.99");
}

#[test]
fn what_only_the_end_can_answer_keeps_a_load_from_passing_early() {
    let rate = criterion("read.iops", "at_least = \"1450/s\"");
    let longest = criterion("read.service_time.max", "at_most = \"1s\"");
    assert_eq!(end(&format!("{rate}{longest}"), 100, usual), None);
    let low = criterion("read.iops", "at_least = \"9000/s\"");
    let failed = end(&format!("{low}{longest}"), 100, usual);
    assert_eq!(at(failed.as_ref()), Some((Outcome::Fail, 20.0)));
    let absent = criterion("sync.service_time.q0.99", "at_most = \"5ms\"\noptional = true");
    let passed = end(&format!("{rate}{absent}"), 100, usual);
    assert_eq!(at(passed.as_ref()), Some((Outcome::Pass, 40.0)));
}

#[test]
fn a_fall_a_cold_start_and_a_short_load_are_not_decided_wrongly() {
    let rate = |limit: &str| criterion("read.iops", &format!("at_least = \"{limit}\""));
    let times = |factor: u64, index: u64| {
        let second = usual(index);
        Second { fast: factor * second.fast, slow: factor * second.slow }
    };
    let cached = |index: u64| times(if index < 15 { 3 } else { 1 }, index);
    let found = end(&rate("6000/s"), 100, cached);
    assert!(at(found.as_ref()).is_none_or(|(outcome, _)| outcome == Outcome::Fail), "{found:?}");
    let cold = |index: u64| times(if index < 10 { 1 } else { 4 }, index);
    let found = end(&rate("6000/s"), 100, cold);
    assert!(at(found.as_ref()).is_none_or(|(outcome, _)| outcome == Outcome::Pass), "{found:?}");
    assert_eq!(end(&rate("6000/s"), 24, usual), None);
}
