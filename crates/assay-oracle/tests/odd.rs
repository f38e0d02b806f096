//! Old releases and odd files: lists of both kinds of waits, shares of call time, histograms of two
//! lines, other encodings.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod made_up;

use assay_model::profile::{Bottleneck, IoPurpose, Profile, ReportScope, ShareOf};
use assay_oracle::{profile, read_reports};
use made_up::{
    Column, END_OF_REPORT, activity, cache_sizes, header_11, header_statspack_92, html_header,
    html_table, load_profile, read, rows, top_five, wait_events,
};

fn near(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs().max(1e-9), "{left}, expected {right}");
}

fn iops(profile: &Profile, purpose: IoPurpose) -> f64 {
    profile.class(purpose).unwrap().rate_iops.as_ref().unwrap().value
}

/// The list of a 9i or 10g report: waits, timeouts, seconds, milliseconds.
fn list(title: &str, events: &[&[&str]]) -> String {
    let columns = [
        Column(&["Event"], 28),
        Column(&["Waits"], 12),
        Column(&["Timeouts"], 10),
        Column(&["Total Wait", "Time (s)"], 10),
        Column(&["Avg", "wait", "(ms)"], 6),
    ];
    let end = "          -------------------------------------------------------------\n";
    format!(
        "\x0c{title}\n-> ordered by wait time desc, waits desc (idle events last)\n\n{}{end}",
        rows(&columns, events)
    )
}

fn top_of_calls(events: &[&[&str]]) -> String {
    let columns = [
        Column(&["Event"], 44),
        Column(&["Waits"], 12),
        Column(&["Time (s)"], 11),
        Column(&["% Total", "Call Time"], 9),
    ];
    format!("Top 5 Timed Events\n{}\n{}\n", "~".repeat(18), rows(&columns, events))
}

const FULL: &[&[&str]] = &[
    &["latch: library cache", "2,000", "0", "400", "200"],
    &["db file sequential read", "9,000", "0", "90", "10"],
    &["log file parallel write", "1,000", "0", "5", "5"],
    &["db file scattered read", "45", "0", "0", "1"],
    &["virtual circuit status", "30", "30", "880", "29333"],
    &["SQL*Net message from client", "10", "0", "870", "87000"],
];
const BACKGROUND: &[&[&str]] = &[
    &["log file parallel write", "1,000", "0", "5", "5"],
    &["db file sequential read", "900", "0", "18", "20"],
    &["rdbms ipc message", "30", "30", "3,000", "100000"],
];

/// Statspack 9.2 names database, instance and snapshots in each title; 10g prints the same lists.
fn statspack_92() -> String {
    let of = |title: &str| format!("{title} for DB: SHOP  Instance: shop1  Snaps: 10 -11");
    header_statspack_92()
        + &load_profile(&[("Physical reads", "11.0"), ("Physical writes", "2.0")])
        + &top_of_calls(&[
            &["latch: library cache", "2,000", "400", "61.00"],
            &["CPU time", "", "160", "24.00"],
        ])
        + &list(&of("Wait Events"), FULL)
        + "\x0cSQL ordered by Gets for DB: SHOP  Instance: shop1  Snaps: 10 -11\n\nselect 'Wait \
           Events for DB: x' from dual\n"
        + &list(&of("Background Wait Events"), BACKGROUND)
        + END_OF_REPORT
}

#[test]
fn waits_of_sessions_are_those_of_all_less_those_of_the_background() {
    let report = read(&statspack_92());
    let profile = profile(&report);
    near(iops(&profile, IoPurpose::SingleBlockRead), 10.0);
    near(iops(&profile, IoPurpose::MultiBlockRead), 0.05);
    let activity = profile.report.as_ref().unwrap();
    let reads =
        activity.foreground.events.iter().find(|one| one.event == "db file sequential read");
    let reads = reads.unwrap();
    assert_eq!((reads.waits, reads.time_s), (Some(8100), Some(72.0)));
    assert!(activity.foreground.events.iter().all(|event| event.event != "virtual circuit status"));
    let idle = report.all_events.iter().filter(|event| event.class.as_deref() == Some("Idle"));
    assert_eq!(idle.count(), 2);
}

