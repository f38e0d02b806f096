//! How the command line reads a value: in Assay's own form or in that of other tools. A type has
//! one reader, which every option of that type uses; documents take Assay's form alone.

use crate::error::Error;
use crate::histogram::Histogram;
use crate::number::real;
use crate::units::{Bytes, Nanos, Rate, Share};
use clap::builder::Resettable;
use clap::{Arg, Args, Command};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A value that other tools may write in other ways.
pub trait Spelling: FromStr<Err = Error> {
    /// What was typed, in Assay's form; none where it has that form already, or means nothing.
    fn reading(_typed: &str) -> Option<String> {
        None
    }
}

/// Makes a type readable wherever an option has it.
#[macro_export]
macro_rules! read_from_command_line {
    ($($type:ty),+) => {$(
        impl clap::builder::ValueParserFactory for $type {
            type Parser = fn(&str) -> std::result::Result<Self, String>;
            fn value_parser() -> Self::Parser {
                $crate::spelling::quantity::<Self>
            }
        }
    )+};
}

read_from_command_line!(Bytes, LimitStatistic, Nanos, Rate, Share);

impl Spelling for Bytes {
    /// `8k` and `1G` are powers of 1024, as in fio and dd.
    fn reading(typed: &str) -> Option<String> {
        let (number, unit) = number_and_unit(typed)?;
        let prefix = match unit {
            "k" | "K" => "Ki",
            "m" | "M" => "Mi",
            "g" | "G" => "Gi",
            "t" | "T" => "Ti",
            _ => return None,
        };
        Some(format!("{number}{prefix}B"))
    }
}

impl Spelling for Nanos {
    /// A bare number is seconds.
    fn reading(typed: &str) -> Option<String> {
        let (number, unit) = number_and_unit(typed)?;
        let unit = match unit {
            "" | "sec" => "s",
            "m" => "min",
            _ => return None,
        };
        Some(format!("{number}{unit}"))
    }
}

impl Spelling for Rate {
    fn reading(typed: &str) -> Option<String> {
        let (_, unit) = number_and_unit(typed)?;
        ["", "k", "M"].contains(&unit).then(|| format!("{}/s", typed.trim()))
    }
}

impl Spelling for Share {
    /// A number above 1 is a percentage.
    fn reading(typed: &str) -> Option<String> {
        let (number, unit) = number_and_unit(typed)?;
        let is_percentage =
            unit.is_empty() && number.parse::<f64>().is_ok_and(|number| number > 1.0);
        is_percentage.then(|| format!("{number}%"))
    }
}

/// What options are where none is typed: their only defaults. What must be typed is empty.
///
/// # Panics
/// When the default of an option cannot be read, which the test of its struct would have found.
pub fn defaults<Options: Args>() -> Options {
    let command = Options::augment_args(Command::new("options").no_binary_name(true));
    // The environment of a program is not a default of its library.
    let lifted = |option: Arg| {
        if option.is_required_set() {
            return option.required(false).default_value("");
        }
        option.env(Resettable::Reset)
    };
    let found = command.mut_args(lifted).try_get_matches_from([""; 0]);
    let parsed = found.and_then(|found| Options::from_arg_matches(&found));
    parsed.unwrap_or_else(|error| panic!("options without a default: {}", error.kind()))
}

/// What of many latencies a limit holds for. In documents the mean is a quantile that is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Option<f64>", into = "Option<f64>")]
pub enum LimitStatistic {
    /// Their mean, as `CALIBRATE_IO` and makers of arrays limit it.
    Mean,
    /// A quantile in 0..=1, which others write in hundredths.
    Quantile(f64),
}

impl From<Option<f64>> for LimitStatistic {
    fn from(quantile: Option<f64>) -> Self {
        quantile.map_or(Self::Mean, Self::Quantile)
    }
}

impl From<LimitStatistic> for Option<f64> {
    fn from(statistic: LimitStatistic) -> Self {
        match statistic {
            LimitStatistic::Mean => None,
            LimitStatistic::Quantile(quantile) => Some(quantile),
        }
    }
}

impl LimitStatistic {
    /// Its value over these latencies, ns.
    pub fn of_ns(self, latencies: &Histogram) -> f64 {
        match self {
            Self::Mean => latencies.mean_ns(),
            Self::Quantile(quantile) => real(latencies.quantile_ns(quantile)),
        }
    }
}

/// `mean` or `p99.9`, without the digits of binary arithmetic.
impl fmt::Display for LimitStatistic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => formatter.write_str("mean"),
            Self::Quantile(quantile) => {
                write!(formatter, "p{}", (quantile * 1e9).round() / 1e7)
            }
        }
    }
}

impl FromStr for LimitStatistic {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let quantile =
            || text.trim().parse().ok().filter(|quantile| 0.0 < *quantile && *quantile < 1.0);
        match text.trim() {
            "mean" => Some(Self::Mean),
            _ => quantile().map(Self::Quantile),
        }
        .ok_or_else(|| {
            Error::usage(format!("'{text}' is not a quantile"), "write 0.99, 99%, p99 or mean")
        })
    }
}

impl Spelling for LimitStatistic {
    /// `p99` and `99%` are 0.99.
    fn reading(typed: &str) -> Option<String> {
        let typed = typed.trim();
        let digits = typed.strip_prefix(['p', 'P']).or_else(|| typed.strip_suffix('%'))?;
        let hundredfold: f64 = digits.trim().parse().ok()?;
        Some(((hundredfold * 1e7).round() / 1e9).to_string())
    }
}

/// `8` and `k` of `8k`.
fn number_and_unit(typed: &str) -> Option<(&str, &str)> {
    let typed = typed.trim();
    let end = typed.find(|sign: char| !(sign.is_ascii_digit() || sign == '.'));
    let (number, unit) = typed.split_at(end.unwrap_or(typed.len()));
    number.parse::<f64>().is_ok().then_some((number, unit))
}

/// Reads a value of the command line.
///
/// # Errors
/// What is wrong and what to write instead, separated by a semicolon.
pub fn quantity<T: Spelling>(typed: &str) -> Result<T, String> {
    let reading = T::reading(typed);
    let text = reading.as_deref().unwrap_or(typed);
    text.parse().map_err(|error: Error| format!("{}; {}", error.message(), error.hint()))
}

/// Reads a latency of the command line, which needs a unit: a bare number is seconds everywhere
/// else, and a thousand times what people mean here.
///
/// # Errors
/// Those of [`quantity`], and for a bare number.
pub fn latency(typed: &str) -> Result<Nanos, String> {
    match number_and_unit(typed) {
        Some((number, "")) => Err(format!("'{typed}' has no unit; write {number}ms or {number}us")),
        _ => quantity(typed),
    }
}
