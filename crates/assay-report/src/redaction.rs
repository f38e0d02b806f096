//! The prose of documents without its figures. A value is hidden before it is formatted; this is
//! for what somebody else wrote, where only their look tells figures and words apart.

use assay_model::load::DatabaseProduct;

/// The text with every figure masked. Numbers of a name or of a version stay: those behind a letter
/// (`p99`, `oltp-2017`), of more than two parts (`6.1.0`), or behind the name of a product.
pub(crate) fn masked(text: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut before = "";
    for word in text.split_inclusive(char::is_whitespace) {
        if is_name(word) || (is_version(word) && is_versioned(before)) {
            hidden.push_str(word);
        } else {
            hide(&mut hidden, word);
        }
        before = word;
    }
    hidden
}

/// Copies a word without its digits.
fn hide(hidden: &mut String, word: &str) {
    for letter in word.chars() {
        match letter {
            '0'..='9' if hidden.ends_with('…') => {}
            '0'..='9' => hidden.push('…'),
            _ => hidden.push(letter),
        }
    }
}

/// A word that begins with a letter and has no sign of a figure, or a version of three parts or
/// more.
fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let parts = word.split('.').filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_of_letters =
        word.starts_with(char::is_alphabetic) && !word.contains(['=', '≤', '≥', ',', ':']);
    is_of_letters || (parts.count() > 1 && word.bytes().filter(|byte| *byte == b'.').count() > 1)
}

/// Digits and points only.
fn is_version(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_ascii_digit());
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Names behind which a version stands.
fn is_versioned(word: &str) -> bool {
    const OTHERS: [&str; 5] = ["Oracle", "Linux", "assay", "release", "version"];
    let word = word.trim();
    OTHERS.contains(&word) || DatabaseProduct::ALL.iter().any(|product| product.name() == word)
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn figures_are_masked_and_names_stay() {
        assert_eq!(masked("41,200 at 1.25 ms"), "…,… at ….… ms");
        assert_eq!(masked("took 15.18 ms, 3 of 7"), "took ….… ms, … of …");
        for kept in [
            "PostgreSQL 15.18 of “oltp-2017”",
            "p99 of reads",
            "kernel 6.1.0-18-amd64",
            "/data/u01",
        ] {
            assert_eq!(masked(kept), kept);
        }
    }
}
