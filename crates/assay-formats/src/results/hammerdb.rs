//! HammerDB's results from version 2 on: what its virtual users print, its logs, and jobs as JSON.

use super::dates;
use super::hammerdb_report;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, refused, total};
use super::numbers::{after, leading, number, whole};
use super::rows::{count, word};
use assay_model::Result;
use assay_model::study::StudySetting;
use assay_model::verdict::NamedEstimate;
use std::collections::BTreeMap;

/// The procedures of its order entry, as they are called here.
const PROCEDURES: [(&str, &str); 5] = [
    ("NEWORD", "new_order"),
    ("PAYMENT", "payment"),
    ("DELIVERY", "delivery"),
    ("SLEV", "stock_level"),
    ("OSTAT", "order_status"),
];

/// What it says of the times of a procedure, in a log and in a job's timing, and what that becomes.
const STATISTICS: [(&str, &str, &str); 5] = [
    ("AVG:", "avg_ms", "mean"),
    ("P50:", "p50_ms", "q0.5"),
    ("P95:", "p95_ms", "q0.95"),
    ("P99:", "p99_ms", "q0.99"),
    ("MAX:", "max_ms", "max"),
];

const MINUTE_NS: u64 = 60_000_000_000;

/// Whether a text is one of its results.
pub fn is_result(text: &str) -> bool {
    text.contains("NOPM")
        || is_of_queries(text)
        || hammerdb_report::is_report(text)
        || text.contains(TIME_PROFILE)
        || text.contains(COUNTER_LOG)
        || text.contains("avg_ms") && text.contains("NEWORD")
        || is_without_result(text)
}

/// Whether a timed test of orders began: its result may be missing.
fn is_without_result(text: &str) -> bool {
    text.contains("Vuser 1:")
        && ["Beginning rampup time of ", "Timing test period of "]
            .iter()
            .any(|line| text.contains(line))
}

/// What the log of the times of procedures begins with, behind the name of the database.
const TIME_PROFILE: &str = "Hammerdb Time Profile Report";
/// What the log of the counter of transactions begins with.
const COUNTER_LOG: &str = "Hammerdb Transaction Counter Log";

fn is_of_queries(text: &str) -> bool {
    text.contains("Geometric mean of query times") || text.contains(" query set(s) in ")
}

/// Reads every run of a log, or a job.
pub fn read(text: &str) -> Result<ImportedResult> {
    if is_of_queries(text) {
        return queries(text);
    }
    if hammerdb_report::is_report(text) {
        return hammerdb_report::read(text);
    }
    if text.contains(COUNTER_LOG) && !text.contains("NOPM") {
        return Err(refused(
            "HammerDB",
            "its counter includes the ramp-up and the time after the test",
            "specify the log with the line System achieved",
        ));
    }
    let mut log = HammerLog::default();
    // A job as JSON holds the same lines as strings, which may all stand in one line.
    for line in text.split(['\n', '"']).flat_map(|line| line.split("\\n")).map(str::trim) {
        log.line(line)?;
    }
    if log.rows.is_empty() {
        let profile = (!log.times.is_empty()).then(|| log.profile());
        log.rows.extend(job_timing(text).or(profile));
    }
    if log.rows.is_empty() {
        return Err(refused(
            "HammerDB",
            "the log has no result (TEST RESULT : System achieved): the test did not finish",
            "run the test to its end, and specify its complete log",
        ));
    }
    log.add_last_times();
    let warehouses = ["count_ware", "Warehouses ="].iter().find_map(|at| setting_value(text, at));
    for row in &mut log.rows {
        row.settings.extend(warehouses.map(|warehouses| count("warehouses", warehouses)));
    }
    Ok(result(text, "TPROC-C", log.rows))
}

