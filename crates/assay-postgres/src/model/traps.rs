//! Ten ways to misread PostgreSQL's counters, and that none of them is walked into.

use super::delta::unflushed_s;
use super::made_up::{doubts, event, key, near, story};
use super::*;
use assay_model::counters::{DeviceCounters, NamedDevice, TaskCounters};
use assay_model::profile::{IoPurpose, RateKind, TimeSource};

/// 1: without `track_io_timing` all times are 0, which is "not measured" and never "fast".
#[test]
fn untimed_io_is_not_fast() {
    for (begin, end, words) in [(false, false, "not measured"), (false, true, "switched")] {
        let mut story = story(18);
        story.before.settings.track_io_timing = begin;
        story.after.settings.track_io_timing = end;
        let profile = story.profile();
        assert!(doubts(&profile, words), "{:?}", profile.doubts);
        assert_eq!(profile.class(IoPurpose::SingleBlockRead).unwrap().latency_s, None);
        assert_eq!(profile.server.as_ref().unwrap().functions[0].read_time_s, None);
        assert!(profile.tiering.is_empty());
        // The time of reads is estimated from what was seen: 4 of 10, of 40 s.
        let read = event(&profile, "IO:datafileread").unwrap();
        assert!(read.known == TimeSource::Sampled && near(read.time_s.value, 16.0));
    }
}

/// 2: from 18 on the log's rows lie next to those of the data, and still have a timer of their own.
#[test]
fn the_log_has_a_timer_of_its_own() {
    let mut story = story(18);
    story.both(|snapshot| snapshot.settings.track_wal_io_timing = false);
    let log = key("client backend", "wal", "normal");
    story.after.io.as_mut().unwrap().get_mut(&log).unwrap().sync_time_s = 0.0;
    let profile = story.profile();
    assert!(doubts(&profile, "track_wal_io_timing is off"));
    assert_eq!(profile.redo.sync_latency_s, None);
    assert_eq!(profile.class(IoPurpose::LogWrite).unwrap().latency_s, None);
    let rows = &profile.server.as_ref().unwrap().functions;
    let row = rows.iter().find(|row| row.object == "wal").unwrap();
    assert!(row.sync_time_s.is_none() && row.sync_iops > 0.0);
    assert_eq!(event(&profile, "IO:walsync").unwrap().known, TimeSource::Sampled);
}

/// 3: up to 17 a read of sixteen blocks counts as sixteen reads, from 18 on as one with its bytes.
#[test]
fn reads_of_two_releases_are_told_as_what_they_are() {
    let old = story(17).profile();
    assert!(old.rate(RateKind::Database).is_none() && old.rate(RateKind::Blocks).is_some());
    assert!(doubts(&old, "several reads"));
    let mut story = story(18);
    let data = key("client backend", "relation", "normal");
    story.after.io.as_mut().unwrap().get_mut(&data).unwrap().reads = 1250;
    let new = story.profile();
    let per_s = |kind| new.rate(kind).unwrap().read_per_s.as_ref().unwrap().value;
    assert!(near(per_s(RateKind::Database), 125.0) && near(per_s(RateKind::Blocks), 2000.0));
    let size = new.class(IoPurpose::SingleBlockRead).unwrap().block_size_bytes.clone().unwrap();
    assert!(near(size.value, 131_072.0));
}

/// 4: with asynchronous I/O several reads are in flight: the time is what a session waited, not a
/// device's latency.
#[test]
fn a_wait_is_not_called_a_latency_of_the_device() {
    let profile = story(18).profile();
    let latency = profile.class(IoPurpose::SingleBlockRead).unwrap().latency_s.clone().unwrap();
    assert!(latency.source.contains("read wait, not the time of a device"));
    assert!(doubts(&profile, "not the latency of a device"));
}

/// 5: a read of the database can be served by the page cache: reads are reported on three levels.
#[test]
fn reads_that_the_page_cache_served_are_no_io() {
    let mut story = story(18);
    let counters =
        DeviceCounters { read_ios: 100, read_bytes: 2000 * 8192, ..DeviceCounters::default() };
    story.host.device = Some(NamedDevice { name: "sda".into(), outstanding_ios: 0, counters });
    let reads = story.profile().server.unwrap().reads.unwrap();
    assert!(near(reads.logical_per_s, 10_000.0) && near(reads.database_per_s, 2000.0));
    assert!(near(reads.device_iops.unwrap(), 10.0));
    // Of 20,000 blocks the device read 2,000.
    assert!(near(reads.page_cache_share.unwrap(), 0.9));
    story.host.device = None;
    assert_eq!(story.profile().server.unwrap().reads.unwrap().page_cache_share, None);
}

