//! How a file writes its letters and lines: UTF-16, other white space, line ends of a carriage
//! return alone, tabs.

use crate::letters;
use crate::markdown;
use assay_model::encoding;
use assay_model::number::index_of;
use memchr::{memchr, memchr_iter, memmem};
use std::borrow::Cow;

/// The first bytes of a file, which show its encoding.
const LOOK_BYTES: usize = 64 << 10;
/// Tab stops of terminals and of the programs that put tabs in place of blanks.
const TAB_STOP: usize = 8;

/// The bytes as reports are printed: blanks for all white space, lines that end with a line feed.
/// Of a page the references are left, because a letter that they stand for must not become a mark.
pub(crate) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let lines =
        [utf16, letters::plain, with_line_feeds].into_iter().fold(Cow::Borrowed(bytes), step);
    if is_page(&lines) {
        return lines;
    }
    if let Some(page) = markdown::page_of(&lines) {
        return Cow::Owned(page);
    }
    [without_references, without_tabs].into_iter().fold(lines, step)
}

/// The bytes after one step, which gives nothing where it changes nothing.
fn step(bytes: Cow<'_, [u8]>, change: fn(&[u8]) -> Option<Vec<u8>>) -> Cow<'_, [u8]> {
    change(&bytes).map_or(bytes, Cow::Owned)
}

fn is_page(bytes: &[u8]) -> bool {
    ["<table", "<TABLE", "<Table"].iter().any(|tag| memmem::find(bytes, tag.as_bytes()).is_some())
}

/// A text that was taken out of a page: its blanks or the arrows of its notes are references.
fn without_references(bytes: &[u8]) -> Option<Vec<u8>> {
    memchr(b'&', bytes)?;
    let signs = ["&nbsp;", "-&gt;", "&#160;", "&#xa0;", "&#xA0;", "&#32;", "&#45;&"];
    let is_quoted = signs.iter().any(|sign| memmem::find(bytes, sign.as_bytes()).is_some());
    is_quoted.then(|| letters::resolved(bytes))
}

fn utf16(bytes: &[u8]) -> Option<Vec<u8>> {
    encoding::utf16(bytes).map(String::into_bytes)
}

fn with_line_feeds(bytes: &[u8]) -> Option<Vec<u8>> {
    let look = &bytes[..bytes.len().min(LOOK_BYTES)];
    let only_returns = memchr(b'\n', look).is_none() && memchr_iter(b'\r', look).count() > 5;
    let ended = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
    only_returns.then(|| bytes.iter().map(ended).collect())
}

/// Blanks up to the next tab stop in place of each tab. The marks of a quotation came after the
/// tabs and take no column.
fn without_tabs(bytes: &[u8]) -> Option<Vec<u8>> {
    memchr(b'\t', bytes)?;
    let mut plain = Vec::with_capacity(bytes.len() + bytes.len() / 4);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let marks = quotation(line);
        plain.extend(&line[..marks]);
        expand(&line[marks..], &mut plain);
    }
    Some(plain)
}

/// Length of the marks of quotation before a line, with the blank behind them.
fn quotation(line: &[u8]) -> usize {
    let marks = line.iter().take_while(|byte| matches!(byte, b'>' | b'|')).count();
    marks + usize::from(marks > 0 && line.get(marks) == Some(&b' '))
}

fn expand(line: &[u8], plain: &mut Vec<u8>) {
    let mut column = 0;
    for byte in line {
        if *byte == b'\t' {
            let blanks = TAB_STOP - column % TAB_STOP;
            plain.extend(std::iter::repeat_n(b' ', blanks));
            column += blanks;
        } else {
            plain.push(*byte);
            // Only the first byte of a letter takes a column, and a page break takes none.
            column += index_of(u64::from(byte & 0xc0 != 0x80 && *byte != 0x0c));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_utf_16_become_bytes_and_other_files_stay() {
        let text = "STATSPACK report for\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let marked = [&[0xff, 0xfe], little.as_slice()].concat();
        for bytes in [&little, &big, &marked] {
            assert_eq!(plain(bytes), text.as_bytes());
        }
        assert!(matches!(plain(text.as_bytes()), Cow::Borrowed(_)));
        assert_eq!(plain(&[0xff, 0xfe, 0x41]), b"".as_slice());
    }

    #[test]
    fn carriage_returns_alone_end_lines() {
        assert_eq!(plain(b"a\rb\rc\rd\re\rf\rg\r"), b"a\nb\nc\nd\ne\nf\ng\n".as_slice());
        assert_eq!(plain(b"a\r\nb\r\n"), b"a\r\nb\r\n".as_slice());
    }

    #[test]
    fn tabs_become_the_blanks_that_they_stand_for() {
        assert_eq!(plain(b"a\tb\n---\t---\n"), b"a       b\n---     ---\n".as_slice());
        assert_eq!(plain(b"> \ta\n"), b">         a\n".as_slice());
        assert_eq!(plain(b"<table>\ta</table>\n"), b"<table>\ta</table>\n".as_slice());
    }

    #[test]
    fn references_are_resolved_in_a_text_that_was_a_page_and_left_in_a_page() {
        assert_eq!(plain(b"-&gt; a&nbsp;b\n"), b"-> a b\n".as_slice());
        assert_eq!(plain(b"a &lt; b &amp; c\n"), b"a &lt; b &amp; c\n".as_slice());
        assert_eq!(plain(b"<table>&nbsp;</table>"), b"<table>&nbsp;</table>".as_slice());
    }
}
