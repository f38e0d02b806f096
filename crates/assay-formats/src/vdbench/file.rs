//! The form of a parameter file: definitions with their parameters, defaults, comments, continued
//! lines and variables.

use super::names::{self, DefinitionKind};
use crate::conversion::{OptionOrigin, Refused};
use crate::reading::{ReadSection, ReadSetting};
use crate::reason::OptionReason;
use crate::surroundings::{BYTES_MAX, DEPTH_MAX, HeldBytes, Surroundings};
use assay_model::number::index_of;

/// Definitions of a file at most.
const SECTIONS_MAX: usize = 16_384;
/// Storage that one line defines by its count at most.
const COUNT_MAX: u64 = 4096;

/// The definitions of a file, in their order.
#[derive(Debug, Default)]
pub struct Definitions {
    /// All parameters of the file as a whole.
    pub general: Vec<ReadSetting>,
    /// Names of hosts.
    pub hosts: Vec<String>,
    /// Storage.
    pub storages: Vec<ReadSection>,
    /// Workloads.
    pub workloads: Vec<ReadSection>,
    /// What holds for a run that names no workload.
    pub workload_default: ReadSection,
    /// Runs.
    pub runs: Vec<ReadSection>,
    /// Definitions for file systems or traces, with why they are refused.
    pub others: Vec<(ReadSection, OptionReason)>,
}

/// Reads a parameter file with everything that it includes.
pub fn read(text: &str, name: &str, around: &Surroundings<'_>) -> Result<Definitions, Refused> {
    let mut reader = ParameterReader {
        around,
        found: Definitions::default(),
        defaults: Vec::new(),
        bytes: 0,
        held: HeldBytes::default(),
    };
    reader.file(text, &mut vec![name.to_owned()])?;
    Ok(reader.found)
}

struct ParameterReader<'a> {
    around: &'a Surroundings<'a>,
    found: Definitions,
    defaults: Vec<(DefinitionKind, Vec<ReadSetting>)>,
    bytes: usize,
    held: HeldBytes,
}

/// A line with those that continue it.
struct VdbenchStatement {
    text: String,
    line: u32,
}

