//! How Oracle prints numbers: thousands marks, missing zeros, suffixes, E-notation, overflow.

use crate::columns;

/// Which mark separates the whole from its decimals; the other one groups thousands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Decimal {
    #[default]
    Point,
    Comma,
}

impl Decimal {
    const fn mark(self) -> u8 {
        match self {
            Self::Point => b'.',
            Self::Comma => b',',
        }
    }

    const fn group(self) -> u8 {
        match self {
            Self::Point => b',',
            Self::Comma => b'.',
        }
    }

    /// Distinguished from a value that is always printed with two decimals, as elapsed minutes are.
    pub(crate) fn of_two_decimals(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        match text.get(text.len().checked_sub(3)?)? {
            b'.' => Some(Self::Point),
            b',' => Some(Self::Comma),
            _ => None,
        }
    }
}

/// The letters behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suffix {
    None,
    /// Powers of 1000 or 1024, by the column: the exponent (K is 1, P is 5).
    Power(i32),
    /// A unit of time, in seconds: its power of ten.
    Time(i32),
}

/// A number as printed: its value without the suffix, and half a unit of its last digit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Printed {
    pub(crate) value: f64,
    pub(crate) rounding_width: f64,
    pub(crate) suffix: Suffix,
    /// Whether decimals were printed.
    pub(crate) decimals: bool,
}

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NumberCell {
    Blank,
    Number(Printed),
    Unreadable(&'static str),
}

const OVERFLOW: &str = "the column was too narrow";
pub(crate) const BESIDE: &str = "it is not under its heading: spaces were lost or added";
/// Why a table is not read.
pub(crate) const UNKNOWN_HEADINGS: &str = "its headings are ambiguous";
const AT_THE_EDGE: &str = "its line was cut or wrapped here, so digits may be missing";
/// A whole number in front of a decimal mark and nothing behind: the decimals and the suffix were
/// cut off.
pub(crate) const CUT: &str = "it is cut off at its decimal point";
const NO_NUMBER: &str = "not a number";
const GROUPS: &str = "misplaced thousands separators";
const LONGEST: usize = 64;

/// Reads one cell; everything that is not certainly one number is unreadable.
pub(crate) fn parse(text: &[u8], decimal: Decimal) -> NumberCell {
    let text = text.trim_ascii();
    if text.is_empty() || text.eq_ignore_ascii_case(b"n/a") || text == b"\xc2\xa0" {
        return NumberCell::Blank;
    }
    if text.contains(&b'#') {
        return NumberCell::Unreadable(match text {
            columns::MISPLACED => BESIDE,
            columns::EDGE => AT_THE_EDGE,
            _ => OVERFLOW,
        });
    }
    if text.len() > LONGEST {
        return NumberCell::Unreadable(NO_NUMBER);
    }
    match number(text, decimal) {
        Ok(printed) => NumberCell::Number(printed),
        Err(reason) => NumberCell::Unreadable(reason),
    }
}

fn number(text: &[u8], decimal: Decimal) -> Result<Printed, &'static str> {
    let length = text
        .iter()
        .position(|byte| {
            !matches!(byte, b'0'..=b'9' | b'.' | b',' | b'\'' | b'-' | b'+' | b'E' | b'e')
        })
        .unwrap_or(text.len());
    let (digits, letters) = text.split_at(length);
    let suffix = suffix(letters.trim_ascii())?;
    let (digits, power_of_ten) = exponent(digits)?;
    let (sign, digits) = match digits.strip_prefix(b"-") {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let mut parts = digits.splitn(2, |byte| *byte == decimal.mark());
    let whole = ungrouped(parts.next().unwrap_or_default(), decimal)?;
    let fraction = parts.next();
    let decimals = fraction.unwrap_or_default();
    if !decimals.iter().all(u8::is_ascii_digit) || (whole.is_empty() && decimals.is_empty()) {
        return Err(NO_NUMBER);
    }
    if fraction == Some(b"") && power_of_ten == 0 {
        return Err(CUT);
    }
    let decimals = std::str::from_utf8(decimals).map_err(|_| NO_NUMBER)?;
    let value = format!("{sign}0{whole}.{decimals}0e{power_of_ten}");
    let places = i32::try_from(decimals.len()).map_err(|_| NO_NUMBER)?;
    Ok(Printed {
        value: value.parse().map_err(|_| NO_NUMBER)?,
        rounding_width: 0.5 * 10_f64.powi(power_of_ten.saturating_sub(places)),
        suffix,
        decimals: fraction.is_some(),
    })
}

/// Splits `1.39E+09` into `1.39` and 9; three digits of exponent are the most that Oracle prints.
fn exponent(digits: &[u8]) -> Result<(&[u8], i32), &'static str> {
    let Some(at) = digits.iter().position(|byte| matches!(byte, b'E' | b'e')) else {
        return Ok((digits, 0));
    };
    let power = std::str::from_utf8(&digits[at + 1..]).map_err(|_| NO_NUMBER)?;
    if power.is_empty() || power.len() > 4 {
        return Err(NO_NUMBER);
    }
    Ok((&digits[..at], power.parse().map_err(|_| NO_NUMBER)?))
}

