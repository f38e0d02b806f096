//! Dates of other programs; a date without a zone is UTC.

use assay_model::calendar::unix_days;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_S: i64 = 86_400;

/// A time in ns since 1970 from `2025-01-15T10:30:00+01:00`, `2025-01-15 10:30:00` or `2025-01-15
/// 10:30:00:123`.
pub(super) fn iso(text: &str) -> Option<u64> {
    let text = text.trim();
    let (date, time) = text.split_once(['T', ' '])?;
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month: u8 = month.parse().ok()?;
    from_parts(year.parse().ok()?, month, day.parse().ok()?, time)
}

/// The same from `Fri Jan 18 12:15:37 MST 2019`.
pub(super) fn with_weekday(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let place = words.iter().position(|word| month(word).is_some())?;
    let clock = words.get(place + 2)?;
    let behind = words.get(place + 3..)?;
    let year = behind.iter().find_map(|word| word.parse::<i32>().ok().filter(|year| *year > 0))?;
    // Places without a name of their zone write its offset, `-05`.
    let zone = behind.first().filter(|word| word.starts_with(['-', '+'])).unwrap_or(&"");
    let clock = format!("{clock}{zone}");
    from_parts(year, month(words[place])?, words.get(place + 1)?.parse().ok()?, &clock)
}

/// The same from `Nov 08, 2025` and a clock.
pub(super) fn with_clock(date: &str, clock: &str) -> Option<u64> {
    let mut words = date.split_whitespace();
    let month = month(words.next()?)?;
    let day = words.next()?.trim_end_matches(',').parse().ok()?;
    from_parts(words.next()?.parse().ok()?, month, day, clock)
}

/// The same from `15 JAN 2025 10:30` and what follows it.
pub(super) fn day_first(text: &str) -> Option<u64> {
    let mut words = text.split_whitespace();
    let day = words.next()?.parse().ok()?;
    let month = month(words.next()?)?;
    let year = words.next()?.parse().ok()?;
    from_parts(year, month, day, &format!("{}:00", words.next()?))
}

/// The same from `11/08/2025-15:41:38-MSK`, the month first.
pub(super) fn month_first(text: &str) -> Option<u64> {
    let (date, clock) = text.split_once('-')?;
    let mut parts = date.split('/');
    let (month, day, year) = (parts.next()?, parts.next()?, parts.next()?);
    from_parts(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?, clock)
}

/// Seconds of the day of `15:41:38.042`.
pub(super) fn clock_s(text: &str) -> Option<f64> {
    let mut parts = text.trim().splitn(3, ':');
    let hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = parts.next()?.parse().ok()?;
    let second = super::numbers::number(parts.next()?)?;
    let is_clock = hour < 24 && minute < 60 && second < 61.0;
    is_clock.then(|| f64::from(hour * 3600 + minute * 60) + second)
}

/// The month that a word is: its first three letters, or its whole English name.
fn month(word: &str) -> Option<u8> {
    const NAMES: &str =
        "january february march april may june july august september october november december";
    let word = word.to_ascii_lowercase();
    let whole = NAMES.split(' ').position(|name| name == word);
    let place = whole.or_else(|| MONTHS.iter().position(|name| *name == word))?;
    u8::try_from(place + 1).ok()
}

/// Days, and `10:30:00` with what may stand behind it: parts of a second, a zone.
fn from_parts(year: i32, month: u8, day: u8, time: &str) -> Option<u64> {
    let clock_end = time.find(|sign: char| !(sign.is_ascii_digit() || sign == ':'));
    let (clock, rest) = time.split_at(clock_end.unwrap_or(time.len()));
    let mut parts = clock.split(':').map(|part| part.parse::<i64>().ok());
    let mut part = || parts.next().flatten();
    let (hour, minute, second) = (part()?, part()?, part()?);
    let is_clock = hour < 24 && minute < 60 && second < 61;
    let days = unix_days(year, month, day).filter(|_| is_clock)?;
    let unix_s = days * DAY_S + hour * 3600 + minute * 60 + second - offset_s(rest);
    u64::try_from(unix_s).ok()?.checked_mul(1_000_000_000)
}

/// Seconds east of UTC of `.123+01:00`, `-0500` or `-05`; 0 of any other zone.
fn offset_s(text: &str) -> i64 {
    let Some(place) = text.find(['+', '-']) else { return 0 };
    let digits: String = text[place + 1..].chars().filter(char::is_ascii_digit).collect();
    if ![2, 4].contains(&digits.len()) {
        return 0;
    }
    let sign = if text[place..].starts_with('-') { -1 } else { 1 };
    let number = |part: &str| part.parse::<i64>().unwrap_or(0);
    sign * (number(&digits[..2]) * 3600 + number(&digits[2..]) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_program_are_the_same_second() {
        // `date -u -d '2025-01-15 10:30:00' +%s`
        let expected = Some(1_736_937_000_000_000_000);
        assert_eq!(iso("2025-01-15 10:30:00"), expected);
        assert_eq!(iso("2025-01-15T11:30:00+01:00"), expected);
        assert_eq!(iso("2025-01-15T05:30:00.123-0500"), expected);
        assert_eq!(iso("2025-01-15 10:30:00:123"), expected);
        assert_eq!(with_weekday("Wed Jan 15 05:30:00 -05 2025"), expected);
        assert_eq!(with_weekday("Timestamp 1 @ Wed Jan 15 10:30:00 UTC 2025"), expected);
        assert_eq!(with_clock("Jan 15, 2025", "10:30:00.001"), expected);
        assert_eq!(month_first("01/15/2025-10:30:00-UTC"), expected);
    }

    #[test]
    fn what_is_no_date_has_no_time() {
        for text in ["", "2025-13-15 10:30:00", "2025-01-15 25:30:00", "2025-01-15", "10:30:00"] {
            assert_eq!(iso(text), None, "{text}");
        }
        assert_eq!(with_weekday("Marras 12 12:15:37 2019"), None);
        assert_eq!(clock_s("10:30:01.5"), Some(37_801.5));
        assert_eq!(clock_s("24:00:00"), None);
    }
}
