//! Rows in the binary form of COPY: a number of columns, then length and bytes of each.
//!
//! Source: PostgreSQL documentation, "COPY", section "Binary Format"; for numbers with a point
//! `numeric_send` of its source: base-10,000 digits, their weight, the sign and the digits behind
//! the point.

use super::chunks::Chunks;
use assay_loads::sink::RowSink;

/// Microseconds from 1970 to 2000, where the server's time begins.
const EPOCH_US: i64 = 946_684_800_000_000;
/// Days from 1970 to 2000.
const EPOCH_DAYS: i32 = 10_957;
/// Marks a negative number.
const NEGATIVE: u16 = 0x4000;
/// A digit of a number has this many values.
const BASE: u64 = 10_000;
/// Digits of 64 bits before the point, and one after it.
const DIGITS_MAX: usize = 6;
/// Count, weight, sign and scale, two bytes each.
const HEAD_BYTES: usize = 8;
/// A number at its longest, bytes.
const NUMERIC_BYTES_MAX: usize = HEAD_BYTES + 2 * DIGITS_MAX;

/// Encodes rows for COPY.
#[derive(Debug)]
pub struct CopyRows<'a>(pub(super) Chunks<'a>);

impl CopyRows<'_> {
    #[inline]
    fn fixed<const N: usize>(&mut self, value: [u8; N]) {
        self.length(N);
        self.0.bytes.extend(value);
    }

    #[inline]
    fn length(&mut self, length: usize) {
        self.0.bytes.extend(u32::try_from(length).unwrap_or(0).to_be_bytes());
    }
}

impl RowSink for CopyRows<'_> {
    #[inline]
    fn row(&mut self, columns: u16) {
        self.0.row();
        self.0.bytes.extend(columns.to_be_bytes());
    }

    #[inline]
    fn integer(&mut self, value: u32) {
        self.fixed(value.to_be_bytes());
    }

    #[inline]
    fn long(&mut self, value: i64) {
        self.fixed(value.to_be_bytes());
    }

    fn decimal(&mut self, value: i64, digits: u16) {
        let (bytes, length) = numeric(value, digits);
        self.length(length);
        self.0.bytes.extend_from_slice(&bytes[..length]);
    }

    #[inline]
    fn text(&mut self, value: &[u8]) {
        self.length(value.len());
        self.0.bytes.extend_from_slice(value);
    }

    fn flag(&mut self, value: bool) {
        self.fixed([u8::from(value)]);
    }

    fn time(&mut self, unix_us: i64) {
        self.fixed((unix_us - EPOCH_US).to_be_bytes());
    }

    #[inline]
    fn date(&mut self, unix_days: i32) {
        self.fixed((unix_days - EPOCH_DAYS).to_be_bytes());
    }

    fn null(&mut self) {
        self.0.bytes.extend(u32::MAX.to_be_bytes());
    }

    fn is_full(&self) -> bool {
        self.0.is_over()
    }

    fn finish(&mut self) {
        self.0.send();
    }
}

/// A number as the server sends it, and its length in bytes: digits without zeros at either end.
/// Two or four digits after the point are one base-10,000 digit.
fn numeric(value: i64, scale: u16) -> ([u8; NUMERIC_BYTES_MAX], usize) {
    let (unit, fill) = if scale == 2 { (100, 100) } else { (BASE, 1) };
    let magnitude = value.unsigned_abs();
    let (mut whole, part) = (magnitude / unit, magnitude % unit * fill);
    // The digits, the least significant first: that after the point, then those before it.
    let (mut digits, mut count) = ([part, 0, 0, 0, 0, 0], 1);
    while whole > 0 {
        digits[count] = whole % BASE;
        whole /= BASE;
        count += 1;
    }
    let zeros = digits[..count].iter().take_while(|digit| **digit == 0).count();
    let first = digits[..count].iter().rposition(|digit| *digit != 0);
    // The digit after the point has the weight -1.
    let weight = first.map_or(0, |first| i16::try_from(first).unwrap_or(0) - 1);
    let used = first.map_or(0, |first| first + 1 - zeros);
    let mut bytes = [0; NUMERIC_BYTES_MAX];
    let sign = if value < 0 { NEGATIVE } else { 0 };
    let head = [u16::try_from(used).unwrap_or(0), weight.cast_unsigned(), sign, scale];
    let digits = digits[zeros..zeros + used].iter().rev();
    let fields = head.into_iter().chain(digits.map(|digit| u16::try_from(*digit).unwrap_or(0)));
    for (field, to) in fields.zip(bytes.chunks_exact_mut(2)) {
        to.copy_from_slice(&field.to_be_bytes());
    }
    (bytes, HEAD_BYTES + 2 * used)
}

