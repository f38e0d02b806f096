//! Made-up loads for tests of their ladders.

use crate::input::GivenReport;
use assay_model::failure::Refusal;
use assay_model::load::{
    DatabaseCounts, Goal, Load, LoadKind, Physical, Retries, Rung, ServerFacts, TimeSplit,
};
use assay_model::measurement::{
    Conduct, Finish, Measurement, NamedResult, OperationResult, PerOperation,
};
use assay_model::spelling::LimitStatistic;
use assay_model::{Histogram, Precision};

/// A step of 1000 reads a session in two seconds, of which the page cache gave that many bytes.
pub(crate) fn rung(sessions: u32, cached_bytes: u64) -> Rung {
    let mut service = Histogram::new(Precision::Fine);
    service.record_many(2_000_000, 1000 * u64::from(sessions));
    let read = OperationResult {
        ios: service.ios(),
        bytes: service.ios() * 8192,
        service,
        ..OperationResult::default()
    };
    let operations = PerOperation { read: Some(read), ..PerOperation::default() };
    Rung {
        sessions,
        repeat: 1,
        measurement: Measurement {
            format: 1,
            workload: "slob".to_owned(),
            started_unix_ns: 0,
            elapsed_ns: 2_000_000_000,
            finish: Finish::Complete,
            streams: vec![NamedResult { name: "read".to_owned(), operations }],
            targets: Vec::new(),
            errors: Vec::new(),
            conduct: Conduct::default(),
        },
        statements: None,
        is_widened: false,
        interval_rates_per_s: vec![450.0, 550.0],
        retries: Vec::new(),
        backlog: None,
        database: DatabaseCounts {
            reads: 100_000,
            read_bytes: 819_200_000,
            read_wait_ns: Some(20_000_000_000),
            ..DatabaseCounts::default()
        },
        time: TimeSplit {
            database_ns: 2_000_000_000,
            cpu_ns: Some(500_000_000),
            cpu_queue_ns: Some(0),
            read_ns: Some(1_800_000_000),
            write_ns: Some(0),
            commit_ns: None,
        },
        device: None,
        client_cpu_s: 0.1,
        server_cpu_s: Some(1.0),
        host_busy_share: Some(0.5),
        commit_parity: None,
        databases: Vec::new(),
        physical: Physical::of(819_200_000, Some(819_200_000 - cached_bytes), None),
        profile: None,
    }
}

/// A report of a load that reads blocks.
pub(crate) fn report(rungs: Vec<Rung>) -> GivenReport {
    GivenReport {
        load: Some(Load {
            format: Load::FORMAT,
            kind: LoadKind::Slob,
            server: ServerFacts::default(),
            plan: Vec::new(),
            filled: None,
            access: "sequential read".to_owned(),
            rungs,
            processors: 2,
            end: "all steps were completed".to_owned(),
            knee_sessions: Some(2),
            goal: Some(Goal {
                quantile: LimitStatistic::Quantile(0.99),
                limit_ns: 1e6,
                sessions: Some(2),
                is_bounded: true,
            }),
            checks: Vec::new(),
            commits: Vec::new(),
            durability: None,
            remarks: Vec::new(),
        }),
        ..GivenReport::default()
    }
}

/// A report of a load of transactions, with 500 counted ones a step.
pub(crate) fn transactions(mut made: GivenReport, kind: LoadKind) -> GivenReport {
    let counted = kind.counted().unwrap().stream;
    let load = made.load.as_mut().unwrap();
    load.kind = kind;
    for rung in &mut load.rungs {
        let mut service = Histogram::new(Precision::Fine);
        service.record_many(3_000_000, 500);
        let write = OperationResult { ios: 500, service, ..OperationResult::default() };
        let operations = PerOperation { write: Some(write), ..PerOperation::default() };
        rung.measurement.streams = vec![NamedResult { name: counted.to_owned(), operations }];
        rung.retries = vec![Retries {
            stream: counted.to_owned(),
            class: Some(Refusal::Deadlock),
            meaning: "deadlock detected (40P01)".to_owned(),
            times: 7,
        }];
    }
    made
}
