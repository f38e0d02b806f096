//! The ladder of a load on a database as a table: a row a step, with the counters of session,
//! server, host and device.

use super::{five, known, number, table};
use crate::input::GivenReport;
use assay_model::load::{Load, Rung};
use assay_model::number::{rate, real, seconds};

/// The header line.
const HEADER: &str = "load,product,version,sessions,repeat,elapsed_s,statements_per_s,\
    statements_low_per_s,\
     statements_high_per_s,confidence,n,backlog,logical_reads_per_s,physical_reads_per_s,\
     read_bytes_per_s,read_wait_mean_ns,writes_per_s,write_bytes_per_s,log_bytes_per_s,\
     log_syncs_per_s,commits_per_s,database_time_s_per_s,cpu_s_per_s,read_s_per_s,write_s_per_s,\
     commit_s_per_s,cached_share,reads_are,device,device_read_iops,device_write_iops,\
     device_read_time_mean_ns,client_cpu_s,server_cpu_s,host_busy_share";

/// All steps of a load; nothing where there is none.
pub fn ladder_csv(report: &GivenReport, run_id: &str) -> Option<String> {
    let rows = report.load.iter().flat_map(|load| load.rungs.iter().map(|rung| cells(load, rung)));
    table(HEADER, run_id, rows)
}

/// A step in the order of the columns.
fn cells(load: &Load, rung: &Rung) -> Vec<String> {
    let mut cells = vec![
        load.kind.name().to_owned(),
        load.server.product.to_string(),
        load.server.version.clone(),
        rung.sessions.to_string(),
        rung.repeat.to_string(),
        number(rung.elapsed_s()),
    ];
    cells.extend(match &rung.statements {
        Some(estimate) => five(Some(estimate)),
        None => [vec![number(rung.statements_per_s())], vec![String::new(); 4]].concat(),
    });
    cells.push(rung.backlog.map(|backlog| backlog.to_string()).unwrap_or_default());
    cells.extend(database(rung));
    cells.extend(time(rung));
    cells.extend(storage(rung));
    cells.push(number(rung.client_cpu_s));
    cells.extend([known(rung.server_cpu_s), known(rung.host_busy_share)]);
    cells
}

/// Server counters, per second.
fn database(rung: &Rung) -> Vec<String> {
    let (counted, elapsed_s) = (&rung.database, rung.elapsed_s());
    let per_s = |count: u64| number(rate(count, elapsed_s));
    vec![
        per_s(counted.logical_reads),
        per_s(counted.reads),
        per_s(counted.read_bytes),
        known(rung.read_wait_mean_ns()),
        per_s(counted.writes),
        per_s(counted.write_bytes),
        per_s(counted.log_bytes),
        counted.log_syncs.map(per_s).unwrap_or_default(),
        per_s(counted.commits),
    ]
}

/// Where the time of the sessions went, s per s of elapsed time.
fn time(rung: &Rung) -> Vec<String> {
    let elapsed_s = rung.elapsed_s().max(1e-9);
    let part = |time_ns: Option<u64>| known(time_ns.map(|time_ns| real(time_ns) / 1e9 / elapsed_s));
    let time = &rung.time;
    let database = number(seconds(time.database_ns) / elapsed_s);
    let parts = [time.cpu_ns, time.read_ns, time.write_ns, time.commit_ns];
    std::iter::once(database).chain(parts.map(part)).collect()
}

/// Whether reads reached storage, and what the device counted.
fn storage(rung: &Rung) -> Vec<String> {
    let device = rung.device.as_ref();
    let per_s = |count: u64| rate(count, rung.elapsed_s());
    vec![
        known(rung.physical.cached_share),
        rung.physical.verdict.name().to_lowercase(),
        device.map(|device| device.name.clone()).unwrap_or_default(),
        known(device.map(|device| per_s(device.counters.read_ios))),
        known(device.map(|device| per_s(device.counters.write_ios))),
        known(device.and_then(|device| device.counters.read_time_mean_ns())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::made_up::{report, rung};

    #[test]
    fn every_step_has_a_cell_for_every_column() {
        let text = ladder_csv(&report(vec![rung(1, 0), rung(4, 0)]), "id").unwrap();
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [columns[0]; 3], "{text}");
        assert!(text.lines().nth(2).unwrap().starts_with("id,slob,"), "{text}");
        assert_eq!(ladder_csv(&GivenReport::default(), "id"), None);
    }
}
