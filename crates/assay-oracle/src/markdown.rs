//! Reports that went through Markdown, as wikis and chats do: their tables of `|` become those of a
//! page again, on the same lines.

use memchr::{memchr_iter, memmem};
use std::borrow::Cow;
use std::fmt::Write;

/// Lines below headings that make a text one of Markdown.
const TABLES_MIN: usize = 3;
/// The heading of a report of a whole cluster: Markdown joins no columns, as its tables need.
const CLUSTER: &[u8] = b"WORKLOAD REPOSITORY REPORT (RAC)";
/// What pages say of the tables before their first heading.
const FIRST_PAGE: &str = "This table displays database instance information";

/// The report as a page; nothing where it has no tables of Markdown, or is of a whole cluster.
pub(crate) fn page_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let separators = bytes.split(|byte| *byte == b'\n').filter(|line| is_separator(line));
    let is_markdown = separators.take(TABLES_MIN).count() == TABLES_MIN;
    if !is_markdown || memmem::find(bytes, CLUSTER).is_some() {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut page =
        MarkdownPage { html: String::with_capacity(2 * text.len()), ..Default::default() };
    let lines: Vec<&str> = text.lines().collect();
    for (place, line) in lines.iter().enumerate() {
        let next = lines.get(place + 1).copied().unwrap_or_default();
        page.line(line.trim(), is_separator(next.as_bytes()));
        page.html.push('\n');
    }
    page.end_table();
    Some(page.html.into_bytes())
}

/// `|---|:---:|`: the line below the heading of a table.
fn is_separator(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_mark = |byte: &u8| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t');
    // One mark alone is that of a quotation.
    let columns = memchr_iter(b'|', line).count();
    line.starts_with(b"|")
        && columns > 1
        && line.windows(3).any(|three| three == b"---")
        && line.iter().all(is_mark)
}

#[derive(Default)]
struct MarkdownPage {
    html: String,
    is_in_table: bool,
    /// Whether a heading below that of the report was met.
    has_heading: bool,
}

impl MarkdownPage {
    fn line(&mut self, line: &str, is_heading: bool) {
        if is_separator(line.as_bytes()) {
            return;
        }
        if line.starts_with('|') {
            if is_heading {
                self.end_table();
            }
            self.row(line, is_heading);
            return;
        }
        self.end_table();
        if let Some(heading) = line.strip_prefix('#') {
            let words = plain(heading.trim_matches(['#', ' ']));
            self.has_heading |= !words.contains("WORKLOAD REPOSITORY");
            _ = write!(self.html, "<h3>{words}</h3>");
        } else if !is_link(line) {
            self.html += &plain(line);
        }
    }

    fn row(&mut self, line: &str, is_heading: bool) {
        if !self.is_in_table {
            let summary = if self.has_heading { "" } else { FIRST_PAGE };
            _ = write!(self.html, "<table summary=\"{summary}\">");
            self.is_in_table = true;
        }
        let cell = if is_heading { "th" } else { "td" };
        let cells = cells(line).map(|text| format!("<{cell}>{}</{cell}>", plain(&text)));
        _ = write!(self.html, "<tr>{}</tr>", cells.collect::<String>());
    }

    fn end_table(&mut self) {
        if std::mem::take(&mut self.is_in_table) {
            self.html.push_str("</table>");
        }
    }
}

/// The cells of a row; a mark behind a backslash belongs to its cell.
fn cells(line: &str) -> impl Iterator<Item = String> {
    let inner = line.strip_prefix('|').unwrap_or(line).trim_end();
    let inner = inner.strip_suffix('|').unwrap_or(inner).replace("\\|", "\u{1}");
    let cells: Vec<String> = inner.split('|').map(|cell| cell.replace('\u{1}', "|")).collect();
    cells.into_iter()
}

/// `- [Wait Events](#wait)` leads to another part; it is not a title.
fn is_link(line: &str) -> bool {
    line.trim_start_matches(['-', '*', '+', ' ']).starts_with('[')
}

/// A text without emphasis, links and escapes, as a page has it.
fn plain(text: &str) -> String {
    let linked = text.trim().replace("**", "");
    let words = match linked.strip_prefix('[').and_then(|rest| rest.split_once("](")) {
        Some((words, _)) => Cow::Owned(words.to_owned()),
        None => Cow::Borrowed(linked.as_str()),
    };
    let mut plain = String::with_capacity(words.len());
    let mut letters = words.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        match letter {
            _ if is_escape => {}
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_marks_are_tables_of_a_page_on_the_same_lines() {
        let text = "# WORKLOAD REPOSITORY report for\n\n| DB Name | DB Id |\n|---|---:|\n| ORCL | 7 |\n\n\
                    ## Wait Events ##\n- [Top](#top)\n| **Event** | Waits |\n| :--- | --- |\n\
                    | log\\_file \\| sync | 1,000 |\n| Event | Time |\n|---|---|\n| a<b | 5 |\nnote";
        let page = String::from_utf8(page_of(text.as_bytes()).unwrap()).unwrap();
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines.len(), text.lines().count());
        assert_eq!(
            lines[2],
            format!("<table summary=\"{FIRST_PAGE}\"><tr><th>DB Name</th><th>DB Id</th></tr>")
        );
        assert_eq!((lines[4], lines[5]), ("<tr><td>ORCL</td><td>7</td></tr>", "</table>"));
        assert_eq!(lines[6], "<h3>Wait Events</h3>");
        assert_eq!(lines[8], "<table summary=\"\"><tr><th>Event</th><th>Waits</th></tr>");
        assert_eq!(lines[10], "<tr><td>log_file | sync</td><td>1,000</td></tr>");
        assert!(lines[11].starts_with("</table><table") && lines[13].contains("a&lt;b"));
        let cluster = text.replace("REPOSITORY report for", "REPOSITORY REPORT (RAC)");
        assert_eq!(page_of(cluster.as_bytes()), None);
        assert_eq!(page_of(b"| a |\n|---|\n| Event  Waits\n"), None);
    }
}
