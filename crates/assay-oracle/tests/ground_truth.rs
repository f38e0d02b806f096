//! Real reports against the facts that were copied from them by hand; both lie next to the
//! repository, not in it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::float_cmp,
    reason = "a test fails where what it needs is missing"
)]

use assay_oracle::OracleReport;
use assay_oracle::report::{OracleQuantity, ReportKind};
use std::path::PathBuf;

/// The folder with the reports: `ASSAY_AWR_REPORTS`, or `../shared/awr` next to a checkout or its
/// parent.
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("ASSAY_AWR_REPORTS").map(PathBuf::from);
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = ["../shared/awr", "../../shared/awr"].map(|path| repository.join(path));
    named.into_iter().chain(beside).find(|path| path.join("INDEX.md").is_file())
}

/// One file and what is known of it, as the index words it.
struct Truth {
    file: String,
    facts: String,
}

fn truths() -> Option<(PathBuf, Vec<Truth>)> {
    let folder = folder()?;
    let index = std::fs::read_to_string(folder.join("INDEX.md")).unwrap();
    let bullets = index.lines().filter_map(|line| line.strip_prefix("- **"));
    let truths = bullets.filter_map(|line| {
        let (file, facts) = line.split_once("** (sha256 ")?;
        Some(Truth { file: file.to_owned(), facts: facts.split_once("): ")?.1.to_owned() })
    });
    Some((folder.clone(), truths.collect()))
}

impl Truth {
    /// The numbers behind one of these words, `1,435.8/1,140.4/295.4` as three.
    fn numbers(&self, words: &[&str]) -> Option<Vec<f64>> {
        words.iter().find_map(|word| {
            let rest = &self.facts[self.facts.find(word)? + word.len()..];
            let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
            let end =
                rest.find(|letter: char| !(letter.is_ascii_digit() || ",./-".contains(letter)));
            let text = rest[..end.unwrap_or(rest.len())].trim_end_matches([',', '.', '/']);
            let numbers = text.split('/').map(|number| number.replace(',', "").parse());
            numbers.collect::<Result<Vec<f64>, _>>().ok().filter(|numbers| !numbers.is_empty())
        })
    }

    fn number(&self, words: &[&str]) -> Option<f64> {
        self.numbers(words)?.first().copied()
    }

    /// A rate of a counter, `1,130.82/s` or `286,861 = 79.7/s`.
    fn counter(&self, name: &str) -> Option<f64> {
        let rest = &self.facts[self.facts.find(name)? + name.len()..];
        let until = &rest[..rest.find("/s")?];
        until.split(['=', ' ']).next_back()?.replace(',', "").parse().ok()
    }

    fn report(&self, folder: &std::path::Path) -> OracleReport {
        let bytes = std::fs::read(folder.join(&self.file)).unwrap();
        let mut reports = assay_oracle::read_reports(&bytes);
        assert_eq!(reports.len(), 1, "{}", self.file);
        reports.remove(0).unwrap()
    }
}

/// What one field says against what it should say.
struct Ledger {
    compared: usize,
    wrong: Vec<String>,
}

impl Ledger {
    fn number(&mut self, what: &str, read: Option<f64>, truth: Option<f64>) {
        let Some(truth) = truth else { return };
        self.compared += 1;
        let same = read.is_some_and(|read| (read - truth).abs() <= truth.abs() * 1e-9 + 1e-9);
        if !same {
            self.wrong.push(format!("{what}: read {read:?}, printed {truth}"));
        }
    }

    fn text(&mut self, what: &str, read: Option<&str>, truth: Option<&str>) {
        let Some(truth) = truth else { return };
        self.compared += 1;
        if read != Some(truth) {
            self.wrong.push(format!("{what}: read {read:?}, printed {truth}"));
        }
    }
}

fn value(quantity: Option<OracleQuantity>) -> Option<f64> {
    quantity.map(|quantity| quantity.value)
}

fn minutes(quantity: Option<OracleQuantity>) -> Option<f64> {
    value(quantity).map(|seconds| seconds / 60.0)
}

