//! Turns of phrase that are not English, or not that of a technical writer: which they are, and
//! what to write.
//!
//! The table is written in words that do not form a phrase here: the rule reads this file too.

use crate::{Finding, Source, prose};

/// Words that follow one another, what may follow them all the same, and what to write instead.
struct Phrase {
    words: &'static [&'static str],
    /// Words that may come right before it.
    after: &'static [&'static str],
    /// Words that may come within [`REACH`] words after it.
    before: &'static [&'static str],
    instead: &'static str,
}

/// How far behind a phrase the word may be that allows it.
const REACH: usize = 4;

/// Words before which "no" denies a comparison, not a noun.
const COMPARED: &[&str] = &[
    "longer",
    "more",
    "less",
    "fewer",
    "better",
    "worse",
    "different",
    "larger",
    "smaller",
    "higher",
    "lower",
    "faster",
    "slower",
    "later",
    "earlier",
    "greater",
    "shorter",
    "wider",
    "older",
    "newer",
    "deeper",
];

const PHRASES: &[Phrase] = &[
    phrase(&[concat!("mani", "eth")], "\"every Nth\""),
    phrase(&["be", "meant"], "\"is valid\", \"is invalid or contradictory\""),
    phrase(&["so", "many"], "the number, or \"that many\""),
    phrase(&["so", "much"], "the amount, or \"that much\""),
    phrase(&[concat!("an", "ew")], "\"again\""),
    phrase(&["of", "ours"], "\"our\", \"an Assay …\""),
    phrase(&["of", "our", "own"], "\"our\", \"its own\", \"managed by Assay\""),
    phrase(&["the", "begin"], "\"the beginning\", \"the start\""),
    phrase(&[concat!("be", "side")], "\"next to\", \"while\", \"besides\", \"with\""),
    Phrase {
        before: &["apart"],
        ..phrase(&[concat!("to", "ld")], "\"given\", \"reported\", \"stated\"")
    },
    Phrase {
        before: &["apart", "you", "readers"],
        ..phrase(&[concat!("te", "lls")], "\"says\", \"shows\", \"reports\"")
    },
    denial("is"),
    denial("are"),
    denial("was"),
    denial("were"),
];

/// A phrase that nothing allows.
const fn phrase(words: &'static [&'static str], instead: &'static str) -> Phrase {
    Phrase { words, after: &[], before: &[], instead }
}

/// A noun denied by "no".
const fn denial(verb: &'static str) -> Phrase {
    let words: &'static [&'static str] = match verb.as_bytes() {
        b"is" => &["is", "no"],
        b"are" => &["are", "no"],
        b"was" => &["was", "no"],
        _ => &["were", "no"],
    };
    Phrase { words, after: &["there"], before: COMPARED, instead: "\"is not a\", \"are not\"" }
}

/// Kinds of files that hold prose; a file without an extension is a script.
const KINDS: &[&str] = &["rs", "md", "py", "toml", "sh"];

/// Every banned phrase, and every percent sign apart from its number.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().flat_map(check_file).collect()
}

fn check_file(source: &Source) -> Vec<Finding> {
    let name = source.path.rsplit('/').next().unwrap_or_default();
    if !KINDS.iter().any(|kind| source.is(kind)) && name.contains('.') {
        return Vec::new();
    }
    let words = prose::words(source);
    let starts = 0..words.len();
    let phrases = starts.flat_map(|at| {
        let line = words[at].1;
        found_at(&words, at).map(move |found| found.finding(&source.path, line))
    });
    phrases.chain(spaced_percents(source)).collect()
}

/// Lines with a space between a number and its percent sign.
fn spaced_percents(source: &Source) -> Vec<Finding> {
    let text = prose::text(source);
    let lines = text.lines().enumerate().filter(|(_, line)| has_spaced_percent(line));
    let what = "a percent sign follows its number without a space";
    lines.map(|(index, _)| Finding::at(&source.path, index + 1, what)).collect()
}

fn has_spaced_percent(line: &str) -> bool {
    line.match_indices(" %").any(|(at, sign)| {
        let is_number = line[..at].ends_with(|mark: char| mark.is_ascii_digit() || mark == '}');
        // A name of a column (`%reads`) or a format of Python begins with the sign.
        let rest = &line[at + sign.len()..];
        is_number && !rest.starts_with(|mark: char| mark.is_alphanumeric() || "({%".contains(mark))
    })
}

/// The phrases that start at a word.
fn found_at(words: &[prose::Word], at: usize) -> impl Iterator<Item = &'static Phrase> {
    PHRASES.iter().filter(move |phrase| phrase.is_at(words, at))
}

impl Phrase {
    fn is_at(&self, words: &[prose::Word], at: usize) -> bool {
        let end = at + self.words.len();
        let Some(found) = words.get(at..end) else { return false };
        if !found.iter().map(|(word, _)| word.as_str()).eq(self.words.iter().copied()) {
            return false;
        }
        let last = at.checked_sub(1).map(|last| words[last].0.as_str());
        let mut next = words[end..].iter().take(REACH).map(|(word, _)| word.as_str());
        let is_allowed = last.is_some_and(|last| self.after.contains(&last))
            || next.any(|next| self.before.contains(&next));
        !is_allowed
    }

    fn finding(&self, path: &str, line: usize) -> Finding {
        let what = format!("\"{}\": write {}", self.words.join(" "), self.instead);
        Finding::at(path, line, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let found = check(&[Source::new(path, text)]);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_phrase_is_found_in_pages_comments_and_strings() {
        for phrase in PHRASES {
            let words = phrase.words.join(" ");
            assert_eq!(findings("a.md", &format!("It {words} thing.")).len(), 1, "{words}");
            assert_eq!(findings("a.rs", &format!("/// It {words} thing.\nfn f() {{}}")).len(), 1);
            assert_eq!(findings("a.rs", &format!("fn f() {{ g(\"it {words} thing\") }}")).len(), 1);
            assert_eq!(findings("scripts/a", &format!("# it {words}")).len(), 1, "{words}");
        }
    }

    #[test]
    fn a_finding_says_where_it_is_and_what_to_write() {
        let found = findings("a.rs", &["// one", "// That cannot be", "// meant."].join("\n"));
        assert_eq!(
            found,
            [concat!(
                "a.rs:2: \"be",
                " meant\": write \"is valid\", \"is invalid or contradictory\""
            )]
        );
    }

    #[test]
    fn english_passes() {
        let text = "There is no file. It is no longer here. They cannot be told apart. So. Many \
                    are meant. What tells you?\n";
        assert_eq!(findings("a.md", text), Vec::<String>::new());
        assert_eq!(findings("a.svg", &format!("an{}", "ew")), Vec::<String>::new());
    }

    #[test]
    fn a_percent_sign_follows_its_number() {
        let spaced = concat!("5", " % of {:.1}", " %, 50%, 8192,50 %reads");
        assert_eq!(findings("a.md", spaced).len(), 1);
        assert_eq!(findings("a.rs", &format!("fn f() {{ g(\"{spaced}\") }}")).len(), 1);
        assert_eq!(findings("a.md", "5% of {:.1}%, 8192,50 %reads"), Vec::<String>::new());
        assert_eq!(findings("a.rs", concat!("fn f() { g(7", " % 5) }")), Vec::<String>::new());
    }

    #[test]
    fn names_of_code_are_not_prose() {
        let text = format!("fn f() {{ let {0} = 1; g({0}); }}", concat!("to", "ld"));
        assert_eq!(findings("a.rs", &text), Vec::<String>::new());
    }
}
