//! What pgbench prints at its end, from version 9 on: a row for each run.

use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::numbers::{after, leading, number, whole};
use super::rows::{around, count, word};
use assay_model::Result;
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::NamedEstimate;

/// Transactions a second, and their times.
pub(super) const RATE: &str = "transactions";
pub(super) const TIME: &str = "transaction.response_time";
/// The line that a summary begins with.
const BEGIN: &str = "transaction type: ";

/// The lines that the numbers of a run begin with, behind what it was given.
const NUMBERS: [&str; 2] = ["duration: ", "number of transactions actually processed: "];

/// What counts are called, and what they become.
const COUNTS: [(&str, &str); 7] = [
    ("number of failed transactions: ", "failed_transactions"),
    ("number of serialization failures: ", "serialization_failures"),
    ("number of deadlock failures: ", "deadlock_failures"),
    ("number of transactions skipped: ", "skipped_transactions"),
    ("number of transactions above the ", "late_transactions"),
    ("number of transactions retried: ", "retried_transactions"),
    ("total number of retries: ", "retries"),
];

/// Times of single statements that are shown at most.
const STATEMENTS_MAX: usize = 200;

/// Whether a text is a summary.
pub fn is_summary(text: &str) -> bool {
    text.contains("transaction type:") && text.contains("tps = ")
}

/// Reads every summary of a text.
pub fn read_summary(text: &str) -> Result<ImportedResult> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let begins: Vec<usize> =
        (0..lines.len()).filter(|index| lines[*index].starts_with(BEGIN)).collect();
    let mut rows = Vec::new();
    for (number, begin) in begins.iter().enumerate() {
        let end = begins.get(number + 1).copied().unwrap_or(lines.len());
        // What was printed meanwhile stands before the summary.
        let meanwhile = number.checked_sub(1).map_or(0, |before| begins[before]);
        let meanwhile = &lines[meanwhile..*begin];
        let mut title = last_title(meanwhile);
        for lines in results_of(&lines[*begin..end]) {
            let mut row = PgbenchSummary { lines: &lines, meanwhile }.row()?;
            row.settings.extend(title.map(|title| word("title", title)));
            rows.push(row);
            // It stands behind the numbers of the result before its own.
            title = last_title(&lines);
        }
    }
    drop_counters(&mut rows);
    keep_lengths(&mut rows);
    if rows.is_empty() {
        return Err(broken("pgbench", "it has no line transaction type:"));
    }
    let version = lines.iter().find_map(|line| line.strip_prefix("pgbench ("));
    let version = version.and_then(|rest| rest.split([' ', ',', ')']).next());
    let measures = rows.iter().flat_map(|row| &row.measures);
    let has_times = measures.clone().any(|measure| measure.quantity.starts_with(TIME));
    let times = if has_times { Lack::Quantiles } else { Lack::Times };
    let lacks = vec![Lack::Intervals, times, Lack::Environment, Lack::Date];
    Ok(result(version, rows, lacks))
}

/// The last line that a script printed as a title, `=== WARMUP ===`, without its signs.
fn last_title<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let title = |line: &&'a str| {
        let title = line.strip_prefix("==")?.strip_suffix("==")?.trim_matches(['=', ' ']);
        (!title.is_empty()).then_some(title)
    };
    lines.iter().rev().find_map(title)
}

/// Titles that differ in nothing but a number are those of repeats: `RUN 1`, `RUN 2`. What tells
/// them apart is dropped.
fn drop_counters(rows: &mut [ImportedRow]) {
    for setting in rows.iter_mut().flat_map(|row| &mut row.settings) {
        if let ("title", FactorValue::Text(title)) = (setting.factor.as_str(), &mut setting.value) {
            let kept = title.trim_end_matches(|sign: char| {
                sign.is_ascii_digit() || [' ', '#', '/', '.'].contains(&sign)
            });
            *title = if kept.is_empty() { title.clone() } else { kept.to_owned() };
        }
    }
}

