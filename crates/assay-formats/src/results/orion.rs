//! ORION's summary and its csv files: one number a data point.

use super::amount::NumberPlace;
use super::dates;
use super::imported::{
    ImportedContent, ImportedResult, ImportedRow, Lack, NamedText, broken, refused, total,
};
use super::numbers::{after, number, whole};
use super::rows::{count, word};
use assay_model::Result;
use assay_model::number::real;
use assay_model::study::StudySetting;
use assay_model::units::Bytes;
use assay_model::verdict::NamedEstimate;
use std::collections::BTreeMap;

const READ_TIME: &str = "read.service_time.mean";
/// Data points of a matrix at most.
const POINTS_MAX: usize = 100_000;
/// Lines in which the name of the test stands.
const LINES_OF_NAME: usize = 4;
/// The heading of the histogram that `-histogram` adds.
const HISTOGRAM: &str = "Latency Histogram";
/// What a summary begins with, before the number of its version.
const VERSION: &str = "ORION VERSION ";
/// The lines of the best points.
const BEST: [&str; 3] = ["Maximum Large MBPS", "Maximum Small IOPS", "Minimum Small Latency"];

/// Whether a text is a summary, or what ORION printed.
pub fn is_summary(text: &str) -> bool {
    text.contains(VERSION)
        || text.contains("ORION: ORacle IO Numbers")
        || BEST[..2].iter().any(|line| text.contains(line))
}

/// Whether a text is one of its csv files.
pub fn is_matrix(text: &str) -> bool {
    text.trim_start().starts_with("Large/Small")
}

/// The name that all files of a test begin with.
pub fn test_of(name: &str) -> &str {
    let end = ["_iops", "_mbps", "_lat", "_summary"].iter().find_map(|end| name.rfind(end));
    end.map_or(name, |end| &name[..end])
}

/// Reads the files of a test: its summary, its csv files, or all of them.
///
/// # Errors
/// A usage error where one is cut off, or does not say what it holds.
pub fn read(files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let summaries = files.iter().filter(|file| !is_matrix(file.text));
    let summaries: Vec<OrionSummary<'_>> =
        summaries.flat_map(|file| OrionSummary::all(file.text)).collect();
    let mut points = Points::default();
    for file in files.iter().filter(|file| is_matrix(file.text)) {
        read_matrix(*file, summaries.first(), &mut points)?;
    }
    for (number, summary) in (1..).zip(&summaries) {
        summary.read((summaries.len() > 1).then_some(number), &mut points)?;
    }
    let mut rows = points.rows;
    if rows.is_empty() {
        return Err(broken("ORION", "it has no data points"));
    }
    for (number, summary) in (1..).zip(&summaries) {
        let run = count("run", number);
        let is_of = |row: &&mut ImportedRow| summaries.len() == 1 || row.settings.contains(&run);
        let of_run = rows.iter_mut().filter(is_of);
        of_run.for_each(|row| row.settings.extend(summary.settings()));
    }
    let version = summaries.first().map_or("", |summary| summary.version);
    let is_joint = |summary: &OrionSummary<'_>| {
        summary.after("Write:").is_some_and(|percent| percent > 0.0) && !summary.has_sides()
    };
    let has_histogram = summaries.iter().any(|summary| summary.text.contains(HISTOGRAM));
    let started_unix_ns = files.iter().find_map(|file| date_of_test(file.text, file.name));
    for row in &mut rows {
        row.started_unix_ns = started_unix_ns;
    }
    let lacks = [
        (true, Lack::Intervals),
        (!has_histogram, Lack::Quantiles),
        (has_histogram, Lack::TimesLeftOut("the latency histogram".to_owned())),
        (true, Lack::Environment),
        (started_unix_ns.is_none(), Lack::Date),
        (summaries.iter().any(is_joint), Lack::Operations),
        (summaries.is_empty(), Lack::Load),
        (rows.iter().any(|row| row.elapsed_s.is_none()), Lack::Duration),
    ];
    Ok(ImportedResult {
        program: format!("ORION {version}").trim_end().to_owned(),
        name: files.first().map_or("summary", |file| test_of(file.name)).to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: lacks.into_iter().filter_map(|(is, lack)| is.then_some(lack)).collect(),
    })
}

