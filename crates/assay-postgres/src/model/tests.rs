//! The formulas on made-up snapshots, with the results that arithmetic on paper gives.

use super::made_up::{ELAPSED_S, doubts, event, near, story};
use super::*;
use assay_model::counters::{DeviceCounters, NamedDevice};
use assay_model::profile::{Bottleneck, CheckOutcome, IoPurpose, RateKind, TimeSource};
use proptest::prelude::*;

/// 40 = 8 CPU + 16 reads + 4 flushes + 8 locks (2 of 10 seen) + 4 unaccounted; of the 8 s without a
/// wait that were seen, the CPU holds all.
#[test]
fn db_time_is_split_and_what_is_left_is_shown() {
    for major in [16, 17, 18] {
        let profile = story(major).profile();
        let time = &profile.time;
        let value = |figure: &Option<assay_model::profile::Figure>| figure.as_ref().unwrap().value;
        assert!(near(value(&time.db_time_s), 40.0));
        assert!(near(value(&time.average_active_sessions), 4.0));
        assert!(near(value(&time.db_cpu_s), 8.0));
        assert!(near(value(&time.cpu_queue_s), 9.0));
        let of = |class: &str| {
            let wait = time.waits.iter().find(|wait| wait.class == class);
            wait.unwrap_or_else(|| panic!("{major}: {class}")).time_s.value
        };
        assert!(near(of("User I/O"), 16.0) && near(of("Application"), 8.0));
        assert!(near(of("Commit"), 4.0), "{major}");
        assert!(near(value(&time.unaccounted_s), 4.0), "{major}");
        assert!(near(profile.verdict.user_io_share.unwrap(), 0.4));
        // Samples contradict the counters here, so nothing leads; by the shares alone storage
        // would.
        assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown);
        let by_shares = profile.verdict.clone().concluded();
        assert_eq!(by_shares.bottleneck, Bottleneck::Storage);
        assert!(near(by_shares.speedup_limit.unwrap(), 1.0 / 0.6));
        // Exactly a tenth is left: no more than what is to be expected.
        assert!(!doubts(&profile, "unaccounted"));
    }
}

#[test]
fn events_say_how_they_are_known_and_sampled_ones_have_an_interval() {
    let profile = story(18).profile();
    let read = event(&profile, "IO:DataFileRead (normal)").unwrap();
    assert_eq!((read.known, read.waits), (TimeSource::Counted, Some(20_000)));
    assert!(near(read.time_s.low, 16.0) && near(read.time_s.high, 16.0));
    let lock = event(&profile, "Lock:transactionid").unwrap();
    assert_eq!((lock.known, lock.seen), (TimeSource::Sampled, Some(200)));
    assert!(
        near(lock.time_s.value, 8.0) && near(lock.time_s.low, 7.2) && near(lock.time_s.high, 8.8)
    );
    assert!(near(lock.db_time_share.unwrap(), 0.2));
    // What is counted is not sampled once more.
    assert!(
        event(&profile, "IO:datafileread").is_none() && event(&profile, "IO:walsync").is_none()
    );
}

#[test]
fn a_session_that_is_ready_and_has_no_cpu_is_told_beyond_the_cpu() {
    let mut story = story(18);
    story.samples.tasks = Some(Tasks {
        clients: assay_model::counters::TaskCounters { on_cpu_ns: 5_000_000_000, queued_ns: 0 },
        ..Tasks::default()
    });
    let ready = event(&story.profile(), "ready, waiting for a CPU").unwrap();
    assert!(near(ready.time_s.value, 3.0) && ready.class == "Scheduler");
    assert!(near(ready.time_s.low, 7.2 - 5.0) && near(ready.time_s.high, 8.8 - 5.0));
}