#[test]
fn a_share_of_call_time_is_none_of_db_time() {
    let report = read(&statspack_92());
    let profile = profile(&report);
    let together = profile.report.as_ref().unwrap().together.as_ref().unwrap();
    assert_eq!(together.share_of, ShareOf::CallTime);
    near(together.events[0].share.unwrap(), 0.61);
    assert_eq!(profile.report.as_ref().unwrap().top_wait().unwrap().event, "latch: library cache");
    let latches = profile.time.waits.iter().find(|wait| wait.class == "Concurrency").unwrap();
    near(latches.time_s.value, 400.0);
}

#[test]
fn a_histogram_of_two_lines_an_event_counts() {
    let ranges = ["0 - 1 ms", "1 - 4 ms", "4 - 8 ms", "8 - 16 ms", "16 - 32 ms", "32+ ms"];
    let heads = ranges.map(|range| format!("{range:>12}")).join(" ");
    let rule = "------------ ".repeat(6);
    let histogram = format!(
        "\x0cWait Event Histogram  DB/Inst: SHOP/shop1  Snaps: 10-11\n-> ordered by \
             event\n\nEvent\n{}\n{heads}\n{rule}\ndb file sequential read\n       7,000        \
             1,000          500          300          150           50\n{}\n",
        "-".repeat(50),
        "          -------------------------------------------------------------",
    );
    let profile =
        profile(&read(&(statspack_92().replace(END_OF_REPORT, "") + &histogram + END_OF_REPORT)));
    let curve = profile.class(IoPurpose::SingleBlockRead).unwrap().latency.as_ref().unwrap();
    near(curve.ios(), 9000.0);
    near(curve.share_below(4_000_000).unwrap(), 8.0 / 9.0);
    near(profile.outliers.iter().map(|slow| slow.rate_per_s).sum::<f64>(), 200.0 / 900.0);
    // Times of this release are printed in whole seconds; the histogram is in no doubt.
    assert!(profile.doubts.iter().all(|doubt| doubt.contains("rounded times")), "{profile:?}");
}

#[test]
fn what_an_invalid_report_says_of_itself_is_passed_on_and_nothing_is_judged() {
    let text = format!(
        "ERROR: Snapshots chosen span an instance shutdown: RESULTS ARE INVALID{}",
        statspack_92()
    );
    let profile = profile(&read(&text));
    let banner = "Snapshots chosen span an instance shutdown: RESULTS ARE INVALID";
    assert_eq!(profile.report.as_ref().unwrap().invalid.as_deref(), Some(banner));
    assert_eq!(profile.verdict.bottleneck, Bottleneck::Unknown);
    assert!(profile.verdict.reason.contains(banner) && profile.verdict.devices.is_empty());
}

fn awr_11() -> String {
    header_11("11.2.0.3.0", "60.00", "120.00")
        + &cache_sizes("8K")
        + &load_profile(&[("Redo size", "8192.0"), ("Physical reads", "500.0")])
        + &top_five(&[&["db file sequential read", "1,800,000", "3600", "2", "50.0", "User I/O"]])
        + "\n"
        + &wait_events(
            "Foreground Wait Events",
            &[&["db file sequential read", "1,800,000", "3600", "2", "50.0"]],
        )
        + &activity(
            "Instance Activity Stats",
            &[&["physical read total IO requests", "1,800,000", "500.0", "1.0"]],
        )
        + END_OF_REPORT
}

/// What one file of these bytes says.
fn said(bytes: &[u8]) -> (String, f64, Bottleneck) {
    let report = read_reports(bytes).remove(0).unwrap();
    let profile = profile(&report);
    let rate = iops(&profile, IoPurpose::SingleBlockRead);
    (profile.name, rate, profile.verdict.bottleneck)
}

#[test]
fn other_encodings_and_line_ends_say_the_same() {
    let text = awr_11();
    let whole = said(text.as_bytes());
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let returns = text.replace('\n', "\r");
    let tabbed: String = text.lines().map(|line| with_tabs(line) + "\n").collect();
    assert!(tabbed.contains("-\t-"));
    for bytes in
        [[&[0xff, 0xfe], little.as_slice()].concat(), little, big, returns.into(), tabbed.into()]
    {
        assert_eq!(said(&bytes), whole);
    }
}

/// Tabs in place of the blanks before each stop of eight columns, as an editor puts them.
fn with_tabs(line: &str) -> String {
    let letters: Vec<char> = line.chars().collect();
    let stops = letters.chunks(8).map(|chunk| {
        let text: String = chunk.iter().collect();
        let bare = text.trim_end_matches(' ');
        if chunk.len() == 8 && bare.len() < 8 { format!("{bare}\t") } else { text }
    });
    stops.collect()
}

