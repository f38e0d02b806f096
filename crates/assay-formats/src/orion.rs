//! ORION's manual: its options and its file of LUNs as a calibration.

use crate::conversion::{Note, OptionOrigin, Treatment};
use crate::reason::{Approximation, OptionReason};
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result};
use std::fmt::Write;

/// Lines of a file of LUNs at most.
const LUNS_MAX: usize = 4096;

/// What ORION's command line asks; what it leaves open, the caller decides.
#[derive(Clone, Debug, PartialEq)]
pub struct OrionOptions {
    /// Prefix of its files.
    pub test_name: String,
    /// Bytes of a small I/O.
    pub small: Option<Bytes>,
    /// Bytes of a large I/O.
    pub large: Option<Bytes>,
    /// Share of writes, 0..=1.
    pub write_share: Option<f64>,
    /// Time of the search.
    pub duration: Option<Nanos>,
    /// What became of each option.
    pub notes: Vec<Note>,
}

impl OrionOptions {
    /// Reads the words behind the program's name.
    ///
    /// # Errors
    /// A usage error with the word that ORION does not know, or whose value cannot be read.
    pub fn parse(words: &[String]) -> Result<Self> {
        let mut options = Self {
            test_name: "orion".to_owned(),
            small: None,
            large: None,
            write_share: None,
            duration: None,
            notes: Vec::new(),
        };
        let mut runs = false;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let name = word.trim_start_matches('-');
            if ["hugenotneeded", "verbose"].contains(&name) {
                options.note(name, "", Treatment::NoEffect);
                continue;
            }
            let value = rest.next().ok_or_else(|| wrong(word, "", &OptionReason::NoValue))?;
            runs |= name == "run";
            let treatment =
                options.set(name, value).map_err(|reason| wrong(word, value, &reason))?;
            options.note(name, value, treatment);
        }
        if runs { Ok(options) } else { Err(wrong("-run", "", &OptionReason::NoValue)) }
    }

    fn note(&mut self, name: &str, value: &str, treatment: Treatment) {
        let origin = OptionOrigin { file: "orion".to_owned(), line: 1, key: format!("-{name}") };
        self.notes.push(Note { origin, value: value.to_owned(), treatment });
    }

    /// Takes one option with its value.
    fn set(&mut self, name: &str, value: &str) -> std::result::Result<Treatment, OptionReason> {
        let number = || value.parse::<u64>().map_err(|_| OptionReason::Value);
        match name {
            "testname" => value.clone_into(&mut self.test_name),
            "size_small" => self.small = Some(kilobytes(number()?)?),
            "size_large" => self.large = Some(kilobytes(number()?)?),
            "write" => {
                let percent = number().and_then(|percent| {
                    if percent > 100 { Err(OptionReason::Value) } else { Ok(percent) }
                })?;
                self.write_share = Some(assay_model::number::real(percent) / 100.0);
            }
            "duration" => {
                let time_ns = number()?.checked_mul(1_000_000_000).filter(|time_ns| *time_ns > 0);
                self.duration = Some(Nanos(time_ns.ok_or(OptionReason::Overflow)?));
                return Ok(Treatment::Approximated(Approximation::SearchTime));
            }
            _ => return not_followed(name, value),
        }
        Ok(Treatment::Exact)
    }

    /// The file of LUNs.
    pub fn lun_file(&self) -> String {
        format!("{}.lun", self.test_name)
    }

    /// What was changed, one option a line.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            if let Treatment::Approximated(how) = &note.treatment {
                let _ = writeln!(text, "near: {} {}: {how}", note.origin.key, note.value);
            }
        }
        text
    }
}

fn kilobytes(number: u64) -> std::result::Result<Bytes, OptionReason> {
    let size = number.checked_mul(1024).filter(|size| (512..=64 << 20).contains(size));
    size.map(Bytes).ok_or(OptionReason::Overflow)
}

/// What becomes of an option that a calibration does not follow.
fn not_followed(name: &str, value: &str) -> std::result::Result<Treatment, OptionReason> {
    const NUMBERS: [&str; 4] = ["num_disks", "num_small", "num_large", "num_streamIO"];
    let known: &[&str] = match name {
        "run" => &["simple", "normal", "advanced", "oltp", "dss"],
        "matrix" => &["basic", "detailed", "point", "col", "row", "max"],
        "type" => &["rand", "seq"],
        "simulate" => &["concat", "raid0"],
        _ => &[],
    };
    let is_wrong_word = !known.is_empty() && !known.contains(&value);
    if is_wrong_word || (NUMBERS.contains(&name) && value.parse::<u64>().is_err()) {
        return Err(OptionReason::Value);
    }
    let how = match name {
        "run" | "matrix" | "num_disks" | "num_small" | "num_large" => Approximation::DepthSearch,
        "type" | "num_streamIO" => Approximation::BothKinds,
        "simulate" if value == "concat" => return Ok(Treatment::Exact),
        "simulate" | "stripe" => Approximation::Concatenated,
        "cache_size" | "storax" => return Ok(Treatment::NoEffect),
        _ => return Err(OptionReason::UnknownOption { nearest: None }),
    };
    Ok(Treatment::Approximated(how))
}

fn wrong(word: &str, value: &str, reason: &OptionReason) -> Error {
    Error::usage(
        format!("orion: {word} {value}: {reason}"),
        "its options are -run simple|normal|advanced|oltp|dss, -testname, -num_disks, \
         -size_small, -size_large, -type, -num_streamIO, -simulate, -stripe, -write, -cache_size, \
         -duration, -matrix, -num_small, -num_large, -storax, -hugenotneeded, -verbose",
    )
}

/// The names in a file of LUNs, one a line.
///
/// # Errors
/// A usage error when there are none, or more than any host has.
pub fn parse_luns(text: &str) -> Result<Vec<String>> {
    let names: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    if names.is_empty() || names.len() > LUNS_MAX {
        return Err(Error::usage(
            format!("a file of LUNs with {} names", names.len()),
            "write one file or device a line, 4096 at most",
        ));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<OrionOptions> {
        OrionOptions::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_those_of_orion() {
        let options = parse(
            "-run advanced -testname t -size_small 16 -write 25 -duration 30 -num_disks 4 \
             -hugenotneeded",
        )
        .unwrap();
        assert_eq!(
            (options.lun_file().as_str(), options.small, options.duration),
            ("t.lun", Some(Bytes(16384)), Some(Nanos(30_000_000_000)))
        );
        assert_eq!((options.write_share, options.large), (Some(0.25), None));
        assert_eq!(options.report().lines().count(), 3);
        for line in [
            "",
            "-run",
            "-run slow",
            "-run oltp -write 101",
            "-run oltp -nonsense 1",
            "-testname x",
            "-run oltp -size_small 99999999999999999",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
        assert_eq!(parse_luns("/dev/a\n\n /dev/b \n").unwrap(), ["/dev/a", "/dev/b"]);
        assert!(parse_luns("\n").is_err());
    }
}
