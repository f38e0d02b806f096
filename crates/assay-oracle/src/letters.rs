//! Characters that stand for ASCII in a report: white space, dashes, apostrophes, and HTML
//! character references.

/// Appends a letter as reports print it: any white space is a blank, what has no width is nothing.
pub(crate) fn push(letter: char, into: &mut Vec<u8>) {
    match letter {
        // Word processors put these in place of what was typed.
        '\u{2019}' => into.push(b'\''),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => into.push(b'-'),
        '\u{2192}' => into.extend(b"->"),
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => {}
        '\u{85}' | '\u{2028}' | '\u{2029}' => into.push(b'\n'),
        blank if blank.is_whitespace() && !blank.is_ascii() => into.push(b' '),
        other => into.extend(other.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// The text with ASCII in place of all such letters; `None` where all of it is ASCII. A byte 0xA0
/// that belongs to no letter of UTF-8 is the protected blank of Latin-1 and Windows-1252.
pub(crate) fn plain(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.is_ascii() {
        return None;
    }
    let mut plain = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for part in chunk.valid().split_inclusive(|letter: char| !letter.is_ascii()) {
            let (ascii, last) = match part.chars().next_back() {
                Some(last) if !last.is_ascii() => {
                    (&part[..part.len() - last.len_utf8()], Some(last))
                }
                _ => (part, None),
            };
            plain.extend(ascii.as_bytes());
            if let Some(letter) = last {
                push(letter, &mut plain);
            }
        }
        plain.extend(chunk.invalid().iter().map(|byte| if *byte == 0xa0 { b' ' } else { *byte }));
    }
    Some(plain)
}

/// Resolves the reference behind an ampersand and gives what follows it; an ampersand that begins
/// none stays.
pub(crate) fn resolve<'a>(tail: &'a [u8], into: &mut Vec<u8>) -> &'a [u8] {
    let end = tail.iter().take(REFERENCE_BYTES_MAX).position(|byte| *byte == b';');
    let letter = end.and_then(|end| named(std::str::from_utf8(&tail[..end]).ok()?));
    if let (Some(letter), Some(end)) = (letter, end) {
        push(letter, into);
        return &tail[end + 1..];
    }
    // As SQL text has it.
    into.push(b'&');
    tail
}

/// The text with all references resolved.
pub(crate) fn resolved(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'&', rest) {
        plain.extend(&rest[..at]);
        rest = resolve(&rest[at + 1..], &mut plain);
    }
    plain.extend(rest);
    plain
}

/// The longest reference that is known, without its marks.
const REFERENCE_BYTES_MAX: usize = 12;

/// `#160`, `#xA0`, `nbsp`.
fn named(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        return known.map(|(_, letter)| *letter).or_else(|| latin(name));
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}

/// Names of letters that numbers, headings and notes are made of (HTML 5, named character
/// references).
const NAMES: &[(&str, char)] = &[
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("NonBreakingSpace", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("emsp13", ' '),
    ("emsp14", ' '),
    ("numsp", ' '),
    ("puncsp", ' '),
    ("thinsp", ' '),
    ("ThinSpace", ' '),
    ("hairsp", ' '),
    ("Tab", ' '),
    ("NewLine", '\n'),
    ("shy", '\u{ad}'),
    ("zwnj", '\u{200c}'),
    ("zwj", '\u{200d}'),
    ("comma", ','),
    ("period", '.'),
    ("colon", ':'),
    ("semi", ';'),
    ("excl", '!'),
    ("quest", '?'),
    ("num", '#'),
    ("percnt", '%'),
    ("dollar", '$'),
    ("ast", '*'),
    ("midast", '*'),
    ("plus", '+'),
    ("minus", '-'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("ndash", '-'),
    ("mdash", '-'),
    ("equals", '='),
    ("sol", '/'),
    ("bsol", '\\'),
    ("lpar", '('),
    ("rpar", ')'),
    ("lbrack", '['),
    ("lsqb", '['),
    ("rbrack", ']'),
    ("rsqb", ']'),
    ("lbrace", '{'),
    ("lcub", '{'),
    ("rbrace", '}'),
    ("rcub", '}'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("vert", '|'),
    ("verbar", '|'),
    ("commat", '@'),
    ("grave", '`'),
    ("Hat", '^'),
    ("rarr", '\u{2192}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("szlig", 'ß'),
    ("aelig", 'æ'),
    ("oslash", 'ø'),
    ("aring", 'å'),
];

/// A letter with an accent, as months and names have them: `eacute`, `Uuml`.
fn latin(name: &str) -> Option<char> {
    const ACCENTS: &[(&str, &str, &str)] = &[
        ("acute", "aeiouyAEIOUY", "áéíóúýÁÉÍÓÚÝ"),
        ("grave", "aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
        ("circ", "aeiouAEIOU", "âêîôûÂÊÎÔÛ"),
        ("uml", "aeiouAEIOU", "äëïöüÄËÏÖÜ"),
        ("tilde", "anoANO", "ãñõÃÑÕ"),
        ("cedil", "csCS", "çşÇŞ"),
        ("caron", "cszCSZ", "čšžČŠŽ"),
    ];
    ACCENTS.iter().find_map(|(accent, bare, letters)| {
        let letter = name.strip_suffix(accent).filter(|letter| letter.len() == 1)?;
        letters.chars().nth(bare.find(letter)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        String::from_utf8(resolved(text.as_bytes())).unwrap()
    }

    #[test]
    fn any_reference_is_its_letter_and_a_bare_mark_stays() {
        assert_eq!(read("1&#44;234&#x2E;5&#X2C;&comma;"), "1,234.5,,");
        assert_eq!(read("a&nbsp;&#160;&#xa0;&ensp;b&#8239;"), "a    b ");
        assert_eq!(read("d&eacute;c, &Uuml;&scaron;"), "déc, Üš");
        assert_eq!(
            read("a & b &c &unknown; &#xzz;&#99999999;"),
            "a & b &c &unknown; &#xzz;&#99999999;"
        );
    }

    #[test]
    fn white_space_of_any_script_is_a_blank_and_other_letters_stay() {
        let of = |bytes: &[u8]| String::from_utf8_lossy(&plain(bytes).unwrap()).into_owned();
        assert_eq!(of("a\u{a0}\u{2007}\u{3000}b\u{feff}c é".as_bytes()), "a   bc é");
        assert_eq!(of(b"a\xa0b \xe4"), "a b \u{fffd}");
        assert_eq!(of("1\u{2019}234 \u{2212}5 \u{2192} x".as_bytes()), "1'234 -5 -> x");
        assert_eq!(plain(b"plain"), None);
    }
}