/// Runs of other lengths are not repeats of one another: the length is a setting where it differs.
fn keep_lengths(rows: &mut [ImportedRow]) {
    let requested = |row: &ImportedRow| row.settings.iter().any(|one| one.factor == "duration");
    let first = rows.first().map(|row| setting_of(row, "duration"));
    let is_same = rows.iter().all(|row| Some(setting_of(row, "duration")) == first);
    if is_same || !rows.iter().any(requested) {
        for row in rows.iter_mut() {
            row.settings.retain(|one| one.factor != "duration");
        }
    }
}

fn setting_of(row: &ImportedRow, factor: &str) -> Option<String> {
    let setting = row.settings.iter().find(|one| one.factor == factor)?;
    Some(setting.value.to_string())
}

/// The results below one head: of later runs a script may have kept the numbers only.
fn results_of<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let is_number = |line: &str| NUMBERS.iter().any(|begin| line.starts_with(begin));
    let head_end = lines.iter().position(|line| is_number(line)).unwrap_or(lines.len());
    let (head, rest) = lines.split_at(head_end);
    let mut results = vec![head.to_vec()];
    let mut has_rate = false;
    for line in rest {
        if has_rate && is_number(line) {
            results.push(head.to_vec());
            has_rate = false;
        }
        has_rate |= line.starts_with("tps = ");
        results.last_mut().into_iter().for_each(|result| result.push(line));
    }
    results
}

/// The result of pgbench with these rows.
pub(super) fn result(
    version: Option<&str>,
    rows: Vec<ImportedRow>,
    lacks: Vec<Lack>,
) -> ImportedResult {
    ImportedResult {
        program: format!("pgbench {}", version.unwrap_or_default()).trim_end().to_owned(),
        name: "pgbench".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    }
}

/// The lines of a summary, and those that were printed while it ran.
struct PgbenchSummary<'a> {
    lines: &'a [&'a str],
    meanwhile: &'a [&'a str],
}

impl<'a> PgbenchSummary<'a> {
    fn row(&self) -> Result<ImportedRow> {
        let rate_per_s = self.rate_per_s().ok_or_else(|| {
            broken("pgbench", "a summary has no complete line tps =: it is cut off")
        })?;
        let mut measures = vec![self.with_interval(rate_per_s)];
        measures.extend(self.time_ns("average").map(|ns| total(&format!("{TIME}.mean"), ns)));
        measures.extend(self.time_ns("stddev").map(|ns| total(&format!("{TIME}.stddev"), ns)));
        let counted = COUNTS.iter().filter_map(|(label, name)| {
            let text = self.value(label)?;
            let text = text.rsplit_once("limit: ").map_or(text, |(_, text)| text);
            Some(total(name, leading(text)?))
        });
        measures.extend(counted);
        measures.extend(self.other_times());
        measures.extend(self.scripts());
        measures.extend(self.statements());
        let elapsed_s = self.elapsed_s(rate_per_s);
        Ok(ImportedRow { settings: self.settings(), elapsed_s, measures, ..ImportedRow::default() })
    }

    /// Duration of the run: the requested one, unless it contradicts the transactions and the rate,
    /// as in a stopped run or in lines copied together.
    fn elapsed_s(&self, rate_per_s: f64) -> Option<f64> {
        let processed = self.value("number of transactions actually processed: ").and_then(leading);
        let counted_s = processed.map(|processed| processed / rate_per_s);
        let counted_s = counted_s.filter(|time_s| time_s.is_finite() && *time_s > 0.0);
        let asked_s = self.value("duration: ").and_then(leading);
        let agrees = |asked_s: f64| {
            counted_s.is_none_or(|counted_s| (0.5..2.0).contains(&(asked_s / counted_s)))
        };
        asked_s.filter(|asked_s| agrees(*asked_s)).or(counted_s)
    }

