//! A comparison as a table: a row for each pair of sides and measure.

use super::{five, three, unit_name};
use crate::render::csv::csv;
use assay_model::comparison::Comparison;

/// The header line.
const HEADER: &str = "base,other,quantity,subject,unit,base_value,base_low,base_high,\
                      base_confidence,base_n,other_value,other_low,other_high,other_confidence,\
                      other_n,ratio,ratio_low,ratio_high,different,judged,outcome,primary\n";

/// All measures of all pairs; nothing where the sides have none in common.
pub fn comparison_csv(comparison: &Comparison) -> Option<String> {
    let base = comparison.sides.first().map(|side| side.name.clone()).unwrap_or_default();
    let rows = comparison.pairs.iter().flat_map(|pair| {
        let other = comparison.sides.get(pair.other).map(|side| side.name.clone());
        let names = [base.clone(), other.unwrap_or_default()];
        pair.measures.iter().map(move |measure| {
            let mut cells = names.to_vec();
            cells.push(measure.quantity.clone());
            cells.push(measure.subject.clone().unwrap_or_default());
            cells.push(unit_name(measure.unit).to_owned());
            cells.extend(five(Some(&measure.base)));
            cells.extend(five(Some(&measure.other)));
            cells.extend(three(measure.ratio.as_ref()));
            cells.extend([measure.different, measure.judged].map(|flag| flag.to_string()));
            cells.push(measure.outcome.map_or_else(String::new, |one| one.name().to_owned()));
            cells.push(measure.primary.to_string());
            cells
        })
    });
    let rows = csv(rows);
    (!rows.is_empty()).then(|| HEADER.to_owned() + &rows)
}