fn check_header(truth: &Truth, report: &OracleReport, ledger: &mut Ledger) {
    let header = &report.header;
    let name = truth.facts.strip_prefix("DB ").and_then(|rest| rest.split([',', ';']).next());
    ledger.text("DB name", header.db_name.as_deref(), name.filter(|name| !name.contains(':')));
    let instance =
        truth.facts.split_once(", instance ").and_then(|(_, rest)| rest.split(';').next());
    let instance = instance.filter(|name| !name.contains(' '));
    ledger.text("instance", header.instance.as_deref(), instance);
    let container =
        truth.facts.split_once("container ").and_then(|(_, rest)| rest.split(',').next());
    ledger.text("container", header.container.as_deref(), container);
    let snaps = truth.facts.split_once("snaps ").map(|(_, rest)| rest.split(';').next().unwrap());
    let (begin, end) = snaps.and_then(|snaps| snaps.split_once('-')).unwrap();
    ledger.number("begin", value(header.begin.id), begin.parse().ok());
    ledger.number("end", value(header.end.id), end.parse().ok());
    ledger.number("elapsed", minutes(header.elapsed), truth.number(&["elapsed "]));
    ledger.number("DB time", minutes(header.db_time), truth.number(&["DB Time ", "DB time "]));
    ledger.number(
        "DB CPU",
        minutes(header.db_cpu),
        truth.number(&["DB CPU "]).filter(|_| report.kind == ReportKind::Statspack),
    );
    let kib = truth.number(&["Std Block Size "]);
    let block = kib.map(|kib| kib * 1024.0).or(truth.number(&["; Block Size "]));
    ledger.number("block", value(header.block), block);
    if truth.facts.contains("'K' (no number)") || truth.facts.contains("no Cache Sizes") {
        assert_eq!(header.block, None, "{}", truth.file);
    }
}

fn check_load(truth: &Truth, report: &OracleReport, ledger: &mut Ledger) {
    for (names, words) in [
        (
            &["Physical reads", "Physical read (blocks)"][..],
            &["Physical reads ", "Physical read (blocks) "][..],
        ),
        (
            &["Physical writes", "Physical write (blocks)"],
            &["Physical writes ", "Physical write (blocks) "],
        ),
        (&["Read IO requests"], &["Read IO requests "]),
        (&["Write IO requests"], &["Write IO requests "]),
        (&["Read IO (MB)"], &["; Read IO "]),
        (&["Write IO (MB)"], &["; Write IO "]),
        (&["Redo size", "Redo size (bytes)"], &["Redo size "]),
    ] {
        let read = report.load(names).and_then(|row| row.per_second);
        ledger.number(names[0], value(read), truth.number(words));
    }
    if let Some(first) = report.instances.first() {
        let redo = truth.number(&["Redo Size (k)/s "]).map(|redo| redo * 1024.0);
        ledger.number("reads of 1", value(first.read_blocks), truth.number(&["Physical Reads/s "]));
        ledger.number(
            "writes of 1",
            value(first.write_blocks),
            truth.number(&["Physical Writes/s "]),
        );
        ledger.number("redo of 1", value(first.redo), redo);
    }
    if truth.facts.contains("no IO-request line") {
        assert!(report.load(&["Read IO requests"]).is_none(), "{}", truth.file);
    }
}

fn check_requests(truth: &Truth, report: &OracleReport, ledger: &mut Ledger) {
    for (row, words) in [
        ("Total Requests", "Total Requests "),
        ("Database Requests", "Database Requests "),
        ("Total (MB)", "Total (MB) "),
    ] {
        let printed = truth.numbers(&[words]);
        let read = report.io(row);
        let parts = read.map(|row| [row.both, row.read, row.write].map(value));
        for part in 0..3 {
            let printed = printed.as_ref().and_then(|numbers| numbers.get(part).copied());
            ledger.number(row, parts.and_then(|parts| parts[part]), printed);
        }
    }
    for name in [
        "physical read IO requests",
        "physical read total IO requests",
        "physical write IO requests",
        "physical write total IO requests",
        "physical read total bytes",
        "physical write total bytes",
    ] {
        let read = report.statistic(name).and_then(|row| row.per_second);
        ledger.number(name, value(read), truth.counter(name));
    }
}

