//! The line above each sample with its time, in the forms that locales and versions give it.

use assay_model::number::index_of;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A point in time, and whether its zone is known to be UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) at_unix_s: u64,
    pub(super) is_utc: bool,
}

/// Reads `zzz ***Fri Jan 10 12:00:00 CST 2026`, `zzz ***Fri 10 Jan 2026 01:00:00 PM UTC` or
/// `zzz <01/10/2026 12:00:00> Count:3`; `None` for any other line.
pub(super) fn stamp(line: &str) -> Option<Stamp> {
    let rest = line.strip_prefix("zzz ")?.trim();
    let rest = rest.trim_start_matches(['*', '<']);
    let words: Vec<&str> = rest.split([' ', '>']).filter(|word| !word.is_empty()).collect();
    let (year, month, day) = slashed(&words).or_else(|| spelled(&words))?;
    let clock = words.iter().find_map(|word| clock(word))?;
    let afternoon = words.iter().any(|word| word.eq_ignore_ascii_case("pm"));
    let morning = words.iter().any(|word| word.eq_ignore_ascii_case("am"));
    let (hour, minute, second) = clock;
    let hour = match hour {
        12 if morning => 0,
        12 => 12,
        hour if afternoon => hour + 12,
        hour => hour,
    };
    let seconds = hour * 3600 + minute * 60 + second;
    Some(Stamp {
        at_unix_s: days_before(year, month, day)? * 86_400 + seconds,
        is_utc: words.iter().any(|word| matches!(*word, "UTC" | "GMT" | "Z")),
    })
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
    let mut parts = word.split(':');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let clock = (next()?, next()?, next()?);
    (clock.0 < 24 && clock.1 < 60 && clock.2 <= 60).then_some(clock)
}

/// Days from 1970 to a date of the Gregorian calendar.
fn days_before(year: u64, month: u64, day: u64) -> Option<u64> {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    let before = BEFORE.get(index_of(month.checked_sub(1)?))?;
    let leaps = |year: u64| year / 4 - year / 100 + year / 400;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let leap_day = u64::from(is_leap && month > 2);
    Some((year - 1970) * 365 + leaps(year - 1) - leaps(1969) + before + leap_day + day - 1)
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
