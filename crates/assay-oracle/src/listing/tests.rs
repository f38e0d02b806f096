//! Listings with invented numbers, in the layouts of SQL*Plus.

use super::*;
use assay_model::study::FactorValue;

fn value(row: &ListingRow, quantity: &str) -> f64 {
    let found = row.measures.iter().find(|one| one.quantity == quantity);
    found.map_or(f64::NAN, |one| one.estimate.value)
}

fn read(text: &str) -> OracleListing {
    read_listing(text.as_bytes()).expect("a listing")
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= right.abs() * 1e-9
}

#[test]
fn files_have_counts_blocks_and_shares() {
    let page = "\
                                                                   Physical   Physical   Block    \
                Block
      File                                           Physical   Physical   Percent   Block      \
                Block      Read    Write
 File Name                                             Reads     Writes     Of IO    Reads     \
                Writes     Ratio    Ratio
----- ------------------------------------------- ---------- ---------- -------- ---------- \
                ---------- ------- -------
";
    let heads = format!(
        "{:>5} {:<20} {:>10} {:>10} {:>8} {:>10} {:>10} {:>7} {:>7}\n",
        "", "", "", "", "", "Physical", "Physical", "Block", "Block"
    ) + &format!(
        "{:>5} {:<20} {:>10} {:>10} {:>8} {:>10} {:>10} {:>7} {:>7}\n",
        "", "File", "Physical", "Physical", "Percent", "Block", "Block", "Read", "Write"
    ) + &format!(
        "{:>5} {:<20} {:>10} {:>10} {:>8} {:>10} {:>10} {:>7} {:>7}\n",
        "File", "Name", "Reads", "Writes", "Of IO", "Reads", "Writes", "Ratio", "Ratio"
    ) + "----- -------------------- ---------- ---------- -------- ---------- \
                     ---------- ------- -------\n";
    let row = |file: u32, name: &str, numbers: [&str; 7]| {
        let [reads, writes, share, read_blocks, written, read_ratio, write_ratio] = numbers;
        format!(
            "{file:>5} {name:<20} {reads:>10} {writes:>10} {share:>8} {read_blocks:>10} \
             {written:>10} {read_ratio:>7} {write_ratio:>7}\n"
        )
    };
    let one = row(1, "/u/system.dbf", ["6000", "1000", "70.000", "12000", "1000", "2.00", "1.00"]);
    let two = row(2, "/u/users.dbf", ["2000", "1000", "30.000", "2000", "4000", "1.00", "4.00"]);
    let text = format!(
        "\nFri Nov 26       page 1\n     File IO Statistics Report\n\n{heads}{one}\n\n{heads}{two}"
    );
    let listing = read(&text);
    assert_eq!((listing.source, listing.rows.len()), ("fileio.sql", 2));
    let [one, two] = listing.rows.as_slice() else { panic!() };
    assert!(near(value(one, "reads"), 6000.0) && near(value(one, "blocks_per_read"), 2.0));
    assert!(near(value(two, "blocks_per_write"), 4.0) && near(value(two, "share"), 0.3));
    assert!(read_listing(page.as_bytes()).is_none());
}

#[test]
fn times_of_files_without_io_are_unknown() {
    let text = "
     FILE# Name                       PHYRDS    PHYWRTS  Avg. Read Avg. Write
                                                              Time       Time
---------- -------------------- ---------- ---------- ---------- ----------
         1 /u/system.dbf              5000        200      6.205       .514
         2 /u/empty.dbf                  0          0          0          0
";
    let fixed = text
        .replace(
            "Name                       PHYRDS    PHYWRTS  Avg. Read Avg. Write",
            "Name                     PHYRDS    PHYWRTS  Avg. Read Avg. Write",
        )
        .replace(
            "                                                              Time       Time",
            "                                                            Time       Time",
        );
    let listing = read(&fixed);
    assert_eq!(listing.source, "io_time.sql");
    assert!(near(value(&listing.rows[0], "read.service_time.mean"), 6.205e6));
    assert!(near(value(&listing.rows[0], "write.service_time.mean"), 514_000.0));
    assert!(value(&listing.rows[1], "read.service_time.mean").is_nan());
}

#[test]
fn a_histogram_of_reads_is_read_as_printed_and_as_the_view_has_it() {
    let printed = "SQL> @file_histogram.sql

Read Time
(ms)                        Reads
-------------------- ------------
<1                      1,000,000 ****
1<2                       500,000 **
2<4                         2,000

3 rows selected.

SQL>
";
    let listing = read(printed);
    assert_eq!((listing.source, listing.rows.len()), ("v$file_histogram", 3));
    assert!(near(value(&listing.rows[1], "reads"), 500_000.0));
    assert!(near(value(&listing.rows[0], "share"), 1_000_000.0 / 1_502_000.0));
    let view = "
     FILE# SINGLEBLKRDTIM_MILLI SINGLEBLKRDS
---------- -------------------- ------------
         1                    1          700
         1                    2          200
         2                    1          100
";
    let listing = read(view);
    let settings = &listing.rows[0].settings[0].value;
    assert_eq!(*settings, FactorValue::Text("0 ms to 1 ms".to_owned()));
    assert!(near(value(&listing.rows[0], "reads"), 800.0) && listing.rows.len() == 2);
}

#[test]
fn calibrations_are_rows_also_where_a_row_takes_several_lines() {
    let narrow = "
  MAX_IOPS   MAX_MBPS  MAX_PMBPS    LATENCY NUM_PHYSICAL_DISKS
---------- ---------- ---------- ---------- ------------------
       850        102         31         10                  6
       850        102         31         15                  6
";
    let wide = "
START_TIME
---------------------------------------------------------------------------
END_TIME
---------------------------------------------------------------------------
  MAX_IOPS   MAX_MBPS  MAX_PMBPS    LATENCY NUM_PHYSICAL_DISKS
---------- ---------- ---------- ---------- ------------------
22-NOV-10 10.01.22.123456 AM
22-NOV-10 10.11.45.654321 AM
       850        102         31         10                  6

22-NOV-10 10.21.22.123456 AM
22-NOV-10 10.31.45.654321 AM
       850        102         31         15                  6
";
    for text in [narrow, wide] {
        let listing = read(text);
        assert_eq!((listing.source, listing.rows.len()), ("DBA_RSRC_IO_CALIBRATE", 2), "{text}");
        assert!(near(value(&listing.rows[1], "read.service_time.mean"), 15e6));
        assert!(near(value(&listing.rows[0], "iops"), 850.0));
        assert!(near(value(&listing.rows[0], "process.throughput"), 31e6));
    }
}

#[test]
fn the_table_of_rac_stats_is_read_below_its_header() {
    let text = format!(
        "$ sh ./rac_stats.sh \
         awr_rac.txt.*\n{}\nawr_rac.txt.16|3000|2000|0.75|1000|12|\nawr_rac.txt.32|||||\n$\n",
        crate::row::RAC_STATS_HEADER
    );
    let listing = read(&text);
    assert_eq!((listing.source, listing.rows.len()), ("rac_stats.sh", 1));
    assert!(near(value(&listing.rows[0], "read.service_time.mean"), 750_000.0));
    assert!(near(value(&listing.rows[0], "redo.throughput"), 12.0 * 1_048_576.0));
}

#[test]
fn other_texts_hold_no_listing() {
    for text in ["", "----\n", "a b\n- -\n1 2\n", "MAX_IOPS MAX_MBPS\n-------- --------\n"] {
        assert_eq!(read_listing(text.as_bytes()), None, "{text:?}");
    }
}
