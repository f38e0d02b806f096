//! Lines, wrapping, columns and colours of a terminal. Nobody's text can carry control sequences in
//! here.

use crate::input::TextOptions;
use crate::render::visible;
use assay_model::verdict::Outcome;

/// Width of the word for an outcome, with the gap behind it.
const MARK: usize = 14;
/// Stands before items and tables.
const INDENT: &str = "  ";
/// Below this nothing can be laid out, columns.
const WIDTH_MIN: usize = 40;

/// Lines that are being written.
#[derive(Debug)]
pub(crate) struct TextLayout {
    /// Lines so far.
    written: String,
    /// Whether ANSI sequences are wanted.
    colour: bool,
    /// Columns at most.
    width: usize,
    /// Lines at most, where there is a limit.
    lines_max: Option<usize>,
}

impl TextLayout {
    /// Nothing yet.
    pub(crate) fn new(options: TextOptions) -> Self {
        Self {
            written: String::new(),
            colour: options.colour,
            width: options.columns.max(WIDTH_MIN),
            lines_max: options.lines_max,
        }
    }

    /// An empty one of the same kind.
    pub(crate) fn another(&self) -> Self {
        Self { written: String::new(), ..*self }
    }

    /// Adds all of another one where there is room for it; whether there was.
    pub(crate) fn append(&mut self, other: &Self) -> bool {
        let lines = self.written.lines().count() + other.written.lines().count();
        let fits = self.lines_max.is_none_or(|lines_max| lines <= lines_max);
        if fits {
            self.written.push_str(&other.written);
        }
        fits
    }

    /// Columns that a table may fill.
    pub(super) const fn table_width(&self) -> usize {
        self.width - INDENT.len()
    }

    /// What was written.
    pub(crate) fn finish(self) -> String {
        self.written
    }

    /// Adds a line without blanks at its end.
    fn line(&mut self, line: &str) {
        self.written.push_str(line.trim_end());
        self.written.push('\n');
    }

    /// Words in a colour, where colours are wanted.
    fn dressed(&self, code: &str, words: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{words}\u{1b}[0m") } else { words.to_owned() }
    }

    /// A heading after an empty line.
    pub(crate) fn heading(&mut self, words: &str) {
        let words = self.dressed("1", &one_line(words));
        self.written.push('\n');
        self.line(&words);
    }

    /// Wrapped words.
    pub(crate) fn paragraph(&mut self, words: &str) {
        self.wrapped(words, "", 0);
    }

    /// Wrapped words after an empty line.
    pub(crate) fn set_apart(&mut self, words: &str) {
        self.written.push('\n');
        self.paragraph(words);
    }

    /// Wrapped words, indented.
    pub(crate) fn item(&mut self, words: &str) {
        self.wrapped(words, "  ", 2);
    }

    /// Wrapped words, indented below an item.
    pub(crate) fn deeper(&mut self, words: &str) {
        self.wrapped(words, "    ", 4);
    }

    /// Names and values one below the other.
    pub(crate) fn pairs(&mut self, pairs: &[(String, String)]) {
        let widths = pairs.iter().map(|(name, _)| name.chars().count());
        let width = widths.max().unwrap_or(0).min(self.width / 2);
        for (name, value) in pairs {
            let name = one_line(name);
            self.wrapped(value, &format!("  {name:<width$}  "), width + 4);
        }
    }

    /// Wrapped words with an outcome in front of them.
    pub(crate) fn marked(&mut self, outcome: Outcome, words: &str) {
        let code = match outcome {
            Outcome::Pass => "1;32",
            Outcome::Fail => "1;31",
            Outcome::Inconclusive => "1;33",
        };
        let name = outcome.name();
        let mark = self.dressed(code, name) + &" ".repeat(MARK - name.len());
        self.wrapped(words, &mark, MARK);
    }

    /// Wrapped words below a marked line.
    pub(crate) fn below_mark(&mut self, words: &str) {
        self.wrapped(words, &" ".repeat(MARK), MARK);
    }

    /// Wrapped words behind a prefix; further lines are indented as far.
    fn wrapped(&mut self, words: &str, first: &str, indent: usize) {
        let mut prefix = first.to_owned();
        for line in wrap(&one_line(words), self.width - indent) {
            self.line(&format!("{prefix}{line}"));
            prefix = " ".repeat(indent);
        }
    }

    /// Lines as they are, indented.
    pub(super) fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        for line in lines {
            self.line(&format!("{INDENT}{line}"));
        }
    }
}

/// Text of anybody on one line.
pub(super) fn one_line(words: &str) -> String {
    visible(words).replace(['\n', '\t'], " ")
}

/// Breaks words into lines of at most `width` letters; a longer word is cut.
pub(super) fn wrap(words: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace().flat_map(|word| pieces(word, width)) {
        let used = lines.last().map_or(0, |line| line.chars().count());
        let needed = word.chars().count() + usize::from(used > 0);
        match lines.last_mut() {
            Some(line) if used + needed <= width => {
                line.push_str(if used > 0 { " " } else { "" });
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// A word in pieces that fit into a line.
pub(super) fn pieces(word: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    letters.chunks(width).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn outcomes_have_colour_only_where_it_is_wanted() {
        let written = |colour| {
            let mut text = TextLayout::new(TextOptions { colour, ..TextOptions::default() });
            text.marked(Outcome::Fail, "it is slow");
            text.finish()
        };
        assert_eq!(written(false), "FAIL          it is slow\n");
        assert_eq!(written(true), "\u{1b}[1;31mFAIL\u{1b}[0m          it is slow\n");
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_the_screen_and_no_sequence_gets_through(words in "\\PC{0,400}", control in "[\\x00-\\x1f]{0,9}", columns in 40usize..200) {
            let options = TextOptions { columns, ..TextOptions::default() };
            let mut text = TextLayout::new(options);
            text.heading(&control);
            text.item(&format!("{words}{control}"));
            text.marked(Outcome::Inconclusive, &words);
            text.pairs(&[(control.clone(), words.clone())]);
            let written = text.finish();
            prop_assert!(written.lines().skip(2).all(|line| line.chars().count() <= columns + control.len()));
            prop_assert!(!written.chars().any(|letter| letter.is_control() && letter != '\n'));
        }

        #[test]
        fn wrapping_loses_no_word(words in "[a-z ]{0,300}", width in 1usize..40) {
            let lines = wrap(&words, width);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width));
            let kept = lines.concat().replace(' ', "");
            prop_assert_eq!(kept, words.replace(' ', ""));
        }
    }
}