/// 6: the time of a statement reaches the counters with the session's next statement.
#[test]
fn time_that_the_counters_do_not_have_yet_is_added() {
    let session = |is_active, began_s, changed_s| BackendSession {
        process_id: 1,
        database: "shop".into(),
        is_active,
        statement_began_s: Some(began_s),
        state_changed_s: Some(changed_s),
    };
    let mut story = story(18);
    // At the beginning one statement has run for 2 s; that time belongs to what was before.
    story.before.sessions = vec![session(true, 998.0, 998.0)];
    // At the end one has run for 6 s, and another session rests since its last statement of 4 s.
    story.after.sessions = vec![session(true, 1004.0, 1004.0), session(false, 1003.0, 1007.0)];
    assert!(near(unflushed_s(&story.before), 2.0) && near(unflushed_s(&story.after), 10.0));
    assert!(near(story.profile().time.db_time_s.unwrap().value, 40.0 + 10.0 - 2.0));
}

/// 7: `WALSync` up to 16 is `WalSync` from 17 on, and is one event.
#[test]
fn events_are_the_same_in_every_spelling() {
    let mut story = story(18);
    story.both(|snapshot| snapshot.settings.track_wal_io_timing = false);
    for (place, sample) in story.samples.taken.iter_mut().enumerate() {
        sample.sessions.retain(|seen, _| seen.event != "walsync");
        let name = if place % 2 == 0 { "WALSync" } else { "WalSync" };
        sample.sessions.insert(SessionState::new("IO", name), 2);
    }
    let profile = story.profile();
    assert_eq!(event(&profile, "IO:walsync").unwrap().seen, Some(200));
}

/// 8: time of sessions is that of client sessions: what parallel workers and I/O workers do is told
/// apart.
#[test]
fn workers_are_no_sessions() {
    let mut story = story(18);
    let worker = TaskCounters { on_cpu_ns: 7_000_000_000, queued_ns: 0 };
    let tasks = story.samples.tasks.as_mut().unwrap();
    (tasks.parallel, tasks.background) = (worker, worker);
    let row = IoRow { reads: 99, read_bytes: 99 * 8192, read_time_s: 5.0, ..IoRow::default() };
    story.both(|snapshot| {
        let rows = snapshot.io.as_mut().unwrap();
        rows.insert(key("background worker", "relation", "bulkread"), IoRow::default());
    });
    story.after.io.as_mut().unwrap().insert(key("background worker", "relation", "bulkread"), row);
    let profile = story.profile();
    assert!(near(profile.time.db_cpu_s.clone().unwrap().value, 8.0));
    assert!(near(profile.time.background_cpu_s.clone().unwrap().value, 14.0));
    assert!(event(&profile, "IO:DataFileRead (bulkread)").is_none());
    assert!(near(
        profile.class(IoPurpose::MultiBlockRead).unwrap().rate_iops.clone().unwrap().value,
        9.9
    ));
}

/// 9: statements count when they end, can be thrown out, and can begin to be counted in the
/// interval.
#[test]
fn statements_that_were_thrown_out_are_said_and_new_ones_count_whole() {
    let mut story = story(18);
    let key = |query| StatementKey { user: 10, database: 5, query, is_top: true };
    let row = |calls, io_time_s, since_s| StatementCounts {
        text: "SELECT $1".into(),
        calls,
        io_time_s,
        since_s: Some(since_s),
        ..StatementCounts::default()
    };
    let rows = |rows: &[(i64, StatementCounts)], thrown_out| {
        let rows = rows.iter().map(|(query, row)| (key(*query), row.clone()));
        Some(StatementStatistics { rows: rows.collect(), thrown_out })
    };
    story.before.statements = rows(&[(1, row(100, 1.0, 900.0)), (2, row(50, 9.0, 900.0))], 0);
    // The second one was thrown out and came again, with more calls than before; the third one is
    // new.
    story.after.statements =
        rows(&[(1, row(140, 3.0, 900.0)), (2, row(60, 4.0, 1002.0)), (3, row(5, 0.5, 1003.0))], 1);
    let profile = story.profile();
    let statements = profile.server.as_ref().unwrap().statements.clone();
    let named: Vec<(&str, u64)> =
        statements.iter().map(|one| (one.id.as_str(), one.calls)).collect();
    assert_eq!(named, [("2", 60), ("1", 40), ("3", 5)]);
    assert!(near(statements[1].io_time_s.unwrap(), 2.0));
    assert!(doubts(&profile, "evicted statements 1 times") && doubts(&profile, "when they end"));
}

/// 10: what we ask costs the server time as well, and is none of its load.
#[test]
fn our_own_sessions_are_left_out() {
    let mut story = story(18);
    story.after.own_time_s.insert("shop".into(), 3.0);
    story.after.own_statements.insert("shop".into(), 100);
    // A database in which only we are: the time that we measure for ourselves from here is a little
    // more than the server's.
    story
        .after
        .databases
        .insert("postgres".into(), DatabaseRow { active_time_s: 1.9, ..DatabaseRow::default() });
    story.before.databases.insert("postgres".into(), DatabaseRow::default());
    story.after.own_time_s.insert("postgres".into(), 2.0);
    let profile = story.profile();
    assert!(near(profile.time.db_time_s.clone().unwrap().value, 37.0));
    let server = profile.server.unwrap();
    assert!(near(server.sampling.unwrap().own_time_s, 5.0));
    let transactions = server.load.iter().find(|line| line.name == "transactions").unwrap();
    assert!(near(transactions.amount_per_s, 90.0));
}
