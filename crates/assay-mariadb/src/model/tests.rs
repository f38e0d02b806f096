//! The formulas on made-up snapshots, with the results that arithmetic on paper gives.

use super::made_up::{BINARY_LOG, DATA, LOG, class, event, near, says, story};
use super::*;
use assay_model::profile::{
    Bottleneck, CheckOutcome, Figure, IoPurpose, RateKind, RedoFinding, TimeSource,
};

fn value(figure: Option<&Figure>) -> f64 {
    figure.unwrap().value
}

/// 40 = 8 CPU + 16 data files + 1 other files + 2 row locks + 4 metadata locks + 4 commits + 5
/// unaccounted.
#[test]
fn db_time_is_split_and_what_is_left_is_shown() {
    let profile = story().profile();
    let time = &profile.time;
    assert!(near(value(time.db_time_s.as_ref()), 40.0));
    assert!(near(value(time.average_active_sessions.as_ref()), 4.0));
    assert!(near(value(time.db_cpu_s.as_ref()), 8.0));
    assert!(near(value(time.cpu_queue_s.as_ref()), 9.0));
    assert!(near(class(&profile, "User I/O"), 16.0) && near(class(&profile, "System I/O"), 1.0));
    assert!(near(class(&profile, "Application"), 6.0) && near(class(&profile, "Commit"), 4.0));
    assert!(near(value(time.unaccounted_s.as_ref()), 5.0));
    assert!(says(&profile.doubts, "12.5% of DB time is unaccounted"));
    assert!(near(profile.verdict.user_io_share.unwrap(), 0.4));
    // 4 sessions by the counters and 10 by the samples do not agree, so nothing leads; by the
    // shares alone storage would.
    assert_eq!(profile.checks[0].outcome, CheckOutcome::Contradicts);
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown);
    let by_shares = profile.verdict.clone().concluded();
    assert_eq!(by_shares.bottleneck, Bottleneck::Storage);
    assert!(near(by_shares.speedup_limit.unwrap(), 1.0 / 0.6));
}

#[test]
fn events_say_how_they_are_known() {
    let profile = story().profile();
    let read = event(&profile, DATA).unwrap();
    assert_eq!((read.known, read.waits), (TimeSource::Counted, Some(20_000)));
    let commit = event(&profile, "state: commit").unwrap();
    assert_eq!((commit.known, commit.seen), (TimeSource::Sampled, Some(100)));
    assert!(near(commit.time_s.low, 3.6) && near(commit.time_s.high, 4.4));
    // Each of the 500 waits may have lost up to a millisecond.
    let locks = event(&profile, "row locks of InnoDB").unwrap();
    assert_eq!((locks.known, locks.waits), (TimeSource::Counted, Some(500)));
    assert!(near(locks.time_s.value, 2.0) && near(locks.time_s.high, 2.5));
    assert!(event(&profile, "idle").is_none());
    // What is counted is not sampled once more.
    assert!(event(&profile, &format!("state: {DATA}")).is_none());
}

/// The stage of the commit holds the binary log's write; neither is counted twice, and samples are
/// not asked.
#[test]
fn commits_that_are_timed_are_counted_once() {
    let mut story = story();
    story.both(|snapshot| snapshot.settings.instruments.commits = true);
    story.after.commits = EventTally { count: 1000, time_s: 6.0 };
    story.after.waits.insert(BINARY_LOG.to_owned(), EventTally { count: 1000, time_s: 2.0 });
    let profile = story.profile();
    assert!(near(class(&profile, "Commit"), 6.0) && event(&profile, "state: commit").is_none());
    assert!(near(value(profile.redo.sync_latency_s.as_ref()), 6e-3));
    assert!(near(profile.redo.sync_share.unwrap(), 0.15));
    // Without a time of the log's flushes nobody knows whether the device is slow.
    assert_eq!(profile.redo.finding, RedoFinding::Unknown);
    story.both(|snapshot| snapshot.settings.instruments.commits = false);
    let profile = story.profile();
    assert!(near(class(&profile, "Commit"), 2.0 + 4.0));
}

