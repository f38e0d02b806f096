//! Nanoseconds since 1970 as date and time of day, UTC.

use crate::calendar::date;
use std::fmt;

/// A date and time of day, UTC; printed `2026-11-21 08:39:55`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utc {
    /// Year, from 1970.
    pub year: u64,
    /// Month, 1..=12.
    pub month: u64,
    /// Day of the month, 1..=31.
    pub day: u64,
    /// Hour, 0..=23.
    pub hour: u64,
    /// Minute, 0..=59.
    pub minute: u64,
    /// Second, 0..=59; leap seconds are not counted, as in Unix time.
    pub second: u64,
}

impl Utc {
    /// The date and time of day, fractions of a second cut off.
    pub fn of(unix_ns: u64) -> Self {
        let second = unix_ns / 1_000_000_000;
        let (year, month, day) = date(i64::try_from(second / 86_400).unwrap_or(i64::MAX));
        Self {
            year: u64::try_from(year).unwrap_or_default(),
            month: u64::from(month),
            day: u64::from(day),
            hour: second / 3600 % 24,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }

    /// Without separators, so that names sort by time: `20261121-083955`.
    pub fn compact(&self) -> String {
        format!(
            "{:04}{:02}{:02}-{:02}{:02}{:02}",
            self.year, self.month, self.day, self.hour, self.minute, self.second
        )
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
            self.year, self.month, self.day, self.hour, self.minute, self.second
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_in_two_forms() {
        let time = Utc::of(1_795_250_395_999_999_999);
        assert_eq!(
            (time.compact().as_str(), time.to_string().as_str()),
            ("20261121-083955", "2026-11-21 08:39:55")
        );
    }
}
