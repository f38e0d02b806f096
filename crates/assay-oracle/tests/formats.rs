//! The traps of the report formats, each in a made-up report.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::float_cmp,
    reason = "a test fails where what it needs is missing"
)]

mod made_up;

use assay_model::profile::{CheckOutcome, IoPurpose, RateKind};
use assay_oracle::report::{OracleQuantity, OracleSection, ReportForm, ReportKind};
use assay_oracle::{profile, read_reports};
use made_up::*;

fn value(quantity: Option<OracleQuantity>) -> f64 {
    quantity.expect("a number").value
}

fn same(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs().max(1e-12)
}

fn awr_text(body: &str) -> String {
    header_11("11.2.0.3.0", "60.00", "120.00") + body + END_OF_REPORT
}

fn awr_html(release: &str, body: &str) -> String {
    html_header(release, "60.00", "120.00") + body + "End of Report\n</body></html>\n"
}

#[test]
fn header_columns_are_mapped_by_heading_not_by_position() {
    let report = read(&(header_122("60.25", "66.24") + END_OF_REPORT));
    let header = &report.header;
    assert_eq!(header.release.as_deref(), Some("12.2.0.1.0"));
    assert_eq!(header.instance.as_deref(), Some("shop1"));
    assert_eq!((header.cluster, header.container_database), (Some(false), Some(false)));
    assert!(same(value(header.instance_number), 3.0) && same(value(header.cores), 5.0));
    assert_eq!(header.sockets, None);
    assert!(same(value(header.memory), 502.0 * 1024.0_f64.powi(3)));
    assert!(same(value(header.elapsed), 60.25 * 60.0) && same(value(header.db_time), 66.24 * 60.0));
    assert!(header.startup_is_exact);
    assert_eq!(header.end.clock_s.unwrap() - header.begin.clock_s.unwrap(), 3600);
}

#[test]
fn the_second_table_with_the_same_summary_adds_and_does_not_overwrite() {
    let report = read(&awr_html("12.2.0.1.0", ""));
    assert_eq!(report.form, ReportForm::Html);
    assert_eq!(report.header.db_name.as_deref(), Some("SHOP"));
    assert_eq!(report.header.instance.as_deref(), Some("shop2"));
    assert_eq!(report.header.sockets, None);
    // The minutes printed there are the month.
    assert!(!report.header.startup_is_exact);
    assert!(read(&awr_html("18.0.0.0.0", "")).header.startup_is_exact);
}

#[test]
fn every_number_knows_its_line_and_section() {
    let text = awr_text(&load_profile(&[("Redo size", "21,834,010.5")]));
    let redo = read(&text).load(&["Redo size"]).unwrap().per_second.unwrap();
    let line = text.lines().position(|line| line.contains("21,834,010.5")).unwrap() + 1;
    assert_eq!((redo.line as usize, redo.section), (line, OracleSection::LoadProfile));
    assert!(same(redo.value, 21_834_010.5) && same(redo.rounding_width, 0.05));
}

#[test]
fn a_block_size_without_its_number_is_no_block_size() {
    assert_eq!(read(&awr_text(&cache_sizes("K"))).header.block, None);
    assert!(same(value(read(&awr_text(&cache_sizes("16K"))).header.block), 16_384.0));
    let unknown = profile(&read(&awr_text(&load_profile(&[("Physical reads", "10.0")]))));
    assert_eq!(unknown.block_bytes, None);
}

#[test]
fn physical_reads_are_blocks_and_never_requests() {
    let profile = profile(&read(&awr_text(&load_profile(&[
        ("Physical reads", "71,457.6"),
        ("Physical writes", "1.0"),
    ]))));
    assert!(profile.rate(RateKind::Database).is_none());
    assert!(same(
        profile.rate(RateKind::Blocks).unwrap().read_per_s.as_ref().unwrap().value,
        71_457.6
    ));
    assert!(profile.class(IoPurpose::All).is_none());
}

