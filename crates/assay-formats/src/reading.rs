//! The options of one section, asked for one by one, with what became of each.

use crate::conversion::{Note, OptionOrigin, Refused, Treatment};
use crate::reason::{Approximation, OptionReason};

/// One option as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSetting {
    /// Its name in full.
    pub name: &'static str,
    /// Its value; nothing where it stands alone.
    pub value: Option<String>,
    /// Where it stands.
    pub origin: OptionOrigin,
    /// Whether it was written with leading dashes.
    pub has_dashes: bool,
}

/// A job, or what else has a name and options: its own behind the defaults above it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadSection {
    /// The name.
    pub name: String,
    /// Start.
    pub origin: OptionOrigin,
    /// Its options in their order.
    pub settings: Vec<ReadSetting>,
}

/// What becomes of an option that nobody asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadingRule {
    /// It is part of the load, and another option has made it meaningless.
    Load,
    /// It changes nothing of the load.
    NoEffect,
    /// It is approximated by what is done anyway.
    Near(Approximation),
    /// It is refused.
    Never(OptionReason),
}

/// The options of a job, and what became of them so far.
pub struct SectionReader<'a> {
    section: &'a ReadSection,
    rule: fn(&str) -> ReadingRule,
    treatments: Vec<Option<Treatment>>,
    sources: Vec<(&'static str, OptionOrigin)>,
}

impl<'a> SectionReader<'a> {
    /// Nothing has been asked yet.
    pub fn new(section: &'a ReadSection, rule: fn(&str) -> ReadingRule) -> Self {
        Self { section, rule, treatments: vec![None; section.settings.len()], sources: Vec::new() }
    }

    /// The last setting of this name, which is the one that counts; it becomes that line of the
    /// document.
    pub fn setting(&mut self, name: &str, line: &'static str) -> Option<&'a ReadSetting> {
        let index = self.section.settings.iter().rposition(|setting| setting.name == name)?;
        for (place, setting) in self.section.settings.iter().enumerate().take(index) {
            if setting.name == name {
                self.treatments[place] = Some(Treatment::NoEffect);
            }
        }
        let setting = &self.section.settings[index];
        self.treatments[index].get_or_insert(Treatment::Exact);
        self.sources.push((line, setting.origin.clone()));
        Some(setting)
    }

    /// Whether the last setting of one name stands behind that of another, so that it counts.
    pub fn is_later(&self, name: &str, other: &str) -> bool {
        let place = |name: &str| self.section.settings.iter().rposition(|one| one.name == name);
        place(name) > place(other)
    }

    /// All settings of this name, where each adds to the others.
    pub fn settings(&mut self, name: &str, line: &'static str) -> Vec<&'a ReadSetting> {
        let mut found = Vec::new();
        for (index, setting) in self.section.settings.iter().enumerate() {
            if setting.name == name {
                self.treatments[index].get_or_insert(Treatment::Exact);
                self.sources.push((line, setting.origin.clone()));
                found.push(setting);
            }
        }
        found
    }

    /// The value of an option.
    pub fn text(&mut self, name: &str, line: &'static str) -> Result<Option<&'a str>, Refused> {
        let Some(setting) = self.setting(name, line) else { return Ok(None) };
        let value = setting.value.as_deref().filter(|value| !value.is_empty());
        value.map(Some).ok_or_else(|| refused(setting, OptionReason::NoValue))
    }

    /// The value of an option, read.
    pub fn parsed<T>(
        &mut self,
        name: &str,
        line: &'static str,
        parse: impl Fn(&str) -> Result<T, OptionReason>,
    ) -> Result<Option<T>, Refused> {
        let Some(text) = self.text(name, line)? else { return Ok(None) };
        parse(text).map(Some).map_err(|reason| self.refusal(name, reason))
    }

    /// Whether a flag is set: alone, or with a number other than 0.
    pub fn flag(&mut self, name: &str, line: &'static str) -> Result<Option<bool>, Refused> {
        let Some(setting) = self.setting(name, line) else { return Ok(None) };
        match setting.value.as_deref() {
            None | Some("1" | "true" | "on") => Ok(Some(true)),
            Some("0" | "false" | "off") => Ok(Some(false)),
            Some(text) => match text.parse::<u64>() {
                Ok(number) => Ok(Some(number > 0)),
                Err(_) => Err(refused(setting, OptionReason::Value)),
            },
        }
    }

    /// Says that the option became something near; nothing where it is not there.
    pub fn near(&mut self, name: &str, how: Approximation) {
        self.treat(name, Treatment::Approximated(how));
    }

    /// Says that the option was left out.
    pub fn leave_out(&mut self, name: &str, reason: OptionReason) {
        self.treat(name, Treatment::Refused(reason));
    }

    fn treat(&mut self, name: &str, treatment: Treatment) {
        let index = self.section.settings.iter().rposition(|setting| setting.name == name);
        if let Some(index) = index {
            self.treatments[index] = Some(treatment);
        }
    }

    /// The refusal of the file because of this option.
    pub fn refusal(&self, name: &str, reason: OptionReason) -> Refused {
        let found = self.section.settings.iter().rfind(|setting| setting.name == name);
        match found {
            Some(setting) => refused(setting, reason),
            None => Refused { origin: self.section.origin.clone(), value: String::new(), reason },
        }
    }

    /// What became of every option, and where the lines of the document come from.
    pub fn finish(self) -> (Vec<Note>, Vec<(&'static str, OptionOrigin)>) {
        let notes = self.section.settings.iter().zip(self.treatments);
        let notes = notes.map(|(setting, treatment)| Note {
            origin: setting.origin.clone(),
            value: setting.value.clone().unwrap_or_default(),
            treatment: treated(setting, treatment, self.rule),
        });
        (notes.collect(), self.sources)
    }
}

fn treated(
    setting: &ReadSetting,
    treatment: Option<Treatment>,
    rule: fn(&str) -> ReadingRule,
) -> Treatment {
    let treatment = treatment.unwrap_or_else(|| match rule(setting.name) {
        ReadingRule::Load | ReadingRule::NoEffect => Treatment::NoEffect,
        ReadingRule::Near(how) => Treatment::Approximated(how),
        ReadingRule::Never(reason) => Treatment::Refused(reason),
    });
    match treatment {
        Treatment::Exact if setting.has_dashes => Treatment::Approximated(Approximation::Dashes),
        other => other,
    }
}

fn refused(setting: &ReadSetting, reason: OptionReason) -> Refused {
    Refused {
        origin: setting.origin.clone(),
        value: setting.value.clone().unwrap_or_default(),
        reason,
    }
}
