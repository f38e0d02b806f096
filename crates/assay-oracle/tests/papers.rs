//! The worked examples of two papers, printed as reports and read back, to the papers' rounding.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::float_cmp,
    reason = "a test fails where what it needs is missing"
)]

mod made_up;

use assay_model::profile::{Bottleneck, IoClass, IoPurpose, Profile, RateKind};
use assay_oracle::{COLUMNS, TableCell, profile, table_row};
use made_up::*;

fn near(value: f64, expected: f64, half_a_unit: f64) {
    assert!((value - expected).abs() <= half_a_unit, "{value}, expected {expected}");
}

fn whole(profile: &Profile) -> &IoClass {
    profile.class(IoPurpose::All).unwrap()
}

/// TMS paper, 10g: names cut at 33 characters, overflow per transaction, blocks that are not
/// requests.
#[test]
fn counters_of_10g_give_iops_throughput_and_size() {
    let text = header_11("10.2.0.3.0", "1.05", "0.50")
        + &activity(
            "Instance Activity Stats",
            &[
                &["physical read IO requests", "302,759", "4,805.7", "20,183.9"],
                &["physical read bytes", "35,364,380,672", "561,339,375.8", "############"],
                &["physical read total IO requests", "302,945", "4,808.7", "20,196.3"],
                &["physical read total bytes", "35,367,449,600", "561,388,088.9", "############"],
                &["physical read total multi block requests", "292,958", "4,650.1", "19,530.5"],
                &["physical reads", "4,316,960", "68,523.2", "287,797.3"],
                &["physical write total IO requests", "615", "9.8", "41.0"],
                &["physical write total bytes", "7,723,520", "122,595.6", "514,901.3"],
            ],
        )
        + END_OF_REPORT;
    let profile = profile(&read(&text));
    let all = whole(&profile);
    near(all.rate_iops.as_ref().unwrap().value, 4818.5, 0.05);
    near(all.throughput_bytes_per_s.as_ref().unwrap().value, 561.5e6, 0.05e6);
    near(all.block_size_bytes.as_ref().unwrap().value, 116_532.0, 2.0);
    near(all.read_share.as_ref().unwrap().value, 0.998, 0.0005);
    near(profile.block_bytes.as_ref().unwrap().value, 8192.0, 0.0);
}

fn statspack_of_the_paper() -> String {
    let io = "\
Tablespace IO Stats for DB: SHOP  Instance: shop1  Snaps: 10 -11
->ordered by IOs (Reads + Writes) desc

Tablespace
------------------------------
                 Av      Av     Av                    Av        Buffer Av Buf
         Reads Reads/s Rd(ms) Blks/Rd       Writes Writes/s      Waits Wt(ms)
-------------- ------- ------ ------- ------------ -------- ---------- ------
MSERVERTAB
     7,861,586   8,735    5.5     1.0       59,214       66     45,542   28.9
MSERVERIND
       884,275     983    5.0     1.0       24,261       27        925   19.1
TEMP
       122,465     136    7.7     8.9      121,028      134          0    0.0
TOOLS
         1,166       1    1.3     1.5          452        1          0    0.0
UNDOTBS1
            66       0    5.6     1.0          353        0          2    0.0
SYSTEM
            51       0    9.0     1.0            9        0          0    0.0
          -------------------------------------------------------------
";
    let load = load_profile(&[("Physical reads", "11,140.07"), ("Physical writes", "1,309.27")]);
    header_statspack_92() + &load + io + END_OF_REPORT
}

/// TMS paper, Statspack 9.2. The paper adds rates that are printed as whole numbers, and multiplies
/// the time of reads by writes as well (55.2); counts over the interval give one more I/O a second,
/// and reads alone 54.0 outstanding.
#[test]
fn blocks_and_tablespaces_of_9i_give_the_whole_demand() {
    let report = read(&statspack_of_the_paper());
    let profile = profile(&report);
    let tablespaces = profile.rate(RateKind::Tablespace).unwrap();
    near(tablespaces.read_per_s.as_ref().unwrap().value, 9855.0, 0.5);
    near(tablespaces.write_per_s.as_ref().unwrap().value, 205_317.0 / 900.0, 0.02);
    let all = whole(&profile);
    near(all.rate_iops.as_ref().unwrap().value, 10_082.0, 2.0);
    near(all.throughput_bytes_per_s.as_ref().unwrap().value, 101_985_000.0, 500.0);
    near(all.latency_s.as_ref().unwrap().value, 5.480e-3, 0.5e-6);
    near(all.queue_depth.as_ref().unwrap().value, 54.0, 0.06);
    near(all.block_size_bytes.as_ref().unwrap().value, 10_116.0, 3.0);
    assert!(profile.class(IoPurpose::SingleBlockRead).is_none());
    assert!(profile.missing.iter().any(|title| title == "Time Model Statistics"));
}

