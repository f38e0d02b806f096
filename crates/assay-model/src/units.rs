//! The only parser and printer of sizes, durations, rates and shares: inside Assay there are base
//! units only.

use crate::error::{Error, Result};
use crate::number::{count, nanoseconds, real, seconds};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// A number of bytes; written with a binary (`8KiB`) or decimal (`8kB`) prefix, never mixed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A duration in nanoseconds; written `100us`, `1.5ms`, `30s`, `2h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A rate in events per second; written `20000/s` or `20k/s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A share in 0..=1; written `0.7` or `70%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

const SIZE_UNITS: &[(&str, f64)] = &[
    ("TiB", 1_099_511_627_776.0),
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("KiB", 1024.0),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("KB", 1e3),
    ("B", 1.0),
];

const TIME_UNITS: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("min", 60e9),
    ("s", 1e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];

const RATE_UNITS: &[(&str, f64)] = &[("M/s", 1e6), ("k/s", 1e3), ("/s", 1.0)];

/// Splits `8KiB` into the number and the factor of its unit.
fn quantity(text: &str, units: &[(&str, f64)], example: &str) -> Result<f64> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'));
    let (digits, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let hint = format!("write for example {example}; the units are {}", names.join(", "));
    let factor = units.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| *factor);
    let number = digits.replace('_', "").parse::<f64>().ok();
    match (number, factor) {
        (Some(number), Some(factor)) => Ok(number * factor),
        (Some(_), None) if unit.trim().is_empty() => {
            Err(Error::usage(format!("'{text}' has no unit"), hint))
        }
        (Some(_), None) => {
            Err(Error::usage(format!("'{}' in '{text}' is not a unit", unit.trim()), hint))
        }
        (None, _) => Err(Error::usage(format!("'{text}' is not a quantity"), hint)),
    }
}

/// A quantity that must come out as a whole number of its base unit.
fn whole(text: &str, units: &[(&str, f64)], example: &str) -> Result<u64> {
    let value = quantity(text, units, example)?;
    let rounded = count(value);
    if (value - real(rounded)).abs() > 1e-6 * value.max(1.0) || value >= real(u64::MAX) {
        let hint = format!("write for example {example}");
        return Err(Error::usage(format!("'{text}' is not a whole number of base units"), hint));
    }
    Ok(rounded)
}

impl FromStr for Bytes {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        whole(text, SIZE_UNITS, "8KiB").map(Self)
    }
}

impl FromStr for Nanos {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        whole(text, TIME_UNITS, "1ms").map(Self)
    }
}

impl FromStr for Rate {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        quantity(text, RATE_UNITS, "20000/s").map(Self)
    }
}

impl FromStr for Share {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let hint = "write a share as 70% or 0.7";
        let trimmed = text.trim();
        let (digits, divisor) =
            trimmed.strip_suffix('%').map_or((trimmed, 1.0), |digits| (digits, 100.0));
        let value = digits
            .trim()
            .parse::<f64>()
            .map_err(|_| Error::usage(format!("'{text}' is not a share"), hint))?;
        Self::new(value / divisor)
            .map_err(|_| Error::usage(format!("'{text}' is not a share between 0% and 100%"), hint))
    }
}

impl Share {
    /// A share in 0..=1.
    ///
    /// # Errors
    /// A usage error outside that range.
    pub fn new(value: f64) -> Result<Self> {
        if (0.0..=1.0).contains(&value) {
            return Ok(Self(value));
        }
        Err(Error::usage(
            format!("{value} is not a share between 0 and 1"),
            "write a share as 70% or 0.7",
        ))
    }
}

impl Nanos {
    /// The duration in seconds.
    pub fn seconds(self) -> f64 {
        seconds(self.0)
    }

    /// The duration of `time_s` seconds, rounded to whole nanoseconds.
    pub fn from_seconds(time_s: f64) -> Self {
        Self(nanoseconds(time_s))
    }
}

/// Writes `value` with the largest unit that divides it exactly, so that a document reads back the
/// same.
fn exact(value: u64, units: &[(&'static str, u64)]) -> String {
    let fits = units.iter().find(|(_, factor)| value >= *factor && value.is_multiple_of(*factor));
    let (name, factor) = fits.copied().unwrap_or(units[units.len() - 1]);
    format!("{}{name}", value / factor)
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EXACT: &[(&str, u64)] = &[
            ("TiB", 1 << 40),
            ("TB", 1_000_000_000_000),
            ("GiB", 1 << 30),
            ("GB", 1_000_000_000),
            ("MiB", 1 << 20),
            ("MB", 1_000_000),
            ("KiB", 1 << 10),
            ("kB", 1000),
            ("B", 1),
        ];
        formatter.pad(&exact(self.0, EXACT))
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const EXACT: &[(&str, u64)] = &[
            ("h", 3_600_000_000_000),
            ("min", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ];
        formatter.pad(&exact(self.0, EXACT))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}/s", self.0))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{}", self.0))
    }
}

/// Text documents carry quantities as strings with their unit, so that nothing needs guessing.
macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let text = Text::deserialize(deserializer)?.0;
                text.parse().map_err(|error: Error| de::Error::custom(format!("{}; {}", error.message(), error.hint())))
            }
        }
    )*};
}
as_text!(Bytes, Nanos, Rate);

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        text.parse().map_err(|error: Error| {
            de::Error::custom(format!("{}; {}", error.message(), error.hint()))
        })
    }
}

