//! Command lines as a person would type them.

use std::fmt::Display;

/// Words joined as a person would type them.
pub fn typed(words: &[impl Display]) -> String {
    let quote = |word: String| {
        let plain = word
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_./:=,%+".contains(letter));
        if plain && !word.is_empty() { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(|word| quote(word.to_string())).collect::<Vec<_>>().join(" ")
}