/// When a test began: from 11.2 on its name ends with it, `orion_20260101_1200`.
fn date_of_test(text: &str, name: &str) -> Option<u64> {
    let lines = text.lines().take(LINES_OF_NAME).map(str::trim).filter(|line| !line.contains(' '));
    lines.chain([name]).find_map(|name| {
        let mut parts = name.split(['_', '.']);
        let date =
            parts.find(|part| part.len() == 8 && part.bytes().all(|one| one.is_ascii_digit()))?;
        let clock = parts.next().filter(|part| part.len() == 4 && part.is_ascii())?;
        let (year, day) = date.split_at(4);
        dates::iso(&format!(
            "{year}-{}-{} {}:{}:00",
            &day[..2],
            &day[2..],
            &clock[..2],
            &clock[2..]
        ))
    })
}

/// The version in the first line of a summary. Copies lose the first letters of a file:
/// `RION VERSION 11.1.0.7.0`.
fn version_of(line: &str) -> Option<&str> {
    let (before, version) = match line.split_once(VERSION) {
        Some((_, version)) => ("", version),
        None => line.trim_start().split_once("VERSION ")?,
    };
    let is_version = version.starts_with(|sign: char| sign.is_ascii_digit())
        && version.trim().chars().all(|sign| sign.is_ascii_digit() || sign == '.');
    ("ORION ".ends_with(before) && is_version).then_some(version)
}

/// Where the lines with versions begin.
fn begins(text: &str) -> Vec<usize> {
    let mut place = 0;
    let mut begins = Vec::new();
    for line in text.split_inclusive('\n') {
        begins.extend(version_of(line).is_some().then_some(place));
        place += line.len();
    }
    begins
}

/// What ORION wrote of one run.
struct OrionSummary<'a> {
    text: &'a str,
    version: &'a str,
}

impl<'a> OrionSummary<'a> {
    /// Every run of a text, which begins with its version; so does what stands before the first
    /// version, if it has best points.
    fn all(text: &'a str) -> Vec<Self> {
        let mut begins = begins(text);
        let before = &text[..begins.first().copied().unwrap_or_default()];
        match begins.first_mut() {
            Some(first) if BEST.iter().all(|line| !before.contains(line)) => *first = 0,
            _ => begins.insert(0, 0),
        }
        let ends = begins.iter().skip(1).copied().chain([text.len()]);
        begins.iter().zip(ends).map(|(begin, end)| Self::new(&text[*begin..end])).collect()
    }

    fn new(text: &'a str) -> Self {
        let version = text.lines().find_map(|line| {
            version_of(line).or_else(|| line.split_once("-- Version ").map(|(_, version)| version))
        });
        Self { text, version: version.map(str::trim).unwrap_or_default() }
    }

    fn after(&self, label: &str) -> Option<f64> {
        after(self.text, label)
    }

    /// Up to 11.1 times are in milliseconds, later in microseconds.
    fn unit_ns(&self) -> Option<f64> {
        let mut parts = self.version.split('.').map(|part| part.trim().parse::<u32>().ok());
        let (major, minor) = (parts.next().flatten()?, parts.next().flatten().unwrap_or(0));
        Some(if (major, minor) < (11, 2) { 1e6 } else { 1e3 })
    }

    fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.text.lines().map(str::trim)
    }

    /// Whether times of reads and writes are told apart.
    fn has_sides(&self) -> bool {
        self.lines().any(|line| PrintedStatistics::parse(line).is_some())
    }

    /// Its three best points, and their times.
    fn read(&self, run: Option<u64>, points: &mut Points) -> Result<()> {
        let elapsed_s = self.after("Duration for each Data Point:");
        let mut best = Vec::new();
        // What stands at the point is the end of each line.
        let is_whole = |line: &str| after(line, "Large=").is_some();
        for line in self.lines().filter(|line| BEST.iter().any(|best| line.starts_with(best))) {
            let what = || broken("ORION", &format!("the line '{}'", super::rows::cut(line)));
            best.push(self.best(line).filter(|_| is_whole(line)).ok_or_else(what)?);
        }
        if best.is_empty() {
            return Err(broken(
                "ORION",
                "it has none of the lines Maximum Small IOPS, Maximum Large MBPS, Minimum Small \
                 Latency: the run did not finish",
            ));
        }
        for (measure, at) in best {
            points.add(point(at, run), measure, elapsed_s);
        }
        for times in self.lines().filter_map(PrintedStatistics::parse) {
            for measure in times.measures() {
                points.add(point(times.point, run), measure, elapsed_s);
            }
        }
        Ok(())
    }

    /// What all points have in common.
    fn settings(&self) -> Vec<StudySetting> {
        let size = |label: &str, factor: &str| {
            let kibibytes = self.after(label).map(assay_model::number::count)?;
            Some(word(factor, &Bytes(kibibytes.saturating_mul(1024)).to_string()))
        };
        let writes = self.after("Write:").filter(|percent| *percent <= 100.0);
        let settings = [
            size("Small IO size:", "block_size"),
            size("Large IO size:", "large_block_size"),
            writes.map(|percent| word("read_share", &format!("{}%", 100.0 - percent))),
        ];
        settings.into_iter().flatten().chain(self.devices()).collect()
    }

    /// `Name: /dev/vdb  Size: 21474836480`, a line for each device.
    fn devices(&self) -> Option<StudySetting> {
        let names = self.lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("Name: ")?.split_once("Size:")?;
            Some(name.trim())
        });
        let names = names.collect::<Vec<_>>().join(" ");
        (!names.is_empty()).then(|| word("device", &names))
    }

    /// One of the best points, `Maximum Small IOPS=900 @ Small=5 and Large=0`.
    fn best(&self, line: &'a str) -> Option<(NamedEstimate, &'a str)> {
        let (what, rest) = line.split_once('=')?;
        let (value, point) = rest.split_once('@')?;
        let number = number(value.split_whitespace().next()?)?;
        let measure = match what {
            "Maximum Large MBPS" => total("throughput", number * 1e6),
            "Maximum Small IOPS" => total("iops", number),
            "Minimum Small Latency" => {
                let named = [("usec", 1e3), ("msec", 1e6)];
                let unit_ns = named.iter().find(|(unit, _)| value.contains(unit));
                let unit_ns = unit_ns.map(|(_, ns)| *ns).or_else(|| self.unit_ns());
                total(READ_TIME, number * unit_ns.unwrap_or(1e6))
            }
            _ => return None,
        };
        Some((measure, point))
    }
}

/// From 12.2 each best point of small I/Os has its times, `Small Write Latency: avg=392.499 us,
/// min=…, max=…, std dev=… @ Small=5 and Large=0`.
struct PrintedStatistics<'a> {
    side: &'static str,
    times: &'a str,
    point: &'a str,
}

impl<'a> PrintedStatistics<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (times, point) = line.split_once('@')?;
        let side = match times.split_once(':')?.0 {
            "Small Read Latency" => "read",
            "Small Write Latency" => "write",
            _ => return None,
        };
        after(times, "avg=")?;
        Some(Self { side, times, point })
    }

    fn measures(&self) -> impl Iterator<Item = NamedEstimate> {
        let statistics =
            [("avg=", "mean"), ("min=", "min"), ("max=", "max"), ("std dev=", "stddev")];
        statistics.into_iter().filter_map(|(label, statistic)| {
            let time_us = after(self.times, label)?;
            Some(total(&format!("{}.service_time.{statistic}", self.side), time_us * 1e3))
        })
    }
}

/// The data points of a test, found by their loads.
#[derive(Default)]
struct Points {
    rows: Vec<ImportedRow>,
    places: BTreeMap<PointLoad, usize>,
}

/// What tells data points apart: the run where there are several, and how many I/Os were
/// outstanding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PointLoad {
    run: Option<u64>,
    large: u64,
    small: u64,
}

impl PointLoad {
    fn settings(self) -> Vec<StudySetting> {
        let run = self.run.map(|run| count("run", run));
        let queue_depth =
            [count("large_outstanding", self.large), count("queue_depth", self.small)];
        run.into_iter().chain(queue_depth).collect()
    }
}

impl Points {
    /// Adds a number to its point; a time of reads alone takes the place of the best one, which is
    /// of reads and writes.
    fn add(&mut self, load: PointLoad, measure: NamedEstimate, elapsed_s: Option<f64>) {
        let place = *self.places.entry(load).or_insert_with(|| {
            let settings = load.settings();
            let queue_depth_max = Some(real(load.small)).filter(|_| load.large == 0);
            let row = ImportedRow { settings, elapsed_s, queue_depth_max, ..Default::default() };
            self.rows.push(row);
            self.rows.len() - 1
        });
        let measures = &mut self.rows[place].measures;
        match measures.iter_mut().find(|known| known.quantity == measure.quantity) {
            Some(known) => *known = measure,
            None => measures.push(measure),
        }
    }
}

