//! The pages of the commands are written from the program: `assay manual` holds every command and
//! every option.
//!
//! A page docs/commands/COMMAND.md opens with the chapter that the program prints, between
//! [`BEGIN`] and [`END`]; what people write follows below and is never touched.

use crate::{Finding, Source};
use std::collections::BTreeMap;

/// Opens the part of a page that the program writes.
pub const BEGIN: &str = "<!-- begin: written by `make docs` from `assay manual` -->";
/// Closes it.
pub const END: &str = "<!-- end: written from here on by people -->";

const FOLDER: &str = "docs/commands/";

/// One command of the program: the chapter of `assay manual` that opens with `# assay COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The command alone.
    pub command: String,
    /// The chapter, from its heading on.
    pub text: String,
}

impl Chapter {
    /// Where the page of the command lies.
    pub fn path(&self) -> String {
        format!("{FOLDER}{}.md", self.command)
    }

    fn block(&self) -> String {
        format!("{BEGIN}\n{}\n{END}\n\n", self.text.trim_end())
    }

    /// The page with a fresh chapter: what stands below [`END`] in `old` is kept.
    pub fn page(&self, old: Option<&str>) -> String {
        let below = old.and_then(|old| old.split_once(END)).map(|(_, below)| below);
        format!("{}{}", self.block(), below.unwrap_or_default().trim_start_matches('\n'))
    }
}

/// The chapters of what `assay manual` prints.
pub fn chapters(manual: &str) -> Vec<Chapter> {
    let mut chapters: Vec<Chapter> = Vec::new();
    for line in manual.lines() {
        if let Some(command) = line.strip_prefix("# assay ") {
            let command = command.trim().to_owned();
            chapters.push(Chapter { command, text: String::new() });
        }
        if let Some(chapter) = chapters.last_mut() {
            chapter.text.push_str(line);
            chapter.text.push('\n');
        }
    }
    chapters
}

/// Where the index of all options lies.
pub const OPTIONS_PATH: &str = "docs/options.md";

/// The index of all options: each as it is typed, with its default and the commands that have it.
pub fn options_page(chapters: &[Chapter]) -> String {
    let mut uses: BTreeMap<(&str, &str, &str), Vec<&str>> = BTreeMap::new();
    for chapter in chapters {
        let mut command = chapter.command.as_str();
        for line in chapter.text.lines() {
            if let Some((_, named)) = line.split_once("# assay ") {
                command = named.trim();
            }
            if let Some((typed, default)) = option_of(line) {
                let name = typed.split("--").nth(1).unwrap_or(typed);
                uses.entry((name, typed, default)).or_default().push(command);
            }
        }
    }
    let row = |((_, typed, default), commands): (&(&str, &str, &str), &Vec<&str>)| {
        format!("| `{typed}` | {default} | {} |\n", commands.join(", "))
    };
    let rows: String = uses.iter().map(row).collect();
    format!(
        "{BEGIN}\n# Options\n\nEach option with its default and the commands that have it.\n\n| \
         option | default | commands |\n|---|---|---|\n{rows}{END}\n"
    )
}

/// The option and the default of a row of a table of options; nothing for arguments and for help.
fn option_of(line: &str) -> Option<(&str, &str)> {
    let (typed, rest) = line.strip_prefix("| `")?.split_once("` | ")?;
    let (default, _) = rest.split_once(" | ").or_else(|| rest.split_once("| "))?;
    (typed.starts_with('-') && typed != "-h, --help").then_some((typed, default.trim()))
}

/// Commands without a page, pages that differ from the program, and pages without a command.
pub fn check(chapters: &[Chapter], sources: &[Source]) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        chapters.iter().filter_map(|chapter| judge(chapter, sources)).collect();
    let pages = sources.iter().filter(|source| source.path.starts_with(FOLDER));
    let stale = pages.filter(|page| !chapters.iter().any(|chapter| chapter.path() == page.path));
    findings.extend(stale.map(|page| Finding::new(&page.path, "the program has no such command")));
    findings
}

fn judge(chapter: &Chapter, sources: &[Source]) -> Option<Finding> {
    let path = chapter.path();
    let Some(page) = sources.iter().find(|source| source.path == path) else {
        return Some(Finding::new(path, "the command has no page: run `make docs`"));
    };
    let fresh = page.text.starts_with(&chapter.block());
    (!fresh).then(|| Finding::new(path, "differs from what the program says: run `make docs`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: &str = "# assay run\n\nRuns.\n\n## assay run now\n\n# assay judge\n\nJudges.\n";

    fn pages(texts: &[(&str, String)]) -> Vec<Source> {
        texts.iter().map(|(path, text)| Source::new(path, text)).collect()
    }

    fn fresh() -> [(&'static str, String); 2] {
        let chapters = chapters(MANUAL);
        let page = |index: usize| chapters[index].page(None);
        [("docs/commands/run.md", page(0)), ("docs/commands/judge.md", page(1))]
    }

    fn findings(texts: &[(&str, String)]) -> String {
        crate::report(&check(&chapters(MANUAL), &pages(texts)))
    }

    #[test]
    fn a_chapter_opens_at_the_heading_of_a_command() {
        let chapters = chapters(MANUAL);
        let commands: Vec<&str> = chapters.iter().map(|chapter| chapter.command.as_str()).collect();
        assert_eq!(commands, ["run", "judge"]);
        assert!(chapters[0].text.contains("## assay run now"));
    }

    #[test]
    fn fresh_pages_pass_and_keep_what_people_wrote() {
        assert_eq!(findings(&fresh()), "");
        let chapter = &chapters(MANUAL)[1];
        let old = format!("{BEGIN}\n# assay judge\nold\n{END}\n\n## Examples\n\nOne.\n");
        let page = chapter.page(Some(&old));
        assert!(page.ends_with("\n\n## Examples\n\nOne.\n") && !page.contains("old"), "{page}");
        assert_eq!(chapter.page(Some(&page)), page);
    }

    #[test]
    fn a_verb_without_a_page_is_found() {
        let expected = "docs/commands/judge.md: the command has no page: run `make docs`";
        assert_eq!(findings(&fresh()[..1]), expected);
    }

    #[test]
    fn an_option_missing_on_the_page_is_found() {
        let mut texts = fresh();
        texts[0].1 = texts[0].1.replace("Runs.", "Ran.");
        assert!(findings(&texts).starts_with("docs/commands/run.md: differs"));
    }

    #[test]
    fn a_page_without_a_verb_is_found() {
        let mut texts = fresh().to_vec();
        texts.push(("docs/commands/old.md", String::new()));
        assert_eq!(findings(&texts), "docs/commands/old.md: the program has no such command");
    }
}