/// A release that times its log: 1,000 flushes of 5 ms in commits of 6 ms are the device's.
#[test]
fn the_device_of_the_log_is_judged_where_it_is_timed() {
    let mut story = story();
    story.both(|snapshot| {
        snapshot.settings.instruments.commits = true;
        snapshot.settings.instruments.log = true;
    });
    story.after.commits = EventTally { count: 1000, time_s: 6.0 };
    let log = FileCounts { others: 1000, other_time_s: 5.0, ..FileCounts::default() };
    story.after.files.insert(LOG.to_owned(), log);
    let profile = story.profile();
    assert!(near(value(profile.redo.write_latency_s.as_ref()), 5e-3));
    assert_eq!(profile.redo.finding, RedoFinding::Device);
    assert!(near(value(profile.redo.write_iops.as_ref()), 100.0));
    assert!(near(value(profile.redo.redo_bytes_per_s.as_ref()), 1e5));
}

/// Without the performance schema: ten sessions were seen active for 10 s, reads are counted, and
/// their time is not known.
#[test]
fn without_times_looks_give_db_time_and_there_is_no_verdict() {
    let mut story = story();
    story.both(|snapshot| {
        snapshot.settings.instruments = Instruments::default();
        snapshot.statement_time_s = None;
        snapshot.running_time_s = None;
        snapshot.waits.clear();
        snapshot.files.clear();
        snapshot.instances.clear();
    });
    let profile = story.profile();
    let time = profile.time.db_time_s.clone().unwrap();
    assert!(near(time.value, 100.0) && time.source.contains("estimated"));
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown);
    assert_eq!((profile.verdict.user_io_share, profile.verdict.speedup_limit), (None, None));
    assert!(near(profile.verdict.cpu_share.unwrap(), 0.08) && profile.checks.is_empty());
    let reads = profile.class(IoPurpose::SingleBlockRead).unwrap();
    assert!(near(value(reads.rate_iops.as_ref()), 2000.0) && reads.latency_s.is_none());
}

#[test]
fn ios_follow_littles_law_and_files_are_told_apart() {
    let profile = story().profile();
    let reads = profile.class(IoPurpose::SingleBlockRead).unwrap();
    // 2,000 reads per second of 0.8 ms are 1.6 outstanding.
    assert!(near(value(reads.rate_iops.as_ref()), 2000.0));
    assert!(near(value(reads.latency_s.as_ref()), 0.8e-3));
    assert!(near(value(reads.queue_depth.as_ref()), 1.6));
    // What threads of the background write has no time.
    let writes = profile.class(IoPurpose::DataFileWrite).unwrap();
    assert!(near(value(writes.rate_iops.as_ref()), 400.0) && writes.latency_s.is_none());
    let blocks = profile.rate(RateKind::Blocks).unwrap();
    assert!(near(value(blocks.write_per_s.as_ref()), 800.0));
    let server = profile.server.as_ref().unwrap();
    let tables = &server.functions[0];
    assert_eq!(tables.object, "tables and indexes");
    assert_eq!((tables.context.as_str(), tables.write_time_s), ("innodb_data_file", None));
    assert_eq!((server.relations[0].relation.as_str(), server.relations.len()), ("shop.items", 1));
    assert!(near(server.relations[0].read_time_s.unwrap(), 16.0));
    assert_eq!(profile.tiering[0].tablespace, "shop/items");
    assert!(near(profile.tiering[0].read_wait_ratio, 1.6));
}

#[test]
fn the_load_is_told_a_second_and_a_transaction() {
    let story = story();
    let profile = story.profile();
    let server = profile.server.as_ref().unwrap();
    let of = |name: &str| {
        let line = server.load.iter().find(|line| line.name == name).unwrap();
        (line.amount_per_s, line.transaction_ratio.unwrap())
    };
    assert!(near(of("transactions").0, 100.0) && near(of("log, bytes").1, 1000.0));
    assert!(near(of("logical reads, blocks").0, 10_000.0));
    assert!(near(server.sampling.as_ref().unwrap().own_time_s, 0.5));
}

