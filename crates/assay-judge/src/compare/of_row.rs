//! A row of an imported result as one side of a comparison.

use super::sides::{SideFacts, SideFigure};
use assay_model::comparison::{Side, SideKind};
use assay_model::study::{CellResult, StudySetting, measure_unit};

/// Settings that name a run and say nothing of its load.
const NAMES: [&str; 2] = ["run", "label"];

/// A row as a side: its numbers are the measures, its settings are how it was made.
pub fn facts_of_row(name: &str, target: &str, row: &CellResult) -> SideFacts {
    let measures = row.measures.iter().map(|named| {
        let unit = measure_unit(&named.quantity);
        SideFigure::new(named.quantity.clone(), named.subject.clone(), unit, named.estimate)
    });
    let is_made = |setting: &&StudySetting| {
        !NAMES.contains(&setting.factor.as_str()) && setting.value.to_string() != "unknown"
    };
    let made = row.cell.settings.iter().filter(is_made);
    let side = Side {
        name: name.to_owned(),
        kind: SideKind::Run,
        target: target.to_owned(),
        elapsed_s: row.elapsed_s,
        repeats: 1,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    };
    SideFacts {
        measures: measures.collect(),
        made: made.map(|one| (one.factor.clone(), one.value.to_string())).collect(),
        ..SideFacts::new(side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{CompareRules, compare};
    use assay_model::Estimate;
    use assay_model::study::{Cell, CellState, FactorValue};
    use assay_model::verdict::{NamedEstimate, Unit};

    fn row(sessions: u64, rate: f64) -> CellResult {
        let setting = |factor: &str, value| StudySetting { factor: factor.to_owned(), value };
        let settings = vec![
            setting("run", FactorValue::Text(format!("of {rate}"))),
            setting("sessions", FactorValue::Whole(sessions)),
            setting("scale", FactorValue::Text("unknown".to_owned())),
        ];
        let estimate = Estimate::without_interval(rate, 1);
        CellResult {
            measures: vec![NamedEstimate {
                quantity: "new_orders".to_owned(),
                subject: None,
                estimate,
            }],
            ..CellResult::new(
                Cell { number: 1, repeat: 1, settings, restored: false },
                CellState::Measured,
            )
        }
    }

    #[test]
    fn rows_without_intervals_have_a_ratio_that_decides_nothing() {
        let sides =
            [facts_of_row("a", "", &row(8, 2000.0)), facts_of_row("b", "", &row(8, 1966.0))];
        let found = compare(&sides, &[], &CompareRules::default()).unwrap();
        let measure = &found.pairs[0].measures[0];
        let ratio = measure.ratio.unwrap();
        assert!((ratio.value - 0.983).abs() < 1e-9 && !ratio.has_interval(), "{ratio:?}");
        assert_eq!((measure.unit, measure.outcome), (Unit::IosPerS, None));
        let other = [sides[0].clone(), facts_of_row("c", "", &row(16, 1.0))];
        let refused = compare(&other, &[], &CompareRules::default()).unwrap_err();
        assert!(refused.message().contains("sessions is 8 and 16"), "{refused}");
    }
}
