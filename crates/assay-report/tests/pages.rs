//! Pages of made-up reports: what stands on them, that nobody's text becomes markup, that they are
//! well formed, that they stay small, and that relative ones keep absolute figures to themselves.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../examples/made_up/mod.rs"]
mod made_up;
mod markup;

use assay_model::measurement::{
    Finish, Interval, Operation, OperationResult, PerOperation, Remark,
};
use assay_model::verdict::Reason;
use assay_model::{Precision, number};
use assay_report::{
    GivenReport, InputDocument, ReportOptions, RunIncident, RunReport, RunTimeline,
    TimelineBuilder, curve_csv, histograms_csv, html, json, svg, text,
};
use markup::{Element, elements};
use proptest::prelude::*;
use std::path::Path;

const ABSOLUTE: ReportOptions = ReportOptions { relative: false };
const RELATIVE: ReportOptions = ReportOptions { relative: true };

/// Compares with a file of tests/golden; `ASSAY_UPDATE_GOLDEN=1` writes it again.
fn golden(name: &str, written: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("ASSAY_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, written).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (one, other)) in (1..).zip(written.lines().zip(known.lines())) {
        assert_eq!(one, other, "{name}, line {line}; ASSAY_UPDATE_GOLDEN=1 writes it again");
    }
    assert_eq!(written.lines().count(), known.lines().count(), "{name}");
}

/// A page with a line an element, its style and script left out, and long drawings cut short.
fn readable(page: &str) -> String {
    let mut readable = String::new();
    let mut skipping = false;
    for part in page.split_inclusive('>') {
        let tag = &part[part.find('<').unwrap_or(0)..];
        skipping |= tag == "<style>" || tag.starts_with("<script");
        if !skipping {
            readable.push_str(&shortened(part.trim_start()));
            readable.push('\n');
        }
        skipping &= tag != "</style>" && tag != "</script>";
    }
    readable
}

fn shortened(part: &str) -> String {
    match part.split_once(" d=\"") {
        Some((before, drawing)) if drawing.len() > 60 => {
            format!("{before} d=\"{}… {} letters", &drawing[..40], drawing.len())
        }
        _ => part.to_owned(),
    }
}

#[test]
fn the_page_is_what_it_was() {
    golden("page.html", &readable(&html(&made_up::report(30), ABSOLUTE)));
}

#[test]
fn the_text_is_what_it_was() {
    golden("report.txt", &text(&made_up::report(30), ABSOLUTE, false));
    golden("relative.txt", &text(&made_up::report(30), RELATIVE, false));
}

#[test]
fn hosts_that_measured_together_are_what_they_were() {
    let report = made_up::hosts(8, true);
    golden("hosts.html", &readable(&html(&report, ABSOLUTE)));
    golden("hosts.txt", &text(&report, ABSOLUTE, false));
    let relative = html(&report, RELATIVE);
    assert!(!relative.contains("20,1") && !relative.contains("25,500"), "{relative}");
}

/// Many hosts have no panel each: the slowest ones do, and every picture stays small.
#[test]
fn a_page_of_a_thousand_hosts_stays_small_and_names_the_slow_one() {
    let page = html(&made_up::hosts(1000, false), ABSOLUTE);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    assert!(
        page.contains("The 24 slowest of 1000 hosts") && page.contains("db-node-04: lags behind")
    );
}

/// Campaigns of 60 cuts: one that lost something and one that did not.
#[test]
fn pages_of_cuts_are_what_they_were() {
    let (lost, kept) = (made_up::cuts::report(60, true), made_up::cuts::report(60, false));
    golden("lost.html", &readable(&html(&lost, ABSOLUTE)));
    golden("lost.txt", &text(&lost, ABSOLUTE, false));
    golden("kept.txt", &text(&kept, ABSOLUTE, false));
    // 1 - 0.05^(1/60) = 4.87%.
    let said = text(&kept, ABSOLUTE, false);
    assert!(said.contains("lost in 60 power cuts: at most 4.9% per cut"), "{said}");
}

