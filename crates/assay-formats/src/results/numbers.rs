//! Numbers in files of other programs: finite and not negative, or unknown.

use super::amount::possible;

/// The number that a text is; `inf`, `nan`, negative and impossibly large ones are none.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().and_then(possible)
}

/// A whole number.
pub(super) fn whole(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The number that follows the first appearance of a label.
pub(super) fn after(text: &str, label: &str) -> Option<f64> {
    let (_, rest) = text.split_once(label)?;
    leading(rest.trim_start())
}

/// The number that a text begins with: `16.36 ms` and `16.36ms` alike.
pub(super) fn leading(text: &str) -> Option<f64> {
    let end = text.find(|sign: char| !(sign.is_ascii_digit() || sign == '.'));
    number(&text[..end.unwrap_or(text.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_numbers_that_are_not_negative_are_numbers() {
        for text in ["inf", "nan", "NaN", "-5", "1e308", "", "12,5", "n/a", "-"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!((number(" 12.5 "), number("0")), (Some(12.5), Some(0.0)));
        assert_eq!(after("MIN: 2.269ms AVG: 9.236ms", "AVG:"), Some(9.236));
        assert_eq!(leading("16.36 ms"), Some(16.36));
        assert_eq!(leading("ms"), None);
    }
}
