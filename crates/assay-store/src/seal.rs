//! The checksum that a line carries at its end.
//!
//! The sum is CRC-32 (IEEE 802.3), which notices every change within 32 bits in a row.

/// What ends a sealed line, around eight digits.
const BEFORE: &[u8] = b"\"crc32\":\"";
const AFTER: &[u8] = b"\"}";
const DIGITS: usize = 8;
const SEAL_BYTES: usize = BEFORE.len() + DIGITS + AFTER.len();
/// Bytes of a seal that may be wrong for it to be still a seal, and a broken one.
const STRAY_BYTES: usize = 2;

/// What the end of a line says of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineSeal {
    /// It has none, as lines of earlier versions.
    None,
    /// It is the line's.
    Whole,
    /// It is another's: the line or its seal was changed.
    Broken,
}

/// The checksum of bytes as eight hexadecimal digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Puts the checksum of a JSON object behind its last key; there is no line feed yet.
pub(crate) fn seal(line: &mut Vec<u8>) {
    line.pop();
    let sum = digits(line);
    if line.len() > 1 {
        line.push(b',');
    }
    line.extend_from_slice(BEFORE);
    line.extend_from_slice(sum.as_bytes());
    line.extend_from_slice(AFTER);
}

/// Takes the checksum off a line without its line feed, and says whether it is right.
pub(crate) fn unseal(line: &mut Vec<u8>) -> LineSeal {
    let Some(start) = line.len().checked_sub(SEAL_BYTES) else {
        return LineSeal::None;
    };
    let (head, tail) = line.split_at(start);
    let (sum, after) = tail[BEFORE.len()..].split_at(DIGITS);
    let pairs = tail.iter().zip(BEFORE).chain(after.iter().zip(AFTER));
    let strays = pairs.filter(|(found, wanted)| found != wanted).count();
    if strays > STRAY_BYTES {
        return LineSeal::None;
    }
    let head = head.strip_suffix(b",").unwrap_or(head);
    if strays > 0 || sum != digits(head).as_bytes() || (head.len() == start) != (head == b"{") {
        return LineSeal::Broken;
    }
    let kept = head.len();
    line.truncate(kept);
    line.push(b'}');
    LineSeal::Whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(text: &str) -> Vec<u8> {
        let mut line = text.as_bytes().to_vec();
        seal(&mut line);
        line
    }

    #[test]
    fn a_sealed_line_is_json_and_opens_to_what_was_sealed() {
        for text in ["{}", "{\"a\":1}", "{\"a\":\",\\\"crc32\\\":\"}"] {
            let mut line = sealed(text);
            let json: serde_json::Value = serde_json::from_slice(&line).unwrap();
            assert!(json["crc32"].is_string());
            assert_eq!(unseal(&mut line), LineSeal::Whole);
            assert_eq!(line, text.as_bytes());
        }
        // CRC-32 of "123456789" is the check value of its definition.
        assert_eq!(digits(b"123456789"), "cbf43926");
    }

    #[test]
    fn every_changed_bit_breaks_the_seal() {
        let line = sealed("{\"interval\":{\"ios\":120}}");
        for place in 0..line.len() {
            for bit in 0..8 {
                let mut changed = line.clone();
                changed[place] ^= 1 << bit;
                assert_eq!(unseal(&mut changed), LineSeal::Broken, "{place} {bit}");
            }
        }
    }

    #[test]
    fn lines_of_earlier_versions_have_no_seal() {
        for text in ["", "{}", "{\"interval\":{\"operations\":{\"read\":\"12345678\"}}}"] {
            let mut line = text.as_bytes().to_vec();
            assert_eq!((unseal(&mut line), line.as_slice()), (LineSeal::None, text.as_bytes()));
        }
    }
}