/// What a load remarks stands where it is read first, with its reason below.
#[test]
fn the_remarks_of_a_load_are_on_its_page() {
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contract/examples/small.load.json");
    let mut load: assay_model::load::Load =
        serde_json::from_str(&std::fs::read_to_string(example).unwrap()).unwrap();
    load.remarks.push(Remark {
        what: "the server swam".to_owned(),
        why: "it was wet".to_owned(),
        remedy: "dry it".to_owned(),
    });
    let page = html(&GivenReport { load: Some(load), ..GivenReport::default() }, ABSOLUTE);
    let notes = page.split("Before you rely on it").nth(1).unwrap();
    assert!(notes.contains("The server swam") && notes.contains("dry it"));
}

/// A figure to size by is never taken from an interval as wide as itself.
#[test]
fn a_rate_that_is_hardly_known_is_no_lower_bound() {
    let mut report = made_up::report(30);
    let most = &mut report.calibration.as_mut().unwrap().mixes[0].iops_within_limit;
    let rate = &mut most.as_mut().unwrap().rate;
    (rate.low, rate.high) = (0.0, 2.0 * rate.value);
    let text = text(&report, ABSOLUTE, false).replace("\n  ", " ");
    assert!(text.contains("(95% CI 0 – ") && !text.starts_with("At least"), "{text}");
}

#[test]
fn the_curve_is_what_it_was() {
    golden("curve.csv", &curve_csv(&made_up::report(2), "id").unwrap());
}

#[test]
fn histograms_keep_every_io() {
    let report = made_up::report(3);
    let table = histograms_csv(&report, "id").unwrap();
    let ios_of = |scope: &str| -> u64 {
        let rows = table.lines().filter(|row| row.contains(scope));
        rows.filter_map(|row| row.rsplit(',').next()?.parse::<u64>().ok()).sum()
    };
    let all: u64 = report.runs[0]
        .measurement
        .operations()
        .iter()
        .map(|(_, result)| result.service.ios())
        .sum();
    assert_eq!(ios_of(",stream,"), all);
    assert!(table.starts_with(
        "run_id,workload,scope,name,operation,time,lowest_ns,highest_ns,ios\nid,oltp,stream,\
         sessions,read,service,"
    ));
}

#[test]
fn the_json_form_holds_the_documents() {
    let report = made_up::report(3);
    let value: serde_json::Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
    let measurement = serde_json::to_value(&report.runs[0].measurement).unwrap();
    assert_eq!(value["runs"][0]["measurement"], measurement);
    assert_eq!(value["verdict"]["outcome"], "FAIL");
    assert_eq!(value["calibration"]["mixes"][2]["name"], "mix 70/30");
}

