//! What a manager reads of a sizing: the question, what the answer means, what to do next.

use super::words::{a_month, demand, limit, pieces};
use crate::summary::{PlainSummary, shell_word};
use assay_model::sizing::{Configuration, LimitUse, Sizing};

/// The question.
pub(super) fn asked(sizing: &Sizing) -> String {
    demand(sizing).map_or_else(
        || "Which storage meets this demand, and what does it cost?".to_owned(),
        |demand| format!("Which storage sustains {demand}, and what does it cost?"),
    )
}

/// The screen before the tables.
pub(super) fn summary(sizing: &Sizing, best: &[&Configuration]) -> PlainSummary {
    PlainSummary {
        asked: asked(sizing),
        meaning: meaning(sizing, best),
        next: next(best),
        ..PlainSummary::default()
    }
}

fn meaning(sizing: &Sizing, best: &[&Configuration]) -> Vec<String> {
    let Some(first) = best.first() else {
        return vec![
            "No entry meets the demand: reduce it, spread it over several systems, or add entries \
             with --catalog."
                .to_owned(),
        ];
    };
    let tightest = first.limits.iter().find(|used| used.limit == first.binding);
    let mut meaning: Vec<String> = tightest.map(tight).into_iter().collect();
    if let Some(second) = best.get(1) {
        meaning.push(match &second.cost {
            Some(cost) => format!("The next one is {} for {}.", pieces(second), a_month(cost)),
            None => format!("The next one is {}.", pieces(second)),
        });
    }
    if !sizing.doubts.is_empty() {
        meaning.push("The basis of its figures is listed under “Caveats”.".to_owned());
    }
    meaning
}

/// How near the tightest limit is.
fn tight(used: &LimitUse) -> String {
    let [need, has] = [used.need_value, used.has_value].map(|value| limit(used.limit, value));
    format!("The tightest limit is {}: {need} of {has} are needed.", used.limit.name())
}

fn next(best: &[&Configuration]) -> Vec<(&'static str, String)> {
    let Some(first) = best.first() else {
        return vec![("List the catalogs", "assay list catalog".to_owned())];
    };
    let name = shell_word(&first.name);
    vec![
        ("See its data sheet and price list", format!("assay list catalog {name}")),
        ("Measure it on loan before you buy it", "assay calibrate DIR".to_owned()),
        ("Predict the database's gain", "assay predict DB --on latest".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::document::parse_json;

    #[test]
    fn a_sizing_has_a_question_a_meaning_and_a_next_step() {
        let text = include_str!("../../../../contract/examples/small.sizing.json");
        let mut sizing: Sizing = parse_json(text, "sizing").unwrap();
        let best: Vec<&Configuration> = sizing.configurations.iter().take(2).collect();
        let made = summary(&sizing, &best);
        assert!(
            made.asked.starts_with("Which storage sustains ") && made.asked.ends_with("cost?"),
            "{made:?}"
        );
        assert!(made.meaning[0].starts_with("The tightest limit is IOPS: "), "{made:?}");
        assert!(made.next[0].1.starts_with("assay list catalog "));
        sizing.configurations.clear();
        assert!(summary(&sizing, &[]).meaning[0].contains("--catalog"));
    }
}