/// A string, or a bare number as text, so that `duration = 30` is answered with "has no unit"
/// instead of "wrong type".
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Text;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a quantity with its unit")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Text, E> {
                Ok(Text(text.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Text, E> {
                Ok(Text(number.to_string()))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Text, E> {
                Ok(Text(number.to_string()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Text, E> {
                Ok(Text(number.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Three significant digits, and the unit that keeps the number between 1 and 1000.
fn scaled(value: f64, units: &[(f64, &'static str)]) -> (String, &'static str) {
    let fits = units.iter().find(|(factor, _)| value.abs() >= *factor * 0.9995);
    let (factor, name) = fits.copied().unwrap_or(units[units.len() - 1]);
    let shown = value / factor;
    let digits = match shown.abs() {
        large if !(1e-9..99.95).contains(&large) => 0,
        middle if middle >= 9.995 => 1,
        _ => 2,
    };
    (format!("{shown:.digits$}"), name)
}

fn joined(shown: &(String, &str)) -> String {
    format!("{} {}", shown.0, shown.1)
}

/// A duration for a reader: `123 µs`, `1.23 ms`.
pub fn show_time_ns(time_ns: f64) -> String {
    joined(&time_parts(time_ns))
}

/// The number of a duration for a reader, and its unit: `1.23`, `ms`.
pub fn time_parts(time_ns: f64) -> (String, &'static str) {
    scaled(
        time_ns,
        &[(3600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
    )
}

/// A size for a reader, in binary units: `8.00 KiB`.
pub fn show_bytes(bytes: f64) -> String {
    joined(&bytes_parts(bytes))
}

/// The number of a size for a reader, and what stands behind it.
pub(crate) fn bytes_parts(bytes: f64) -> (String, &'static str) {
    let (kib, mib, gib, tib) = (1024.0, 1_048_576.0, 1_073_741_824.0, 1_099_511_627_776.0);
    scaled(bytes, &[(tib, "TiB"), (gib, "GiB"), (mib, "MiB"), (kib, "KiB"), (1.0, "B")])
}

/// A number of things for a reader: `1 session`, `1,024 sessions`.
pub fn show_counted(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {noun}{end}", show_count(real(count)))
}

/// A throughput for a reader, in decimal units as vendors and Oracle print it: `561 MB/s`.
pub fn show_throughput(bytes_per_s: f64) -> String {
    joined(&throughput_parts(bytes_per_s))
}

/// The number of a throughput for a reader, and its unit: `561`, `MB/s`.
pub fn throughput_parts(bytes_per_s: f64) -> (String, &'static str) {
    scaled(bytes_per_s, &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")])
}

/// A whole number with thousands separated by commas: `46,018`.
pub fn show_count(value: f64) -> String {
    let digits = count(value.abs()).to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < -0.5 {
        shown.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefixes_are_binary_or_decimal_as_written() {
        assert_eq!("8KiB".parse::<Bytes>().unwrap(), Bytes(8192));
        assert_eq!("8kB".parse::<Bytes>().unwrap(), Bytes(8000));
        assert_eq!("1.5 MiB".parse::<Bytes>().unwrap(), Bytes(1_572_864));
        assert_eq!("100us".parse::<Nanos>().unwrap(), Nanos(100_000));
        assert_eq!("2h".parse::<Nanos>().unwrap(), Nanos(7_200_000_000_000));
        assert_eq!("20k/s".parse::<Rate>().unwrap(), Rate(20_000.0));
        assert_eq!("70%".parse::<Share>().unwrap(), Share(0.7));
    }

    #[test]
    fn a_missing_unit_is_answered_with_the_list() {
        let error = "8".parse::<Nanos>().unwrap_err();
        assert_eq!(error.message(), "'8' has no unit");
        assert_eq!(
            error.hint(),
            "write for example 1ms; the units are ns, us, µs, ms, min, s, h, d"
        );
        assert_eq!(
            "8 parsec".parse::<Nanos>().unwrap_err().message(),
            "'parsec' in '8 parsec' is not a unit"
        );
        assert_eq!("ms".parse::<Nanos>().unwrap_err().message(), "'ms' is not a quantity");
        assert_eq!(
            "0.3B".parse::<Bytes>().unwrap_err().message(),
            "'0.3B' is not a whole number of base units"
        );
        assert_eq!(
            "120%".parse::<Share>().unwrap_err().message(),
            "'120%' is not a share between 0% and 100%"
        );
    }

    #[test]
    fn shown_numbers_keep_three_digits_and_a_unit() {
        assert_eq!(show_time_ns(1_234_000.0), "1.23 ms");
        assert_eq!(show_time_ns(999.9), "1.00 µs");
        assert_eq!(show_time_ns(0.0), "0 ns");
        assert_eq!(show_throughput(561.388e6), "561 MB/s");
        assert_eq!(show_bytes(116_532.0), "114 KiB");
        assert_eq!(show_count(46_018.4), "46,018");
        assert_eq!(show_count(318.0), "318");
    }

    #[test]
    fn sizes_are_written_with_the_largest_unit_that_divides_them() {
        for text in ["1TiB", "1TB", "3GiB", "400GB", "64MiB", "5MB", "8KiB", "3kB", "512B", "0B"] {
            assert_eq!(text.parse::<Bytes>().unwrap().to_string(), text);
        }
        assert_eq!(Bytes(1_024_000).to_string(), "1000KiB");
    }

    proptest! {
        #[test]
        fn written_quantities_read_back_the_same(value in 0u64..1 << 50) {
            prop_assert_eq!(Bytes(value).to_string().parse::<Bytes>().unwrap(), Bytes(value));
            prop_assert_eq!(Nanos(value).to_string().parse::<Nanos>().unwrap(), Nanos(value));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Share>();
        }
    }
}
