//! A day as documents write it: `2026-04-01`.

use super::{date, unix_days};
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// Nanoseconds of a day, as Unix time counts them.
const DAY_NS: u64 = 86_400_000_000_000;

/// A day of the calendar, counted from 1 January 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);

impl Day {
    /// The day of a moment, UTC; `unix_ns` counts from 1970.
    pub fn of(unix_ns: u64) -> Self {
        Self(i64::try_from(unix_ns / DAY_NS).unwrap_or(i64::MAX))
    }

    /// Days from an earlier one to this; below 0 where that one is later.
    pub const fn days_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0);
        formatter.pad(&format!("{year:04}-{month:02}-{day:02}"))
    }
}

impl FromStr for Day {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::usage(format!("'{text}' is not a day"), "write for example 2026-04-01");
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else {
            return Err(wrong());
        };
        let read = year.parse().ok().zip(month.parse().ok()).zip(day.parse().ok());
        let known = read.filter(|_| (year.len(), month.len(), day.len()) == (4, 2, 2));
        known
            .and_then(|((year, month), day)| unix_days(year, month, day))
            .map(Self)
            .ok_or_else(wrong)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error: Error| {
            de::Error::custom(format!("{}; {}", error.message(), error.hint()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_as_it_is_written() {
        let day: Day = "2026-11-24".parse().unwrap();
        assert_eq!((day, day.to_string().as_str()), (Day(20_781), "2026-11-24"));
        assert_eq!(day.days_since("2026-05-28".parse().unwrap()), 180);
        assert_eq!(Day::of(20_781 * DAY_NS + 5), day);
        for wrong in ["2026-2-30", "2026-02-30", "24.11.2026", "2026-11", "26-11-24", ""] {
            let error = wrong.parse::<Day>().unwrap_err();
            assert_eq!(error.message(), format!("'{wrong}' is not a day"));
        }
    }
}
