//! Sessions of a simulated database on a simulated array, with the documents that a workload on
//! real storage gives.

use assay_arrays::{HostEnd, HostInterval, HostRun, HostTimes, watch_host};
use assay_engine::{Observer, Simulation};
use assay_model::array::SessionLoad;
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, PerOperation,
    Remark, SessionFigures, Window,
};
use assay_model::number::{real, share};
use assay_model::study::{Cell, FactorValue, Study, StudySetting};
use assay_model::units::{Bytes, Share};
use assay_model::workload::{Access, Arrival, Stream, Workload};
use assay_model::{Error, Result};

/// Bytes of a write of the log, as the view of the storage has it.
const LOG_WRITE: Bytes = Bytes(16 << 10);

/// The sessions of a cell, where the study has any.
///
/// # Errors
/// A usage error when a factor does not fit them, or the result is contradictory.
pub fn sessions_of(study: &Study, cell: &Cell) -> Result<Option<SessionLoad>> {
    let Some(mut load) = study.sessions.clone() else {
        return Ok(None);
    };
    for setting in &cell.settings {
        apply(&mut load, setting)
            .map_err(|error| error.context(format!("factor '{}'", setting.factor)))?;
    }
    load.check()?;
    Ok(Some(load))
}

fn apply(load: &mut SessionLoad, setting: &StudySetting) -> Result<()> {
    let (name, _) = setting.factor.split_once('.').unwrap_or((&setting.factor, ""));
    let value = &setting.value;
    match name {
        "sessions" | "queue_depth" => load.sessions = whole(value)?,
        "cpus" => load.cpus = whole(value)?,
        "hosts" => load.hosts = whole(value)?,
        "update_share" => load.update_share = parsed(value, "\"25%\"")?,
        "cache_hits" => load.cache_hits = parsed(value, "\"50%\"")?,
        "block_size" => load.block = parsed(value, "\"8KiB\"")?,
        "locality" => {
            let part: Share = parsed(value, "\"20%\"")?;
            let active = real(load.active.0) * part.0;
            load.active = Bytes(assay_model::number::count(active));
        }
        _ => {
            return Err(Error::usage(
                format!("simulated sessions have no setting '{name}'"),
                "settings are sessions, hosts, cpus, update_share, cache_hits, transfer and \
                 locality",
            ));
        }
    }
    Ok(())
}

fn parsed<T: std::str::FromStr<Err = Error>>(value: &FactorValue, example: &str) -> Result<T> {
    value.to_string().parse().map_err(|_| wrong(value, example))
}

fn whole(value: &FactorValue) -> Result<u32> {
    let FactorValue::Whole(whole) = value else {
        return Err(wrong(value, "8"));
    };
    u32::try_from(*whole).map_err(|_| wrong(value, "8"))
}

fn wrong(value: &FactorValue, example: &str) -> Error {
    Error::usage(format!("'{value}' is not a valid value"), format!("write for example {example}"))
}

/// What the storage sees of sessions, in the words of a workload: for documents and comparisons; it
/// is not what runs. It names no part of the target, because two arrays of different size may hold
/// the same data.
pub fn storage_view(load: &SessionLoad, times: &Workload) -> Workload {
    let mut readers = Stream::closed("sessions", Share(1.0), load.block, load.sessions);
    readers.arrival = Arrival::Closed { queue_depth: load.sessions, think_time: load.cpu_per_read };
    let depth = load.writer_depth.saturating_mul(load.hosts);
    let writers = Stream::closed("writer", Share(0.0), load.block, depth);
    let mut log = Stream::closed("log", Share(0.0), LOG_WRITE, load.hosts);
    log.access = Access::Sequential { streams: 1 };
    Workload {
        description: format!(
            "{} sessions of a simulated database on {} of data, {:.0}% updates, as their storage \
             sees them",
            load.sessions,
            load.active,
            100.0 * load.update_share.0
        ),
        streams: vec![readers, writers, log],
        ..times.clone()
    }
}

