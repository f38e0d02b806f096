//! The documentation holds together: links lead somewhere, and every page stands in the summary.

use crate::{Finding, Source};
use std::collections::BTreeMap;

/// Where the book is, and its table of contents.
const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Dead links between the repository's Markdown files, and pages of the book that nobody can reach.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let texts: BTreeMap<&str, &str> =
        sources.iter().map(|source| (source.path.as_str(), source.text.as_str())).collect();
    let pages = sources.iter().filter(|source| source.is("md"));
    let mut findings: Vec<Finding> = pages
        .flat_map(|page| links(&page.text).into_iter().map(move |link| (page, link)))
        .filter_map(|(page, (line, target))| dead(&page.path, line, &target, &texts))
        .collect();
    findings.extend(unreachable(sources));
    findings
}

/// The targets of `[text](target)` with their lines, outside of code.
fn links(text: &str) -> Vec<(usize, String)> {
    prose(text)
        .flat_map(|(line, words)| {
            let parts: Vec<&str> = words.split("](").skip(1).collect();
            let targets = parts.into_iter().filter_map(|part| part.split_once(')'));
            let targets: Vec<String> = targets.map(|(target, _)| target.to_owned()).collect();
            targets.into_iter().map(move |target| (line, target))
        })
        .collect()
}

/// The lines outside fenced code, without inline code, counted from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fence && !fenced).then(|| (index + 1, line.split('`').step_by(2).collect()))
    })
}

fn dead(page: &str, line: usize, target: &str, texts: &BTreeMap<&str, &str>) -> Option<Finding> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { resolve(page, file) };
    let Some(text) = texts.get(path.as_str()) else {
        let is_folder = texts.keys().any(|known| known.starts_with(&format!("{path}/")));
        return (!is_folder).then(|| Finding::at(page, line, format!("`{target}` leads nowhere")));
    };
    let found = anchor.is_empty() || anchors(text).any(|known| known == anchor);
    (!found).then(|| Finding::at(page, line, format!("`{path}` has no heading `#{anchor}`")))
}

/// The path of `file`, seen from the folder of `page`.
fn resolve(page: &str, file: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The names under which the headings of a page can be reached: as mdBook and GitHub make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| line.starts_with('#'));
    lines.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|mark| mark.is_alphanumeric() || "-_ ".contains(*mark));
        kept.map(|mark| if mark == ' ' { '-' } else { mark }).collect()
    })
}

/// Pages of the book that the summary does not list.
fn unreachable(sources: &[Source]) -> Vec<Finding> {
    let summary = sources.iter().find(|source| source.path == SUMMARY);
    let listed: Vec<String> = links(summary.map_or("", |summary| &summary.text))
        .iter()
        .map(|(_, target)| resolve(SUMMARY, target))
        .collect();
    let pages = sources.iter().filter(|source| source.is("md") && source.path.starts_with(BOOK));
    pages
        .filter(|page| page.path != SUMMARY && !listed.contains(&page.path))
        .map(|page| Finding::new(&page.path, format!("the page is not in {SUMMARY}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(pages: &[(&str, &str)]) -> String {
        let sources: Vec<Source> =
            pages.iter().map(|(path, text)| Source::new(path, text)).collect();
        crate::report(&check(&sources))
    }

    const SUMMARY_OF_A: (&str, &str) = (SUMMARY, "- [A](commands/a.md)\n");

    #[test]
    fn living_links_pass() {
        let text = "# The knee: a rule\n[self](#the-knee-a-rule) [up](../../README.md#two-commands) \
            [web](https://docs.rs) [folder](../../crates)\n`[code](nowhere.md)`\n```\n[more](nowhere.md)\n```\n";
        let readme = ("README.md", "## Two commands\n");
        let code = ("crates/a/src/lib.rs", "");
        assert_eq!(findings(&[SUMMARY_OF_A, ("docs/commands/a.md", text), readme, code]), "");
    }

    #[test]
    fn a_dead_link_is_found() {
        let found = findings(&[SUMMARY_OF_A, ("docs/commands/a.md", "one\n[b](b.md)\n")]);
        assert_eq!(found, "docs/commands/a.md:2: `b.md` leads nowhere");
    }

    #[test]
    fn a_missing_heading_is_found() {
        let found = findings(&[SUMMARY_OF_A, ("docs/commands/a.md", "# A\n[b](#b)\n")]);
        assert_eq!(found, "docs/commands/a.md:2: `docs/commands/a.md` has no heading `#b`");
    }

    #[test]
    fn a_page_outside_the_summary_is_found() {
        let found = findings(&[SUMMARY_OF_A, ("docs/commands/a.md", ""), ("docs/b.md", "")]);
        assert_eq!(found, "docs/b.md: the page is not in docs/SUMMARY.md");
    }
}
