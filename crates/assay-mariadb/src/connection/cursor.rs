//! Reads the parts of a packet one after the other; what is not there is a damaged packet and never
//! a panic.
//!
//! Source: MariaDB documentation, "Protocol Data Types"; MySQL internals, "Basic Data Types".

use crate::failure::{Answer, Failure};

/// Stands before a text that is null, and before a request for a local file.
pub(super) const NULL: u8 = 0xfb;

/// What is left of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacketCursor<'a>(pub(super) &'a [u8]);

impl<'a> PacketCursor<'a> {
    /// The next `bytes` bytes.
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> Answer<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    /// An array of bytes.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Answer<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(*taken)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Answer<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn two(&mut self) -> Answer<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn four(&mut self) -> Answer<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A whole number whose first byte gives its length.
    #[inline]
    pub(super) fn number(&mut self) -> Answer<u64> {
        match self.byte()? {
            short @ 0..=0xfa => Ok(u64::from(short)),
            0xfc => self.two().map(u64::from),
            0xfd => {
                let [low, middle, high] = self.array()?;
                Ok(u64::from(u32::from_le_bytes([low, middle, high, 0])))
            }
            0xfe => self.array().map(u64::from_le_bytes),
            _ => Err(damaged()),
        }
    }

    /// Bytes with their length before them.
    #[inline]
    pub(super) fn counted(&mut self) -> Answer<&'a [u8]> {
        let bytes = usize::try_from(self.number()?).map_err(|_| damaged())?;
        self.take(bytes)
    }

    /// The same, or null.
    #[inline]
    pub(super) fn counted_or_null(&mut self) -> Answer<Option<&'a [u8]>> {
        if self.0.first() == Some(&NULL) {
            self.byte()?;
            return Ok(None);
        }
        self.counted().map(Some)
    }

    /// A text up to its zero; all that is left where there is none.
    pub(super) fn zero_ended(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = self.0.get(text.len() + 1..).unwrap_or_default();
        text
    }
}

/// A packet that is not what its kind should be.
pub(super) fn damaged() -> Failure {
    Failure::Protocol("a damaged packet".to_owned())
}

/// A length before bytes.
pub(super) fn put_number(to: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    match number {
        0..=0xfa => to.push(bytes[0]),
        0xfb..=0xffff => {
            to.push(0xfc);
            to.extend(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            to.push(0xfd);
            to.extend(&bytes[..3]);
        }
        _ => {
            to.push(0xfe);
            to.extend(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_survive() {
        for number in [0, 250, 251, 65_535, 65_536, 0xff_ffff, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut cursor = PacketCursor(&bytes);
            assert_eq!(cursor.number().unwrap(), number);
            assert!(cursor.0.is_empty());
            assert!(PacketCursor(&bytes[..bytes.len() - 1]).number().is_err());
        }
        assert!(PacketCursor(&[0xff]).number().is_err());
    }

    #[test]
    fn texts_end_where_they_say() {
        let mut cursor = PacketCursor(b"ab\0\x02cd\xfbx");
        assert_eq!(cursor.zero_ended(), b"ab");
        assert_eq!(cursor.counted_or_null().unwrap(), Some(b"cd".as_slice()));
        assert_eq!(cursor.counted_or_null().unwrap(), None);
        assert_eq!(cursor.zero_ended(), b"x");
        assert!(cursor.byte().is_err() && PacketCursor(&[9, 1]).counted().is_err());
    }
}