/// TMS paper: reads per second times read time, most first.
#[test]
fn tablespaces_are_ranked_by_time_waited() {
    let profile = profile(&read(&statspack_of_the_paper()));
    let ranked: Vec<(&str, f64)> = profile
        .tiering
        .iter()
        .map(|one| (one.tablespace.as_str(), one.read_wait_ratio * 1e3))
        .collect();
    for ((name, waited), (expected_name, expected)) in ranked.iter().zip([
        ("MSERVERTAB", 48_042.5),
        ("MSERVERIND", 4915.0),
        ("TEMP", 1047.2),
        ("TOOLS", 1.3),
    ]) {
        assert_eq!(*name, expected_name);
        // The paper multiplies rates of whole numbers.
        near(*waited, expected, 0.5 + 1e-3 * expected);
    }
    assert!(ranked[4..].iter().all(|(_, waited)| *waited < 1.0));
    near(profile.tiering[0].cumulative_share, 0.8896, 0.0001);
}

/// EMC paper, figures 4 and 5.
#[test]
fn sixteen_processors_are_58_percent_busy_and_reads_take_a_millisecond() {
    let text = header_11("11.2.0.3.0", "60.12", "5,763.84")
        + &cache_sizes("8K")
        + &load_profile(&[
            ("DB Time(s)", "95.9"),
            ("DB CPU(s)", "9.3"),
            ("Physical reads", "83,114.8"),
        ])
        + &top_five(&[
            &["db file sequential read", "299,784,368", "320,702", "1", "92.7", "User I/O"],
            &["DB CPU", "", "33,584", "", "9.7", ""],
            &["cursor: pin S", "120,261", "238", "2", ".1", "Concurrenc"],
        ])
        + "\n"
        + END_OF_REPORT;
    let report = read(&text);
    let profile = profile(&report);
    near(profile.time.cpu_utilization.as_ref().unwrap().value, 0.58, 0.005);
    near(profile.time.average_active_sessions.as_ref().unwrap().value, 95.9, 0.05);
    near(report.top_events[0].mean_s().unwrap(), 1.07e-3, 0.005e-3);
    near(
        profile.class(IoPurpose::SingleBlockRead).unwrap().latency_s.as_ref().unwrap().value,
        1.07e-3,
        0.005e-3,
    );
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Storage);
}

/// EMC paper, figure 2: 40.97% of DB time on user I/O, at best 1.69 times faster.
#[test]
fn figure_2_is_worth_faster_storage() {
    let text = header_11("11.2.0.3.0", "60.00", "43.67")
        + &top_five(&[
            &["DB CPU", "", "447", "", "17.06", ""],
            &["db file sequential read", "109,209", "384", "4", "14.68", "User I/O"],
            &["direct path read", "49,001", "340", "7", "13.00", "User I/O"],
            &["db file scattered read", "46,315", "218", "5", "8.33", "User I/O"],
            &["direct path read temp", "7,715", "130", "17", "4.96", "User I/O"],
        ])
        + "\n"
        + END_OF_REPORT;
    let verdict = profile(&read(&text)).verdict;
    assert_eq!(verdict.bottleneck, Bottleneck::Storage);
    near(verdict.user_io_share.unwrap(), 0.4097, 0.000_05);
    near(verdict.speedup_limit.unwrap(), 1.69, 0.005);
}

/// EMC paper, figure 3: storage is not the cause.
#[test]
fn figure_3_is_not() {
    let text = header_11("11.2.0.3.0", "60.00", "128.07")
        + &top_five(&[
            &["DB CPU", "", "6,905", "", "89.86", ""],
            &["latch: row cache objects", "3,016,874", "454", "0", "5.91", "Concurrenc"],
            &["library cache: mutex X", "2,537,405", "316", "0", "4.11", "Concurrenc"],
        ])
        + "\n"
        + END_OF_REPORT;
    let verdict = profile(&read(&text)).verdict;
    assert_eq!(verdict.bottleneck, Bottleneck::Cpu);
    near(verdict.cpu_share.unwrap(), 0.8986, 0.0005);
    near(verdict.contention_share.unwrap(), 0.1002, 0.0005);
    near(verdict.speedup_limit.unwrap(), 1.0, 0.0);
}

