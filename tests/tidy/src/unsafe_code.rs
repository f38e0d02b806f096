//! Unsafe code lives only where the kernel is spoken to directly.

use crate::{Finding, RustFile, Source};

/// Where `unsafe` may be written, as beginnings of paths: the engine's backends and its buffers.
pub const ALLOWED: &[&str] = &["crates/assay-engine/src/"];

/// How often `unsafe` is written in all; docs/methods/safety.md says the same number. Whoever adds
/// one says why here.
///
/// Three of them are those of verification: a read into a borrowed buffer, a write from one that
/// may have to be durable on return, and the request to drop what the page cache holds. Two are the
/// processor's counter and the fence in front of it, two ask an NVMe drive which namespace it is
/// and how its blocks are formatted, and one writes to it or flushes it.
pub const USES: usize = 24;

/// Where the number of uses is not the one that was reviewed, and every use without a comment
/// `SAFETY` (or a section `# Safety`) in the lines before it.
pub fn count(files: &[RustFile], sources: &[Source], uses: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = 0;
    for file in files {
        let text = sources.iter().find(|source| source.path == file.path);
        let lines: Vec<&str> = text.map_or_else(Vec::new, |source| source.text.lines().collect());
        for (_, line) in file.words().into_iter().filter(|(word, _)| word == "unsafe") {
            found += 1;
            let before = &lines[line.saturating_sub(LINES_ABOVE)..line.min(lines.len())];
            if !before.iter().any(|line| line.to_uppercase().contains("SAFETY")) {
                findings.push(Finding::at(&file.path, line, "`unsafe` without a comment `SAFETY`"));
            }
        }
    }
    if found != uses {
        let what = format!("`unsafe` is written {found} times, and {uses} were reviewed");
        findings.push(Finding::new("tests/tidy/src/unsafe_code.rs", what));
    }
    findings
}

/// Lines in which a use is explained before it.
const LINES_ABOVE: usize = 12;

/// Every `unsafe` outside the allowed places, also inside macros and tests.
pub fn check(files: &[RustFile], allowed: &[&str]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| !allowed.iter().any(|start| file.path.starts_with(start)))
        .flat_map(uses)
        .collect()
}

fn uses(file: &RustFile) -> Vec<Finding> {
    let words = file.words().into_iter();
    words
        .filter(|(word, _)| word == "unsafe")
        .map(|(_, line)| {
            Finding::at(&file.path, line, "`unsafe` outside the places where it may be written")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_counted_and_explained() {
        let text = "fn a() {\n    // SAFETY: it is\n    unsafe { b() }\n}\n";
        let source = Source::new("crates/assay-engine/src/ring.rs", text);
        let file = RustFile::parse(&source).unwrap();
        assert!(count(&[file], std::slice::from_ref(&source), 1).is_empty());
        let source = Source::new("crates/assay-engine/src/ring.rs", &text.replace("SAFETY", ""));
        let file = RustFile::parse(&source).unwrap();
        assert_eq!(count(&[file], &[source], 2).len(), 2);
    }

    #[test]
    fn unsafe_is_found_only_outside_the_allowed_places() {
        let text = "#![forbid(unsafe_code)]\n// unsafe in words\nfn a() {\n    unsafe { b() }\n}\n";
        let files: Vec<RustFile> =
            ["crates/assay-engine/src/ring.rs", "crates/assay-host/src/lib.rs"]
                .iter()
                .map(|path| RustFile::parse(&Source::new(path, text)).unwrap())
                .collect();
        let findings = check(&files, ALLOWED);
        let expected =
            "crates/assay-host/src/lib.rs:4: `unsafe` outside the places where it may be written";
        assert_eq!(crate::report(&findings), expected);
    }
}
