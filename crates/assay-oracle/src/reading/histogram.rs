//! Wait event histograms: bucket headings of all releases, and the sub-tables joined into one curve
//! an event.

use super::ReportReading;
use crate::number::{self, NumberCell};
use crate::quantity::{OracleQuantity, OracleUnit};
use crate::report::EventBucket;
use crate::table::{OracleTable, ReportRow};

const MICROSECOND_NS: u64 = 1_000;
const MILLISECOND_NS: u64 = 1_000_000;
const FINE_MILLISECOND_NS: u64 = 1_024_000;

impl ReportReading {
    pub(super) fn histogram(&mut self, table: &OracleTable) {
        let Some(event) = table.named(&["event"]) else {
            return self.unreadable(table);
        };
        let is_counted = !table.heads.iter().any(|head| head.contains('<'));
        if is_counted && table.head(event + 1).contains(" - ") {
            return self.counted_histogram(table, event);
        }
        let first = table.column(|head| head.contains('<')).unwrap_or(table.heads.len());
        self.ranges.is_fine |= table.heads.iter().any(|head| head.ends_with("us"));
        let bounds = bounds(&table.heads[first..], self.ranges.is_fine);
        let is_main = !table.title.contains('(') || table.title.contains("(global)");
        for row in &table.rows {
            let waits = is_main.then(|| self.waits(table, row, event + 1)).flatten();
            let buckets = self.buckets(table, row, first, waits, &bounds);
            self.ranges.add(&row.text(event), waits, buckets);
        }
    }

    /// Waits in all. The column of a text report is five wide: `2817.` is what it leaves of
    /// `2817.4K`, because what is less than 10M is printed in thousands.
    fn waits(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        column: usize,
    ) -> Option<OracleQuantity> {
        let Some(thousands) = cut_thousands(row.cell(column)) else {
            return self.number(table, row, Some(column), OracleUnit::Count);
        };
        Some(OracleQuantity {
            value: thousands * 1e3,
            rounding_width: 1e3,
            unit: OracleUnit::Count,
            section: table.section,
            line: row.line,
        })
    }

    /// The buckets of a row; a row with a bucket that cannot be read, or without its headings, has
    /// none.
    fn buckets(
        &mut self,
        table: &OracleTable,
        row: &ReportRow,
        first: usize,
        waits: Option<OracleQuantity>,
        bounds: &[Option<(u64, Option<u64>)>],
    ) -> Vec<EventBucket> {
        let mut buckets = Vec::with_capacity(bounds.len());
        for (index, bound) in bounds.iter().enumerate() {
            let cell = row.cell(first + index);
            let share = self.share(cell, waits);
            let (Some((low_ns, high_ns)), Some(share)) = (*bound, share) else {
                self.unread(table.section, row.line, cell, "a bucket that cannot be read");
                return Vec::new();
            };
            buckets.push(EventBucket { low_ns, high_ns, share, line: row.line });
        }
        buckets
    }

    /// Percent; blank is truly none. Where the percent is too small global reports add the count in
    /// brackets, `0.0(12231)`: that is the slow tail, so it is taken.
    fn share(&self, cell: &[u8], waits: Option<OracleQuantity>) -> Option<f64> {
        let mut parts = cell.splitn(2, |byte| *byte == b'(');
        let percent = parts.next().unwrap_or_default().trim_ascii();
        let percent = percent.strip_prefix(b"<").unwrap_or(percent);
        let counted = parts.next().and_then(|count| count.trim_ascii().strip_suffix(b")"));
        if let (Some(count), Some(waits)) = (counted, waits.filter(|waits| waits.value > 0.0)) {
            return match number::parse(count, self.decimal) {
                NumberCell::Number(count) => Some((count.value / waits.value).min(1.0)),
                NumberCell::Blank | NumberCell::Unreadable(_) => None,
            };
        }
        match number::parse(percent, self.decimal) {
            NumberCell::Blank => Some(0.0),
            NumberCell::Number(printed) => {
                Some(printed.value / 100.0).filter(|share| (0.0..=1.001).contains(share))
            }
            NumberCell::Unreadable(_) => None,
        }
    }

