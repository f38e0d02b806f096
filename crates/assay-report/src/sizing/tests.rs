//! The example of the contract as text and as a page.

use super::*;
use assay_model::document::parse_json;

fn example() -> Sizing {
    let text = include_str!("../../../../contract/examples/small.sizing.json");
    parse_json(text, "sizing").unwrap()
}

#[test]
fn the_answer_comes_first_and_every_limit_has_need_has_and_use() {
    let sizing = example();
    let text = sizing_text(&sizing, 5, false.into());
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("The cheapest is 2 × gp3, stripe of 2, each of 2.50 TiB"), "{text}");
    assert!(words.contains("for 530.80 USD per month; IOPS is its tightest limit."), "{text}");
    for expected in ["headroom", "controller", "throughput", "used", "2026-04-01"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let page = sizing_html(&sizing, 5, "assay");
    for expected in ["more that meet the demand", "Formulas", "has then", "used then"] {
        assert!(page.contains(expected), "{expected}");
    }
}

#[test]
fn nothing_that_carries_it_is_said_with_the_nearest() {
    let mut sizing = example();
    sizing.configurations.clear();
    let text = sizing_text(&sizing, 5, false.into());
    assert!(text.starts_with("Nothing in the catalog meets this demand. The nearest is"), "{text}");
}

#[test]
fn amounts_have_cents_where_they_matter() {
    let shown = [431.68, 0.005, 1812.0, 3333.333, 360_000.0, 99.999].map(words::amount);
    assert_eq!(shown, ["431.68", "0.01", "1,812.00", "3,333.33", "360,000", "100.00"]);
}
