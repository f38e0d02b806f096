//! A made-up AWR report.

#[path = "../../../assay-oracle/tests/made_up/mod.rs"]
pub mod made_up;

use made_up::{END_OF_REPORT, activity, cache_sizes, header_11, load_profile, wait_events};

/// A small report: 500 reads and 100 writes per second of 8 KiB over an hour.
pub fn report(reads: u32, redo: &str) -> String {
    let total = |per_s: u32| format!("{}", per_s * 3600);
    let (reads_total, reads_s) = (total(reads), format!("{reads}.0"));
    let bytes_s = format!("{}.0", u64::from(reads) * 8192);
    header_11("11.2.0.3.0", "60.00", "120.00")
        + &cache_sizes("8K")
        + &load_profile(&[("Redo size", redo), ("Physical reads", &reads_s)])
        + &wait_events(
            "Foreground Wait Events",
            &[&["db file sequential read", &reads_total, "3600", "2", "50.0"]],
        )
        + &activity(
            "Instance Activity Stats",
            &[
                &["physical read total IO requests", &reads_total, &reads_s, "1.0"],
                &[
                    "physical read total bytes",
                    &format!("{}", u64::from(reads) * 8192 * 3600),
                    &bytes_s,
                    "1.0",
                ],
                &["physical write total IO requests", "360000", "100.0", "1.0"],
                &["physical write total bytes", "2949120000", "819200.0", "1.0"],
            ],
        )
        + END_OF_REPORT
}
