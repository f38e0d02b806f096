//! Plans of made-up profiles: sums, sizes and what is asked must be those of the profile.
#![allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]

use super::*;
use assay_model::profile::{
    DeviceFinding, DeviceGrade, FORMAT, Figure, IoClass, IoPath, IoPurpose, ProfileSource,
    ReadSkew, RedoPath, ReportActivity, ReportScope, TimeModel, TimeVerdict,
};
use assay_model::workload::parse_workload;
use proptest::prelude::*;

fn class(
    purpose: IoPurpose,
    rate: f64,
    block_size: f64,
    read_share: f64,
    latency_s: Option<f64>,
) -> IoClass {
    let figure = |value| Figure::new(value, "line 1");
    IoClass {
        rate_iops: Some(figure(rate)),
        block_size_bytes: Some(figure(block_size)),
        read_share: Some(figure(read_share)),
        latency_s: latency_s.map(figure),
        ..IoClass::new(purpose)
    }
}

fn profile(classes: Vec<IoClass>) -> Profile {
    Profile {
        format: FORMAT,
        name: "SALES/sales1".to_owned(),
        source: ProfileSource::default(),
        elapsed_s: Some(Figure::new(3600.0, "header")),
        sessions: None,
        work: assay_model::profile::Work::default(),
        block_bytes: Some(Figure::new(8192.0, "header")),
        rates: Vec::new(),
        classes,
        time: TimeModel::default(),
        verdict: TimeVerdict::default(),
        redo: RedoPath::default(),
        outliers: Vec::new(),
        tiering: Vec::new(),
        report: None,
        server: None,
        checks: Vec::new(),
        doubts: Vec::new(),
        missing: Vec::new(),
    }
}

fn database() -> Profile {
    profile(vec![
        class(IoPurpose::All, 1000.0, 10_240.0, 0.7, None),
        class(IoPurpose::SingleBlockRead, 600.0, 8192.0, 1.0, Some(0.002)),
        class(IoPurpose::LogWrite, 100.0, 6000.0, 0.0, Some(0.001)),
    ])
}

fn rate_of(stream: &Stream) -> f64 {
    match stream.arrival {
        Arrival::Open { rate, .. } => rate.0,
        Arrival::Closed { .. } => panic!("closed"),
    }
}

fn mean_bytes(block_size: &BlockSizeMix) -> f64 {
    let parts = block_size.parts.iter();
    parts.map(|part| assay_model::number::real(part.size.0) * part.share.0).sum()
}

#[test]
fn streams_add_up_to_the_whole() {
    let plan = plan(&database(), &PlanOptions::default()).unwrap();
    let names: Vec<&str> =
        plan.workload.streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(names, ["single-block reads", "redo log", "other I/O"]);
    let rates: Vec<f64> = plan.workload.streams.iter().map(rate_of).collect();
    assert_eq!(rates, [600.0, 100.0, 300.0]);
    let other = &plan.workload.streams[2];
    // 700 reads per second in all, 600 of them single blocks.
    assert!((other.read_share.0 - 100.0 / 300.0).abs() < 1e-12);
    let bytes = 1000.0 * 10_240.0 - 600.0 * 8192.0 - 100.0 * 6000.0;
    assert!((mean_bytes(&other.block_size) / (bytes / 300.0) - 1.0).abs() < 1e-4);
    assert_eq!(plan.workload.streams[1].sync, SyncPolicy::ODsync);
}

#[test]
fn growth_and_headroom_multiply_and_are_said() {
    let options = PlanOptions { growth: 1.5, headroom: Share(0.3), ..PlanOptions::default() };
    let plan = plan(&database(), &options).unwrap();
    assert!((rate_of(&plan.workload.streams[0]) - 1170.0).abs() < 1e-9);
    assert!(plan.to_toml().unwrap().contains("# rate: 600/s x 1.9500; line 1\n"));
}

