//! Results that fio 3.33 wrote itself, in every form that it has, and reduced ones of other
//! versions that lie next to the repository: each number is the one that the file holds. Without
//! the latter the test says so and passes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing"
)]

use assay_formats::results::{ImportedContent, ImportedResult, ImportedRun, Lack, import};
use assay_model::encoding::text_of;
use assay_model::measurement::{OperationResult, PerOperation};
use assay_model::number::real;
use std::path::{Path, PathBuf};

fn result(name: &str) -> ImportedResult {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    import(&text, name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn runs(result: ImportedResult) -> Vec<ImportedRun> {
    let ImportedContent::Runs(runs) = result.content else { panic!("{result:?}") };
    runs
}

fn operations(name: &str) -> PerOperation {
    runs(result(name))[0].measurement.operations()
}

/// The numbers of the rows by their quantities.
fn numbers(result: &ImportedResult) -> Vec<(&str, f64)> {
    let ImportedContent::Rows(rows) = &result.content else { panic!("{result:?}") };
    let measures = rows.iter().flat_map(|row| &row.measures);
    measures.map(|one| (one.quantity.as_str(), one.estimate.value)).collect()
}

#[track_caller]
fn assert_near(found: f64, right: f64) {
    assert!((found / right - 1.0).abs() < 0.005, "{found} instead of {right}");
}

#[track_caller]
fn assert_times(found: &OperationResult, mean_ns: f64, p99_ns: f64) {
    assert_near(found.service.mean_ns(), mean_ns);
    assert_near(real(found.service.quantile_ns(0.99)), p99_ns);
}

#[test]
fn json_with_bins_has_every_time() {
    let found = operations("plus.json");
    let (reads, writes) = (found.read.unwrap(), found.write.unwrap());
    assert_eq!((reads.ios, reads.bytes, writes.ios, writes.bytes), (134, 1_097_728, 66, 540_672));
    assert_near(reads.service.mean_ns(), 3_850.753_731);
    assert_eq!((reads.service.min_ns(), reads.service.max_ns()), (1196, 22_386));
    assert_near(writes.service.mean_ns(), 6_619.060_606);
    assert!(found.sync.is_some_and(|sync| sync.ios > 0));
}

#[test]
fn a_group_has_the_processor_time_of_all_its_jobs() {
    let run = &runs(result("group.json"))[0];
    let reads = run.measurement.operations().read.unwrap();
    assert_eq!((reads.ios, reads.bytes), (600, 4_915_200));
    assert_times(&reads, 257_313.09, 4_046_848.0);
    // 3.268% of 153 ms.
    assert_near(run.measurement.conduct.cpu_user_s, 0.005);
}

#[test]
fn quantiles_of_the_total_latency_are_seen() {
    let found = result("total.json");
    assert!(found.lacks.contains(&Lack::QuantilesOfTotal));
    let reads = runs(found)[0].measurement.operations().read.unwrap();
    assert_times(&reads, 274_410.505, 4_014_080.0);
}

#[test]
fn what_was_not_measured_is_unknown() {
    let mean = result("mean.json");
    let numbers_of_mean = numbers(&mean);
    assert_near(numbers_of_mean[2].1, 291_262.515);
    assert!(mean.lacks.contains(&Lack::Quantiles) && numbers_of_mean.len() == 4);
    let clocks = result("without_clocks.json");
    assert!(clocks.lacks.contains(&Lack::Times));
    let names: Vec<&str> = numbers(&clocks).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["iops", "throughput"]);
    assert_near(numbers(&clocks)[0].1, 200.0 / 0.062);
}

#[test]
fn joined_operations_stay_joined_and_trims_are_none() {
    let mixed = result("mixed.json");
    assert!(mixed.lacks.contains(&Lack::Operations));
    let found = numbers(&mixed);
    assert_near(found[0].1, 200.0 / 0.049);
    assert_eq!(found[2].0, "service_time.mean");
    let trims =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio/trims.json"));
    let error = import(&trims.unwrap(), "trims.json").unwrap_err();
    assert!(error.message().contains("only trims"), "{error}");
}

#[test]
fn of_the_states_of_a_run_the_last_counts() {
    let reads = operations("states.json").read.unwrap();
    assert_eq!((reads.ios, reads.bytes), (800, 6_553_600));
    assert_times(&reads, 1_460_174.267_5, 5_341_184.0);
    let reads = operations("states.txt").read.unwrap();
    assert_eq!((reads.ios, reads.bytes), (799, 799 * 8192));
    assert_times(&reads, 1_970_580.0, 5_276_000.0);
}

#[test]
fn clients_of_different_run_times_have_their_own_rates_and_add_up() {
    for (name, times_s) in [("clients.json", [0.046, 0.101]), ("clients.txt", [0.054, 0.043])] {
        let found = result(name);
        let found = numbers(&found);
        let all = |quantity: &str| -> Vec<f64> {
            let same = found.iter().filter(|(name, _)| *name == quantity);
            same.map(|(_, value)| *value).collect()
        };
        let longest_s = f64::max(times_s[0], times_s[1]);
        let expected = [200.0 / times_s[0], 200.0 / times_s[1], 400.0 / longest_s];
        for (rate, right) in all("iops").into_iter().zip(expected) {
            assert_near(rate, right);
        }
        assert_eq!((all("iops").len(), all("read.service_time.mean").len()), (3, 2), "{name}");
        assert_near(all("throughput")[2], 3_276_800.0 / longest_s);
    }
    let found = result("clients.json");
    let means = numbers(&found).into_iter().filter(|(name, _)| *name == "read.service_time.mean");
    assert_near(means.map(|(_, mean_ns)| mean_ns).sum::<f64>() / 2.0, 362_955.77);
}

#[test]
fn text_and_terse_outputs_have_their_numbers() {
    for name in ["normal.txt", "terse2.txt", "terse3.txt", "terse4.txt", "terse5.txt"] {
        let found = operations(name);
        let (reads, writes) = (found.read.unwrap(), found.write.unwrap());
        assert_eq!((name, reads.ios, writes.ios), (name, 134, 66));
        assert_near(real(reads.bytes), 1_097_728.0);
    }
    let found = operations("normal.txt");
    assert_times(&found.read.unwrap(), 1_258_630.0, 4_015_000.0);
    assert_times(&found.write.unwrap(), 9200.76, 26_496.0);
    // The text says how long flushes took, and not how many there were.
    assert!(found.sync.is_none());
    assert_times(&operations("terse3.txt").read.unwrap(), 292_935.866, 4_014_000.0);
}

#[test]
fn logs_of_every_kind_have_their_numbers() {
    let single = operations("one_clat.1.log");
    assert_eq!(single.ios(), 200);
    let rates = result("all_iops.log");
    let found = numbers(&rates);
    // Two jobs of 400 reads per second each in one log.
    assert!(found[0].0 == "iops" && (found[0].1 - 800.0).abs() < 20.0, "{found:?}");
    assert!(!rates.lacks.contains(&Lack::Date));
    let means = result("all_clat.log");
    assert!(means.lacks.contains(&Lack::Weights) && numbers(&means).len() == 1);
    let bins = operations("hist_clat_hist.1.log").read.unwrap();
    let whole = operations("hist.json").read.unwrap();
    // The last interval is not over when the run ends.
    assert!(bins.ios <= whole.ios && bins.ios * 3 > whole.ios, "{} {}", bins.ios, whole.ios);
}

#[test]
fn every_output_is_refused_where_it_is_cut() {
    for name in
        ["plus.json", "group.json", "states.json", "clients.json", "normal.txt", "terse4.txt"]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        let whole = import(&text, name).unwrap();
        for share in 1..20 {
            let cut = &text[..text.len() * share / 20];
            match import(cut, name) {
                Err(error) => assert!(!error.hint().is_empty(), "{name} {share}"),
                // What is missing holds no number that is read.
                Ok(found) => assert_eq!(found, whole, "{name} {share}"),
            }
        }
    }
}

