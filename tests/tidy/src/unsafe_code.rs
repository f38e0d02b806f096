//! Unsafe code lives only where the kernel is spoken to directly.

use crate::{Finding, RustFile};

/// Where `unsafe` may be written, as beginnings of paths: the engine's backends and its buffers.
pub const ALLOWED: &[&str] = &["crates/assay-engine/src/"];

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
        .map(|(_, line)| Finding::at(&file.path, line, "`unsafe` outside the engine"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn unsafe_is_found_only_outside_the_allowed_places() {
        let text = "#![forbid(unsafe_code)]\n// unsafe in words\nfn a() {\n    unsafe { b() }\n}\n";
        let files: Vec<RustFile> =
            ["crates/assay-engine/src/ring.rs", "crates/assay-host/src/lib.rs"]
                .iter()
                .map(|path| RustFile::parse(&Source::new(path, text)).unwrap())
                .collect();
        let findings = check(&files, ALLOWED);
        let expected = "crates/assay-host/src/lib.rs:4: `unsafe` outside the engine";
        assert_eq!(crate::report(&findings), expected);
    }
}