#[test]
fn a_server_on_another_host_has_its_cpu_time_estimated_and_says_so() {
    let mut story = story(18);
    story.samples.tasks = None;
    let profile = story.profile();
    let cpu = profile.time.db_cpu_s.clone().unwrap();
    assert!(near(cpu.value, 8.0) && cpu.source.contains("estimated"));
    assert_eq!(profile.time.cpu_queue_s, None);
    assert!(doubts(&profile, "another host"));
}

#[test]
fn rare_events_are_told_together() {
    let mut story = story(18);
    for (place, name) in ["WALInsert", "BufferMapping"].iter().enumerate() {
        let sample = &mut story.samples.taken[place];
        sample.sessions.insert(SessionState::new("LWLock", name), 3);
    }
    let profile = story.profile();
    assert!(event(&profile, "LWLock:walinsert").is_none());
    assert_eq!(event(&profile, "events with fewer than 10 samples").unwrap().seen, Some(6));
}

#[test]
fn the_load_profile_is_told_a_second_and_a_transaction() {
    let profile = story(18).profile();
    let load = &profile.server.as_ref().unwrap().load;
    let of = |name: &str| {
        let line = load.iter().find(|line| line.name == name).unwrap();
        (line.amount_per_s, line.transaction_ratio.unwrap())
    };
    let close =
        |(one, other): (f64, f64), (rate, ratio): (f64, f64)| near(one, rate) && near(other, ratio);
    assert!(close(of("DB time, s"), (4.0, 0.04)));
    assert!(close(of("WAL, bytes"), (100_000.0, 1000.0)));
    assert!(close(of("logical reads, blocks"), (10_000.0, 100.0)));
    assert!(close(of("reads of the database, blocks"), (2000.0, 20.0)));
    assert!(close(of("transactions"), (100.0, 1.0)));
}

#[test]
fn ios_follow_littles_law_and_the_commit_path_is_told_apart() {
    let profile = story(18).profile();
    let reads = profile.class(IoPurpose::SingleBlockRead).unwrap();
    // 2,000 reads per second of 0.8 ms are 1.6 outstanding.
    assert!(near(reads.rate_iops.as_ref().unwrap().value, 2000.0));
    assert!(near(reads.latency_s.as_ref().unwrap().value, 0.8e-3));
    assert!(near(reads.queue_depth.as_ref().unwrap().value, 1.6));
    assert!(near(profile.redo.sync_latency_s.clone().unwrap().value, 4e-3));
    assert!(near(profile.redo.sync_share.unwrap(), 0.1));
    assert!(near(profile.redo.redo_bytes_per_s.clone().unwrap().value, 1e5));
}

#[test]
fn the_devices_are_told_where_they_are_known() {
    let mut story = story(18);
    let counters = DeviceCounters {
        read_ios: 5000,
        read_bytes: 5000 * 8192,
        read_time_ns: 10_000_000_000,
        write_ios: 5000,
        write_bytes: 5000 * 8192,
        ..DeviceCounters::default()
    };
    story.host.device = Some(NamedDevice { name: "sda".into(), outstanding_ios: 0, counters });
    let profile = story.profile();
    let device = profile.server.as_ref().unwrap().device.clone().unwrap();
    assert!(near(device.iops(), 1000.0) && near(device.read_iops, 500.0));
    assert!(near(device.latency_s.unwrap(), 1e-3) && device.name == "sda");
    // 2,000 reads and 100 writes of the log a second are the server's own, whatever the device did.
    let all = profile.class(IoPurpose::All).unwrap();
    assert!(near(all.rate_iops.as_ref().unwrap().value, 2100.0));
    assert!(profile.rate(RateKind::Total).is_none());
}

