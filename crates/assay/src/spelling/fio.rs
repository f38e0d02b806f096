//! The command line of fio, as its users type it after `assay run`: its options are the words of a
//! job file, which the reader of job files reads; the few that are not of a job have a counterpart
//! or are refused.

use assay_formats::fio::{is_flag, is_job_option};
use assay_model::{Error, Result};
use std::collections::VecDeque;

/// Options of fio itself that have nothing to do here.
const IGNORED: [&str; 13] = [
    "alloc-size",
    "append-terse",
    "aux-path",
    "debug",
    "eta",
    "eta-interval",
    "eta-newline",
    "idle-prof",
    "inflate-log",
    "max-jobs",
    "status-interval",
    "terse-version",
    "warnings-fatal",
];

const HOSTS: &str = "specify the hosts with --hosts";
const TRIGGER: &str = "stop the run with Ctrl-C, or see `assay verify`";

/// Options of fio itself that are refused, and what to do instead.
const REFUSED: [(&str, &str); 11] = [
    ("bandwidth-log", "see `assay report latest --csv intervals`"),
    ("client", HOSTS),
    ("daemonize", "run the command in the background"),
    ("latency-log", "see `assay report latest --csv histograms`"),
    ("output", "redirect standard output, or see `assay report --html FILE`"),
    ("readonly", "omit it: only --rw says whether blocks are written"),
    ("remote-config", HOSTS),
    ("server", HOSTS),
    ("trigger", TRIGGER),
    ("trigger-file", TRIGGER),
    ("trigger-timeout", TRIGGER),
];

/// What a command line in fio's words means here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandWords {
    /// The same in the options of `assay run`.
    pub words: Vec<String>,
    /// What is read otherwise than a user of fio might expect.
    pub notes: Vec<String>,
}

/// The option of `assay run` that takes a word of a job, and what stands in the place of a
/// workload's name.
const JOB_WORD: &str = "--job-word";
const JOB_NAME: &str = "fio";

/// Translates the words that follow `assay run` where they name a job of fio by `--rw`; words that
/// are not fio's stay as they are, and follow the job.
///
/// # Errors
/// A usage error for what fio does and Assay does not.
pub fn translate(words: &[String]) -> Result<CommandWords> {
    let own = words.split(|word| word == "--").next().unwrap_or_default();
    if !own.iter().filter_map(|word| option(word)).any(|(name, _)| is_direction(name)) {
        own.iter().try_for_each(|word| check_foreign(word))?;
        return Ok(CommandWords { words: words.to_vec(), notes: Vec::new() });
    }
    let mut line = FioLine::default();
    let mut rest = VecDeque::from(words.to_vec());
    while let Some(word) = rest.pop_front() {
        if word == "--" {
            line.others.push(word);
            line.others.extend(rest.drain(..));
            break;
        }
        line.take(word, &mut rest)?;
    }
    Ok(line.finish())
}

fn is_direction(name: &str) -> bool {
    ["rw", "readwrite"].contains(&name)
}

/// An option of a job of fio without `--rw` is a mistake, and none of Assay.
fn check_foreign(word: &str) -> Result<()> {
    let Some((name, _)) = option(word) else { return Ok(()) };
    let foreign = [
        "ioengine",
        "numjobs",
        "rwmixread",
        "rwmixwrite",
        "rate_iops",
        "group_reporting",
        "time_based",
    ];
    if !foreign.contains(&name) {
        return Ok(());
    }
    Err(Error::usage(
        format!("--{name} is an option of fio and needs --rw"),
        "use fio's options with --rw, or only Assay's options",
    ))
}

/// The name and the value of a word that is an option: `--bs=4k`, `--bs`, and `-bs=4k`, which fio
/// takes, too.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    let typed = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    Some(typed.split_once('=').map_or((typed, None), |(name, value)| (name, Some(value))))
}

/// Whether a value is one of Assay's own option of that name.
fn is_of_assay(name: &str, value: Option<&str>) -> bool {
    match name {
        "buffered" => value.is_none(),
        "rate" => value.is_some_and(|value| value.ends_with("/s")),
        "verify" => value.is_none_or(|value| value.ends_with('%')),
        _ => false,
    }
}

/// The words of a line, sorted.
#[derive(Default)]
struct FioLine {
    job: Vec<String>,
    others: Vec<String>,
    notes: Vec<String>,
    says_direct: bool,
}