#[test]
fn the_three_read_rates_are_kept_apart() {
    let load = load_profile(&[("Read IO requests", "42.6"), ("Write IO requests", "5.5")]);
    let counters = activity(
        "Other Instance Activity Stats",
        &[
            &["physical read IO requests", "153,360", "42.6", "1.0"],
            &["physical read total IO requests", "574,920", "159.7", "1.0"],
        ],
    );
    let profile = profile(&read(&awr_text(&(load + &counters))));
    let read = |kind| profile.rate(kind).unwrap().read_per_s.as_ref().unwrap().value;
    assert!(same(read(RateKind::Database), 42.6) && same(read(RateKind::Total), 159.7));
    assert!(profile.rate(RateKind::FileType).is_none());
}

#[test]
fn the_unit_in_the_cell_wins_and_without_any_a_time_is_refused() {
    let events = |average: &str, cell: &str| {
        let heads = ["Event", "Waits", "Total Wait Time (sec)", average, "% DB time", "Wait Class"];
        let row: &[&str] =
            &["db file sequential read", "360,121", "2198.8K", cell, "1.0", "User I/O"];
        let summary = "This table displays top 10 wait events by total wait time";
        read(&awr_html("12.2.0.1.0", &html_table("", summary, &heads, &[row])))
    };
    let with_unit = events("Avg Wait", "109.72us");
    assert!(same(value(with_unit.top_events[0].average), 109.72e-6));
    assert!(same(value(with_unit.top_events[0].time), 2_198_800.0));
    assert!(same(value(events("Avg Wait", "52.86 s").top_events[0].average), 52.86));
    assert!(same(value(events("Wait Avg(ms)", "2.07").top_events[0].average), 2.07e-3));
    let without = events("Avg Wait", "109.72");
    assert_eq!(without.top_events[0].average, None);
    assert_eq!(without.unread[0].reason, "a time without a unit");
}

#[test]
fn a_column_of_four_characters_may_have_cut_its_number() {
    let body = "Top 10 Foreground Events by Total Wait Time\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n\
        \x20                                           Tota    Wait   % DB\n\
        Event                                 Waits Time Avg(ms)   time Wait Class\n\
        ------------------------------ ------------ ---- ------- ------ ----------\n\
        DB CPU                                       1.1           58.0\n\
        db file sequential read             360,121 1234       4   31.1 User I/O\n\
        enq: IV -  contention                    31    0       1    1.9 Other\n\n";
    let report = read(&awr_text(body));
    assert!(same(value(report.top_events[0].time), 1.1) && report.top_events[0].waits.is_none());
    assert_eq!(report.top_events[1].time, None);
    assert_eq!(report.top_events[1].class.as_deref(), Some("User I/O"));
    assert_eq!(report.top_events[2].name, "enq: IV - contention");
    assert_eq!(report.unread.len(), 1);
}

#[test]
fn the_mean_is_recomputed_where_that_is_finer() {
    let events = wait_events(
        "Foreground Wait Events",
        &[
            &["db file sequential read", "21,628,695", "16,407", "1", "42.6"],
            &["log file sync", "3", "0", "21", "2.2"],
        ],
    );
    let report = read(&awr_text(&events));
    assert!((report.foreground_events[0].mean_s().unwrap() - 0.76e-3).abs() < 0.005e-3);
    assert!(same(report.foreground_events[1].mean_s().unwrap(), 21e-3));
    assert!(report.flags.is_empty(), "{:?}", report.flags);
}

#[test]
fn idle_events_that_an_old_report_lists_as_busy_are_not_waits() {
    let events = wait_events(
        "Foreground Wait Events",
        &[
            &["LGWR worker group idle", "5,188", "6,885", "1327", "36.8"],
            &["SQL*Net message from client", "5,188", "6,885", "1327", "36.8"],
            &["direct path read", "160,620", "34", "0", ".2"],
        ],
    );
    let time = profile(&read(&awr_text(&events))).time;
    assert_eq!(time.waits.len(), 1);
    assert_eq!(time.waits[0].class, "User I/O");
}