/// Runs sessions on a simulated device for the times of a workload, and reports to the observer as
/// a workload does.
pub fn run_sessions(
    simulation: &mut Simulation,
    load: &SessionLoad,
    workload: &Workload,
    observer: &mut dyn Observer,
) -> Measurement {
    let begun_ns = simulation.now_ns();
    let times = HostTimes {
        start_ns: begun_ns,
        warm_up_ns: workload.warm_up.0,
        elapsed_ns: workload.duration.0,
        interval_ns: workload.interval.0,
    };
    let (mut total, mut queue_depth, mut intervals) = (Window::default(), 0.0, 0.0);
    let mut watch = |part: &HostInterval| {
        let (interval, joint) = documents(part);
        total.merge(&joint);
        queue_depth += interval.queue_depth_mean;
        intervals += 1.0;
        observer.interval(&interval, &joint)
    };
    let end: HostEnd = simulation.lend(|device, _| {
        let end = watch_host(load, device, times, workload.seed, &mut watch);
        let now_ns = end.now_ns;
        (end, now_ns)
    });
    let finish = if end.is_broken_off { Finish::Interrupted } else { Finish::Complete };
    measurement(workload, &end, finish, total, queue_depth / f64::max(intervals, 1.0))
}

/// An interval of hosts in the words of the engine.
fn documents(part: &HostInterval) -> (Interval, Window) {
    let of = |read: Option<&_>, write: Option<&_>| PerOperation {
        read: read.cloned(),
        write: write.cloned(),
        sync: None,
    };
    let named = |name: &str, operations| NamedResult { name: name.to_owned(), operations };
    let streams = vec![
        named("sessions", of(Some(&part.reads), None)),
        named("writer", of(None, Some(&part.data_writes))),
        named("log", of(None, Some(&part.log_writes))),
    ];
    let mut operations = PerOperation::default();
    for stream in &streams {
        operations.merge(&stream.operations.coarsened());
    }
    let interval = Interval {
        index: part.index,
        start_ns: part.start_ns,
        end_ns: part.end_ns,
        operations,
        queue_depth_mean: part.queue_depth_mean,
    };
    let joint = Window { first_interval: part.index, intervals: 1, streams, targets: Vec::new() };
    (interval, joint)
}

/// What the storage does not see of the sessions.
fn figures(run: &HostRun) -> SessionFigures {
    let reads = &run.io.read;
    let within = |limit_ns| {
        let above = share(reads.ios_above(limit_ns), reads.ios());
        (!reads.is_empty()).then_some(1.0 - above)
    };
    SessionFigures {
        executions_per_s: run.executions_per_s(),
        busy_cpus_mean: real(run.cpu_ns) / real(run.io.elapsed_ns.max(1)),
        redo_bytes_per_s: run.per_s(run.redo_bytes),
        log_sync_ns: (!run.log_syncs.is_empty()).then(|| run.log_syncs.mean_ns()),
        reads_within_1ms_share: within(1_000_000),
        reads_within_2ms_share: within(2_000_000),
    }
}