impl ParameterReader<'_> {
    fn file(&mut self, text: &str, names: &mut Vec<String>) -> Result<(), Refused> {
        self.bytes = self.bytes.saturating_add(text.len());
        let file = names.last().cloned().unwrap_or_default();
        let at =
            |line: u32, key: &str| OptionOrigin { file: file.clone(), line, key: key.to_owned() };
        if self.bytes > BYTES_MAX {
            return Err(refused(at(1, ""), "", OptionReason::TooLarge));
        }
        for statement in statements(text) {
            let parameters = split(&statement.text);
            let (key, value) = pair(parameters[0]);
            let origin = at(statement.line, key);
            if key.eq_ignore_ascii_case("include") {
                self.include(value, &origin, names)?;
                continue;
            }
            match self.of_each_host(&statement.text) {
                Some(texts) => {
                    for text in &texts {
                        self.statement(&split(text), &origin)?;
                    }
                }
                None => self.statement(&parameters, &origin)?,
            }
        }
        Ok(())
    }

    /// A definition with Vdbench's own variable `$host`, once for each host; nothing where it has
    /// none, where the variable was given another value, or where no host is defined.
    fn of_each_host(&self, text: &str) -> Option<Vec<String>> {
        const HOST: &str = "$host";
        let is_own = text.match_indices(HOST).any(|(place, _)| {
            let next = text[place + HOST.len()..].chars().next();
            !next.is_some_and(|sign| sign.is_ascii_alphanumeric() || sign == '_')
        });
        let is_given = (self.around.variable)("host").is_some();
        let hosts =
            Some(&self.found.hosts).filter(|hosts| is_own && !is_given && !hosts.is_empty());
        hosts.map(|hosts| hosts.iter().map(|host| text.replace(HOST, host)).collect())
    }

    fn include(
        &mut self,
        name: &str,
        origin: &OptionOrigin,
        names: &mut Vec<String>,
    ) -> Result<(), Refused> {
        let refuse = |reason| refused(origin.clone(), name, reason);
        if names.iter().any(|known| known == name) {
            return Err(refuse(OptionReason::CircularInclude));
        }
        if names.len() > DEPTH_MAX {
            return Err(refuse(OptionReason::DeepInclude));
        }
        let text = (self.around.file)(name).map_err(|_| refuse(OptionReason::MissingInclude))?;
        names.push(name.to_owned());
        self.file(&text, names)?;
        names.pop();
        Ok(())
    }

    fn statement(&mut self, parameters: &[&str], origin: &OptionOrigin) -> Result<(), Refused> {
        let (key, name) = pair(parameters[0]);
        let entity = names::entity(key).unwrap_or(DefinitionKind::General);
        let count = self.found.storages.len() + self.found.workloads.len() + self.found.runs.len();
        if count > SECTIONS_MAX {
            return Err(refused(origin.clone(), name, OptionReason::TooManyJobs));
        }
        let own = if entity == DefinitionKind::General { parameters } else { &parameters[1..] };
        let settings = own.iter().map(|one| self.setting(entity, one, origin));
        let settings = settings.collect::<Result<Vec<_>, _>>()?;
        let refuse = |reason| refused(origin.clone(), "", reason);
        self.held.add_all(&settings, 1).map_err(refuse)?;
        if entity == DefinitionKind::General {
            self.found.general.extend(settings);
            return Ok(());
        }
        let name =
            self.substituted(name).map_err(|reason| refused(origin.clone(), name, reason))?;
        self.define(entity, ReadSection { name, origin: origin.clone(), settings })
    }

    fn setting(
        &self,
        entity: DefinitionKind,
        text: &str,
        origin: &OptionOrigin,
    ) -> Result<ReadSetting, Refused> {
        let (key, value) = pair(text);
        let origin = OptionOrigin { key: key.to_owned(), ..origin.clone() };
        let refuse = |reason| refused(origin.clone(), value, reason);
        let foreign = matches!(entity, DefinitionKind::FileSystem | DefinitionKind::Replay);
        let name = if foreign { Some("") } else { names::full(entity, key) };
        let Some(name) = name else {
            return Err(refuse(OptionReason::UnknownOption {
                nearest: names::nearest(entity, key),
            }));
        };
        let value =
            if foreign { value.to_owned() } else { self.substituted(value).map_err(refuse)? };
        Ok(ReadSetting { name, value: Some(value), origin, has_dashes: false })
    }

    fn define(&mut self, entity: DefinitionKind, mut section: ReadSection) -> Result<(), Refused> {
        let known = self.defaults.iter().position(|(of, _)| *of == entity);
        if section.name == "default" {
            if entity == DefinitionKind::Workload {
                self.found.workload_default = section.clone();
            }
            match known {
                Some(index) => self.defaults[index].1.extend(section.settings),
                None => self.defaults.push((entity, section.settings)),
            }
            return Ok(());
        }
        if let Some(index) = known {
            let own = std::mem::take(&mut section.settings);
            let defaults = &self.defaults[index].1;
            let refuse = |reason| refused(section.origin.clone(), "", reason);
            self.held.add_all(defaults, 1).map_err(refuse)?;
            section.settings.clone_from(defaults);
            section.settings.extend(own);
        }
        match entity {
            DefinitionKind::Host => self.found.hosts.push(section.name),
            DefinitionKind::Storage => {
                self.found.storages.extend(counted(section, &mut self.held)?);
            }
            DefinitionKind::Workload => self.found.workloads.push(section),
            DefinitionKind::Run => self.found.runs.push(section),
            DefinitionKind::FileSystem => {
                self.found.others.push((section, OptionReason::FileSystemLoad));
            }
            DefinitionKind::Replay => self.found.others.push((section, OptionReason::Replay)),
            DefinitionKind::General => {}
        }
        Ok(())
    }

    /// The text with `$name` replaced by what the variable has.
    fn substituted(&self, text: &str) -> Result<String, OptionReason> {
        let mut pieces = text.split('$');
        let mut found = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece
                .find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'))
                .unwrap_or(piece.len());
            let name = &piece[..end];
            let value = (self.around.variable)(name)
                .ok_or_else(|| OptionReason::Variable(name.to_owned()))?;
            if found.len() + value.len() > BYTES_MAX {
                return Err(OptionReason::TooLarge);
            }
            found.push_str(&value);
            found.push_str(&piece[end..]);
        }
        Ok(found)
    }
}

