//! Numbers as fio reads them: units of bytes and of time, shares, hexadecimal, and arithmetic in
//! parentheses.

use crate::reason::OptionReason;

/// Parentheses in one another at most.
const DEPTH_MAX: u32 = 32;

/// A size, or a share of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FioSize {
    /// Bytes.
    Bytes(u64),
    /// Share of the target, 0..=1.
    Share(f64),
}

/// What letters behind a number mean.
#[derive(Clone, Copy)]
enum Suffixes {
    /// Bytes, with the base of `k`: 1024 or 1000.
    Bytes(u64),
    /// Nanoseconds, with those of a number without a unit.
    Time(u64),
}

/// A size such as `4k`, `10%`, `0x1000` or `(2*4k)`; `kilo` is fio's `kb_base`.
pub fn size(text: &str, kilo: u64) -> Result<FioSize, OptionReason> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent: f64 =
            percent.trim_end_matches('%').parse().map_err(|_| OptionReason::Value)?;
        let is_share = (0.0..=100.0).contains(&percent);
        return if is_share {
            Ok(FioSize::Share(percent / 100.0))
        } else {
            Err(OptionReason::Value)
        };
    }
    whole(text, Suffixes::Bytes(kilo)).map(FioSize::Bytes)
}

/// A size that is not a share.
pub fn bytes(text: &str, kilo: u64) -> Result<u64, OptionReason> {
    match size(text, kilo)? {
        FioSize::Bytes(bytes) => Ok(bytes),
        FioSize::Share(_) => Err(OptionReason::Value),
    }
}

/// A time in nanoseconds; `unit_ns` is that of a number without a unit.
pub fn time_ns(text: &str, unit_ns: u64) -> Result<u64, OptionReason> {
    whole(text, Suffixes::Time(unit_ns))
}

/// A count.
pub fn count(text: &str) -> Result<u64, OptionReason> {
    whole(text, Suffixes::Bytes(1024))
}

/// A number with a fraction.
pub fn real(text: &str) -> Result<f64, OptionReason> {
    let number: f64 = text.trim_end_matches('%').parse().map_err(|_| OptionReason::Value)?;
    if number.is_finite() { Ok(number) } else { Err(OptionReason::Overflow) }
}

fn whole(text: &str, suffixes: Suffixes) -> Result<u64, OptionReason> {
    let text = text.trim();
    if text.is_empty() {
        return Err(OptionReason::NoValue);
    }
    let value = if text.starts_with('(') {
        let mut sum = NumberSum { rest: text, suffixes, depth: 0 };
        let value = sum.sum()?;
        if !sum.rest.trim().is_empty() {
            return Err(OptionReason::Value);
        }
        value
    } else {
        let (value, rest) = literal(text, suffixes)?;
        if !rest.is_empty() {
            return Err(OptionReason::Value);
        }
        value
    };
    u64::try_from(value)
        .map_err(|_| if value < 0 { OptionReason::Value } else { OptionReason::Overflow })
}

/// A number with its unit at the beginning of a text, and the rest.
fn literal(text: &str, suffixes: Suffixes) -> Result<(i128, &str), OptionReason> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (text, 10),
    };
    let end = digits.find(|sign: char| !sign.is_digit(radix)).unwrap_or(digits.len());
    if end == 0 {
        return Err(OptionReason::Value);
    }
    let number = i128::from_str_radix(&digits[..end], radix).map_err(|_| OptionReason::Overflow)?;
    let rest = &digits[end..];
    if rest.starts_with('.') {
        return Err(OptionReason::Fraction);
    }
    let end = rest.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(rest.len());
    if matches!(suffixes, Suffixes::Bytes(_)) && ["z", "Z"].contains(&&rest[..end]) {
        return Err(OptionReason::ZonedDevice);
    }
    let factor = suffixes.factor(&rest[..end].to_ascii_lowercase())?;
    let value = number.checked_mul(i128::from(factor)).ok_or(OptionReason::Overflow)?;
    // Beyond this no product of the parser could overflow unseen.
    if value > i128::from(u64::MAX) {
        Err(OptionReason::Overflow)
    } else {
        Ok((value, &rest[end..]))
    }
}

impl Suffixes {
    fn factor(self, suffix: &str) -> Result<u64, OptionReason> {
        match self {
            Self::Bytes(kilo) => byte_factor(suffix, kilo),
            Self::Time(unit_ns) => match suffix {
                "" => Ok(unit_ns),
                "d" => Ok(86_400_000_000_000),
                "h" => Ok(3_600_000_000_000),
                "m" => Ok(60_000_000_000),
                "s" | "sec" => Ok(1_000_000_000),
                "ms" | "msec" => Ok(1_000_000),
                "us" | "usec" => Ok(1000),
                "ns" | "nsec" => Ok(1),
                _ => Err(OptionReason::Value),
            },
        }
    }
}

