//! How settings of a study are written: for a person, and as options of a command.

use assay_model::study::Cell;

/// Settings in words: `read_share 70%, sessions 8`.
pub fn settings(cell: &Cell) -> String {
    let words: Vec<String> = cell
        .settings
        .iter()
        .map(|setting| format!("{} {}", setting.factor, setting.value))
        .collect();
    match words.as_slice() {
        [] => "as it is".to_owned(),
        some => some.join(", "),
    }
}

/// A name as options are spelled.
pub fn option(name: &str) -> String {
    name.replace('_', "-")
}
