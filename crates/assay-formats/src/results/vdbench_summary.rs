//! Vdbench's summary and totals: one row per run, from its line of averages.

use super::dates;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::numbers::{after, number};
use super::rows::{around, count, word};
use super::vdbench_flatfile::{MEGABYTE, average};
use assay_model::Result;
use assay_model::number::{count_of, real};
use assay_model::study::StudySetting;
use assay_model::verdict::NamedEstimate;

/// Megabytes are printed with two decimals.
const MEGABYTES_ROUNDING: f64 = 0.006;

/// Whether a text has the lines of a summary.
pub fn is_summary(text: &str) -> bool {
    text.contains("Starting RD=") && text.lines().any(|line| line.contains("avg_"))
}

/// Reads a summary: the line of averages of each run is a row.
///
/// # Errors
/// A usage error where no run came to its averages.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let mut summary = VdbenchSummary::default();
    text.lines().for_each(|line| summary.line(line));
    // Where files were only created, that is the load.
    let rows = if summary.rows.is_empty() { summary.formats } else { summary.rows };
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
    Ok(ImportedResult {
        program: format!("Vdbench{version}"),
        name: "summary".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    })
}

/// What the columns of the current run are.
#[derive(Clone, Copy, Default)]
enum SummaryLayout {
    /// Of a load on storage; times have one longest each, or one together.
    #[default]
    Blocks,
    /// The same with the longest read and the longest write.
    TwoMaxima,
    /// Of a load on file systems.
    Files,
}

#[derive(Default)]
struct VdbenchSummary {
    rows: Vec<ImportedRow>,
    /// Runs that create what others use.
    formats: Vec<ImportedRow>,
    layout: SummaryLayout,
    run: String,
    clock: String,
    date: Option<String>,
    /// Rates of the intervals of the run, with their numbers.
    rates: Vec<(u64, f64)>,
}

impl VdbenchSummary {
    fn line(&mut self, line: &str) {
        if let Some((before, rest)) = line.split_once("Starting RD=") {
            let run = rest.split('<').next().unwrap_or_default().trim();
            run.clone_into(&mut self.run);
            let clock =
                before.split(['>', ' ']).rfind(|word| word.contains(':')).unwrap_or_default();
            clock.clone_into(&mut self.clock);
            self.rates.clear();
        } else if line.contains("nterval") && (line.contains("i/o") || line.contains("ReqstdOps")) {
            let date = line.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
            self.date = dates::with_clock(&date, "00:00:00").map(|_| date).or(self.date.take());
            self.layout = if line.contains("ReqstdOps") {
                SummaryLayout::Files
            } else {
                SummaryLayout::Blocks
            };
        } else if line.matches(" max").count() == 2 {
            self.layout = SummaryLayout::TwoMaxima;
        } else {
            self.numbers(line);
        }
    }

    /// An interval or the averages; the word of the averages may touch the clock before it.
    fn numbers(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().take(2).position(|word| word.contains("avg_"));
        let Some((place, range)) = place.and_then(|at| Some((at, average(words[at])?))) else {
            let index = words.get(1).and_then(|word| word.parse().ok());
            let rate = words.get(2).and_then(|word| number(word));
            self.rates.extend(index.zip(rate));
            return;
        };
        let values: Vec<Option<f64>> = words[place + 1..].iter().map(|word| number(word)).collect();
        let is_format = self.run.starts_with("format") || self.run.starts_with("SD_format");
        let measures = self.measures(&values, range);
        if measures.is_empty() || range.1 < range.0 {
            return;
        }
        let row = ImportedRow {
            settings: self.settings(),
            started_unix_ns: self
                .date
                .as_ref()
                .and_then(|date| dates::with_clock(date, &self.clock)),
            elapsed_s: self.elapsed_s(range),
            measures,
            ..ImportedRow::default()
        };
        if is_format { self.formats.push(row) } else { self.rows.push(row) }
    }