/// EMC paper, figures 19 and 20: counts in E-notation.
#[test]
fn counts_in_e_notation_give_the_mean() {
    for (waits, seconds, mean_ms) in
        [("2.280979E+09", "7,961,122", 3.49), ("3.708963E+09", "3,981,226", 1.07)]
    {
        let text = header_11("11.2.0.3.0", "1,440.00", "138,000.00")
            + &top_five(&[&["db file sequential read", waits, seconds, "3", "96.0", "User I/O"]])
            + "\n"
            + END_OF_REPORT;
        near(read(&text).top_events[0].mean_s().unwrap() * 1e3, mean_ms, 0.005);
    }
}

/// A global text report: per-instance rates, one event table for all, the script's line of figures.
fn global(reads: &str, writes: &str, redo_k: &str, requests: &str) -> String {
    let summary = "\nWORKLOAD REPOSITORY REPORT (RAC)\n\nDatabase Summary\n~~~~~~~~~~~~~~~~\n\
        \x20                                        Report Total (minutes)\n\
        Id         Name      RAC Block Size  Begin    End  DB time Elapsed time\n\
        ---------- --------- --- ---------- ------ ------ -------- ------------\n\
        1234567890 SHOP      YES       8192    220    223 11,520.0        60.00\n\n";
    let top = "Top Timed Events                       DB/Inst: SHOP/shop1  Snaps: 220-223\n\
        -> Instance '*' - cluster wide summary\n\n\
        \x20                                                                       Wait Time\n\
        \x20  Wait       Event                                  Waits %Timeouts      Total(s) Avg(ms)\n\
        I# Class      Event                        Event     Waits %Timeouts Wait Total(s) Avg(ms)\n\
        -- ---------- ---------------------------- --------------- --------- ------------- -------\n\
        *  User I/O   db file sequential read          571,931,278       0.0    549,803.06     1.0\n\
        \x20             DB CPU                                   N/A       N/A    101,026.05     N/A\n\
        \x20  System I/O log file parallel write            5,156,057       0.0      5,850.22     1.1\n\
        \x201 User I/O   db file sequential read          279,720,137       0.0    268,801.80     1.0\n\
        \x20             DB CPU                                   N/A       N/A     51,308.83     N/A\n"
        .to_owned() + "          -------------------------------------------------------------\n";
    let rates = format!(
        "System Statistics - Per Second         DB/Inst: SHOP/shop1  Snaps: 220-223\n\n\
         \x20    Physical   Physical    Redo Size\n\
         \x20I#  Reads/s    Writes/s        (k)/s\n\
         ---- ----------- ----------- ------------\n\
         \x20  1    77,636.6    15,064.3     20,987.0\n\
         \x20Sum {reads:>11} {writes:>11} {redo_k:>12}\n\
         \x20Avg    79,369.9    15,394.1     21,218.2\n\
         \x20         -------------------------------------------------------------\n"
    );
    let statistics = activity(
        "System Statistics (Global)",
        &[
            &["physical read IO requests", "0", requests, "1.0"],
            &["physical write IO requests", "0", writes, "1.0"],
        ],
    );
    // The totals are left out: the paper prints rates only.
    summary.to_owned()
        + &top
        + &rates
        + &statistics.replace("                 0 ", "                   ")
        + END_OF_REPORT
}

