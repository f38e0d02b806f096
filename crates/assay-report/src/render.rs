//! How a view is written down: as a page, as text, as drawings, and records as CSV. Nothing in here
//! knows what a view is about.

pub(crate) mod csv;
pub(crate) mod drawing;
pub(crate) mod html;
mod palette;
pub(crate) mod text;

/// Replaces what a reader cannot see: control characters, and those that turn the direction of
/// writing, by which a text could pretend to be another one.
pub(crate) fn visible(text: &str) -> String {
    let keep = |letter: char| {
        let blank = letter == '\n' || letter == '\t';
        if is_hidden(letter) && !blank { '\u{fffd}' } else { letter }
    };
    text.chars().map(keep).collect()
}

/// Whether a reader could not see the letter, or be misled by it.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(letter, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_direction_of_reading_is_replaced() {
        assert_eq!(visible("a\u{2066}\n\u{0}"), "a\u{fffd}\n\u{fffd}");
    }
}
