//! Vdbench's flatfile: one row per run, from its intervals.

use super::columns::HeaderColumns;
use super::dates;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::numbers::{number, whole};
use super::rows::{count, word};
use super::table::{self, ValueShare};
use assay_model::number::{count_of, real_len};
use assay_model::study::StudySetting;
use assay_model::units::Bytes;
use assay_model::verdict::NamedEstimate;
use assay_model::{Estimate, Result};

/// Bytes of Vdbench's megabyte.
pub(super) const MEGABYTE: f64 = 1_048_576.0;
/// Columns of a row at most, and rows of a file.
const COLUMNS_MAX: usize = 1024;
const ROWS_MAX: usize = 4_000_000;
const DAY_S: f64 = 86_400.0;

/// Columns that say nothing of the load, or say it once more.
const RESULTS: &str = "tod timestamp interval rate mb/sec bytes/io read% resp read_resp \
                       write_resp resp_max read_max
    write_max resp_std read_std write_std version queue_depth cpu_used cpu_user cpu_kernel \
                       cpu_wait cpu_idle mb_read
    mb_write mb/sec_read mb/sec_write read_rate write_rate";

/// Ends of columns of loads on file systems: of each operation its rate and its times.
const RESULT_ENDS: [&str; 4] = ["_rate", "_resp", "_std", "_max"];
/// How Vdbench writes a rate that is not limited, and that of a curve's first run.
const RATE_MAX: f64 = 9_999_988.0;
const RATE_OF_CURVE: f64 = 9_999_977.0;
/// Sizes of one load that differ by more are several.
const ONE_SIZE_SHARE: f64 = 0.01;

/// Whether a text has the header line of a flatfile.
pub fn is_flatfile(text: &str) -> bool {
    header(text).is_some()
}

/// The names of the columns and the number of the line that has them.
fn header(text: &str) -> Option<(usize, Vec<&str>)> {
    let lines = text.lines().enumerate().take(10_000);
    let mut words = lines.map(|(number, line)| {
        (number, line.split_whitespace().take(COLUMNS_MAX).collect::<Vec<_>>())
    });
    words.find(|(_, words)| {
        let has = |name: &str| words.iter().any(|word| word.eq_ignore_ascii_case(name));
        has("tod") && has("run") && has("interval") && has("rate") && has("resp")
    })
}

/// Reads a flatfile.
///
/// # Errors
/// A usage error where it is cut off or holds no interval of a run.
pub fn read_flatfile(text: &str) -> Result<ImportedResult> {
    let (line, names) = header(text).ok_or_else(|| broken("Vdbench", "it has no header line"))?;
    let mut columns = HeaderColumns::new(names.iter().copied());
    columns.skip(|name| {
        RESULTS.split_whitespace().any(|known| known == name)
            || RESULT_ENDS.iter().any(|end| name.ends_with(end))
    });
    let table = FlatfileTable::new(&names, &mut columns);
    let mut runs: Vec<FlatfileRun<'_>> = Vec::new();
    for (number, words) in text.lines().enumerate().skip(line + 1).take(ROWS_MAX) {
        let cells: Vec<&str> = words.split_whitespace().take(COLUMNS_MAX).collect();
        if cells.len() != names.len() {
            let is_interval = cells.first().is_some_and(|clock| dates::clock_s(clock).is_some());
            if is_interval && cells.len() < names.len() {
                return Err(broken("Vdbench", &format!("line {} is cut off", number + 1)));
            }
            continue;
        }
        add(&mut runs, &table, cells);
    }
    // Where files were only created, that is the load.
    let has_others = runs.iter().any(|run| !run.is_format);
    runs.retain(|run| !run.is_format || !has_others);
    if runs.is_empty() {
        return Err(broken("Vdbench", "it has no intervals"));
    }
    let mut rows: Vec<ImportedRow> = runs.iter().map(|run| run.row(&table)).collect();
    let cells: Vec<Vec<&str>> = runs.iter().map(|run| run.intervals[0].cells.clone()).collect();
    let mut lacks = vec![Lack::Quantiles, Lack::Environment];
    lacks.extend(columns.keep_apart(&mut rows, &cells));
    let left_out: u64 = runs.iter().map(|run| run.left_out(&table)).sum();
    lacks.extend((left_out > 0).then_some(Lack::RowsLeftOut(left_out)));
    lacks.extend(rows.iter().any(|row| row.started_unix_ns.is_none()).then_some(Lack::Date));
    Ok(ImportedResult {
        program: "Vdbench".to_owned(),
        name: "flatfile".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    })
}

