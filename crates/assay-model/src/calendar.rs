//! Days since 1970 as dates of the proleptic Gregorian calendar, and back.

mod day;

pub use day::Day;
use time::{Date, Month};

/// The number of 1 January 1970 in the count of Julian days.
const JULIAN_DAY_OF_1970: i64 = 2_440_588;

/// Year, month (1..=12) and day of the month (1..=31) of a day counted from 1 January 1970; of days
/// beyond the years -9999..=9999 the last that there is.
pub fn date(unix_days: i64) -> (i32, u8, u8) {
    let julian_day = i32::try_from(unix_days.saturating_add(JULIAN_DAY_OF_1970));
    let beyond = if unix_days < 0 { Date::MIN } else { Date::MAX };
    let found = julian_day.ok().and_then(|day| Date::from_julian_day(day).ok());
    let date = found.unwrap_or(beyond);
    (date.year(), u8::from(date.month()), date.day())
}

/// Days from 1 January 1970 to a date; `None` where the calendar has no such day.
pub fn unix_days(year: i32, month: u8, day: u8) -> Option<i64> {
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    Some(i64::from(date.to_julian_day()) - JULIAN_DAY_OF_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn leap(year: i32) -> bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    #[test]
    fn every_day_of_500_years_follows_the_day_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..500 * 366 {
            assert_eq!(date(days), (year, month, day));
            assert_eq!(unix_days(year, month, day), Some(days));
            let length = match month {
                2 => 28 + u8::from(leap(year)),
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

    /// Golden values: `datetime.date(1970, 1, 1) + datetime.timedelta(n)` of Python.
    #[test]
    fn days_have_their_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_778), (2026, 11, 21));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(47_541), (2100, 3, 1));
    }

    #[test]
    fn what_is_not_in_the_calendar_has_no_number() {
        assert_eq!((unix_days(2023, 2, 29), unix_days(2024, 2, 29)), (None, Some(19_782)));
        assert_eq!((unix_days(2024, 13, 1), unix_days(2024, 0, 1)), (None, None));
        assert_eq!((date(i64::MAX), date(i64::MIN)), ((9999, 12, 31), (-9999, 1, 1)));
    }
}