fn result(text: &str, name: &str, rows: Vec<ImportedRow>) -> ImportedResult {
    let has = |part: &str| {
        rows.iter().flat_map(|row| &row.measures).any(|one| one.quantity.contains(part))
    };
    // Up to version 3 it has the times of one user, and of procedures without what they call.
    let has_user_profile = text.contains("|PROCNAME ") || text.contains("|PERCENTILES ");
    let lacks = [
        (true, Lack::Intervals),
        (true, Lack::Load),
        (true, Lack::Environment),
        (!has("_time.") && !has_user_profile, Lack::Times),
        (has_user_profile, Lack::TimesLeftOut("the times of one virtual user".to_owned())),
        (has("_time.") && !has(".q"), Lack::Quantiles),
        (rows.iter().any(|row| row.started_unix_ns.is_none()), Lack::Date),
        (rows.iter().any(|row| row.elapsed_s.is_none()), Lack::Duration),
    ];
    ImportedResult {
        program: format!("HammerDB {}", version(text)).trim_end().to_owned(),
        name: name.to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: lacks.into_iter().filter_map(|(is, lack)| is.then_some(lack)).collect(),
    }
}

/// `HammerDB CLI v4.5`, or `HammerDB-4.5` of a path.
fn version(text: &str) -> &str {
    let found = ["HammerDB CLI v", "HammerDB v", "HammerDB-"].iter().find_map(|begin| {
        let (_, rest) = text.split_once(begin)?;
        let end = rest.find(|sign: char| !(sign.is_ascii_digit() || sign == '.'))?;
        Some(rest[..end].trim_end_matches('.'))
    });
    found.unwrap_or_default()
}

/// The value of an option: `diset tpcc pg_count_ware 100`, `Changed tpcc:pg_count_ware from 1 to
/// 100`, `"count_ware": "100"`.
fn setting_value(text: &str, option: &str) -> Option<u64> {
    let values = text.match_indices(option).filter_map(|(place, _)| {
        let rest = text[place + option.len()..].lines().next().unwrap_or_default();
        let rest = match rest.split_once(" from ").and_then(|(_, rest)| rest.split_once(" to ")) {
            Some((_, value)) => value,
            None => rest,
        };
        let digits = rest.split(|sign: char| !sign.is_ascii_digit()).find(|part| !part.is_empty());
        whole(digits?)
    });
    values.last()
}

/// The latest date in a log.
#[derive(Clone, Copy, Default)]
enum Dated {
    #[default]
    Never,
    /// When the test began, ns since 1970.
    Begun(u64),
    /// When the log was opened, before the ramp.
    Opened(u64),
    /// When a line was written, at the end of the test.
    Written(u64),
}

/// What was printed so far of the run that is going on, and the runs that ended.
#[derive(Default)]
struct HammerLog {
    rows: Vec<ImportedRow>,
    users: Option<u64>,
    ramp_minutes: Option<u64>,
    minutes: Option<f64>,
    dated: Dated,
    procedure: Option<&'static str>,
    is_summary: bool,
    /// Users of the summary of times, and how long they ran, s.
    profiled_users: Option<u64>,
    profiled_s: Option<f64>,
    times: Vec<NamedEstimate>,
    failed: u64,
    failed_procedures: u64,
}

impl HammerLog {
    fn line(&mut self, line: &str) -> Result<()> {
        if let Some((before, _)) = line.split_once(" Virtual Users configured") {
            let before = before.trim_end_matches(" Active");
            self.users = before.split([':', ' ']).next_back().and_then(whole).or(self.users);
        } else if let Some((_, rest)) = line.split_once("System achieved ") {
            self.end_run(rest)?;
        } else if let Some((_, snapshot)) = line.split_once("Start Snapshot ") {
            // Of Oracle, at the end of the ramp.
            let date = snapshot.split_once(" taken at ").and_then(|(_, at)| dates::day_first(at));
            self.dated = date.map_or(self.dated, Dated::Begun);
        } else if let Some((what, date)) = line.split_once(" @ ") {
            let dated = if what == "Hammerdb Log" { Dated::Opened } else { Dated::Written };
            self.dated = dates::with_weekday(date).map_or(self.dated, dated);
        } else if let Some(at_unix_ns) = dates::iso(line).filter(|_| line.len() < 30) {
            self.dated = Dated::Begun(at_unix_ns);
        } else if line.contains("FINISHED FAILED") {
            self.failed += 1;
        } else if line.contains("Procedure Error") {
            self.failed_procedures += 1;
        } else {
            self.minutes = after(line, "Timing test period of ").or(self.minutes);
            let ramp = after(line, "Beginning rampup time of ").map(assay_model::number::count);
            self.ramp_minutes = ramp.or(self.ramp_minutes);
            self.times_line(line);
        }
        Ok(())
    }

