//! A parsed Rust file: which lines hold code, and which of them are tests.

use crate::{Finding, Source};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A Rust file as the rules see it.
pub struct RustFile {
    /// Relative to the repository's root.
    pub path: String,
    /// The number of lines of the file, whatever is on them.
    pub lines: usize,
    /// The parsed items.
    pub syntax: syn::File,
    /// Every token, also those inside macros.
    pub tokens: TokenStream,
    code: BTreeSet<usize>,
    tests: BTreeSet<usize>,
}

impl RustFile {
    /// Parses a file.
    ///
    /// # Errors
    /// A finding at the place where the file stops being Rust.
    pub fn parse(source: &Source) -> Result<Self, Finding> {
        let broken = |error: &dyn std::fmt::Display| Finding::new(&source.path, error.to_string());
        let tokens: TokenStream = source.text.parse().map_err(|error| broken(&error))?;
        let syntax = syn::parse_file(&source.text).map_err(|error| broken(&error))?;
        let mut code = BTreeSet::new();
        mark_code(tokens.clone(), &mut code);
        let lines = source.text.lines().count();
        let tests = test_lines(&source.path, lines, &syntax);
        Ok(Self { path: source.path.clone(), lines, syntax, tokens, code, tests })
    }

    /// How many lines of `first..=last` hold code: neither blank nor only a comment.
    pub fn code_lines(&self, first: usize, last: usize) -> usize {
        self.code.range(first..=last).count()
    }

    /// Whether the line belongs to a test.
    pub fn is_test(&self, line: usize) -> bool {
        self.tests.contains(&line)
    }

    /// The lines of the file that do not belong to a test, comments and blank lines included.
    pub fn lines_without_tests(&self) -> usize {
        self.lines - self.tests.len()
    }

    /// Every identifier and keyword, also inside macros, with its line.
    pub fn words(&self) -> Vec<(String, usize)> {
        let mut words = Vec::new();
        collect_words(self.tokens.clone(), &mut words);
        words
    }
}

/// A file of tests: `tests.rs`, or below a folder `tests` that is not the home of a crate's `src`.
fn is_test_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let below_tests = parts
        .iter()
        .rposition(|part| *part == "tests")
        .is_some_and(|tests| !parts[tests..].contains(&"src"));
    below_tests || parts.last() == Some(&"tests.rs")
}

fn test_lines(path: &str, lines: usize, syntax: &syn::File) -> BTreeSet<usize> {
    if is_test_file(path) {
        return (1..=lines).collect();
    }
    let mut tests = TestLines::default();
    tests.visit_file(syntax);
    tests.lines
}

/// Gathers the lines of items that exist only for tests.
#[derive(Default)]
struct TestLines {
    lines: BTreeSet<usize>,
}

impl<'ast> Visit<'ast> for TestLines {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if attributes(item).iter().any(is_for_tests) {
            let span = item.span();
            self.lines.extend(span.start().line..=span.end().line);
        } else {
            visit::visit_item(self, item);
        }
    }
}

/// The attributes of those kinds of items that are made for tests only.
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, …))]`; not `#[cfg(not(test))]`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else {
        return false;
    };
    let mut words = Vec::new();
    collect_words(list.tokens.clone(), &mut words);
    let says = |wanted: &str| words.iter().any(|(word, _)| word == wanted);
    attribute.path().is_ident("cfg") && says("test") && !says("not")
}

/// Adds the lines of all tokens; a doc comment reaches the parser as `#[doc]` or `#![doc]` and is
/// left out.
fn mark_code(tokens: TokenStream, code: &mut BTreeSet<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let Some((token, after)) = rest.split_first() {
        rest = match rest {
            [mark, doc, after @ ..] if is(mark, '#') && is_doc(doc) => after,
            [mark, bang, doc, after @ ..] if is(mark, '#') && is(bang, '!') && is_doc(doc) => after,
            _ => {
                mark_token(token, code);
                after
            }
        }
    }
}

fn mark_token(token: &TokenTree, code: &mut BTreeSet<usize>) {
    if let TokenTree::Group(group) = token {
        code.insert(group.span_open().start().line);
        code.insert(group.span_close().end().line);
        mark_code(group.stream(), code);
    } else {
        code.extend(token.span().start().line..=token.span().end().line);
    }
}

fn is(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == wanted)
}

/// `[doc = "…"]`, what a doc comment becomes.
fn is_doc(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else {
        return false;
    };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(word)) if word == "doc")
}

fn collect_words(tokens: TokenStream, words: &mut Vec<(String, usize)>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => words.push((plain(&word), word.span().start().line)),
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn plain(word: &Ident) -> String {
    word.to_string().trim_start_matches("r#").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(path: &str, text: &str) -> RustFile {
        RustFile::parse(&Source::new(path, text)).unwrap()
    }

    #[test]
    fn comments_and_blank_lines_are_no_code() {
        let text = "//! Knows.\n\n/// Doc.\nfn a() {\n    // why\n\n    let x = \"1\n2\";\n}\n";
        let file = parsed("crates/a/src/lib.rs", text);
        assert_eq!(file.code.iter().copied().collect::<Vec<_>>(), [4, 7, 8, 9]);
        assert_eq!(file.code_lines(4, 7), 2);
    }

    #[test]
    fn a_match_with_an_exclamation_is_still_code() {
        let file = parsed("a/src/lib.rs", "fn a() {\n    if !\n    true {}\n}\n");
        assert_eq!(file.code_lines(1, 4), 4);
    }

    #[test]
    fn tests_are_told_from_code() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(not(test))]\nfn \
                    c() {}\n";
        let file = parsed("crates/a/src/lib.rs", text);
        let tests: Vec<usize> = (1..=7).filter(|line| file.is_test(*line)).collect();
        assert_eq!(tests, [2, 3, 4, 5]);
        assert_eq!(file.lines_without_tests(), 3);
    }

    #[test]
    fn files_of_tests_are_told_by_their_path() {
        for path in [
            "crates/a/tests/b.rs",
            "crates/a/src/b/tests.rs",
            "tests/run/main.rs",
            "tests/tidy/tests/c.rs",
        ] {
            assert!(is_test_file(path), "{path}");
        }
        for path in ["crates/a/src/lib.rs", "tests/tidy/src/lib.rs"] {
            assert!(!is_test_file(path), "{path}");
        }
    }

    #[test]
    fn words_inside_macros_are_seen() {
        let file = parsed("a/src/lib.rs", "fn a() { println!(\"{}\", inner); }");
        assert!(file.words().contains(&("inner".to_owned(), 1)));
    }

    #[test]
    fn what_is_not_rust_is_a_finding() {
        assert!(RustFile::parse(&Source::new("a.rs", "fn (")).is_err());
    }
}
