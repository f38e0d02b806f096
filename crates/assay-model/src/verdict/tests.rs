//! Criteria and verdicts as documents: what is read, what is refused, what is shown.

use super::*;
use crate::number::count;
use proptest::prelude::*;

const TEXT: &str = "format = 1\nname = \"x\"\n[[criterion]]\nquantity = \"errors\"\nat_most = 0\n";

fn refused(text: &str) -> (String, String) {
    let error = parse_criteria(text).unwrap_err();
    (error.message().to_owned(), error.hint().to_owned())
}

#[test]
fn a_limit_may_be_written_as_number_or_text() {
    let criteria = parse_criteria(TEXT).unwrap();
    assert_eq!(criteria.criteria[0].at_most, Some(Bound("0".to_owned())));
    let text = TEXT.replace("= 0", "= \"20ms\"");
    assert_eq!(parse_criteria(&text).unwrap().criteria[0].at_most, Some(Bound("20ms".to_owned())));
    let text = TEXT.replace("= 0", "= 0.8");
    assert_eq!(parse_criteria(&text).unwrap().criteria[0].at_most, Some(Bound("0.8".to_owned())));
}

#[test]
fn how_much_longer_to_measure_is_rounded_up() {
    let shown = [0.9, 1.2, 1.6, 2.0, 2.1, 298.4].map(times_as_long);
    let times = ["1.5 times", "1.5 times", "twice", "twice", "3 times", "299 times"];
    assert_eq!(shown, times.map(|times| format!("{times} as long")));
}

#[test]
fn the_form_is_checked() {
    assert_eq!(
        refused(&TEXT.replace("at_most", "at_mots")),
        (
            "criteria, line 5: unknown name 'at_mots'".to_owned(),
            "did you mean 'at_most'? known here: quantity, only, at_most, at_least, optional, \
             why, source"
                .to_owned()
        )
    );
    assert_eq!(refused(&TEXT.replace("= 1", "= 2")).0, "format 2 is not known");
    assert_eq!(refused("format = 1\nname = \"x\"\n").0, "the document has no criteria");
    assert_eq!(refused(&TEXT.replace("at_most = 0", "")).0, "criterion 'errors' has no limit");
    assert_eq!(refused(&format!("{TEXT}at_least = 1\n")).0, "criterion 'errors' has two limits");
    assert!(refused(&TEXT.replace("= 0", "= true")).0.contains("a limit with its unit"));
}

#[test]
fn every_unit_reads_its_own_and_refuses_others() {
    let read = |unit: Unit, text: &str| unit.parse(text).ok().map(count);
    assert_eq!(read(Unit::Ns, "1.5ms"), Some(1_500_000));
    assert_eq!(read(Unit::IosPerS, "20k/s"), Some(20_000));
    assert_eq!(read(Unit::BytesPerS, "500MB/s"), Some(500_000_000));
    assert_eq!(read(Unit::BytesPerS, "1 MiB/s"), Some(1 << 20));
    assert_eq!(read(Unit::Count, "1_000"), Some(1000));
    assert!((Unit::Share.parse("80%").unwrap() - 0.8).abs() < 1e-12);
    for (unit, text) in [
        (Unit::Ns, "20"),
        (Unit::Ns, "20MB/s"),
        (Unit::IosPerS, "20ms"),
        (Unit::BytesPerS, "20MB"),
        (Unit::BytesPerS, "20/s"),
        (Unit::Share, "80ms"),
        (Unit::Count, "1.5"),
    ] {
        let error = unit.parse(text).unwrap_err();
        assert!(error.message().contains(text), "{error}");
        assert_eq!(error.hint(), format!("write for example {}", unit.example()));
    }
}

#[test]
fn numbers_are_shown_with_their_unit() {
    let shown = [
        Unit::Ns.show(1_234_000.0),
        Unit::IosPerS.show(46_018.4),
        Unit::BytesPerS.show(561.388e6),
        Unit::Share.show(0.795),
        Unit::Share.show(0.8),
        Unit::Count.show(12.0),
        Unit::PerMinute.show(18_382.4),
    ];
    assert_eq!(shown, ["1.23 ms", "46,018/s", "561 MB/s", "79.5%", "80%", "12", "18,382/min"]);
}

#[test]
fn one_failure_decides_and_no_outcome_is_no_pass() {
    use Outcome::{Fail, Inconclusive, Pass};
    assert_eq!(Outcome::of_all([Pass, Inconclusive, Fail, Pass]), Fail);
    assert_eq!(Outcome::of_all([Pass, Inconclusive, Pass]), Inconclusive);
    assert_eq!(Outcome::of_all([Pass, Pass]), Pass);
    assert_eq!(Outcome::of_all([]), Inconclusive);
}

fn judgement(limit: Limit, reason: Reason) -> Judgement {
    Judgement {
        quantity: "errors".to_owned(),
        subject: Some("/dev/x".to_owned()),
        label: "failed I/Os".to_owned(),
        at: String::new(),
        unit: Unit::Count,
        limit,
        evidence: Evidence {
            estimate: Some(Estimate::exact(3.0, 100)),
            elapsed_s: 60.0,
            clusters: Some(12),
            level_change: Some(LevelChange {
                at_s: 30.0,
                before_iops: Estimate::exact(5e3, 30),
                after_iops: Estimate::exact(8e2, 30),
                before_ns: Estimate::exact(2e5, 30),
                after_ns: Estimate::exact(1.2e6, 30),
                settled: true,
            }),
            doubts: vec![Doubt {
                what: "the host was busy".to_owned(),
                bias: Bias::Unflattering,
                remedy: "use an idle host".to_owned(),
            }],
        },
        outcome: Outcome::Fail,
        reason,
        why: String::new(),
        source: "vendor".to_owned(),
    }
}

proptest! {
    #[test]
    fn a_verdict_reads_back_the_same(limit in 0.0f64..1e18, enough_s in proptest::option::of(0.0f64..1e9), kind in 0..6) {
        let reason = match kind {
            0 => Reason::Clear,
            1 => Reason::Straddles { enough_s },
            2 => Reason::NoEvidence { missing: "a run".to_owned() },
            3 => Reason::FarFromLimit { lowest_value: 0.5 * limit, highest_value: limit },
            4 => Reason::BoundedByMean { highest_value: limit },
            _ => Reason::Doubtful,
        };
        let verdict = Verdict {
            format: 1,
            criteria: "x".to_owned(),
            outcome: Outcome::Fail,
            judgements: vec![judgement(Limit::AtMost(limit), reason.clone()), judgement(Limit::AtLeast(limit), reason)],
            left_out: vec![OmittedCriterion { quantity: "a".to_owned(), label: "b".to_owned(), missing: "c".to_owned() }],
        };
        let text = serde_json::to_string(&verdict).unwrap();
        prop_assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
    }

    #[test]
    fn small_counts_and_rates_shown_read_back(value in 0u32..1_000_000) {
        for unit in [Unit::Count, Unit::IosPerS] {
            let shown = unit.show(f64::from(value)).replace(',', "");
            prop_assert_eq!(count(unit.parse(&shown).unwrap()), u64::from(value));
        }
    }
}
