//! Nanoseconds since 1970 as date and time of day, UTC, in the proleptic Gregorian calendar.

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

const DAYS_OF_400_YEARS: u64 = 146_097;
/// From 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;

impl Utc {
    /// The date and time of day, fractions of a second cut off.
    pub const fn of(unix_ns: u64) -> Self {
        let second = unix_ns / 1_000_000_000;
        let (year, month, day) = date(second / 86_400);
        Self {
            year,
            month,
            day,
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

/// Year, month and day of a number of days since 1970. Years are counted from March, so that the leap day is
/// the last of its year and every month's begin is a linear function of its number.
const fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_BEFORE_1970;
    let of_era = days % DAYS_OF_400_YEARS;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let january_or_february = if month <= 2 { 1 } else { 0 };
    let year = days / DAYS_OF_400_YEARS * 400 + year_of_era + january_or_february;
    (year, month, day)
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

    const fn leap(year: u64) -> bool {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    }

    #[test]
    fn every_day_of_500_years_follows_the_day_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..500 * 366 {
            assert_eq!(date(days), (year, month, day));
            let length = match month {
                2 => 28 + u64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn prints_in_two_forms() {
        let time = Utc::of(1_795_250_395_999_999_999);
        assert_eq!(
            (time.compact().as_str(), time.to_string().as_str()),
            ("20261121-083955", "2026-11-21 08:39:55")
        );
    }
}