/// The digits of a whole number; groups must be of three digits each, or there is no group at all.
/// Switzerland groups by an apostrophe, whatever its decimal mark.
fn ungrouped(whole: &[u8], decimal: Decimal) -> Result<String, &'static str> {
    let mut digits = String::with_capacity(whole.len());
    let mark = if whole.contains(&b'\'') { b'\'' } else { decimal.group() };
    let mut groups = whole.split(|byte| *byte == mark).peekable();
    let first = groups.next().unwrap_or_default();
    if groups.peek().is_some() && !(1..=3).contains(&first.len()) {
        return Err(GROUPS);
    }
    for (index, group) in std::iter::once(first).chain(groups).enumerate() {
        if index > 0 && group.len() != 3 {
            return Err(GROUPS);
        }
        if !group.iter().all(u8::is_ascii_digit) {
            return Err(NO_NUMBER);
        }
        digits.extend(group.iter().map(|byte| char::from(*byte)));
    }
    Ok(digits)
}

fn suffix(letters: &[u8]) -> Result<Suffix, &'static str> {
    Ok(match letters {
        b"" => Suffix::None,
        b"K" => Suffix::Power(1),
        b"M" => Suffix::Power(2),
        b"G" => Suffix::Power(3),
        b"T" => Suffix::Power(4),
        b"P" => Suffix::Power(5),
        b"s" => Suffix::Time(0),
        b"ms" => Suffix::Time(-3),
        b"us" => Suffix::Time(-6),
        b"ns" => Suffix::Time(-9),
        _ => return Err("an unknown suffix"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        match parse(text.as_bytes(), Decimal::Point) {
            NumberCell::Number(printed) => printed.value,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn unreadable(text: &str, decimal: Decimal) -> bool {
        matches!(parse(text.as_bytes(), decimal), NumberCell::Unreadable(_))
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() <= right.abs() * 1e-12
    }

    #[test]
    fn the_forms_that_reports_print_are_read() {
        for (text, expected) in [
            (" 21,628,695 ", 21_628_695.0),
            (".6", 0.6),
            ("-1,461,238,099", -1_461_238_099.0),
            ("7.57336220E+09", 7_573_362_200.0),
            ("1.E+03", 1000.0),
            ("-68.61", -68.61),
            ("9.2233720368547758E+18", 9.223_372_036_854_776e18),
            ("21.0266264068075761734833928081251715619", 21.026_626_406_807_576),
        ] {
            assert!(near(value(text), expected), "{text}");
        }
    }

    #[test]
    fn a_suffix_is_kept_apart_from_its_number() {
        let of = |text: &str| match parse(text.as_bytes(), Decimal::Point) {
            NumberCell::Number(printed) => (printed.value, printed.suffix),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(of("2198.8K"), (2198.8, Suffix::Power(1)));
        assert_eq!(of("52.86 s"), (52.86, Suffix::Time(0)));
        assert_eq!(of("109.72us"), (109.72, Suffix::Time(-6)));
        assert_eq!(of("803.07ns"), (803.07, Suffix::Time(-9)));
        assert_eq!(of(".98ms"), (0.98, Suffix::Time(-3)));
    }

    #[test]
    fn a_decimal_comma_is_read_and_never_taken_for_a_thousands_mark() {
        let of = |text: &str| parse(text.as_bytes(), Decimal::Comma);
        let NumberCell::Number(printed) = of("1.234.567,8") else { panic!("unreadable") };
        assert!(near(printed.value, 1_234_567.8));
        assert!(unreadable("5,07", Decimal::Point));
        assert!(unreadable("5.07", Decimal::Comma));
        assert_eq!(Decimal::of_two_decimals(b"641,56"), Some(Decimal::Comma));
        assert_eq!(Decimal::of_two_decimals(b"641.56"), Some(Decimal::Point));
        assert_eq!(Decimal::of_two_decimals(b"6"), None);
    }

    #[test]
    fn an_apostrophe_groups_under_either_decimal_mark() {
        for (text, decimal) in [("1'234'567.5", Decimal::Point), ("1'234'567,5", Decimal::Comma)] {
            let NumberCell::Number(printed) = parse(text.as_bytes(), decimal) else {
                panic!("{text}")
            };
            assert!(near(printed.value, 1_234_567.5));
        }
        assert!(unreadable("1'23", Decimal::Point) && unreadable("1'234,567", Decimal::Point));
    }

    #[test]
    fn what_is_not_one_number_is_unreadable_and_blank_is_blank() {
        for text in [
            "####", "2817.", "12,34", "1234,567", "1,23,456", "5.1.2", "K", "1Q", "1-2", "E+5",
            "0.0(6)",
        ] {
            assert!(unreadable(text, Decimal::Point), "{text}");
        }
        for text in ["", "  ", "N/A", "\u{a0}"] {
            assert_eq!(parse(text.as_bytes(), Decimal::Point), NumberCell::Blank);
        }
    }

    #[test]
    fn rounding_is_half_a_unit_of_the_last_digit() {
        let NumberCell::Number(printed) = parse(b"7.1E+04", Decimal::Point) else {
            panic!("unreadable")
        };
        assert!(near(printed.rounding_width, 500.0));
    }
}
