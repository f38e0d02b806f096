//! Vdbench's summary and totals: one row per run, from its line of averages.

use super::dates;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::numbers::{after, number};
use super::rows::{around, count, word};
use super::vdbench_columns::{SummaryColumn, SummaryColumns};
use super::vdbench_flatfile::average;
use assay_model::Result;
use assay_model::number::{count as count_of_bytes, count_of, real, real_len};
use assay_model::study::StudySetting;
use assay_model::units::Bytes;
use assay_model::verdict::NamedEstimate;
use std::collections::BTreeSet;

/// Megabytes are printed with two decimals.
const MEGABYTES_ROUNDING: f64 = 0.006;
const SECTOR_BYTES: u64 = 512;
/// The note for runs without averages.
const UNFINISHED: &str =
    "a run has no averages: the means are those of its intervals but the first";
/// The note for a summary without a run of the load itself.
const ONLY_FORMAT: &str = "no run of the load has averages: the numbers are of the run that \
                           creates its files";

/// Whether a text has the lines of a summary.
pub fn is_summary(text: &str) -> bool {
    text.contains("Starting RD=") && text.lines().any(SummaryColumns::is_heading)
        || text.contains("Starting RD=") && text.lines().any(|line| line.contains("avg_"))
}

/// Reads a summary: the line of averages of each run is a row.
///
/// # Errors
/// A usage error where no run came to its averages.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let mut summary = VdbenchSummary::default();
    text.lines().for_each(|line| summary.line(line));
    summary.end_run();
    let has_unfinished = summary.has_unfinished;
    let unknown: Vec<String> = summary.unknown.into_iter().collect();
    // Where files were only created, that is the load.
    let is_of_format = summary.rows.is_empty();
    let rows = if is_of_format { summary.formats } else { summary.rows };
    if rows.is_empty() {
        return Err(broken("Vdbench", "it has no averages: no run finished"));
    }
    let version = after(text, "vdbench distribution: vdbench")
        .or_else(|| after(text, "Vdbench distribution: vdbench"));
    let version = version.map_or_else(String::new, |version| format!(" {version}"));
    let has_intervals = rows.iter().all(|row| row.measures[0].estimate.has_interval());
    let mut lacks = vec![Lack::Quantiles, Lack::Environment];
    lacks.extend((!has_intervals).then_some(Lack::Intervals));
    lacks.extend(rows.iter().any(|row| row.started_unix_ns.is_none()).then_some(Lack::Date));
    lacks.extend((!unknown.is_empty()).then_some(Lack::NotUnderstood(unknown)));
    lacks.extend(is_of_format.then(|| Lack::OnlyPart(ONLY_FORMAT.to_owned())));
    lacks.extend(has_unfinished.then(|| Lack::OnlyPart(UNFINISHED.to_owned())));
    Ok(ImportedResult {
        program: format!("Vdbench{version}"),
        name: "summary".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    })
}

#[derive(Default)]
struct VdbenchSummary {
    rows: Vec<ImportedRow>,
    /// Runs that create what others use.
    formats: Vec<ImportedRow>,
    columns: SummaryColumns,
    /// The first line of a heading whose second one comes next.
    heading: Option<String>,
    run: String,
    clock: String,
    date: Option<String>,
    /// The intervals of the run that has no averages yet.
    intervals: Vec<SummaryInterval>,
    /// Names of columns that are not known.
    unknown: BTreeSet<String>,
    has_unfinished: bool,
}

/// A line of a run, its numbers as words.
#[derive(Clone)]
struct SummaryInterval {
    index: u64,
    values: Vec<Option<f64>>,
}

impl VdbenchSummary {
    fn line(&mut self, line: &str) {
        if let Some(above) = self.heading.take() {
            self.columns = SummaryColumns::new(&above, line);
            self.unknown.extend(self.columns.unknown().cloned());
        }
        if let Some((before, rest)) = line.split_once("Starting RD=") {
            self.end_run();
            let run = rest.split('<').next().unwrap_or_default().trim();
            run.clone_into(&mut self.run);
            let clock =
                before.split(['>', ' ']).rfind(|word| word.contains(':')).unwrap_or_default();
            clock.clone_into(&mut self.clock);
        } else if SummaryColumns::is_heading(line) {
            let date = line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
            self.date = dates::with_clock(&date, "00:00:00").map(|_| date).or(self.date.take());
            self.heading = Some(line.to_owned());
        } else {
            self.numbers(line);
        }
    }