    /// What follows a label.
    fn value(&self, label: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| line.strip_prefix(label)).map(str::trim)
    }

    /// The rate without the time that connections took: up to version 13 the second of two lines,
    /// later the only one. Each line ends with what it counts; one that does not is cut off.
    fn rate_per_s(&self) -> Option<f64> {
        let lines = self.lines.iter().filter_map(|line| line.strip_prefix("tps = "));
        let rates: Vec<&str> = lines.filter(|rate| rate.ends_with(')')).collect();
        let named = |word: &str| rates.iter().find(|rate| rate.contains(word));
        let including = named("including connections");
        let is_first_of_two = including.is_some();
        let without = named("excluding").or_else(|| named("without initial"));
        // With a connection for each transaction their time is most of the run.
        let is_close = |rate: &&&str| {
            let all_per_s = including.and_then(|rate| leading(rate));
            all_per_s.is_none_or(|all| leading(rate).is_some_and(|rate| rate < 1.5 * all))
        };
        let without = if without.is_some() { without.filter(is_close).or(including) } else { None };
        let only = rates.first().filter(|_| !is_first_of_two);
        without.or(only).and_then(|rate| leading(rate))
    }

    /// Up to version 9.5 a colon stands where an equals sign stands now.
    fn time_ns(&self, statistic: &str) -> Option<f64> {
        let text = [" = ", ": "]
            .iter()
            .find_map(|sign| self.value(&format!("latency {statistic}{sign}")))?;
        // Without -R, release 9.4 and older print a time that they did not take.
        leading(text).filter(|time_ms| *time_ms > 0.0).map(|time_ms| time_ms * 1e6)
    }

    /// The rate with the interval that the lines of progress give, where there are enough of them.
    fn with_interval(&self, rate_per_s: f64) -> NamedEstimate {
        let rates = self.meanwhile.iter().filter_map(|line| {
            let (_, rest) = line.strip_prefix("progress: ")?.split_once(" s, ")?;
            leading(rest.split_once(" tps")?.0)
        });
        around(total(RATE, rate_per_s), &rates.collect::<Vec<f64>>())
    }

    /// Times that are of no transaction: of the connections, and of the wait behind the schedule of
    /// `-R`.
    fn other_times(&self) -> Vec<NamedEstimate> {
        let time = |label: &str, name: &str| {
            self.value(label).and_then(leading).map(|ms| total(name, ms * 1e6))
        };
        let lag = self.value("rate limit schedule lag: ");
        let lag = |word: &str, name: &str| Some(total(name, after(lag?, word)? * 1e6));
        let times = [
            time("initial connection time = ", "connection_time"),
            time("average connection time = ", "connection_time.mean"),
            lag("avg ", "schedule_lag_time.mean"),
            lag("(max ", "schedule_lag_time.max"),
        ];
        times.into_iter().flatten().collect()
    }

    fn settings(&self) -> Vec<StudySetting> {
        let number = |label: &str, factor: &str| {
            Some(count(factor, whole(self.value(label)?.split([' ', '/']).next()?)?))
        };
        let text = |label: &str, factor: &str| Some(word(factor, self.value(label)?));
        [
            number("number of clients: ", "sessions"),
            number("number of threads: ", "workers"),
            number("scaling factor: ", "scale"),
            text(BEGIN, "script"),
            text("query mode: ", "protocol"),
            text("duration: ", "duration"),
            number("maximum number of tries: ", "tries")
                .filter(|tries| *tries != count("tries", 1)),
            self.has_reconnects().then(|| word("connections", "one per transaction")),
            self.value("number of transactions above the ")
                .and_then(|text| text.split_once(" latency limit"))
                .map(|(limit, _)| word("latency_limit", limit)),
            self.value("rate limit schedule lag: ").map(|_| word("rate_limit", "yes")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Whether each transaction had a connection of its own (`-C`).
    fn has_reconnects(&self) -> bool {
        self.value("average connection time = ").is_some()
            || self.lines.iter().any(|line| line.contains("including reconnection times"))
    }

    /// Mean times of single statements, of several scripts with the number of each.
    fn statements(&self) -> Vec<NamedEstimate> {
        let (mut found, mut script) = (Vec::new(), String::new());
        let mut is_list = false;
        for line in self.lines {
            if let Some((number, _)) =
                line.strip_prefix("SQL script ").and_then(|rest| rest.split_once(": "))
            {
                script = format!("script {number}: ");
                is_list = false;
            }
            if line.contains("statement latencies in milliseconds") {
                is_list = true;
            } else if let Some(statement) = Statement::parse(line).filter(|_| is_list) {
                let subject = Some(super::rows::cut(&format!("{script}{}", statement.text)));
                let mean = total("statement.response_time.mean", statement.mean_ms * 1e6);
                found.push(NamedEstimate { subject, ..mean });
            }
        }
        found.truncate(STATEMENTS_MAX);
        found
    }

    /// Rate and times of each of several scripts.
    fn scripts(&self) -> Vec<NamedEstimate> {
        let mut found = Vec::new();
        let mut name = None;
        for line in self.lines {
            if let Some((_, script)) =
                line.strip_prefix("SQL script ").and_then(|rest| rest.split_once(": "))
            {
                name = Some(super::rows::cut(script));
            }
            let rate = line.split_once(" of total, tps = ").and_then(|(_, rest)| leading(rest));
            let time = |label: &str, statistic: &str| {
                let time_ms = line.strip_prefix(label).and_then(leading)?;
                Some(total(&format!("{TIME}.{statistic}"), time_ms * 1e6))
            };
            let counted = COUNTS.iter().find_map(|(label, name)| {
                let rest = line.strip_prefix("- ")?.strip_prefix(label)?;
                Some(total(name, leading(rest)?))
            });
            let measures = [
                rate.map(|rate| total(RATE, rate)),
                time("- latency average = ", "mean"),
                time("- latency stddev = ", "stddev"),
                counted.filter(|_| name.is_some()),
            ];
            let of_script = |one| NamedEstimate { subject: name.clone(), ..one };
            found.extend(measures.into_iter().flatten().map(of_script));
        }
        found
    }
}

/// A statement of a script with its mean time.
struct Statement<'a> {
    mean_ms: f64,
    text: &'a str,
}

impl<'a> Statement<'a> {
    /// `0.605  0  BEGIN;`: the time, from 15 on the failures and the retries, and the statement.
    /// Commands of pgbench itself are none.
    fn parse(line: &'a str) -> Option<Self> {
        let (time, mut rest) = line.split_once(char::is_whitespace)?;
        let mean_ms = number(time).filter(|_| time.contains('.'))?;
        rest = rest.trim_start();
        while let Some((count, text)) = rest.split_once(char::is_whitespace) {
            if whole(count).is_none() {
                break;
            }
            rest = text.trim_start();
        }
        (!rest.is_empty() && !rest.starts_with('\\')).then_some(Self { mean_ms, text: rest })
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{setting, value};
    use super::*;

    fn rows(text: &str) -> Vec<ImportedRow> {
        let ImportedContent::Rows(rows) = read_summary(text).unwrap().content else { panic!() };
        rows
    }

    #[test]
    fn a_warm_up_is_no_repeat_of_the_runs() {
        let result = |length: &str, rate: &str| {
            format!(
                "duration: {length} s\nnumber of transactions actually processed: 5\nlatency \
                 average = 1.000 ms\ntps = {rate} (without initial connection time)\n"
            )
        };
        let head = "transaction type: x\nscaling factor: 10\nnumber of clients: 8\n";
        let (warm_up, runs) =
            (result("300", "90.5"), [result("600", "100.5"), result("600", "101.5")]);
        let text = format!(
            "=== WARMUP ===\n{head}{warm_up}=== RUN 1 ===\n{}=== RUN 2 ===\n{}",
            runs[0], runs[1]
        );
        let found = rows(&text);
        let shown =
            |row: &ImportedRow| (setting(row, "title"), setting(row, "duration"), value(row, RATE));
        let expected =
            [("WARMUP", "300 s", 90.5), ("RUN", "600 s", 100.5), ("RUN", "600 s", 101.5)];
        let expected = expected.map(|(title, length, rate)| (title.into(), length.into(), rate));
        assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected);
        // With a head each, of one length, and without titles nothing is added.
        let plain = format!("{head}{0}{head}{0}", runs[0]);
        let found = rows(&plain);
        assert_eq!(setting(&found[1], "title") + &setting(&found[1], "duration"), "");
    }

    /// As versions 9.0 to 13 print it: a colon before 9.6, two rates.
    const OLD: &str = "starting vacuum...end.\ntransaction type: TPC-B (sort of)\nscaling factor: \
                       50\nquery mode: extended\nnumber of clients: 10\nnumber of threads: \
                       2\nnumber of transactions per client: 1000\nnumber of transactions \
                       actually processed: 10000/10000\nlatency average: 20.000 ms\ntps = \
                       450.000000 (including connections establishing)\ntps = 500.000000 \
                       (excluding connections establishing)\n";

    #[test]
    fn the_rate_is_the_one_without_connections_in_every_version() {
        let row = &rows(OLD)[0];
        assert_eq!((value(row, RATE), value(row, "transaction.response_time.mean")), (500.0, 2e7));
        assert_eq!(row.elapsed_s, Some(20.0));
        let settings = ["sessions", "workers", "scale", "script", "protocol"];
        let found = settings.map(|factor| setting(row, factor));
        assert_eq!(found, ["10", "2", "50", "TPC-B (sort of)", "extended"]);
        let twelve = OLD.replace("average:", "average =");
        assert_eq!(value(&rows(&twelve)[0], "transaction.response_time.mean"), 2e7);
        let only = "transaction type: t\ntps = 116.5 (including reconnection times)\n";
        assert_eq!(value(&rows(only)[0], RATE), 116.5);
    }

    #[test]
    fn every_run_of_a_log_of_runs_is_a_row() {
        let two = rows(&format!("{OLD}{}", OLD.replace("= 500", "= 600")));
        assert_eq!(two.iter().map(|row| value(row, RATE)).collect::<Vec<_>>(), [500.0, 600.0]);
        assert!(read_summary("transaction type: t\nnumber of clients: 1\n").is_err());
        // Cut off inside the rate it would be another rate.
        for end in [4, 30, 50, 70] {
            let cut = read_summary(&OLD[..OLD.len() - end]).unwrap_err();
            assert!(cut.message().contains("cut off"), "{cut}");
        }
    }

    /// As version 15 prints it with `-r -R 300 -L 10`.
    const FULL: &str = "transaction type: multiple scripts\nnumber of clients: 4\nnumber of transactions above the 10.0 ms latency limit: 96/863 (11.124%)\nlatency average = 5.352 ms\nlatency stddev = 7.298 ms\nrate limit schedule lag: avg 0.909 (max 35.621) ms\ninitial connection time = 29.300 ms\ntps = 288.081504 (without initial connection time)\nSQL script 1: <builtin: TPC-B (sort of)>\n - 1498 transactions (10.2% of total, tps = 503.349390)\n - number of failed transactions: 7 (0.500%)\n - latency average = 5.356 ms\n - latency stddev = 8.978 ms\n - statement latencies in milliseconds and failures:\n         0.002           0  \\set aid random(1, 100000 * :scale)\n         0.605           0  BEGIN;\n         3.041           0  UPDATE pgbench_branches SET bbalance = bbalance + 1;\n";

    #[test]
    fn every_printed_time_and_setting_is_kept() {
        let row = &rows(FULL)[0];
        let names = ["connection_time", "schedule_lag_time.mean", "schedule_lag_time.max"];
        assert_eq!(names.map(|name| value(row, name)), [29.3e6, 909_000.0, 35_621_000.0]);
        let of = |subject: &str, quantity: &str| {
            let is_it = |one: &&NamedEstimate| {
                one.quantity == quantity && one.subject.as_deref() == Some(subject)
            };
            let found: Vec<f64> =
                row.measures.iter().filter(is_it).map(|one| one.estimate.value).collect();
            found
        };
        let script = "<builtin: TPC-B (sort of)>";
        assert_eq!(of(script, "transaction.response_time.stddev"), [8.978e6]);
        assert_eq!(of(script, "failed_transactions"), [7.0]);
        let statement = "statement.response_time.mean";
        assert_eq!(of("script 1: BEGIN;", statement), [605_000.0]);
        assert_eq!(row.measures.iter().filter(|one| one.quantity == statement).count(), 2);
        let shown = ["latency_limit", "rate_limit", "connections"];
        assert_eq!(shown.map(|name| setting(row, name)), ["10.0 ms", "yes", ""]);
        let own = FULL.replace("initial connection", "average connection");
        assert_eq!(setting(&rows(&own)[0], "connections"), "one per transaction");
    }

    #[test]
    fn progress_gives_the_rate_an_interval() {
        let progress = |index: u32| {
            let rate = if index.is_multiple_of(2) { "490.0" } else { "510.0" };
            format!("progress: {index}.0 s, {rate} tps, lat 4.3 ms stddev 3.6, 0 failed\n")
        };
        let lines: String = (1..=40).map(progress).collect();
        let row = &rows(&format!("{lines}{OLD}"))[0];
        let estimate = row.measures[0].estimate;
        assert!(estimate.value == 500.0 && estimate.has_interval(), "{estimate:?}");
    }

    #[test]
    fn runs_below_one_head_are_rows() {
        let head = "pgbench (18.3)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nnumber of clients: 8\n";
        let run = |tps: u32| {
            format!(
                "=== RUN ===\nduration: 600 s\nnumber of transactions actually processed: {}\nlatency average = 1.5 ms\ntps = {tps}.5 (without initial connection time)\n",
                600 * tps + 300
            )
        };
        let found = rows(&format!("{head}{}{}{}", run(100), run(200), run(300)));
        let rates: Vec<f64> = found.iter().map(|row| value(row, RATE)).collect();
        assert_eq!(rates, [100.5, 200.5, 300.5]);
        assert!(found.iter().all(|row| setting(row, "sessions") == "8"));
        assert!(found.iter().all(|row| row.elapsed_s == Some(600.0)));
    }

    #[test]
    fn a_time_that_was_not_taken_is_unknown_and_counts_decide_on_the_length() {
        let text = "transaction type: TPC-B (sort of)\nduration: 60 s\n\
                    number of transactions actually processed: 7237\n\
                    latency average: 0.000 ms\ntps = 723.2 (including connections establishing)\n\
                    tps = 723.9 (excluding connections establishing)\n";
        let found = read_summary(text).unwrap();
        assert!(found.lacks.contains(&Lack::Times), "{:?}", found.lacks);
        let row = &rows(text)[0];
        assert!(row.measures.iter().all(|measure| !measure.quantity.starts_with(TIME)));
        assert!(row.elapsed_s.is_some_and(|elapsed_s| (9.9..10.1).contains(&elapsed_s)));
    }

    #[test]
    fn with_a_connection_for_each_transaction_the_rate_includes_them() {
        let rate = |excluding: &str| {
            let text = format!(
                "pgbench (9.4)\ntransaction type: Custom query\nduration: 30 s\nnumber of transactions actually processed: 15660\ntps = 521.8 (including connections establishing)\ntps = {excluding} (excluding connections establishing)\n"
            );
            value(&rows(&text)[0], RATE)
        };
        assert_eq!((rate("190594.4"), rate("522.9")), (521.8, 522.9));
    }
}
