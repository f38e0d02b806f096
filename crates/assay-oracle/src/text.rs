//! Text reports: titles, rulers and rows become tables; notes, page breaks and SQL text are passed
//! by.

use crate::columns::{self, ColumnLayout, runs};
use crate::lines::{CopyShape, ReportLine, ReportLines};
use crate::section::{OracleSection, folded, until_gap, words_of_title};
use crate::split::ReportPart;
use crate::table::{OracleTable, ROWS_MAX, ReportRow, TableFault};
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// Reads a text report from its first line on and hands each table over as soon as it is complete.
pub(crate) fn read<'a>(part: &ReportPart<'a>, sink: &mut dyn FnMut(&OracleTable<'a>)) {
    let lines = ReportLines::new(part.bytes, part.line, part.margin);
    let shape = CopyShape::of(lines.clone());
    let mut lines = lines.of_shape(shape).peekable();
    let mut reader = ReportTextReader::new(sink, shape.edge);
    reader.is_excerpt = part.is_excerpt;
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        reader.feed(line, next);
    }
    reader.close();
    reader.emit_identity();
}

struct ReportTextReader<'a, 's> {
    sink: &'s mut dyn FnMut(&OracleTable<'a>),
    table: Option<OracleTable<'a>>,
    /// Lines that may turn out to be headings.
    above: Vec<Cow<'a, [u8]>>,
    columns: Vec<Range<usize>>,
    /// Columns of the line with the name, where name and numbers take two lines.
    name_columns: Vec<Range<usize>>,
    name: Option<Vec<Cow<'a, [u8]>>>,
    /// Database and instance as all titles of this report name them.
    identity: Option<&'a [u8]>,
    /// Whether SQL text goes by, which can imitate anything.
    in_sql: bool,
    /// Lines under a ruler of the header, which another ruler can turn into headings.
    under: Vec<Cow<'a, [u8]>>,
    /// Where lines were cut.
    edge: Option<usize>,
    /// Whether the line before belongs to the notes above a table.
    in_note: bool,
    /// Whether titles may stand alone, as in quotations.
    is_excerpt: bool,
}

/// A title, and what of its line is already heading.
struct Title<'a> {
    words: &'a [u8],
    underlined: bool,
}

