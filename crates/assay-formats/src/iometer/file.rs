//! The syntax of an `.icf` file: headings after an apostrophe, and values in the lines below.

use crate::conversion::{Note, OptionOrigin, Refused, Treatment};
use crate::reason::OptionReason;
use crate::surroundings::BYTES_MAX;

/// Workers and access specifications of a file at most.
const PARTS_MAX: usize = 4096;

/// A value with where it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IometerValue {
    /// As it was written.
    pub text: String,
    /// Its heading and line.
    pub origin: OptionOrigin,
}

impl IometerValue {
    /// Its parts between commas, or between blanks where there are none.
    pub fn parts(&self) -> Vec<&str> {
        if self.text.contains(',') {
            self.text.split(',').map(str::trim).collect()
        } else {
            self.text.split_whitespace().collect()
        }
    }

    /// The number in a place.
    ///
    /// # Errors
    /// The line where it is none.
    pub fn number(&self, place: usize) -> Result<u64, Refused> {
        let text = self.parts().get(place).copied().unwrap_or_default();
        text.parse().map_err(|_| self.refused(OptionReason::Value))
    }

    /// What became of it.
    pub fn note(&self, treatment: Treatment) -> Note {
        Note { origin: self.origin.clone(), value: self.text.clone(), treatment }
    }

    /// The refusal of the file because of it.
    pub fn refused(&self, reason: OptionReason) -> Refused {
        Refused { origin: self.origin.clone(), value: self.text.clone(), reason }
    }
}

/// An access specification: how I/Os are made, by its lines.
#[derive(Clone, Debug, Default)]
pub struct AccessDefinition {
    /// Its name.
    pub name: String,
    /// Whether workers that name none have it.
    pub is_default: bool,
    /// `size, % of size, % reads, % random, delay, burst, align, reply`.
    pub lines: Vec<IometerValue>,
}

/// A worker of a manager.
#[derive(Clone, Debug, Default)]
pub struct IometerWorker {
    /// Its name.
    pub name: IometerValue,
    /// Whether it loads a network instead of disks.
    pub is_network: bool,
    /// Outstanding I/Os a target, and what follows them.
    pub queue_depth: Option<IometerValue>,
    /// Maximum size and first sector, in sectors, and the data pattern.
    pub disk: Option<IometerValue>,
    /// Names of its access specifications, one a step of the test.
    pub specifications: Vec<IometerValue>,
    /// Its targets.
    pub targets: Vec<IometerValue>,
}

/// Everything in a file.
#[derive(Debug, Default)]
pub struct IometerConfiguration {
    /// What the test is called.
    pub description: Option<IometerValue>,
    /// Hours, minutes, seconds.
    pub run_time: Option<IometerValue>,
    /// Seconds before results count.
    pub ramp_up: Option<IometerValue>,
    /// What is cycled through.
    pub test_type: Option<IometerValue>,
    /// First and last depth, step, and how it grows.
    pub depths: Option<IometerValue>,
    /// Names of managers, each on a host.
    pub managers: Vec<IometerValue>,
    /// The specifications, by their names.
    pub specifications: Vec<AccessDefinition>,
    /// The workers of all managers.
    pub workers: Vec<IometerWorker>,
    /// Values that change nothing of the load.
    pub others: Vec<IometerValue>,
}

/// What the next value belongs to.
#[derive(Clone, Copy, Default, PartialEq)]
enum Key {
    #[default]
    Other,
    Description,
    RunTime,
    RampUp,
    TestType,
    Depths,
    SpecificationName,
    SpecificationLine,
    Manager,
    Worker,
    WorkerType,
    Outstanding,
    Disk,
    AssignedSpecification,
    Target,
}

