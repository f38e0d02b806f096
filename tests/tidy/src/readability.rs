//! The manual reads easily: noun headings, sentences of one idea, and a CHANGELOG that is scanned
//! in a minute.

use crate::{Finding, Source};

/// The longest sentence of the manual, in words.
const SENTENCE_WORDS_MAX: usize = 40;

/// The longest entry of the CHANGELOG, in words.
const ENTRY_WORDS_MAX: usize = 30;

/// The pages outside of `docs/` that belong to the manual.
const PAGES: &[&str] = &["README.md", "CONTRIBUTING.md", CHANGELOG, "benchmarks/README.md"];

const CHANGELOG: &str = "CHANGELOG.md";

/// What the program writes: texts of commands and options are judged where they are defined.
const GENERATED: &[&str] = &["docs/options.md"];

/// Words that make a clause of a heading.
const CLAUSES: &[&str] = &["What", "Where", "How", "Who", "Whose"];

/// Idioms that are not a technical writer's, and what to write.
const IDIOMS: &[(&str, &str)] = &[
    ("as is usual", "common, usually"),
    ("at one moment", "simultaneously"),
    ("hardly", "the number"),
    ("is asked", "is required"),
    ("are asked", "are required"),
    ("is said", "is reported"),
    ("are said", "are reported"),
    ("look on", "watch"),
    ("looks on", "watches"),
    ("looking on", "watching"),
    ("nobody knows", "is unknown"),
    ("stands against", "caveats"),
    ("a twentieth", "5%"),
    ("whoever", "an imperative"),
    ("surely", "certainly, significantly"),
    ("stands under", "is described in"),
    ("rung", "step"),
    ("rungs", "steps"),
];

/// A run of prose: a paragraph, an item of a list or a cell of a table.
struct Block {
    line: usize,
    text: String,
}

/// Headings, sentences, idioms and entries of the manual that are over what a reader takes at once.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    sources.iter().filter(|source| is_manual(source)).flat_map(check_page).collect()
}

fn is_manual(source: &Source) -> bool {
    let path = source.path.as_str();
    let is_page = path.starts_with("docs/") && source.is("md");
    let is_generated = GENERATED.iter().any(|generated| path.starts_with(generated));
    PAGES.contains(&path) || (is_page && !is_generated)
}

fn check_page(page: &Source) -> Vec<Finding> {
    let lines = prose_lines(&page.text);
    let headings = lines.iter().filter(|(_, line)| line.starts_with('#'));
    let clauses = headings.filter(|(_, line)| is_clause(line)).map(|(number, _)| {
        Finding::at(&page.path, *number, "a heading is a noun, not a clause or a question")
    });
    let blocks = blocks(&lines);
    let mut findings: Vec<Finding> = clauses.collect();
    for block in &blocks {
        findings.extend(long_sentences(block, &page.path));
        findings.extend(idioms(block, &page.path));
    }
    let entries = blocks.iter().filter(|_| page.path == CHANGELOG);
    findings.extend(entries.filter_map(|block| long_entry(block, &page.path)));
    findings
}

/// The lines that people wrote, outside of code and of what the program writes, counted from 1.
fn prose_lines(text: &str) -> Vec<(usize, &str)> {
    let (mut is_code, mut is_generated) = (false, false);
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        is_generated |= line.starts_with("<!-- begin: written by");
        let is_prose = !is_code && !is_fence && !is_generated;
        lines.push((index + 1, if is_prose { line } else { "" }));
        is_generated &= !line.starts_with("<!-- end:");
    }
    lines
}

fn is_clause(heading: &str) -> bool {
    let first = heading.trim_start_matches('#').split_whitespace().next();
    first.is_some_and(|first| CLAUSES.contains(&first))
}

fn blocks(lines: &[(usize, &str)]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for (number, line) in lines {
        let text = line.trim();
        let is_item = text.starts_with("- ") || text.starts_with("* ") || is_numbered(text);
        if text.is_empty() || text.starts_with(['#', '|', '<', '!']) {
            let cells = text.split('|').filter(|_| text.starts_with('|'));
            blocks.extend(cells.map(|cell| Block { line: *number, text: cell.to_owned() }));
            is_open = false;
            continue;
        }
        match blocks.last_mut().filter(|_| is_open && !is_item) {
            Some(block) => block.text.extend([" ", text]),
            None => blocks.push(Block { line: *number, text: text.to_owned() }),
        }
        is_open = true;
    }
    blocks
}