#[test]
fn the_queue_depth_of_a_closed_plan_is_that_of_littles_law() {
    let options = PlanOptions { closed: true, ..PlanOptions::default() };
    let only = profile(vec![class(IoPurpose::All, 10_082.0, 10_116.0, 0.977, Some(0.005_480))]);
    let streams = plan(&only, &options).unwrap().workload.streams;
    // Figures of the TMS paper: 10,082/s x 5.480 ms = 55.2.
    assert_eq!(streams[0].arrival.queue_depth(), 56);
    let error = plan(&database(), &options).unwrap_err();
    assert!(error.message().contains("other I/O"), "{error}");
}

#[test]
fn what_was_not_counted_alike_is_issued_as_a_whole() {
    let odd = profile(vec![
        class(IoPurpose::All, 100.0, 8192.0, 0.5, None),
        class(IoPurpose::SingleBlockRead, 500.0, 8192.0, 1.0, None),
    ]);
    let plan = plan(&odd, &PlanOptions::default()).unwrap();
    assert_eq!(plan.workload.streams.len(), 1);
    assert_eq!(plan.workload.streams[0].name, "all I/O");
    assert!(plan.notes.iter().any(|note| note.contains("counted differently")));
}

#[test]
fn a_profile_without_io_is_refused() {
    let error = plan(&profile(Vec::new()), &PlanOptions::default()).unwrap_err();
    assert!(error.message().contains("nothing to plan"), "{error}");
    let growth = PlanOptions { growth: 0.0, ..PlanOptions::default() };
    assert!(plan(&database(), &growth).is_err());
}

#[test]
fn rates_and_times_are_asked_with_their_tolerance() {
    let plan = plan(&database(), &PlanOptions::default()).unwrap();
    let criteria = plan.workload.criteria().unwrap();
    let asked: Vec<String> = criteria
        .criteria
        .iter()
        .map(|one| {
            let bound = one.at_most.as_ref().or(one.at_least.as_ref()).unwrap();
            format!("{} {} {}", one.quantity, one.only.as_deref().unwrap_or("-"), bound.0)
        })
        .collect();
    assert_eq!(
        asked,
        [
            "iops - 950/s",
            "stream.iops single-block reads 570/s",
            "stream.read.response_time.mean single-block reads 2100000ns",
            "stream.write.response_time.mean redo log 1050000ns",
            "stream.iops other I/O 285/s",
            "errors - 0",
        ]
    );
}

#[test]
fn text_of_a_report_cannot_end_a_comment() {
    let mut odd = database();
    odd.classes[1].rate_iops = Some(Figure::new(600.0, "x\nseed = 7\r\u{85}y"));
    let plan = plan(&odd, &PlanOptions::default()).unwrap();
    let back = parse_workload(&plan.to_toml().unwrap()).unwrap();
    assert_eq!(back.seed, 1);
    assert_eq!(back, plan.workload);
}

#[test]
fn what_a_database_would_split_is_issued_in_parts() {
    let large = profile(vec![class(IoPurpose::LogWrite, 2.0, 50e6, 0.0, Some(0.4))]);
    let plan = plan(&large, &PlanOptions::default()).unwrap();
    let stream = &plan.workload.streams[0];
    // 50 MB are 48 parts of at most 1 MiB.
    assert!((rate_of(stream) - 96.0).abs() < 1e-9);
    assert!((mean_bytes(&stream.block_size) - 50e6 / 48.0).abs() <= 2048.0);
    let criteria = &plan.workload.criteria;
    assert!(criteria.iter().all(|one| !one.quantity.contains("time")));
}

fn finding(path: IoPath, latency_s: f64) -> DeviceFinding {
    DeviceFinding {
        path,
        event: "log file parallel write".to_owned(),
        latency_s: Figure::new(latency_s, "line 7"),
        limit_s: 0.020,
        queue_depth: None,
        grade: DeviceGrade::Failing,
        limit_source: "what is accepted".to_owned(),
    }
}