    /// `A NOPM from B PostgreSQL TPM`; before version 4 `B Oracle TPM at A NOPM`. The unit is the
    /// word behind the number.
    fn end_run(&mut self, line: &str) -> Result<()> {
        let (mut new_orders, mut transactions, mut last) = (None, None, None);
        let mut product = String::new();
        for word in line.split_whitespace() {
            match word {
                "NOPM" => new_orders = last,
                "TPM" => transactions = last,
                "from" | "at" => {}
                word => match number(word) {
                    Some(value) => last = Some(value),
                    None => product = format!("{product} {word}"),
                },
            }
        }
        let (Some(new_orders), Some(transactions)) = (new_orders, transactions) else {
            return Err(broken("HammerDB", "the line System achieved is cut off"));
        };
        let mut measures = vec![total("new_orders", new_orders / 60.0)];
        // Without access to the counters of the database it prints 0.
        if transactions > 0.0 {
            measures.push(total("transactions", transactions / 60.0));
        }
        let settings = [
            self.users.map(|users| count("sessions", users)),
            (!product.is_empty()).then(|| word("database", &product)),
            self.ramp_minutes.map(|minutes| word("ramp", &format!("{minutes}min"))),
        ];
        let elapsed_s = self.minutes.map(|minutes| minutes * 60.0);
        self.rows.push(ImportedRow {
            settings: settings.into_iter().flatten().collect::<Vec<StudySetting>>(),
            started_unix_ns: self.started(elapsed_s),
            elapsed_s,
            measures,
            ..ImportedRow::default()
        });
        (self.users, self.minutes, self.ramp_minutes) = (None, None, None);
        // A log that goes on was opened before an earlier test.
        if matches!(self.dated, Dated::Opened(_)) {
            self.dated = Dated::Never;
        }
        Ok(())
    }

    /// When the test began, after its ramp.
    fn started(&self, elapsed_s: Option<f64>) -> Option<u64> {
        let ramp_ns = self.ramp_minutes.unwrap_or(0).saturating_mul(MINUTE_NS);
        match self.dated {
            Dated::Never => None,
            Dated::Begun(at_unix_ns) => Some(at_unix_ns),
            Dated::Opened(at_unix_ns) => Some(at_unix_ns.saturating_add(ramp_ns)),
            Dated::Written(at_unix_ns) => {
                let length_ns = elapsed_s.map_or(0, assay_model::number::nanoseconds);
                Some(at_unix_ns.saturating_sub(length_ns))
            }
        }
    }

    /// The times of procedures over all virtual users, which follow the result of their run.
    fn times_line(&mut self, line: &str) {
        if line.contains("SUMMARY OF") || line.contains("COMBINED METRICS") {
            self.is_summary = true;
            self.times.clear();
            self.profiled_users = after(line, "SUMMARY OF ").map(assay_model::number::count);
            self.profiled_s = after(line, "ELAPSED TIME : ").map(|time_ms| time_ms / 1e3);
        } else if let Some((_, name)) = line.split_once("PROC:") {
            let name = name.trim();
            self.procedure =
                PROCEDURES.iter().find(|(known, _)| *known == name).map(|(_, name)| *name);
        } else if let Some(procedure) = self.procedure.filter(|_| self.is_summary) {
            let times = STATISTICS.iter().filter_map(|(label, _, statistic)| {
                Some(time(procedure, statistic, after(line, label)?))
            });
            self.times.extend(times);
            let calls = after(line, "CALLS:");
            self.times.extend(calls.map(|calls| total(&format!("{procedure}.calls"), calls)));
        }
    }

    /// The row of a log of times alone, which is written when the users have ended.
    fn profile(&self) -> ImportedRow {
        ImportedRow {
            settings: self
                .profiled_users
                .map(|users| count("sessions", users))
                .into_iter()
                .collect(),
            started_unix_ns: self.started(self.profiled_s),
            elapsed_s: self.profiled_s,
            ..ImportedRow::default()
        }
    }

    /// The summary of times is that of the last run, and so are the users that failed.
    fn add_last_times(&mut self) {
        let times = std::mem::take(&mut self.times);
        if let Some(last) = self.rows.last_mut() {
            last.measures.extend(times);
            let failures =
                [("failed_sessions", self.failed), ("procedure_errors", self.failed_procedures)];
            let failures = failures.into_iter().filter(|(_, failed)| *failed > 0);
            last.measures.extend(
                failures.map(|(name, failed)| total(name, assay_model::number::real(failed))),
            );
        }
    }
}

