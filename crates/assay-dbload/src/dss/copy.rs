//! Rows in the binary form of `COPY`.
//!
//! Source: PostgreSQL documentation, "COPY", binary format; the form of a numeric is that of `numeric_recv`.

use assay_loads::dss::Taker;
use assay_model::number::count_of;

/// Days from 1 January 1970 to 1 January 2000, with which the server's days begin.
const DAYS_TO_2000: i32 = 10_957;
/// Digits of a numeric have so many values.
const DIGIT: u64 = 10_000;
/// Digits of base 10,000 that 64 bits may have.
const DIGITS_MAX: usize = 5;

/// Gathers rows, and gives them away when enough are there.
pub(super) struct Binary<'a> {
    columns: u16,
    bytes: Vec<u8>,
    rows: u64,
    enough: usize,
    /// Takes what was gathered with its number of rows; false when nobody wants more.
    give: &'a mut dyn FnMut(Vec<u8>, u64) -> bool,
}

impl<'a> Binary<'a> {
    /// Gathers rows of so many columns, so many bytes at a time.
    pub(super) fn new(
        columns: usize,
        enough: usize,
        give: &'a mut dyn FnMut(Vec<u8>, u64) -> bool,
    ) -> Self {
        let columns = u16::try_from(columns).unwrap_or(0);
        Self { columns, bytes: Vec::with_capacity(enough + 1024), rows: 0, enough, give }
    }

    /// Gives away what is left.
    pub(super) fn finish(mut self) {
        if self.rows > 0 {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) -> bool {
        let empty = Vec::with_capacity(self.enough + 1024);
        let bytes = std::mem::replace(&mut self.bytes, empty);
        (self.give)(bytes, std::mem::take(&mut self.rows))
    }

    #[inline]
    fn value<const N: usize>(&mut self, value: [u8; N]) {
        self.length(N);
        self.bytes.extend(value);
    }

    #[inline]
    fn length(&mut self, length: usize) {
        self.bytes.extend(u32::try_from(count_of(length)).unwrap_or(0).to_be_bytes());
    }

    #[inline]
    fn short(&mut self, value: u16) {
        self.bytes.extend(value.to_be_bytes());
    }
}

impl Taker for Binary<'_> {
    #[inline]
    fn begin(&mut self) {
        self.short(self.columns);
    }

    #[inline]
    fn key(&mut self, value: i64) {
        self.value(value.to_be_bytes());
    }

    #[inline]
    fn integer(&mut self, value: i32) {
        self.value(value.to_be_bytes());
    }

    fn money(&mut self, hundredths: i64) {
        const NEGATIVE: u16 = 0x4000;
        const BEHIND_THE_POINT: u16 = 2;
        let mut whole = hundredths.unsigned_abs() / 100;
        let (mut digits, mut count) = ([0_u16; DIGITS_MAX], 0);
        while whole > 0 {
            digits[count] = u16::try_from(whole % DIGIT).unwrap_or(0);
            whole /= DIGIT;
            count += 1;
        }
        // Of the digits in front of the point the first has the weight of their number without one.
        let weight = i16::try_from(count).unwrap_or(0) - 1;
        self.length(2 * (5 + count));
        self.short(u16::try_from(count + 1).unwrap_or(0));
        self.bytes.extend(weight.to_be_bytes());
        self.short(if hundredths < 0 { NEGATIVE } else { 0 });
        self.short(BEHIND_THE_POINT);
        for digit in digits[..count].iter().rev() {
            self.short(*digit);
        }
        self.short(u16::try_from(hundredths.unsigned_abs() % 100 * 100).unwrap_or(0));
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn date(&mut self, days: i32) {
        self.value((days - DAYS_TO_2000).to_be_bytes());
    }

    #[inline]
    fn end(&mut self) -> bool {
        self.rows += 1;
        self.bytes.len() < self.enough || self.hand_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(put: impl FnOnce(&mut Binary<'_>)) -> Vec<u8> {
        let mut given = Vec::new();
        let mut give = |bytes: Vec<u8>, rows| {
            assert_eq!(rows, 1);
            given.extend(bytes);
            true
        };
        let mut binary = Binary::new(1, 100, &mut give);
        binary.begin();
        put(&mut binary);
        binary.end();
        binary.finish();
        assert_eq!(given[..2], [0, 1]);
        given.split_off(2)
    }

    /// What a server reads, by the rules of its manual.
    fn read_numeric(bytes: &[u8]) -> (i64, u16) {
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!(u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize, bytes.len() - 4);
        let (digits, weight, sign) = (short(4), short(6).cast_signed(), short(8));
        let mut hundredths = 0_i64;
        for digit in 0..digits {
            let power = i32::from(weight) - i32::from(digit.cast_signed());
            let value = i64::from(short(12 + 2 * usize::from(digit)));
            hundredths += if power < 0 {
                value / 100
            } else {
                value * 100 * 10_000_i64.pow(power.unsigned_abs())
            };
        }
        (if sign == 0 { hundredths } else { -hundredths }, short(10))
    }

    #[test]
    fn numerics_keep_their_value() {
        for value in
            [0, 1, 99, 100, -1, -99_999, 123_456, 999_999, 1_000_000, 10_494_950, -999_999_999_999]
        {
            assert_eq!(read_numeric(&bytes(|to| to.money(value))), (value, 2), "{value}");
        }
    }

    #[test]
    fn other_values_have_their_lengths_in_front() {
        assert_eq!(bytes(|to| to.key(1)), [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bytes(|to| to.integer(-1)), [0, 0, 0, 4, 255, 255, 255, 255]);
        assert_eq!(bytes(|to| to.text("ab")), [0, 0, 0, 2, b'a', b'b']);
        // 1 January 1992.
        assert_eq!(bytes(|to| to.date(8035)), [0, 0, 0, 4, 255, 255, 244, 150]);
    }

    #[test]
    fn who_wants_no_more_ends_the_rows() {
        let mut give = |_: Vec<u8>, _: u64| false;
        let mut binary = Binary::new(1, 10, &mut give);
        binary.begin();
        assert!(binary.end());
        binary.begin();
        binary.text("enough");
        assert!(!binary.end());
    }
}
