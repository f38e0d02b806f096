//! What mail clients, editors, browsers and converters do to the layout of a report.

/// One kind of change, and the copy that it makes of a text.
pub struct Mutation {
    pub name: &'static str,
    pub of: fn(&[u8]) -> Vec<u8>,
}

const fn mutation(name: &'static str, of: fn(&[u8]) -> Vec<u8>) -> Mutation {
    Mutation { name, of }
}

/// Those of text reports.
pub const TEXT: &[Mutation] = &[
    mutation("blanks are U+00A0", |text| with_blanks(text, "\u{a0}".as_bytes())),
    mutation("blanks are the byte A0", |text| with_blanks(text, b"\xa0")),
    mutation("blanks are U+2007", |text| with_blanks(text, "\u{2007}".as_bytes())),
    mutation("blanks are U+3000", |text| with_blanks(text, "\u{3000}".as_bytes())),
    mutation("blanks are &nbsp;", |text| with_blanks(text, b"&nbsp;")),
    mutation("marks are references", |text| {
        replaced(&replaced(&replaced(text, b"&", b"&amp;"), b"<", b"&lt;"), b">", b"&gt;")
    }),
    mutation("arrows and dashes of a word processor", |text| {
        replaced(&replaced(text, b"->", "\u{2192}".as_bytes()), b"--", "\u{2013}".as_bytes())
    }),
    mutation("leading tabs of 8", |text| lines(text, |line| tabbed(line, 8, false))),
    mutation("tabs of 8 everywhere", |text| lines(text, |line| tabbed(line, 8, true))),
    mutation("leading tabs of 4", |text| lines(text, |line| tabbed(line, 4, false))),
    mutation("leading tabs of 2", |text| lines(text, |line| tabbed(line, 2, false))),
    mutation("quoted, with tabs", |text| {
        lines(text, |line| [b"> ".as_slice(), &tabbed(line, 8, false)].concat())
    }),
    mutation("no blank lines", |text| without_blank_lines(text, 1)),
    mutation("every second blank line lost", |text| without_blank_lines(text, 2)),
    mutation("every third blank line lost", |text| without_blank_lines(text, 3)),
    mutation("blank lines doubled", |text| {
        lines(text, |line| if line.is_empty() { b"\n".to_vec() } else { line.to_vec() })
    }),
    mutation("a blank line after each line", |text| lines(text, |line| [line, b"\n"].concat())),
    mutation("indentation lost", |text| lines(text, |line| line.trim_ascii_start().to_vec())),
    mutation("indentation of one blank lost", |text| {
        lines(text, |line| line.strip_prefix(b" ").unwrap_or(line).to_vec())
    }),
    mutation("runs of blanks are one", |text| lines(text, squeezed)),
    mutation("blanks at the ends of lines", |text| lines(text, |line| [line, b"   "].concat())),
    mutation("wrapped at words, 76", |text| lines(text, |line| wrapped(line, 76))),
    mutation("wrapped at words, 72", |text| lines(text, |line| wrapped(line, 72))),
    mutation("folded at 78", |text| lines(text, |line| folded(line, 78))),
    mutation("folded at 60", |text| lines(text, |line| folded(line, 60))),
    mutation("cut at 79", |text| lines(text, |line| line[..line.len().min(79)].to_vec())),
    mutation("cut at 76", |text| lines(text, |line| line[..line.len().min(76)].to_vec())),
    mutation("cut at 60", |text| lines(text, |line| line[..line.len().min(60)].to_vec())),
    mutation("line ends of CR CR LF", |text| lines(text, |line| [line, b"\r\r"].concat())),
];

