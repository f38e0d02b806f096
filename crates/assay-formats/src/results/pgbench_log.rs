//! pgbench's logs of transactions or intervals; the logs of all threads are one run.

use super::imported::{ImportedResult, ImportedRow, Lack, NamedText, broken, refused, total};
use super::numbers::{number, whole};
use super::pgbench::{RATE, TIME, result};
use super::rows::count;
use super::table;
use assay_model::Result;
use assay_model::histogram::{Histogram, Precision};
use assay_model::number::{count_of, real};
use assay_model::verdict::NamedEstimate;
use std::collections::BTreeMap;

/// Seconds of a log at most: a week.
const SECONDS_MAX: u64 = 7 * 86_400;
/// Before this second a log is none: 9 September 2001.
const SECOND_MIN: u64 = 1_000_000_000;

/// What became of a transaction.
enum EndedTransaction {
    /// It was committed after this time, µs.
    After(u64),
    /// It failed; the word says how.
    Failed(&'static str),
    /// It was not begun, because its time had passed.
    Skipped,
}

/// One line of a log of transactions.
struct LoggedTransaction {
    client: u64,
    number: u64,
    ended: EndedTransaction,
    /// When, µs since 1970.
    at_us: u64,
}

/// `client number time script second microsecond [lag] [retries]`.
fn parse(line: &str) -> Option<LoggedTransaction> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if !(6..=8).contains(&fields.len()) {
        return None;
    }
    let ended = match fields[2] {
        "skipped" => EndedTransaction::Skipped,
        "failed" => EndedTransaction::Failed("failed_transactions"),
        "serialization" => EndedTransaction::Failed("serialization_failures"),
        "deadlock" => EndedTransaction::Failed("deadlock_failures"),
        time_us => EndedTransaction::After(whole(time_us)?),
    };
    whole(fields[3])?;
    let second = whole(fields[4]).filter(|second| *second > SECOND_MIN)?;
    let microsecond = whole(fields[5]).filter(|microsecond| *microsecond < 1_000_000)?;
    Some(LoggedTransaction {
        client: whole(fields[0])?,
        number: whole(fields[1])?,
        ended,
        at_us: second.checked_mul(1_000_000)?.checked_add(microsecond)?,
    })
}

/// Whether a line is one of a log of transactions.
pub fn is_log(line: &str) -> bool {
    parse(line).is_some()
}

/// What belongs to the logs of one run: `pgbench_log.4711` and `pgbench_log.4711.1` share it.
pub fn run_of(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((begin, thread)) if is_digits(thread) => match begin.rsplit_once('.') {
            Some((_, process)) if is_digits(process) => begin,
            _ => name,
        },
        _ => name,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|sign| sign.is_ascii_digit())
}

/// The transactions of all threads together.
#[derive(Default)]
struct PgbenchLog {
    times: Option<Histogram>,
    seconds: BTreeMap<u64, u64>,
    counts: BTreeMap<&'static str, u64>,
    /// Lines of each client, with its first and last number.
    clients: BTreeMap<u64, (u64, u64, u64)>,
    /// Whether the transactions of a client are counted from the beginning again: another run
    /// follows.
    is_of_several: bool,
    begin_us: Option<u64>,
    end_us: u64,
}

impl PgbenchLog {
    fn add(&mut self, one: &LoggedTransaction) {
        let client = self.clients.entry(one.client).or_insert((0, u64::MAX, 0));
        self.is_of_several |= client.0 > 0 && one.number <= client.2;
        *client = (client.0 + 1, client.1.min(one.number), client.2.max(one.number));
        let time_us = match one.ended {
            EndedTransaction::After(time_us) => {
                let times = self.times.get_or_insert_with(|| Histogram::new(Precision::Fine));
                times.record(time_us.saturating_mul(1000));
                *self.seconds.entry(one.at_us / 1_000_000).or_default() += 1;
                time_us
            }
            EndedTransaction::Failed(how) => {
                *self.counts.entry(how).or_default() += 1;
                0
            }
            EndedTransaction::Skipped => {
                *self.counts.entry("skipped_transactions").or_default() += 1;
                0
            }
        };
        let begin_us = one.at_us.saturating_sub(time_us);
        self.begin_us = Some(self.begin_us.map_or(begin_us, |known| known.min(begin_us)));
        self.end_us = self.end_us.max(one.at_us);
    }

