//! Prepared statements: parsed once, then one packet out for each execution, its parameters and
//! rows in binary form.
//!
//! Source: MariaDB documentation, "3 - Binary Protocol (Prepared Statements)".

use super::cursor::{PacketCursor, damaged, put_number};
use super::packets::Packets;
use super::results::{ResultEnd, ResultHead, columns, end_of_rows, head};
use crate::failure::{Answer, Failure};
use std::ops::Range;

const EXECUTE: u8 = 0x17;
/// Types of parameters: none, an integer of eight bytes, a text.
const NULL: u8 = 6;
const LONG: u8 = 8;
const TEXT: u8 = 254;

/// A statement that the server has parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MariadbPrepared {
    pub(super) number: u32,
    pub(super) parameters: u16,
}

/// The parameters of one execution.
#[derive(Debug)]
pub struct MariadbValues<'a> {
    packet: &'a mut Vec<u8>,
    /// Where the bits of those begin that are null.
    nulls: usize,
    /// Where the first type stands, and the next.
    first: usize,
    at: usize,
    end: usize,
}

/// What the last execution gave; kept from execution to execution, so that memory is allocated
/// once. Of several answers with rows, as a call gives, the last one's rows: those are what its
/// parameters give out, where it has such.
#[derive(Clone, Debug, Default)]
pub struct MariadbAnswers {
    types: Vec<u8>,
    cells: Vec<u8>,
    rows: Vec<Range<usize>>,
    touched: u64,
    numbered: u64,
}

/// A row in binary form.
#[derive(Clone, Copy, Debug)]
pub struct MariadbFields<'a> {
    types: &'a [u8],
    body: &'a [u8],
}

impl MariadbPrepared {
    /// How many parameters it has.
    pub const fn parameters(&self) -> u16 {
        self.parameters
    }
}

impl MariadbValues<'_> {
    #[inline]
    fn kind(&mut self, kind: u8) {
        // More values than parameters are the caller's mistake, which the server refuses.
        if self.at < self.end {
            self.packet[self.at] = kind;
            self.at += 2;
        }
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, value: i64) -> &mut Self {
        self.kind(LONG);
        self.packet.extend(value.to_le_bytes());
        self
    }

    /// Nothing: what a call gives out needs a place only.
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        let place = (self.at - self.first) / 2;
        if self.at < self.end {
            self.packet[self.nulls + place / 8] |= 1 << (place % 8);
        }
        self.kind(NULL);
        self
    }

    /// A text, or a number with a point as text.
    #[inline]
    pub fn text(&mut self, value: &[u8]) -> &mut Self {
        self.kind(TEXT);
        put_number(self.packet, assay_model::number::count_of(value.len()));
        self.packet.extend(value);
        self
    }
}

/// Puts the body of an execution behind what is there.
#[inline]
pub(super) fn put_execution(
    packet: &mut Vec<u8>,
    statement: MariadbPrepared,
    fill: impl FnOnce(&mut MariadbValues<'_>),
) {
    packet.push(EXECUTE);
    packet.extend(statement.number.to_le_bytes());
    // No cursor, one iteration.
    packet.extend([0, 1, 0, 0, 0]);
    let parameters = usize::from(statement.parameters);
    if parameters == 0 {
        return;
    }
    // No parameter is null until it is said so; types follow.
    let nulls = packet.len();
    packet.resize(nulls + parameters.div_ceil(8), 0);
    packet.push(1);
    let first = packet.len();
    let end = first + 2 * parameters;
    packet.resize(end, 0);
    fill(&mut MariadbValues { packet, nulls, first, at: first, end });
}

impl MariadbAnswers {
    pub(super) fn receive(&mut self, packets: &mut Packets) -> Answer<()> {
        self.forget_rows();
        (self.touched, self.numbered) = (0, 0);
        loop {
            let ended = match head(packets.next()?)? {
                ResultHead::End(ended) => ended,
                ResultHead::File => {
                    return Err(Failure::Protocol("a file that was not offered".to_owned()));
                }
                ResultHead::Columns(count) => {
                    self.forget_rows();
                    let is_given_out = columns(packets, count, |kind| self.types.push(kind))?;
                    let ended = self.take_rows(packets)?;
                    ResultEnd { goes_on: ended.goes_on || is_given_out, ..ended }
                }
            };
            self.touched += ended.touched;
            self.numbered = self.numbered.max(ended.numbered);
            if !ended.goes_on {
                return Ok(());
            }
        }
    }

    fn forget_rows(&mut self) {
        self.types.clear();
        self.cells.clear();
        self.rows.clear();
    }

    #[inline]
    fn take_rows(&mut self, packets: &mut Packets) -> Answer<ResultEnd> {
        loop {
            let body = packets.next()?;
            if let Some(ended) = end_of_rows(body)? {
                return Ok(ended);
            }
            let start = self.cells.len();
            self.cells.extend(body);
            self.rows.push(start..self.cells.len());
        }
    }

    /// The rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = MariadbFields<'_>> {
        let fields = |place: &Range<usize>| MariadbFields {
            types: &self.types,
            body: &self.cells[place.clone()],
        };
        self.rows.iter().map(fields)
    }

    /// The first row.
    pub fn row(&self) -> Option<MariadbFields<'_>> {
        self.rows().next()
    }

    /// Rows that were changed, or found as they should be.
    pub const fn touched(&self) -> u64 {
        self.touched
    }

    /// The number that the server gave a row, or was asked to remember by `LAST_INSERT_ID`; 0 where
    /// there is none.
    pub const fn numbered(&self) -> u64 {
        self.numbered
    }

    /// The first column of the first row where it is a whole number, else rows touched.
    pub fn count(&self) -> u64 {
        let first = self.row().and_then(|row| row.integer(0));
        first.map_or(self.touched, |first| u64::try_from(first).unwrap_or(0))
    }
}

