//! The form of a job file: sections, options, comments, includes and variables, as fio's manual has
//! them.

use super::job::engine_kind;
use super::names;
use crate::conversion::{COMMAND_LINE, OptionOrigin, Refused};
use crate::reading::{ReadSection, ReadSetting};
use crate::reason::OptionReason;
use crate::surroundings::{BYTES_MAX, DEPTH_MAX, HeldBytes, Surroundings};

/// Sections of a file at most.
const SECTIONS_MAX: usize = 4096;
/// Options of a section at most, globals included.
const SETTINGS_MAX: usize = 4096;

/// Reads a job file with everything that it includes.
pub fn read(
    text: &str,
    name: &str,
    around: &Surroundings<'_>,
) -> Result<Vec<ReadSection>, Refused> {
    let mut reader = JobFileReader::new(around);
    let read = reader.file(text, &mut vec![name.to_owned()]);
    read.map_err(|refused| because_of_engine(refused, text, name))?;
    reader.close();
    let whole = OptionOrigin { file: name.to_owned(), line: 1, key: String::new() };
    if reader.sections.is_empty() {
        return Err(Refused { origin: whole, value: String::new(), reason: OptionReason::NoJob });
    }
    Ok(reader.sections)
}

/// Nobody knows the options of an engine that fio loads from elsewhere: the engine is the reason.
fn because_of_engine(refused: Refused, text: &str, name: &str) -> Refused {
    let is_unlike_all = matches!(refused.reason, OptionReason::UnknownOption { nearest: None });
    let engine = (1..).zip(text.lines()).filter(|_| is_unlike_all).find_map(|(line, text)| {
        let (key, value) = without_comment(text).split_once('=')?;
        let value = value.trim();
        let is_it = key.trim() == "ioengine" && engine_kind(value).is_none();
        let origin = OptionOrigin { file: name.to_owned(), line, key: "ioengine".to_owned() };
        is_it.then(|| Refused { origin, value: value.to_owned(), reason: OptionReason::Engine })
    });
    engine.unwrap_or(refused)
}

/// Reads the words of a command line, `name=value` or a name alone: what stands before the first
/// `name` is for all jobs, and a job without a name has that of what it does.
pub fn read_words(
    words: &[String],
    around: &Surroundings<'_>,
) -> Result<Vec<ReadSection>, Refused> {
    let mut reader = JobFileReader { open: Open::Global, ..JobFileReader::new(around) };
    let value = |word: &str, name: &str| {
        word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).map(str::to_owned)
    };
    let origin = |line: u32, key: &str| OptionOrigin {
        file: COMMAND_LINE.to_owned(),
        line,
        key: key.to_owned(),
    };
    if !words.iter().any(|word| value(word, "name").is_some()) {
        let direction =
            words.iter().find_map(|word| value(word, "rw").or(value(word, "readwrite")));
        let name = direction.unwrap_or_else(|| "job".to_owned());
        reader.open =
            Open::Job(ReadSection { name, origin: origin(0, "rw"), settings: Vec::new() });
    }
    for (number, word) in (1..).zip(words) {
        if let Some(name) = value(word, "name") {
            reader.job(&name, origin(number, "name")).map_err(|reason| Refused {
                origin: origin(number, "name"),
                value: name.clone(),
                reason,
            })?;
        } else {
            reader.setting(word, origin(number, ""))?;
        }
    }
    reader.close();
    Ok(reader.sections)
}

/// The section whose lines follow.
enum Open {
    None,
    Global,
    Job(ReadSection),
}

struct JobFileReader<'a> {
    around: &'a Surroundings<'a>,
    globals: Vec<ReadSetting>,
    sections: Vec<ReadSection>,
    open: Open,
    bytes: usize,
    held: HeldBytes,
}

impl<'a> JobFileReader<'a> {
    fn new(around: &'a Surroundings<'a>) -> Self {
        JobFileReader {
            around,
            globals: Vec::new(),
            sections: Vec::new(),
            open: Open::None,
            bytes: 0,
            held: HeldBytes::default(),
        }
    }

    fn file(&mut self, text: &str, names: &mut Vec<String>) -> Result<(), Refused> {
        let name = names.last().cloned().unwrap_or_default();
        self.bytes = self.bytes.saturating_add(text.len());
        for (number, line) in (1..).zip(text.lines()) {
            let refuse = |key: &str, value: &str, reason: OptionReason| Refused {
                origin: OptionOrigin { file: name.clone(), line: number, key: key.to_owned() },
                value: value.to_owned(),
                reason,
            };
            if self.bytes > BYTES_MAX {
                return Err(refuse("", "", OptionReason::TooLarge));
            }
            let line = without_comment(line);
            if line.is_empty() {
                continue;
            }
            if ["{%", "{{"].iter().any(|sign| line.contains(sign)) {
                let (key, value) = line.split_once('=').unwrap_or((line, ""));
                return Err(refuse(key, value, OptionReason::Template));
            }
            if let Some(included) =
                line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t']))
            {
                self.include(included.trim(), names).map_err(|reason| match reason {
                    Ok(reason) => refuse("include", included.trim(), reason),
                    Err(refused) => refused,
                })?;
            } else if let Some(title) = line.strip_prefix('[') {
                let title = title.strip_suffix(']').filter(|title| !title.is_empty());
                let title = title.ok_or_else(|| refuse("[", line, OptionReason::Value))?;
                self.section(
                    title,
                    OptionOrigin { file: name.clone(), line: number, key: format!("[{title}]") },
                )
                .map_err(|reason| refuse(title, "", reason))?;
            } else {
                let origin = OptionOrigin { file: name.clone(), line: number, key: String::new() };
                self.setting(line, origin)?;
            }
        }
        Ok(())
    }