fn time(procedure: &str, statistic: &str, time_ms: f64) -> NamedEstimate {
    total(&format!("{procedure}.response_time.{statistic}"), time_ms * 1e6)
}

/// `jobs JOBID timing`: the times of procedures as JSON.
fn job_timing(text: &str) -> Option<ImportedRow> {
    let begin = text.find('{')?;
    let mut values =
        serde_json::Deserializer::from_str(&text[begin..]).into_iter::<serde_json::Value>();
    let values = values.next()?.ok()?;
    let mut row = ImportedRow::default();
    for (name, procedure) in PROCEDURES {
        let of_procedure = values.get(name);
        for (_, key, statistic) in STATISTICS {
            let value = of_procedure.and_then(|one| one.get(key));
            let time_ms = value.and_then(|value| match value {
                serde_json::Value::String(text) => number(text),
                value => value.as_f64(),
            });
            row.measures.extend(time_ms.map(|time_ms| time(procedure, statistic, time_ms)));
        }
    }
    (!row.measures.is_empty()).then_some(row)
}

/// The query sets of TPROC-H that a log holds.
#[derive(Default)]
struct QuerySets {
    /// Geometric means of the query times of each set, s.
    means_s: Vec<f64>,
    /// Time of all sets of each virtual user, s: a user runs its sets one after another.
    times_s: BTreeMap<String, f64>,
    sets: u64,
}

impl QuerySets {
    fn parse(text: &str) -> Self {
        let mut sets = Self::default();
        for line in text.split(['\n', '"']).flat_map(|line| line.split("\\n")) {
            sets.line(line.trim());
        }
        sets
    }

    fn line(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once("Geometric mean of query times") {
            self.means_s.extend(rest.rsplit_once(" is ").and_then(|(_, mean)| leading(mean)));
        }
        if let Some((user, set)) = line.split_once("Completed ")
            && set.contains("query set")
        {
            // A line without `Vuser N:` is of a user of its own.
            let name = match user.rfind("Vuser ") {
                Some(begin) => user[begin..].to_owned(),
                None => format!("set {}", self.sets),
            };
            self.sets += 1;
            *self.times_s.entry(name).or_default() += after(set, " in ").unwrap_or(f64::NAN);
        }
    }

    fn users(&self) -> u64 {
        let means = assay_model::number::count_of(self.means_s.len());
        let users = assay_model::number::count_of(self.times_s.len());
        if users > 0 { users } else { means }
    }

    /// From the first set to the last: the users begin at the same time.
    fn elapsed_s(&self) -> Option<f64> {
        let longest_s = self.times_s.values().copied().reduce(f64::max);
        longest_s.filter(|_| self.times_s.values().all(|time_s| time_s.is_finite()))
    }

    fn settings(&self) -> Vec<StudySetting> {
        let users = self.users();
        let is_equal = users > 0 && self.sets > users && self.sets.is_multiple_of(users);
        let sets = is_equal.then(|| count("query_sets", self.sets / users));
        std::iter::once(count("sessions", users)).chain(sets).collect()
    }
}

