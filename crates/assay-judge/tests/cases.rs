//! What was measured, which question was asked, and which word answers it: a table of crafted
//! cases.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod made_up;

use assay_judge::{CriteriaRules, check_criteria, shipped_criteria};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, CapacityBound};
use assay_model::measurement::{Finish, Submission};
use assay_model::number::real;
use assay_model::target::ContentFacts;
use assay_model::units::{Nanos, Rate};
use assay_model::verdict::{Criteria, NamedEstimate, Outcome, Reason, Verdict};
use made_up::{Story, calibration, criteria, environment, loaded, rung, story, with_one_at_a_time};

use Outcome::{Fail, Inconclusive as Open, Pass};

/// What was measured, what is asked, the word, and what the reason has to say; nothing where the
/// numbers say it.
type Case = (&'static str, fn() -> Story, &'static str, Outcome, &'static str);

fn with(change: impl FnOnce(&mut Story)) -> Story {
    let mut story = story();
    change(&mut story);
    story
}

fn busy(share: f64) -> Story {
    with(|story| story.conduct().host_busy_share = Some(share))
}

/// A minute in which this number of 100,000 segments was sent again.
fn retransmitted(segments: u64) -> Story {
    let estimate = Estimate::exact(real(segments) / 1e5, 100_000);
    let quantity = "host.tcp_retransmits".to_owned();
    with(|story| story.given.push(NamedEstimate { quantity, subject: None, estimate }))
}

fn calibrated(calibration: Calibration) -> Story {
    Story { run: false, calibration: Some(calibration), ..story() }
}

/// p99 of one at a time, ms, on a host that was so busy; nothing keeps the limit of 1 ms where it
/// is above.
fn one_at_a_time(low: f64, value: f64, high: f64, busy: f64) -> Story {
    let mut calibration = calibration(CapacityBound::Saturated);
    if value > 1.0 {
        calibration.mixes[0].iops_within_limit = None;
    }
    let ms = |value: f64| value * 1e6;
    calibrated(with_one_at_a_time(calibration, (ms(low), ms(value), ms(high)), Some(busy)))
}

/// p99 of 0.2 ms that rests on this many independent I/Os.
fn rarely(ios: u64) -> Story {
    let mut story = one_at_a_time(0.18, 0.2, 0.22, 0.1);
    let curve = &mut story.calibration.as_mut().unwrap().mixes[0].curve;
    for point in curve {
        point.limited_quantile_ns.n = ios;
    }
    story
}

/// A mean of reads that a burst made, of which nothing says how much longer another may be.
fn of_a_burst() -> Story {
    let estimate = Estimate { value: 2e6, low: 5e5, high: f64::INFINITY, confidence: 0.95, n: 2 };
    let quantity = "read.service_time.mean".to_owned();
    with(|story| story.given.push(NamedEstimate { quantity, subject: None, estimate }))
}

fn bounded(bound: CapacityBound) -> Story {
    calibrated(calibration(bound))
}

fn orders() -> Story {
    loaded(vec![rung(4, 1, 100, Some(0.0)), rung(16, 1, 300, Some(0.0))])
}

fn repeats() -> Story {
    let one = |repeat, per_s| rung(4, repeat, per_s, Some(0.0));
    loaded(vec![one(1, 353), one(2, 286), one(3, 453), one(4, 340)])
}

fn cached(share: Option<f64>) -> Story {
    loaded(vec![rung(4, 1, 100, share)])
}

fn busy_load() -> Story {
    let mut story = orders();
    for rung in &mut story.load.as_mut().unwrap().rungs {
        rung.host_busy_share = Some(0.99);
    }
    story
}

const CASES: [Case; 76] = [
    // The storage by itself.
    ("a mean of 1.07 ms", story, "read.service_time.mean at_most 5ms", Pass, ""),
    ("a mean of 1.07 ms", story, "read.service_time.mean at_most 100us", Fail, ""),
    ("a mean of 1.07 ms", story, "read.service_time.mean at_most 1073us", Open, ""),
    ("p99 of 1.2 ms", story, "read.service_time.q0.99 at_most 5ms", Pass, ""),
    ("p99 of 1.2 ms", story, "read.service_time.q0.99 at_most 500us", Fail, ""),
    ("the longest of 1.2 ms", story, "read.service_time.max at_most 1.1ms", Fail, ""),
    ("308 I/Os a second", story, "iops at_least 10/s", Pass, ""),
    ("308 I/Os a second", story, "iops at_least 100k/s", Fail, ""),
    ("308 I/Os a second", story, "iops at_most 308/s", Open, ""),
    ("2.5 MB/s", story, "throughput at_least 1MB/s", Pass, ""),
    ("one target of two too slow", story, "target.read.service_time.mean at_most 1.05ms", Fail, ""),
    (
        "the other target",
        story,
        "target.read.service_time.mean at_most 1.05ms only /data/a",
        Pass,
        "",
    ),
    ("no error", story, "errors at_most 0", Pass, ""),
    ("errors", || with(|story| story.fail_ios(5)), "errors at_most 0", Fail, ""),
    (
        "many errors",
        || with(|story| story.fail_ios(500)),
        "read.service_time.mean at_most 5ms",
        Open,
        "failed",
    ),
    // The host is never the storage's failure.
    ("a host 30% busy", || busy(0.3), "host.cpu_busy at_most 80%", Pass, ""),
    (
        "a host 80.2% busy",
        || busy(0.802),
        "host.cpu_busy at_most 80%",
        Open,
        "too busy to judge the storage: its CPUs were busy 80.2%",
    ),
    (
        "a host 85% busy, fast",
        || busy(0.85),
        "read.service_time.mean at_most 5ms\nhost.cpu_busy at_most 80%",
        Open,
        "too busy",
    ),
    (
        "a host 85% busy, slow",
        || busy(0.85),
        "read.service_time.mean at_most 100us\nhost.cpu_busy at_most 80%",
        Open,
        "too busy",
    ),
    (
        "a host 85% busy that is not asked for",
        || busy(0.85),
        "read.service_time.mean at_most 100us",
        Fail,
        "",
    ),
    (
        "a host 97% busy, slow",
        || busy(0.97),
        "read.service_time.mean at_most 100us",
        Open,
        "too busy to judge the storage",
    ),
    ("a host 97% busy, few I/Os", || busy(0.97), "iops at_least 100k/s", Open, "97%"),
    (
        "a host 97% busy, fast all the same",
        || busy(0.97),
        "read.service_time.mean at_most 5ms",
        Pass,
        "",
    ),
    (
        "a host 97% busy, errors",
        || {
            with(|story| {
                story.fail_ios(5);
                story.conduct().host_busy_share = Some(0.97);
            })
        },
        "errors at_most 0",
        Fail,
        "",
    ),
    (
        "a host 85% busy, errors",
        || {
            with(|story| {
                story.fail_ios(5);
                story.conduct().host_busy_share = Some(0.85);
            })
        },
        "errors at_most 0\nhost.cpu_busy at_most 80%",
        Fail,
        "",
    ),
    (
        "a host that says nothing",
        || with(|story| story.conduct().host_busy_share = None),
        "host.cpu_busy at_most 80%",
        Open,
        "is unknown",
    ),
    (
        "2% of the segments again",
        || retransmitted(2000),
        "host.tcp_retransmits at_most 0.5%",
        Open,
        "lost too many packets",
    ),
    (
        "2% of the segments again, slow",
        || retransmitted(2000),
        "read.service_time.mean at_most 100us\nhost.tcp_retransmits at_most 0.5%",
        Open,
        "2%",
    ),
    (
        "0.1% of the segments again, slow",
        || retransmitted(100),
        "read.service_time.mean at_most 100us\nhost.tcp_retransmits at_most 0.5%",
        Fail,
        "",
    ),
    (
        "0.1% of the segments again",
        || retransmitted(100),
        "host.tcp_retransmits at_most 0.5%",
        Pass,
        "",
    ),
    ("no network", story, "host.tcp_retransmits at_most 0.5%", Open, "TCP segments"),
    (
        "no network that must be",
        story,
        "optional host.tcp_retransmits at_most 0.5%\nerrors at_most 0",
        Pass,
        "",
    ),
    // The tool is neither.
    (
        "a busy worker, slow",
        || with(|story| story.conduct().worker_busy_share_max = 0.99),
        "read.service_time.mean at_most 100us",
        Open,
        "load generator",
    ),
    (
        "a busy worker, fast",
        || with(|story| story.conduct().worker_busy_share_max = 0.99),
        "read.service_time.mean at_most 5ms",
        Pass,
        "",
    ),
    (
        "near the ceiling of the tool",
        || with(|story| story.conduct().ceiling_iops = Some(310.0)),
        "iops at_least 100k/s",
        Open,
        "tool itself",
    ),
    (
        "through the page cache, fast",
        || with(|story| story.conduct().direct_io = Some(false)),
        "read.service_time.mean at_most 5ms",
        Open,
        "page cache",
    ),
    (
        "through the page cache, slow",
        || with(|story| story.conduct().direct_io = Some(false)),
        "read.service_time.mean at_most 100us",
        Fail,
        "",
    ),
    (
        "completed inside the submission",
        || with(|story| story.conduct().submission = Submission::Inline),
        "iops at_least 10/s",
        Open,
        "cache",
    ),
    (
        "handed to threads of the kernel",
        || with(|story| story.conduct().submission = Submission::Punted),
        "iops at_least 100k/s",
        Open,
        "worker threads",
    ),
    (
        "submission that waits",
        || with(|story| story.conduct().submission = Submission::Blocking),
        "iops at_least 10/s",
        Open,
        "submission blocked",
    ),
    (
        "bookkeeping that does not close",
        || with(|story| story.conduct().littles_law_ratio = 0.8),
        "read.service_time.mean at_most 5ms",
        Open,
        "Little",
    ),
    (
        "a crash",
        || with(|story| story.measurement.finish = Finish::Unfinished),
        "read.service_time.mean at_most 5ms",
        Open,
        "ended before",
    ),
    (
        "a target half of which was never written",
        || {
            with(|story| {
                story.environment = Some(environment(ContentFacts {
                    written_share: Some(0.5),
                    ..ContentFacts::default()
                }));
            })
        },
        "read.service_time.mean at_most 5ms",
        Open,
        "never written",
    ),
    // What is missing.
    (
        "three intervals",
        || with(|story| story.shorten(3)),
        "read.service_time.mean at_most 1.5ms",
        Open,
        "too short for an interval",
    ),
    (
        "three intervals",
        || with(|story| story.shorten(3)),
        "iops at_least 200/s",
        Open,
        "it was 308/s",
    ),
    ("three intervals, far", || with(|story| story.shorten(3)), "iops at_least 1/s", Pass, ""),
    (
        "no reads",
        || with(|story| story.measurement.streams.clear()),
        "read.service_time.mean at_most 5ms",
        Open,
        "no reads",
    ),
    (
        "no calibration that must be",
        story,
        "optional calibration.read.iops_max at_least 1/s\nerrors at_most 0",
        Pass,
        "",
    ),
    // Calibrations.
    (
        "p99 of 0.2 ms",
        || one_at_a_time(0.18, 0.2, 0.22, 0.1),
        "calibration.read.base_service_time.q0.99 at_most 1ms",
        Pass,
        "",
    ),
    (
        "disks",
        || one_at_a_time(57.0, 59.0, 61.0, 0.1),
        "calibration.read.base_service_time.q0.99 at_most 1ms",
        Fail,
        "",
    ),
    (
        "p99 about the limit",
        || one_at_a_time(0.9, 0.98, 1.1, 0.1),
        "calibration.read.base_service_time.q0.99 at_most 1ms",
        Open,
        "",
    ),
    (
        "p99 of 3 ms on a busy host",
        || one_at_a_time(2.8, 3.0, 3.2, 0.98),
        "calibration.read.base_service_time.q0.99 at_most 1ms",
        Open,
        "too busy to judge the storage",
    ),
    (
        "p99 of 300 I/Os",
        || rarely(300),
        "calibration.read.base_service_time.q0.99 at_most 1ms",
        Open,
        "values beyond the quantile occurred only at 3 separate times",
    ),
    (
        "p99 of 300 I/Os, bounded by a mean of 190 µs",
        || rarely(300),
        "calibration.read.base_service_time.q0.99 at_most 50ms",
        Pass,
        "",
    ),
    (
        "p99.9 of 600 syncs, bounded by a mean of 10 ms",
        story,
        "sync.service_time.q0.999 at_most 20s",
        Pass,
        "",
    ),
    (
        "p99.9 of 600 syncs, near",
        story,
        "sync.service_time.q0.999 at_most 15ms",
        Open,
        "values beyond the quantile occurred only",
    ),
    (
        "p99 of 300 I/Os, slow",
        || rarely(300),
        "calibration.read.base_service_time.q0.99 at_most 100us",
        Fail,
        "",
    ),
    (
        "a mean of hardly a burst",
        of_a_burst,
        "read.service_time.mean at_most 10ms",
        Open,
        "the mean depends on a few bursts",
    ),
    (
        "a mean of hardly a burst, slow",
        of_a_burst,
        "read.service_time.mean at_most 100us",
        Fail,
        "",
    ),
    (
        "another quantile",
        || one_at_a_time(0.18, 0.2, 0.22, 0.1),
        "calibration.read.base_service_time.q0.999 at_most 1ms",
        Open,
        "only the p99",
    ),
    (
        "32,000 within the limit",
        || bounded(CapacityBound::Saturated),
        "calibration.read.iops_within_limit at_least 3000/s",
        Pass,
        "",
    ),
    (
        "32,000 within the limit",
        || bounded(CapacityBound::Saturated),
        "calibration.read.iops_within_limit at_least 50k/s",
        Fail,
        "",
    ),
    (
        "disks keep no limit",
        || one_at_a_time(57.0, 59.0, 61.0, 0.1),
        "calibration.read.iops_within_limit at_least 3000/s",
        Fail,
        "",
    ),
    (
        "perhaps one at a time",
        || one_at_a_time(0.9, 1.05, 1.2, 0.1),
        "calibration.read.iops_within_limit at_least 3000/s",
        Open,
        "",
    ),
    (
        "none within the limit on a busy host",
        || one_at_a_time(2.8, 3.0, 3.2, 0.98),
        "calibration.read.iops_within_limit at_least 3000/s",
        Open,
        "too busy",
    ),
    (
        "still rising",
        || bounded(CapacityBound::StillRising),
        "calibration.read.iops_max at_least 50k/s",
        Open,
        "still rising",
    ),
    (
        "the host ended it",
        || bounded(CapacityBound::Host),
        "calibration.read.iops_max at_least 50k/s",
        Open,
        "host",
    ),
    // Loads on a database.
    ("18,060 new orders/min with 16", orders, "load.new_orders at_least 18000/min", Pass, ""),
    ("18,060 new orders/min with 16", orders, "load.new_orders at_least 301/s", Open, ""),
    ("18,060 new orders/min with 16", orders, "load.new_orders at_least 20k/min", Fail, ""),
    ("repeats from 286 to 453 a second", repeats, "load.new_orders at_least 24k/min", Open, ""),
    (
        "payments of 4 ms",
        orders,
        "load.step.payment.response_time.q0.99 at_most 3ms only 16",
        Fail,
        "",
    ),
    (
        "reads of the page cache",
        || cached(Some(1.0)),
        "load.physical_reads at_least 10/s",
        Open,
        "page cache",
    ),
    ("reads of the storage", || cached(Some(0.0)), "load.physical_reads at_least 900/s", Pass, ""),
    (
        "reads that nobody followed",
        || cached(None),
        "load.physical_reads at_least 900/s",
        Open,
        "unknown",
    ),
    (
        "few new orders on a busy host",
        busy_load,
        "load.new_orders at_least 20k/min",
        Open,
        "too busy to judge the storage",
    ),
];

fn judged(story: &Story, criteria: &Criteria) -> Verdict {
    CriteriaRules::check(criteria).unwrap().judge(&story.facts())
}

/// All reasons of what did not pass.
fn reasons(verdict: &Verdict) -> String {
    let open = verdict.judgements.iter().filter(|found| found.outcome != Pass);
    let said = open.map(|found| match &found.reason {
        Reason::NoEvidence { missing } => missing.clone(),
        _ => found.evidence.doubts.iter().map(|doubt| doubt.what.clone()).collect(),
    });
    said.collect::<Vec<_>>().join(" | ")
}

#[test]
fn every_question_is_answered_with_its_word() {
    let wrong = CASES.iter().filter_map(|(measured, story, question, word, says)| {
        let verdict = judged(&story(), &criteria(question));
        let reasons = reasons(&verdict);
        let is_right = verdict.outcome == *word && reasons.contains(says);
        let found =
            verdict.judgements.iter().map(|found| found.evidence.estimate).collect::<Vec<_>>();
        (!is_right).then(|| {
            format!(
                "{measured}; {question}: {:?} for {word:?}, {reasons}, {found:?}",
                verdict.outcome
            )
        })
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

#[test]
fn a_check_asks_for_p99_and_a_disk_does_not_pass_it() {
    let asked = check_criteria(Nanos(1_000_000), Rate(3000.0)).unwrap();
    for (name, story, word) in [
        ("flash", one_at_a_time(0.18, 0.2, 0.22, 0.1), Pass),
        ("disks", one_at_a_time(57.0, 59.0, 61.0, 0.1), Fail),
        ("a busy host", one_at_a_time(2.8, 3.0, 3.2, 0.98), Open),
    ] {
        let verdict = judged(&story, &asked);
        assert_eq!(verdict.outcome, word, "{name}: {verdict:#?}");
    }
    let strict = check_criteria(Nanos(100_000), Rate(50_000.0)).unwrap();
    assert_eq!(judged(&one_at_a_time(0.18, 0.2, 0.22, 0.1), &strict).outcome, Fail);
    let disks = judged(&one_at_a_time(57.0, 59.0, 61.0, 0.1), &asked);
    assert_eq!(disks.judgements[0].at, "at queue depth 1");
    assert_eq!(disks.judgements[1].at, "with p99 ≤ 1 ms");
}

#[test]
fn criteria_of_2017_judge_means_and_never_fail_a_host() {
    let asked = shipped_criteria("dell-2017").unwrap().unwrap();
    assert_eq!(judged(&story(), &asked).outcome, Pass);
    assert_eq!(judged(&busy(0.952), &asked).outcome, Open);
    assert!(shipped_criteria("dell-2018").unwrap().is_none());
}