/// Reads a file.
///
/// # Errors
/// The line where it is too large.
pub fn read(text: &str, file: &str) -> Result<IometerConfiguration, Refused> {
    let at =
        |line: u32, key: &str| OptionOrigin { file: file.to_owned(), line, key: key.to_owned() };
    if text.len() > BYTES_MAX {
        return Err(IometerValue { origin: at(1, ""), ..IometerValue::default() }
            .refused(OptionReason::TooLarge));
    }
    let mut found = IometerConfiguration::default();
    let (mut key, mut heading) = (Key::Other, String::new());
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if let Some(named) = text.strip_prefix('\'') {
            // Headings of columns stand below those of their values.
            if !named.starts_with(['\t', ' ']) {
                key = key_of(named);
                named.split("  ").next().unwrap_or_default().clone_into(&mut heading);
            }
        } else if !text.is_empty() {
            let value = IometerValue { text: text.to_owned(), origin: at(line, &heading) };
            found.add(key, value)?;
        }
    }
    Ok(found)
}

fn key_of(heading: &str) -> Key {
    let heading = heading.to_ascii_lowercase();
    let begins = [
        ("test description", Key::Description),
        ("run time", Key::RunTime),
        ("ramp up time", Key::RampUp),
        ("test type", Key::TestType),
        ("queue depth cycling", Key::Depths),
        ("access specification name,", Key::SpecificationName),
        ("size,", Key::SpecificationLine),
        ("manager id", Key::Manager),
        ("worker type", Key::WorkerType),
        ("number of outstanding", Key::Outstanding),
        ("# of outstanding", Key::Outstanding),
        ("disk maximum size", Key::Disk),
        ("assigned access spec", Key::AssignedSpecification),
        ("target type", Key::Other),
        ("target assignments", Key::Other),
    ];
    let known = begins.into_iter().find(|(begin, _)| heading.starts_with(begin));
    known.map_or_else(
        || match heading.trim() {
            "worker" => Key::Worker,
            "target" => Key::Target,
            _ => Key::Other,
        },
        |(_, key)| key,
    )
}

impl IometerConfiguration {
    fn add(&mut self, key: Key, value: IometerValue) -> Result<(), Refused> {
        if self.workers.len() > PARTS_MAX || self.specifications.len() > PARTS_MAX {
            return Err(value.refused(OptionReason::TooManyJobs));
        }
        match key {
            Key::Description => self.description = Some(value),
            Key::RunTime => self.run_time = Some(value),
            Key::RampUp => self.ramp_up = Some(value),
            Key::TestType => self.test_type = Some(value),
            Key::Depths => self.depths = Some(value),
            Key::Manager => self.managers.push(value),
            Key::SpecificationName => {
                let (name, default) = value.text.rsplit_once(',').unwrap_or((&value.text, ""));
                let is_default =
                    ["ALL", "DISK"].iter().any(|all| default.trim().eq_ignore_ascii_case(all));
                let name = name.to_owned();
                self.specifications.push(AccessDefinition { name, is_default, lines: Vec::new() });
            }
            Key::SpecificationLine => match self.specifications.last_mut() {
                Some(last) => last.lines.push(value),
                None => {
                    return Err(value
                        .refused(OptionReason::Missing("Access specification name".to_owned())));
                }
            },
            Key::Worker => {
                self.workers.push(IometerWorker { name: value, ..IometerWorker::default() });
            }
            Key::Other => self.others.push(value),
            _ => self.add_to_worker(key, value)?,
        }
        Ok(())
    }

    fn add_to_worker(&mut self, key: Key, value: IometerValue) -> Result<(), Refused> {
        let Some(worker) = self.workers.last_mut() else {
            return Err(value.refused(OptionReason::Missing("Worker".to_owned())));
        };
        match key {
            Key::WorkerType => worker.is_network = !value.text.eq_ignore_ascii_case("DISK"),
            Key::Outstanding => worker.queue_depth = Some(value),
            Key::Disk => worker.disk = Some(value),
            Key::AssignedSpecification => worker.specifications.push(value),
            Key::Target => worker.targets.push(value),
            _ => {}
        }
        Ok(())
    }
}