#[test]
fn parity_with_sick_storage_is_not_asked_for() {
    let mut sick = profile(vec![
        class(IoPurpose::SingleBlockRead, 600.0, 8192.0, 1.0, Some(0.005)),
        class(IoPurpose::LogWrite, 100.0, 6000.0, 0.0, Some(0.494)),
    ]);
    sick.verdict.devices =
        vec![finding(IoPath::RedoWrite, 0.494), finding(IoPath::SingleBlockRead, 0.005)];
    let made = plan(&sick, &PlanOptions::default()).unwrap();
    let limit = |name: &str| {
        let found = made.workload.criteria.iter().find(|one| {
            one.only.as_deref() == Some(name) && one.quantity.ends_with("response_time.mean")
        });
        found.unwrap().clone()
    };
    // 20 ms for the log, as it stands; the reads of 5 ms are sound, and asked within 5%.
    assert_eq!(limit("redo log").at_most.unwrap().0, "20000000ns");
    assert!(limit("redo log").why.contains("494 ms") && limit("redo log").why.contains("too slow"));
    assert_eq!(limit("single-block reads").at_most.unwrap().0, "5250000ns");
    assert!(made.to_toml().unwrap().contains("# asked: 20.0 ms; what is accepted"));
}

#[test]
fn uneven_files_become_a_hot_band_of_random_reads() {
    let mut uneven = database();
    let skew = ReadSkew { read_share: 0.8, hot_files: 2, files: 10, source: "line 9".to_owned() };
    uneven.report = Some(ReportActivity { skew: Some(skew), ..ReportActivity::default() });
    let made = plan(&uneven, &PlanOptions::default()).unwrap();
    let access: Vec<Access> = made.workload.streams.iter().map(|stream| stream.access).collect();
    let band = Access::HotBand { share: Share(0.8), band: Share(0.2), start: Share(0.0) };
    // Other I/O is mostly writes, and the log is sequential.
    assert_eq!(access, [band, Access::Sequential { streams: 1 }, Access::Uniform]);
    assert!(made.notes.iter().any(|note| note.contains("2 of 10 files receive 80% of the reads")));
}

#[test]
fn a_part_of_a_whole_is_said_to_be_one() {
    let mut part = database();
    let report =
        ReportActivity { scope: ReportScope::PluggableDatabase, ..ReportActivity::default() };
    part.report = Some(report);
    let made = plan(&part, &PlanOptions::default()).unwrap();
    assert!(made.notes.iter().any(|note| note.contains("one pluggable database: only a part of")));
}

proptest! {
    #[test]
    fn any_mean_size_is_met(blocks in 0.05f64..200.0) {
        let mean = blocks * 8192.0;
        let mix = block_size(mean, Some(8192.0));
        let met = mean_bytes(&mix);
        // Below 4 KiB nothing smaller can be issued; above four blocks to half of 4 KiB.
        let slack = if mean < 8192.0 { 4096.0 } else if blocks < MIXED_BLOCKS { 0.002 * mean } else { 2048.0 };
        prop_assert!((met - mean).abs() <= slack + 1.0, "{met} for {mean}");
    }

    #[test]
    fn every_plan_reads_back(rate in 0.02f64..1e6, block_size in 1.0f64..1e6, share in 0.0f64..=1.0, latency in 1e-6f64..1.0) {
        let one = profile(vec![class(IoPurpose::All, rate, block_size, share, Some(latency))]);
        for closed in [false, true] {
            let plan = plan(&one, &PlanOptions { closed, ..PlanOptions::default() }).unwrap();
            prop_assert_eq!(parse_workload(&plan.to_toml().unwrap()).unwrap(), plan.workload);
        }
    }
}