/// `Small=5 and Large=0`.
fn point(text: &str, run: Option<u64>) -> PointLoad {
    let number = |name: &str| after(text, name).map_or(0, assay_model::number::count);
    PointLoad { run, large: number("Large="), small: number("Small=") }
}

/// Reads one of the csv files: rows are loads of large I/Os, columns loads of small ones; its name
/// says what it holds.
fn read_matrix(
    file: NamedText<'_>,
    summary: Option<&OrionSummary<'_>>,
    points: &mut Points,
) -> Result<()> {
    let (quantity, unit) = match file.name {
        name if name.contains("_iops") => ("iops", 1.0),
        name if name.contains("_mbps") => ("throughput", 1e6),
        name if name.contains("_lat") => (READ_TIME, time_unit_ns(summary)?),
        _ => {
            return Err(broken(
                "ORION",
                "the name of the file does not state its content: _iops, _mbps or _lat",
            ));
        }
    };
    let elapsed_s = summary.and_then(|summary| summary.after("Duration for each Data Point:"));
    let mut lines = (1..).zip(file.text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let columns: Vec<Option<u64>> = lines
        .next()
        .map(|(_, line)| line.split(',').skip(1).map(whole).collect())
        .unwrap_or_default();
    for (line, text) in lines {
        let mut cells = text.split(',');
        let large = cells.next().and_then(whole);
        let large =
            large.ok_or_else(|| broken("ORION", "a row without its number of large I/Os"))?;
        let place = NumberPlace { program: "ORION", line, what: quantity };
        for (small, cell) in columns.iter().zip(cells) {
            let (Some(small), Some(value)) = (small, place.amount(cell)?) else { continue };
            let load = PointLoad { run: None, large, small: *small };
            points.add(load, total(quantity, value * unit), elapsed_s);
        }
        if points.rows.len() > POINTS_MAX {
            return Err(broken("ORION", "more than 100000 data points"));
        }
    }
    Ok(())
}

/// The csv file has times without a unit, which depends on the version that only the summary says.
fn time_unit_ns(summary: Option<&OrionSummary<'_>>) -> Result<f64> {
    summary.and_then(OrionSummary::unit_ns).ok_or_else(|| {
        refused(
            "ORION",
            "the unit of its times is not known: milliseconds up to version 11.1, microseconds \
             later",
            "put the summary of the same run next to it: TEST_summary.txt for TEST_lat.csv",
        )
    })
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    fn named<'a>(name: &'a str, text: &'a str) -> NamedText<'a> {
        NamedText { name, text }
    }

    fn summary(text: &str) -> Result<ImportedResult> {
        read(&[named("x_summary.txt", text)])
    }

    #[test]
    fn the_best_points_of_a_summary_are_rows() {
        let text = "ORION VERSION 11.1.0.7.0\nSmall IO size: 8 KB\nMaximum Large MBPS=10.50 @ \
                    Small=0 and Large=2\nMaximum Small IOPS=900 @ Small=5 and Large=0\nMinimum \
                    Small Latency=0.26 @ Small=5 and Large=0\n";
        let found = summary(text).unwrap();
        assert_eq!(found.program, "ORION 11.1.0.7.0");
        assert!(found.lacks.contains(&Lack::Duration));
        let found = rows(found);
        assert_eq!((found.len(), value(&found[1], READ_TIME)), (2, 260_000.0));
        assert_eq!(setting(&found[1], "block_size"), "8KiB");
        // Two runs in one file are two runs.
        assert_eq!(rows(summary(&text.repeat(2)).unwrap()).len(), 4);
        assert!(summary("Maximum Large MBPS=").is_err());
        assert!(summary("Maximum Small IOPS=inf @ Small=5 and Large=0\n").is_err());
    }

    #[test]
    fn times_of_reads_and_writes_are_told_apart_where_they_are_printed() {
        let best = "ORION VERSION 12.2.0.1.0\nWrite: 50%\nDuration for each Data Point: 30 \
                    seconds\nMinimum Small Latency=4400 usecs @ Small=4 and Large=0\n";
        let old = summary(best).unwrap();
        assert!(old.lacks.contains(&Lack::Operations));
        assert_eq!(value(&rows(old)[0], READ_TIME), 4_400_000.0);
        let times = "Small Read Latency: avg=4455.933 us, min=1.0 us, max=9.5 us, std dev=0.5 us @ Small=4 and Large=0\nSmall \
                     Write Latency: avg=4363.848 us, min=1.0 us @ Small=4 and Large=0\n";
        let found = summary(&format!("{best}{times}")).unwrap();
        assert!(!found.lacks.contains(&Lack::Operations));
        let found = rows(found);
        assert_eq!(
            [READ_TIME, "write.service_time.mean"].map(|one| value(&found[0], one)),
            [4_455_933.0, 4_363_848.0]
        );
        let others = ["min", "max", "stddev"].map(|one| format!("read.service_time.{one}"));
        assert_eq!(others.map(|one| value(&found[0], &one)), [1000.0, 9500.0, 500.0]);
        assert_eq!((found.len(), found[0].elapsed_s), (1, Some(30.0)));
    }

    #[test]
    fn a_matrix_has_a_row_a_point() {
        let text = "Large/Small,      1,      2\n      0,    100,    200\n      1,     90,\n";
        assert_eq!(rows(read(&[named("x_iops.csv", text)]).unwrap()).len(), 3);
        for (name, text) in [("x.csv", text), ("x_iops.csv", "Large/Small, 1\n0, inf\n")] {
            assert!(read(&[named(name, text)]).is_err(), "{name}");
        }
    }

    #[test]
    fn times_of_a_matrix_have_the_unit_of_their_version() {
        let times = named("x_lat.csv", "Large/Small, 1\n0, 5.73\n");
        let error = read(&[times]).unwrap_err();
        assert!(error.message().contains("unit") && error.hint().contains("TEST_summary.txt"));
        for (version, expected_ns) in [("11.1.0.7.0", 5_730_000.0), ("11.2.0.4.0", 5730.0)] {
            let summary =
                format!("ORION VERSION {version}\nMaximum Small IOPS=900 @ Small=1 and Large=0\n");
            let found = read(&[times, named("x_summary.txt", &summary)]).unwrap();
            let found = rows(found);
            assert_eq!(
                (found.len(), value(&found[0], READ_TIME), value(&found[0], "iops")),
                (1, expected_ns, 900.0)
            );
        }
        assert_eq!(["x_lat.csv", "x_summary.txt", "y_iops.csv"].map(test_of), ["x", "x", "y"]);
    }

    #[test]
    fn a_test_has_its_devices_its_date_and_names_its_histogram() {
        let text = "ORION VERSION 12.2.0.1.0\norion_20250115_1030\nName: /dev/sdx  Size: 1024\nName: \
                    /dev/sdy\tSize: 1024\nMaximum Small IOPS=900 @ Small=5 and Large=0\nSmall Read \
                    / Write Latency Histogram @ Small=5 and Large=0\n 0 - 32 us: 0 ( 0.00%)\n";
        let found = summary(text).unwrap();
        assert!(!found.lacks.contains(&Lack::Quantiles) && !found.lacks.contains(&Lack::Date));
        assert!(found.lacks.iter().any(|lack| matches!(lack, Lack::TimesLeftOut(_))));
        let row = &rows(found)[0];
        assert_eq!(setting(row, "device"), "/dev/sdx /dev/sdy");
        assert_eq!(row.started_unix_ns, Some(1_736_937_000_000_000_000));
    }
    #[test]
    fn a_summary_whose_first_letters_were_lost_is_a_run_of_its_own() {
        let summary = |begin: &str, iops: u32| {
            format!(
                "{begin}VERSION 11.1.0.7.0\n\nWrite: 0%\nDuration for each Data Point: 60 \
                 seconds\n\nMaximum Small IOPS={iops} @ Small=5 and Large=0\nMinimum Small \
                 Latency=0.25 @ Small=1 and Large=0\n\n"
            )
        };
        for cut in ["ORION ", "RION ", "N ", ""] {
            let text = [summary(cut, 900), summary("ORION ", 800)].concat();
            let file = NamedText { name: "four.txt", text: &text };
            let found = rows(read(&[file]).unwrap());
            let iops: Vec<f64> =
                found.iter().map(|row| value(row, "iops")).filter(|iops| *iops > 0.0).collect();
            assert_eq!(iops, [900.0, 800.0], "{cut:?}");
            assert_eq!(value(&found[1], READ_TIME), 0.25e6);
        }
        // Without the line of its version, too.
        let headless = summary("", 700);
        let (_, headless) = headless.split_once('\n').unwrap();
        let text = format!("{headless}{}", summary("ORION ", 800));
        assert_eq!(rows(read(&[NamedText { name: "x", text: &text }]).unwrap()).len(), 4);
        assert_eq!(version_of("PRODUCTION VERSION 7"), None);
    }
}