    /// An interval or the averages; the word of the averages may touch the clock before it.
    fn numbers(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let values = |words: &[&str]| words.iter().map(|word| number(word)).collect::<Vec<_>>();
        let place = words.iter().take(2).position(|word| word.contains("avg_"));
        let Some((place, range)) = place.and_then(|at| Some((at, average(words[at])?))) else {
            self.extremes(&words);
            let is_interval = words.first().is_some_and(|word| dates::clock_s(word).is_some());
            let index = words.get(1).filter(|_| is_interval).and_then(|word| word.parse().ok());
            let interval = |index| SummaryInterval { index, values: values(&words[2..]) };
            self.intervals.extend(index.map(interval));
            return;
        };
        if range.1 >= range.0 {
            self.keep(&values(&words[place + 1..]), range);
        }
        self.intervals.clear();
    }

    /// `max_2-60` and `std_2-60` behind the averages of a load on files: of the rate, then of the
    /// times, then of columns that leave gaps.
    fn extremes(&mut self, words: &[&str]) {
        let named = [("max_", "max"), ("std_", "stddev")].into_iter().find_map(|(begin, name)| {
            let place = words.iter().take(2).position(|word| word.contains(begin))?;
            Some((name, number(words.get(place + 2)?)?))
        });
        let is_time = |column: &SummaryColumn| matches!(column, SummaryColumn::Time(side, _) if side.is_empty());
        let is_plain = self.columns.is_of_files && self.columns.columns.get(1).is_some_and(is_time);
        let rows = if self.is_format() { &mut self.formats } else { &mut self.rows };
        // The averages end a run: without them these lines are of none.
        let row = rows.last_mut().filter(|_| is_plain && self.intervals.is_empty());
        let (Some((name, time_ms)), Some(row)) = (named, row) else { return };
        let quantity = format!("response_time.{name}");
        if row.measures.iter().all(|measure| measure.quantity != quantity) {
            row.measures.push(total(&quantity, time_ms * 1e6));
        }
    }

    /// A run without averages was stopped, or is an excerpt: those of its intervals but the first.
    fn end_run(&mut self) {
        let lines = std::mem::take(&mut self.intervals);
        let (Some(first), Some(last)) = (lines.get(1), lines.last()) else { return };
        let range = (first.index, last.index);
        let is_counted = |line: &&SummaryInterval| line.index >= range.0;
        let counted: Vec<&SummaryInterval> = lines.iter().filter(is_counted).collect();
        let means = mean_of(&counted, &self.columns);
        self.intervals.clone_from(&lines);
        self.has_unfinished |= self.keep(&means, range) && !self.is_format();
        self.intervals.clear();
    }

    /// Keeps the averages of a run. False where nothing happened, or the line is cut off.
    fn keep(&mut self, values: &[Option<f64>], range: (u64, u64)) -> bool {
        let measures = self.measures(values, range);
        if measures.is_empty() {
            return false;
        }
        let row = ImportedRow {
            settings: self.settings(values),
            started_unix_ns: self
                .date
                .as_ref()
                .and_then(|date| dates::with_clock(date, &self.clock)),
            elapsed_s: self.elapsed_s(range),
            measures,
            ..ImportedRow::default()
        };
        if self.is_format() {
            self.formats.push(row);
        } else {
            self.rows.push(row);
        }
        true
    }

    /// Whether the run creates what others use.
    fn is_format(&self) -> bool {
        self.run.starts_with("format") || self.run.starts_with("SD_format")
    }

