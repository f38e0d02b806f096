//! Verdicts on made-up documents: every way that a criterion can end, and the documents other
//! programs may rely on.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod made_up;

use assay_judge::{CriteriaRules, CriterionQuantity, Facts, JudgedRun, SHIPPED, estimates_of_run};
use assay_model::calibration::CapacityBound;
use assay_model::counters::{Counters, DeviceCounters, NamedDevice};
use assay_model::measurement::{Finish, Submission};
use assay_model::target::ContentFacts;
use assay_model::verdict::{
    Bias, Doubt, Judgement, NamedEstimate, Outcome, Reason, Verdict, parse_criteria,
};
use assay_model::{Estimate, Histogram, Precision};
use made_up::{Story, calibration, criteria, story};
use std::path::Path;

fn judge(text: &str, story: &Story) -> Verdict {
    let rules = CriteriaRules::check(&criteria(text)).unwrap();
    rules.judge(&story.facts())
}

fn only(text: &str, story: &Story) -> Judgement {
    judge(text, story).judgements.remove(0)
}

fn outcome(text: &str, story: &Story) -> Outcome {
    only(text, story).outcome
}

#[test]
fn every_kind_of_amount_is_found() {
    let story = story();
    for (quantity, limit, expected) in [
        ("read.service_time.mean", "1.1ms", Outcome::Pass),
        ("read.service_time.q0.5", "900us", Outcome::Fail),
        ("read.service_time.max", "1.25ms", Outcome::Pass),
        ("read.response_time.mean", "1.1ms", Outcome::Pass),
        ("sync.service_time.q0.9", "30ms", Outcome::Pass),
        ("iops", "400/s", Outcome::Pass),
        ("read.iops", "90/s", Outcome::Fail),
        ("throughput", "10MB/s", Outcome::Pass),
        ("write.throughput", "100kB/s", Outcome::Fail),
        ("errors", "0", Outcome::Pass),
        ("write.errors", "0", Outcome::Pass),
        ("host.cpu_busy", "80%", Outcome::Pass),
    ] {
        let judgement = only(&format!("{quantity} at_most {limit}"), &story);
        assert_eq!(judgement.outcome, expected, "{quantity}: {:?}", judgement.evidence);
    }
}

#[test]
fn each_target_and_stream_is_judged_for_itself() {
    let verdict = judge("target.read.service_time.mean at_most 1.05ms", &story());
    let ends: Vec<_> = verdict
        .judgements
        .iter()
        .map(|judgement| (judgement.subject.as_deref(), judgement.outcome))
        .collect();
    assert_eq!(ends, [(Some("/data/a"), Outcome::Pass), (Some("/data/b"), Outcome::Fail)]);
    assert_eq!(verdict.outcome, Outcome::Fail);
    let one = judge("target.read.service_time.mean at_most 1.05ms only /data/a", &story());
    assert_eq!((one.judgements.len(), one.outcome), (1, Outcome::Pass));
    let none = only("stream.iops at_least 1/s only redo", &story());
    let missing = "nothing named 'redo' was measured".to_owned();
    assert_eq!(none.reason, Reason::NoEvidence { missing });
}

#[test]
fn the_number_shown_is_that_of_the_totals() {
    let story = story();
    let estimate = only("read.service_time.q0.99 at_most 1s", &story).evidence.estimate.unwrap();
    let total = story.measurement.operations().read.unwrap().service;
    assert!((estimate.value - assay_model::number::real(total.quantile_ns(0.99))).abs() < 1e-9);
    assert!(estimate.covers(estimate.value));
}