impl<'a, 's> ReportTextReader<'a, 's> {
    fn new(sink: &'s mut dyn FnMut(&OracleTable<'a>), edge: Option<usize>) -> Self {
        let mut reader = Self {
            sink,
            table: None,
            above: Vec::new(),
            columns: Vec::new(),
            name_columns: Vec::new(),
            name: None,
            identity: None,
            in_sql: false,
            under: Vec::new(),
            edge,
            in_note: false,
            is_excerpt: false,
        };
        reader.open(Some(OracleSection::Header), b"");
        reader
    }

    fn feed(&mut self, line: ReportLine<'a>, next: ReportLine<'a>) {
        if let Some(title) = self.title(line, next) {
            self.enter(&title, line);
            return;
        }
        let Some(section) = self.table.as_ref().map(|table| table.section) else {
            return;
        };
        self.in_note = self.is_note(line.bytes);
        if line.is_blank() {
            self.blank(section);
        } else if self.in_note {
            // Its words are never headings.
        } else if section == OracleSection::Header && is_snapshot_line(line.bytes) {
            self.push(line.number, vec![Cow::Borrowed(line.bytes.trim_ascii())]);
        } else if !self.columns.is_empty() && is_end(line.bytes) {
            self.close();
        } else if let Some(columns) = ruler_of(line.bytes) {
            self.rule(section, columns, line);
        } else if self.awaits_ruler(section) {
            keep_last(&mut self.above, without_tildes(line.bytes));
        } else {
            self.row(section, line);
        }
    }

    /// A note begins with an arrow and goes on behind three blanks, until the table begins.
    fn is_note(&self, line: &[u8]) -> bool {
        let indent = line.len() - line.trim_ascii_start().len();
        let goes_on = self.in_note && self.columns.is_empty() && (1..=3).contains(&indent);
        let words = line[indent..].trim_ascii_end();
        // Headings stand apart.
        let is_prose = !words.is_empty() && memmem::find(words, b"  ").is_none();
        words.starts_with(b"->") || (goes_on && is_prose)
    }

    /// A title is named by its database and instance, or underlined with tildes.
    fn title(&mut self, line: ReportLine<'a>, next: ReportLine<'a>) -> Option<Title<'a>> {
        let starts = line.bytes.first().is_some_and(|byte| *byte != b' ');
        if let Some(at) = memmem::find(line.bytes, b"DB/Inst:").filter(|at| starts && *at > 0) {
            let rest = line.bytes[at + 8..].trim_ascii();
            let name = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
            return self.same(name).then(|| plain(&line.bytes[..at]));
        }
        if let Some(at) = memmem::find(line.bytes, b" for DB:").filter(|_| starts) {
            let rest = line.bytes[at + 8..].trim_ascii();
            let name = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
            let of_report = memmem::find(rest, b"Instance:").is_some();
            return (of_report && self.same(name)).then(|| plain(&line.bytes[..at]));
        }
        let underlined = next.bytes.starts_with(b"~~~") && !line.is_blank() && !self.in_sql;
        let in_header =
            self.table.as_ref().is_some_and(|table| table.section == OracleSection::Header);
        let is_heading = in_header && is_header_head(line.bytes);
        if underlined && !is_heading {
            Some(Title { words: until_gap(line.bytes), underlined: true })
        } else {
            self.lone_title(line)
        }
    }

    /// A title of a quotation, without what names the database and without tildes.
    fn lone_title(&self, line: ReportLine<'a>) -> Option<Title<'a>> {
        let words = words_of_title(line.bytes);
        let is_alone =
            self.is_excerpt && !words.is_empty() && words.len() == line.bytes.trim_ascii().len();
        (is_alone && OracleSection::of(words).is_some()).then(|| plain(words))
    }

    /// SQL text can hold a title; only one that names this report's database counts.
    fn same(&mut self, name: &'a [u8]) -> bool {
        let known = *self.identity.get_or_insert(name);
        known.starts_with(name) || name.starts_with(known)
    }

    /// Database and instance as the titles name them, for headers that leave them blank.
    fn emit_identity(&mut self) {
        if let Some(identity) = self.identity {
            let mut table = OracleTable::new(OracleSection::Header, b"");
            table.heads.push(crate::table::PAGE_TITLE.to_owned());
            table.rows.push(ReportRow { line: 0, cells: vec![Cow::Borrowed(identity)] });
            (self.sink)(&table);
        }
    }

    fn enter(&mut self, title: &Title<'a>, line: ReportLine<'a>) {
        let name = folded(title.words);
        self.in_sql =
            name.starts_with("sql ordered by") || name.starts_with("complete list of sql");
        self.open(OracleSection::of(title.words), title.words);
        if title.underlined {
            self.above.push(without(line.bytes, title.words.len()));
        }
    }

    fn open(&mut self, section: Option<OracleSection>, title: &[u8]) {
        self.close();
        self.table = section.map(|section| OracleTable::new(section, title));
    }

    fn close(&mut self) {
        self.note_emptiness();
        let has_content = |table: &OracleTable| !table.rows.is_empty() || !table.faults.is_empty();
        if let Some(table) = self.table.take().filter(has_content) {
            (self.sink)(&table);
        }
        self.above.clear();
        self.under.clear();
        self.columns.clear();
        self.name_columns.clear();
        self.name = None;
        self.in_note = false;
    }

    /// Where a title and headings stand, but no row was read, the rows are there in another form.
    fn note_emptiness(&mut self) {
        let is_seen = !self.columns.is_empty() || !self.above.is_empty();
        let no_data = |line: &Cow<'_, [u8]>| memmem::find(line, b"No data exists").is_some();
        let is_none = self.above.last().is_some_and(no_data);
        if let Some(table) = self.table.as_mut().filter(|_| is_seen && !is_none)
            && table.section != OracleSection::Header
            && table.rows.is_empty()
            && table.faults.is_empty()
        {
            table.faults.push(TableFault { line: 0, reason: "none of its rows could be read" });
        }
    }

    /// A blank line ends notes above the headings; in the header it ends a table.
    fn blank(&mut self, section: OracleSection) {
        if section == OracleSection::Header {
            self.open(Some(section), b"");
        } else if self.columns.is_empty() {
            self.above.clear();
        }
    }

    fn rule(
        &mut self,
        section: OracleSection,
        mut columns: Vec<Range<usize>>,
        line: ReportLine<'a>,
    ) {
        if is_labelled(section) {
            columns.retain(|column| line.bytes.get(column.start) != Some(&b'~'));
        }
        self.grouped(&columns);
        let end = columns.last().map_or(0, |column| column.end);
        if self.edge.is_some_and(|edge| end + GAP_MAX >= edge) {
            self.fault(line.number, CUT_OFF);
        }
        if section == OracleSection::Header {
            self.next_of_header();
        }
        let mut heads = self.heads(section, &columns, line.number);
        let Some(table) = self.table.as_mut() else {
            return;
        };
        if is_labelled(section) {
            heads.insert(0, String::new());
        }
        if self.columns.is_empty() {
            table.heads = heads;
        } else if table.rows.is_empty() && !has_halves(section) {
            self.columns.clear();
            return self.fault(line.number, "its ruler was wrapped: its columns are unknown");
        } else if table.rows.is_empty() {
            self.name_columns = std::mem::take(&mut self.columns);
            table.heads.extend(heads);
        }
        self.columns = columns;
    }

    /// Headings from the lines above; a line with words that stand over no column is none.
    fn heads(
        &mut self,
        section: OracleSection,
        columns: &[Range<usize>],
        line: u32,
    ) -> Vec<String> {
        let mut above = std::mem::take(&mut self.above);
        // Their headings are wider than their columns.
        let is_loose = matches!(section, OracleSection::Header | OracleSection::InstanceRates);
        // What stands above a line of dashes names all of the groups under it.
        let groups = above.iter().rposition(|line| columns::is_group_line(line)).unwrap_or(0);
        above.drain(..groups);
        let known = above.len();
        above.retain(|heading| is_loose || columns::is_over(columns, heading));
        // The load average is one heading over two columns.
        if above.len() < known && section != OracleSection::HostCpu {
            self.fault(line, "headings above this ruler match none of its columns");
        }
        columns::heads(columns, &above)
    }

    fn fault(&mut self, line: u32, reason: &'static str) {
        if let Some(table) = self.table.as_mut() {
            table.faults.push(TableFault { line, reason });
        }
    }

    /// A ruler of the header begins a table, whether or not a blank line ended the one before.
    fn next_of_header(&mut self) {
        let Some(heading) = self.under.pop().filter(|_| !self.columns.is_empty()) else {
            return;
        };
        if let Some(table) = self.table.as_mut() {
            table.rows.pop();
        }
        self.open(Some(OracleSection::Header), b"");
        self.above.push(heading);
    }

    /// A global report rules off groups of headings above the headings themselves: what stood under
    /// that ruler was not data, and each group's heading goes over all of its columns.
    fn grouped(&mut self, columns: &[Range<usize>]) {
        let Some(table) = self.table.as_mut().filter(|_| !self.columns.is_empty()) else {
            return;
        };
        // Rows that were read under the upper ruler are the headings; more of them are data.
        let are_headings = (1..=HEADING_LINES_MAX / 2).contains(&table.rows.len());
        if are_headings && columns::are_groups(&self.columns, columns) {
            let spread = columns::spread(&self.columns, &table.heads, columns);
            self.above = std::iter::once(Cow::Owned(spread)).chain(self.under.drain(..)).collect();
            table.heads.clear();
            table.rows.clear();
            self.columns.clear();
        }
    }

    fn row(&mut self, section: OracleSection, line: ReportLine<'a>) {
        keep_last(&mut self.under, Cow::Borrowed(line.bytes));
        if section == OracleSection::CacheSizes {
            let cells = line.bytes.split_gaps().map(Cow::Borrowed).collect();
            self.push(line.number, cells);
        } else if is_labelled(section) {
            self.labelled(line);
        } else if self.name_columns.is_empty() {
            self.whole(section, line);
        } else {
            self.half(section, line);
        }
    }

    /// A row on one line.
    fn whole(&mut self, section: OracleSection, line: ReportLine<'a>) {
        let layout = match section {
            OracleSection::Header => ColumnLayout::Free,
            OracleSection::SqlByIoTime | OracleSection::HostCpu => ColumnLayout::Numbers,
            _ => ColumnLayout::Named,
        };
        let cells = self.cells(line.bytes, layout);
        let is_id = |run: &Range<usize>| is_sql_id(&line.bytes[run.clone()]);
        if has_names(section) && columns::is_number(&cells[0]) {
            self.fault(line.number, "it has a number instead of a name: the line was wrapped");
        } else if section != OracleSection::SqlByIoTime
            || cells.last().is_some_and(|cell| is_sql_id(cell))
        {
            self.push(line.number, cells);
        } else if runs(line.bytes).last().is_some_and(is_id) {
            self.fault(line.number, crate::number::BESIDE);
        }
    }

    /// Rows follow a ruler; by tablespace and file the one of the names comes first, then headings
    /// and the ruler of the numbers. Cache sizes have none in Statspack 9i.
    fn awaits_ruler(&self, section: OracleSection) -> bool {
        match section {
            OracleSection::CacheSizes => false,
            OracleSection::Tablespaces | OracleSection::Files => self.name_columns.is_empty(),
            _ if has_halves(section) => {
                self.columns.is_empty() || (self.columns.len() <= 2 && self.name_columns.is_empty())
            }
            _ => self.columns.is_empty(),
        }
    }

    /// A row of a label with a colon and values.
    fn labelled(&mut self, line: ReportLine<'a>) {
        let Some(colon) = memchr::memrchr(b':', line.bytes) else {
            return;
        };
        // Labels stand to the right, so that lost blanks show.
        let gap = self.columns.first().map_or(1, |first| first.start.wrapping_sub(colon));
        if !(1..=LABEL_GAP_MAX).contains(&gap) {
            // Two percentages with labels of their own stand under the block.
            if !line.bytes.contains(&b'%') {
                self.fault(line.number, "its label extends into the numbers");
            }
            return;
        }
        let label = std::iter::once(0..colon + 1);
        let columns: Vec<Range<usize>> = label
            .chain(self.columns.iter().filter(|column| column.end > colon + 1).cloned())
            .collect();
        let whole = std::mem::replace(&mut self.columns, columns);
        let cells = self.cells(line.bytes, ColumnLayout::Named);
        self.columns = whole;
        self.push(line.number, cells);
    }

    /// The cells of a line; where lines were cut, a number that reaches the edge may have lost
    /// digits.
    fn cells(&self, line: &'a [u8], layout: ColumnLayout) -> Vec<Cow<'a, [u8]>> {
        let mut cells = cells(&self.columns, line, layout);
        let at_edge = self.columns.last().is_some_and(|column| Some(column.end) == self.edge);
        if let Some(last) = cells.last_mut().filter(|_| at_edge)
            && last.iter().any(u8::is_ascii_digit)
        {
            *last = Cow::Borrowed(columns::EDGE);
        }
        cells
    }

    /// Half a row: the name stands on a line of its own, which can wrap, and the numbers on the
    /// next.
    fn half(&mut self, section: OracleSection, line: ReportLine<'a>) {
        let Some(name) = self.name.take() else {
            self.name = Some(cells(&self.name_columns, line.bytes, ColumnLayout::Free));
            return;
        };
        let first = line.bytes.trim_ascii_start().first().copied().unwrap_or_default();
        let goes_on = matches!(
            section,
            OracleSection::SegmentsByReads | OracleSection::SegmentsByReadRequests
        );
        if !goes_on && !matches!(first, b'0'..=b'9' | b'.' | b'-' | b'#' | b'N') {
            self.name = Some(wrapped(name, line.bytes));
            return;
        }
        let layout = if goes_on { ColumnLayout::Named } else { ColumnLayout::Numbers };
        let mut row = name;
        row.extend(self.cells(line.bytes, layout));
        self.push(line.number, row);
    }

    fn push(&mut self, line: u32, cells: Vec<Cow<'a, [u8]>>) {
        if let Some(table) = self.table.as_mut().filter(|table| table.rows.len() < ROWS_MAX) {
            table.rows.push(ReportRow { line, cells });
        }
    }
}

/// Columns stand no farther apart than this.
const GAP_MAX: usize = 7;
const CUT_OFF: &str = "lines were cut or wrapped: their ends are unknown";
/// Releases put their labels one to nine places before the first column of numbers.
const LABEL_GAP_MAX: usize = 9;
/// Headings have no more lines than this; what stood further up is none.
const HEADING_LINES_MAX: usize = 6;

fn keep_last<'a>(lines: &mut Vec<Cow<'a, [u8]>>, line: Cow<'a, [u8]>) {
    if lines.len() == HEADING_LINES_MAX {
        lines.remove(0);
    }
    lines.push(line);
}