#[test]
fn cut_names_are_found_and_ambiguous_ones_are_not_guessed() {
    let counters = activity(
        "Instance Activity Stats",
        &[
            &["physical read total multi block requests", "169,480", "47.1", "1.0"],
            &["redo synch time overhead count (  2ms)", "3", "0.0", "1.0"],
            &["redo synch time overhead count (  4ms)", "5", "0.0", "1.0"],
        ],
    );
    let report = read(&awr_text(&counters));
    assert!(same(
        value(report.statistic("physical read total multi block requests").unwrap().total),
        169_480.0
    ));
    assert!(report.statistic("redo synch time overhead count (  2ms)").is_none());
    assert!(report.statistic("physical reads").is_none());
}

#[test]
fn overflow_is_unread_e_notation_is_read_and_a_fallen_counter_is_flagged() {
    let counters = activity(
        "Key Instance Activity Stats",
        &[
            &["physical read bytes", "27,263,976,000", "7.57336220E+06", "############"],
            &["redo size", "############", "100.0", "1.0"],
            &["session uga memory", "-1,461,238,099", "-405,899.5", "-68.61"],
        ],
    );
    let report = read(&awr_text(&counters));
    assert!(same(value(report.statistic("physical read bytes").unwrap().per_second), 7_573_362.2));
    assert!(same(report.rate("redo size").unwrap().value, 100.0));
    assert_eq!(report.unread.len(), 1);
    assert!(report.flags.iter().any(|flag| flag.message.contains("fell")));
    assert!(report.rate("session uga memory").is_none());
}

#[test]
fn the_same_counter_in_two_tables_is_one_and_must_agree() {
    let both = |total: &str| {
        let rate = "1.0";
        let key = activity("Key Instance Activity Stats", &[&["redo size", "3,600", rate, rate]]);
        let all = activity("Instance Activity Stats", &[&["redo size", total, rate, rate]]);
        read(&awr_text(&(key + &all)))
    };
    assert!(both("3,600").flags.is_empty());
    assert!(same(value(both("3,600").statistic("redo size").unwrap().total), 3600.0));
    assert_eq!(both("7,200").flags.len(), 2);
}

const HISTOGRAM_HEADS: &[&str] =
    &["Event", "Waits", "<1ms", "<2ms", "<4ms", "<8ms", "<16ms", "<32ms", "<=1s", ">1s"];

#[test]
fn histogram_tables_join_into_one_curve() {
    let main = html_table(
        "Wait Event Histogram",
        "the same",
        HISTOGRAM_HEADS,
        &[&["log file sync", "1000", "50.0", "", "", "", "", "", "40.0", "10.0"]],
    );
    let detail = html_table(
        "Wait Event Histogram Detail (64 msec to 2 sec)",
        "the same",
        &[
            "Event",
            "Waits 64ms to 2s",
            "<32ms",
            "<64ms",
            "<1/8s",
            "<1/4s",
            "<1/2s",
            "<1s",
            "<2s",
            ">=2s",
        ],
        &[&["log file sync", "450", "50.0", "30.0", "", "", "", "10.0", "10.0", ""]],
    );
    let report = read(&awr_html("11.2.0.3.0", &(main + &detail)));
    let buckets = &report.histograms[0].buckets;
    assert_eq!(buckets.len(), 13);
    assert!(same(buckets.iter().map(|bucket| bucket.share).sum(), 1.0));
    assert_eq!(buckets[10].high_ns, Some(1_024_000_000));
    assert_eq!(buckets[12].high_ns, None);
    let outliers = profile(&report).outliers;
    assert_eq!(outliers.iter().filter(|outlier| outlier.event == "log file sync").count(), 3);
    assert!(same(outliers[0].rate_per_s, 300.0 / 3600.0));
}

#[test]
fn the_same_title_with_other_buckets_is_read_by_its_headings() {
    let heads = &[
        "Event",
        "Total Waits",
        "<8us",
        "<16us",
        "<32us",
        "<64us",
        "<128u",
        "<256u",
        "<512u",
        ">=512",
    ];
    let table = html_table(
        "Wait Event Histogram",
        "",
        heads,
        &[&["db file sequential read", "21.5M", "", "", "", "", "50.0", "25.0", "25.0", ".0"]],
    );
    let report = read(&awr_html("19.0.0.0.0", &table));
    assert_eq!(report.histograms[0].buckets[4].high_ns, Some(128_000));
    assert!(same(value(report.histograms[0].waits), 21_500_000.0));
    let curve = profile(&report);
    assert!(curve.class(IoPurpose::SingleBlockRead).is_none() || curve.outliers.is_empty());
}

