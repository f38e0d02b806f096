//! Which program's file it is, by its content and never by its name.

/// Kinds of files that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A job file of fio.
    FioJob,
    /// A parameter file of Vdbench.
    VdbenchParameters,
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
    let begins = |starts: &[&str]| {
        lines.iter().any(|line| starts.iter().any(|start| line.starts_with(start)))
    };
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
    lines.iter().any(is_section).then_some(FileKind::FioJob)
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
            ("format = 1\n[[stream]]\n", Some(FileKind::Workload)),
            ("format = 1\n[phases]\n", Some(FileKind::Study)),
            ("hello\n", None),
            ("", None),
        ] {
            assert_eq!(detect(text), kind, "{text}");
        }
    }
}