#[test]
fn what_is_missing_is_said() {
    let missing = |text: &str, story: &Story| match only(text, story).reason {
        Reason::NoEvidence { missing } => missing,
        other => panic!("{other:?}"),
    };
    let mut story = story();
    assert_eq!(missing("calibration.read.iops_max at_least 1/s", &story), "nothing was calibrated");
    assert_eq!(
        missing("host.tcp_retransmits at_most 1%", &story),
        "the host sent fewer than 1,000 TCP segments, or none were counted"
    );
    story.shorten(3);
    assert_eq!(
        missing("iops at_least 300/s", &story),
        "it was 308/s, but 3 s are too short for an interval; seconds ranged from 304 to 312/s; \
         about 20 s are needed for ±20%"
    );
    story.measurement.streams.clear();
    assert_eq!(missing("read.service_time.mean at_most 1ms", &story), "no reads were measured");
    assert_eq!(missing("iops at_least 1/s", &story), "no reads and no writes were measured");
    story.measurement.conduct.host_busy_share = None;
    assert_eq!(
        missing("host.cpu_busy at_most 80%", &story),
        "the CPU utilization of the host is unknown"
    );
    story.run = false;
    assert_eq!(missing("errors at_most 0", &story), "no workload was run");
    assert_eq!(missing("host.cpu_busy at_most 80%", &story), "no workload was run");
    story.calibration = Some(calibration(CapacityBound::Saturated));
    assert_eq!(
        missing("calibration.mix.iops_max at_least 1/s", &story),
        "mixes of reads and writes were not calibrated"
    );
    assert_eq!(
        missing("calibration.read.knee_iops at_least 1/s", &story),
        "the curve shows no knee"
    );
}

#[test]
fn an_optional_criterion_without_evidence_is_left_out_but_not_one_that_is_unsure() {
    let mut story = story();
    let verdict =
        judge("optional calibration.read.iops_max at_least 1/s\nerrors at_most 0", &story);
    assert_eq!((verdict.outcome, verdict.judgements.len()), (Outcome::Pass, 1));
    assert_eq!(verdict.left_out[0].missing, "nothing was calibrated");
    story.shorten(2);
    assert_eq!(outcome("optional iops at_least 1/s", &story), Outcome::Inconclusive);
}

#[test]
fn a_short_run_decides_where_the_limit_is_far_from_every_second() {
    let mut story = story();
    story.shorten(3);
    for (text, expected) in [
        ("iops at_least 150/s", Outcome::Pass),
        ("iops at_least 160/s", Outcome::Inconclusive),
        ("iops at_least 620/s", Outcome::Inconclusive),
        ("iops at_least 630/s", Outcome::Fail),
        ("read.service_time.mean at_most 3ms", Outcome::Pass),
        ("read.service_time.mean at_most 400us", Outcome::Fail),
        // What is rare may only not have been seen.
        ("read.service_time.q0.99 at_most 1s", Outcome::Inconclusive),
        ("read.service_time.q0.99 at_most 400us", Outcome::Fail),
    ] {
        assert_eq!(outcome(text, &story), expected, "{text}");
    }
    let failed = only("iops at_least 1000/s", &story);
    assert_eq!(failed.evidence.estimate.map(|estimate| estimate.has_interval()), Some(false));
    assert!(
        matches!(failed.reason, Reason::FarFromLimit { lowest_value, .. } if lowest_value > 300.0)
    );
    story.measurement.conduct.host_busy_share = Some(0.99);
    let doubted = only("iops at_least 1000/s", &story);
    assert_eq!((doubted.outcome, doubted.reason), (Outcome::Inconclusive, Reason::Doubtful));
}

#[test]
fn a_straddling_interval_says_how_long_to_measure() {
    let judgement = only("read.service_time.mean at_most 1073us", &story());
    assert_eq!(judgement.outcome, Outcome::Inconclusive);
    let Reason::Straddles { enough_s: Some(enough_s) } = judgement.reason else {
        panic!("{judgement:?}");
    };
    assert!(enough_s > 60.0, "{enough_s}");
}

