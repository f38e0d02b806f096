//! What a manager reads before the details: what the answer means, how it compares with known
//! storage, what to do next.

mod known;

use crate::format::Formatter;
use crate::view::{Fact, ViewBlock};
pub(crate) use known::{FoundHere, Reach};

/// The parts of a summary in plain words.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainSummary {
    /// The question.
    pub(crate) asked: String,
    /// What the answer means, a sentence each.
    pub(crate) meaning: Vec<String>,
    /// What was found of reads, to be held against known classes.
    pub(crate) found: Vec<FoundHere>,
    /// How what was found is to be read; empty or beginning with a space.
    pub(crate) reading: &'static str,
    /// What to do next, each with the command that does it, which may be empty.
    pub(crate) next: Vec<(&'static str, String)>,
}

impl PlainSummary {
    /// The same as blocks, which only a page has room for.
    pub(crate) fn blocks<'a>(&self, format: Formatter) -> Vec<ViewBlock<'a>> {
        let mut blocks = Vec::new();
        if !self.meaning.is_empty() {
            blocks.push(ViewBlock::part("Meaning", vec![ViewBlock::Lead(self.meaning.clone())]));
        }
        blocks.extend(known::blocks(&self.found, self.reading, format));
        if !self.next.is_empty() {
            let step = |(what, command): &(&'static str, String)| Fact::new(*what, command.clone());
            let steps = self.next.iter().map(step).collect();
            blocks.push(ViewBlock::part("Next steps", vec![ViewBlock::Facts(steps)]));
        }
        blocks
    }
}

/// A word of a command as a shell reads it.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Reads that follow one another wait as long as all of them: what that is for a hundred.
pub(crate) fn hundred_reads(read_time_ns: f64) -> String {
    let all = assay_model::units::show_time_ns(100.0 * read_time_ns);
    format!("A transaction that reads 100 blocks one after another waits {all} for the storage.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        let words = ["/data", "a b", "sim:ssd?x=1", "it's", ""];
        let expected = ["/data", "'a b'", "'sim:ssd?x=1'", r"'it'\''s'", "''"];
        assert_eq!(words.map(shell_word), expected);
    }

    #[test]
    fn an_empty_summary_is_nothing() {
        assert!(PlainSummary::default().blocks(Formatter::default()).is_empty());
        assert!(hundred_reads(2e5).contains("20.0 ms"));
    }
}