/// Of every release: 20,000 blocks of 8 KiB, 1,000 writes of the log of 1 MB, and 3 MiB of
/// temporary files in 24 pieces.
#[test]
fn the_demand_is_what_the_server_counts() {
    for major in [14, 15, 16, 17, 18] {
        let mut story = story(major);
        story.after.databases.get_mut("shop").unwrap().temporary_bytes = 3 << 20;
        if major < 16 {
            story.after.background.as_mut().unwrap().checkpoint_blocks = 500;
        }
        let profile = story.profile();
        let written = if major < 16 { 50.0 } else { 0.0 };
        let value = |figure: &Option<assay_model::profile::Figure>| figure.as_ref().unwrap().value;
        let all = profile.class(IoPurpose::All).unwrap();
        assert!(near(value(&all.rate_iops), 2000.0 + 100.0 + 2.4 + written), "{major}");
        let bytes = 16_384_000.0 + 100_000.0 + 314_572.8 + 8192.0 * written;
        assert!(near(value(&all.throughput_bytes_per_s), bytes), "{major}: {all:?}");
        let temporary = profile.class(IoPurpose::Temporary).unwrap();
        assert!(
            near(value(&temporary.block_size_bytes), 131_072.0)
                && near(value(&temporary.rate_iops), 2.4)
        );
        assert!(all.rate_iops.as_ref().unwrap().source.contains("pg_stat_"));
    }
}

#[test]
fn a_server_that_was_started_anew_has_no_profile() {
    let mut story = story(18);
    story.after.settings.started_s += 100.0;
    assert!(story.try_profile().unwrap_err().message().contains("restarted"));
}

#[test]
fn rights_recovery_resets_and_clock_steps_are_said() {
    let mut story = story(18);
    story.after.settings.sees_all = false;
    story.after.settings.in_recovery = true;
    story.after.databases.get_mut("shop").unwrap().reset_s = Some(1005.0);
    let profile = story.profile();
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown, "{:?}", profile.verdict);
    assert_eq!((profile.verdict.commit_share, profile.redo.sync_share), (None, None));
    for words in ["pg_read_all_stats", "replica", "were reset"] {
        assert!(doubts(&profile, words), "{words}: {:?}", profile.doubts);
    }
    assert!(!doubts(&profile, "clock"));
}

/// Whatever the clock was set to, and whatever the server made of it, DB time is what was seen: ten
/// sessions for 10 s.
#[test]
fn a_clock_that_was_set_does_not_reach_db_time() {
    for step_s in [3600.0, -3600.0, 4.0, -4.0] {
        let mut story = story(18);
        story.after.at_s += step_s;
        story.after.databases.get_mut("shop").unwrap().active_time_s += 4.0 * step_s;
        let session = BackendSession {
            process_id: 1,
            database: "shop".into(),
            is_active: true,
            statement_began_s: Some(999.0),
            state_changed_s: Some(999.0),
        };
        story.both(|snapshot| snapshot.sessions = vec![session.clone()]);
        let profile = story.profile();
        let time = profile.time.db_time_s.clone().unwrap();
        assert!(near(time.value, 100.0) && time.source.contains("estimated"), "{step_s}: {time:?}");
        assert!(doubts(&profile, &format!("changed by {step_s:+.1} s")), "{:?}", profile.doubts);
        assert!(near(profile.elapsed_s.unwrap().value, ELAPSED_S));
    }
}

/// Ten seconds of eight busy sessions are 80 s, of which 8 may be reported late; of the story's 40
/// s that would be too much.
#[test]
fn counters_that_come_late_are_a_doubt_of_short_intervals() {
    let mut story = story(18);
    let busy = |process_id| BackendSession {
        process_id,
        database: "shop".into(),
        is_active: true,
        statement_began_s: None,
        state_changed_s: None,
    };
    story.both(|snapshot| snapshot.sessions = (0..4).map(busy).collect());
    assert!(!doubts(&story.profile(), "up to 1 s late"));
    story.both(|snapshot| snapshot.sessions = (0..8).map(busy).collect());
    assert!(doubts(&story.profile(), "accurate to 8 s only"));
}