type Flaw = (&'static str, fn(&mut Story), Outcome, Outcome);

/// What a good and a bad result become under each flaw of the conduct.
const FLAWS: [Flaw; 11] = {
    use Outcome::{Fail, Inconclusive as Open, Pass};
    [
        ("nothing", |_| (), Pass, Fail),
        ("busy worker", |s| s.conduct().worker_busy_share_max = 0.99, Pass, Open),
        ("busy host", |s| s.conduct().host_busy_share = Some(0.97), Pass, Open),
        ("page cache", |s| s.conduct().direct_io = Some(false), Open, Fail),
        ("inline", |s| s.conduct().submission = Submission::Inline, Open, Fail),
        ("punted", |s| s.conduct().submission = Submission::Punted, Pass, Open),
        ("blocking", |s| s.conduct().submission = Submission::Blocking, Open, Open),
        ("bookkeeping", |s| s.conduct().littles_law_ratio = 0.8, Open, Open),
        ("errors", |s| s.fail_ios(500), Open, Fail),
        ("crash", |s| s.measurement.finish = Finish::Unfinished, Open, Open),
        ("given", |s| s.doubts.push(sparse()), Open, Fail),
    ]
};

#[test]
fn what_the_tool_did_wrong_undoes_what_it_could_have_caused() {
    for (name, flaw, good, bad) in FLAWS {
        let mut story = story();
        flaw(&mut story);
        for (criterion, expected) in [
            ("read.service_time.mean at_most 5ms", good),
            ("read.service_time.mean at_most 100us", bad),
            ("iops at_least 10/s", good),
            ("iops at_least 100k/s", bad),
        ] {
            assert_eq!(outcome(criterion, &story), expected, "{name}: {criterion}");
        }
    }
}

fn sparse() -> Doubt {
    Doubt { what: "the target is sparse".into(), bias: Bias::Flattering, remedy: "write it".into() }
}

#[test]
fn a_target_that_need_not_be_read_puts_reads_in_doubt() {
    let content = |written, zeros, compressed, compresses| ContentFacts {
        written_share: written,
        zero_share: zeros,
        compressed_ratio: compressed,
        file_system_compresses: compresses,
        ..ContentFacts::default()
    };
    for (content, reads) in [
        (content(Some(1.0), Some(0.01), Some(0.3), Some(false)), Outcome::Pass),
        (content(None, None, None, None), Outcome::Pass),
        (content(Some(0.5), None, None, None), Outcome::Inconclusive),
        (content(Some(1.0), Some(0.5), None, None), Outcome::Inconclusive),
        (content(None, None, Some(0.3), Some(true)), Outcome::Inconclusive),
    ] {
        let mut story = story();
        story.calibration = Some(calibration(CapacityBound::Saturated));
        story.environment = Some(made_up::environment(content));
        for (criterion, expected) in [
            ("read.service_time.mean at_most 5ms", reads),
            ("iops at_least 10/s", reads),
            ("calibration.read.iops_max at_least 10/s", reads),
            ("write.service_time.mean at_most 5ms", Outcome::Pass),
        ] {
            assert_eq!(
                outcome(criterion, &story),
                expected,
                "{criterion}: {:?}",
                story.environment
            );
        }
    }
}

#[test]
fn near_its_own_ceiling_the_tool_is_measured() {
    let mut story = story();
    for (ceiling_iops, fails) in [(3000.0, Outcome::Fail), (310.0, Outcome::Inconclusive)] {
        story.conduct().ceiling_iops = Some(ceiling_iops);
        assert_eq!(outcome("iops at_least 100k/s", &story), fails);
        assert_eq!(outcome("iops at_least 10/s", &story), Outcome::Pass);
    }
}

/// A run of 100 MiB of reads and as many of writes, of which the kernel saw these amounts on these
/// devices.
fn witnessed(devices: &[(&str, u64, u64)], targets: usize) -> Story {
    let device = |(name, read_mib, write_mib): &(&str, u64, u64)| NamedDevice {
        name: (*name).to_owned(),
        outstanding_ios: 0,
        counters: DeviceCounters {
            read_bytes: read_mib << 20,
            write_bytes: write_mib << 20,
            ..DeviceCounters::default()
        },
    };
    let mut story = story();
    story.measurement.targets.truncate(targets);
    for result in &mut story.measurement.streams {
        result.operations.read.as_mut().unwrap().bytes = 100 << 20;
        result.operations.write.as_mut().unwrap().bytes = 100 << 20;
    }
    let devices = devices.iter().map(device).collect();
    story.conduct().kernel = Some(Counters { devices, ..Counters::default() });
    story
}

#[test]
fn bytes_that_no_device_moved_came_from_a_cache() {
    use Outcome::{Inconclusive as Open, Pass};
    // A mirror writes twice and reads once; a mapped device passes everything on.
    let mirror = witnessed(&[("md0", 99, 98), ("sda", 50, 98)], 1);
    let reads_cached = witnessed(&[("sda", 3, 98)], 1);
    let writes_cached = witnessed(&[("sda", 99, 3)], 1);
    let nothing_counted = witnessed(&[], 1);
    let halves = [("sda", 50, 50), ("sdb", 50, 50)];
    let stories = vec![
        ("mirror", mirror, Pass, Pass),
        ("reads cached", reads_cached, Open, Pass),
        ("writes cached", writes_cached, Pass, Open),
        ("nothing counted", nothing_counted, Pass, Pass),
        ("half of one target", witnessed(&halves, 1), Open, Open),
        ("two targets", witnessed(&halves, 2), Pass, Pass),
    ];
    for (name, story, reads, writes) in stories {
        for (criterion, expected) in [
            ("read.service_time.mean at_most 5ms", reads),
            ("iops at_least 1/s", reads),
            ("write.service_time.mean at_most 5ms", writes),
            ("sync.service_time.mean at_most 50ms", Pass),
        ] {
            assert_eq!(outcome(criterion, &story), expected, "{name}: {criterion}");
        }
    }
}

#[test]
fn bytes_past_the_block_layer_are_not_missed_by_its_counters() {
    use Outcome::{Inconclusive as Open, Pass};
    let outcome_of = |mut story: Story, through: &[usize]| {
        let names = through.iter().map(|index| story.measurement.targets[*index].name.clone());
        let names: Vec<String> = names.collect();
        for result in &mut story.measurement.targets {
            result.operations.read.as_mut().unwrap().bytes = 100 << 20;
        }
        story.conduct().passthrough = names;
        outcome("read.service_time.mean at_most 5ms", &story)
    };
    let quiet = [("nvme0n1", 0, 0)];
    assert_eq!(outcome_of(witnessed(&quiet, 1), &[]), Open);
    assert_eq!(outcome_of(witnessed(&quiet, 1), &[0]), Pass);
    // The other target is still held against the counters.
    let both = |read_mib| witnessed(&[("nvme0n1", 0, 0), ("sda", read_mib, 0)], 2);
    assert_eq!(outcome_of(both(99), &[0]), Pass);
    assert_eq!(outcome_of(both(3), &[0]), Open);
    assert_eq!(outcome_of(both(0), &[0, 1]), Pass);
}

#[test]
fn nothing_past_the_block_layer_is_a_cache() {
    let mut story = story();
    story.conduct().submission = Submission::Inline;
    assert_eq!(outcome("read.service_time.mean at_most 5ms", &story), Outcome::Inconclusive);
    let name = story.measurement.targets[0].name.clone();
    story.conduct().passthrough = vec![name];
    assert_eq!(outcome("read.service_time.mean at_most 5ms", &story), Outcome::Pass);
}

#[test]
fn counts_are_facts_whatever_the_tool_did() {
    let mut story = story();
    story.conduct().littles_law_ratio = 0.5;
    story.doubts.push(sparse());
    assert_eq!(outcome("errors at_most 0", &story), Outcome::Pass);
    story.measurement.finish = Finish::Failed { reason: "ENOSPC".into() };
    assert_eq!(outcome("errors at_most 0", &story), Outcome::Inconclusive);
    assert_eq!(
        only("errors at_most 0", &story).evidence.doubts[0].what,
        "the run could not continue: ENOSPC"
    );
}

#[test]
fn a_virtual_clock_is_never_late() {
    let mut story = story();
    story.conduct().worker_busy_share_max = 1.0;
    story.conduct().clock = assay_model::measurement::ClockKind::Virtual;
    assert_eq!(outcome("read.service_time.mean at_most 100us", &story), Outcome::Fail);
}

#[test]
fn late_and_missed_arrivals_only_matter_for_response_times() {
    let mut story = story();
    let mut late = Histogram::new(Precision::Fine);
    late.record_many(5_000_000, 100);
    story.conduct().start_error = Some(late);
    story.conduct().missed_arrivals = 1000;
    assert_eq!(outcome("read.service_time.mean at_most 5ms", &story), Outcome::Pass);
    let judgement = only("read.response_time.mean at_most 5ms", &story);
    assert_eq!(judgement.outcome, Outcome::Inconclusive);
    assert_eq!(judgement.evidence.doubts.len(), 2);
}

#[test]
fn a_capacity_that_the_storage_did_not_end_may_be_larger() {
    for (bound, short_of) in [
        (CapacityBound::Saturated, Outcome::Fail),
        (CapacityBound::LatencyLimit, Outcome::Fail),
        (CapacityBound::Host, Outcome::Inconclusive),
        (CapacityBound::StillRising, Outcome::Inconclusive),
        (CapacityBound::TimeBudget, Outcome::Inconclusive),
        (CapacityBound::Contradicted, Outcome::Inconclusive),
    ] {
        let mut story = story();
        story.calibration = Some(calibration(bound));
        assert_eq!(
            outcome("calibration.read.iops_max at_least 50k/s", &story),
            short_of,
            "{bound:?}"
        );
        assert_eq!(
            outcome("calibration.read.iops_within_limit at_least 30k/s", &story),
            Outcome::Pass
        );
    }
}

#[test]
fn a_capacity_that_other_parts_contradict_passes_nothing() {
    let mut story = story();
    story.calibration = Some(calibration(CapacityBound::Contradicted));
    let outcome = outcome("calibration.read.iops_max at_least 30k/s", &story);
    assert_eq!(outcome, Outcome::Inconclusive);
}

#[test]
fn a_limit_that_one_io_breaks_leaves_no_rate() {
    let mut story = story();
    let mut calibration = calibration(CapacityBound::Saturated);
    calibration.mixes[0].iops_within_limit = None;
    story.calibration = Some(calibration);
    assert_eq!(outcome("calibration.read.iops_within_limit at_least 1/s", &story), Outcome::Fail);
    assert_eq!(outcome("calibration.read.base_service_time at_most 1ms", &story), Outcome::Pass);
    assert_eq!(outcome("calibration.read.throughput_max at_least 400MB/s", &story), Outcome::Pass);
    assert_eq!(
        outcome("calibration.read.single_stream_throughput at_least 300MB/s", &story),
        Outcome::Fail
    );
}

#[test]
fn what_the_caller_knows_is_preferred() {
    let mut story = story();
    let estimate = Estimate::exact(0.02, 1000);
    story.given.push(NamedEstimate {
        quantity: "host.tcp_retransmits".to_owned(),
        subject: None,
        estimate,
    });
    assert_eq!(outcome("host.tcp_retransmits at_most 0.5%", &story), Outcome::Inconclusive);
}

#[test]
fn the_numbers_of_a_page_have_intervals() {
    let story = story();
    let run = JudgedRun { measurement: &story.measurement, series: &story.series };
    let estimates = estimates_of_run(run);
    let of = |quantity: &str, subject: Option<&str>| {
        let named = estimates
            .iter()
            .find(|named| named.quantity == quantity && named.subject.as_deref() == subject);
        named.map(|named| named.estimate.value.round())
    };
    assert_eq!(of("iops", None), Some(308.0));
    assert_eq!(of("target.read.service_time.mean", Some("/data/b")), Some(1_125_647.0));
    assert_eq!(of("stream.iops", Some("oltp")), None);
    assert_eq!(of("read.service_time.max", None), None);
}

#[test]
fn criteria_are_refused_before_anything_is_measured() {
    let refused = |text: &str| {
        let error = CriteriaRules::check(&criteria(text)).unwrap_err();
        format!("{} | {}", error.message(), error.hint())
    };
    assert_eq!(
        refused("read.service_tim.mean at_most 1ms"),
        "'read.service_tim.mean' is not a known quantity | did you mean 'read.service_time.mean'?"
    );
    assert_eq!(
        refused("iops at_least 20ms"),
        "criterion 'iops': 'ms' in '20ms' is not a unit | write for example 20000/s or 20k/s"
    );
    assert_eq!(
        refused("read.iops at_least 1/s only x"),
        "criterion 'read.iops': 'only' does not apply | remove it, or write stream.read.iops or \
         target.read.iops"
    );
}

#[test]
fn a_workload_that_cannot_answer_is_said_before_the_run() {
    let workload = made_up::workload();
    let unanswered =
        |text: &str| CriteriaRules::check(&criteria(text)).unwrap().unanswered_by(&workload);
    assert_eq!(
        unanswered(
            "read.iops at_least 1/s\nhost.cpu_busy at_most 80%\noptional sync.iops at_least 1/s"
        ),
        Vec::<String>::new()
    );
    assert_eq!(
        unanswered(
            "sync.service_time.mean at_most 1ms\nstream.read.iops at_least 1/s only \
             redo\ncalibration.read.iops_max at_least 1/s"
        ),
        [
            "'sync.service_time.mean': the workload issues no syncs",
            "'stream.read.iops': the workload has no stream 'redo'",
            "'calibration.read.iops_max' needs a calibration"
        ]
    );
    let rules = |text: &str| CriteriaRules::check(&criteria(text)).unwrap();
    assert!(rules("calibration.read.iops_max at_least 1/s").need_calibration());
    assert!(!rules("errors at_most 0").need_calibration());
}

#[test]
fn the_criteria_that_ship_are_sound_and_say_their_source() {
    for (name, text) in SHIPPED {
        let shipped = parse_criteria(text).unwrap();
        CriteriaRules::check(&shipped).unwrap();
        assert_eq!(shipped.name, name);
        let is_known = |criterion: &assay_model::verdict::Criterion| {
            criterion.source.len() > 5 && criterion.why.len() > 20
        };
        assert!(shipped.criteria.iter().all(is_known), "{name}");
    }
}

#[test]
fn nothing_at_all_is_no_pass() {
    let facts = Facts {
        dss: None,
        integrity: None,
        calibration: None,
        run: None,
        load: None,
        environment: None,
        given: &[],
        doubts: &[],
    };
    for (_, text) in SHIPPED {
        let rules = CriteriaRules::check(&parse_criteria(text).unwrap()).unwrap();
        assert_eq!(rules.judge(&facts).outcome, Outcome::Inconclusive);
    }
}

#[test]
fn the_documents_in_the_contract_are_what_is_written() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/examples");
    let text = std::fs::read_to_string(examples.join("oltp.criteria.toml")).unwrap();
    let mut story = story();
    story.calibration = Some(calibration(CapacityBound::StillRising));
    let rules = CriteriaRules::check(&parse_criteria(&text).unwrap()).unwrap();
    let verdict = rules.judge(&story.facts());
    let written = serde_json::to_string_pretty(&verdict).unwrap() + "\n";
    let golden = examples.join("oltp.verdict.json");
    if std::env::var_os("ASSAY_UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &written).unwrap();
    }
    let golden = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(serde_json::from_str::<Verdict>(&golden).unwrap(), verdict);
    assert_eq!(written, golden, "set ASSAY_UPDATE_GOLDEN=1 to write it again");
}

#[test]
fn the_manual_names_quantities_that_exist() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods/verdict.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let section = manual.split("## Quantities").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let names: Vec<&str> = rows
        .flat_map(|row| row.split(" | ").next().unwrap().split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(names.len(), 33);
    for name in names {
        assert!(name.parse::<CriterionQuantity>().is_ok(), "{name}");
    }
}