#[test]
fn small_cells_of_global_histograms_hold_percent_and_count() {
    let table = html_table(
        "Wait Event Histogram (Global)",
        "",
        HISTOGRAM_HEADS,
        &[&["db file sequential read", "12.3K", "100.0", "", "", "0.0(6)", "", "", "", ""]],
    );
    let report = read(&awr_html("12.2.0.1.0", &table));
    assert!(same(report.histograms[0].buckets[0].share, 1.0) && report.unread.is_empty());
}

#[test]
fn a_count_cut_at_its_suffix_is_not_believed() {
    let text = section(
        "Wait Event Histogram",
        &rows(
            &[
                Column(&["Event"], 26),
                Column(&["Total", "Waits"], 5),
                Column(&["<1ms"], 5),
                Column(&["<2ms"], 5),
                Column(&["<4ms"], 5),
                Column(&["<8ms"], 5),
                Column(&["<16ms"], 5),
                Column(&["<32ms"], 5),
                Column(&["<=1s"], 5),
                Column(&[">1s"], 5),
            ],
            &[
                &["free buffer waits", "616.4K", "100.0"],
                &["direct path read", "53", "90.0", "", "", "", "10.0"],
                &["write complete waits", "53", "80.0"],
            ],
        ),
    );
    let report = read(&awr_text(&text));
    assert_eq!(report.histograms[0].waits, None);
    assert_eq!(report.unread[0].text, "616.4");
    assert!(same(report.histograms[1].buckets[4].share, 0.1));
    assert!(report.flags.iter().any(|flag| flag.message.contains("80.0%")));
}

const TABLESPACE_11204: &[&str] = &[
    "Tablespace",
    "Reads",
    "Av Rds/s",
    "Av Rd(ms)",
    "Av Blks/Rd",
    "1-bk Rds/s",
    "Av 1-bk Rd(ms)",
    "Writes",
    "Writes avg/s",
    "Buffer Waits",
    "Av Buf Wt(ms)",
];

#[test]
fn tablespace_columns_out_of_step_are_put_right_by_arithmetic() {
    let shifted: &[&str] = &[
        "STOCK",
        "4,075,643",
        "1132",
        "0.01",
        "63.21",
        "917,089",
        "544.81",
        "0.02",
        "255",
        "0",
        "0",
    ];
    let in_step: &[&str] =
        &["STOCK", "4,075,643", "1132", "0.01", "63.21", "545", "0.02", "917,089", "255", "0", "0"];
    for (release, row) in [("11.2.0.4.0", shifted), ("12.1.0.2.0", in_step)] {
        let report = read(&awr_html(
            release,
            &html_table("Tablespace IO Stats", "", TABLESPACE_11204, &[row]),
        ));
        let stock = &report.tablespaces[0];
        assert!(same(value(stock.writes), 917_089.0), "{release}");
        assert!(same(value(stock.single_read_time), 0.02e-3), "{release}");
        assert!(report.flags.is_empty(), "{:?}", report.flags);
    }
    let neither: &[&str] =
        &["STOCK", "4,075,643", "1132", "0.01", "63.21", "5", "5", "5", "255", "0", "0"];
    let report = read(&awr_html(
        "11.2.0.4.0",
        &html_table("Tablespace IO Stats", "", TABLESPACE_11204, &[neither]),
    ));
    assert!(report.flags.iter().any(|flag| flag.section == OracleSection::Tablespaces));
}

#[test]
fn an_empty_section_is_missing_and_not_zero() {
    let heading = "<h3 class=\"awr\">Tablespace IO Stats</h3>\n<p />No data exists for this \
                   section of the report.<p />\n";
    let other = html_table("Buffer Pool Statistics", "", &["P", "Reads"], &[&["D", "5"]]);
    let report = read(&awr_html("19.0.0.0.0", &(heading.to_owned() + &other)));
    assert!(report.tablespaces.is_empty() && !report.has(OracleSection::Tablespaces));
    let profile = profile(&report);
    assert!(profile.missing.contains(&"Tablespace IO Stats".to_owned()));
    assert!(profile.rate(RateKind::Tablespace).is_none() && profile.tiering.is_empty());
}