    /// The share of the transactions that are in the log, where it is a sample of them: numbers are
    /// missing in it.
    fn sampled_share(&self) -> f64 {
        let (lines, numbers) =
            self.clients.values().fold((0, 0_u64), |sum, (lines, first, last)| {
                (
                    sum.0 + lines,
                    sum.1.saturating_add(last.saturating_sub(*first).saturating_add(1).max(*lines)),
                )
            });
        assay_model::number::share(lines, numbers)
    }

    /// Transactions a second: the whole seconds of the log, the first and the last being cut.
    fn rate(&self, elapsed_s: f64, share: f64) -> Option<NamedEstimate> {
        let first = *self.seconds.keys().next()?;
        let last = *self.seconds.keys().last()?;
        let of = |second| real(self.seconds.get(&second).copied().unwrap_or(0)) / share;
        let per_second: Vec<f64> = (first + 1..last).map(of).collect();
        let known = table::mean(RATE, &per_second, 1.0);
        if let Some(known) = known.filter(|known| known.estimate.has_interval()) {
            return Some(known);
        }
        let ios = self.times.as_ref().map_or(0, Histogram::ios);
        Some(total(RATE, real(ios) / share / elapsed_s))
    }
}

/// Reads the logs of all threads of a run as one.
pub fn read_log(files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let mut log = PgbenchLog::default();
    for file in files {
        for (number, line) in
            (1..).zip(file.text.lines()).filter(|(_, line)| !line.trim().is_empty())
        {
            let what = || format!("line {number} of {} is cut off", file.name);
            log.add(&parse(line).ok_or_else(|| broken("pgbench", &what()))?);
        }
    }
    if log.is_of_several {
        return Err(refused(
            "pgbench",
            "it contains the logs of several runs",
            "specify the logs of one run: LOG.PID, LOG.PID.1 and so on",
        ));
    }
    let (Some(begin_us), Some(times)) = (log.begin_us, log.times.as_ref()) else {
        return Err(broken("pgbench", "the log has no committed transactions"));
    };
    let elapsed_us = log.end_us.saturating_sub(begin_us).max(1);
    check_length(elapsed_us / 1_000_000)?;
    let (elapsed_s, share) = (real(elapsed_us) / 1e6, log.sampled_share());
    let is_sample = share < 0.95;
    let mut measures: Vec<NamedEstimate> =
        log.rate(elapsed_s, if is_sample { share } else { 1.0 }).into_iter().collect();
    measures.push(total(&format!("{TIME}.mean"), times.mean_ns()));
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        measures.push(total(&format!("{TIME}.q{quantile}"), real(times.quantile_ns(quantile))));
    }
    measures.push(total(&format!("{TIME}.max"), real(times.max_ns())));
    measures.extend(log.counts.iter().map(|(name, times)| total(name, real(*times))));
    let row = ImportedRow {
        settings: vec![
            count("sessions", count_of(log.clients.len())),
            count("workers", count_of(files.len())),
        ],
        started_unix_ns: begin_us.checked_mul(1000),
        elapsed_s: Some(elapsed_s),
        measures,
        ..ImportedRow::default()
    };
    let mut found = result(None, vec![row], vec![Lack::Load, Lack::Environment]);
    if is_sample {
        found.lacks.push(Lack::OnlyPart(format!(
            "the log is a sample of {:.1}% of the transactions; the rate is estimated for all of \
             them",
            share * 100.0
        )));
    }
    found.lacks.extend(other_threads(&log));
    Ok(found)
}

/// Clients are numbered from 0 over all threads.
fn other_threads(log: &PgbenchLog) -> Option<Lack> {
    let last = *log.clients.keys().last()?;
    let all = last.saturating_add(1);
    let missing = all.saturating_sub(count_of(log.clients.len()));
    (missing > 0)
        .then(|| Lack::OnlyPart(format!("the logs of {missing} of {all} clients are missing")))
}

fn check_length(elapsed_s: u64) -> Result<()> {
    if elapsed_s > SECONDS_MAX {
        return Err(broken("pgbench", "the log covers more than a week"));
    }
    Ok(())
}

/// One line of an aggregated log.
#[derive(Clone, Copy, Default)]
struct Aggregate {
    start_s: u64,
    transactions: f64,
    sum_us: f64,
    squares_us: f64,
    min_us: f64,
    max_us: f64,
    skipped: f64,
    retried: f64,
    serialization: f64,
    deadlocks: f64,
}