#[cfg(test)]
mod tests {
    use super::super::chunks::Chunk;
    use super::*;

    /// Golden bytes: `SELECT encode(numeric_send(x), 'hex')` of version 15.
    #[test]
    fn numbers_have_the_form_that_the_server_sends() {
        let sent = |value, digits| {
            let (fields, length) = numeric(value, digits);
            let hex = fields[..length].iter().map(|byte| format!("{byte:02x}"));
            hex.collect::<Vec<_>>().concat()
        };
        assert_eq!(sent(1234, 4), "0001ffff0000000404d2");
        assert_eq!(sent(30_000_000, 2), "0001000100000002001e");
        assert_eq!(sent(-1000, 2), "0001000040000002000a");
        assert_eq!(sent(0, 2), "0000000000000002");
        assert_eq!(sent(100, 4), "0001ffff000000040064");
        assert_eq!(sent(123_456_789, 2), "0003000100000002007b11d722c4");
        assert_eq!(sent(5, 2), "0001ffff0000000201f4");
    }

    /// What a server reads, by the rules of its manual.
    fn read_numeric(bytes: &[u8]) -> (i128, u16) {
        let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let (digits, weight, sign) = (short(0), short(2).cast_signed(), short(4));
        assert_eq!(bytes.len(), HEAD_BYTES + 2 * usize::from(digits));
        let mut ten_thousandths = 0_i128;
        for digit in 0..digits {
            let power = i32::from(weight) + 1 - i32::from(digit.cast_signed());
            let value = i128::from(short(HEAD_BYTES + 2 * usize::from(digit)));
            ten_thousandths += value * 10_000_i128.pow(power.unsigned_abs());
        }
        (if sign == 0 { ten_thousandths } else { -ten_thousandths }, short(6))
    }

    #[test]
    fn numbers_keep_their_value() {
        let ends = [i64::MAX, i64::MIN, 999_999_999_999, -1, 0, 1, 99, 100, 101, 9_999, 10_000];
        let mixed = (0..63).map(|bit| (1_i64 << bit) - 7);
        for value in ends.into_iter().chain(mixed) {
            for (scale, unit) in [(2, 100), (4, 1)] {
                let (bytes, length) = numeric(value, scale);
                let expected = (i128::from(value) * unit, scale);
                assert_eq!(read_numeric(&bytes[..length]), expected, "{value} {scale}");
            }
        }
    }

    #[test]
    fn rows_are_lengths_and_bytes_and_chunks_hold_whole_ones() {
        let (to, chunks) = std::sync::mpsc::sync_channel(100);
        let mut rows = CopyRows(Chunks::new(&to));
        for _ in 0..50_000 {
            rows.row(3);
            rows.integer(1);
            rows.null();
            rows.time(EPOCH_US + 1);
        }
        rows.finish();
        drop(to);
        let all: Vec<Chunk> = chunks.iter().collect();
        assert_eq!(all.iter().map(|(_, rows)| rows).sum::<u64>(), 50_000);
        assert!(all.len() == 2 && all.iter().all(|(bytes, _)| bytes.len() % 26 == 0));
        assert_eq!(all[0].0[..10], [0, 3, 0, 0, 0, 4, 0, 0, 0, 1]);
        assert_eq!(all[0].0[10..14], [255; 4]);
    }

    #[test]
    fn values_have_their_lengths_before_them() {
        let (to, chunks) = std::sync::mpsc::sync_channel(1);
        let mut rows = CopyRows(Chunks::new(&to));
        rows.row(4);
        rows.long(1);
        rows.integer((-1_i32).cast_unsigned());
        rows.text(b"ab");
        // 1 January 1992.
        rows.date(8035);
        rows.finish();
        let (bytes, _) = chunks.recv().unwrap();
        assert_eq!(bytes[2..14], [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(bytes[14..22], [0, 0, 0, 4, 255, 255, 255, 255]);
        assert_eq!(bytes[22..28], [0, 0, 0, 2, b'a', b'b']);
        assert_eq!(bytes[28..], [0, 0, 0, 4, 255, 255, 244, 150]);
    }

    #[test]
    fn who_takes_no_more_ends_the_rows() {
        let (to, chunks) = std::sync::mpsc::sync_channel(1);
        drop(chunks);
        let mut rows = CopyRows(Chunks::new(&to));
        rows.row(1);
        assert!(!rows.is_full());
        rows.text(&vec![b'a'; 2 << 20]);
        rows.row(1);
        assert!(rows.is_full());
    }
}