/// The query sets of TPROC-H: of one virtual user a power run, of several a throughput run.
fn queries(text: &str) -> Result<ImportedResult> {
    let sets = QuerySets::parse(text);
    let logs: f64 = sets.means_s.iter().map(|mean| mean.ln()).sum();
    let mean_s = (logs / assay_model::number::real_len(sets.means_s.len())).exp();
    // Version 4.0 printed no mean.
    let has_mean = text.contains("Geometric mean");
    if has_mean && (sets.means_s.is_empty() || !mean_s.is_finite()) {
        return Err(broken("HammerDB", "the geometric mean of query times is cut off"));
    }
    let run = if sets.users() > 1 { "throughput_run" } else { "power_run" };
    let elapsed_s = sets.elapsed_s();
    let mean = has_mean.then(|| total(&format!("{run}.query_time.geometric_mean"), mean_s * 1e9));
    let time = elapsed_s.map(|time_s| total(&format!("{run}.time"), time_s * 1e9));
    let mut settings = sets.settings();
    settings.extend(setting_value(text, "scale_fact").map(|scale| count("scale", scale)));
    let opened = text.lines().find_map(|line| line.trim().strip_prefix("Hammerdb Log @ "));
    let row = ImportedRow {
        settings,
        started_unix_ns: opened.and_then(dates::with_weekday),
        elapsed_s,
        measures: mean.into_iter().chain(time).collect(),
        ..ImportedRow::default()
    };
    let mut result = result(text, "TPROC-H", vec![row]);
    let others =
        [(" completed in ", "times of single queries"), ("refresh complete in ", "refreshes")];
    let others = others.iter().filter(|(line, _)| text.contains(line));
    let others: Vec<String> = others.map(|(_, name)| (*name).to_owned()).collect();
    if !others.is_empty() {
        result.lacks.push(Lack::OperationsLeftOut(others));
    }
    Ok(result)
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    fn minute(row: &ImportedRow, quantity: &str) -> f64 {
        (value(row, quantity) * 60.0).round()
    }

    #[test]
    fn the_unit_is_the_word_behind_the_number() {
        for (line, users, version) in [
            (
                "Vuser 1:4 Virtual Users configured\nVuser 1:TEST RESULT : System achieved 125684 \
                 Oracle TPM at 41787 NOPM\n",
                "4",
                "HammerDB",
            ),
            (
                "HammerDB CLI v3.3\nVuser 1:8 Active Virtual Users configured\nVuser 1:TEST \
                 RESULT : System achieved 125684 SQL Server TPM at 41787 NOPM\n",
                "8",
                "HammerDB 3.3",
            ),
            (
                "HammerDB CLI v4.9\nVuser 1:8 Active Virtual Users configured\nVuser 1:TEST \
                 RESULT : System achieved 41787 NOPM from 125684 PostgreSQL TPM\n",
                "8",
                "HammerDB 4.9",
            ),
        ] {
            let found = read(line).unwrap();
            assert_eq!(found.program, version);
            let row = &rows(found)[0];
            assert_eq!(
                (minute(row, "new_orders"), minute(row, "transactions")),
                (41787.0, 125_684.0)
            );
            assert_eq!(setting(row, "sessions"), users, "{line}");
        }
        let row = &rows(read("System achieved 0 Oracle TPM at 27975 NOPM").unwrap())[0];
        assert_eq!(minute(row, "new_orders"), 27975.0);
        assert_eq!((row.measures.len(), setting(row, "sessions")), (1, String::new()));
    }

    #[test]
    fn times_users_and_scale_are_those_of_the_log() {
        let log = "Hammerdb Log @ Wed Jan 15 10:20:00 UTC 2025\nChanged tpcc:pg_count_ware from 1 \
                   to 100 for PostgreSQL\nVuser 1:Beginning rampup time of 2 minutes\nVuser \
                   1:Timing test period of 5 in minutes\nTimestamp 1 @ Wed Jan 15 10:35:00 UTC \
                   2025\nVuser 1:8 Active Virtual Users configured\nVuser 1:TEST RESULT : System \
                   achieved 600 NOPM from 1200 PostgreSQL TPM\nVuser 1:16 Active Virtual Users \
                   configured\nVuser 1:TEST RESULT : System achieved 900 NOPM from 1800 \
                   PostgreSQL TPM\n";
        let found = rows(read(log).unwrap());
        let row = &found[0];
        assert_eq!(
            ["sessions", "warehouses", "ramp"].map(|one| setting(row, one)),
            ["8", "100", "2min"]
        );
        assert_eq!(
            (row.elapsed_s, row.started_unix_ns),
            (Some(300.0), Some(1_736_937_000_000_000_000))
        );
        assert_eq!((setting(&found[1], "sessions"), found[1].elapsed_s), ("16".into(), None));
        let profile = "Vuser 2:|PROCNAME | EXCLUSIVETOT| %| CALLNUM| AVGPERCALL| CUMULTOT|\n";
        let lacks = read(&format!("{log}{profile}")).unwrap().lacks;
        assert!(lacks.iter().any(|lack| matches!(lack, Lack::TimesLeftOut(_))));
        assert!(!lacks.contains(&Lack::Times));
        // Where all warehouses are used, each user says how many there are.
        let assigned = "Vuser 2:VU 2 : Assigning WID=1 based on VU count 4, Warehouses = 40 (1 out \
                        of 10)\nVuser 1:TEST RESULT : System achieved 600 NOPM from 1200 MySQL \
                        TPM\n";
        assert_eq!(setting(&rows(read(assigned).unwrap())[0], "warehouses"), "40");
    }

    #[test]
    fn a_test_begins_after_the_ramp_of_its_log() {
        let run = "Vuser 1:Beginning rampup time of 2 minutes\nVuser 1:Timing test period of 5 in \
                   minutes\nVuser 1:TEST RESULT : System achieved 600 NOPM from 1200 MySQL TPM\n";
        let log = format!("Hammerdb Log @ Wed Jan 15 10:28:00 UTC 2025\n{run}{run}");
        let found = rows(read(&log).unwrap());
        let started = [0, 1].map(|row: usize| found[row].started_unix_ns);
        assert_eq!(started, [Some(1_736_937_000_000_000_000), None]);
        let snapshot = "Vuser 1:Start Snapshot 7 taken at 15 JAN 2025 10:30 of instance db (1)\n";
        let row = rows(read(&format!("{snapshot}{run}")).unwrap()).remove(0);
        assert_eq!(row.started_unix_ns, started[0]);
    }

    #[test]
    fn a_job_as_json_is_read_in_one_line_or_in_many() {
        let job = "[\n\"6A\",\n\"2025-01-15 10:30:00\",\n\"8 Active Virtual Users \
                   configured\",\n\"TEST RESULT : System achieved 120000 NOPM from 276000 \
                   PostgreSQL TPM\"\n]";
        for text in [job.to_owned(), job.replace('\n', " ")] {
            let row = &rows(read(&text).unwrap())[0];
            assert_eq!((value(row, "new_orders"), setting(row, "sessions")), (2000.0, "8".into()));
            assert_eq!(row.started_unix_ns, Some(1_736_937_000_000_000_000));
        }
        let timing = r#"{"NEWORD": {"calls": "10", "avg_ms": "36.3", "p99_ms": 210.1}, "PAYMENT": {"avg_ms": "1"}}"#;
        let row = &rows(read(timing).unwrap())[0];
        assert_eq!(value(row, "new_order.response_time.q0.99"), 210.1e6);
    }

    #[test]
    fn times_of_procedures_are_those_of_all_users() {
        let log = "Vuser 1:2 Active Virtual Users configured\nVuser 1:TEST RESULT : System \
                   achieved 600 NOPM from 1200 PostgreSQL TPM\n>>>>> VIRTUAL USER 2 : ELAPSED \
                   TIME : 120522ms\n>>>>> PROC: NEWORD\nCALLS: 9\tMIN: 1.0ms\tAVG: 2.0ms\tMAX: \
                   3.0ms\n>>>>> SUMMARY OF 2 ACTIVE VIRTUAL USERS\n>>>>> PROC: NEWORD\nCALLS: \
                   3427\tMIN: 1.7ms\tAVG: 36.5ms\tMAX: 1220.0ms\nP99: 210.0ms\tP95: 104.0ms\tP50: \
                   19.0ms\n";
        let row = &rows(read(log).unwrap())[0];
        let of =
            |statistic: &str| value(row, &format!("new_order.response_time.{statistic}")) / 1e6;
        assert_eq!([of("mean"), of("q0.5"), of("q0.99"), of("max")], [36.5, 19.0, 210.0, 1220.0]);
    }

    #[test]
    fn a_log_of_times_alone_has_the_times_of_its_summary() {
        let profile = "MySQL Hammerdb Time Profile Report @ Wed Jan 15 10:00:00 UTC 2025\n>>>>> \
                       VIRTUAL USER 2 : ELAPSED TIME : 905ms\n>>>>> PROC: PAYMENT\nCALLS: 5MIN: \
                       1.0msAVG: 9.0msMAX: 19.0msTOTAL: 9.0ms\n>>>>> SUMMARY OF 8 ACTIVE VIRTUAL \
                       USERS : MEDIAN ELAPSED TIME : 904ms\n>>>>> PROC: NEWORD\nCALLS: 40MIN: \
                       2.0msAVG: 9.25msMAX: 36.0msTOTAL: 9.0ms\nP99: 14.5msP95: 12.5msP50: \
                       9.0msSD: 1840.0RATIO: 41.435%\n";
        let row = &rows(read(profile).unwrap())[0];
        let measures = row.measures.iter().map(|one| (one.quantity.as_str(), one.estimate.value));
        let of =
            |statistic: &str| value(row, &format!("new_order.response_time.{statistic}")) / 1e6;
        assert_eq!([of("mean"), of("q0.5"), of("q0.99"), of("max")], [9.25, 9.0, 14.5, 36.0]);
        assert_eq!((measures.count(), value(row, "new_order.calls")), (6, 40.0));
        // The date is that of the end.
        let started_ns = 1_736_935_200_000_000_000 - 904_000_000;
        assert_eq!((row.started_unix_ns, row.elapsed_s), (Some(started_ns), Some(0.904)));
        assert_eq!(setting(row, "sessions"), "8");
        let counter = "Hammerdb Transaction Counter Log @ Wed Jan 15 10:00:00 UTC 2025\n324540 \
                       PostgreSQL tpm @ Wed Jan 15 10:00:01 UTC 2025\n";
        assert!(is_result(counter));
        assert!(read(counter).unwrap_err().message().contains("includes the ramp-up"));
    }

    #[test]
    fn query_sets_are_a_power_run_or_a_throughput_run() {
        let dated = "Hammerdb Log @ Wed Jan 15 10:30:00 UTC 2025\nVuser 1:New Sales refresh complete \
                     in 54.15 seconds\nVuser 1:query 14 completed in 7.8 seconds\nVuser 1:Completed 1 \
                     query set(s) in 52 seconds\n";
        let found = read(dated).unwrap();
        let left_out = ["times of single queries", "refreshes"].map(str::to_owned).to_vec();
        assert!(found.lacks.contains(&Lack::OperationsLeftOut(left_out)), "{:?}", found.lacks);
        assert_eq!(rows(found)[0].started_unix_ns, Some(1_736_937_000_000_000_000));
        let set = "Vuser 1:Completed 1 query set(s) in 52 seconds\nVuser 1:Geometric mean of \
                   query times returning rows (22) is 2.0\n";
        let row = &rows(read(set).unwrap())[0];
        assert_eq!(value(row, "power_run.query_time.geometric_mean"), 2e9);
        let two = format!("{set}{}", set.replace("2.0", "8.0").replace("Vuser 1", "Vuser 2"));
        let row = &rows(read(&two).unwrap())[0];
        assert_eq!(value(row, "throughput_run.query_time.geometric_mean"), 4e9);
        let old = &rows(read("Vuser 1:Completed 1 query set(s) in 91 seconds\n").unwrap())[0];
        assert_eq!((value(old, "power_run.time"), old.measures.len()), (91e9, 1));
    }

    #[test]
    fn query_sets_of_a_user_follow_one_another() {
        let set = |user: u32, time_s: u32| {
            format!("Vuser {user}:Completed 1 query set(s) in {time_s} seconds\n")
        };
        let log = [(1, 50), (2, 60), (2, 61), (1, 55)].map(|(user, time_s)| set(user, time_s));
        let row = &rows(read(&log.concat()).unwrap())[0];
        assert_eq!(["sessions", "query_sets"].map(|one| setting(row, one)), ["2", "2"]);
        assert_eq!(value(row, "throughput_run.time"), 121e9);
        assert_eq!(row.elapsed_s, Some(121.0));
        let alone = &rows(read(&[set(1, 50), set(1, 40)].concat()).unwrap())[0];
        assert_eq!(
            (value(alone, "power_run.time"), setting(alone, "sessions")),
            (90e9, "1".into())
        );
    }

    #[test]
    fn a_test_without_a_result_did_not_finish() {
        for text in [
            "HammerDB CLI v4.5\nVuser 1:Timing test period of 5 in minutes\nVuser 1:Test complete, \
             Taking end Transaction Count.\n",
            "Vuser 1:Beginning rampup time of 2 minutes\nVuser 2:RUNNING\n",
        ] {
            assert!(is_result(text), "{text}");
            let error = read(text).unwrap_err();
            assert!(error.message().contains("did not finish"), "{error}");
        }
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        for text in ["System achieved 42298 NOPM from", "the unit is NOPM"] {
            assert!(read(text).unwrap_err().message().contains("HammerDB"), "{text}");
        }
    }
}
