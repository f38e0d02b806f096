//! ORION's manual: its options and its file of LUNs as a calibration.

use crate::conversion::{Note, OptionOrigin, Treatment};
use crate::orion_matrix::{OrionMatrix, OrionPoints};
use crate::reason::{Approximation, OptionReason};
use assay_model::study::Study;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Error, Result};
use std::fmt::Write;

/// Lines of a file of LUNs at most.
const LUNS_MAX: usize = 4096;
/// Disks, or I/Os outstanding, at most.
const DEPTH_MAX: u32 = 10_000;

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
    /// Which combinations of small and large I/Os; none where the depth is searched for.
    matrix: Option<OrionMatrix>,
    /// Which combinations `-run` names once the number of disks is known.
    run_matrix: Option<OrionMatrix>,
    disks: Option<u32>,
    small_max: Option<u32>,
    large_max: Option<u32>,
    is_sequential: bool,
    is_striped: bool,
    /// What became of each option.
    pub notes: Vec<Note>,
}

/// Outstanding I/Os of ORION per disk, small and large.
const SMALL_PER_DISK: u32 = 5;
const LARGE_PER_DISK: u32 = 2;
/// Its block sizes and the time of a data point.
const SMALL: Bytes = Bytes(8 << 10);
const LARGE: Bytes = Bytes(1 << 20);
const POINT: Nanos = Nanos(60_000_000_000);
/// Its default size of a stripe, in KB.
const STRIPE_KB: &str = "1024";
/// Options that a matrix follows and a search for the depth does not.
const OF_MATRIX: [&str; 9] = [
    "-run",
    "-matrix",
    "-num_disks",
    "-num_small",
    "-num_large",
    "-type",
    "-simulate",
    "-stripe",
    "-duration",
];

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
            matrix: None,
            run_matrix: None,
            disks: None,
            small_max: None,
            large_max: None,
            is_sequential: false,
            is_striped: false,
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
        options.settle_notes();
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
            _ => {
                self.set_depths(name, value)?;
                return not_followed(name, value);
            }
        }
        Ok(Treatment::Exact)
    }

    /// What a matrix takes from an option.
    fn set_depths(&mut self, name: &str, value: &str) -> std::result::Result<(), OptionReason> {
        let depth = || {
            let number = value.parse::<u32>().map_err(|_| OptionReason::Value)?;
            if number <= DEPTH_MAX { Ok(Some(number)) } else { Err(OptionReason::Overflow) }
        };
        match name {
            "num_disks" => self.disks = depth()?,
            "num_small" => self.small_max = depth()?,
            "num_large" => self.large_max = depth()?,
            "type" => self.is_sequential = value == "seq",
            "simulate" => self.is_striped = value == "raid0",
            "matrix" => self.matrix = OrionMatrix::parse(value),
            "run" => match value {
                "normal" | "long" => self.matrix = self.matrix.or(Some(OrionMatrix::Detailed)),
                "simple" => self.run_matrix = Some(OrionMatrix::Basic),
                "oltp" => self.run_matrix = Some(OrionMatrix::Row),
                "dss" => self.run_matrix = Some(OrionMatrix::Column),
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// The combinations to measure, where the words name any.
    fn combinations(&self) -> Option<OrionMatrix> {
        self.matrix.or_else(|| self.disks.and(self.run_matrix))
    }

    /// A matrix follows options that a search for the depth does not.
    fn settle_notes(&mut self) {
        if self.combinations().is_none() {
            return;
        }
        for note in &mut self.notes {
            note.treatment = match note.origin.key.as_str() {
                "-stripe" if note.value != STRIPE_KB => {
                    Treatment::Approximated(Approximation::StripeUnit)
                }
                "-num_streamIO" => Treatment::Approximated(Approximation::OneIoPerStream),
                key if OF_MATRIX.contains(&key) => Treatment::Exact,
                _ => continue,
            };
        }
    }

    /// The study with ORION's data points, on this number of targets; none where the words leave
    /// the depth to a search.
    pub fn study(&self, targets: usize) -> Option<Study> {
        let matrix = self.combinations()?;
        let targets = u32::try_from(targets).unwrap_or(u32::MAX).max(1);
        let disks = self.disks.unwrap_or(targets).clamp(1, DEPTH_MAX);
        let most = |given: Option<u32>, per_disk: u32| given.unwrap_or(per_disk * disks).max(1);
        let points = OrionPoints {
            name: self.test_name.clone(),
            matrix,
            small_max: most(self.small_max, SMALL_PER_DISK),
            large_max: most(self.large_max, LARGE_PER_DISK),
            small: self.small.unwrap_or(SMALL),
            large: self.large.unwrap_or(LARGE),
            read_share: Share(1.0 - self.write_share.unwrap_or(0.0)),
            is_sequential: self.is_sequential,
            is_striped: self.is_striped,
            duration: self.duration.unwrap_or(POINT),
        };
        Some(points.study())
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
        "run" => &["simple", "normal", "long", "advanced", "oltp", "dss"],
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
        "its options are -run simple|normal|long|advanced|oltp|dss, -testname, -num_disks, \
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

    /// Values of the two factors of the study that the words mean.
    fn depths(line: &str) -> [Vec<String>; 2] {
        let study = parse(line).unwrap().study(2).unwrap();
        let of = |place: usize| study.factors[place].values.iter().map(ToString::to_string);
        [of(0).collect(), of(1).collect()]
    }

    #[test]
    fn a_matrix_is_measured_where_the_words_name_one() {
        let [large, small] = depths("-run normal -num_disks 1");
        assert_eq!((large.join(" "), small.join(" ")), ("0 1 2".into(), "0 1 2 5".into()));
        for (line, alone) in [
            ("-run simple -num_disks 8", true),
            ("-run advanced -matrix basic", true),
            ("-run long", false),
            ("-run advanced -matrix max -num_small 4 -num_large 2", false),
        ] {
            let study = parse(line).unwrap().study(2).unwrap();
            assert_eq!(study.streams_alone, alone, "{line}");
            study.check().unwrap();
        }
        assert_eq!(depths("-run advanced -matrix point -num_small 4 -num_large 2"), [["2"], ["4"]]);
        // Without -num_disks there are as many as targets.
        assert_eq!(depths("-run advanced -matrix row")[1].last().unwrap(), "10");
        assert_eq!(parse("-run simple").unwrap().study(2), None);
        let striped = parse("-run normal -simulate raid0 -stripe 64 -num_disks 4").unwrap();
        assert_eq!(striped.report().lines().count(), 1);
        assert_eq!(striped.report().trim_end(), "near: -stripe 64: stripes are 1 MiB");
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
        assert_eq!(options.study(1), None);
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
        assert!(parse("-run normal -num_disks 99999999").is_err());
        assert_eq!(parse_luns("/dev/a\n\n /dev/b \n").unwrap(), ["/dev/a", "/dev/b"]);
        assert!(parse_luns("\n").is_err());
    }
}
