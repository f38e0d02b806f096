//! Settings of imported rows, truncated to a length that can be shown.

use super::table;
use assay_model::Estimate;
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::NamedEstimate;

/// Characters of a text of a stranger at most.
const TEXT_MAX: usize = 500;

/// A setting that is a whole number.
pub(super) fn count(factor: &str, value: u64) -> StudySetting {
    StudySetting { factor: factor.to_owned(), value: FactorValue::Whole(value) }
}

/// A setting that is a word, or a quantity with its unit.
pub(super) fn word(factor: &str, value: &str) -> StudySetting {
    StudySetting { factor: factor.to_owned(), value: FactorValue::Text(cut(value)) }
}

/// A number of the whole time with the interval that values of parts of it give; without one where
/// they are few, or are of something else. The programs report every second or less often, and a
/// longer part is one row, too.
pub(super) fn around(whole: NamedEstimate, parts: &[f64]) -> NamedEstimate {
    let value = whole.estimate.value;
    let known = table::mean(&whole.quantity, parts, 1.0).map(|known| known.estimate);
    match known.filter(|known| known.has_interval() && known.covers(value)) {
        Some(known) => NamedEstimate { estimate: Estimate { value, ..known }, ..whole },
        None => whole,
    }
}

/// A text of a stranger without signs that control a terminal, at most 500 characters long.
pub(super) fn cut(text: &str) -> String {
    let plain = text.trim().chars().filter(|sign| !sign.is_control());
    let mut kept: String = plain.clone().take(TEXT_MAX).collect();
    if plain.count() > TEXT_MAX {
        kept.push('…');
    }
    kept
}

/// The name of a column or option as that of a factor: `IO depth` is `io_depth`.
pub(super) fn factor_name(column: &str) -> String {
    let plain = cut(column).to_lowercase();
    plain
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
}

#[cfg(test)]
pub(super) mod testing {
    //! What tests ask of a row.

    use crate::results::{ImportedContent, ImportedResult, ImportedRow};

    /// The only value of a quantity of the whole row.
    pub fn value(row: &ImportedRow, quantity: &str) -> f64 {
        let is_it = |one: &&assay_model::verdict::NamedEstimate| {
            one.quantity == quantity && one.subject.is_none()
        };
        let mut found = row.measures.iter().filter(is_it);
        let value = found.next().map_or(f64::NAN, |one| one.estimate.value);
        assert!(found.next().is_none(), "{quantity} occurs twice");
        (value * 1e6).round() / 1e6
    }

    /// A setting as it is shown; empty where there is none.
    pub fn setting(row: &ImportedRow, factor: &str) -> String {
        let found = row.settings.iter().find(|one| one.factor == factor);
        found.map(|one| one.value.to_string()).unwrap_or_default()
    }

    /// The rows of a result.
    pub fn rows(result: ImportedResult) -> Vec<ImportedRow> {
        let ImportedContent::Rows(rows) = result.content else { panic!("{result:?}") };
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_strangers_are_cut() {
        assert_eq!(cut(&"é".repeat(501)).chars().count(), 501);
        assert_eq!(cut("a\u{1b}[31mb\n"), "a[31mb");
        assert_eq!(factor_name("IO depth"), "io_depth");
        assert_eq!(factor_name("CPU% [last]"), "cpu_last");
    }
}