/// fio's `kb_base` turns both kinds of prefix around: at 1024, `k` is 1024 and `KiB` is 1000 (its
/// manual, "Units").
fn byte_factor(suffix: &str, kilo: u64) -> Result<u64, OptionReason> {
    let letters: Vec<char> = suffix.chars().collect();
    let base = match letters.as_slice() {
        [] | ['b'] => return Ok(1),
        [_] | [_, 'b' | 'i'] => kilo,
        [_, 'i', 'b'] if kilo == 1000 => 1024,
        [_, 'i', 'b'] => 1000,
        _ => return Err(OptionReason::Value),
    };
    let power = "kmgtp".find(letters[0]).ok_or(OptionReason::Value)?;
    let power = u32::try_from(power).map_err(|_| OptionReason::Value)?;
    base.checked_pow(power + 1).ok_or(OptionReason::Overflow)
}

/// Sums, products and parentheses, as the grammar of fio has them.
struct NumberSum<'a> {
    rest: &'a str,
    suffixes: Suffixes,
    depth: u32,
}

impl NumberSum<'_> {
    fn sum(&mut self) -> Result<i128, OptionReason> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.product()?;
            let result =
                if sign == '+' { value.checked_add(next) } else { value.checked_sub(next) };
            value = result.ok_or(OptionReason::Overflow)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i128, OptionReason> {
        let mut value = self.single()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let next = self.single()?;
            let result = match sign {
                '*' => value.checked_mul(next),
                _ if next == 0 => return Err(OptionReason::Value),
                '/' => value.checked_div(next),
                _ => value.checked_rem(next),
            };
            value = result.ok_or(OptionReason::Overflow)?;
        }
        Ok(value)
    }

    fn single(&mut self) -> Result<i128, OptionReason> {
        if self.take(&['(']).is_none() {
            let (value, rest) = literal(self.rest.trim_start(), self.suffixes)?;
            self.rest = rest;
            return Ok(value);
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(OptionReason::Value);
        }
        let value = self.sum()?;
        self.depth -= 1;
        self.take(&[')']).map(|_| value).ok_or(OptionReason::Value)
    }

    /// The next sign, where it is one of these.
    fn take(&mut self, signs: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let sign = rest.chars().next().filter(|sign| signs.contains(sign))?;
        self.rest = &rest[sign.len_utf8()..];
        Some(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_fio_prints() {
        for (text, kilo, expected) in [
            ("4k", 1024, 4096),
            ("1kb", 1024, 1024),
            ("1KiB", 1024, 1000),
            ("4Ki", 1024, 4096),
            ("4k", 1000, 4000),
            ("4KiB", 1000, 4096),
            ("10G", 1024, 10 << 30),
            ("0x10000", 1024, 65536),
            ("512", 1024, 512),
            ("(2*4k+(1k-512)/2)", 1024, 8448),
        ] {
            assert_eq!(bytes(text, kilo), Ok(expected), "{text}");
        }
        assert_eq!(size("100%%", 1024), Ok(FioSize::Share(1.0)));
        assert_eq!(size("25%", 1024), Ok(FioSize::Share(0.25)));
    }

    #[test]
    fn times_have_the_unit_of_their_option() {
        assert_eq!(time_ns("30", 1_000_000_000), Ok(30_000_000_000));
        assert_eq!(time_ns("5", 1000), Ok(5000));
        assert_eq!(time_ns("2m", 1), Ok(120_000_000_000));
        assert_eq!(time_ns("900s", 1), Ok(900_000_000_000));
    }

    #[test]
    fn what_is_no_number_or_too_large_is_refused() {
        assert_eq!(bytes("1.5G", 1024), Err(OptionReason::Fraction));
        assert_eq!(bytes("8z", 1024), Err(OptionReason::ZonedDevice));
        for text in ["<TBD>", "64q", "4kk", "", "-1", "(1", "(1/0)", "(((((", "${x}"] {
            assert!(bytes(text, 1024).is_err(), "{text}");
        }
        for text in ["99999999999999999999", "20000000p", "(9000p*9000p)", "0xffffffffffffffffff"] {
            assert_eq!(bytes(text, 1024), Err(OptionReason::Overflow), "{text}");
        }
        let deep = "(".repeat(100_000) + "1";
        assert_eq!(bytes(&deep, 1024), Err(OptionReason::Value));
    }
}
