//! Snapshot times: day, month and year in the client's language, and the clock.

use assay_model::calendar::unix_days;

/// Opening letters of month names, lower case, in the languages that Oracle's clients print; `|` parts months.
const MONTHS: &[&str] = &[
    "jan|ene|gen|janv|sty|oca|янв",
    "feb|fév|fev|lut|şub|фев",
    "mar|mär|mrt|mrz|мар",
    "apr|abr|avr|kwi|nis|апр",
    "may|mai|mag|mei|maj|май|мая",
    "jun|jui|giu|cze|haz|июн",
    "jul|juil|lug|lip|tem|июл",
    "aug|ago|aoû|aou|sie|ağu|авг",
    "sep|set|wrz|eyl|сен",
    "oct|okt|ott|out|paź|eki|окт",
    "nov|lis|kas|ноя",
    "dec|dez|dic|déc|gru|ara|дек",
];

/// Seconds since 1970 of `11-Jan-18 09:30:36`, in the server's zone; `None` where a part is in doubt.
pub(crate) fn clock_s(text: &str) -> Option<i64> {
    // Months of some languages are padded with blanks (`23-4月 -14`): the clock is the last word.
    let (date, clock) = text.trim_end().rsplit_once(char::is_whitespace)?;
    let date: String = date.split_whitespace().collect();
    let mut date = date.split(['-', '/', '.']).filter(|part| !part.is_empty());
    let (day, month, year) = (date.next()?, date.next()?, date.next()?);
    let (day, year): (u8, i32) = (day.parse().ok()?, year.parse().ok()?);
    let year = if year < 100 { year + 2000 } else { year };
    let month = month_of(month)?;
    if !(1970..=2200).contains(&year) {
        return None;
    }
    Some(unix_days(year, month, day)? * 86_400 + seconds_of_day(clock)?)
}

fn seconds_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(str::parse);
    let (hour, minute): (i64, i64) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let second: i64 = parts.next().unwrap_or(Ok(0)).ok()?;
    let valid = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    valid.then_some(hour * 3600 + minute * 60 + second)
}

fn month_of(text: &str) -> Option<u8> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    if let Ok(number) = digits.parse::<u8>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let name = text.to_lowercase();
    // The longest opening wins: `juil` is July, `jui` June.
    let openings = MONTHS
        .iter()
        .zip(1_u8..)
        .flat_map(|(names, month)| names.split('|').map(move |opening| (opening, month)));
    let known = openings.filter(|(opening, _)| name.starts_with(opening));
    known.max_by_key(|(opening, _)| opening.len()).map(|(_, month)| month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_as_the_calendar_does() {
        assert_eq!(clock_s("01-Jan-70 00:00:00"), Some(3_155_760_000));
        assert_eq!(clock_s("01-Jan-1970 00:00:00"), Some(0));
        assert_eq!(clock_s("29-Feb-2000 12:00"), Some(951_825_600));
        assert_eq!(clock_s("02-May-13 13:53:40"), Some(1_367_502_820));
    }

    #[test]
    fn months_are_read_in_other_languages_and_as_numbers() {
        let english = clock_s("11-Dec-18 09:30:36");
        for other in [
            "11-DEZ-18",
            "11-12月 -18",
            "11-Dic-18",
            "11-déc.-18",
            "11-12-18",
            "11-12月-18",
            "11.12.2018",
        ] {
            assert_eq!(clock_s(&format!("{other} 09:30:36")), english, "{other}");
        }
        assert_eq!(clock_s("11-juil.-18 09:30"), clock_s("11-Jul-18 09:30"));
        assert_eq!(clock_s("11-juin-18 09:30"), clock_s("11-Jun-18 09:30"));
    }

    #[test]
    fn what_is_in_doubt_is_not_read() {
        for text in [
            "",
            "11-Foo-18 09:30",
            "32-Jan-18 09:30",
            "11-Jan-18 25:00",
            "11-13-18 01:00",
            "30-Feb-18 01:00",
        ] {
            assert_eq!(clock_s(text), None, "{text}");
        }
    }
}