fn refused(origin: OptionOrigin, value: &str, reason: OptionReason) -> Refused {
    Refused { origin, value: value.to_owned(), reason }
}

/// Lines without comments; what stands behind the first blank is one, and a comma at the end
/// continues the line unless a definition follows.
fn statements(text: &str) -> Vec<VdbenchStatement> {
    let mut found: Vec<VdbenchStatement> = Vec::new();
    let mut continues = false;
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim_start();
        if text.is_empty() || text.starts_with(['*', '#', '/']) {
            continue;
        }
        if text.starts_with("eof") {
            break;
        }
        let text = text.split_whitespace().next().unwrap_or_default();
        let goes_on = |last: &&mut VdbenchStatement| {
            let current = names::entity(pair(&last.text).0).unwrap_or(DefinitionKind::General);
            continues && !(text.contains('=') && names::ends(current, pair(text).0))
        };
        match found.last_mut().filter(goes_on) {
            Some(last) => last.text.push_str(text),
            None => found.push(VdbenchStatement { text: text.to_owned(), line }),
        }
        continues = text.ends_with(',');
    }
    found
}

/// Parameters are separated by commas outside of parentheses; there is at least one.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut begin) = (0_u32, 0);
    let mut found = Vec::new();
    for (index, sign) in text.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&text[begin..index]);
                begin = index + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    let first = found[0];
    found.retain(|part| !part.is_empty());
    if found.is_empty() { vec![first] } else { found }
}

fn pair(text: &str) -> (&str, &str) {
    text.split_once('=').unwrap_or((text, ""))
}

/// `count=(1,8)` makes several of one.
fn counted(section: ReadSection, held: &mut HeldBytes) -> Result<Vec<ReadSection>, Refused> {
    let Some(place) = section.settings.iter().position(|one| one.name == "count") else {
        return Ok(vec![section]);
    };
    let setting = section.settings[place].clone();
    let text = setting.value.clone().unwrap_or_default();
    let numbers = super::number::parts(&text);
    let numbers: Result<Vec<u64>, OptionReason> =
        numbers.into_iter().map(super::number::count).collect();
    let (from, many) = match numbers.as_deref() {
        Ok([from, many]) if *many <= COUNT_MAX => (*from, *many),
        Ok([_, _]) => return Err(refused(setting.origin, &text, OptionReason::TooManyJobs)),
        _ => return Err(refused(setting.origin, &text, OptionReason::Value)),
    };
    held.add_all(&section.settings, index_of(many))
        .map_err(|reason| refused(section.origin.clone(), &text, reason))?;
    let one = |number: u64| {
        let mut one = section.clone();
        one.name = format!("{}{number}", section.name);
        for setting in one.settings.iter_mut().filter(|setting| setting.name == "lun") {
            setting.value = setting.value.as_ref().map(|lun| format!("{lun}{number}"));
        }
        one
    };
    Ok((from..from.saturating_add(many)).map(one).collect())
}

/// Whether a name is one of those in `a`, `(a,b)`, `(a1-a9)` or `a*`.
pub fn is_named(pattern: &str, name: &str) -> bool {
    super::number::parts(pattern).into_iter().any(|one| {
        if let Some(start) = one.strip_suffix('*') {
            return name.starts_with(start);
        }
        match one.split_once('-') {
            Some((from, to)) if one != name => is_between(from, to, name),
            _ => one == name,
        }
    })
}