/// A live server of which every second is known: 20 quiet seconds, then 10 busy ones of which every
/// other one is twice the rest.
fn live() -> Profile {
    use assay_model::profile::{IoSample, ReadLevels, ServerActivity};
    let second = |at: u32| {
        let read_iops = match at {
            0..20 => 100.0,
            _ if at.is_multiple_of(2) => 1600.0,
            _ => 800.0,
        };
        IoSample { at_s: f64::from(at + 1), read_iops, log_iops: 50.0, ..IoSample::default() }
    };
    let seconds: Vec<IoSample> = (0..30).map(second).collect();
    let reads = IoSample::mean(&seconds, |second| second.read_iops);
    let server = ServerActivity {
        io_by_second: seconds,
        reads: Some(ReadLevels { page_cache_share: Some(0.25), ..ReadLevels::default() }),
        ..ServerActivity::default()
    };
    let figure = |value| Some(Figure::new(value, "counted"));
    Profile {
        server: Some(server),
        time: TimeModel { average_active_sessions: figure(2.0), ..TimeModel::default() },
        verdict: TimeVerdict { commit_share: Some(0.3), ..TimeVerdict::default() },
        ..profile(vec![
            class(IoPurpose::All, reads + 50.0, 8192.0, reads / (reads + 50.0), None),
            class(IoPurpose::SingleBlockRead, reads, 8192.0, 1.0, Some(0.001)),
            class(IoPurpose::LogWrite, 50.0, 4096.0, 0.0, Some(0.002)),
        ])
    }
}

#[test]
fn the_busiest_seconds_of_a_live_server_are_replayed_with_their_bursts() {
    let options = PlanOptions { duration: Nanos(10_000_000_000), ..PlanOptions::default() };
    let plan = plan(&live(), &options).unwrap();
    let reads = &plan.workload.streams[0];
    assert!((rate_of(reads) - 1200.0).abs() < 1e-6, "{reads:?}");
    let strong = reads.pattern.iter().filter(|weight| **weight > 1.3).count();
    assert_eq!((reads.pattern.len(), strong), (10, 5));
    // The log came at an even rate.
    assert!(plan.workload.streams[1].pattern.is_empty());
    assert!((rate_of(&plan.workload.streams[1]) - 50.0).abs() < 1e-6);
    assert!(
        plan.notes.iter().any(|note| note.contains("busiest 10 s, starting at second 20 of 30"))
    );
    assert!(plan.notes.iter().any(|note| note.contains("page cache") && note.contains("25%")));
    assert_eq!(parse_workload(&plan.to_toml().unwrap()).unwrap(), plan.workload);
    // Of 2 active sessions the reads have 467/s of 1 ms, the log what the commits have.
    let [reads, log] = plan.classes.as_slice() else { panic!("{:?}", plan.classes) };
    assert!((reads.db_time_share.unwrap() - 0.233).abs() < 0.01 && reads.cached_share == 0.25);
    assert_eq!((log.db_time_share, log.now_s, log.cached_share), (Some(0.3), Some(0.002), 0.0));
}

#[test]
fn a_database_at_rest_makes_no_plan() {
    let mut resting = live();
    resting.classes = vec![class(IoPurpose::All, 0.4, 8192.0, 0.5, None)];
    let refused = |resting: &Profile| plan(resting, &PlanOptions::default()).unwrap_err();
    assert!(refused(&resting).message().contains("works without I/O"));
    resting.time.average_active_sessions = Some(Figure::new(0.006, "counted"));
    assert!(refused(&resting).message().contains("the database is idle: it issued 0.4 I/Os"));
    assert!(refused(&resting).hint().contains("while it is busy"));
}

/// MariaDB has no time of its log: of 2 active sessions 0.6 wait for commits.
#[test]
fn a_log_without_a_time_is_bounded_by_its_commits() {
    let log = |commits_per_s: f64| {
        let mut untimed = live();
        untimed.classes[2].latency_s = None;
        untimed.work.transactions_per_s = Some(Figure::new(commits_per_s, "counted"));
        plan(&untimed, &PlanOptions::default()).unwrap().classes[1].clone()
    };
    let many = log(600.0);
    assert!((many.now_s.unwrap() - 0.6 / many.rate_iops).abs() < 1e-12, "{many:?}");
    assert!((many.now_least_s.unwrap() - 0.6 / 2.0 / 600.0).abs() < 1e-12, "{many:?}");
    let few = log(1.0);
    assert!((few.now_least_s.unwrap() - 0.3 / few.rate_iops).abs() < 1e-12, "{few:?}");
}
