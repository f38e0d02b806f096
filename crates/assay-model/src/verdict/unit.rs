//! The units that a judged quantity can have: how a limit is read and how a number is shown.

use crate::error::{Error, Result};
use crate::number::{index, real};
use crate::units::{
    Bytes, Nanos, Rate, Share, bytes_parts, show_count, throughput_parts, time_parts,
};
use serde::{Deserialize, Serialize};

/// Unit of a judged quantity; the number next to it is in the base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// I/Os per second.
    IosPerS,
    /// Transactions a minute.
    PerMinute,
    /// Queries an hour.
    PerHour,
    /// Bytes per second.
    BytesPerS,
    /// Bytes.
    Bytes,
    /// A share in 0..=1.
    Share,
    /// A number of things.
    Count,
}

impl Unit {
    /// Reads a limit of this unit, into base units.
    ///
    /// # Errors
    /// A usage error that shows how a limit of this unit is written.
    pub fn parse(self, text: &str) -> Result<f64> {
        let read = match self {
            Self::Ns => text.parse::<Nanos>().map(|time| real(time.0)),
            Self::IosPerS => text.parse::<Rate>().map(|rate| rate.0),
            Self::PerMinute => parse_rate_per(text, "/min", 60.0),
            Self::PerHour => parse_rate_per(text, "/h", 3600.0),
            Self::BytesPerS => parse_throughput(text),
            Self::Bytes => text.parse::<Bytes>().map(|bytes| real(bytes.0)),
            Self::Share => text.parse::<Share>().map(|share| share.0),
            Self::Count => parse_count(text),
        };
        read.map_err(|error| {
            Error::usage(error.message(), format!("write for example {}", self.example()))
        })
    }

    /// A limit as it is written in criteria.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Ns => "1ms (ns, us, ms, s)",
            Self::IosPerS => "20000/s or 20k/s",
            Self::PerMinute => "12000/min or 12k/min",
            Self::PerHour => "12000/h or 12k/h",
            Self::BytesPerS => "500MB/s or 500MiB/s",
            Self::Bytes => "8KiB or 16KiB",
            Self::Share => "80% or 0.8",
            Self::Count => "0, a number without a unit",
        }
    }

    /// A number of this unit for a reader: `1.23 ms`, `46,018/s`, `561 MB/s`, `79.5%`, `12`.
    pub fn show(self, value: f64) -> String {
        let (number, unit) = self.parts(value);
        let gap = if unit.starts_with(char::is_alphabetic) { " " } else { "" };
        format!("{number}{gap}{unit}")
    }

    /// The number of a value for a reader, and what stands behind it: `1.23` and `ms`, `40,000` and
    /// `/s`.
    pub fn parts(self, value: f64) -> (String, &'static str) {
        match self {
            Self::Ns => time_parts(value),
            Self::IosPerS => (show_rate(value), "/s"),
            Self::PerMinute => (show_count(value), "/min"),
            Self::PerHour => (show_count(value), "/h"),
            Self::BytesPerS => throughput_parts(value),
            Self::Bytes => bytes_parts(value),
            Self::Share => (trimmed(value * 100.0), "%"),
            Self::Count => (show_count(value), ""),
        }
    }
}

/// A whole number, below 10 two digits: what happens rarely is not 0, and 1.4/s is not 1/s.
fn show_rate(value: f64) -> String {
    match value {
        _ if value <= 0.0 || value >= 9.95 => return show_count(value),
        _ if value >= 0.995 => return trimmed(value),
        _ => {}
    }
    let decimals = index((1.0 - value.log10().floor()).clamp(2.0, 9.0));
    format!("{value:.decimals$}")
}

/// One decimal, where there is one.
fn trimmed(value: f64) -> String {
    let shown = format!("{value:.1}");
    shown.strip_suffix(".0").map_or(shown.clone(), str::to_owned)
}

/// A rate in a unit of its own; one of `/s` is as many times larger as the unit is longer.
fn parse_rate_per(text: &str, unit: &str, unit_s: f64) -> Result<f64> {
    let per_unit = text.trim().strip_suffix(unit).map(|number| format!("{number}/s"));
    let factor = if per_unit.is_some() { 1.0 } else { unit_s };
    let rate = per_unit.as_deref().unwrap_or(text).parse::<Rate>();
    let rate = rate.map_err(|_| Error::usage(format!("'{text}' is not a rate"), ""))?;
    Ok(rate.0 * factor)
}

fn parse_throughput(text: &str) -> Result<f64> {
    let bytes = text.trim().strip_suffix("/s").map(str::parse::<Bytes>);
    match bytes {
        Some(Ok(bytes)) => Ok(real(bytes.0)),
        _ => Err(Error::usage(format!("'{text}' is not a throughput"), "")),
    }
}

fn parse_count(text: &str) -> Result<f64> {
    let number = text.trim().replace('_', "").parse::<u64>();
    number.map(real).map_err(|_| Error::usage(format!("'{text}' is not a whole number"), ""))
}
