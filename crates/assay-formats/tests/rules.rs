//! Three rules for every reader of results: what is absent is unknown, what is impossible is
//! refused, and a result of which nothing was read is an error.

use assay_formats::results::{ImportedContent, ImportedResult, import};

/// A result of each form: the name of its file, its text, and a number of it that can be damaged.
const RESULTS: [(&str, &str, &str); 8] = [
    (
        "one.json",
        r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "read": {"io_bytes": 8192, "total_ios": 2, "runtime": 9,
            "clat_ns": {"min": 5, "max": 7, "mean": 6.0, "N": 2, "percentile": {"50.000000": 5, "99.000000": 7}}}}]}"#,
        "6.0",
    ),
    ("x_iops.1.log", "500, 1234, 0, 0, 0\n1000, 1000, 0, 0, 0\n", "1234"),
    (
        "flatfile.html",
        "tod Run Interval rate MB/sec resp\n10:00:01 a 1 100 1 1\n10:00:02 a 2 150 2 1\n",
        "150",
    ),
    ("x_summary.txt", "ORION VERSION 19.1\nMaximum Small IOPS=900 @ Small=5 and Large=0\n", "900"),
    ("x_iops.csv", "Large/Small, 1, 2\n0, 321, 400\n", "321"),
    ("phases.csv", "ISO date,operation,threads,IOPS last\n1,READ,4,777\n", "777"),
    ("hammerdb.log", "TEST RESULT : System achieved 555 NOPM from 999 Oracle TPM\n", "555"),
    ("pgbench.txt", "transaction type: x\nnumber of clients: 2\ntps = 444.5 (a)\n", "444.5"),
];

fn values(result: &ImportedResult) -> Vec<f64> {
    match &result.content {
        ImportedContent::Runs(runs) => {
            let all = runs.iter().flat_map(|run| {
                let operations = run.measurement.operations();
                let read = operations.read.unwrap_or_default();
                [run.measurement.iops(), read.service.mean_ns()]
            });
            all.collect()
        }
        ImportedContent::Rows(rows) => {
            rows.iter().flat_map(|row| &row.measures).map(|one| one.estimate.value).collect()
        }
    }
}

#[test]
fn every_sample_is_read() {
    for (name, text, _) in RESULTS {
        let result = import(text, name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(values(&result).iter().all(|value| value.is_finite() && *value > 0.0), "{name}");
    }
}

#[test]
fn an_impossible_number_is_refused_or_unknown_and_never_zero() {
    for (name, text, number) in RESULTS {
        for damaged in ["inf", "-inf", "nan", "1e308", "-5", "##########", ""] {
            let changed = text.replacen(number, damaged, 1);
            assert_ne!(changed, text, "{name}");
            match import(&changed, name) {
                Ok(result) => {
                    let all = values(&result);
                    assert!(
                        all.iter().all(|value| value.is_finite() && *value > 0.0),
                        "{name} with {damaged}: {all:?}"
                    );
                }
                Err(error) => assert!(!error.hint().is_empty(), "{name} with {damaged}"),
            }
        }
    }
}

#[test]
fn a_result_without_a_measurement_is_an_error() {
    for (name, text) in [
        ("one.json", r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "a"}]}"#),
        ("flatfile.html", "tod Run Interval rate MB/sec resp\n10:00:01 a 1 - - -\n"),
        ("x_iops.csv", "Large/Small, 1, 2\n0, , \n"),
        ("phases.csv", "ISO date,operation,threads,IOPS last\n1,READ,4,\n"),
        ("any.txt", "hello\n"),
        ("empty.txt", ""),
    ] {
        assert!(import(text, name).is_err(), "{name}");
    }
}
