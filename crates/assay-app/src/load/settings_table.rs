//! Knobs of a load as its result shows them, and what it is going to do in words.

use assay_model::load::Setting;
use assay_model::units::Nanos;

/// Knobs with their names.
pub fn shown<const KNOBS: usize>(knobs: [(&str, String); KNOBS]) -> Vec<Setting> {
    knobs.map(|(name, value)| Setting { name: name.to_owned(), value }).to_vec()
}

/// A ladder with these numbers of sessions, or a search for its end.
pub fn sessions_words(sessions: Option<&[u32]>) -> String {
    sessions.map_or_else(
        || "increasing numbers of sessions".to_owned(),
        |sessions| format!("{} sessions, one step each", joined(sessions)),
    )
}

/// How long its steps are measured.
pub fn step_words(time: Nanos, repeats: u32) -> String {
    let times = if repeats > 1 { format!(", {repeats} times") } else { String::new() };
    format!("{time} for each step{times}, after the data are loaded")
}

/// Numbers with commas between them.
pub fn joined(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