impl<'a> MariadbFields<'a> {
    /// The type and bytes of a column; `None` for null, and where the row is damaged.
    fn cell(self, column: usize) -> Option<(u8, &'a [u8])> {
        let mut rest = PacketCursor(self.body);
        rest.byte().ok()?;
        let nulls = rest.take((self.types.len() + 2).div_ceil(8)).ok()?;
        // Two bits of the map are not used.
        let is_null = |column: usize| {
            let bit = column + 2;
            nulls.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
        };
        for (place, kind) in self.types.iter().enumerate() {
            let value = if is_null(place) { None } else { Some(value(&mut rest, *kind).ok()?) };
            if place == column {
                return value.map(|value| (*kind, value));
            }
        }
        None
    }

    /// The bytes of a text or of a number with a point.
    pub fn bytes(self, column: usize) -> Option<&'a [u8]> {
        self.cell(column).map(|(_, bytes)| bytes)
    }

    /// A text; empty for null.
    pub fn text(self, column: usize) -> &'a str {
        self.bytes(column).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }

    /// A whole number.
    pub fn integer(self, column: usize) -> Option<i64> {
        let (kind, bytes) = self.cell(column)?;
        match (kind, bytes.len()) {
            (1, 1) => bytes.first_chunk().map(|one| i64::from(i8::from_le_bytes(*one))),
            (2 | 13, 2) => bytes.first_chunk().map(|two| i64::from(i16::from_le_bytes(*two))),
            (3 | 9, 4) => bytes.first_chunk().map(|four| i64::from(i32::from_le_bytes(*four))),
            (8, 8) => bytes.first_chunk().map(|eight| i64::from_le_bytes(*eight)),
            // Sums of whole numbers come as numbers with a point.
            (0 | 246, _) => std::str::from_utf8(bytes).ok()?.split('.').next()?.parse().ok(),
            _ => None,
        }
    }
}

/// The bytes of a value, whose type determines how long it is.
fn value<'a>(rest: &mut PacketCursor<'a>, kind: u8) -> Answer<&'a [u8]> {
    match kind {
        1 => rest.take(1),
        2 | 13 => rest.take(2),
        3 | 4 | 9 => rest.take(4),
        5 | 8 => rest.take(8),
        6 => Ok(&[]),
        // Times have a length of their own.
        7 | 10 | 11 | 12 => {
            let bytes = usize::from(rest.byte()?);
            rest.take(bytes)
        }
        0 | 14..=16 | 245..=255 => rest.counted(),
        _ => Err(damaged()),
    }
}

/// Reads every cell of a row as everything that it may be.
#[cfg(test)]
pub(super) fn try_all_cells(types: &[u8], body: &[u8]) {
    let row = MariadbFields { types, body };
    for column in 0..=types.len() {
        let (bytes, integer) = (row.bytes(column), row.integer(column));
        assert!(integer.is_none() || bytes.is_some());
        assert!(row.text(column).len() <= body.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_the_packet_behind_their_types() {
        let mut packet = vec![0; 4];
        put_execution(&mut packet, MariadbPrepared { number: 7, parameters: 2 }, |values| {
            values.integer(-2).text(b"ab");
        });
        assert_eq!(packet[4..14], [EXECUTE, 7, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(packet[14..20], [0, 1, LONG, 0, TEXT, 0]);
        assert_eq!(packet[20..28], (-2_i64).to_le_bytes());
        assert_eq!(packet[28..], [2, b'a', b'b']);
        super::super::packets::new_packet(&mut packet);
        put_execution(&mut packet, MariadbPrepared { number: 7, parameters: 0 }, |_| ());
        assert_eq!(packet.len(), 14);
        super::super::packets::new_packet(&mut packet);
        put_execution(&mut packet, MariadbPrepared { number: 7, parameters: 1 }, |values| {
            values.integer(1).integer(2);
        });
        assert_eq!(packet[16..18], [LONG, 0]);
    }

    #[test]
    fn what_a_call_gives_out_is_null_on_its_way_there() {
        let mut packet = vec![0; 4];
        put_execution(&mut packet, MariadbPrepared { number: 7, parameters: 9 }, |values| {
            values.integer(3).null();
            for _ in 0..6 {
                values.integer(1);
            }
            values.null().null();
        });
        assert_eq!(packet[14..17], [0b0000_0010, 0b0000_0001, 1]);
        assert_eq!(packet[17..21], [LONG, 0, NULL, 0]);
        // Seven integers and no byte for the others, nor for one too many.
        assert_eq!(packet.len(), 17 + 2 * 9 + 7 * 8);
    }

    #[test]
    fn cells_are_found_by_type_and_null() {
        let types = [8, 253, 3, 12, 246, 1];
        // The second column is null: bit 3.
        let mut body = vec![0, 0b0000_1000];
        body.extend(7_i64.to_le_bytes());
        body.extend((-9_i32).to_le_bytes());
        body.extend([4, 0xe8, 7, 1, 2]);
        body.extend(b"\x0612.340");
        body.push(0xff);
        let row = MariadbFields { types: &types, body: &body };
        assert_eq!((row.integer(0), row.integer(1), row.integer(2)), (Some(7), None, Some(-9)));
        assert_eq!((row.text(1), row.text(4), row.integer(4)), ("", "12.340", Some(12)));
        assert_eq!((row.integer(5), row.integer(6)), (Some(-1), None));
        for end in 0..body.len() {
            let cut = MariadbFields { types: &types, body: &body[..end] };
            assert_eq!(cut.integer(5), None);
        }
        let unknown = MariadbFields { types: &[99], body: &[0, 0, 1] };
        assert_eq!(unknown.bytes(0), None);
    }
}