/// The folder of reduced results of others, where it is there.
fn cases() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    if beside.is_dir() {
        return Some(beside);
    }
    println!("skipped: the real files of other programs are not next to the repository");
    None
}

#[test]
fn results_of_other_versions_have_their_numbers() {
    let Some(cases) = cases() else { return };
    for (name, ios, iops, p50_ns) in [
        ("01-fio-no-count.json", 180_000, 9000.0, 380e3),
        ("02-fio2-units.json", 180_000, 9000.0, 380e3),
        ("02-fio21-no-totals.json", 180_000, 9000.0, 380e3),
        ("03-fio-lat-percentiles.json", 180_000, 9000.0, 380e3),
        ("07-fio-clients.json", 180_000, 9000.0, 380e3),
        ("08-fio-status-interval.json", 180_000, 9000.0, 380e3),
        ("43-fio-nan.json", 400_000, 10_000.0, 95e3),
    ] {
        let text = text_of(std::fs::read(cases.join(name)).unwrap()).unwrap();
        let run = &runs(import(&text, name).unwrap())[0];
        let reads = run.measurement.operations().read.unwrap();
        println!(
            "{name}: {} reads, {:.0}/s, {:.1} MB/s, mean {:.1} us, p50 {}, p99 {}, max {} ns",
            reads.ios,
            run.measurement.iops(),
            real(reads.bytes) / run.measurement.elapsed_s() / 1e6,
            reads.service.mean_ns() / 1e3,
            reads.service.quantile_ns(0.5),
            reads.service.quantile_ns(0.99),
            reads.service.max_ns(),
        );
        assert_eq!((name, reads.ios), (name, ios));
        assert_near(run.measurement.iops(), iops);
        assert_near(real(reads.service.quantile_ns(0.5)), p50_ns);
        if name.starts_with("43") {
            assert_times(&reads, 95e3, 300e3);
        } else {
            assert_times(&reads, 412e3, 1.9e6);
            assert_near(real(reads.bytes) / run.measurement.elapsed_s(), 73.728e6);
        }
    }
}