/// `sd1-sd9`: the same letters, and a number between the two.
fn is_between(from: &str, to: &str, name: &str) -> bool {
    let parts = |text: &str| {
        let letters = text.trim_end_matches(|sign: char| sign.is_ascii_digit()).len();
        text[letters..].parse::<u64>().ok().map(|number| (text[..letters].to_owned(), number))
    };
    match (parts(from), parts(to), parts(name)) {
        (Some(from), Some(to), Some(name)) => {
            from.0 == name.0 && to.0 == name.0 && (from.1..=to.1).contains(&name.1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_continued_cut_and_inherit() {
        let text = "* c\nsd=default,threads=4\nsd=sd1,lun=/a,\n   size=1g \
                    comment\n#x\nwd=w,sd=(sd1,sd2),xfersize=(4k,50,8k,50)\n";
        let found = read(text, "x", &Surroundings::none()).unwrap();
        let values: Vec<_> = found.storages[0]
            .settings
            .iter()
            .map(|one| (one.name, one.value.clone().unwrap()))
            .collect();
        assert_eq!(values, [("threads", "4".into()), ("lun", "/a".into()), ("size", "1g".into())]);
        assert_eq!(found.workloads[0].settings[1].value.as_deref(), Some("(4k,50,8k,50)"));
    }

    #[test]
    fn a_comma_at_the_end_of_a_definition_does_not_swallow_the_next() {
        let text =
            "sd=sd1,lun=/a,\nsd=sd2,lun=/b,\nwd=w,\nsd=sd*,rdpct=70,\nrd=r,\nwd=w,elapsed=9\n";
        let found = read(text, "x", &Surroundings::none()).unwrap();
        assert_eq!((found.storages.len(), found.workloads.len(), found.runs.len()), (2, 1, 1));
        let named = |section: &ReadSection| section.settings[0].value.clone().unwrap();
        assert_eq!([&found.workloads[0], &found.runs[0]].map(named), ["sd*", "w"]);
        assert_eq!(found.storages[1].origin.line, 2);
    }

    #[test]
    fn a_definition_with_the_host_is_one_for_each_host() {
        let text = "hd=default,user=x\nhd=hd1,system=a\nhd=hd2,system=b\nsd=sd_$host,host=$host,\
                    lun=/f\nwd=w,sd=sd_*,readpct=70\n";
        let found = read(text, "x", &Surroundings::none()).unwrap();
        let names: Vec<&str> = found.storages.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["sd_hd1", "sd_hd2"]);
        assert_eq!(found.workloads[0].settings[1].name, "rdpct");
        let unknown = read("sd=sd_$host,lun=/f\n", "x", &Surroundings::none()).unwrap_err();
        assert_eq!(unknown.reason, OptionReason::Variable("host".into()));
    }

    #[test]
    fn names_are_met_by_lists_ranges_and_stars() {
        for (pattern, name, expected) in [
            ("sd*", "sd12", true),
            ("*", "x", true),
            ("(sd1-sd9)", "sd3", true),
            ("(sd1-sd9)", "sd10", false),
            ("(a,b)", "b", true),
            ("a", "ab", false),
            ("rd_x-max", "rd_x-max", true),
        ] {
            assert_eq!(is_named(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn broken_files_are_refused_with_their_line() {
        for (text, reason) in [
            ("sd=sd1,lnu=/a\n", OptionReason::UnknownOption { nearest: Some("lun".into()) }),
            ("include=b\n", OptionReason::MissingInclude),
            ("sd=sd1,lun=$x\n", OptionReason::Variable("x".into())),
            ("sd=sd,lun=/a,count=(1,99999)\n", OptionReason::TooManyJobs),
        ] {
            let refused = read(text, "x", &Surroundings::none()).unwrap_err();
            assert_eq!((refused.origin.line, refused.reason), (1, reason), "{text}");
        }
    }
}
