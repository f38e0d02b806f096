//! The example of the documentation does what its page says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/library.rs"]
#[allow(dead_code, reason = "its main function is that of a program")]
mod library;

use assay_app::Context;
use assay_app::calibrate::CalibrationRunPlan;
use assay_app::plan_document::read_plan;
use assay_model::run::RunKind;
use assay_store::Store;
use std::path::PathBuf;

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-app-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[test]
fn a_calibration_by_the_crates_alone_finds_what_the_device_gives() {
    let directory = Directory::new("calibration");
    let context = Context::new(Store::at(&directory.0));
    let iops = library::calibrate(&context).unwrap();
    // Two servers of 500 µs carry 4,000 a second.
    assert!((iops / 4000.0 - 1.0).abs() < 0.05, "{iops}");
    let listed = context.store.runs().unwrap();
    let run = context.store.open(&listed.runs[0].id).unwrap();
    let plan: CalibrationRunPlan = read_plan(&run, RunKind::Calibrate).unwrap().unwrap();
    assert_eq!(plan.target.targets, ["sim:servers?count=2&service=500us"]);
    // A plan of another kind of run is none.
    assert!(read_plan::<CalibrationRunPlan>(&run, RunKind::Soak).unwrap().is_none());
}

#[test]
fn a_load_is_checked_without_a_server() {
    let plan = library::order_entry("/tmp");
    plan.load().check().unwrap();
    assert!(plan.load().data_bytes().unwrap() > 50_000_000);
    let error = library::order_entry("/tmp/no-such-directory")
        .run(&Context::new(Store::at(&Directory::new("none").0)))
        .err()
        .unwrap();
    assert!(error.message().contains("neither a directory"), "{error}");
}
