//! The written form of a histogram: `HdrHistogram` V2, zlib-compressed, base64, as every tool of
//! that family reads it.
//!
//! Source: the V2 wire format of the `HdrHistogram` project: big-endian header, counts as zig-zag
//! LEB128 where a negative number is a run of empty buckets. Count, exact mean, minimum and maximum
//! stand next to the text, because the encoding itself does not carry them.

use super::{Histogram, Precision, ReportedQuantile};
use crate::error::{Error, Result};
use crate::number::index_of;
use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib_with_limit};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const PLAIN_COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
const HEADER_BYTES: usize = 40;
/// The largest plain form: one byte a bucket of the finest histogram would be 57 kB, ten bytes each
/// 570 kB.
const PLAIN_BYTES_MAX: usize = 1 << 20;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Level of compression: for counts level 6 takes a half more time and gains nothing.
const LEVEL: u8 = 2;
/// The value of every base64 digit: a long run has tens of millions of them.
const VALUES: [u8; 256] = values();
const NO_DIGIT: u8 = 64;

const fn values() -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0u8;
    while value < NO_DIGIT {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
}

/// The JSON form of a histogram.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Document {
    ios: u64,
    mean_ns: f64,
    min_ns: u64,
    max_ns: u64,
    hdr_v2: String,
    /// Quantiles that another program printed; the buckets hold them less exactly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    quantiles: Vec<ReportedQuantile>,
    /// Shares of the quantiles between which the buckets are interpolated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    known_shares: Option<Box<[f64]>>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (ios, mean_ns) = (self.ios, self.mean_ns());
        Document {
            ios,
            mean_ns,
            min_ns: self.min,
            max_ns: self.max,
            hdr_v2: self.to_text(),
            quantiles: self.reported().to_vec(),
            known_shares: self.known_shares.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let document = Document::deserialize(deserializer)?;
        let mut histogram = Self::from_text(&document.hdr_v2)
            .map_err(|error| de::Error::custom(error.message()))?;
        if histogram.ios != document.ios {
            return Err(de::Error::custom("the histogram's count does not match its values"));
        }
        if !histogram.restore(document.mean_ns, document.min_ns, document.max_ns) {
            return Err(de::Error::custom(
                "the mean, minimum or maximum of the histogram contradicts its counts",
            ));
        }
        histogram.known_shares = document.known_shares;
        if !histogram.report(&document.quantiles) {
            return Err(de::Error::custom("the quantiles of the histogram contradict its counts"));
        }
        Ok(histogram)
    }
}

impl Histogram {
    /// The base64 text of the compressed V2 form, beginning with `HISTFAAA`.
    pub fn to_text(&self) -> String {
        let body = compress_to_vec_zlib(&self.plain(), LEVEL);
        let mut bytes = COMPRESSED_COOKIE.to_be_bytes().to_vec();
        bytes.extend(length_field(body.len()));
        bytes.extend(body);
        to_base64(&bytes)
    }

    /// Reads the text form back; mean, minimum and maximum are those of the bucket middles.
    ///
    /// # Errors
    /// A usage error when the text is not a V2 histogram of two or three digits.
    pub fn from_text(text: &str) -> Result<Self> {
        let bytes = from_base64(text).ok_or_else(|| broken("it is not base64"))?;
        let (cookie, rest) = bytes.split_first_chunk().ok_or_else(|| broken("it is too short"))?;
        let body = rest.get(4..).ok_or_else(|| broken("it is too short"))?;
        if u32::from_be_bytes(*cookie) != COMPRESSED_COOKIE {
            return Err(broken("it is not a compressed V2 histogram"));
        }
        let plain = decompress_to_vec_zlib_with_limit(body, PLAIN_BYTES_MAX);
        Self::from_plain(&plain.map_err(|_| broken("its compressed part is damaged"))?)
    }

    pub(super) fn plain(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        let used = self.counts.iter().rposition(|ios| *ios > 0).map_or(0, |last| last + 1);
        let mut counts = self.counts[..used].iter().copied().peekable();
        while let Some(ios) = counts.next() {
            let mut empty = i64::from(ios == 0);
            while ios == 0 && counts.next_if_eq(&0).is_some() {
                empty += 1;
            }
            put_signed(
                &mut payload,
                if ios == 0 { -empty } else { i64::try_from(ios).unwrap_or(i64::MAX) },
            );
        }
        let mut bytes = PLAIN_COOKIE.to_be_bytes().to_vec();
        bytes.extend(length_field(payload.len()));
        bytes.extend(0u32.to_be_bytes());
        bytes.extend(self.precision.digits().to_be_bytes());
        bytes.extend(1u64.to_be_bytes());
        bytes.extend(self.max.max(2 << self.precision.bits()).to_be_bytes());
        bytes.extend(1f64.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    pub(super) fn from_plain(bytes: &[u8]) -> Result<Self> {
        let header = bytes.get(..HEADER_BYTES).ok_or_else(|| broken("its header is cut off"))?;
        let field = |at: usize| {
            header[at..at + 4].iter().fold(0u32, |value, byte| value << 8 | u32::from(*byte))
        };
        let precision = match (field(0), field(12)) {
            (PLAIN_COOKIE, 3) => Precision::Fine,
            (PLAIN_COOKIE, 2) => Precision::Coarse,
            _ => return Err(broken("its precision is not two or three digits")),
        };
        let mut histogram = Self::new(precision);
        histogram.fill(&bytes[HEADER_BYTES..])?;
        Ok(histogram)
    }

    fn fill(&mut self, mut payload: &[u8]) -> Result<()> {
        let buckets = (65 - u64::from(self.precision.bits())) << self.precision.bits();
        let mut index = 0u64;
        while !payload.is_empty() {
            let value = take_signed(&mut payload).ok_or_else(|| broken("a count is cut off"))?;
            let step = if value < 0 { value.unsigned_abs() } else { 1 };
            if step > buckets - index {
                return Err(broken("it has more buckets than its precision allows"));
            }
            if value > 0 {
                let room = u64::MAX - self.ios;
                if value.unsigned_abs() > room {
                    return Err(broken("the sum of its counts exceeds 64 bits"));
                }
                let (lowest, width) = super::bounds(index, self.precision.bits());
                self.record_many(lowest + (width - 1) / 2, value.unsigned_abs());
            }
            index += step;
        }
        Ok(())
    }
}

fn broken(why: &str) -> Error {
    Error::usage(
        format!("a histogram cannot be read: {why}"),
        "the document was changed or cut; use an unchanged copy",
    )
}

fn length_field(length: usize) -> [u8; 4] {
    u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes()
}

/// Zig-zag, then seven bits a byte, the ninth byte whole.
fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = value.cast_unsigned() << 1 ^ (value >> 63).cast_unsigned();
    for _ in 0..8 {
        let low = rest.to_le_bytes()[0];
        rest >>= 7;
        if rest == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
    bytes.push(rest.to_le_bytes()[0]);
}

fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for index in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = if index == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * index);
        if index == 8 || byte & 0x80 == 0 {
            break;
        }
    }
    Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

pub(super) fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let six = index_of(u64::from(word >> (18 - 6 * place) & 63));
            text.push(if place > chunk.len() { '=' } else { char::from(ALPHABET[six]) });
        }
    }
    text
}

pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim().trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        let mut word = 0u32;
        for digit in chunk {
            let six = VALUES[usize::from(*digit)];
            if six == NO_DIGIT {
                return None;
            }
            word = word << 6 | u32::from(six);
        }
        word <<= 6 * (4 - chunk.len());
        bytes.extend(&word.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}