fn measurement(
    workload: &Workload,
    end: &HostEnd,
    finish: Finish,
    total: Window,
    queue_depth_mean: f64,
) -> Measurement {
    let mut all = PerOperation::default();
    for stream in &total.streams {
        all.merge(&stream.operations);
    }
    Measurement {
        format: 1,
        workload: workload.name.clone(),
        started_unix_ns: 0,
        elapsed_ns: end.run.io.elapsed_ns,
        finish,
        streams: total.streams,
        targets: vec![NamedResult { name: "simulated".to_owned(), operations: all }],
        errors: Vec::new(),
        conduct: Conduct {
            backend: BackendKind::Simulated,
            clock: ClockKind::Virtual,
            queue_depth_mean,
            littles_law_ratio: 1.0,
            sessions: Some(figures(&end.run)),
            remarks: vec![Remark {
                what: "the load was sessions of a simulated database".to_owned(),
                why: format!(
                    "read times are those that sessions waited; {:.1} CPUs were busy, and {:.0} \
                     statements per second completed",
                    real(end.run.cpu_ns) / real(end.run.io.elapsed_ns.max(1)),
                    end.run.executions_per_s()
                ),
                remedy: "the streams of the workload are the I/O at the storage, not the \
                         statements"
                    .to_owned(),
            }],
            ..Conduct::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::cells;
    use crate::target::SimulatedDevice;
    use assay_model::study::parse_study;
    use assay_model::units::Nanos;
    use std::ops::ControlFlow;

    const STUDY: &str = r#"
        format = 1
        name = "sessions"
        preset = "oltp"
        [phases]
        measure = "2s"
        [[factor]]
        name = "sessions"
        values = [8, 96]
        [sessions]
        sessions = 4
        cpus = 16
        cpu_per_read = "100us"
        update_share = "25%"
        logical_reads_mean = 5.8
        cache_hits = "50%"
        dirty_blocks_mean = 2.0
        redo = "3000B"
        block = "8KiB"
        active = "1TB"
    "#;

    fn workload() -> Workload {
        let stream = Stream::closed("unused", Share(1.0), Bytes(8192), 1);
        let mut workload = Workload::of("sessions", Nanos(2_000_000_000), stream);
        workload.interval = Nanos(500_000_000);
        workload
    }

    #[test]
    fn factors_reach_the_sessions_and_others_are_refused() {
        let study = parse_study(STUDY).unwrap();
        let counts: Vec<u32> = cells(&study)
            .iter()
            .map(|cell| sessions_of(&study, cell).unwrap().unwrap().sessions)
            .collect();
        assert_eq!(counts, [8, 96]);
        let other = parse_study(&STUDY.replace(
            "\"sessions\"\n        values = [8, 96]",
            "\"theta\"\n        values = [0.9]",
        ))
        .unwrap();
        let refused = sessions_of(&other, &cells(&other)[0]).unwrap_err();
        assert!(refused.message().contains("no setting 'theta'"), "{refused}");
    }

    #[test]
    fn sessions_give_intervals_that_sum_to_the_measurement() {
        let study = parse_study(STUDY).unwrap();
        let load = sessions_of(&study, &cells(&study)[1]).unwrap().unwrap();
        let device = SimulatedDevice::parse("array:xtremio-1").unwrap().unwrap();
        let mut simulation = device.simulation();
        let mut seen = (0, 0);
        let mut observe = |interval: &Interval, _: &Window| {
            seen = (seen.0 + 1, seen.1 + interval.operations.ios());
            ControlFlow::Continue(())
        };
        let view = storage_view(&load, &workload());
        let measured = run_sessions(&mut simulation, &load, &view, &mut observe);
        assert_eq!(seen, (4, measured.operations().ios()));
        // 96 sessions that read for some 1.03 ms and compute for 0.1 ms.
        let figures = measured.conduct.sessions.unwrap();
        let shares =
            [figures.reads_within_1ms_share, figures.reads_within_2ms_share].map(Option::unwrap);
        assert!(0.5 < shares[0] && shares[0] < shares[1] && shares[1] < 1.0, "{shares:?}");
        // Of 5.8 blocks a statement, half are read; a quarter of the statements change data.
        let reads_per_s = real(measured.operations().read.unwrap().ios) / 2.0;
        let statements_per_s = reads_per_s / 2.9;
        assert!((figures.executions_per_s / statements_per_s - 1.0).abs() < 0.02, "{figures:?}");
        let redo = 3000.0 * 0.25 * statements_per_s;
        assert!((figures.redo_bytes_per_s / redo - 1.0).abs() < 0.03, "{figures:?}");
        assert_eq!(figures.log_sync_ns, None);
        let reads = measured.operations().read.unwrap();
        assert!((real(reads.ios) / 2.0 / 84_500.0 - 1.0).abs() < 0.03, "{}", reads.ios);
        assert!(simulation.now_ns() >= 2_000_000_000);
        // The device goes on with what came before, and breaking off ends it at an edge.
        let mut stop = |_: &Interval, _: &Window| ControlFlow::Break(());
        let again = run_sessions(&mut simulation, &load, &view, &mut stop);
        assert_eq!((again.finish, again.elapsed_ns), (Finish::Interrupted, 500_000_000));
    }
}