fn check_top(truth: &Truth, report: &OracleReport, ledger: &mut Ledger) {
    let openings = [
        "top event: ",
        "top event I# *: ",
        "first wait: ",
        "first Top 5 line: ",
        "first wait I# *: ",
    ];
    let found = openings.iter().find_map(|words| truth.facts.split_once(words));
    let (_, rest) = found.unwrap();
    let fields: Vec<&str> = rest.split(", ").collect();
    // `name 21,628,695 waits`: the count is the last word but one, the name is what stands before.
    let (name, waits) = fields[0].trim_end_matches(" waits").rsplit_once(' ').unwrap();
    let global = report.kind == ReportKind::AwrGlobal;
    let printed = if global { &report.all_events } else { &report.top_events };
    let event = printed.iter().find(|event| event.name == name);
    assert!(event.is_some(), "{}: no top event {name:?}", truth.file);
    let event = event.unwrap();
    ledger.number("waits", value(event.waits), waits.replace(',', "").parse().ok());
    let seconds = fields[1].trim_end_matches('s').trim();
    let (seconds, factor) =
        seconds.strip_suffix('K').map_or((seconds, 1.0), |number| (number, 1000.0));
    let seconds: f64 = seconds.replace(',', "").parse().unwrap();
    ledger.number("seconds", value(event.time), Some(seconds * factor));
    let average = fields[2];
    let unit = average.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number: f64 = average[..average.len() - unit.len()].parse().unwrap();
    let factor = match unit.trim() {
        "us" => 1e-6,
        "ms" => 1e-3,
        other => panic!("{other}"),
    };
    ledger.number("average", value(event.average), Some(number * factor));
    let percent: String =
        fields[3].chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    let percent: f64 = format!("0{percent}").parse().unwrap();
    ledger.number("share", value(event.share).map(|share| share * 100.0), Some(percent));
}

#[test]
fn every_printed_fact_of_every_report_is_read() {
    let Some((folder, truths)) = truths() else {
        println!(
            "skipped: no real reports next to the repository (ASSAY_AWR_REPORTS names their \
             folder)"
        );
        return;
    };
    let mut failures = Vec::new();
    let mut compared = 0;
    for truth in &truths {
        let report = truth.report(&folder);
        let mut ledger = Ledger { compared: 0, wrong: Vec::new() };
        check_header(truth, &report, &mut ledger);
        check_load(truth, &report, &mut ledger);
        check_requests(truth, &report, &mut ledger);
        check_top(truth, &report, &mut ledger);
        println!(
            "{}: {} facts, {} wrong, {} unread",
            truth.file,
            ledger.compared,
            ledger.wrong.len(),
            report.unread.len()
        );
        compared += ledger.compared;
        failures.extend(ledger.wrong.iter().map(|wrong| format!("{}: {wrong}", truth.file)));
        assert!(report.complete, "{}", truth.file);
    }
    println!("{compared} facts in {} reports", truths.len());
    assert_eq!(truths.len(), 23);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The second folder of reports, next to the first.
fn wild() -> Option<(PathBuf, Vec<(String, String)>)> {
    let folder = folder()?.parent()?.join("awr2");
    let index = std::fs::read_to_string(folder.join("INDEX.md")).ok()?;
    let bullets = index.lines().filter_map(|line| line.strip_prefix("- **"));
    let truths = bullets.filter_map(|line| {
        let (file, facts) = line.split_once("**: ")?;
        Some((file.to_owned(), facts.to_owned()))
    });
    Some((folder.clone(), truths.collect()))
}

/// What stands behind a word, up to the next mark; a dash is not known.
fn behind<'t>(facts: &'t str, word: &str) -> Option<&'t str> {
    let rest = &facts[facts.find(word)? + word.len()..];
    let rest = rest.split([';', ' ']).next()?.trim_end_matches([',', ')']);
    (rest != "–").then_some(rest)
}