impl FioLine {
    fn take(&mut self, word: String, rest: &mut VecDeque<String>) -> Result<()> {
        let Some((name, value)) = option(&word) else {
            self.others.push(word);
            return Ok(());
        };
        if let Some((_, hint)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
            let message = format!("--{name} is an option of fio without a counterpart here");
            return Err(Error::usage(message, *hint));
        }
        if is_of_assay(name, value) {
            self.others.push(word);
        } else if name == "verify" {
            self.others.push("--verify".to_owned());
            self.notes.push(format!(
                "note: {word}: Assay writes its own stamps, which also detect lost and misplaced \
                 writes"
            ));
        } else if is_job_option(name) && name != "output-format" {
            self.says_direct |= ["direct", "buffered"].contains(&name);
            let name = name.to_owned();
            let value = value.map(str::to_owned).or_else(|| next_value(&name, rest));
            // A run of Assay has the name of its first job.
            if name == "name" && !self.others.iter().any(|word| word.starts_with("--name=")) {
                self.others.extend(value.iter().map(|value| format!("--name={value}")));
            }
            self.job.push(value.map_or(name.clone(), |value| format!("{name}={value}")));
        } else {
            self.program_option(&word, rest);
        }
        Ok(())
    }

    /// An option of fio itself, or one of Assay.
    fn program_option(&mut self, word: &str, rest: &mut VecDeque<String>) {
        let Some((name, value)) = option(word) else { return };
        match name {
            "output-format" => {
                let form = value.map(str::to_owned).or_else(|| next_value(name, rest));
                let is_json = form.is_some_and(|form| form.starts_with("json"));
                self.others.extend(is_json.then(|| "--json".to_owned()));
            }
            "minimal" => self.others.push("--json".to_owned()),
            "parse-only" => self.others.push("--dry-run".to_owned()),
            name if IGNORED.contains(&name) => {
                self.notes.push(format!("note: --{name} has no effect here and is ignored"));
            }
            _ => self.others.push(word.to_owned()),
        }
    }

    fn finish(mut self) -> CommandWords {
        if !self.says_direct {
            self.notes.push(
                "note: as in fio, I/O goes through the page cache; add --direct=1 to measure the \
                 storage"
                    .to_owned(),
            );
        }
        let job = self.job.into_iter().map(|word| format!("{JOB_WORD}={word}"));
        let words = std::iter::once(JOB_NAME.to_owned()).chain(job).chain(self.others).collect();
        CommandWords { words, notes: self.notes }
    }
}

/// The value that follows its option as a word of its own.
fn next_value(name: &str, rest: &mut VecDeque<String>) -> Option<String> {
    if is_flag(name) {
        return None;
    }
    rest.front().filter(|word| !word.starts_with('-'))?;
    rest.pop_front()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<CommandWords> {
        translate(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn words(line: &str) -> String {
        read(line).unwrap().words.join(" ").replace("--job-word=", "+")
    }

    #[test]
    fn options_of_a_job_are_its_words_and_others_stay() {
        assert_eq!(
            words("--bs=8k --iodepth 32 --rw randread --direct=1 --time 10 DIR -q"),
            "fio +bs=8k +iodepth=32 +rw=randread +direct=1 --time 10 DIR -q"
        );
        assert_eq!(
            words("-rw=randrw -bs=4k --time_based --numjobs=4 --filename=/a\\:b --name=j DIR"),
            "fio +rw=randrw +bs=4k +time_based +numjobs=4 +filename=/a\\:b +name=j --name=j DIR"
        );
        assert_eq!(
            words("--rw=read --rate=500/s --verify --output-format=json+ --parse-only -- --bs"),
            "fio +rw=read --rate=500/s --verify --json --dry-run -- --bs"
        );
        assert_eq!(words("--rw=write --verify=crc32c D"), "fio +rw=write --verify D");
    }

    #[test]
    fn words_of_assay_stay_as_they_are() {
        let line = "oltp D --time 30s --size 1GiB --name one --bs 8k --iodepth 4 -q -- --rw=read";
        assert_eq!(
            read(line).unwrap(),
            CommandWords { words: line.split(' ').map(str::to_owned).collect(), notes: Vec::new() }
        );
    }

    #[test]
    fn what_is_read_otherwise_is_noted() {
        let notes = |line| read(line).unwrap().notes;
        assert_eq!(notes("--rw read --bs 1m --direct 1 D"), [""; 0]);
        assert!(notes("--rw read D")[0].contains("page cache"));
        assert!(notes("--rw read --eta=never --direct=1 D")[0].contains("ignored"));
    }

    #[test]
    fn what_has_no_counterpart_is_refused_with_what_to_do() {
        for line in ["--rw read --client=h1", "--rw read --output=x", "oltp D --ioengine=psync"] {
            assert!(!read(line).unwrap_err().hint().is_empty(), "{line}");
        }
    }
}