fn plain(words: &[u8]) -> Title<'_> {
    Title { words, underlined: false }
}

/// A name goes on in its last cell, without a blank: names are cut anywhere.
fn wrapped<'a>(mut name: Vec<Cow<'a, [u8]>>, line: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
    if let Some(last) = name.last_mut() {
        last.to_mut().extend_from_slice(line.trim_ascii());
    }
    name
}

/// Deals out by character, not by byte: a name outside ASCII must not shift the numbers behind it.
fn cells<'a>(columns: &[Range<usize>], line: &'a [u8], layout: ColumnLayout) -> Vec<Cow<'a, [u8]>> {
    if line.is_ascii() {
        return columns::cells(columns, line, layout);
    }
    let plain = |letter: char| u8::try_from(letter).ok().filter(u8::is_ascii).unwrap_or(b'?');
    let flat: Vec<u8> = String::from_utf8_lossy(line).chars().map(plain).collect();
    let cells = columns::cells(columns, &flat, layout).into_iter();
    cells.map(|cell| Cow::Owned(cell.into_owned())).collect()
}

/// Sections whose rows can take two lines: by tablespace and file; Statspack 10.1 prints the event
/// of a histogram alone, segments from 12.2 on their owner and tablespace.
const fn has_halves(section: OracleSection) -> bool {
    matches!(
        section,
        OracleSection::Tablespaces
            | OracleSection::Files
            | OracleSection::Histogram
            | OracleSection::SegmentsByReads
            | OracleSection::SegmentsByReadRequests
    )
}

