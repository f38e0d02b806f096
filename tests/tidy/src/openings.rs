//! Every Rust file opens with one sentence on what it knows.

use crate::{Finding, Source};

/// The longest opening sentence, in characters: what fits on a line of a list of files.
const LONGEST: usize = 140;

/// Files whose first line is not a `//!` sentence.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let files = sources.iter().filter(|source| source.is("rs"));
    files.filter_map(opening).collect()
}

fn opening(source: &Source) -> Option<Finding> {
    let complaint = |what: &str| Some(Finding::at(&source.path, 1, what));
    let paragraph: Vec<&str> =
        source.text.lines().map_while(|line| line.strip_prefix("//! ")).collect();
    let sentence = paragraph.join(" ");
    match sentence.chars().last() {
        None => complaint("opens without a `//!` sentence on what it knows"),
        Some('.' | '?' | ':') if paragraph[0].chars().count() <= LONGEST => None,
        Some('.' | '?' | ':') => complaint(&format!("the first line is over {LONGEST} characters")),
        Some(_) => complaint("the opening is not a sentence: it has no full stop"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&[Source::new("a.rs", text)]).len()
    }

    #[test]
    fn a_sentence_opens_a_file() {
        assert_eq!(findings("//! Knows units.\n\nuse a;\n"), 0);
        assert_eq!(
            findings("//! Knows units, and goes\n//! on to a second line.\n//!\n//! More\n"),
            0
        );
    }

    #[test]
    fn code_a_fragment_or_an_endless_line_does_not() {
        assert_eq!(findings("use a;\n"), 1);
        assert_eq!(findings(""), 1);
        assert_eq!(findings("//! Units\nuse a;\n"), 1);
        assert_eq!(findings(&format!("//! {}.\n", "long ".repeat(40))), 1);
    }
}
