//! The length of a file's text that an error may quote.

/// How much of a refused value an error repeats.
const SHOWN_CHARACTERS_MAX: usize = 500;

/// The beginning of a value for an error.
pub fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