/// Three fourths of the blocks that were read are a table's on a space of its own: three fourths of
/// the 16 s as well.
#[test]
fn times_of_relations_and_tablespaces_are_shares_of_what_was_timed() {
    let mut story = story(18);
    let relation = |name: &str, space: &str, blocks_read| RelationCounters {
        name: name.into(),
        kind: "table".into(),
        tablespace: space.into(),
        blocks_read,
        size_bytes: Some(8192),
        ..RelationCounters::default()
    };
    story.after.relations = [
        (1, relation("a", "fast", 15_000)),
        (2, relation("b", "slow", 4000)),
        (3, relation("c", "slow", 1000)),
    ]
    .into_iter()
    .collect();
    let profile = story.profile();
    let server = profile.server.as_ref().unwrap();
    assert!(near(server.relations[0].read_time_s.unwrap(), 12.0));
    let slow = &server.tablespaces[1];
    assert!(near(slow.read_time_s.unwrap(), 4.0) && slow.size_bytes == Some(16_384));
    assert!(
        near(profile.tiering[0].read_wait_ratio, 1.2)
            && near(profile.tiering[1].cumulative_share, 1.0)
    );
    story.both(|snapshot| snapshot.settings.track_io_timing = false);
    assert!(
        story.profile().server.unwrap().tablespaces.iter().all(|space| space.read_time_s.is_none())
    );
}

#[test]
fn looks_and_counters_that_disagree_are_said() {
    let mut story = story(18);
    let found = story.profile();
    assert_eq!(found.checks[0].outcome, CheckOutcome::Contradicts);
    assert_eq!(found.verdict.bottleneck, Bottleneck::Unknown);
    assert!(found.verdict.reason.contains("active sessions by counters and by samples"));
    // Ten were seen active and four counted; with forty samples each of four they agree.
    for sample in &mut story.samples.taken {
        sample.sessions.retain(|seen, _| seen.event == "datafileread");
    }
    let found = story.profile();
    assert_eq!(found.checks[0].outcome, CheckOutcome::Agrees);
    assert_ne!(found.verdict.bottleneck, Bottleneck::Unknown);
}

#[test]
fn an_idle_server_has_a_profile_without_nonsense() {
    let mut story = story(18);
    story.after = PostgresSnapshot { at_s: story.before.at_s + ELAPSED_S, ..story.before.clone() };
    story.samples.taken.iter_mut().for_each(|sample| sample.sessions.clear());
    story.samples.tasks = Some(Tasks::default());
    let profile = story.profile();
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Idle);
    let text = serde_json::to_string(&profile).unwrap();
    assert!(!text.contains("NaN") && !text.contains("\"value\":null"), "{text}");
    assert_eq!(assay_model::profile::parse_profile(&text).unwrap(), profile);
}

proptest! {
    /// Whatever the counters say, the parts and what is left add up to DB time.
    #[test]
    fn the_parts_and_the_rest_are_the_whole(active_s in 0.0f64..1e4, read_s in 0.0f64..1e4, cpu_ns in 0u64..1 << 40, lock in 0u64..50) {
        let mut story = story(18);
        story.after.databases.get_mut("shop").unwrap().active_time_s = active_s;
        let rows = story.after.io.as_mut().unwrap();
        for row in rows.values_mut() {
            row.read_time_s = read_s;
        }
        story.samples.tasks.as_mut().unwrap().clients.on_cpu_ns = cpu_ns;
        story.samples.taken[0].sessions.insert(SessionState::new("Lock", "tuple"), lock);
        let time = story.profile().time;
        let waits: f64 = time.waits.iter().map(|wait| wait.time_s.value).sum();
        let cpu = time.db_cpu_s.map_or(0.0, |cpu| cpu.value);
        let sum = cpu + waits + time.unaccounted_s.unwrap().value;
        prop_assert!((sum - active_s).abs() < 1e-6 * (1.0 + active_s + read_s + cpu), "{sum} {active_s}");
    }
}