    /// The error is a reason of this line, or what is refused in the included file.
    fn include(
        &mut self,
        included: &str,
        names: &mut Vec<String>,
    ) -> Result<(), Result<OptionReason, Refused>> {
        if names.iter().any(|name| name == included) {
            return Err(Ok(OptionReason::CircularInclude));
        }
        if names.len() > DEPTH_MAX {
            return Err(Ok(OptionReason::DeepInclude));
        }
        let text = (self.around.file)(included).map_err(|_| Ok(OptionReason::MissingInclude))?;
        names.push(included.to_owned());
        let read = self.file(&text, names).map_err(Err);
        names.pop();
        read
    }

    fn section(&mut self, title: &str, origin: OptionOrigin) -> Result<(), OptionReason> {
        // fio compares the beginning only.
        if title.starts_with("global") {
            self.close();
            self.open = Open::Global;
            return Ok(());
        }
        self.job(title, origin)
    }

    fn job(&mut self, title: &str, origin: OptionOrigin) -> Result<(), OptionReason> {
        self.close();
        if self.sections.len() >= SECTIONS_MAX {
            return Err(OptionReason::TooManyJobs);
        }
        self.held.add_all(&self.globals, 1)?;
        let settings = self.globals.clone();
        self.open = Open::Job(ReadSection { name: title.to_owned(), origin, settings });
        Ok(())
    }

    fn close(&mut self) {
        if let Open::Job(section) = std::mem::replace(&mut self.open, Open::None) {
            self.sections.push(section);
        }
    }

    fn setting(&mut self, line: &str, origin: OptionOrigin) -> Result<(), Refused> {
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim())),
            None => (line, None),
        };
        let origin = OptionOrigin { key: key.to_owned(), ..origin };
        let refuse = |reason| Refused {
            origin: origin.clone(),
            value: value.unwrap_or_default().to_owned(),
            reason,
        };
        let plain = key.trim_start_matches('-');
        let Some(name) = names::full(plain) else {
            return Err(refuse(OptionReason::UnknownOption { nearest: names::nearest(plain) }));
        };
        let value = value.map(|value| self.substituted(value)).transpose();
        let value = value.and_then(|value| value.map(|value| self.of_host(value)).transpose());
        let value = value.map_err(refuse)?;
        let has_dashes = plain.len() < key.len();
        let setting = ReadSetting { name, value, origin: origin.clone(), has_dashes };
        self.held.add(&setting, 1).map_err(refuse)?;
        let settings = match &mut self.open {
            Open::None => return Err(refuse(OptionReason::OutsideSection)),
            Open::Global => &mut self.globals,
            Open::Job(section) => &mut section.settings,
        };
        if settings.len() >= SETTINGS_MAX {
            return Err(refuse(OptionReason::TooLarge));
        }
        settings.push(setting);
        Ok(())
    }

    /// The value with `${NAME}` replaced by what the variable has.
    fn substituted(&self, value: &str) -> Result<String, OptionReason> {
        let mut text = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, behind)) = after.split_once('}') else { break };
            let found = (self.around.variable)(name)
                .ok_or_else(|| OptionReason::Variable(name.to_owned()))?;
            if text.len() + before.len() + found.len() > BYTES_MAX {
                return Err(OptionReason::TooLarge);
            }
            text.push_str(before);
            text.push_str(&found);
            rest = behind;
        }
        text.push_str(rest);
        Ok(text)
    }
}

/// Words that fio replaces by what the host has.
const KEYWORDS: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

impl JobFileReader<'_> {
    /// The value with fio's words for the host replaced. fio reckons such a value, also without
    /// parentheses.
    fn of_host(&self, value: String) -> Result<String, OptionReason> {
        let mut text = value;
        let mut is_changed = false;
        for word in KEYWORDS.into_iter().filter(|word| text.contains(word)).collect::<Vec<_>>() {
            let number = (self.around.variable)(word)
                .ok_or_else(|| OptionReason::Variable(word.to_owned()))?;
            text = text.replace(word, &number);
            is_changed = true;
        }
        let is_sum = is_changed && text.contains(['+', '-', '*', '/']);
        Ok(if is_sum { format!("({text})") } else { text })
    }
}

