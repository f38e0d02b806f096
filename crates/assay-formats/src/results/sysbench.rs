//! sysbench's output of fileio and database tests, from version 0.4 on: one row per run.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, refused, total};
use super::numbers::{after, leading, number, whole};
use super::rows::{around, count, word};
use assay_model::Result;
use assay_model::number::real;
use assay_model::study::StudySetting;
use assay_model::verdict::NamedEstimate;

const MEBIBYTE: f64 = 1_048_576.0;
/// The line that a run begins with.
const BEGIN: &str = "Running the test with following options:";
/// Times of transactions; those of I/Os depend on what was issued.
const TRANSACTION: &str = "transaction.response_time";

/// Whether a text is such an output.
pub fn is_output(text: &str) -> bool {
    text.contains(BEGIN) && (text.contains("sysbench ") || text.contains("total number of events"))
}

/// Reads every run of a text.
///
/// # Errors
/// A usage error where a run did not end, or used neither files nor a database.
pub fn read(text: &str) -> Result<ImportedResult> {
    let rows: Result<Vec<Option<ImportedRow>>> = text.split(BEGIN).skip(1).map(row).collect();
    let all = rows?;
    let runs = all.len();
    let rows: Vec<ImportedRow> = all.into_iter().flatten().collect();
    if rows.is_empty() {
        return Err(refused(
            "sysbench",
            "it tests neither files nor a database",
            "import the output of sysbench fileio, or of one of its oltp tests",
        ));
    }
    let others = vec![format!("{} tests of neither files nor a database", runs - rows.len())];
    let version = text.lines().find_map(|line| line.trim_start().strip_prefix("sysbench "));
    let version = version.filter(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()));
    let version = version.and_then(|rest| rest.split([' ', ':']).next()).unwrap_or_default();
    let has = |end: &str| {
        rows.iter().flat_map(|row| &row.measures).any(|one| one.quantity.starts_with(end))
    };
    let has_intervals = rows.iter().any(|row| row.measures[0].estimate.has_interval());
    let lacks = [
        (true, Lack::Environment),
        (true, Lack::Date),
        (!has_intervals, Lack::Intervals),
        (has("service_time."), Lack::Operations),
        (has("transactions"), Lack::Load),
        (true, Lack::QuantileRanks),
        (rows.len() < runs, Lack::OperationsLeftOut(others)),
    ];
    Ok(ImportedResult {
        program: format!("sysbench {version}").trim_end().to_owned(),
        name: if has("transactions") { "database" } else { "fileio" }.to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: lacks.into_iter().filter_map(|(is, lack)| is.then_some(lack)).collect(),
    })
}

/// The row of a run; none where it tests neither files nor a database.
fn row(text: &str) -> Result<Option<ImportedRow>> {
    let output = Output { text };
    // From 1.1 on it is the time elapsed; loads on files print their rates and no time.
    let elapsed_s = ["total time:", "time elapsed:"].iter().find_map(|label| output.value(label));
    let elapsed_s = elapsed_s.and_then(leading).filter(|time_s| *time_s > 0.0);
    let is_whole = match elapsed_s {
        Some(_) => text.contains("execution time (avg/stddev)"),
        None => output.rates_of("write").is_some() && output.value("sum:").is_some(),
    };
    if !is_whole {
        return Err(broken(
            "sysbench",
            "a run has no last line, execution time: it did not finish, or is cut off",
        ));
    }
    let is_database = text.contains("transactions:");
    let (mut measures, settings) = if is_database {
        (output.transactions(elapsed_s), output.database_settings())
    } else {
        (output.file_operations(elapsed_s), output.file_settings())
    };
    if measures.is_empty() {
        return Ok(None);
    }
    let times = if is_database { TRANSACTION.to_owned() } else { Output::times_of(&measures) };
    measures.extend(output.times(&times));
    Ok(Some(ImportedRow { settings, elapsed_s, measures, ..ImportedRow::default() }))
}

/// What was printed of one run.
struct Output<'a> {
    text: &'a str,
}