    /// Nothing where nothing happened, or the line is cut off.
    fn measures(&self, values: &[Option<f64>], range: (u64, u64)) -> Vec<NamedEstimate> {
        let at = |place: usize| values.get(place).copied().flatten();
        let milliseconds = |place: usize| at(place).map(|time_ms| time_ms * 1e6);
        let rates = self.rates.iter().filter(|(index, _)| (range.0..=range.1).contains(index));
        let mut rates: Vec<f64> = rates.map(|(_, rate)| *rate).collect();
        // An excerpt has some of the intervals, which say little of the others.
        let is_complete = count_of(rates.len()) > range.1.saturating_sub(range.0);
        rates.retain(|_| is_complete);
        // Behind what is read stand others: without them the line is cut off.
        let is_whole = values.len() > if let SummaryLayout::Files = self.layout { 12 } else { 9 };
        let Some(rate) = at(0).filter(|rate| is_whole && *rate > 0.0) else { return Vec::new() };
        if let SummaryLayout::Files = self.layout {
            // rate resp cpu sys read% read: rate resp, write: rate resp, MB/s: read write total
            let Some(megabytes) = at(11) else { return Vec::new() };
            let mut measures = vec![
                around(total("operations", rate), &rates),
                total("throughput", megabytes * MEGABYTE),
            ];
            for (side, place) in [("read", 5), ("write", 7)] {
                let Some(rate) = at(place).filter(|rate| *rate > 0.0) else { continue };
                measures.push(total(&format!("{side}.iops"), rate));
                let mean = milliseconds(place + 1);
                measures.extend(mean.map(|ns| total(&format!("{side}.response_time.mean"), ns)));
            }
            return measures;
        }
        // rate MB/s bytes read% resp read resp, write resp, longest, deviation, depth, cpu
        let (Some(megabytes), Some(read_percent), Some(mean_ns)) = (at(1), at(3), milliseconds(4))
        else {
            return Vec::new();
        };
        // Rate and size have more digits than their product.
        let product = at(2).map(|bytes| bytes * rate);
        let is_it = |bytes: &f64| (bytes / MEGABYTE - megabytes).abs() <= MEGABYTES_ROUNDING;
        let throughput = product.filter(is_it).unwrap_or(megabytes * MEGABYTE);
        let mut measures = vec![
            around(total("iops", rate), &rates),
            total("throughput", throughput),
            total("response_time.mean", mean_ns),
        ];
        let sides = [("read", 5, read_percent > 0.0), ("write", 6, read_percent < 100.0)];
        for (side, place, _) in sides.into_iter().filter(|(.., happens)| *happens) {
            let mean = milliseconds(place);
            measures.extend(mean.map(|ns| total(&format!("{side}.response_time.mean"), ns)));
            if let SummaryLayout::TwoMaxima = self.layout {
                let longest = milliseconds(place + 2);
                measures.extend(longest.map(|ns| total(&format!("{side}.response_time.max"), ns)));
            }
        }
        measures
    }

    /// `rd1; I/O rate: 100; elapsed=5; For loops: threads=2 xfersize=4096`.
    fn settings(&self) -> Vec<StudySetting> {
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
        settings
    }

    /// The time behind the averages: its share of the intervals of `elapsed=600 warmup=30`.
    fn elapsed_s(&self, range: (u64, u64)) -> Option<f64> {
        let run_s = after(&self.run, "elapsed=")? + after(&self.run, "warmup=").unwrap_or(0.0);
        let counted = (range.1 - range.0).saturating_add(1);
        Some(run_s * real(counted) / real(range.1)).filter(|time_s| time_s.is_finite())
    }
}

/// A value of a loop; one that is known already is left out.
fn loop_setting(pair: &str, known: &[StudySetting]) -> Option<StudySetting> {
    let (name, value) = pair.split_once('=')?;
    let number = super::numbers::whole(value);
    let setting = match (name, number) {
        ("threads", Some(threads)) => count("queue_depth", threads),
        ("xfersize", Some(bytes)) => {
            word("transfer", &assay_model::units::Bytes(bytes).to_string())
        }
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
    use super::*;

    /// As 50407 prints it, with the run that formats before.
    const NEW: &str = "15:41:37.002 Starting RD=SD_format; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: threads=2 iorate=max\n\nJan 15, 2025    interval        i/o   MB/sec   bytes   read     resp     read    write     read    write     resp  queue  cpu%  cpu%\n                               rate  1024**2     i/o    pct     time     resp     resp      max      max   stddev  depth sys+u   sys\n15:41:38.042     avg_2-1        0.0     0.00       0   0.00    0.000    0.000    0.000     0.00     0.00    0.000    0.0   NaN   NaN\n\n10:30:00.002 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: xfersize=4096\n\n10:30:05.013     avg_2-5      102.8     0.10    1024  52.31    0.018    0.013    0.024     0.10     0.14    0.017    0.0   0.7   0.1\n";

    #[test]
    fn averages_are_rows_with_their_load_and_time() {
        let found = rows(read_summary(NEW).unwrap());
        assert_eq!(found.len(), 1);
        let row = &found[0];
        assert_eq!(
            ["run", "rate", "transfer"].map(|one| setting(row, one)),
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
        assert!(value(row, "write.response_time.max").is_nan());
    }

    #[test]
    fn loads_on_file_systems_have_their_own_columns() {
        let text = "10:30:00.000 Starting RD=rd1; elapsed=60; fwdrate=max. For loops: None\nJan \
                    15, 2025 .Interval. .ReqstdOps... ...cpu%...  read ....read..... \
                    ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir....\n rate resp total sys \
                    pct rate resp rate resp read write total size rate resp\n10:31:00.000 \
                    avg_2-12 57.6 6.244 13.4 2.99 25.0 14.4 4.000 43.2 7.000 1.00 7.20 8.20 \
                    131072 0.2 104.49\n";
        let row = &rows(read_summary(text).unwrap())[0];
        assert_eq!(
            [value(row, "operations"), value(row, "read.iops"), value(row, "write.iops")],
            [57.6, 14.4, 43.2]
        );
        assert_eq!(value(row, "throughput"), 8.2 * MEGABYTE);
        assert_eq!(value(row, "read.response_time.mean"), 4e6);
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
