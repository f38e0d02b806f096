//! Which program's file it is, by its content and never by its name.

/// Kinds of files that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A job file of fio.
    FioJob,
    /// A parameter file of Vdbench.
    VdbenchParameters,
    /// A configuration of `IOMeter`.
    IometerConfiguration,
    /// A file of LUNs, which ORION reads next to its options.
    OrionLuns,
    /// A workload of Assay.
    Workload,
    /// A study of Assay.
    Study,
}

/// Lines that are looked at.
const LINES_MAX: usize = 4096;

/// The kind of a text, where it has one.
pub fn detect(text: &str) -> Option<FileKind> {
    let lines: Vec<&str> =
        text.lines().take(LINES_MAX).map(str::trim).filter(|line| !is_comment(line)).collect();
    if lines.is_empty() {
        return has_paths(text).then_some(FileKind::OrionLuns);
    }
    let begins = |starts: &[&str]| {
        lines.iter().any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
    if begins(&["'TEST SETUP", "'ACCESS SPECIFICATIONS", "'MANAGER LIST"]) {
        return Some(FileKind::IometerConfiguration);
    }
    if begins(&["[[factor]]", "[phases]"]) {
        return Some(FileKind::Study);
    }
    if begins(&["[[stream]]"]) {
        return Some(FileKind::Workload);
    }
    if lines.iter().any(|line| is_entity(line)) {
        return Some(FileKind::VdbenchParameters);
    }
    let is_section = |line: &&str| {
        line.starts_with('[') && line.ends_with(']') || line.starts_with('[') && line.contains(']')
    };
    if lines.iter().any(is_section) || lines.iter().all(|line| is_option(line)) {
        return Some(FileKind::FioJob);
    }
    None
}

/// An option of fio: a file of them is written to be included.
fn is_option(line: &str) -> bool {
    let key = line.split('=').next().unwrap_or_default();
    crate::fio::is_option(key.trim())
}

/// Whether a text of nothing but comments lists whole paths, which a slash begins as it begins a
/// comment of Vdbench.
fn has_paths(text: &str) -> bool {
    let is_path =
        |line: &str| line.len() > 1 && line.starts_with('/') && !line.contains([' ', '=']);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_path)
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with([';', '#', '*', '/'])
}

/// `sd=…`, `wd=…` and the other entities of Vdbench.
fn is_entity(line: &str) -> bool {
    let mut parts = line.split('=');
    let key = parts.next().unwrap_or_default();
    ["hd", "sd", "wd", "rd", "fsd", "fwd"].iter().any(|entity| key.eq_ignore_ascii_case(entity))
        && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_whose_file_it_is() {
        for (text, kind) in [
            ("; jobs\n[global]\nbs=4k\n[a]\n", Some(FileKind::FioJob)),
            ("* c\nsd=sd1,lun=/x\nwd=wd1,sd=*\n", Some(FileKind::VdbenchParameters)),
            ("Version 1.1.0\n'TEST SETUP ==\n", Some(FileKind::IometerConfiguration)),
            ("format = 1\n[[stream]]\n", Some(FileKind::Workload)),
            ("format = 1\n[phases]\n", Some(FileKind::Study)),
            ("# to be included\nruntime=60\ntime_based\n", Some(FileKind::FioJob)),
            ("/dev/sda\n\n/u01/lun1\n", Some(FileKind::OrionLuns)),
            ("/ a comment\n", None),
            ("runtime=60\nhello=5\n", None),
            ("hello\n", None),
            ("", None),
        ] {
            assert_eq!(detect(text), kind, "{text}");
        }
    }
}