impl<'a> Output<'a> {
    fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.text.lines().map(str::trim)
    }

    /// What follows a label at the beginning of a line.
    fn value(&self, label: &str) -> Option<&'a str> {
        self.lines().find_map(|line| line.strip_prefix(label)).map(str::trim)
    }

    /// A count with its rate, `11798  (1965.72 per sec.)`: the rate.
    fn rate(&self, label: &str) -> Option<f64> {
        self.value(label).and_then(|text| after(text, "("))
    }

    /// Values of the lines that were printed each interval.
    fn reported(&self, label: &str) -> Vec<f64> {
        let lines = self.lines().filter(|line| line.starts_with('['));
        lines.filter_map(|line| after(line, label)).collect()
    }

    /// `write: IOPS=31710.38 495.47 MiB/s (519.54 MB/s)` of version 1.1: I/Os/s, and MiB/s where
    /// they move data.
    fn rates_of(&self, side: &str) -> Option<(f64, Option<f64>)> {
        let text = self.value(&format!("{side}:"))?.strip_prefix("IOPS=")?;
        let mebibytes = text.split_whitespace().nth(1).filter(|_| text.contains("MiB/s"));
        Some((leading(text)?, mebibytes.and_then(leading)))
    }

    fn transactions(&self, elapsed_s: Option<f64>) -> Vec<NamedEstimate> {
        let Some(rate) = self.rate("transactions:") else { return Vec::new() };
        let mut measures = vec![around(total("transactions", rate), &self.reported(" tps:"))];
        // Before 1.0 there is their number only: requests to read and write are some of them.
        let queries = || Some(self.value("total:").and_then(leading)? / elapsed_s?);
        let others = [
            ("queries", self.rate("queries:").or_else(queries)),
            ("ignored_errors", self.rate("ignored errors:").or_else(|| self.rate("deadlocks:"))),
            ("reconnects", self.rate("reconnects:").filter(|rate| *rate > 0.0)),
        ];
        measures.extend(others.into_iter().filter_map(|(name, value)| Some(total(name, value?))));
        measures
    }

    /// Rates and throughput of a load on files; up to version 0.5 there are counts and a sum only.
    fn file_operations(&self, elapsed_s: Option<f64>) -> Vec<NamedEstimate> {
        let performed = self.value("Operations performed:").map(str::to_ascii_lowercase);
        let counted = |name: &str| {
            let (before, _) = performed.as_ref()?.split_once(name)?;
            Some(number(before.split_whitespace().next_back()?)? / elapsed_s?)
        };
        let (of_reads, of_writes) = (self.rates_of("read"), self.rates_of("write"));
        let mut measures = Vec::new();
        for (side, label, performed, throughput, printed) in [
            ("read", "reads/s:", " read", "read, MiB/s:", of_reads),
            ("write", "writes/s:", " write", "written, MiB/s:", of_writes),
            ("sync", "fsyncs/s:", " other", "", self.rates_of("fsync")),
        ] {
            let rate = self.value(label).and_then(leading).or_else(|| counted(performed));
            let rate = rate.or(printed.map(|(iops, _)| iops));
            let Some(rate) = rate.filter(|rate| *rate > 0.0) else { continue };
            measures.push(total(&format!("{side}.iops"), rate));
            let throughput = self.value(throughput).filter(|_| !throughput.is_empty());
            let reported = self.reported(&format!("{side}s:"));
            let reported: Vec<f64> = reported.into_iter().map(|one| one * MEBIBYTE).collect();
            let throughput = throughput.and_then(leading).or(printed.and_then(|(_, rate)| rate));
            measures.extend(throughput.map(|rate| {
                around(total(&format!("{side}.throughput"), rate * MEBIBYTE), &reported)
            }));
        }
        let sum = self.lines().find(|line| line.contains("Total transferred"));
        let sum = sum.and_then(|line| leading(line.rsplit_once('(')?.1));
        measures.extend(sum.map(|rate| total("throughput", rate * MEBIBYTE)));
        measures
    }

    /// The times are those of all operations together: of one only where nothing else was done.
    fn times_of(measures: &[NamedEstimate]) -> String {
        let sides: Vec<&str> = ["read", "write", "sync"]
            .into_iter()
            .filter(|side| measures.iter().any(|one| one.quantity == format!("{side}.iops")))
            .collect();
        match sides.as_slice() {
            [only] => format!("{only}.service_time"),
            _ => "service_time".to_owned(),
        }
    }

    /// Mean, shortest, longest and the one quantile, as they were printed; the other quantiles
    /// where there is a histogram.
    fn times(&self, of: &str) -> Vec<NamedEstimate> {
        let time = |statistic: &str, ms: f64| total(&format!("{of}.{statistic}"), ms * 1e6);
        let printed = |label: &str, statistic: &str| {
            self.value(label).and_then(leading).map(|ms| time(statistic, ms))
        };
        let bins = self.histogram();
        let quantile = self.quantile().filter(|(share, _)| *share < 1.0);
        let others = [0.5, 0.9, 0.95, 0.99, 0.999].into_iter().filter_map(|share| {
            let ms = quantile_of(&bins, share)?;
            // What is printed has more digits than the bins, which must not contradict it.
            Some((
                share,
                match quantile {
                    Some((printed, printed_ms)) if share > printed + 1e-9 => ms.max(printed_ms),
                    Some((printed, printed_ms)) if share < printed - 1e-9 => ms.min(printed_ms),
                    Some(_) => return None,
                    None => ms,
                },
            ))
        });
        let mut quantiles: Vec<(f64, f64)> = quantile.into_iter().chain(others).collect();
        quantiles.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut measures: Vec<NamedEstimate> = printed("avg:", "mean").into_iter().collect();
        measures.extend(quantiles.into_iter().map(|(share, ms)| time(&format!("q{share}"), ms)));
        measures.extend([printed("max:", "max"), printed("min:", "min")].into_iter().flatten());
        measures
    }

    /// `95th percentile: 16.41`, or `approx.  95 percentile: 30.57ms`.
    fn quantile(&self) -> Option<(f64, f64)> {
        self.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let percent = name.strip_suffix("percentile")?.trim().trim_end_matches("th");
            let percent = number(percent.rsplit(' ').next()?)?;
            Some(((percent * 100.0).round() / 1e4, leading(value.trim())?))
        })
    }

    /// Times, ms, with how many events took them: `0.677 |***   12`.
    fn histogram(&self) -> Vec<(f64, u64)> {
        let bins = self.lines().filter_map(|line| {
            let (time_ms, rest) = line.split_once('|')?;
            Some((number(time_ms)?, whole(rest.rsplit(' ').next()?)?))
        });
        bins.collect()
    }

    fn number_setting(&self, label: &str, factor: &str) -> Option<StudySetting> {
        self.value(label)
            .and_then(leading)
            .map(|value| count(factor, assay_model::number::count(value)))
    }

    fn database_settings(&self) -> Vec<StudySetting> {
        let target = self.value("Target transaction rate:").and_then(leading);
        let target = target.map(|rate| word("target_rate", &format!("{rate}/s")));
        self.number_setting("Number of threads:", "sessions").into_iter().chain(target).collect()
    }

    fn file_settings(&self) -> Vec<StudySetting> {
        let text = |label: &str, factor: &str| {
            self.value(label).filter(|value| *value != "(none)").map(|value| word(factor, value))
        };
        let mode = self.value("Doing ").map(|mode| mode.trim_end_matches(" test"));
        let is_mix = mode.is_some_and(|mode| mode.contains("r/w"));
        let ratio = self.value("Read/Write ratio for combined random IO test:").and_then(leading);
        let fsync = after(self.text, "calling fsync() each ").map(assay_model::number::count);
        let size = |text: &str| text.replace("Kb", "KiB").replace("Mb", "MiB").replace("Gb", "GiB");
        let total_size = self.lines().find_map(|line| line.strip_suffix(" total file size"));
        [
            mode.map(|mode| word("access", mode)),
            self.value("Block size ").map(|text| word("block_size", &size(text))),
            self.number_setting("Number of threads:", "workers"),
            ratio
                .filter(|_| is_mix)
                .map(|ratio| word("read_share", &format!("{:.0}%", ratio / (ratio + 1.0) * 100.0))),
            total_size.map(|text| word("capacity", &size(text))),
            text("Extra file open flags:", "open_flags"),
            text("Using ", "engine"),
            fsync.map(|every| count("sync_every", every)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The time within which a share of the events came to their end.
fn quantile_of(bins: &[(f64, u64)], share: f64) -> Option<f64> {
    let all: u64 = bins.iter().map(|(_, events)| events).sum();
    let mut seen = 0;
    let bin = bins.iter().find(|(_, events)| {
        seen += events;
        real(seen) >= share * real(all)
    });
    bin.map(|(time_ms, _)| *time_ms)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    const OLTP: &str = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\nNumber of threads: 4\nReport intermediate results every 2 second(s)\n\nThreads started!\n\n[ 2s ] thds: 4 tps: 900.00 qps: 19162.91 (r/w/o: 1/2/3) lat (ms,99%): 13.95 err/s: 21.48 reconn/s: 0.00\nSQL statistics:\n    queries performed:\n        read:                            55482\n    transactions:                        3938   (655.20 per sec.)\n    queries:                             80185  (13341.01 per sec.)\n    ignored errors:                      77     (12.81 per sec.)\n    reconnects:                          0      (0.00 per sec.)\n\nGeneral statistics:\n    total time:                          6.0089s\n    total number of events:              3938\n\nLatency (ms):\n         min:                                    0.68\n         avg:                                    6.10\n         max:                                   40.30\n         99th percentile:                       16.41\n         sum:                                23900.00\nThreads fairness:\n    execution time (avg/stddev):   6.0/0.00\n";
    const FILES: &str = "sysbench 1.0.20 (x)\nRunning the test with following options:\nNumber of threads: 4\n\nExtra file open flags: directio\n4 files, 16MiB each\n64MiB total file size\nBlock size 16KiB\nRead/Write ratio for combined random IO test: 1.50\nPeriodic FSYNC enabled, calling fsync() each 100 requests.\nUsing synchronous I/O mode\nDoing random r/w test\n\nFile operations:\n    reads/s:                      40248.65\n    writes/s:                     26832.23\n    fsyncs/s:                     2685.76\n\nThroughput:\n    read, MiB/s:                  628.89\n    written, MiB/s:               419.25\n\nGeneral statistics:\n    total time:                          5.0026s\n\nLatency (ms):\n         avg:                                    0.06\n         max:                                   81.45\n         95th percentile:                        0.03\nThreads fairness:\n    execution time (avg/stddev):   6.0/0.00\n";

    /// Version 1.1 prints rates of files in another way, and no time.
    #[test]
    fn files_of_version_1_1_have_rates_without_a_time() {
        let text = "  sysbench 1.1.0-a1b2c3d (using LuaJIT)\n\n  Running the test with following \
                    options:\n  Number of threads: 8\n\n  Block size 16KiB\n  Doing sequential \
                    write (creation) test\n\n  Throughput:\n           read:  IOPS=0.00 0.00 MiB/s \
                    (0.00 MB/s)\n           write: IOPS=2000.50 31.25 MiB/s (32.77 MB/s)\n           \
                    fsync: IOPS=40.00\n\n  Latency (ms):\n           min:     0.01\n           \
                    avg:     0.50\n           max:   20.00\n           95th percentile:   1.00\n           \
                    sum: 9000.00\n";
        let found = read(text).unwrap();
        assert_eq!(
            (found.program.as_str(), found.name.as_str()),
            ("sysbench 1.1.0-a1b2c3d", "fileio")
        );
        let row = &rows(found)[0];
        let measures = ["write.iops", "write.throughput", "sync.iops", "service_time.mean"];
        assert_eq!(measures.map(|one| value(row, one)), [2000.5, 31.25 * MEBIBYTE, 40.0, 0.5e6]);
        assert_eq!((row.elapsed_s, row.measures.len()), (None, 7));
        assert!(read(text.split("sum:").next().unwrap()).is_err());
    }

    #[test]
    fn a_load_on_a_database_is_transactions_and_their_times() {
        let found = read(OLTP).unwrap();
        assert_eq!((found.program.as_str(), found.name.as_str()), ("sysbench 1.0.20", "database"));
        let row = &rows(found)[0];
        let measures = [
            "transactions",
            "queries",
            "ignored_errors",
            "transaction.response_time.mean",
            "transaction.response_time.q0.99",
        ];
        assert_eq!(measures.map(|one| value(row, one)), [655.2, 13341.01, 12.81, 6.1e6, 16.41e6]);
        assert_eq!((setting(row, "sessions"), row.elapsed_s), ("4".into(), Some(6.0089)));
        let twice = rows(read(&OLTP.repeat(2)).unwrap());
        assert_eq!(twice.len(), 2);
        let old = OLTP.replace("queries:   ", "read/write requests:");
        let old = rows(read(&old.replace("read:    ", "total:   ")).unwrap()).remove(0);
        assert!((value(&old, "queries") - 55482.0 / 6.0089).abs() < 1e-3);
    }

    /// From 1.1 on.
    #[test]
    fn the_time_of_a_database_may_be_the_time_elapsed() {
        let text = OLTP.replace("total time:  ", "time elapsed:").replace(
            "Number of threads: 4\n",
            "Number of threads: 4\nTarget transaction rate: 700/sec\n",
        );
        let row = &rows(read(text.trim_end()).unwrap())[0];
        assert_eq!((value(row, "transactions"), row.elapsed_s), (655.2, Some(6.0089)));
        assert_eq!(["sessions", "target_rate"].map(|one| setting(row, one)), ["4", "700/s"]);
    }

    /// The end of the last bin lies behind the longest time.
    #[test]
    fn every_time_is_the_one_of_the_file() {
        let of = |quantile: &str| {
            let text = OLTP.replace("99th percentile:                       16.41", quantile);
            rows(read(&text).unwrap()).remove(0)
        };
        let whole = of("100th percentile:  41.85");
        let quantiles = whole.measures.iter().filter(|one| one.quantity.contains(".q"));
        assert_eq!(quantiles.count(), 0);
        let row = of("99th percentile: 41.85");
        let times = ["q0.99", "max", "min"].map(|one| format!("transaction.response_time.{one}"));
        assert_eq!(times.map(|one| value(&row, &one)), [41.85e6, 40.3e6, 0.68e6]);
    }

    #[test]
    fn a_load_on_files_has_reads_writes_and_joint_times() {
        let found = read(FILES).unwrap();
        assert!(found.lacks.contains(&Lack::Operations));
        let row = &rows(found)[0];
        assert_eq!(
            ["read.iops", "write.iops", "sync.iops"].map(|one| value(row, one)),
            [40248.65, 26832.23, 2685.76]
        );
        assert_eq!(value(row, "service_time.q0.95"), 30_000.0);
        let shown = [
            "access",
            "block_size",
            "workers",
            "read_share",
            "capacity",
            "open_flags",
            "sync_every",
        ];
        assert_eq!(
            shown.map(|one| setting(row, one)),
            ["random r/w", "16KiB", "4", "60%", "64MiB", "directio", "100"]
        );
        let reads = FILES.replace("26832.23", "0.00").replace("2685.76", "0.00");
        assert_eq!(value(&rows(read(&reads).unwrap())[0], "read.service_time.mean"), 60_000.0);
    }

    #[test]
    fn counts_of_older_versions_become_rates() {
        let old = "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nRunning the test with following options:\nNumber of threads: 8\nBlock size 16Kb\nDoing random r/w test\nOperations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total\nRead 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (15.5Mb/sec)\n  992.12 Requests/sec executed\n\nTest execution summary:\n    total time:                          10.0000s\n    per-request statistics:\n         avg:                                  7.71ms\n         max:                                120.33ms\n         approx.  95 percentile:              30.57ms\nThreads fairness:\n    execution time (avg/stddev):   6.0/0.00\n";
        let row = &rows(read(old).unwrap())[0];
        let measures = ["read.iops", "write.iops", "sync.iops", "throughput", "service_time.q0.95"];
        assert_eq!(
            measures.map(|one| value(row, one)),
            [600.0, 400.0, 1280.0, 15.5 * MEBIBYTE, 30.57e6]
        );
        assert_eq!(setting(row, "block_size"), "16KiB");
    }

    #[test]
    fn a_histogram_has_its_quantiles() {
        let bins = "Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count\n       1.000 |****                                     50\n       2.000 |****                                     49\n       4.000 |                                         1\n";
        let text = OLTP.replace("SQL statistics:", &format!("{bins}SQL statistics:"));
        // The p99 is the printed one.
        let text = text.replace("16.41", "2.04");
        let row = &rows(read(&text).unwrap())[0];
        let of = |share: &str| value(row, &format!("transaction.response_time.q{share}"));
        assert_eq!([of("0.5"), of("0.9"), of("0.99"), of("0.999")], [1e6, 2e6, 2.04e6, 4e6]);
    }

    #[test]
    fn other_tests_and_cut_outputs_are_refused() {
        let cpu = "sysbench 1.0.20\nRunning the test with following options:\nCPU speed:\n    \
                   events per second:   900.43\nGeneral statistics:\n    total time:  \
                   1.0s\nThreads fairness:\n    execution time (avg/stddev):   6.0/0.00\n";
        assert!(read(cpu).unwrap_err().message().contains("neither files nor"));
        let cut = &OLTP[..OLTP.find("General").unwrap()];
        assert!(read(cut).unwrap_err().message().contains("did not finish"));
    }
}