fn parsed(text: &str) -> Option<f64> {
    let text = text.replace(',', "");
    let text = if text.starts_with('.') { format!("0{text}") } else { text };
    text.parse().ok()
}

fn pair(facts: &str, word: &str) -> [Option<f64>; 2] {
    let mut parts = behind(facts, word).unwrap_or("–").split('/').map(parsed);
    [parts.next().flatten(), parts.next().flatten()]
}

fn check_wild(facts: &str, report: &OracleReport, ledger: &mut Ledger) {
    let header = &report.header;
    ledger.text("DB name", header.db_name.as_deref(), behind(facts, "DB "));
    ledger.text("release", header.release.as_deref(), behind(facts, "release "));
    let platform = facts.split_once("platform ").and_then(|(_, rest)| rest.split(", CPUs").next());
    let platform = platform.filter(|platform| *platform != "–");
    ledger.text("platform", header.platform.as_deref(), platform);
    ledger.number("CPUs", value(header.cpus), behind(facts, "CPUs ").and_then(parsed));
    let snaps = behind(facts, "snaps ").and_then(|snaps| snaps.split_once('-'));
    ledger.number("begin", value(header.begin.id), snaps.and_then(|(begin, _)| parsed(begin)));
    ledger.number("end", value(header.end.id), snaps.and_then(|(_, end)| parsed(end)));
    ledger.number("elapsed", minutes(header.elapsed), behind(facts, "elapsed ").and_then(parsed));
    ledger.number("DB time", minutes(header.db_time), behind(facts, "DB time ").and_then(parsed));
    let seconds = behind(facts, "(time model ").and_then(parsed);
    ledger.number("time model", value(report.time("DB time")), seconds);
    ledger.number(
        "DB CPU",
        value(report.time("DB CPU")),
        behind(facts, "DB CPU ").and_then(parsed),
    );
    let block = behind(facts, "block ").and_then(|block| parsed(block.trim_end_matches('K')));
    ledger.number("block", value(header.block), block.map(|kib| kib * 1024.0));
    check_wild_rates(facts, report, ledger);
}

fn check_wild_rates(facts: &str, report: &OracleReport, ledger: &mut Ledger) {
    // The 9.2 report has no interval, and prints its rates by transaction only.
    let by_transaction = report.invalid.is_some();
    let load = |names: &[&str]| {
        let row = report.load(names)?;
        value(if by_transaction { row.per_transaction } else { row.per_second })
    };
    let [reads, writes] = pair(facts, "blocks read/written ");
    ledger.number("blocks read", load(&["Physical reads", "Physical read (blocks)"]), reads);
    ledger.number("blocks written", load(&["Physical writes", "Physical write (blocks)"]), writes);
    let redo = behind(facts, "redo ").and_then(parsed);
    ledger.number("redo", load(&["Redo size", "Redo size (bytes)"]), redo);
    let counter = |name: &str| report.statistic(name).and_then(|row| value(row.per_second));
    for (words, names) in [
        ("database requests ", ["physical read IO requests", "physical write IO requests"]),
        (
            "total requests ",
            ["physical read total IO requests", "physical write total IO requests"],
        ),
        ("total bytes ", ["physical read total bytes", "physical write total bytes"]),
    ] {
        for (name, printed) in names.into_iter().zip(pair(facts, words)) {
            ledger.number(name, counter(name), printed);
        }
    }
}

/// One event as the index words it: name, waits, seconds, average, percent, class.
struct Worded {
    name: String,
    numbers: Vec<f64>,
    has_share: bool,
}

