//! Answers to statements: an end with its counts, a refusal, or rows.
//!
//! Source: MariaDB documentation, "4 - Server Response Packets".

use super::cursor::{PacketCursor, damaged};
use super::packets::Packets;
use crate::failure::{Answer, Failure, refused};
use assay_model::failure::words;
pub use assay_model::row::Row;

/// Bit of the status: a further answer follows.
const MORE_RESULTS: u16 = 1 << 3;
/// Bit of the status: the rows are what a call gives out. Its end always follows them; the status
/// behind the rows of MySQL does not say so, the one before them does.
const GIVEN_OUT: u16 = 1 << 12;
/// None of our statements has as many columns.
const COLUMNS_MAX: u64 = 4096;
/// Packets of at least this number of bytes that begin with 0xfe are rows.
const END_BYTES_MAX: usize = 9;

/// The end of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ResultEnd {
    /// Rows that were changed or, for a change that found them as they should be, found.
    pub(super) touched: u64,
    /// The number that the server gave a row, or was asked to remember by `LAST_INSERT_ID`.
    pub(super) numbered: u64,
    /// Whether a further answer follows.
    pub(super) goes_on: bool,
    /// Whether the rows are what a call gives out.
    pub(super) is_given_out: bool,
}

/// How an answer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultHead {
    /// It has ended.
    End(ResultEnd),
    /// Rows of this number of columns follow.
    Columns(usize),
    /// The server wants the rows of a file.
    File,
}

/// The server's refusal: its number, its five letters and its words.
pub(super) fn refusal(body: &[u8]) -> Failure {
    let mut rest = PacketCursor(body.get(1..).unwrap_or_default());
    let number = rest.two().unwrap_or(0);
    let (state, message) = match rest.0.split_first() {
        Some((b'#', marked)) if marked.len() >= 5 => marked.split_at(5),
        _ => (&[][..], rest.0),
    };
    refused(number, &words(state), words(message))
}

/// Reads how an answer begins.
pub(super) fn head(body: &[u8]) -> Answer<ResultHead> {
    match body.first() {
        Some(0) => end(body).map(ResultHead::End),
        Some(0xff) => Err(refusal(body)),
        Some(0xfb) => Ok(ResultHead::File),
        _ => {
            let columns = PacketCursor(body).number()?;
            let known = (1..=COLUMNS_MAX).contains(&columns);
            let columns = usize::try_from(columns).ok().filter(|_| known);
            columns.map(ResultHead::Columns).ok_or_else(damaged)
        }
    }
}

/// The end of an answer without rows.
fn end(body: &[u8]) -> Answer<ResultEnd> {
    let mut rest = PacketCursor(body);
    rest.byte()?;
    let (touched, numbered) = (rest.number()?, rest.number()?);
    let goes_on = rest.two()? & MORE_RESULTS != 0;
    Ok(ResultEnd { touched, numbered, goes_on, is_given_out: false })
}

/// Whether a packet ends columns or rows; a refusal ends them, too.
#[inline]
pub(super) fn end_of_rows(body: &[u8]) -> Answer<Option<ResultEnd>> {
    match body.first() {
        Some(0xfe) if body.len() < END_BYTES_MAX => {
            let mut rest = PacketCursor(&body[1..]);
            rest.two()?;
            let status = rest.two()?;
            let (goes_on, is_given_out) = (status & MORE_RESULTS != 0, status & GIVEN_OUT != 0);
            Ok(Some(ResultEnd { goes_on, is_given_out, ..ResultEnd::default() }))
        }
        Some(0xff) => Err(refusal(body)),
        Some(_) => Ok(None),
        None => Err(damaged()),
    }
}

/// Reads the descriptions of columns; `each` is given the type of every one. Returns whether rows
/// of them are what a call gives out.
pub(super) fn columns(
    packets: &mut Packets,
    count: usize,
    mut each: impl FnMut(u8),
) -> Answer<bool> {
    for _ in 0..count {
        each(type_of(packets.next()?)?);
    }
    let ended = end_of_rows(packets.next()?)?;
    ended.map(|ended| ended.is_given_out).ok_or_else(damaged)
}

/// The type in a column's description: six texts stand before it.
fn type_of(body: &[u8]) -> Answer<u8> {
    let mut rest = PacketCursor(body);
    for _ in 0..6 {
        rest.counted()?;
    }
    // Length of the fixed part, characters, width.
    rest.take(1 + 2 + 4)?;
    rest.byte()
}

/// A row in text form.
pub(super) fn text_row(body: &[u8], columns: usize) -> Answer<Row> {
    let mut rest = PacketCursor(body);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let values = (0..columns).map(|_| Ok(rest.counted_or_null()?.map(text)));
    values.collect::<Answer<Vec<_>>>().map(Row)
}

/// All rows of all answers to statements in text form; the first refusal ends them.
pub(super) fn text_rows(packets: &mut Packets) -> Answer<(Vec<Row>, u64)> {
    let (mut rows, mut touched) = (Vec::new(), 0);
    loop {
        let ended = match head(packets.next()?)? {
            ResultHead::End(ended) => ended,
            ResultHead::File => {
                return Err(Failure::Protocol("a file that was not offered".to_owned()));
            }
            ResultHead::Columns(count) => {
                columns(packets, count, |_| ())?;
                loop {
                    let body = packets.next()?;
                    if let Some(ended) = end_of_rows(body)? {
                        break ended;
                    }
                    let row = text_row(body, count)?;
                    packets.charge(&row)?;
                    rows.push(row);
                }
            }
        };
        touched += ended.touched;
        if !ended.goes_on {
            return Ok((rows, touched));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Refusal;

    #[test]
    fn ends_and_refusals_are_taken_apart() {
        assert_eq!(
            head(&[0, 3, 7, 8, 0, 0, 0]).unwrap(),
            ResultHead::End(ResultEnd {
                touched: 3,
                numbered: 7,
                goes_on: true,
                is_given_out: false
            })
        );
        assert_eq!(head(&[7]).unwrap(), ResultHead::Columns(7));
        assert_eq!(head(b"\xfbname").unwrap(), ResultHead::File);
        assert!(head(&[]).is_err() && head(&[0]).is_err() && head(&[0xfc, 255, 255]).is_err());
        let failure = head(b"\xff\xbd\x04#40001Deadlock found").unwrap_err();
        assert_eq!(failure.to_string(), "Deadlock found (1213 40001)");
        assert_eq!(failure.meaning(), Some(Refusal::Deadlock));
        assert_eq!(refusal(b"\xff").to_string(), " (0)");
    }

    #[test]
    fn a_row_may_begin_with_the_letter_of_an_end() {
        assert_eq!(end_of_rows(&[0xfe, 0, 0, 2, 0]).unwrap(), Some(ResultEnd::default()));
        let long = [0xfe, 9, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(end_of_rows(&long).unwrap(), None);
        assert!(end_of_rows(&[]).is_err() && end_of_rows(b"\xff\x01\x02").is_err());
    }

    #[test]
    fn rows_of_text_hold_texts_and_nulls() {
        let row = text_row(b"\x0242\xfb\x00", 3).unwrap();
        assert_eq!(
            (row.count(0), row.0[1].as_deref(), row.0[2].as_deref()),
            (Some(42), None, Some(""))
        );
        assert!(text_row(b"\x09x", 1).is_err() && text_row(b"", 1).is_err());
    }
}