#[test]
fn every_page_is_well_formed_and_loads_nothing() {
    let full = made_up::report(20);
    let only_run =
        GivenReport { calibration: None, verdict: None, environment: None, ..full.clone() };
    let only_calibration = GivenReport { runs: Vec::new(), ..full.clone() };
    for (report, options) in [
        (&full, ABSOLUTE),
        (&full, RELATIVE),
        (&only_run, ABSOLUTE),
        (&only_run, RELATIVE),
        (&only_calibration, ABSOLUTE),
        (&GivenReport::default(), ABSOLUTE),
    ] {
        let page = html(report, options);
        let elements = elements(&page).unwrap();
        well_named(&elements);
        for forbidden in [" src=", "url(", "@import", "NaN", "inf ", "<link"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        // The one address is the name of SVG, which scripts need and nobody loads.
        assert_eq!(page.matches("http").count(), page.matches("http-equiv").count() + 1);
        assert!(!text(report, options, false).contains("NaN"));
    }
}

/// Ids are unique, and every reference has its id.
fn well_named(elements: &[Element]) {
    let values = |name: &str| -> Vec<&str> {
        let of = elements.iter().filter_map(|element| element.attribute(name));
        of.flat_map(str::split_whitespace).collect()
    };
    let ids = values("id");
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id stands twice");
    let links = values("href").into_iter().map(|link| link.trim_start_matches('#'));
    let named = values("aria-labelledby").into_iter().chain(values("data-timeline"));
    for reference in named.chain(links) {
        assert!(unique.contains(reference), "{reference}");
    }
    let charts = elements.iter().filter(|element| element.attribute("role") == Some("img"));
    assert!(charts.clone().all(|chart| chart.attribute("aria-labelledby").is_some()));
    let heads = elements.iter().filter(|element| element.name == "th");
    assert!(heads.clone().all(|head| head.attribute("scope").is_some()));
}

fn fill<const N: usize>(places: [&mut String; N], words: &str) {
    for place in places {
        words.clone_into(place);
    }
}

/// The same report with this text wherever a person or a system may have put theirs.
fn filled(mut report: GivenReport, words: &str) -> GivenReport {
    fill([&mut report.title, &mut report.target, &mut report.program, &mut report.command], words);
    report.documents = vec![InputDocument { name: words.to_owned(), text: words.to_owned() }];
    for run in &mut report.runs {
        run.events = vec![RunIncident { at_ns: 5, what: words.to_owned() }];
        let measurement = &mut run.measurement;
        measurement.finish = Finish::Failed { reason: words.to_owned() };
        let results = measurement.streams.iter_mut().chain(&mut measurement.targets);
        for result in results {
            fill([&mut result.name], words);
        }
        for error in &mut measurement.errors {
            fill([&mut error.target, &mut error.meaning], words);
        }
        let conduct = &mut measurement.conduct;
        fill([&mut conduct.features[0], &mut measurement.workload], words);
        for remark in &mut conduct.remarks {
            fill([&mut remark.what, &mut remark.why, &mut remark.remedy], words);
        }
    }
    fill_documents(&mut report, words);
    report
}

fn fill_documents(report: &mut GivenReport, words: &str) {
    let verdict = report.verdict.as_mut().unwrap();
    fill([&mut verdict.criteria], words);
    for judgement in &mut verdict.judgements {
        fill([&mut judgement.label, &mut judgement.why, &mut judgement.source], words);
        judgement.subject = Some(words.to_owned());
        judgement.reason = Reason::NoEvidence { missing: words.to_owned() };
    }
    let calibration = report.calibration.as_mut().unwrap();
    for mix in &mut calibration.mixes {
        fill([&mut mix.name], words);
        if let Some(knee) = &mut mix.knee {
            fill([&mut knee.rule], words);
        }
    }
    let environment = report.environment.as_mut().unwrap();
    fill([&mut environment.host.name, &mut environment.host.kernel], words);
    for finding in &mut environment.findings {
        fill([&mut finding.what, &mut finding.value, &mut finding.why, &mut finding.remedy], words);
    }
    let stack = &mut environment.storage[0].stack;
    fill([&mut stack.path], words);
    for layer in &mut stack.layers {
        fill([&mut layer.name], words);
        layer.model = Some(words.to_owned());
        layer.lower = vec![words.to_owned()];
    }
}

/// Names of the elements and of their attributes; the places where paths may break do not count.
fn structure(page: &str) -> Vec<String> {
    let shown = elements(page).unwrap().into_iter().filter(|element| element.name != "wbr");
    shown.map(|element| element.shape()).collect()
}

#[test]
fn known_attacks_stay_words() {
    let report = made_up::report(4);
    let harmless = structure(&html(&filled(report.clone(), "harmless"), ABSOLUTE));
    for attack in [
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onload='alert(1)",
        "<!--",
        "]]>",
        "</style><svg/onload=alert(1)>",
        "&lt;b&gt;",
        "\u{202e}txt.exe",
        "\u{0}\u{1b}[31m",
    ] {
        let hostile = filled(report.clone(), attack);
        assert_eq!(structure(&html(&hostile, ABSOLUTE)), harmless, "{attack}");
        let shown = text(&hostile, ABSOLUTE, false);
        assert!(!shown.chars().any(|letter| letter.is_control() && letter != '\n'));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn no_text_changes_the_structure_of_a_page(words in "[<>&\"'/=\\-!a-z\\PC]{1,40}") {
        let report = made_up::report(2);
        let harmless = structure(&html(&filled(report.clone(), "x"), ABSOLUTE));
        prop_assert_eq!(structure(&html(&filled(report, &words), ABSOLUTE)), harmless);
    }
}

/// Intervals of a storage that is never twice the same; times spread over that many powers of ten
/// above a microsecond.
fn restless(intervals: u64, operations: &[Operation], ios: u64, decades: f64) -> TimelineBuilder {
    let mut dice = made_up::Dice::new(3);
    let mut builder = TimelineBuilder::new();
    for index in 0..intervals {
        let mut all = PerOperation::default();
        for operation in operations {
            let mut result = OperationResult::empty(Precision::Coarse, false);
            result.ios = ios * (1 + index % 7);
            for _ in 0..ios {
                let time = 10f64.powf(3.0 + decades * dice.roll());
                result.service.record(number::count(time));
            }
            *all.slot(*operation) = Some(result);
        }
        builder.add(&Interval {
            index,
            start_ns: index * 1_000_000_000,
            end_ns: (index + 1) * 1_000_000_000,
            operations: all,
            queue_depth_mean: 1.0,
        });
    }
    builder
}

#[test]
fn a_page_stays_below_a_megabyte() {
    let mut report = made_up::report(4);
    // As many columns as a timeline ever has, each full of different times.
    report.runs[0].timeline = restless(959, &Operation::ALL, 60, 7.0).finish();
    assert!(html(&report, ABSOLUTE).len() < 1_000_000, "{}", html(&report, ABSOLUTE).len());
    report.runs = vec![report.runs[0].clone(); 4];
    assert!(html(&report, ABSOLUTE).len() < 1_300_000, "{}", html(&report, ABSOLUTE).len());
}

#[test]
fn a_day_of_intervals_is_no_longer_than_a_screen() {
    let mut report = made_up::report(4);
    report.runs[0].timeline = restless(86_400, &[Operation::Read], 2, 0.5).finish();
    assert_eq!(report.runs[0].timeline.intervals(), 86_400);
    assert!(html(&report, ABSOLUTE).len() < 1_000_000);
}

/// Whether a number with one of these units stands in a text.
fn figure_with(text: &str, units: &[&str]) -> Option<String> {
    let found = |unit: &&str| {
        text.match_indices(*unit).find_map(|(place, _)| {
            let before = text[..place].trim_end().chars().next_back()?;
            let behind = text[place + unit.len()..].chars().next();
            let whole = behind.is_none_or(|letter| !letter.is_alphanumeric());
            (before.is_ascii_digit() && whole)
                .then(|| text[place.saturating_sub(20)..].chars().take(40).collect())
        })
    };
    units.iter().find_map(found)
}

#[test]
fn a_relative_report_keeps_absolute_figures_to_itself() {
    let report = made_up::report(30);
    let page = html(&report, RELATIVE);
    let shown: String =
        page.split("<script").map(|part| part.split("</script>").last().unwrap()).collect();
    let written = text(&report, RELATIVE, false);
    for (what, text) in
        [("page", shown.split("</style>").last().unwrap()), ("text", written.as_str())]
    {
        assert_eq!(
            figure_with(text, &["ns", "µs", "ms", "/s", "kB/s", "MB/s", "GB/s"]),
            None,
            "{what}"
        );
    }
    let operations = report.runs[0].measurement.operations();
    let ios = assay_model::units::show_count(number::real(operations.read.unwrap().ios));
    for figure in [ios.as_str(), "94,559", "121,000", "orders.criteria.toml", "duration ="] {
        assert!(html(&report, ABSOLUTE).contains(figure) || figure == "94,559", "{figure}");
        assert!(!page.contains(figure) && !written.contains(figure), "{figure}");
    }
}

#[test]
fn drawings_are_named_apart_and_complete() {
    let mut report = made_up::report(5);
    report.calibration.as_mut().unwrap().mixes.drain(..2);
    let mut run = report.runs.remove(0);
    run.timeline = RunTimeline::default();
    run.measurement.streams[0].operations.write = None;
    run.measurement.streams[0].operations.sync = None;
    let timeline = restless(9, &[Operation::Read], 9, 2.0).finish();
    report.runs = vec![run.clone(), RunReport { timeline, ..run }];
    let drawings = svg(&report, ABSOLUTE);
    let names: Vec<&str> = drawings.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "load-curve-mix-70-30.svg",
        "throughput.svg",
        "run-1-histogram-read.svg",
        "run-1-tail.svg",
        "run-2-histogram-read.svg",
        "run-2-tail.svg",
        "run-2-iops-over-time.svg",
        "run-2-latency-over-time-read.svg",
        "run-2-heat-map-read.svg",
    ];
    assert_eq!(names, expected);
    for (name, drawing) in &drawings {
        let count = |part: &str| drawing.matches(part).count();
        assert!(drawing.starts_with("<svg xmlns=") && drawing.len() > 2_000, "{name}");
        assert_eq!(count("<svg"), count("</svg>"), "{name}");
        // A chart that depends on the page's variables would be black elsewhere.
        assert!(!drawing.contains("var("), "{name}");
    }
}