/// Puts a line to the run that it belongs to: another one begins where its name or a setting
/// changes, or its intervals are counted from the beginning again.
fn add<'a>(runs: &mut Vec<FlatfileRun<'a>>, table: &FlatfileTable, cells: Vec<&'a str>) {
    let Some(name) = FlatfileTable::cell(&cells, table.interval) else { return };
    if let Some((from, to)) = average(name) {
        if let Some(run) = runs.last_mut() {
            run.measured = Some((from, to));
            run.averages = Some(cells);
        }
        return;
    }
    let Some(index) = whole(name) else { return };
    let settings = table.settings(&cells);
    let interval = IntervalLine { index, cells };
    let same = |run: &&mut FlatfileRun<'_>| {
        run.settings == settings && run.intervals.last().is_some_and(|last| last.index < index)
    };
    if let Some(run) = runs.last_mut().filter(same) {
        run.intervals.push(interval);
    } else {
        let name = FlatfileTable::cell(&interval.cells, table.run).unwrap_or_default();
        let is_format = name.starts_with("format") || name.ends_with("_format");
        runs.push(FlatfileRun {
            settings,
            intervals: vec![interval],
            measured: None,
            averages: None,
            is_format,
        });
    }
}

/// The intervals of `avg_7-126`.
pub(super) fn average(word: &str) -> Option<(u64, u64)> {
    let (_, range) = word.split_once("avg_")?;
    let (from, to) = range.split_once('-')?;
    Some((whole(from)?, whole(to)?))
}

/// One interval of a run.
struct IntervalLine<'a> {
    index: u64,
    cells: Vec<&'a str>,
}

/// A run of Vdbench.
struct FlatfileRun<'a> {
    settings: Vec<StudySetting>,
    intervals: Vec<IntervalLine<'a>>,
    /// The intervals that Vdbench averages: those behind its warm-up.
    measured: Option<(u64, u64)>,
    /// Its line of averages.
    averages: Option<Vec<&'a str>>,
    is_format: bool,
}

/// The columns of the file.
struct FlatfileTable {
    tod: Option<usize>,
    timestamp: Option<usize>,
    run: Option<usize>,
    interval: Option<usize>,
    read_percent: Option<usize>,
    io_bytes: Option<usize>,
    size_column: Option<usize>,
    /// The columns that are measured.
    rate: Option<usize>,
    megabytes: Option<usize>,
    response: Option<usize>,
    reads: Option<usize>,
    writes: Option<usize>,
    reads_max: Option<usize>,
    writes_max: Option<usize>,
    longest: Option<usize>,
    deviation: Option<usize>,
    depth: Option<usize>,
    cpu: Option<usize>,
    settings: Vec<(usize, &'static str)>,
}

impl FlatfileTable {
    fn new(names: &[&str], columns: &mut HeaderColumns) -> Self {
        let place = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let settings = [
            ("run", "run"),
            ("reqrate", "rate"),
            ("xfersize", "block_size"),
            ("threads", "queue_depth"),
            ("rdpct", "read_share"),
            ("seekpct", "random_share"),
            ("rhpct", "read_hits"),
            ("whpct", "write_hits"),
            ("lunsize", "lun_size"),
            ("compratio", "compression"),
            ("dedupratio", "deduplication"),
        ];
        // Of a load on file systems the size is one that was measured.
        let is_of_files = place("mkdir_rate").is_some();
        let found =
            settings.iter().filter_map(|(column, factor)| Some((columns.named(column)?, *factor)));
        Self {
            settings: found.filter(|(_, name)| !is_of_files || *name != "block_size").collect(),
            io_bytes: place("bytes/io"),
            size_column: place("xfersize"),
            tod: place("tod"),
            timestamp: place("timestamp"),
            run: place("run"),
            interval: place("interval"),
            read_percent: place("read%"),
            rate: place("rate"),
            megabytes: place("mb/sec"),
            response: place("resp"),
            reads: place("read_resp"),
            writes: place("write_resp"),
            reads_max: place("read_max"),
            writes_max: place("write_max"),
            longest: place("resp_max"),
            deviation: place("resp_std"),
            depth: place("queue_depth"),
            cpu: place("cpu_used"),
        }
    }