    /// Rates of all intervals behind the averages; an excerpt has some of them, which say little of
    /// the others.
    fn rates(&self, range: (u64, u64)) -> Vec<f64> {
        let counted =
            self.intervals.iter().filter(|line| (range.0..=range.1).contains(&line.index));
        let rates: Vec<f64> =
            counted.filter_map(|line| line.values.first().copied().flatten()).collect();
        let is_complete = count_of(rates.len()) > range.1.saturating_sub(range.0);
        if is_complete { rates } else { Vec::new() }
    }

    /// Nothing where nothing happened, or the line is cut off.
    fn measures(&self, values: &[Option<f64>], range: (u64, u64)) -> Vec<NamedEstimate> {
        let columns = &self.columns;
        // Of operations on files not every version prints the last ones.
        let least = if columns.is_of_files { 13 } else { columns.columns.len() };
        let line = SummaryLine { columns, values };
        let rate = line.value(&SummaryColumn::Rate).filter(|rate| *rate > 0.0);
        let Some(rate) = rate.filter(|_| values.len() >= least) else { return Vec::new() };
        let quantity = if columns.is_of_files { "operations" } else { "iops" };
        let mut measures = vec![around(total(quantity, rate), &self.rates(range))];
        measures.extend(line.throughput(rate).map(|value| total("throughput", value)));
        measures.extend(line.others());
        measures
    }

    /// `rd1; I/O rate: 100; elapsed=5; For loops: threads=2 xfersize=4096`.
    fn settings(&self, values: &[Option<f64>]) -> Vec<StudySetting> {
        let mut parts = self.run.split(';').map(str::trim);
        let mut settings = vec![word("run", parts.next().unwrap_or_default())];
        for part in parts {
            if let Some(rate) = part.strip_prefix("I/O rate: ") {
                let rate =
                    number(rate).map_or_else(|| "max".to_owned(), |rate| format!("{rate}/s"));
                settings.push(word("rate", &rate));
            }
            let Some(loops) = part.split_once("For loops: ").map(|(_, loops)| loops) else {
                continue;
            };
            for pair in loops.split_whitespace() {
                settings.extend(loop_setting(pair, &settings));
            }
        }
        let line = SummaryLine { columns: &self.columns, values };
        let is_known = settings.iter().any(|setting| setting.factor == "block_size");
        settings.extend(line.size().filter(|_| !is_known));
        settings
    }

    /// The time behind the averages: its share of the intervals of `elapsed=600 warmup=30`.
    fn elapsed_s(&self, range: (u64, u64)) -> Option<f64> {
        let run_s = after(&self.run, "elapsed=")? + after(&self.run, "warmup=").unwrap_or(0.0);
        let counted = (range.1 - range.0).saturating_add(1);
        Some(run_s * real(counted) / real(range.1)).filter(|time_s| time_s.is_finite())
    }
}

/// The numbers of a line below their columns.
struct SummaryLine<'a> {
    columns: &'a SummaryColumns,
    values: &'a [Option<f64>],
}