#[test]
fn what_exadata_says_behind_a_colon_is_the_same_read() {
    let events = [
        ["cell single block physical read: flash cache", "360,000", "0", "180", ".50ms", "", "5.0"],
        ["cell single block physical read: RDMA", "720,000", "0", "72", ".10ms", "", "5.0"],
        ["cell single block physical read", "3,600", "0", "36", "10.00ms", "", "5.0"],
    ];
    let heads = [
        "Event",
        "Waits",
        "%Time -outs",
        "Total Wait Time (s)",
        "Avg wait",
        "Waits /txn",
        "% DB time",
    ];
    let rows: Vec<&[&str]> = events.iter().map(<[&str; 7]>::as_slice).collect();
    let page = html_header("19.0.0.0.0", "60.00", "120.00")
        + &html_table("Foreground Wait Events", "", &heads, &rows)
        + END_OF_REPORT;
    let profile = profile(&read(&page));
    near(iops(&profile, IoPurpose::SingleBlockRead), 301.0);
    let latency =
        profile.class(IoPurpose::SingleBlockRead).unwrap().latency_s.as_ref().unwrap().value;
    near(latency, 288.0 / 1_083_600.0);
    assert_eq!(profile.report.as_ref().unwrap().scope, ReportScope::Instance);
    assert!(profile.verdict.notes.iter().any(|note| note.contains("one instance of a cluster")));
}

/// A browser saves `>` in attributes as it is; global reports put small counts in brackets.
#[test]
fn marks_in_attributes_and_counts_in_brackets_lose_no_row() {
    let heads = [
        "Event",
        "Total Waits",
        "% of Waits &lt;8ms",
        "% of Waits &lt;16ms",
        "% of Waits &gt;=16ms",
    ];
    let histogram = html_table(
        "Wait Event Histogram",
        "",
        &heads,
        &[&["db file sequential read", "1,000,000", "99.9", "0.1", "0.0(12)"]],
    );
    let histogram = histogram
        .replace("&amp;", "&")
        .replace("<td align", "<td headers=\"% of Waits >=512us\" align");
    let waits = html_table(
        "Foreground Wait Events",
        "",
        &["Event", "Waits", "Total Wait Time (s)", "% DB time"],
        &[&["db file sequential read", "1,000,000", "2,000", "20.0"]],
    );
    let page = html_header("19.0.0.0.0", "60.00", "120.00") + &waits + &histogram + END_OF_REPORT;
    let report = read(&page);
    assert_eq!(report.unread, []);
    let curve = &report.histograms[0].buckets;
    assert_eq!(curve.len(), 3);
    near(curve[2].share, 12e-6);
}

/// A global report in text rules off groups of headings first.
#[test]
fn a_global_text_report_names_its_database_and_interval() {
    let widths = [10, 9, 3, 14, 7, 7, 9, 9, 11, 12];
    let line = |cells: [&str; 10]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join(" ")
    };
    let heads = [
        "Id",
        "Name",
        "RAC",
        "Block Size",
        "Begin",
        "End",
        "In Report",
        "Total",
        "DB time",
        "Elapsed time",
    ];
    let data = ["1234567890", "SHOP", "YES", "8192", "10", "11", "2", "2", "120.50", "60.00"];
    let rule = widths.map(|width| "-".repeat(width)).join(" ");
    let groups = [39, 15, 19, 24].map(|width| "-".repeat(width)).join(" ");
    let text = format!(
        "\nWORKLOAD REPOSITORY REPORT (RAC)\n\nDatabase Summary\n~~~~~~~~~~~~~~~~\n{:^39} {:^15} \
         {:^19} {:^24}\n{groups}\n{}\n{rule}\n{}\n\n",
        "Database",
        "Snapshot Ids",
        "Number of Instances",
        "Report Total (minutes)",
        line(heads),
        line(data),
    );
    let report = read(&(text + END_OF_REPORT));
    let header = &report.header;
    assert_eq!(header.db_name.as_deref(), Some("SHOP"));
    let of = |quantity: &Option<assay_oracle::report::OracleQuantity>| quantity.unwrap().value;
    assert_eq!(
        (of(&header.elapsed), of(&header.db_time), of(&header.block)),
        (3600.0, 7230.0, 8192.0)
    );
    assert_eq!((of(&header.begin.id), of(&header.end.id)), (10.0, 11.0));
}

