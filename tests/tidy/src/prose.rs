//! The prose of a file as words with their lines: comments and strings of Rust, everything of other
//! text files.

use crate::Source;

/// What stands for the end of a phrase in a list of words: a mark of punctuation, or the edge of a
/// string.
pub const BREAK: &str = ".";

/// A word in lower case and its line, counted from 1.
pub type Word = (String, usize);

/// Every word of the prose of a file, in order; phrases may cross lines, but no [`BREAK`].
pub fn words(source: &Source) -> Vec<Word> {
    let prose = text(source);
    let lines = prose.lines().enumerate();
    lines.flat_map(|(index, line)| words_of_line(line, index + 1)).collect()
}

/// The prose of a file, each line where it is in the file.
pub fn text(source: &Source) -> String {
    if source.is("rs") { rust_prose(&source.text) } else { source.text.clone() }
}

fn words_of_line(line: &str, number: usize) -> Vec<Word> {
    let mut words = vec![String::new()];
    for mark in line.chars() {
        match mark {
            mark if mark.is_alphanumeric() || mark == '_' => {
                let word = words.last_mut().into_iter();
                word.for_each(|word| word.extend(mark.to_lowercase()));
            }
            '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '|' | '#' => {
                words.extend([BREAK.to_owned(), String::new()]);
            }
            _ => words.push(String::new()),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).map(|word| (word, number)).collect()
}

/// Where a reader of Rust is.
#[derive(Clone, Copy)]
enum Place {
    Code,
    LineComment,
    BlockComment,
    /// A string, and the number of `#` that end it together with a quotation mark; none in a string
    /// with escapes.
    Text(Option<usize>),
}

/// The same lines with code turned to blanks, and a string's ends to quotation marks.
fn rust_prose(text: &str) -> String {
    let marks: Vec<char> = text.chars().collect();
    let (mut prose, mut place, mut at) = (String::new(), Place::Code, 0);
    while at < marks.len() {
        let (next, length, is_prose) = step(place, &marks, at);
        for mark in &marks[at..(at + length).min(marks.len())] {
            prose.push(if is_prose || *mark == '\n' { *mark } else { ' ' });
        }
        if matches!(place, Place::Text(_)) != matches!(next, Place::Text(_)) {
            prose.push('"');
        }
        (place, at) = (next, at + length);
    }
    prose
}

/// Where the reader is after the next mark, how many marks that took, and whether they were prose.
fn step(place: Place, marks: &[char], at: usize) -> (Place, usize, bool) {
    let begins =
        |start: &str| start.chars().enumerate().all(|(i, c)| marks.get(at + i) == Some(&c));
    match place {
        Place::Code if begins("//") => (Place::LineComment, 2 + doc_mark(marks, at + 2), false),
        Place::Code if begins("/*") => (Place::BlockComment, 2, false),
        Place::Code => step_in_code(marks, at),
        Place::LineComment if begins("\n") => (Place::Code, 1, false),
        Place::BlockComment if begins("*/") => (Place::Code, 2, false),
        Place::Text(None) if begins("\\") => (place, 2, false),
        Place::Text(None) if begins("\"") => (Place::Code, 1, false),
        Place::Text(Some(hashes)) if begins(&format!("\"{}", "#".repeat(hashes))) => {
            (Place::Code, 1 + hashes, false)
        }
        _ => (place, 1, true),
    }
}

/// The length of what makes a comment a doc comment.
fn doc_mark(marks: &[char], at: usize) -> usize {
    usize::from(matches!(marks.get(at), Some('/' | '!')))
}

/// The start of a string, a character between quotation marks, or any other mark of code.
fn step_in_code(marks: &[char], at: usize) -> (Place, usize, bool) {
    let is_name = |mark: &char| mark.is_alphanumeric() || *mark == '_';
    let hashes = marks[at + 1..].iter().take_while(|mark| **mark == '#').count();
    let opens = marks.get(at + 1 + hashes) == Some(&'"');
    match marks[at] {
        '"' => (Place::Text(None), 1, false),
        'r' if opens && !(at > 0 && marks[at - 1] != 'b' && is_name(&marks[at - 1])) => {
            (Place::Text(Some(hashes)), 2 + hashes, false)
        }
        '\'' if marks.get(at + 1) == Some(&'\\') => {
            let end = marks[(at + 3).min(marks.len())..].iter().position(|mark| *mark == '\'');
            (Place::Code, end.map_or(1, |end| end + 4), false)
        }
        '\'' if marks.get(at + 2) == Some(&'\'') => (Place::Code, 3, false),
        _ => (Place::Code, 1, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> String {
        let words = words(&Source::new(path, text));
        words.into_iter().map(|(word, line)| format!("{word}{line}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn everything_of_a_page_is_prose() {
        assert_eq!(of("a.md", "Two words,\nthe-third"), "two1 words1 .1 the2 third2");
    }

    #[test]
    fn comments_and_strings_of_rust_are_prose_and_code_is_not() {
        let text =
            "//! A b\n/// c\nfn f() { g(\"d \\\"e\", '\"', 'x', r#\"f\"g\"#); /* h */ } // i\n";
        assert_eq!(of("a.rs", text), "a1 b1 c2 .3 d3 e3 .3 .3 f3 .3 g3 .3 h3 i3");
    }

    #[test]
    fn a_lifetime_begins_no_character() {
        assert_eq!(of("a.rs", "fn f<'a>(x: &'a str) -> &'a str { \"y\" }"), ".1 y1 .1");
    }

    #[test]
    fn a_sentence_goes_on_in_the_next_line_of_a_comment() {
        assert_eq!(of("a.rs", "/// one\n/// two\n"), "one1 two2");
    }
}
