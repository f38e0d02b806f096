//! The character encoding of a file: UTF-8 with or without a byte order mark, UTF-16, or one byte
//! per character.

/// The text of a file, as other programs write them; nothing where it holds bytes that no text has.
pub fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = match utf16(&bytes) {
        Some(text) => text,
        None => match String::from_utf8(bytes) {
            Ok(text) => text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned),
            // The code pages of Western languages agree with ISO 8859-1 in all letters.
            Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
        },
    };
    (!text.contains('\0')).then_some(text)
}

/// UTF-16 with its mark, or without it where every other byte is zero; nothing of other encodings.
pub fn utf16(bytes: &[u8]) -> Option<String> {
    let is_little = match bytes {
        [0xff, 0xfe, ..] => true,
        [0xfe, 0xff, ..] => false,
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => true,
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => false,
        _ => return None,
    };
    let unit = |pair: &[u8]| {
        let pair = [pair[0], pair[1]];
        if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    };
    let letters = char::decode_utf16(bytes.chunks_exact(2).map(unit));
    let known = letters.map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(known.filter(|letter| *letter != '\u{feff}').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_in_every_encoding() {
        let text = "{\"fio version\": \"fio-3.33\", \"é\": 1}\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let latin: Vec<u8> =
            text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [&[0xff, 0xfe], little.as_slice()].concat(),
            [&[0xfe, 0xff], big.as_slice()].concat(),
            little,
            latin,
        ] {
            assert_eq!(text_of(bytes).as_deref(), Some(text));
        }
    }

    #[test]
    fn bytes_of_no_text_are_none() {
        assert_eq!(text_of(vec![0; 4096]), None);
        assert_eq!(text_of(b"\x7fELF\x02\x01\x01\x00".to_vec()), None);
        assert_eq!(text_of(Vec::new()).as_deref(), Some(""));
    }
}