#[test]
fn months_with_blanks_and_blank_names_are_read() {
    let text = awr_11()
        .replace("01-Mar-20 08:00:00", "23-4\u{6708} -14 08:00:00")
        .replace("01-Mar-20 09:00:00", "23-4\u{6708} -14 09:00:00");
    let profile = profile(&read(&text));
    assert_eq!(profile.source.begin_clock_s, Some(1_398_240_000));
    near(profile.sessions.unwrap().value, 131.0);
    // The title of a page names what its header leaves blank.
    let page = html_header("19.0.0.0.0", "60.00", "120.00")
        .replace(
            "<td align=\"right\" class='awrc'>SHOP</td>",
            "<td align=\"right\" class='awrc'>/td></td>",
        )
        .replace(">shop2<", "><")
        + END_OF_REPORT;
    assert_eq!(assay_oracle::profile(&read(&page)).name, "SHOP/shop1");
}

/// As a wiki or a chat keeps it.
#[test]
fn a_page_that_went_through_markdown_has_the_same_numbers() {
    let text = "# WORKLOAD REPOSITORY report for\n\n\
        | DB Name | DB Id | Instance | Inst num | Startup Time | Release | RAC |\n|---|---|---|---|---|---|---|\n\
        | SHOP | 7 | shop1 | 1 | 01-Jan-25 10:00 | 11.2.0.4.0 | NO |\n\n\
        | Host Name | Platform | CPUs | Cores | Sockets | Memory (GB) |\n|---|---|---|---|---|---|\n\
        | db1 | Linux x86 64-bit | 16 | 8 | 2 | 31.44 |\n\n\
        |  | Snap Id | Snap Time | Sessions | Cursors/Session |\n|---|---|---|---|---|\n\
        | Begin Snap: | 10 | 15-Jan-25 10:00:00 | 40 | 1.0 |\n\
        | End Snap: | 11 | 15-Jan-25 11:00:00 | 41 | 1.1 |\n\
        | Elapsed: |  | 60.00 (mins) |  |  |\n| DB Time: |  | 120.00 (mins) |  |  |\n\n\
        ## Foreground Wait Events\n* s - second\n\n\
        | Event | Waits | %Time -outs | Total Wait Time (s) | Avg wait (ms) | Waits /txn | % DB time |\n\
        |---|---:|---|---:|---|---|---|\n\
        | db file sequential read | 360,000 | 0 | 1,800 | 5 | 9.0 | 25.00 |\n\nEnd of Report\n";
    let report = read(text);
    let profile = profile(&report);
    assert_eq!(profile.name, "SHOP/shop1");
    near(profile.elapsed_s.as_ref().unwrap().value, 3600.0);
    let activity = profile.report.as_ref().unwrap();
    let event = &activity.foreground.events[0];
    assert_eq!((event.event.as_str(), event.waits), ("db file sequential read", Some(360_000)));
    assert_eq!(event.time_s, Some(1800.0));
}

#[test]
fn reports_of_other_kinds_are_refused_by_name() {
    for (text, name) in [
        ("ASH Report For SHOP/shop1\n\nDB Name  DB Id\n", "an ASH report"),
        ("          ADDM Report for Task 'TASK_1'\n", "an ADDM report"),
        ("WORKLOAD REPOSITORY SQL Report\n\nSnapshot Period Summary\n", "one SQL statement"),
        ("TKPROF: Release 11.2.0.3.0\n", "tkprof"),
        ("Statistics Package (STATSPACK) README (spdoc.txt)\n", "documentation of Statspack"),
        ("<html><title>Statspack</title>Created by OSPRep</html>", "OSPRep"),
        ("<html><title>SQL Monitoring Report</title></html>", "SQL monitor"),
        (
            "WORKLOAD REPOSITORY report for\n\n<table><tr><th>DB Id</th></tr></table></html>\n",
            "looks like an AWR report",
        ),
        (
            "WORKLOAD REPOSITORY report for\n\nDB Id\n----\n\x01\x02\n",
            "neither the database nor the snapshots",
        ),
    ] {
        let refused = read_reports(text.as_bytes()).remove(0).unwrap_err().to_string();
        assert!(refused.contains(name), "{text}: {refused}");
    }
}