    /// Statspack 10.1: counts under `0 - 1 ms` to `32+ ms`, the event on a line of its own.
    fn counted_histogram(&mut self, table: &OracleTable, event: usize) {
        let first = event + 1;
        let bounds: Vec<_> = table.heads[first..].iter().map(|head| range_ns(head)).collect();
        for row in &table.rows {
            let counts = (first..first + bounds.len())
                .map(|column| self.number(table, row, Some(column), OracleUnit::Count));
            let counts: Option<Vec<OracleQuantity>> = counts.collect();
            let Some(counts) = counts.filter(|_| bounds.iter().all(Option::is_some)) else {
                continue;
            };
            let sum: f64 = counts.iter().map(|count| count.value).sum();
            let buckets = bounds.iter().flatten().zip(&counts);
            let buckets = buckets.map(|((low_ns, high_ns), count)| EventBucket {
                low_ns: *low_ns,
                high_ns: *high_ns,
                share: count.value / sum.max(1.0),
                line: row.line,
            });
            let waits = counts.first().map(|count| OracleQuantity { value: sum, ..*count });
            self.ranges.add(&row.text(event), waits, buckets.collect());
        }
    }
}

/// The thousands of a count whose decimals and suffix were cut off, `2817.`.
fn cut_thousands(cell: &[u8]) -> Option<f64> {
    let [digits @ .., b'.' | b','] = cell else { return None };
    let is_whole = digits.len() == 4 && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_whole)?.parse().ok()
}

/// `1 - 4 ms`, `32+ ms`.
fn range_ns(head: &str) -> Option<(u64, Option<u64>)> {
    let range = head.strip_suffix("ms")?.trim();
    let limit = |text: &str| text.trim().parse::<u64>().ok()?.checked_mul(MILLISECOND_NS);
    match range.split_once('-') {
        Some((low, high)) => Some((limit(low)?, Some(limit(high)?))),
        None => Some((limit(range.strip_suffix('+')?)?, None)),
    }
}

/// Ends of the buckets from their headings. Text cuts headings at five characters (`<128u`,
/// `<512`), so a missing unit is that of the neighbours; the last bucket begins where the one
/// before ends.
fn bounds(heads: &[String], is_fine: bool) -> Vec<Option<(u64, Option<u64>)>> {
    let mut low_ns = Some(0);
    let mut bounds = Vec::with_capacity(heads.len());
    for head in heads {
        let high = head.rfind('<').map(|at| upper_ns(&head[at..], is_fine));
        bounds.push(match (low_ns, high) {
            (Some(low), Some(Some(high))) if high > low => Some((low, Some(high))),
            (Some(low), None) if head.contains('>') => Some((low, None)),
            _ => None,
        });
        low_ns = high.flatten();
    }
    bounds
}

/// `<512us`, `<1/8s`, `< 2m`, `<=1s`: a second is 1,024 ms, a minute 64 such seconds.
fn upper_ns(head: &str, is_fine: bool) -> Option<u64> {
    let text: String = head.chars().filter(|letter| !matches!(letter, '<' | '=' | ' ')).collect();
    let digits = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let millisecond = if is_fine { FINE_MILLISECOND_NS } else { MILLISECOND_NS };
    let unit_ns = match unit {
        "u" | "us" | "" => MICROSECOND_NS,
        "ms" => millisecond,
        "s" => 1024 * millisecond,
        "m" => 64 * 1024 * millisecond,
        "h" | "hr" => 64 * 64 * 1024 * millisecond,
        _ => return None,
    };
    match number.split_once('/') {
        Some(("1", parts)) => unit_ns.checked_div(parts.parse().ok()?),
        Some(_) => None,
        None => number.parse::<u64>().ok()?.checked_mul(unit_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(heads: &[&str], is_fine: bool) -> Vec<Option<u64>> {
        let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
        let bounds = bounds(&heads, is_fine);
        bounds.iter().map(|bound| bound.expect("a bound").1).collect()
    }

    #[test]
    fn a_second_is_1024_milliseconds() {
        let heads = ["<32ms", "<64ms", "<1/8s", "<1/2s", "<=1s", "< 2m", ">=2m"];
        let ms = |count: u64| Some(count * MILLISECOND_NS);
        assert_eq!(
            ends(&heads, false),
            [ms(32), ms(64), ms(128), ms(512), ms(1024), ms(2 * 64 * 1024), None]
        );
    }

    #[test]
    fn headings_cut_at_five_characters_are_understood() {
        assert_eq!(
            ends(&["% of <128u", "waits <256u", "<512", "<1ms", ">=32m"], true),
            [Some(128_000), Some(256_000), Some(512_000), Some(1_024_000), None]
        );
    }

    #[test]
    fn a_count_that_is_cut_at_its_mark_is_in_thousands() {
        assert_eq!(cut_thousands(b"2817."), Some(2817.0));
        for other in [b"299.3".as_slice(), b"6358", b"17.", b"1.17.", b"."] {
            assert_eq!(cut_thousands(other), None);
        }
    }

    #[test]
    fn headings_out_of_order_are_not_buckets() {
        let heads = vec!["<8ms".to_owned(), "<4ms".to_owned()];
        assert_eq!(bounds(&heads, false)[1], None);
    }
}
