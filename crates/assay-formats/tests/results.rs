//! Results that the programs wrote themselves, read with the numbers that another program finds in
//! them.
#![allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

use assay_formats::results::{
    ImportedContent, ImportedResult, ImportedRow, NamedText, are_of_one_run, import, import_files,
};

fn text(name: &str) -> String {
    let path = format!("{}/tests/results/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn rows(result: ImportedResult) -> Vec<ImportedRow> {
    let ImportedContent::Rows(rows) = result.content else { panic!("{result:?}") };
    rows
}

fn one(name: &str) -> ImportedRow {
    let found = rows(import(&text(name), name).unwrap());
    assert_eq!(found.len(), 1, "{name}");
    found.into_iter().next().unwrap()
}

/// The logs of both threads of a run.
fn both(name: &str) -> ImportedRow {
    let names = [name.to_owned(), format!("{name}.1")];
    let texts = names.each_ref().map(|name| text(name));
    let files: Vec<NamedText<'_>> =
        names.iter().zip(&texts).map(|(name, text)| NamedText { name, text }).collect();
    assert!(are_of_one_run(&files[0], &files[1]));
    rows(import_files(&files).unwrap()).into_iter().next().unwrap()
}

fn value(row: &ImportedRow, quantity: &str) -> f64 {
    let found = row.measures.iter().find(|one| one.quantity == quantity);
    found.map_or(f64::NAN, |one| one.estimate.value)
}

fn setting(row: &ImportedRow, factor: &str) -> String {
    let found = row.settings.iter().find(|one| one.factor == factor);
    found.map(|one| one.value.to_string()).unwrap_or_default()
}

/// Within a share of one another.
fn assert_near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() <= share, "{found} is not {expected}");
}

/// The numbers were counted by another program in the same files, and printed by pgbench for the
/// same run.
#[test]
fn logs_of_pgbench_15_have_the_numbers_that_it_printed() {
    let row = both("pgbench_log.4568");
    assert_near(value(&row, "transactions"), 29.0, 1e-6);
    assert_near(value(&row, "transaction.response_time.mean"), 12_238_189.3, 1e-6);
    assert_near(value(&row, "transaction.response_time.q0.5"), 11_537_000.0, 0.002);
    assert_near(value(&row, "transaction.response_time.q0.99"), 40_711_000.0, 0.002);
    assert_eq!((setting(&row, "sessions"), setting(&row, "workers")), ("4".into(), "2".into()));
    assert_near(row.elapsed_s.unwrap(), 25.895_453, 1e-6);
    assert!(row.measures[0].estimate.has_interval(), "{row:?}");
    let failed = both("failures_log.7459");
    assert_near(value(&failed, "transactions"), 54.575, 1e-4);
    assert_near(value(&failed, "serialization_failures"), 10.0, 0.0);
    let aggregated = both("aggregated_log.6380");
    assert_near(value(&aggregated, "transactions"), 304.041_667, 1e-6);
    assert_near(value(&aggregated, "transaction.response_time.mean"), 13_315_964.0, 1e-6);
    // One in five is in the log; pgbench printed the rate of all.
    let sampled = one("sampled_log.7640");
    assert_near(value(&sampled, "transactions"), 161.24, 0.03);
}

#[test]
fn what_pgbench_15_printed_is_read_with_its_load() {
    let row = one("pgbench-15-progress.txt");
    assert_near(value(&row, "transactions"), 285.416_227, 1e-9);
    assert_near(value(&row, "transaction.response_time.stddev"), 12.004e6, 1e-9);
    assert!(row.measures[0].estimate.has_interval(), "{row:?}");
    let shown = ["sessions", "workers", "scale", "protocol"].map(|one| setting(&row, one));
    assert_eq!(shown, ["4", "2", "2", "simple"]);
    assert_near(value(&one("pgbench-15-connect.txt"), "transactions"), 40.960_742, 1e-9);
    let failed = one("pgbench-15-failures.txt");
    let counts = ["serialization_failures", "deadlock_failures", "retried_transactions"];
    assert_eq!(counts.map(|one| value(&failed, one)), [10.0, 0.0, 41.0]);
    let scripts = one("pgbench-15-scripts.txt");
    let of: Vec<(Option<&str>, f64)> = scripts
        .measures
        .iter()
        .filter(|one| one.quantity == "transactions")
        .map(|one| (one.subject.as_deref(), one.estimate.value))
        .collect();
    let (update, select) = (Some("update.sql"), Some("<builtin: select only>"));
    assert_eq!(of, [(None, 2_944.206_131), (update, 875.534_33), (select, 2_068.671_801)]);
}

#[test]
fn what_sysbench_1_0_printed_is_read_with_its_load() {
    let row = one("sysbench-1.0-oltp.txt");
    let measures = ["transactions", "queries", "ignored_errors", "transaction.response_time.mean"];
    assert_eq!(measures.map(|one| value(&row, one)), [653.29, 13297.93, 12.93, 6.11e6]);
    assert_near(value(&row, "transaction.response_time.q0.5"), 3.13e6, 1e-9);
    assert_near(value(&row, "transaction.response_time.q0.99"), 14.46e6, 1e-9);
    let files = one("sysbench-1.0-fileio.txt");
    let rates = ["read.iops", "write.iops", "sync.iops"].map(|one| value(&files, one));
    assert_eq!(rates, [40248.65, 26832.23, 2685.76]);
    assert_near(value(&files, "read.throughput"), 628.89 * 1_048_576.0, 1e-9);
    assert_eq!(setting(&files, "read_share"), "60%");
    assert_near(value(&one("sysbench-1.0-histogram.txt"), "write.iops"), 14960.95, 1e-9);
    let other = import(&text("sysbench-1.0-cpu.txt"), "cpu").unwrap_err();
    assert!(other.message().contains("neither files nor a database"), "{other}");
}

#[test]
fn a_file_that_is_cut_off_is_refused_or_loses_no_more_than_its_end() {
    for name in ["pgbench-15-progress.txt", "sysbench-1.0-oltp.txt", "sysbench-1.0-fileio.txt"] {
        let whole = text(name);
        let complete = one(name);
        for end in (0..whole.len()).step_by(7).filter(|end| whole.is_char_boundary(*end)) {
            if let Ok(found) = import(&whole[..end], name) {
                let row = rows(found).into_iter().next().unwrap();
                assert_eq!(row.measures[0].estimate.value, complete.measures[0].estimate.value);
            }
        }
    }
}
