//! The time of day is read in few places: it dates results. What it would measure, a step of the
//! clock would falsify.

use crate::{Finding, RustFile};

/// Who may read it, as beginnings of paths: the host's own room, the engine for the date of a
/// measurement's begin, and the file system of the tests, whose interface has such dates.
pub const ALLOWED: &[&str] =
    &["crates/assay-host/src/clock.rs", "crates/assay-engine/src/run.rs", "tests/rig/"];

/// Every reading of the time of day outside the allowed places, also inside macros and tests.
pub fn check(files: &[RustFile], allowed: &[&str]) -> Vec<Finding> {
    let others =
        files.iter().filter(|file| !allowed.iter().any(|start| file.path.starts_with(start)));
    others.flat_map(readings).collect()
}

fn readings(file: &RustFile) -> Vec<Finding> {
    let words = file.words().into_iter().filter(|(word, _)| word == "SystemTime");
    let advice = "`SystemTime` may jump: use `Instant`, or `clock::unix_ns` for a date";
    words.map(|(_, line)| Finding::at(&file.path, line, advice)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn readings_are_found_only_outside_the_allowed_places() {
        let text = "// SystemTime in words\nfn a() -> u64 {\n    since(SystemTime::now())\n}\n";
        let files = ["crates/assay-host/src/clock.rs", "crates/assay-store/src/lib.rs"]
            .map(|path| RustFile::parse(&Source::new(path, text)).unwrap());
        let findings = crate::report(&check(&files, ALLOWED));
        assert!(
            findings.starts_with("crates/assay-store/src/lib.rs:3: `SystemTime`"),
            "{findings}"
        );
        assert_eq!(findings.lines().count(), 1);
    }
}