impl SummaryLine<'_> {
    fn known(&self) -> impl Iterator<Item = (&SummaryColumn, f64)> {
        let pairs = self.columns.columns.iter().zip(self.values);
        pairs.filter_map(|(column, value)| Some((column, (*value)?)))
    }

    fn value(&self, column: &SummaryColumn) -> Option<f64> {
        self.known().find(|(known, _)| *known == column).map(|(_, value)| value)
    }

    /// Bytes/s: rate and size have more digits than their product.
    fn throughput(&self, rate: f64) -> Option<f64> {
        let megabyte_bytes = self.columns.megabyte_bytes;
        let megabytes = self.value(&SummaryColumn::Megabytes)?;
        let product = self.value(&SummaryColumn::Size).map(|bytes| bytes * rate);
        let is_it = |bytes: &f64| (bytes / megabyte_bytes - megabytes).abs() <= MEGABYTES_ROUNDING;
        Some(product.filter(is_it).unwrap_or(megabytes * megabyte_bytes))
    }

    /// The block size, if all I/Os have the same; the mean of several is rarely whole sectors.
    fn size(&self) -> Option<StudySetting> {
        let bytes = count_of_bytes(self.value(&SummaryColumn::Size)?);
        (bytes > 0 && bytes.is_multiple_of(SECTOR_BYTES))
            .then(|| word("block_size", &Bytes(bytes).to_string()))
    }

    /// Times of what happened, and the other numbers.
    fn others(&self) -> Vec<NamedEstimate> {
        let read_percent = self.value(&SummaryColumn::ReadPercent);
        let happens = |side: &str| match side {
            "read" => read_percent.is_none_or(|percent| percent > 0.0),
            "write" => read_percent.is_none_or(|percent| percent < 100.0),
            _ => true,
        };
        self.known().filter_map(|(column, value)| self.measure(column, value, &happens)).collect()
    }

    fn measure(
        &self,
        column: &SummaryColumn,
        value: f64,
        happens: &dyn Fn(&str) -> bool,
    ) -> Option<NamedEstimate> {
        let of =
            |side: &str, what: &str| format!("{side}.{what}").trim_start_matches('.').to_owned();
        let rate_of = |side: &String| self.value(&SummaryColumn::RateOf(side.clone()));
        match column {
            SummaryColumn::ReadPercent => Some(total("read_share", value / 100.0)),
            SummaryColumn::Time(side, statistic) => {
                let is_any = happens(side) && rate_of(side).is_none_or(|rate| rate > 0.0);
                let name = of(side, &format!("response_time.{statistic}"));
                is_any.then(|| total(&name, value * 1e6))
            }
            SummaryColumn::RateOf(side) => (value > 0.0).then(|| total(&of(side, "iops"), value)),
            SummaryColumn::MegabytesOf(side) => (value > 0.0)
                .then(|| total(&of(side, "throughput"), value * self.columns.megabyte_bytes)),
            SummaryColumn::Depth => (value > 0.0).then(|| total("queue_depth_mean", value)),
            SummaryColumn::Cpu => Some(total("host.cpu_busy", value / 100.0)),
            SummaryColumn::Size => self
                .size()
                .is_none()
                .then(|| total("block_size_mean", value))
                .filter(|_| value > 0.0),
            SummaryColumn::Rate
            | SummaryColumn::Megabytes
            | SummaryColumn::Part
            | SummaryColumn::Unknown(_) => None,
        }
    }
}

/// The means of a run's intervals: times, sizes and shares weighted by what they are of, the
/// longest of the longest, and no deviation, which intervals do not give.
fn mean_of(lines: &[&SummaryInterval], columns: &SummaryColumns) -> Vec<Option<f64>> {
    let value = |line: &&&SummaryInterval, place: usize| line.values.get(place).copied().flatten();
    let mean = |place: usize, weight: usize| {
        let weights = || lines.iter().filter_map(|line| value(&line, weight));
        let products =
            lines.iter().filter_map(|line| Some(value(&line, place)? * value(&line, weight)?));
        let all: f64 = weights().sum();
        (all > 0.0).then(|| products.sum::<f64>() / all)
    };
    let plain = |place: usize| {
        let known: Vec<f64> = lines.iter().filter_map(|line| value(&line, place)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / real_len(known.len()))
    };
    let column = |(place, column): (usize, &SummaryColumn)| match column {
        SummaryColumn::Time(_, "max") => {
            lines.iter().filter_map(|line| value(&line, place)).reduce(f64::max)
        }
        SummaryColumn::Time(side, "mean") if side.is_empty() => mean(place, 0),
        SummaryColumn::Time(side, "mean") => {
            let rate = SummaryColumn::RateOf(side.clone());
            let rate = columns.columns.iter().position(|column| *column == rate);
            rate.and_then(|rate| mean(place, rate))
        }
        SummaryColumn::Time(..) => None,
        SummaryColumn::Size | SummaryColumn::ReadPercent => mean(place, 0),
        _ => plain(place),
    };
    columns.columns.iter().enumerate().map(column).collect()
}