#[test]
fn a_read_time_that_the_events_rule_out_is_flagged() {
    let events = html_table(
        "Foreground Wait Events",
        "",
        &["Event", "Waits", "Total Wait Time (s)", "Avg wait (ms)"],
        &[&["db file sequential read", "928,041", "1,918", "2.07"]],
    );
    let heads = &[
        "Tablespace",
        "Reads",
        "Av Reads/s",
        "Av Rd(ms)",
        "Av Blks/Rd",
        "Writes",
        "Av Writes/s",
        "PDB Name",
    ];
    let table = html_table(
        "Tablespace IO Stats",
        "",
        heads,
        &[
            &["STOCK", "72,000", "20", "22,110.07", "1.0", "3,600", "1", "EAST"],
            &["STOCK", "72,000", "20", "2.07", "1.0", "3,600", "1", "WEST"],
        ],
    );
    let report = read(&awr_html("12.1.0.2.0", &(events + &table)));
    assert_eq!(report.flags.len(), 1);
    let profile = profile(&report);
    // Names repeat between pluggable databases; what cannot be is not ranked.
    assert_eq!(profile.tiering.len(), 1);
    assert_eq!(profile.tiering[0].tablespace, "WEST/STOCK");
    assert!(same(
        profile.class(IoPurpose::SingleBlockRead).unwrap().latency_s.as_ref().unwrap().value,
        1918.0 / 928_041.0
    ));
}

const BY_FUNCTION: &[&str] = &[
    "Function Name",
    "Reads: Data",
    "Reqs per sec",
    "Data per sec",
    "Writes: Data",
    "Reqs per sec",
    "Data per sec",
    "Waits: Count",
    "Avg Time",
];
const BY_FILE_TYPE: &[&str] = &[
    "Filetype Name",
    "Reads: Data",
    "Reqs per sec",
    "Data per sec",
    "Writes: Data",
    "Reqs per sec",
    "Data per sec",
    "Small Read",
    "Large Read",
];

fn io_stats() -> String {
    let row = |name: &'static str, reads: [&'static str; 3], times: [&'static str; 2]| {
        let writes = ["65.4G", "25840.68", "219.905M"];
        vec![
            name, reads[0], reads[1], reads[2], writes[0], writes[1], writes[2], times[0], times[1],
        ]
    };
    let scan = ["57T", "298913810.66", "16.3G"];
    let files = ["1T", "1739.26", ".385"];
    let functions = [row("Smart Scan", scan, ["0", ""]), row("TOTAL:", scan, ["0", ""])];
    let types =
        [row("Data File", files, ["4.42us", ".00ns"]), row("TOTAL:", files, ["4.42us", ".00ns"])];
    html_table("IOStat by Function summary", "", BY_FUNCTION, &[&functions[0], &functions[1]])
        + &html_table("IOStat by Filetype summary", "", BY_FILE_TYPE, &[&types[0], &types[1]])
}

#[test]
fn io_by_function_uses_1024_totals_are_not_added_and_faults_show() {
    let report = read(&awr_html("19.0.0.0.0", &io_stats()));
    assert_eq!((report.io_by_function.len(), report.io_by_file_type.len()), (1, 1));
    let gigabytes = value(report.io_by_function[0].read_throughput) / 1024.0_f64.powi(3);
    assert!(same(gigabytes, 16.3));
    assert!(same(value(report.io_by_file_type[0].read_throughput), 0.385 * 1_048_576.0));
    assert!(same(value(report.io_by_file_type[0].small_time), 4.42e-6));
    let profile = profile(&report);
    let check = profile.checks.iter().find(|check| check.what.contains("functions against types"));
    assert_eq!(check.unwrap().outcome, CheckOutcome::Contradicts);
    assert!(profile.class(IoPurpose::DirectRead).is_none());
}