/// Those of pages.
pub const PAGE: &[Mutation] = &[
    mutation("&#160; is U+00A0", |page| replaced(page, b"&#160;", "\u{a0}".as_bytes())),
    mutation("&#160; is the byte A0", |page| replaced(page, b"&#160;", b"\xa0")),
    mutation("&#160; is &#xA0;", |page| replaced(page, b"&#160;", b"&#xA0;")),
    mutation("&#160; is &nbsp;", |page| replaced(page, b"&#160;", b"&nbsp;")),
    mutation("&#160; is &emsp;&#8203;", |page| replaced(page, b"&#160;", b"&emsp;&#8203;")),
    mutation("commas are &#44;", |page| {
        in_text(page, |byte| (byte == b',').then(|| "&#44;".into()))
    }),
    mutation("points and colons are named", |page| {
        in_text(page, |byte| match byte {
            b'.' => Some("&period;".into()),
            b':' => Some("&colon;".into()),
            b'%' => Some("&percnt;".into()),
            b'(' => Some("&lpar;".into()),
            _ => None,
        })
    }),
    mutation("digits are hexadecimal references", |page| {
        in_text(page, |byte| byte.is_ascii_digit().then(|| format!("&#x{byte:X};")))
    }),
    mutation("blanks of the text are U+00A0", |page| {
        in_text(page, |byte| (byte == b' ').then(|| "\u{a0}".into()))
    }),
    mutation("tags in capitals", in_capitals),
    mutation("on one line", |page| replaced(&replaced(page, b"\r", b""), b"\n", b" ")),
    mutation("a line for each tag", |page| replaced(page, b"><", b">\n  <")),
    mutation("blank lines doubled", |page| replaced(page, b"\n", b"\n\n")),
    mutation("tabs before tags", |page| replaced(page, b"<t", b"\t<t")),
];

fn lines(text: &[u8], change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut copy = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        copy.extend(change(bare));
        copy.push(b'\n');
    }
    copy
}

fn replaced(text: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, what) {
        copy.extend([&rest[..at], by].concat());
        rest = &rest[at + what.len()..];
    }
    copy.extend(rest);
    copy
}

fn with_blanks(text: &[u8], blank: &[u8]) -> Vec<u8> {
    replaced(text, b" ", blank)
}

fn without_blank_lines(text: &[u8], nth: usize) -> Vec<u8> {
    let mut seen = 0;
    let mut copy = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let is_blank = line.trim_ascii().is_empty();
        seen += usize::from(is_blank);
        if !is_blank || !seen.is_multiple_of(nth) {
            copy.extend(line);
        }
    }
    copy
}

/// Tabs in place of blanks up to each stop, in front of the line or everywhere.
fn tabbed(line: &[u8], stop: usize, everywhere: bool) -> Vec<u8> {
    let mut copy = Vec::with_capacity(line.len());
    for (number, part) in line.chunks(stop).enumerate() {
        let until = (number * stop).min(line.len());
        let leads = line[..until].iter().all(|byte| *byte == b' ');
        let kept = part.trim_ascii_end();
        if part.len() == stop && kept.len() + 1 < stop && (everywhere || (leads && kept.is_empty()))
        {
            copy.extend(kept);
            copy.push(b'\t');
        } else {
            copy.extend(part);
        }
    }
    copy
}

fn squeezed(line: &[u8]) -> Vec<u8> {
    let words: Vec<&[u8]> =
        line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    words.join(&b' ')
}

fn wrapped(line: &[u8], width: usize) -> Vec<u8> {
    let mut copy = Vec::with_capacity(line.len() + 2);
    let mut rest = line;
    while rest.len() > width {
        let Some(at) = rest[..=width].iter().rposition(|byte| *byte == b' ').filter(|at| *at > 0)
        else {
            break;
        };
        copy.extend([rest[..at].trim_ascii_end(), b"\n"].concat());
        rest = rest[at..].trim_ascii_start();
    }
    copy.extend(rest);
    copy
}

fn folded(line: &[u8], width: usize) -> Vec<u8> {
    line.chunks(width).collect::<Vec<_>>().join(&b'\n')
}

/// Changes bytes of the text between tags, outside of references, scripts and styles.
fn in_text(page: &[u8], change: impl Fn(u8) -> Option<String>) -> Vec<u8> {
    let mut copy = Vec::with_capacity(page.len() * 2);
    let (mut in_tag, mut in_reference) = (false, false);
    let start = memchr::memmem::find(page, b"<body").unwrap_or(0);
    copy.extend(&page[..start]);
    for byte in &page[start..] {
        in_tag = *byte == b'<' || (in_tag && *byte != b'>');
        in_reference = *byte == b'&' || (in_reference && *byte != b';' && *byte != b' ');
        match change(*byte).filter(|_| !in_tag && !in_reference) {
            Some(other) => copy.extend(other.as_bytes()),
            None => copy.push(*byte),
        }
    }
    copy
}

fn in_capitals(page: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(page.len());
    let mut in_name = false;
    for byte in page {
        copy.push(if in_name { byte.to_ascii_uppercase() } else { *byte });
        in_name = *byte == b'<' || (in_name && (byte.is_ascii_alphanumeric() || *byte == b'/'));
    }
    copy
}