/// A value of a loop; one that is known already is left out.
fn loop_setting(pair: &str, known: &[StudySetting]) -> Option<StudySetting> {
    let (name, value) = pair.split_once('=')?;
    let number = super::numbers::whole(value);
    let setting = match (name, number) {
        ("threads", Some(threads)) => count("queue_depth", threads),
        ("xfersize", Some(bytes)) => word("block_size", &Bytes(bytes).to_string()),
        ("rdpct", Some(percent)) => word("read_share", &format!("{percent}%")),
        ("iorate", Some(rate)) => word("rate", &format!("{rate}/s")),
        ("iorate", None) => word("rate", value),
        _ => word(name, value),
    };
    known.iter().all(|one| one.factor != setting.factor).then_some(setting)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::super::vdbench_flatfile::MEGABYTE;
    use super::*;

    /// As 50407 prints it, with the run that formats before.
    const NEW: &str = "15:41:37.002 Starting RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: threads=2 iorate=max\n\nJan 15, 2025    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%\n                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys\n15:41:38.042     avg_2-1        0.0     0.00       0   0.00    0.000    0.000    0.000     0.00     0.00    0.000    0.0   NaN   NaN\n\n10:30:00.002 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: xfersize=4096\n\n10:30:05.013     avg_2-5      102.8     0.10    1024  52.31    0.018    0.013    0.024     0.10     0.14    0.017    0.0   0.7   0.1\n";

    #[test]
    fn averages_are_rows_with_their_load_and_time() {
        let found = rows(read_summary(NEW).unwrap());
        assert_eq!(found.len(), 1);
        let row = &found[0];
        assert_eq!(
            ["run", "rate", "block_size"].map(|one| setting(row, one)),
            ["rd1", "100/s", "4KiB"]
        );
        assert_eq!((value(row, "iops"), value(row, "read.response_time.max")), (102.8, 100_000.0));
        assert_eq!(
            (row.elapsed_s, row.started_unix_ns),
            (Some(4.0), Some(1_736_937_000_000_000_000))
        );
    }

    #[test]
    fn averages_that_touch_their_time_stamp_are_read() {
        // As 50406 prints it: one longest time, and no blank where the numbers are long.
        let text = "<a name=\"_1\"></a><i><b>19:02:15.001 Starting RD=rd1; I/O rate: Uncontrolled \
                    MAX; elapsed=600 warmup=30; For loops: None</b></i>\ninterval i/o MB/sec \
                    bytes read resp read write resp resp queue cpu% cpu%\n rate 1024**2 i/o pct \
                    time resp resp max stddev depth sys+u sys\n19:12:45.123avg_7-126 2238.00 \
                    2238.00 1048576 0.00 28.448 0.000 30.979 376.343 50.317 63.6 1.4 0.2\n";
        let row = &rows(read_summary(text).unwrap())[0];
        assert_eq!(
            (value(row, "iops"), value(row, "write.response_time.mean")),
            (2238.0, 30_979_000.0)
        );
        assert_eq!((setting(row, "rate"), row.elapsed_s), ("max".into(), Some(600.0)));
        let others = ["max", "stddev"].map(|one| value(row, &format!("response_time.{one}")));
        assert_eq!(others, [376_343_000.0, 50_317_000.0]);
        assert_eq!((value(row, "read_share"), value(row, "queue_depth_mean")), (0.0, 63.6));
        assert_eq!(setting(row, "block_size"), "1MiB");
        assert!(value(row, "write.response_time.max").is_nan());
    }

    #[test]
    fn loads_on_file_systems_have_their_own_columns() {
        let text = "10:30:00.000 Starting RD=rd1; elapsed=60; fwdrate=max. For loops: None\nJan \
                    15, 2025 .Interval. .ReqstdOps... ...cpu%...  read ....read..... \
                    ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir....\n rate resp total sys \
                    pct rate resp rate resp read write total size rate resp\n10:31:00.000 \
                    avg_2-12 57.6 6.244 13.4 2.99 25.0 14.4 4.000 43.2 7.000 1.00 7.20 8.20 \
                    131072 0.2 104.49\n10:31:00.000 std_2-12 5.2 9.125\n10:31:00.001 max_2-12 \
                    70 350.5 0.4 208.1\n";
        let row = &rows(read_summary(text).unwrap())[0];
        let extremes = ["max", "stddev"].map(|one| value(row, &format!("response_time.{one}")));
        assert_eq!(extremes, [350.5e6, 9.125e6]);
        assert_eq!(
            [value(row, "operations"), value(row, "read.iops"), value(row, "write.iops")],
            [57.6, 14.4, 43.2]
        );
        assert_eq!(value(row, "throughput"), 8.2 * MEGABYTE);
        assert_eq!(value(row, "read.response_time.mean"), 4e6);
        assert_eq!((value(row, "response_time.mean"), value(row, "read_share")), (6.244e6, 0.25));
        assert_eq!(
            (value(row, "mkdir.iops"), value(row, "mkdir.response_time.mean")),
            (0.2, 104.49e6)
        );
        assert_eq!(
            (setting(row, "block_size"), value(row, "read.throughput")),
            ("128KiB".into(), MEGABYTE)
        );
    }

    /// What stands on a terminal when the run was stopped.
    #[test]
    fn a_run_without_averages_has_the_means_of_its_intervals() {
        let head = "10:30:00.002 Starting RD=rd1; I/O rate: Uncontrolled MAX; elapsed=600; For loops: None\n\nJul 08, 2011  interval   i/o   MB/sec   bytes   read     resp     resp     resp    cpu%  cpu%\n   rate  1024**2     i/o    pct     time      max   stddev sys+usr   sys\n";
        let line = |at: u32, rate: f64, time: f64, max: f64| {
            format!("09:58:5{at}.048 {at} {rate} 33.73 4096 100.00 {time} {max} 1.768 7.1 6.1\n")
        };
        let text =
            [line(1, 9.0, 9.0, 99.0), line(2, 1000.0, 1.0, 18.5), line(3, 10.0, 100.0, 31.5)];
        let found = read_summary(&format!("{head}{}", text.concat())).unwrap();
        assert!(found.lacks.contains(&Lack::OnlyPart(UNFINISHED.to_owned())), "{:?}", found.lacks);
        let row = &rows(found)[0];
        let names = ["iops", "response_time.mean", "response_time.max", "host.cpu_busy"];
        let expected = [505.0, 1_980_198.019_802, 31_500_000.0, 0.071];
        assert_eq!(names.map(|name| value(row, name)), expected);
        assert!(value(row, "response_time.stddev").is_nan());
        assert_eq!(setting(row, "block_size"), "4KiB");
        let average = "09:59:00.051 avg_2-3 505 1.97 4096 100.00 1.98 31.5 2.9 7.1 6.1\n";
        let whole = read_summary(&format!("{head}{}{average}", text.concat())).unwrap();
        assert!(!whole.lacks.contains(&Lack::OnlyPart(UNFINISHED.to_owned())));
        assert_eq!(value(&rows(whole)[0], "response_time.mean"), 1.98e6);
    }

    #[test]
    fn the_intervals_of_a_summary_say_how_sure_its_averages_are() {
        let mut text = NEW.split("10:30:05").next().unwrap().to_owned();
        for index in 1..=41_u32 {
            let rate = if index.is_multiple_of(2) { "100.0" } else { "105.6" };
            let line = format!(
                "10:30:{index:02}.018 {index} {rate} 0.08 1024 53.57 0.013 0.010 0.015 0.03 0.05 \
                 0.006 0.0 19.2 1.5\n"
            );
            text.push_str(&line);
        }
        text += "10:30:42.013 avg_2-41 102.8 0.10 1024 52.31 0.018 0.013 0.024 0.10 0.14 0.017 \
                 0.0 0.7 0.1\n";
        let row = &rows(read_summary(&text).unwrap())[0];
        assert!(row.measures[0].estimate.has_interval(), "{row:?}");
        let excerpt = text.replacen("10:30:20.018 20 ", "10:30:20.018 ... ", 1);
        let row = &rows(read_summary(&excerpt).unwrap())[0];
        assert!(!row.measures[0].estimate.has_interval(), "{row:?}");
        assert!(read_summary("Starting RD=rd1; x\navg_2-3 nothing\n").is_err());
    }
}