    fn cell<'a>(cells: &[&'a str], column: Option<usize>) -> Option<&'a str> {
        cells.get(column?).copied()
    }

    fn number(cells: &[&str], column: Option<usize>) -> Option<f64> {
        Self::cell(cells, column).and_then(decimal)
    }

    fn settings(&self, cells: &[&str]) -> Vec<StudySetting> {
        let settings = self.settings.iter().filter_map(|(column, factor)| {
            let text =
                Self::cell(cells, Some(*column)).filter(|text| !["n/a", "-"].contains(text))?;
            Some(match (*factor, number(text)) {
                ("run", _) => word(factor, text),
                (_, Some(zero))
                    if zero <= 0.0 && *factor != "random_share" && *factor != "read_share" =>
                {
                    return None;
                }
                ("block_size", Some(bytes)) => {
                    word(factor, &Bytes(assay_model::number::count(bytes)).to_string())
                }
                ("lun_size", Some(gibibytes)) => word(factor, &format!("{gibibytes}GiB")),
                ("queue_depth", Some(threads)) => {
                    count(factor, assay_model::number::count(threads))
                }
                ("rate", Some(rate)) if rate >= RATE_MAX => word(factor, "max"),
                ("rate", Some(rate)) if rate >= RATE_OF_CURVE => word(factor, "curve"),
                ("rate", Some(rate)) => word(factor, &format!("{rate}/s")),
                ("read_share" | "random_share" | "read_hits" | "write_hits", Some(percent)) => {
                    word(factor, &format!("{percent}%"))
                }
                _ => word(factor, text),
            })
        });
        settings.collect()
    }
}

/// A number whose decimal mark may be a comma: no number of the file has marks between thousands.
fn decimal(text: &str) -> Option<f64> {
    number(text).or_else(|| number(&text.replacen(',', ".", 1)))
}