/// 18 statements a transaction, as `sysbench oltp_read_write` has them, are not 18 transactions;
/// where none begins or ends, each is one by itself.
#[test]
fn transactions_are_what_commits_and_rollbacks_end() {
    let mut story = story();
    let rate = |story: &made_up::MariadbStory| {
        let work = story.profile().work;
        let (transactions, executions) = (work.transactions_per_s, work.executions_per_s);
        (transactions.unwrap().value, executions.unwrap().value)
    };
    assert_eq!(rate(&story), (100.0, 2000.0));
    story
        .after
        .status
        .extend(["COM_BEGIN", "COM_COMMIT", "COM_ROLLBACK"].map(|name| (name.to_owned(), 7)));
    assert_eq!(rate(&story), (1800.0, 2000.0));
    assert!(story.profile().work.transactions_per_s.unwrap().source.contains("autocommitted"));
}

/// 2,000 reads, 400 writes of data and 100 of the log a second, whether files are timed or pages
/// counted; what other programs do to the device is not in it.
#[test]
fn the_demand_is_what_the_server_counts() {
    use assay_model::counters::{DeviceCounters, NamedDevice};
    let mut story = story();
    let counters =
        DeviceCounters { read_ios: 300_000, read_bytes: 3 << 30, ..DeviceCounters::default() };
    story.host.device = Some(NamedDevice { name: "vda".into(), outstanding_ios: 0, counters });
    for files in [true, false] {
        story.both(|snapshot| snapshot.settings.instruments.files = files);
        let profile = story.profile();
        let all = profile.class(IoPurpose::All).unwrap();
        assert!(near(value(all.rate_iops.as_ref()), 2500.0), "{files}: {all:?}");
        assert!(near(value(all.read_share.as_ref()), 0.8));
        let device = profile.server.as_ref().unwrap().device.clone().unwrap();
        assert!(device.is_mostly_others() && near(device.read_iops, 30_000.0));
    }
}

#[test]
fn classes_over_time_are_those_of_the_looks() {
    let profile = story().profile();
    let series = profile.server.unwrap().over_time.unwrap();
    let of = |name: &str| {
        let class = series.classes.iter().find(|class| class.class == name);
        class.map(|class| class.sessions_mean[3])
    };
    assert_eq!((of("CPU"), of("User I/O"), of("Commit")), (Some(4.0), Some(4.0), Some(1.0)));
    assert_eq!((of("Application"), series.classes.len()), (Some(1.0), 4));
}

#[test]
fn a_server_that_was_started_anew_has_no_profile() {
    let mut story = story();
    story.after.status.insert("UPTIME".to_owned(), 2);
    assert!(story.try_profile().unwrap_err().message().contains("restarted"));
}

#[test]
fn what_makes_figures_doubtful_is_said() {
    let mut story = story();
    story.after.settings.instruments.current_waits = false;
    story.after.statement_time_s = Some(50.0);
    story.after.running_time_s = None;
    story.after.settings.is_read_only = true;
    story.after.uncounted_sessions = 2;
    story.after.status.insert("INNODB_BUFFER_POOL_READ_AHEAD".to_owned(), 5000);
    story.before.status.insert("INNODB_BUFFER_POOL_READ_AHEAD".to_owned(), 0);
    story.before.status.insert("PERFORMANCE_SCHEMA_USERS_LOST".to_owned(), 0);
    story.after.status.insert("PERFORMANCE_SCHEMA_USERS_LOST".to_owned(), 3);
    story.samples.tasks = None;
    let profile = story.profile();
    for words in [
        "switched during the interval",
        "were reset",
        "read-only",
        "2 sessions are not instrumented",
        "5000 of 20000 pages were read ahead",
        "performance_schema_users_size",
        "PROCESS",
    ] {
        assert!(says(&profile.doubts, words), "{words}: {:?}", profile.doubts);
    }
    assert!(says(&profile.missing, "CPU time") && profile.time.db_cpu_s.is_none());
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown);
}
