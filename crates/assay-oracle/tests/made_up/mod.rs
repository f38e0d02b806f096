//! Made-up reports in the layouts of the field: a printer of text tables and of HTML tables, and
//! whole reports.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses the part it needs and stops where something is missing"
)]

use std::fmt::Write as _;

/// One column of a text table: heading lines from top to bottom, and its width.
pub struct Column(pub &'static [&'static str], pub usize);

/// A text table: heading lines, ruler and rows; the first column is text, the others stand right
/// and are cut at their right end as SQL's LPAD does.
pub fn rows(columns: &[Column], rows: &[&[&str]]) -> String {
    let depth = columns.iter().map(|column| column.0.len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..depth {
        let heads: Vec<&str> = columns
            .iter()
            .map(|Column(heads, _)| {
                (line + heads.len()).checked_sub(depth).map_or("", |index| heads[index])
            })
            .collect();
        text += &aligned(columns, &heads);
    }
    let rules: Vec<String> = columns.iter().map(|column| "-".repeat(column.1)).collect();
    let _ = writeln!(text, "{}", rules.join(" "));
    for row in rows {
        text += &aligned(columns, row);
    }
    text
}

fn aligned(columns: &[Column], cells: &[&str]) -> String {
    let mut line = String::new();
    for (index, (Column(_, width), cell)) in columns.iter().zip(cells).enumerate() {
        let cell: String = cell.chars().take(*width).collect();
        let is_text = index == 0
            || cell.chars().next().is_some_and(char::is_alphabetic) && index + 1 == columns.len();
        let separator = if index == 0 { "" } else { " " };
        let _ = if is_text {
            write!(line, "{separator}{cell:<width$}")
        } else {
            write!(line, "{separator}{cell:>width$}")
        };
    }
    format!("{}\n", line.trim_end())
}

/// A section of a text report: page break, title with database and instance, table and closing
/// rule.
pub fn section(title: &str, body: &str) -> String {
    format!(
        "\x0c{title:<42}DB/Inst: SHOP/shop1  Snaps: 10-11\n-> a note on the order of \
         rows\n\n{body}{END}\n"
    )
}

const END: &str = "          -------------------------------------------------------------\n";

/// The header of a text report up to 12.1.
pub fn header_11(release: &str, elapsed: &str, db_time: &str) -> String {
    format!(
        "\nWORKLOAD REPOSITORY report for\n\n\
         DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC\n\
         ------------ ----------- ------------ -------- --------------- ----------- ---\n\
         SHOP          1234567890 shop1               1 01-Mar-20 07:45 {release:<11} NO\n\n\
         Host Name        Platform                         CPUs Cores Sockets Memory(GB)\n\
         ---------------- -------------------------------- ---- ----- ------- ----------\n\
         till             Linux x86 64-bit                   16    16       2      31.42\n\n\
         \x20             Snap Id      Snap Time      Sessions Curs/Sess\n\
         \x20           --------- ------------------- -------- ---------\n\
         Begin Snap:        10 01-Mar-20 08:00:00       131        .5\n\
         \x20 End Snap:        11 01-Mar-20 09:00:00        37        .6\n\
         \x20  Elapsed:  {elapsed:>18} (mins)\n\
         \x20  DB Time:  {db_time:>18} (mins)\n\n"
    )
}

/// The header of a text report from 12.2 on, AIX: sockets are blank.
pub fn header_122(elapsed: &str, db_time: &str) -> String {
    format!(
        "\nWORKLOAD REPOSITORY report for\n\n\
         DB Name         DB Id    Unique Name DB Role          Edition Release    RAC CDB\n\
         ------------ ----------- ----------- ---------------- ------- ---------- --- ---\n\
         SHOP          1234567890 SHOPU       PRIMARY          EE      12.2.0.1.0 NO  NO\n\n\
         Instance     Inst Num Startup Time\n\
         ------------ -------- ---------------\n\
         shop1               3 01-Mar-20 07:45\n\n\
         Host Name        Platform                         CPUs Cores Sockets Memory(GB)\n\
         ---------------- -------------------------------- ---- ----- ------- ----------\n\
         till             AIX-Based Systems (64-bit)         40     5             502.00\n\n\
         \x20             Snap Id      Snap Time      Sessions Curs/Sess\n\
         \x20           --------- ------------------- -------- ---------\n\
         Begin Snap:        10 01-Mar-20 08:00:00       131        .5\n\
         \x20 End Snap:        11 01-Mar-20 09:00:00        37        .6\n\
         \x20  Elapsed:  {elapsed:>18} (mins)\n\
         \x20  DB Time:  {db_time:>18} (mins)\n\n"
    )
}

/// The header of a Statspack report of 9.2.
pub fn header_statspack_92() -> String {
    "\nSTATSPACK report for\n\n\
     DB Name         DB Id    Instance     Inst Num Release     Cluster Host\n\
     ------------ ----------- ------------ -------- ----------- ------- ------------\n\
     SHOP          1234567890 shop1               1 9.2.0.6.0   NO      till\n\n\
     \x20             Snap Id     Snap Time      Sessions Curs/Sess Comment\n\
     \x20           ------- ------------------ -------- --------- -------------------\n\
     Begin Snap:      10 13-Dec-06 11:45:01       31        .9\n\
     \x20 End Snap:      11 13-Dec-06 12:00:01      127       7.5\n\
     \x20  Elapsed:               15.00 (mins)\n\n\
     Cache Sizes (end)\n\
     ~~~~~~~~~~~~~~~~~\n\
     \x20              Buffer Cache:     7,168M      Std Block Size:         8K\n\
     \x20          Shared Pool Size:       400M          Log Buffer:     2,048K\n\n"
        .to_owned()
}

/// Cache sizes of a text report.
pub fn cache_sizes(block: &str) -> String {
    format!(
        "Cache Sizes                       Begin        End\n~~~~~~~~~~~                  \
         ---------- ----------\n\x20              Buffer Cache:     1,024M     1,024M  Std Block \
         Size: {block:>10}\n\x20          Shared Pool Size:     8,192M     8,192M      Log \
         Buffer:   151,696K\n\n"
    )
}

/// A load profile: labels with their rate per second.
pub fn load_profile(rates: &[(&str, &str)]) -> String {
    let mut text = "Load Profile              Per Second    Per Transaction   Per Exec   Per \
                    Call\n~~~~~~~~~~~~         ---------------    --------------- ---------- \
                    ----------\n"
        .to_owned();
    for (label, rate) in rates {
        let _ = writeln!(text, "{:>20}:{rate:>15}    {:>15}", label, "1.0");
    }
    text + "\n  % Blocks changed per Read:    0.01    Recursive Call %:    95.69\n\n"
}

/// Top events of 11.1 to 11.2.0.3: event, waits, seconds, milliseconds, percent, class.
pub fn top_five(events: &[&[&str]]) -> String {
    let columns = [
        Column(&["Event"], 30),
        Column(&["Waits"], 13),
        Column(&["Time(s)"], 11),
        Column(&["Avg", "wait", "(ms)"], 6),
        Column(&["% DB", "time"], 6),
        Column(&["Wait Class"], 10),
    ];
    format!("Top 5 Timed Foreground Events\n{}\n{}", "~".repeat(29), rows(&columns, events))
}

/// Foreground or background wait events of 11.1 to 12.1: event, waits, seconds, milliseconds,
/// percent.
pub fn wait_events(title: &str, events: &[&[&str]]) -> String {
    let columns = [
        Column(&["Event"], 26),
        Column(&["Waits"], 13),
        Column(&["%Time", "-outs"], 5),
        Column(&["Total Wait", "Time (s)"], 10),
        Column(&["Avg", "wait", "(ms)"], 7),
        Column(&["Waits", "/txn"], 8),
        Column(&["% DB", "time"], 6),
    ];
    let events: Vec<Vec<&str>> = events
        .iter()
        .map(|event| vec![event[0], event[1], "0", event[2], event[3], "1.0", event[4]])
        .collect();
    let events: Vec<&[&str]> = events.iter().map(Vec::as_slice).collect();
    section(title, &rows(&columns, &events))
}

/// Instance activity: name, total, per second, per transaction.
pub fn activity(title: &str, statistics: &[&[&str]]) -> String {
    let columns = [
        Column(&["Statistic"], 33),
        Column(&["Total"], 18),
        Column(&["per Second"], 14),
        Column(&["per Trans"], 12),
    ];
    section(title, &rows(&columns, statistics))
}

/// The end of every report.
pub const END_OF_REPORT: &str = "End of Report\n";

/// An HTML table under a heading, as 11.2 and later print it.
pub fn html_table(title: &str, summary: &str, heads: &[&str], rows: &[&[&str]]) -> String {
    let mut page = String::new();
    if !title.is_empty() {
        let _ = writeln!(
            page,
            "<a class=\"awr\" name=\"1\"></a><p /><h3 class=\"awr\">{title}</h3><p />"
        );
    }
    let _ = write!(page, "<table border=\"0\" class=\"tdiff\" summary=\"{summary}\">\n<tr>");
    for head in heads {
        let head = head.replace('<', "&lt;").replace('>', "&gt;");
        let _ = write!(page, "<th class=\"awrbg\" scope=\"col\">{head}</th>");
    }
    page += "</tr>\n";
    for row in rows {
        page += "<tr>";
        for cell in *row {
            let cell = if cell.is_empty() { "&#160;" } else { cell };
            let _ = write!(page, "<td align=\"right\" class='awrc'>{cell}</td>");
        }
        page += "</tr>\n";
    }
    page + "</table><p />\n"
}

/// The first page of an HTML report; `release` decides how the header is laid out.
pub fn html_header(release: &str, elapsed: &str, db_time: &str) -> String {
    let instance = "This table displays database instance information";
    let database: &[&str] =
        &["DB Name", "DB Id", "Unique Name", "DB Role", "Edition", "Release", "RAC", "CDB"];
    let mut page = "<html><head><title>AWR Report for DB: SHOP, Inst: shop1, Snaps: \
                    10-11</title>\n<style type=\"text/css\">td.awrc \
                    {color:black}</style></head><body class=\"awr\">\n<h1 \
                    class=\"awr\">\nWORKLOAD REPOSITORY report for\n</h1>\n<p />\n"
        .to_owned();
    page += &html_table(
        "",
        instance,
        database,
        &[&["SHOP", "123", "SHOPU", "PRIMARY", "EE", release, "YES", "YES"]],
    );
    page += &html_table(
        "",
        instance,
        &["Instance", "Inst Num", "Startup Time"],
        &[&["shop2", "2", "05-Jul-20 00:07"]],
    );
    page += &html_table(
        "",
        "This table displays host information",
        &["Host Name", "Platform", "CPUs", "Cores", "Sockets", "Memory (GB)"],
        &[&["till", "Linux x86 64-bit", "80", "40", "", "503.50"]],
    );
    let (elapsed, db_time) = (format!("{elapsed} (mins)"), format!("{db_time} (mins)"));
    page + &html_table(
        "",
        "This table displays snapshot information",
        &["", "Snap Id", "Snap Time", "Sessions", "Cursors/Session"],
        &[
            &["Begin Snap:", "10", "01-Mar-20 08:00:00", "494", "2.7"],
            &["End Snap:", "11", "01-Mar-20 09:00:00", "525", "2.5"],
            &["Elapsed:", "", &elapsed, "", ""],
            &["DB Time:", "", &db_time, "", ""],
        ],
    )
}

/// The one report of a text.
pub fn read(text: &str) -> assay_oracle::OracleReport {
    let mut reports = assay_oracle::read_reports(text.as_bytes());
    assert_eq!(reports.len(), 1);
    reports.remove(0).unwrap()
}

/// A small report with a table of every kind, for tests that damage it.
pub fn sample() -> String {
    header_11("11.2.0.3.0", "60.00", "120.00")
        + &cache_sizes("8K")
        + &load_profile(&[("Redo size", "21,834,010.5"), ("Physical reads", "83,114.8")])
        + &top_five(&[&[
            "db file sequential read",
            "299,784,368",
            "320,702",
            "1",
            "92.7",
            "User I/O",
        ]])
        + &wait_events("Foreground Wait Events", &[&["log file sync", "1,234", "567", "89", "1.2"]])
        + &activity(
            "Instance Activity Stats",
            &[&["redo size", "78,602,437,800", "21,834,010.5", "1.0"]],
        )
        + END_OF_REPORT
}
