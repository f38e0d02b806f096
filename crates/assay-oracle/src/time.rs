//! Snapshot times: day, month and year in the client's language, and the clock.

use assay_model::calendar::unix_days;

/// Names of the months as Oracle's clients abbreviate them, lower case, a language a row, with and
/// without accents.
const MONTHS: &[[&str; 12]] = &[
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    ["jan", "feb", "mär", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "dez"],
    ["jän", "feb", "mrz", "apr", "mai", "jun", "jul", "aug", "sept", "okt", "nov", "dez"],
    ["janv", "févr", "mars", "avr", "mai", "juin", "juil", "août", "sept", "oct", "nov", "déc"],
    ["jan", "fév", "mar", "avr", "mai", "jun", "juil", "aoû", "sep", "oct", "nov", "déc"],
    ["janv", "fevr", "mars", "avr", "mai", "juin", "juil", "aout", "sept", "oct", "nov", "dec"],
    ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"],
    ["ene", "feb", "mar", "abr", "mayo", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
    ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
    ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"],
    ["gen", "febr", "març", "abr", "maig", "juny", "jul", "ag", "set", "oct", "nov", "des"],
    ["jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
    ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
    ["jan", "feb", "mars", "apr", "maj", "juni", "juli", "aug", "sept", "okt", "nov", "dec"],
    ["jan", "feb", "mar", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "des"],
    [
        "tammi", "helmi", "maalis", "huhti", "touko", "kesä", "heinä", "elo", "syys", "loka",
        "marras", "joulu",
    ],
    ["sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"],
    ["led", "úno", "bře", "dub", "kvě", "čer", "čvc", "srp", "zář", "říj", "lis", "pro"],
    ["jan", "feb", "mar", "apr", "máj", "jún", "júl", "aug", "sep", "okt", "nov", "dec"],
    ["sij", "velj", "ožu", "tra", "svi", "lip", "srp", "kol", "ruj", "lis", "stu", "pro"],
    ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "avg", "sep", "okt", "nov", "dec"],
    ["jan", "febr", "márc", "ápr", "máj", "jún", "júl", "aug", "szept", "okt", "nov", "dec"],
    ["ian", "feb", "mar", "apr", "mai", "iun", "iul", "aug", "sep", "oct", "nov", "dec"],
    ["oca", "şub", "mar", "nis", "may", "haz", "tem", "ağu", "eyl", "eki", "kas", "ara"],
    ["oca", "sub", "mar", "nis", "may", "haz", "tem", "agu", "eyl", "eki", "kas", "ara"],
    ["jan", "feb", "mar", "apr", "mei", "jun", "jul", "agu", "sep", "okt", "nov", "des"],
    ["янв", "фев", "мар", "апр", "май", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"],
    ["янв", "фев", "мар", "апр", "мая", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"],
    ["січ", "лют", "бер", "кві", "тра", "чер", "лип", "сер", "вер", "жов", "лис", "гру"],
    ["яну", "фев", "мар", "апр", "май", "юни", "юли", "авг", "сеп", "окт", "ное", "дек"],
    ["ιαν", "φεβ", "μαρ", "απρ", "μαϊ", "ιουν", "ιουλ", "αυγ", "σεπ", "οκτ", "νοε", "δεκ"],
];

/// Seconds since 1970 of `11-Jan-18 09:30:36`, in the server's zone; `None` where a part is in
/// doubt.
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
    // A dot above is what is left of a Turkish capital.
    let name = text.to_lowercase().replace('\u{307}', "");
    let numbers =
        MONTHS.iter().filter_map(|names| (1..).zip(names).find(|(_, known)| **known == name));
    let mut numbers = numbers.map(|(number, _)| number);
    let first = numbers.next()?;
    // What two languages call two months (`lip`, `srp`, `lis`) is in doubt.
    numbers.all(|other| other == first).then_some(first)
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
        for (other, english) in [
            ("12-MARRAS-23", "12-Nov-23"),
            ("12-maalis-23", "12-Mar-23"),
            ("12-NİS-23", "12-Apr-23"),
            ("12-szept.-23", "12-Sep-23"),
            ("12-IUN-23", "12-Jun-23"),
        ] {
            let time = |date: &str| clock_s(&format!("{date} 17:00:31"));
            assert!(time(english).is_some());
            assert_eq!(time(other), time(english), "{other}");
        }
    }

    #[test]
    fn what_is_in_doubt_is_not_read() {
        for text in [
            "",
            "11-Foo-18 09:30",
            "11-January-18 09:30",
            "11-Lip-18 09:30",
            "11-SRP-18 09:30",
            "11-lis-18 09:30",
            "32-Jan-18 09:30",
            "11-Jan-18 25:00",
            "11-13-18 01:00",
            "30-Feb-18 01:00",
        ] {
            assert_eq!(clock_s(text), None, "{text}");
        }
    }
}