fn is_numbered(text: &str) -> bool {
    text.split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok())
}

fn long_sentences(block: &Block, path: &str) -> Vec<Finding> {
    let mut sentences = vec![0];
    for word in words(&block.text) {
        *sentences.last_mut().unwrap_or(&mut 0) += 1;
        if word.trim_end_matches(['*', ')', '"']).ends_with(['.', '?', '!', ':']) {
            sentences.push(0);
        }
    }
    let long = sentences.into_iter().filter(|words| *words > SENTENCE_WORDS_MAX);
    long.map(|words| {
        let what = format!("a sentence of {words} words; at most {SENTENCE_WORDS_MAX}");
        Finding::at(path, block.line, what)
    })
    .collect()
}

/// The words of a text: inline code counts as one, the target of a link as none.
fn words(text: &str) -> Vec<String> {
    let parts = text.split('`').enumerate();
    let plain: String =
        parts.map(|(index, part)| if index % 2 == 1 { "x" } else { part }).collect();
    let mut labels = plain.split("](");
    let first = labels.next().unwrap_or_default().to_owned();
    let rest = labels.map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
    let bare = rest.fold(first, |bare, part| bare + part);
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    bare.split_whitespace().filter(is_word).map(str::to_owned).collect()
}

fn idioms(block: &Block, path: &str) -> Vec<Finding> {
    let is_mark = |mark: char| !mark.is_alphanumeric() && mark != '\'';
    let words: Vec<String> = words(&block.text).iter().map(|word| word.to_lowercase()).collect();
    let bare: Vec<&str> = words.iter().map(|word| word.trim_matches(is_mark)).collect();
    let text = format!(" {} ", bare.join(" "));
    let found = IDIOMS.iter().filter(|(idiom, _)| text.contains(&format!(" {idiom} ")));
    let finding = |(idiom, instead): &(&str, &str)| {
        Finding::at(path, block.line, format!("\"{idiom}\": write {instead}"))
    };
    found.map(finding).collect()
}

fn long_entry(block: &Block, path: &str) -> Option<Finding> {
    let words = words(&block.text).len();
    let is_long = block.text.starts_with("- ") && words > ENTRY_WORDS_MAX;
    let what = format!("an entry of {words} words; at most {ENTRY_WORDS_MAX}, one change each");
    is_long.then(|| Finding::at(path, block.line, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> String {
        crate::report(&check(&[Source::new(path, text)]))
    }

    fn words_of(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    #[test]
    fn a_clause_is_no_heading() {
        let found = findings("docs/a.md", "# Limits\n\n## What it costs\n\n```\n# How\n```\n");
        assert_eq!(found, "docs/a.md:3: a heading is a noun, not a clause or a question");
    }

    #[test]
    fn a_long_sentence_is_found_in_paragraphs_items_and_cells() {
        let long = words_of(41);
        let expected = "docs/a.md:1: a sentence of 41 words; at most 40";
        assert_eq!(findings("docs/a.md", &format!("{long}\n")), expected);
        assert_eq!(findings("docs/a.md", &format!("- {long}\n- b\n")), expected);
        assert_eq!(findings("docs/a.md", &format!("| a | {long} |\n")), expected);
        let across_lines = long.replacen(' ', "\n", 1);
        assert_eq!(findings("docs/a.md", &across_lines), expected);
    }

    #[test]
    fn short_sentences_code_links_and_generated_text_pass() {
        let half = words_of(19);
        let code = format!("```\n{}\n```\n", words_of(50));
        let generated = format!("<!-- begin: written by x -->\n{}\n<!-- end: -->\n", words_of(50));
        let link = format!("[{half}](a.md) `{}` {half}", words_of(10));
        for text in [&format!("{half}. {half}."), &code, &generated, &link] {
            assert_eq!(findings("docs/a.md", text), "", "{text}");
        }
    }

    #[test]
    fn idioms_are_found_as_whole_words() {
        let found = findings("README.md", "The rungs stand.\nWrung out, strung up.\n");
        assert_eq!(found, "README.md:1: \"rungs\": write steps");
    }

    #[test]
    fn an_entry_of_the_changelog_is_one_change() {
        let text = format!("- {}. {}\n", words_of(16), words_of(15));
        assert_eq!(
            findings(CHANGELOG, &text),
            "CHANGELOG.md:1: an entry of 31 words; at most 30, one change each"
        );
    }
}