/// EMC paper, figures 9, 10 and 25.
#[test]
fn a_global_report_gives_the_line_of_the_papers_script() {
    let report = read(&global("158,739.8", "30,788.3", "42,436.5", "158,737.4"));
    let profile = profile(&report);
    near(report.all_events[0].mean_s().unwrap(), 961e-6, 0.5e-6);
    let redo = &profile.redo;
    near(redo.write_latency_s.as_ref().unwrap().value, 1.13e-3, 0.005e-3);
    near(redo.write_iops.as_ref().unwrap().value, 1432.0, 0.5);
    assert_eq!(report.instances.len(), 1);
    let row = table_row("awr_rac.txt.192", &report, &profile);
    let cell = |name: &str| {
        let index = COLUMNS.iter().position(|column| column.name == name).unwrap();
        match &row[index] {
            TableCell::Number(number) => *number,
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(row.len(), COLUMNS.len());
    // The script cuts decimals.
    let printed =
        [cell("total_iops"), cell("read_iops"), cell("write_iops"), cell("redo")].map(f64::floor);
    assert_eq!(printed.map(|number| format!("{number}")), ["189525", "158737", "30788", "41"]);
    near(cell("read_latency"), 0.96, 0.005);
}

/// Figure 5 alone: its shares say how much DB time there was, and the mean is the quotient that the
/// text prints.
#[test]
fn top_events_alone_have_a_verdict_and_say_what_they_lack() {
    let top = top_five(&[
        &["db file sequential read", "299,784,368", "320,702", "1", "92.7", "User I/O"],
        &["DB CPU", "", "33,584", "", "9.7", ""],
        &["cursor: pin S", "120,261", "238", "2", ".1", "Concurrenc"],
    ]);
    for text in [top.clone(), top.replace(&format!("{}\n", "~".repeat(29)), "")] {
        let report = read(&text);
        assert!(report.is_excerpt);
        let profile = profile(&report);
        assert_eq!(profile.verdict.bottleneck, Bottleneck::Storage, "{}", profile.verdict.reason);
        let reads = &profile.report.as_ref().unwrap().foreground.events[0];
        near(reads.average_s.unwrap(), 1.0698e-3, 0.0001e-3);
        near(profile.verdict.user_io_share.unwrap(), 0.927, 0.0005);
        near(profile.time.db_time_s.as_ref().unwrap().value, 345_957.0, 0.5);
        for lacking in ["elapsed time", "Load Profile", "Wait Event Histogram"] {
            assert!(profile.missing.iter().any(|missing| missing == lacking), "{lacking}");
        }
        assert!(profile.doubts[0].contains("an excerpt"), "{:?}", profile.doubts);
    }
}

/// Figure 4 without its header: rates, and the share of the CPU.
#[test]
fn a_load_profile_alone_gives_rates_and_the_share_of_the_cpu() {
    let load = load_profile(&[
        ("DB Time(s)", "95.9"),
        ("DB CPU(s)", "9.3"),
        ("Redo size", "21,834,010.5"),
        ("Physical reads", "83,114.8"),
    ]);
    let profile = profile(&read(&load));
    near(profile.verdict.cpu_share.unwrap(), 9.3 / 95.9, 1e-9);
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown);
    near(profile.redo.redo_bytes_per_s.as_ref().unwrap().value, 21_834_010.5, 0.05);
}

/// The counters of 10g as the TMS paper prints them, without anything else.
#[test]
fn counters_alone_give_the_printed_rates() {
    let counters = activity(
        "Instance Activity Stats",
        &[
            &["physical read total IO requests", "302,945", "4,808.7", "20,196.3"],
            &["physical write total IO requests", "615", "9.8", "41.0"],
        ],
    );
    let profile = profile(&read(&counters));
    let all = whole(&profile);
    near(all.rate_iops.as_ref().unwrap().value, 4818.5, 0.05);
}

/// Figures 25 and 26: whole numbers are added after they were cut, writes are blocks.
#[test]
fn the_line_of_rac_stats_is_the_one_of_the_script() {
    let counters = activity(
        "Instance Activity Stats",
        &[
            &["physical read IO requests", "571,454,640", "158,737.4", "1.0"],
            &["physical writes", "110,837,880", "30,788.3", "1.0"],
            &["redo size", "156,434,000,000", "43,454,976.0", "1.0"],
        ],
    );
    let waits = wait_events(
        "Foreground Wait Events",
        &[&["db file sequential read", "571,931,278", "549,803", "1", "84.5"]],
    );
    let text = header_11("11.2.0.3.0", "60.00", "11,520.00") + &waits + &counters + END_OF_REPORT;
    let line = assay_oracle::rac_stats_line("awr_rac.txt.192", &read(&text));
    assert_eq!(line, "awr_rac.txt.192|189525|158737|0.96|30788|41|");
    let none = assay_oracle::rac_stats_line(
        "x",
        &read(&(header_11("11.2.0.3.0", "60.00", "1.00") + END_OF_REPORT)),
    );
    assert_eq!(none, "x||||||");
}