impl FlatfileRun<'_> {
    /// The intervals that count: those that Vdbench averages, or all but the first, which is its
    /// own warm-up.
    fn counted(&self) -> &[IntervalLine<'_>] {
        let all = &self.intervals;
        let place = |index: u64| all.iter().position(|one| one.index == index);
        let named = self.measured.and_then(|(from, to)| all.get(place(from)?..=place(to)?));
        named
            .filter(|counted| !counted.is_empty())
            .unwrap_or_else(|| if all.len() > 1 { &all[1..] } else { all })
    }

    /// Intervals that count and lack one of the numbers that others have.
    fn left_out(&self, table: &FlatfileTable) -> u64 {
        let columns = [table.rate, table.megabytes, table.response, table.reads, table.writes];
        let counted = self.counted();
        let has =
            |one: &IntervalLine<'_>, column| FlatfileTable::number(&one.cells, column).is_some();
        let used: Vec<Option<usize>> = columns
            .into_iter()
            .filter(|column| column.is_some() && counted.iter().any(|one| has(one, *column)))
            .collect();
        let lacks = counted.iter().filter(|one| used.iter().any(|column| !has(one, *column)));
        count_of(lacks.count())
    }

    fn row(&self, table: &FlatfileTable) -> ImportedRow {
        let (length_s, elapsed_s) = self.times(table);
        let started_unix_ns = self.ended_first(table).map(|end_ns| {
            end_ns.saturating_sub(length_s.map_or(0, assay_model::number::nanoseconds))
        });
        let mut settings = self.settings.clone();
        settings.retain(|setting| setting.factor != "block_size" || self.has_one_size(table));
        let measures = self.measures(table);
        ImportedRow { settings, started_unix_ns, elapsed_s, measures, ..ImportedRow::default() }
    }

    /// Whether the I/Os have the size that the row names: of a list of sizes it is the first.
    fn has_one_size(&self, table: &FlatfileTable) -> bool {
        let size = table.size_column;
        self.counted().iter().all(|one| {
            let sizes = FlatfileTable::number(&one.cells, size)
                .zip(FlatfileTable::number(&one.cells, table.io_bytes));
            sizes.is_none_or(|(named, measured)| {
                measured <= 0.0 || (measured / named - 1.0).abs() <= ONE_SIZE_SHARE
            })
        })
    }

    /// When the first interval that counts ended.
    fn ended_first(&self, table: &FlatfileTable) -> Option<u64> {
        let text = FlatfileTable::cell(&self.counted().first()?.cells, table.timestamp)?;
        let seconds =
            || whole(text).filter(|second| *second > 1_000_000_000)?.checked_mul(1_000_000_000);
        dates::month_first(text).or_else(seconds)
    }

    /// The length of an interval, and of all that count, by the clock; intervals may be of any
    /// length.
    fn times(&self, table: &FlatfileTable) -> (Option<f64>, Option<f64>) {
        let ends: Option<Vec<f64>> = self
            .intervals
            .iter()
            .map(|one| FlatfileTable::cell(&one.cells, table.tod).and_then(dates::clock_s))
            .collect();
        let Some(ends) = ends.filter(|ends| ends.len() > 1) else { return (None, None) };
        let steps = ends.windows(2).map(|two| (two[1] - two[0]).rem_euclid(DAY_S));
        let mut steps: Vec<f64> = steps.collect();
        let all_s: f64 = steps.iter().sum();
        steps.sort_by(f64::total_cmp);
        // The clock may jump, and the last interval may be a short one.
        let length_s = steps[steps.len() / 2];
        let counted = self.counted().len();
        let elapsed_s =
            if counted + 1 == ends.len() { all_s } else { real_len(counted) * length_s };
        (Some(length_s), Some(elapsed_s))
    }

    fn measures(&self, table: &FlatfileTable) -> Vec<NamedEstimate> {
        let numbers = |column: Option<usize>, unit: f64| -> Vec<f64> {
            let values =
                self.counted().iter().filter_map(|one| FlatfileTable::number(&one.cells, column));
            values.map(|value| value * unit).collect()
        };
        let most = |quantity: &str, column: Option<usize>| {
            let longest_ms = numbers(column, 1.0).into_iter().reduce(f64::max)?;
            (longest_ms > 0.0).then(|| total(quantity, longest_ms * 1e6))
        };
        // By default an interval lasts a second.
        let interval_s = self.times(table).0.unwrap_or(1.0);
        let measures = [
            table::mean("iops", &numbers(table.rate, 1.0), interval_s),
            table::mean("throughput", &numbers(table.megabytes, MEGABYTE), interval_s),
            table::weighted_mean(
                "response_time.mean",
                &self.times_of(table, table.response, |_| 1.0),
                interval_s,
            ),
            table::weighted_mean(
                "read.response_time.mean",
                &self.times_of(table, table.reads, |share| share),
                interval_s,
            ),
            table::weighted_mean(
                "write.response_time.mean",
                &self.times_of(table, table.writes, |share| 1.0 - share),
                interval_s,
            ),
            most("read.response_time.max", table.reads_max),
            most("write.response_time.max", table.writes_max),
            most("response_time.max", table.longest),
            self.average(table.deviation, "response_time.stddev", 1e6),
            self.mean_of("read_share", table, table.read_percent, 0.01),
            self.mean_of("block_size_mean", table, table.io_bytes, 1.0)
                .filter(|_| !self.has_one_size(table)),
            self.mean_of("queue_depth_mean", table, table.depth, 1.0),
            self.mean_of("host.cpu_busy", table, table.cpu, 0.01),
        ];
        measures.into_iter().flatten().map(|one| self.as_averaged(table, one)).collect()
    }

    /// A number of the line of averages in base units, where it is not zero.
    fn average(&self, column: Option<usize>, quantity: &str, unit: f64) -> Option<NamedEstimate> {
        let value = FlatfileTable::number(self.averages.as_ref()?, column)?;
        (value > 0.0).then(|| total(quantity, value * unit))
    }

    /// The mean of a column over all operations, where the file has it.
    fn mean_of(
        &self,
        quantity: &str,
        table: &FlatfileTable,
        column: Option<usize>,
        unit: f64,
    ) -> Option<NamedEstimate> {
        let values = self.counted().iter().filter_map(|one| {
            let weight = FlatfileTable::number(&one.cells, table.rate)?;
            let value = FlatfileTable::number(&one.cells, column)? * unit;
            Some(ValueShare { value, weight })
        });
        let values: Vec<ValueShare> = values.collect();
        let is_measured = values.iter().any(|one| one.value > 0.0);
        let mean = table::weighted_mean(quantity, &values, 1.0).filter(|_| is_measured)?;
        Some(total(quantity, mean.estimate.value))
    }

    /// A mean of intervals with the value of the line of averages, which has all digits of the
    /// file.
    fn as_averaged(&self, table: &FlatfileTable, mean: NamedEstimate) -> NamedEstimate {
        let column = match mean.quantity.as_str() {
            "iops" => (table.rate, 1.0),
            "throughput" => (table.megabytes, MEGABYTE),
            "response_time.mean" => (table.response, 1e6),
            "read.response_time.mean" => (table.reads, 1e6),
            "write.response_time.mean" => (table.writes, 1e6),
            "read_share" => (table.read_percent, 0.01),
            "block_size_mean" => (table.io_bytes, 1.0),
            "queue_depth_mean" => (table.depth, 1.0),
            "host.cpu_busy" => (table.cpu, 0.01),
            _ => (None, 1.0),
        };
        match self.average(column.0, &mean.quantity, column.1) {
            Some(averaged) if mean.estimate.covers(averaged.estimate.value) => {
                let value = averaged.estimate.value;
                NamedEstimate { estimate: Estimate { value, ..mean.estimate }, ..averaged }
            }
            Some(averaged) => averaged,
            None => mean,
        }
    }

    /// A mean time of each interval, for as many I/Os as it is of: the rate by a share that depends
    /// on that of reads.
    fn times_of(
        &self,
        table: &FlatfileTable,
        column: Option<usize>,
        share: impl Fn(f64) -> f64,
    ) -> Vec<ValueShare> {
        let times = self.counted().iter().filter_map(|one| {
            let value = FlatfileTable::number(&one.cells, column)? * 1e6;
            let rate = FlatfileTable::number(&one.cells, table.rate).unwrap_or(1.0);
            let reads = FlatfileTable::number(&one.cells, table.read_percent)
                .map(|percent| percent / 100.0);
            // Without the share of reads an operation that takes no time did not happen.
            let share = reads.map_or(if value > 0.0 { 1.0 } else { 0.0 }, &share);
            Some(ValueShare { value, weight: rate * share })
        });
        times.collect()
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    /// The columns of versions 50403 to 50407.
    const HEADER: &str = "tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp \
                          read_resp write_resp resp_max read_max write_max resp_std read_std \
                          write_std xfersize threads rdpct rhpct whpct seekpct lunsize version \
                          compratio dedupratio queue_depth cpu_used cpu_user cpu_kernel cpu_wait \
                          cpu_idle\n";

    struct FlatfileLine<'a> {
        interval: &'a str,
        second: u64,
        reqrate: &'a str,
        rate: &'a str,
        read_resp: &'a str,
    }

    fn line(one: &FlatfileLine<'_>) -> String {
        let FlatfileLine { interval, second, reqrate, rate, read_resp } = one;
        let clock =
            format!("{:02}:{:02}:{:02}.001", 10 + second / 3600, second / 60 % 60, second % 60);
        format!(
            "{clock} 01/15/2025-{}-UTC rd1 {interval} {reqrate} {rate} 8.0 8192 70.0 {read_resp} \
             {read_resp} 2.0 9.0 9.0 8.0 0.1 0.1 0.1 8192 4 70 0 0 100 100.0000 50407 1 1 3.9 5 3 \
             2 0 95\n",
            &clock[..8]
        )
    }

    fn intervals(step_s: u64, rates: &[(&str, &str, &str)]) -> String {
        let mut text = HEADER.to_owned();
        for (index, (reqrate, rate, read_resp)) in rates.iter().enumerate() {
            let number = index + 1;
            let second = 1800 + step_s * u64::try_from(number).unwrap();
            text += &line(&FlatfileLine {
                interval: &number.to_string(),
                second,
                reqrate,
                rate,
                read_resp,
            });
        }
        text
    }

    /// A load on file systems has the rate and the times of each operation, and its size is a mean.
    #[test]
    fn results_of_a_load_on_files_are_no_settings() {
        let head = "tod Run Interval Xfersize Threads Reqrate Rate Rate_std Resp Resp_std MB/sec \
                    Resp_max Mkdir_rate Mkdir_resp Open_rate Open_resp Open_resp_max\n";
        let rows_of = |run: &str| {
            (1..=3).fold(head.to_owned(), |text, second| {
                let mean = 4090 + second;
                text + &format!(
                    "10:00:0{second}.000 {run} {second} {mean} n/a 9999988 100{second} 0 2.0 0.{second} 4.0 \
                     80.{second} 0 0 {second} 0.1 0.{second}\n"
                )
            })
        };
        let found = rows(read_flatfile(&rows_of("rd1")).unwrap());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((value(&found[0], "iops"), setting(&found[0], "rate")), (1002.5, "max".into()));
        assert_eq!(value(&found[0], "response_time.max"), 80.3e6);
        assert_eq!(found[0].settings.len(), 2, "{:?}", found[0].settings);
        // Where files were only created, that is the load.
        assert_eq!(rows(read_flatfile(&rows_of("format_for_rd1")).unwrap()).len(), 1);
        let both = rows_of("format_for_rd1") + rows_of("rd1").split_once('\n').unwrap().1;
        assert_eq!(setting(&rows(read_flatfile(&both).unwrap())[0], "run"), "rd1");
    }

    #[test]
    fn the_first_of_a_list_of_sizes_is_not_the_size() {
        let text = intervals(5, &[("9999988", "9", "9"), ("9999988", "1000", "1.0")]);
        let mixed = text.replace(" 8192 70.0", " 7815 70.0");
        let [one, several] = [text, mixed].map(|text| rows(read_flatfile(&text).unwrap()));
        let has =
            |rows: &[ImportedRow]| rows[0].settings.iter().any(|one| one.factor == "block_size");
        assert_eq!((has(&one), has(&several)), (true, false));
        assert_eq!(setting(&one[0], "rate"), "max");
    }

    #[test]
    fn times_are_weighted_and_elapsed_is_the_clock() {
        let text =
            intervals(5, &[("max", "9", "9"), ("max", "1000", "1.0"), ("max", "10", "100.0")]);
        let found = read_flatfile(&text).unwrap();
        assert_eq!(found.lacks, [Lack::Quantiles, Lack::Environment]);
        let row = &rows(found)[0];
        assert_eq!(value(row, "read.response_time.mean").round(), 1_980_198.0);
        assert_eq!((value(row, "iops"), row.elapsed_s), (505.0, Some(10.0)));
        // The second interval began at 10:30:05.
        assert_eq!(row.started_unix_ns, Some(1_736_937_005_000_000_000));
        let shown =
            ["run", "rate", "block_size", "queue_depth", "read_share", "random_share", "lun_size"];
        assert_eq!(
            shown.map(|one| setting(row, one)),
            ["rd1", "max", "8KiB", "4", "70%", "100%", "100GiB"]
        );
    }

    #[test]
    fn runs_of_one_name_are_apart() {
        let one = intervals(
            1,
            &[("1000", "5", "1"), ("1000", "1000", "1"), ("4000", "6", "1"), ("4000", "4000", "1")],
        );
        let rates = |text: &str| {
            let found = rows(read_flatfile(text).unwrap());
            found.iter().map(|row| (setting(row, "rate"), value(row, "iops"))).collect::<Vec<_>>()
        };
        assert_eq!(rates(&one), [("1000/s".into(), 1000.0), ("4000/s".into(), 4000.0)]);
        let twice = intervals(1, &[("max", "5", "1"), ("max", "100", "1")]);
        let again = twice.lines().skip(1).collect::<Vec<_>>().join("\n") + "\n";
        assert_eq!(rates(&format!("{twice}{}", again.replace("max 100 ", "max 300 "))).len(), 2);
    }

    #[test]
    fn the_averages_of_the_file_say_what_is_warm_up() {
        let text = intervals(
            1,
            &[("max", "1", "1"), ("max", "2", "1"), ("max", "3", "1"), ("max", "5", "1")],
        );
        let average = line(&FlatfileLine {
            interval: "avg_3-4",
            second: 1805,
            reqrate: "max",
            rate: "4",
            read_resp: "1",
        });
        let row = &rows(read_flatfile(&format!("{text}{average}")).unwrap())[0];
        assert_eq!((value(row, "iops"), row.elapsed_s), (4.0, Some(2.0)));
    }

    #[test]
    fn one_value_that_is_no_number_leaves_out_its_line() {
        let mut rates = vec![("max", "100", "1.0"); 31];
        rates[7] = ("max", "NaN", "n/a");
        let found = read_flatfile(&intervals(1, &rates)).unwrap();
        assert!(found.lacks.contains(&Lack::RowsLeftOut(1)), "{:?}", found.lacks);
        let row = &rows(found)[0];
        assert_eq!((value(row, "iops"), value(row, "read.response_time.mean")), (100.0, 1e6));
        let comma = intervals(1, &[("max", "1", "1"), ("max", "100,5", "1,25")]);
        let row = &rows(read_flatfile(&comma).unwrap())[0];
        assert_eq!(
            (value(row, "iops"), value(row, "read.response_time.mean")),
            (100.5, 1_250_000.0)
        );
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused() {
        let text = intervals(1, &[("max", "1", "1"), ("max", "2", "1")]);
        let error = read_flatfile(&text[..text.len() - 40]).unwrap_err();
        assert!(error.message().contains("line 3 is cut off"), "{error}");
        assert!(read_flatfile(HEADER).is_err());
    }
}