/// `start transactions sum sum² min max [lag: sum sum² min max [skipped]] [retried retries
/// serialization deadlock]`; from version 15 on all of them.
fn parse_aggregate(line: &str) -> Option<Aggregate> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if ![6, 8, 10, 11, 12, 13, 15, 16].contains(&fields.len()) {
        return None;
    }
    let numbers: Option<Vec<f64>> = fields.iter().map(|field| number(field)).collect();
    let numbers = numbers?;
    let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
    let is_whole = fields.len() >= 15;
    // Before version 15 what was skipped was counted as a transaction, too.
    let skipped = if fields.len() >= 11 { at(10) } else { 0.0 };
    let found = Aggregate {
        start_s: whole(fields[0]).filter(|second| *second > SECOND_MIN)?,
        transactions: if is_whole { at(1) } else { (at(1) - skipped).max(0.0) },
        sum_us: at(2),
        squares_us: at(3),
        min_us: at(4),
        max_us: at(5),
        skipped,
        retried: if is_whole { at(11) } else { 0.0 },
        serialization: if is_whole { at(13) } else { 0.0 },
        deadlocks: if is_whole { at(14) } else { 0.0 },
    };
    let is_ordered = found.min_us <= found.max_us
        && found.sum_us <= found.transactions * found.max_us * 1.001 + 1.0;
    is_ordered.then_some(found)
}

/// Whether a line is one of an aggregated log.
pub fn is_aggregated(line: &str) -> bool {
    parse_aggregate(line).is_some()
}