#[test]
fn the_size_of_multi_block_reads_follows_from_blocks_and_requests() {
    // 1,000 reads per second of one block and 1,000 of ten.
    let counters = html_table(
        "Instance Activity Stats",
        "",
        &["Statistic", "Total", "per Second", "per Trans"],
        &[&["physical reads cache", "39,600,000", "11,000.00", "1.00"]],
    );
    let reads: &[&str] = &["Buffer Cache Reads", "1G", "2000.00", "86M", "0", "0.00", "0", "", ""];
    let functions = html_table("IOStat by Function summary", "", BY_FUNCTION, &[reads]);
    let heads = &["Event", "Waits", "%Time -outs", "Total Wait Time (s)", "Avg wait (ms)"];
    let events = html_table(
        "Foreground Wait Events",
        "",
        heads,
        &[&["db file scattered read", "3,600,000", "0", "7,200", "2"]],
    );
    let read = |block: &str| {
        let sizes = html_table(
            "",
            "This table displays cache sizes and other statistics",
            &["", "Begin", "End"],
            &[&["Std Block Size:", block, ""]],
        );
        let page = format!("{sizes}{counters}{functions}{events}");
        let profile = profile(&read(&awr_html("12.1.0.2.0", &page)));
        profile.class(IoPurpose::MultiBlockRead).unwrap().block_size_bytes.clone()
    };
    let size = read("8K").unwrap();
    assert!(same(size.value, 81_920.0) && size.source.starts_with("estimate"), "{size:?}");
    assert_eq!(read("128K"), None, "no read moves more than a mebibyte");
}

#[test]
fn reads_of_segments_are_picked_from_all_statistics_of_a_global_report() {
    let heads = &[
        "Statistic",
        "Owner",
        "Tablespace Name",
        "Object Name",
        "Subobject Name",
        "Obj. Type",
        "Value",
        "%Total",
        "%Capture",
    ];
    let row =
        |statistic, value| [statistic, "SHOP", "DATA", "TILL", "", "TABLE", value, "0.79", "20.12"];
    let rows = [
        row("logical reads", "9,999"),
        row("physical reads", "172"),
        row("physical read requests", "171"),
    ];
    let rows: Vec<&[&str]> = rows.iter().map(<[&str; 9]>::as_slice).collect();
    let report =
        read(&awr_html("12.2.0.1.0", &html_table("Segment Statistics (Global)", "", heads, &rows)));
    let read: Vec<bool> = report.segments.iter().map(|row| row.is_requests).collect();
    assert_eq!(read, [false, true]);
    assert!(same(report.segments[0].reads.value, 172.0));
    assert!(same(report.segments[1].reads.value, 171.0));
    let segment = &report.segments[1];
    assert_eq!((segment.object.as_str(), segment.kind.as_deref()), ("TILL", Some("TABLE")));
    assert_eq!((segment.tablespace.as_deref(), segment.partition.as_deref()), (Some("DATA"), None));
    assert!(same(value(segment.share), 0.0079));
}

#[test]
fn aggregate_rows_are_no_instances() {
    let heads = &["I#", "Physical Reads/s", "Physical Writes/s", "Redo Size (k)/s"];
    let table = html_table(
        "System Statistics - Per Second",
        "",
        heads,
        &[
            &["1", "44,394.59", "904.78", "1,638.71"],
            &["2", "38,693.34", "756.94", "1,562.24"],
            &["Sum", "83,087.93", "1,661.72", "3,200.95"],
            &["Avg", "41,543.97", "830.86", "1,600.48"],
            &["Std", "4,031.5", "104.5", "54.1"],
        ],
    );
    let report = read(&awr_html("19.0.0.0.0", &table));
    assert_eq!(report.instances.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2]);
    assert!(same(value(report.instances[1].redo), 1562.24 * 1024.0));
    assert!(same(value(report.load(&["Physical reads"]).unwrap().per_second), 83_087.93));
}

