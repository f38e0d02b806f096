//! How a file writes its letters and lines: UTF-16, line ends of a carriage return alone, tabs in place of blanks.

use assay_model::encoding::utf16;
use assay_model::number::index_of;
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

/// The first bytes of a file, which show its encoding.
const LOOK_BYTES: usize = 64 << 10;
/// Tab stops of terminals and of the programs that put tabs in place of blanks.
const TAB_STOP: usize = 8;

/// The bytes as reports are printed: one byte a letter of ASCII, lines that end with a line feed, blanks.
pub(crate) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let narrow = utf16(bytes).map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()));
    let look = &narrow[..narrow.len().min(LOOK_BYTES)];
    let only_returns = memchr(b'\n', look).is_none() && memchr_iter(b'\r', look).count() > 5;
    let lines = if only_returns { Cow::Owned(with_line_feeds(&narrow)) } else { narrow };
    if is_tabbed(&lines) { Cow::Owned(without_tabs(&lines)) } else { lines }
}

fn with_line_feeds(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect()
}

/// A pasted text whose rulers hold tabs between their dashes; pages keep theirs.
fn is_tabbed(bytes: &[u8]) -> bool {
    let look = &bytes[..bytes.len().min(LOOK_BYTES)];
    let mut rulers = look.split(|byte| *byte == b'\n');
    // A margin of tabs is the copy's, and each line has it.
    let is_ruler = |line: &[u8]| {
        line.trim_ascii().contains(&b'\t')
            && line.windows(3).any(|three| three == b"---")
            && line.iter().all(|byte| matches!(byte, b'-' | b'~' | b' ' | b'\t' | b'\r'))
    };
    rulers.any(is_ruler)
}

/// Blanks up to the next tab stop in place of each tab.
fn without_tabs(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len() + bytes.len() / 4);
    let mut column = 0;
    for byte in bytes {
        match byte {
            b'\t' => {
                let blanks = TAB_STOP - column % TAB_STOP;
                plain.extend(std::iter::repeat_n(b' ', blanks));
                column += blanks;
            }
            b'\n' => {
                plain.push(b'\n');
                column = 0;
            }
            // Only the first byte of a letter takes a column.
            byte => {
                plain.push(*byte);
                column += index_of(u64::from(byte & 0xc0 != 0x80));
            }
        }
    }
    plain
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
        assert_eq!(plain(b"<td>\ta</td>\n"), b"<td>\ta</td>\n".as_slice());
    }
}