/// Sections whose rows begin with a name.
const fn has_names(section: OracleSection) -> bool {
    !matches!(
        section,
        OracleSection::Header
            | OracleSection::HostCpu
            | OracleSection::Sessions
            | OracleSection::InstanceRates
            | OracleSection::SqlByIoTime
    )
}

/// Sections whose rows are a label, a colon and values.
const fn is_labelled(section: OracleSection) -> bool {
    matches!(section, OracleSection::LoadProfile | OracleSection::IoProfile)
}

/// A line with blanks in place of its first `length` bytes.
fn without(line: &[u8], length: usize) -> Cow<'_, [u8]> {
    let mut blanked = line.to_vec();
    blanked.iter_mut().take(length).for_each(|byte| *byte = b' ');
    Cow::Owned(blanked)
}

/// Headings can stand behind the tildes that underline a title.
fn without_tildes(line: &[u8]) -> Cow<'_, [u8]> {
    let tildes = line.iter().take_while(|byte| **byte == b'~').count();
    if tildes == 0 { Cow::Borrowed(line) } else { without(line, tildes) }
}

/// The columns of a ruler; a single rule that is indented spans headings and is none.
fn ruler_of(line: &[u8]) -> Option<Vec<Range<usize>>> {
    let columns = columns::ruler(line);
    if !line.contains(&b'-') {
        return None;
    }
    let first = columns.first()?;
    (columns.len() > 1 || first.start == 0).then_some(columns)
}