fn worded(text: &str) -> Option<Worded> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| {
        let digits = word.trim_end_matches("us").trim_end_matches("ms").trim_end_matches("ns");
        word == "–"
            || (parsed(digits).is_some() && !word.ends_with(char::is_alphabetic))
            || (parsed(digits).is_some() && digits.len() < word.len())
    };
    let first = (1..words.len()).find(|at| is_number(words[*at]))?;
    let number = |word: &&str| {
        let text = word.trim_end_matches(char::is_alphabetic);
        let scale = match &word[text.len()..] {
            "us" => 1e-3,
            "ns" => 1e-6,
            _ => 1.0,
        };
        parsed(text).map(|number| number * scale)
    };
    let numbers: Vec<f64> = words[first..]
        .iter()
        .filter(|word| is_number(word) && **word != "–")
        .filter_map(number)
        .collect();
    let is_html = text.contains(" waits ") || text.contains(" – ") || text.contains('%');
    let has_share = if is_html { text.contains('%') } else { true };
    Some(Worded { name: words[..first].join(" "), numbers, has_share })
}

/// Every number of each event of the top list must be one of the document's, and in its place where
/// all five are there.
fn check_wild_top(facts: &str, profile: &assay_model::Profile, ledger: &mut Ledger) {
    let Some((_, top)) = facts.split_once("; top: ") else { return };
    let top = top.split("; tablespaces:").next().unwrap();
    let activity = profile.report.as_ref().unwrap();
    for event in top.split("; ").filter_map(worded).filter(|event| event.has_share) {
        let found = activity.top().events.iter().find(|one| one.event == event.name);
        let Some(found) = found else {
            ledger.compared += 1;
            ledger.wrong.push(format!("no top event {}", event.name));
            continue;
        };
        let known = [
            found.waits.map(assay_model::number::real),
            found.time_s,
            found.average_s.map(|average| average * 1e3),
            found.share.map(|share| share * 100.0),
        ];
        for number in event.numbers {
            // The mean is time over waits, of which the report prints a rounded one.
            let half_a_digit = if number.fract().abs() > 0.0 { 0.006 } else { 0.5 };
            let mean = known[2].filter(|mean| (mean - number).abs() <= half_a_digit);
            let near = |known: f64| (known - number).abs() <= number.abs() * 1e-9 + 1e-9;
            let read = known.into_iter().flatten().find(|known| near(*known));
            let read = read.or(mean.map(|_| number));
            ledger.number(&event.name, read.or(Some(f64::NAN)), Some(number));
        }
    }
}

#[test]
fn every_printed_fact_of_the_reports_found_in_the_wild_is_read() {
    let Some((folder, truths)) = wild() else {
        println!("skipped: no second folder of real reports next to the first one");
        return;
    };
    let mut ledger = Ledger { compared: 0, wrong: Vec::new() };
    for (file, facts) in &truths {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let mut reports = assay_oracle::read_reports(&bytes);
        assert_eq!(reports.len(), 1, "{file}");
        let report = reports.remove(0).unwrap();
        let before = (ledger.compared, ledger.wrong.len());
        check_wild(facts, &report, &mut ledger);
        check_wild_top(facts, &assay_oracle::profile(&report), &mut ledger);
        for wrong in &mut ledger.wrong[before.1..] {
            *wrong = format!("{file}: {wrong}");
        }
        println!(
            "{file}: {} facts, {} wrong",
            ledger.compared - before.0,
            ledger.wrong.len() - before.1
        );
    }
    println!("{} facts in {} reports", ledger.compared, truths.len());
    assert_eq!(truths.len(), 19);
    assert!(ledger.wrong.is_empty(), "{}", ledger.wrong.join("\n"));
}

#[test]
fn what_is_no_such_report_is_refused_by_name() {
    let Some((folder, _)) = wild() else {
        println!("skipped: no second folder of real reports next to the first one");
        return;
    };
    for (file, name) in [
        ("o01-awrdiff-11.2.txt", "compare-period"),
        ("o02-awrdiff-11.2.html", "compare-period"),
        ("o03-ash-12.1.txt", "an ASH report"),
        ("o06-ash-11.2.html", "an ASH report"),
        ("o12-spdoc.txt", "the documentation of Statspack"),
        ("o19-mini-sample_awr.html", ""),
    ] {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        for report in assay_oracle::read_reports(&bytes) {
            let refused = report.expect_err(file).to_string();
            println!("{file}: {refused}");
            assert!(refused.contains(name), "{file}: {refused}");
        }
    }
}
