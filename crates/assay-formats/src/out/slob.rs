//! The columns of SLOB's `awr_info`, from the steps of a load.

use assay_model::load::{Load, Rung};
use assay_model::number::{rate, real};
use std::fmt::Write;

const HEADER: &str = "FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|\
    WRITE_MBS|REDO_MBS|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT|";

/// One line a step: rates a second, megabytes of 1,048,576 bytes, latencies in microseconds. What
/// the server does not tell is empty.
pub fn slob(load: &Load) -> String {
    let mut text = format!("{HEADER}\n");
    for rung in &load.rungs {
        let _ = writeln!(text, "{}", line(rung));
    }
    text
}

fn line(rung: &Rung) -> String {
    let elapsed_s = rung.measurement.elapsed_s();
    let counts = &rung.database;
    let per_second = |amount: u64| format!("{:.0}", rate(amount, elapsed_s));
    let megabytes = |bytes: u64| format!("{:.1}", rate(bytes, elapsed_s) / 1_048_576.0);
    let seconds_a_second =
        |time_ns: u64| format!("{:.1}", real(time_ns) / 1e9 / elapsed_s.max(f64::MIN_POSITIVE));
    let mean_us = |wait_ns: Option<u64>, amount: Option<u64>| match (wait_ns, amount) {
        (Some(wait_ns), Some(amount)) if amount > 0 => {
            format!("{:.0}", real(wait_ns) / real(amount) / 1e3)
        }
        _ => String::new(),
    };
    let statements: u64 = rung.measurement.operations().iter().map(|(_, result)| result.ios).sum();
    let columns = [
        format!("sessions-{:04}-r{}", rung.sessions, rung.repeat),
        rung.sessions.to_string(),
        format!("{elapsed_s:.0}"),
        rung.time.cpu_ns.map(seconds_a_second).unwrap_or_default(),
        seconds_a_second(rung.time.database_ns),
        per_second(statements),
        per_second(counts.logical_reads),
        per_second(counts.reads),
        megabytes(counts.read_bytes),
        per_second(counts.writes),
        megabytes(counts.write_bytes),
        megabytes(counts.log_bytes),
        mean_us(counts.read_wait_ns, Some(counts.reads)),
        String::new(),
        String::new(),
        mean_us(counts.write_wait_ns, Some(counts.writes)),
        mean_us(counts.log_sync_wait_ns, counts.log_syncs),
        String::new(),
    ];
    columns.join("|") + "|"
}
