//! Numbers as Vdbench reads them: sizes by powers of 1024, times in seconds, lists, ranges and
//! doubling.

use crate::reason::OptionReason;

/// No size is as large, bytes.
const BYTES_END: f64 = 9.2e18;
/// Values of a list at most.
const VALUES_MAX: usize = 1024;

/// Bytes, with `k`, `m`, `g` or `t`.
pub fn bytes(text: &str) -> Result<u64, OptionReason> {
    let text = text.trim().to_ascii_lowercase();
    let end = text.find(|sign: char| !(sign.is_ascii_digit() || sign == '.'));
    let end = end.unwrap_or(text.len());
    let power = match &text[end..] {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        _ => return Err(OptionReason::Value),
    };
    let unit = 1_u64 << (10 * power);
    // Java reads `1.5k`.
    if let Some((whole, part)) = text[..end].split_once('.') {
        let number: f64 = format!("{whole}.{part}").parse().map_err(|_| OptionReason::Value)?;
        let bytes = number * assay_model::number::real(unit);
        return match bytes {
            part if part.fract() > 0.0 => Err(OptionReason::Value),
            large if large >= BYTES_END => Err(OptionReason::Overflow),
            whole => Ok(assay_model::number::count(whole)),
        };
    }
    let number: u64 = text[..end]
        .parse()
        .map_err(|_| if end == 0 { OptionReason::Value } else { OptionReason::Overflow })?;
    number.checked_mul(unit).ok_or(OptionReason::Overflow)
}

/// Nanoseconds of a time in seconds, `m` minutes or `h` hours.
pub fn time_ns(text: &str) -> Result<u64, OptionReason> {
    let text = text.trim().to_ascii_lowercase();
    let (number, unit_s) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60),
        Some(number) if text.ends_with('h') => (number, 3600),
        Some(number) => (number, 1),
        None => (text.as_str(), 1),
    };
    let number: u64 = number.parse().map_err(|_| OptionReason::Value)?;
    number.checked_mul(unit_s * 1_000_000_000).ok_or(OptionReason::Overflow)
}

/// A number of any kind.
pub fn real(text: &str) -> Result<f64, OptionReason> {
    let number: f64 = text.trim().trim_end_matches('%').parse().map_err(|_| OptionReason::Value)?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(OptionReason::Value) }
}

/// A whole number.
pub fn count(text: &str) -> Result<u64, OptionReason> {
    text.trim().parse().map_err(|_| OptionReason::Value)
}

/// The parts of `(a,b,c)`, or the one value without parentheses.
pub fn parts(text: &str) -> Vec<&str> {
    let inner = text.strip_prefix('(').map_or(text, |rest| rest.strip_suffix(')').unwrap_or(rest));
    inner.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The values of `5`, `(1,2,4)`, `(1-64,d)` or `(10-100,10)`.
pub fn values(
    text: &str,
    one: fn(&str) -> Result<u64, OptionReason>,
) -> Result<Vec<u64>, OptionReason> {
    let parts = parts(text);
    let range = parts.first().and_then(|first| first.split_once('-'));
    let Some((from, to)) = range.filter(|_| parts.len() <= 2) else {
        if parts.len() > VALUES_MAX {
            return Err(OptionReason::TooLarge);
        }
        let values = parts.iter().map(|part| one(part)).collect::<Result<Vec<_>, _>>()?;
        return if values.is_empty() { Err(OptionReason::NoValue) } else { Ok(values) };
    };
    let (from, to) = (one(from)?, one(to)?);
    let step = parts.get(1).copied().unwrap_or("1");
    let doubles = step.eq_ignore_ascii_case("d");
    let step = if doubles { 0 } else { one(step)? };
    if from > to || (step == 0 && !doubles) || (doubles && from == 0) {
        return Err(OptionReason::Value);
    }
    let next = |value: &u64| if doubles { value.checked_mul(2) } else { value.checked_add(step) };
    let values = std::iter::successors(Some(from), next).take_while(|value| *value <= to);
    let values: Vec<u64> = values.take(VALUES_MAX + 1).collect();
    if values.len() > VALUES_MAX { Err(OptionReason::TooLarge) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_manual() {
        assert_eq!((bytes("4k"), bytes("1M"), bytes("2t")), (Ok(4096), Ok(1 << 20), Ok(2 << 40)));
        assert_eq!((bytes("1.5k"), bytes("0.5m")), (Ok(1536), Ok(1 << 19)));
        assert_eq!(bytes("99999999.5t"), Err(OptionReason::Overflow));
        for text in ["1.3", "1.x", "."] {
            assert_eq!(bytes(text), Err(OptionReason::Value), "{text}");
        }
        assert_eq!((time_ns("1h"), time_ns("90")), (Ok(3_600_000_000_000), Ok(90_000_000_000)));
        assert_eq!(values("(4k-32k,d)", bytes), Ok(vec![4096, 8192, 16384, 32768]));
        assert_eq!(values("(10-30,10)", count), Ok(vec![10, 20, 30]));
        assert_eq!(values("(1,5,3)", count), Ok(vec![1, 5, 3]));
        assert_eq!(values("24", count), Ok(vec![24]));
        assert_eq!(bytes("99999999t"), Err(OptionReason::Overflow));
        for text in ["", "(", "(5-1)", "(0-9,d)", "(1-9,0)", "x"] {
            assert!(values(text, count).is_err(), "{text}");
        }
        assert_eq!(values("(1-99999999)", count), Err(OptionReason::TooLarge));
    }
}
