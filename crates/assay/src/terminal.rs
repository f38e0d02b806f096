//! What may reach a terminal: documents, names and peers say what they like, and only letters of it
//! are shown.

use assay_report::TextOptions;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal, Write as _};

/// The colours that a report is dressed in, and nothing else that begins with an escape.
const COLOURS: [&str; 5] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[1;31m", "\u{1b}[1;32m", "\u{1b}[1;33m"];

/// Whether a letter does something to a terminal instead of being shown: controls, and marks that
/// turn the direction of writing round, so that a line reads as what it is not.
const fn acts(letter: char) -> bool {
    matches!(letter,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with `\u001b` in the place of each letter that acts; JSON stays JSON of the same
/// meaning.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(acts) { Cow::Owned(spelled(text, &[])) } else { Cow::Borrowed(text) }
}

/// The same for a report that was dressed in colours.
pub fn dressed(text: &str) -> String {
    spelled(text, &COLOURS)
}

fn spelled(text: &str, kept: &[&str]) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(place) = rest.find(acts) {
        let (before, at) = rest.split_at(place);
        safe.push_str(before);
        if let Some(colour) = kept.iter().find(|colour| at.starts_with(**colour)) {
            safe.push_str(colour);
            rest = &at[colour.len()..];
            continue;
        }
        let mut letters = at.chars();
        if let Some(letter) = letters.next() {
            // Writing to a text does not fail.
            let _ = write!(safe, "\\u{:04x}", u32::from(letter));
        }
        rest = letters.as_str();
    }
    safe.push_str(rest);
    safe
}

/// Letters of a line of an error at most: it repeats what was typed, or what a file or a peer says.
const LETTERS_MAX: usize = 2000;

/// The text with each line cut where it is longer than anybody reads.
pub fn shortened(text: &str) -> String {
    let short = |line: &str| match line.char_indices().nth(LETTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    text.split('\n').map(short).collect::<Vec<_>>().join("\n")
}

/// Says a line on standard error; nobody is left to tell when that is closed.
pub fn say(text: &str) {
    drop(writeln!(io::stderr(), "{}", plain(text)));
}

/// Whether to use colours: on a terminal that has some, unless `NO_COLOR` asks for none.
pub fn colour() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdout().is_terminal() && !is_dumb && std::env::var_os("NO_COLOR").is_none()
}

/// Asks on a terminal; none where nobody is there to answer.
pub fn agreed(question: &str) -> Option<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    drop(write!(io::stderr(), "{} [y/N] ", plain(question)));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    Some(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Columns where nobody says how many there are.
const COLUMNS: usize = 100;
/// Lines of an answer on a first screen of 24, with what is left out and where the run is kept
/// below it.
const LINES_MAX: usize = 18;
/// Longer lines are hard to read, whatever the terminal's width.
const COLUMNS_MAX: usize = 140;

/// Columns of the terminal behind a stream, or what `COLUMNS` says.
fn columns(stream: impl std::os::fd::AsFd) -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || {
        let size = rustix::termios::tcgetwinsize(stream).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    };
    given.or_else(found).unwrap_or(COLUMNS).min(COLUMNS_MAX)
}

/// Columns of standard output.
pub fn output_columns() -> usize {
    columns(io::stdout())
}

/// Columns of standard error.
pub fn error_columns() -> usize {
    columns(io::stderr())
}

/// How a text is laid out on standard output: the first screen alone where a person looks and does
/// not ask for all.
pub fn layout(is_full: bool) -> TextOptions {
    let lines_max = (!is_full && io::stdout().is_terminal()).then_some(LINES_MAX);
    TextOptions { colour: colour(), columns: output_columns(), lines_max, is_short: !is_full }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_of_an_error_are_cut_and_the_hint_stays() {
        let words = format!("error: {}\nhint: look", "h1,".repeat(100_000));
        let short = shortened(&words);
        assert!(short.ends_with("…\nhint: look") && short.len() < 2100, "{}", short.len());
        assert_eq!(shortened("error: a\nhint: b"), "error: a\nhint: b");
    }

    #[test]
    fn what_acts_is_spelled_and_the_rest_is_kept() {
        assert_eq!(plain("größe\t\u{2713}\n"), "größe\t\u{2713}\n");
        assert_eq!(plain("a\u{1b}[2Jb\r\u{9b}1m\u{202e}"), "a\\u001b[2Jb\\u000d\\u009b1m\\u202e");
        let json = plain("{\"a\":\"\u{7f}\u{9b}\"}").into_owned();
        let back: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back["a"], "\u{7f}\u{9b}");
    }

    #[test]
    fn only_the_colours_of_reports_stay() {
        assert_eq!(
            dressed("\u{1b}[1;31mFAIL\u{1b}[0m \u{1b}[8m"),
            "\u{1b}[1;31mFAIL\u{1b}[0m \\u001b[8m"
        );
        assert_eq!(plain("\u{1b}[0m"), "\\u001b[0m");
    }

    #[test]
    fn any_letter_comes_out_without_acting() {
        for letter in (0..0x3000).filter_map(char::from_u32).filter(|letter| acts(*letter)) {
            assert!(!plain(&letter.to_string()).contains(acts));
        }
    }
}
