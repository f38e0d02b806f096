//! The line above each sample with its time, in the forms that locales and versions give it.

use assay_model::calendar::unix_days;
use std::borrow::Cow;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A point in time, and whether its zone is known to be UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleStamp {
    pub(super) at_unix_s: u64,
    pub(super) is_utc: bool,
}

/// Seconds of a day.
const DAY_S: u64 = 86_400;

impl SampleStamp {
    /// The time of a line of a trace: a date and a time of day, or the latter on a day that is
    /// known.
    pub(super) fn of_line(line: &str, day_unix_s: Option<u64>) -> Option<Self> {
        let (day, clock_s) = day_and_clock(line);
        let is_alone = line.split_whitespace().all(|word| !word.starts_with(char::is_alphabetic));
        let day = day.or_else(|| day_unix_s.filter(|_| is_alone || line.starts_with("Time:")))?;
        Some(Self { at_unix_s: day.checked_add(clock_s?)?, is_utc: has_utc(&words_of(line)) })
    }
}

/// A text with the marks of Chinese and Japanese dates and times as others write them.
pub(super) fn with_plain_marks(text: &str) -> Cow<'_, str> {
    if !text.contains(['年', '分']) {
        return Cow::Borrowed(text);
    }
    let plain = |mark: char| match mark {
        '年' | '月' => '-',
        '时' | '時' | '分' => ':',
        '日' | '秒' => ' ',
        other => other,
    };
    Cow::Owned(text.chars().map(plain).collect())
}

/// The words of a line, also those of `2026-01-15T10:30:00Z`.
fn words_of(line: &str) -> Vec<&str> {
    line.split([' ', '\t', '>', 'T']).filter(|word| !word.is_empty()).collect()
}

/// The day of a line, s since 1970, and its time of day, s, where it has them.
pub(super) fn day_and_clock(line: &str) -> (Option<u64>, Option<u64>) {
    let words = words_of(line);
    let day = words.iter().find_map(|word| {
        let (year, month, day) = dated(word)?;
        days_before(year, month, day)?.checked_mul(DAY_S)
    });
    (day, clock_s(&words))
}

/// The time of day at the beginning of a row, s, and the cells behind it.
pub(super) fn clock_of(line: &str) -> Option<(u64, Vec<&str>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    clock(words.first()?)?;
    let has_half = words.get(1).is_some_and(|word| ["AM", "PM"].contains(word));
    let (time, cells) = words.split_at(1 + usize::from(has_half));
    Some((clock_s(time)?, cells.to_vec()))
}

/// A date in one word: year first, month first between slashes, or day first between dots. Two
/// digits are of this century.
fn dated(word: &str) -> Option<(u64, u64, u64)> {
    let mark = ['/', '-', '.'].into_iter().find(|mark| word.matches(*mark).count() == 2)?;
    let mut numbers = [0; 3];
    for (number, part) in numbers.iter_mut().zip(word.split(mark)) {
        *number = part.parse().ok().filter(|_| part.len() <= 4)?;
    }
    let (year, month, day) = match (mark, numbers) {
        (_, [year, month, day]) if year > 31 => (year, month, day),
        ('.', [day, month, year]) => (year, month, day),
        (_, [day, month, year]) if month <= 12 && day > 12 => (year, month, day),
        (_, [month, day, year]) => (year, month, day),
    };
    Some((if year < 100 { 2000 + year } else { year }, month, day))
}

/// Reads `zzz ***Fri Jan 10 12:00:00 CST 2026`, `zzz ***Fri 10 Jan 2026 01:00:00 PM UTC` or
/// `zzz <01/10/2026 12:00:00> Count:3`; `None` for any other line.
pub(super) fn stamp(line: &str) -> Option<SampleStamp> {
    let rest = line.strip_prefix("zzz ")?.trim();
    let rest = rest.trim_start_matches(['*', '<']);
    let words: Vec<&str> = rest.split([' ', '>']).filter(|word| !word.is_empty()).collect();
    let (year, month, day) = slashed(&words).or_else(|| spelled(&words))?;
    Some(SampleStamp {
        at_unix_s: days_before(year, month, day)? * DAY_S + clock_s(&words)?,
        is_utc: has_utc(&words),
    })
}

fn has_utc(words: &[&str]) -> bool {
    words.iter().any(|word| matches!(*word, "UTC" | "GMT" | "Z"))
}

/// The time of day that is among some words, s.
fn clock_s(words: &[&str]) -> Option<u64> {
    let has = |half: &str| words.iter().any(|word| word.eq_ignore_ascii_case(half));
    let (hour, minute, second) = words.iter().find_map(|word| clock(word))?;
    let hour = match hour {
        12 if has("am") => 0,
        hour if hour < 12 && has("pm") => hour + 12,
        hour => hour,
    };
    Some(hour * 3600 + minute * 60 + second)
}

/// Month, day and year between slashes.
fn slashed(words: &[&str]) -> Option<(u64, u64, u64)> {
    let word = words.iter().find(|word| word.matches('/').count() == 2)?;
    let mut numbers = word.split('/').map_while(|part| part.parse::<u64>().ok());
    let (month, day, year) = (numbers.next()?, numbers.next()?, numbers.next()?);
    Some((year, month, day))
}

/// A month by its English name, a day of one or two digits, a year of four.
fn spelled(words: &[&str]) -> Option<(u64, u64, u64)> {
    let month = words.iter().find_map(|word| {
        let name: String = word.chars().take(3).collect();
        let place = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
        u64::try_from(place + 1).ok()
    })?;
    let number = |digits: std::ops::RangeInclusive<usize>| {
        let fits = |word: &&&str| digits.contains(&word.len());
        words.iter().filter(fits).find_map(|word| word.parse().ok())
    };
    Some((number(4..=4)?, month, number(1..=2)?))
}

fn clock(word: &str) -> Option<(u64, u64, u64)> {
    let mut parts = word.split(['+', 'Z']).next()?.split(':');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let clock = (next()?, next()?, next()?);
    (clock.0 < 24 && clock.1 < 60 && clock.2 <= 60).then_some(clock)
}

/// Days from 1970 to a date, which lies behind it.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = (i32::try_from(year).ok()?, u8::try_from(month).ok()?);
    u64::try_from(unix_days(year, month, u8::try_from(day).ok()?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden values of `date -ud '…' +%s`.
    #[test]
    fn every_form_of_a_time_is_read() {
        let read = |line: &str| stamp(line).map(|stamp| (stamp.at_unix_s, stamp.is_utc));
        assert_eq!(read("zzz ***Fri Jan 10 12:00:00 CST 2026"), Some((1_768_046_400, false)));
        assert_eq!(read("zzz ***Sat 10 Jan 2026 01:00:00 PM UTC"), Some((1_768_050_000, true)));
        assert_eq!(read("zzz ***Sat 10 Jan 2026 12:30:00 AM UTC"), Some((1_768_005_000, true)));
        assert_eq!(read("zzz <01/10/2026 12:00:00> Count:3"), Some((1_768_046_400, false)));
        assert_eq!(read("zzz ***Thu Feb 29 00:00:00 UTC 2024"), Some((1_709_164_800, true)));
        assert_eq!(read("zzz ***Fri Mar  1 00:00:00 UTC 2024"), Some((1_709_251_200, true)));
        assert_eq!(read("zzz ***ven. 10 janv. 2026"), None);
        assert_eq!(read("Device r/s"), None);
    }
}