/// The rule at the end of a section: one run of dashes behind ten or twenty-six blanks.
fn is_end(line: &[u8]) -> bool {
    let rule = line.trim_ascii();
    line.starts_with(b"          ") && rule.len() > 40 && rule.iter().all(|byte| *byte == b'-')
}

fn is_snapshot_line(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let opens =
        |words: &[u8]| line.len() >= words.len() && line[..words.len()].eq_ignore_ascii_case(words);
    opens(b"Begin Snap:") || opens(b"End Snap:") || opens(b"Elapsed:") || opens(b"DB Time:")
}

/// Headings of the header tables, which Statspack underlines with tildes as if they were titles.
fn is_header_head(line: &[u8]) -> bool {
    let found = |words: &[u8]| memmem::find(line, words).is_some();
    found(b"DB Id") || found(b"Snap Id") || found(b"Sockets")
}

/// Thirteen digits and lower-case letters.
pub(crate) fn is_sql_id(cell: &[u8]) -> bool {
    cell.len() == 13 && cell.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

/// Splits at gaps of two blanks or more.
trait SplitGaps<'a> {
    fn split_gaps(&self) -> impl Iterator<Item = &'a [u8]>;
}

impl<'a> SplitGaps<'a> for &'a [u8] {
    fn split_gaps(&self) -> impl Iterator<Item = &'a [u8]> {
        let line: &'a [u8] = self;
        let mut groups: Vec<Range<usize>> = Vec::new();
        for run in runs(line) {
            match groups.last_mut() {
                Some(last) if run.start - last.end < 2 => last.end = run.end,
                _ => groups.push(run),
            }
        }
        groups.into_iter().map(move |group| &line[group])
    }
}
