//! What a file is that a command does not read, and the command that does.

use assay_formats::results::{RefusedFile, program, trace_program, unread_file};
use assay_formats::{FileKind, detect, fio};
use assay_model::{Error, Result};
use assay_oracle::{other_report, read_reports};

/// The error for a file that another command reads; nothing where no command does.
pub(crate) fn other_file(text: &str, name: &str) -> Option<Error> {
    if let Some(program) = trace_program(text) {
        return Some(of_trace(program, name));
    }
    let other = || other_report(text.as_bytes()).map(|error| error.context(name));
    let unread = || unread_file(text).map(|file| of_unread(file, name)).or_else(other);
    let known = program(text)
        .map(|program| (format!("a result of {program}"), "runs import"))
        .or_else(|| has_report(text).then(|| ("an AWR or Statspack report".to_owned(), "profile")))
        .or_else(|| job_file(text));
    let Some((what, command)) = known else { return unread() };
    Some(Error::usage(
        format!("{name} is {what}"),
        format!("read it with `assay {command} {name}`"),
    ))
}

/// The error for a file that no command reads.
fn of_unread(file: RefusedFile, name: &str) -> Error {
    Error::usage(format!("{name} is {}, which Assay does not read", file.what), file.hint)
}

/// The error for a trace, which `watch --from` reads if it is of one of its programs.
fn of_trace(program: &str, name: &str) -> Error {
    const READ: [&str; 5] = ["iostat", "vmstat", "mpstat", "sar", "sadf"];
    let hint = if READ.contains(&program) {
        format!("read it with `assay watch --from {name}`")
    } else {
        format!("Assay reads traces of {} on Linux", READ.join(", "))
    };
    Error::usage(format!("{name} is a trace of {program}"), hint)
}

/// Whether a text has an AWR or Statspack report.
pub(crate) fn has_report(text: &str) -> bool {
    read_reports(text.as_bytes()).iter().any(Result::is_ok)
}

fn job_file(text: &str) -> Option<(String, &'static str)> {
    let is_job = || {
        text.lines().any(|line| fio::is_option(line.split('=').next().unwrap_or_default().trim()))
    };
    let (what, command) = match detect(text)? {
        FileKind::FioJob if is_job() => ("a job file of fio", "run"),
        FileKind::FioJob | FileKind::OrionLuns => return None,
        FileKind::VdbenchParameters => ("a parameter file of Vdbench", "run"),
        FileKind::IometerConfiguration => ("a configuration of IOMeter", "run"),
        FileKind::Workload => ("a workload of Assay", "run"),
        FileKind::Study => ("a study of Assay", "study"),
    };
    Some((what.to_owned(), command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_verb_is_named_with_its_command() {
        for (text, what, command) in [
            ("Device r/s w/s\nsda 1 1\n", "a trace of iostat", "watch --from"),
            ("{\"fio version\": \"fio-3.33\"}", "a result of fio", "runs import"),
            ("[global]\nrw=read\n", "a job file of fio", "run"),
            ("sd=sd1,lun=/x\nwd=wd1,sd=*\n", "a parameter file of Vdbench", "run"),
            ("format = 1\n[phases]\n", "a study of Assay", "study"),
        ] {
            let error = other_file(text, "f").unwrap();
            assert!(error.message().starts_with(&format!("f is {what}")), "{error}");
            assert_eq!(error.hint(), format!("read it with `assay {command} f`"));
        }
        let other = other_file("SunOS db1 5.11\n11:42:23 device %busy r+w/s\n", "f").unwrap();
        assert_eq!(other.message(), "f is a trace of sar of another system");
        assert!(!other.hint().contains("--from"), "{other}");
        let slob = other_file("UPDATE_PCT=25\nSCALE=80M\nWORK_UNIT=64\n", "f").unwrap();
        assert_eq!(slob.message(), "f is a configuration of SLOB, which Assay does not read");
        let ash = other_file("<h1>ASH Report For DB1/db1</h1>\n", "f").unwrap();
        assert!(ash.message().starts_with("f: an ASH report: it samples"), "{ash}");
        for text in ["", "hello\n", "[ 5s ] threads\n"] {
            assert!(other_file(text, "f").is_none(), "{text}");
        }
    }
}