/// fio cuts a line at the first `;` or `#`, wherever it stands.
fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Refused {
        read(text, "x.fio", &Surroundings::none()).unwrap_err()
    }

    #[test]
    fn globals_hold_for_the_sections_below_them() {
        let text = "; c\n[global]\n bs = 4k # c\n[a]\nrw=read\n[global]\nbs=8k\n[b]\nstonewall\n";
        let sections = read(text, "x.fio", &Surroundings::none()).unwrap();
        let shown = |section: &ReadSection| {
            let values = section.settings.iter().map(|one| one.value.clone().unwrap_or_default());
            values.collect::<Vec<_>>().join(",")
        };
        assert_eq!((shown(&sections[0]), shown(&sections[1])), ("4k,read".into(), "4k,8k,".into()));
        assert_eq!(sections[1].settings[1].origin.line, 7);
    }

    #[test]
    fn broken_files_are_refused_with_their_line() {
        for (text, line, reason) in [
            ("bs=4k\n", 1, OptionReason::OutsideSection),
            ("[global]\nbs=4k\n", 1, OptionReason::NoJob),
            ("", 1, OptionReason::NoJob),
            ("[a\n", 1, OptionReason::Value),
            ("[a]\n\ninclude b.fio\n", 3, OptionReason::MissingInclude),
            ("[a]\nbs=${x}\n", 2, OptionReason::Variable("x".to_owned())),
            ("[a]\n{%if runtime%}\nruntime={{ runtime }}\n", 2, OptionReason::Template),
            ("[{{ name }}]\nbs=4k\n", 1, OptionReason::Template),
            (
                "[a]\nblocksiz=4k\n",
                2,
                OptionReason::UnknownOption { nearest: Some("blocksize".to_owned()) },
            ),
        ] {
            let refused = refusal(text);
            assert_eq!((refused.origin.line, refused.reason), (line, reason), "{text}");
        }
    }

    #[test]
    fn an_option_of_an_engine_from_elsewhere_is_refused_for_its_engine() {
        let refused = refusal("[global]\nioengine=external:/x/own.so\nblue_whale=7\n[a]\nbs=4k\n");
        assert_eq!((refused.origin.line, refused.reason), (2, OptionReason::Engine));
        let refused = refusal("[a]\nioengine=libaio\nblue_whale=7\n");
        assert_eq!(refused.reason, OptionReason::UnknownOption { nearest: None });
        // Those of SPDK are known, and wait for the engine.
        let spdk = "[a]\nioengine=spdk_bdev\nspdk_json_conf=bdev.conf\n";
        assert_eq!(read(spdk, "x.fio", &Surroundings::none()).unwrap().len(), 1);
    }

    #[test]
    fn words_for_the_host_are_replaced_and_reckoned() {
        let host = |name: &str| (name == "$mb_memory").then(|| "8000".to_owned());
        let around = Surroundings { variable: &host, ..Surroundings::none() };
        let sections = read("[a]\nsize=2*$mb_memory\nbs=$mb_memory\n", "x", &around).unwrap();
        let values: Vec<_> = sections[0].settings.iter().map(|one| one.value.as_deref()).collect();
        assert_eq!(values, [Some("(2*8000)"), Some("8000")]);
        assert_eq!(refusal("[a]\nbs=$ncpus\n").reason, OptionReason::Variable("$ncpus".to_owned()));
    }

    #[test]
    fn words_of_a_command_line_are_a_job_file() {
        let read = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let sections = read_words(&words, &Surroundings::none()).unwrap();
            let shown = |one: &ReadSection| {
                let keys = one.settings.iter().map(|one| one.origin.to_string());
                format!("[{}] {}", one.name, keys.collect::<Vec<_>>().join(" "))
            };
            sections.iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(read("rw=randread bs=8k"), ["[randread] --rw --bs"]);
        assert_eq!(
            read("bs=8k name=a rw=read name=b rw=write thread"),
            ["[a] --bs --rw", "[b] --bs --rw --thread"]
        );
        let refused = read_words(&["iodepht=4".to_owned()], &Surroundings::none()).unwrap_err();
        assert_eq!(refused.origin.to_string(), "--iodepht");
    }

    #[test]
    fn includes_end_also_where_they_never_would() {
        let circular = |_: &str| Ok("include b\n".to_owned());
        let around = Surroundings { file: &circular, variable: &|_| None };
        let refused = read("[a]\ninclude b\n", "x", &around).unwrap_err();
        assert_eq!(
            (refused.reason, refused.origin.file),
            (OptionReason::CircularInclude, "b".to_owned())
        );
        let growing = |name: &str| Ok(format!("include {name}x\n"));
        let around = Surroundings { file: &growing, variable: &|_| None };
        assert_eq!(
            read("[a]\ninclude b\n", "x", &around).unwrap_err().reason,
            OptionReason::DeepInclude
        );
        let wide = |_: &str| Ok("# filled\n".repeat(200_000));
        let around = Surroundings { file: &wide, variable: &|_| None };
        let refused = read("[a]\ninclude b\ninclude c\ninclude d\n", "x", &around).unwrap_err();
        assert_eq!(refused.reason, OptionReason::TooLarge);
    }
}