#[test]
fn names_of_files_that_wrap_and_blank_tablespaces_are_put_together() {
    let body = "Tablespace               Filename\n\
        ------------------------ ----------------------------------------------------\n\
        \x20                Av       Av     Av                       Av     Buffer  Av Buf\n\
        \x20        Reads Reads/s  Rd(ms) Blks/Rd       Writes Writes/s      Waits  Wt(ms)\n\
        -------------- ------- ------- ------- ------------ -------- ---------- -------\n\
        STOCK                    /data/a_long_path/that/goes/on/and/on/and/on/and/on/\n\
        \x20                        stock01.dbf\n\
        \x20        7,200       2     0.8     1.0            0        0          0     0.0\n\
        \x20                        /data/stock02.dbf\n\
        \x20          720       0     0.8      .0            0        0          0     N/A\n";
    let report = read(&awr_text(&section("File IO Stats", body)));
    assert_eq!(report.files.len(), 2);
    assert!(report.files[0].file.as_deref().unwrap().ends_with("/on/stock01.dbf"));
    assert_eq!(report.files[1].tablespace, "STOCK");
    assert!(same(value(report.files[1].reads), 720.0));
}

#[test]
fn a_name_outside_ascii_does_not_shift_the_numbers_behind_it() {
    let columns = [Column(&["Statistic"], 33), Column(&["Total"], 18), Column(&["per Second"], 14)];
    let table = rows(&columns, &[&["größe der änderungen", "3,600", "1.0"]]);
    let report = read(&awr_text(&section("Instance Activity Stats", &table)));
    assert!(
        same(value(report.activity[0].total), 3600.0)
            && same(value(report.activity[0].per_second), 1.0)
    );
}

#[test]
fn sql_text_cannot_imitate_a_section() {
    let sql = "        Elapsed\n        Time (s)    SQL Id\n---------------- -------------\n        \
         22,411.0 309mwpa4tk161\nLoad Profile              Per Second\n~~~~~~~~~~~~         \
         ---------------\n          Redo size:            666.0\nInstance Activity Stats  \
         DB/Inst: EVIL/evil1  Snaps: 1-2\n\nStatistic   Total per Second\n--------- ------- \
         ----------\nredo size     666      666.0\n";
    let report = read(&awr_text(&section("SQL ordered by Elapsed Time", sql)));
    assert!(report.load_profile.is_empty() && report.activity.is_empty());
}

#[test]
fn html_is_read_with_bare_marks_other_encodings_and_carriage_returns() {
    let heads = &["Statistic", "Total", "per Second", "per Trans"];
    let table =
        html_table("Instance Activity Stats", "", heads, &[&["redo size", "3,600", "1.0", "1.0"]]);
    let sql = html_table(
        "Complete List of SQL Text",
        "",
        &["SQL Id", "SQL Text"],
        &[&["309mwpa4tk161", "select a && b < c, '<h3>Load Profile</h3>' from t"]],
    );
    let mut bytes = awr_html("19.0.0.0.0", &(sql + &table)).replace('\n', "\r\n").into_bytes();
    let at = bytes.windows(6).position(|window| window == b"select").unwrap();
    bytes.splice(at..at, [0xd6, 0xd0, 0xff, 0xfe]);
    let report = read_reports(&bytes).remove(0).unwrap();
    assert!(same(value(report.statistic("redo size").unwrap().total), 3600.0));
}

#[test]
fn the_first_tables_of_11_1_have_neither_heading_nor_summary() {
    let database = ["DB Name", "DB Id", "Instance", "Inst num", "Startup Time", "Release", "RAC"];
    let row = ["SHOP", "123", "shop1", "1", "26-Jun-09 00:06", "11.1.0.7.0", "YES"];
    let page = "<html><body>\n<h1>\nWORKLOAD REPOSITORY report for\n</h1>\n".to_owned()
        + &html_table("", "", &database, &[&row])
        + "<h3 class=\"awr\"><a class=\"awr\" name=\"9\"></a>Report Summary</h3>\n<p />\nCache \
           Sizes\n<p />\n"
        + &html_table(
            "",
            "",
            &["", "Begin", "End", "", ""],
            &[&["Buffer Cache:", "1M", "1M", "Std Block Size:", "8K"]],
        )
        + "Load Profile\n<p />\n"
        + &html_table(
            "",
            "",
            &["", "Per Second", "Per Transaction"],
            &[&["Redo size:", "6,476.9", "1.0"]],
        )
        + "End of Report";
    let report = read(&page);
    assert_eq!(report.header.release.as_deref(), Some("11.1.0.7.0"));
    assert!(same(value(report.header.block), 8192.0));
    assert!(same(value(report.load(&["Redo size"]).unwrap().per_second), 6476.9));
}

