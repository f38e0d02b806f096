//! Time stamps that a logger put before every line of the output of another program.

/// A line, and the time that stood before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampedLine<'a> {
    /// Date and clock up to the second, `2026-01-15 10:30:00`.
    pub stamp: &'a str,
    /// The line behind them.
    pub line: &'a str,
}

/// Length of `2026-01-15 10:30:00`.
const STAMP_BYTES: usize = 19;
/// Lines at least that begin with a stamp: one line may be a heading with its date.
const LINES_MIN: usize = 3;

impl<'a> StampedLine<'a> {
    /// The parts of `2026-01-15 10:30:00.123456<TAB>line`, with or without brackets.
    fn parse(line: &'a str) -> Option<Self> {
        let line = line.strip_prefix('[').unwrap_or(line);
        let (stamp, rest) = line.split_at_checked(STAMP_BYTES)?;
        let digits = |sign: char| sign.is_ascii_digit() || ".,+-:Z]".contains(sign);
        let rest = rest.trim_start_matches(digits);
        let (is_end, line) = match rest.strip_prefix(['\t', ' ']) {
            Some(line) => (true, line),
            None => (rest.is_empty(), rest),
        };
        (is_stamp(stamp) && is_end).then_some(Self { stamp, line })
    }
}

/// Whether a text is a date and a clock.
fn is_stamp(text: &str) -> bool {
    text.chars().zip("0000-00-00 00:00:00".chars()).all(|(sign, form)| match form {
        '0' => sign.is_ascii_digit(),
        ' ' => matches!(sign, ' ' | 'T'),
        mark => sign == mark,
    })
}

/// The lines of a text of which every one that is not blank begins with a time stamp; nothing of
/// other texts.
pub fn stamped_lines(text: &str) -> Option<Vec<StampedLine<'_>>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let lines: Option<Vec<StampedLine<'_>>> = lines.map(StampedLine::parse).collect();
    lines.filter(|lines| lines.len() >= LINES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_before_every_line_is_no_part_of_it() {
        let text = "2026-01-15 10:30:00.123456\tDevice r/s\n2026-01-15 10:30:00.2\tsda  1.0\n\n\
                    [2026-01-15T10:30:05]  sda 2\n2026-01-15 10:30:05+01:00\n";
        let found = stamped_lines(text).unwrap();
        let lines: Vec<&str> = found.iter().map(|line| line.line).collect();
        assert_eq!(lines, ["Device r/s", "sda  1.0", " sda 2", ""]);
        assert_eq!(
            (found[0].stamp, found[2].stamp),
            ("2026-01-15 10:30:00", "2026-01-15T10:30:05")
        );
    }

    #[test]
    fn other_texts_have_no_stamps() {
        let stamped = "2026-01-15 10:30:00 a\n".repeat(3);
        assert!(stamped_lines(&stamped).is_some());
        for text in ["", "a\n", &format!("{stamped}b\n"), &stamped.replace(" a", "a")] {
            assert_eq!(stamped_lines(text), None, "{text}");
        }
        // One line with its date is a heading.
        assert_eq!(stamped_lines("2026-01-15 10:30:00 a\n"), None);
    }
}