/// Reads the aggregated logs of all threads of a run as one.
pub fn read_aggregated(files: &[NamedText<'_>]) -> Result<ImportedResult> {
    let mut intervals: BTreeMap<u64, Vec<Aggregate>> = BTreeMap::new();
    for file in files {
        for (number, line) in
            (1..).zip(file.text.lines()).filter(|(_, line)| !line.trim().is_empty())
        {
            let what = || format!("line {number} of {} is cut off", file.name);
            let one = parse_aggregate(line).ok_or_else(|| broken("pgbench", &what()))?;
            intervals.entry(one.start_s).or_default().push(one);
        }
    }
    let starts: Vec<u64> = intervals.keys().copied().collect();
    let (Some(first), Some(last)) = (starts.first(), starts.last()) else {
        return Err(broken("pgbench", "the log is empty"));
    };
    check_length(last - first)?;
    let length_s = starts.windows(2).map(|two| two[1] - two[0]).min().unwrap_or(1);
    let all: Vec<Aggregate> = intervals.values().flatten().copied().collect();
    let row = ImportedRow {
        settings: vec![count("workers", count_of(files.len()))],
        started_unix_ns: first.checked_mul(1_000_000_000),
        elapsed_s: Some(real(last - first + length_s)),
        measures: aggregated(&intervals, &all, length_s),
        ..ImportedRow::default()
    };
    let lacks = vec![Lack::Quantiles, Lack::Load, Lack::Environment];
    Ok(result(None, vec![row], lacks))
}

/// A number of an interval.
type AggregateNumber = fn(&Aggregate) -> f64;

/// The numbers of an aggregated log; its first and its last interval are cut.
fn aggregated(
    intervals: &BTreeMap<u64, Vec<Aggregate>>,
    all: &[Aggregate],
    length_s: u64,
) -> Vec<NamedEstimate> {
    let sum = |of: fn(&Aggregate) -> f64| all.iter().map(of).sum::<f64>();
    let transactions = sum(|one| one.transactions);
    let rates = intervals
        .values()
        .map(|threads| threads.iter().map(|one| one.transactions).sum::<f64>() / real(length_s));
    let rates: Vec<f64> = rates.collect();
    let whole = if rates.len() > 2 { &rates[1..rates.len() - 1] } else { &rates };
    let mut measures: Vec<NamedEstimate> =
        table::mean(RATE, whole, real(length_s)).into_iter().collect();
    if transactions > 0.0 {
        let mean_us = sum(|one| one.sum_us) / transactions;
        let variance = sum(|one| one.squares_us) / transactions - mean_us * mean_us;
        let max_us = all.iter().map(|one| one.max_us).fold(0.0, f64::max);
        measures.push(total(&format!("{TIME}.mean"), mean_us * 1e3));
        measures.push(total(&format!("{TIME}.stddev"), variance.max(0.0).sqrt() * 1e3));
        measures.push(total(&format!("{TIME}.max"), max_us * 1e3));
    }
    let counted: [(&str, AggregateNumber); 4] = [
        ("skipped_transactions", |one| one.skipped),
        ("retried_transactions", |one| one.retried),
        ("serialization_failures", |one| one.serialization),
        ("deadlock_failures", |one| one.deadlocks),
    ];
    let counted = counted.into_iter().map(|(name, of)| (name, sum(of)));
    measures
        .extend(counted.filter(|(_, times)| *times > 0.0).map(|(name, times)| total(name, times)));
    measures
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    fn named<'a>(name: &'a str, text: &'a str) -> NamedText<'a> {
        NamedText { name, text }
    }

    /// Two clients of one thread, a transaction each 10 ms.
    fn thread(first_client: u64) -> String {
        let line = |index: u64| {
            let at_us = (index + 1) * 10_000;
            let (second, us) = (1_700_000_000 + at_us / 1_000_000, at_us % 1_000_000);
            format!("{} {} 5000 0 {second} {us}\n", first_client + index % 2, index / 2 + 1)
        };
        (0..3000).map(line).collect()
    }

    #[test]
    fn logs_of_threads_are_one_run() {
        let (one, two) = (thread(0), thread(2));
        let found = read_log(&[named("l.7", &one), named("l.7.1", &two)]).unwrap();
        assert_eq!(found.lacks, [Lack::Load, Lack::Environment]);
        let row = &rows(found)[0];
        assert!((value(row, RATE) - 200.0).abs() < 0.1, "{}", value(row, RATE));
        assert_eq!((setting(row, "sessions"), setting(row, "workers")), ("4".into(), "2".into()));
        assert!((row.elapsed_s.unwrap() - 29.995).abs() < 1e-6);
        // The second thread alone shows that there is another.
        let alone = read_log(&[named("l.7.1", &two)]).unwrap();
        assert!(alone.lacks[2].to_string().contains("2 of 4 clients"), "{:?}", alone.lacks);
        assert_eq!(
            ["pgbench_log.4711", "pgbench_log.4711.1", "run.1"].map(run_of),
            ["pgbench_log.4711", "pgbench_log.4711", "run.1"]
        );
    }

    #[test]
    fn a_sample_is_scaled_by_the_numbers_of_its_transactions() {
        let sample = thread(0).lines().step_by(3).collect::<Vec<_>>().join("\n") + "\n";
        let found = read_log(&[named("l", &sample)]).unwrap();
        assert!(found.lacks[2].to_string().contains("a sample of 33."), "{:?}", found.lacks);
        assert!((value(&rows(found)[0], RATE) - 100.0).abs() < 0.5);
    }

    #[test]
    fn failures_are_counted_and_have_no_time() {
        let log = "0 1 500 0 1700000000 10 1\n1 1 serialization 0 1700000000 20 2\n0 2 deadlock 0 \
                   1700000000 30 0\n1 2 skipped 0 1700000001 5\n0 3 900 0 1700000001 6 0\n";
        let row = &rows(read_log(&[named("l", log)]).unwrap())[0];
        assert_eq!(value(row, "serialization_failures"), 1.0);
        assert_eq!(
            (value(row, "deadlock_failures"), value(row, "skipped_transactions")),
            (1.0, 1.0)
        );
        assert_eq!(value(row, "transaction.response_time.mean"), 700_000.0);
        let cut = read_log(&[named("l", "0 1 500 0 1700000000 10\n1 1 7")]).unwrap_err();
        assert!(cut.message().contains("line 2 of l is cut off"), "{cut}");
        let two = read_log(&[named("l", &thread(0).repeat(2))]).unwrap_err();
        assert!(two.message().contains("several runs"), "{two}");
    }

    #[test]
    fn aggregated_logs_of_every_version_are_read() {
        let fifteen = |start: u64, transactions: u64| {
            format!(
                "{start} {transactions} {} 100000000 600 27000 0 0 0 0 0 3 4 5 6\n",
                transactions * 1000
            )
        };
        let text: String = (0..5)
            .map(|index| fifteen(1_700_000_000 + index, if index % 4 == 0 { 10 } else { 200 }))
            .collect();
        let row = &rows(read_aggregated(&[named("a", &text), named("a.1", &text)]).unwrap())[0];
        assert_eq!((value(row, RATE), value(row, "serialization_failures")), (400.0, 50.0));
        assert_eq!(value(row, "transaction.response_time.mean"), 1e6);
        // Up to version 14 the columns end earlier, and what was skipped is in the count.
        assert_eq!(parse_aggregate("1700000000 50 5000 600000 50 700").unwrap().transactions, 50.0);
        let rated = parse_aggregate("1700000000 50 5000 600000 50 700 1 1 0 1 8").unwrap();
        assert_eq!((rated.transactions, rated.skipped), (42.0, 8.0));
        for line in ["1700000000 50 5000 600000 800 700", "1700000000 50 5000 6", "12 5 1 1 1 1"] {
            assert!(!is_aggregated(line), "{line}");
        }
    }
}