#[test]
fn decimal_commas_are_told_by_the_elapsed_time() {
    let text = header_11("11.2.0.3.0", "60,00", "5.763,84")
        + &activity(
            "Instance Activity Stats",
            &[&["redo size", "78.602.437.800", "21.834.010,5", "1,0"]],
        )
        + END_OF_REPORT;
    let report = read(&text.replace("31.42", "31,42").replace("11.2.0.3,0", "11.2.0.3.0"));
    assert!(same(value(report.header.db_time), 5763.84 * 60.0));
    assert!(same(value(report.statistic("redo size").unwrap().per_second), 21_834_010.5));
}

#[test]
fn localised_months_are_read_or_left_alone() {
    let report = read(&awr_text("").replace("01-Mar-20", "01-M\u{e4}r-20"));
    assert_eq!(report.header.end.clock_s.unwrap() - report.header.begin.clock_s.unwrap(), 3600);
    let unknown = read(&awr_text("").replace("01-Mar-20", "01-Xyz-20"));
    assert_eq!(unknown.header.begin.clock_s, None);
    assert_eq!(unknown.header.begin.time.as_deref(), Some("01-Xyz-20 08:00:00"));
}

#[test]
fn snapshots_that_contradict_the_elapsed_time_are_flagged() {
    let report = read(
        &awr_text("")
            .replace("End Snap:        11 01-Mar-20 09", "End Snap:        11 01-Mar-20 11"),
    );
    assert!(report.flags[0].message.contains("between the snapshots"));
}

#[test]
fn headings_of_sqlplus_inside_a_table_are_passed_by() {
    let text = header_122("60.00", "1.00")
        + &load_profile(&[("Redo size", "1.0"), ("User calls", "2.0")])
        + END_OF_REPORT;
    let text = text.replace("          User calls:", "\nOUTPUT\n          User calls:");
    let text = text.replace("~~~~~~~~~~~~  ", "\nOUTPUT\n~~~~~~~~~~~~  ");
    assert_eq!(read(&text).load_profile.len(), 2);
}

#[test]
fn reports_one_behind_the_other_are_read_both() {
    let text = awr_text(&load_profile(&[("Redo size", "1.0")])) + &statspack();
    let reports = read_reports(text.as_bytes());
    let kinds: Vec<ReportKind> =
        reports.iter().map(|report| report.as_ref().unwrap().kind).collect();
    assert_eq!(kinds, [ReportKind::Awr, ReportKind::Statspack]);
    let line = reports[1].as_ref().unwrap().header.elapsed.unwrap().line as usize;
    assert!(text.lines().nth(line - 1).unwrap().contains("15.00 (mins)"));
}

fn statspack() -> String {
    header_statspack_92() + END_OF_REPORT
}

#[test]
fn compared_periods_copies_and_other_files_are_refused_with_a_reason() {
    let message = |bytes: &[u8]| {
        let mut reports = read_reports(bytes);
        assert_eq!(reports.len(), 1);
        reports.remove(0).unwrap_err().message().to_owned()
    };
    let compared =
        b"WORKLOAD REPOSITORY COMPARE PERIOD REPORT\n\nSnapshot Set    DB Id\nFirst (1st)  1\n";
    assert!(message(compared).contains("two periods"));
    assert!(
        message(b"> WORKLOAD REPOSITORY report for\n> see DB Id below\n")
            .contains("a copy or an excerpt")
    );
    assert!(
        message(b"WORKLOAD REPOSITORY report for\nthe shop\n").contains("a copy or an excerpt")
    );
    assert!(message(b"").contains("empty"));
    assert!(message(&[0, 159, 146, 150, 10]).contains("no AWR or Statspack report"));
}
